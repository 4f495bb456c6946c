"""What capture costs, measured against plain Python on the same machine: a ratio, not a time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from honchod.capture.naming import NameRedactor
from honchod.capture.pipeline import Captured, Pipeline
from honchod.capture.redact import Redactor

PARAGRAPH = (
    "I moved to Lisbon last spring and the flat has two rooms. The build was red again (commit "
    "3f786850e387550fdab836ed7e6dc881de23001b), so I looked at https://example.org/runs?page=2 and found "
    "that the token budget was 500.\n\n    result = client.search(query, limit=20)\n\n"
    "That is fixed now. Remind me on Monday to write to Bea about the lease, please.\n\n"
)
pytestmark = pytest.mark.timed

MILLISECOND_OF_ADDING = 50_000
"""So many additions take a fast machine about a millisecond."""


def fastest_s(work: Callable[[], object], tries: int = 9) -> float:
    best = float("inf")
    for _ in range(tries):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def times_as_long(work: Callable[[], object], yardstick: Callable[[], object]) -> float:
    """How many times as long the work takes: the best of some looks, as the machine may be busy."""
    return min(fastest_s(work) / fastest_s(yardstick) for _ in range(3))


def capture(chars: int) -> Callable[[], object]:
    pipeline = Pipeline("hermes", Redactor(), 10_000_000)
    text = (PARAGRAPH * (chars // len(PARAGRAPH) + 1))[:chars]
    assert pipeline.run(text, "human", {"topic": "home"}) == Captured((text,), {"topic": "home"})
    return lambda: pipeline.run(text, "human", {"topic": "home"})


def test_a_message_of_4_kb_costs_about_a_millisecond() -> None:
    assert times_as_long(capture(4096), lambda: sum(range(MILLISECOND_OF_ADDING))) < 2


def test_the_cost_grows_with_the_length_and_not_faster() -> None:
    assert times_as_long(capture(16 * 4096), capture(4096)) < 16 * 2


def test_a_name_costs_a_fraction_of_a_message() -> None:
    names = NameRedactor(Redactor(), b"salt")
    assert times_as_long(lambda: names.hide_once("agent:main:telegram:dm:123456789"), capture(4096)) < 0.3
