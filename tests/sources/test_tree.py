"""Trees come back from a folder as they were written, and never reach out of it."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskforge.domain.errors import UsageError
from taskforge.sources import read_tree, write_tree
from taskforge.sources.tree import leaving_links

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda name: name not in {".", ".."} and name.lower() != ".git" and len(name.encode()) < 200)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
ENTRIES = st.tuples(st.sampled_from([0o644, 0o755]), st.binary(max_size=50)) | st.tuples(
    st.just(0o120000), st.binary(min_size=1, max_size=20).filter(lambda b: b"\0" not in b)
)


def without_conflicts(files: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """Drop what lies below a path that is no folder."""
    return {
        path: entry
        for path, entry in files.items()
        if not any(path.startswith(other + "/") for other in files)
    }


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(PATHS, ENTRIES, max_size=6).map(without_conflicts))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[int, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    write_tree(files, folder)
    assert read_tree(folder) == files
    assert list(read_tree(folder)) == sorted(files)


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_tree({"a": (0o644, b""), "b": (0o755, b"")}, tmp_path)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"] == [0o644, 0o755]


@pytest.mark.parametrize(
    "files",
    [
        {"../x": (0o644, b"")},
        {"a/../../x": (0o644, b"")},
        {"/tmp/x": (0o644, b"")},
        {"a//x": (0o644, b"")},
        {"./x": (0o644, b"")},
        {"": (0o644, b"")},
        {"x\0y": (0o644, b"")},
        {".git/config": (0o644, b"")},
        {"sub/.GIT/config": (0o644, b"")},
        {"a": (0o120000, b"/tmp"), "a/x": (0o644, b"")},
        {"a": (0o644, b""), "a/x": (0o644, b"")},
        {"a": (0o777, b"")},
    ],
)
def test_nothing_is_written_where_a_path_cannot_be(
    tmp_path: Path, files: dict[str, tuple[int, bytes]]
) -> None:
    folder = tmp_path / "tree"
    with pytest.raises(UsageError):
        write_tree({"good": (0o644, b""), **files}, folder)
    assert not folder.exists()


def test_a_link_that_lies_there_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "sub").symlink_to(outside)
    (folder / "file").symlink_to(outside / "file")
    with pytest.raises(UsageError, match="is a link"):
        write_tree({"sub/file": (0o644, b"new")}, folder)
    write_tree({"file": (0o644, b"new")}, folder)
    assert (outside / "file").read_text() == "kept"
    assert read_tree(folder)["file"] == (0o644, b"new")


def test_version_control_data_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ..")
    (tmp_path / "sub" / "a").write_text("x")
    assert list(read_tree(tmp_path)) == ["sub/a"]


def test_odd_things_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe"):
        read_tree(tmp_path)


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_tree(tmp_path)


@pytest.mark.parametrize(
    ("links", "leaving"),
    [
        ({"a": "b"}, []),
        ({"sub/a": "../b", "b": "sub/a"}, []),
        ({"a": "/etc"}, ["a"]),
        ({"a": "../x"}, ["a"]),
        ({"sub/a": "../../x"}, ["sub/a"]),
        ({"a": "sub/deep", "b": "a/../../x"}, []),
        ({"up": "sub", "sub/far": "..", "b": "up/far/../x"}, ["b"]),
        ({"a": ".git/config"}, ["a"]),
        ({"a": "sub/./..//..", "c": "a"}, ["a", "c"]),
    ],
)
def test_links_that_leave_are_found(links: dict[str, str], leaving: list[str]) -> None:
    files = {path: (0o120000, target.encode()) for path, target in links.items()}
    assert list(leaving_links(files)) == leaving
