"""The deterministic agent: carries a planned feature's edits out, in the package and in its tests.

It decides nothing about what a feature is (discovery does). Its own work is to leave clean files behind:
imports that only the feature used, emptied modules, and test files without the tests that need the feature.
"""

from collections.abc import Mapping

from taskforge.domain.agent import Repository
from taskforge.domain.feature import Edit, Feature, Mode
from taskforge.domain.outcomes import Done, Outcome, Skipped, SkipReason
from taskforge.domain.removal import Removal
from taskforge.languages.python.testsplit import dangling, split_tests
from taskforge.removal.edits import EditError, apply_edits, is_empty_module
from taskforge.removal.tidy import drop_unused


class Surgeon:
    """Removes features by syntax-tree edits. The same feature always gives the same removal."""

    name = "surgeon"

    def remove(self, repository: Repository, feature: Feature) -> Outcome[Removal]:
        """Return the start tree without the feature, or why it cannot be made clean."""
        try:
            source_files = self._package(repository, feature)
            test_files = self._tests(repository, feature)
        except EditError as error:
            return Skipped(SkipReason.UNCLEAN_REMOVAL, str(error))
        except UnicodeDecodeError as error:
            return Skipped(SkipReason.UNCLEAN_REMOVAL, f"a file to change is not UTF-8: {error}")
        return Done(
            Removal(
                seed=feature.seed,
                agent=self.name,
                kind=feature.kind,
                mode=feature.mode,
                symbols=tuple(symbol.place for symbol in feature.symbols),
                source_files=source_files,
                test_files=test_files,
                hidden=feature.hidden,
                predicted=feature.tests,
                difficulty=feature.difficulty,
                rank=feature.rank,
            )
        )

    def _package(self, repository: Repository, feature: Feature) -> dict[str, str | None]:
        by_file: dict[str, list[Edit]] = {}
        for edit in feature.edits:
            by_file.setdefault(edit.file, []).append(edit)
        changed: dict[str, str | None] = {}
        for path, edits in sorted(by_file.items()):
            before = repository.text(path)
            after = apply_edits(before, edits)
            after = drop_unused(before, after, is_init=path.endswith("__init__.py"))
            whole_module = any(symbol.place == path for symbol in feature.symbols)
            if whole_module and not is_empty_module(after):
                raise EditError(f"{path}: something is left of a module that should go")
            if not whole_module and is_empty_module(after) and not is_empty_module(before):
                if feature.mode is Mode.DELETE and not path.endswith("__init__.py"):
                    raise EditError(f"{path}: nothing is left of a module that others may import")
            changed[path] = None if whole_module else after
        return changed

    def _tests(self, repository: Repository, feature: Feature) -> dict[str, str | None]:
        changed: dict[str, str | None] = {}
        for path, names in sorted(feature.leave.items()):
            changed[path] = self._split(repository, path, names, feature.gone.get(path, ()))
        for path in sorted(set(feature.gone) - set(changed)):
            changed[path] = self._split(repository, path, (), feature.gone[path])
        return changed

    def _split(
        self, repository: Repository, path: str, leave: tuple[str, ...], gone: tuple[str, ...]
    ) -> str | None:
        if "" in leave:
            return None
        source = repository.text(path)
        while True:
            after = split_tests(source, leave, gone)
            more = dangling(after, gone) if after is not None else ()
            if not more:
                return after
            raise EditError(f"{path}: {', '.join(more)} would still use what is gone")


def overlay_bytes(overlay: Mapping[str, str | None]) -> dict[str, bytes | None]:
    """The same overlay with contents as UTF-8."""
    return {path: None if text is None else text.encode() for path, text in overlay.items()}
