"""The socket, while no daemon is known to listen: what stands at its path and who may get there."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from honchod.ops.doctor.finding import Finding, ok, skipped, wrong

CHECK = "socket"
_PROBE_S = 2.0


def path_of_socket(path: Path) -> Iterator[Finding]:
    """What stands at the path of the socket."""
    yield from _directory(path.parent)
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        yield skipped(CHECK, f"{path} is not there: no daemon runs")
        return
    except OSError:
        yield skipped(CHECK, f"{path} may not be looked at")
        return
    if not stat.S_ISSOCK(mode):
        yield wrong(
            CHECK,
            f"{path} is no socket: the daemon will not start while it is there",
            "move it away, or set socket",
            ("mv", str(path), f"{path}.aside"),
        )
    elif is_stale(path):
        yield wrong(
            CHECK,
            f"nobody listens on {path}: a daemon that is gone left it behind",
            "remove it; the next daemon would, too",
            ("rm", str(path)),
        )
    else:
        yield ok(CHECK, f"somebody listens on {path}")


def is_stale(path: Path) -> bool:
    """Whether nobody listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        return probe.connect_ex(os.fspath(path)) == errno.ECONNREFUSED


def listener(address: tuple[str, int]) -> Finding:
    """Whether the loopback listener's port is free, while no daemon runs."""
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return wrong(
                "http",
                f"{host}:{port} cannot be listened on ({error.strerror})",
                "set another port in http.listen",
            )
    return ok("http", f"{host}:{port} is free")


def _directory(directory: Path) -> Iterator[Finding]:
    try:
        mode = stat.S_IMODE(directory.stat().st_mode)
    except OSError:
        return
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        yield wrong(
            CHECK,
            f"{directory} ({mode:04o}) can be written by everybody: anybody could put a socket there",
            "let nobody else write it",
            ("chmod", "0750", str(directory)),
        )
