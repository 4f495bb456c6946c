"""The turns of each session, in memory: how many have ended, who spoke, where the cadences stand."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from honchod.clock import Clock
from honchod.outbox.turns import TurnRow
from honchod.outbox.values import LaneKey

KEPT: Final = 20_000
"""So many sessions are held in memory, those in which something happened last."""


class Turns:
    """Turns by session. What has to be kept on disk is collected for `take_changes`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: OrderedDict[LaneKey, TurnRow] = OrderedDict()
        self._changed: set[LaneKey] = set()
        self._underived: Counter[str] = Counter()
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something for `take_changes`."""

    def of(self, lane: LaneKey) -> TurnRow:
        """The session's turns; none have ended in one that is not known."""
        return self.row(lane) or TurnRow(lane)

    def row(self, lane: LaneKey) -> TurnRow | None:
        """As `of`; None for a session that is not known. While nothing happens it is the same object."""
        return self._rows.get(lane)

    def knows(self, lane: LaneKey) -> bool:
        """Whether the session is held."""
        return lane in self._rows

    def fill(self, rows: Iterable[TurnRow], underived: Mapping[str, int]) -> None:
        """Take over what was kept on disk, with the latest first; ``underived`` are all of each host."""
        for row in reversed(list(rows)):
            self._rows[row.lane] = row
        self._underived = Counter(underived)

    def learn(self, row: TurnRow) -> None:
        """Take over a session that was not held; one that is stays as it is."""
        self._rows.setdefault(row.lane, row)

    def spoke(self, lane: LaneKey, peer: str) -> None:
        """The person who spoke last."""
        if self.of(lane).peer != peer:
            self._change(replace(self.of(lane), peer=peer))

    def ended(self, lane: LaneKey) -> TurnRow:
        """One more turn has ended."""
        before = self.of(lane)
        return self._change(replace(before, turns=before.turns + 1))

    def asked_context(self, lane: LaneKey) -> None:
        """The base context was asked for after this turn."""
        before = self.of(lane)
        self._change(replace(before, context_turn=before.turns))

    def asked_dialectic(self, lane: LaneKey) -> None:
        """The dialectic was asked after this turn: its cadence starts over."""
        before = self.of(lane)
        self._change(replace(before, dialectic_turn=before.turns))

    def heard(self, lane: LaneKey, *, empty: bool) -> None:
        """The dialectic answered something, or nothing."""
        before = self.of(lane)
        self._change(replace(before, dialectic_empty=before.dialectic_empty + 1 if empty else 0))

    def delivered(self, lane: LaneKey, messages: int) -> None:
        """Honcho has so many more messages of this session."""
        before = self.of(lane)
        self._underived[lane.host] += messages
        self._change(replace(before, underived=before.underived + messages))

    def derived(self, lane: LaneKey) -> None:
        """Honcho has derived from everything it had."""
        before = self.of(lane)
        if before.underived:
            self._underived[lane.host] -= before.underived
            self._change(replace(before, underived=0))

    def to_derive(self) -> list[LaneKey]:
        """The sessions of which something is not known to be derived, the latest first."""
        return [lane for lane, row in reversed(self._rows.items()) if row.underived]

    @property
    def underived(self) -> Mapping[str, int]:
        """Messages that are with Honcho and not known to be derived, by host."""
        return self._underived

    def take_changes(self) -> list[TurnRow]:
        """What to keep on disk since the last time."""
        rows = [self._rows[lane] for lane in self._changed if lane in self._rows]
        self._changed.clear()
        return rows

    def _change(self, row: TurnRow) -> TurnRow:
        row = replace(row, used_at_ms=self._clock.now_ms())
        self._rows[row.lane] = row
        self._rows.move_to_end(row.lane)
        self._changed.add(row.lane)
        self.on_change()
        if len(self._rows) > KEPT and (oldest := next(iter(self._rows))) not in self._changed:
            # One that is not on disk yet must not be lost: it goes after the next flush.
            del self._rows[oldest]
        return row
