"""Which package indexes there are, as the user has configured uv or pip. Read when a fetch starts."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypi_simple import PYPI_SIMPLE_ENDPOINT

from taskforge.pipconfig import pip_options

_UV = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class Indexes:
    """Where archives are looked for, and how these places are reached."""

    urls: tuple[str, ...]
    """Simple repository indexes, http(s) or file URLs, without a slash at the end, the default one first."""
    links: tuple[str, ...] = ()
    """Folders that hold archives."""
    certificates: str = ""
    """File of authorities to trust; empty for the system's own or what SSL_CERT_FILE names."""
    proxy: str = ""
    trusted: frozenset[str] = frozenset()
    """Hosts whose certificate is not checked."""


def configured_indexes(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Indexes:
    """Return the indexes that uv is configured with, else pip's. The default is the public index."""
    environ = os.environ if environ is None else environ
    home = Path.home() if home is None else home
    pip = pip_options(environ, home)
    uv = _uv_options(environ, home)
    if uv is None:
        default = pip.get("index-url", "").strip() or PYPI_SIMPLE_ENDPOINT
        extra, links = pip.get("extra-index-url", "").split(), pip.get("find-links", "").split()
        no_index = pip.get("no-index", "").lower() in _TRUE
    else:
        default, extra, links, no_index = uv
    urls = () if no_index else tuple(dict.fromkeys(_url(url) for url in (default, *extra)))
    return Indexes(
        urls=urls,
        links=tuple(link.removeprefix("file://") for link in links),
        certificates="" if environ.get("SSL_CERT_FILE") else pip.get("cert", ""),
        proxy=pip.get("proxy", "").strip(),
        trusted=frozenset(pip.get("trusted-host", "").split()),
    )


def _uv_options(environ: Mapping[str, str], home: Path) -> tuple[str, list[str], list[str], bool] | None:
    """Return default index, further indexes, folders and whether no index is used; None where uv has none."""
    if any(environ.get(name) for name in _UV):
        default = environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL") or PYPI_SIMPLE_ENDPOINT
        extra = f"{environ.get('UV_INDEX', '')} {environ.get('UV_EXTRA_INDEX_URL', '')}".split()
        links = environ.get("UV_FIND_LINKS", "").replace(",", " ").split()
        return default, extra, links, environ.get("UV_NO_INDEX", "").lower() in _TRUE
    for place in (environ.get("UV_CONFIG_FILE"), home / ".config/uv/uv.toml", "/etc/uv/uv.toml"):
        if place and Path(place).is_file():
            return _from_table(_toml(Path(place)))
    return None


def _from_table(table: Mapping[str, Any]) -> tuple[str, list[str], list[str], bool] | None:
    table = {**table, **(table["pip"] if isinstance(table.get("pip"), dict) else {})}
    named = [entry for entry in table.get("index", []) if isinstance(entry, dict) and entry.get("url")]
    defaults = [str(entry["url"]) for entry in named if entry.get("default")]
    default = defaults or [str(table["index-url"])] if defaults or table.get("index-url") else []
    extra = [str(entry["url"]) for entry in named if not entry.get("default")]
    extra += [str(url) for url in table.get("extra-index-url", [])]
    links = [str(link) for link in table.get("find-links", [])]
    no_index = bool(table.get("no-index"))
    if not (default or extra or links or no_index):
        return None
    return (default or [PYPI_SIMPLE_ENDPOINT])[0], extra, links, no_index


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _url(text: str) -> str:
    """Return an index as a URL; uv may give it a name (`name=https://...`), and it may be a folder."""
    text = text.strip()
    head, equals, rest = text.partition("=")
    if equals and "/" not in head:
        text = rest
    if "://" not in text:
        text = Path(text).absolute().as_uri()
    return text.rstrip("/")
