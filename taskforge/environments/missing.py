"""What an environment lacks, as told by a collection: distributions to add, folders to put on the path."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from taskforge.environments.collect import Collection
from taskforge.environments.importnames import (
    distribution_for,
    distribution_for_fixture,
    distribution_for_mark,
    distribution_for_option,
)
from taskforge.environments.layout import TEST_FOLDERS

_HEAVY = frozenset(
    {"torch", "tensorflow", "jax", "jaxlib", "pyspark", "vllm", "cupy", "paddlepaddle", "mxnet"}
)
_NOT_A_ROOT = re.compile(r"fixture|data|example|sample|resource|snapshot|vendor|template|\bbuild\b|\bdocs?\b")
_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]*)")
_OLD_PYTEST = re.compile(
    r"PytestRemovedIn\d|\[pytest\] section in setup\.cfg|cannot import name '\w+' from '_?pytest"
    r"|module '_?pytest[\w.]*' has no attribute|_pytest/[\w/]+\.py:\d+: (TypeError|AttributeError)"
    r"|PluginValidationError|yield tests were removed|unexpected keyword argument 'fspath'"
    r"|nose-specific|got an unexpected keyword argument 'path'|'(collection_)?path: py\.path\.local'"
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """What to change before collecting again."""

    requirements: tuple[str, ...] = ()
    import_roots: tuple[str, ...] = ()
    unknown_options: tuple[str, ...] = ()
    """Options of addopts that no installed plugin knows and no known plugin gives: dropped."""

    def __bool__(self) -> bool:
        return bool(self.requirements or self.import_roots or self.unknown_options)


def find_gaps(
    collection: Collection,
    *,
    own_name: str,
    packages: Sequence[str],
    package_paths: Sequence[str],
    tree_files: Sequence[str],
    import_roots: Sequence[str],
    locked: frozenset[str],
    tried: frozenset[str],
) -> Gaps:
    """Map the complaints of a collection to what would cure them.

    Never asks for the package under test, for what is `locked` or `tried` already (normalised names), nor
    for a distribution of gigabytes while the rest of the suite can do without it.
    """
    requirements: dict[str, None] = {}
    roots: dict[str, None] = {}
    options: dict[str, None] = {}

    def ask(requirement: str | None) -> bool:
        if requirement is None:
            return False
        name = canonicalize_name(Requirement(requirement).name)
        if name == canonicalize_name(own_name) or name in locked | tried:
            return False
        if name in _HEAVY and collection.tests:
            return False
        requirements.setdefault(requirement)
        return True

    for module in dict.fromkeys([*missing_modules(collection), *collection.absent]):
        top = module.split(".")[0]
        root = _root_of(top, tree_files, package_paths)
        if root is not None and root not in import_roots:
            roots.setdefault(root)
        elif root is None and top not in packages:
            ask(distribution_for(module))
    if re.search(r"module 'py' has no attribute", collection.text):
        ask("py")
    for fixture in collection.missing_fixtures:
        ask(distribution_for_fixture(fixture))
    said = "\n".join([collection.text, *collection.warnings])
    for name in re.findall(r"Unknown config option: ([\w-]+)", said):
        ask(distribution_for_option(name))
    for name in re.findall(r"Unknown pytest\.mark\.(\w+)|'(\w+)' not found in `markers`", said):
        ask(distribution_for_mark(name[0] or name[1]))
    for listed in re.findall(r"Missing required plugins: (.+)", said):
        for plugin in re.split(r",\s*", listed.strip()):
            if re.match(r"^[\w.-]+$", re.split(r"[<>=!~ ]", plugin)[0]):
                ask(re.split(r"[<>=!~ ]", plugin)[0])
    for listed in re.findall(r"unrecognized arguments: (.+)", said):
        for argument in listed.split():
            if argument.startswith("-"):
                wanted = distribution_for_option(argument)
                if not ask(wanted):
                    options.setdefault(argument)
    return Gaps(tuple(requirements), tuple(roots), tuple(options))


def needs_older_pytest(collection: Collection) -> bool:
    """Tell whether the suite stumbles over the version of pytest: then an older one is worth a try."""
    if not collection.pytest_version or int(collection.pytest_version.split(".")[0]) < 7:
        return False
    if collection.exit_code in {0, 5}:
        return False
    return bool(_OLD_PYTEST.search(collection.text)) or collection.exit_code == 3


def missing_modules(collection: Collection) -> tuple[str, ...]:
    """Return the modules that were looked for in vain, in the order they were named first."""
    return tuple(dict.fromkeys(_MODULE.findall(collection.text)))


def _root_of(top: str, tree_files: Sequence[str], package_paths: Sequence[str]) -> str | None:
    """Return the folder of the tree from which a top-level module can be imported, the shortest one.

    Folders inside the package count only where they are folders of tests, and deep ones or those of
    test data never: a module there that happens to have the name of a distribution is not meant.
    """
    if top in sys.stdlib_module_names:
        return None
    roots: set[str] = set()
    for path in tree_files:
        if not path.endswith(".py"):
            continue
        parts = path.split("/")
        for index, part in enumerate(parts[:3]):
            if part in {top, f"{top}.py"} and (part == top) == (index < len(parts) - 1):
                roots.add("/".join(parts[:index]) or ".")
                break
    inside = tuple(f"{place}/" for place in package_paths)
    usable = [
        root
        for root in roots
        if not _NOT_A_ROOT.search(root)
        and (not f"{root}/".startswith(inside) or TEST_FOLDERS & set(root.split("/")))
    ]
    return min(usable, key=lambda root: (root != ".", root.count("/"), root), default=None)
