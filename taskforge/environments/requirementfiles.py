"""requirements.txt files: includes, continuation lines, comments and pip options."""

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

from taskforge.environments.declared import purpose
from taskforge.environments.projectfiles import read_text

_MOST_INCLUDES = 20


def requirement_lines(tree: Path, name: str, seen: set[str] | None = None) -> list[str]:
    """Return the requirement lines of a file and of those it includes with -r. Missing files are empty."""
    seen = set() if seen is None else seen
    name = posixpath.normpath(name)
    if name in seen or name.startswith("..") or len(seen) > _MOST_INCLUDES:
        return []
    seen.add(name)
    text = read_text(tree, name)
    if text is None:
        return []
    lines: list[str] = []
    for raw in re.sub(r"\\\n", " ", text).splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        line = re.sub(r"\s--hash[ =]\S+", "", line).strip()
        included = re.match(r"^(?:-r|--requirement)[ =]?\s*(\S+)$", line)
        if included:
            lines += requirement_lines(tree, posixpath.join(posixpath.dirname(name), included[1]), seen)
        elif line and (not line.startswith("-") or re.match(r"^(-e|--editable)\b", line)):
            lines.append(line)
    return lines


def test_requirement_files(tree_files: Sequence[str]) -> list[tuple[int, str]]:
    """Return (rank, path) of the files that list what tests need: 0 by a test name, 1 dev, 2 plain."""
    found: list[tuple[int, str]] = []
    for path in tree_files:
        rank = _rank(path)
        if rank is not None:
            found.append((rank, path))
    return sorted(found)


def _rank(path: str) -> int | None:
    parts = path.lower().split("/")
    if len(parts) > 3 or not parts[-1].endswith((".txt", ".in", ".pip")):
        return None
    stem = parts[-1].rsplit(".", 1)[0]
    folder = parts[-2] if len(parts) > 1 else ""
    if parts[-1].endswith(".in") and not re.match(r"^.*(test|dev|require)", stem):
        return None
    name = re.sub(r"^(requirements?|reqs?|pip)[-_.]?|[-_.]?(requirements?|reqs?|deps)$", "", stem)
    if "requirements" in folder or folder in {"reqs", "requires", "deps"}:
        if folder.startswith(("test", "dev")) and not name:
            return purpose(re.split(r"[-_.]", folder)[0])
        return purpose(name)
    if re.match(r"^(requirements?|reqs?)$", stem):
        return 0 if folder in {"test", "tests"} else (2 if not folder else None)
    if name != stem and folder in {"", "test", "tests", "ci", ".ci", "tools", "dev", "etc"}:
        return purpose(name)
    return None
