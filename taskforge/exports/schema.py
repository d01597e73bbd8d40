"""The published JSON schema of the task record (docs/schema/task.schema.json)."""

import json

from taskforge.domain.task import SCHEMA_VERSION, Task

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def task_schema() -> str:
    """Return the JSON schema of a stored task record, as text with a final newline."""
    schema = {
        "$schema": DIALECT,
        "title": f"taskforge task, version {SCHEMA_VERSION}",
        **{
            key: value
            for key, value in Task.model_json_schema(mode="serialization").items()
            if key != "title"
        },
    }
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"
