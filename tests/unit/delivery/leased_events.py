"""Leased events as the outbox hands them out."""

from __future__ import annotations

from honchod.outbox.values import Kind, LeasedEvent


def leased(event_id: int, *, peer: str = "al", role: str = "user", attempts: int = 0) -> LeasedEvent:
    return LeasedEvent(
        id=event_id,
        honchod_id=f"own-{event_id}",
        message_id=f"m{event_id}",
        part=0,
        parts=1,
        kind=Kind.MESSAGE,
        peer=peer,
        role=role,
        content=f"said {event_id}",
        metadata={},
        created_at_ms=event_id,
        attempts=attempts,
        size=10,
    )
