"""Makes a small Repository from source text, with coverage measured by really running its tests in-process.

Only for repositories written in the tests themselves; foreign code never runs this way.
"""

import importlib
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from taskforge.domain.agent import Repository
from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.source import License, Snapshot, Source, SourceKind
from taskforge.domain.testrun import Baseline, Coverage


def build(folder: Path, files: dict[str, str], *, packages: tuple[str, ...] = ("pkg",)) -> Repository:
    """Write the files, run every `test_*` function of the test modules, and return the repository."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    names = {p.split("/")[0].removesuffix(".py") for p in files}
    sys.path.insert(0, str(folder))
    try:
        coverage, locations = _run(folder, [p for p in sorted(files) if "test_" in p])
    finally:
        sys.path.remove(str(folder))
        for name in [m for m in sys.modules if m.split(".")[0] in names]:
            del sys.modules[name]
    recipe = EnvironmentRecipe(
        python="3.11",
        distribution="pkg",
        version="1",
        lock="",
        import_roots=(".",),
        packages=packages,
        package_paths=packages,
        test_paths=(),
        metadata={},
    )
    source = Source(kind=SourceKind.LOCAL, location=str(folder))
    snapshot = Snapshot(name="pkg", source=source, revision="r", tree="t", license=License())
    baseline = Baseline(coverage.tests, {}, coverage, 3, 1.0, 1.0, locations)
    contents = {path: text.encode() for path, text in files.items()}
    return Repository(snapshot, contents, Environment(recipe, folder, folder, ()), baseline)


def _run(folder: Path, test_files: list[str]) -> tuple[Coverage, dict[str, tuple[str, str]]]:
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        path = Path(frame.f_code.co_filename)
        if not path.is_relative_to(folder):
            return None
        if event == "line":
            lines.add((path.relative_to(folder).as_posix(), frame.f_lineno))
        return trace

    tests: list[str] = []
    called: dict[str, dict[int, int]] = {}
    locations = {}
    modules = {f: importlib.import_module(f.removesuffix(".py").replace("/", ".")) for f in test_files}
    for file, module in modules.items():
        for name in [n for n in vars(module) if n.startswith("test_")]:
            lines.clear()
            sys.settrace(trace)
            try:
                getattr(module, name)()
            finally:
                sys.settrace(None)
            for path, line in lines:
                by_line = called.setdefault(path, {})
                by_line[line] = by_line.get(line, 0) | 1 << len(tests)
            tests.append(f"{file}::{name}")
            locations[tests[-1]] = (file, name)
    return Coverage(tuple(tests), called, {}, {}), locations
