"""One attempt at an environment with one interpreter: build, lock, install, collect, complete, repeat."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.ids import digest
from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.sandbox import Ending, Sandbox
from taskforge.domain.source import Snapshot
from taskforge.environments.addopts import repository_addopts, split_addopts
from taskforge.environments.collect import Collection, collect
from taskforge.environments.declarations import test_declarations
from taskforge.environments.declared import Declaration, sift
from taskforge.environments.install import compile_bytecode, install_lock, place_metadata, write_overlay
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.lazyimports import lazy_imports
from taskforge.environments.missing import MOST_DISTRIBUTIONS, ROUNDS, find_gaps, needs_older_pytest
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.resolve import Locked, Wanted, pytest_is_too_old, resolve
from taskforge.environments.subject import Subject, examine
from taskforge.environments.testpaths import find_test_paths
from taskforge.environments.uvtool import Uv

_PYTEST_BOUNDS = ("pytest<9", "pytest<8", "pytest<7")


@dataclass(slots=True)
class Attempt:
    """State of one attempt. The environment is left in `uv.folder` (venv/ and overlay/)."""

    uv: Uv
    sandbox: Sandbox
    interpreter: Interpreter
    project: ProjectFiles
    snapshot: Snapshot
    tree_files: tuple[str, ...]
    blobs: dict[str, bytes] = field(default_factory=dict)
    """Content of the recipe's compiled files, by digest."""
    notes: list[str] = field(default_factory=list)
    compiled: dict[str, str] = field(default_factory=dict)
    import_roots: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    test_paths: tuple[str, ...] = ()

    def run(self) -> EnvironmentRecipe | Skipped:
        """Return the recipe of a working environment, or why there is none."""
        subject = examine(self.uv, self.interpreter, self.project, self.snapshot, self.tree_files)
        if isinstance(subject, Skipped):
            return subject
        self.notes += subject.notes
        self.import_roots = subject.layout.import_roots
        self.arguments, positional = split_addopts(repository_addopts(self.project), self.project.tree)
        self.test_paths = tuple(dict.fromkeys([*find_test_paths(self.project, self.tree_files), *positional]))
        self._include(subject.binaries)
        if not subject.pure and subject.extensions:
            return Skipped(SkipReason.COMPILED_ONLY, "Its code is compiled extensions only.")
        wanted = self._wanted(subject)
        old = pytest_is_too_old(wanted.declarations)
        if old:
            wanted = replace(wanted, declarations=tuple(map(_any_pytest, wanted.declarations)))
            self.notes.append("the repository asks for a pytest older than 6; a newer one is used")
        outcome = self._settle(subject, wanted)
        if isinstance(outcome, Skipped):
            if old and outcome.reason is SkipReason.COLLECTION_FAILED:
                detail = "It needs a pytest older than 6, and its tests do not collect with a newer one."
                return Skipped(SkipReason.PYTEST_TOO_OLD, detail, outcome.evidence)
            return outcome
        return self._recipe(subject, outcome)

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

    def _settle(self, subject: Subject, wanted: Wanted) -> Locked | Skipped:
        """Lock, install and collect until nothing more is missing; then judge what collects.

        Where the suite stumbles over a new pytest, older ones are tried and the best is kept.
        """
        locked, collection = self._complete(subject, wanted)
        if isinstance(locked, Skipped):
            return locked
        if collection is not None and needs_older_pytest(collection):
            best = (locked, collection, self.import_roots, self.arguments)
            major = int(collection.pytest_version.split(".")[0])
            for bound in _PYTEST_BOUNDS:
                if int(bound.rpartition("<")[2]) > major:
                    continue
                other, again = self._complete(subject, replace(locked.wanted, bounds=(bound,)))
                if isinstance(other, Skipped) or again is None:
                    break
                if (again.tests, -len(again.errors)) > (best[1].tests, -len(best[1].errors)):
                    best = (other, again, self.import_roots, self.arguments)
                if not needs_older_pytest(again):
                    break
            if best[0] is not locked or self._installed != best[0].text:
                locked, collection, self.import_roots, self.arguments = best
                failed = self._install(subject, locked)
                if failed:
                    return failed
        assert collection is not None
        return self._judge(subject, collection) or locked

    _installed: str = ""

    def _complete(self, subject: Subject, wanted: Wanted) -> tuple[Locked | Skipped, Collection | None]:
        tried: set[str] = set()
        result: tuple[Locked | Skipped, Collection | None]
        modules: tuple[str, ...] | None = None
        locked = resolve(self.uv, self.interpreter, wanted)
        if isinstance(locked, Skipped):
            return locked, None
        for _ in range(ROUNDS):
            failed = self._install(subject, locked)
            if failed:
                return failed, None
            collection = self._collect(subject, modules or ())
            if modules is None and collection.files:
                known = frozenset(
                    part.removesuffix(".py")
                    for path in self.tree_files
                    if path.endswith(".py")
                    for part in path.split("/")
                )
                modules = lazy_imports(self.project.tree, sorted(collection.files), known)
                if modules:
                    collection = replace(collection, absent=self._absent(modules))
            result = (locked, collection)
            if self._needs_extensions(subject, collection):
                self._include(subject.extensions)
                self.notes.append("its compiled extensions are used: it does not work without them")
                continue
            gaps = find_gaps(
                collection,
                own_name=subject.distribution.name,
                packages=subject.layout.packages,
                tree_files=self.tree_files,
                import_roots=self.import_roots,
                locked=frozenset(re.findall(r"^([a-z0-9-]+)==", locked.text, re.MULTILINE)),
                tried=frozenset(tried),
            )
            room = MOST_DISTRIBUTIONS - len(tried)
            if not gaps or not (gaps.requirements[:room] or gaps.import_roots or gaps.unknown_options):
                return result
            self.import_roots += gaps.import_roots
            self.arguments = tuple(
                argument
                for argument in self.arguments
                if argument.split("=")[0] not in {o.split("=")[0] for o in gaps.unknown_options}
            )
            self.notes += [
                f"option left out, no plugin knows it: {option}" for option in gaps.unknown_options
            ]
            asked = gaps.requirements[:room]
            tried |= {canonicalize_name(Requirement(line).name) for line in asked}
            self.notes += [f"added, found missing at collection: {line}" for line in asked]
            if asked:
                locked = self._extend(locked, asked)
        return result

    def _extend(self, locked: Locked, asked: tuple[str, ...]) -> Locked:
        """Lock again with more distributions: all at once, else one by one; what does not fit stays out."""
        together = resolve(
            self.uv, self.interpreter, replace(locked.wanted, added=(*locked.wanted.added, *asked))
        )
        if isinstance(together, Locked):
            return replace(together, notes=locked.notes + together.notes)
        for line in asked:
            single = resolve(
                self.uv, self.interpreter, replace(locked.wanted, added=(*locked.wanted.added, line))
            )
            if isinstance(single, Locked):
                locked = replace(single, notes=locked.notes + single.notes)
        return locked

    def _install(self, subject: Subject, locked: Locked) -> Skipped | None:
        failed = install_lock(self.uv, self.interpreter, locked.text, builds=locked.builds)
        if failed:
            return failed
        self._installed = locked.text
        compile_bytecode(self.sandbox, self.interpreter, self.uv.folder)
        place_metadata(self.uv.folder, self.interpreter.minor, subject.distribution, subject.layout.packages)
        write_overlay(self.uv.folder, subject.generated, self.compiled, self.blobs.__getitem__)
        return None

    def _collect(self, subject: Subject, modules: tuple[str, ...]) -> Collection:
        return collect(
            self.sandbox,
            python=self.uv.folder / "venv/bin/python",
            mounts=(self.uv.folder / "venv", *self.interpreter.mounts),
            overlay=self.uv.folder / "overlay",
            tree=self.project.tree,
            import_roots=self.import_roots,
            packages=subject.layout.packages,
            modules=modules,
            arguments=self.arguments,
            test_paths=self.test_paths,
        )

    def _absent(self, modules: tuple[str, ...]) -> tuple[str, ...]:
        """Return the modules that neither the venv nor the tree has, without running anything."""
        packages = self.uv.folder / "venv/lib" / f"python{self.interpreter.minor}" / "site-packages"
        present = {entry.name.split(".")[0] for entry in packages.iterdir()}
        return tuple(module for module in modules if module not in present)

    def _include(self, files: Mapping[str, bytes]) -> None:
        for path, content in files.items():
            self.blobs[digest(content)] = content
            self.compiled[path] = digest(content)

    def _needs_extensions(self, subject: Subject, collection: Collection) -> bool:
        if not subject.extensions or set(subject.extensions) <= set(self.compiled):
            return False
        return any(collection.imports.values()) or not collection.tests

    def _judge(self, subject: Subject, collection: Collection) -> Skipped | None:
        """Return why what was collected is no suite; None where it is one."""
        broken = {name: error for name, error in sorted(collection.imports.items()) if error}
        if collection.tests and len(broken) < len(subject.layout.packages):
            return None
        evidence = "\n".join(
            [*broken.values(), *(f"{node}: {text}" for node, text in collection.errors[:5]), collection.log]
        )
        if collection.ending is not Ending.EXITED:
            return Skipped(
                SkipReason.SUITE_TIMEOUT, f"Collecting its tests ended by {collection.ending}.", evidence
            )
        if broken and len(broken) == len(subject.layout.packages):
            name, error = next(iter(broken.items()))
            if subject.failure is not None:
                reason = SkipReason.COMPILED_ONLY if subject.failure.compiling else SkipReason.BUILD_FAILED
                return Skipped(
                    reason,
                    f"It cannot be built, and without that {name} does not import.",
                    subject.failure.log,
                )
            if collection.tests == 0:
                return Skipped(SkipReason.BUILD_FAILED, f"{name} does not import: {error[:200]}", evidence)
            return None
        if collection.exit_code == 5 or not (collection.errors or collection.exit_code in {1, 2, 3, 4, None}):
            return Skipped(SkipReason.NO_TESTS, "pytest finds no tests in it.", evidence)
        return Skipped(SkipReason.COLLECTION_FAILED, "None of its tests can be collected.", evidence)

    def _recipe(self, subject: Subject, locked: Locked) -> EnvironmentRecipe:
        distribution, layout = subject.distribution, subject.layout
        return EnvironmentRecipe(
            python=self.interpreter.minor,
            distribution=distribution.name,
            version=distribution.version,
            lock=locked.text,
            import_roots=self.import_roots,
            packages=layout.packages,
            package_paths=layout.package_paths,
            test_paths=self.test_paths,
            metadata=dict(sorted(distribution.files.items())),
            generated=dict(sorted(subject.generated.items())),
            compiled=dict(sorted(self.compiled.items())),
            pytest_args=self.arguments,
            notes=tuple(dict.fromkeys([*self.notes, *locked.notes])),
        )


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
