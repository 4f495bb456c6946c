"""The last errors, by code and host: sanitised codes and when they were seen. No texts."""

from __future__ import annotations

from collections import OrderedDict

from honchod.clock import rfc3339
from honchod.ops.views import ErrorSeen

KEPT = 50


class RecentErrors:
    """Remembers when each (code, host) was last seen, the latest `KEPT` of them."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], int] = OrderedDict()

    def add(self, code: str, host: str, at_ms: int) -> None:
        """Seen, at this time."""
        self._seen[code, host] = at_ms
        self._seen.move_to_end((code, host))
        if len(self._seen) > KEPT:
            self._seen.popitem(last=False)

    def listed(self) -> list[ErrorSeen]:
        """The latest first."""
        return [ErrorSeen(code, host, rfc3339(at_ms)) for (code, host), at_ms in reversed(self._seen.items())]
