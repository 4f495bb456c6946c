from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from open_outbox import Box


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    opened = Box(tmp_path / "state")
    yield opened
    opened.close()
