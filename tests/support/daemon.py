"""The program as a process: started, killed, stopped, asked over its socket."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from honchod.client import Client
from support.waiting import PATIENCE, wait_until

QUICK = {
    "delivery": {
        "request_timeout_s": 10.0 * PATIENCE,
        "backoff_base_s": 0.05,
        "backoff_cap_s": 0.5,
        "settle_delay_s": 0.5,
        "stop_timeout_s": 5.0,
    }
}
"""Delivery with short waits: the rules are the same, a test does not last minutes."""


def toml(sections: dict[str, dict[str, Any]]) -> str:
    """The sections as a settings file."""
    lines = []
    for section, keys in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class DaemonProcess:
    """One daemon with a directory of its own. `start` and `stop` as often as a test likes."""

    def __init__(self, hosts: dict[str, Any], *, settings: dict[str, dict[str, Any]] | None = None) -> None:
        # Not under pytest's tmp_path: the path of a socket may have 107 bytes only.
        self.directory = Path(tempfile.mkdtemp(prefix="honchod-"))
        self.socket = self.directory / "s.sock"
        self.state_dir = self.directory / "state"
        self.settings_file = self.directory / "honchod.toml"
        self.hosts_file = self.directory / "honcho.json"
        self.drop_dir = self.directory / "drop"
        self.log_file = self.directory / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.environ: dict[str, str] = {}
        self.configure(settings or {})
        self.use_hosts(hosts)

    def configure(self, settings: dict[str, dict[str, Any]]) -> None:
        """Write the settings file: `QUICK`, with these on top."""
        merged = {name: {**QUICK.get(name, {}), **settings.get(name, {})} for name in {*QUICK, *settings}}
        self.settings_file.write_text(toml(merged))

    def use_hosts(self, hosts: dict[str, Any]) -> None:
        """Write the Honcho config."""
        self.hosts_file.write_text(json.dumps(hosts))

    @property
    def database(self) -> Path:
        """The outbox's file."""
        return self.state_dir / "outbox.sqlite3"

    def client(self, **options: Any) -> Client:
        """A client of this daemon."""
        return Client(self.socket, **options)

    def start(self, *, ready: bool = True, timeout_s: float = 30.0) -> DaemonProcess:
        """Start it, and wait until it serves."""
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HONCHO")},
            "HONCHOD_HONCHO_CONFIG": str(self.hosts_file),
            "HONCHOD_DROP": str(self.drop_dir),
            **self.environ,
        }
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "honchod", "run", "--config", str(self.settings_file)),
                    *("--socket", str(self.socket), "--state-dir", str(self.state_dir)),
                ],
                stdout=log,
                stderr=log,
                env=environ,
                start_new_session=True,
            )
        if ready:
            wait_until(
                self._serves, lambda: f"the daemon to serve; its log: {self.log()}", timeout_s=timeout_s
            )
        return self

    def _serves(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the daemon ended: {self.log()}"
        with self.client() as client:
            return bool(client.ready()["ready"])

    def kill(self) -> None:
        """SIGKILL: no time to do anything."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def stop(self, timeout_s: float = 30.0) -> int:
        """SIGTERM; the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout_s)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self, timeout_s: float = 30.0) -> int:
        """Wait for its end; the exit code."""
        assert self.process is not None
        return self.process.wait(timeout_s)

    def status(self) -> dict[str, Any]:
        """What it says of itself."""
        with self.client() as client:
            return dict(client.status())

    def wait_for_delivery(self, timeout_s: float = 60.0) -> dict[str, Any]:
        """Wait until nothing is pending."""
        return wait_until(
            lambda: status if not (status := self.status())["queue"]["pending"] else None,
            lambda: f"an empty queue; its log ends: {self.log()[-3000:]}",
            timeout_s=timeout_s,
        )

    def log(self) -> str:
        """All that it logged."""
        return self.log_file.read_text("utf-8", "replace") if self.log_file.exists() else ""

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log lines of one event."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == name]

    def close(self) -> None:
        """End it, whatever it does, and remove its directory."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
