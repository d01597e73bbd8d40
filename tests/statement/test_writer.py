"""Statements of removals from a small shop, read as a solver reads them."""

import pytest

from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.removal import Removal
from taskforge.statement import Statement, leak_finder, write_statement
from tests.verification.shop import (
    BASKET,
    DISCOUNT_TESTS,
    PRICING,
    TEST_BASKET,
    TEST_PRICING,
    TEXTS,
    between,
    discount_removal,
    removal,
    unmeasured,
    without,
)


def written(proposed: Removal, files: dict[str, str] | None = None) -> Statement:
    changed = {path: text.encode() for path, text in {**TEXTS, **(files or {})}.items()}
    return write_statement(unmeasured(changed), proposed)


def test_a_function_is_told_with_all_that_tests_rely_on() -> None:
    found = written(discount_removal())
    assert (found.leaks, found.missing) == ((), ())
    text = found.text
    assert text.startswith("# ")
    assert "`discount`" in text.splitlines()[0]
    assert "```python\ndef discount(price, percent):\n```" in text
    assert "Return a price less a discount of some percent, never below zero." in text
    assert "`discount` belongs in `shop/pricing.py` and must be importable from `shop.pricing`." in text
    assert "`discount` can also be imported from `shop` (`shop/__init__.py`)." in text
    assert "`__all__` of `shop` lists `discount`." in text
    assert "matches the regular expression `percent must be between 0 and 100`" in text
    assert "> `discount()` takes some percent off a price and is what the till uses." in text
    assert "discount(300, 10) == 270" in text  # the docstring says little
    assert "reduced" not in text
    assert found.needed_messages == ("percent must be between 0 and 100",)


def test_the_same_removal_reads_the_same() -> None:
    assert written(discount_removal()) == written(discount_removal())


def test_phrases_vary_with_the_feature() -> None:
    openings = set()
    for number in range(8):
        text = TEXTS[PRICING] + f"\n\ndef f{number}(x):\n    return x\n"
        proposed = removal(f"{PRICING}::f{number}", {PRICING: TEXTS[PRICING]}, {}, ())
        openings.add(written(proposed, {PRICING: text}).text.split("\n\n")[1].replace(f"f{number}", "f"))
    assert len(openings) > 1


def test_a_stub_asks_for_the_body() -> None:
    body = between(TEXTS[BASKET], "        if not self.prices", "")
    proposed = removal(
        f"{BASKET}::Basket.cheapest",
        {BASKET: TEXTS[BASKET].replace(body, "        raise NotImplementedError\n")},
        {TEST_BASKET: None},
        (),
        kind=FeatureKind.METHOD,
        mode=Mode.STUB,
    )
    text = written(proposed).text
    assert text.startswith("# Implement `Basket.cheapest` in `shop.basket`")
    assert "`cheapest` is defined on the class `Basket` in `shop/basket.py`." in text
    assert "NotImplementedError" in text
    assert "body" in text


def test_a_class_is_told_with_its_methods_and_fields() -> None:
    source = '''"""Things."""

import enum


@enum.unique
class Kind(enum.Enum):
    """Kinds of things."""

    SMALL = "s"
    LARGE = "l"

    def is_small(self) -> bool:
        """Return whether it is small."""
        return self is Kind.SMALL

    def _hidden(self):
        return 1


SIZES = {"s": 1, "l": 2}
LIMIT: int = 3
'''
    places = ("Kind", "Kind.is_small", "Kind._hidden", "LIMIT")
    proposed = removal(
        "shop/kinds.py::Kind",
        {"shop/kinds.py": '"""Things."""\n\nSIZES = {"s": 1}\n'},
        {},
        (),
        symbols=tuple(f"shop/kinds.py::{place}" for place in places),
        kind=FeatureKind.CLASS,
    )
    text = written(proposed, {"shop/kinds.py": source}).text
    assert "@enum.unique\nclass Kind(enum.Enum):" in text
    assert "- `SMALL`, by default `'s'`" in text
    assert "def is_small(self) -> bool:" in text
    assert "_hidden" not in text
    assert "A module-level name, `3`." in text
    assert "`SIZES` in `shop/kinds.py` has the entry `'l'` again." in text


def test_a_module_that_is_gone_is_asked_for() -> None:
    proposed = removal(
        BASKET,
        {BASKET: None},
        {TEST_BASKET: None},
        (f"{TEST_BASKET}::test_parse_price",),
        symbols=(BASKET, *(f"{BASKET}::{n}" for n in ("PATTERN", "PriceError", "parse_price", "Basket"))),
        kind=FeatureKind.MODULE,
    )
    found = written(proposed)
    assert "the module `shop.basket`" in found.text.splitlines()[0]
    assert "`shop/basket.py` does not exist yet; create it, imported as `shop.basket`." in found.text
    assert "class PriceError(ValueError):" in found.text
    assert "Baskets of articles." in found.text
    assert found.missing == ()


def test_names_that_only_tests_tell_of_are_stated() -> None:
    tests = "from shop.pricing import make\n\n\ndef test_make():\n    assert make(1).amount == 1\n"
    source = "\n\ndef make(amount):\n    '''Make one.'''\n    return _Price(amount)\n\n\nclass _Price:\n"
    source += "    def __init__(self, a):\n        self.amount = a\n"
    proposed = removal(
        f"{PRICING}::make",
        {PRICING: TEXTS[PRICING]},
        {"tests/test_make.py": None},
        ("tests/test_make.py::test_make",),
        symbols=(f"{PRICING}::make", f"{PRICING}::_Price"),
    )
    found = written(proposed, {PRICING: TEXTS[PRICING] + source, "tests/test_make.py": tests})
    assert found.needed_names == ("amount", "make")
    assert found.missing == ()
    attribute = source.replace("amount):", "a):").replace("(amount)", "(a)")
    found = written(proposed, {PRICING: TEXTS[PRICING] + attribute, "tests/test_make.py": tests})
    assert "- `amount`" in found.text


def test_a_docstring_that_shows_the_code_loses_that_part() -> None:
    leaky = TEXTS[PRICING].replace(
        "never below zero.",
        "never below zero.\n\n    In short::\n\n        reduced = price - price * percent // 100\n\n"
        "    It is exact.",
    )
    proposed = removal(
        f"{PRICING}::discount",
        {PRICING: without(leaky, between(leaky, "def discount", "def describe"))},
        {TEST_PRICING: None},
        DISCOUNT_TESTS,
    )
    found = written(proposed, {PRICING: leaky})
    assert found.dropped == 1
    assert found.leaks == ()
    assert "It is exact." in found.text
    assert "price * percent" not in found.text


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("reduced = price - price * percent // 100", True),
        ("reduced=price-price*percent//100", True),
        ("first price - price * percent", False),
        ("def discount(price, percent):", False),
        ("Return a price less a discount of some percent, never below zero.", False),
        ("raise ValueError(f'percent must be between 0 and 100, got {percent}')", False),
    ],
)
def test_eight_tokens_of_a_body_are_a_leak(text: str, leaks: bool) -> None:
    assert bool(leak_finder(unmeasured(), discount_removal()).found_in(f"Well: {text}!")) is leaks
