"""Modules stay small, are named by what they hold, and do not print."""

import ast
import warnings
from pathlib import Path

import pytest

from tests.architecture.code import ROOT, sources

TOO_LONG = 500
LONG = 300
VAGUE = {"base", "common", "constants", "helpers", "misc", "util", "utils"}

MODULES = [pytest.param(path, id=str(path.relative_to(ROOT))) for path in sources()]


def test_sizes() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert {path: count for path, count in lines.items() if count > TOO_LONG} == {}
    long = {path: count for path, count in lines.items() if count > LONG}
    if long:
        warnings.warn(f"modules over {LONG} lines, look again: {long}", stacklevel=1)


@pytest.mark.parametrize("path", MODULES)
def test_a_module(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.isascii(), "code is written in ASCII"
    assert path.stem not in VAGUE, "name a module by what it holds"
    tree = ast.parse(text)
    if text.strip():
        assert ast.get_docstring(tree), "a module says what it is"
    prints = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert prints == [], "commands print by typer and rich, everything else returns what it has to say"


def test_docker_holds_no_package() -> None:
    """A folder of that name on the path would hide the Docker SDK."""
    assert list((ROOT / "docker").rglob("*.py")) == []
