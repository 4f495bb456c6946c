"""One SDK client, made the only way that is safe for us.

Retries are off (they repeat POSTs, and Honcho stores each), the environment is not consulted, and the
async HTTP client is ours, so that response headers can be read: the SDK loses ``Retry-After`` on a 503. Its
place in the SDK is private; a test fails when that stops working.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
from honcho import Honcho
from honcho.http import AsyncHonchoHTTPClient

from honchod.gateway.values import Endpoint

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
KEEPALIVE_S: Final = 30.0
CONNECTIONS: Final = 64 + 16
"""As many as delivery may have lanes in flight, and room beside them: no recall waits for one of theirs."""


_TLS: Final = httpx.create_ssl_context()
"""Reading the certificates takes tens of milliseconds: once, when this module is imported, in a thread."""


def tls() -> ssl.SSLContext:
    """What every connection of ours is secured with."""
    return _TLS


@dataclass(slots=True)
class Seen:
    """The last response of one call: status and Retry-After."""

    status: int | None = None
    retry_after: str | None = None


_seen: ContextVar[Seen | None] = ContextVar("honchod_seen", default=None)


def watch() -> Seen:
    """Collect the responses of the calls that this task makes from now on."""
    seen = Seen()
    _seen.set(seen)
    return seen


async def _note(response: httpx.Response) -> None:
    seen = _seen.get()
    if seen is not None:
        seen.status = response.status_code
        seen.retry_after = response.headers.get("Retry-After")


class Client:
    """An SDK client and the HTTP client under it. `close` when done: the SDK has no public way."""

    def __init__(
        self, endpoint: Endpoint, *, timeout_s: float, before: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        async def wait_for_turn(request: httpx.Request) -> None:
            if before is not None:
                await before()

        self.http = httpx.AsyncClient(
            verify=_TLS,
            timeout=httpx.Timeout(timeout_s),
            limits=httpx.Limits(
                max_connections=CONNECTIONS,
                max_keepalive_connections=CONNECTIONS,
                keepalive_expiry=KEEPALIVE_S,
            ),
            event_hooks={"request": [wait_for_turn], "response": [_note]},
            # A proxy of the environment is for what is elsewhere.
            trust_env=urlsplit(endpoint.url).hostname not in LOOPBACK,
            follow_redirects=False,
        )
        self._sync = httpx.Client(verify=_TLS, trust_env=False)
        self.honcho = Honcho(
            # None makes the SDK look into the environment, which holds no HONCHO_* any more.
            api_key=endpoint.key,
            base_url=endpoint.url,
            workspace_id=endpoint.workspace,
            timeout=timeout_s,
            max_retries=0,
            http_client=self._sync,
        )
        # A session is set up explicitly, workspace first; a call that sends messages does only that.
        self.honcho._workspace_ensured = True
        self.honcho._async_http = AsyncHonchoHTTPClient(
            base_url=endpoint.url,
            api_key=endpoint.key,
            max_retries=0,
            timeout=timeout_s,
            http_client=self.http,
        )

    async def close(self) -> None:
        """Close all connections, those of the unused sync client too."""
        await self.http.aclose()
        self._sync.close()
