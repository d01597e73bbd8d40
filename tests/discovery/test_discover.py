from pathlib import Path

from taskforge.discovery.candidates import Standards
from taskforge.discovery.closure import Bounds
from taskforge.discovery.discover import discover
from taskforge.domain.feature import FeatureKind, Mode
from tests.discovery.build import build

SHAPES = '''\
class Box:
    """A box."""

    def __init__(self, side):
        self.side = side

    def volume(self):
        # not counted

        area = self.side * self.side
        return area * self.side

    def double(self):
        """Twice the volume."""
        volume = self.volume()
        return 2 * volume
'''
WORDS = "def shout(text):\n    loud = text.upper()\n    loud += '!'\n    return loud\n"
COUNT = """\
def tally(items):
    counts = {}
    for i in items:
        counts[i] = counts.get(i, 0) + 1
    return counts
"""
TESTS = """\
from lib.count import tally
from lib.shapes import Box
from lib.words import shout

def test_volume():
    assert Box(2).volume() == 8

def test_double():
    assert Box(2).double() == 16

def test_shout():
    assert shout("a") == "A!"

def test_tally():
    assert tally("aab") == {"a": 2, "b": 1}
"""
FILES = {
    "lib/__init__.py": "",
    "lib/shapes.py": SHAPES,
    "lib/words.py": WORDS,
    "lib/count.py": COUNT,
    "checks/__init__.py": "",
    "checks/test_all.py": TESTS,
}
EASY = {"bounds": Bounds(hidden_floor=4), "standards": Standards(statements=2, lines=3)}


def test_features_have_ranks_measures_and_tests(tmp_path: Path) -> None:
    repository = build(tmp_path, FILES, packages=("lib",))
    features = discover(repository, **EASY)  # type: ignore[arg-type]
    assert [f.rank for f in features] == list(range(len(features)))
    by_seed = {(f.seed, f.mode): f for f in features}
    shout = next(f for (seed, _), f in by_seed.items() if seed == "lib/words.py::shout")
    assert shout.tests == ("checks/test_all.py::test_shout",)
    assert shout.hidden == shout.tests
    assert shout.difficulty.removed_lines in {3, 4}  # body or whole function, no blanks or comments


def test_whole_modules_and_combinations_are_found(tmp_path: Path) -> None:
    repository = build(tmp_path, FILES, packages=("lib",))
    features = discover(repository, **EASY, modes=frozenset({Mode.DELETE}), limit=50)  # type: ignore[arg-type]
    kinds = {f.kind for f in features}
    assert FeatureKind.MODULE in kinds or FeatureKind.CLASS in kinds
    assert all(f.mode is Mode.DELETE for f in features)


def test_the_same_arguments_give_the_same_features(tmp_path: Path) -> None:
    repository = build(tmp_path, FILES, packages=("lib",))
    once = discover(repository, **EASY, seed=3)  # type: ignore[arg-type]
    again = discover(repository, **EASY, seed=3)  # type: ignore[arg-type]
    assert once == again
    assert len({f.id for f in once}) == len(once)
