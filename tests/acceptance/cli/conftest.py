"""One daemon a module: most of these tests are about the command, and starting a daemon takes its time."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from command import Honchod

from honchod.client import Client
from support.daemon import DaemonProcess
from support.network import Network, running_network


@pytest.fixture(scope="session", autouse=True)
def interrupts_count() -> None:
    """A shell's background jobs ignore interrupts, and so would every command that is started from one."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def network(server_url: str) -> Iterator[Network]:
    """The way from the daemon to the server."""
    with running_network(server_url) as network:
        yield network


@pytest.fixture(scope="module")
def workspace() -> str:
    """A workspace that nobody used before."""
    return f"honchod-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def hosts(network: Network, workspace: str) -> dict[str, Any]:
    """A Honcho config with one host."""
    config = {"baseUrl": network.url, "workspace": workspace, "peerName": "ann", "aiPeer": "bot"}
    key = os.environ.get("HONCHOD_LIVE_KEY")
    return {**config, "apiKey": key} if key else config


@pytest.fixture(scope="module")
def daemon(hosts: dict[str, Any]) -> Iterator[DaemonProcess]:
    """A running daemon."""
    daemon = DaemonProcess(hosts)
    yield daemon.start()
    daemon.close()


@pytest.fixture
def honchod(daemon: DaemonProcess, network: Network, hosts: dict[str, Any]) -> Iterator[Honchod]:
    """The command, with that daemon behind it; after the test nothing waits or fails any more."""
    yield Honchod(daemon.socket)
    network.heal()
    daemon.use_hosts(hosts)
    with Client(daemon.socket) as client:
        client.reload()
        client.resume()
        client.wake()
    daemon.wait_for_delivery()


@pytest.fixture
def session() -> str:
    """A session of the test's own."""
    return f"s-{uuid.uuid4().hex[:8]}"
