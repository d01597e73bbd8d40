"""The published JSON schema."""

from pathlib import Path

from taskforge.exports.schema import task_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "task.schema.json"


def test_the_published_schema_is_that_of_the_records() -> None:
    assert PUBLISHED.read_text() == task_schema(), (
        "write docs/schema/task.schema.json again: "
        "python -c 'from taskforge.exports import task_schema; print(task_schema(), end=str())'"
    )
