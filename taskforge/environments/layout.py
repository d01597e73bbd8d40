"""Where the code of the distribution lies in the tree: from the built wheel, or else from the tree alone."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

TEST_FOLDERS = frozenset({"test", "tests", "testing", "unittests", "unit_tests"})
_NO_PACKAGE = TEST_FOLDERS | frozenset(
    [
        "doc",
        "docs",
        "documentation",
        "example",
        "examples",
        "sample",
        "samples",
        "demo",
        "demos",
        "benchmark",
        "benchmarks",
        "bench",
        "script",
        "scripts",
        "tool",
        "tools",
        "ci",
        "build",
        "dist",
        "bin",
        "etc",
        "requirements",
        "reqs",
        "tasks",
        "noxfile",
        "conftest",
        "setup",
        "data",
        "assets",
        "fixtures",
        "perf",
        "extras",
        "contrib",
        "utils_dev",
        "typing_tests",
        "type_tests",
        "integration_tests",
        "packaging_tests",
    ]
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Import roots, top-level names and the places of their code, all relative to the tree and sorted."""

    import_roots: tuple[str, ...]
    packages: tuple[str, ...]
    package_paths: tuple[str, ...]

    def place(self, path: str, tree_files: frozenset[str] | set[str]) -> str:
        """Return where in the tree a file of the wheel lies or would lie."""
        top = path.split("/", 1)[0]
        for root in self.import_roots:
            candidate = join(root, path)
            if candidate in tree_files:
                return candidate
        for root in self.import_roots:
            if any(
                place == join(root, top) or place.startswith(join(root, top) + "/") for place in tree_files
            ):
                return join(root, path)
        return join(self.import_roots[0], path)


def join(root: str, path: str) -> str:
    """Join a relative root, which may be '.', and a path below it."""
    return path if root in {"", "."} else f"{root}/{path}"


def from_wheel(wheel_files: Iterable[str], tree_files: Sequence[str]) -> Layout | None:
    """Match the modules of a wheel with the files of the tree.

    Returns None where the tree holds no module of the wheel under its own name, since then nothing could
    be imported from the working tree.
    """
    modules = [path for path in wheel_files if path.endswith((".py", ".pyx", ".so", ".pyi"))]
    tops: dict[str, list[str]] = {}
    for path in modules:
        tops.setdefault(path.split("/", 1)[0], []).append(path)
    real = {top: paths for top, paths in tops.items() if _name(top) not in TEST_FOLDERS | {"conftest"}}
    tops = real or tops
    by_name: dict[str, list[str]] = {}
    for path in tree_files:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    roots: Counter[str] = Counter()
    names: set[str] = set()
    places: set[str] = set()
    for top in sorted(tops):
        root = _root(tops[top], by_name)
        if root is None:
            continue
        roots[root] += len(tops[top])
        names.add(_name(top))
        places.update(join(root, place) for place in _portions(top, tops[top]))
    if not roots:
        return None
    ordered = sorted(roots, key=lambda root: (-roots[root], root))
    return Layout(tuple(ordered), tuple(sorted(names)), tuple(sorted(places)))


def from_tree(distribution: str, tree_files: Sequence[str]) -> Layout | None:
    """Guess the layout without a wheel: src/ or lib/, else folders with __init__.py, else a single module."""
    for root in ("src", "lib", "python"):
        inner = [path[len(root) + 1 :] for path in tree_files if path.startswith(f"{root}/")]
        tops = sorted({path.split("/", 1)[0] for path in inner if path.endswith(".py")})
        packages = [top for top in tops if f"{top}/__init__.py" in inner or top.endswith(".py")]
        if root == "src" and not packages:
            packages = [top for top in tops if not top.endswith(".egg-info")]
        if packages and f"{root}/__init__.py" not in tree_files:
            names = tuple(sorted(map(_name, packages)))
            return Layout((root,), names, tuple(join(root, top) for top in packages))
    wanted = re.sub(r"[-.]+", "_", distribution).lower()
    present = set(tree_files)
    folders = sorted(
        path.split("/", 1)[0] for path in tree_files if re.fullmatch(r"[A-Za-z_]\w*/__init__\.py", path)
    )
    packages = [name for name in folders if name.lower() not in _NO_PACKAGE or name.lower() == wanted]
    modules = [
        path
        for path in tree_files
        if re.fullmatch(r"[A-Za-z_]\w*\.py", path)
        and path[:-3].lower() not in _NO_PACKAGE
        and not re.match(r"test_|.*_test\.py$", path)
    ]
    exact = [path for path in modules if path[:-3].lower() == wanted]
    if exact and not any(name.lower() == wanted for name in packages):
        return Layout((".",), (_name(exact[0]),), (exact[0],))
    if packages:
        return Layout((".",), tuple(packages), tuple(packages))
    namespace = sorted({path.split("/")[0] for path in present if re.fullmatch(rf"{wanted}/.+\.py", path)})
    if namespace:
        return Layout((".",), tuple(namespace), tuple(namespace))
    if modules:
        return Layout((".",), tuple(sorted(map(_name, modules))), tuple(modules))
    return None


def _name(top: str) -> str:
    return top.split(".", 1)[0]


def _root(paths: list[str], by_name: dict[str, list[str]]) -> str | None:
    """Return the folder of the tree below which most of these wheel paths are found."""
    votes: Counter[str] = Counter()
    for path in paths:
        for candidate in by_name.get(path.rsplit("/", 1)[-1], ()):
            if candidate == path:
                votes["."] += 1
            elif candidate.endswith(f"/{path}"):
                votes[candidate[: -len(path) - 1]] += 1
    if not votes:
        return None
    return min(votes, key=lambda root: (-votes[root], root != ".", root.count("/"), root))


def _portions(top: str, paths: list[str]) -> set[str]:
    """Return the regular packages and modules below a top-level name; a namespace itself is no portion."""
    if "/" not in paths[0]:
        return {paths[0]} if paths[0].endswith(".py") else set()
    packages = {str(PurePosixPath(path).parent) for path in paths if path.endswith("/__init__.py")}
    portions: set[str] = set()
    for path in paths:
        parents = [str(parent) for parent in reversed(PurePosixPath(path).parents)][1:]
        portion = next((parent for parent in parents if parent in packages), None)
        if portion is not None or path.endswith(".py"):
            portions.add(portion or path)
    return portions
