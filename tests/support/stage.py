"""What tests of the whole program stand on, whatever the server: import these fixtures into a conftest that
has a ``server_url`` and the ``hosts``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.network import Network, running_network


@pytest.fixture
def workspace() -> str:
    """A workspace that nobody used before."""
    return f"honchod-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def network(server_url: str) -> Iterator[Network]:
    """The way from the daemon to the server."""
    with running_network(server_url) as network:
        yield network


@pytest.fixture
def make_daemon(hosts: dict[str, Any]) -> Iterator[Callable[..., DaemonProcess]]:
    """Makes daemons that are ended with the test. Takes `DaemonProcess`'s arguments."""
    made: list[DaemonProcess] = []

    def make(hosts_: dict[str, Any] | None = None, **options: Any) -> DaemonProcess:
        daemon = DaemonProcess(hosts_ or hosts, **options)
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        daemon.close()


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess]) -> DaemonProcess:
    """A daemon with short waits, not started yet."""
    return make_daemon()
