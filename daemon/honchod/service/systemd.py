"""Telling systemd where the daemon stands (``sd_notify``), when systemd asked to be told."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping


class Notifier:
    """Sends states to ``$NOTIFY_SOCKET``; does nothing where there is none."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = environ.get("NOTIFY_SOCKET")

    def ready(self) -> None:
        """The daemon serves."""
        self._send("READY=1\nSTATUS=serving")

    def reloading(self) -> None:
        """The configuration is being read again."""
        now_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now_us}")

    def stopping(self) -> None:
        """The daemon stops."""
        self._send("STOPPING=1\nSTATUS=stopping")

    def alive(self) -> None:
        """All is well: systemd's watchdog may wait for another term."""
        self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line for ``systemctl status``."""
        self._send(f"STATUS={text}")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # "@" stands for the NUL of an abstract address.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
            try:
                out.connect(address)
                out.sendall(message.encode())
            except OSError:
                self._address = None
