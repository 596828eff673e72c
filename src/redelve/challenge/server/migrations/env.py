"""Run by Alembic for every migration, on the connection that `Database.migrate` lends."""

from __future__ import annotations

from alembic import context

from redelve.challenge.server.database_tables import DatabaseTable

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=DatabaseTable.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
