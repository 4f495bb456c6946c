"""What an agent imports: ``from honchod.client import Client``. Standard library only.

Importing this package must stay cheap, because a shell hook pays for it at every prompt: nothing here imports
asyncio, http, email, ssl, urllib, inspect or threading, nor typing, which takes as long as all that is here.
``AsyncClient`` is loaded when it is asked for.
"""

from __future__ import annotations

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
