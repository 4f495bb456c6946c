"""An installation of one user, to be made ill and looked at by the doctor."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from honchod.cli.main import dispatch

SETTINGS = """\
[delivery]
stop_timeout_s = 20

[http]
token_file = "{home}/token"
"""
UNIT = """\
[Service]
Type=notify
ExecStart=/bin/true
TimeoutStopSec=30s
WatchdogSec=60s
"""


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor said."""

    code: int
    findings: list[dict[str, Any]]
    errors: str

    @property
    def faults(self) -> list[dict[str, Any]]:
        return [one for one in self.findings if one["grade"] in ("wrong", "warning")]


class Patient:
    """A home with everything in its place, and a queue that a daemon has used before."""

    def __init__(self) -> None:
        # Not under pytest's tmp_path: the path of a socket may have 107 bytes only.
        self.home = Path(tempfile.mkdtemp(prefix="patient-"))
        self.state_dir = self.home / ".local/state/honchod"
        self.database = self.state_dir / "outbox.sqlite3"
        self.socket = self.home / "run" / "honchod.sock"
        self.settings_file = self.home / ".config/honchod/honchod.toml"
        self.hosts_file = self.home / ".honcho/config.json"
        self.key_file = self.home / ".honcho/key"
        self.token_file = self.home / "token"
        self.unit = self.home / ".config/systemd/user/honchod.service"
        for directory in (
            self.socket.parent,
            self.settings_file.parent,
            self.hosts_file.parent,
            self.unit.parent,
        ):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.write(self.settings_file, SETTINGS.format(home=self.home))
        self.hosts(
            {"baseUrl": "http://127.0.0.1:9", "api_key_file": "key", "peerName": "ann", "aiPeer": "bot"}
        )
        self.write(self.key_file, "hch-v3-abcdefghijklmnop")
        self.write(self.token_file, "a-token")
        self.write(self.unit, UNIT)

    @property
    def environ(self) -> dict[str, str]:
        places = {"HONCHOD_SOCKET": str(self.socket), "HONCHOD_STATE_DIR": str(self.state_dir)}
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self.home), **places}

    def hosts(self, document: dict[str, Any]) -> None:
        self.write(self.hosts_file, json.dumps(document))

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        path.write_text(text)
        path.chmod(mode)

    def doctor(self, *arguments: str) -> Diagnosis:
        """Ask the doctor, in this process: it is asked often."""
        outside = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environ)
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = dispatch(["doctor", "--json", *arguments])
        finally:
            os.environ.clear()
            os.environ.update(outside)
        findings = json.loads(out.getvalue())["findings"] if out.getvalue() else []
        return Diagnosis(code, findings, err.getvalue())

    def close(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
