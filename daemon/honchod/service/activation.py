"""A listening socket that systemd hands in (``sd_listen_fds``): callers wait in it during a restart."""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from typing import Final

from honchod.errors import StartRefused

FIRST_FD: Final = 3
_NAMES: Final = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


def take(environ: MutableMapping[str, str], *, pid: int, first_fd: int = FIRST_FD) -> socket.socket | None:
    """The socket that was handed to this process; None where there is none.

    Takes the names out of ``environ``, so that no child believes that it is meant. Raises StartRefused for
    anything but one Unix stream socket that listens.
    """
    given = {name: environ.pop(name, "") for name in _NAMES}
    if given["LISTEN_PID"] != str(pid) or not given["LISTEN_FDS"].isdecimal():
        return None
    count = int(given["LISTEN_FDS"])
    if count == 0:
        return None
    if count != 1:
        raise StartRefused(f"{count} sockets were handed in: expected one (a single ListenStream= line)")
    os.set_inheritable(first_fd, False)
    handed = socket.socket(fileno=first_fd)
    if (
        handed.family != socket.AF_UNIX
        or handed.type != socket.SOCK_STREAM
        or not handed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    ):
        handed.close()
        raise StartRefused("the socket that was handed in is no listening Unix stream socket")
    return handed
