"""Files that travel into the sandbox: standard library only, Python 3.6 syntax.

This file is the loader. It and its siblings are sent as text with the job, so nothing has to be mounted and
nothing of taskforge is importable in there. `enter(job)` makes them modules of a package `taskforge_guest`,
each executed when first asked for.
"""

import sys
import types


def enter(job):
    """Start the module that job["entry"] names, "driver" or "session"."""
    package = types.ModuleType("taskforge_guest")
    package.__path__ = []
    sys.modules["taskforge_guest"] = package

    def load(name):
        full = "taskforge_guest." + name
        if full not in sys.modules:
            module = types.ModuleType(full)
            sys.modules[full] = module
            exec(compile(job["sources"][name], "<" + full + ">", "exec"), module.__dict__)
        return sys.modules[full]

    package.load = load
    load(job["entry"]).main(job)
