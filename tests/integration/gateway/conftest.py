from __future__ import annotations

from collections.abc import Iterator

import pytest

from honchod.sandbox import Behaviour, SandboxHandle, running_sandbox


@pytest.fixture
def sandbox() -> Iterator[SandboxHandle]:
    with running_sandbox(behaviour=Behaviour(derive_delay_s=0.0, delete_delay_s=0.0)) as handle:
        yield handle


@pytest.fixture
def deaf_sandbox() -> Iterator[SandboxHandle]:
    """One that ignores filters."""
    with running_sandbox(behaviour=Behaviour(derive_delay_s=0.0, heeds_filters=False)) as handle:
        yield handle
