"""Up to which event the counters have everything: what was taken in after it is counted later."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE tally ADD COLUMN counted_upto INTEGER NOT NULL DEFAULT 0",
    "UPDATE tally SET counted_upto = (SELECT coalesce(max(id), 0) FROM event)",
)


def upgrade() -> None:
    """Add it; so far everything was counted at once."""
    for statement in STATEMENTS:
        op.execute(statement)
