"""Ids as Honcho makes them: 21 characters of the URL alphabet."""

from __future__ import annotations

import base64
import hashlib
import random
import string
from typing import Final

_ALPHABET: Final = string.ascii_letters + string.digits + "_-"
_CHARS: Final = 21


class Ids:
    """A source of ids. The same seed gives the same ids, which is what lets a journal be replayed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  not a secret

    def next(self) -> str:
        """A fresh id."""
        return "".join(self._random.choices(_ALPHABET, k=_CHARS))


def derived_id(*parts: str) -> str:
    """The id of something that follows from these parts alone, equal on every replay."""
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_CHARS]
