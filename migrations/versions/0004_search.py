"""What waits can be searched, and conclusions are found by what they say and by both of their ids.

The index holds only what Honcho does not have yet, and no copy of it: the text stands in ``event``. Triggers
keep it, so that whatever puts a row into the queue or takes it out keeps the index too.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STATEMENTS = (
    "CREATE INDEX event_concluded ON event (digest) WHERE kind = 'conclusion'",
    "CREATE INDEX event_conclusion ON event (message_id) WHERE kind = 'conclusion'",
    "CREATE INDEX event_conclusion_remote ON event (remote_id) WHERE kind = 'conclusion'",
    """
    CREATE VIRTUAL TABLE waiting USING fts5(
        content, content = 'event', content_rowid = 'id', detail = none, columnsize = 0,
        tokenize = 'unicode61 remove_diacritics 2'
    )
    """,
    """
    INSERT INTO waiting (rowid, content) SELECT id, content FROM event
    WHERE state = 'queued' AND kind IN ('message', 'conclusion') AND content IS NOT NULL
    """,
    """
    CREATE TRIGGER waiting_queued AFTER INSERT ON event
    WHEN new.state = 'queued' AND new.kind IN ('message', 'conclusion') AND new.content IS NOT NULL
    BEGIN
        INSERT INTO waiting (rowid, content) VALUES (new.id, new.content);
    END
    """,
    """
    CREATE TRIGGER waiting_ended AFTER UPDATE OF state ON event
    WHEN old.state = 'queued' AND new.state <> 'queued'
        AND old.kind IN ('message', 'conclusion') AND old.content IS NOT NULL
    BEGIN
        INSERT INTO waiting (waiting, rowid, content) VALUES ('delete', old.id, old.content);
    END
    """,
    """
    CREATE TRIGGER waiting_revived AFTER UPDATE OF state ON event
    WHEN old.state <> 'queued' AND new.state = 'queued'
        AND new.kind IN ('message', 'conclusion') AND new.content IS NOT NULL
    BEGIN
        INSERT INTO waiting (rowid, content) VALUES (new.id, new.content);
    END
    """,
    """
    CREATE TRIGGER waiting_deleted AFTER DELETE ON event
    WHEN old.state = 'queued' AND old.kind IN ('message', 'conclusion') AND old.content IS NOT NULL
    BEGIN
        INSERT INTO waiting (waiting, rowid, content) VALUES ('delete', old.id, old.content);
    END
    """,
)


def upgrade() -> None:
    """Create the indexes, the search index and its triggers."""
    for statement in STATEMENTS:
        op.execute(statement)
