from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from honchod.errors import ConfigError
from honchod.identity import files
from honchod.identity.git import git_top


def written(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


def key_file(path: Path, text: str = "file-key\n", mode: int = 0o600) -> Path:
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


def faults(path: Path | None, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        files.load(path, environ or {})
    return "\n".join(caught.value.problems)


def test_the_users_own_file_is_found(tmp_path: Path) -> None:
    assert files.find({"HOME": str(tmp_path)}) in (None, files.SYSTEM_CONFIG)
    own = written(tmp_path / ".honcho" / "config.json", {})
    assert files.find({"HOME": str(tmp_path)}) == own
    assert files.find({}) in (None, files.SYSTEM_CONFIG)


def test_without_a_file_the_environment_alone_counts() -> None:
    host = files.load(None, {"HONCHO_WORKSPACE_ID": "w"}).named(None)
    assert host.workspace == "w"
    assert faults(None, {"HONCHO_API_URL": "x"}).startswith("environment: HONCHO_API_URL")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b'\xef\xbb\xbf{"workspace": "w"}')
    assert files.load(path, {}).named(None).workspace == "w"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"apiKey": "s3cret", }', "line 1 column"),
        (b'{"apiKey": "s3cret\xff"}', "not UTF-8"),
        (b'["s3cret"]', "expected a JSON object"),
        (b"[" * 200_000, "nested too deeply"),
        (b'"' + b"s3cret" * 800_000 + b'"', "larger than"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_not_quoted(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    assert reason in faults(path)
    assert str(path) in faults(path)
    assert "s3cret" not in faults(path)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in faults(tmp_path / "pipe")
    assert "Is a directory" in faults(tmp_path)
    assert "No such file" in faults(tmp_path / "missing")


@pytest.mark.parametrize("spelling", ["api_key_file", "apiKeyFile"])
def test_a_key_is_read_from_its_file(tmp_path: Path, spelling: str) -> None:
    key_file(tmp_path / "key")
    for name in (str(tmp_path / "key"), "key", "~/key"):
        path = written(tmp_path / "c.json", {"hosts": {"h": {spelling: name}}})
        hosts = files.load(path, {"HOME": str(tmp_path)})
        assert hosts["h"].destination.key is not None
        assert hosts["h"].destination.key.reveal() == "file-key"
        assert hosts["h"].key_source == "file"
        assert hosts.warnings == ()


def test_a_key_file_that_others_may_read_is_a_warning(tmp_path: Path) -> None:
    key = key_file(tmp_path / "key", mode=0o640)
    hosts = files.load(written(tmp_path / "c.json", {"api_key_file": "key"}), {})
    assert hosts.named(None).key_source == "file"
    assert any(str(key) in warning and "chmod 600" in warning for warning in hosts.warnings)


@pytest.mark.parametrize("text", ["", "two\nlines", "two words"])
def test_a_key_file_without_a_key_is_refused_and_not_quoted(tmp_path: Path, text: str) -> None:
    key_file(tmp_path / "key", text)
    told = faults(written(tmp_path / "c.json", {"api_key_file": "key"}))
    assert "api_key_file = 'key'" in told
    assert "two" not in told.removeprefix(str(tmp_path))


def test_a_missing_key_file_is_refused(tmp_path: Path) -> None:
    told = faults(written(tmp_path / "c.json", {"hosts": {"h": {"api_key_file": "/nowhere/key"}}}))
    assert "hosts.h.api_key_file = '/nowhere/key': No such file" in told


def test_the_key_may_be_a_systemd_credential(tmp_path: Path) -> None:
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert files.load(None, environ).named(None).key_source == "none"
    key_file(tmp_path / "honcho_api_key", "unit-key\n")
    host = files.load(None, environ).named(None)
    assert host.destination.key is not None
    assert (host.destination.key.reveal(), host.key_source) == ("unit-key", "credential")
    (tmp_path / "honcho_api_key").write_bytes(b"\xff")
    assert "honcho_api_key: not UTF-8" in faults(None, environ)


def test_an_edit_keeps_what_is_not_ours_and_closes_the_file_to_others(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", {"oauth": {"é": 1}, "hosts": {"h": {"aiPeer": "a"}}})
    path.chmod(0o644)
    hosts = files.edit(path, {}, "h", {"enabled": False})
    assert hosts["h"].enabled is False
    assert json.loads(path.read_text("utf-8")) == {
        "oauth": {"é": 1},
        "hosts": {"h": {"aiPeer": "a", "enabled": False}},
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_edit_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "c.json"
    assert files.edit(path, {}, None, {"workspace": "w"}).named(None).workspace == "w"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_edit_follows_a_link(tmp_path: Path) -> None:
    real = written(tmp_path / "real.json", {})
    link = tmp_path / "link.json"
    link.symlink_to(real)
    files.edit(link, {}, None, {"workspace": "w"})
    assert link.is_symlink()
    assert json.loads(real.read_text("utf-8")) == {"workspace": "w"}


@pytest.mark.parametrize(
    ("before", "changes"), [({"a": 1}, {"contextTokens": 0}), ({"baseUrl": "x"}, {"enabled": True})]
)
def test_an_edit_whose_result_is_wrong_changes_nothing(
    tmp_path: Path, before: dict[str, Any], changes: dict[str, Any]
) -> None:
    path = written(tmp_path / "c.json", before)
    with pytest.raises(ConfigError):
        files.edit(path, {}, None, changes)
    assert json.loads(path.read_text("utf-8")) == before


def test_a_rewrite_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", {"a": 1})
    with pytest.raises(TypeError):
        files.rewrite(path, {"a": object()})
    assert json.loads(path.read_text("utf-8")) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody")
def test_root_leaves_somebodys_file_his(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", {})
    os.chown(path, 12345, 12346)
    files.rewrite(path, {"a": 1})
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


def test_what_cannot_be_looked_at_counts_as_there(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert files.is_there(loop)
    assert files.is_there(loop / "inside")
    assert not files.is_there(tmp_path / "missing" / "inside")


def test_the_git_top_level_is_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "repo" / "deep").mkdir(parents=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere", "utf-8")
    assert git_top(str(tmp_path / "repo" / "deep")) == str(tmp_path / "repo")
    assert git_top(str(tmp_path / "tree")) == str(tmp_path / "tree")
    assert git_top(str(tmp_path / "repo" / "missing")) == str(tmp_path / "repo")
    assert git_top("/proc/self") is None
