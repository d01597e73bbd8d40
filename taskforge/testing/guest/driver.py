"""The driver: imports pytest once, then runs one session after another, each in a process of its own.

It reads a job, owns the channel to the host, and outlives whatever a session does short of SIGKILL. Frames on
the channel are `<kind> <variant> <length>\n` and that many bytes: `h` hello, `b` begin, `r` records of the
session as JSON lines, `e` how it ended, `d` the tree could not be restored, so the rest needs a new sandbox,
`x` a fault of the driver, `p` compiled code to
use again.
"""

import gc
import json
import os
import signal
import sys
import time
import traceback

from taskforge_guest import load

processes = load("processes")
session = load("session")
worktree = load("worktree")

KEPT_SIGNALS = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGPIPE,
)


class Driver(object):
    """State of one batch."""

    def __init__(self, job):
        self.job = job
        self.channel = int(os.environ.pop("TASKFORGE_CHANNEL"))
        os.set_inheritable(self.channel, False)
        self.tree = os.path.realpath(os.environ.get("TASKFORGE_TREE") or os.getcwd())
        os.chdir(self.tree)
        temporary = os.environ.setdefault("TMPDIR", "/tmp")
        home = os.environ.get("HOME", "")
        self.cache_folder = os.path.join(temporary, "taskforge-bytecode")
        self.scratch = [worktree.Scratch(temporary, ["taskforge-bytecode"])]
        if home and home != temporary:
            self.scratch.append(worktree.Scratch(home))
        self.storage = os.path.join(temporary, "hypothesis")
        self.defaults = {}
        self.alone = processes.count() < 20  # a PID namespace of our own

    def frame(self, kind, number, data):
        """Write one frame to the host."""
        data = ("%s %d %d\n" % (kind, number, len(data))).encode("ascii") + data
        while data:
            data = data[os.write(self.channel, data) :]

    def say(self, kind, number, value):
        """Write one frame of JSON."""
        self.frame(kind, number, json.dumps(value).encode("ascii"))

    def prepare(self):
        """Set the environment of the sessions and warm this process up."""
        job = self.job
        roots = [os.path.normpath(os.path.join(self.tree, root)) for root in job["import_roots"]]
        job.update(tree=self.tree, roots=roots, cache=self.cache_folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(roots)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = self.storage
        os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)
        self.cache = load("bytecode").Cache(self.cache_folder, self.tree)
        self.worktree = worktree.Worktree(self.tree)
        self.worktree.fill(job["generated"])
        if len(job["variants"]) > 1 or any(variant["overlay"] for variant in job["variants"]):
            self.worktree.remember(len(job["variants"]) > 1)
        self.cache.prime(job["bytecode"])
        session.prepare_path([])
        version, self.warm = "", False
        if not all(v["fresh"] for v in job["variants"]):
            try:
                version = session.preload().__version__
                self.warm = not self._shadowed(roots)
            except ImportError:
                version = ""
        session.prepare_path(roots)
        self.say("h", 0, {"python": sys.version.split()[0], "pytest": version, "warm": self.warm})
        for number in KEPT_SIGNALS:
            self.defaults[number] = signal.signal(number, signal.SIG_IGN)
        processes.become_subreaper()
        gc.collect()
        getattr(gc, "freeze", int)()

    def _shadowed(self, roots):
        """True when the tree has its own copy of a module that pytest has loaded already."""
        loaded = {name.split(".")[0] for name in sys.modules}
        for root in roots:
            for name in loaded:
                place = os.path.join(root, name)
                if os.path.exists(place + ".py") or os.path.exists(os.path.join(place, "__init__.py")):
                    return True
        return False

    def _become_session(self, variant, report, output):
        """In the child: cut the ties to the driver and run. Never returns."""
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        high = os.dup2(report, 3) if report != 3 else 3
        os.closerange(4, 4096)
        for number, handler in self.defaults.items():
            signal.signal(number, handler)
        os.environ.update(variant["env"])
        if self.warm and not variant["fresh"]:
            os.set_inheritable(high, False)
            self.cache.install()
            session.finish(self.job, variant, high, self.cache)
        job = dict(
            self.job, entry="session", variant=variant, variants=[], generated={}, bytecode={}, report=high
        )
        job["overlaid"] = self.cache.overlaid
        path = os.path.join(self.cache_folder, "job")
        os.makedirs(self.cache_folder, exist_ok=True)
        with open(path, "w") as file:
            json.dump(job, file)
        place = os.open(path, os.O_RDONLY)
        os.unlink(path)
        os.set_inheritable(place, True)
        os.set_inheritable(high, True)
        os.execv(sys.executable, [sys.executable, "-c", job["boot"], str(place)])

    def run(self, number, variant):
        """Run one variant. Return False when no further one can run here."""
        begin = time.monotonic()
        self.cache.overlaid = self.worktree.lay(variant["overlay"])
        self.cache.prime(self.job["bytecode"], variant["overlay"])
        self.say("b", number, {})
        report, report_end = os.pipe()
        output, output_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_session(variant, report_end, output_end)
            finally:
                os._exit(71)
        os.close(report_end)
        os.close(output_end)
        watch = processes.Watch(
            pid,
            report,
            output,
            lambda data: self.frame("r", number, data),
            variant["wall_s"],
            variant["test_timeout_s"] * 1.25 + 5 if variant["test_timeout_s"] else variant["wall_s"],
            variant["output_bytes"],
            variant["processes"] if self.alone else 0,
            [self.tree] + [folder.path for folder in self.scratch],
        )
        ending, status, cpu_s = watch.follow()
        for kill in (os.killpg, os.kill):
            try:
                kill(pid, signal.SIGKILL)
            except OSError:
                pass
        rest_s = processes.end_all()
        os.close(report)
        os.close(output)
        end = {"ending": ending, "cpu_s": cpu_s + (rest_s or 0.0), "wall_s": time.monotonic() - begin}
        end["signal"] = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else 0
        end["output"] = watch.tail.decode("utf-8", "replace").replace(self.tree + os.sep, "")
        self.say("e", number, end)
        if rest_s is None:
            return False
        if self.job["keep_bytecode"] and number == 0:
            self.say("p", number, self.cache.collect())
        if number + 1 < len(self.job["variants"]):
            for folder in self.scratch:
                folder.empty()
            return self.worktree.restore()
        return True


def main(job):
    """Run the batch."""
    driver = Driver(job)
    try:
        driver.prepare()
        for number, variant in enumerate(job["variants"]):
            if not driver.run(number, variant):
                driver.say("d", number, {})
                return
    except Exception:
        driver.say("x", 0, traceback.format_exc()[-4000:])
        raise
