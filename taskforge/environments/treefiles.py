"""The list of a tree's regular files."""

import os
from pathlib import Path

_SKIPPED = frozenset({".git", ".hg", ".svn", "__pycache__", ".tox", ".nox", ".venv", "node_modules"})


def list_files(tree: Path) -> tuple[str, ...]:
    """Return the relative paths of all regular files, sorted; links and caches are left out."""
    found: list[str] = []
    for folder, folders, names in os.walk(tree, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        base = os.path.relpath(folder, tree)
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                found.append(name if base == "." else f"{base.replace(os.sep, '/')}/{name}")
    return tuple(sorted(found))
