"""The corpus as a whole: opening, moving, versions, snapshots and tasks."""

import dataclasses
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hypothesis import HealthCheck, example, given, settings

import taskforge.store
from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.ids import canonical_json, digest
from taskforge.domain.task import Task
from taskforge.store import Corpus
from taskforge.store.schema import REVISION, metadata
from tests.store.strategies import RECIPE, SNAPSHOT, START, TASKS, TREE, blobs_of, fill, make_task

ANY_CORPUS = settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        fill(opened)
        yield opened


def test_no_corpus_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="taskforge generate --corpus"):
        Corpus.open(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        Corpus.open(tmp_path, create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_another_sqlite_file_is_no_corpus(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "corpus.sqlite") as connection:
        connection.execute("CREATE TABLE addresses (name TEXT)")
    with pytest.raises(UsageError, match="no corpus"):
        Corpus.open(tmp_path)


def test_a_damaged_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "corpus.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="damaged"):
        Corpus.open(tmp_path)


def test_a_newer_format_asks_for_an_upgrade(corpus: Corpus) -> None:
    with sqlite3.connect(corpus.folder / "corpus.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UsageError, match=r"newer taskforge.*upgrade"):
        Corpus.open(corpus.folder)


def test_the_migrations_make_exactly_the_tables_of_the_schema(corpus: Corpus) -> None:
    with corpus._database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    migrations = Path(taskforge.store.__file__).with_name("migrations")
    assert ScriptDirectory(str(migrations)).get_heads() == [REVISION]


def test_a_moved_corpus_is_whole(corpus: Corpus, tmp_path: Path) -> None:
    large = corpus.put_blob(bytes(range(256)) * 4)
    task = corpus.task("pkg-mod-gone-" + make_task().id[:4])
    corpus.close()
    moved = tmp_path / "elsewhere" / "moved"
    shutil.move(corpus.folder, moved)
    with Corpus.open(moved) as opened:
        assert opened.task(task.id) == task
        assert opened.tree(SNAPSHOT.id) == TREE
        assert opened.environment(RECIPE.id) == RECIPE
        assert opened.get_blob(large) == bytes(range(256)) * 4
    assert str(tmp_path).encode() not in (moved / "corpus.sqlite").read_bytes()


def test_a_corpus_on_a_read_only_mount_can_be_read(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.close()
    monkeypatch.setattr("os.access", lambda *_: False)
    with Corpus.open(corpus.folder) as opened:
        assert opened.task(make_task().id) == make_task()
        assert opened.tree(SNAPSHOT.id) == TREE
        with pytest.raises(StoreError, match="readonly"):
            opened.put_blob(b"new")
    assert sorted(path.name for path in corpus.folder.iterdir()) == ["blobs", "corpus.sqlite"]
    (corpus.folder / "corpus.sqlite-wal").write_bytes(b"what a killed writer left")
    with pytest.raises(UsageError, match="copy it to a writable folder"):
        Corpus.open(corpus.folder)


def test_snapshots_come_back(corpus: Corpus) -> None:
    assert corpus.snapshots() == [SNAPSHOT]
    assert corpus.snapshot(SNAPSHOT.id) == SNAPSHOT
    assert corpus.tree(SNAPSHOT.id) == TREE
    with pytest.raises(StoreError, match="not in the corpus"):
        corpus.tree("0" * 64)


def test_a_tree_that_is_not_the_snapshots_is_refused(corpus: Corpus) -> None:
    with pytest.raises(StoreError, match="not the one its snapshot names"):
        corpus.save_snapshot(SNAPSHOT, {**TREE, "more.py": (0o644, b"")})


@ANY_CORPUS
@given(task=TASKS)
@example(task=make_task(pass_to_pass=("a", "b"), statement="\u2028\x00\x7f'\""))
def test_any_task_is_read_back_byte_for_byte(corpus: Corpus, task: Task) -> None:
    assert corpus.save_task(task, blobs_of()) == task.id
    assert corpus.save_task(task, blobs_of()) == task.id
    with Corpus.open(corpus.folder) as fresh:
        assert fresh.task(task.id) == task
        assert fresh.task_record(task.id) == canonical_json(task)
        assert digest(fresh.task_record(task.id)) == task.id


def test_the_trees_of_a_task_are_verified(corpus: Corpus) -> None:
    task = make_task()
    start = corpus.start_tree(task)
    assert set(start) == {"pkg/__init__.py", "pkg/mod.py", "run.sh"}
    assert start["run.sh"] == TREE["run.sh"]
    assert start["pkg/mod.py"] == (0o644, START["pkg/mod.py"])
    assert corpus.hidden_tests(task) == {"tests/test_mod.py": TREE["tests/test_mod.py"][1]}
    wrong = make_task(start_tree="0" * 64)
    corpus.save_task(wrong, blobs_of())
    with pytest.raises(StoreError, match="start tree"):
        corpus.start_tree(wrong)


def test_a_copy_of_a_task_has_its_own_id(corpus: Corpus) -> None:
    task = make_task()
    assert task.id == task.model_copy().id
    other = task.model_copy(update={"statement": "other"})
    assert other.id != task.id
    assert corpus.save_task(other, blobs_of()) == other.id
    assert corpus.task(other.id) == other


def test_a_task_whose_blobs_are_missing_is_not_stored(corpus: Corpus) -> None:
    task = make_task(start_files={"pkg/mod.py": digest(b"nowhere")})
    with pytest.raises(StoreError, match=r"pkg/mod\.py that was not given"):
        corpus.save_task(task, blobs_of())
    with pytest.raises(StoreError, match="does not match"):
        corpus.save_task(task, {digest(b"nowhere"): b"something else"})
    assert len(corpus.tasks()) == 1


def test_a_task_is_found_by_id_prefix_and_slug(corpus: Corpus) -> None:
    task = make_task()
    for name in (task.id, task.id[:4], task.id[:12].upper(), task.slug):
        assert corpus.task(name) == task


def test_an_ambiguous_name_lists_what_matches(corpus: Corpus) -> None:
    by_prefix: dict[str, Task] = {}
    for number in range(2000):
        task = make_task(statement=str(number))
        other = by_prefix.setdefault(task.id[:4], task)
        if other is not task:
            break
    else:
        pytest.fail("no two tasks share four digits")
    corpus.save_task(task, blobs_of())
    corpus.save_task(other, blobs_of())
    for name in (task.id[:4], task.slug):
        with pytest.raises(UsageError, match="matches 2 tasks") as raised:
            corpus.task(name)
        assert task.id[:12] in str(raised.value)
        assert other.id[:12] in str(raised.value)
    assert corpus.task(task.id[:20]) == task


@pytest.mark.parametrize("name", ["", "zz", "abc", "%", "pkg-mod-gone-zzzz", "0" * 64])
def test_an_unknown_task_is_a_usage_error(corpus: Corpus, name: str) -> None:
    with pytest.raises(UsageError, match="tasks list"):
        corpus.task(name)


def test_a_wrong_slug_gets_a_hint(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match=make_task().slug):
        corpus.task("pkg-mod-gone-0000")


def test_tasks_are_listed_by_condition(corpus: Corpus) -> None:
    first = make_task()
    harder = make_task(
        difficulty=first.difficulty.model_copy(update={"tier": 4}),
        mode=Mode.STUB,
        kind=FeatureKind.CLASS,
        provenance=first.provenance.model_copy(update={"rank": 3}),
    )
    corpus.save_task(harder, blobs_of())
    assert [row.id for row in corpus.tasks()] == [first.id, harder.id]
    for condition in ({"tier": 4}, {"mode": Mode.STUB}, {"kind": FeatureKind.CLASS}):
        assert [row.id for row in corpus.tasks(**condition)] == [harder.id]
    assert corpus.tasks(repository="other") == []
    row = corpus.tasks(tier=2, repository="pkg")[0]
    assert dataclasses.asdict(row) == {
        "id": first.id,
        "slug": first.slug,
        "repository": "pkg",
        "tier": 2,
        "mode": Mode.DELETE,
        "kind": FeatureKind.FUNCTION,
        "files": 2,
        "symbols": 1,
        "removed_lines": 2,
        "fail_to_pass": 1,
        "pass_to_pass": 0,
    }


def test_a_transaction_that_fails_keeps_nothing(corpus: Corpus) -> None:
    task = make_task(statement="second")

    def save_and_fail() -> None:
        with corpus.transaction():
            corpus.save_task(task, blobs_of())
            corpus.get_blob("0" * 64)

    with pytest.raises(StoreError):
        save_and_fail()
    assert [row.id for row in corpus.tasks()] == [make_task().id]


def test_a_long_suite_costs_little_a_task(corpus: Corpus) -> None:
    suite = [
        f"tests/test_part_{n // 40}.py::TestThing{n // 9}::test_case_{n}[{n * 7919 % 1000}]"
        for n in range(6000)
    ]
    corpus.save_suite(SNAPSHOT.id, suite)
    before = corpus.blobs.statistics().packed_bytes
    for number in range(10):
        failing = suite[number * 100 : number * 100 + 20]
        task = make_task(
            statement=f"Write number {number}.",
            fail_to_pass=tuple(failing),
            pass_to_pass=tuple(name for name in suite if name not in set(failing)),
        )
        corpus.save_task(task, blobs_of())
        assert corpus.task(task.id).pass_to_pass == task.pass_to_pass
    cost = (corpus.blobs.statistics().packed_bytes - before) / 10
    assert cost < 2000, cost


def test_reading_while_another_process_writes_needs_no_wait(corpus: Corpus) -> None:
    with Corpus.open(corpus.folder) as other, other.transaction():
        other.put_blob(b"in an unfinished transaction")
        assert len(corpus.tasks()) == 1
        assert digest(b"in an unfinished transaction") not in corpus.blobs
    assert digest(b"in an unfinished transaction") in corpus.blobs


def test_a_relative_folder_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.chdir(name)
        with Corpus.open("corpus", create=True) as opened:
            monkeypatch.chdir("/")
            assert opened.tasks() == []
