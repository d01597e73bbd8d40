"""The gate `gold`: removal and then the gold patch give back the original tree, byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.errors import TaskforgeError
from taskforge.domain.ids import digest
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.patches import encoded, inverse_patch, overlay_patch
from taskforge.domain.removal import Removal
from taskforge.rewards.submission import Rejected, patched

LATE = "took more than"
"""In the reason when git did not come to its end: that is the machine's fault, not the patch's."""


@dataclass(frozen=True, slots=True)
class Patches:
    """The three patches of a task."""

    removal: str
    """Package, snapshot to start tree."""
    gold: str
    """Its exact inverse."""
    test: str
    """Brings the hidden tests back into the start tree."""


def patches_of(
    files: Mapping[str, bytes], removal: Removal, modes: Mapping[str, int] | None = None
) -> Patches:
    """Return the patches of a removal. `modes` are mode bits of files that are not 0o644."""
    return Patches(
        overlay_patch(files, removal.source_files, modes),
        inverse_patch(files, encoded(removal.source_files), modes),
        inverse_patch(files, encoded(removal.test_files), modes),
    )


def gold_gate(files: Mapping[str, bytes], removal: Removal, runs: int) -> GateResult:
    """Apply the gold and test patches to the start tree with git and compare with the original files.

    `files` are those of the snapshot, `runs` how often its suite was run. The changed files are all that is
    compared: the start tree has no other difference. No test is run. Raises TaskforgeError or OSError when
    git could not do its work.
    """
    patches = patches_of(files, removal)
    start = {path: (0o644, text.encode()) for path, text in removal.overlay.items() if text is not None}
    wanted = {path: files[path] for path in sorted(removal.overlay) if path in files}
    solved = patched(start, (patches.gold + patches.test).encode())
    detail = ""
    if isinstance(solved, Rejected) and LATE in solved.reason:
        raise TaskforgeError(solved.reason)
    if isinstance(solved, Rejected):
        detail = f"the gold patch does not apply: {solved.reason}"
    else:
        given = {path: content for path, (_, content) in solved.items()}
        different = sorted(p for p in wanted.keys() | given.keys() if wanted.get(p) != given.get(p))
        if different:
            detail = f"{different[0]} differs from the original"
        elif not patches.removal:
            detail = "the removal changes nothing"
    evidence = {
        "files": {path: digest(content) for path, content in wanted.items()},
        "compared": "start tree with gold and test patches applied by git, against the snapshot",
        "tests_under_gold": f"the tree equals the snapshot, whose {runs} baseline runs "
        "passed every listed test; not run again",
    }
    if detail:
        return GateResult(
            gate=GateName.GOLD,
            status=GateStatus.FAILED,
            evidence=evidence,
            reason=SkipReason.GOLD_DIFFERS,
            detail=detail,
        )
    return GateResult(gate=GateName.GOLD, status=GateStatus.PASSED, evidence=evidence)
