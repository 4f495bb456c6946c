"""What the last recalls were, without content."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

import msgspec

from honchod.clock import Clock, rfc3339
from honchod.identity.choices import Section
from honchod.identity.place import Place
from honchod.ids import uuid7
from honchod.recall.freshness import RecallStatus
from honchod.recall.requests import Receipt, ReceiptSection

KEPT: Final = 1_000


class Recalled(msgspec.Struct, frozen=True):
    """One recall as it is written down. ``ages_s`` are those of the sections that it holds."""

    status: RecallStatus
    has_query: bool = False
    query_matched: bool = False
    ages_s: Mapping[Section, float] | None = None
    truncated: Iterable[Section] = ()
    chars: int = 0
    calls: int = 0


class _Kept(msgspec.Struct, frozen=True):
    id: str
    at_ms: int
    took_s: float
    place: Place
    recalled: Recalled
    older_by_s: float


class Receipts:
    """A ring of the last `KEPT`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ring: deque[_Kept] = deque(maxlen=KEPT)

    def write(self, place: Place, recalled: Recalled, *, started_s: float, older_by_s: float = 0.0) -> str:
        """One more, that began at ``started_s`` (monotonic). Returns its id.

        ``older_by_s``: so much older than ``recalled`` says is what it holds, for it was answered before.
        """
        took_s = self._clock.monotonic_s() - started_s
        kept = _Kept(uuid7(), self._clock.now_ms(), took_s, place, recalled, older_by_s)
        self._ring.append(kept)
        return kept.id

    def latest(self, limit: int, *, session: str | None = None) -> list[Receipt]:
        """The latest first; those of one session (by its Honcho id), when given."""
        matching = (one for one in reversed(self._ring) if session is None or one.place.session == session)
        return [_receipt(one) for one in islice(matching, limit)]


def _receipt(kept: _Kept) -> Receipt:
    """What nearly nobody asks for is written out when somebody does."""
    place, recalled = kept.place, kept.recalled
    return Receipt(
        id=kept.id,
        at=rfc3339(kept.at_ms),
        host=place.host.name,
        workspace=place.host.workspace,
        session=place.session,
        status=recalled.status,
        query=recalled.has_query,
        query_matched=recalled.query_matched,
        sections=[
            ReceiptSection(section, round(age_s + kept.older_by_s, 1))
            for section, age_s in (recalled.ages_s or {}).items()
        ],
        truncated=list(recalled.truncated),
        chars=recalled.chars,
        calls=recalled.calls,
        ms=round(kept.took_s * 1000, 2),
    )
