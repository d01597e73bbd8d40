"""What was fetched, before it is cleaned, judged and written."""

from dataclasses import dataclass

from taskforge.sources.tree import Tree


@dataclass(frozen=True, slots=True)
class Raw:
    """The files of a source, and what only the place they came from knows."""

    files: Tree
    revision: str
    """Commit hash or sdist version; empty for a folder, whose tree is its revision."""
    version: str = ""
    notes: tuple[str, ...] = ()
