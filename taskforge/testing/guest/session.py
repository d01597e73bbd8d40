"""One pytest session: what a forked child, or a fresh interpreter, does for one variant."""

import json
import os
import resource
import sys
import types

from taskforge_guest import load


class Channel(object):
    """Sends JSON lines to the driver. Silent in any process but the one that made it."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.owner = os.getpid()
        self._waiting = b""

    def send(self, message, later=False):
        """Send a message; `later` means with the next one."""
        if os.getpid() != self.owner:
            return
        data = self._waiting + json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        self._waiting = data if later and len(data) < 1 << 16 else b""
        while data and not self._waiting:
            data = data[os.write(self.descriptor, data) :]


def prepare_path(roots):
    """Put the import roots first and take out the working directory."""
    sys.path[:] = roots + [entry for entry in sys.path if entry and entry not in roots]


def preload():
    """Import pytest with its own plugins, and nothing of the tree."""
    import importlib

    import _pytest.config
    import pytest

    for name in _pytest.config.default_plugins:
        importlib.import_module("_pytest." + name)
    return pytest


def _arguments(job, variant, tree):
    given = list(job["pytest_args"])
    arguments = ["--rootdir=" + tree, "-o", "addopts=", "--continue-on-collection-errors", "--tb=line"]
    if "no:cacheprovider" not in " ".join(given):
        arguments += ["-o", "cache_dir=" + os.path.join(os.environ["TMPDIR"], "pytest-cache")]
    for name in ("randomly", "flaky", "random_order", "random-order"):
        arguments += ["-p", "no:" + name]
    arguments += [a for a in given if not a.startswith(("--randomly", "--random-order"))]
    if variant["stop_at_first"]:
        arguments.append("--maxfail=1")
    if variant["select"] is None:
        return arguments + list(job["test_paths"])
    files = []
    for test in variant["select"]:
        path = test.split("::")[0]
        if path not in files:
            files.append(path)
    files = [path for path in files if os.path.exists(os.path.join(tree, path))]
    return arguments + files if files else None


def _modules(job, tree):
    """Names of the package's modules now loaded, in the order of their import."""
    inside = load("locations").inside
    paths = tuple(p.rstrip("/") for p in job["package_paths"])
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.startswith(tree):
            place = inside(tree, path) or ""
            if any(place == p or place.startswith(p + "/") or p == "." for p in paths):
                found.append([name, place])
    return found


def _pose_as_pytest(arguments):
    """Make `__main__` and sys.argv look like those of `python -m pytest`."""
    import importlib.util

    spec = importlib.util.find_spec("pytest.__main__")
    if spec is None:
        return
    main = types.ModuleType("__main__")
    main.__spec__ = spec
    main.__file__ = spec.origin
    main.__package__ = "pytest"
    main.__loader__ = spec.loader
    sys.modules["__main__"] = main
    sys.argv = [spec.origin] + arguments


def run(job, variant, channel, cache):
    """Run the session and send its records, the last being ["end", exit code]."""
    import pytest

    if "random" in sys.modules and sys.version_info < (3, 7):
        sys.modules["random"].seed()  # later versions do that themselves after a fork
    plugin = load("plugin")
    tree = job["tree"]
    cache.install_rewriter()
    arguments = _arguments(job, variant, tree)
    if arguments is None:
        channel.send(["end", 5, []])
        return
    lines = None
    plugins = []
    if variant["coverage"]:
        try:
            lines = load("lines").Lines(tree, job["package_paths"])
        except ImportError as error:
            channel.send(["note", "coverage: %s" % error])
    if lines is not None:
        plugins.append(load("lines").LinesPlugin(lines, variant["modules"]))
    reporter = plugin.Reporter(channel, tree, variant["test_timeout_s"], lines)
    plugins.append(reporter)
    if variant["select"] is not None or variant["leave_out"]:
        plugins.append(plugin.Selection(variant["select"], variant["leave_out"]))
    if variant["shuffle"] is not None:
        plugins.append(plugin.Shuffle(variant["shuffle"]))
    _pose_as_pytest(arguments)
    if lines is not None:
        lines.start()
    code = pytest.main(arguments, plugins=plugins)
    if os.getpid() != channel.owner:
        os._exit(0)  # a test forked and both processes came back from pytest
    if lines is not None:
        lines.stop()
        for message in lines.messages():
            channel.send(message)
    channel.send(["end", int(code), _modules(job, tree)])


def finish(job, variant, report, cache):
    """Run in this process, which has its own session, standard streams and report pipe; never return."""
    channel = Channel(report)
    code = 70
    try:
        limit = variant["cpu_s"]
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        if hard == resource.RLIM_INFINITY or hard > limit:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, hard))
        run(job, variant, channel, cache)
        code = 0
    except BaseException as error:
        import traceback

        traceback.print_exc()
        channel.send(["note", "session: %s: %s" % (type(error).__name__, str(error)[:300])])
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def main(job):
    """Entry of a fresh interpreter: the driver has prepared everything but the imports."""
    cache = load("bytecode").Cache(job["cache"], job["tree"])
    cache.overlaid = job["overlaid"]
    cache.install()
    prepare_path(job["roots"])
    finish(job, job["variant"], job["report"], cache)
