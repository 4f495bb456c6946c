"""``honchod ui``: where the page is, and once its token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.daemon import DaemonProcess
from support.web import Visitor

NOWHERE = {"baseUrl": "http://127.0.0.1:9", "workspace": "w", "peerName": "ann"}


@pytest.fixture
def daemon() -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(NOWHERE, settings={"http": {"listen": "127.0.0.1:0"}})
    yield daemon
    daemon.close()


def ui(daemon: DaemonProcess, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "honchod", "ui", "--socket", str(daemon.socket), *options]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, env={**os.environ, **environ}
    )


def test_the_token_is_printed_once_and_again_when_asked(daemon: DaemonProcess) -> None:
    daemon.start()
    first = ui(daemon)
    token = (daemon.state_dir / "web-token").read_text().strip()
    assert first.returncode == 0
    assert token in first.stdout
    second = ui(daemon)
    assert token not in second.stdout
    assert str(daemon.state_dir / "web-token") in second.stdout
    again = json.loads(ui(daemon, "--token", "--json").stdout)
    assert again["token"] == token
    assert Visitor(again["url"]).log_in(token).status == 303


def test_a_browser_is_opened_at_an_address_without_the_token(daemon: DaemonProcess, tmp_path: Path) -> None:
    daemon.start()
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {opened}\n')
    browser.chmod(0o755)
    said = ui(daemon, "--open", BROWSER=str(browser))
    assert said.returncode == 0
    with daemon.client() as client:
        assert opened.read_text().strip() == client.ui()["url"]


def test_without_a_listener_it_says_what_to_set(daemon: DaemonProcess) -> None:
    daemon.configure({})
    daemon.start()
    said = ui(daemon)
    assert said.returncode == 1
    assert 'listen = "127.0.0.1:9747"' in said.stderr


def test_without_a_daemon_it_says_so(daemon: DaemonProcess) -> None:
    assert ui(daemon).returncode == 3
