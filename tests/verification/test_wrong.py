"""Wrong implementations: that they are what their names say, compile, and differ from the gold."""

import ast

from taskforge.domain.agent import Repository
from taskforge.domain.feature import FeatureKind
from taskforge.domain.testrun import Baseline, Coverage
from taskforge.statement import parsed
from taskforge.statement.examples import Example
from taskforge.verification.bodies import new_body, spliced
from taskforge.verification.mutants import mutant_at, mutants
from taskforge.verification.sampling import sample
from taskforge.verification.wrong import wrong_again, wrong_implementations
from tests.verification.shop import BASKET, PRICING, TEXTS, removal, unmeasured

SOURCE = '''def one(a, b=2): return a


class C:
    def two(self, x):
        """Doc."""
        @wraps(x)
        def inner():
            yield 1
        return inner  # done

    async def three(self):
        while x < 1:
            x = x - 1
        return 1 if a else 2


def four():
    """Only a docstring."""
'''


def function(name: str, source: str = SOURCE) -> ast.FunctionDef:
    return next(n for n in ast.walk(ast.parse(source)) if getattr(n, "name", "") == name)  # type: ignore[return-value]


def covered(path: str) -> Repository:
    lines = dict.fromkeys(range(1, 200), 1)
    bare = unmeasured()
    coverage = Coverage(("t",), {path: lines}, {}, {})
    return Repository(
        bare.snapshot, bare.files, bare.environment, Baseline(("t",), {}, coverage, 4, 1.0, 1.0)
    )


def test_bodies_are_replaced_and_nothing_else() -> None:
    splices = [
        new_body(SOURCE, function(name), ["if x:", "    return 1", "raise E"]) for name in ("one", "two")
    ]
    text = spliced(SOURCE, [s for s in splices if s is not None])
    assert "def one(a, b=2): \n    if x:\n        return 1\n    raise E\n" in text
    assert '        """Doc."""\n        if x:\n            return 1\n        raise E  # done\n' in text
    assert "async def three" in text
    ast.parse(text)
    assert new_body(SOURCE, function("four"), ["pass"]) is None


def test_mutants_differ_compile_and_spare_endless_loops() -> None:
    source = TEXTS[PRICING]
    functions = [function("total", source), function("discount", source), function("shipping", source)]
    weights = dict.fromkeys(range(1, 100), 1)
    found = mutants(source, functions, weights, "seed", most=50)
    assert len({m.text for m in found}) == len(found) > 8
    assert all(ast.parse(m.text) and m.text != source for m in found)
    assert {m.operator for m in found} >= {"flip comparison", "off by one", "return None", "negate condition"}
    assert found == mutants(source, functions, weights, "seed", most=50)
    assert [m.place for m in found] != [
        m.place for m in mutants(source, functions, weights, "other", most=50)
    ]
    assert len({m.operator for m in found[:4]}) == 4
    again = mutant_at(source, functions, found[0].place)
    assert again == found[0]
    assert not mutants(source, functions, {}, "seed", most=5)
    loop = [m.line for m in mutants(SOURCE, [function("three")], dict.fromkeys(range(30), 1), "s", most=9)]
    assert set(loop) == {15}


def test_a_function_gets_at_least_five_wrong_implementations() -> None:
    proposed = removal(f"{PRICING}::discount", {PRICING: ""}, {}, ("t",))
    known = {"discount": [Example("200, 50", "100", "discount(200, 50) == 100")]}
    found = wrong_implementations(covered(PRICING), proposed, known, 1, seed=3)
    texts = {one.name: one.text for one in found.plain}
    assert list(texts) == ["stub", "constant", "identity", "examples"]
    assert "    return price\n\n\ndef describe" in texts["identity"]
    assert (
        "    if price == 200 and percent == 50:\n        return 100\n    raise NotImplementedError"
        in texts["examples"]
    )
    assert len(found.mutants) == 4
    assert found.targets == (f"{PRICING}::discount",)
    index = parsed.index(PRICING, TEXTS[PRICING].encode(), ())
    names = [*texts, *(m.name for m in found.mutants)]
    again = wrong_again(index, TEXTS[PRICING], found.targets, names, known)
    assert {name: one.text for name, one in again.items()} == {
        one.name: one.text for one in (*found.plain, *found.mutants)
    }


def test_a_class_is_wrong_in_all_methods_that_tests_run() -> None:
    names = ("", ".__init__", ".add", ".cost", ".cheapest")
    proposed = removal(
        f"{BASKET}::Basket",
        {BASKET: ""},
        {},
        ("t",),
        symbols=tuple(f"{BASKET}::Basket{name}" for name in names),
        kind=FeatureKind.CLASS,
    )
    found = wrong_implementations(covered(BASKET), proposed, {}, 1, seed=3)
    stub = next(one.text for one in found.plain if one.name == "stub")
    assert stub.count("raise NotImplementedError") == 4
    assert len(found.plain) + len(found.mutants) >= 5


def test_a_value_is_replaced_by_others() -> None:
    proposed = removal(f"{PRICING}::RATES", {PRICING: ""}, {}, ("t",), kind=FeatureKind.CONSTANT)
    found = wrong_implementations(covered(PRICING), proposed, {}, 1, seed=3)
    assert len(found.plain) == 5
    assert all("RATES = " in one.text and "300" not in one.text for one in found.plain[:1])
    assert all("def total" in one.text for one in found.plain)


def test_samples_come_from_one_file_and_from_the_tests_that_run_the_code() -> None:
    tests = tuple(f"a.py::t{n}" for n in range(20)) + tuple(f"b.py::t{n}" for n in range(4))
    coverage = Coverage(tests, {}, {}, {})
    assert sample(coverage, tests, size=5) == tuple(f"a.py::t{n}" for n in (0, 4, 8, 12, 16))
    few = coverage.mask({"b.py::t1", "a.py::t3"})
    assert sample(coverage, tests, few) == ("a.py::t3", "b.py::t1")
    assert sample(coverage, ()) == ()
