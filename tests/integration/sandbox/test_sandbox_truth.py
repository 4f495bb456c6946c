from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from honchod.sandbox import Behaviour, running_sandbox
from honchod.sandbox.errors import Refused
from honchod.sandbox.routes import ROUTES
from honchod.sandbox.routing import Router

DIFFERENT_BODIES = {
    59: "the recording caught bot's copy of an observation before it was written",
    63: "the time of a message stands in the text",
    64: "the recording caught the scope's copy of an observation before it was written",
    67: "the time of a message stands in the text",
    68: "as 59",
    74: "the time of a message stands in the text",
    75: "the time of a message stands in the text",
    88: "queue counts depend on the moment",
    89: "queue counts depend on the moment",
    96: "a backfill without delay is completed, the recorded one was pending",
    100: "generated text",
    101: "generated text",
}


def test_every_recorded_answer_of_the_real_server_is_given() -> None:
    truth = _honcho() / "truth"
    with running_sandbox(behaviour=Behaviour(derive_delay_s=0.0)) as sandbox:
        compared = subprocess.run(
            [sys.executable, truth / "replay.py", sandbox.url, "--against", truth / "real-3.0.12.jsonl"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert ", 0 with another status," in compared.stdout
    different = {int(found) for found in re.findall(r"^ *(\d+) [A-Z]+ /", compared.stdout, re.MULTILINE)}
    assert different <= set(DIFFERENT_BODIES), compared.stdout


NOT_SERVED = {
    "POST /v3/keys",
    "POST /v3/workspaces/{workspace_id}/sessions/{session_id}/clone",
    "GET /v3/workspaces/{workspace_id}/webhooks/test",
}


def test_every_call_of_the_published_api_is_served_or_left_out_on_purpose() -> None:
    document = json.loads((_honcho() / "openapi-3.0.12.json").read_text())
    router = Router(ROUTES)
    missing = set()
    for path, methods in document["paths"].items():
        for method in methods:
            try:
                router.find(method.upper(), re.sub(r"{\w+}", "x", path))
            except Refused:
                missing.add(f"{method.upper()} {path}")
    assert missing == NOT_SERVED


def _honcho() -> Path:
    default = Path(__file__).parents[4] / "shared"
    honcho = Path(os.environ.get("HONCHOD_SHARED", default)) / "honcho"
    if not honcho.is_dir():
        pytest.skip(f"no recording of a real server at {honcho}; HONCHOD_SHARED names the folder above")
    return honcho
