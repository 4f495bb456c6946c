"""The management commands, through the command line, against the real daemon and file."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Honchod

from honchod.cli.app import COMMANDS
from honchod.identity import prompt
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network
from support.waiting import wait_until


@pytest.fixture
def managed(honchod: Honchod, daemon: DaemonProcess) -> Honchod:
    """The command, with the daemon's own config file in its environment."""
    return Honchod(daemon.socket, {"HONCHOD_HONCHO_CONFIG": str(daemon.hosts_file), "HOME": "/nonexistent"})


@pytest.fixture
def alone(tmp_path: Path) -> Honchod:
    """The command where no daemon runs and no file is there yet."""
    return Honchod(
        tmp_path / "none.sock", {"HOME": str(tmp_path), "HONCHOD_HONCHO_CONFIG": str(file(tmp_path))}
    )


@pytest.fixture
def other_server(server_url: str) -> Iterator[Network]:
    """Another way to the server: another URL."""
    with running_network(server_url) as network:
        yield network


def file(directory: Path) -> Path:
    return directory / "honcho.json"


def answer(honchod: Honchod, *arguments: str, code: int = 0, stdin: str | None = None) -> Any:
    done = honchod.run(*arguments, "--json", stdin=stdin)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def resolved(daemon: DaemonProcess, host: str = "default", **body: Any) -> Any:
    with daemon.client() as client:
        return client.call("POST", "/v1/sessions/resolve", {"host": host, **(body or {"session": "s"})})


CHANGES = [
    (
        ["peer", "--user", "bea", "--ai", "bob", "--reasoning", "high"],
        {"user": "bea", "ai": "bob", "reasoning": "high"},
    ),
    (["mode", "tools"], {"recall": "tools"}),
    (["mode", "--memory", "honcho"], {"user_memory": "honcho", "agent_memory": "honcho"}),
    (
        ["mode", "context", "--memory", "hybrid", "--agent-memory", "local"],
        {"recall": "context", "user_memory": "hybrid", "agent_memory": "local"},
    ),
    (["strategy", "per-repo", "--peer-prefix"], {"sessions": "per-repo", "peer_prefix": True}),
    (
        ["strategy", "--scope", "custom", "--scope-name", "team", "--scope-prefix", "x-"],
        {"scope": "custom", "scope_name": "team", "scope_prefix": "x-"},
    ),
    (["tokens", "--context", "800", "--dialectic", "400"], {"context": 800, "dialectic": 400}),
]


@pytest.mark.parametrize(("arguments", "expected"), CHANGES, ids=lambda value: " ".join(value))
def test_a_setting_is_changed_and_shown(
    managed: Honchod, arguments: list[str], expected: dict[str, Any]
) -> None:
    changed = answer(managed, *arguments)
    assert changed["daemon"] == "reloaded"
    shown = answer(managed, arguments[0])
    assert {key: shown[key] for key in expected} == expected
    assert {key: changed[key] for key in expected} == expected


def test_a_change_holds_for_the_running_daemon_at_once(managed: Honchod, daemon: DaemonProcess) -> None:
    answer(managed, "peer", "--user", "bea")
    answer(managed, "mode", "tools", "--memory", "honcho")
    session = resolved(daemon)
    assert session["peers"]["user"] == "bea"
    assert session["modes"]["recall"] == "tools"
    assert session["local_files"] == {"user": False, "agent": False}


def test_a_memory_mode_for_both_replaces_what_was_said_of_one(managed: Honchod) -> None:
    answer(managed, "mode", "--user-memory", "local")
    assert answer(managed, "mode", "--memory", "honcho")["user_memory"] == "honcho"


def test_a_budget_of_nothing_is_no_bound(managed: Honchod) -> None:
    answer(managed, "tokens", "--context", "10")
    assert answer(managed, "tokens", "--context", "0")["context"] is None


def test_unknown_keys_and_spellings_stay_in_the_file(managed: Honchod, daemon: DaemonProcess) -> None:
    config = json.loads(daemon.hosts_file.read_text())
    config |= {"theirs": {"x": 1}, "hosts": {"hermes.coder": {"workspaceId": "w", "also": True}}}
    daemon.use_hosts(config)
    answer(managed, "mode", "tools", "--host", "hermes_coder")
    assert json.loads(daemon.hosts_file.read_text()) == {
        **config,
        "hosts": {"hermes.coder": {"workspaceId": "w", "also": True, "recallMode": "tools"}},
    }
    assert stat.S_IMODE(daemon.hosts_file.stat().st_mode) == 0o600


def test_a_wrong_value_is_named_and_changes_nothing(managed: Honchod, daemon: DaemonProcess) -> None:
    before = daemon.hosts_file.read_bytes()
    done = managed.run("strategy", "--scope", "custom")
    assert done.returncode == 2
    assert "scopeCustom" in done.stderr
    assert daemon.hosts_file.read_bytes() == before


@pytest.mark.parametrize("command", ["peer", "mode", "strategy", "tokens", "sessions", "disable"])
def test_a_host_that_is_not_configured_is_named(managed: Honchod, command: str) -> None:
    arguments = [command, "ghost"] if command == "disable" else [command, "--host", "ghost"]
    done = managed.run(*arguments)
    assert done.returncode == 2
    assert "configured are: default" in done.stderr


def test_a_file_that_is_wrong_is_reported_line_by_line(managed: Honchod, daemon: DaemonProcess) -> None:
    daemon.hosts_file.write_text('{"recallMode": "off", "dialecticDepth": 9}')
    done = managed.run("peers")
    assert done.returncode == 2
    assert [line.startswith("honchod: ") for line in done.stderr.splitlines()] == [True, True]


def test_hosts_are_enabled_and_disabled(managed: Honchod, daemon: DaemonProcess) -> None:
    assert answer(managed, "enable", "openclaw")["enabled"] is True
    assert resolved(daemon, "openclaw")["modes"]["save_messages"] is True
    assert answer(managed, "disable", "openclaw")["enabled"] is False
    assert resolved(daemon, "openclaw")["modes"]["save_messages"] is False
    peers = {peer["host"]: peer for peer in answer(managed, "peers")}
    assert peers["openclaw"]["enabled"] is False
    assert peers["default"] | {"user": "ann", "ai": "bot", "enabled": True} == peers["default"]


def test_peers_are_a_table_without_json(managed: Honchod, workspace: str) -> None:
    lines = managed.run("peers").stdout.splitlines()
    assert lines == ["host\tenabled\tworkspace\tuser\tai", f"default\tyes\t{workspace}\tann\tbot"]


def test_a_directory_is_mapped_listed_and_unmapped(
    managed: Honchod, daemon: DaemonProcess, tmp_path: Path
) -> None:
    below = tmp_path / "src"
    mapped = answer(managed, "map", "my project", "--directory", str(tmp_path))
    assert mapped["session"] == "my project"
    session = resolved(daemon, locator={"cwd": str(below)})
    assert session["source"] == "map"
    assert session["session"].startswith("my-project-")
    for command in (["sessions"], ["map"]):
        assert answer(managed, *command) == {"host": "default", "sessions": {str(tmp_path): "my project"}}
    assert answer(managed, "map", "--remove", "--directory", str(tmp_path))["session"] is None
    assert answer(managed, "sessions")["sessions"] == {}
    assert managed.run("map", "--remove", "--directory", str(tmp_path)).returncode == 2


def test_without_a_directory_the_one_it_runs_in_is_mapped(managed: Honchod) -> None:
    assert answer(managed, "map", "here")["directory"] == str(Path.cwd())


def test_a_map_of_one_host_keeps_what_it_had_from_the_root(managed: Honchod) -> None:
    answer(managed, "enable", "hermes")
    answer(managed, "map", "everyone", "--directory", "/a")
    answer(managed, "map", "own", "--directory", "/b", "--host", "hermes")
    assert answer(managed, "sessions", "--host", "hermes")["sessions"] == {"/a": "everyone", "/b": "own"}
    assert answer(managed, "sessions")["sessions"] == {"/a": "everyone"}


def test_sync_makes_a_block_for_every_profile_that_has_none(
    managed: Honchod, daemon: DaemonProcess, tmp_path: Path
) -> None:
    for profile in ("coder", "writer", ".hidden"):
        (tmp_path / profile).mkdir()
    config = json.loads(daemon.hosts_file.read_text())
    hermes = {"peerName": "ann", "aiPeer": "hermes", "recallMode": "tools"}
    daemon.use_hosts({**config, "hosts": {"hermes": hermes, "hermes.writer": {"aiPeer": "w"}}})
    made = answer(managed, "sync", "--directory", str(tmp_path))
    assert made["made"] == {"hermes_coder": "coder"}
    peers = {peer["host"]: peer for peer in answer(managed, "peers")}
    assert peers["hermes_coder"]["workspace"] == peers["hermes"]["workspace"]
    assert peers["hermes_coder"]["ai"] == "coder"
    assert peers["hermes_writer"]["ai"] == "w"
    assert answer(managed, "mode", "--host", "hermes_coder")["recall"] == "tools"
    assert answer(managed, "sync", "--directory", str(tmp_path))["made"] == {}
    assert answer(managed, "sync", "tester")["made"] == {"hermes_tester": "tester"}


def test_a_persona_is_seeded_once(
    managed: Honchod, daemon: DaemonProcess, remote: Remote, workspace: str, tmp_path: Path, session: str
) -> None:
    persona = tmp_path / "SOUL.md"
    persona.write_bytes(b"I am caf\xe9, for " + session.encode())
    arguments = ("identity", "seed", str(persona), "--session", session)
    assert answer(managed, *arguments)["status"] == "queued"
    assert answer(managed, *arguments)["status"] == "duplicate"
    daemon.wait_for_delivery()
    (message,) = remote.messages(workspace, session)
    assert message["peer_id"] == "bot"
    assert "<source>SOUL.md</source>\n\nI am caf\ufffd, for" in message["content"]


def test_what_memory_knows_of_both_is_shown(managed: Honchod) -> None:
    shown = answer(managed, "identity", "show")
    assert shown["status"] in ("fresh", "stale", "empty")
    assert set(shown["sections"]) >= {"user_representation", "ai_representation"}


def test_memory_files_are_taken_in_once_as_the_right_peer(
    managed: Honchod, daemon: DaemonProcess, remote: Remote, workspace: str, tmp_path: Path
) -> None:
    (tmp_path / "memories").mkdir()
    for name in ("memories/USER.md", "MEMORY.md", "SOUL.md", "AGENTS.md", "notes.md"):
        (tmp_path / name).write_text(f"{name} of {tmp_path}")
    found = answer(managed, "migrate", str(tmp_path), "--dry-run")
    assert [(Path(one["file"]).name, one["as"]) for one in found] == [
        ("USER.md", "file"),
        ("MEMORY.md", "file"),
        ("SOUL.md", "seed"),
        ("AGENTS.md", "seed"),
    ]
    first = answer(managed, "migrate", str(tmp_path))
    assert {one["status"] for one in first} == {"queued"}
    assert {one["status"] for one in answer(managed, "migrate", str(tmp_path))} == {"duplicate"}
    daemon.wait_for_delivery()
    stored = [
        one for one in remote.messages(workspace, first[0]["session"]) if str(tmp_path) in one["content"]
    ]
    assert [one["peer_id"] for one in stored] == ["ann", "ann", "bot", "bot"]


def test_files_of_nobody_are_reported_and_the_rest_is_taken_in(
    managed: Honchod, daemon: DaemonProcess, tmp_path: Path
) -> None:
    config = json.loads(daemon.hosts_file.read_text())
    daemon.use_hosts({**config, "peerName": None})
    with daemon.client() as client:
        client.reload()
    for name in ("USER.md", "SOUL.md"):
        (tmp_path / name).write_text(f"{name} of {tmp_path}")
    outcomes = answer(managed, "migrate", str(tmp_path), code=1)
    assert [(one["status"], one.get("reason", "").split(":")[0]) for one in outcomes] == [
        ("failed", "no_identity"),
        ("queued", ""),
    ]


def test_a_directory_without_memory_files_says_so(managed: Honchod, tmp_path: Path) -> None:
    done = managed.run("migrate", str(tmp_path))
    assert done.returncode == 1
    assert "nothing to take in" in done.stderr
    assert managed.run("migrate", "--host", "shell").returncode == 2


def test_without_a_daemon_a_setting_is_changed_all_the_same(alone: Honchod, tmp_path: Path) -> None:
    assert answer(alone, "peer", "--user", "ann")["daemon"] == "not_running"
    assert json.loads(file(tmp_path).read_text()) == {"peerName": "ann"}
    assert alone.run("identity", "show").returncode == 3


def test_the_file_is_found_where_the_settings_or_the_user_have_it(tmp_path: Path) -> None:
    named = Honchod(tmp_path / "none.sock", {"HOME": str(tmp_path)})
    own = tmp_path / ".honcho" / "config.json"
    own.parent.mkdir()
    own.write_text('{"peerName": "own"}')
    assert answer(named, "peer")["user"] == "own"
    (tmp_path / "other.json").write_text('{"peerName": "other"}')
    settings = tmp_path / "honchod.toml"
    settings.write_text(f'honcho_config = "{tmp_path / "other.json"}"')
    by_settings = Honchod(tmp_path / "none.sock", {"HOME": str(tmp_path), "HONCHOD_CONFIG": str(settings)})
    assert answer(by_settings, "peer")["user"] == "other"
    assert answer(by_settings, "peer", "--honcho-config", str(own))["user"] == "own"


def test_setup_writes_checks_and_reloads(
    managed: Honchod, daemon: DaemonProcess, other_server: Network
) -> None:
    done = answer(
        managed,
        *("setup", "--non-interactive", "--host", "hermes", "--url", f"{other_server.url}/v3/"),
        *("--user", "ann", "--ai", "hermes", "--workspace", "w"),
    )
    assert done["ok"] is True
    assert (done["url"], done["check"], done["daemon"]) == (other_server.url, "ok", "reloaded")
    assert resolved(daemon, "hermes")["peers"] == {"user": "ann", "ai": "hermes"}


def test_setup_says_what_is_wrong(alone: Honchod, other_server: Network) -> None:
    other_server.take_down()
    done = answer(alone, "setup", "--non-interactive", "--url", other_server.url, code=1)
    assert (done["ok"], done["check"]) == (False, "unreachable")
    assert "baseUrl" in done["detail"]
    other_server.heal()
    other_server.hit("*: status=401")
    done = answer(alone, "setup", "--non-interactive", code=1)
    assert done["check"] == "refused"


def test_setup_of_the_cloud_without_a_key_asks_for_one_and_calls_nobody(alone: Honchod) -> None:
    done = answer(alone, "setup", "--non-interactive", "--cloud", code=1)
    assert done["check"] == "no_key"


def test_a_key_comes_by_file_or_pipe_and_is_never_shown(
    alone: Honchod, other_server: Network, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("key-in-a-file\n")
    (tmp_path / "key").chmod(0o600)
    url = ("setup", "--non-interactive", "--url", other_server.url)
    by_file = answer(alone, *url, "--api-key-file", str(tmp_path / "key"))
    assert by_file["key_source"] == "file"
    assert other_server.seen()[-1].authorization == "Bearer key-in-a-file"
    by_pipe = answer(alone, *url, "--key-stdin", stdin="key-by-pipe\n")
    assert other_server.seen()[-1].authorization == "Bearer key-by-pipe"
    assert "key-by-pipe" not in json.dumps(by_pipe)
    assert json.loads(file(tmp_path).read_text())["apiKey"] == "key-by-pipe"
    assert stat.S_IMODE(file(tmp_path).stat().st_mode) == 0o600


def test_a_key_is_not_sent_to_the_next_url(
    alone: Honchod, other_server: Network, server_url: str, tmp_path: Path
) -> None:
    file(tmp_path).write_text(json.dumps({"baseUrl": "http://127.0.0.1:9", "apiKey": "of-the-old"}))
    done = answer(alone, "setup", "--non-interactive", "--url", other_server.url)
    assert done["key_source"] == "none"
    assert [one.authorization for one in other_server.seen()] == [None]
    assert "apiKey" not in json.loads(file(tmp_path).read_text())


def test_setup_asks_on_a_terminal_and_hides_the_key(
    alone: Honchod, other_server: Network, tmp_path: Path
) -> None:
    answers = [
        ("self-hosted", "self-hosted"),
        ("URL", other_server.url),
        ("key", "secret-key-0001"),
        ("Your name", "ann"),
        ("agent", "bot"),
        ("Workspace", "home"),
    ]
    code, screen = alone.in_dialogue("setup", answers=answers)
    assert code == 0, screen
    assert "secret-key-0001" not in screen
    assert json.loads(file(tmp_path).read_text()) == {
        "baseUrl": other_server.url,
        "enabled": True,
        "apiKey": "secret-key-0001",
        "peerName": "ann",
        "aiPeer": "bot",
        "workspace": "home",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["setup", "--cloud", "--url", "http://h"],
        ["setup", "--no-key", "--key-stdin"],
        ["setup", "--non-interactive", "--url", "http://user:pass@h"],
        ["mode", "off"],
        ["tokens", "--context", "-1"],
        ["map", "x", "--remove"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2_and_writes_nothing(
    alone: Honchod, tmp_path: Path, arguments: list[str]
) -> None:
    assert alone.run(*arguments).returncode == 2
    assert not file(tmp_path).exists()


def test_the_commands_of_the_prompt_block_are_there() -> None:
    assert {command.usage.split()[0] for command in prompt.COMMANDS} <= set(COMMANDS)


def test_reload_by_signal_takes_what_was_edited_by_hand(managed: Honchod, daemon: DaemonProcess) -> None:
    config = json.loads(daemon.hosts_file.read_text())
    daemon.use_hosts({**config, "peerName": "edited"})
    daemon.signal(signal.SIGHUP)
    wait_until(lambda: resolved(daemon)["peers"]["user"] == "edited", "the new file to be read")
