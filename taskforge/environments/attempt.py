"""One attempt at an environment with one interpreter: build, gather requirements, settle, judge."""

from dataclasses import dataclass, field, replace

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.sandbox import Ending, Sandbox
from taskforge.domain.source import Snapshot
from taskforge.environments.addopts import repository_addopts, split_addopts
from taskforge.environments.collect import Collection
from taskforge.environments.completion import broken_names, settle
from taskforge.environments.declarations import test_declarations
from taskforge.environments.declared import Declaration, sift
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.resolve import Wanted, pytest_is_too_old
from taskforge.environments.subject import Subject, examine
from taskforge.environments.testpaths import find_test_paths
from taskforge.environments.uvtool import Uv
from taskforge.environments.workbench import Stage, Workbench


@dataclass(slots=True)
class Attempt:
    """State of one attempt. The environment is left in `uv.folder` (venv/ and overlay/)."""

    uv: Uv
    sandbox: Sandbox
    interpreter: Interpreter
    project: ProjectFiles
    snapshot: Snapshot
    tree_files: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def run(self) -> EnvironmentRecipe | Skipped:
        """Return the recipe of a working environment, or why there is none."""
        subject = examine(self.uv, self.interpreter, self.project, self.snapshot, self.tree_files)
        if isinstance(subject, Skipped):
            return subject
        if not subject.pure:
            return Skipped(SkipReason.COMPILED_ONLY, "Its code is compiled extensions only.")
        self.notes += subject.notes
        arguments, positional = split_addopts(repository_addopts(self.project), self.project.tree)
        found = find_test_paths(self.project, self.tree_files, subject.layout.package_paths)
        bench = Workbench(
            self.uv,
            self.sandbox,
            self.interpreter,
            self.project,
            self.tree_files,
            subject,
            tuple(dict.fromkeys([*found, *positional])),
        )
        wanted = self._wanted(subject)
        old = pytest_is_too_old(wanted.declarations)
        if old:
            wanted = replace(wanted, declarations=tuple(map(_any_pytest, wanted.declarations)))
            self.notes.append("the repository asks for a pytest older than 6; a newer one is used")
        stage = settle(bench, wanted, subject.layout.import_roots, arguments)
        if isinstance(stage, Skipped):
            return stage
        problem = judge(subject, stage.collection)
        if problem is None:
            return self._recipe(bench, stage)
        if old and problem.reason is SkipReason.COLLECTION_FAILED:
            detail = "It needs a pytest older than 6, and its tests do not collect with a newer one."
            return Skipped(SkipReason.PYTEST_TOO_OLD, detail, problem.evidence)
        return problem

    def _wanted(self, subject: Subject) -> Wanted:
        distribution = subject.distribution
        markers = _markers(self.interpreter)
        declarations, notes = test_declarations(
            self.project, self.tree_files, distribution.name, distribution.extras
        )
        self.notes += notes
        runtime = distribution.requirements((), markers)
        expanded: list[Declaration] = []
        for declaration in declarations:
            more, _, _ = sift(distribution.requirements(declaration.extras, markers), distribution.name)
            lines = [*declaration.requirements, *(line for line in more if line not in runtime)]
            expanded.append(replace(declaration, requirements=tuple(dict.fromkeys(lines)), extras=()))
        return Wanted(distribution.name, distribution.version, runtime, tuple(expanded))

    def _recipe(self, bench: Workbench, stage: Stage) -> EnvironmentRecipe:
        subject, setup = bench.subject, stage.setup
        distribution, layout = subject.distribution, subject.layout
        return EnvironmentRecipe(
            python=self.interpreter.minor,
            distribution=distribution.name,
            version=distribution.version,
            lock=setup.locked.text,
            import_roots=setup.import_roots,
            packages=layout.packages,
            package_paths=layout.package_paths,
            test_paths=bench.test_paths,
            metadata=dict(sorted(distribution.files.items())),
            generated=dict(sorted(subject.generated.items())),
            compiled=bench.compiled(setup),
            pytest_args=setup.arguments,
            notes=tuple(dict.fromkeys([*self.notes, *setup.locked.notes, *setup.notes])),
        )


def judge(subject: Subject, collection: Collection) -> Skipped | None:
    """Return why what was collected is no suite to work with; None where it is one."""
    broken = broken_names(collection)
    if collection.tests and not broken:
        return None
    errors = [f"{node}: {text}" for node, text in collection.errors[:5]]
    evidence = "\n".join([*broken.values(), *errors, collection.log])
    if collection.ending is not Ending.EXITED:
        detail = f"Collecting its tests ended by {collection.ending}."
        return Skipped(SkipReason.SUITE_TIMEOUT, detail, evidence)
    if broken and subject.failure is not None:
        reason = SkipReason.COMPILED_ONLY if subject.failure.compiling else SkipReason.BUILD_FAILED
        detail = f"It cannot be built, and without that {min(broken)} does not import."
        return Skipped(reason, detail, subject.failure.log)
    if collection.tests:
        return None
    if broken:
        name, error = min(broken.items())
        return Skipped(SkipReason.BUILD_FAILED, f"{name} does not import: {error[:200]}", evidence)
    if collection.exit_code in {0, 5} and not collection.errors:
        return Skipped(SkipReason.NO_TESTS, "pytest finds no tests in it.", evidence)
    return Skipped(SkipReason.COLLECTION_FAILED, "None of its tests can be collected.", evidence)


def _any_pytest(declaration: Declaration) -> Declaration:
    lines = tuple(
        "pytest" if canonicalize_name(Requirement(line).name) == "pytest" else line
        for line in declaration.requirements
    )
    return replace(declaration, requirements=lines)


def _markers(interpreter: Interpreter) -> dict[str, str]:
    full = ".".join(map(str, interpreter.version))
    return {
        **{name: str(value) for name, value in default_environment().items()},
        "python_version": interpreter.minor,
        "python_full_version": full,
        "implementation_version": full,
    }
