"""``honchod recall``, ``recall-log`` and ``cache clear``."""

from __future__ import annotations

import json
import subprocess
import sys

from command import Honchod

from support.daemon import DaemonProcess
from support.honcho import Remote

WAIT = ("--wait-ms", "20000")


def know(remote: Remote, workspace: str) -> None:
    """Make the server know something of ann."""
    remote.ask("POST", "/v3/workspaces", {"id": workspace})
    base = f"/v3/workspaces/{workspace}"
    remote.ask("POST", f"{base}/sessions", {"id": "known", "peers": {"ann": {}, "bot": {}}})
    row = {
        "content": "Ann lives in Lisbon.",
        "observer_id": "bot",
        "observed_id": "ann",
        "session_id": "known",
    }
    remote.ask("POST", f"{base}/conclusions", {"conclusions": [row]})


def test_recall_prints_the_block_and_nothing_else(
    honchod: Honchod, session: str, remote: Remote, workspace: str
) -> None:
    know(remote, workspace)
    cold = honchod.run("recall", "--session", session)
    assert (cold.returncode, cold.stdout, cold.stderr) == (0, "", "")
    warm = honchod.run("recall", "--session", session, *WAIT)
    assert warm.returncode == 0
    lines = warm.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("<memory-context>", "</memory-context>")
    assert "Ann lives in Lisbon." in warm.stdout


def test_recall_as_json_says_what_it_is_worth(
    honchod: Honchod, session: str, remote: Remote, workspace: str
) -> None:
    know(remote, workspace)
    options = (
        "--session",
        session,
        "--sections",
        "user_card,user_representation",
        "--tokens",
        "400",
        "--json",
    )
    done = honchod.run("recall", *options, *WAIT, "-", stdin="where does Ann live?\n")
    answer = json.loads(done.stdout)
    assert answer["status"] == "fresh"
    assert answer["query_matched"] is True
    assert "Lisbon" in answer["sections"]["user_representation"]


def test_wrong_usage_is_told(honchod: Honchod) -> None:
    assert honchod.run("recall").returncode == 2
    assert honchod.run("recall", "--session", "s", "--sections", "all").returncode == 2
    assert honchod.run("recall", "--session", "s", "--wait-ms", "99999999").returncode == 2


def test_without_a_daemon_recall_says_so(honchod: Honchod) -> None:
    done = honchod.run("--socket", "/nonexistent/s.sock", "recall", "--session", "s")
    assert (done.returncode, done.stdout) == (3, "")


def test_recall_starts_on_the_standard_library_alone() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom honchod.cli.main import dispatch\n"
        "try:\n    dispatch(['recall', '--help'])\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert loaded - set(sys.stdlib_module_names) == {"honchod"}
    assert loaded.isdisjoint(
        {"asyncio", "dataclasses", "inspect", "http", "urllib", "logging", "ssl", "uuid"}
    )


def test_the_log_shows_recalls_without_content(
    honchod: Honchod, session: str, remote: Remote, workspace: str
) -> None:
    know(remote, workspace)
    honchod.run("recall", "--session", session, *WAIT, "where does Ann live?")
    listed = honchod.run("recall-log", "--session", session)
    assert listed.returncode == 0
    header, row = listed.stdout.splitlines()
    assert header.split("\t")[:4] == ["at", "host", "session", "status"]
    assert row.split("\t")[2:5] == [session, "fresh", "matched"]
    as_json = json.loads(honchod.run("recall-log", "--limit", "1", "--json").stdout)
    assert as_json["items"][0]["session"] == session
    assert "Lisbon" not in listed.stdout + str(as_json)


def test_the_cache_can_be_cleared(honchod: Honchod, session: str, daemon: DaemonProcess) -> None:
    honchod.run("recall", "--session", session, *WAIT)
    assert daemon.status()["cache"]["entries"]
    cleared = json.loads(honchod.run("cache", "clear", "--json").stdout)
    assert cleared["cleared"] > 0
    assert daemon.status()["cache"]["entries"] == 0
    assert honchod.run("cache", "clear", "--yes").stdout.strip() == "forgotten\t0"
