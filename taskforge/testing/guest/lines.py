"""Lines of the package that each test, wider fixture and collection of a file runs.

coverage.py traces; its collected sets are taken at every change of context, without its database, which
would cost more than the tests of a suite of many small ones.
"""

import dis
import os
import sys

import pytest
from taskforge_guest import load

inside = load("locations").inside


def _function_lines(code, within):
    lines = set()
    for const in code.co_consts:
        if not hasattr(const, "co_code"):
            continue
        function = within or (bool(const.co_flags & 1) and const.co_name[:1] != "<")
        if function:
            lines.update(n for _, n in dis.findlinestarts(const) if n and n != const.co_firstlineno)
        lines |= _function_lines(const, function)
    return lines


def function_lines(path):
    """Return the lines of the file that lie in function bodies; empty when it does not compile."""
    try:
        with open(path, "rb") as file:
            return _function_lines(compile(file.read(), path, "exec", dont_inherit=True), False)
    except (OSError, SyntaxError, ValueError):
        return set()


def mask(lines):
    """Return a hexadecimal number whose bit n stands for line n."""
    bits = bytearray(max(lines) // 8 + 1)
    for line in lines:
        bits[line >> 3] |= 1 << (line & 7)
    bits.reverse()
    return bytes(bits).hex()


class Lines(object):
    """Recorder and pytest plugin in one."""

    def __init__(self, tree, paths):
        os.environ["COVERAGE_CORE"] = "ctrace"
        import coverage

        self.tree = tree
        include = []
        for path in paths:
            place = os.path.normpath(os.path.join(tree, path))
            include.append(place if place.endswith(".py") else os.path.join(place, "*"))
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=include)
        self._sets = {}
        self._names = {}
        self._set_list = []
        self._contexts = {}
        self._stack = [("import", "")]
        self._users = {}
        self._test_files = set()

    def start(self):
        """Trace from here on, in the context `import`."""
        self.coverage.start()
        self._data = self.coverage._collector.data
        self._tracer = sys.gettrace()

    def stop(self):
        """Trace no longer."""
        self._take()
        self.coverage.stop()

    def _take(self):
        context = self._contexts.setdefault(self._stack[-1], set())
        for name in list(self._data):
            lines = self._data[name]
            if lines:
                key = (name, frozenset(lines))
                lines.clear()
                number = self._sets.get(key)
                if number is None:
                    number = self._sets[key] = len(self._sets)
                context.add(number)

    def enter(self, kind, name):
        """Begin a context; lines go to it until `leave`."""
        self._take()
        self._stack.append((kind, name))
        if self._tracer is not None and sys.gettrace() is not self._tracer:
            sys.settrace(self._tracer)

    def leave(self):
        """End the innermost context."""
        self._take()
        if len(self._stack) > 1:
            self._stack.pop()

    def know(self, items):
        """Note which tests use which wider fixtures. `items` in the order of their indices."""
        for index, item in enumerate(items):
            if not hasattr(item, "dtest"):  # a module with doctests is still the package's own
                self._test_files.add(item.nodeid.split("::")[0])
            info = getattr(item, "_fixtureinfo", None)
            for definitions in getattr(info, "name2fixturedefs", {}).values():
                for definition in definitions:
                    if definition.scope != "function":
                        self._users.setdefault(id(definition), (definition, []))[1].append(index)

    def messages(self):
        """Yield the records that carry everything to the host."""
        files = {}
        rows = []
        for (name, lines), _number in sorted(self._sets.items(), key=lambda pair: pair[1]):
            path = inside(self.tree, name)
            rows.append([files.setdefault(path or "", len(files)), mask(lines)])
        yield ["files", list(files), sorted(self._test_files)]
        for start in range(0, len(rows), 2000):
            yield ["sets", rows[start : start + 2000]]
        bodies = {}
        for (kind, name), numbers in self._contexts.items():
            if not numbers:
                continue
            users = None
            if kind == "collect":
                for number in numbers:
                    bodies.setdefault(rows[number][0], None)
            if kind == "fixture":
                users = self._users.get(name, (None, []))[1]
            yield ["context", kind, name, sorted(numbers), users]
        names = list(files)
        for index in sorted(bodies):
            found = function_lines(os.path.join(self.tree, names[index])) if names[index] else ()
            yield ["bodies", index, mask(found) if found else "0"]


class LinesPlugin(object):
    """Hooks that say where contexts begin and end, for use beside the reporter."""

    def __init__(self, lines, modules):
        self.lines = lines
        self.modules = modules

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        """Import the package first, so that its own import is not taken for a test file's."""
        for name in self.modules:
            try:
                __import__(name)
            except KeyboardInterrupt:
                raise
            except BaseException:
                continue

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        """Give what the collection of a file runs to that file."""
        name = collector.nodeid.split("::")[0]
        if os.path.isdir(os.path.join(self.lines.tree, name)) or name.endswith("__init__.py"):
            yield
            return
        self.lines.enter("collect", name)
        yield
        self.lines.leave()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """Give what a wider fixture runs, its teardown included, to all of its tests."""
        if fixturedef.scope == "function":
            yield
            return
        key = id(fixturedef)
        fixturedef.addfinalizer(self.lines.leave)  # finalizers run last in, first out
        self.lines.enter("fixture", key)
        yield
        self.lines.leave()
        fixturedef.addfinalizer(lambda: self.lines.enter("fixture", key))
