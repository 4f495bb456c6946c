"""What an agent imports: ``from honchod.client import Client``. Standard library only.

Importing this package must stay cheap, because a shell hook pays for it at every prompt: nothing here imports
asyncio, http, email, ssl, urllib, inspect or threading. ``AsyncClient`` is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honchod.client.blocking import Client
from honchod.client.errors import (
    BadAnswer,
    BadRequest,
    Busy,
    ClientError,
    Draining,
    DropFull,
    DropRefused,
    DropUnredacted,
    DropUnusable,
    IdConflict,
    NoAnswer,
    NoIdentity,
    NotAllowed,
    NotFound,
    NotKept,
    NotReachable,
    OutboxFull,
    QuotaUsedUp,
    RedactionFailed,
    Rejected,
    TooLarge,
    UnknownHost,
    Unprocessable,
)
from honchod.client.results import Recalled, Written, WrittenMessage

if TYPE_CHECKING:
    from honchod.client.aio import AsyncClient

__all__ = [
    "AsyncClient",
    "BadAnswer",
    "BadRequest",
    "Busy",
    "Client",
    "ClientError",
    "Draining",
    "DropFull",
    "DropRefused",
    "DropUnredacted",
    "DropUnusable",
    "IdConflict",
    "NoAnswer",
    "NoIdentity",
    "NotAllowed",
    "NotFound",
    "NotKept",
    "NotReachable",
    "OutboxFull",
    "QuotaUsedUp",
    "Recalled",
    "RedactionFailed",
    "Rejected",
    "TooLarge",
    "UnknownHost",
    "Unprocessable",
    "Written",
    "WrittenMessage",
]


def __getattr__(name: str) -> Any:
    if name == "AsyncClient":
        from honchod.client.aio import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
