"""The cache in memory: bounds, what is old, what has to be kept on disk."""

from __future__ import annotations

from typing import Any

from recall_hosts import HandClock

from honchod.outbox.cache import CacheKey, CacheRow
from honchod.recall.cache import BYTES_PER_CHAR, ENTRY_OVERHEAD_BYTES, Cache
from honchod.recall.parts import Parts


def key(session: str = "s", **more: Any) -> CacheKey:
    fields = {"destination": "d", "workspace": "w", "observer": "bot", "target": "ann", "scope": ""}
    return CacheKey(**{**fields, "session": session, "tokens": 0, "query": "", **more})


def cache_of(max_entries: int = 10, **more: Any) -> tuple[Cache, HandClock]:
    clock = HandClock()
    return Cache(max_entries=max_entries, clock=clock, **more), clock


def text(cache: Cache, wanted: CacheKey) -> str | None:
    entry = cache.get(wanted)
    return None if entry is None else entry.parts.summary


def test_an_answer_is_found_by_its_key_alone() -> None:
    cache, _ = cache_of()
    cache.put(key(), Parts("one"))
    cache.put(key(workspace="w2"), Parts("two"))
    assert text(cache, key()) == "one"
    assert text(cache, key(workspace="w2")) == "two"
    assert cache.get(key("t")) is None
    assert cache.get(None) is None


def test_the_least_recently_used_goes_first() -> None:
    cache, _ = cache_of(max_entries=2)
    for name in ("a", "b"):
        cache.put(key(name), Parts(name))
    cache.use(key("a"))
    cache.use(key("unknown"))
    cache.put(key("c"), Parts("c"))
    assert [text(cache, key(name)) for name in "abc"] == ["a", None, "c"]
    assert cache.take_changes()[1] == [key("b")]


def test_bytes_are_bounded_too() -> None:
    size = 100 * BYTES_PER_CHAR + ENTRY_OVERHEAD_BYTES
    cache, _ = cache_of(max_bytes=2 * size)
    for name in ("a", "b", "c"):
        cache.put(key(name), Parts("x" * 100))
    assert len(cache) == 2
    assert cache.bytes == 2 * size
    cache.put(key("c"), Parts("x"))
    assert cache.bytes == size + BYTES_PER_CHAR + ENTRY_OVERHEAD_BYTES


def test_age_and_failure_tell_what_an_answer_is_worth() -> None:
    cache, clock = cache_of()
    cache.put(key(), Parts("one"))
    clock.pass_s(7)
    cache.failed(key())
    cache.failed(key("unknown"))
    entry = cache.get(key())
    assert entry is not None
    held = entry.held(clock.monotonic_s())
    assert (held.age_s, held.old, held.failed, held.empty) == (7.0, False, True, False)
    cache.put(key(), Parts())
    entry = cache.get(key())
    assert entry is not None
    held = entry.held(clock.monotonic_s())
    assert (held.age_s, held.failed, held.empty) == (0.0, False, True)


def test_a_derivation_makes_the_answers_of_its_session_old_and_no_others() -> None:
    cache, _ = cache_of()
    for one in (key(), key(query="q"), key("t"), key(workspace="w2"), key(destination="d2")):
        cache.put(one, Parts("x"))
    assert set(cache.age(("d", "w", "s"))) == {key(), key(query="q")}
    old = [one.session + one.workspace + one.destination for one in _keys(cache) if cache.get(one).old]  # type: ignore[union-attr]
    assert old == ["swd", "swd"]
    assert cache.age(("d", "w", "nowhere")) == ()


def _keys(cache: Cache) -> list[CacheKey]:
    return [
        one
        for place in (("d", "w", "s"), ("d", "w", "t"), ("d", "w2", "s"), ("d2", "w", "s"))
        for one in cache.of_place(place)
    ]


def test_only_what_changed_is_kept_and_use_alone_waits_for_the_end() -> None:
    cache, clock = cache_of()
    cache.put(key(), Parts("one"))
    rows, removed = cache.take_changes()
    assert [row.key for row in rows] == [key()]
    assert removed == []
    clock.pass_s(5)
    cache.use(key())
    assert cache.take_changes() == ([], [])
    (row,) = cache.take_changes(used_too=True)[0]
    assert row.used_at_ms == clock.now_ms()
    assert row.fetched_at_ms == clock.now_ms() - 5_000
    assert cache.take_changes(used_too=True) == ([], [])
    cache.age(("d", "w", "s"))
    assert [row.old for row in cache.take_changes()[0]] == [True]
    cache.age(("d", "w", "s"))
    assert cache.take_changes() == ([], [])


def test_what_was_kept_is_there_again_with_its_age() -> None:
    cache, clock = cache_of()
    cache.put(key("a"), Parts("a"))
    clock.pass_s(1)
    cache.put(key("b"), Parts("b"))
    cache.age(("d", "w", "a"))
    rows = sorted(cache.take_changes()[0], key=lambda row: -row.used_at_ms)
    again = Cache(max_entries=10, clock=clock)
    clock.pass_s(9)
    again.fill(rows)
    assert text(again, key("a")) == "a"
    first, second = again.get(key("a")), again.get(key("b"))
    assert first is not None
    assert second is not None
    assert (first.held(clock.mono_s).age_s, first.old) == (10.0, True)
    assert (second.held(clock.mono_s).age_s, second.old) == (9.0, False)
    assert again.take_changes() == ([], [])


def test_what_cannot_be_read_is_forgotten_and_bounds_hold_for_what_was_kept() -> None:
    cache, clock = cache_of(max_entries=1)
    rows = [
        CacheRow(key("a"), '{"summary": "a"}', clock.wall_ms, clock.wall_ms, old=False),
        CacheRow(key("b"), '{"summary": "b"}', clock.wall_ms, clock.wall_ms - 1, old=False),
        CacheRow(key("c"), "{broken", clock.wall_ms, clock.wall_ms - 2, old=False),
    ]
    cache.fill(rows)
    assert text(cache, key("a")) == "a"
    assert set(cache.take_changes()[1]) == {key("b"), key("c")}


def test_a_wall_clock_from_the_future_makes_no_answer_younger_than_new() -> None:
    cache, clock = cache_of()
    cache.fill([CacheRow(key(), "{}", clock.wall_ms + 60_000, clock.wall_ms + 60_000, old=False)])
    entry = cache.get(key())
    assert entry is not None
    assert entry.held(clock.mono_s).age_s == 0.0


def test_clearing_forgets_everything() -> None:
    cache, _ = cache_of()
    cache.put(key(), Parts("one"))
    assert cache.clear() == 1
    assert len(cache) == cache.bytes == 0
    assert cache.of_place(("d", "w", "s")) == ()
    assert cache.take_changes(used_too=True) == ([], [])


def test_an_answer_that_comes_back_is_not_forgotten_on_disk() -> None:
    cache, _ = cache_of(max_entries=1)
    cache.put(key("a"), Parts("a"))
    cache.put(key("b"), Parts("b"))
    cache.put(key("a"), Parts("a"))
    rows, removed = cache.take_changes()
    assert [row.key for row in rows] == [key("a")]
    assert removed == [key("b")]
