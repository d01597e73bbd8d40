"""The distribution under test: metadata, layout, generated and compiled files, from its wheel or its tree."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.source import Snapshot
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.layout import Layout, from_tree, from_wheel
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.staticmeta import static_distribution
from taskforge.environments.uvtool import Uv
from taskforge.environments.wheelbuild import BuildFailure, build_wheel, usable_version
from taskforge.environments.wheelfile import BuiltWheel, Distribution

_LARGEST_GENERATED = 2 << 20


@dataclass(frozen=True, slots=True)
class Subject:
    """What is under test."""

    distribution: Distribution
    layout: Layout
    generated: Mapping[str, str]
    """Text files that the build makes and the tree lacks: path in tree -> text."""
    binaries: Mapping[str, bytes]
    """Other such files, but no extension modules."""
    extensions: Mapping[str, bytes]
    """Compiled extension modules: path in tree -> content."""
    failure: BuildFailure | None
    """Why there is no wheel; None where there is one."""
    notes: tuple[str, ...]

    @property
    def pure(self) -> bool:
        """True where any of its code is Python."""
        return bool(self.layout.package_paths)


def examine(
    uv: Uv, interpreter: Interpreter, project: ProjectFiles, snapshot: Snapshot, tree_files: Sequence[str]
) -> Subject | Skipped:
    """Build the wheel where there is a build system, and tell what is under test."""
    version = usable_version(snapshot.version or _sdist_version(project))
    built = build_wheel(uv, interpreter, project, version) if project.backend else None
    if isinstance(built, BuiltWheel):
        layout = from_wheel(built.files, tree_files)
        if layout is None:
            return Skipped(
                SkipReason.BUILD_FAILED,
                "The modules of its wheel are not in the tree under their import names.",
                "\n".join(sorted(built.files)[:50]),
            )
        return _from_wheel(built, layout, project.tree, tree_files)
    distribution = static_distribution(project, snapshot.name, version)
    layout = from_tree(distribution.name, tree_files)
    if layout is None:
        log = built.log if built else ""
        return Skipped(
            SkipReason.BUILD_FAILED, "It cannot be built, and no package is found in the tree.", log
        )
    notes = ("no wheel could be built; metadata and layout are read from the tree",) if built else ()
    return Subject(distribution, layout, {}, {}, {}, built, notes)


def _from_wheel(built: BuiltWheel, layout: Layout, tree: Path, tree_files: Sequence[str]) -> Subject:
    generated: dict[str, str] = {}
    binaries: dict[str, bytes] = {}
    extensions: dict[str, bytes] = {}
    notes: list[str] = []
    present = set(tree_files)
    compiled = built.extensions
    for path, content in built.files.items():
        if path.split("/", 1)[0].split(".", 1)[0] not in layout.packages and path not in compiled:
            continue
        place = layout.place(path, present)
        if os.path.lexists(tree / place) or "__pycache__" in place:
            continue
        if path in compiled:
            extensions[place] = content
        elif len(content) > _LARGEST_GENERATED:
            notes.append(f"a generated file is left out, it is too large: {place}")
        else:
            try:
                generated[place] = content.decode("utf-8")
            except UnicodeDecodeError:
                binaries[place] = content
    return Subject(built.distribution, layout, generated, binaries, extensions, None, tuple(notes))


def _sdist_version(project: ProjectFiles) -> str:
    for line in project.text("PKG-INFO").splitlines():
        if line.startswith("Version:"):
            return line.partition(":")[2].strip()
    return ""
