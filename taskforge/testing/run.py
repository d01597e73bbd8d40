"""Running test suites: many variants of one tree in one sandbox start."""

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from taskforge.domain.environment import Environment
from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Command, Completed, Ending, Limits, Sandbox
from taskforge.domain.testrun import SuiteRun
from taskforge.testing.bytecode import keep_bytecode, load_bytecode
from taskforge.testing.job import BOOT, Variant, job_of
from taskforge.testing.transcript import SessionTranscript, Transcript, read_channel, suite_run

__all__ = ["TestRunner", "Variant"]

START_S = 30.0
"""Seconds allowed for starting the sandbox and the interpreter, on top of the sessions' own."""
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONNOUSERSITE": "1",
    "TZ": "UTC",
}


class TestRunner:
    """Runs the suite of one tree in one environment."""

    __test__ = False

    def __init__(
        self,
        sandbox: Sandbox,
        environment: Environment,
        tree: Path,
        limits: Limits | None = None,
        *,
        test_timeout_s: float = 60.0,
    ) -> None:
        """`limits` bound each variant; `test_timeout_s` bounds each test."""
        self.sandbox = sandbox
        self.environment = environment
        self.tree = tree
        self.limits = limits or Limits()
        self.test_timeout_s = test_timeout_s
        self.pytest_version = ""
        """Version of pytest in the environment, known after the first warm batch."""
        self.modules: tuple[str, ...] = ()
        """The package's modules as loaded at the end of the latest whole plain run."""
        self.cpu_s = 0.0
        """CPU seconds spent by this runner so far, sandbox starts included."""

    @functools.cached_property
    def _bytecode(self) -> dict[str, Any]:
        return load_bytecode(self.environment) or {}

    def run(self, variants: Sequence[Variant], *, keep_bytecode: bool = False) -> tuple[SuiteRun, ...]:
        """Run each variant on the untouched tree and return the runs in the same order.

        With `keep_bytecode`, what the first variant compiles is kept beside the environment, so that every
        later sandbox starts faster; only for the repository's own tree and a plain first variant.

        What a session does to the tree, to processes or to its sandbox touches no other session. Raises
        SandboxError when the sandbox is broken or the environment's interpreter does not start.
        """
        runs: list[SuiteRun] = []
        while len(runs) < len(variants):
            done = self._batch(variants[len(runs) :], keep=keep_bytecode and not runs)
            runs.extend(done)
        return tuple(runs)

    def _batch(self, variants: Sequence[Variant], *, keep: bool = False) -> list[SuiteRun]:
        """Start one sandbox and return the runs of the first variants, at least one."""
        limits = self.limits
        walls = sum(variant.wall_s or limits.wall_s for variant in variants)
        completed = self.sandbox.run(
            Command(
                argv=(str(self.environment.python), "-c", BOOT, "0"),
                tree=self.tree,
                mounts=self.environment.mounts,
                env=ENVIRONMENT,
                stdin=job_of(
                    self.environment,
                    variants,
                    limits=limits,
                    test_timeout_s=self.test_timeout_s,
                    modules=self.modules,
                    bytecode=self._bytecode,
                    keep_bytecode=keep,
                ),
                limits=limits.model_copy(
                    update={
                        "wall_s": walls + START_S,
                        "cpu_s": limits.cpu_s * len(variants) + START_S,
                        "output_bytes": max(limits.output_bytes, 1 << 16),
                    }
                ),
            )
        )
        self.cpu_s += completed.cpu_s
        transcript = read_channel(completed.channel)
        if transcript.hello is None:
            raise SandboxError(self._no_start(completed))
        if transcript.broken and completed.ending is Ending.EXITED:
            raise SandboxError(f"the test driver broke: {transcript.broken}")
        self.pytest_version = transcript.hello.get("pytest") or self.pytest_version
        if keep and transcript.bytecode:
            keep_bytecode(self.environment, transcript.bytecode)
            self.__dict__.pop("_bytecode", None)
        runs = self._runs(variants, completed, transcript)
        for variant, run in zip(variants, runs, strict=False):
            if run.complete and variant.select is None and not variant.overlay:
                self.modules = run.modules
        return runs

    def _no_start(self, completed: Completed) -> str:
        tail = completed.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
        reason = tail[-1] if tail else f"{completed.ending}, exit code {completed.exit_code}"
        python = self.environment.python
        return f"the interpreter {python} did not start in sandbox {self.sandbox.name}: {reason}"

    def _runs(
        self, variants: Sequence[Variant], completed: Completed, transcript: Transcript
    ) -> list[SuiteRun]:
        runs: list[SuiteRun] = []
        for number, variant in enumerate(variants):
            session = transcript.sessions.get(number)
            if session is None and (runs or transcript.dirty):
                break
            run = suite_run(
                session or SessionTranscript(), ending=completed.ending, coverage=variant.coverage
            )
            runs.append(run)
            if session is None or session.end is None:
                break
        spent = sum(run.cpu_s for run in runs)
        share = max(0.0, completed.cpu_s - spent) / len(runs)
        wall_share = max(0.0, completed.wall_s - sum(run.wall_s for run in runs)) / len(runs)
        return [
            dataclasses.replace(run, cpu_s=run.cpu_s + share, wall_s=run.wall_s + wall_share) for run in runs
        ]
