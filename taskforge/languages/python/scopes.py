"""Which names in a module refer to its global namespace: Python's scoping rules over an `ast`.

Only what is needed to find references: local variables, parameters and comprehension variables are told
apart from globals; class bodies see globals but are skipped by functions inside them.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class GlobalUse:
    """A use of a global name, with the attributes read from it: `a.b.c` has nodes (a, a.b, a.b.c)."""

    chain: tuple[ast.expr, ...]
    """The Name, then each Attribute that wraps it, innermost first."""

    @property
    def root(self) -> str:
        """The global name."""
        node = self.chain[0]
        assert isinstance(node, ast.Name)
        return node.id

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute names after the root."""
        return tuple(node.attr for node in self.chain[1:] if isinstance(node, ast.Attribute))


def global_uses(tree: ast.Module) -> list[GlobalUse]:
    """Every use (load or delete) of a global name in the module, names in quoted annotations included."""
    walker = _Walker()
    for statement in tree.body:
        walker.visit(statement, ())
    return walker.uses


def bound_names(node: ast.AST) -> set[str]:
    """Names bound directly in the scope of a function, lambda or comprehension (not in scopes within it)."""
    names: set[str] = set()
    outer: set[str] = set()
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            names.add(argument.arg)
        names.update(a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    elif isinstance(node, COMPREHENSIONS):
        body = [generator.target for generator in node.generators]
    else:
        body = list(ast.iter_child_nodes(node))
    for child in body:
        for name, is_outer in _bindings(child):
            (outer if is_outer else names).add(name)
    return names - outer


def _bindings(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield (name, declared global or nonlocal) for each binding in this node, same scope only."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from ((name, True) for name in node.names)
    elif isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id, False
        return
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, False
        return
    elif isinstance(node, ast.Lambda):
        return
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name.split(".")[0]), False
    elif (isinstance(node, ast.ExceptHandler) and node.name) or (
        isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
    ):
        yield node.name, False
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, False
    inner = node.generators[0].iter if isinstance(node, COMPREHENSIONS) else None
    for child in ast.iter_child_nodes(node) if inner is None else [inner]:
        yield from _bindings(child)
    if inner is not None:  # walrus targets inside a comprehension belong to the enclosing scope
        for child in ast.walk(node):
            if isinstance(child, ast.NamedExpr):
                yield child.target.id, False


class _Walker:
    def __init__(self) -> None:
        self.uses: list[GlobalUse] = []

    def visit(self, node: ast.AST, scopes: tuple[set[str], ...]) -> None:
        """Collect uses below `node`; `scopes` are the enclosing function scopes, outermost first."""
        if isinstance(node, ast.Attribute | ast.Name):
            self._use(node, scopes)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node, scopes)
        elif isinstance(node, ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self.visit(default, scopes)
            self.visit(node.body, (*scopes, bound_names(node)))
        elif isinstance(node, COMPREHENSIONS):
            inner = (*scopes, bound_names(node))
            for child in ast.iter_child_nodes(node):
                self.visit(child, inner)
        elif isinstance(node, ast.AnnAssign):
            self._annotation(node.annotation, scopes)
            for part in (node.target, node.value):
                if part is not None:
                    self.visit(part, scopes)
        else:
            # A class body's own names are read as globals by some lookups; treating them as such is safe
            # here, because a use that resolves to nothing global is dropped by the caller.
            for child in ast.iter_child_nodes(node):
                self.visit(child, scopes)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scopes: tuple[set[str], ...]) -> None:
        arguments = node.args
        for expression in [*node.decorator_list, *arguments.defaults, *arguments.kw_defaults]:
            if expression is not None:
                self.visit(expression, scopes)
        everyone = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        everyone += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        for annotation in [*(a.annotation for a in everyone), node.returns]:
            if annotation is not None:
                self._annotation(annotation, scopes)
        inner = (*scopes, bound_names(node))
        for statement in node.body:
            self.visit(statement, inner)

    def _annotation(self, node: ast.expr, scopes: tuple[set[str], ...]) -> None:
        for child in ast.walk(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                try:
                    quoted = ast.parse(child.value.strip(), mode="eval").body
                except SyntaxError:
                    continue
                for inner in ast.walk(quoted):
                    ast.copy_location(inner, child)
                self.visit(quoted, scopes)
        self.visit(node, scopes)

    def _use(self, node: ast.Attribute | ast.Name, scopes: tuple[set[str], ...]) -> None:
        chain: list[ast.expr] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            chain.append(root)
            root = root.value
        if not isinstance(root, ast.Name):
            self.visit(root, scopes)
            return
        if isinstance(root.ctx, ast.Store) and not chain:
            return
        if not any(root.id in scope for scope in scopes):
            self.uses.append(GlobalUse((root, *reversed(chain))))
