"""State across restarts, and the sandbox as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox_client import MESSAGES, Client, contents

from honchod.sandbox import Behaviour, running_sandbox

RUN = (
    "import sys; from honchod.sandbox.main import run; "
    "run(port=int(sys.argv[1]), host='127.0.0.1', faults=sys.argv[2] or None, api_key=None, "
    "state=sys.argv[3], latency_s=0.0)"
)
AT_ONCE = Behaviour(derive_delay_s=0.0, delete_delay_s=0.0)


@contextmanager
def process(state: Path, port: int = 0, faults: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(port), faults, str(state)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        yield child, child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait(30)
        assert child.stdout is not None
        child.stdout.close()


def test_everything_is_there_after_a_restart_under_the_same_ids(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    with running_sandbox(state=state, behaviour=AT_ONCE) as sandbox, Client(sandbox.url) as client:
        flags = {"al": {"observe_me": True}, "bo": {"observe_others": True}}
        client.call("POST", "/v3/workspaces/w/sessions", {"id": "s", "peers": flags, "scopes": ["a0"]})
        client.say("one", "two")
        client.say("<|fim_prefix|>", path="/v3/workspaces/w/sessions/half/messages")
        pair = {"observer_id": "bo", "observed_id": "al"}
        made = client.call(
            "POST",
            "/v3/workspaces/w/conclusions",
            {"conclusions": [{"content": "a", **pair}, {"content": "b", **pair}]},
        )
        client.call("DELETE", f"/v3/workspaces/w/conclusions/{made.value[0]['id']}")
        client.call("PUT", "/v3/workspaces/w/peers/al/card", {"peer_card": ["Name: Al"]})
        before = (
            sandbox.messages("w", "s"),
            sandbox.sessions("w"),
            sandbox.members("w", "s"),
            sandbox.conclusions("w"),
            sandbox.scope_sessions("w", "a0"),
        )
    with running_sandbox(state=state, behaviour=AT_ONCE) as sandbox, Client(sandbox.url) as client:
        after = (
            sandbox.messages("w", "s"),
            sandbox.sessions("w"),
            sandbox.members("w", "s"),
            sandbox.conclusions("w"),
            sandbox.scope_sessions("w", "a0"),
        )
        card = client.call("GET", "/v3/workspaces/w/peers/al/card").value
    assert before == after
    assert len(after[3]) == 7
    assert card == {"peer_card": ["Name: Al"]}


def test_an_answered_batch_survives_a_kill(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    with process(state) as (child, url), Client(url) as client:
        assert client.say("kept").status == 201
        os.kill(child.pid, signal.SIGKILL)
        child.wait(30)
    with running_sandbox(state=state) as sandbox:
        assert contents(sandbox) == ["kept"]


def test_a_line_cut_short_is_dropped_and_writing_goes_on(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    with running_sandbox(state=state) as sandbox, Client(sandbox.url) as client:
        client.say("kept")
        client.say("torn")
    state.write_bytes(state.read_bytes()[:-10])
    with running_sandbox(state=state) as sandbox, Client(sandbox.url) as client:
        assert contents(sandbox) == ["kept"]
        client.say("after")
    with running_sandbox(state=state) as sandbox:
        assert contents(sandbox) == ["kept", "after"]


def test_what_was_rejected_is_not_remembered(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    with running_sandbox(state=state) as sandbox, Client(sandbox.url) as client:
        client.say("<|endoftext|>")
        client.call("POST", f"{MESSAGES}/list", {})
    assert state.read_bytes() == b""


def test_the_process_prints_its_url_obeys_its_faults_and_ends_with_0(tmp_path: Path) -> None:
    with process(tmp_path / "state.jsonl", faults="POST messages: status=429 times=1") as (child, url):
        with Client(url) as client:
            assert client.say("a").status == 429
            assert client.say("a").status == 201
            seen = client.call("GET", "/sandbox/messages?workspace=w&session=s").value
            assert [one["content"] for one in seen] == ["a"]
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
