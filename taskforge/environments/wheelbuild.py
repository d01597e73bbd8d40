"""Builds the wheel of the package under test, in the sandbox, only for its metadata and generated files."""

import re
import shutil
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from taskforge.environments.importnames import distribution_for
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.uvtool import Uv, log_tail, succeeded
from taskforge.environments.wheelfile import BuiltWheel, read_wheel

FALLBACK_VERSION = "0.0.0"
"""For trees without tags whose version nobody knows."""

_ROUNDS = 4
_SETUPTOOLS_BOUNDS = ("setuptools<81", "setuptools<66")
"""pkg_resources left in the 80s; before 66 setup.py files of the 2010s build, where the interpreter can."""


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """Why there is no wheel: the end of the log."""

    log: str
    compiling: bool
    """True where a compiler or a header was what failed."""


def usable_version(text: str) -> str:
    """Return the PEP 440 version in a tag or version string such as v1.2.3 or name-1.2; else the fallback."""
    for candidate in (text, text.lstrip("vV"), re.sub(r"^.*?[-_/]v?(?=\d)", "", text)):
        try:
            return str(Version(candidate))
        except InvalidVersion:
            continue
    return FALLBACK_VERSION


def version_settings(version: str) -> dict[str, str]:
    """Return the environment variables that tell build backends the version that git tags would tell."""
    return {
        "SETUPTOOLS_SCM_PRETEND_VERSION": version,
        "VCS_VERSIONING_PRETEND_VERSION": version,
        "PDM_BUILD_SCM_VERSION": version,
        "PBR_VERSION": version,
        "POETRY_DYNAMIC_VERSIONING_BYPASS": version,
        "UV_DYNAMIC_VERSIONING_BYPASS": version,
        "SETUPTOOLS_GIT_VERSIONING_BYPASS": version,
    }


def build_wheel(
    uv: Uv, interpreter: Interpreter, project: ProjectFiles, version: str
) -> BuiltWheel | BuildFailure:
    """Build the wheel from a throw-away copy of the tree and read it.

    First isolated, as its backend wants. Where that fails for a setuptools project, without isolation with
    older setuptools and with the modules that setup.py imports without declaring them.
    """
    target = uv.foreign / "wheel"
    settings = version_settings(version)
    common = ("build", "--wheel", "--no-sources", "--no-create-gitignore", "--out-dir", str(target))

    def attempt(*extra: str, python: str) -> BuiltWheel | BuildFailure:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        done = uv.run(
            *common,
            "--python",
            python,
            *extra,
            interpreter=interpreter,
            trusted=False,
            tree=project.tree,
            env=settings,
        )
        wheels = sorted(target.glob("*.whl"))
        if not succeeded(done) or not wheels:
            log = log_tail(done)
            return BuildFailure(
                log, bool(re.search(r"(gcc|clang|cc|g\+\+|cargo|rustc|cmake|meson|\.h: No such)\b", log))
            )
        try:
            return read_wheel(wheels[0])
        except ValueError as error:
            return BuildFailure(str(error), compiling=False)

    result = attempt(python=str(interpreter.path))
    if isinstance(result, BuiltWheel) or not project.backend.startswith("setuptools"):
        return result
    first = result
    for bound in _SETUPTOOLS_BOUNDS:
        extra: list[str] = []
        for _ in range(_ROUNDS):
            python = _build_environment(uv, interpreter, project, [bound, *extra])
            if python is None:
                break
            result = attempt("--no-build-isolation", python=python)
            if isinstance(result, BuiltWheel):
                return result
            missing = re.findall(r"No module named '([\w.]+)'", result.log)
            wanted = distribution_for(missing[-1]) if missing else None
            if wanted is None or wanted in extra or wanted == "setuptools":
                break
            extra.append(wanted)
    return first


def _build_environment(
    uv: Uv, interpreter: Interpreter, project: ProjectFiles, extra: list[str]
) -> str | None:
    """Make a venv with the declared build requirements and `extra`; None where these cannot be had."""
    folder = uv.foreign / "venv"
    shutil.rmtree(folder, ignore_errors=True)
    declared = project.table("build-system").get("requires")
    required = [entry for entry in declared if isinstance(entry, str)] if isinstance(declared, list) else []
    python = folder / "bin/python"
    made = uv.run(
        "venv", "--python", str(interpreter.path), str(folder), interpreter=interpreter, trusted=True
    )
    if not succeeded(made):
        return None
    filled = uv.run(
        "pip", "install", "--no-build", "--python", str(python), "wheel", *required, *extra,
        interpreter=interpreter,
        trusted=True,
        env={"UV_LINK_MODE": "copy"},
    )  # fmt: skip
    return str(python) if succeeded(filled) else None
