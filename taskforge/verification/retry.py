"""A second try: the same feature with more tests hidden."""

import dataclasses
import json

from taskforge.domain.feature import Feature
from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.testrun import Baseline

MOST = 25
"""With more tests than this to hide, the feature is entangled with others."""


def blocking_tests(skipped: Skipped) -> tuple[str, ...]:
    """Return the tests that stood in the way of a removal, empty when hiding tests would not help."""
    if skipped.reason not in {SkipReason.ENTANGLED_TESTS, SkipReason.BREAKS_OTHER_TESTS}:
        return ()
    try:
        tests = json.loads(skipped.evidence)
    except ValueError:
        return ()
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        return ()
    return tuple(tests) if len(tests) <= MOST else ()


def hide_more(feature: Feature, tests: tuple[str, ...], baseline: Baseline) -> Feature | None:
    """Return the feature with these tests hidden too, and all that share a function with them.

    None when the place of a test's code is not known, or is no test file's.
    """
    places = {baseline.locations.get(test, ("", "")) for test in tests}
    touched = {edit.file for edit in feature.edits}
    if not places or any(not file or not name or file in touched for file, name in places):
        return None
    leave = {path: set(names) for path, names in feature.leave.items()}
    for file, name in places:
        leave.setdefault(file, set()).add(name)
    known = set(feature.hidden)
    hidden = tuple(
        test
        for test in dict.fromkeys([*baseline.coverage.tests, *feature.hidden])
        if test in known or baseline.locations.get(test) in places
    )
    return dataclasses.replace(
        feature,
        hidden=hidden,
        leave={path: tuple(sorted(names)) for path, names in sorted(leave.items())},
    )
