"""The gates that run no test: each where it holds and where it fails."""

import pytest

from taskforge.domain.checks import GateResult
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.removal import Removal
from taskforge.domain.testrun import Baseline, Coverage
from taskforge.verification.baseline import baseline_gate
from taskforge.verification.duplicate import alike, duplicate_gate
from taskforge.verification.gold import gold_gate
from taskforge.verification.integrity import integrity_gate
from taskforge.verification.lint import lint
from tests.verification.shop import (
    BASKET,
    DISCOUNT,
    DISCOUNT_TESTS,
    FILES,
    INIT,
    PRICING,
    RECIPE,
    START_INIT,
    START_TEST_PRICING,
    TEST_PRICING,
    TEXTS,
    between,
    discount_removal,
    removal,
    without,
)


def changed(**sources: str | None) -> Removal:
    """The good removal with other texts of package files, named by module."""
    good = discount_removal()
    files = {f"shop/{name}.py": text for name, text in sources.items()}
    return good.model_copy(update={"source_files": {**good.source_files, **files}})


def integrity(proposed: Removal, extra: dict[str, str] | None = None) -> GateResult:
    files = {**FILES, **{path: text.encode() for path, text in (extra or {}).items()}}
    return integrity_gate(files, RECIPE, proposed)


def test_a_clean_removal_keeps_integrity() -> None:
    gate = integrity(discount_removal())
    assert gate.passed
    assert gate.evidence["files"] == [INIT, PRICING, TEST_PRICING]
    assert gate.evidence["new_messages"] == []


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        (PRICING, TEXTS[PRICING].replace("ROUNDING = 5", "import os"), "F401"),
        (PRICING, TEXTS[PRICING].replace("RATES[zone]", "RATE[zone]"), "F821"),
        (PRICING, TEXTS[PRICING].replace("return max(0, reduced)", "return 0"), "F841"),
        (PRICING, TEXTS[PRICING].replace("return RATES[zone]", "return 300"), "ARG001"),
    ],
)
def test_a_new_lint_message_is_a_trace(path: str, text: str, code: str) -> None:
    gate = integrity(removal(f"{PRICING}::discount", {path: text}, {}, DISCOUNT_TESTS))
    assert gate.reason is SkipReason.NEW_LINT
    assert [message[:2] for message in gate.evidence["new_messages"]] == [[path, code]]


def test_lint_messages_that_were_there_before_do_not_count() -> None:
    before = "import os\n" + TEXTS[PRICING]
    after = "import os\n" + without(TEXTS[PRICING], DISCOUNT)
    assert integrity(changed(pricing=after), {PRICING: before}).passed


def test_a_file_that_does_not_compile_fails() -> None:
    gate = integrity(changed(pricing="def broken(:\n"))
    assert gate.reason is SkipReason.BREAKS_IMPORT
    assert gate.evidence["not_compiling"] == [PRICING]


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("shop/till.py", "from shop.pricing import discount\n", "shop.pricing.discount"),
        ("shop/till.py", "from .pricing import discount as d\n", "shop.pricing.discount"),
        ("shop/till.py", "from shop import discount\n", "shop.discount"),
        ("shop/till.py", "import shop.pricing\n\n\ndef f():\n    return shop.pricing.discount\n", None),
        (
            "examples/till.py",
            "from shop import pricing as p\n\nprint(p.discount(1, 2))\n",
            "shop.pricing.discount",
        ),
    ],
)
def test_what_still_names_the_feature_is_found(path: str, text: str, named: str | None) -> None:
    gate = integrity(discount_removal(), {path: text})
    assert gate.reason is SkipReason.BREAKS_IMPORT
    assert gate.evidence["dangling"] == [[path, named or "shop.pricing.discount"]]


def test_a_dead_entry_of_all_is_found() -> None:
    init = START_INIT.replace('"PriceError"', '"PriceError", "discount"')
    gate = integrity(discount_removal().model_copy(update={"source_files": {INIT: init}}))
    assert gate.evidence["dangling"] == [[INIT, "__all__: discount"]]


def test_other_uses_of_the_same_word_are_fine() -> None:
    other = "import other\nfrom other import discount\n\nother.pricing.discount(discount)\n"
    assert integrity(discount_removal(), {"shop/till.py": other}).passed


def test_a_removed_module_must_not_be_imported() -> None:
    gone = changed(basket=None)
    gate = integrity(gone)
    assert gate.evidence["dangling"][0] == [INIT, "shop.basket"]
    assert ["tests/test_basket.py", "shop.Basket"] not in gate.evidence["dangling"]


def test_names_lost_through_a_star_import_are_found() -> None:
    init = "from shop.pricing import *\n"
    good = removal(
        f"{PRICING}::discount",
        {PRICING: without(TEXTS[PRICING], DISCOUNT)},
        {TEST_PRICING: START_TEST_PRICING},
        DISCOUNT_TESTS,
    )
    gate = integrity(good, {INIT: init, "shop/till.py": "from shop import discount\n"})
    assert gate.evidence["dangling"] == [["shop/till.py", "shop.discount"]]


def test_entry_points_have_to_resolve() -> None:
    label = between(TEXTS[PRICING], "def label", "")
    gate = integrity(changed(pricing=without(TEXTS[PRICING], DISCOUNT, label)), {TEST_PRICING: ""})
    assert gate.reason is SkipReason.BREAKS_IMPORT
    assert gate.evidence["lost_entry_points"] == ["label = shop.pricing:label"]


def test_lint_tells_versions_apart_and_knows_the_target() -> None:
    text = "type A = int\n"
    found = lint({"one": {"a.py": text}, "two": {"b.py": "x = 1\n"}}, python="3.11")
    assert [code for _, code, _ in found["one"]] == ["syntax"]
    assert not found["two"]
    assert not lint({"one": {"a.py": text}}, python="3.12")["one"]
    broken = lint({"one": {"a.py": "def f(:\n"}}, python="3.99")["one"]
    assert {code for _, code, _ in broken} == {"syntax"}


def test_gold_gives_back_the_original() -> None:
    gate = gold_gate(FILES, discount_removal(), 4)
    assert gate.passed
    assert set(gate.evidence["files"]) == {INIT, PRICING, TEST_PRICING}
    whole = changed(basket=None)
    assert gold_gate(FILES, whole, 4).passed


def test_gold_fails_where_nothing_is_removed_or_bytes_are_lost() -> None:
    nothing = removal(f"{PRICING}::discount", {PRICING: TEXTS[PRICING]}, {}, DISCOUNT_TESTS)
    gate = gold_gate(FILES, nothing, 4)
    assert (gate.reason, gate.detail) == (SkipReason.GOLD_DIFFERS, "the removal changes nothing")
    same = {**FILES, BASKET: FILES[BASKET].replace(b"\n", b"\r\n")}
    windows = changed(basket=same[BASKET].decode().replace("class PriceError", "class Error"))
    assert gold_gate(same, windows, 4).passed


def test_the_baseline_needs_three_runs_and_stable_tests() -> None:
    coverage = Coverage((), {}, {}, {})
    good = baseline_gate(Baseline(("a",), {"b": "flaky", "c": "flaky"}, coverage, 3, 1.0, 1.0))
    assert good.passed
    assert good.evidence["set_aside"] == {"flaky": 2}
    assert not baseline_gate(Baseline(("a",), {}, coverage, 2, 1.0, 1.0)).passed
    assert baseline_gate(Baseline((), {}, coverage, 4, 1.0, 1.0)).reason is SkipReason.SUITE_FAILS


def test_near_copies_are_duplicates() -> None:
    assert alike({"a", "b"}, {"a", "b", "c"})
    assert not alike({"a", "b"}, {"a", "c"})
    assert not alike(set(), set())
    accepted = {"one": {"a"}, "two": {"a", "b", "c"}}
    gate = duplicate_gate({"a", "b"}, accepted)
    assert (gate.reason, gate.evidence["nearest"]) == (SkipReason.DUPLICATE, "two")
    free = duplicate_gate({"x"}, accepted)
    assert free.passed
    assert free.evidence["highest_jaccard"] == 0
    assert duplicate_gate({"x"}, {}).passed
