"""What a command with network access needs of the host: name resolution, certificates, index settings.

Only builds run with network access. The settings are those that pip and uv themselves read.
"""

import os
from collections.abc import Iterator
from pathlib import Path

PREFIXES = ("PIP_", "UV_")
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
        if "CACHE" not in name
    }


def network_mounts() -> tuple[Path, ...]:
    """Files and folders that those settings name, with the system's own."""
    places = [Path(folder) for folder in FOLDERS]
    for value in (*network_environment().values(), *_configured()):
        places += _local_paths(value)
    return tuple(dict.fromkeys(place for place in places if place.exists()))


def _configured() -> Iterator[str]:
    home = Path.home()
    for file in (Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"), home / ".config/pip/pip.conf"):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        for line in text.splitlines():
            yield line.partition("=")[2]


def _local_paths(value: str) -> list[Path]:
    words = (word.removeprefix("file://") for word in value.split())
    return [Path(word) for word in words if word.startswith("/") and len(Path(word).parts) > 2]
