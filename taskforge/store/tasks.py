"""Task records of a corpus.

A task's id is the SHA-256 of its canonical JSON, so the record is simply the blob of that name. It is packed
against the node ids of its snapshot's suite and the files it changes: the test lists and the patches, most
of the record, then cost little, and reading gives back the very bytes that were hashed.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.dialects.sqlite import insert

from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.ids import canonical_json, digest
from taskforge.domain.task import Task
from taskforge.store import schema
from taskforge.store.blobs import BlobStore
from taskforge.store.database import Database
from taskforge.store.snapshots import SnapshotTable

SHORTEST_PREFIX = 4
"""Digits of an id that are at least needed to name a task."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in a list, with the fields of `taskforge tasks list --json`: counts instead of lists."""

    id: str
    slug: str
    repository: str
    tier: int
    mode: Mode
    kind: FeatureKind
    files: int
    symbols: int
    removed_lines: int
    fail_to_pass: int
    pass_to_pass: int


class TaskTable:
    """Tasks of one corpus. A saved task never changes."""

    def __init__(self, database: Database, blobs: BlobStore, snapshots: SnapshotTable) -> None:
        self._database = database
        self._blobs = blobs
        self._snapshots = snapshots

    def save(self, task: Task, blobs: Mapping[str, bytes] | None = None) -> str:
        """Store a task and the blobs it names (digest -> content), all or nothing; return its id.

        The snapshot must be there; blobs that it holds (as hidden tests are) need not be given. Saving the
        same task again changes nothing. Raises StoreError when something that the task names is missing.
        """
        record = canonical_json(task)
        if digest(record) != task.id or canonical_json(Task.model_validate_json(record)) != record:
            raise StoreError(f"task {task.id} would not be read back as it is")
        snapshot = task.provenance.snapshot
        manifest = self._snapshots.manifest(snapshot)
        with self._database.write() as connection:
            self._save_blobs(task, blobs or {}, manifest)
            suite = self._snapshots.suite(snapshot)
            if suite is None:
                suite = self._snapshots.save_suite(snapshot, (*task.pass_to_pass, *task.fail_to_pass))
            changed = [manifest[path][1] for path in sorted(task.start_files) if path in manifest]
            self._blobs.put(record, (suite, *changed))
            row = {
                "id": task.id,
                "slug": task.slug,
                "repository": task.provenance.repository,
                "snapshot": snapshot,
                "tier": task.difficulty.tier,
                "mode": task.mode.value,
                "kind": task.kind.value,
                "files": task.difficulty.files,
                "symbols": len(task.symbols),
                "removed_lines": task.difficulty.removed_lines,
                "fail_to_pass": len(task.fail_to_pass),
                "pass_to_pass": len(task.pass_to_pass),
                "rank": task.provenance.rank,
            }
            connection.execute(insert(schema.tasks).values(row).on_conflict_do_nothing())
        return task.id

    def get(self, name: str) -> Task:
        """Return the task of this id, unique prefix of an id (4 digits or more) or slug.

        Raises UsageError when none or several match, StoreError when the record is damaged.
        """
        found = self.resolve(name)
        record = self._blobs.get(found)
        try:
            task = Task.model_validate_json(record)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StoreError(
                f"task {found} is not of this version's schema ({place}: {first['msg']}); upgrade taskforge"
            ) from error
        if canonical_json(task) != record:
            raise StoreError(f"task {found} was written by another version of taskforge; upgrade to read it")
        return task

    def record(self, name: str) -> bytes:
        """Return the canonical JSON of a task (see `get` for the name): the bytes whose hash is its id."""
        return self._blobs.get(self.resolve(name))

    def resolve(self, name: str) -> str:
        """Return the full id that `name` stands for; raises as `get` does."""
        table = schema.tasks
        wanted: list[ColumnElement[bool]] = [table.c.slug == name]
        prefix = name.lower()
        if len(prefix) >= SHORTEST_PREFIX and not set(prefix) - set("0123456789abcdef"):
            wanted.append(table.c.id.startswith(prefix))
        query = select(table.c.id, table.c.slug).where(or_(*wanted)).order_by(table.c.slug, table.c.id)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        if len(rows) == 1:
            return str(rows[0].id)
        if rows:
            matches = ", ".join(f"{row.slug} ({row.id[:12]})" for row in rows[:10])
            more = f" and {len(rows) - 10} more" if len(rows) > 10 else ""
            raise UsageError(f"{name} matches {len(rows)} tasks: {matches}{more}; give more digits of the id")
        raise UsageError(f"no task {name} in the corpus{self._hint(name)}; see `taskforge tasks list`")

    def list(
        self,
        *,
        tier: int | None = None,
        repository: str | None = None,
        mode: Mode | None = None,
        kind: FeatureKind | None = None,
    ) -> list[TaskRow]:
        """Return the tasks that match all given conditions, by repository, rank and id."""
        table = schema.tasks
        given = {"tier": tier, "repository": repository, "mode": mode, "kind": kind}
        conditions = [table.c[name] == value for name, value in given.items() if value is not None]
        columns = [table.c[name] for name in TaskRow.__dataclass_fields__]
        query = select(*columns).where(*conditions).order_by(table.c.repository, table.c.rank, table.c.id)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            TaskRow(**{**row, "mode": Mode(row["mode"]), "kind": FeatureKind(row["kind"])}) for row in rows
        ]

    def _save_blobs(
        self, task: Task, blobs: Mapping[str, bytes], manifest: Mapping[str, tuple[int, str]]
    ) -> None:
        named = {path: name for path, name in task.start_files.items() if name is not None}
        for path, name in [*sorted(named.items()), *sorted(task.hidden_tests.items())]:
            if name in self._blobs:
                continue
            if name not in blobs:
                raise StoreError(f"task {task.slug} names a blob for {path} that was not given")
            if digest(blobs[name]) != name:
                raise StoreError(f"the blob given for {path} of task {task.slug} does not match its digest")
            self._blobs.put(blobs[name], (manifest[path][1],) if path in manifest else ())

    def _hint(self, name: str) -> str:
        with self._database.read() as connection:
            slugs = list(connection.execute(select(schema.tasks.c.slug)).scalars())
        close = difflib.get_close_matches(name, slugs, n=3)
        return f" (close: {', '.join(close)})" if close else ""
