"""Compiled code of a snapshot's files, kept beside its environment so that each sandbox need not compile it.

It was made inside the sandbox by a run of the untouched repository, and is only ever used inside the sandbox,
for source files whose content is exactly the same. It saves time and changes no result.
"""

import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import Any

from taskforge.domain.environment import Environment

FILE = "bytecode.z"


def load_bytecode(environment: Environment) -> dict[str, Any] | None:
    """Return what was kept for this environment; None when there is nothing that can be read."""
    try:
        value = json.loads(zlib.decompress((environment.folder / FILE).read_bytes()))
    except (OSError, ValueError, zlib.error):
        return None
    return value if isinstance(value, dict) else None


def keep_bytecode(environment: Environment, data: bytes) -> None:
    """Keep what a batch compiled. A folder that cannot be written is no error: only time is lost."""
    try:
        descriptor, name = tempfile.mkstemp(dir=environment.folder, prefix=FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(zlib.compress(data, 1))
        Path(name).replace(environment.folder / FILE)
    except OSError:
        return
