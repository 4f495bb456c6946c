from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from patient import Patient

from honchod.clock import SystemClock
from honchod.outbox.store import Outbox
from honchod.outbox.values import Bounds


@pytest.fixture(scope="session")
def used_queue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state directory of a daemon that was used and stopped."""
    directory = tmp_path_factory.mktemp("used") / "state"

    async def use() -> None:
        await Outbox.open(directory, bounds=Bounds(), clock=SystemClock()).close()

    asyncio.run(use())
    return directory


@pytest.fixture
def patient(used_queue: Path) -> Iterator[Patient]:
    """Healthy, until a test does something to it."""
    made = Patient()
    made.state_dir.parent.mkdir(parents=True)
    shutil.copytree(used_queue, made.state_dir)
    made.state_dir.chmod(0o700)
    yield made
    made.close()
