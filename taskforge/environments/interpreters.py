"""Python interpreters of this machine, and which of them suits a project. Nothing is ever downloaded."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

NEWEST_SUPPORTED = (3, 13)
"""From 3.14 on coverage.py's default core has no dynamic contexts, and many test stacks are not ready."""

UNDECLARED = (3, 11)
"""For projects that name no versions: the last with distutils, imp, asyncore and unittest's old aliases."""

OLDEST = (3, 6)
"""The oldest interpreter for which uv can make an environment."""

_PROBE = (
    "import json, os, sys, importlib.util as u\n"
    "e = getattr(sys, '_base_executable', None) or sys.executable\n"
    "print(json.dumps([sys.version_info[:3], os.path.realpath(e), os.path.realpath(sys.base_prefix),"
    " sys.implementation.name, getattr(sys, 'abiflags', ''),"
    " all(u.find_spec(m) for m in ('ssl', 'zlib', '_ctypes', 'ensurepip'))]))\n"
)
_CLASSIFIER = re.compile(r"^Programming Language :: Python :: (\d)\.(\d+)$")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A base (non-virtual) CPython."""

    version: tuple[int, int, int]
    path: Path
    """The executable, symlinks resolved."""
    prefix: Path
    """Its installation folder, symlinks resolved."""

    @property
    def series(self) -> tuple[int, int]:
        """Major and minor version."""
        return self.version[:2]

    @property
    def minor(self) -> str:
        """Major and minor version as text, such as 3.11."""
        return f"{self.version[0]}.{self.version[1]}"

    @property
    def mounts(self) -> tuple[Path, ...]:
        """Host folders that must be visible for it to run, beyond the system's own."""
        system = (Path("/usr"), Path("/bin"), Path("/lib"))
        return () if any(self.prefix.is_relative_to(root) for root in system) else (self.prefix,)


@lru_cache(maxsize=1)
def installed() -> tuple[Interpreter, ...]:
    """Return one interpreter for each minor version there is, newest first.

    Looks at the one that runs this program, at PATH, and at the folders of pyenv and uv. Where a version
    is there more than once, the one that runs this program is preferred, then the highest patch level.
    """
    found: dict[tuple[int, int], Interpreter] = {}
    own = Path(os.path.realpath(sys.base_prefix))
    for interpreter in filter(None, map(_probe, _candidates())):
        known = found.get(interpreter.series)
        rank = (interpreter.prefix == own, interpreter.version)
        if known is None or rank > (known.prefix == own, known.version):
            found[interpreter.series] = interpreter
    return tuple(found[series] for series in sorted(found, reverse=True))


def with_version(minor: str, interpreters: Sequence[Interpreter] | None = None) -> Interpreter | None:
    """Return the interpreter of that major.minor version, or None where this machine has none."""
    pool = installed() if interpreters is None else interpreters
    return next((interpreter for interpreter in pool if interpreter.minor == minor), None)


def ranked(
    requires: str, classifiers: Iterable[str], interpreters: Sequence[Interpreter] | None = None
) -> tuple[Interpreter, ...]:
    """Return the interpreters a project may run on, best first.

    Best is the newest that the project's classifiers name, up to NEWEST_SUPPORTED; without classifiers the
    newest that `requires` (requires-python) admits, up to UNDECLARED. Versions above these bounds follow
    in rising order, since the lowest of them is nearest to what the project knew; at last come those
    that are admitted but not named. Empty where `requires` admits none. A malformed `requires` is ignored.
    """
    pool = installed() if interpreters is None else interpreters
    admitted = [interpreter for interpreter in pool if _admits(requires, interpreter)]
    named = {
        (int(match[1]), int(match[2]))
        for match in map(_CLASSIFIER.match, classifiers)
        if match and int(match[1]) >= 3
    }
    bound = NEWEST_SUPPORTED if named else UNDECLARED

    def rank(interpreter: Interpreter) -> tuple[bool, bool, int]:
        above = interpreter.series > bound
        distance = interpreter.version[1] if above else -interpreter.version[1]
        return (bool(named) and interpreter.series not in named, above, distance)

    return tuple(sorted(admitted, key=rank))


def _admits(requires: str, interpreter: Interpreter) -> bool:
    try:
        specifiers = SpecifierSet(requires)
    except InvalidSpecifier:
        return True
    return specifiers.contains(".".join(map(str, interpreter.version)), prereleases=True)


def _candidates() -> list[Path]:
    folders = [Path(sys.base_prefix, "bin")]
    folders += [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python")
    for root in (pyenv / "versions", managed):
        folders += [entry / "bin" for entry in sorted(root.glob("*"))]
    shims = pyenv / "shims"
    seen: dict[Path, None] = {}
    for folder in folders:
        if folder == shims:
            continue
        for entry in sorted(folder.glob("python3*")):
            if re.fullmatch(r"python3(\.\d+)?", entry.name) and os.access(entry, os.X_OK):
                seen.setdefault(Path(os.path.realpath(entry)) if not _virtual(entry) else entry)
    return list(seen)


def _virtual(executable: Path) -> bool:
    return (executable.parent.parent / "pyvenv.cfg").is_file()


def _probe(executable: Path) -> Interpreter | None:
    """Ask an executable what it is; None for what is broken, not CPython, or lacks needed modules."""
    try:
        answer = subprocess.run(
            [executable, "-I", "-S", "-c", _PROBE],
            capture_output=True,
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
        version, path, prefix, name, flags, able = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    major, minor, micro = version
    if name != "cpython" or "t" in flags or not able or (major, minor) < OLDEST:
        return None
    return Interpreter((major, minor, micro), Path(path), Path(prefix))
