"""What every runtime test stands on: a sandbox Honcho, a network to it, the daemon, a model server."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honchod.sandbox.thread import running_sandbox
from runtimes.model_server import ModelServer, running_model
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The sandbox that all runtimes share."""
    with running_sandbox() as sandbox:
        yield sandbox.url


@pytest.fixture
def remote(server_url: str) -> Remote:
    """The sandbox as an outsider sees it."""
    return Remote(server_url)


@pytest.fixture
def workspace() -> str:
    """A workspace that nobody used before."""
    return f"honchod-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def network(server_url: str) -> Iterator[Network]:
    """The way from the daemon to the sandbox."""
    with running_network(server_url) as network:
        yield network


@pytest.fixture
def hosts(network: Network, workspace: str) -> dict[str, Any]:
    """A Honcho config whose root is the default host. Give `make_daemon` one with a block for the runtime."""
    return {"baseUrl": network.url, "workspace": workspace, "peerName": "ann", "aiPeer": "bot"}


@pytest.fixture
def make_daemon(hosts: dict[str, Any]) -> Iterator[Callable[..., DaemonProcess]]:
    """Makes daemons, each with a drop box of its own, that are ended with the test."""
    made: list[DaemonProcess] = []

    def make(hosts_: dict[str, Any] | None = None, **options: Any) -> DaemonProcess:
        daemon = DaemonProcess(hosts_ or hosts, **options)
        daemon.environ["HONCHOD_DROP"] = str(daemon.directory / "drop")
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        daemon.close()


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess]) -> DaemonProcess:
    """A daemon with short waits, not started yet."""
    return make_daemon()


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that says ``Understood.`` until a test tells it otherwise."""
    with running_model() as model:
        yield model
