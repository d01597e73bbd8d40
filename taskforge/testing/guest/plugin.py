"""The pytest plugin: one outcome for each test, sent as it happens. Works with pytest 6 and later."""

import os
import random
import re
import signal
import sys
import time

import pytest
from taskforge_guest import load

Locator = load("locations").Locator
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
RANKS = ("passed", "xpassed", "xfailed", "skipped", "failed", "error", "timeout")
MESSAGE = 400
CHUNK = 500
PATIENCE = 3
"""A test may take this many times its bound by the clock while it has not used the bound in CPU time."""


class TestTimeout(pytest.fail.Exception):
    """Raised in a test that ran too long."""

    __test__ = False


def outcome_of(report):
    """Return the outcome that one report of one phase stands for, "" when it says nothing."""
    expected = hasattr(report, "wasxfail")
    subtest = "subtest" in type(report).__name__.lower()
    if report.outcome == "rerun":
        return "failed"
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if subtest:
        return ""
    if report.outcome == "skipped":
        return "xfailed" if expected else "skipped"
    if report.when == "call":
        return "xpassed" if expected else "passed"
    return ""


class Reporter(object):
    """Sends what happens as lists: ["collected", ...], ["start", i], ["test", i, outcome, message, s], ..."""

    def __init__(self, channel, tree, timeout_s, lines=None):
        self.channel = channel
        self.tree = tree
        self.timeout_s = timeout_s
        self.lines = lines
        self.index = {}
        self.collected = False
        self.current = None
        self.outcome = ""
        self.message = ""
        self.timed_out = False
        self.began = self.began_cpu = 0.0

    def _text(self, text, most=MESSAGE):
        text = ADDRESS.sub("0x...", str(text).replace(self.tree + os.sep, ""))
        return text if len(text) <= most else text[:most] + " ..."

    def _crash_line(self, report):
        longrepr = report.longrepr
        crash = getattr(longrepr, "reprcrash", None)
        if crash is not None:
            return self._text(crash.message)
        if isinstance(longrepr, tuple) and len(longrepr) == 3:
            return self._text(longrepr[2])
        text = str(longrepr) if longrepr is not None else ""
        marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
        return self._text("\n".join(marked) or text[-MESSAGE:])

    def pytest_configure(self, config):
        """Register markers of plugins that are switched off, and make hypothesis repeatable."""
        config.addinivalue_line("markers", "flaky: handled by a plugin that is switched off")
        config.addinivalue_line("markers", "random_order: handled by a plugin that is switched off")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        """Conftest files are loaded by now; whatever profile they chose loses its chance and its clock."""
        hypothesis = sys.modules.get("hypothesis")
        if hypothesis is not None and hasattr(hypothesis, "settings"):
            settings = hypothesis.settings
            try:
                settings.register_profile(
                    "taskforge", settings(settings.default, derandomize=True, database=None, deadline=None)
                )
                settings.load_profile("taskforge")
            except Exception as error:
                self.channel.send(["note", "hypothesis: %s" % self._text(error)])

    def pytest_collectreport(self, report):
        """Report what could not be collected."""
        if report.outcome == "failed":
            line = self._crash_line(report)
            whole = self._text(report.longrepr, 4 * MESSAGE)
            self.channel.send(
                ["collect_error", report.nodeid, line if line in whole[:MESSAGE] else line + "\n" + whole]
            )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """Report what was collected, with places."""
        locator = Locator(self.tree)
        rows, repeated, chosen = [], [], []
        for item in session.items:
            if item.nodeid in self.index:
                repeated.append(item.nodeid)
                continue
            self.index[item.nodeid] = len(self.index)
            chosen.append(item)
            try:
                place = locator.find(item)
            except Exception:
                place = [item.nodeid.split("::")[0], ""]
            rows.append([item.nodeid] + place)
        for start in range(0, len(rows), CHUNK):
            self.channel.send(["collected", rows[start : start + CHUNK]])
        if repeated:
            self.channel.send(["repeated", sorted(set(repeated))])
        self.collected = True
        if self.lines is not None:
            self.lines.know(chosen)

    def _alarm(self, _signal, _frame):
        used = time.process_time() - self.began_cpu
        if used < self.timeout_s and time.monotonic() - self.began < PATIENCE * self.timeout_s:
            # A busy machine is no hang: wait until the CPU time is spent.
            signal.setitimer(signal.ITIMER_REAL, max(self.timeout_s - used, 0.1))
            return
        self.timed_out = True
        raise TestTimeout("the test ran longer than %g s" % self.timeout_s)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Bracket one test with its clock, its coverage context and its record."""
        key = self.index.get(item.nodeid, item.nodeid)
        self.outcome, self.message, self.timed_out = "", "", False
        self.channel.send(["start", key])
        if self.lines is not None:
            self.lines.enter("test", key)
        if self.timeout_s:
            signal.signal(signal.SIGALRM, self._alarm)
            signal.setitimer(signal.ITIMER_REAL, self.timeout_s)
        self.began, self.began_cpu = time.monotonic(), time.process_time()
        yield
        elapsed = time.monotonic() - self.began
        if self.timeout_s:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self.lines is not None:
            self.lines.leave()
        if self.timed_out:
            self.outcome = "timeout"
        record = ["test", key, self.outcome or "error", self.message, round(elapsed, 6)]
        self.channel.send(record, later=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        """The worst of a test's reports is its outcome."""
        outcome = outcome_of(report)
        if outcome and (not self.outcome or RANKS.index(outcome) > RANKS.index(self.outcome)):
            if self.outcome == "failed" and outcome == "error":
                return  # the test itself failed; that its teardown did too says less
            self.outcome = outcome
            self.message = "" if outcome == "passed" else self._crash_line(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        """Nobody reads the summaries: tracebacks cost time, and some plugins import half of themselves."""
        session.config.hook.pytest_terminal_summary = lambda **_: []

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self, excinfo):
        """A test interrupted the session; say so, since pytest just stops."""
        self.channel.send(["note", "interrupted: %s" % self._text(excinfo.value)])


class Selection(object):
    """Keeps chosen tests only, in pytest's order."""

    def __init__(self, chosen=None, left_out=()):
        self.chosen = None if chosen is None else set(chosen)
        self.left_out = set(left_out)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Drop the others."""
        items[:] = [
            item
            for item in items
            if (self.chosen is None or item.nodeid in self.chosen) and item.nodeid not in self.left_out
        ]


class Shuffle(object):
    """Shuffles files, classes in files and tests in classes, before pytest groups by wider fixtures."""

    def __init__(self, seed):
        self.seed = seed

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        """Shuffle in place; the order depends on the seed and the node ids only."""
        numbers = random.Random(self.seed)
        files = {}
        for item in items:
            parts = item.nodeid.partition("[")[0].split("::")
            files.setdefault(parts[0], {}).setdefault(tuple(parts[1:-1]), []).append(item)
        shuffled = []
        for name in self._mixed(numbers, files):
            for group in self._mixed(numbers, files[name]):
                tests = list(files[name][group])
                numbers.shuffle(tests)
                shuffled.extend(tests)
        items[:] = shuffled

    def _mixed(self, numbers, keys):
        keys = list(keys)
        numbers.shuffle(keys)
        return keys
