"""A removal cut into hunks at the granularity of symbols, each of which can be left in or put back alone.

Adjacent removed functions are separate hunks, the several changed places of one function are one hunk, and
all imports of a file are one. A file that goes as a whole is one hunk, and so is a class.
"""

import ast
import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from taskforge.statement import parsed


class HunkKind(StrEnum):
    """What a hunk changes."""

    CODE = "code"
    """A removed or emptied definition; a whole file that goes is one."""
    VALUE = "value"
    """A removed assignment."""
    REFERENCE = "reference"
    """Part of a statement that stays: a branch, a table's entry, a call, a base class."""
    BOOKKEEPING = "bookkeeping"
    """Imports, `__all__`, comments, blank lines, docstrings, documents and type stubs."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One part of a removal."""

    number: int
    file: str
    name: str
    """Qualified name of the symbol, or what else it is (`imports`, `__all__`, the start of a statement)."""
    kind: HunkKind
    lines: tuple[int, ...]
    """Lines of the original file that go, from 1."""

    @property
    def place(self) -> str:
        """As `pkg/mod.py::name`."""
        return f"{self.file}::{self.name}" if self.name else self.file


@dataclass(frozen=True, slots=True)
class _Segment:
    old: tuple[str, ...]
    new: tuple[str, ...]
    hunk: int | None


@dataclass(frozen=True, slots=True)
class _Unit:
    end: int
    name: str
    kind: HunkKind


class Hunks:
    """The hunks of a removal, and the texts of files with some of them applied."""

    def __init__(self, before: Mapping[str, str], after: Mapping[str, str | None]) -> None:
        """`before` are the original texts of the changed files, `after` their texts in the start tree."""
        self._segments: dict[str, list[_Segment]] = {}
        self._gone = {path for path, text in after.items() if text is None}
        found: list[Hunk] = []
        for path in sorted(after):
            self._segments[path] = _cut(path, before.get(path, ""), after[path], found)
        self.all = tuple(found)

    def texts(self, applied: frozenset[int]) -> dict[str, str | None]:
        """Return the changed files with only the given hunks applied; files left as they were are absent."""
        result: dict[str, str | None] = {}
        for path, segments in self._segments.items():
            ours = {s.hunk for s in segments if s.hunk is not None}
            if not ours & applied:
                continue
            if path in self._gone and ours <= applied:
                result[path] = None
                continue
            lines = [
                line
                for segment in segments
                for line in (segment.new if segment.hunk in applied else segment.old)
            ]
            result[path] = "".join(lines)
        return result

    def old_lines(self, number: int) -> list[str]:
        """Return the lines that a hunk takes away."""
        return [
            line for parts in self._segments.values() for s in parts if s.hunk == number for line in s.old
        ]

    def text_without(self, left_in: frozenset[int]) -> dict[str, str | None]:
        """Return the changed files of a start tree into which some hunks are put back."""
        return self.texts(frozenset(hunk.number for hunk in self.all) - left_in)


def _cut(path: str, before: str, after: str | None, found: list[Hunk]) -> list[_Segment]:
    old, new = _lines(before), _lines(after or "")
    units = _units(path, before, after)
    numbers: dict[str, int] = {}
    removed: dict[int, list[int]] = {}
    segments: list[_Segment] = []

    def number(unit: _Unit) -> int:
        if unit.name not in numbers:
            numbers[unit.name] = len(found)
            found.append(Hunk(len(found), path, unit.name, unit.kind, ()))
        return numbers[unit.name]

    for tag, low, high, new_low, new_high in _opcodes(old, new):
        if tag == "equal":
            segments.append(_Segment(tuple(old[low:high]), tuple(new[new_low:new_high]), None))
            continue
        pieces = _folded(old, list(_pieces(units, low, high)))
        if len(pieces) > 1 and new_high > new_low:
            heavy = min(pieces, key=lambda piece: list(HunkKind).index(piece[2].kind))
            pieces = [(low, high, heavy[2])]
        for position, (start, end, unit) in enumerate(pieces):
            hunk = number(unit)
            removed.setdefault(hunk, []).extend(range(start + 1, end + 1))
            fresh = new[new_low:new_high] if position == 0 else []
            segments.append(_Segment(tuple(old[start:end]), tuple(fresh), hunk))
    for hunk, lines in removed.items():
        known = found[hunk]
        found[hunk] = Hunk(hunk, path, known.name, known.kind, tuple(sorted(lines)))
    return segments


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _opcodes(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head:
        yield "equal", 0, head, 0, head
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for tag, low, high, new_low, new_high in middle.get_opcodes():
        yield tag, low + head, high + head, new_low + head, new_high + head
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _pieces(units: list[_Unit], low: int, high: int) -> Iterator[tuple[int, int, _Unit]]:
    """Cut a range of lines (from 0) where one unit ends and the next begins."""
    ends = [unit.end for unit in units]
    if low == high:
        yield low, high, units[min(bisect.bisect_left(ends, max(low, 1)), len(units) - 1)]
        return
    while low < high:
        at = min(bisect.bisect_right(ends, low), len(units) - 1)
        end = min(high, units[at].end) if at < len(units) - 1 else high
        yield low, end, units[at]
        low = end


def _folded(old: list[str], pieces: list[tuple[int, int, _Unit]]) -> list[tuple[int, int, _Unit]]:
    """Join pieces that are only blank lines and comments to the piece before, else to the one behind.

    Where there is no other they are a matter of layout.
    """
    folded: list[tuple[int, int, _Unit]] = []
    for low, high, unit in pieces:
        if folded and _is_layout(old[low:high]):
            folded[-1] = (folded[-1][0], high, folded[-1][2])
        elif folded and _is_layout(old[folded[-1][0] : folded[-1][1]]):
            folded[-1] = (folded[-1][0], high, unit)
        else:
            folded.append((low, high, unit))
    if len(folded) == 1 and folded[0][0] < folded[0][1] and _is_layout(old[folded[0][0] : folded[0][1]]):
        low, high, _ = folded[0]
        return [(low, high, _Unit(high, "layout", HunkKind.BOOKKEEPING))]
    return folded


def _is_layout(lines: list[str]) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines)


def _units(path: str, before: str, after: str | None) -> list[_Unit]:
    """What the lines of a file belong to: unit i has the lines after unit i - 1 up to its end."""
    whole = [_Unit(1 << 40, "text", HunkKind.BOOKKEEPING)]
    if not path.endswith(".py"):
        return whole
    if after is None:
        return [_Unit(1 << 40, "", HunkKind.CODE)]
    tree, kept = parsed.tree(before), parsed.tree(after)
    if tree is None or kept is None:
        return [_Unit(1 << 40, "text", HunkKind.CODE)]
    return list(_of_body(tree.body, kept.body, "")) or whole


def _of_body(body: list[ast.stmt], kept: list[ast.stmt], prefix: str) -> Iterator[_Unit]:
    names = {name: node for node in kept for name in _bound(node)}
    for position, node in enumerate(body):
        end = node.end_lineno or node.lineno
        name, kind = _role(node, prefix)
        bound = _bound(node)
        stays = next((names[n] for n in bound if n in names), None)
        if isinstance(node, ast.ClassDef) and isinstance(stays, ast.ClassDef):
            yield _Unit(node.body[0].lineno - 1, f"{prefix}{node.name} (header)", HunkKind.REFERENCE)
            yield from _of_body(node.body, stays.body, f"{prefix}{node.name}.")
            continue
        if kind in {HunkKind.CODE, HunkKind.VALUE} and stays is not None and not _is_stubbed(stays):
            kind = HunkKind.REFERENCE
        if position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            name, kind = f"{prefix}docstring", HunkKind.BOOKKEEPING
        yield _Unit(end, name, kind)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [ast.unparse(target) for target in targets]
    return []


def _role(node: ast.stmt, prefix: str) -> tuple[str, HunkKind]:
    names = _bound(node)
    if names == ["__all__"] or (names and names[0].startswith("__all__")):
        return f"{prefix}__all__", HunkKind.BOOKKEEPING
    if names:
        is_value = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        return prefix + names[0], HunkKind.VALUE if is_value else HunkKind.CODE
    if isinstance(node, ast.Import | ast.ImportFrom):
        return f"{prefix}imports", HunkKind.BOOKKEEPING
    text = ast.unparse(node).split("\n")[0][:60]
    if isinstance(node, ast.Pass) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        return prefix + text, HunkKind.BOOKKEEPING
    if isinstance(node, ast.Try | ast.If) and _only_imports(node):
        return f"{prefix}imports", HunkKind.BOOKKEEPING
    return prefix + text, HunkKind.REFERENCE


def _only_imports(node: ast.stmt) -> bool:
    """Whether a compound statement does nothing but import (and set fallbacks to None)."""
    return all(
        isinstance(inner, ast.Import | ast.ImportFrom | ast.Pass | ast.Try | ast.If)
        or (isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Constant))
        for inner in ast.walk(node)
        if isinstance(inner, ast.stmt)
    )


def _is_stubbed(node: ast.stmt) -> bool:
    """Whether a function that stays has lost its body."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    last = node.body[-1]
    return isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last) and len(node.body) <= 2
