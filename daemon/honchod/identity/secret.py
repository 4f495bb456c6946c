"""A secret that does not show itself."""

from __future__ import annotations

import hmac
from typing import Final, NoReturn

_HINT_CHARS: Final = 4
_SHORTEST_WITH_HINT: Final = 16


class Secret:
    """A key or token. Neither ``repr``, ``str``, formatting, logging nor pickling gives it away.

    Only ``reveal`` does; call it where the value is handed to the wire, nowhere else. Two secrets are equal
    when their values are.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    @property
    def hint(self) -> str:
        """The last four characters behind an ellipsis; of a short secret nothing but the ellipsis."""
        if len(self._value) < _SHORTEST_WITH_HINT:
            return "…"
        return f"…{self._value[-_HINT_CHARS:]}"

    def __repr__(self) -> str:
        return "Secret(…)"

    def __str__(self) -> str:
        return "…"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not copied or stored")
