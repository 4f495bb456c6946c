"""A request that aiohttp reads, as the door sees it: its body may still be on its way."""

from __future__ import annotations

from aiohttp import hdrs, web
from multidict import MultiMapping

from honchod.api.bodies import read_body
from honchod.api.streams import MEDIA_TYPE


class Streamed:
    """See `Asked`."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request

    @property
    def method(self) -> str:
        """Its method."""
        return self._request.method

    @property
    def path(self) -> str:
        """Its path."""
        return self._request.rel_url.raw_path

    @property
    def query(self) -> MultiMapping[str]:
        """Its parameters."""
        return self._request.query

    @property
    def given_id(self) -> str | None:
        """Its ``X-Request-Id``."""
        return self._request.headers.get("X-Request-Id")

    @property
    def wants_events(self) -> bool:
        """Whether it accepts a stream of events."""
        return MEDIA_TYPE in self._request.headers.get(hdrs.ACCEPT, "")

    async def body(self, limit_bytes: int) -> bytes:
        """The body, once it is there. Raises TooLarge, BadRequest and PeerLeft."""
        return await read_body(self._request, limit_bytes)
