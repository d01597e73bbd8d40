"""Imports go downwards only, and every package has its layer."""

import subprocess
import sys
import tomllib

from tests.architecture.code import PACKAGES, ROOT, module_name, sources

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
FENCED = {"ray", "torch", "docker", "fastapi"}


def test_imports_keep_the_contracts() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_has_a_layer() -> None:
    (layers,) = [contract["layers"] for contract in CONTRACTS if contract["type"] == "layers"]
    named = {name.strip() for layer in layers for name in layer.split("|")}
    modules = {module_name(path) for path in sources()} - {"taskforge"}
    there = {
        ".".join(name.split(".")[:2]) if name.startswith("taskforge") else name.split(".")[0]
        for name in modules
    }
    assert named == there


def test_importing_the_packages_loads_nothing_heavy_and_leaves_no_trace() -> None:
    """Every module but those of `pipelines`, which run Ray, and the guests, which run elsewhere."""
    names = [name for path in sources() if ".guest" not in (name := module_name(path))]
    light = [name for name in names if not name.startswith(("pipelines", "taskforge.store.migrations"))]
    code = (
        "import importlib, os, sys\n"
        "before = dict(os.environ), os.getcwd()\n"
        f"for name in {light!r}: importlib.import_module(name)\n"
        "assert (dict(os.environ), os.getcwd()) == before, 'importing changes the process'\n"
        f"print(sorted({FENCED!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_packages_are_those_that_the_linters_look_at() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert set(tool["importlinter"]["root_packages"]) == set(PACKAGES)
    assert set(tool["mypy"]["packages"]) == set(PACKAGES)
