"""Logging set up in a process of its own, as the daemon sets it up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from honchod.service.logs import BURST

ROOT = Path(__file__).parents[3]


def logged(tmp_path: Path, program: str, *, style: str = "auto", journal: bool = False) -> list[str]:
    """The lines that a program writes to a stderr that is a file, the journal's or not."""
    file = tmp_path / "stderr"
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "daemon")}
    environ.pop("JOURNAL_STREAM", None)
    with file.open("wb") as stderr:
        if journal:
            found = os.fstat(stderr.fileno())
            environ["JOURNAL_STREAM"] = f"{found.st_dev}:{found.st_ino}"
        setup = f"import structlog; from honchod.service import logs; logs.configure('info', {style!r})"
        code = f"{setup}\nlog = structlog.get_logger()\n{program}"
        subprocess.run([sys.executable, "-c", code], stderr=stderr, env=environ, check=True)
    return file.read_text().splitlines()


def test_a_file_gets_json(tmp_path: Path) -> None:
    (line,) = logged(tmp_path, "log.info('batch.delivered', lane=7, events=3, ms=12)")
    found = json.loads(line)
    assert (found["event"], found["level"], found["lane"], found["events"]) == (
        "batch.delivered",
        "info",
        7,
        3,
    )
    assert found["timestamp"].endswith("Z")


def test_the_journal_gets_json_behind_its_priority(tmp_path: Path) -> None:
    lines = logged(tmp_path, "log.warning('a'); log.error('b'); log.info('c')", journal=True)
    assert [line[:3] for line in lines] == ["<4>", "<3>", "<6>"]
    assert json.loads(lines[0][3:])["event"] == "a"


def test_the_console_shows_what_tells_lines_apart_first(tmp_path: Path) -> None:
    program = "log.info('batch.failed', ms=1, request_id='r', lane=7, host='hermes')"
    (line,) = logged(tmp_path, program, style="console")
    assert line.split("batch.failed")[1].split() == ["host=hermes", "lane=7", "ms=1", "request_id=r"]


def test_a_fault_that_repeats_itself_is_a_burst_of_lines(tmp_path: Path) -> None:
    program = (
        "for lane in range(1000):\n    log.warning('batch.failed', host='a', code='http_500', lane=lane)\n"
        "log.warning('batch.failed', host='b', code='http_500')\n"
        "for _ in range(100):\n    log.info('batch.delivered', host='a')"
    )
    lines = [json.loads(line) for line in logged(tmp_path, program)]
    assert [line["host"] for line in lines if line["level"] == "warning"] == ["a"] * BURST + ["b"]
    assert len([line for line in lines if line["level"] == "info"]) == 100


@pytest.mark.parametrize("style", ["json", "console"])
def test_an_exception_shows_where_it_came_from_and_never_its_text(tmp_path: Path, style: str) -> None:
    program = (
        "try:\n    raise ValueError('sk-planted')\n"
        "except ValueError as error:\n    log.critical('broke', exc_info=error)"
    )
    (line,) = logged(tmp_path, program, style=style)
    assert "<string>" in line
    assert "planted" not in line
