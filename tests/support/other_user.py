"""Requests made by a process of another user. Run as a module, it is that process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.raw_http import Peer

NOBODYS_GID = 60000


def ask_as(
    socket: Path,
    uid: int,
    method: str,
    target: str,
    body: bytes = b"",
    *,
    gid: int = NOBODYS_GID,
    groups: str = "0",
) -> tuple[int, str]:
    """Status and body of a request made as ``uid``. Only root can do that.

    The supplementary ``groups`` (comma separated) open the socket file, which is root's here.
    """
    arguments = [str(uid), str(gid), groups, str(socket), method, target, body.decode()]
    done = subprocess.run(
        [sys.executable, "-m", "support.other_user", *arguments],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    status, _, text = done.stdout.partition(" ")
    return int(status), text


def _main(uid: str, gid: str, groups: str, path: str, method: str, target: str, body: str) -> None:
    os.setgroups([int(group) for group in groups.split(",")])
    os.setresgid(int(gid), int(gid), int(gid))
    os.setresuid(int(uid), int(uid), int(uid))
    with Peer(Path(path)) as peer:
        reply = peer.request(method, target, body.encode() or None)
    sys.stdout.write(f"{reply.status} {reply.body.decode()}")


if __name__ == "__main__":
    _main(*sys.argv[1:])
