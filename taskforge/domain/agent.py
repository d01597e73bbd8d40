"""Contracts of the parts that can be swapped: removal agents and the store."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from taskforge.domain.environment import Environment
from taskforge.domain.feature import Feature
from taskforge.domain.outcomes import Outcome
from taskforge.domain.removal import Removal
from taskforge.domain.source import Snapshot
from taskforge.domain.testrun import Baseline


@dataclass(frozen=True, slots=True)
class Repository:
    """A snapshot that is ready for work: its files in memory, its environment and its baseline."""

    snapshot: Snapshot
    files: Mapping[str, bytes]
    """Every regular file of the tree: relative path -> content. Links are not in here."""
    environment: Environment
    baseline: Baseline

    def text(self, path: str) -> str:
        """Return a file as text. Raises KeyError when absent, UnicodeDecodeError when not UTF-8."""
        return self.files[path].decode("utf-8")


class RemovalAgent(Protocol):
    """Removes a feature from a repository."""

    name: str

    def remove(self, repository: Repository, feature: Feature) -> Outcome[Removal]:
        """Return the proposed start tree, or the reason why this feature cannot be taken out cleanly.

        Deterministic for the `surgeon`. Never raises for anything the repository contains.
        """
        ...
