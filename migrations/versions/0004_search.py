"""What waits can be searched, and conclusions are found by what they say and by both of their ids.

The index holds only what Honcho does not have yet, and no copy of it: the text stands in ``event``. Nobody
who writes waits for it: rows are brought in later, in steps, and ``searchable.upto`` is the last one that was
looked at. Up to there triggers keep it: whatever puts a row into the queue or takes it out keeps the index.
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
    "CREATE TABLE searchable (id INTEGER NOT NULL PRIMARY KEY, upto INTEGER NOT NULL, CHECK (id = 1)) STRICT",
    "INSERT INTO searchable (id, upto) VALUES (1, 0)",
    """
    CREATE TRIGGER waiting_ended AFTER UPDATE OF state ON event
    WHEN old.state = 'queued' AND new.state <> 'queued'
        AND old.kind IN ('message', 'conclusion') AND old.content IS NOT NULL
        AND old.id <= (SELECT upto FROM searchable)
    BEGIN
        INSERT INTO waiting (waiting, rowid, content) VALUES ('delete', old.id, old.content);
    END
    """,
    """
    CREATE TRIGGER waiting_revived AFTER UPDATE OF state ON event
    WHEN old.state <> 'queued' AND new.state = 'queued'
        AND new.kind IN ('message', 'conclusion') AND new.content IS NOT NULL
        AND new.id <= (SELECT upto FROM searchable)
    BEGIN
        INSERT INTO waiting (rowid, content) VALUES (new.id, new.content);
    END
    """,
    """
    CREATE TRIGGER waiting_deleted AFTER DELETE ON event
    WHEN old.state = 'queued' AND old.kind IN ('message', 'conclusion') AND old.content IS NOT NULL
        AND old.id <= (SELECT upto FROM searchable)
    BEGIN
        INSERT INTO waiting (waiting, rowid, content) VALUES ('delete', old.id, old.content);
    END
    """,
)


def upgrade() -> None:
    """Create the indexes, the search index and its triggers."""
    for statement in STATEMENTS:
        op.execute(statement)
