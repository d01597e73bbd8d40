"""A small process that outlives the driver by a moment and clears up what Ray leaves of a killed one.

Started by the pool as `python -P -S reaper.py FOLDER`. The driver writes lines `PID STARTED` of the
processes it has on the reaper's standard input. When that ends, however the driver ended, the reaper kills
those still there with all below them, and removes FOLDER. Standard library only.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from types import ModuleType


def _processes() -> ModuleType:
    """Load the module beside this one without importing any package."""
    spec = importlib.util.spec_from_file_location("processes", Path(__file__).with_name("processes.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["processes"] = module
    spec.loader.exec_module(module)
    return module


def _names(pid: int, folder: str) -> bool:
    """Whether a process was started with the folder in its command line or environment."""
    try:
        return any(
            folder.encode() in Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ")
        )
    except OSError:
        return False


def main(folder: str) -> None:
    """Wait for the end of standard input, then clear up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    table = _processes()
    known: set[tuple[int, int]] = set()
    for line in sys.stdin:
        pid, _, started = line.partition(" ")
        known.add((int(pid), int(started)))
    for _ in range(20):
        now = table.processes()
        marked = {(pid, process.started) for pid, process in now.items() if _names(pid, folder)}
        doomed = {
            process.pid
            for pid, started in known | marked
            if pid in now and now[pid].started == started
            for process in table.descendants(pid, now)
        }
        known |= {(pid, now[pid].started) for pid in doomed}
        doomed.discard(os.getpid())
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not doomed:
            break
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
