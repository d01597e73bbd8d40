"""What work cost: CPU and wall seconds a stage and item. Kept apart from everything that is hashed."""

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

from taskforge.domain.ids import canonical_json
from taskforge.store import schema
from taskforge.store.database import Database


@dataclass(frozen=True, slots=True)
class Timing:
    """One measurement."""

    stage: str
    item: str
    repository: str
    cpu_s: float
    wall_s: float
    extra: dict[str, Any]
    at: float
    """When it was recorded, seconds since 1970."""


class Telemetry:
    """Measurements of one corpus. Work that was done twice is there twice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self, stage: str, item: str, repository: str, *, cpu_s: float, wall_s: float, **extra: Any
    ) -> None:
        """Add a measurement; `extra` is any JSON."""
        row = {
            "stage": stage,
            "item": item,
            "repository": repository,
            "cpu_s": cpu_s,
            "wall_s": wall_s,
            "extra": canonical_json(extra).decode(),
            "at": time.time(),
        }
        with self._database.write() as connection:
            connection.execute(insert(schema.timings).values(row))

    def timings(self, *, repository: str | None = None, stage: str | None = None) -> list[Timing]:
        """Return measurements in the order they were recorded."""
        table = schema.timings
        conditions = [table.c.repository == repository] if repository is not None else []
        if stage is not None:
            conditions.append(table.c.stage == stage)
        with self._database.read() as connection:
            rows = connection.execute(select(table).where(*conditions).order_by(table.c.id)).all()
        return [
            Timing(row.stage, row.item, row.repository, row.cpu_s, row.wall_s, json.loads(row.extra), row.at)
            for row in rows
        ]
