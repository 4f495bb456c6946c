"""Honcho ids out of any string: valid, at most 100 characters, stable, and apart from each other.

Honcho takes ``[A-Za-z0-9_-]``; a session or workspace id in a URL path that is not valid is a 500 for
ever, and older servers stop at 100 characters. So every name that becomes an id passes through here.

A name that is valid already stays as it is. Any other one keeps what is readable of it and ends in 80 bits
of a hash of the original, so that ``a.b`` and ``a-b``, or two long keys with a common beginning, stay apart.
Cleaning a cleaned name gives it back. The price of that is one pair of names which cannot be told apart:
a name, and the very id that was made for it. Somebody who may choose his own name freely can so choose
another one's id; ``runtimePeerPrefix`` closes that door for users of a gateway.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

import msgspec

MAX_LEN: Final = 100
"""Characters of a workspace, peer or session id: the bound of the older servers."""

MIN_MAX_LEN: Final = 40
"""The smallest bound that leaves room for the hash, a generation and something to read."""

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_VALID = re.compile(r"[A-Za-z0-9_-]+")
_DIGEST_BYTES: Final = 10


class SessionName(msgspec.Struct, frozen=True):
    """A session of a workspace of a host, whatever its generation. ``name`` is a valid id."""

    host: str
    workspace: str
    name: str

    def id_of(self, generation: int) -> str:
        """The Honcho session id in its nth generation; generation 0 is the name itself."""
        return session_id(self.name, generation)


def is_valid(name: str, *, max_len: int = MAX_LEN) -> bool:
    """Whether Honcho takes the name as an id of at most ``max_len`` characters."""
    return len(name) <= max_len and _VALID.fullmatch(name) is not None


def clean(name: str, *, max_len: int = MAX_LEN) -> str:
    """A valid id for the name: the name itself where it is one, else its readable part and a hash.

    The same name always gives the same id, different names different ones (but see the module), and
    ``clean(clean(name)) == clean(name)``. Any string will do, the empty one and lone surrogates included.
    Raises ValueError for a bound below ``MIN_MAX_LEN``.
    """
    if max_len < MIN_MAX_LEN:
        raise ValueError(f"max_len must be at least {MIN_MAX_LEN}")
    if is_valid(name, max_len=max_len):
        return name
    return _with_digest(name, "", _digest(name, purpose=b"name"), max_len)


def apart(name: str, *, max_len: int = MAX_LEN) -> str:
    """An id for the name that is not the name itself, even where that is valid: stable, with a hash."""
    return _with_digest(name, "", _digest(name, purpose=b"apart"), max_len)


def session_id(key: str, generation: int = 0) -> str:
    """The Honcho session id of a session key in its nth generation.

    Generation 0 is the cleaned key. A reset starts the next one: another id, the same for ever for that key
    and number, which no other key gives.
    """
    if generation == 0:
        return clean(key)
    digest = _digest(f"{generation}:{key}", purpose=b"generation")
    return _with_digest(key, f"g{generation}", digest, MAX_LEN)


def _digest(text: str, *, purpose: bytes) -> str:
    data = text.encode("utf-8", "surrogatepass")
    hashed = hashlib.blake2b(data, digest_size=_DIGEST_BYTES, person=purpose).digest()
    return base64.b32encode(hashed).decode("ascii").lower()


def _with_digest(text: str, mark: str, digest: str, max_len: int) -> str:
    tail = "-".join(filter(None, (mark, digest)))
    stem = _FOREIGN.sub("-", text).strip("-")[: max_len - len(tail) - 1].rstrip("-")
    return "-".join(filter(None, (stem, tail)))
