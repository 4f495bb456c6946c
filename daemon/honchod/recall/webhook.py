"""What Honcho says of itself by webhook: whether it is Honcho who says it, and what it means. Pure."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

import msgspec

SIGNATURE_HEADER: Final = "X-Honcho-Signature"
QUEUE_EMPTY: Final = "queue.empty"


@dataclass(frozen=True, slots=True)
class Derived:
    """Something was derived in this workspace. ``session`` is Honcho's name or id of one; None: not told."""

    workspace: str
    session: str | None


class _Data(msgspec.Struct, frozen=True):
    workspace_id: str = ""
    session_id: str | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str
    data: _Data = _Data()


_decode = msgspec.json.Decoder(_Event).decode


def verify(signature: str, body: bytes, secret: str) -> bool:
    """Whether the signature header is the hex HMAC-SHA256 of the raw body under the secret.

    Without a secret nothing is genuine. Takes as long for a wrong signature as for a right one.
    """
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = signature.strip().lower().encode("utf-8", "replace")
    return hmac.compare_digest(expected.encode(), given) and bool(secret)


def read(body: bytes) -> Derived | None:
    """What a genuine event means to recall; None for any other event, and for what cannot be read."""
    try:
        event = _decode(body)
    except msgspec.MsgspecError:
        return None
    if event.type != QUEUE_EMPTY or not event.data.workspace_id:
        return None
    return Derived(event.data.workspace_id, event.data.session_id)
