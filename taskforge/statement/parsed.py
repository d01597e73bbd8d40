"""Parsed files, kept for a while: the candidates of a repository change the same few files again and again.

All functions are pure; the caches hold what was asked last.
"""

import ast
import io
import re
import tokenize
from functools import lru_cache

from taskforge.languages.python.index import Index
from taskforge.languages.python.modules import Module, load_modules

KEPT = 48
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
IGNORED = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


@lru_cache(KEPT)
def tree(text: str) -> ast.Module | None:
    """Return the syntax tree of a file, None where it does not parse. It must not be changed."""
    try:
        return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError):
        return None


@lru_cache(KEPT)
def index(path: str, content: bytes, roots: tuple[str, ...]) -> Index:
    """Return the index of a single file; empty where it is no Python or does not parse."""
    return Index(load_modules({path: content}, import_roots=roots, package_paths=(path,)))


def module(path: str, content: bytes, roots: tuple[str, ...]) -> Module | None:
    """Return a single parsed file."""
    return index(path, content, roots).modules.get(path)


@lru_cache(KEPT)
def words(content: bytes) -> frozenset[bytes]:
    """Return all identifiers in a file, in code or text."""
    return frozenset(WORD.findall(content))


@lru_cache(KEPT)
def literals(text: str) -> tuple[str, ...]:
    """Return the string literals of a file, in order, but for docstrings; parts of f-strings included."""
    parsed = tree(text)
    if parsed is None:
        return ()
    documentation = set()
    found = []
    for node in ast.walk(parsed):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.body and isinstance(node.body[0], ast.Expr):
                documentation.add(id(node.body[0].value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            found.append(node.value)
    return tuple(found)


@lru_cache(KEPT)
def tokens(text: str) -> tuple[tuple[int, str], ...]:
    """Return (line, token) of a file without comments and white space; empty where it does not parse."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError):
        return ()
    return tuple((token.start[0], token.string) for token in found if token.type not in IGNORED)
