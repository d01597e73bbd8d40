"""Statements of tasks: facts about what is missing, and the plain English that states them."""

from taskforge.statement.writer import Statement, leak_finder, write_statement

__all__ = ["Statement", "leak_finder", "write_statement"]
