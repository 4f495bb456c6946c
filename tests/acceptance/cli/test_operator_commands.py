"""The operator's commands against the real daemon."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Honchod

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def send(honchod: Honchod, session: str, content: str) -> None:
    assert honchod.run("send", "--session", session, "--id", "m1", content).returncode == 0


def listed(honchod: Honchod, session: str) -> Any:
    return json.loads(honchod.run("letters", "list", "--session", session, "--json").stdout)


@pytest.fixture
def letter_id(honchod: Honchod, session: str, network: Network) -> str:
    """A dead letter: the server refused its content."""
    network.hit('content="bad one": status=422')
    send(honchod, session, "a bad one")
    (letter,) = wait_until(lambda: listed(honchod, session)["items"], "a dead letter")
    network.heal()
    return str(letter["id"])


def test_status_is_tab_separated_without_a_terminal_and_json_when_asked(honchod: Honchod) -> None:
    lines = dict(line.split("\t", 1) for line in honchod.run("status").stdout.splitlines() if "\t" in line)
    status = json.loads(honchod.run("status", "--json").stdout)
    assert lines["dead letters"] == str(status["queue"]["dead"])


def test_status_is_a_coloured_table_on_a_terminal(honchod: Honchod, session: str) -> None:
    send(honchod, session, "x")
    code, screen = honchod.on_terminal("status")
    assert code == 0
    assert "\x1b[" in screen
    assert "Destinations" in screen
    assert "─" in screen


def test_watch_repaints_until_it_is_interrupted(honchod: Honchod) -> None:
    watching = honchod.start("status", "--watch", "--interval", "0.1", "--json", stdout=subprocess.PIPE)
    assert watching.stdout is not None
    seen = [json.loads(watching.stdout.readline())["uptime_s"] for _ in range(3)]
    watching.send_signal(signal.SIGINT)
    # Read on to its end: it may be in the middle of a line.
    watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert seen[0] < seen[2]


def test_top_shows_the_oldest_lanes_and_the_pace(honchod: Honchod, session: str) -> None:
    honchod.run("pause")
    send(honchod, f"{session}-old", "a")
    send(honchod, f"{session}-young", "b")
    lanes = json.loads(honchod.run("top", "--interval", "0.1", "--json").stdout)["lanes"]
    assert [lane["session"] for lane in lanes] == [f"{session}-old", f"{session}-young"]
    assert lanes[0]["oldest_age_s"] >= lanes[1]["oldest_age_s"] > 0
    code, screen = honchod.on_terminal("top", "--once", "--interval", "0.1")
    assert code == 0
    assert "Lanes by age" in screen
    watching = honchod.start("top", "--interval", "0.1", stdout=subprocess.PIPE)
    assert watching.stdout is not None
    assert watching.stdout.read().startswith(b"pending\t2, oldest ")
    watching.stdout.close()
    assert watching.wait(60) == 0


def test_pause_holds_delivery_and_resume_lets_it_go(
    honchod: Honchod, session: str, daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    assert json.loads(honchod.run("pause", "--json").stdout)["paused"]
    send(honchod, session, "held")
    timed_out = honchod.run("drain", "--timeout", "0.2")
    assert timed_out.returncode == 1
    assert "1 left" in timed_out.stdout
    assert "paused" in honchod.run("status").stdout
    resumed = honchod.run("resume")
    assert (resumed.returncode, resumed.stdout.splitlines()[0]) == (0, "worker\trunning")
    assert honchod.run("drain").stdout == "drained\n"
    assert remote.contents(workspace, session) == ["held"]


def test_drain_shows_a_bar_on_a_terminal(honchod: Honchod, session: str, network: Network) -> None:
    network.hit("POST messages: delay=1")
    send(honchod, session, "x")
    code, screen = honchod.on_terminal("drain", "--timeout", "20")
    assert code == 0
    assert "draining" in screen
    assert "drained" in ANSI.sub("", screen).splitlines()[-1]


def test_wake_makes_a_lane_that_backs_off_due(
    honchod: Honchod, session: str, daemon: DaemonProcess, network: Network
) -> None:
    network.hit("*: status=401")
    send(honchod, session, "x")
    wait_until(lambda: daemon.status()["destinations"][0]["state"] == "refused", "a refused key")
    network.heal()
    assert honchod.run("wake").returncode == 0
    daemon.wait_for_delivery()


def test_check_probes_and_fails_with_the_server(honchod: Honchod, network: Network) -> None:
    good = honchod.run("check", "--json")
    assert good.returncode == 0
    assert json.loads(good.stdout)["ok"]
    network.hit("*: status=401")
    bad = honchod.run("check")
    assert bad.returncode == 1
    assert "401" in bad.stdout


def test_doctor_asks_the_daemon_what_it_sees(daemon: DaemonProcess, network: Network, session: str) -> None:
    honchod = Honchod(
        daemon.socket,
        {
            "HONCHOD_CONFIG": str(daemon.settings_file),
            "HONCHOD_HONCHO_CONFIG": str(daemon.hosts_file),
            "HONCHOD_STATE_DIR": str(daemon.state_dir),
        },
    )
    well = honchod.run("doctor", "--json")
    assert (well.returncode, json.loads(well.stdout)["ok"]) == (0, True), well.stdout
    network.hit("*: status=401")
    ill = honchod.run("doctor", "--json")
    network.heal()
    assert ill.returncode == 1
    (fault,) = [one for one in json.loads(ill.stdout)["findings"] if one["grade"] == "wrong"]
    assert fault["check"] == "api of default"
    assert "the key is not accepted" in fault["advice"]
    assert honchod.run("doctor", "--offline").stderr.startswith(f"honchod: {daemon.state_dir} is held by")


def test_reload_names_the_hosts_and_a_bad_file_changes_nothing(
    honchod: Honchod, session: str, daemon: DaemonProcess, hosts: dict[str, object]
) -> None:
    daemon.use_hosts({**hosts, "hosts": {"hermes": {"workspace": "other"}}})
    assert "hermes" in json.loads(honchod.run("reload", "--json").stdout)["hosts"]
    daemon.hosts_file.write_text("{ no json")
    refused = honchod.run("reload")
    assert refused.returncode == 1
    assert refused.stderr.startswith("honchod: ")
    send(honchod, session, "still there")


def test_letters_are_listed_without_content_and_shown_with_it_when_asked(
    honchod: Honchod, session: str, letter_id: str
) -> None:
    table = honchod.run("letters", "list", "--session", session).stdout
    assert "rejected_422" in table
    assert "bad one" not in table
    assert "bad one" not in honchod.run("letters", "show", letter_id).stdout
    assert honchod.run("letters", "show", letter_id, "--content").stdout.endswith("\n\na bad one\n")
    assert json.loads(honchod.run("letters", "show", letter_id, "--json").stdout)["message_id"] == "m1"
    assert "no dead letters" in honchod.on_terminal("letters", "list", "--session", "other")[1]
    missing = honchod.run("letters", "show", "999999")
    assert (missing.returncode, missing.stderr[:20]) == (1, "honchod: not_found: ")


def test_a_letter_can_be_sent_again(
    honchod: Honchod, session: str, letter_id: str, daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    assert honchod.run("letters", "retry", letter_id).stdout == "1 back in the queue, 0 left\n"
    daemon.wait_for_delivery()
    assert remote.contents(workspace, session) == ["a bad one"]


def test_retrying_all_is_asked_about_on_a_terminal(honchod: Honchod, session: str, letter_id: str) -> None:
    retry = ("letters", "retry", "--all", "--session", session)
    code, screen = honchod.on_terminal(*retry, typed="n\n")
    assert (code, "Retry all 1 letters?" in screen) == (1, True)
    assert listed(honchod, session)["total"] == 1
    code, screen = honchod.on_terminal(*retry, "--yes")
    assert (code, "1 back in the queue" in screen) == (0, True)


def test_discarding_is_asked_about_on_a_terminal_only(honchod: Honchod, session: str, letter_id: str) -> None:
    code, screen = honchod.on_terminal("letters", "discard", letter_id, typed="n\n")
    assert (code, "Discard 1 letters for good?" in screen) == (1, True)
    assert honchod.run("letters", "discard", letter_id).stdout == "1 discarded\n"
    assert listed(honchod, session)["total"] == 0


def test_export_writes_a_line_a_letter(
    honchod: Honchod, session: str, letter_id: str, tmp_path: Path
) -> None:
    export = ("letters", "export", "--session", session)
    (line,) = honchod.run(*export).stdout.splitlines()
    assert "content" not in json.loads(line)
    target = tmp_path / "letters.ndjson"
    assert honchod.run(*export, "--content", "--output", str(target)).returncode == 0
    letter = json.loads(target.read_text())
    assert (letter["content"], letter["history"][0]["status"]) == ("a bad one", 422)


@pytest.mark.parametrize("command", ["status", "wake", "letters list", "drain"])
def test_without_a_daemon_every_command_names_the_line_that_starts_it(command: str, tmp_path: Path) -> None:
    done = Honchod(tmp_path / "none.sock").run(*command.split())
    assert done.returncode == 3
    assert done.stderr.startswith("honchod: not_reachable: ")
    assert done.stderr.endswith("honchod run\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_others_may_not_operate_nor_write(honchod: Honchod, session: str, daemon: DaemonProcess) -> None:
    daemon.directory.chmod(0o755)
    daemon.socket.chmod(0o666)
    for command in (["status"], ["send", "--session", session, "x"]):
        done = honchod.run_as_nobody(*command)
        assert (done.returncode, done.stderr[:22]) == (4, "honchod: not_allowed: "), done.stderr
    daemon.socket.chmod(0o660)
    closed = honchod.run_as_nobody("status")
    assert (closed.returncode, closed.stderr[:22]) == (4, "honchod: not_allowed: ")


def test_a_wrong_configuration_is_exit_code_2_with_every_fault(tmp_path: Path) -> None:
    config = tmp_path / "honchod.toml"
    config.write_text("[delivery]\nconcurrency = 0\nmax_attempts = 'many'\n")
    done = Honchod(tmp_path / "s.sock").run("run", "--config", str(config))
    assert done.returncode == 2
    assert "concurrency" in done.stderr
    assert "max_attempts" in done.stderr


def test_a_second_daemon_is_refused(honchod: Honchod, daemon: DaemonProcess) -> None:
    second = honchod.run(
        "run", "--config", str(daemon.settings_file), "--socket", str(daemon.directory / "2.sock"),
        "--state-dir", str(daemon.state_dir),
    )  # fmt: skip
    assert second.returncode == 1
    assert second.stderr.count("\n") == 1
