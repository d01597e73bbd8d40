"""Features: what could be removed, how it would be removed, and how hard it would be to write again."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from taskforge.domain.ids import Record, content_id


class Mode(StrEnum):
    """How a feature is removed."""

    STUB = "stub"
    """Bodies are replaced, signatures and docstrings stay."""
    DELETE = "delete"
    """Symbols leave together with all that names them."""


class FeatureKind(StrEnum):
    """What the seed of a feature is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    CONSTANT = "constant"
    BRANCH = "branch"
    MODULE = "module"
    COMBINED = "combined"
    """Several features at once."""


class EditKind(StrEnum):
    """One elementary edit of a source file. The span says which syntax node is meant."""

    STUB_BODY = "stub_body"
    """Function: the body becomes the docstring (if any) and `raise NotImplementedError`."""
    DELETE_STATEMENT = "delete_statement"
    """Statement (def, class, assignment, expression statement, import): gone with its decorators and the
    comment block directly above it. The last statement of a suite leaves `pass` (or the whole compound
    statement goes, where DELETE_BRANCH says so)."""
    DELETE_ALIAS = "delete_alias"
    """One `name [as other]` of an import statement; the statement goes when nothing is left."""
    DELETE_ELEMENT = "delete_element"
    """One element of a list, tuple, set or dict display (the key's span); commas, comments and blank lines
    stay tidy."""
    DELETE_BRANCH = "delete_branch"
    """One `if` or `elif` with its arm (the span ends with the arm, before any `else`), or one `except`
    handler: gone with its test; what the `else` holds takes its place."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Place of a syntax node in a file: lines start at 1, columns at 0 and count characters. For a decorated
    def or class the span starts at the `def`/`class`/`async` keyword, as in the ast module."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One elementary edit."""

    file: str
    span: Span
    kind: EditKind
    name: str = ""
    """Name that the edit removes, for messages (and the alias name for DELETE_ALIAS)."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something a feature consists of."""

    file: str
    name: str
    """Qualified name inside the file, such as `Class.method`; empty for a whole module."""
    kind: FeatureKind
    start: int
    """First line, decorators included."""
    end: int
    """Last line."""

    @property
    def place(self) -> str:
        """The symbol as one writes it: `pkg/mod.py::Class.method`."""
        return f"{self.file}::{self.name}" if self.name else self.file


class Difficulty(Record):
    """Static measures of a feature. Tier 1 is the easiest, 5 the hardest."""

    tier: int
    files: int
    """Files of the package that the removal changes."""
    symbols: int
    removed_lines: int
    """Non-blank, non-comment source lines that the removal takes out of the package."""
    tests: int
    fan_in: int
    """Distinct symbols outside the feature that refer to it, before the removal."""
    centrality: float
    """Harmonic centrality of the seed in the reference graph of the package, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A candidate: what to remove, by which edits, and which tests should fail then."""

    seed: str
    """Place of the seed symbol, such as `pkg/mod.py::name`."""
    kind: FeatureKind
    mode: Mode
    symbols: tuple[Symbol, ...]
    edits: tuple[Edit, ...]
    """In the package, sorted."""
    tests: tuple[str, ...]
    """Node ids that run the feature and should fail without it, in collection order."""
    hidden: tuple[str, ...]
    """Node ids that must leave the start tree (those above and what stands in the same functions)."""
    leave: Mapping[str, tuple[str, ...]]
    """Test file -> qualified names that leave it; an empty name means the whole file."""
    gone: Mapping[str, tuple[str, ...]]
    """Test file -> names bound there by an import of something that is removed."""
    difficulty: Difficulty
    rank: int = 0
    """Position in the order in which candidates are tried; lower ranks win."""

    @property
    def id(self) -> str:
        """Identity: what is removed and how."""
        return content_id([self.mode, sorted(s.place for s in self.symbols), [str(e) for e in self.edits]])
