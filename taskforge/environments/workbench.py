"""Installs locks and collects the suite, for one subject and one interpreter, in one work folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from taskforge.domain.ids import digest
from taskforge.domain.outcomes import Skipped
from taskforge.domain.sandbox import Sandbox
from taskforge.environments.collect import Collection, collect
from taskforge.environments.install import compile_bytecode, install_lock, place_metadata, write_overlay
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.lazyimports import lazy_imports
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.resolve import Locked
from taskforge.environments.subject import Subject
from taskforge.environments.uvtool import Uv


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that decides what a collection finds."""

    locked: Locked
    import_roots: tuple[str, ...]
    arguments: tuple[str, ...]
    extensions: bool = False
    """True where the compiled extensions are laid into the tree."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A setup and what it collected."""

    setup: Setup
    collection: Collection


@dataclass(slots=True)
class Workbench:
    """The environment under construction lies in `uv.folder`: venv/ and overlay/."""

    uv: Uv
    sandbox: Sandbox
    interpreter: Interpreter
    project: ProjectFiles
    tree_files: tuple[str, ...]
    subject: Subject
    test_paths: tuple[str, ...]
    _installed: Setup | None = None
    _lazy: tuple[str, ...] | None = None
    _blobs: dict[str, bytes] = field(default_factory=dict)

    def try_out(self, setup: Setup) -> Stage | Skipped:
        """Install a setup and collect with it. A skip where the lock does not install."""
        failed = self.install(setup)
        if failed:
            return failed
        collection = self._collect(setup)
        if self._lazy is None and collection.files:
            self._lazy = lazy_imports(self.project.tree, sorted(collection.files), self._own_modules())
        if self._lazy:
            collection = replace(collection, absent=self._absent(self._lazy))
        return Stage(setup, collection)

    def install(self, setup: Setup) -> Skipped | None:
        """Make the work folder hold this setup; quick where it does already."""
        before = self._installed
        if before is None or before.locked.text != setup.locked.text:
            failed = install_lock(self.uv, self.interpreter, setup.locked.text, builds=setup.locked.builds)
            if failed:
                return failed
            compile_bytecode(self.sandbox, self.interpreter, self.uv.folder)
            place_metadata(
                self.uv.folder,
                self.interpreter.minor,
                self.subject.distribution,
                self.subject.layout.packages,
            )
        if before is None or before.extensions != setup.extensions:
            write_overlay(
                self.uv.folder, self.subject.generated, self.compiled(setup), self._blobs.__getitem__
            )
        self._installed = setup
        return None

    def compiled(self, setup: Setup) -> dict[str, str]:
        """Return the binary files that the build adds to the tree: path -> digest."""
        files: Mapping[str, bytes] = {
            **self.subject.binaries,
            **(self.subject.extensions if setup.extensions else {}),
        }
        self._blobs.update({digest(content): content for content in files.values()})
        return {path: digest(content) for path, content in sorted(files.items())}

    def _collect(self, setup: Setup) -> Collection:
        return collect(
            self.sandbox,
            python=self.uv.folder / "venv/bin/python",
            mounts=(self.uv.folder / "venv", *self.interpreter.mounts),
            overlay=self.uv.folder / "overlay",
            tree=self.project.tree,
            import_roots=setup.import_roots,
            packages=self.subject.layout.packages,
            arguments=setup.arguments,
            test_paths=self.test_paths,
        )

    def _own_modules(self) -> frozenset[str]:
        """Every name in the tree that an import statement could mean."""
        return frozenset(
            part.removesuffix(".py")
            for path in self.tree_files
            if path.endswith(".py")
            for part in path.split("/")
        )

    def _absent(self, modules: tuple[str, ...]) -> tuple[str, ...]:
        """Return the modules that the venv does not have, by the names in its folder."""
        packages = self.uv.folder / "venv/lib" / f"python{self.interpreter.minor}" / "site-packages"
        present = {entry.name.split(".")[0] for entry in packages.iterdir()}
        return tuple(module for module in modules if module not in present)
