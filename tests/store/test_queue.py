"""The queue: the first outcome holds, failures leave an item owed, a killed writer loses one step."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from taskforge.domain.errors import Boundary
from taskforge.domain.ids import canonical_json, digest
from taskforge.domain.outcomes import Done, Failed, Skipped, SkipReason
from taskforge.store import Corpus
from taskforge.store.queue import EVIDENCE_CHARS
from tests.store.strategies import JSON, make_task

ITEM = digest(b"item")


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        yield opened


def test_an_item_is_owed_until_a_stage_ends(corpus: Corpus) -> None:
    queue = corpus.queue
    assert queue.outcome("baseline", ITEM) is None
    failure = Failed(Boundary.SANDBOX, "bwrap is gone")
    assert queue.record("baseline", ITEM, failure, label="toolz", repository="toolz") == failure
    assert queue.outcome("baseline", ITEM) is None
    assert [attempt.failure for attempt in queue.attempts("baseline", ITEM)] == [failure]
    assert [attempt.item for attempt in queue.failures("toolz")] == [ITEM]
    queue.record("baseline", ITEM, Done({"tests": 3}), label="toolz", repository="toolz")
    assert queue.outcome("baseline", ITEM) == Done({"tests": 3})
    assert queue.outcome("environment", ITEM) is None
    assert queue.failures() == []
    assert len(queue.attempts("baseline", ITEM)) == 1


def test_the_first_outcome_holds(corpus: Corpus) -> None:
    skipped = Skipped(SkipReason.NO_TESTS, "no test was collected", "collected 0 items")
    assert corpus.queue.record("baseline", ITEM, skipped) == skipped
    assert corpus.queue.record("baseline", ITEM, skipped) == skipped
    assert corpus.queue.record("baseline", ITEM, Done(1)) == skipped
    assert corpus.queue.outcome("baseline", ITEM) == skipped
    corpus.queue.forget("baseline", ITEM)
    assert corpus.queue.outcome("baseline", ITEM) is None


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON)
def test_values_come_back_as_they_were(corpus: Corpus, value: object) -> None:
    item = digest(canonical_json(value))
    corpus.queue.record("stage", item, Done(value))
    assert corpus.queue.outcome("stage", item) == Done(value)


def test_a_value_that_is_no_json_is_refused(corpus: Corpus) -> None:
    with pytest.raises(TypeError):
        corpus.queue.record("stage", ITEM, Done({1, 2}))


def test_very_long_evidence_is_cut_in_the_middle(corpus: Corpus) -> None:
    corpus.queue.record(
        "b", ITEM, Skipped(SkipReason.SUITE_FAILS, "", "a" * EVIDENCE_CHARS + "b" * EVIDENCE_CHARS)
    )
    kept = corpus.queue.outcome("b", ITEM)
    assert isinstance(kept, Skipped)
    assert kept.evidence.startswith("aaa")
    assert kept.evidence.endswith("bbb")
    assert "20000 characters" in kept.evidence


def test_items_are_found_and_counted(corpus: Corpus) -> None:
    queue = corpus.queue
    for number, reason in enumerate([SkipReason.WEAK_TESTS, SkipReason.DUPLICATE, SkipReason.WEAK_TESTS]):
        queue.record(
            "verify",
            digest(b"%d" % number),
            Skipped(reason, "why"),
            label=f"toolz: toolz/core.py::f{number}",
            repository="toolz",
        )
    queue.record("verify", digest(b"other"), Done(None), label="six: six.py::u", repository="six")
    assert list(queue.histogram().items()) == [(SkipReason.WEAK_TESTS, 2), (SkipReason.DUPLICATE, 1)]
    assert queue.histogram(repository="six") == {}
    assert len(queue.entries(repository="toolz")) == 3
    assert [entry.label for entry in queue.entries(repository="six", stage="verify")] == ["six: six.py::u"]
    assert queue.entries(repository="six", skipped_only=True) == []
    assert len(queue.find("toolz")) == 3
    for name in ("toolz: toolz/core.py::f1", "core.py::f1", digest(b"1"), digest(b"1")[:8]):
        assert [entry.item for entry in queue.find(name)] == [digest(b"1")]
    assert queue.find("100%_") == []


def test_telemetry_is_kept_apart(corpus: Corpus) -> None:
    corpus.telemetry.record("verify", ITEM, "toolz", cpu_s=1.5, wall_s=2.0, suites=1)
    corpus.telemetry.record("verify", ITEM, "toolz", cpu_s=0.5, wall_s=1.0)
    found = corpus.telemetry.timings(repository="toolz", stage="verify")
    assert [(timing.cpu_s, timing.extra) for timing in found] == [(1.5, {"suites": 1}), (0.5, {})]
    assert corpus.telemetry.timings(repository="six") == []


WRITER = """
import sys
from taskforge.domain.ids import digest
from taskforge.domain.outcomes import Done
from taskforge.store import Corpus
from tests.store.strategies import blobs_of, fill, make_task

with Corpus.open(sys.argv[1], create=True) as corpus:
    fill(corpus)
    print("started", flush=True)
    for number in range(100_000):
        with corpus.transaction():
            task = make_task(statement=f"task {number}")
            corpus.put_blob(b"%d" % number * 100_000)
            corpus.save_task(task, blobs_of())
            corpus.queue.record("verify", digest(b"%d" % number), Done(task.id))
"""


@pytest.mark.parametrize("wait_s", [0.0, 0.05, 0.3])
def test_a_killed_writer_leaves_whole_transactions(tmp_path: Path, wait_s: float) -> None:
    folder = tmp_path / "corpus"
    root = Path(__file__).parents[2]
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "started\n"
    time.sleep(wait_s)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with Corpus.open(folder) as corpus:
        for name in corpus.blobs.digests():
            corpus.get_blob(name)
        saved = {row.id for row in corpus.tasks()}
        named = {entry.outcome.value for entry in corpus.queue.entries() if isinstance(entry.outcome, Done)}
        assert saved == named | {make_task().id}
        for task_id in saved:
            assert corpus.task(task_id).id == task_id
            corpus.start_tree(corpus.task(task_id))
        corpus.put_blob(b"and it can be written to")


def test_two_writers_at_once_both_succeed(tmp_path: Path) -> None:
    code = """
import sys
from taskforge.domain.outcomes import Done
from taskforge.store import Corpus
with Corpus.open(sys.argv[1], create=True) as corpus:
    for number in range(60):
        corpus.put_blob(b"shared %d" % number)
        corpus.queue.record(sys.argv[2], str(number), Done(number))
"""
    folder = tmp_path / "corpus"
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), name], cwd=Path(__file__).parents[2])
        for name in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with Corpus.open(folder) as corpus:
        assert len(corpus.queue.entries(stage="a")) == len(corpus.queue.entries(stage="b")) == 60
        assert corpus.blobs.statistics().count == 60
