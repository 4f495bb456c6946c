"""The ``requests`` library over a Unix socket."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import requests
import requests.adapters
import urllib3


def unix_session(path: Path) -> requests.Session:
    """A session whose requests all go to one socket, whatever their host."""
    session = requests.Session()
    session.mount("http://", UnixAdapter(path))
    return session


class UnixAdapter(requests.adapters.HTTPAdapter):
    """Sends whatever goes to any host to one Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> urllib3.HTTPConnectionPool:
        path = self._path

        class Connection(urllib3.connection.HTTPConnection):
            def connect(self) -> None:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(10)
                self.sock.connect(str(path))

        pool = urllib3.HTTPConnectionPool("honchod")
        pool.ConnectionCls = Connection
        return pool
