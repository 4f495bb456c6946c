"""What is taken in once and never again: identity seeds and files, known by what they say.

The entry is made in the transaction that queues the event, so there is no moment between the two; and unlike
the ids of messages it is never forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert

from honchod.outbox import intake
from honchod.outbox.schema import ledger
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Append, Appended, Bounds

_KNOWN: Final = select(ledger.c.message_id, ledger.c.parts).where(
    ledger.c.host == bindparam("host"),
    ledger.c.workspace == bindparam("workspace"),
    ledger.c.peer == bindparam("peer"),
    ledger.c.kind == bindparam("kind"),
    ledger.c.digest == bindparam("digest"),
)
_PUT: Final = insert(ledger).prefix_with("OR REPLACE")


@dataclass(frozen=True, slots=True)
class Once:
    """A request of one event that is to be taken in once; ``again``: once more, whatever the ledger says."""

    request: Append
    again: bool = False


def append_once(tx: Tx, once: Once, bounds: Bounds) -> Appended:
    """Queue the event, unless the ledger knows that its peer has it. Raises as `intake.append` does."""
    (event,) = once.request.events
    entry = {
        "host": once.request.lane.host,
        "workspace": once.request.lane.workspace,
        "peer": event.peer,
        "kind": event.kind.value,
        "digest": event.digest,
    }
    known = None if once.again else tx.connection.execute(_KNOWN, entry).first()
    if known is not None:
        return Appended(known.message_id, known.parts, duplicate=True)
    (appended,) = intake.append(tx, once.request, bounds)
    tx.connection.execute(
        _PUT, {**entry, "message_id": event.message_id, "parts": len(event.pieces), "taken_at": tx.now_ms}
    )
    return appended
