"""The gate `integrity`: nothing in the start tree names what is gone, and no trace points to the place."""

from collections import Counter
from collections.abc import Iterable, Mapping

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.removal import Removal
from taskforge.verification.danglers import dangling, unresolved_entry_points
from taskforge.verification.lint import RULES, Message, lint

SHOWN = 20


def integrity_gate(files: Mapping[str, bytes], recipe: EnvironmentRecipe, removal: Removal) -> GateResult:
    """Compare the changed files before and after, and look for imports of what is gone. Runs no foreign code.

    `files` are those of the snapshot.
    Fails with NEW_LINT for a lint message that the original lacks, BREAKS_IMPORT for a file that does not
    compile, an import of what is gone or an entry point that no longer resolves. Raises TaskforgeError when
    ruff does not run.
    """
    before = _python(files, removal.overlay)
    after = {path: text for path, text in removal.overlay.items() if text is not None and _is_python(path)}
    messages = lint({"before": before, "after": after}, python=recipe.python)
    new = _new_messages(messages["before"], messages["after"])
    broken = sorted(path for path, text in after.items() if not _compiles(path, text, before.get(path)))
    broken += sorted({path for path, code, _ in new if code == "syntax"} - set(broken))
    references = dangling(files, recipe.import_roots, removal)
    entries = _lost_entry_points(files, recipe, removal)
    evidence = {
        "linter": f"ruff, rules {RULES}, syntax errors",
        "files": sorted(after),
        "messages_before": sum(messages["before"].values()),
        "messages_after": sum(messages["after"].values()),
        "new_messages": [list(message) for message in new[:SHOWN]],
        "not_compiling": broken[:SHOWN],
        "dangling": [list(reference) for reference in references[:SHOWN]],
        "lost_entry_points": entries,
    }
    problem: tuple[SkipReason, str] | None = None
    if broken:
        problem = SkipReason.BREAKS_IMPORT, f"{broken[0]} does not compile"
    elif references:
        file, name = references[0]
        problem = SkipReason.BREAKS_IMPORT, f"{file} still names {name}"
    elif entries:
        problem = SkipReason.BREAKS_IMPORT, f"the entry point {entries[0]} no longer resolves"
    elif new:
        problem = SkipReason.NEW_LINT, f"{new[0][0]}: {new[0][1]} {new[0][2]}"
    if problem is not None:
        reason, detail = problem
        return GateResult(
            gate=GateName.INTEGRITY,
            status=GateStatus.FAILED,
            evidence=evidence,
            reason=reason,
            detail=detail,
        )
    return GateResult(gate=GateName.INTEGRITY, status=GateStatus.PASSED, evidence=evidence)


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def _python(files: Mapping[str, bytes], chosen: Iterable[str]) -> dict[str, str]:
    return {
        path: files[path].decode("utf-8", "replace") for path in chosen if path in files and _is_python(path)
    }


def _new_messages(before: Counter[Message], after: Counter[Message]) -> list[Message]:
    """Messages that are more often in the file after than before, sorted."""
    return sorted((after - before).elements())


def _compiles(path: str, text: str, before: str | None) -> bool:
    """Whether a file compiles here, or did not before either (it may be for a newer Python)."""
    if path.endswith(".pyi"):
        return True
    for version in (text, before):
        if version is None:
            return False
        try:
            compile(version, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            continue
        return version is text
    return True


def _lost_entry_points(files: Mapping[str, bytes], recipe: EnvironmentRecipe, removal: Removal) -> list[str]:
    if "entry_points.txt" not in recipe.metadata:
        return []
    start = {path: content for path, content in files.items() if path not in removal.overlay}
    start |= {path: text.encode() for path, text in removal.overlay.items() if text is not None}
    before = unresolved_entry_points(recipe.metadata, files, recipe.import_roots)
    after = unresolved_entry_points(recipe.metadata, start, recipe.import_roots)
    return sorted(set(after) - set(before))
