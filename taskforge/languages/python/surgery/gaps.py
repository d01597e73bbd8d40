"""Blank lines and comments between the statements of a block, when some of the statements go."""

import ast
from dataclasses import dataclass, field

from taskforge.languages.python.surgery.source import Source, width

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(slots=True)
class Group:
    """The statements of one logical line, or one compound statement."""

    statements: list[ast.stmt]
    first: int
    """First line, decorators included."""
    last: int
    """Last line, deeper comments below included."""


def groups(source: Source, suite: list[ast.stmt]) -> list[Group]:
    """Statements joined by semicolons stand together."""
    found: list[Group] = []
    for statement in suite:
        first, last = source.first_line(statement), source.end_line(statement)
        if found and found[-1].last >= first:
            found[-1].statements.append(statement)
            found[-1].last = last
        else:
            found.append(Group([statement], first, last))
    return found


def comment_start(source: Source, line: int, floor: int) -> int:
    """The first line of the comment block directly above a line, not above `floor`.

    Comments for tools do not belong to the statement, nor does what a file starts with.
    """
    own = width(source.indent(line))
    number = line
    while number > 1 and source.is_comment(number - 1):
        number -= 1
    if number == 1:
        return line
    number = line
    while number > floor:
        above = number - 1
        if not source.is_comment(above) or width(source.indent(above)) != own or source.is_directive(above):
            break
        number = above
    return number


@dataclass(slots=True)
class Gap:
    """What stays between two statements of which those in between have gone."""

    source: Source
    lines: list[str] = field(default_factory=list)
    started: bool = False
    head: int = 0
    """Blank lines before the first statement that goes, or the first comment that stays."""

    def add(self, first: int, last: int) -> None:
        """Add the lines that stay between one gone statement and the next, or the one that stays."""
        new = self.source.lines(first, last)
        if not self.started:
            self.lines, self.started = new, True
            self.head = _blank_head(new)
            return
        above = _blank_tail(self.lines)
        below = _blank_head(new)
        blank = max(self.lines[len(self.lines) - above :], new[:below], key=len)
        self.lines = [*self.lines[: len(self.lines) - above], *blank, *new[below:]]

    @property
    def is_blank(self) -> bool:
        """True when no comment stays."""
        return not any(line.strip() for line in self.lines)

    def strip_head(self, left: int = 0) -> None:
        """Drop blank lines at the start, all but some."""
        del self.lines[left : max(left, _blank_head(self.lines))]

    def strip_tail(self) -> None:
        """Drop blank lines at the end."""
        del self.lines[len(self.lines) - _blank_tail(self.lines) :]


def _blank_head(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


def _blank_tail(lines: list[str]) -> int:
    return next((i for i, line in enumerate(reversed(lines)) if line.strip()), len(lines))


def is_gap_of_definitions(above: ast.stmt, gone: list[ast.stmt], below: ast.stmt) -> bool:
    """True when two blank lines were there for the sake of a definition that goes."""
    imports = ast.Import | ast.ImportFrom
    if not any(isinstance(statement, DEFINITION) for statement in gone):
        return False
    simple = not isinstance(above, DEFINITION) and not isinstance(below, DEFINITION)
    return simple and isinstance(above, imports) == isinstance(below, imports)
