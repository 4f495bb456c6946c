"""A daemon with the page, in front of a sandbox server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from web_house import SECRET, House

from honchod.sandbox.thread import running_sandbox
from support.daemon import DaemonProcess
from support.network import running_network


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """One daemon for the tests of a module: most of them only look."""
    with running_sandbox() as sandbox, running_network(sandbox.url) as network:
        config = {"baseUrl": network.url, "workspace": "home", "peerName": "ann", "apiKey": SECRET}
        daemon = DaemonProcess(config, settings={"http": {"listen": "127.0.0.1:0"}})
        try:
            with daemon.start().client() as client:
                access = client.ui(show_token=True)
            yield House(daemon, network, access["url"], access["token"])
        finally:
            daemon.close()
