"""How a source is written: git URLs, PyPI sdists and folders, on the command line and in records."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from taskforge.domain.errors import UsageError
from taskforge.domain.source import Source, SourceKind

FORMS = "a git URL (https, ssh, git@host:path or file), pypi:NAME==VERSION, or a folder"

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!//)[^:]")
_BAD_REVISION = re.compile(r"[\0-\x20\x7f~^:?*\[\\]|\.\.|@\{|^[-/.]|[/.]$|//|\.lock$")
"""What git allows in no name of a branch or tag (git check-ref-format), and options."""


def parse_source(text: str) -> Source:
    """Read a source as a user writes it. `parse_source(source.spec) == source` for all it returns.

    A folder may be absent (fetching it says so), but a bare word must be a folder here. A folder that is a
    bare git repository, or that is followed by `@revision`, is taken as a git repository. Raises UsageError.
    """
    if text.startswith("pypi:"):
        return sdist_source(*_split_version(text.removeprefix("pypi:")))
    match = _URL.match(text)
    if match:
        return _url(text, match.group(1).lower())
    if _SCP.match(text):
        host, _, path = text.partition(":")
        path, _, revision = path.partition("@")
        return git_source(f"{host}:{path}", revision, marked="@" in text.partition(":")[2])
    return _folder(text)


def sdist_source(name: str, version: str = "", sha256: str = "") -> Source:
    """Return the source of a PyPI sdist; without a version, of the newest. Raises UsageError."""
    try:
        canonical = canonicalize_name(name.strip(), validate=True)
    except InvalidName as error:
        raise UsageError(f"{name!r} is no name of a PyPI project; write pypi:NAME==VERSION") from error
    try:
        wanted = str(Version(version)) if version else ""
    except InvalidVersion as error:
        raise UsageError(f"{version!r} is no version; write pypi:{canonical}==1.2.3") from error
    sha256 = sha256.lower()
    if sha256 and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise UsageError(f"the sha256 of {canonical} must be 64 hexadecimal digits")
    return Source(kind=SourceKind.SDIST, location=canonical, revision=wanted, sha256=sha256)


def git_source(location: str, revision: str = "", *, marked: bool = False) -> Source:
    """Return the source of a git repository; `marked`: a revision was announced. Raises UsageError."""
    if (marked and not revision) or (revision and _BAD_REVISION.search(revision)):
        raise UsageError(f"{revision!r} is no git revision; name a branch, a tag or a commit after the @")
    return Source(kind=SourceKind.GIT, location=location, revision=revision)


def local_source(folder: Path) -> Source:
    """Return the source of a folder of this machine, taken as it is; a bare repository is a git source."""
    folder = Path(os.path.abspath(folder.expanduser()))
    if is_bare_repository(folder):
        return Source(kind=SourceKind.GIT, location=file_url(folder))
    return Source(kind=SourceKind.LOCAL, location=str(folder))


def file_url(folder: Path) -> str:
    """Return the `file://` URL of a folder; an `@` in it is escaped, as it would start a revision."""
    return folder.as_uri().replace("@", "%40")


def is_bare_repository(folder: Path) -> bool:
    """Tell whether a folder is a git repository without a working tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _split_version(text: str) -> tuple[str, str]:
    name, equals, version = text.partition("==")
    if equals and not version.strip():
        raise UsageError(f"no version after pypi:{name}==; leave == out for the newest")
    return name, version.strip()


def _url(text: str, scheme: str) -> Source:
    if scheme not in {"https", "ssh", "file"}:
        raise UsageError(f"cannot fetch over {scheme}://; a source is {FORMS}")
    if re.search(r"[\0-\x20\x7f\\]", text):
        raise UsageError(f"a URL has no spaces and no backslashes: {text!r}")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise UsageError(f"{text} is no URL: {error}") from error
    if parts.query or parts.fragment:
        raise UsageError(f"a git URL has no ? and no #: {text}")
    if parts.password or (parts.username and scheme == "https"):
        raise UsageError(
            f"the URL for {parts.hostname} holds credentials, which would be kept in every task; "
            "give them to git by a credential helper"
        )
    if scheme == "file":
        return _file_url(text, parts.netloc)
    start = text.index("://") + 3 + len(parts.netloc)
    path, at, revision = text[start:].partition("@")
    if not parts.hostname or not path.strip("/"):
        raise UsageError(f"no repository in {text}; a source is {FORMS}")
    return git_source(f"{scheme}://{parts.netloc}{path.rstrip('/')}", revision, marked=bool(at))


def _file_url(text: str, host: str) -> Source:
    if host not in {"", "localhost"}:
        raise UsageError(f"file:// names a folder of this machine, not of {host}")
    path, at, revision = text[len("file://") + len(host) :].partition("@")
    if not path.startswith("/"):
        raise UsageError(f"no folder in {text}; write file:///path")
    return git_source(file_url(Path(unquote(path))), revision, marked=bool(at))


def _folder(text: str) -> Source:
    if not text or "\0" in text or "\n" in text:
        raise UsageError(f"{text!r} is no source; name {FORMS}")
    folder = Path(text).expanduser()
    if "@" in text and not folder.exists():
        head, _, revision = text.rpartition("@")
        while head:
            named = Path(head).expanduser()
            if named.is_dir() and (is_bare_repository(named) or (named / ".git").exists()):
                return git_source(file_url(named.absolute()), revision, marked=True)
            head, _, more = head.rpartition("@")
            revision = f"{more}@{revision}"
    if not folder.exists() and not text.startswith((".", "~")) and "/" not in text:
        raise UsageError(f"no folder {text}; for the PyPI project write pypi:{text}, else {FORMS}")
    return local_source(folder)
