"""The store is the queue: which stage of which item has an outcome.

An item without an outcome of a stage is owed. Done and Skipped are final: the first one recorded holds.
Failed says nothing about the item, so it is kept apart as an attempt and the item stays owed.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, or_, select
from sqlalchemy.dialects.sqlite import insert

from taskforge.domain.errors import Boundary
from taskforge.domain.ids import canonical_json
from taskforge.domain.outcomes import Done, Failed, Skipped, SkipReason
from taskforge.store import schema
from taskforge.store.blobs import pack, unpack
from taskforge.store.database import Database

StageOutcome = Done[Any] | Skipped
"""What ends a stage for an item. The value of Done is JSON (a blob's digest where it is large)."""

EVIDENCE_CHARS = 20_000
"""Longer evidence is cut in the middle."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded outcome."""

    stage: str
    item: str
    """Content hash of what the stage was given."""
    label: str
    """Readable name of the item, such as a source as typed or the place of a seed."""
    repository: str
    outcome: StageOutcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """One failed attempt at an item."""

    stage: str
    item: str
    label: str
    repository: str
    failure: Failed
    at: float
    """Seconds since 1970."""


class Queue:
    """Outcomes and attempts of one corpus."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcome(self, stage: str, item: str) -> StageOutcome | None:
        """Return what the stage did with the item, None while it is owed."""
        table = schema.outcomes
        wanted = select(table).where(table.c.stage == stage, table.c.item == item)
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else _outcome(row)

    def outcomes(self, stage: str, items: Iterable[str]) -> dict[str, StageOutcome]:
        """Return the outcomes there are among `items`; what is absent is owed."""
        return {item: found for item in items if (found := self.outcome(stage, item)) is not None}

    def record(
        self, stage: str, item: str, outcome: StageOutcome | Failed, *, label: str = "", repository: str = ""
    ) -> StageOutcome | Failed:
        """Store an outcome and return the one that holds: the first that was recorded for the item.

        A Failed is counted as an attempt. Raises TypeError when the value of a Done is not JSON.
        """
        place = {"stage": stage, "item": item, "label": label or item, "repository": repository}
        if isinstance(outcome, Failed):
            failure = {
                "boundary": outcome.boundary.value,
                "evidence": _packed(outcome.evidence),
                "at": time.time(),
            }
            with self._database.write() as connection:
                connection.execute(insert(schema.attempts).values({**place, **failure}))
            return outcome
        if isinstance(outcome, Done):
            result: dict[str, str | bytes | None] = {"value": canonical_json(outcome.value).decode()}
        else:
            result = {
                "reason": outcome.reason.value,
                "detail": outcome.detail,
                "evidence": _packed(outcome.evidence),
            }
        with self._database.write() as connection:
            connection.execute(insert(schema.outcomes).values({**place, **result}).on_conflict_do_nothing())
            held = self.outcome(stage, item)
        return held or outcome

    def attempts(self, stage: str, item: str) -> list[Attempt]:
        """Return the failed attempts at an item, oldest first."""
        table = schema.attempts
        wanted = select(table).where(table.c.stage == stage, table.c.item == item).order_by(table.c.id)
        with self._database.read() as connection:
            return [_attempt(row) for row in connection.execute(wanted)]

    def forget(self, stage: str, item: str) -> None:
        """Make an item owed again."""
        table = schema.outcomes
        with self._database.write() as connection:
            connection.execute(delete(table).where(table.c.stage == stage, table.c.item == item))

    def entries(
        self, *, repository: str | None = None, stage: str | None = None, skipped_only: bool = False
    ) -> list[Entry]:
        """Return recorded outcomes, by repository, stage, label and item."""
        table = schema.outcomes
        conditions = [table.c.repository == repository] if repository is not None else []
        if stage is not None:
            conditions.append(table.c.stage == stage)
        if skipped_only:
            conditions.append(table.c.reason.is_not(None))
        order = (table.c.repository, table.c.stage, table.c.label, table.c.item)
        with self._database.read() as connection:
            rows = connection.execute(select(table).where(*conditions).order_by(*order))
            return [_entry(row) for row in rows]

    def find(self, text: str) -> list[Entry]:
        """Return the outcomes of what `text` names: a hash (4 digits or more), label or repository."""
        table = schema.outcomes
        conditions = [table.c.label == text, table.c.repository == text]
        if len(text) >= 4 and not set(text) - set("0123456789abcdef"):
            conditions.append(table.c.item.startswith(text))
        exact = select(table).where(or_(*conditions))
        loose = select(table).where(table.c.label.contains(text, autoescape=True))
        order = (table.c.repository, table.c.stage, table.c.label, table.c.item)
        with self._database.read() as connection:
            for query in (exact, loose):
                rows = connection.execute(query.order_by(*order)).all()
                if rows:
                    return [_entry(row) for row in rows]
        return []

    def failures(self, text: str | None = None) -> list[Attempt]:
        """Return attempts at items still owed, oldest first; all, or of a label, repository or hash."""
        tried, ended = schema.attempts, schema.outcomes
        final = (
            select(ended.c.item).where(ended.c.item == tried.c.item, ended.c.stage == tried.c.stage).exists()
        )
        query = select(tried).where(~final).order_by(tried.c.id)
        if text is not None:
            query = query.where(
                or_(
                    tried.c.label == text,
                    tried.c.repository == text,
                    tried.c.item.startswith(text, autoescape=True),
                )
            )
        with self._database.read() as connection:
            return [_attempt(row) for row in connection.execute(query)]

    def histogram(self, *, repository: str | None = None, stage: str | None = None) -> dict[SkipReason, int]:
        """Return how often each reason was recorded, most frequent first."""
        table = schema.outcomes
        conditions: list[ColumnElement[bool]] = [table.c.reason.is_not(None)]
        if repository is not None:
            conditions.append(table.c.repository == repository)
        if stage is not None:
            conditions.append(table.c.stage == stage)
        count = func.count()
        query = select(table.c.reason, count).where(*conditions).group_by(table.c.reason)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(count.desc(), table.c.reason)).all()
        return {SkipReason(reason): number for reason, number in rows}


def _packed(evidence: str) -> bytes | None:
    if len(evidence) > EVIDENCE_CHARS:
        half = EVIDENCE_CHARS // 2
        evidence = f"{evidence[:half]}\n[... {len(evidence) - 2 * half} characters ...]\n{evidence[-half:]}"
    return pack(evidence.encode("utf-8", "replace")) if evidence else None


def _evidence(packed: bytes | None) -> str:
    return unpack(packed, b"", 8 * EVIDENCE_CHARS).decode() if packed else ""


def _outcome(row: Row[Any]) -> StageOutcome:
    if row.reason is None:
        return Done(json.loads(row.value))
    return Skipped(SkipReason(row.reason), row.detail, _evidence(row.evidence))


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.stage, row.item, row.label, row.repository, _outcome(row))


def _attempt(row: Row[Any]) -> Attempt:
    failure = Failed(Boundary(row.boundary), _evidence(row.evidence))
    return Attempt(row.stage, row.item, row.label, row.repository, failure, row.at)
