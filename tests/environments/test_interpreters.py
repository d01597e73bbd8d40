import subprocess
import sys
from pathlib import Path

from taskforge.environments.interpreters import Interpreter, installed, ranked, with_version


def interpreters(*minors: int) -> tuple[Interpreter, ...]:
    return tuple(
        Interpreter((3, minor, 1), Path(f"/opt/3.{minor}/bin/python"), Path(f"/opt/3.{minor}"))
        for minor in sorted(minors, reverse=True)
    )


def names(*args: object, pool: tuple[Interpreter, ...]) -> list[str]:
    return [interpreter.minor for interpreter in ranked(*args, pool)]  # type: ignore[arg-type]


def test_those_of_this_machine_run_and_are_what_they_say() -> None:
    found = installed()
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in {interpreter.minor for interpreter in found}
    assert [interpreter.series for interpreter in found] == sorted(
        {interpreter.series for interpreter in found}, reverse=True
    )
    for interpreter in found[:2]:
        text = subprocess.run([interpreter.path, "-V"], capture_output=True, text=True, check=True).stdout
        assert text.split()[1] == ".".join(map(str, interpreter.version))


def test_newest_named_by_classifiers_within_the_supported_ones() -> None:
    pool = interpreters(8, 9, 10, 11, 12, 13, 14)
    named = [f"Programming Language :: Python :: 3.{minor}" for minor in (9, 10, 13, 14)]
    assert names(">=3.8", named, pool=pool) == ["3.13", "3.10", "3.9", "3.14", "3.12", "3.11", "3.8"]


def test_without_classifiers_a_settled_version() -> None:
    pool = interpreters(8, 9, 10, 11, 12, 13)
    assert names("", [], pool=pool)[0] == "3.11"
    assert names(">=3.12", ["Programming Language :: Python :: 3"], pool=pool) == ["3.12", "3.13"]


def test_depends_on_no_certain_version() -> None:
    assert names(">=3.8", ["Programming Language :: Python :: 3.9"], pool=interpreters(12)) == ["3.12"]
    assert names(">=3.13", [], pool=interpreters(11, 12)) == []
    assert names("not a version", [], pool=interpreters(11)) == ["3.11"]
    assert with_version("3.9", interpreters(11)) is None
