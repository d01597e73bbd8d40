"""Git LFS: recognises the pointers that stand for large files, and fetches the files where asked."""

import hashlib
import re
import shutil
from collections.abc import Mapping

from taskforge.domain.errors import UsageError
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.settings import FetchSettings
from taskforge.sources.gitcommand import GitRunner
from taskforge.sources.gitremote import trouble

_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\n"
    rb"(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n?"
)
_POINTER_BYTES = 1024
_NEEDED = re.compile(r"\.(py|pyi|pyx|toml|cfg|ini|in)$|(^|/)requirements[^/]*\.txt$|(^|/)Makefile$")


def is_pointer(content: bytes) -> bool:
    """Tell whether a file's content is a pointer to what Git LFS keeps elsewhere."""
    return len(content) <= _POINTER_BYTES and _POINTER.fullmatch(content) is not None


def is_needed(path: str) -> bool:
    """Tell whether a repository cannot be used without this file: code and configuration."""
    return _NEEDED.search(path) is not None


def fetch_lfs(
    git: GitRunner, url: str, files: Mapping[str, tuple[int, bytes]], ref: str, limits: FetchSettings
) -> dict[str, tuple[int, bytes]] | Skipped | Failed:
    """Return `files` with the content that pointers stand for, which git-lfs fetches from `url`.

    Raises UsageError when git-lfs is missing.
    """
    pointers = {path: content for path, (_, content) in files.items() if is_pointer(content)}
    if not pointers:
        return dict(files)
    if shutil.which("git-lfs") is None:
        raise UsageError("fetch.lfs needs git-lfs; install it (Debian, Ubuntu: apt install git-lfs)")
    wanted = {path: _POINTER.fullmatch(content) for path, content in pointers.items()}
    total = sum(int(match.group(2)) for match in wanted.values() if match)
    if total + sum(len(content) for _, content in files.values()) > limits.bytes:
        return Skipped(
            SkipReason.TOO_LARGE, f"{url} keeps {total} bytes in Git LFS, more than fetch.bytes allows"
        )
    ran = git.run("lfs", "fetch", "origin", ref, config={"remote.origin.url": url})
    if not ran.ok:
        return trouble(ran, url)
    filled = dict(files)
    for path, match in wanted.items():
        assert match is not None
        name = match.group(1).decode("ascii")
        try:
            content = (git.folder / "lfs" / "objects" / name[:2] / name[2:4] / name).read_bytes()
        except FileNotFoundError:
            return Skipped(SkipReason.LFS_POINTER, f"Git LFS at {url} does not have {path}")
        if hashlib.sha256(content).hexdigest() != name:
            return Skipped(SkipReason.CHECKSUM_MISMATCH, f"Git LFS at {url} gives another content for {path}")
        filled[path] = (files[path][0], content)
    return filled
