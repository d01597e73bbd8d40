"""Which global names a piece of a module reads. Pieces are cached by their text, since most of a file is the
same in all variants of it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taskforge.languages.python.modules import Module, defined_name
from taskforge.languages.python.scopes import global_uses

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reads:
    """Names read by a piece of code."""

    names: frozenset[str]
    """Global names in code and quoted annotations."""
    asked: frozenset[str]
    """Parameters, and identifiers in short strings: how tests ask for fixtures."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level statement, a method, or what a class has besides its methods."""

    name: str
    """Qualified name of what it defines, empty for other statements."""
    node: ast.stmt
    reads: Reads


def pieces(module: Module) -> Iterator[Piece]:
    """Yield the pieces of a module in order; a class comes before its methods."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            yield Piece(node.name, node, _class_reads(_segment(module, node)))
            for member in node.body:
                if isinstance(member, FUNCTION):
                    yield Piece(f"{node.name}.{member.name}", member, _reads(_segment(module, member)))
        else:
            yield Piece(defined_name(node), node, _reads(_segment(module, node)))


def exported(module: Module) -> set[str]:
    """Names in the module's `__all__` and in what is added to it."""
    names: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            text = ast.unparse(node)
            if text.startswith("__all__"):
                names.update(
                    c.value
                    for c in ast.walk(node)
                    if isinstance(c, ast.Constant) and isinstance(c.value, str)
                )
    return names


def _segment(module: Module, node: ast.stmt) -> str:
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(module.lines[start - 1 : node.end_lineno])


@lru_cache(maxsize=1 << 15)
def _reads(segment: str) -> Reads:
    return _reads_of(_parse(segment))


@lru_cache(maxsize=1 << 12)
def _class_reads(segment: str) -> Reads:
    tree = _parse(segment)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            node.body = [n for n in node.body if not isinstance(n, FUNCTION)] or [ast.Pass()]
    return _reads_of(tree)


def _parse(segment: str) -> ast.Module:
    try:
        return ast.parse(f"if 1:\n{segment}" if segment[:1].isspace() else segment)
    except SyntaxError:  # several statements on the line, of which this is not the first
        return ast.parse("")


def _reads_of(tree: ast.Module) -> Reads:
    names = frozenset(use.root for use in global_uses(tree))
    asked: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            asked.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
            asked.update(word for word in node.value.replace(",", " ").split() if word.isidentifier())
    return Reads(names, frozenset(asked))
