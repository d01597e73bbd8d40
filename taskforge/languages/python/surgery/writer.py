"""Turns a settled plan into splices of the text."""

import ast

from taskforge.languages.python.surgery.fates import Fates
from taskforge.languages.python.surgery.fragments import rewritten
from taskforge.languages.python.surgery.gaps import Gap, Group, comment_start, groups, is_gap_of_definitions
from taskforge.languages.python.surgery.indentation import moved
from taskforge.languages.python.surgery.plan import FUNCTION, Extent
from taskforge.languages.python.surgery.sections import Section, header_end, keyword, negated, sections, top
from taskforge.languages.python.surgery.source import Place, Splice, end_of, spliced, start_of
from taskforge.languages.python.surgery.stubs import stubbed


class Writer:
    """Splices for each level of one file."""

    def __init__(self, fates: Fates) -> None:
        self.fates = fates
        self.plan = fates.plan
        self.source = fates.plan.source

    def module(self) -> list[Splice]:
        """The splices of the whole file."""
        return self._suite(self.source.tree.body, 1, self.source.count, is_module=True)

    def _suite(
        self, suite: list[ast.stmt], first: int, last: int, *, is_module: bool = False
    ) -> list[Splice]:
        """Splices of a block whose lines, with comments and blank lines around, are first to last."""
        gone = self.plan.gone
        splices: list[Splice] = []
        found = groups(self.source, suite)
        leaves = [all(statement in gone for statement in group.statements) for group in found]
        index = 0
        while index < len(found):
            end = index
            while end < len(found) and leaves[end]:
                end += 1
            if end > index:
                splices.append(self._run(found, index, end, first, last, is_module=is_module))
                index = end
                continue
            group = found[index]
            floor = found[index - 1].last + 1 if index else first
            splices += self._group(group, floor)
            index += 1
        return splices

    def _run(
        self, found: list[Group], start: int, end: int, first: int, last: int, *, is_module: bool
    ) -> Splice:
        """The splice for the groups from start up to end, all of which go."""
        source = self.source
        floor = found[start - 1].last + 1 if start else first
        gap = Gap(source)
        at = floor
        for group in found[start:end]:
            gap.add(
                at, comment_start(source, group.first, floor) - 1 if group.first > at else group.first - 1
            )
            at = group.last + 1
        below = found[end] if end < len(found) else None
        stop = below.first - 1 if below else self._content_end(at, last)
        gap.add(at, stop)
        if start == 0:
            gap.strip_head(0 if is_module else gap.head)
        if below is None:
            gap.strip_tail()
        if start == 0 and below is None and not is_module:
            gap.strip_head()
            indent = source.indent(found[0].first)
            gap.lines.append(f"{indent}pass{source.newline}")
        if start and below and gap.is_blank and is_module and len(gap.lines) == 2:
            gone = [s for group in found[start:end] for s in group.statements]
            if is_gap_of_definitions(found[start - 1].statements[-1], gone, below.statements[0]):
                gap.lines.pop()
        if below is None and is_module:
            stop = last
        return source.line_start(floor), source.line_start(stop + 1), "".join(gap.lines)

    def _content_end(self, at: int, last: int) -> int:
        """The last line up to `last` that is not blank, at least the one before `at`."""
        while last >= at and self.source.is_blank(last):
            last -= 1
        return last

    def _group(self, group: Group, floor: int) -> list[Splice]:
        """Splices of a group that stays, at least in part."""
        if not any(s in self.plan.touched or s in self.plan.gone for s in group.statements):
            return []
        statement = group.statements[0]
        if not sections(self.source, statement):
            return self._line(group.statements)
        splices = self._compound(statement)
        if statement in self.fates.bare:
            start = comment_start(self.source, group.first, floor)
            splices.append((self.source.line_start(start), self.source.line_start(group.first), ""))
        return splices

    def _line(self, statements: list[ast.stmt]) -> list[Splice]:
        """The splice of a line of simple statements."""
        dropped = [i for i, statement in enumerate(statements) if statement in self.plan.gone]
        extents = [
            extent
            for statement in statements
            if statement not in self.plan.gone
            for extent in self.plan.items.get((statement, ""), ())
        ]
        if not dropped and not extents:
            return []
        begin = start_of(statements[0])
        start, end = self.source.offset(begin), self.source.offset(end_of(statements[-1]))
        if len(dropped) == len(statements):
            return [(start, end, "pass")]
        code = self.source.text[start:end]
        return [(start, end, rewritten(code, [self._relative(e, begin) for e in extents], dropped))]

    def _relative(
        self, extent: Extent, begin: Place, shift: int = 0
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        return self._point(extent[0], begin, shift), self._point(extent[1], begin, shift)

    def _point(self, place: Place, begin: Place, shift: int) -> tuple[int, int]:
        """Line and column in characters, counted from `begin`, `shift` lines further down."""
        column = self.source.offset(place) - self.source.line_start(place[0])
        if place[0] == begin[0]:
            column -= self.source.offset(begin) - self.source.line_start(begin[0])
        return place[0] - begin[0] + 1 + shift, column

    def _compound(self, statement: ast.stmt) -> list[Splice]:
        source, plan, fates = self.source, self.plan, self.fates
        parts = sections(source, statement)
        if statement in fates.unwrapped:
            return [self._unwrapped(statement, parts)]
        if statement in fates.inverted:
            return self._inverted(parts)
        splices: list[Splice] = []
        first = True
        for index, part in enumerate(parts):
            begin = part.line if index == 0 else top(source, part)
            last = self._last(parts, index)
            if part.key in plan.cut:
                splices.append((source.line_start(begin), source.line_start(last + 1), ""))
                continue
            if first and part.word == "elif":
                start = source.offset(keyword(source, part))
                splices.append((start, start + 2, ""))
            first = False
            splices += self._header(part, parts[1].line if part.word == "match" else 0)
            if statement in plan.stubs and isinstance(statement, FUNCTION):
                splices += stubbed(source, statement)
            elif part.word == "else" and statement in fates.joined:
                splices.append(
                    (source.line_start(begin), source.line_start(header_end(source, part) + 1), "")
                )
                splices += self._body(part, last)
            elif part.suite:
                splices += self._body(part, last)
        return splices

    def _last(self, parts: list[Section], index: int) -> int:
        """The last line of a section."""
        if index + 1 < len(parts):
            return top(self.source, parts[index + 1]) - 1
        return self.source.end_line(parts[0].owner)

    def _body(self, part: Section, last: int) -> list[Splice]:
        if self.source.is_inline(part.suite):
            return self._line(part.suite)
        return self._suite(part.suite, header_end(self.source, part) + 1, last)

    def _header(self, part: Section, end_line: int) -> list[Splice]:
        """The splice of a header in which items go."""
        extents = self.plan.items.get(part.key)
        if not extents:
            return []
        source = self.source
        owner = part.owner
        first = source.first_line(owner) if part.node is owner and part.word == "body" else part.line
        start = source.line_start(first)
        if part.word == "match":
            end = source.line_start(end_line)
            suffix = f"{source.indent(end_line)}case _: pass\n"
        else:
            end = source.start_offset(part.suite[0])
            suffix = "pass\n"
        prefix = self._prefix(part, source.indent(first))
        begin = (first, 0)
        shift = prefix.count("\n")
        code = rewritten(
            prefix + source.text[start:end] + suffix,
            [self._relative(e, begin, shift) for e in sorted(extents)],
        )
        return [(start, end, code.removeprefix(prefix).removesuffix(suffix))]

    def _prefix(self, part: Section, indent: str) -> str:
        """What has to stand before a header so that it parses."""
        if part.word == "case":
            return "match 0:\n"
        before = "if 1:\n" if indent else ""
        if part.word == "elif":
            return f"{before}{indent}if 1: pass\n"
        return f"{before}{indent}try: pass\n" if part.word == "except" else before

    def _unwrapped(self, statement: ast.stmt, parts: list[Section]) -> Splice:
        """The splice that puts suites in the place of their statement."""
        source = self.source
        outer = source.indent(statement.lineno)
        blocks = []
        for index, part in enumerate(parts):
            if part not in self.fates.unwrapped[statement] and part.key not in {
                kept.key for kept in self.fates.unwrapped[statement]
            }:
                continue
            if self.fates.is_empty(part.suite):
                continue
            last = self._content_end(part.line, self._last(parts, index))
            if source.is_inline(part.suite):
                start, end = source.start_offset(part.suite[0]), source.line_start(last + 1)
                block = outer + spliced(source.text, self._line(part.suite), start, end)
            else:
                first = header_end(source, part) + 1
                while source.is_blank(first):
                    first += 1
                inner = self._suite(part.suite, first, last)
                block = spliced(source.text, inner, source.line_start(first), source.line_start(last + 1))
                block = moved(block, source.indent(source.first_line(part.suite[0])), outer)
            blocks.append(block if block.endswith(("\n", "\r")) else block + source.newline)
        start = source.line_start(statement.lineno)
        return start, source.line_start(source.end_line(statement) + 1), "".join(blocks)

    def _inverted(self, parts: list[Section]) -> list[Splice]:
        """The splices that make the `else` of an `if` the arm of the opposite test."""
        source = self.source
        owner, other = parts
        assert isinstance(owner.node, ast.If)
        start = source.offset(start_of(owner.node)) + len("if")
        colon = source.text.index(":", source.offset(keyword(source, other)))
        new = (start, colon + 1, f" {negated(source, owner.node.test)}:")
        return [new, *self._body(other, self._last(parts, 1))]
