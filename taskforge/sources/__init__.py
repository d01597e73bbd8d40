"""Where repositories come from: git, PyPI sdists and folders become snapshots with a clean tree."""

from taskforge.sources.fetching import fetch
from taskforge.sources.licensepolicy import allowed, check_allow_list
from taskforge.sources.sourcesfile import load_sources_file
from taskforge.sources.spec import parse_source
from taskforge.sources.tree import read_tree, write_tree

__all__ = [
    "allowed",
    "check_allow_list",
    "fetch",
    "load_sources_file",
    "parse_source",
    "read_tree",
    "write_tree",
]
