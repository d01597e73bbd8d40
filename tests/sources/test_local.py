"""Folders are read as they are, without what is ignored or made by tools."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from taskforge.domain.outcomes import Done, Outcome, Skipped, SkipReason
from taskforge.domain.source import Snapshot
from taskforge.settings import FetchSettings
from taskforge.sources import fetch, parse_source, read_tree
from tests.sources.gitrepos import PACKAGE, GitRepo


def fetched(folder: Path, into: Path, **limits: object) -> Outcome[Snapshot]:
    return fetch(parse_source(str(folder)), into=into, limits=FetchSettings.model_validate(limits))


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def test_a_folder_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "My.Package"
    write(folder, {**PACKAGE, "run.sh": b"", ".hidden": b""})
    (folder / "run.sh").chmod(0o750)
    (folder / "link").symlink_to("pkg")
    (folder / "empty").mkdir()
    outcome = fetched(folder, tmp_path / "tree")
    assert isinstance(outcome, Done), outcome
    assert read_tree(tmp_path / "tree") == {
        ".hidden": (0o644, b""),
        "README.md": (0o644, PACKAGE["README.md"]),
        "link": (0o120000, b"pkg"),
        "pkg/__init__.py": (0o644, PACKAGE["pkg/__init__.py"]),
        "run.sh": (0o755, b""),
    }
    assert outcome.value.name == "my-package"
    assert outcome.value.revision == outcome.value.tree


def test_what_does_not_belong_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write(folder, PACKAGE)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    write(
        folder,
        {
            ".hg/store": b"x",
            "node_modules/x/index.py": b"x",
            "pkg/__pycache__/x.pyc": b"x",
            ".tox/py/lib.py": b"x",
            "pkg.egg-info/PKG-INFO": b"x",
        },
    )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))
        outcome = fetched(folder, tmp_path / "tree")
    assert isinstance(outcome, Done), outcome
    assert sorted(read_tree(tmp_path / "tree")) == sorted(PACKAGE)
    assert "left out, neither file nor folder: socket" in outcome.value.notes


def test_what_git_ignores(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({**PACKAGE, ".gitignore": b"*.log\n/data/\n", "kept.log": b"tracked"})
    repo.git("tag", "v0.3")
    repo.write({"a.log": b"x", "data/x.py": b"x", "sub/b.log": b"x", "new.py": b"untracked"})
    repo.write({"pkg/__init__.py": b"ONE = 2\n"})
    outcome = fetched(repo.folder, tmp_path / "tree")
    assert isinstance(outcome, Done), outcome
    tree = read_tree(tmp_path / "tree")
    assert sorted(tree) == sorted([*PACKAGE, ".gitignore", "kept.log", "new.py"])
    assert tree["pkg/__init__.py"] == (0o644, b"ONE = 2\n")
    assert outcome.value.version == "0.3"


def test_a_folder_inside_a_repository(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    files = {f"inner/{path}": content for path, content in PACKAGE.items()}
    repo.commit({**files, ".gitignore": b"*.log\nignored/\n"})
    repo.write({"inner/a.log": b"x", **{f"ignored/{path}": content for path, content in PACKAGE.items()}})
    for name in ("inner", "ignored"):
        outcome = fetched(repo.folder / name, tmp_path / name)
        assert isinstance(outcome, Done), outcome
        assert sorted(read_tree(tmp_path / name)) == sorted(PACKAGE)


def test_nothing_of_the_folder_runs(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    repo = GitRepo(tmp_path / "repo")
    repo.commit(PACKAGE)
    monitor = tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch {mark}\n")
    monitor.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(monitor))
    repo.git("config", "filter.x.clean", str(monitor))
    assert isinstance(fetched(repo.folder, tmp_path / "tree"), Done)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"files": 1}, SkipReason.TOO_LARGE), ({"bytes": 9}, SkipReason.TOO_LARGE)],
)
def test_bounds(tmp_path: Path, limits: dict[str, int], reason: SkipReason) -> None:
    write(tmp_path / "folder", PACKAGE)
    outcome = fetched(tmp_path / "folder", tmp_path / "tree", **limits)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is reason


def test_clear_reasons(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    into = tmp_path / "tree"
    outcomes = [fetched(folder, into)]
    folder.mkdir()
    outcomes.append(fetched(folder, into))
    (folder / "README").write_text("x")
    outcomes.append(fetched(folder, into))
    (folder / "x.py").write_text("")
    (folder / "link").symlink_to("/etc/passwd")
    outcomes.append(fetched(folder, into))
    Path(os.fsdecode(os.fsencode(folder) + b"/n\xff")).write_text("")
    outcomes.append(fetched(folder, into))
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Skipped)] == [
        SkipReason.NO_SUCH_REPOSITORY,
        SkipReason.EMPTY_REPOSITORY,
        SkipReason.NO_PYTHON,
        SkipReason.UNSAFE_SYMLINK,
        SkipReason.NON_UTF8_NAME,
    ]
    assert not into.exists()
