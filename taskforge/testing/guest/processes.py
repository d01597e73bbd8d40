"""Starting, watching and ending the process of one session with everything it left behind."""

import errno
import os
import select
import signal
import time

TAIL = 16 << 10
NEARLY_FULL = 1 << 16
PATIENCE = 3
TICK = os.sysconf("SC_CLK_TCK")
LEAST_NAP = 0.002
LONGEST_NAP = 0.02


def become_subreaper():
    """Make orphans of this process's descendants its children. Return False where that is impossible."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) == 0
    except (ImportError, OSError, AttributeError):
        return False


def _children():
    me = os.getpid()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == me:
                found.append(int(name))
    return found


def end_all(patience_s=10.0):
    """Kill every descendant, orphans included. Return the CPU seconds they used, None when some remain."""
    spent = 0.0
    until = time.monotonic() + patience_s
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return spent
        if pid:
            spent += usage.ru_utime + usage.ru_stime
            continue
        for child in _children():
            for kill in (os.killpg, os.kill):
                try:
                    kill(child, signal.SIGKILL)
                except OSError:
                    pass
        if time.monotonic() > until:
            return None
        time.sleep(LEAST_NAP)


def count():
    """Return the number of processes that are visible here."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


class Watch(object):
    """Relays a child's records and keeps the tail of its output until it ends or breaks a bound.

    Bounds: wall_s for the whole, quiet_s without a record once tests run (of CPU time; three times as much by
    the clock), output_bytes printed, processes (0 where other processes are visible), space in the folders.
    The sandbox has its own bounds; seeing these here, sooner, saves the rest of the batch and tells which
    session broke them.
    """

    def __init__(self, pid, report, output, relay, wall_s, quiet_s, output_bytes, processes, folders):
        self.pid = pid
        self.report = report
        self.output = output
        self.relay = relay
        self.wall_s = wall_s
        self.quiet_s = quiet_s
        self.output_bytes = output_bytes
        self.processes = processes
        self.folders = folders
        self.tail = b""
        self.printed = 0
        self.heard_cpu = 0.0
        self.running = False
        self.ended = False

    def _drain(self, descriptor):
        """Read what there is. Return False at the end of the stream."""
        while True:
            try:
                data = os.read(descriptor, 1 << 18)
            except OSError as error:
                return error.errno in (errno.EAGAIN, errno.EINTR)
            if not data:
                return False
            if descriptor == self.report:
                self.relay(data)
                self.running = self.running or b'["start",' in data
                self.ended = self.ended or b'["end",' in data
            else:
                self.printed += len(data)
                self.tail = (self.tail + data)[-TAIL:]

    def _captured(self):
        """Bytes that pytest's capture holds for the child's standard streams."""
        size = 0
        for number in (1, 2):
            try:
                size = max(size, os.stat("/proc/%d/fd/%d" % (self.pid, number)).st_size)
            except OSError:
                continue
        return size

    def _full(self):
        """True when a folder has no space left."""
        for folder in self.folders:
            try:
                space = os.statvfs(folder)
            except OSError:
                continue
            if space.f_bavail * space.f_frsize < NEARLY_FULL:
                return True
        return False

    def _broken(self, begin, heard, now):
        if self.printed > self.output_bytes or self._captured() > self.output_bytes:
            return "output"
        if self._full():
            return "disk"
        if self.processes and count() > self.processes:
            return "processes"
        if now - begin > self.wall_s:
            return "wall"
        if self.running and now - heard > self.quiet_s:
            if now - heard > PATIENCE * self.quiet_s or self._cpu() - self.heard_cpu > self.quiet_s:
                return "quiet"
        return ""

    def _cpu(self):
        """CPU seconds that the child itself has used."""
        try:
            with open("/proc/%d/stat" % self.pid, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / TICK

    def follow(self):
        """Return (how it ended, wait status or None, CPU seconds or 0.0).

        The end is "exited" or the bound: wall, quiet, output, disk, processes.
        """
        begin = heard = time.monotonic()
        nap = LEAST_NAP
        open_streams = {self.report, self.output}
        for descriptor in open_streams:
            os.set_blocking(descriptor, False)
        while True:
            ready = select.select(list(open_streams), [], [], 0.1)[0] if open_streams else []
            now = time.monotonic()
            for descriptor in ready:
                if descriptor == self.report:
                    heard, self.heard_cpu = now, self._cpu()
                if not self._drain(descriptor):
                    open_streams.discard(descriptor)
            if not open_streams or not ready or self.ended:
                flag = 0 if not open_streams and self.ended else os.WNOHANG
                pid, status, usage = os.wait4(self.pid, flag)
                if pid:
                    for descriptor in open_streams:
                        self._drain(descriptor)
                    return "disk" if self._full() else "exited", status, usage.ru_utime + usage.ru_stime
            broken = self._broken(begin, heard, now)
            if broken:
                return broken, None, 0.0
            time.sleep(nap)
            nap = min(nap * 1.2, LONGEST_NAP)
