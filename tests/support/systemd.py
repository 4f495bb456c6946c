"""What systemd does for a service, as far as a test can stand in for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.daemon import DaemonProcess
from support.waiting import wait_until


class NotifySocket:
    """The socket that a service tells its states to. ``told`` are its messages, with the time of each."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="notify-")
        self.path = Path(self._directory.name) / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self.path))
        self._socket.setblocking(False)
        self._told: list[tuple[float, str]] = []

    @property
    def told(self) -> list[str]:
        """All messages so far."""
        self._receive()
        return [text for _, text in self._told]

    def last(self, text: str) -> float | None:
        """When this was last told (monotonic seconds)."""
        self._receive()
        return max((at for at, told in self._told if text in told.splitlines()), default=None)

    def wait_for(self, text: str, *, timeout_s: float = 30.0, after_s: float = 0.0) -> float:
        """Wait until a message has this line; when that was."""

        def seen() -> float | None:
            at = self.last(text)
            return at if at is not None and at > after_s else None

        found = wait_until(seen, f"{text!r} among {self._told}", timeout_s=timeout_s)
        assert found is not None
        return found

    def silent_s(self, text: str) -> float:
        """For how long this was not told."""
        return time.monotonic() - (self.last(text) or 0.0)

    def close(self) -> None:
        """Remove the socket."""
        self._socket.close()
        self._directory.cleanup()

    def _receive(self) -> None:
        while True:
            try:
                message = self._socket.recv(4096)
            except BlockingIOError:
                return
            self._told.append((time.monotonic(), message.decode()))


class ListeningSocket:
    """The socket of ``honchod.socket``: it listens, whether a daemon runs or not."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(128)

    def start(self, daemon: DaemonProcess) -> DaemonProcess:
        """Start the daemon with the socket handed in as descriptor 3."""
        own = self._socket.fileno()
        # The process that is told its own number in LISTEN_PID becomes the daemon.
        become = (
            "import os, sys; "
            f"os.dup2({own}, 3); os.set_inheritable(3, True); "
            "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); "
            "os.execv(sys.executable, [sys.executable, '-m', 'honchod', *sys.argv[1:]])"
        )
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}
        environ["HONCHOD_HONCHO_CONFIG"] = str(daemon.hosts_file)
        environ["HONCHOD_DROP"] = str(daemon.drop_dir)
        with daemon.log_file.open("ab") as log:
            daemon.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", become, "run", "--config", str(daemon.settings_file)),
                    *("--socket", str(daemon.socket), "--state-dir", str(daemon.state_dir)),
                ],
                stdout=log,
                stderr=log,
                env={**environ, **daemon.environ},
                pass_fds=[own],
                start_new_session=True,
            )
        return daemon

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()
