"""What a command says and how it ended comes back as it was."""

import os
import signal
import time
from pathlib import Path

import pytest

from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Command, Ending, Limits, Sandbox
from tests.conformance.conftest import Run


@pytest.mark.parametrize("code", [0, 1, 2, 77, 125, 126, 127, 128, 255])
def test_the_exit_code(run: Run, code: int) -> None:
    done = run(f"exit {code}")
    assert (done.ending, done.exit_code) == (Ending.EXITED, code)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_signal_is_a_negative_code(run: Run, number: signal.Signals) -> None:
    done = run(f"kill -{number.value} $$; sleep 5")
    assert (done.ending, done.exit_code) == (Ending.EXITED, -number.value)


def test_output_and_input(run: Run) -> None:
    data = bytes(range(256)) * 2048
    done = run("cat; echo said >&2; exit 3", stdin=data)
    assert (done.stdout, done.stderr, done.exit_code) == (data, b"said\n", 3)


def test_input_that_is_not_read(run: Run) -> None:
    assert run("exit 0", stdin=b"x" * (1 << 20)).exit_code == 0


def test_no_input_is_an_empty_one(run: Run) -> None:
    assert run("cat; echo end").stdout == b"end\n"


def test_everything_is_drained_at_once(python: Run) -> None:
    done = python(
        """
        import os
        channel = int(os.environ["TASKFORGE_CHANNEL"])
        block = b"x" * 65536
        for _ in range(30):
            for descriptor in (channel, 2, 1):
                left = block
                while left:
                    left = left[os.write(descriptor, left):]
        """
    )
    assert (done.ending, done.exit_code) == (Ending.EXITED, 0)
    assert {len(done.stdout), len(done.stderr), len(done.channel)} == {30 * 65536}


def test_output_that_is_no_text(run: Run) -> None:
    assert run(r"printf '\377\376\000x'").stdout == b"\xff\xfe\x00x"


def test_the_channel(run: Run) -> None:
    done = run('printf "a\\006\\007b" > /proc/self/fd/$TASKFORGE_CHANNEL; echo out')
    assert (done.channel, done.stdout) == (b"a\x06\x07b", b"out\n")


def test_the_channel_cannot_be_read_back(run: Run) -> None:
    """A pipe has no past: what one process wrote is gone for the next."""
    done = run("echo secret >/proc/self/fd/$TASKFORGE_CHANNEL; timeout 1 cat <&$TASKFORGE_CHANNEL; true")
    assert b"secret" not in done.stdout


def test_only_the_channel_is_inherited(python: Run) -> None:
    done = python(
        """
        import os
        fds = set()
        for fd in range(256):
            try:
                os.fstat(fd)
            except OSError:
                continue
            fds.add(fd)
        assert fds == {0, 1, 2, int(os.environ["TASKFORGE_CHANNEL"])}, fds
        """
    )
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("program", "code"), [("/nowhere/prog", 127), ("no-such-program", 127), ("/etc", 126)]
)
def test_a_program_that_cannot_be_run_is_a_failing_command(sandbox: Sandbox, program: str, code: int) -> None:
    done = sandbox.run(Command((program, "x")))
    assert (done.ending, done.exit_code) == (Ending.EXITED, code)
    assert program.encode() in done.stderr


@pytest.mark.parametrize("word", ["exit", "cd", "ulimit", ":"])
def test_a_word_of_the_shell_is_no_program(sandbox: Sandbox, word: str) -> None:
    done = sandbox.run(Command((word, "3")))
    assert done.exit_code in {127, 126, 0, 1, 2, 3}
    assert word == "cd" or done.exit_code == 127 or done.stderr


def test_arguments_are_kept_as_they_are(python: Run) -> None:
    words = ["", " ", "a b", "$HOME", "`id`", "'", '"', "\\", "*", "-n", "--", "\u00e4", "line\nline"]
    done = python("import sys; print(ascii(sys.argv[1:]))", *words)
    assert done.stdout.decode().strip() == ascii(words)


def test_use_is_measured(python: Run) -> None:
    done = python(
        """
        import os, time
        if os.fork() == 0:
            while time.process_time() < 0.4: pass
            os._exit(0)
        os.wait()
        data = bytearray(100 << 20)
        data[::4096] = b"x" * len(data[::4096])
        time.sleep(0.4)
        """
    )
    assert done.exit_code == 0, done.stderr
    assert 0.4 <= done.cpu_s < 5
    assert done.wall_s > 0.4
    assert done.max_rss_bytes > 100 << 20


def test_use_of_orphans_counts(python: Run) -> None:
    done = python(
        """
        import os, time
        if os.fork() == 0:
            if os.fork() == 0:
                while time.process_time() < 0.3: pass
                open("done", "w").close()
                os._exit(0)
            os._exit(0)
        os.wait()
        while not os.path.exists("done"): time.sleep(0.01)
        time.sleep(0.1)
        """
    )
    assert done.cpu_s >= 0.3


@pytest.mark.parametrize(
    "command",
    [
        Command(()),
        Command(("",)),
        Command(("-x",)),
        Command(("true", "nul\0")),
        Command(("true",), env={"a=b": "c"}),
        Command(("true",), env={"": "c"}),
        Command(("true",), tree=Path("/nowhere/at/all")),
        Command(("true",), tree=Path("/etc/passwd")),
        Command(("true",), mounts=(Path("/nowhere/at/all"),)),
        Command(("true",), writable=(Path("relative"),)),
    ],
)
def test_a_command_that_cannot_be_right(sandbox: Sandbox, command: Command) -> None:
    with pytest.raises(UsageError):
        sandbox.run(command)


def test_a_command_line_that_is_too_long(sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="too long"):
        sandbox.run(Command(("/bin/true", "x" * (1 << 22))))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_tree_that_cannot_be_read_breaks_the_sandbox(sandbox: Sandbox, tree: Path) -> None:
    (tree / "tool").chmod(0)
    with pytest.raises(SandboxError, match="the tree could not be copied"):
        sandbox.run(Command(("/bin/true",), tree=tree))


def test_a_crash_of_many_runs_leaves_no_descriptor_open(sandbox: Sandbox, tree: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    sandbox.run(Command(("/bin/true",), tree=tree))
    before = count()
    for argv in (("/bin/true",), ("/nowhere",), ("/bin/sh", "-c", "kill -9 $$")):
        sandbox.run(Command(argv, tree=tree, limits=Limits(wall_s=20)))
    with pytest.raises(UsageError):
        sandbox.run(Command(("/bin/true", "x" * (1 << 22))))
    assert count() == before


def test_an_exit_with_the_pipes_held_open_is_an_end(run: Run) -> None:
    began = time.monotonic()
    done = run("sleep 15 & (setsid sleep 15 &) ; echo gone")
    assert (done.exit_code, done.stdout) == (0, b"gone\n")
    assert time.monotonic() - began < 10
