"""The task record: one immutable, content-hashed "implement this feature" task."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import Field

from taskforge.domain.checks import GateName, GateResult
from taskforge.domain.feature import Difficulty, FeatureKind, Mode
from taskforge.domain.ids import Record, content_id, slugify

SCHEMA_VERSION = 1


class Provenance(Record):
    """Where a task comes from: every parent by its hash."""

    repository: str
    """Normalised name of the repository or distribution."""
    version: str
    source: str
    """The source as typed, such as `pypi:boltons==26.2.0`."""
    revision: str
    license: str
    snapshot: str
    """Snapshot id."""
    tree: str
    """Digest of the snapshot's tree."""
    environment: str
    """Id of the environment recipe."""
    generator: str
    """taskforge version."""
    agent: str
    seed: int
    rank: int


class Task(Record):
    """One task. A solver sees the statement and the start tree; everything else is the grader's side."""

    schema_version: int = SCHEMA_VERSION
    statement: str
    kind: FeatureKind
    mode: Mode
    difficulty: Difficulty
    symbols: tuple[str, ...] = Field(description="Places of the removed symbols, `path::qualified.name`.")
    removal_patch: str = Field(description="Unified diff of the package, snapshot to start tree.")
    gold_patch: str = Field(description="Exact inverse of removal_patch: the reference solution.")
    test_patch: str = Field(description="Unified diff that brings the hidden tests back into a start tree.")
    start_files: dict[str, str | None] = Field(
        description="Where the start tree differs from the snapshot: path to blob digest, null if absent."
    )
    start_tree: str = Field(description="Tree digest of the start tree.")
    hidden_tests: dict[str, str] = Field(
        description="Full original test files that grading lays over a solution: path to blob digest."
    )
    fail_to_pass: tuple[str, ...] = Field(description="Node ids that fail at the start and pass under gold.")
    pass_to_pass: tuple[str, ...] = Field(description="Node ids that pass at the start and under gold.")
    gates: dict[GateName, GateResult]
    provenance: Provenance

    @cached_property
    def id(self) -> str:
        """Content hash of the whole record."""
        return content_id(self)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced; its id is computed anew."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("id", None)
        return copy

    @property
    def slug(self) -> str:
        """Readable name: repository, module, seed and the first digits of the id."""
        place, _, name = self.symbols[0].partition("::")
        module = place.rsplit("/", 1)[-1].removesuffix(".py").strip("_")
        words = [self.provenance.repository, module, name or "module"]
        return f"{slugify(*words)}-{self.id[:4]}"
