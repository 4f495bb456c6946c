"""Secrets in names: session keys, message ids, peers, scopes, file names.

A name becomes an id, and an id stands in the database, in the log and on the wire. So a secret in it is
hidden as one in a text is, before the name is used for anything.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from honchod.capture.pipeline import HidesSecrets, are_clean, redaction_failed

_TAG_CHARS: Final = 16
_REMEMBERED: Final = 4096


class NameRedactor:
    """Hides the secrets in names. The same name always gives the same, different names different ones.

    Two names that differ only in their secrets would become one: what is hidden is followed by a tag, a hash
    keyed with ``salt``, so that nobody who reads the name can try secrets on it. ``redactor`` is None where
    redaction is switched off.
    """

    def __init__(self, redactor: HidesSecrets | None, salt: bytes) -> None:
        self._redactor = redactor
        self._salt = salt
        self._known: OrderedDict[str, str] = OrderedDict()

    def hide(self, name: str) -> str:
        """The name, without the secrets in it. For names that come again: they are remembered."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self.hide_once(name)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def hide_once(self, name: str) -> str:
        """As ``hide``, for a name that does not come again. Raises `RedactionFailed`, without the name."""
        if self._redactor is None:
            return name
        try:
            hidden = self._redactor.text(name)
        except Exception:
            raise redaction_failed() from None
        if hidden == name:
            return name
        tag = hmac.new(self._salt, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return f"{hidden}-{tag[:_TAG_CHARS]}"

    def are_clean(self, names: Sequence[str]) -> bool:
        """Whether each of them surely is without a secret: one look instead of one for each.

        Raises `RedactionFailed`.
        """
        return are_clean(self._redactor, names)
