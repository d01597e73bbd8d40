"""Fetches the submodules of a commit, where the user asked for them."""

import configparser
import posixpath
from collections.abc import Callable
from urllib.parse import urlsplit

from taskforge.domain.errors import UsageError
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.domain.source import SourceKind
from taskforge.sources.gitobjects import Commit
from taskforge.sources.spec import parse_source

Fetch = Callable[[str, str], Commit | Skipped | Failed]
_DEPTH = 8


def fetch_submodules(
    commit: Commit, url: str, fetch: Fetch, depth: int = _DEPTH
) -> dict[str, tuple[int, bytes]] | Skipped | Failed:
    """Return the files of all submodules, of theirs too, by their paths in the tree of `commit`.

    A URL comes from the repository, so it may lead only to where the user's own URL leads: a repository of
    another machine cannot name a folder of this one.
    """
    urls = _urls(commit)
    files: dict[str, tuple[int, bytes]] = {}
    for path, revision in sorted(commit.submodules.items()):
        target = _absolute(urls.get(path, ""), url)
        if target is None or depth == 0:
            return Skipped(
                SkipReason.NO_SUCH_REPOSITORY,
                f"the submodule {path} has no URL that may be fetched: {urls.get(path, '')!r}",
            )
        inner = fetch(target, revision)
        if not isinstance(inner, Commit):
            return inner
        more = fetch_submodules(inner, target, fetch, depth - 1)
        if not isinstance(more, dict):
            return more
        files |= {f"{path}/{name}": entry for name, entry in (inner.files | more).items()}
    return files


def _urls(commit: Commit) -> dict[str, str]:
    """Read .gitmodules: path -> URL."""
    _, content = commit.files.get(".gitmodules", (0, b""))
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string("\n".join(map(str.strip, content.decode("utf-8", "replace").splitlines())))
    except configparser.Error:
        return {}
    sections = [dict(parser.items(name)) for name in parser.sections()]
    return {s["path"]: s["url"] for s in sections if s.get("path") and s.get("url")}


def _absolute(text: str, base: str) -> str | None:
    """Return the URL of a submodule as git reads it, None where it must not be followed."""
    if text.startswith(("./", "../")):
        scheme, separator, rest = base.partition("://")
        host, _, path = rest.partition("/") if separator else base.partition(":")
        joined = posixpath.normpath(posixpath.join("/" + path, text))
        text = f"{scheme}://{host}{joined}" if separator else f"{host}:{joined[1:]}"
    try:
        source = parse_source(text)
    except UsageError:
        return None
    local = urlsplit(source.location).scheme == "file"
    if source.kind is not SourceKind.GIT or source.revision or (local and not base.startswith("file:")):
        return None
    return source.location
