"""A materialized task is exactly its tree, in a repository of one commit with nothing else behind it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.ids import digest, tree_digest
from taskforge.domain.task import Task
from taskforge.exports.materialize import materialize
from taskforge.store import Corpus
from tests.store.strategies import START, TREE, blobs_of, fill, make_task


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        fill(opened)
        yield opened


@pytest.fixture
def task(corpus: Corpus) -> Task:
    return corpus.task(corpus.tasks()[0].id)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, check=True, text=True
    ).stdout.strip()


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_the_start_tree_is_one_commit_and_nothing_more(corpus: Corpus, task: Task, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    commit = materialize(task, corpus, folder)
    assert files(folder) == {path: content for path, (_, content) in corpus.start_tree(task).items()}
    assert os.access(folder / "run.sh", os.X_OK)
    assert git(folder, "rev-list", "--all") == commit == git(folder, "rev-parse", "HEAD")
    assert git(folder, "status", "--porcelain", "--ignored") == ""
    assert git(folder, "remote") == ""
    assert git(folder, "fsck", "--unreachable", "--no-reflogs", "--full") == ""
    assert git(folder, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    reachable = {line.split()[0] for line in git(folder, "rev-list", "--all", "--objects").splitlines()}
    everything = git(folder, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
    assert set(everything.splitlines()) == reachable
    left = {path.name for path in (folder / ".git").iterdir()}
    assert left <= {"HEAD", "config", "index", "info", "objects", "refs"}, left


def test_the_commit_depends_on_the_tree_alone(
    corpus: Corpus, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = materialize(task, corpus, tmp_path / "a")
    config = tmp_path / "config"
    config.write_text(
        "[user]\n\tname = Someone\n[core]\n\tautocrlf = input\n[init]\n\tdefaultBranch = other\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Someone")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert materialize(task, corpus, tmp_path / "b") == first
    assert not (tmp_path / "elsewhere").exists()


def test_gold_and_tests_give_back_the_snapshot(corpus: Corpus, task: Task, tmp_path: Path) -> None:
    snapshot = {path: content for path, (_, content) in TREE.items()}
    materialize(task, corpus, tmp_path / "both", gold=True, tests=True)
    assert files(tmp_path / "both") == snapshot
    materialize(task, corpus, tmp_path / "gold", gold=True)
    assert files(tmp_path / "gold") == {k: v for k, v in snapshot.items() if not k.startswith("tests/")}
    materialize(task, corpus, tmp_path / "tests", tests=True)
    assert files(tmp_path / "tests") == {
        **{path: content for path, content in START.items() if content is not None},
        "run.sh": snapshot["run.sh"],
        "tests/test_mod.py": snapshot["tests/test_mod.py"],
    }


def test_attributes_of_the_tree_convert_nothing(corpus: Corpus, tmp_path: Path) -> None:
    content = b"*.sh text eol=lf\n* ident\n"
    start_files = {**make_task().start_files, ".gitattributes": digest(content)}
    tree = {**TREE, ".gitattributes": (0o644, content)}
    for path, new in START.items():
        if new is None:
            del tree[path]
        else:
            tree[path] = (0o644, new)
    task = make_task(start_files=start_files, start_tree=tree_digest(tree))
    corpus.save_task(task, {**blobs_of(), digest(content): content})
    materialize(task, corpus, tmp_path / "out")
    shown = subprocess.run(
        ["git", "show", "HEAD:run.sh"], cwd=tmp_path / "out", capture_output=True, check=True
    ).stdout
    assert shown == TREE["run.sh"][1]
    assert git(tmp_path / "out", "status", "--porcelain") == ""


def test_a_folder_in_use_is_left_alone(corpus: Corpus, task: Task, tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.txt").write_text("work")
    with pytest.raises(UsageError, match="not empty"):
        materialize(task, corpus, tmp_path / "used")
    with pytest.raises(UsageError, match="cannot write"):
        materialize(task, corpus, tmp_path / "used" / "thesis.txt")
    assert files(tmp_path / "used") == {"thesis.txt": b"work"}


@pytest.mark.parametrize("patch", ["", "not a patch\n"])
def test_a_gold_patch_that_does_not_lead_back_is_an_error(corpus: Corpus, tmp_path: Path, patch: str) -> None:
    good = make_task()
    wrong = make_task(gold_patch=patch or good.gold_patch.replace("return 2", "return 3"))
    corpus.save_task(wrong, blobs_of())
    with pytest.raises(StoreError, match="gold patch"):
        materialize(wrong, corpus, tmp_path / "out", gold=True)
