"""The listening Unix socket: made without stealing a live one, removed only while it is ours."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from honchod.errors import SocketBusy, StartRefused

SOCKET_MODE: Final = 0o660
DIRECTORY_MODE: Final = 0o750
BACKLOG: Final = 512
_PROBE_S: Final = 2.0
_PATH_BYTES_MAX: Final = 107
"""``sun_path`` holds 108 bytes with the closing NUL."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket. ``made`` is the (device, inode) of the file that was made for it, if one was."""

    sock: socket.socket
    path: Path
    made: tuple[int, int] | None

    @property
    def outlives_us(self) -> bool:
        """Whether somebody else holds it too: who connects after us waits in it for the next daemon."""
        return self.made is None

    def remove(self) -> None:
        """Remove the socket file, unless it is gone, was replaced, or was handed in from outside."""
        with contextlib.suppress(FileNotFoundError):
            if _identity(self.path) == self.made:
                self.path.unlink()


def bind(path: Path) -> Listener:
    """Listen at ``path``: mode 0660, in a directory of mode 0750 that is made when missing.

    A file left behind by a daemon that is gone is replaced. Raises SocketBusy when somebody listens there,
    StartRefused when there can be no socket at this path.
    """
    if len(os.fsencode(path)) > _PATH_BYTES_MAX:
        raise StartRefused(f"the socket path {path} is over {_PATH_BYTES_MAX} bytes: choose a shorter one")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_directory(path.parent)
        with _alone(path):
            _clear(path)
            # Linux gives the file the mode of the unbound socket: at no time may more people connect.
            os.fchmod(sock.fileno(), SOCKET_MODE)
            sock.bind(os.fspath(path))
            path.chmod(SOCKET_MODE)
            sock.listen(BACKLOG)
            return Listener(sock, path, _identity(path))
    except OSError as error:
        sock.close()
        raise StartRefused(f"cannot listen on {path}: {error.strerror}") from error
    except StartRefused:
        sock.close()
        raise


def adopt(sock: socket.socket) -> Listener:
    """Take a socket that is bound and listening already, such as systemd hands in; its file is not ours."""
    return Listener(sock, Path(os.fsdecode(sock.getsockname())), None)


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _make_directory(directory: Path) -> None:
    if not directory.exists():
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(DIRECTORY_MODE)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep two daemons that start at once from each taking the other's new file for a stale one."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SocketBusy(f"another daemon is starting in {path.parent}: try again") from None
        yield
    finally:
        os.close(directory)


def _clear(path: Path) -> None:
    """Remove a socket file on which nobody listens; raise when somebody does."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise StartRefused(f"{path} is there and is no socket: move it away, or choose another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        refusal = probe.connect_ex(os.fspath(path))
    if refusal == errno.ECONNREFUSED:
        path.unlink(missing_ok=True)
    elif refusal != errno.ENOENT:
        # Connected, a full backlog (EAGAIN), no answer in time or no permission: none of them says stale.
        raise SocketBusy(f"another daemon answers on {path}: stop it, or choose another socket")
