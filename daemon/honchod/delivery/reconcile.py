"""What a look into the session says about an unknown attempt. Pure: the looking is done by the gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from honchod.outbox.values import Delivered, LeasedEvent


@dataclass(frozen=True, slots=True)
class Reconciled:
    """``there`` needs no sending; ``missing`` does. ``order_gap``: something later landed before it."""

    there: tuple[Delivered, ...]
    missing: tuple[LeasedEvent, ...]
    order_gap: bool


def reconcile(batch: Sequence[LeasedEvent], found: Mapping[str, str]) -> Reconciled:
    """Split an uncertain batch by what was found remotely (our id to Honcho's).

    A batch is stored whole or not at all, so a hole before something that landed means that the two came
    from different attempts: the order is lost remotely, and said so.
    """
    there = tuple(
        Delivered(event.id, found[event.honchod_id]) for event in batch if event.honchod_id in found
    )
    missing = tuple(event for event in batch if event.honchod_id not in found)
    last_there = max((item.event_id for item in there), default=0)
    return Reconciled(there, missing, order_gap=any(event.id < last_there for event in missing))
