"""The drop box as a directory: whole files, in order, of one user, within bounds."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from honchod.client import DropFull, DropUnusable
from honchod.client import box as boxes
from honchod.client.box import ABANDONED_S, Box, Entry, Unfit, box_path

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
NOBODY = 65_534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "honchod" / "drop"


@pytest.fixture
def box(path: Path) -> Box:
    return Box(str(path), make=True)


def names(box: Box) -> list[str]:
    return [entry.name for entry in box.entries()]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HONCHOD_DROP": "/d", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/d"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/honchod/drop"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/honchod/drop"),
        ({"HONCHOD_DROP": "", "HOME": "/h"}, "/h/.local/state/honchod/drop"),
        ({}, None),
    ],
)
def test_where_it_is(environ: dict[str, str], expected: str | None) -> None:
    assert box_path(environ) == expected


def test_it_and_its_files_are_its_owners_alone(box: Box, path: Path) -> None:
    name = box.put(b"{}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((path / name).stat().st_mode) == 0o600
    box.set_aside(box.entries()[0])
    assert stat.S_IMODE((path / "bad").stat().st_mode) == 0o700


def test_a_box_that_is_open_to_others_is_closed(path: Path) -> None:
    path.mkdir(parents=True, mode=0o777)
    path.chmod(0o777)
    Box(str(path), make=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_requests_sort_as_they_were_put(box: Box) -> None:
    put = [box.put(str(number).encode()) for number in range(30)]
    assert names(box) == put
    assert [box.read(entry) for entry in box.entries()] == [str(number).encode() for number in range(30)]


def test_a_clock_that_went_back_changes_no_order(box: Box, path: Path) -> None:
    ahead = f"{time.time_ns() + 86_400 * 10**9:020d}-1-1.json"
    (path / ahead).write_bytes(b"{}")
    put = box.put(b"{}")
    assert names(box) == [ahead, put]


def test_many_at_once_lose_none(box: Box, path: Path) -> None:
    def put() -> None:
        with Box(str(path)) as own:
            for _ in range(20):
                own.put(b"{}")

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(box.entries()) == 80


def test_it_holds_so_many_files(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "FILES_MAX", 3)
    for _ in range(3):
        box.put(b"{}")
    with pytest.raises(DropFull) as full:
        box.put(b"{}")
    assert full.value.code == "drop_full"
    assert len(box.entries()) == 3
    box.remove(box.entries()[0])
    box.put(b"{}")


def test_it_holds_so_many_bytes(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "BYTES_MAX", 10)
    box.put(b"123456")
    with pytest.raises(DropFull):
        box.put(b"12345")
    box.put(b"1234")


def test_nothing_but_whole_plain_files_is_looked_at(box: Box, path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("{}")
    (path / "00000000000000000001-1-1.json").symlink_to(elsewhere)
    (path / "00000000000000000002-1-1.json").hardlink_to(elsewhere)
    (path / "00000000000000000003-1-1.json").mkdir()
    os.mkfifo(path / "00000000000000000004-1-1.json")
    (path / ".00000000000000000005-1-1.json.new").write_text("{}")
    (path / "notes.json").write_text("{}")
    (path / "bad").mkdir()
    assert box.is_empty()
    assert box.entries() == []


@AS_ROOT
def test_the_file_of_another_user_is_not_looked_at(box: Box, path: Path) -> None:
    (path / "00000000000000000001-1-1.json").write_text("{}")
    os.chown(path / "00000000000000000001-1-1.json", NOBODY, NOBODY)
    assert box.is_empty()
    assert box.entries() == []


@AS_ROOT
def test_the_box_of_another_user_is_not_used(path: Path) -> None:
    Box(str(path), make=True).close()
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(DropUnusable):
        Box(str(path))


def test_a_link_to_a_directory_is_no_box(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path)
    with pytest.raises(DropUnusable):
        Box(str(path), make=True)


@pytest.mark.parametrize("swap", ["symlink", "link", "size"])
def test_what_was_swapped_since_it_was_listed_is_not_read(
    box: Box, path: Path, tmp_path: Path, swap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = box.put(b"{}")
    (entry,) = box.entries()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("{}")
    if swap == "size":
        monkeypatch.setattr(boxes, "FILE_BYTES_MAX", 1)
    else:
        (path / name).unlink()
        (path / name).symlink_to(elsewhere) if swap == "symlink" else (path / name).hardlink_to(elsewhere)
    with pytest.raises(Unfit):
        box.read(entry)


def test_what_is_gone_is_gone(box: Box) -> None:
    entry = Entry("00000000000000000001-1-1.json", 2)
    box.remove(entry)
    with pytest.raises(FileNotFoundError):
        box.read(entry)


def test_one_at_a_time_takes_it_in(box: Box, path: Path) -> None:
    assert box.lock()
    with Box(str(path)) as other:
        assert not other.lock()
    box.close()
    with Box(str(path)) as other:
        assert other.lock()


def test_what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not(box: Box, path: Path) -> None:
    dead = path / ".00000000000000000001-1-1.json.new"
    alive = path / ".00000000000000000002-1-1.json.new"
    for file in (dead, alive):
        file.write_text("{")
    long_ago_s = time.time() - ABANDONED_S - 60
    os.utime(dead, (long_ago_s, long_ago_s))
    box.tidy()
    assert not dead.exists()
    assert alive.exists()


def test_what_is_set_aside_is_kept_and_waits_no_more(box: Box, path: Path) -> None:
    first, second = box.put(b"1"), box.put(b"2")
    box.set_aside(box.entries()[0])
    assert names(box) == [second]
    assert [entry.name for entry in box.bad()] == [first]
    assert (path / "bad" / first).read_bytes() == b"1"


def test_a_write_that_fails_leaves_nothing(box: Box, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        box.put(b"{}")
    assert list(path.iterdir()) == []
