"""Whole verifications with the real runner: one that holds, and one for each way to fail."""

import json
from pathlib import Path

import pytest

from taskforge.domain.agent import Repository
from taskforge.domain.checks import GateName
from taskforge.domain.errors import Boundary, SandboxError
from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.ids import canonical_json, digest, tree_digest
from taskforge.domain.outcomes import Done, Failed, Skipped, SkipReason
from taskforge.domain.removal import Removal
from taskforge.testing.run import TestRunner
from taskforge.verification import Verified, blocking_tests, reverify, task_of, verify
from tests.verification.shop import (
    BASKET,
    DISCOUNT,
    DISCOUNT_TESTS,
    FILES,
    INIT,
    PRICING,
    SHIPPING,
    START_INIT,
    START_TEST_PRICING,
    TEST_BASKET,
    TEST_PRICING,
    TEXTS,
    TREE,
    between,
    discount_removal,
    make_runner,
    removal,
    variation,
    without,
)

CHEAPEST_TESTS = (f"{TEST_BASKET}::test_cheapest", f"{TEST_BASKET}::test_cheapest_of_nothing")
STUBBED = TEXTS[BASKET].replace(
    between(TEXTS[BASKET], "        if not self.prices", ""), "        raise NotImplementedError\n"
)
START_TEST_BASKET = without(
    TEXTS[TEST_BASKET], between(TEXTS[TEST_BASKET], "def test_cheapest()", "def test_parse_price")
)


def verified(shop: Repository, proposed: Removal) -> Verified:
    outcome = verify(shop, proposed, make_runner(), seed=3)
    assert isinstance(outcome, Done), outcome
    return outcome.value


def skipped(shop: Repository, proposed: Removal) -> Skipped:
    outcome = verify(shop, proposed, make_runner(), seed=3)
    assert isinstance(outcome, Skipped), outcome
    return outcome


@pytest.fixture(scope="module")
def good(shop: Repository) -> Verified:
    return verified(shop, discount_removal())


def test_a_feature_that_is_needed_and_well_tested_is_verified(shop: Repository, good: Verified) -> None:
    assert good.fail_to_pass == DISCOUNT_TESTS
    doctest = f"{PRICING}::shop.pricing.total"
    assert set(good.pass_to_pass) == set(shop.baseline.stable) - {*DISCOUNT_TESTS, doctest}
    assert doctest in shop.baseline.stable
    assert good.removal == discount_removal()
    names = [gate.gate for gate in good.gates]
    assert names == [name for name in GateName if name is not GateName.DUPLICATE]
    assert all(gate.passed for gate in good.gates)
    evidence = {gate.gate: gate.evidence for gate in good.gates}
    assert evidence[GateName.BASELINE]["runs"] >= 3
    assert evidence[GateName.START]["fail_to_pass_outcomes"] == {"collect_error": 4}
    assert evidence[GateName.START]["full_run"]["failed"] == []
    assert evidence[GateName.NECESSITY]["only_hunk_of_code"]
    assert f"{INIT}::imports" in evidence[GateName.NECESSITY]["bookkeeping"]
    tried = evidence[GateName.STRENGTH]["tried"]
    assert [row["wrong"] for row in tried[:4]] == ["stub", "constant", "identity", "examples"]
    assert len(tried) >= 5
    assert all(row["noticed_by"] in DISCOUNT_TESTS for row in tried[:4])


def test_the_same_arguments_give_the_same_bytes(shop: Repository, good: Verified) -> None:
    again = verified(shop, discount_removal())
    tasks = [task_of(one, shop, TREE, seed=3, generator="1")[0] for one in (good, again)]
    assert canonical_json(tasks[0]) == canonical_json(tasks[1])


def test_a_task_holds_the_start_tree_and_the_hidden_tests(shop: Repository, good: Verified) -> None:
    task, blobs = task_of(good, shop, TREE, seed=3, generator="1")
    start = dict(TREE)
    for path, name in task.start_files.items():
        assert name is not None
        start[path] = (0o644, blobs[name])
    assert task.start_tree == tree_digest(start)
    assert {path: blobs[name] for path, name in task.hidden_tests.items()} == {
        TEST_PRICING: FILES[TEST_PRICING]
    }
    assert all(digest(content) == name for name, content in blobs.items())
    assert task.symbols[0] == f"{PRICING}::discount"
    assert "+def discount" in task.gold_patch
    assert "test_discount" not in task.gold_patch
    assert task.gates.keys() == set(GateName) - {GateName.DUPLICATE}


def test_verification_can_be_repeated_from_the_record(shop: Repository, good: Verified) -> None:
    task, blobs = task_of(good, shop, TREE, seed=3, generator="1")
    start = {**TREE, **{p: (0o644, blobs[n]) for p, n in task.start_files.items() if n is not None}}
    hidden = {path: blobs[name] for path, name in task.hidden_tests.items()}
    found = reverify(task, start, hidden, make_runner)
    assert (found.flips, found.fault) == ((), "")
    assert (found.empty_resolved, found.gold_resolved) == (False, True)
    witnesses = next(g for g in found.gates if g.gate is GateName.STRENGTH).evidence["witnesses"]
    assert {"stub", "constant", "identity", "examples"} <= witnesses.keys()

    other = "tests/test_pricing.py::test_total"
    wrong = task.model_copy(
        update={
            "fail_to_pass": (other,),
            "pass_to_pass": (*task.pass_to_pass, "tests/test_basket.py::test_absent"),
        }
    )
    found = reverify(wrong, start, hidden, make_runner)
    assert [line.partition(":")[0] for line in found.flips] == ["start", "gold"]


def test_unneeded_code_is_put_back(shop: Repository) -> None:
    rounding = "ROUNDING = 5\n"
    proposed = removal(
        f"{PRICING}::discount",
        {PRICING: without(TEXTS[PRICING], DISCOUNT, rounding), INIT: START_INIT},
        {TEST_PRICING: START_TEST_PRICING},
        DISCOUNT_TESTS,
        symbols=(f"{PRICING}::discount", f"{PRICING}::ROUNDING"),
    )
    found = verified(shop, proposed)
    assert found.removal.source_files == discount_removal().source_files
    assert found.removal.symbols == (f"{PRICING}::discount",)
    necessity = next(gate for gate in found.gates if gate.gate is GateName.NECESSITY)
    verdicts = {row["hunk"]: row["verdict"] for row in necessity.evidence["hunks"]}
    assert verdicts[f"{PRICING}::ROUNDING"].startswith("put back")
    assert verdicts[f"{PRICING}::discount"] == "needed"


def test_unneeded_code_that_cannot_be_put_back_is_refused(shop: Repository, tmp_path: Path) -> None:
    untested = "\n\ndef half(price):\n    return discount(price, 50)\n"
    changed, runner = variation(shop, tmp_path / "shop", {PRICING: TEXTS[PRICING] + untested})
    proposed = discount_removal().model_copy(update={"symbols": (f"{PRICING}::discount", f"{PRICING}::half")})
    outcome = verify(changed, proposed, runner, seed=3)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNNEEDED_HUNK
    assert "half" in outcome.detail


def test_tests_that_let_wrong_code_through_are_too_weak(shop: Repository, tmp_path: Path) -> None:
    weak = "def test_discount():\n    assert discount(200, 50) is not None\n\n\n"
    tests = TEXTS[TEST_PRICING].replace(
        between(TEXTS[TEST_PRICING], "@pytest.mark.parametrize", "def test_shipping"), weak
    )
    renamed = {DISCOUNT_TESTS[0]: f"{TEST_PRICING}::test_discount"}
    changed, runner = variation(shop, tmp_path / "shop", {TEST_PRICING: tests}, renamed)
    proposed = discount_removal().model_copy(
        update={
            "hidden": (f"{TEST_PRICING}::test_discount",),
            "predicted": (f"{TEST_PRICING}::test_discount",),
        }
    )
    outcome = verify(changed, proposed, runner, seed=3)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.WEAK_TESTS
    assert "identity" in outcome.detail


def test_what_stays_must_not_import_what_is_gone(shop: Repository) -> None:
    shipping = f"{TEST_PRICING}::test_shipping"
    broken = removal(
        f"{PRICING}::discount",
        {
            PRICING: without(TEXTS[PRICING], DISCOUNT, SHIPPING),
            INIT: '"""A small shop."""\n\nfrom shop.basket import Basket, PriceError, parse_price\n'
            "from shop.pricing import total\n\n"
            '__all__ = ["Basket", "PriceError", "parse_price", "total"]\n',
        },
        {TEST_PRICING: START_TEST_PRICING},
        DISCOUNT_TESTS,
        predicted=(*DISCOUNT_TESTS, shipping),
        symbols=(f"{PRICING}::discount", f"{PRICING}::shipping"),
    )
    outcome = skipped(shop, broken)
    assert outcome.reason is SkipReason.BREAKS_IMPORT  # seen without running anything
    assert "shop.shipping" in outcome.detail


def test_a_test_that_fails_and_is_not_hidden_is_reported(shop: Repository) -> None:
    proposed = removal(
        f"{BASKET}::Basket.cheapest",
        {BASKET: STUBBED},
        {},
        CHEAPEST_TESTS[:1],
        predicted=CHEAPEST_TESTS,
        kind=FeatureKind.METHOD,
        mode=Mode.STUB,
    )
    outcome = skipped(shop, proposed)
    assert outcome.reason is SkipReason.ENTANGLED_TESTS
    assert blocking_tests(outcome) == CHEAPEST_TESTS[1:]


def test_a_test_that_was_not_foreseen_breaks_the_full_run(shop: Repository) -> None:
    proposed = removal(
        f"{BASKET}::Basket.cheapest",
        {BASKET: STUBBED},
        {},
        CHEAPEST_TESTS[:1],
        kind=FeatureKind.METHOD,
        mode=Mode.STUB,
    )
    outcome = skipped(shop, proposed)
    assert outcome.reason is SkipReason.BREAKS_OTHER_TESTS
    assert json.loads(outcome.evidence) == list(CHEAPEST_TESTS[1:])


def test_a_stub_of_a_method_is_verified(shop: Repository) -> None:
    proposed = removal(
        f"{BASKET}::Basket.cheapest",
        {BASKET: STUBBED},
        {TEST_BASKET: START_TEST_BASKET},
        CHEAPEST_TESTS,
        kind=FeatureKind.METHOD,
        mode=Mode.STUB,
    )
    found = verified(shop, proposed)
    assert found.fail_to_pass == CHEAPEST_TESTS
    assert "NotImplementedError" in found.statement


def test_what_no_test_misses_is_no_task(shop: Repository) -> None:
    hidden = (f"{TEST_PRICING}::test_label",)
    proposed = removal(
        f"{PRICING}::ROUNDING",
        {PRICING: without(TEXTS[PRICING], "ROUNDING = 5\n")},
        {},
        hidden,
        kind=FeatureKind.CONSTANT,
    )
    assert skipped(shop, proposed).reason is SkipReason.NO_FAIL_TO_PASS
    assert skipped(shop, proposed.model_copy(update={"hidden": (), "predicted": ()})).reason is (
        SkipReason.NO_FAIL_TO_PASS
    )


def test_a_broken_sandbox_says_nothing_about_the_removal(shop: Repository) -> None:
    class Broken(TestRunner):
        def run(self, variants: object) -> tuple[()]:
            raise SandboxError("bwrap is gone")

    runner = make_runner()
    broken = Broken(runner.sandbox, runner.environment, runner.tree)
    outcome = verify(shop, discount_removal(), broken, seed=3)
    assert outcome == Failed(Boundary.SANDBOX, "bwrap is gone")


def test_a_machine_at_its_end_says_nothing_about_the_removal(
    shop: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def popen(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    runner = make_runner()
    monkeypatch.setattr("subprocess.Popen", popen)
    outcome = verify(shop, discount_removal(), runner, seed=3)
    assert outcome == Failed(Boundary.INTERNAL, "[Errno 11] Resource temporarily unavailable")
