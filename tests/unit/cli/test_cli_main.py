"""The command line as a whole: what is imported for what, help, usage errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from honchod.cli.app import COMMANDS
from honchod.cli.exits import Exit
from honchod.cli.main import dispatch


def modules_of(*arguments: str) -> set[str]:
    """The modules that a command line imports."""
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom honchod.cli.main import dispatch\n"
        f"try:\n    dispatch({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(done.stderr.split())


def test_send_starts_on_the_standard_library_alone() -> None:
    loaded = {name.partition(".")[0] for name in modules_of("send", "--help")}
    assert loaded - set(sys.stdlib_module_names) == {"honchod"}
    assert loaded.isdisjoint(
        {"asyncio", "dataclasses", "inspect", "http", "urllib", "logging", "shutil", "ssl", "uuid"}
    )


def test_help_imports_no_command_and_nothing_heavy() -> None:
    loaded = modules_of("--help")
    assert loaded.isdisjoint({f"honchod.cli.{entry.module}" for entry in COMMANDS.values()})
    assert loaded.isdisjoint({"rich.console", "msgspec", "aiohttp", "honchod.service"})


def test_a_command_does_not_import_the_others() -> None:
    loaded = modules_of("reload", "--socket", "/nonexistent")
    assert "honchod.cli.reload" in loaded
    assert loaded.isdisjoint(
        {"honchod.cli.letters", "honchod.cli.run", "honchod.service.main", "rich.console"}
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = dispatch([name, "--help"])
    except SystemExit as end:
        code = end.code  # type: ignore[assignment]
    said = capsys.readouterr().out
    assert code in (0, None)
    assert f"honchod {name}" in said.partition("\n")[2], "an example besides the usage line"


@pytest.mark.parametrize("name", ["list", "show", "retry", "discard", "export"])
def test_every_letters_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["letters", name, "--help"]) == 0
    assert f"honchod letters {name}" in capsys.readouterr().out.partition("\n")[2]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(entry.help in " ".join(said.split()) for entry in COMMANDS.values())


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["status", "--no-such-option"],
        ["letters", "show"],
        ["letters", "discard"],
        ["letters", "retry"],
        ["letters", "retry", "7", "--all"],
        ["letters", "retry", "--all", "--limit", "5"],
        ["drain", "--timeout", "-1"],
        ["sandbox", "--faults", "what is this"],
        ["run", "--log-format", "xml"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(arguments) == Exit.USAGE
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["hello"],
        ["--session", "s", "--role", "system", "x"],
        ["--session", "s", "--metadata", "[1]", "x"],
        ["--session", "s", "--metadata", '{"n": NaN}', "x"],
        ["--session", "s", "--ndjson", "x"],
        ["--session", "s", "--ndjson", "--role", "user"],
        ["--session", "s", "--wait", "-1", "x"],
        ["--session", "s", "--wait", "soon", "x"],
    ],
)
def test_wrong_usage_of_send_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        dispatch(["send", *arguments])
    assert end.value.code == Exit.USAGE
    assert "honchod send: error:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--socket", "{}", "send", "--no-drop", "--session", "s", "x"],
        ["--socket={}", "send", "--no-drop", "--session", "s", "x"],
        ["send", "--no-drop", "--session", "s", "--socket", "{}", "x"],
        ["--socket", "/elsewhere", "send", "--no-drop", "--session", "s", "--socket", "{}", "x"],
        ["--socket", "{}", "status"],
        ["--socket", "/elsewhere", "status", "--socket", "{}"],
        ["letters", "--socket", "{}", "list"],
    ],
)
def test_the_socket_can_be_named_before_or_after_the_command(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "none.sock")
    assert dispatch([argument.format(path) for argument in arguments]) == Exit.NOT_REACHABLE
    said = capsys.readouterr().err
    assert path in said
    assert "honchod run" in said


def test_the_environment_names_the_socket_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HONCHOD_SOCKET", str(tmp_path / "env.sock"))
    assert dispatch(["wake"]) == Exit.NOT_REACHABLE
    assert "env.sock" in capsys.readouterr().err
