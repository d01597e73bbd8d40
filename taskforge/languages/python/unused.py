"""Imports that only the removed code used, so that they leave together with it."""

import ast
from collections.abc import Iterator

from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.modules import Module
from taskforge.languages.python.reads import exported, pieces


def unused_imports(before: Module, after: Module) -> list[Edit]:
    """Edits (in terms of `before`) for module-level imports that it used and that `after` does not use.

    Names in `__all__` or quoted annotations, `import x as x` and imports of `__future__` count as used;
    what was unused before stays.
    """
    lost = used_names(before) - used_names(after)
    still = {local_name(alias) for _, alias in module_imports(after.tree)}
    return [
        Edit(before.path, before.span(alias), EditKind.DELETE_ALIAS, local_name(alias))
        for _, alias in module_imports(before.tree)
        if local_name(alias) in lost & still and alias.asname != alias.name
    ]


def used_names(module: Module) -> set[str]:
    """Every global name that the module reads or exports."""
    names = exported(module)
    for piece in pieces(module):
        names |= piece.reads.names
    return names


def module_imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, ast.alias]]:
    """Imports that bind a global name: at the top level, also inside if, try and with."""
    work: list[ast.AST] = [tree]
    while work:
        node = work.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            if getattr(node, "module", "") != "__future__":
                yield from ((node, alias) for alias in node.names if alias.name != "*")
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            work.extend(ast.iter_child_nodes(node))


def local_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.split(".")[0]
