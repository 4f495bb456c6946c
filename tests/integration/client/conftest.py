from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_daemon import ScriptedDaemon


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[ScriptedDaemon]:
    """A running scripted daemon."""
    scripted = ScriptedDaemon(tmp_path / "d.sock")
    scripted.start()
    yield scripted
    if scripted.path.exists():
        scripted.stop()
