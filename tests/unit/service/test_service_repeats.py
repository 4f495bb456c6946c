"""Lines that repeat themselves."""

from __future__ import annotations

from honchod.service.repeats import KINDS, Repeats


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_goes_through_and_the_rest_is_counted() -> None:
    repeats = Repeats(2, 60.0, monotonic_s=Watch())
    assert [repeats.admit("a") for _ in range(5)] == [0, 0, None, None, None]


def test_the_next_window_says_how_many_were_left_out() -> None:
    watch = Watch()
    repeats = Repeats(2, 60.0, monotonic_s=watch)
    for _ in range(5):
        repeats.admit("a")
    watch.now_s = 60.0
    assert [repeats.admit("a") for _ in range(3)] == [3, 0, None]


def test_kinds_do_not_count_for_each_other() -> None:
    repeats = Repeats(1, 60.0, monotonic_s=Watch())
    assert [repeats.admit(kind) for kind in "abab"] == [0, 0, None, None]


def test_a_flood_of_kinds_takes_no_more_memory() -> None:
    repeats = Repeats(1, 60.0, monotonic_s=Watch())
    for kind in range(3 * KINDS):
        assert repeats.admit(kind) == 0
    assert len(repeats._windows) == KINDS
    assert repeats.admit(3 * KINDS - 1) is None
