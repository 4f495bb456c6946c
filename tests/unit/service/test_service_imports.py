"""What the start of the daemon does not wait for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"honcho", "httpx", "pydantic", "alembic"}
"""The SDK comes in a thread, Alembic only where something is to be migrated."""


@pytest.mark.slow
def test_a_start_imports_neither_the_sdk_nor_alembic() -> None:
    question = "import json, sys, honchod.service.main; print(json.dumps(list(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", question], check=True, capture_output=True).stdout
    assert HEAVY.isdisjoint(json.loads(told))
