"""Interruptions, and what is left behind: nothing."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sandboxes import cgroups
from sandboxes.disk import FolderDisk, MountDisk
from sandboxes.proctree import children, is_alive, look, proportional_bytes
from sandboxes.registry import get_sandbox
from taskforge.domain.sandbox import Command, Ending, Limits

DRIVER = """
import sys
from sandboxes.registry import get_sandbox
from taskforge.domain.sandbox import Command
get_sandbox(sys.argv[1]).run(Command(("/bin/sh", "-c", "(setsid sleep 61 &) ; exec sleep 60", sys.argv[2])))
"""


def with_word(word: str) -> set[int]:
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if word.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                found.add(int(name))
        except OSError:
            continue
    return found - {os.getpid()}


@pytest.mark.parametrize("name", ["namespaces", "process"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_end_of_the_driver_ends_the_command(name: str, number: signal.Signals, tmp_path: Path) -> None:
    word = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, name, word],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell's background job ignores Ctrl-C, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with driver:
        deadline = time.monotonic() + 20
        while not any(pid != driver.pid and _sleeps(pid) for pid in _below(driver.pid)):
            assert time.monotonic() < deadline, "the command does not start"
            time.sleep(0.02)
        below = _below(driver.pid)
        driver.send_signal(number)
        driver.wait(20)
    deadline = time.monotonic() + 20
    while any(map(is_alive, below)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in below if is_alive(pid)] == []
    assert with_word(word) == set()


def _below(pid: int) -> tuple[int, ...]:
    return look(pid).pids[1:]


def _sleeps(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"
    except OSError:
        return False


@pytest.mark.parametrize("name", ["namespaces", "process"])
def test_many_at_once(name: str, tmp_path: Path) -> None:
    """Threads share a backend; no run sees another's descriptors, output or end."""
    sandbox = get_sandbox(name)
    said: dict[int, object] = {}

    def work(number: int) -> None:
        script = f"echo {number} >/proc/self/fd/$TASKFORGE_CHANNEL; cat; exit {number}"
        done = sandbox.run(Command(("/bin/sh", "-c", script), stdin=b"%d" % number, limits=Limits(wall_s=60)))
        said[number] = (done.ending, done.exit_code, done.stdout, done.channel)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {n: (Ending.EXITED, n, b"%d" % n, b"%d\n" % n) for n in range(8)}


def test_no_group_and_no_folder_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("namespaces", "process"):
        get_sandbox(name).run(Command(("/bin/sh", "-c", "mkdir -p a/b; chmod 0 a/b; sleep 9 &")))
    assert list(tmp_path.iterdir()) == []
    parent = cgroups._parent()
    if parent is not None:
        assert list(parent.glob(f"taskforge-{os.getpid()}-*")) == []


def test_groups_of_dead_processes_are_cleared() -> None:
    parent = cgroups._parent()
    if parent is None:
        pytest.skip("control groups are not ours to use here")
    with subprocess.Popen(["/bin/true"]) as ended:
        ended.wait()
        stale = parent / f"taskforge-{ended.pid}-0"
        stale.mkdir()
    cgroups._clear(parent)
    assert not stale.exists()


def test_a_look_at_a_process_tree() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 20 & sleep 20 & wait"]) as shell:
        deadline = time.monotonic() + 10
        while len(children(shell.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        use = look(shell.pid)
        assert use.pids[0] == shell.pid
        assert sorted(use.pids[1:]) == sorted(children(shell.pid))
        assert len(use.pids) == 3
        assert 0 < proportional_bytes(use.pids) <= use.rss_bytes
        assert len(look(shell.pid, most=2).pids) == 2
        for pid in use.pids[1:]:
            os.kill(pid, signal.SIGKILL)
    assert look(shell.pid).pids == ()


def test_children_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a kernel without CONFIG_PROC_CHILDREN."""
    from sandboxes import proctree

    real = proctree._read

    def read(path: str) -> bytes:
        if path.endswith("/children"):
            raise FileNotFoundError(path)
        return real(path)

    with subprocess.Popen(["/bin/sleep", "20"]) as sleeper:
        expected = children(os.getpid())
        assert sleeper.pid in expected
        monkeypatch.setattr(proctree, "_read", read)
        monkeypatch.setattr(proctree, "_lists_children", lambda: False)
        assert sorted(children(os.getpid())) == sorted(expected)
        sleeper.kill()


def test_a_folder_on_the_hosts_disk(tmp_path: Path) -> None:
    disk = FolderDisk((tmp_path,), 1 << 20)
    assert disk.look().left_bytes > 0
    (tmp_path / "file").write_bytes(b"x" * (2 << 20))
    os.sync()
    deadline = time.monotonic() + 5
    while disk.look().left_bytes >= 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_mounts_that_cannot_be_opened_say_nothing() -> None:
    disk = MountDisk(("/nowhere-at-all",), 100)
    disk.open(os.getpid())
    assert (disk.look().most_bytes, disk.look().left_bytes) == (0, 100)
    disk.close()
