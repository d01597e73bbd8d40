"""The corpus: one folder that holds snapshots, environments, tasks and the queue, and can be moved."""

from taskforge.store.blobs import BlobStore
from taskforge.store.corpus import Corpus
from taskforge.store.queue import Attempt, Entry, Queue, StageOutcome
from taskforge.store.tasks import TaskRow
from taskforge.store.telemetry import Telemetry, Timing

__all__ = [
    "Attempt",
    "BlobStore",
    "Corpus",
    "Entry",
    "Queue",
    "StageOutcome",
    "TaskRow",
    "Telemetry",
    "Timing",
]
