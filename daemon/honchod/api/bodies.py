"""Reading a request's body, never further than the limit."""

from __future__ import annotations

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from honchod.errors import BadRequest, TooLarge


class PeerLeft(ConnectionError):
    """The peer closed the connection in the middle of its request: there is nobody to answer."""


async def read_body(request: web.BaseRequest, limit_bytes: int) -> bytes:
    """The whole body. Raises TooLarge as soon as it is known to be over the limit, BadRequest when broken.

    Raises PeerLeft when the rest will never come.
    """
    check_size(int(request.headers.get(hdrs.CONTENT_LENGTH, 0)), limit_bytes)
    try:
        if request.content.is_eof():
            body = request.content.read_nowait(-1)
        else:
            body = await _collect(request, limit_bytes)
    except (web.RequestPayloadError, HttpProcessingError):
        raise BadRequest("the body is not well-formed HTTP/1.1") from None
    except ConnectionError as error:
        raise PeerLeft from error
    check_size(len(body), limit_bytes)
    return body


async def _collect(request: web.BaseRequest, limit_bytes: int) -> bytes:
    """The body as far as it is within the limit, and a little more where it is not."""
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = bytearray()
    while len(body) <= limit_bytes and (chunk := await request.content.readany()):
        body += chunk
    return bytes(body)


def check_size(size_bytes: int, limit_bytes: int) -> None:
    """Raise TooLarge for a body of more than ``limit_bytes``."""
    if size_bytes > limit_bytes:
        raise TooLarge(f"the body is over {limit_bytes} bytes")
