"""Run as a script: become another user, make one request on a socket, print status and body.

Arguments: uid, gid, supplementary gids (comma separated), socket, method, target, body.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from raw_http import Peer

if __name__ == "__main__":
    uid, gid, groups, path, method, target, body = sys.argv[1:]
    os.setgroups([int(group) for group in groups.split(",")])
    os.setresgid(int(gid), int(gid), int(gid))
    os.setresuid(int(uid), int(uid), int(uid))
    with Peer(Path(path)) as peer:
        reply = peer.request(method, target, body.encode() or None)
    sys.stdout.write(f"{reply.status} {reply.body.decode()}")
