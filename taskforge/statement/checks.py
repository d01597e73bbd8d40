"""What a statement must not hold (the removed code) and must hold (all that hidden tests rely on)."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from taskforge.statement import parsed
from taskforge.statement.expectations import Message, plain_text

RUN = 8
"""So many tokens of a removed body in a row are a leak."""
SPACE = re.compile(r"\s+")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Leaks:
    """Finds runs of tokens of the removed bodies in text. White space does not matter, in code or text.

    Docstrings, headers of functions and classes, imports and `__all__` do not count as bodies.
    """

    def __init__(self, before: Mapping[str, str], after: Mapping[str, str | None]) -> None:
        """`before` and `after` are the changed Python files without and with the removal."""
        windows: dict[str, str] = {}
        for path, text in sorted(before.items()):
            for run in _bodies(text, after.get(path)):
                for at in range(len(run) - RUN + 1):
                    part = run[at : at + RUN]
                    windows.setdefault(SPACE.sub("", "".join(part)), " ".join(part))
        self._windows = windows

    def without(self, allowed: Iterable[str]) -> "Leaks":
        """Return the same, but for runs that stand in one of the `allowed` texts (signatures)."""
        packed = [SPACE.sub("", text) for text in allowed]
        kept = Leaks({}, {})
        kept._windows = {w: shown for w, shown in self._windows.items() if not any(w in a for a in packed)}
        return kept

    def found_in(self, text: str) -> tuple[str, ...]:
        """Return the runs that a text holds, in the order of the code."""
        packed = SPACE.sub("", text)
        return tuple(shown for window, shown in self._windows.items() if window in packed)


def missing_names(statement: str, needed: Iterable[str]) -> tuple[str, ...]:
    """Return the needed identifiers that a statement does not hold as words."""
    words = set(WORD.findall(statement))
    return tuple(sorted(set(needed) - words))


def missing_messages(statement: str, needed: Iterable[Message]) -> tuple[str, ...]:
    """Return the needed messages whose text a statement does not hold. White space does not matter."""
    packed = SPACE.sub("", statement)
    return tuple(
        dict.fromkeys(
            m.text
            for m in needed
            if SPACE.sub("", m.text) not in packed and SPACE.sub("", plain_text(m)) not in packed
        )
    )


def missing_signatures(statement: str, signatures: Iterable[str]) -> tuple[str, ...]:
    """Return the signatures that a statement does not hold. White space does not matter."""
    packed = SPACE.sub("", statement)
    return tuple(s for s in signatures if SPACE.sub("", s) not in packed)


def _bodies(before: str, after: str | None) -> Iterator[list[str]]:
    """Runs of tokens on removed lines, cut where lines that do not count lie between."""
    counted = _gone_lines(before, after) - _uncounted(before)
    run: list[str] = []
    for line, token in parsed.tokens(before):
        if line in counted:
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _gone_lines(before: str, after: str | None) -> set[int]:
    old = before.split("\n")
    if after is None:
        return set(range(1, len(old) + 1))
    new = after.split("\n")
    return {line + 1 for low, high in removed_ranges(old, new) for line in range(low, high)}


def removed_ranges(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of lines (from 0, end exclusive) of `old` that are not in `new`."""
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        (low + head, high + head)
        for tag, low, high, _, _ in matcher.get_opcodes()
        if tag in {"delete", "replace"}
    ]


@lru_cache(parsed.KEPT)
def _uncounted(text: str) -> frozenset[int]:
    """Lines of docstrings, headers, imports and `__all__`."""
    tree = parsed.tree(text)
    lines: set[int] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, Function | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines |= set(range(first, max(node.lineno + 1, node.body[0].lineno)))
            lines -= {node.body[0].lineno} if node.body[0].lineno > node.lineno else set()
        if isinstance(node, Function | ast.ClassDef | ast.Module) and node.body:
            head = node.body[0]
            if isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant):
                lines |= set(range(head.lineno, (head.end_lineno or head.lineno) + 1))
        elif isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
            and "__all__" in ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        ):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)
