"""Drops what a removal leaves unused: imports at any level, local variables, names of caught exceptions.

ruff says what is unused, so that the answer is the one a reader of its report would get. What was unused
before stays, as do names that a doctest needs.
"""

import ast
import json
import re
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from taskforge.domain.errors import TaskforgeError
from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.modules import Module
from taskforge.languages.python.surgery.operation import MARK, apply_edits
from taskforge.languages.python.surgery.source import Splice, end_of, source_of, spliced

ROUNDS = 10
DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.)(.*)$", re.MULTILINE)
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
IMPORT = ast.Import | ast.ImportFrom
TRIES = ast.Try | ast.TryStar
Key = tuple[str, str, str]
"""Rule, message and the qualified name of the function around."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something unused."""

    key: Key
    line: int
    column: int
    """In characters, from 0."""


def drop_unused(before: str, after: str, *, keep: Collection[str] = (), is_init: bool = False) -> str:
    """Return `after` without the imports and local variables that `before` used and `after` does not.

    Variables go only where their value has no side effect; names in `keep`, names that doctests use, and in
    a package's `__init__.py` (`is_init`) relative imports stay, and so does an import whose success decides
    what else its `try` does. Blocks that become empty go as apply_edits has it. Raises EditError when a text
    does not parse, TaskforgeError when ruff cannot be run.
    """
    known = {finding.key for finding in unused(before)} if before != after else None
    if known is None:
        return after
    for _ in range(ROUNDS):
        shorter = after if is_init else _without_fallbacks(before, after, frozenset(keep))
        new = [finding for finding in unused(shorter) if finding.key not in known]
        shorter = _without(shorter, new, frozenset(keep), is_init=is_init) if new else shorter
        if shorter == after:
            break
        after = shorter
    return after


@lru_cache(maxsize=128)
def unused(text: str) -> tuple[Finding, ...]:
    """Unused imports and local variables of a file, as ruff reports them in its default configuration."""
    command = [find_ruff_bin(), "check", "--isolated", "--no-cache", "--select=F401,F841"]
    command += ["--output-format=json", "--stdin-filename=module.py", "--exit-zero", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if run.returncode:
        raise TaskforgeError(f"ruff cannot be run: {run.stderr.strip()}")
    found = [item for item in json.loads(run.stdout) if item["code"] in {"F401", "F841"}]
    if not found:
        return ()
    functions = list(_functions(source_of(text.removeprefix(MARK)).tree.body, ""))
    return tuple(
        Finding(
            (item["code"], item["message"], _around(functions, item["location"]["row"])),
            item["location"]["row"],
            item["location"]["column"] - 1,
        )
        for item in found
    )


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, qualified name) of functions and classes, outer ones first."""
    for node in body:
        name = f"{prefix}{node.name}" if isinstance(node, FUNCTION | ast.ClassDef) else prefix.rstrip(".")
        if isinstance(node, FUNCTION | ast.ClassDef):
            yield node.lineno, node.end_lineno or node.lineno, name
        for child in [node, *getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            for part in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(child, part, []), f"{name}." if name else "")


def _around(functions: list[tuple[int, int, str]], line: int) -> str:
    return next((name for first, last, name in reversed(functions) if first <= line <= last), "")


def _without(text: str, findings: list[Finding], keep: frozenset[str], *, is_init: bool) -> str:
    mark = MARK if text.startswith(MARK) else ""
    source = source_of(text.removeprefix(MARK))
    module = Module("", "", source.text, source.tree, is_test=False)
    needed = keep | {name for line in DOCTEST.findall(source.text) for name in re.findall(r"\w+", line)}
    places = {(finding.line, finding.column) for finding in findings}
    edits: list[Edit] = []
    splices: list[Splice] = []
    imports: dict[ast.stmt, list[ast.alias]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, IMPORT):
            is_public = (
                is_init and isinstance(node, ast.ImportFrom) and node.level and node in source.tree.body
            )
            names = [] if is_public else [a for a in node.names if _holds(module, a, places)]
            imports[node] = [a for a in names if (a.asname or a.name.split(".")[0]) not in needed]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_name = len(targets) == 1 and isinstance(targets[0], ast.Name)
            if is_name and _holds(module, targets[0], places) and _is_plain(node.value):
                edits.append(Edit("", module.span(node), EditKind.DELETE_STATEMENT))
        elif isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            start = source.offset(end_of(node.type))
            splices += _renaming(source.text, start, node.name, places, source.starts)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    start = source.offset(end_of(item.context_expr))
                    splices += _renaming(source.text, start, item.optional_vars.id, places, source.starts)
    for guard in ast.walk(source.tree):
        if isinstance(guard, TRIES):
            staying = [s for s in guard.body if not isinstance(s, IMPORT) or len(imports[s]) < len(s.names)]
            for statement in guard.body if staying else []:
                imports.pop(statement, None)
    for aliases in imports.values():
        edits += [Edit("", module.span(alias), EditKind.DELETE_ALIAS, alias.name) for alias in aliases]
    if splices:  # the edits follow in the next round, when their places are known again
        return mark + spliced(source.text, splices)
    return mark + apply_edits(source.text, edits)


def _without_fallbacks(before: str, after: str, keep: frozenset[str]) -> str:
    """The text without imports that have a fallback (`except ImportError: name = None`), which ruff takes for
    used, where `before` mentions their names elsewhere and `after` does not.
    """
    mark = MARK if after.startswith(MARK) else ""
    source = source_of(after.removeprefix(MARK))
    edits = []
    for node in source.tree.body:
        if not isinstance(node, ast.Try) or not all(isinstance(inner, IMPORT) for inner in node.body):
            continue
        inside = [inner for suite in (node.body, *(h.body for h in node.handlers)) for inner in suite]
        if node.orelse or node.finalbody or not all(map(_is_fallback, inside)):
            continue
        names = {a.asname or a.name.split(".")[0] for inner in inside for a in getattr(inner, "names", [])}
        names |= {
            t.id for i in inside if isinstance(i, ast.Assign) for t in i.targets if isinstance(t, ast.Name)
        }
        segment = source.segment(node)
        if names and not names & keep and all(_is_lost(name, before, after, segment) for name in names):
            module = Module("", "", source.text, source.tree, is_test=False)
            edits.append(Edit("", module.span(node), EditKind.DELETE_STATEMENT))
    return mark + apply_edits(source.text, edits)


def _is_fallback(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Name) for t in statement.targets) and _is_plain(statement.value)
    return isinstance(statement, IMPORT | ast.Pass)


def _is_lost(name: str, before: str, after: str, segment: str) -> bool:
    """True when a word stands in `before` but not in `after`, a segment that both have aside."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    inside = len(word.findall(segment))
    return segment in before and len(word.findall(before)) > inside == len(word.findall(after))


def _holds(module: Module, node: ast.AST, places: set[tuple[int, int]]) -> bool:
    span = module.span(node)
    return any((span.line, span.column) <= place < (span.end_line, span.end_column) for place in places)


def _renaming(
    text: str, start: int, name: str, places: set[tuple[int, int]], starts: list[int]
) -> list[Splice]:
    """The splice that takes ` as name` out behind an expression, where the name is one of the places."""
    match = re.compile(rf"(\s*\)*)\s+as\s+({re.escape(name)})\b").match(text, start)
    if match is None:
        return []
    at = match.start(2)
    line = max(index for index, offset in enumerate(starts) if offset <= at) + 1
    if (line, at - starts[line - 1]) not in places:
        return []
    return [(match.end(1), match.end(2), "")]


def _is_plain(value: ast.expr | None) -> bool:
    """True for values that can be left out without any effect."""
    plain = (
        ast.Name | ast.Attribute | ast.Constant | ast.Tuple | ast.List | ast.Dict | ast.Set | ast.UnaryOp
    ) | (ast.expr_context | ast.unaryop | ast.Lambda | ast.arguments)
    if value is None or isinstance(value, ast.Lambda):
        return True
    return all(isinstance(node, plain) for node in ast.walk(value))
