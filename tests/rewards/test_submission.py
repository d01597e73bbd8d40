"""Submissions: patches become trees byte for byte, and nothing reaches out of the tree."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings

from taskforge.domain.errors import UsageError
from taskforge.domain.patches import tree_patch
from taskforge.rewards.submission import (
    FolderSubmission,
    PatchSubmission,
    Rejected,
    Tree,
    patched,
    solution_tree,
)
from tests.domain.test_patches import OLD_TREES, OVERLAYS, laid_over

START: Tree = {
    "a.py": (0o644, b"one\ntwo\nthree\n"),
    "crlf.txt": (0o644, b"one\r\ntwo\r\n"),
    "run.sh": (0o755, b"echo\n"),
    ".gitattributes": (0o644, b"*.txt text eol=crlf\n*.py text eol=crlf ident filter=lfs\n"),
}


def changed(before: Tree, after: Tree | Rejected) -> dict[str, tuple[int, bytes] | None]:
    assert not isinstance(after, Rejected), after
    return {
        path: after.get(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    }


@settings(max_examples=30, deadline=None)
@given(before=OLD_TREES, after=OVERLAYS)
def test_a_patch_gives_the_tree_it_was_made_from(
    before: dict[str, bytes], after: dict[str, bytes | None]
) -> None:
    start = {path: (0o644, content) for path, content in before.items()}
    wanted = {path: (0o644, content) for path, content in laid_over(before, after).items()}
    assert patched(start, tree_patch(before, after).encode()) == wanted


@pytest.mark.parametrize("patch", [b"", b"\n \n"])
def test_an_empty_patch_changes_nothing(patch: bytes) -> None:
    assert patched(START, patch) == START


@pytest.mark.parametrize("path", ["a.py", "crlf.txt", ".gitattributes"])
def test_the_attributes_of_the_tree_convert_nothing(path: str) -> None:
    mode, content = START[path]
    patch = tree_patch({path: content}, {path: content + b"$Id$ last\n"})
    assert changed(START, patched(START, patch.encode())) == {path: (mode, content + b"$Id$ last\n")}


def test_modes_are_kept_and_can_be_set() -> None:
    patch = b"diff --git a/run.sh b/run.sh\n--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-echo\n+echo 2\n"
    assert changed(START, patched(START, patch)) == {"run.sh": (0o755, b"echo 2\n")}
    patch = b"diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n"
    assert changed(START, patched(START, patch)) == {"a.py": (0o755, START["a.py"][1])}


def test_a_plain_diff_without_git_headers_applies() -> None:
    patch = b"--- a/a.py\t2024-01-01\n+++ b/a.py\t2024-01-02\n@@ -1,3 +1,2 @@\n one\n-two\n three\n"
    assert changed(START, patched(START, patch)) == {"a.py": (0o644, b"one\nthree\n")}


def new_file(path: str, content: str = "x", mode: str = "100644") -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1 @@\n+{content}\n\\ No newline at end of file\n"
    ).encode()


@pytest.mark.parametrize(
    "patch",
    [
        b"not a patch\n",
        b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-absent\n+new\n",
        b"--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-absent\n+new\n",
        new_file("a.py"),
        new_file("../outside.py"),
        new_file("x/../../outside.py"),
        new_file("/tmp/outside.py"),
        new_file(".git/hooks/pre-commit"),
        new_file("sub/.git/config"),
        new_file("link", "/etc", "120000") + new_file("link/passwd"),
        new_file("link", "/etc/passwd", "120000"),
        new_file("deep/link", "../../etc", "120000"),
        new_file("deep/link", "../.git/config", "120000"),
        new_file("deep/up", "..", "120000") + new_file("link", "deep/up/../outside", "120000"),
        b"x" * (21 << 20),
        b"\xff\xfe\x00",
    ],
)
def test_what_does_not_apply_or_leaves_the_tree_is_rejected(patch: bytes) -> None:
    result = solution_tree(START, PatchSubmission(patch))
    assert isinstance(result, Rejected)
    assert "\n" not in result.reason
    assert result.reason
    assert not Path("/tmp/outside.py").exists()


def test_a_rejection_names_the_file() -> None:
    result = patched(START, b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-absent\n+new\n")
    assert isinstance(result, Rejected)
    assert "a.py" in result.reason


def test_a_link_inside_the_tree_is_fine() -> None:
    result = solution_tree(START, PatchSubmission(new_file("deep/link", "../a.py", "120000")))
    assert changed(START, result) == {"deep/link": (0o120000, b"../a.py")}


def test_users_git_settings_play_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text("[core]\n\tautocrlf = true\n[apply]\n\twhitespace = fix\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    patch = tree_patch({"a.py": START["a.py"][1]}, {"a.py": b"one \ntwo\nthree\n"})
    assert changed(START, patched(START, patch.encode())) == {"a.py": (0o644, b"one \ntwo\nthree\n")}


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_bytes(b"a = 1\r\n")
    (tmp_path / "run").write_bytes(b"")
    os.chmod(tmp_path / "run", 0o755)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert solution_tree(START, FolderSubmission(tmp_path)) == {
        "pkg/a.py": (0o644, b"a = 1\r\n"),
        "run": (0o755, b""),
    }


def test_an_absent_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        solution_tree(START, FolderSubmission(tmp_path / "none"))


def test_a_folder_with_a_link_that_leaves_it_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert isinstance(solution_tree(START, FolderSubmission(tmp_path)), Rejected)
