"""Runs one process to its end: feeds it, drains it, and ends it with all its descendants at a limit.

Backends decide what is started and how it is killed; this module knows nothing of isolation.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO

from sandboxes.proctree import look, proportional_bytes, tmpfs_bytes
from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Completed, Ending, Limits

FIRST_LOOK_S = 0.05
LOOK_S = 0.1
CHUNK = 1 << 16
NEARLY_FULL = 1 << 16
"""A mount with less than this left, in bytes, counts as full."""


@dataclass(slots=True)
class Watch:
    """What to watch besides the process itself."""

    kill: Callable[[subprocess.Popen[bytes]], None]
    """Ends the process and all its descendants."""
    mounts: tuple[str, ...] = ()
    """In-memory mounts, as the command sees them, that count as disk and as memory."""
    extra_pids: Callable[[], tuple[int, ...]] = tuple
    """Descendants that have left the process tree (backends without a PID namespace)."""
    disk_bytes: Callable[[], int] | None = None
    """Bytes written where no in-memory mount tells (backends without their own mounts)."""


@dataclass(slots=True)
class _Run:
    process: subprocess.Popen[bytes]
    limits: Limits
    watch: Watch
    started: float
    channel: int
    sinks: dict[int, bytearray] = field(default_factory=dict)
    caps: dict[int, int] = field(default_factory=dict)
    ending: Ending = Ending.EXITED
    cpu_s: float = 0.0
    max_rss: int = 0

    def stop(self, ending: Ending) -> None:
        """End the run at a limit; the first limit hit is the one reported."""
        if self.ending is Ending.EXITED:
            self.ending = ending
        self.watch.kill(self.process)


def supervise(
    argv: Sequence[str],
    *,
    env: dict[str, str],
    cwd: str | None,
    stdin: bytes,
    limits: Limits,
    watch: Watch,
    pass_fds: tuple[int, ...],
    channel: int,
) -> Completed:
    """Start `argv` and wait for its end.

    `pass_fds` are inherited and closed here after the start; `channel` is the reading end of the channel
    pipe and is closed here. Raises SandboxError when the process cannot be started.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        os.close(channel)
        raise SandboxError(f"cannot start {argv[0]}: {error}") from error
    finally:
        for descriptor in pass_fds:
            os.close(descriptor)
    assert process.stdout is not None
    assert process.stderr is not None
    run = _Run(process, limits, watch, started, channel)
    for descriptor, cap in (
        (process.stdout.fileno(), limits.output_bytes),
        (process.stderr.fileno(), limits.output_bytes),
        (channel, limits.channel_bytes),
    ):
        run.sinks[descriptor] = bytearray()
        run.caps[descriptor] = cap
    try:
        exit_code = _loop(run, stdin)
    finally:
        _close(process.stdin, process.stdout, process.stderr)
        os.close(channel)
    out, err, told = (bytes(sink) for sink in run.sinks.values())
    return Completed(
        ending=run.ending,
        exit_code=exit_code if run.ending is Ending.EXITED else None,
        stdout=out[: limits.output_bytes],
        stderr=err[: limits.output_bytes],
        channel=told[: limits.channel_bytes],
        wall_s=time.monotonic() - started,
        cpu_s=run.cpu_s,
        max_rss_bytes=run.max_rss,
    )


def _loop(run: _Run, stdin: bytes) -> int:
    process = run.process
    assert process.stdin is not None
    ended = os.pidfd_open(process.pid)
    feeding = process.stdin.fileno()
    pending = memoryview(stdin)
    next_look = run.started + FIRST_LOOK_S
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ)
            for descriptor in run.sinks:
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            os.set_blocking(feeding, False)
            selector.register(feeding, selectors.EVENT_WRITE)
            alive = True
            while alive:
                timeout = max(min(next_look, run.started + run.limits.wall_s) - time.monotonic(), 0.0)
                for key, _ in selector.select(timeout):
                    if key.fd == ended:
                        alive = False
                    elif key.fd == feeding:
                        pending = _feed(selector, process.stdin, pending)
                    elif not _drain(run, key.fd):
                        selector.unregister(key.fd)
                now = time.monotonic()
                if alive and now - run.started >= run.limits.wall_s:
                    run.stop(Ending.WALL_LIMIT)
                    alive = False
                if alive and now >= next_look:
                    _check(run)
                    next_look = now + LOOK_S
                alive = alive and run.ending is Ending.EXITED
        return _finish(run)
    finally:
        os.close(ended)


def _finish(run: _Run) -> int:
    """Reap the process, make sure that nothing of it is left, and read what is still in the pipes."""
    _, status, usage = os.wait4(run.process.pid, 0)
    run.process.returncode = os.waitstatus_to_exitcode(status)
    run.watch.kill(run.process)
    run.cpu_s = max(run.cpu_s, usage.ru_utime + usage.ru_stime)
    run.max_rss = max(run.max_rss, usage.ru_maxrss * 1024)
    for descriptor in run.sinks:
        while _drain(run, descriptor, wait=False):
            pass
    code = run.process.returncode
    code = 128 - code if code > 128 + 64 else code
    if 128 < code <= 128 + 64:  # a shell's or bubblewrap's way to say "killed by a signal"
        code = 128 - code
    if run.ending is Ending.EXITED and code == -signal.SIGXCPU:
        run.ending = Ending.CPU_LIMIT
    if run.ending is Ending.EXITED and code == -signal.SIGXFSZ:
        run.ending = Ending.DISK_LIMIT
    return code


def _feed(selector: selectors.BaseSelector, stdin: IO[bytes], pending: memoryview) -> memoryview:
    try:
        if pending:
            pending = pending[os.write(stdin.fileno(), pending[:CHUNK]) :]
    except BlockingIOError:
        return pending
    except OSError:
        pending = memoryview(b"")
    if not pending:
        selector.unregister(stdin.fileno())
        with contextlib.suppress(OSError):
            stdin.close()
    return pending


def _drain(run: _Run, descriptor: int, *, wait: bool = True) -> bool:
    """Read what is there; False at the end of the stream (or, without `wait`, when nothing is there)."""
    try:
        data = os.read(descriptor, CHUNK)
    except BlockingIOError:
        return wait
    except OSError:
        return False
    sink = run.sinks[descriptor]
    if len(sink) < run.caps[descriptor] + 1:
        sink += data
    if len(sink) > run.caps[descriptor] and run.ending is Ending.EXITED and wait:
        run.stop(Ending.OUTPUT_LIMIT)
    return bool(data)


def _check(run: _Run) -> None:
    limits = run.limits
    use = look(run.process.pid, most=limits.processes * 4)
    pids = (*use.pids, *run.watch.extra_pids())
    run.cpu_s = max(run.cpu_s, use.cpu_s)
    # Before the first byte on the channel the process may still see the host's own mounts.
    inside = bool(pids) and bool(run.sinks[run.channel])
    mounts = tmpfs_bytes(pids[-1], run.watch.mounts) if inside else {}
    in_memory = sum(used for used, _ in mounts.values())
    memory = use.rss_bytes + in_memory
    run.max_rss = max(run.max_rss, use.rss_bytes)
    if len(pids) > limits.processes:
        run.stop(Ending.PROCESS_LIMIT)
    elif run.cpu_s > limits.cpu_s:
        run.stop(Ending.CPU_LIMIT)
    elif memory > limits.memory_bytes and proportional_bytes(pids) + in_memory > limits.memory_bytes:
        run.stop(Ending.MEMORY_LIMIT)
    elif any(total - used < NEARLY_FULL for used, total in mounts.values()) or (
        run.watch.disk_bytes is not None and run.watch.disk_bytes() > limits.disk_bytes
    ):
        run.stop(Ending.DISK_LIMIT)


def _close(*streams: IO[bytes] | None) -> None:
    for stream in streams:
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
