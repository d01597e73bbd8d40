"""What a tree's own files say of the project without running anything: its version."""

import ast
import configparser
import tomllib
from email.parser import HeaderParser
from functools import lru_cache
from typing import Any

from packaging.version import InvalidVersion, Version

from taskforge.sources.tree import LINK, Tree


def read_text(files: Tree, path: str) -> str:
    """Return a file as text; empty where it is absent, a link, or no UTF-8."""
    mode, content = files.get(path, (LINK, b""))
    try:
        return "" if mode == LINK else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def pyproject(files: Tree) -> dict[str, Any]:
    """Return pyproject.toml as a table; empty where it is absent or broken."""
    try:
        return tomllib.loads(read_text(files, "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return {}


def project_table(files: Tree) -> dict[str, Any]:
    """Return what pyproject.toml says of the project: [project], else [tool.poetry]."""
    table = pyproject(files)
    tool = table.get("tool")
    for found in (table.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(found, dict) and found.get("name"):
            return found
    return {}


def setup_cfg(files: Tree) -> dict[str, str]:
    """Return [metadata] of setup.cfg; empty where it is absent or broken."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_text(files, "setup.cfg"))
    except configparser.Error:
        return {}
    return dict(parser.items("metadata")) if parser.has_section("metadata") else {}


def setup_arguments(files: Tree) -> dict[str, Any]:
    """Return those arguments of the call of setup() in setup.py that are literals. Nothing is run."""
    return dict(_literal_arguments(read_text(files, "setup.py")))


@lru_cache(maxsize=4)
def _literal_arguments(text: str) -> tuple[tuple[str, Any], ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "setup":
            for keyword in node.keywords:
                try:
                    found[keyword.arg or ""] = ast.literal_eval(keyword.value)
                except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    continue
    return tuple(found.items())


def core_metadata(files: Tree) -> dict[str, list[str]]:
    """Return the headers of PKG-INFO, lower-case names to all values; empty where it is absent."""
    message = HeaderParser().parsestr(read_text(files, "PKG-INFO"))
    found: dict[str, list[str]] = {}
    for name, value in message.items():
        found.setdefault(name.lower(), []).append(str(value))
    return found


def static_version(files: Tree) -> str:
    """Return the version that the project's files state as a literal; empty where it is worked out."""
    for stated in (
        project_table(files).get("version"),
        setup_cfg(files).get("version"),
        setup_arguments(files).get("version"),
    ):
        try:
            if isinstance(stated, str):
                return str(Version(stated))
        except InvalidVersion:
            continue
    return ""
