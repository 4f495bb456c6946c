"""Sessions: their generations, lanes that wait for their turn, and the ledger of what was imported once."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE lane ADD COLUMN turns INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE lane ADD COLUMN held_from INTEGER",
    """
    CREATE TABLE session_name (
        host TEXT NOT NULL,
        workspace TEXT NOT NULL,
        name TEXT NOT NULL,
        generation INTEGER NOT NULL CHECK (generation > 0),
        reset_at INTEGER NOT NULL,
        PRIMARY KEY (host, workspace, name)
    ) STRICT
    """,
    """
    CREATE TABLE ledger (
        host TEXT NOT NULL,
        workspace TEXT NOT NULL,
        peer TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('identity', 'file')),
        digest BLOB NOT NULL,
        message_id TEXT NOT NULL,
        parts INTEGER NOT NULL,
        taken_at INTEGER NOT NULL,
        PRIMARY KEY (host, workspace, peer, kind, digest)
    ) STRICT
    """,
)


def upgrade() -> None:
    """Extend the lane and create both tables."""
    for statement in STATEMENTS:
        op.execute(statement)
