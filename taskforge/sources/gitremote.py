"""What a remote git repository has, and what git's complaints about a remote mean."""

import difflib
import re
from dataclasses import dataclass

from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.sources.gitcommand import Cut, GitRunner, Ran

_ABSENT = re.compile(
    r"not found|does not exist|no such file|does not appear to be a git repository|not a git repository"
    r"|could not read username|could not read password|authentication failed|invalid username or",
    re.I,
)
"""Hosts answer for a private repository as for an absent one: by asking who one is."""
_UNREACHABLE = re.compile(
    r"could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution"
    r"|connection (refused|timed out|reset|closed)|failed to connect|couldn't connect|network is unreachable"
    r"|no route to host|operation timed out|timeout|ssl|certificate|tls|early eof|rpc failed|unexpected eof"
    r"|remote end hung up|proxy|returned error: (403|407|408|429|5\d\d)|kex_exchange|host key|publickey",
    re.I,
)
_HEX = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class Remote:
    """The branches and tags of a remote."""

    refs: dict[str, str]
    """Full name -> object hash, HEAD included; an annotated tag has the hash of its tag object here."""
    commits: dict[str, str]
    """Full name -> hash of the commit it stands for."""

    @property
    def object_format(self) -> str:
        """Name of the hash function."""
        return "sha256" if any(len(name) == 64 for name in self.refs.values()) else "sha1"

    @property
    def tags(self) -> tuple[str, ...]:
        """Short names of all tags, sorted."""
        return tuple(sorted(n.removeprefix("refs/tags/") for n in self.refs if n.startswith("refs/tags/")))

    def tags_at(self, commit: str) -> tuple[str, ...]:
        """Return the short names of the tags of a commit, sorted."""
        return tuple(tag for tag in self.tags if self.commits[f"refs/tags/{tag}"] == commit)

    def find(self, revision: str) -> str | None:
        """Return the full name of the ref that a revision means, None where no branch or tag fits.

        Tags come before branches, as in git; the beginning of a hash fits where only one commit has it. An
        empty revision is the default branch.
        """
        if not revision:
            return self._default()
        for name in (f"refs/tags/{revision}", f"refs/heads/{revision}", revision):
            if name in self.refs:
                return name
        if _HEX.fullmatch(revision.lower()):
            fitting = {c: n for n, c in sorted(self.commits.items()) if c.startswith(revision.lower())}
            if len(fitting) == 1:
                return next(iter(fitting.values()))
        return None

    def like(self, revision: str) -> list[str]:
        """Return names of branches and tags that a user may have meant."""
        short = sorted({re.sub(r"^refs/(heads|tags)/", "", name) for name in self.refs} - {"HEAD"})
        inside = [name for name in short if revision.lower() in name.lower()]
        return list(dict.fromkeys([*difflib.get_close_matches(revision, short, 3), *inside]))[:3]

    def _default(self) -> str | None:
        if "HEAD" in self.refs:
            return "HEAD"
        branches = [name for name in sorted(self.refs) if name.startswith("refs/heads/")]
        known = [name for name in ("refs/heads/main", "refs/heads/master") if name in branches]
        return next(iter(known or branches[:1]), None) if len(branches) < 2 or known else None


def ask_remote(git: GitRunner, url: str) -> Remote | Skipped | Failed:
    """Ask a remote for its branches and tags."""
    ran = git.run("ls-remote", "--", url, "HEAD", "refs/heads/*", "refs/tags/*")
    if not ran.ok:
        return trouble(ran, url)
    refs: dict[str, str] = {}
    commits: dict[str, str] = {}
    for line in ran.stdout.decode("utf-8", "surrogateescape").splitlines():
        commit, tab, name = line.partition("\t")
        if not tab:
            continue
        if not name.endswith("^{}"):
            refs[name] = commit
        commits[name.removesuffix("^{}")] = commit
    if not refs:
        return Skipped(SkipReason.EMPTY_REPOSITORY, f"{url} has no commit")
    return Remote(refs, commits)


def trouble(ran: Ran, url: str) -> Skipped | Failed:
    """Return what a failed command says: something of the repository, or only of the way to it."""
    if ran.cut is Cut.SIZE:
        return Skipped(SkipReason.TOO_LARGE, f"{url} is larger than the setting fetch.bytes allows")
    if ran.cut is Cut.TIME:
        return Failed(Boundary.NETWORK, f"{url} was not fetched within the setting fetch.wall_s")
    line = complaint(ran)
    said = ran.stderr.replace(url, "")  # its name may read like one of the complaints
    if not url.startswith("file:") and _UNREACHABLE.search(said):
        return Failed(Boundary.NETWORK, f"cannot reach {url}: {line}")
    if _ABSENT.search(said):
        return Skipped(
            SkipReason.NO_SUCH_REPOSITORY, f"{url} does not exist, or needs credentials", ran.stderr
        )
    return Failed(Boundary.SOURCE, f"git cannot fetch {url}: {line}")


def complaint(ran: Ran) -> str:
    """Return the line of standard error that tells most."""
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))]
    return (fatal or lines or [f"exit code {ran.exit_code}"])[0][:300]
