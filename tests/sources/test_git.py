"""Git repositories become snapshots: the right commit, byte for byte, and nothing of theirs runs."""

import os
import shutil
import socket
import time
from pathlib import Path

import pytest

from taskforge.domain.errors import Boundary, UsageError
from taskforge.domain.ids import tree_digest
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.source import Snapshot
from taskforge.settings import FetchSettings
from taskforge.sources import fetch, parse_source, read_tree
from taskforge.sources.gitcommand import Ran
from taskforge.sources.gitremote import trouble
from tests.sources.gitrepos import PACKAGE, GitRepo

MIT = (
    b"Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal "
    b"in the Software without restriction, including without limitation the rights to use, copy, modify, "
    b"merge, publish. The above copyright notice and this permission notice shall be included.\n"
)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "My_Repo.git")


def fetched(spec: str, into: Path, **limits: object) -> Outcome[Snapshot]:
    return fetch(parse_source(spec), into=into, limits=FetchSettings.model_validate(limits))


def done(spec: str, into: Path, **limits: object) -> Snapshot:
    outcome = fetched(spec, into, **limits)
    assert isinstance(outcome, Done), outcome
    return outcome.value


def skipped(spec: str, into: Path, **limits: object) -> Skipped:
    outcome = fetched(spec, into, **limits)
    assert isinstance(outcome, Skipped), outcome
    assert "\n" not in outcome.detail
    assert not into.exists()
    return outcome


def test_a_snapshot_says_what_was_fetched(repo: GitRepo, tmp_path: Path) -> None:
    commit = repo.commit({**PACKAGE, "LICENSE": MIT, "run.sh": b"echo\n"})
    (repo.folder / "run.sh").chmod(0o755)
    (repo.folder / "link").symlink_to("pkg/__init__.py")
    commit = repo.commit({})
    snapshot = done(repo.url, tmp_path / "tree")
    tree = read_tree(tmp_path / "tree")
    assert tree == {
        "LICENSE": (0o644, MIT),
        "README.md": (0o644, PACKAGE["README.md"]),
        "link": (0o120000, b"pkg/__init__.py"),
        "pkg/__init__.py": (0o644, PACKAGE["pkg/__init__.py"]),
        "run.sh": (0o755, b"echo\n"),
    }
    assert (snapshot.name, snapshot.revision) == ("my-repo", commit)
    assert snapshot.tree == tree_digest(tree)
    assert snapshot.files == 5
    assert snapshot.bytes == sum(len(content) for _, content in tree.values())
    assert snapshot.license.expression == "MIT"
    assert "LICENSE" in snapshot.license.evidence


def test_a_revision_is_a_branch_a_tag_or_a_hash(repo: GitRepo, tmp_path: Path) -> None:
    hashes = {n: repo.commit({**PACKAGE, "n.py": f"N = {n}\n".encode()}, str(n)) for n in range(3)}
    repo.git("tag", "v1", hashes[0])
    repo.git("tag", "-a", "-m", "x", "v2", hashes[1])
    repo.git("branch", "feature/one", hashes[1])
    repo.git("branch", "v1", hashes[2])
    revisions = {
        "": 2,
        "@main": 2,
        "@v1": 0,  # a tag comes before a branch, as in git
        "@v2": 1,
        "@feature/one": 1,
        "@refs/heads/v1": 2,
        f"@{hashes[0]}": 0,
        f"@{hashes[1][:9]}": 1,
    }
    for number, (revision, n) in enumerate(revisions.items()):
        snapshot = done(repo.url + revision, tmp_path / str(number))
        assert snapshot.revision == hashes[n], revision
        assert (tmp_path / str(number) / "n.py").read_text() == f"N = {n}\n"


def test_an_unnamed_commit_is_found_by_its_hash(repo: GitRepo, tmp_path: Path) -> None:
    hashes = [repo.commit({**PACKAGE, "n.py": str(n).encode()}, str(n)) for n in range(3)]
    assert done(f"{repo.url}@{hashes[1]}", tmp_path / "full").revision == hashes[1]
    assert done(f"{repo.url}@{hashes[1][:10]}", tmp_path / "short").revision == hashes[1]
    assert skipped(f"{repo.url}@{'0' * 40}", tmp_path / "none").reason is SkipReason.NO_SUCH_REVISION


@pytest.mark.parametrize("revision", ["v9", "abcdef12", "0" * 40, "main2"])
def test_an_absent_revision_is_named(repo: GitRepo, tmp_path: Path, revision: str) -> None:
    repo.commit(PACKAGE)
    repo.git("tag", "v1")
    outcome = skipped(f"{repo.url}@{revision}", tmp_path / "tree")
    assert outcome.reason is SkipReason.NO_SUCH_REVISION
    assert revision in outcome.detail
    if revision == "main2":
        assert "it has main" in outcome.detail


def test_bare_repositories_and_folders(repo: GitRepo, tmp_path: Path) -> None:
    commit = repo.commit(PACKAGE)
    bare = tmp_path / "bare"
    repo.git("clone", "-q", "--bare", ".", str(bare))
    assert done(str(bare), tmp_path / "a").revision == commit
    assert done(f"{bare}@main", tmp_path / "b").revision == commit
    assert done(f"{repo.folder}@main", tmp_path / "c").revision == commit


def test_a_head_that_names_no_branch(repo: GitRepo, tmp_path: Path) -> None:
    commit = repo.commit(PACKAGE)
    repo.git("branch", "other")
    bare = tmp_path / "bare"
    repo.git("clone", "-q", "--bare", ".", str(bare))
    (bare / "HEAD").write_text("ref: refs/heads/absent\n")
    assert done(str(bare), tmp_path / "a").revision == commit
    repo.git("branch", "-m", "main", "third")
    shutil.rmtree(bare)
    repo.git("clone", "-q", "--bare", ".", str(bare))
    (bare / "HEAD").write_text("ref: refs/heads/absent\n")
    outcome = skipped(str(bare), tmp_path / "b")
    assert outcome.reason is SkipReason.NO_SUCH_REVISION
    assert "other, third" in outcome.detail


def test_no_repository_no_commit_no_files_no_python(tmp_path: Path) -> None:
    assert skipped(f"file://{tmp_path}/none", tmp_path / "a").reason is SkipReason.NO_SUCH_REPOSITORY
    repo = GitRepo(tmp_path / "repo")
    assert skipped(repo.url, tmp_path / "b").reason is SkipReason.EMPTY_REPOSITORY
    repo.commit({})
    assert skipped(repo.url, tmp_path / "c").reason is SkipReason.EMPTY_REPOSITORY
    repo.commit({"README": b"x"})
    assert skipped(repo.url, tmp_path / "d").reason is SkipReason.NO_PYTHON


def test_no_answer_says_nothing_of_the_repository(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    outcome = fetched(f"https://127.0.0.1:{port}/a/b", tmp_path / "tree")
    assert isinstance(outcome, Failed), outcome
    assert outcome.boundary is Boundary.NETWORK


def test_a_silent_host_is_left_in_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        started = time.monotonic()
        outcome = fetched(f"https://127.0.0.1:{server.getsockname()[1]}/a/b", tmp_path / "tree", wall_s=1.0)
        assert time.monotonic() - started < 20
    assert isinstance(outcome, Failed), outcome
    assert "fetch.wall_s" in outcome.evidence


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("fatal: repository 'URL/' not found", SkipReason.NO_SUCH_REPOSITORY),
        ("fatal: could not read Username for 'https://x.org'", SkipReason.NO_SUCH_REPOSITORY),
        ("fatal: unable to access 'URL/': Could not resolve host: x.org", Boundary.NETWORK),
        ("fatal: unable to access 'URL/': The requested URL returned error: 503", Boundary.NETWORK),
        ("git@x.org: Permission denied (publickey).\nfatal: Could not read from remote", Boundary.NETWORK),
        ("fatal: something else", Boundary.SOURCE),
    ],
)
def test_complaints_of_git_are_told_apart(stderr: str, reason: SkipReason | Boundary) -> None:
    url = "https://x.org/openssl-proxy"
    outcome = trouble(Ran(128, b"", stderr.replace("URL", url)), url)
    assert (outcome.reason if isinstance(outcome, Skipped) else outcome.boundary) == reason


def test_attributes_hooks_and_filters_play_no_part(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    files = {
        **PACKAGE,
        ".gitattributes": b"* text eol=crlf ident filter=evil\nREADME.md export-ignore\n",
        "crlf.txt": b"$Id$\r\n\n",
    }
    repo.commit({})
    for path, content in files.items():
        repo.commit_entry("100644", path, content)
    template = tmp_path / "template"
    for hooks in (repo.folder / ".git" / "hooks", template / "hooks", tmp_path / "hooks"):
        hooks.mkdir(parents=True, exist_ok=True)
        for name in (
            "post-checkout",
            "post-merge",
            "pre-auto-gc",
            "reference-transaction",
            "post-index-change",
        ):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
            (hooks / name).chmod(0o755)
    config = tmp_path / "config"
    config.write_text(
        f"[init]\n\ttemplateDir = {template}\n[core]\n\thooksPath = {tmp_path}/hooks\n\tautocrlf = true\n"
        f"\tfsmonitor = touch {mark}\n[filter \"evil\"]\n\tsmudge = touch {mark}\n\trequired = true\n"
    )  # fmt: skip
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    done(repo.url, tmp_path / "tree")
    assert read_tree(tmp_path / "tree") == {path: (0o644, content) for path, content in files.items()}
    assert not mark.exists()


def test_submodules_are_fetched_only_when_asked(repo: GitRepo, tmp_path: Path) -> None:
    inner = GitRepo(tmp_path / "inner")
    inner.commit({"i.py": b"I = 1\n"})
    pinned = inner.git("rev-parse", "HEAD")
    inner.commit({"i.py": b"I = 2\n"})
    repo.write({**PACKAGE, ".gitmodules": b'[submodule "i"]\n\tpath = ext/i\n\turl = ../inner\n'})
    repo.git("add", ".")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{pinned},ext/i")
    repo.git("commit", "-q", "-m", "x")
    plain = done(repo.url, tmp_path / "a")
    assert "submodules not fetched: ext/i" in plain.notes
    assert "ext/i/i.py" not in read_tree(tmp_path / "a")
    done(repo.url, tmp_path / "b", submodules=True)
    assert read_tree(tmp_path / "b")["ext/i/i.py"] == (0o644, b"I = 1\n")


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "pkg/../../x", ".git/config", "up/.."])
def test_links_that_leave_the_tree(repo: GitRepo, tmp_path: Path, target: str) -> None:
    repo.commit(PACKAGE)
    repo.commit_entry("120000", "pkg/inside", b"../README.md")
    repo.commit_entry("120000", "up", b"pkg/..")
    assert isinstance(fetched(repo.url, tmp_path / "inside"), Done)
    repo.commit_entry("120000", "link", target.encode())
    outcome = skipped(repo.url, tmp_path / "tree")
    assert outcome.reason is SkipReason.UNSAFE_SYMLINK
    assert "leave the tree: link" in outcome.detail


def test_names_that_are_not_utf8(repo: GitRepo, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(repo.folder) + b"/n\xff.py")).write_text("")
    repo.commit(PACKAGE)
    outcome = skipped(repo.url, tmp_path / "tree")
    assert outcome.reason is SkipReason.NON_UTF8_NAME
    assert "n\\xff.py" in outcome.detail


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 12\n"


def test_lfs_pointers(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({**PACKAGE, "data/big.bin": POINTER})
    assert any("data/big.bin" in note for note in done(repo.url, tmp_path / "a").notes)
    repo.commit({"pkg/code.py": POINTER})
    outcome = skipped(repo.url, tmp_path / "b")
    assert outcome.reason is SkipReason.LFS_POINTER
    assert "pkg/code.py" in outcome.detail


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_lfs_files_are_fetched_when_asked(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("lfs", "install", "--local")
    repo.write({".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    repo.commit({**PACKAGE, "data/big.bin": b"large" * 100})
    assert b"git-lfs" in repo.git("cat-file", "blob", "HEAD:data/big.bin").encode()
    done(repo.url, tmp_path / "a", lfs=True)
    assert read_tree(tmp_path / "a")["data/big.bin"] == (0o644, b"large" * 100)


def test_bounds(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({**PACKAGE, "a.txt": b"0" * 100_000})
    for number, limits in enumerate([{"files": 2}, {"bytes": 99_999}, {"bytes": 10}]):
        outcome = skipped(repo.url, tmp_path / str(number), **limits)
        assert outcome.reason is SkipReason.TOO_LARGE
        assert "fetch." in outcome.detail
    repo.commit({"noise": os.urandom(3_000_000)})
    assert skipped(repo.url, tmp_path / "big", bytes=500_000).reason is SkipReason.TOO_LARGE


def test_the_version_is_that_of_the_nearest_tag(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit(PACKAGE)
    assert done(repo.url, tmp_path / "none").version == ""
    repo.git("tag", "v1.2.0")
    assert done(repo.url, tmp_path / "exact").version == "1.2.0"
    repo.commit({"a.py": b""})
    repo.git("tag", "nightly")
    assert done(repo.url, tmp_path / "after").version == "1.2.0"
    repo.commit({"pyproject.toml": b'[project]\nname = "pkg"\nversion = "1.3.0.dev0"\n'})
    assert done(repo.url, tmp_path / "stated").version == "1.3.0.dev0"


def test_only_one_commit_is_transferred(repo: GitRepo, tmp_path: Path) -> None:
    """A history larger than the bounds is no obstacle."""
    repo.commit({**PACKAGE, "noise": os.urandom(3_000_000)})
    (repo.folder / "noise").unlink()
    repo.commit({"a.py": b""})
    assert done(repo.url, tmp_path / "tree", bytes=500_000).files == 3


def test_the_same_commit_gives_the_same_snapshot(repo: GitRepo, tmp_path: Path) -> None:
    commit = repo.commit(PACKAGE)
    first, second = done(repo.url, tmp_path / "a"), done(f"{repo.url}@{commit}", tmp_path / "b")
    assert first.id == second.id


def test_a_folder_that_holds_something_is_not_written(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit(PACKAGE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(UsageError, match="not empty"):
        fetched(repo.url, tmp_path / "full")
