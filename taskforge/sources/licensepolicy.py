"""SPDX expressions: reading them, and deciding whether a list of allowed licences covers one."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from license_expression import (
    AND,
    OR,
    ExpressionError,
    ExpressionParseError,
    LicenseSymbol,
    LicenseWithExceptionSymbol,
    Licensing,
    get_spdx_licensing,
)

from taskforge.domain.errors import UsageError

NO_ASSERTION = "NOASSERTION"


@cache
def _spdx() -> Licensing:
    licensing: Licensing = get_spdx_licensing()  # type: ignore[no-untyped-call]
    return licensing


def normalised(expression: str) -> str | None:
    """Return an SPDX expression in its normal form; None for what is none."""
    parsed = _parsed(expression)
    return None if parsed is None else str(parsed)


def allowed(expression: str, allow: Iterable[str]) -> bool:
    """Tell whether a licence may be used where only the licences of `allow` are acceptable.

    Of alternatives (OR) one must be allowed, of a combination (AND) all. An exception (WITH) only adds
    permissions, so the licence alone covers it. `-or-later` lets one choose the version that is allowed. An
    unknown licence is never allowed.
    """
    parsed = _parsed(expression)
    names = {name for entry in allow if (name := normalised(entry)) is not None}
    return parsed is not None and _covered(parsed, names)


def check_allow_list(allow: Iterable[str]) -> None:
    """Raise UsageError, which names it, for an entry that is no SPDX licence."""
    for name in allow:
        parsed = _parsed(name)
        if not isinstance(parsed, LicenseSymbol | LicenseWithExceptionSymbol):
            raise UsageError(f"{name!r} is no SPDX licence identifier, such as MIT or BSD-3-Clause")


def _parsed(expression: str) -> Any:
    try:
        return _spdx().parse(expression, validate=True, strict=True)  # type: ignore[no-untyped-call]
    except (ExpressionError, ExpressionParseError):
        return None


def _covered(node: Any, names: set[str]) -> bool:
    if isinstance(node, OR):
        return any(_covered(part, names) for part in node.args)
    if isinstance(node, AND):
        return all(_covered(part, names) for part in node.args)
    if str(node) in names:
        return True
    if isinstance(node, LicenseWithExceptionSymbol):
        return _covered(node.license_symbol, names)
    family, later, _ = str(node).partition("-or-later")
    if not later:
        return False
    base, _, version = family.rpartition("-")
    return any(
        name.startswith(f"{base}-") and _version(name[len(base) + 1 :]) >= _version(version)
        for name in names
        if name.endswith(("-only", "-or-later"))
    )


def _version(text: str) -> tuple[int, ...]:
    digits = text.partition("-")[0].split(".")
    return tuple(map(int, digits)) if all(part.isdigit() for part in digits) else ()
