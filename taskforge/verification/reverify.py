"""The gates again, from a task's record alone: for `taskforge verify`, which shows whether a verdict flips.

One sandbox start for all: the hidden tests on the start tree, a full run of the start tree, a full run of
the solved tree, and each recorded witness: the test that noticed a missing hunk or a wrong implementation
must notice it again.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.errors import TaskforgeError
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.patches import patched_paths
from taskforge.domain.removal import Removal
from taskforge.domain.task import Task
from taskforge.domain.testrun import SuiteRun
from taskforge.rewards.submission import Rejected, patched
from taskforge.sources import write_tree
from taskforge.statement import parsed
from taskforge.statement.checks import Leaks
from taskforge.statement.examples import from_tests
from taskforge.statement.expectations import equalities
from taskforge.statement.symbols import describe
from taskforge.testing.run import TestRunner, Variant
from taskforge.verification.gold import gold_gate
from taskforge.verification.hunks import Hunks
from taskforge.verification.integrity import integrity_gate
from taskforge.verification.trials import HANG_S
from taskforge.verification.wrong import wrong_again

SHOWN = 20
Tree = Mapping[str, tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Reverification:
    """What one repetition found."""

    gates: tuple[GateResult, ...]
    """All that can be run again: start, gold, necessity, strength, integrity, statement."""
    empty_resolved: bool
    """The start tree passes all FAIL_TO_PASS tests: never, in a valid task."""
    gold_resolved: bool
    """The gold patch passes all listed tests: always, in a valid task."""
    fault: str = ""
    """Why nothing is known (the sandbox broke); empty otherwise."""

    @property
    def flips(self) -> tuple[str, ...]:
        """Each gate that no longer holds, as one line."""
        return tuple(f"{gate.gate}: {gate.detail}" for gate in self.gates if not gate.passed)


@dataclass(frozen=True, slots=True, eq=False)
class _Witness:
    gate: GateName
    name: str
    overlay: Mapping[str, str | bytes | None]
    test: str


def reverify(
    task: Task, start: Tree, hidden: Mapping[str, bytes], runner: Callable[[Path], TestRunner]
) -> Reverification:
    """Run the gates of a task again.

    `start` is the start tree, `hidden` the hidden test files (as Corpus.start_tree and Corpus.hidden_tests
    give them), `runner` makes a runner over a folder in the task's environment.
    """
    solved = patched(start, task.gold_patch.encode())
    if isinstance(solved, Rejected):
        failed = _result(GateName.GOLD, SkipReason.GOLD_DIFFERS, [f"gold patch: {solved.reason}"], {})
        return Reverification((failed,), empty_resolved=False, gold_resolved=False)
    original = {path: content for path, (mode, content) in solved.items() if mode != 0o120000}
    original |= hidden
    removal = _removal(task, start)
    try:
        with tempfile.TemporaryDirectory(prefix="taskforge-verify-") as name:
            folder = Path(name)
            write_tree(start, folder)
            return _run(task, removal, original, hidden, runner(folder))
    except (TaskforgeError, OSError) as error:
        return Reverification((), empty_resolved=False, gold_resolved=False, fault=str(error))


def _run(
    task: Task,
    removal: Removal,
    original: Mapping[str, bytes],
    hidden: Mapping[str, bytes],
    runner: TestRunner,
) -> Reverification:
    gold = {path: original.get(path) for path in removal.overlay}
    witnesses = [
        *_hunk_witnesses(task, removal, original, gold),
        *_wrong_witnesses(task, removal, original, gold),
    ]
    beside = tuple(test for test in task.pass_to_pass if test.split("::", 1)[0] in hidden)
    runs = runner.run(
        [
            Variant("empty", overlay=hidden, select=(*task.fail_to_pass, *beside)),
            Variant("start"),
            Variant("gold", overlay={**gold, **hidden}),
            *(
                Variant(
                    w.name, overlay=w.overlay, select=(w.test,), test_timeout_s=runner.test_timeout_s + HANG_S
                )
                for w in witnesses
            ),
        ]
    )
    empty, whole, solved = runs[:3]
    seen = dict(zip(witnesses, runs[3:], strict=True))
    gates = [
        _start(task, empty, whole),
        _gold(task, solved, gold_gate(original, removal, 1)),
        _witnessed(GateName.NECESSITY, SkipReason.UNNEEDED_HUNK, seen),
        _witnessed(GateName.STRENGTH, SkipReason.WEAK_TESTS, seen),
        integrity_gate(original, runner.environment.recipe, removal),
        _statement(task, removal, original, runner.environment.recipe.import_roots),
    ]
    listed = (*task.fail_to_pass, *task.pass_to_pass)
    return Reverification(
        tuple(gates),
        empty_resolved=all(empty.outcome(test).passes for test in task.fail_to_pass),
        gold_resolved=all(solved.outcome(test).passes for test in listed),
    )


def _removal(task: Task, start: Tree) -> Removal:
    texts = {
        path: None if name is None else start[path][1].decode("utf-8")
        for path, name in task.start_files.items()
    }
    ours = set(patched_paths(task.gold_patch))
    return Removal(
        seed=task.symbols[0],
        agent=task.provenance.agent,
        kind=task.kind,
        mode=task.mode,
        symbols=task.symbols,
        source_files={path: text for path, text in texts.items() if path in ours},
        test_files={path: text for path, text in texts.items() if path not in ours},
        hidden=(),
        predicted=task.fail_to_pass,
        difficulty=task.difficulty,
        rank=task.provenance.rank,
    )


def _hunk_witnesses(
    task: Task, removal: Removal, original: Mapping[str, bytes], gold: Mapping[str, bytes | None]
) -> list[_Witness]:
    evidence = _evidence(task, GateName.NECESSITY)
    if evidence.get("only_hunk_of_code", True):
        return []
    before = {p: original[p].decode("utf-8") for p in removal.source_files if p in original}
    hunks = Hunks(before, removal.source_files)
    groups: dict[tuple[str, str], set[str]] = {}
    for row in evidence.get("hunks", ()):
        if row.get("noticed_by"):
            group = row["verdict"].partition("(")[2] or row["hunk"]
            groups.setdefault((group, row["noticed_by"]), set()).add(row["hunk"])
    found = []
    for (group, test), places in groups.items():
        numbers = frozenset(hunk.number for hunk in hunks.all if hunk.place in places)
        found.append(_Witness(GateName.NECESSITY, f"without {group}", {**gold, **hunks.texts(numbers)}, test))
    return found


def _wrong_witnesses(
    task: Task, removal: Removal, original: Mapping[str, bytes], gold: Mapping[str, bytes | None]
) -> list[_Witness]:
    evidence = _evidence(task, GateName.STRENGTH)
    rows = {row["wrong"]: row["noticed_by"] for row in evidence.get("tried", ()) if row["noticed_by"]}
    targets = evidence.get("targets", [])
    if not rows or not targets:
        return []
    file = targets[0].partition("::")[0]
    tests = {
        path: module
        for path in removal.test_files
        if path in original and (module := parsed.module(path, original[path], ())) is not None
    }
    examples = from_tests(equalities(tests, removal.test_files))
    index = parsed.index(file, original[file], ())
    names = [row["wrong"] for row in evidence["tried"]]
    again = wrong_again(index, original[file].decode("utf-8"), targets, names, examples)
    return [
        _Witness(GateName.STRENGTH, name, {**gold, again[name].file: again[name].text}, test)
        for name, test in rows.items()
        if name in again
    ]


def _evidence(task: Task, gate: GateName) -> dict[str, Any]:
    return task.gates[gate].evidence if gate in task.gates else {}


def _start(task: Task, empty: SuiteRun, whole: SuiteRun) -> GateResult:
    passing = [test for test in task.fail_to_pass if not empty.outcome(test).fails]
    broken = [
        test
        for test in task.pass_to_pass
        if not whole.outcome(test).passes and not empty.outcome(test).passes
    ]
    problems = [f"{test} does not fail at the start" for test in passing]
    problems += [f"{test} does not pass at the start ({whole.outcome(test)})" for test in broken]
    evidence = {"fail_to_pass": len(task.fail_to_pass), "pass_to_pass": len(task.pass_to_pass)}
    return _result(GateName.START, SkipReason.BREAKS_OTHER_TESTS, problems, evidence)


def _gold(task: Task, solved: SuiteRun, static: GateResult) -> GateResult:
    if not static.passed:
        return static
    problems = [
        f"{test} does not pass under gold ({solved.outcome(test)})"
        for test in (*task.fail_to_pass, *task.pass_to_pass)
        if not solved.outcome(test).passes
    ]
    return _result(GateName.GOLD, SkipReason.GOLD_FAILS, problems, {"full_run": len(solved.results)})


def _witnessed(gate: GateName, reason: SkipReason, seen: Mapping[_Witness, SuiteRun]) -> GateResult:
    ours = [(witness, run) for witness, run in seen.items() if witness.gate is gate]
    problems = [f"{w.test} no longer notices: {w.name}" for w, run in ours if run.outcome(w.test).passes]
    return _result(gate, reason, problems, {"witnesses": {w.name: w.test for w, _ in ours}})


def _statement(
    task: Task, removal: Removal, original: Mapping[str, bytes], roots: tuple[str, ...]
) -> GateResult:
    changed = {path: original[path] for path in removal.source_files if path in original}
    indexes = {path: parsed.index(path, content, roots) for path, content in changed.items()}
    signatures = [s for fact in describe(indexes, removal.symbols) for s in fact.signatures]
    before = {p: c.decode("utf-8", "replace") for p, c in changed.items() if p.endswith(".py")}
    leaks = Leaks(before, removal.source_files).without(signatures).found_in(task.statement)
    problems = [f"shows removed code: {leak}" for leak in leaks]
    return _result(
        GateName.STATEMENT, SkipReason.STATEMENT_LEAKS, problems, {"words": len(task.statement.split())}
    )


def _result(gate: GateName, reason: SkipReason, problems: list[str], evidence: dict[str, Any]) -> GateResult:
    if not problems:
        return GateResult(gate=gate, status=GateStatus.PASSED, evidence=evidence)
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return GateResult(
        gate=gate,
        status=GateStatus.FAILED,
        evidence={**evidence, "problems": problems[:SHOWN]},
        reason=reason,
        detail=problems[0] + more,
    )
