"""Sources and snapshots: where a repository comes from and the one tree that is used of it."""

from enum import StrEnum

from taskforge.domain.ids import Record, content_id


class SourceKind(StrEnum):
    """How a source is fetched."""

    GIT = "git"
    SDIST = "sdist"
    LOCAL = "local"


class Source(Record):
    """What the user named: a git URL, a PyPI sdist or a local folder."""

    kind: SourceKind
    location: str
    """Git URL, PyPI project name, or absolute path of a folder."""
    revision: str = ""
    """Git revision, or sdist version; empty for the default branch or the folder as it is."""
    sha256: str = ""
    """Expected SHA-256 of an sdist archive, empty where not pinned."""

    @property
    def spec(self) -> str:
        """The source as one would type it on the command line."""
        if self.kind is SourceKind.SDIST:
            return f"pypi:{self.location}=={self.revision}" if self.revision else f"pypi:{self.location}"
        return f"{self.location}@{self.revision}" if self.revision else self.location


class License(Record):
    """The licence of a snapshot as an SPDX expression, and where it was read."""

    expression: str = "NOASSERTION"
    evidence: str = ""


class Snapshot(Record):
    """One tree at one commit. The tree itself is in the corpus' blobs under `tree`."""

    name: str
    """Repository or distribution name, normalised (lower case, hyphens)."""
    source: Source
    revision: str
    """Commit hash, sdist version, or the tree digest for a local folder."""
    tree: str
    """taskforge.domain.ids.tree_digest over all files."""
    license: License
    version: str = ""
    """Version of the distribution where known (sdist version, nearest git tag)."""
    files: int = 0
    bytes: int = 0
    notes: tuple[str, ...] = ()
    """What a user should know: submodules not fetched, LFS pointers left, files left out."""

    @property
    def id(self) -> str:
        """Identity of the snapshot: name, revision and tree (not where it was fetched from)."""
        return content_id([self.name, self.revision, self.tree])
