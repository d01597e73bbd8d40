"""The deterministic agent: carries a planned feature's edits out, in the package and in its tests.

It decides nothing about what a feature is (discovery does). Its own work is to leave clean files behind:
imports that only the feature used, emptied modules, and test files without the tests that need the feature.
"""

import ast
from functools import lru_cache

from taskforge.domain.agent import Repository
from taskforge.domain.feature import Edit, Feature
from taskforge.domain.outcomes import Done, Outcome, Skipped, SkipReason
from taskforge.domain.removal import Removal
from taskforge.languages.python.modules import Module
from taskforge.languages.python.surgery.operation import apply_edits, is_empty_module
from taskforge.languages.python.surgery.source import EditError
from taskforge.languages.python.testsplit import dangling, split_tests
from taskforge.languages.python.unused import unused_imports


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
        modules = {symbol.place for symbol in feature.symbols if not symbol.name}
        for path, edits in sorted(by_file.items()):
            if path in modules:
                changed[path] = None
                continue
            before = repository.text(path)
            after = _operate(path, before, edits)
            if not path.endswith("__init__.py") and is_empty_module(after) and not is_empty_module(before):
                raise EditError(f"{path}: nothing is left of a module that others may import")
            changed[path] = after
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
        after = split_tests(source, leave, gone, path=path)
        if after is not None and (more := dangling(after, gone)):
            raise EditError(f"{path}: {', '.join(more)} would still use what is gone")
        return after


def _operate(path: str, before: str, edits: list[Edit]) -> str:
    """Apply the edits, and then those for imports that nothing uses any more."""
    after = apply_edits(before, edits)
    while more := [e for e in unused_imports(_module(path, before), _module(path, after)) if e not in edits]:
        edits = [*edits, *more]
        after = apply_edits(before, edits)
    return after


@lru_cache(maxsize=64)
def _module(path: str, text: str) -> Module:
    return Module(path, "", text, ast.parse(text.removeprefix("\ufeff")), is_test=False)
