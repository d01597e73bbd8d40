"""A command that is over a limit is ended with all its processes, and the limit is named."""

import os
import time
from pathlib import Path

import pytest

from taskforge.domain.sandbox import Ending
from tests.conformance.conftest import Run

DAEMON = """
import os, sys, time
def daemon(session):
    if os.fork() == 0:
        if session: os.setsid()
        if os.fork() == 0:
            os.environ.clear()
            for fd in (0, 1, 2): os.close(fd)
            time.sleep(40)
        os._exit(0)
    os.wait()
daemon(True)
daemon(False)
"""


def started_here(word: str) -> list[int]:
    """Processes of the machine whose command line holds the word."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if word.encode() in Path(f"/proc/{name}/cmdline").read_bytes() and int(name) != os.getpid():
                found.append(int(name))
        except OSError:
            continue
    return found


def test_wall_time(run: Run) -> None:
    began = time.monotonic()
    done = run("echo before; sleep 30", limits={"wall_s": 0.7})
    assert (done.ending, done.exit_code, done.stdout) == (Ending.WALL_LIMIT, None, b"before\n")
    assert 0.7 <= done.wall_s <= time.monotonic() - began < 10


@pytest.mark.parametrize("tail", ["time.sleep(40)", "pass"], ids=["at a limit", "at the end"])
def test_daemons_end_as_well(python: Run, tail: str) -> None:
    word = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    done = python(f"{DAEMON}\nprint('ready', flush=True)\n{tail}\n", word, limits={"wall_s": 2.0})
    assert done.stdout == b"ready\n"
    assert done.ending is (Ending.EXITED if tail == "pass" else Ending.WALL_LIMIT)
    assert started_here(word) == []


def test_a_command_that_ignores_signals_ends(run: Run) -> None:
    done = run("trap '' TERM INT HUP QUIT; while :; do sleep 1; done", limits={"wall_s": 0.7})
    assert done.ending is Ending.WALL_LIMIT


def test_stopped_processes_end(run: Run) -> None:
    assert run("kill -STOP $$", limits={"wall_s": 0.7}).ending is Ending.WALL_LIMIT


def test_cpu_time_of_one_process(run: Run) -> None:
    done = run("while :; do :; done", limits={"cpu_s": 0.5})
    assert (done.ending, done.exit_code) == (Ending.CPU_LIMIT, None)
    assert 0.5 <= done.cpu_s < 3


def test_cpu_time_of_many_processes(run: Run) -> None:
    done = run("for i in 1 2 3 4; do (while :; do :; done) & done; wait", limits={"cpu_s": 0.6})
    assert done.ending is Ending.CPU_LIMIT


def test_cpu_time_of_children_that_come_and_go(python: Run) -> None:
    done = python(
        """
        import os, time
        while True:
            if os.fork() == 0:
                while time.process_time() < 0.02: pass
                os._exit(0)
            os.wait()
        """,
        limits={"cpu_s": 0.6},
    )
    assert done.ending is Ending.CPU_LIMIT


def test_memory_of_one_process(python: Run) -> None:
    code = """
        held = []
        for _ in range(150): held.append(b"x" * (4 << 20))
        import time; time.sleep(5)
    """
    done = python(code, limits={"memory_bytes": 128 << 20})
    assert (done.ending, done.exit_code) == (Ending.MEMORY_LIMIT, None)
    assert done.max_rss_bytes < 1 << 30


def test_memory_of_many_processes(python: Run) -> None:
    code = """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                held = b"x" * (40 << 20)
                time.sleep(30)
        time.sleep(30)
    """
    assert python(code, limits={"memory_bytes": 200 << 20}).ending is Ending.MEMORY_LIMIT


def test_memory_shared_after_a_fork_counts_once(python: Run) -> None:
    code = """
        import os, time
        held = b"x" * (60 << 20)
        for _ in range(6):
            if os.fork() == 0:
                time.sleep(0.6)
                os._exit(0)
        for _ in range(6): os.wait()
    """
    done = python(code, limits={"memory_bytes": 250 << 20})
    assert (done.ending, done.exit_code) == (Ending.EXITED, 0)


@pytest.mark.covers("files")
def test_files_in_memory_count_as_memory(run: Run) -> None:
    done = run(
        "head -c 120m /dev/zero >/tmp/a; head -c 120m /dev/zero >a; sleep 5",
        limits={"memory_bytes": 200 << 20, "disk_bytes": 150 << 20},
    )
    assert done.ending is Ending.MEMORY_LIMIT


@pytest.mark.parametrize("turns", [11, 0], ids=["doubling", "by one"])
def test_a_fork_bomb(python: Run, run: Run, turns: int) -> None:
    """The bombs end by themselves, so that a sandbox that fails this test does no harm to the machine."""
    code = f"""
        import os, time
        end = time.monotonic() + 8
        for _ in range({turns} or 1000):
            try:
                if os.fork() == 0 and not {turns}: break
            except OSError:
                time.sleep(0.01)
        time.sleep(max(end - time.monotonic(), 0))
    """
    done = python(code, limits={"processes": 32})
    assert done.ending is Ending.PROCESS_LIMIT
    assert done.wall_s < 6
    assert run("echo well").stdout == b"well\n"


def test_processes_beyond_a_hard_cap_are_never_there(python: Run) -> None:
    """A look comes every now and then; between two of them the kernel refuses."""
    code = """
        import os, time
        refused = 0
        for _ in range(1500):
            try:
                if os.fork() == 0:
                    time.sleep(4)
                    os._exit(0)
            except OSError:
                refused += 1
        os.write(int(os.environ["TASKFORGE_CHANNEL"]), b"%d" % (1500 - refused))
        time.sleep(4)
    """
    done = python(code, limits={"processes": 8})
    assert done.ending is Ending.PROCESS_LIMIT
    assert not done.channel or int(done.channel) < 1000


def test_a_bomb_of_short_lives(python: Run) -> None:
    code = """
        import os, time
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            try:
                if os.fork() == 0:
                    os.setsid()
                    time.sleep(0.5)
                    os._exit(0)
            except OSError:
                pass
    """
    assert python(code, limits={"processes": 16}).ending is Ending.PROCESS_LIMIT


@pytest.mark.parametrize("place", [".", "$HOME", "$TMPDIR"])
def test_disk(run: Run, place: str) -> None:
    done = run(f"head -c 40m /dev/zero >{place}/a; head -c 40m /dev/zero >{place}/b; sleep 8")
    assert (done.ending, done.exit_code) == (Ending.DISK_LIMIT, None)


@pytest.mark.covers("files")
def test_a_full_disk_is_named_when_the_command_gives_up_first(run: Run) -> None:
    done = run("head -c 40m /dev/zero >a || exit 9", limits={"disk_bytes": 16 << 20})
    assert done.ending is Ending.DISK_LIMIT


@pytest.mark.covers("files")
def test_many_empty_files_fill_a_disk(python: Run) -> None:
    code = """
        for number in range(200_000):
            open(str(number), "w").close()
    """
    assert python(code, limits={"disk_bytes": 16 << 20}).ending is Ending.DISK_LIMIT


def test_a_tree_larger_than_the_disk(run: Run, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (20 << 20))
    done = run("sleep 5; ls", tree=tmp_path, limits={"disk_bytes": 8 << 20})
    assert done.ending is Ending.DISK_LIMIT


def test_the_size_of_one_file(run: Run) -> None:
    done = run("/bin/dd", "if=/dev/zero", "of=file", "bs=1M", "count=20", limits={"file_bytes": 4 << 20})
    assert done.ending is Ending.DISK_LIMIT


def test_output(run: Run) -> None:
    done = run("yes", limits={"output_bytes": 100_000})
    assert (done.ending, len(done.stdout)) == (Ending.OUTPUT_LIMIT, 100_000)


def test_output_of_an_error_stream(run: Run) -> None:
    done = run("yes >&2", limits={"output_bytes": 100_000})
    assert (done.ending, len(done.stderr)) == (Ending.OUTPUT_LIMIT, 100_000)


@pytest.mark.parametrize(("extra", "ending"), [(0, Ending.EXITED), (1, Ending.OUTPUT_LIMIT)])
def test_the_last_byte_of_output(run: Run, extra: int, ending: Ending) -> None:
    """Whether the limit was hit does not depend on who was faster."""
    done = run(f"head -c {50_000 + extra} /dev/zero", limits={"output_bytes": 50_000})
    assert (done.ending, len(done.stdout)) == (ending, 50_000)


@pytest.mark.parametrize(("extra", "ending"), [(0, Ending.EXITED), (1, Ending.OUTPUT_LIMIT)])
def test_the_last_byte_of_the_channel(run: Run, extra: int, ending: Ending) -> None:
    script = f"head -c {50_000 + extra} /dev/zero >/proc/self/fd/$TASKFORGE_CHANNEL"
    done = run(script, limits={"channel_bytes": 50_000})
    assert (done.ending, len(done.channel)) == (ending, 50_000)


def test_no_core_is_dumped(run: Run) -> None:
    assert run("ulimit -c").stdout == b"0\n"


@pytest.mark.covers("threads")
def test_threads_are_bounded(python: Run) -> None:
    code = """
        import threading, time
        started = 0
        try:
            for _ in range(3000):
                threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
                started += 1
        except RuntimeError:
            print(started)
    """
    done = python(code, limits={"processes": 16})
    assert done.ending is Ending.PROCESS_LIMIT or 0 < int(done.stdout) < 200
