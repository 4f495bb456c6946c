from __future__ import annotations

from pathlib import Path

import click
import pytest

from honchod.cli.memory_files import MAX_BYTES, MemoryFile, Use, find, read_file, usual_directories


def test_memory_files_are_found_by_name_users_first(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    for name in ("TOOLS.md", "memories/MEMORY.md", "USER.md", "memories/USER.md", "README.md"):
        (tmp_path / name).touch()
    (tmp_path / "SOUL.md").mkdir()
    assert find(tmp_path) == [
        MemoryFile(tmp_path / "USER.md", Use.FILE),
        MemoryFile(tmp_path / "memories" / "USER.md", Use.FILE),
        MemoryFile(tmp_path / "memories" / "MEMORY.md", Use.FILE),
        MemoryFile(tmp_path / "TOOLS.md", Use.SEED),
    ]


@pytest.mark.parametrize(
    ("host", "environ", "directories"),
    [
        ("hermes_coder", {"HOME": "/h"}, ["/h/.hermes"]),
        ("hermes", {"HOME": "/h", "HERMES_HOME": "/x"}, ["/x"]),
        ("openclaw", {"HOME": "/h"}, ["/h/.openclaw/workspace"]),
        ("nanobot", {"HOME": "/h"}, ["/h/.nanobot/workspace"]),
        ("shell", {"HOME": "/h"}, []),
    ],
)
def test_where_agents_keep_their_files(host: str, environ: dict[str, str], directories: list[str]) -> None:
    assert [str(path) for path in usual_directories(host, environ)] == directories


def test_a_file_that_is_not_utf_8_is_readable_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "USER.md").write_bytes(b"\xef\xbb\xbfcaf\xe9")
    assert read_file(tmp_path / "USER.md") == "caf\ufffd"


def test_a_file_that_is_too_large_or_gone_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError):
        read_file(tmp_path / "gone.md")
    (tmp_path / "large.md").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(click.UsageError, match="over"):
        read_file(tmp_path / "large.md")
