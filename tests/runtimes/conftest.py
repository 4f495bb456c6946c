"""What every runtime test stands on: a sandbox Honcho, a network to it, the daemon, a model server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from honchod.sandbox.thread import running_sandbox
from runtimes.model_server import ModelServer, running_model
from support.honcho import Remote
from support.network import Network
from support.stage import daemon, make_daemon, network, workspace

__all__ = ["daemon", "make_daemon", "network", "workspace"]


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
def hosts(network: Network, workspace: str) -> dict[str, Any]:
    """A Honcho config whose root is the default host. Give `make_daemon` one with a block for the runtime."""
    return {"baseUrl": network.url, "workspace": workspace, "peerName": "ann", "aiPeer": "bot"}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that says ``Understood.`` until a test tells it otherwise."""
    with running_model() as model:
        yield model
