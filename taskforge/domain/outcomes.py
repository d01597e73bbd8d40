"""Outcomes as data: what a stage did with an item, and why an item was left aside.

A stage returns Done, Skipped or Failed. Skipped is a statement about the item (it is final for this
input); Failed is a statement about us or the machine (the item is owed and is tried again).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from taskforge.domain.errors import Boundary

T = TypeVar("T")


class SkipReason(StrEnum):
    """Why a repository or a candidate was skipped. Every run prints the histogram of these."""

    # sources
    NO_SUCH_REPOSITORY = "no_such_repository"
    NO_SUCH_REVISION = "no_such_revision"
    EMPTY_REPOSITORY = "empty_repository"
    NO_PYTHON = "no_python"
    UNSAFE_SYMLINK = "unsafe_symlink"
    UNSAFE_PATH = "unsafe_path"
    NON_UTF8_NAME = "non_utf8_name"
    LFS_POINTER = "lfs_pointer"
    TOO_LARGE = "too_large"
    CHECKSUM_MISMATCH = "checksum_mismatch"
    BROKEN_ARCHIVE = "broken_archive"
    LICENSE_NOT_ALLOWED = "license_not_allowed"
    # environments
    NO_INTERPRETER = "no_interpreter"
    BUILD_FAILED = "build_failed"
    DEPENDENCIES_UNSATISFIABLE = "dependencies_unsatisfiable"
    COMPILED_ONLY = "compiled_only"
    PYTEST_TOO_OLD = "pytest_too_old"
    # baseline
    NO_TESTS = "no_tests"
    COLLECTION_FAILED = "collection_failed"
    SUITE_TIMEOUT = "suite_timeout"
    SUITE_CRASHED = "suite_crashed"
    SUITE_FAILS = "suite_fails"
    MEMORY_LIMIT = "memory_limit"
    DISK_LIMIT = "disk_limit"
    PROCESS_LIMIT = "process_limit"
    OUTPUT_LIMIT = "output_limit"
    NO_CANDIDATES = "no_candidates"
    # candidates
    UNCLEAN_REMOVAL = "unclean_removal"
    NEW_LINT = "new_lint"
    BREAKS_IMPORT = "breaks_import"
    BREAKS_OTHER_TESTS = "breaks_other_tests"
    NO_FAIL_TO_PASS = "no_fail_to_pass"
    GOLD_DIFFERS = "gold_differs"
    GOLD_FAILS = "gold_fails"
    UNNEEDED_HUNK = "unneeded_hunk"
    WEAK_TESTS = "weak_tests"
    STATEMENT_LEAKS = "statement_leaks"
    STATEMENT_INCOMPLETE = "statement_incomplete"
    ENTANGLED_TESTS = "entangled_tests"
    DUPLICATE = "duplicate"
    AGENT_GAVE_UP = "agent_gave_up"


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The stage finished with this value."""

    value: T


@dataclass(frozen=True, slots=True)
class Skipped:
    """The item cannot become a task; `detail` is one line for a person, `evidence` the longer proof."""

    reason: SkipReason
    detail: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """A boundary broke; says nothing about the item, which stays owed."""

    boundary: Boundary
    evidence: str


Outcome = Done[T] | Skipped | Failed
