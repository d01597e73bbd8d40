"""Verification of a proposed removal: all gates, cheapest first.

1. Without running anything: baseline, integrity, gold, statement.
2. One sandbox start for the hidden tests on the start tree, the gold without each hunk, and the wrong
   implementations; a second one only for what a few tests did not notice.
3. The one full run of the start tree.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from taskforge.domain.agent import Repository
from taskforge.domain.checks import GateName, GateResult
from taskforge.domain.errors import Boundary, SandboxError, TaskforgeError
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.removal import Removal
from taskforge.domain.testrun import SuiteRun
from taskforge.statement import Statement, write_statement
from taskforge.testing.run import TestRunner, Variant
from taskforge.verification.baseline import baseline_gate
from taskforge.verification.gold import gold_gate
from taskforge.verification.hunks import Hunk, Hunks
from taskforge.verification.integrity import integrity_gate
from taskforge.verification.necessity import HunkTrials, hunk_trials, necessity_gate, put_back
from taskforge.verification.sampling import sample
from taskforge.verification.start import HiddenRun, broken, hidden_run, others, questioned, start_gate
from taskforge.verification.statement import statement_gate
from taskforge.verification.strength import strength_gate, wrong_trials
from taskforge.verification.trials import HANG_S, Notice, Trial, ask_more, notice, variant_of
from taskforge.verification.verified import Verified
from taskforge.verification.wrong import wrong_implementations

OTHER_TESTS = 30
"""Tests that do not run the changed code and are asked all the same before it counts as unnoticed."""


@dataclass(frozen=True, slots=True)
class _Screened:
    """What the cheap runs found."""

    hidden: HiddenRun
    outcomes: SuiteRun
    hunks: Hunks
    asked: HunkTrials
    notices: dict[str, Notice]
    strength: GateResult

    @property
    def start_notice(self) -> Notice:
        """A failure in the start tree itself."""
        test = self.hidden.fail_to_pass[0]
        return Notice(test, self.outcomes.outcome(test))

    @property
    def unnoticed(self) -> list[Hunk]:
        """Hunks whose absence no test noticed."""
        if not self.asked.trials:
            return []
        return [h for key, group in self.asked.groups.items() if key not in self.notices for h in group]


def verify(repository: Repository, removal: Removal, runner: TestRunner, *, seed: int) -> Outcome[Verified]:
    """Prove that a removal is a task, or say why it is none.

    `runner` runs the tests of the untouched tree. Skipped is final, but for the reasons ENTANGLED_TESTS and
    BREAKS_OTHER_TESTS with a JSON list of node ids as evidence: the removal may be made again with those
    tests hidden (see `retry.hide_more`). Failed when the sandbox or ruff broke. The same arguments give the
    same outcome.
    """
    try:
        return _Verification(repository, runner, seed).run(removal)
    except SandboxError as error:
        return Failed(Boundary.SANDBOX, str(error))
    except TaskforgeError as error:
        return Failed(error.boundary, str(error))
    except OSError as error:
        return Failed(Boundary.INTERNAL, str(error))


class _Verification:
    def __init__(self, repository: Repository, runner: TestRunner, seed: int) -> None:
        self.repository = repository
        self.runner = runner
        self.seed = seed
        self.coverage = repository.baseline.coverage
        self.wait_s = min(runner.test_timeout_s, HANG_S + repository.baseline.suite_wall_s)

    def run(self, removal: Removal) -> Outcome[Verified]:
        static = self._static(removal)
        if isinstance(static, Skipped):
            return static
        screened = self._screen(removal, static[1])
        if isinstance(screened, Skipped):
            return screened
        back: frozenset[int] = frozenset()
        final = removal
        if screened.unnoticed:
            final, back = put_back(removal, screened.hunks, screened.unnoticed, self._is_sound)
        necessity = necessity_gate(
            screened.hunks, screened.asked, screened.notices, screened.start_notice, back
        )
        if not necessity.passed:
            return _skipped(necessity)
        if back:
            static = self._static(final)
            if isinstance(static, Skipped):
                return static
        gates, statement = static
        start = self._start(final, screened, again=bool(back))
        if isinstance(start, Skipped):
            return start
        hidden = screened.hidden
        passing = {*others(self.repository, final), *hidden.passing}
        return Done(
            Verified(
                removal=final,
                fail_to_pass=hidden.fail_to_pass,
                pass_to_pass=tuple(test for test in self.repository.baseline.stable if test in passing),
                statement=statement.text,
                gates=tuple(
                    sorted(
                        [*gates, start, necessity, screened.strength],
                        key=lambda gate: list(GateName).index(gate.gate),
                    )
                ),
            )
        )

    def _static(self, removal: Removal) -> tuple[list[GateResult], Statement] | Skipped:
        """The gates that run nothing, in the order of their cost."""
        files, baseline = self.repository.files, self.repository.baseline
        gates = [baseline_gate(baseline)]
        if gates[-1].passed:
            gates.append(gold_gate(files, removal, baseline.runs))
        if gates[-1].passed:
            gates.append(self._integrity(removal))
        if not gates[-1].passed:
            return _skipped(gates[-1])
        statement = write_statement(self.repository, removal)
        gates.append(statement_gate(statement))
        return (gates, statement) if gates[-1].passed else _skipped(gates[-1])

    def _screen(self, removal: Removal, statement: Statement) -> _Screened | Skipped:
        """Everything that a few tests can tell, in as few sandbox starts as possible."""
        asked = questioned(self.repository, removal)
        if not asked:
            return Skipped(SkipReason.NO_FAIL_TO_PASS, "no stable test is expected to fail without it")
        predicted = set(removal.predicted)
        candidates = [t for t in asked if t in predicted and t in removal.hidden] or list(asked)
        before = {p: self.repository.text(p) for p in removal.source_files if p in self.repository.files}
        hunks = Hunks(before, removal.source_files)
        parts = hunk_trials(hunks, self.coverage, candidates)
        wrong = wrong_implementations(
            self.repository,
            removal,
            statement.examples,
            self.coverage.mask(set(candidates)),
            seed=self.seed,
        )
        now, later = wrong_trials(wrong, self.coverage, candidates)
        trials = [*parts.trials, *now]
        runs = self.runner.run(
            [
                Variant("hidden tests", overlay=removal.source_files, select=asked),
                *(variant_of(trial, trial.first, self.wait_s) for trial in trials),
            ]
        )
        hidden = hidden_run(removal, asked, runs[0])
        problem = _hidden_problem(hidden, runs[0])
        if problem is not None:
            return problem
        targets = set(hidden.fail_to_pass)
        notices = {
            trial.key: seen
            for trial, run in zip(trials, runs[1:], strict=True)
            if (seen := notice(run, trial.first, targets)) is not None
        }
        tried = [trial.key for trial in now]
        mutant_names = {one.name for one in wrong.mutants}
        second = [t for t in trials if t.key not in notices and t.key not in mutant_names]
        if mutant_names and not mutant_names & notices.keys():
            second += [*(t for t in trials if t.key in mutant_names), *later]
            tried += [trial.key for trial in later]
        more = [(trial, self._more(trial, hidden.fail_to_pass, fresh=trial in later)) for trial in second]
        notices |= ask_more(self.runner, [(t, tests) for t, tests in more if tests], targets, self.wait_s)
        strength = strength_gate(wrong, tried, notices)
        if not strength.passed:
            return _skipped(strength)
        return _Screened(hidden, runs[0], hunks, parts, notices, strength)

    def _more(self, trial: Trial, fail_to_pass: Sequence[str], *, fresh: bool) -> tuple[str, ...]:
        """All tests that run the changed code and some of the others, but for those asked before."""
        bits = set(self.coverage.names(trial.mask))
        left = [test for test in fail_to_pass if fresh or test not in trial.first]
        near = [test for test in left if test in bits]
        far = sample(self.coverage, [test for test in left if test not in bits], size=OTHER_TESTS)
        chosen = {*near, *far}
        return tuple(test for test in left if test in chosen)

    def _is_sound(self, removal: Removal) -> bool:
        return self._integrity(removal).passed

    def _integrity(self, removal: Removal) -> GateResult:
        return integrity_gate(self.repository.files, self.repository.environment.recipe, removal)

    def _start(self, removal: Removal, screened: _Screened, *, again: bool) -> GateResult | Skipped:
        """The full run of the final start tree, with the hidden tests once more where hunks were put back."""
        asked = questioned(self.repository, removal)
        variants = [Variant("start", overlay=removal.overlay)]
        if again:
            variants.append(Variant("hidden tests", overlay=removal.source_files, select=asked))
        runs = self.runner.run(variants)
        if again and hidden_run(removal, asked, runs[1]) != screened.hidden:
            return Skipped(SkipReason.UNNEEDED_HUNK, "hidden tests behave differently with hunks put back")
        gate = start_gate(self.repository, removal, screened.hidden, screened.outcomes, runs[0])
        if gate.passed:
            return gate
        failing = broken(runs[0], others(self.repository, removal)) if runs[0].complete else ()
        return _skipped(gate, failing)


def _hidden_problem(hidden: HiddenRun, run: SuiteRun) -> Skipped | None:
    if not run.complete:
        where = f" in {run.stopped_in}" if run.stopped_in else ""
        detail = f"the hidden tests do not come to an end without the feature{where}: {run.ending}"
        return Skipped(SkipReason.BREAKS_OTHER_TESTS, detail, run.output[-2000:])
    if hidden.entangled:
        more = f" and {len(hidden.entangled) - 1} more" if len(hidden.entangled) > 1 else ""
        return Skipped(
            SkipReason.ENTANGLED_TESTS,
            f"{hidden.entangled[0]}{more} fails without the feature and is not hidden",
            json.dumps(list(hidden.entangled)),
        )
    if not hidden.fail_to_pass:
        return Skipped(SkipReason.NO_FAIL_TO_PASS, "no hidden test fails without the feature")
    return None


def _skipped(gate: GateResult, tests: Sequence[str] = ()) -> Skipped:
    assert gate.reason is not None
    evidence = list(tests) if tests else gate.evidence
    return Skipped(gate.reason, gate.detail, json.dumps(evidence))
