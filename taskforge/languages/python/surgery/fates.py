"""Settles what becomes of statements that lose parts: which go, lose a branch or give way to one."""

import ast

from taskforge.languages.python.surgery.plan import IMPORT, Plan
from taskforge.languages.python.surgery.sections import TRIES, Section, is_pure, is_quiet, sections
from taskforge.languages.python.surgery.source import EditError


class Fates:
    """The plan carried to its consequences; adds to the plan's `gone` and `cut`."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.unwrapped: dict[ast.AST, list[Section]] = {}
        """Statements that give way to the suites of some of their sections, one level further out."""
        self.inverted: set[ast.AST] = set()
        """`if` statements of which the first arm is empty and whose `else` becomes the only arm."""
        self.bare: set[ast.AST] = set()
        """Statements that lose the comment above them with their first arm."""
        self.joined: set[ast.AST] = set()
        """`try` statements without handlers, whose `else` becomes part of the body."""
        for statement in plan.source.tree.body:
            self._settle(statement)

    def is_empty(self, suite: list[ast.stmt]) -> bool:
        """True when every statement of a suite goes."""
        return all(statement in self.plan.gone for statement in suite)

    def _settle(self, statement: ast.stmt) -> None:
        plan = self.plan
        if statement not in plan.touched or statement in plan.gone or statement in plan.stubs:
            return
        if isinstance(statement, IMPORT):
            if len(plan.items.get((statement, ""), ())) == len(statement.names):
                plan.gone.add(statement)
            return
        parts = sections(plan.source, statement)
        for part in parts:
            if part.key not in plan.cut:
                for inner in part.suite:
                    self._settle(inner)
        if isinstance(statement, ast.If):
            self._if(statement, parts)
        elif isinstance(statement, TRIES):
            self._try(statement, parts)
        elif isinstance(statement, ast.Match):
            if all(part.key in plan.cut for part in parts[1:]):
                plan.gone.add(statement)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            if self.is_empty(statement.body) and is_quiet(statement):
                plan.gone.add(statement)
        else:
            plan.cut.update(p.key for p in parts[1:] if self.is_empty(p.suite))

    def _if(self, statement: ast.If, parts: list[Section]) -> None:
        cut = self.plan.cut
        kept = [part for part in parts if part.key not in cut]
        while kept and self.is_empty(kept[-1].suite):
            node = kept[-1].node
            if kept[-1].word != "else" and not (isinstance(node, ast.If) and is_pure(node.test)):
                break
            cut.add(kept.pop().key)
        if not kept:
            self.plan.gone.add(statement)
        elif kept[0].word == "else":
            self.unwrapped[statement] = [kept[0]]
            self.bare.add(statement)
        elif kept[0] is not parts[0]:
            self.bare.add(statement)
        elif len(parts) == len(kept) == 2 and kept[1].word == "else" and self.is_empty(statement.body):
            self.inverted.add(statement)

    def _try(self, statement: ast.Try | ast.TryStar, parts: list[Section]) -> None:
        cut = self.plan.cut
        named: dict[str, list[Section]] = {"body": [], "except": [], "else": [], "finally": []}
        for part in parts:
            if part.word in {"else", "finally"} and self.is_empty(part.suite):
                cut.add(part.key)
            if part.key not in cut:
                named[part.word].append(part)
        orelse, final = named["else"], named["finally"]
        if self.is_empty(statement.body):
            if final:
                if not named["except"] and orelse:
                    raise EditError("the body of a try with else and finally would be empty")
                return
            if orelse:
                self.unwrapped[statement] = orelse
            else:
                self.plan.gone.add(statement)
        elif not named["except"]:
            if not final:
                self.unwrapped[statement] = [*named["body"], *orelse]
            elif orelse:
                if self.plan.source.is_inline(orelse[0].suite):
                    raise EditError("an else on one line cannot join the body of its try")
                self.joined.add(statement)
