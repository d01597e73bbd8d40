"""What only the history tells: which commit a short hash means, and the release a commit follows.

The commits are fetched without their files where the server can do that.
"""

import re
from collections.abc import Iterable

from packaging.version import InvalidVersion, Version

from taskforge.domain.outcomes import Failed, Skipped
from taskforge.sources.gitcommand import GitRunner, Ran
from taskforge.sources.gitremote import trouble

_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_VERSION_IN_TAG = re.compile(r"(?:^|[/_-])v?(\d.*)$", re.I)
_TAG_PATTERNS = ("[0-9]*", "[vV][0-9]*", "*[-_/][0-9]*", "*[-_/][vV][0-9]*")


def full_hash(git: GitRunner, url: str, prefix: str, object_format: str) -> str | Skipped | Failed | None:
    """Return the hash of the commit that a prefix means; None where there is none, or more than one."""
    if not _HASH.fullmatch(prefix):
        return None
    if len(prefix) == (64 if object_format == "sha256" else 40):
        return prefix.lower()
    ran = _fetch_commits(git, url, object_format)
    if not ran.ok:
        return trouble(ran, url)
    found = git.run("rev-parse", "--verify", "--quiet", f"{prefix}^{{commit}}")
    return found.stdout.decode("ascii").strip() if found.ok else None


def nearest_version(git: GitRunner, url: str, commit: str, object_format: str) -> str:
    """Return the version of the nearest tagged release that a commit follows; empty where none is found."""
    if not _fetch_commits(git, url, object_format).ok:
        return ""
    return described_version(git, commit)


def described_version(git: GitRunner, commit: str) -> str:
    """Return the version in the name of the nearest tag before a commit; empty where there is none."""
    matches = [word for pattern in _TAG_PATTERNS for word in ("--match", pattern)]
    ran = git.run("describe", "--tags", "--abbrev=0", *matches, commit)
    return version_of_tags([ran.stdout.decode("utf-8", "replace").strip()]) if ran.ok else ""


def version_of_tags(tags: Iterable[str]) -> str:
    """Return the highest version that the tags name (`v1.2`, `1.2`, `name-1.2`); empty where none does."""
    versions: list[Version] = []
    for tag in tags:
        match = _VERSION_IN_TAG.search(tag)
        try:
            versions.append(Version(match.group(1) if match else tag))
        except InvalidVersion:
            continue
    return str(max(versions)) if versions else ""


def _fetch_commits(git: GitRunner, url: str, object_format: str) -> Ran:
    """Fetch all commits of all branches and tags, without files where the server can do that."""
    made = git.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", ".")
    if not made.ok:
        return made
    config = {"remote.origin.url": url}
    refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    return git.run("fetch", "--quiet", "--filter=tree:0", "origin", *refs, config=config)
