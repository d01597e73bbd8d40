"""How the code that stays was tied to what is gone: exports, re-exports, tables, and callers."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from taskforge.domain.removal import Removal
from taskforge.languages.python.index import Index
from taskforge.languages.python.modules import Module
from taskforge.statement import parsed


@dataclass(frozen=True, slots=True)
class Tie:
    """Names that a module lost besides its own definitions."""

    module: str
    path: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """A definition that stays and whose code was changed."""

    path: str
    module: str
    name: str
    """Qualified name; empty for statements at module level."""
    keys: tuple[str, ...]
    """Source of the short elements that a table or call lost."""
    is_table: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All ties of a removal."""

    exports: tuple[Tie, ...]
    """Names that left `__all__`."""
    imports: tuple[Tie, ...]
    """Names of removed symbols that a module imported from elsewhere in the package."""
    callers: tuple[Caller, ...]
    new_modules: tuple[str, ...]
    """Paths of files that are wholly absent."""


def surroundings(indexes: Mapping[str, Index], removal: Removal) -> Surroundings:
    """Compare the changed files before (path -> index of the file) and after."""
    short = {place.partition("::")[2] for place in removal.symbols}
    exports, imports, callers = [], [], []
    for path, index in sorted(indexes.items()):
        module, text = index.modules.get(path), removal.source_files[path]
        if module is None:
            continue
        new_index = parsed.index(path, (text or "").encode(), ())
        new = new_index.modules.get(path) if text is not None else None
        ours = {p.partition("::")[2] for p in removal.symbols if p.startswith(f"{path}::")}
        lost = _exported(index, path) - (_exported(new_index, path) if new is not None else set())
        if lost:
            exports.append(Tie(module.dotted, path, tuple(sorted(lost))))
        before = index.namespaces[path].imports
        still = new_index.namespaces[path].imports if new is not None else {}
        gone = [name for name in before if name not in still and (before[name][1] or name) in short]
        if gone and text is not None:
            imports.append(Tie(module.dotted, path, tuple(sorted(gone))))
        if new is not None:
            callers += _callers(module, new, ours)
    absent = tuple(sorted(path for path, text in removal.source_files.items() if text is None))
    return Surroundings(tuple(exports), tuple(imports), tuple(callers), absent)


def _exported(index: Index, path: str) -> set[str]:
    return {str(element.value) for _, element in index.namespaces[path].exports}


def _callers(before: Module, after: Module, removed: set[str]) -> list[Caller]:
    old, new = _named(before), _named(after)
    found = []
    for name, node in old.items():
        if name in removed or name not in new or name.partition(".")[0] in removed:
            continue
        if _segment(before, node) == _segment(after, new[name]):
            continue
        keys = _elements(node) - _elements(new[name])
        is_table = isinstance(node, ast.Assign | ast.AnnAssign)
        found.append(Caller(before.path, before.dotted, name, tuple(sorted(keys)), is_table))
    return found


def _segment(module: Module, node: ast.stmt) -> list[str]:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return module.lines[first - 1 : node.end_lineno]


def _named(module: Module) -> dict[str, ast.stmt]:
    """Definitions by qualified name: functions, methods and assignments."""
    found: dict[str, ast.stmt] = {}
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}": inner for name, inner in _bindings(node.body)}
        found |= dict(_bindings([node]))
    return found


def _bindings(body: Iterable[ast.stmt]) -> list[tuple[str, ast.stmt]]:
    found: list[tuple[str, ast.stmt]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((node.name, node))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [(t.id, node) for t in targets if isinstance(t, ast.Name) and t.id != "__all__"]
    return found


def _elements(node: ast.stmt) -> set[str]:
    """Source of string keys and names in displays, where short."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            found |= {ast.unparse(key) for key in inner.keys if isinstance(key, ast.Constant | ast.Name)}
        elif isinstance(inner, ast.List | ast.Tuple | ast.Set):
            found |= {ast.unparse(e) for e in inner.elts if isinstance(e, ast.Constant | ast.Name)}
    return {text for text in found if len(text) <= 40}
