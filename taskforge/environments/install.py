"""Builds the folder of an environment: venv from a lock, metadata of the package under test, overlay."""

import configparser
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from taskforge.domain.errors import SandboxError
from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.sandbox import Command, Limits, Sandbox
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.uvtool import Uv, log_tail, succeeded
from taskforge.environments.wheelfile import Distribution

_UNCONSTRAINED = {"UV_CONSTRAINT": ""}
"""A lock is complete; the user's constraints, which have no hashes, counted when it was made."""

_SCRIPT = """\
#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")"/'python' "$0" "$@"
' '''
import sys
from {module} import {first}
if __name__ == "__main__":
    sys.argv[0] = sys.argv[0].removesuffix(".exe") if hasattr(str, "removesuffix") else sys.argv[0]
    sys.exit({target}())
"""


def install_lock(uv: Uv, interpreter: Interpreter, lock: str, *, builds: bool) -> Skipped | None:
    """Make `uv.folder`/venv hold exactly the distributions of `lock`. Returns a skip where that fails.

    Only wheels are installed unless `builds`; then distributions that come as source are built with a
    download cache apart from the common one, into a venv of which no file is shared with that.
    """
    venv = uv.folder / "venv"
    if builds:
        shutil.rmtree(venv, ignore_errors=True)
    if not (venv / "bin/python").exists():
        done = uv.run(
            "venv", "--quiet", "--no-project", "--relocatable", "--python", str(interpreter.path), str(venv),
            interpreter=interpreter,
            trusted=True,
        )  # fmt: skip
        if not succeeded(done):
            raise SandboxError(f"uv cannot make a virtual environment here: {log_tail(done, 500)}")
    (uv.folder / "lock.txt").write_text(lock, encoding="utf-8")
    arguments = (
        "pip", "sync", "--quiet", "--require-hashes", "--allow-empty-requirements", "--python",
        str(venv / "bin/python"), str(uv.folder / "lock.txt"),
    )  # fmt: skip
    if builds:
        done = uv.run(
            *arguments, interpreter=interpreter, trusted=False, env=_UNCONSTRAINED, writable=(venv,)
        )
    else:
        done = uv.run(*arguments, "--no-build", interpreter=interpreter, trusted=True, env=_UNCONSTRAINED)
    if succeeded(done):
        return None
    return Skipped(
        SkipReason.DEPENDENCIES_UNSATISFIABLE, "Its locked dependencies cannot be installed.", log_tail(done)
    )


def site_packages(folder: Path, minor: str) -> Path:
    """Return the site-packages folder of the environment in `folder`."""
    return folder / "venv/lib" / f"python{minor}" / "site-packages"


def place_metadata(folder: Path, minor: str, distribution: Distribution, packages: tuple[str, ...]) -> None:
    """Write the dist-info folder of the package under test and its console scripts, but none of its code.

    RECORD is left out, so nothing takes the folder for an installed copy. top_level.txt is added where the
    backend writes none, for importlib.metadata.packages_distributions().
    """
    target = site_packages(folder, minor) / distribution.folder
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    files = {"top_level.txt": "".join(f"{name}\n" for name in packages), **distribution.files}
    for name, text in sorted(files.items()):
        (target / name).write_text(text, encoding="utf-8")
    for name, reference in console_scripts(distribution).items():
        module, _, rest = reference.partition(":")
        script = folder / "venv/bin" / name
        if not script.exists():
            script.write_text(
                _SCRIPT.format(module=module.strip(), first=rest.split(".")[0].strip(), target=rest.strip()),
                encoding="utf-8",
            )
            script.chmod(0o755)


def console_scripts(distribution: Distribution) -> dict[str, str]:
    """Return name -> `module:attribute` of the declared scripts; malformed ones are left out."""
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(distribution.files.get("entry_points.txt", ""))
    except configparser.Error:
        return {}
    found: dict[str, str] = {}
    for section in ("console_scripts", "gui_scripts"):
        if parser.has_section(section):
            for name, value in parser.items(section):
                reference = re.sub(r"\[.*\]$", "", value or "").strip()
                if re.fullmatch(r"[\w.-]+", name) and re.fullmatch(r"[\w.]+\s*:\s*[\w.]+", reference):
                    found[name] = reference
    return found


def compile_bytecode(sandbox: Sandbox, interpreter: Interpreter, folder: Path) -> None:
    """Write the .pyc files of the venv, so that runs on the read-only environment need not compile.

    Errors are ignored: some distributions carry files that do not compile.
    """
    packages = site_packages(folder, interpreter.minor)
    sandbox.run(
        Command(
            argv=(str(interpreter.path), "-I", "-S", "-m", "compileall", "-q", str(packages)),
            mounts=interpreter.mounts,
            writable=(folder,),
            limits=Limits(),
        )
    )


def write_overlay(
    folder: Path, generated: Mapping[str, str], compiled: Mapping[str, str], read_blob: Callable[[str], bytes]
) -> None:
    """Write overlay/: generated files and compiled ones (path to blob digest) as they lie in the tree."""
    overlay = folder / "overlay"
    shutil.rmtree(overlay, ignore_errors=True)
    overlay.mkdir(parents=True)
    contents = {path: text.encode("utf-8") for path, text in generated.items()}
    contents |= {path: read_blob(name) for path, name in compiled.items()}
    for path, content in sorted(contents.items()):
        target = overlay / path
        if not target.resolve().is_relative_to(overlay.resolve()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
