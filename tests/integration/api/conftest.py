from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running_door import LIMITS, RunningDoor

from honchod.api.callers import Access
from honchod.api.sockets import Listener


@pytest.fixture
def start_door(tmp_path: Path) -> Iterator[Callable[..., RunningDoor]]:
    """Starts front doors with the default limits but for those that are named."""
    doors: list[RunningDoor] = []

    def start(
        *,
        access: Access | None = None,
        listener: Listener | None = None,
        path: Path | None = None,
        **limits: Any,
    ) -> RunningDoor:
        in_force = msgspec.structs.replace(LIMITS, **limits)
        door = RunningDoor(path or tmp_path / "d.sock", in_force, access or Access.of(), listener)
        doors.append(door)
        return door

    yield start
    for door in doors:
        door.close()


@pytest.fixture
def door(start_door: Callable[..., RunningDoor]) -> RunningDoor:
    return start_door()
