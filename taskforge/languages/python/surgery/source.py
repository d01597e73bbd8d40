"""A source file as text with its syntax tree, and the arithmetic between lines, columns and offsets."""

import ast
import re
from functools import cached_property, lru_cache

from taskforge.domain.feature import Span

NEWLINE = re.compile(r"\r\n|\n|\r")
DIRECTIVE = re.compile(r"#\s*(fmt|yapf|isort|pylint|ruff|mypy|pyright|flake8)\s*:|#!")
Place = tuple[int, int]
"""Line (from 1) and column in UTF-8 bytes, as ast counts."""
Splice = tuple[int, int, str]
"""Start and end offset in the text, and what takes the place of what lies between."""


class EditError(ValueError):
    """An edit that meets no fitting node, or that cannot be done without changing what should stay."""


class Source:
    """Text without byte order mark. Lines are counted from 1, and ends of lines belong to their line."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise EditError(f"the file does not parse: {error}") from error
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
        if self.starts[-1] == len(text) and len(self.starts) > 1:
            self.starts.pop()
        self.count = len(self.starts)

    def line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number] if number < self.count else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def lines(self, first: int, last: int) -> list[str]:
        """The lines from first to last, both included."""
        return [self.line(number) for number in range(first, last + 1)]

    def line_start(self, number: int) -> int:
        """Offset of a line; one past the last line gives the end of the text."""
        return self.starts[number - 1] if number <= self.count else len(self.text)

    def offset(self, place: Place) -> int:
        """Offset of a place."""
        number, column = place
        text = self.line(number)
        if not text.isascii():
            column = len(text.encode()[:column].decode("utf-8", "ignore"))
        return self.starts[number - 1] + column

    def places(self, span: Span) -> tuple[Place, Place]:
        """Start and end of a span whose columns count characters."""
        return self._place(span.line, span.column), self._place(span.end_line, span.end_column)

    def _place(self, number: int, column: int) -> Place:
        if not 1 <= number <= self.count:
            raise EditError(f"line {number} is not in the file")
        text = self.line(number)
        return number, column if text.isascii() else len(text[:column].encode())

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self.text[self.offset(start_of(node)) : self.offset(end_of(node))]

    def indent(self, number: int) -> str:
        """The white space that a line begins with."""
        text = self.line(number)
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def is_blank(self, number: int) -> bool:
        """True when there is nothing on the line."""
        return not self.line(number).strip()

    def is_comment(self, number: int) -> bool:
        """True when the line starts with a hash; meant for lines between statements."""
        return self.line(number).lstrip().startswith("#")

    def is_directive(self, number: int) -> bool:
        """True for a comment that tells a tool about the lines that follow."""
        return DIRECTIVE.match(self.line(number).lstrip()) is not None

    @cached_property
    def newline(self) -> str:
        """How the first line ends."""
        match = NEWLINE.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def unit(self) -> str:
        """One step of indentation, from the first block of the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If | ast.With):
                outer, inner = self.indent(node.lineno), self.indent(self.first_line(node.body[0]))
                if len(inner) > len(outer) and inner.startswith(outer):
                    return inner[len(outer) :]
        return "    "

    def first_line(self, node: ast.stmt) -> int:
        """The line on which a statement begins, decorators included."""
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return node.lineno
        return self.decorator_line(decorators[0])

    def decorator_line(self, decorator: ast.expr) -> int:
        """The line with the @ of a decorator."""
        number = decorator.lineno
        while not self.line(number).lstrip().startswith("@"):
            number -= 1
        return number

    def start_offset(self, node: ast.stmt) -> int:
        """Offset of a statement, decorators included."""
        number = self.first_line(node)
        if number == node.lineno:
            return self.offset(start_of(node))
        return self.starts[number - 1] + len(self.indent(number))

    def end_line(self, node: ast.stmt) -> int:
        """The last line of a statement, with the comments below it that are indented deeper than it."""
        last = node.end_lineno or node.lineno
        if not isinstance(getattr(node, "body", getattr(node, "cases", None)), list):
            return last
        own = width(self.indent(node.lineno))
        number = last + 1
        while number <= self.count and (self.is_blank(number) or self.is_comment(number)):
            if self.is_comment(number):
                if width(self.indent(number)) <= own:
                    break
                last = number
            number += 1
        return last

    def is_inline(self, suite: list[ast.stmt]) -> bool:
        """True for a suite on the line of its header."""
        start = self.start_offset(suite[0])
        return bool(self.text[self.line_start(self.first_line(suite[0])) : start].strip())


@lru_cache(maxsize=64)
def source_of(text: str) -> Source:
    """The parsed text; parsed once for all edits of it."""
    return Source(text)


def width(indent: str) -> int:
    """How deep an indentation is, in columns."""
    return len(indent.replace("\f", "").expandtabs(8))


def start_of(node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.ExceptHandler | ast.pattern) -> Place:
    """Where a node starts."""
    return node.lineno, node.col_offset


def end_of(node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.ExceptHandler | ast.pattern) -> Place:
    """Where a node ends."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def spliced(text: str, splices: list[Splice], start: int = 0, end: int | None = None) -> str:
    """The text between two offsets after the splices, which must lie in it and not overlap."""
    parts: list[str] = []
    at = start
    for first, last, new in sorted(splices):
        if first < at:
            raise EditError("two edits overlap")
        parts += text[at:first], new
        at = last
    parts.append(text[at:end])
    return "".join(parts)
