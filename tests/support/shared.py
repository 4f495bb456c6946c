"""Where the material is that the project is tested with and does not carry itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("HONCHOD_SHARED", Path(__file__).parents[3] / "shared"))


def conversations() -> list[dict[str, Any]]:
    """The recorded conversations, one message an entry, in order; skips the test where they are absent."""
    path = SHARED / "data" / "locomo.ndjson"
    if not path.is_file():
        pytest.skip(f"the recorded conversations are not at {path} (set HONCHOD_SHARED)")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
