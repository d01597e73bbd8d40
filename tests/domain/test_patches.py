"""Patches are judged by git itself: what `git apply` makes of them must be the other tree, byte for byte."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskforge.domain.patches import file_patch, inverse_patch, overlay_patch, patched_paths, tree_patch

LINES = st.sampled_from(
    ["def f():\n", "    return 1\n", "\n", "\n", "x = 1\r\n", "\x0c\n", "a\rb\n", "@property\n", "é\u2028\n"]
)
TEXTS = st.builds(
    lambda lines, end: ("".join(lines) + end).encode(),
    st.lists(LINES, max_size=40),
    st.sampled_from(["", "x", "\r"]),
)
CONTENTS = st.one_of(TEXTS, TEXTS, st.binary(max_size=200))
NAMES = st.sampled_from(
    ["a.py", "pkg/b.py", "with space.txt", 'quo"te.py', "tab\tx", "ü/c.py", "back\\slash"]
)
OLD_TREES = st.dictionaries(NAMES, CONTENTS, max_size=4)
OVERLAYS = st.dictionaries(NAMES, st.none() | CONTENTS, max_size=4)


def git_apply(files: dict[str, bytes], patch: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(command, cwd=folder, input=patch.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode() + patch
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def laid_over(files: dict[str, bytes], overlay: dict[str, bytes | None]) -> dict[str, bytes]:
    return {path: content for path, content in {**files, **overlay}.items() if content is not None}


@settings(max_examples=150, deadline=None)
@given(before=OLD_TREES, after=OVERLAYS)
def test_git_apply_gives_the_other_tree_and_back(
    before: dict[str, bytes], after: dict[str, bytes | None]
) -> None:
    patch = tree_patch(before, after)
    wanted = laid_over(before, after)
    assert patched_paths(patch) == tuple(
        path for path in sorted(after) if before.get(path) != wanted.get(path)
    )
    if not patch:
        assert wanted == before
        return
    made = git_apply(before, patch)
    assert made == wanted
    assert git_apply(made, inverse_patch(before, after)) == before


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=60), data=st.data())
def test_one_deleted_block_is_one_block_of_minus_lines(lines: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    patch = overlay_patch({"m.py": "".join(lines).encode()}, {"m.py": "".join(lines[:start] + lines[end:])})
    changed = [line for line in patch.split("\n")[4:] if line[:1] in {"+", "-"}]
    assert all(line.startswith("-") for line in changed)
    assert len(changed) == end - start


def test_a_deleted_function_starts_at_its_own_decorator() -> None:
    part = "@property\ndef a(self):\n    return 1\n\n\n"
    old = part + part.replace("def a", "def b").replace("1", "2") + "@property\ndef c(self):\n    pass\n"
    new = old.replace("@property\ndef b(self):\n    return 2\n\n\n", "")
    removed = [
        line
        for line in tree_patch({"m.py": old.encode()}, {"m.py": new.encode()}).splitlines()[4:]
        if line[0] == "-"
    ]
    assert removed == ["-@property", "-def b(self):", "-    return 2", "-", "-"]


def test_it_looks_like_git_diff(tmp_path: Path) -> None:
    before = {
        "gone.txt": b"x\ny\n",
        "kept.py": b"def x():\n\n\n\n\n    1\n2\n3\n4\n5\n",
        "mode.sh": b"1",
    }
    after: dict[str, bytes | None] = {
        "gone.txt": None,
        "kept.py": b"def x():\n\n\n\n\n    1\n2\n3\nfour\n5\n",
        "new": b"",
        "mode.sh": b"2",
    }
    for side, files in (("a", before), ("b", laid_over(before, after))):
        for path, content in files.items():
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / path).write_bytes(content)
            (tmp_path / side / path).chmod(0o755 if path == "mode.sh" else 0o644)
    command = ["git", "diff", "--no-index", "--no-prefix", "--abbrev=10", "a", "b"]
    theirs = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).stdout.decode()
    ours = tree_patch(before, after, {"mode.sh": 0o755})
    assert ours.replace("diff --git a/new b/new", "diff --git b/new b/new").splitlines() == [
        line.replace("diff --git a/gone.txt a/gone.txt", "diff --git a/gone.txt b/gone.txt")
        for line in theirs.splitlines()
    ]


def test_nothing_changed_is_the_empty_patch() -> None:
    assert tree_patch({"a": b"1"}, {"a": b"1", "absent": None}) == ""


def test_a_file_absent_on_both_sides_has_no_patch() -> None:
    with pytest.raises(ValueError, match="nothing on either side"):
        file_patch("a", None, None)
