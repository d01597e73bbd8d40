"""The loop that adds what a suite misses: distributions, import roots, extensions, an older pytest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from taskforge.domain.outcomes import Skipped
from taskforge.environments.collect import Collection
from taskforge.environments.missing import Gaps, find_gaps, missing_modules, needs_older_pytest
from taskforge.environments.resolve import Locked, Wanted, resolve
from taskforge.environments.workbench import Setup, Stage, Workbench

ROUNDS = 6
MOST_DISTRIBUTIONS = 12
_PYTEST_BOUNDS = (9, 8, 7)


def settle(
    bench: Workbench, wanted: Wanted, import_roots: tuple[str, ...], arguments: tuple[str, ...]
) -> Stage | Skipped:
    """Return the best stage that can be reached, which then lies in the work folder.

    Where the suite stumbles over a new pytest, older ones are tried and the best is kept.
    """
    best = _complete(bench, wanted, import_roots, arguments)
    if isinstance(best, Skipped):
        return best
    stage = best
    for bound in _PYTEST_BOUNDS:
        if not needs_older_pytest(stage.collection):
            break
        if bound > int(stage.collection.pytest_version.split(".")[0]):
            continue
        older = _complete(
            bench, replace(best.setup.locked.wanted, bounds=(f"pytest<{bound}",)), import_roots, arguments
        )
        if isinstance(older, Skipped):
            break
        stage = older
        if stage.collection.quality > best.collection.quality:
            best = stage
    return bench.install(best.setup) or best


def broken_names(collection: Collection) -> dict[str, str]:
    """Return the names of the package that do not import; private ones count only if there are no others."""
    public = {name for name in collection.imports if not name.startswith("_")} or set(collection.imports)
    return {name: error for name, error in sorted(collection.imports.items()) if error and name in public}


@dataclass(frozen=True, slots=True)
class _Change:
    """One step to try: part of the gaps."""

    gaps: Gaps
    extensions: bool = False


def _complete(
    bench: Workbench, wanted: Wanted, import_roots: tuple[str, ...], arguments: tuple[str, ...]
) -> Stage | Skipped:
    """Collect, change what the collection asks for, and collect again; only what helps is kept."""
    locked = resolve(bench.uv, bench.interpreter, wanted)
    if isinstance(locked, Skipped):
        return locked
    stage = bench.try_out(Setup(locked, import_roots, arguments))
    if isinstance(stage, Skipped):
        return stage
    tried: set[str] = set()
    queue: list[_Change] = []
    for _ in range(ROUNDS):
        change = queue.pop(0) if queue else _next_change(bench, stage, frozenset(tried))
        if change is None:
            break
        asked = change.gaps.requirements
        tried |= {canonicalize_name(Requirement(line).name) for line in asked}
        other = bench.try_out(_changed(bench, stage.setup, change))
        if isinstance(other, Stage) and _helps(stage.collection, other.collection):
            stage = other
        elif len(asked) > 1:
            queue = [_Change(Gaps(requirements=(line,))) for line in asked]
        elif not asked:
            break
    failed = bench.install(stage.setup)
    return failed or stage


def _next_change(bench: Workbench, stage: Stage, tried: frozenset[str]) -> _Change | None:
    subject, setup, collection = bench.subject, stage.setup, stage.collection
    lame = bool(broken_names(collection)) or not collection.tests
    if lame and subject.extensions and not setup.extensions:
        return _Change(Gaps(), extensions=True)
    gaps = find_gaps(
        collection,
        own_name=subject.distribution.name,
        packages=subject.layout.packages,
        package_paths=subject.layout.package_paths,
        tree_files=bench.tree_files,
        import_roots=setup.import_roots,
        locked=frozenset(re.findall(r"^([a-z0-9-]+)==", setup.locked.text, re.MULTILINE)),
        tried=tried,
    )
    gaps = replace(gaps, requirements=gaps.requirements[: MOST_DISTRIBUTIONS - len(tried)])
    return _Change(gaps) if gaps else None


def _changed(bench: Workbench, setup: Setup, change: _Change) -> Setup:
    gaps = change.gaps
    notes = [f"added, found missing at collection: {line}" for line in gaps.requirements]
    notes += [f"option left out, no plugin knows it: {option}" for option in gaps.unknown_options]
    if change.extensions:
        notes.append("its compiled extensions are used: it does not work without them")
    unknown = {option.split("=")[0] for option in gaps.unknown_options}
    return Setup(
        locked=_extended(bench, setup.locked, gaps.requirements) if gaps.requirements else setup.locked,
        import_roots=setup.import_roots + gaps.import_roots,
        arguments=tuple(word for word in setup.arguments if word.split("=")[0] not in unknown),
        extensions=setup.extensions or change.extensions,
        notes=(*setup.notes, *notes),
    )


def _extended(bench: Workbench, locked: Locked, asked: Sequence[str]) -> Locked:
    """Lock again with more distributions: all at once, else one by one; what does not fit stays out."""

    def attempt(base: Locked, lines: Sequence[str]) -> Locked | None:
        wanted = replace(base.wanted, added=(*base.wanted.added, *lines))
        found = resolve(bench.uv, bench.interpreter, wanted)
        return replace(found, notes=base.notes + found.notes) if isinstance(found, Locked) else None

    together = attempt(locked, asked)
    if together is not None:
        return together
    for line in asked if len(asked) > 1 else ():
        locked = attempt(locked, (line,)) or locked
    return locked


def _helps(before: Collection, after: Collection) -> bool:
    """Tell whether a change is worth keeping: better, or no worse and held up by something else now."""
    if after.quality > before.quality:
        return True
    no_worse = after.quality[:3] >= before.quality[:3]
    return no_worse and missing_modules(after) != missing_modules(before)
