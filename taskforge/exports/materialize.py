"""A task as a folder: its start tree as a git repository of one commit.

The commit's hash depends on nothing but the tree. There is no reflog, remote, hook or unreachable object,
and no trace of the snapshot. `.git/info/attributes` turns conversions off, so that git stores, shows and
diffs the very bytes whatever .gitattributes of the tree asks for.
"""

import os
import subprocess
from pathlib import Path

from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.ids import tree_digest
from taskforge.domain.patches import patched_paths
from taskforge.domain.task import Task
from taskforge.rewards.submission import Rejected, patched
from taskforge.sources.tree import read_tree, write_tree
from taskforge.store import Corpus

Tree = dict[str, tuple[int, bytes]]

_WHO = "taskforge"
_WHEN = "946684800 +0000"  # 2000-01-01; any fixed moment will do


def materialize(task: Task, corpus: Corpus, folder: Path, *, gold: bool = False, tests: bool = False) -> str:
    """Write the task's tree into `folder`, which must be absent or empty; return the commit's hash.

    The tree is the start tree; with `gold` the solved one, with `tests` the hidden tests are added. What was
    written is read back and compared with the record. Raises UsageError for a folder in use, StoreError
    when the corpus or the written tree does not match the record.
    """
    tree = task_tree(task, corpus, gold=gold, tests=tests)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty; name an empty or new folder")
        write_tree(tree, folder)
        written = read_tree(folder)
        commit = _commit(folder)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}; name another folder") from error
    if tree_digest(written) != tree_digest(tree):
        raise StoreError(
            f"what was written to {folder} differs from the task; is its file system case-blind?"
        )
    return commit


def task_tree(task: Task, corpus: Corpus, *, gold: bool = False, tests: bool = False) -> Tree:
    """Return the start tree; with `gold` the solved tree, with `tests` the hidden tests laid over.

    Raises StoreError when the gold patch does not give back the snapshot's files.
    """
    tree = corpus.start_tree(task)
    if gold:
        solved = patched(tree, task.gold_patch.encode())
        if isinstance(solved, Rejected):
            raise StoreError(f"the gold patch of task {task.slug} does not apply: {solved.reason}")
        snapshot = corpus.tree(task.provenance.snapshot)
        for path in patched_paths(task.gold_patch):
            if solved.get(path) != snapshot.get(path):
                raise StoreError(f"the gold patch of task {task.slug} does not give back {path}")
        tree = solved
    if tests:
        for path, content in corpus.hidden_tests(task).items():
            tree[path] = (tree[path][0] if path in tree else 0o644, content)
    return tree


def _commit(folder: Path) -> str:
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main", ".")
    info = folder / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* -text -ident -filter -working-tree-encoding\n")
    _git(folder, "add", "--all", "--force", ".")
    tree = _git(folder, "write-tree")
    commit = _git(folder, "commit-tree", "-m", "Start", tree)
    _git(folder, "update-ref", "refs/heads/main", commit)
    return commit


def _git(folder: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.defpath,
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_AUTHOR_NAME": _WHO,
        "GIT_AUTHOR_EMAIL": f"{_WHO}@localhost",
        "GIT_AUTHOR_DATE": _WHEN,
        "GIT_COMMITTER_NAME": _WHO,
        "GIT_COMMITTER_EMAIL": f"{_WHO}@localhost",
        "GIT_COMMITTER_DATE": _WHEN,
    }
    command = ["git", "-c", "core.logAllRefUpdates=false", "-c", "core.autocrlf=false", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(f"git {arguments[0]} failed in {folder}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.strip()
