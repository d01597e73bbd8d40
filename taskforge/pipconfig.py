"""The options that pip is configured with. Reads files and the environment given; called at the rim only."""

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path


def pip_options(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return pip's options for an installation, long names to values.

    As in pip, [install] wins over [global], a later configuration file over an earlier one, and PIP_*
    variables over all files. A file that cannot be read counts as absent.
    """
    shared = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    files = [Path(folder, "pip/pip.conf") for folder in shared.split(":") if folder]
    files += [Path("/etc/pip.conf"), home / ".pip/pip.conf", home / ".config/pip/pip.conf"]
    files.append(Path(sys.prefix, "pip.conf"))
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        files = []
    elif named:
        files.append(Path(named))
    options: dict[str, str] = {}
    for section in ("global", "install"):
        for file in files:
            parser = configparser.RawConfigParser()
            try:
                parser.read(file, encoding="utf-8")
            except (configparser.Error, UnicodeDecodeError):
                continue
            if parser.has_section(section):
                options |= {name.replace("_", "-"): value for name, value in parser.items(section) if value}
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            options[name[4:].lower().replace("_", "-")] = value
    return options
