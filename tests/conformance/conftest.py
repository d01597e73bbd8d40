"""One suite for every backend, and what each backend does not cover."""

import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes.registry import get_sandbox
from taskforge.domain.errors import UsageError
from taskforge.domain.sandbox import Command, Completed, Limits, Sandbox

BACKENDS = ("namespaces", "process")
NOT_COVERED = {
    "namespaces": frozenset[str](),
    "process": frozenset({"files", "mounts", "network", "processes", "identity", "calls", "threads"}),
}
"""What a backend does not claim, as in SECURITY.md. Tests are marked with what they need."""
PYTHON = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin")
"""An interpreter of the system: every backend shows it to the command."""
QUICK = {"wall_s": 20.0, "cpu_s": 20.0, "memory_bytes": 512 << 20, "processes": 64, "disk_bytes": 64 << 20}

Run = Callable[..., Completed]


@pytest.fixture(params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """A backend; the test is skipped where the backend does not cover what the test is marked with."""
    needed = {name for mark in request.node.iter_markers("covers") for name in mark.args}
    missing = needed & NOT_COVERED[request.param]
    if missing:
        pytest.skip(f"{request.param} does not cover: {', '.join(sorted(missing))}")
    try:
        return get_sandbox(request.param)
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def run(sandbox: Sandbox) -> Run:
    """Run a command: words, or one text for the shell."""

    def run(*argv: str, limits: dict[str, float] | None = None, **fields: object) -> Completed:
        words = argv if len(argv) > 1 else ("/bin/sh", "-c", argv[0])
        bounds = Limits(**{**QUICK, **(limits or {})})
        return sandbox.run(Command(words, limits=bounds, **fields))

    return run


@pytest.fixture
def python(run: Run) -> Run:
    """Run a Python program, given as its text, with the system's interpreter."""
    if PYTHON is None:
        pytest.skip("the system has no python3")
    return lambda code, *argv, **fields: run(PYTHON, "-I", "-S", "-c", textwrap.dedent(code), *argv, **fields)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with what is easily lost in a copy."""
    folder = tmp_path / "tree"
    (folder / "package" / "empty").mkdir(parents=True)
    (folder / "package" / "module.py").write_text("VALUE = 1\n")
    (folder / "tool").write_text("#!/bin/sh\necho tool ran\n")
    (folder / "tool").chmod(0o755)
    (folder / "link").symlink_to("package/module.py")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "umlaut-\u00e4 and space").write_bytes(b"\xff\x00")
    return folder
