"""One collection of the suite in the sandbox, to learn what the environment lacks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskforge.domain.sandbox import Command, Ending, Limits, Sandbox
from taskforge.environments.uvtool import log_tail

_LIMITS = Limits(wall_s=300.0, cpu_s=600.0)
_QUIET = ("--collect-only", "-qq", "-p", "no:cacheprovider", "--continue-on-collection-errors")


@dataclass(frozen=True, slots=True)
class Collection:
    """What one collection found."""

    exit_code: int | None
    """pytest's exit status; None where pytest did not even return."""
    pytest_version: str
    files: Mapping[str, int]
    """Test file -> number of tests."""
    errors: tuple[tuple[str, str], ...]
    """(node id, text) of what could not be collected."""
    missing_fixtures: tuple[str, ...]
    warnings: tuple[str, ...]
    imports: Mapping[str, str]
    """Top-level name of the package under test -> error, empty where it imports."""
    absent: tuple[str, ...]
    """Modules that functions of the tests import and the environment lacks; told by the caller."""
    log: str
    """The end of what pytest printed."""
    ending: Ending

    @property
    def tests(self) -> int:
        """Number of tests collected; 0 where pytest broke down over them."""
        return sum(self.files.values()) if self.exit_code in {0, 1, 2, 5} else 0

    @property
    def quality(self) -> tuple[bool, int, int, int, int]:
        """Compares collections of one tree: higher is better."""
        broken = len(self.errors) + sum(1 for error in self.imports.values() if error)
        lacking = len(self.missing_fixtures) + len(self.absent)
        return (self.exit_code in {0, 1, 2, 5}, self.tests, -broken, -lacking, -len(self.warnings))

    @property
    def text(self) -> str:
        """Everything that may name what is missing."""
        return "\n".join([*(text for _, text in self.errors), *self.imports.values(), self.log])


def collect(
    sandbox: Sandbox,
    *,
    python: Path,
    mounts: Sequence[Path],
    overlay: Path,
    tree: Path,
    import_roots: Sequence[str],
    packages: Sequence[str],
    arguments: Sequence[str],
    test_paths: Sequence[str],
) -> Collection:
    """Collect the tests of `tree` without the network. Raises SandboxError only."""
    guest = Path(__file__).parent / "guest"
    job = {
        "overlay": str(overlay) if overlay.is_dir() else "",
        "import_roots": list(import_roots),
        "packages": list(packages),
        "arguments": ["-o", "addopts=", *_QUIET, *arguments, *test_paths],
    }
    completed = sandbox.run(
        Command(
            argv=(str(python), str(guest / "collector.py")),
            tree=tree,
            mounts=(*mounts, guest, *((overlay,) if overlay.is_dir() else ())),
            env={
                "PYTHONHASHSEED": "0",
                "PYTHONSAFEPATH": "1",
                "PYTHONNOUSERSITE": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
                "TZ": "UTC",
            },
            stdin=json.dumps(job).encode(),
            limits=_LIMITS,
        )
    )
    answer: dict[str, Any] = {}
    try:
        answer = json.loads(completed.channel or b"{}")
    except ValueError:
        answer = {}
    log = "\n".join(filter(None, [str(answer.get("crash", "")), log_tail(completed, 6000)]))
    return Collection(
        exit_code=answer.get("exit"),
        pytest_version=str(answer.get("pytest", "")),
        files=answer.get("files", {}),
        errors=tuple((str(node), str(text)) for node, text in answer.get("errors", [])),
        missing_fixtures=tuple(sorted(answer.get("fixtures", {}))),
        warnings=tuple(answer.get("warnings", [])),
        imports=answer.get("imports", {}),
        absent=(),
        log=log,
        ending=completed.ending,
    )
