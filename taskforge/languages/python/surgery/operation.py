"""The entry points: edits of one file, and whether anything is left of it."""

import ast
from collections.abc import Sequence

from taskforge.domain.feature import Edit
from taskforge.languages.python.surgery.fates import Fates
from taskforge.languages.python.surgery.plan import Plan
from taskforge.languages.python.surgery.source import source_of, spliced
from taskforge.languages.python.surgery.writer import Writer

MARK = "\ufeff"


def apply_edits(source: str, edits: Sequence[Edit]) -> str:
    """Return `source` after the edits, whatever their order; what they do not name stays byte for byte.

    All edits must be of this one file; those inside a node that another one deletes have no effect of their
    own. A byte order mark and the file's line ends are kept. Raises EditError when the source does not
    parse, when an edit meets no node of its kind, or when it cannot be done without changing what stays.
    """
    if not edits:
        return source
    mark = MARK if source.startswith(MARK) else ""
    parsed = source_of(source.removeprefix(MARK))
    return mark + spliced(parsed.text, Writer(Fates(Plan(parsed, edits))).module())


def is_empty_module(source: str) -> bool:
    """True when nothing is left of a module but its docstring, comments, imports from `__future__`, `pass`
    and an empty `__all__`. Raises EditError when the source does not parse.
    """
    return all(map(_is_nothing, source_of(source.removeprefix(MARK)).tree.body))


def _is_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__" and not statement.level
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        value = statement.value
        return names == ["__all__"] and isinstance(value, ast.List | ast.Tuple) and not value.elts
    return isinstance(statement, ast.Pass)
