"""Finds imports, and uses through imported modules, of names that a removal took away."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from taskforge.domain.removal import Removal
from taskforge.statement import parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Gone:
    """What is no longer there."""

    modules: set[str] = field(default_factory=set)
    """Dotted names of removed modules."""
    names: dict[str, set[str]] = field(default_factory=dict)
    """Dotted module -> names that it no longer binds."""

    @property
    def words(self) -> frozenset[bytes]:
        """Words one of which any file that refers to something gone must hold."""
        found = {name.rpartition(".")[2] for name in self.modules}
        return frozenset(word.encode() for word in found.union(*self.names.values()))


def gone_names(files: Mapping[str, bytes], roots: tuple[str, ...], removal: Removal) -> Gone:
    """Return the modules and module-level names that the start tree lacks."""
    gone = Gone()
    for path, text in removal.source_files.items():
        if not path.endswith(".py") or path not in files:
            continue
        dotted = dotted_name(path, roots)
        if text is None:
            gone.modules.add(dotted)
            continue
        before = _parsed(files[path])
        after = _parsed(text.encode())
        if before is not None and after is not None:
            lost = bindings(before) - bindings(after)
            if lost and not any(name == "__getattr__" for name in bindings(after)):
                gone.names[dotted] = lost
    return gone


def dangling(files: Mapping[str, bytes], roots: tuple[str, ...], removal: Removal) -> list[tuple[str, str]]:
    """Return (file, what it names) for each reference in the start tree to what is gone, sorted.

    `files` are those of the snapshot, `roots` the import roots.
    """
    gone = gone_names(files, roots, removal)
    found = set(_dead_exports(removal, roots, gone))
    _spread_stars(files, roots, removal, gone)
    if not gone.modules and not gone.names:
        return []
    words = gone.words
    for path, content in _start_files(files, removal):
        if path.endswith((".py", ".pyi")) and any(word in content for word in words):
            tree = _parsed(content)
            if tree is not None:
                dotted = dotted_name(path, roots)
                is_package = PurePosixPath(path).stem == "__init__"
                found |= {(path, what) for what in _references(tree, dotted, gone, is_package=is_package)}
    return sorted(found)


def _dead_exports(removal: Removal, roots: tuple[str, ...], gone: Gone) -> Iterator[tuple[str, str]]:
    """Entries of `__all__` for names that are gone. (The linter does not look at packages.)"""
    for path, text in removal.source_files.items():
        lost = gone.names.get(dotted_name(path, roots), set()) if path.endswith(".py") else set()
        if not lost or text is None:
            continue
        exports = parsed.index(path, text.encode(), ()).namespaces[path].exports
        for _, element in exports:
            if element.value in lost:
                yield path, f"__all__: {element.value}"


def dotted_name(path: str, roots: tuple[str, ...]) -> str:
    """Return the name under which a file is imported, given the import roots (`.`, `src`)."""
    for root in sorted((r.strip("./") for r in roots), key=len, reverse=True):
        if root and path.startswith(f"{root}/"):
            path = path[len(root) + 1 :]
            break
    parts = list(PurePosixPath(path).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def bindings(tree: ast.Module) -> set[str]:
    """Return the names that a module binds at its top level, in all branches."""
    found: set[str] = set()
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Global):
            found |= set(node.names)
        if not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    return found - {"*"}


def _start_files(files: Mapping[str, bytes], removal: Removal) -> Iterator[tuple[str, bytes]]:
    overlay = removal.overlay
    for path in sorted(files.keys() | overlay.keys()):
        if path in overlay:
            text = overlay[path]
            if text is not None:
                yield path, text.encode()
        else:
            yield path, files[path]


def _spread_stars(files: Mapping[str, bytes], roots: tuple[str, ...], removal: Removal, gone: Gone) -> None:
    """A module that imports `*` from one that lost names has lost them too."""
    for path, content in _start_files(files, removal) if gone.names else ():
        if not path.endswith("__init__.py") or b"import *" not in content:
            continue
        tree = _parsed(content)
        if tree is None:
            continue
        dotted = dotted_name(path, roots)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                lost = gone.names.get(_absolute(node, dotted, is_package=True), set()) - bindings(tree)
                public = {name for name in lost if not name.startswith("_")}
                if public:
                    gone.names.setdefault(dotted, set()).update(public)


def _parsed(content: bytes) -> ast.Module | None:
    return parsed.tree(content.decode("utf-8", "replace"))


def _absolute(node: ast.ImportFrom, dotted: str, *, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = dotted.split(".") if dotted else []
    keep = len(parts) - node.level + (1 if is_package else 0)
    return ".".join([*parts[: max(keep, 0)], *(node.module.split(".") if node.module else [])])


def _references(tree: ast.Module, dotted: str, gone: Gone, *, is_package: bool) -> Iterator[str]:
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in gone.modules:
                    yield alias.name
                local = alias.asname or alias.name.split(".")[0]
                aliases[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, dotted, is_package=is_package)
            if source in gone.modules:
                yield source
                continue
            for alias in node.names:
                inner = f"{source}.{alias.name}" if source else alias.name
                if inner in gone.modules or alias.name in gone.names.get(source, ()):
                    yield inner
                aliases[alias.asname or alias.name] = inner
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            chain = _chain(node)
            if chain is not None and chain[0] in aliases:
                full = ".".join([aliases[chain[0]], *chain[1:]])
                source, _, name = full.rpartition(".")
                if full in gone.modules or name in gone.names.get(source, ()):
                    yield full


def _chain(node: ast.Attribute) -> list[str] | None:
    names = [node.attr]
    inner: ast.expr = node.value
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return [inner.id, *reversed(names)] if isinstance(inner, ast.Name) else None


def unresolved_entry_points(
    metadata: Mapping[str, str], files: Mapping[str, bytes], roots: tuple[str, ...]
) -> list[str]:
    """Return the entry points whose module or first attribute a tree does not define, as written."""
    by_name = {dotted_name(path, roots): path for path in files if path.endswith(".py")}
    missing = []
    for line in metadata.get("entry_points.txt", "").splitlines():
        _, equals, target = line.partition("=")
        module, _, attribute = target.split("[")[0].strip().partition(":")
        if not equals or not module or line.lstrip().startswith(("[", "#", ";")):
            continue
        path = by_name.get(module)
        tree = _parsed(files[path]) if path is not None else None
        first = attribute.split(".")[0].strip()
        if tree is None or (first and first not in bindings(tree)):
            missing.append(line.strip())
    return sorted(missing)
