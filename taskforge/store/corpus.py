"""A corpus: a folder that holds everything and can be moved.

    corpus/corpus.sqlite    tables and small blobs
    corpus/blobs/           larger blobs

All paths inside are relative. Reading needs no lock; see Database for what happens when a writer is killed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.ids import tree_digest
from taskforge.domain.source import Snapshot
from taskforge.domain.task import Task
from taskforge.store.blobs import BlobStore
from taskforge.store.database import Database
from taskforge.store.queue import Queue
from taskforge.store.snapshots import SnapshotTable, Tree
from taskforge.store.tasks import TaskRow, TaskTable
from taskforge.store.telemetry import Telemetry

FILE_NAME = "corpus.sqlite"


class Corpus:
    """Everything of one corpus. Use `Corpus.open`; it is a context manager that closes itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = Database(folder / FILE_NAME)
        self.blobs = BlobStore(self._database, folder / "blobs")
        self.queue = Queue(self._database)
        self.telemetry = Telemetry(self._database)
        self._snapshots = SnapshotTable(self._database, self.blobs)
        self._tasks = TaskTable(self._database, self.blobs, self._snapshots)

    @classmethod
    def open(cls, folder: Path | str, *, create: bool = False) -> "Corpus":
        """Open the corpus in `folder`; with `create`, make one where the folder is absent or empty.

        Raises UsageError when there is no corpus, when the folder holds something else, and when a newer
        version wrote it; StoreError when the disk refuses or the file is damaged.
        """
        folder = Path(folder).absolute()
        if not (folder / FILE_NAME).is_file():
            if not create:
                raise UsageError(
                    f"no corpus at {folder}; make one with `taskforge generate --corpus {folder}`"
                )
            _make_folder(folder)
        corpus = cls(folder)
        try:
            corpus._database.migrate()
        except BaseException:
            corpus.close()
            raise
        if corpus._database.writable:
            (folder / "blobs").mkdir(exist_ok=True)
            corpus.blobs.sweep()
        return corpus

    def close(self) -> None:
        """Close the files; the object is of no use afterwards."""
        self._database.close()

    def __enter__(self) -> "Corpus":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all that is written in the block one transaction: all of it is kept, or nothing."""
        with self._database.write():
            yield

    def put_blob(self, content: bytes, bases: Sequence[str] = ()) -> str:
        """Store a blob, packed against the blobs `bases` that resemble it; return its digest."""
        return self.blobs.put(content, bases)

    def get_blob(self, digest: str) -> bytes:
        """Return a blob, verified. Raises StoreError when it is absent or damaged."""
        return self.blobs.get(digest)

    def save_snapshot(self, snapshot: Snapshot, tree: Mapping[str, tuple[int, bytes]]) -> None:
        """Store a snapshot with its tree, path -> (mode bits, content)."""
        self._snapshots.save(snapshot, tree)

    def snapshot(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot's record."""
        return self._snapshots.get(snapshot_id)

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots, by name and id."""
        return self._snapshots.all()

    def tree(self, snapshot_id: str) -> Tree:
        """Return a snapshot's tree, verified: path -> (mode bits, content)."""
        return self._snapshots.tree(snapshot_id)

    def save_suite(self, snapshot_id: str, node_ids: Sequence[str]) -> str:
        """Store the node ids of a snapshot's stable suite, so that its tasks' lists cost little."""
        return self._snapshots.save_suite(snapshot_id, node_ids)

    def save_environment(self, recipe: EnvironmentRecipe) -> None:
        """Store an environment recipe under its id."""
        self._snapshots.save_environment(recipe)

    def environment(self, recipe_id: str) -> EnvironmentRecipe:
        """Return an environment recipe."""
        return self._snapshots.environment(recipe_id)

    def save_task(self, task: Task, blobs: Mapping[str, bytes] | None = None) -> str:
        """Store a task and the blobs it names; see TaskTable.save."""
        return self._tasks.save(task, blobs)

    def task(self, name: str) -> Task:
        """Return the task of this id, unique prefix of an id, or slug."""
        return self._tasks.get(name)

    def task_record(self, name: str) -> bytes:
        """Return a task's canonical JSON: the bytes whose SHA-256 is its id."""
        return self._tasks.record(name)

    def tasks(
        self,
        *,
        tier: int | None = None,
        repository: str | None = None,
        mode: Mode | None = None,
        kind: FeatureKind | None = None,
    ) -> list[TaskRow]:
        """Return the tasks that match all given conditions, by repository, rank and id."""
        return self._tasks.list(tier=tier, repository=repository, mode=mode, kind=kind)

    def start_tree(self, task: Task) -> Tree:
        """Return a task's start tree, verified against the record."""
        tree = self.tree(task.provenance.snapshot)
        for path, name in task.start_files.items():
            if name is None:
                tree.pop(path, None)
            else:
                mode = tree[path][0] if path in tree else 0o644
                tree[path] = (mode, self.get_blob(name))
        if tree_digest(tree) != task.start_tree:
            raise StoreError(f"the start tree of task {task.slug} does not match its digest")
        return tree

    def hidden_tests(self, task: Task) -> dict[str, bytes]:
        """Return a task's hidden test files, path -> content."""
        return {path: self.get_blob(name) for path, name in sorted(task.hidden_tests.items())}


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strangers = sorted(
            path.name
            for path in folder.iterdir()
            if path.name != "blobs" and not path.name.startswith(FILE_NAME)
        )
    except OSError as error:
        raise UsageError(
            f"cannot make a corpus at {folder}: {error.strerror}; name another folder"
        ) from error
    if strangers:
        raise UsageError(
            f"{folder} holds other files ({strangers[0]}) and no corpus; name an empty or new folder"
        )
