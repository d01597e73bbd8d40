"""A tree of files in memory, and its way from and to a folder.

A tree maps relative paths (`/` between the parts) to mode bits and content: 0o644, 0o755, or 0o120000 for a
symbolic link, whose content is its target. Version control data (`.git`) is never part of it.
"""

import os
import posixpath
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from taskforge.domain.errors import UsageError

Tree = Mapping[str, tuple[int, bytes]]

FILE = 0o644
EXECUTABLE = 0o755
LINK = 0o120000
_STEPS = 1000
"""Parts of a path that are followed, links included, before it counts as endless."""


def read_tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything below `folder` but `.git`, sorted by path.

    Raises UsageError for a name that is not UTF-8 and for what is neither file, folder nor link; OSError
    where something cannot be read.
    """
    found: dict[str, tuple[int, bytes]] = {}
    for path, entry in walk(os.fsencode(folder), b""):
        name = _decoded(path)
        if entry.is_symlink():
            found[name] = (LINK, os.readlink(entry.path))
        elif entry.is_file(follow_symlinks=False):
            executable = entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR
            with open(entry.path, "rb") as file:
                found[name] = (EXECUTABLE if executable else FILE, file.read())
        else:
            raise UsageError(f"{name} is neither a file, a folder nor a link; remove it")
    return dict(sorted(found.items()))


def walk(folder: bytes, prefix: bytes) -> "Iterator[tuple[bytes, os.DirEntry[bytes]]]":
    """Yield relative path and entry of all that lies below and is not a folder; `.git` is left out."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name == b".git":
                continue
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from walk(entry.path, path + b"/")
            else:
                yield path, entry


def write_tree(files: Tree, folder: Path) -> None:
    """Write a tree into `folder`, which is made where absent; other files there stay.

    Raises UsageError, before anything is written, for a path that leaves the folder or enters `.git`, for one
    that needs another entry to be a folder, and for an unknown mode; for a link in `folder` that stands in
    the way of a path; OSError where the folder cannot be written.
    """
    for path, (mode, _) in files.items():
        _check(path, mode, files)
    folder.mkdir(parents=True, exist_ok=True)
    made: set[Path] = {folder}
    for path, (mode, content) in sorted(files.items()):
        place = folder / path
        _make_parents(place.parent, made)
        if place.is_symlink() or place.is_file():
            place.unlink()
        if mode == LINK:
            os.symlink(content, os.fsencode(place))
        else:
            place.write_bytes(content)
            place.chmod(mode)


def unsafe_path(path: str) -> bool:
    """Tell whether a path leaves its tree, enters version control data, or is not in its shortest form."""
    parts = path.split("/")
    return "\0" in path or any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)


def leaving_links(files: Tree) -> tuple[str, ...]:
    """Return the links that lead out of the tree or into `.git`, directly or over other links, sorted."""
    links = {path: content for path, (mode, content) in files.items() if mode == LINK}
    return tuple(path for path in sorted(links) if _leaves(path, links))


def _leaves(path: str, links: Mapping[str, bytes]) -> bool:
    place: list[str] = []
    todo = path.split("/")[::-1]
    for _ in range(_STEPS):
        if not todo:
            return False
        part = todo.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not place:
                return True
            place.pop()
            continue
        if part.lower() == ".git" and not place:
            return True
        target = links.get("/".join([*place, part]))
        if target is None:
            place.append(part)
        elif target.startswith(b"/"):
            return True
        else:
            todo += os.fsdecode(target).split("/")[::-1]
    return False  # links in a circle lead nowhere


def _check(path: str, mode: int, files: Tree) -> None:
    if unsafe_path(path):
        raise UsageError(f"the path {path!r} leaves the tree")
    if mode not in {FILE, EXECUTABLE, LINK}:
        raise UsageError(f"{path} has the mode {mode:o}; only 644, 755 and 120000 (link) are known")
    parent = posixpath.dirname(path)
    while parent:
        if parent in files:
            raise UsageError(f"{path} lies below {parent}, which is no folder")
        parent = posixpath.dirname(parent)


def _make_parents(folder: Path, made: set[Path]) -> None:
    if folder in made:
        return
    _make_parents(folder.parent, made)
    if folder.is_symlink():
        raise UsageError(f"{folder} is a link; a path must not lead through it")
    folder.mkdir(exist_ok=True)
    made.add(folder)


def _decoded(path: bytes) -> str:
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"the name {path!r} is not UTF-8; rename it") from error
