"""The real program as a process, a real server behind a network that can break.

The server is the sandbox. With ``HONCHOD_LIVE_URL`` (and ``HONCHOD_LIVE_KEY`` where it asks for one) it is a
real Honcho: the same tests, in a workspace of their own.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from honchod.sandbox.thread import running_sandbox
from support.honcho import Remote
from support.network import Network, running_network
from support.shared_daemon import SharedDaemon
from support.stage import daemon, make_daemon, network, workspace
from support.waiting import PATIENCE

__all__ = ["daemon", "make_daemon", "network", "workspace"]

LIVE_URL = os.environ.get("HONCHOD_LIVE_URL")
LIVE_KEY = os.environ.get("HONCHOD_LIVE_KEY")


TIMEOUT_S = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A real server is given its time: what bounds a test is stretched with what it waits for."""
    for item in items if LIVE_URL else ():
        marker = item.get_closest_marker("timeout")
        timeout_s = marker.args[0] if marker else TIMEOUT_S
        item.add_marker(pytest.mark.timeout(timeout_s * PATIENCE), append=False)


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The base URL of the server that all tests share."""
    if LIVE_URL:
        _warm_up(Remote(LIVE_URL, LIVE_KEY))
        yield LIVE_URL
        return
    with running_sandbox() as sandbox:
        yield sandbox.url


@pytest.fixture
def remote(server_url: str) -> Remote:
    """The server as an outsider sees it."""
    return Remote(server_url, LIVE_KEY)


@pytest.fixture
def hosts(network: Network, workspace: str) -> dict[str, Any]:
    """A Honcho config with one host, which is also the default."""
    config: dict[str, Any] = {
        "baseUrl": network.url,
        "workspace": workspace,
        "peerName": "ann",
        "aiPeer": "bot",
    }
    if LIVE_KEY:
        config["apiKey"] = LIVE_KEY
    return config


@pytest.fixture(scope="module")
def shared(server_url: str) -> Iterator[SharedDaemon]:
    """One daemon for the tests of a module that only change its hosts."""
    with running_network(server_url) as network:
        shared = SharedDaemon(network, Remote(server_url, LIVE_KEY))
        yield shared
        shared.close()


def _warm_up(remote: Remote) -> None:
    """A server's very first message can take seconds; tests with short timeouts are not about that."""
    workspace = f"honchod-test-{uuid.uuid4().hex[:12]}"
    remote.ask("POST", "/v3/workspaces", {"id": workspace})
    first = {"messages": [{"peer_id": "ann", "content": "hello"}]}
    remote.ask("POST", f"/v3/workspaces/{workspace}/sessions/warm-up/messages", first)
