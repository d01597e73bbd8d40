"""Alembic migrations of the corpus; run by Database on opening."""
