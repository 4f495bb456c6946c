"""The outbox: lanes, events, attempts, circuits and the counters beside them."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE lane (
        id INTEGER NOT NULL PRIMARY KEY,
        host TEXT NOT NULL,
        workspace TEXT NOT NULL,
        session TEXT NOT NULL,
        scope TEXT,
        pending INTEGER DEFAULT 0 NOT NULL CHECK (pending >= 0),
        due_at INTEGER,
        failures INTEGER DEFAULT 0 NOT NULL,
        last_error TEXT,
        last_error_at INTEGER,
        delivered_at INTEGER,
        lease_id TEXT,
        lease_until INTEGER,
        leased_at INTEGER,
        lease_first INTEGER,
        lease_last INTEGER,
        uncertain INTEGER DEFAULT 0 NOT NULL CHECK (uncertain IN (0, 1)),
        uncertain_first INTEGER,
        uncertain_last INTEGER,
        look_at INTEGER,
        charge INTEGER DEFAULT 0 NOT NULL CHECK (charge IN (0, 1)),
        prepared TEXT,
        bisect_last INTEGER,
        bisect_limit INTEGER,
        losses INTEGER DEFAULT 0 NOT NULL,
        order_gap INTEGER DEFAULT 0 NOT NULL CHECK (order_gap IN (0, 1)),
        UNIQUE (host, workspace, session),
        CHECK ((lease_id IS NULL) = (lease_first IS NULL))
    ) STRICT
    """,
    """
    CREATE INDEX lane_due ON lane (host, due_at)
    WHERE pending > 0 AND lease_id IS NULL AND losses < 3
    """,
    """
    CREATE INDEX lane_suspect ON lane (host, due_at)
    WHERE pending > 0 AND lease_id IS NULL AND losses >= 3
    """,
    "CREATE INDEX lane_leased ON lane (lease_id) WHERE lease_id IS NOT NULL",
    "CREATE INDEX lane_pending ON lane (pending) WHERE pending > 0",
    """
    CREATE TABLE event (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        lane_id INTEGER NOT NULL REFERENCES lane (id),
        message_id TEXT NOT NULL,
        part INTEGER NOT NULL,
        parts INTEGER NOT NULL,
        honchod_id TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('message', 'conclusion', 'identity', 'file')),
        peer TEXT NOT NULL,
        role TEXT NOT NULL,
        author TEXT NOT NULL,
        content TEXT,
        metadata TEXT,
        created_at INTEGER NOT NULL,
        queued_at INTEGER NOT NULL,
        size INTEGER NOT NULL,
        digest BLOB NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'dead', 'discarded')),
        attempts INTEGER DEFAULT 0 NOT NULL,
        last_error TEXT,
        ended_at INTEGER,
        remote_id TEXT,
        uid INTEGER NOT NULL,
        UNIQUE (lane_id, message_id, part),
        CHECK (part >= 0 AND part < parts)
    ) STRICT
    """,
    "CREATE INDEX event_queued ON event (lane_id, id) WHERE state = 'queued'",
    "CREATE INDEX event_waiting ON event (queued_at) WHERE state = 'queued'",
    "CREATE INDEX event_dead ON event (id) WHERE state = 'dead'",
    "CREATE INDEX event_ended ON event (ended_at) WHERE state IN ('delivered', 'discarded')",
    """
    CREATE INDEX event_kept ON event (ended_at)
    WHERE state IN ('delivered', 'discarded') AND content IS NOT NULL
    """,
    """
    CREATE TABLE attempt (
        id INTEGER NOT NULL PRIMARY KEY,
        event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        status INTEGER,
        ms INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX attempt_event ON attempt (event_id)",
    """
    CREATE TABLE circuit (
        destination TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('closed', 'open', 'half_open')),
        reason TEXT NOT NULL,
        failures INTEGER NOT NULL,
        until INTEGER NOT NULL,
        width INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE tally (
        host TEXT NOT NULL,
        workspace TEXT NOT NULL,
        queued INTEGER DEFAULT 0 NOT NULL,
        delivered INTEGER DEFAULT 0 NOT NULL,
        dead INTEGER DEFAULT 0 NOT NULL,
        discarded INTEGER DEFAULT 0 NOT NULL,
        bytes INTEGER DEFAULT 0 NOT NULL,
        delivered_ever INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (host, workspace)
    ) STRICT
    """,
    """
    CREATE TABLE share (
        uid INTEGER NOT NULL PRIMARY KEY,
        rows INTEGER DEFAULT 0 NOT NULL,
        bytes INTEGER DEFAULT 0 NOT NULL
    ) STRICT
    """,
    "CREATE TABLE kept (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT",
)


def upgrade() -> None:
    """Create everything."""
    for statement in TABLES:
        op.execute(statement)
