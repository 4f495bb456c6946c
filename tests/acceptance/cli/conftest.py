from __future__ import annotations

import pytest
from command import Honchod

from support.daemon import DaemonProcess


@pytest.fixture
def honchod(daemon: DaemonProcess) -> Honchod:
    """The command, with a running daemon behind it."""
    daemon.start()
    return Honchod(daemon.socket)
