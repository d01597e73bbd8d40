"""What the guest is told to do: variants of a suite run, and the job that carries them into the sandbox."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from taskforge.domain.environment import Environment
from taskforge.domain.sandbox import Limits

BOOT = (
    "import json,sys\n"
    "with open(int(sys.argv[1]),'rb') as f:job=json.loads(f.read().decode())\n"
    "space={'__name__':'taskforge_guest'}\n"
    "exec(compile(job['sources']['__init__'],'<taskforge_guest>','exec'),space)\n"
    "space['enter'](job)\n"
)
"""Program given to `python -c`, with the number of the descriptor that holds the job."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One pytest session on the tree, with changes laid over it for the time of the session."""

    name: str
    overlay: Mapping[str, str | bytes | None] = field(default_factory=dict)
    """Path in the tree -> content; None deletes the file."""
    select: tuple[str, ...] | None = None
    """Node ids to run; only their files are collected. None runs the whole suite."""
    shuffle: int | None = None
    """Seed of a random order; None keeps the suite's own."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to change. A session with any runs in a fresh interpreter."""
    stop_at_first: bool = False
    coverage: bool = False
    leave_out: tuple[str, ...] = ()
    """Node ids not to run."""
    wall_s: float | None = None
    """Bound on this session, seconds; None takes that of the runner's limits."""
    test_timeout_s: float | None = None
    """Bound on one test, seconds of CPU time (three times as many by the clock); None: the runner's."""


@cache
def guest_sources() -> Mapping[str, str]:
    """Return the guest's files: module name -> text."""
    folder = Path(__file__).parent / "guest"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def _content(data: str | bytes | None) -> object:
    if isinstance(data, bytes):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(data).decode("ascii")}
    return data


def _generated(environment: Environment) -> dict[str, object]:
    """Files that the environment's build adds to the tree."""
    files: dict[str, object] = dict(environment.recipe.generated)
    overlay = environment.folder / "overlay"
    for path in environment.recipe.compiled:
        files[path] = _content((overlay / path).read_bytes())
    return files


def job_of(
    environment: Environment,
    variants: Sequence[Variant],
    *,
    limits: Limits,
    test_timeout_s: float,
    modules: Sequence[str],
    bytecode: Mapping[str, Any],
    keep_bytecode: bool,
) -> bytes:
    """Return the job for one batch as JSON.

    `modules` are imported first where lines are recorded. `bytecode` is what an earlier batch compiled and
    kept; `keep_bytecode` asks for what this one compiles.
    """
    recipe = environment.recipe
    job = {
        "boot": BOOT,
        "sources": guest_sources(),
        "entry": "driver",
        "import_roots": recipe.import_roots,
        "package_paths": recipe.package_paths,
        "test_paths": recipe.test_paths,
        "pytest_args": recipe.pytest_args,
        "generated": _generated(environment),
        "bytecode": bytecode,
        "keep_bytecode": keep_bytecode,
        "variants": [
            {
                "overlay": {path: _content(data) for path, data in variant.overlay.items()},
                "select": variant.select,
                "leave_out": variant.leave_out,
                "shuffle": variant.shuffle,
                "env": dict(variant.env),
                "fresh": bool(variant.env),
                "stop_at_first": variant.stop_at_first,
                "coverage": variant.coverage,
                "modules": list(modules) if variant.coverage else [],
                "wall_s": variant.wall_s or limits.wall_s,
                "cpu_s": limits.cpu_s,
                "test_timeout_s": variant.test_timeout_s or test_timeout_s,
                "output_bytes": limits.output_bytes,
                "processes": limits.processes,
            }
            for variant in variants
        ],
    }
    return json.dumps(job).encode("ascii")
