from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from world import World


@pytest.fixture(autouse=True, scope="session")
def quiet() -> Iterator[None]:
    """Thousands of batches say nothing a reader wants to know."""
    structlog.configure(processors=[drop], cache_logger_on_first_use=False)
    yield
    structlog.reset_defaults()


def drop(_logger: object, _method: str, _event: object) -> object:
    raise structlog.DropEvent


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "state")
    yield made
    made.close()
