"""What a command with network access needs of the host: name resolution, certificates, index settings.

Only builds run with network access. The settings are those that pip and uv themselves read.
"""

import configparser
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

PREFIXES = ("PIP_", "UV_")
NOT_NEEDED = ("CACHE", "PUBLISH")
"""Parts of names that are left out: the host's caches, and what only uploads need."""
NAMES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
FOLDERS = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/etc/pip.conf",
    "/etc/xdg/pip",
    "/etc/uv",
)


def network_environment() -> dict[str, str]:
    """Variables that tell pip, uv and HTTP clients where and how to reach the package index."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(PREFIXES) or name in NAMES
        if not any(part in name for part in NOT_NEEDED)
    }


def network_mounts() -> tuple[Path, ...]:
    """Files and folders that those settings name, with the system's own."""
    places = [Path(folder) for folder in FOLDERS]
    for value in (*network_environment().values(), *_configured()):
        places += _local_paths(value)
    return tuple(dict.fromkeys(place for place in places if place.exists()))


def _configured() -> Iterator[str]:
    """Yield the values in pip's configuration files."""
    for file in (Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"), Path.home() / ".config/pip/pip.conf"):
        config = configparser.RawConfigParser(strict=False)
        try:
            config.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in config.sections():
            yield from (value for _, value in config.items(section))


def _local_paths(value: str) -> list[Path]:
    """Return the paths in a value: one, or several between spaces, commas or colons; also as file:// URLs.

    A folder right below the root (/opt, /home, /tmp) is never shown as a whole.
    """
    found = []
    for word in re.split(r"[\s,]+", value):
        path = unquote(urlsplit(word).path) if word.startswith("file://") else word
        found += [Path(part) for part in path.split(":") if part.startswith("/")]
    return [path for path in found if len(path.parts) > 2 and ".." not in path.parts]
