"""Makes real git repositories for tests."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENV = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
PACKAGE = {"pkg/__init__.py": b"ONE = 1\n", "README.md": b"A package.\n"}


class GitRepo:
    """A repository with a working tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **_ENV},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def write(self, files: Mapping[str, bytes]) -> None:
        for path, content in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def commit(self, files: Mapping[str, bytes], message: str = "x") -> str:
        """Commit files and return the commit's hash."""
        self.write(files)
        self.git("add", "-f", ".")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def commit_entry(self, mode: str, path: str, content: bytes) -> None:
        """Commit an entry that the file system need not hold."""
        name = self.git("hash-object", "-w", "--stdin", stdin=content)
        self.git("update-index", "--add", "--cacheinfo", f"{mode},{name},{path}")
        self.git("commit", "-q", "-m", "entry")
