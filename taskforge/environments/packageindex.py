"""Where uv finds packages inside the sandbox: the user's UV_* settings, or pip's settings translated."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from taskforge.pipconfig import pip_options

_PASSED = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
)
_INDEX = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
)
_NOT_PASSED = (
    "UV_CACHE_DIR",
    "UV_PYTHON",
    "UV_PROJECT",
    "UV_WORKING",
    "UV_LINK_MODE",
    "UV_TOOL",
    "UV_INSTALL",
    "UV_RUN",
    "UV_VENV",
    "UV_ENV_FILE",
    "UV_SYSTEM",
    "UV_BREAK",
    "UV_TARGET",
    "UV_PREFIX",
)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Environment variables for uv, and host files or folders they point at."""

    env: Mapping[str, str]
    mounts: tuple[Path, ...]


def index_settings(environ: Mapping[str, str] | None = None, home: Path | None = None) -> IndexSettings:
    """Return how uv reaches the package index.

    uv's own settings win. Where the user has none that name an index, pip's are translated: index-url,
    extra-index-url, find-links, no-index, constraint, cert, proxy and trusted-host, from its configuration
    files and PIP_* variables. As pip does, all indexes count alike then. A value with credentials reaches
    builds of foreign code; SECURITY.md says so.
    """
    environ = os.environ if environ is None else environ
    home = Path.home() if home is None else home
    env = {name: environ[name] for name in _PASSED if environ.get(name)}
    env |= {
        name: value
        for name, value in environ.items()
        if name.startswith("UV_") and value and not name.startswith(_NOT_PASSED)
    }
    config = _uv_config(environ, home)
    if config:
        env["UV_CONFIG_FILE"] = str(config)
    elif not any(name in env for name in _INDEX):
        env = _translate(pip_options(environ, home)) | env
    return IndexSettings(dict(sorted(env.items())), _mounts(env))


def _uv_config(environ: Mapping[str, str], home: Path) -> Path | None:
    candidates = [environ.get("UV_CONFIG_FILE"), home / ".config/uv/uv.toml", "/etc/uv/uv.toml"]
    return next((Path(path) for path in candidates if path and Path(path).is_file()), None)


def _translate(options: Mapping[str, str]) -> dict[str, str]:
    env: dict[str, str] = {}
    if options.get("index-url"):
        env["UV_DEFAULT_INDEX"] = options["index-url"].strip()
    extra = _split(options.get("extra-index-url", ""))
    if extra:
        env["UV_INDEX"] = " ".join(extra)
        env["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    links = _split(options.get("find-links", ""))
    if links:
        env["UV_FIND_LINKS"] = ",".join(links)
    constraints = [path for path in _split(options.get("constraint", "")) if Path(path).is_file()]
    if constraints:
        env["UV_CONSTRAINT"] = env["UV_BUILD_CONSTRAINT"] = " ".join(constraints)
    if options.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        env["UV_NO_INDEX"] = "1"
    if options.get("trusted-host"):
        env["UV_INSECURE_HOST"] = " ".join(_split(options["trusted-host"]))
    if options.get("proxy"):
        env["HTTPS_PROXY"] = env["HTTP_PROXY"] = options["proxy"].strip()
    if options.get("cert") and Path(options["cert"]).is_file():
        env["SSL_CERT_FILE"] = options["cert"]
    return env


def _mounts(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the host paths that the settings name. An index folder is shown with its files beside it."""
    found: set[Path] = set()
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"):
        for value in _split(env.get(name, "")):
            path = _local(value.split("=", 1)[-1] if "=file:" in value else value)
            if path:
                found.add(path.parent if path.name == "simple" else path)
    for value in _split(env.get("UV_FIND_LINKS", ""), ","):
        path = _local(value)
        if path:
            found.add(path)
    for name in (
        "UV_CONSTRAINT",
        "UV_BUILD_CONSTRAINT",
        "UV_OVERRIDE",
        "UV_EXCLUDE",
        "UV_CONFIG_FILE",
        "SSL_CERT_FILE",
    ):
        found.update(Path(value) for value in _split(env.get(name, "")))
    found.update(Path(value) for value in _split(env.get("SSL_CERT_DIR", ""), ":"))
    return tuple(sorted(path.absolute() for path in found if path.exists()))


def _local(value: str) -> Path | None:
    if value.startswith("file:"):
        return Path(unquote(urlsplit(value).path))
    return Path(value) if "://" not in value else None


def _split(text: str, separator: str | None = None) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]
