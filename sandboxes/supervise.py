"""Runs one process to its end: feeds it, drains it, and ends it with all its descendants at a limit.

Backends decide what is started and how it is ended; this module knows nothing of isolation. The process that
it starts must outlive all processes of the command: when it has ended, nothing of the command is left.
"""

import contextlib
import errno
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandboxes.meter import Meter
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Completed, Ending

CHUNK = 1 << 16
SETTING_UP = b"\x06"
"""First byte on the channel: the sandbox stands."""
STARTING = b"\x07"
"""Second byte on the channel: the tree is copied, the next thing that runs is the command. Only the sandbox's
own start can write these, for it writes first."""
END_S = 30.0
"""How long a killed process tree may take to be gone before the sandbox counts as broken."""


@dataclass(frozen=True, slots=True)
class Start:
    """What to start. Descriptors in `inherited` are closed here after the start, `channel` at the end."""

    argv: Sequence[str]
    env: dict[str, str]
    cwd: str
    stdin: bytes
    inherited: tuple[int, ...]
    channel: int
    """Reading end of the channel."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended, and how far the sandbox' own start came."""

    completed: Completed
    set_up: bool
    started: bool


@dataclass(slots=True)
class _Sink:
    """What was read from one pipe, at most one byte more than `cap`."""

    cap: int
    data: bytearray

    def take(self, descriptor: int) -> int:
        """Read once. Returns the bytes read; 0 at the end of the stream; -1 when nothing is there now."""
        try:
            chunk = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return -1
        except OSError:
            return 0
        self.data += chunk[: self.cap + 1 - len(self.data)]
        return len(chunk)

    @property
    def is_over(self) -> bool:
        return len(self.data) > self.cap


def supervise(start: Start, meter: Meter, end: Callable[[int], None], init_of: Callable[[int], int]) -> Ended:
    """Start a process and wait for its end.

    `end` is called with the process' id, perhaps several times, to begin ending the whole tree; `init_of`
    returns the first process that sees the command's own places. Raises SandboxError when the process cannot
    be started or cannot be ended, UsageError when the command line cannot be handed over.
    """
    began = time.monotonic()
    try:
        process = _popen(start)
    except BaseException:
        os.close(start.channel)
        raise
    finally:
        for descriptor in start.inherited:
            os.close(descriptor)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    most = meter.limits.output_bytes
    sinks = {
        process.stdout.fileno(): _Sink(most, bytearray()),
        process.stderr.fileno(): _Sink(most, bytearray()),
        start.channel: _Sink(meter.limits.channel_bytes + 2, bytearray()),
    }
    run = _Run(process, start, meter, sinks, end, init_of, began)
    try:
        code = run.to_its_end()
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        os.close(start.channel)
    out, err, channel = (bytes(sink.data) for sink in sinks.values())
    completed = Completed(
        ending=run.ending,
        exit_code=code if run.ending is Ending.EXITED else None,
        stdout=out[:most],
        stderr=err[:most],
        channel=channel[2 : meter.limits.channel_bytes + 2],
        wall_s=time.monotonic() - began,
        cpu_s=meter.cpu_s,
        max_rss_bytes=meter.rss_bytes,
    )
    return Ended(completed, channel.startswith(SETTING_UP), channel.startswith(SETTING_UP + STARTING))


def _popen(start: Start) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            start.argv,
            env=start.env,
            cwd=start.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=start.inherited,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise UsageError("the arguments and variables of a command in a sandbox are too long") from error
        raise SandboxError(f"cannot start {start.argv[0]}: {error}") from error


@dataclass(slots=True)
class _Run:
    process: subprocess.Popen[bytes]
    start: Start
    meter: Meter
    sinks: dict[int, _Sink]
    end: Callable[[int], None]
    init_of: Callable[[int], int]
    began: float
    ending: Ending = Ending.EXITED
    stands: bool = False

    def to_its_end(self) -> int:
        """Feed, drain and measure until the process has ended; return its exit code."""
        handle = os.pidfd_open(self.process.pid)
        try:
            try:
                self._attend(handle)
            finally:  # at a limit, and when this thread is interrupted
                usage, status = self._reap(handle)
            self.meter.cpu_s = max(self.meter.cpu_s, usage[0])
            # A forked child starts with its parent's peak: only a higher one is the command's own.
            self.meter.rss_bytes = max(self.meter.rss_bytes, usage[1])
            return self._judge(os.waitstatus_to_exitcode(status))
        finally:
            self.meter.disk.close()
            os.close(handle)

    def _attend(self, handle: int) -> None:
        assert self.process.stdin is not None
        feeding = self.process.stdin.fileno()
        pending = memoryview(self.start.stdin)
        last = self.began + self.meter.limits.wall_s
        next_look = self.began + self.meter.pause_s
        with selectors.DefaultSelector() as selector:
            for descriptor in (handle, *self.sinks):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            os.set_blocking(feeding, False)
            selector.register(feeding, selectors.EVENT_WRITE)
            while self.ending is Ending.EXITED:
                timeout = min(next_look, last) - time.monotonic()
                ready = [key.fd for key, _ in selector.select(max(timeout, 0.0))]
                for descriptor in ready:
                    if descriptor in self.sinks and self._drain(descriptor) == 0:
                        selector.unregister(descriptor)
                    elif descriptor == feeding:
                        pending = self._feed(pending)
                        if not pending:
                            selector.unregister(feeding)
                            self.process.stdin.close()
                if handle in ready:
                    return
                now = time.monotonic()
                if now >= last:
                    self.ending = Ending.WALL_LIMIT
                elif now >= next_look:
                    self.ending = self.meter.look(self.process.pid, now - self.began) or self.ending
                    next_look = time.monotonic() + self.meter.pause_s

    def _feed(self, pending: memoryview) -> memoryview:
        """Write what fits now; what a command does not read is dropped."""
        assert self.process.stdin is not None
        try:
            return pending[os.write(self.process.stdin.fileno(), pending[:CHUNK]) :] if pending else pending
        except BlockingIOError:
            return pending
        except OSError:
            return memoryview(b"")

    def _drain(self, descriptor: int) -> int:
        sink = self.sinks[descriptor]
        count = sink.take(descriptor)
        if descriptor == self.start.channel and count > 0 and not self.stands:
            self.stands = True
            self.meter.disk.open(self.init_of(self.process.pid))
        if sink.is_over and self.ending is Ending.EXITED:
            self.ending = Ending.OUTPUT_LIMIT
        return count

    def _reap(self, handle: int) -> tuple[tuple[float, int], int]:
        """End what still runs and collect it; return CPU seconds and peak memory in bytes, and the status."""
        deadline = time.monotonic() + END_S
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while not selector.select(0):
                if time.monotonic() > deadline:
                    raise SandboxError("a sandbox cannot be ended: its processes do not die when killed")
                self.end(self.process.pid)
                selector.select(0.1)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss * 1024
        return (usage.ru_utime + usage.ru_stime, peak if peak > _own_peak() else 0), status

    def _judge(self, code: int) -> int:
        """Read what is left in the pipes and settle how the command ended."""
        for descriptor, sink in self.sinks.items():
            while not sink.is_over and sink.take(descriptor) > 0:
                pass
        if 128 < code <= 128 + 64:  # how a shell says "killed by a signal"
            code = 128 - code
        if self.ending is not Ending.EXITED:
            return code
        if any(sink.is_over for sink in self.sinks.values()):
            self.ending = Ending.OUTPUT_LIMIT
        elif code == -signal.SIGXCPU:
            self.ending = Ending.CPU_LIMIT
        elif code == -signal.SIGXFSZ:
            self.ending = Ending.DISK_LIMIT
        else:
            self.ending = self.meter.last_look() or self.ending
        return code


def _own_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
