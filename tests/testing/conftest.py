"""A sandbox, and environments built by hand with chosen versions of pytest."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes.registry import get_sandbox
from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.errors import UsageError
from taskforge.domain.sandbox import Limits, Sandbox
from taskforge.testing.run import TestRunner

REPOS = Path(__file__).parent.parent / "fixtures" / "repos"
SMALL = Limits(
    wall_s=12, cpu_s=30, memory_bytes=512 << 20, disk_bytes=96 << 20, processes=64, output_bytes=4 << 20
)

MakeEnvironment = Callable[..., Environment]
MakeRunner = Callable[..., TestRunner]


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return get_sandbox("auto")
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def make_venv(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that gives a virtual environment with the packages, made once a session."""
    made: dict[tuple[str, ...], Path] = {}

    def make(*packages: str) -> Path:
        if packages not in made:
            folder = tmp_path_factory.mktemp("environment") / "venv"
            python = folder / "bin" / "python"
            uv = [sys.executable, "-m", "uv"]
            env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
            subprocess.run([*uv, "venv", "-q", "-p", sys.executable, str(folder)], check=True, env=env)
            subprocess.run(
                [*uv, "pip", "install", "-q", "--compile-bytecode", "-p", str(python), *packages],
                check=True,
                env=env,
            )
            made[packages] = folder
        return made[packages]

    return make


@pytest.fixture(scope="session")
def make_environment(make_venv: Callable[..., Path]) -> MakeEnvironment:
    def make(
        *packages: str,
        roots: tuple[str, ...] = (".",),
        code: tuple[str, ...] = (),
        tests: tuple[str, ...] = ("tests",),
        args: tuple[str, ...] = (),
    ) -> Environment:
        venv = make_venv(*(packages or ("pytest", "coverage")))
        recipe = EnvironmentRecipe(
            python=f"{sys.version_info.major}.{sys.version_info.minor}",
            distribution="example",
            version="1.0",
            lock="",
            import_roots=roots,
            packages=(),
            package_paths=code,
            test_paths=tests,
            metadata={},
            pytest_args=args,
        )
        mounts = (venv, Path(sys.base_prefix).resolve())
        return Environment(recipe, venv.parent, venv / "bin" / "python", mounts)

    return make


@pytest.fixture(scope="session")
def make_runner(sandbox: Sandbox, make_environment: MakeEnvironment) -> MakeRunner:
    """Return a function that gives a runner for a fixture repository."""

    def make(
        name: str,
        *packages: str,
        limits: Limits | None = None,
        test_timeout_s: float = 60.0,
        **recipe: object,
    ) -> TestRunner:
        return TestRunner(
            sandbox,
            make_environment(*packages, **recipe),
            REPOS / name,
            limits or Limits(wall_s=60, memory_bytes=1 << 30, disk_bytes=256 << 20),
            test_timeout_s=test_timeout_s,
        )

    return make
