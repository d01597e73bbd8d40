"""The result of a removal, whichever agent made it: new contents of changed files."""

from taskforge.domain.feature import Difficulty, FeatureKind, Mode
from taskforge.domain.ids import Record


class Removal(Record):
    """A proposed start tree, as a difference to the snapshot. None as content means the file is gone."""

    seed: str
    agent: str
    kind: FeatureKind
    mode: Mode
    symbols: tuple[str, ...]
    """Places of the removed symbols, such as `pkg/mod.py::Class.method`."""
    source_files: dict[str, str | None]
    """Files of the package (and docs, stubs): path -> new text."""
    test_files: dict[str, str | None]
    """Test files without the hidden tests: path -> new text."""
    hidden: tuple[str, ...]
    """Node ids that left the start tree, in collection order."""
    predicted: tuple[str, ...]
    """Node ids expected to fail without the feature."""
    difficulty: Difficulty
    rank: int

    @property
    def overlay(self) -> dict[str, str | None]:
        """The whole difference between snapshot and start tree."""
        return {**self.source_files, **self.test_files}
