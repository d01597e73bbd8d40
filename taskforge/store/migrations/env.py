"""Alembic's entry point: runs the migrations on the connection that Database hands over."""

from alembic import context

from taskforge.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True
)
context.run_migrations()
