"""Where the daemon's socket is."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_SOCKET = "/run/honchod/honchod.sock"
"""The socket of a daemon that root or systemd started."""


def socket_path(environ: Mapping[str, str] = os.environ) -> str:
    """The path a client connects to.

    ``$HONCHOD_SOCKET`` when set. Else the user's own ``$XDG_RUNTIME_DIR/honchod/honchod.sock`` when that
    file is there, so that a login session still finds the daemon of the system when it has none of its own.
    """
    named = environ.get("HONCHOD_SOCKET")
    if named:
        return named
    runtime_dir = environ.get("XDG_RUNTIME_DIR")
    if runtime_dir:
        own = f"{runtime_dir}/honchod/honchod.sock"
        if os.path.exists(own):  # noqa: PTH110 - pathlib costs more to import than this client
            return own
    return SYSTEM_SOCKET
