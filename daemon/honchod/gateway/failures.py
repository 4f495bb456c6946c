"""From the SDK's exceptions to one of ours. The only place that knows their family.

SDK errors carry the facts unevenly (honcho-ai 2.7): a connection error also covers what never left and a 2xx
that was no JSON, so the cause decides; ``Retry-After`` is read from the response itself. Their texts are
never passed on: one of them contains the key.
"""

from __future__ import annotations

import json

import httpx
from honcho.http import exceptions as sdk
from pydantic import ValidationError

from honchod.errors import CallFailed, CallReason

NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
BROKE_OFF = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError, httpx.ProxyError)
WRONG_SHAPE = (json.JSONDecodeError, ValidationError, TypeError, AttributeError, KeyError, IndexError)


def translate(error: Exception, *, status: int | None, retry_after: str | None) -> CallFailed:
    """The facts of a failed call. ``status`` and ``retry_after`` are those of the last response, if any."""
    if isinstance(error, CallFailed):
        return error
    if isinstance(error, sdk.APIError):
        return CallFailed(CallReason.STATUS, status=error.status, retry_after=retry_after)
    cause = error.__cause__ if isinstance(error, sdk.HonchoError) else error
    if isinstance(cause, NEVER_LEFT):
        return CallFailed(CallReason.UNREACHABLE)
    if isinstance(cause, httpx.TimeoutException | TimeoutError):
        return CallFailed(CallReason.TIMEOUT)
    if isinstance(cause, BROKE_OFF):
        return CallFailed(CallReason.CUT)
    if status is not None and 200 <= status < 300:
        return CallFailed(CallReason.NOT_HONCHO, status=status)
    if status is not None and status >= 300:
        return CallFailed(CallReason.STATUS, status=status, retry_after=retry_after)
    if isinstance(cause, httpx.TransportError) and not isinstance(cause, httpx.LocalProtocolError):
        return CallFailed(CallReason.CUT)
    if isinstance(cause, WRONG_SHAPE):
        return CallFailed(CallReason.NOT_HONCHO)
    return CallFailed(CallReason.LOCAL)
