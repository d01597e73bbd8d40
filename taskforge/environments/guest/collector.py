"""Collects the suite and reports what is missing. Standard library only; Python 3.6 and pytest 6 suffice.

Reads a JSON job from standard input, writes one JSON object to the descriptor in $TASKFORGE_CHANNEL.
"""

import importlib
import json
import os
import shutil
import sys
import traceback

MOST = 200
LONGEST = 3000


def lay_overlay(overlay, tree):
    """Copy generated and compiled files into the tree, keeping what is there."""
    for folder, _, names in os.walk(overlay):
        for name in names:
            source = os.path.join(folder, name)
            target = os.path.join(tree, os.path.relpath(source, overlay))
            if not os.path.exists(target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)


class Collector:
    """A pytest plugin that listens to collection."""

    def __init__(self):
        self.errors = []
        self.skips = []
        self.warnings = []
        self.files = {}
        self.fixtures = {}

    def pytest_collectreport(self, report):
        text = str(report.longrepr or "")
        if report.failed and len(self.errors) < MOST:
            self.errors.append([report.nodeid, text[-LONGEST:]])
        elif report.skipped and len(self.skips) < MOST:
            self.skips.append([report.nodeid, text[-LONGEST:]])

    def pytest_warning_recorded(self, warning_message):
        text = str(warning_message.message)
        if len(self.warnings) < MOST and text[:300] not in self.warnings:
            self.warnings.append(text[:300])

    def pytest_collection_finish(self, session):
        for item in session.items:
            path = item.nodeid.split("::", 1)[0]
            self.files[path] = self.files.get(path, 0) + 1
            info = getattr(item, "_fixtureinfo", None)
            if info is None:
                continue
            given = set(getattr(getattr(item, "callspec", None), "params", None) or ())
            for name in info.names_closure:
                if name != "request" and name not in given and not info.name2fixturedefs.get(name):
                    self.fixtures[name] = self.fixtures.get(name, 0) + 1


def importable(names):
    """Import each name; return name -> last line of the error, empty where it worked."""
    found = {}
    for name in names:
        try:
            importlib.import_module(name)
            found[name] = ""
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            found[name] = "".join(traceback.format_exception_only(type(error), error)).strip()[-LONGEST:]
    return found


def main():
    job = json.loads(sys.stdin.read())
    tree = os.environ["TASKFORGE_TREE"]
    channel = int(os.environ["TASKFORGE_CHANNEL"])
    os.set_inheritable(channel, False)
    os.chdir(tree)
    if job["overlay"]:
        lay_overlay(job["overlay"], tree)
    roots = [os.path.normpath(os.path.join(tree, root)) for root in job["import_roots"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(roots)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = roots + [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    answer = {"pytest": "", "exit": None, "crash": ""}
    collector = Collector()
    try:
        import pytest

        answer["pytest"] = pytest.__version__
        answer["exit"] = int(pytest.main(["--rootdir=" + tree] + job["arguments"], plugins=[collector]))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        answer["crash"] = traceback.format_exc()[-LONGEST:]
    answer["imports"] = importable(job["packages"])
    answer["errors"] = collector.errors
    answer["skips"] = collector.skips
    answer["warnings"] = collector.warnings
    answer["files"] = collector.files
    answer["fixtures"] = collector.fixtures
    with os.fdopen(channel, "wb") as stream:
        stream.write(json.dumps(answer).encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
