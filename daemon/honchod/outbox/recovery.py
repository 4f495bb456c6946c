"""After a death: leases that nobody holds any more become uncertain lanes; so do those of a restored copy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, func, or_, select, text, update

from honchod.outbox import kept
from honchod.outbox.schema import SUSPECT_AFTER, event, lane
from honchod.outbox.transaction import Tx

_HELD: Final = select(
    lane.c.id,
    lane.c.leased_at,
    lane.c.lease_first,
    lane.c.lease_last,
    lane.c.uncertain,
    lane.c.uncertain_first,
    lane.c.uncertain_last,
    lane.c.look_at,
    lane.c.losses,
).where(text("lease_id IS NOT NULL"))
_OVERDUE: Final = _HELD.where(
    or_(lane.c.lease_until < bindparam("now"), lane.c.leased_at > bindparam("latest")),
    lane.c.lease_id.not_in(bindparam("alive", expanding=True)),
)
"""Leases that ran out, or were taken by a clock that has gone back since; nobody alive holds them."""
_LOSE: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        lease_id=None,
        lease_until=None,
        leased_at=None,
        lease_first=None,
        lease_last=None,
        uncertain=1,
        uncertain_first=bindparam("first"),
        uncertain_last=bindparam("last"),
        look_at=bindparam("look"),
        charge=0,
        losses=bindparam("new_losses"),
        due_at=bindparam("due"),
        last_error=bindparam("error"),
        last_error_at=bindparam("now"),
    )
)
_BOUNDS: Final = (
    select(event.c.lane_id, func.min(event.c.id).label("first"), func.max(event.c.id).label("last"))
    .where(text("event.state = 'queued'"))
    .group_by(event.c.lane_id)
)
_DOUBT: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        uncertain=1,
        uncertain_first=bindparam("first"),
        uncertain_last=bindparam("last"),
        look_at=func.max(func.coalesce(lane.c.look_at, 0), bindparam("look")),
        due_at=func.max(lane.c.due_at, func.coalesce(lane.c.look_at, 0), bindparam("look")),
        charge=0,
    )
)


@dataclass(frozen=True, slots=True)
class SuspectWaits:
    """How long a suspect waits before it is tried: ``base_ms`` at first, then twice as long each time."""

    base_ms: int = 60_000
    cap_ms: int = 3_600_000

    def after_ms(self, losses: int) -> int:
        """The wait after so many deaths in a row."""
        return min(self.cap_ms, self.base_ms << min(losses - SUSPECT_AFTER, 16))


USUAL_WAITS: Final = SuspectWaits()


@dataclass(frozen=True, slots=True)
class Recovered:
    """How many lanes were found in flight, and how many of them are suspects now."""

    lanes: int
    suspects: int


def recover(
    tx: Tx,
    *,
    settle_delay_ms: int,
    died: bool,
    alive: Collection[str] = (),
    waits: SuspectWaits = USUAL_WAITS,
) -> Recovered:
    """Take back leases: all of them after the death of the daemon (``died``), else those that ran out, save
    those in ``alive``: a wall clock that jumped ahead must not take a lane from a delivery that is under way.

    The attempt may have landed: the lane looks before it sends, ``settle_delay_ms`` after the lease at the
    earliest. A wall clock that went back cannot make it wait longer than that from now. A lane that was in
    flight at three deaths in a row is a suspect, and is tried at doubling intervals (``waits``).

    After the death of the daemon, a database that does not know what was delivered has every lane look.
    """
    rows = (
        tx.connection.execute(_HELD).all()
        if died
        else tx.connection.execute(
            _OVERDUE, {"now": tx.now_ms, "latest": tx.now_ms + settle_delay_ms, "alive": list(alive)}
        ).all()
    )
    suspects = 0
    for row in rows:
        losses = row.losses + int(died)
        look = min(row.leased_at, tx.now_ms) + settle_delay_ms
        if row.uncertain:
            look = max(look, row.look_at or 0)
        due = look
        if losses >= SUSPECT_AFTER:
            suspects += 1
            due = max(look, tx.now_ms + waits.after_ms(losses))
        tx.connection.execute(
            _LOSE,
            {
                "lane_id": row.id,
                "first": min(row.uncertain_first, row.lease_first) if row.uncertain else row.lease_first,
                "last": max(row.uncertain_last, row.lease_last) if row.uncertain else row.lease_last,
                "look": look,
                "new_losses": losses,
                "due": due,
                "error": "daemon_died" if died else "lease_lost",
                "now": tx.now_ms,
            },
        )
    if died and kept.take_doubt(tx):
        doubt_everything(tx, settle_delay_ms=settle_delay_ms)
    return Recovered(len(rows), suspects)


def doubt_everything(tx: Tx, *, settle_delay_ms: int) -> int:
    """Make every lane with waiting events uncertain: this database is a restored copy, and what was
    delivered after it was made must be found, not sent again.
    """
    rows = tx.connection.execute(_BOUNDS).all()
    look = tx.now_ms + settle_delay_ms
    if rows:
        tx.connection.execute(
            _DOUBT,
            [{"lane_id": row.lane_id, "first": row.first, "last": row.last, "look": look} for row in rows],
        )
    return len(rows)
