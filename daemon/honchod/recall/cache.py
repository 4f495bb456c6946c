"""What Honcho answered, in memory: bounded by entries and bytes, the least recently used go first."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from honchod.clock import Clock
from honchod.outbox.cache import CacheKey, CacheRow
from honchod.recall.freshness import Held
from honchod.recall.parts import Parts

MAX_BYTES: Final = 64 << 20
ENTRY_OVERHEAD_BYTES: Final = 1_000
BYTES_PER_CHAR: Final = 2

Place = tuple[str, str, str]
"""Destination, workspace and session: what a derivation makes old together."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Parts).decode


@dataclass(slots=True)
class Entry:
    """One answer. Times with ``_s`` are monotonic; ``failed``: the last attempt to refresh it did."""

    parts: Parts
    fetched_at_s: float
    fetched_at_ms: int
    used_at_s: float
    size: int
    old: bool = False
    failed: bool = False
    empty: bool = field(init=False)

    def __post_init__(self) -> None:
        self.empty = self.parts.is_empty

    def held(self, now_s: float) -> Held:
        """What the status is judged by."""
        return Held(max(0.0, now_s - self.fetched_at_s), self.old, self.failed, self.empty)


class Cache:
    """Answers by key. What has to be kept or forgotten on disk is collected for `take_changes`."""

    def __init__(self, *, max_entries: int, clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self.max_entries = max_entries
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[CacheKey, Entry] = OrderedDict()
        self._places: defaultdict[Place, set[CacheKey]] = defaultdict(set)
        self._changed: set[CacheKey] = set()
        self._removed: set[CacheKey] = set()
        self._used: set[CacheKey] = set()
        self.bytes = 0
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something for `take_changes`."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: CacheKey | None) -> Entry | None:
        """The answer for this key, without counting as use."""
        return None if key is None else self._entries.get(key)

    def use(self, key: CacheKey) -> None:
        """The answer was shown."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.used_at_s = self._clock.monotonic_s()
            self._entries.move_to_end(key)
            self._used.add(key)

    def put(self, key: CacheKey, parts: Parts) -> None:
        """Honcho's answer, as of now."""
        now_s = self._clock.monotonic_s()
        before = self._entries.get(key)
        entry = Entry(
            parts=parts,
            fetched_at_s=now_s,
            fetched_at_ms=self._clock.now_ms(),
            used_at_s=now_s if before is None else before.used_at_s,
            size=parts.size * BYTES_PER_CHAR + ENTRY_OVERHEAD_BYTES,
        )
        self._set(key, entry)
        self._changed.add(key)
        self._removed.discard(key)
        self.on_change()

    def failed(self, key: CacheKey) -> None:
        """The last attempt to refresh this answer failed: it stays, and is no longer fresh."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.failed = True

    def of_place(self, place: Place) -> tuple[CacheKey, ...]:
        """The keys of the answers of one session ("" for those of none)."""
        return tuple(self._places.get(place, ()))

    def age(self, place: Place) -> tuple[CacheKey, ...]:
        """Honcho has learned something here: its answers are old. Returns their keys."""
        keys = self.of_place(place)
        for key in keys:
            entry = self._entries[key]
            if not entry.old:
                entry.old = True
                self._changed.add(key)
                self.on_change()
        return keys

    def drop(self, destination: str, workspace: str) -> int:
        """Forget the answers of one workspace. Returns how many that were."""
        keys = [key for key in self._entries if (key.destination, key.workspace) == (destination, workspace)]
        for key in keys:
            self._drop(key)
            self._removed.add(key)
            self.on_change()
        return len(keys)

    def clear(self) -> int:
        """Forget everything. Returns how many answers that were."""
        count = len(self._entries)
        self._entries.clear()
        self._places.clear()
        self._changed.clear()
        self._removed.clear()
        self._used.clear()
        self.bytes = 0
        return count

    def fill(self, rows: Iterable[CacheRow]) -> None:
        """Take over what was kept on disk, given with the latest used first."""
        now_s, now_ms = self._clock.monotonic_s(), self._clock.now_ms()
        for row in reversed(list(rows)):
            try:
                parts = _decode(row.parts)
            except msgspec.MsgspecError:
                self._removed.add(row.key)
                continue
            entry = Entry(
                parts=parts,
                # A wall clock that was set back must not make an answer younger than it can be.
                fetched_at_s=now_s - max(0, now_ms - row.fetched_at_ms) / 1000,
                fetched_at_ms=row.fetched_at_ms,
                used_at_s=now_s - max(0, now_ms - row.used_at_ms) / 1000,
                size=parts.size * BYTES_PER_CHAR + ENTRY_OVERHEAD_BYTES,
                old=row.old,
            )
            self._set(row.key, entry)

    def take_changes(self, *, used_too: bool = False) -> tuple[list[CacheRow], list[CacheKey]]:
        """What to keep and what to forget on disk since the last time; ``used_too``: also what was only
        used, which decides no more than what goes first.
        """
        keys = self._changed | (self._used if used_too else set())
        rows = [self._row(key, self._entries[key]) for key in keys if key in self._entries]
        removed = list(self._removed)
        self._changed.clear()
        self._removed.clear()
        if used_too:
            self._used.clear()
        return rows, removed

    def _row(self, key: CacheKey, entry: Entry) -> CacheRow:
        unused_ms = (self._clock.monotonic_s() - entry.used_at_s) * 1000
        return CacheRow(
            key=key,
            parts=_encode(entry.parts).decode(),
            fetched_at_ms=entry.fetched_at_ms,
            used_at_ms=int(self._clock.now_ms() - unused_ms),
            old=entry.old,
        )

    def _set(self, key: CacheKey, entry: Entry) -> None:
        self._drop(key)
        self._entries[key] = entry
        self._places[_place(key)].add(key)
        self.bytes += entry.size
        while len(self._entries) > self.max_entries or (self.bytes > self._max_bytes and self._entries):
            oldest = next(iter(self._entries))
            self._drop(oldest)
            self._removed.add(oldest)

    def _drop(self, key: CacheKey) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self.bytes -= entry.size
        place = _place(key)
        self._places[place].discard(key)
        if not self._places[place]:
            del self._places[place]
        self._changed.discard(key)
        self._used.discard(key)


def _place(key: CacheKey) -> Place:
    return (key.destination, key.workspace, key.session)
