"""A sandbox in a thread of its own, for callers that have no event loop or another one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from .auth import ApiKeys
from .calls import Behaviour
from .faults import Rule
from .model import Conclusion, PeerConfig, Session, StoredMessage
from .records import RequestRecord
from .server import Sandbox

T = TypeVar("T")

_CALL_TIMEOUT_S: Final = 30.0


class SandboxHandle:
    """The thread-safe face of a sandbox. Every method does what its namesake of ``Sandbox`` does."""

    def __init__(self, sandbox: Sandbox, loop: asyncio.AbstractEventLoop) -> None:
        self._sandbox = sandbox
        self._loop = loop

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return self._sandbox.url

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._sandbox.port

    def take_down(self, seconds: float | None = None) -> None:
        """Refuse connections for so long, or until ``bring_up``."""
        self._wait_for(self._sandbox.take_down(seconds))

    def bring_up(self) -> None:
        """Listen again."""
        self._wait_for(self._sandbox.bring_up())

    def add_faults(self, faults: str | Sequence[Rule]) -> None:
        """Set further fault rules."""
        self._ask(lambda: self._sandbox.add_faults(faults))

    def clear_faults(self) -> None:
        """Unset every fault rule."""
        self._ask(self._sandbox.clear_faults)

    def set_api_keys(self, api_keys: ApiKeys) -> None:
        """From now on these keys are good, and no others."""
        self._ask(lambda: self._sandbox.set_api_keys(api_keys))

    def reset(self) -> None:
        """Forget state, faults and log."""
        self._ask(self._sandbox.reset)

    def messages(self, workspace: str, session: str) -> list[StoredMessage]:
        """The messages of a session in storage order."""
        return self._ask(lambda: self._sandbox.messages(workspace, session))

    def sessions(self, workspace: str) -> list[Session]:
        """The sessions of a workspace in order of creation."""
        return self._ask(lambda: self._sandbox.sessions(workspace))

    def members(self, workspace: str, session: str) -> dict[str, PeerConfig]:
        """The active peers of a session with their flags."""
        return self._ask(lambda: self._sandbox.members(workspace, session))

    def scope_sessions(self, workspace: str, scope: str) -> list[str]:
        """The ids of the sessions in a scope."""
        return self._ask(lambda: self._sandbox.scope_sessions(workspace, scope))

    def conclusions(self, workspace: str) -> list[Conclusion]:
        """The conclusions of a workspace, oldest first."""
        return self._ask(lambda: self._sandbox.conclusions(workspace))

    def requests(self) -> list[RequestRecord]:
        """The log of requests, oldest first."""
        return self._ask(self._sandbox.requests)

    def _ask(self, question: Callable[[], T]) -> T:
        async def ask() -> T:
            return question()

        return self._wait_for(ask())

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_TIMEOUT_S)


@contextmanager
def running_sandbox(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    api_key: str | None = None,
    api_keys: ApiKeys | None = None,
    faults: str | Sequence[Rule] | None = None,
    state: str | Path | None = None,
    latency_s: float = 0.0,
    behaviour: Behaviour | None = None,
) -> Iterator[SandboxHandle]:
    """Run a sandbox in the background until the block ends. Takes what ``Sandbox`` takes."""
    sandbox = Sandbox(
        host=host,
        port=port,
        api_key=api_key,
        api_keys=api_keys,
        faults=faults,
        state=state,
        latency_s=latency_s,
        behaviour=behaviour,
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="sandbox", daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(_CALL_TIMEOUT_S)

    try:
        run(sandbox.start())
        yield SandboxHandle(sandbox, loop)
    finally:
        run(sandbox.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CALL_TIMEOUT_S)
        loop.close()
