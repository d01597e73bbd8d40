"""Snapshots and environment recipes of a corpus: records, trees and the suites' node ids."""

import json
from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import insert

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.errors import StoreError
from taskforge.domain.ids import canonical_json, tree_digest
from taskforge.domain.source import Snapshot
from taskforge.store import schema
from taskforge.store.blobs import BlobStore
from taskforge.store.database import Database

Tree = dict[str, tuple[int, bytes]]
"""Path to (mode bits 0o644, 0o755 or 0o120000 for a link, content), as tree_digest takes it."""


class SnapshotTable:
    """What tasks are made from. Saving the same thing again changes nothing."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    def save(self, snapshot: Snapshot, tree: Mapping[str, tuple[int, bytes]]) -> None:
        """Store a snapshot with its tree, each distinct file once.

        Raises StoreError when the tree is not the one that the snapshot names.
        """
        if tree_digest(tree) != snapshot.tree:
            raise StoreError(f"the tree given for {snapshot.name} is not the one its snapshot names")
        table = schema.snapshots
        with self._database.write() as connection:
            if connection.execute(select(table.c.id).where(table.c.id == snapshot.id)).first() is not None:
                return
            paths = sorted(tree)
            names = self._blobs.put_all((tree[path][1], ()) for path in paths)
            manifest = {path: [tree[path][0], name] for path, name in zip(paths, names, strict=True)}
            row = {
                "id": snapshot.id,
                "name": snapshot.name,
                "record": canonical_json(snapshot).decode(),
                "manifest": self._blobs.put(canonical_json(manifest)),
            }
            connection.execute(insert(table).values(row).on_conflict_do_nothing())

    def get(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot's record. Raises StoreError when it is absent or damaged."""
        table = schema.snapshots
        with self._database.read() as connection:
            record = connection.execute(select(table.c.record).where(table.c.id == snapshot_id)).scalar()
        if record is None:
            raise StoreError(f"snapshot {snapshot_id} is not in the corpus")
        return _snapshot(snapshot_id, record)

    def all(self) -> list[Snapshot]:
        """Return all snapshots, by name and id."""
        table = schema.snapshots
        with self._database.read() as connection:
            rows = connection.execute(select(table.c.id, table.c.record).order_by(table.c.name, table.c.id))
            return [_snapshot(row.id, row.record) for row in rows]

    def manifest(self, snapshot_id: str) -> dict[str, tuple[int, str]]:
        """Return a snapshot's tree as path -> (mode bits, digest)."""
        table = schema.snapshots
        with self._database.read() as connection:
            name = connection.execute(select(table.c.manifest).where(table.c.id == snapshot_id)).scalar()
        if name is None:
            raise StoreError(f"snapshot {snapshot_id} is not in the corpus")
        manifest = json.loads(self._blobs.get(name))
        return {path: (mode, digest) for path, (mode, digest) in manifest.items()}

    def tree(self, snapshot_id: str) -> Tree:
        """Return a snapshot's tree, verified against the record."""
        manifest = self.manifest(snapshot_id)
        tree = {path: (mode, self._blobs.get(name)) for path, (mode, name) in manifest.items()}
        if tree_digest(tree) != self.get(snapshot_id).tree:
            raise StoreError(f"the tree of snapshot {snapshot_id} does not match its digest")
        return tree

    def save_suite(self, snapshot_id: str, node_ids: Sequence[str]) -> str:
        """Store the node ids of a snapshot's suite, in the order in which tasks list them; return the digest.

        Tasks saved from then on are packed against it, so that their test lists cost next to nothing.
        """
        table = schema.snapshots
        with self._database.write() as connection:
            name = self._blobs.put(canonical_json(list(node_ids)))
            changed = connection.execute(update(table).where(table.c.id == snapshot_id).values(suite=name))
            if changed.rowcount == 0:
                raise StoreError(f"snapshot {snapshot_id} is not in the corpus")
        return name

    def suite(self, snapshot_id: str) -> str | None:
        """Return the digest of the suite's node ids, None where they were not saved."""
        table = schema.snapshots
        with self._database.read() as connection:
            return connection.execute(select(table.c.suite).where(table.c.id == snapshot_id)).scalar()

    def save_environment(self, recipe: EnvironmentRecipe) -> None:
        """Store a recipe under its id."""
        with self._database.write() as connection:
            self._blobs.put(canonical_json(recipe))
            row = {"id": recipe.id, "distribution": recipe.distribution}
            connection.execute(insert(schema.environments).values(row).on_conflict_do_nothing())

    def environment(self, recipe_id: str) -> EnvironmentRecipe:
        """Return a recipe. Raises StoreError when it is absent or damaged."""
        table = schema.environments
        with self._database.read() as connection:
            known = connection.execute(select(table.c.id).where(table.c.id == recipe_id)).first()
        if known is None:
            raise StoreError(f"environment {recipe_id} is not in the corpus")
        try:
            return EnvironmentRecipe.model_validate_json(self._blobs.get(recipe_id))
        except ValidationError as error:
            raise StoreError(f"environment {recipe_id} was written by another version: {error}") from error


def _snapshot(snapshot_id: str, record: str) -> Snapshot:
    try:
        snapshot = Snapshot.model_validate_json(record)
    except ValidationError as error:
        raise StoreError(f"snapshot {snapshot_id} was written by another version: {error}") from error
    if snapshot.id != snapshot_id:
        raise StoreError(f"snapshot {snapshot_id} does not match its id")
    return snapshot
