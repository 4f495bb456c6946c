"""Alembic's entry: it upgrades over the connection that the daemon hands in, and never opens one itself."""

from alembic import context

from honchod.outbox.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
