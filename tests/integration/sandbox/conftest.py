from __future__ import annotations

from collections.abc import Iterator

import pytest
from sandbox_client import Client

from honchod.sandbox import Behaviour, SandboxHandle, running_sandbox


@pytest.fixture
def sandbox() -> Iterator[SandboxHandle]:
    with running_sandbox(behaviour=Behaviour(derive_delay_s=0.0, delete_delay_s=0.0)) as handle:
        yield handle


@pytest.fixture
def client(sandbox: SandboxHandle) -> Iterator[Client]:
    with Client(sandbox.url) as client:
        yield client


@pytest.fixture
def impatient(sandbox: SandboxHandle) -> Iterator[Client]:
    with Client(sandbox.url, timeout_s=0.1) as client:
        yield client
