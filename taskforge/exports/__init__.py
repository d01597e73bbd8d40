"""Tasks in other forms: a folder with a git repository, and the published JSON schema."""

from taskforge.exports.materialize import materialize
from taskforge.exports.schema import task_schema

__all__ = ["materialize", "task_schema"]
