"""Lint messages of changed files, by one call of ruff for all of them."""

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from taskforge.domain.errors import TaskforgeError

RULES = "F401,F811,F821,F822,F823,F841,ARG"
OLDEST, NEWEST = 7, 14
"""Minor versions of Python that ruff knows as targets."""
TIMEOUT_S = 60.0

Message = tuple[str, str, str]
"""File, code (`syntax` for what does not parse) and text."""


@cache
def _binary() -> str:
    return str(find_ruff_bin())


def lint(versions: Mapping[str, Mapping[str, str]], *, python: str) -> dict[str, Counter[Message]]:
    """Return the messages of each version of some Python files: version name -> path -> text.

    `python` is the interpreter's version as major.minor. Raises TaskforgeError when ruff does not run.
    """
    minor = min(max(int(python.split(".")[1]), OLDEST), NEWEST)
    found: dict[str, Counter[Message]] = {name: Counter() for name in versions}
    with tempfile.TemporaryDirectory(prefix="taskforge-lint-") as folder:
        root = Path(folder).resolve()
        for name, files in versions.items():
            for path, text in files.items():
                place = root / name / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode())
        command = [
            _binary(),
            "check",
            "--isolated",
            "--no-cache",
            "--quiet",
            "--exit-zero",
            "--output-format=json",
            f"--select={RULES}",
            f"--target-version=py3{minor}",
            "--no-respect-gitignore",
            "--config=exclude=[]",
            str(root),
        ]
        try:
            done = subprocess.run(
                command, cwd=root, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
            rows = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise TaskforgeError(f"ruff did not run: {error}; install taskforge-rl again") from error
        for row in rows:
            name, _, path = row["filename"].removeprefix(f"{root}/").partition("/")
            code = row["code"]
            syntax = code is None or code == "invalid-syntax"
            found[name][path, "syntax" if syntax else code, row["message"]] += 1
    return found
