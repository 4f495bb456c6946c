"""Recall: the cache of what Honcho answered, and what is counted and remembered of each session's turns."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE cache_entry (
        destination TEXT NOT NULL,
        workspace TEXT NOT NULL,
        session TEXT NOT NULL,
        observer TEXT NOT NULL,
        target TEXT NOT NULL,
        scope TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        query TEXT NOT NULL,
        parts TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        used_at INTEGER NOT NULL,
        old INTEGER DEFAULT 0 NOT NULL CHECK (old IN (0, 1)),
        PRIMARY KEY (destination, workspace, session, observer, target, scope, tokens, query)
    ) STRICT
    """,
    "CREATE INDEX cache_used ON cache_entry (used_at)",
    """
    CREATE TABLE turn (
        host TEXT NOT NULL,
        workspace TEXT NOT NULL,
        session TEXT NOT NULL,
        turns INTEGER DEFAULT 0 NOT NULL CHECK (turns >= 0),
        peer TEXT,
        context_turn INTEGER,
        dialectic_turn INTEGER,
        dialectic_empty INTEGER DEFAULT 0 NOT NULL CHECK (dialectic_empty >= 0),
        underived INTEGER DEFAULT 0 NOT NULL CHECK (underived >= 0),
        used_at INTEGER NOT NULL,
        PRIMARY KEY (host, workspace, session)
    ) STRICT
    """,
    "CREATE INDEX turn_used ON turn (used_at)",
)


def upgrade() -> None:
    """Create both tables."""
    for statement in TABLES:
        op.execute(statement)
