"""Fetches git repositories: one commit, without a checkout, within bounds of time and size."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.domain.source import Source
from taskforge.settings import FetchSettings
from taskforge.sources.gitcommand import GitRunner
from taskforge.sources.githistory import full_hash, nearest_version, version_of_tags
from taskforge.sources.gitobjects import Commit, read_commit
from taskforge.sources.gitremote import Remote, ask_remote, complaint, trouble
from taskforge.sources.lfs import fetch_lfs
from taskforge.sources.projectfile import static_version
from taskforge.sources.raw import Raw
from taskforge.sources.submodules import fetch_submodules

FETCHED = "refs/taskforge/fetched"
_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True, slots=True)
class Desk:
    """The bounds that one source has, over all its parts."""

    limits: FetchSettings
    deadline: float
    """Value of time.monotonic at which everything ends."""

    @contextmanager
    def git(self) -> Iterator[GitRunner]:
        """Give git on an empty folder, which is gone afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="taskforge-git-"))
        try:
            yield GitRunner(folder, deadline=self.deadline, limit=self.limits.bytes)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def fetch_git(source: Source, limits: FetchSettings) -> Raw | Skipped | Failed:
    """Fetch the files of one commit. Raises UsageError when git itself is missing."""
    desk = Desk(limits, time.monotonic() + limits.wall_s)
    fetched = _fetch(source.location, source.revision, desk)
    if not isinstance(fetched, tuple):
        return fetched
    remote, commit = fetched
    files, notes = dict(commit.files), []
    if limits.submodules and commit.submodules:

        def pinned(url: str, revision: str) -> Commit | Skipped | Failed:
            inner = _fetch(url, revision, desk)
            return inner[1] if isinstance(inner, tuple) else inner

        more = fetch_submodules(commit, source.location, pinned)
        if not isinstance(more, dict):
            return more
        files |= more
    elif commit.submodules:
        notes.append("submodules not fetched: " + ", ".join(sorted(commit.submodules)))
    version = version_of_tags(remote.tags_at(commit.revision)) or static_version(files)
    if not version and version_of_tags(remote.tags):
        with desk.git() as git:
            version = nearest_version(git, source.location, commit.revision, remote.object_format)
    return Raw(files, commit.revision, version, tuple(notes))


def _fetch(url: str, revision: str, desk: Desk) -> tuple[Remote, Commit] | Skipped | Failed:
    with desk.git() as git:
        remote = ask_remote(git, url)
        if not isinstance(remote, Remote):
            return remote
        name = _bring(git, remote, url, revision, desk)
        if not isinstance(name, str):
            return name
        commit = read_commit(git, name, url, desk.limits)
        if desk.limits.lfs and isinstance(commit, Commit):
            files = fetch_lfs(git, url, commit.files, FETCHED, desk.limits)
            if not isinstance(files, dict):
                return files
            commit = Commit(name, files, commit.submodules)
        return (remote, commit) if isinstance(commit, Commit) else commit


def _bring(git: GitRunner, remote: Remote, url: str, revision: str, desk: Desk) -> str | Skipped | Failed:
    """Fetch the commit that a revision means and return its hash."""
    made = git.run("init", "--quiet", "--bare", "--template=", f"--object-format={remote.object_format}", ".")
    if not made.ok:
        return Failed(Boundary.SOURCE, f"git cannot make a repository: {complaint(made)}")
    wanted: str | Skipped | Failed | None = remote.find(revision)
    if wanted is None and revision:
        with desk.git() as history:
            wanted = full_hash(history, url, revision, remote.object_format)
    if wanted is None:
        return _no_revision(remote, url, revision)
    if not isinstance(wanted, str):
        return wanted
    ran = git.run("fetch", "--quiet", "--depth=1", "--no-tags", "--", url, f"+{wanted}:{FETCHED}")
    if not ran.ok and ran.cut is None and wanted not in remote.refs:
        # Servers may give out branches and tags only: then the commit is looked for in their history.
        ran = git.run("fetch", "--quiet", "--", url, *_ALL)
        if ran.ok and not git.run("update-ref", FETCHED, wanted).ok:
            return _no_revision(remote, url, revision)
    if not ran.ok:
        return trouble(ran, url)
    found = git.run("rev-parse", "--verify", "--quiet", f"{FETCHED}^{{commit}}")
    if not found.ok:  # a tag of a tree or of a file
        return _no_revision(remote, url, revision)
    return found.stdout.decode("ascii").strip()


def _no_revision(remote: Remote, url: str, revision: str) -> Skipped:
    if not revision:
        detail = f"{url} has no default branch; name a revision with @"
    else:
        detail = f"{url} has no branch, tag or commit {revision}"
    like = remote.like(revision)
    return Skipped(SkipReason.NO_SUCH_REVISION, detail + (f"; it has {', '.join(like)}" if like else ""))
