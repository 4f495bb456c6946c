"""What coverage is measured of: the import of the modules, and the tests that bring their own examples.

All that is traced takes twice or three times as long. So pytest's own work is not, and neither are the tests
with generated inputs: what those reach differs from run to run, and a branch that is covered by luck is not.
Nor is what measures time.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import coverage
import pytest

UNTRACED = frozenset({"hypothesis", "timed"})
"""Markers. The first one is set by Hypothesis."""
MEASURED = pytest.StashKey[coverage.Coverage]()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    # In a worker there are two, one upon the other: the upper one is reported, the lower would go on.
    while running := coverage.Coverage.current():
        session.config.stash.setdefault(MEASURED, running)
        running.stop()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    with traced(session.config):
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    if any(mark.name in UNTRACED for mark in item.iter_markers()):
        return (yield)
    with traced(item.config):
        return (yield)


@contextmanager
def traced(config: pytest.Config) -> Iterator[None]:
    """Trace this much, where coverage is asked for at all."""
    measured = config.stash.get(MEASURED, None)
    if measured:
        measured.start()
    try:
        yield
    finally:
        if measured:
            measured.stop()
