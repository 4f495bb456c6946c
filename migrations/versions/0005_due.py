"""A lane waits when it has a due time: then more events in one that waits already leave its place alone."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STATEMENTS = (
    "DROP INDEX lane_due",
    "DROP INDEX lane_suspect",
    "UPDATE lane SET due_at = NULL WHERE pending = 0 AND due_at IS NOT NULL",
    "UPDATE lane SET due_at = coalesce(look_at, 0) WHERE pending > 0 AND due_at IS NULL",
    """
    CREATE INDEX lane_due ON lane (host, due_at)
    WHERE due_at IS NOT NULL AND lease_id IS NULL AND losses < 3
    """,
    """
    CREATE INDEX lane_suspect ON lane (host, due_at)
    WHERE due_at IS NOT NULL AND lease_id IS NULL AND losses >= 3
    """,
)


def upgrade() -> None:
    """Make the indexes anew, over lanes whose due times say what they are asked for."""
    for statement in STATEMENTS:
        op.execute(statement)
