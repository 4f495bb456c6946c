"""The tables, as SQLAlchemy Core sees them. The migrations create them; a test holds the two together.

Times are integer milliseconds UTC, flags are 0 or 1, JSON is text. Every table is STRICT.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from honchod.outbox.states import State

SUSPECT_AFTER: Final = 3
"""A lane whose lease was lost to the death of the daemon this often in a row is a suspect."""

metadata = MetaData()

_STATES: Final = ", ".join(f"'{state}'" for state in State)
READY: Final = f"due_at IS NOT NULL AND lease_id IS NULL AND losses < {SUSPECT_AFTER}"
SUSPECT: Final = f"due_at IS NOT NULL AND lease_id IS NULL AND losses >= {SUSPECT_AFTER}"
"""Which lanes may be leased, and which of them alone. A query that says it in other words finds no index."""

lane = Table(
    "lane",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("scope", Text),
    Column("pending", Integer, nullable=False, server_default="0"),
    # Null when nothing waits, and only then. The due lanes are found by it alone: a lane that waits already
    # keeps its place in their indexes, however much is added.
    Column("due_at", Integer),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("last_error", Text),
    Column("last_error_at", Integer),
    Column("delivered_at", Integer),
    Column("lease_id", Text),
    Column("lease_until", Integer),
    Column("leased_at", Integer),
    Column("lease_first", Integer),
    Column("lease_last", Integer),
    # What an attempt of unknown outcome covered, and when it can be looked up.
    Column("uncertain", Integer, nullable=False, server_default="0"),
    Column("uncertain_first", Integer),
    Column("uncertain_last", Integer),
    Column("look_at", Integer),
    # 1: the unknown outcome costs an attempt once the destination is proven healthy.
    Column("charge", Integer, nullable=False, server_default="0"),
    Column("prepared", Text),
    # While a bad event is searched for: batches up to this event are at most so long.
    Column("bisect_last", Integer),
    Column("bisect_limit", Integer),
    Column("losses", Integer, nullable=False, server_default="0"),
    Column("order_gap", Integer, nullable=False, server_default="0"),
    # Turns that ended since the lane was last made due by one.
    Column("turns", Integer, nullable=False, server_default="0"),
    # The first event that waits for the end of turns or of the session.
    Column("held_from", Integer),
    UniqueConstraint("host", "workspace", "session"),
    CheckConstraint("pending >= 0"),
    CheckConstraint("uncertain IN (0, 1)"),
    CheckConstraint("charge IN (0, 1)"),
    CheckConstraint("order_gap IN (0, 1)"),
    CheckConstraint("(lease_id IS NULL) = (lease_first IS NULL)"),
    sqlite_strict=True,
)

Index("lane_due", lane.c.host, lane.c.due_at, sqlite_where=text(READY))
Index("lane_suspect", lane.c.host, lane.c.due_at, sqlite_where=text(SUSPECT))
Index("lane_leased", lane.c.lease_id, sqlite_where=text("lease_id IS NOT NULL"))
Index("lane_pending", lane.c.pending, sqlite_where=text("pending > 0"))

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("lane_id", Integer, ForeignKey("lane.id"), nullable=False),
    Column("message_id", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("honchod_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("peer", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("content", Text),
    Column("metadata", Text),
    Column("created_at", Integer, nullable=False),
    Column("queued_at", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("last_error", Text),
    Column("ended_at", Integer),
    Column("remote_id", Text),
    Column("uid", Integer, nullable=False),
    UniqueConstraint("lane_id", "message_id", "part"),
    CheckConstraint(f"state IN ({_STATES})"),
    CheckConstraint("kind IN ('message', 'conclusion', 'identity', 'file')"),
    CheckConstraint("part >= 0 AND part < parts"),
    sqlite_strict=True,
    sqlite_autoincrement=True,
)

Index("event_queued", event.c.lane_id, event.c.id, sqlite_where=text("state = 'queued'"))
Index("event_waiting", event.c.queued_at, sqlite_where=text("state = 'queued'"))
Index("event_dead", event.c.id, sqlite_where=text("state = 'dead'"))
Index("event_ended", event.c.ended_at, sqlite_where=text("state IN ('delivered', 'discarded')"))
Index(
    "event_kept",
    event.c.ended_at,
    sqlite_where=text("state IN ('delivered', 'discarded') AND content IS NOT NULL"),
)

_CONCLUSION: Final = "kind = 'conclusion'"
Index("event_concluded", event.c.digest, sqlite_where=text(_CONCLUSION))
Index("event_conclusion", event.c.message_id, sqlite_where=text(_CONCLUSION))
Index("event_conclusion_remote", event.c.remote_id, sqlite_where=text(_CONCLUSION))

attempt = Table(
    "attempt",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("event_id", Integer, ForeignKey("event.id", ondelete="CASCADE"), nullable=False),
    Column("at", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Integer),
    Column("ms", Integer, nullable=False),
    sqlite_strict=True,
)

Index("attempt_event", attempt.c.event_id)

circuit = Table(
    "circuit",
    metadata,
    Column("destination", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("until", Integer, nullable=False),
    Column("width", Integer, nullable=False),
    CheckConstraint("state IN ('closed', 'open', 'half_open')"),
    sqlite_strict=True,
)

tally = Table(
    "tally",
    metadata,
    Column("host", Text, primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("queued", Integer, nullable=False, server_default="0"),
    Column("delivered", Integer, nullable=False, server_default="0"),
    Column("dead", Integer, nullable=False, server_default="0"),
    Column("discarded", Integer, nullable=False, server_default="0"),
    Column("bytes", Integer, nullable=False, server_default="0"),
    # Since the database was made, whatever was pruned since.
    Column("delivered_ever", Integer, nullable=False, server_default="0"),
    # The highest of these is the last event that the counters and the lanes have (see uncounted).
    Column("counted_upto", Integer, nullable=False, server_default="0"),
    sqlite_strict=True,
)

share = Table(
    "share",
    metadata,
    Column("uid", Integer, primary_key=True),
    Column("rows", Integer, nullable=False, server_default="0"),
    Column("bytes", Integer, nullable=False, server_default="0"),
    sqlite_strict=True,
)

kept = Table(
    "kept",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_strict=True,
)
"""Small facts about this database that outlive the process, by name."""

searchable = Table(
    "searchable",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("upto", Integer, nullable=False),
    CheckConstraint("id = 1"),
    sqlite_strict=True,
)
"""One row: up to which event the search index has what waits."""

cache_entry = Table(
    "cache_entry",
    metadata,
    Column("destination", Text, primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("observer", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("tokens", Integer, primary_key=True, autoincrement=False),
    Column("query", Text, primary_key=True),
    Column("parts", Text, nullable=False),
    Column("fetched_at", Integer, nullable=False),
    Column("used_at", Integer, nullable=False),
    Column("old", Integer, nullable=False, server_default="0"),
    CheckConstraint("old IN (0, 1)"),
    sqlite_strict=True,
)
"""What Honcho answered. The key columns hold "" (or 0) where they do not apply; ``query`` is a digest."""

Index("cache_used", cache_entry.c.used_at)

turn = Table(
    "turn",
    metadata,
    Column("host", Text, primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("turns", Integer, nullable=False, server_default="0"),
    # The person who spoke last in the session.
    Column("peer", Text),
    # The turn at whose end each was last asked for; null: never.
    Column("context_turn", Integer),
    Column("dialectic_turn", Integer),
    Column("dialectic_empty", Integer, nullable=False, server_default="0"),
    # Messages that Honcho has and is not known to have derived from.
    Column("underived", Integer, nullable=False, server_default="0"),
    Column("used_at", Integer, nullable=False),
    CheckConstraint("turns >= 0"),
    CheckConstraint("dialectic_empty >= 0"),
    CheckConstraint("underived >= 0"),
    sqlite_strict=True,
)
"""Each session's turns: counted when they end, with what the cadences of recall need to know."""

Index("turn_used", turn.c.used_at)

session_name = Table(
    "session_name",
    metadata,
    Column("host", Text, primary_key=True),
    Column("workspace", Text, primary_key=True),
    # The session's id in generation 0.
    Column("name", Text, primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("reset_at", Integer, nullable=False),
    CheckConstraint("generation > 0"),
    sqlite_strict=True,
)
"""Sessions that were reset. A row is never deleted: an id that was used up does not come back."""

ledger = Table(
    "ledger",
    metadata,
    Column("host", Text, primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("peer", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("taken_at", Integer, nullable=False),
    CheckConstraint("kind IN ('identity', 'file')"),
    sqlite_strict=True,
)
"""Seeds and files that were taken in once, by what they say: the same again is a duplicate, for ever."""
