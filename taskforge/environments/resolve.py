"""Turns requirements into a lock with hashes, giving up declared test requirements before giving up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.environments.declared import Declaration
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.uvtool import Uv, log_tail, succeeded

OLDEST_PYTEST = "6"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the environment shall hold, apart from the package under test itself."""

    own_name: str
    own_version: str
    runtime: tuple[str, ...]
    declarations: tuple[Declaration, ...] = ()
    """Requirements of the tests only; these may be given up."""
    added: tuple[str, ...] = ()
    """Found missing at collection."""
    bounds: tuple[str, ...] = ()
    """Constraints, such as an upper bound on pytest."""
    excluded: bool = False
    """True where the released versions of the package under test do not fit: it is cut out instead."""


@dataclass(frozen=True, slots=True)
class Locked:
    """A resolved lock and how it was reached."""

    text: str
    wanted: Wanted
    """The requirements that held."""
    builds: bool
    """True where some distribution comes as source only and is built."""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Trial:
    text: str = ""
    log: str = ""
    builds: bool = False
    absent: set[str] = field(default_factory=set)


def pytest_is_too_old(declarations: Sequence[Declaration]) -> bool:
    """Tell whether the repository's own requirement admits no pytest from 6 on."""
    known = [
        f"{major}.{minor}.{patch}" for major in range(6, 12) for minor in range(10) for patch in range(6)
    ]
    for declaration in declarations:
        for line in declaration.requirements:
            requirement = Requirement(line)
            if canonicalize_name(requirement.name) == "pytest" and not any(
                requirement.specifier.contains(version) for version in known
            ):
                return True
    return False


def resolve(uv: Uv, interpreter: Interpreter, wanted: Wanted) -> Locked | Skipped:
    """Lock `wanted` for the interpreter.

    Where all declarations together do not resolve, distributions that the index does not have are left out
    first; then the declarations are added one after another, without their version bounds where these
    clash, and not at all where even the names clash. Runtime requirements are never given up.
    """
    notes: list[str] = []
    trial = _compile(uv, interpreter, wanted)
    if not trial.text and not wanted.excluded:
        relaxed = replace(wanted, excluded=True)
        again = _compile(uv, interpreter, relaxed)
        if again.text or again.absent:
            wanted, trial = relaxed, again
    for _ in range(4):
        if trial.text or not trial.absent:
            break
        slim = _without(wanted, trial.absent)
        if slim == wanted:
            break
        notes.append(f"not in the package index, left out: {', '.join(sorted(trial.absent))}")
        wanted = slim
        trial = _compile(uv, interpreter, wanted)
    if trial.text:
        return Locked(trial.text, wanted, trial.builds, tuple(notes))
    base = replace(wanted, declarations=())
    trial = _compile(uv, interpreter, base)
    if not trial.text and not base.excluded:
        base = replace(base, excluded=True)
        trial = _compile(uv, interpreter, base)
    if not trial.text:
        return Skipped(
            SkipReason.DEPENDENCIES_UNSATISFIABLE,
            f"Its requirements cannot be installed together for Python {interpreter.minor}.",
            trial.log,
        )
    for declaration in wanted.declarations:
        loose = replace(declaration, requirements=_names(declaration.requirements))
        for candidate, remark in ((declaration, ""), (loose, "without version bounds")):
            attempt = replace(base, declarations=(*base.declarations, candidate))
            found = _compile(uv, interpreter, attempt)
            if found.text:
                base, trial = attempt, found
                if remark:
                    notes.append(f"{declaration.source}: taken {remark}")
                break
        else:
            notes.append(f"{declaration.source}: left out, it cannot be installed with the rest")
    return Locked(trial.text, base, trial.builds, tuple(notes))


def _compile(uv: Uv, interpreter: Interpreter, wanted: Wanted) -> _Trial:
    """Run uv pip compile: with wheels alone, and only if that fails with builds allowed."""
    own = canonicalize_name(wanted.own_name)
    coverage = "coverage>=7" if interpreter.series >= (3, 7) else "coverage>=6"
    lines = list(wanted.runtime)
    lines += [line for declaration in wanted.declarations for line in declaration.requirements]
    lines += wanted.added
    if own != "pytest":
        lines.append(f"pytest>={OLDEST_PYTEST}")
    if own != "coverage":
        lines.append(coverage)
    text = "\n".join(sorted({line for line in lines if _name(line) != own})) + "\n"
    constraints = list(wanted.bounds)
    if not wanted.excluded:
        constraints.append(f"{own}=={wanted.own_version}")
    uv.folder.mkdir(parents=True, exist_ok=True)
    (uv.folder / "requirements.in").write_text(text, encoding="utf-8")
    (uv.folder / "constraints.txt").write_text("\n".join(constraints) + "\n", encoding="utf-8")
    arguments = [
        "pip", "compile", str(uv.folder / "requirements.in"), "--generate-hashes", "--no-header",
        "--no-annotate", "--quiet", "--no-sources", "--python", str(interpreter.path),
        "--no-emit-package", own, "--constraints", str(uv.folder / "constraints.txt"),
    ]  # fmt: skip
    if wanted.excluded:
        (uv.folder / "excludes.txt").write_text(f"{own}\n", encoding="utf-8")
        arguments += ["--excludes", str(uv.folder / "excludes.txt")]
    trial = _Trial()
    done = uv.run(*arguments, "--no-build", interpreter=interpreter, trusted=True)
    log = log_tail(done)
    if not succeeded(done) and re.search(
        r"building (from )?source|no usable wheels|no wheels|--no-build|disabled", log
    ):
        done = uv.run(*arguments, interpreter=interpreter, trusted=False)
        trial.builds = True
        log = log_tail(done)
    if succeeded(done):
        trial.text = _clean(done.stdout.decode("utf-8", "replace"))
        return trial
    trial.log = log
    trial.absent = {
        canonicalize_name(name)
        for name in re.findall(
            r"[Bb]ecause ([\w.-]+) was not found in the package\s+registry", " ".join(log.split())
        )
    }
    trial.absent |= {
        canonicalize_name(name)
        for name in re.findall(r"Failed to (?:build|download and build) `([\w.-]+?)(?:==[^`]*)?`", log)
    }
    return trial


def _without(wanted: Wanted, names: set[str]) -> Wanted:
    def keep(lines: Sequence[str]) -> tuple[str, ...]:
        return tuple(line for line in lines if _name(line) not in names)

    return replace(
        wanted,
        declarations=tuple(
            replace(declaration, requirements=keep(declaration.requirements))
            for declaration in wanted.declarations
        ),
        added=keep(wanted.added),
    )


def _names(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the requirements without version bounds; extras and markers stay."""
    loose: list[str] = []
    for line in lines:
        requirement = Requirement(line)
        bracket = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
        marker = f" ; {requirement.marker}" if requirement.marker else ""
        loose.append(f"{requirement.name}{bracket}{marker}")
    return tuple(loose)


def _name(line: str) -> str:
    try:
        return canonicalize_name(Requirement(line).name)
    except InvalidRequirement:
        return line


def _clean(text: str) -> str:
    """Keep requirement and hash lines only: index addresses and comments are of this machine."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not re.match(r"^\s*(#|--(?!hash))", line)) + "\n"
