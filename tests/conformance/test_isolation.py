"""Out of reach: the host's files, processes, network, variables and kernel settings."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.seccomp import ABSENT, REFUSED, seccomp_filter
from taskforge.domain.errors import UsageError
from taskforge.domain.sandbox import Command, Sandbox
from tests.conformance.conftest import Run

CONNECT = """
import socket, sys
family, kind, *where = sys.argv[1:]
target = "\\0" + where[0] if family == "AF_UNIX" else (where[0], int(where[1]))
with socket.socket(getattr(socket, family), getattr(socket, kind)) as s:
    s.settimeout(3)
    try:
        s.connect(target)
        s.send(b"x")
    except OSError as error:
        print("refused", error)
    else:
        print("connected")
"""


@contextlib.contextmanager
def listener(family: socket.AddressFamily, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, socket.SOCK_STREAM) as server:
        try:
            server.bind(address)
        except OSError as error:
            pytest.skip(f"the host cannot listen: {error}")
        server.listen()
        yield server


@pytest.mark.covers("network")
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_hosts_loopback(python: Run, family: socket.AddressFamily, host: str) -> None:
    with listener(family, (host, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((host, port), 3):
            pass  # it can be reached from here
        done = python(CONNECT, family.name, "SOCK_STREAM", host, str(port))
    assert done.stdout.startswith(b"refused"), done


@pytest.mark.covers("network")
def test_abstract_sockets_of_the_host(python: Run) -> None:
    name = f"taskforge-test-{os.getpid()}"
    with listener(socket.AF_UNIX, "\0" + name):
        done = python(CONNECT, "AF_UNIX", "SOCK_STREAM", name)
    assert done.stdout.startswith(b"refused"), done


@pytest.mark.covers("network")
@pytest.mark.parametrize(
    "where",
    [
        ("AF_INET", "SOCK_STREAM", "192.0.2.1", "80"),
        ("AF_INET", "SOCK_DGRAM", "192.0.2.1", "53"),
        ("AF_INET", "SOCK_STREAM", "169.254.169.254", "80"),
        ("AF_INET6", "SOCK_DGRAM", "2001:db8::1", "53"),
    ],
)
def test_the_network(python: Run, where: tuple[str, ...]) -> None:
    done = python(CONNECT, *where)
    assert b"unreachable" in done.stdout or b"Cannot assign" in done.stdout, done


@pytest.mark.covers("network")
def test_only_a_loopback_of_its_own(python: Run) -> None:
    code = """
        import socket
        assert [name for _, name in socket.if_nameindex()] == ["lo"], socket.if_nameindex()
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname(), 3)
        assert socket.gethostbyname("localhost") == "127.0.0.1"
        assert socket.gethostbyname(socket.gethostname()) == "127.0.0.1"
        try:
            socket.create_connection(("name.invalid", 80), 3)
        except OSError:
            print("no names")
    """
    done = python(code)
    assert done.stdout == b"no names\n", done.stderr


@pytest.mark.covers("files")
def test_the_hosts_files(run: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    here = Path(__file__).resolve()
    places = [
        str(secret),
        str(here),
        str(Path.home()),
        "/root",
        "/etc/shadow",
        "/etc/hostname",
        "/var",
        "/run",
    ]
    places += ["/sys", "/boot", "/opt", "/srv", "/mnt"]
    done = run("/bin/sh", "-c", 'for place; do [ -e "$place" ] && echo "$place"; done; true', "sh", *places)
    assert done.stdout == b""


@pytest.mark.covers("files")
def test_no_way_out_by_links_and_dots(python: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "absolute").symlink_to(secret)
    (tree / "relative").symlink_to("../secret")
    (tree / "root").symlink_to("/")
    (tree / "folder").symlink_to(tmp_path)
    name = str(secret)
    code = """
        import os, sys
        secret = sys.argv[1]
        ways = ["absolute", "relative", "root" + secret, "folder/secret", "../" * 40 + secret[1:], secret]
        ways += ["/proc/1/root" + secret, "/proc/self/root" + secret, "/snapshot/../" + secret[1:]]
        ways += ["/snapshot/relative", f"/proc/1/cwd/..{secret}", "/proc/self/cwd/../secret"]
        for way in ways:
            try:
                print(way, open(way).read())
            except OSError:
                continue
        for fd in os.listdir("/proc/1/fd"):
            try:
                print("fd", os.listdir("/proc/1/fd/" + fd))
            except OSError:
                continue
        print("tried")
    """
    assert python(code, name, tree=tree).stdout == b"tried\n"


@pytest.mark.covers("files")
def test_the_system_is_read_only(run: Run) -> None:
    script = """
        for place in / /usr /bin /etc /lib /home /dev /proc /proc/sys /snapshot; do
            (echo x >$place/taskforge-probe) 2>/dev/null && echo "wrote $place"
        done
        mount -o remount,rw /usr 2>/dev/null && echo remounted
        umount /proc/sys 2>/dev/null && echo unmounted
        mknod /tmp/null c 1 3 2>/dev/null && echo "made a device"
        echo tried
    """
    done = run(script)
    assert done.stdout == b"tried\n"
    assert not Path("/usr/taskforge-probe").exists()


@pytest.mark.covers("files", "identity")
def test_kernel_settings_cannot_be_written(python: Run) -> None:
    """Root's sandbox maps to the host's root, which owns the sysctls: core_pattern would be a way out."""
    code = """
        import os
        for where, folders, names in os.walk("/proc"):
            if where == "/proc":
                folders[:] = [name for name in folders if not name.isdigit() and "self" not in name]
            for name in names:
                path = os.path.join(where, name)
                if path.startswith("/proc/pressure/") or os.path.islink(path):
                    continue
                try:
                    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
                except OSError:
                    continue
                print(path)
    """
    opened = python(code).stdout.decode().split()
    assert [
        path for path in opened if path != "/proc/mtrr"
    ] == []  # that one asks for a capability when written


@pytest.mark.covers("processes")
def test_the_hosts_processes(python: Run) -> None:
    code = """
        import os, signal, sys
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        assert len(pids) <= 4, pids
        for pid in map(int, sys.argv[1:]):
            try:
                os.kill(pid, signal.SIGKILL)
                print("killed", pid)
            except ProcessLookupError:
                pass
        try:
            os.kill(-1, signal.SIGTERM)
        except ProcessLookupError:
            print("alone")
    """
    with subprocess.Popen(["/bin/sleep", "30"]) as bystander:
        done = python(code, str(bystander.pid), str(os.getppid()))
        assert bystander.poll() is None
        bystander.kill()
    assert done.stdout == b"alone\n", done.stderr


@pytest.mark.covers("processes")
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGINT, signal.SIGHUP]
)
def test_killing_the_parent_harms_only_the_command(run: Run, number: signal.Signals) -> None:
    done = run(f"kill -{number.value} $PPID; kill -{number.value} 1; sleep 0.1; echo alive")
    assert (done.stdout, done.exit_code) == (b"alive\n", 0)


@pytest.mark.covers("processes")
def test_other_environments_in_proc(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKFORGE_TEST_SECRET", "hunter2")
    done = run("cat /proc/*/environ /proc/*/cmdline /proc/1/mountinfo | tr '\\0' '\\n'")
    assert b"hunter2" not in done.stdout
    assert b"TASKFORGE_TEST_SECRET" not in done.stdout


@pytest.mark.covers("identity")
def test_identity(run: Run) -> None:
    script = "id -u; id -g; id -G; hostname; id -un; grep -E '^(Cap|NoNewPrivs)' /proc/self/status"
    lines = run(script).stdout.decode().split()
    assert lines[:5] == ["1000", "1000", "1000", "sandbox", "user"]
    values = dict(zip(lines[5::2], lines[6::2], strict=True))
    assert values.pop("NoNewPrivs:") == "1"
    assert len(values) == 5
    assert {int(value, 16) for value in values.values()} == {0}


@pytest.mark.covers("identity")
def test_no_further_user_namespaces(python: Run) -> None:
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        flags = 0x10000000  # CLONE_NEWUSER
        assert libc.unshare(flags) == -1
        pid = libc.syscall({"x86_64": 56, "aarch64": 220}[os.uname().machine], flags | 17, 0, 0, 0, 0)
        if pid == 0: os._exit(0)
        assert pid == -1
        print("refused")
    """
    assert python(code).stdout == b"refused\n"


@pytest.mark.covers("identity")
def test_no_terminal(run: Run) -> None:
    done = run("(: </dev/tty) 2>/dev/null && echo tty; ls /dev")
    assert b"tty\n" not in done.stdout.splitlines(keepends=True)[:1]
    assert not {"kmsg", "mem", "kvm", "sda", "vda", "fuse", "net"} & set(done.stdout.decode().split())


@pytest.mark.covers("calls")
def test_system_calls_are_filtered(python: Run) -> None:
    if seccomp_filter() is None:
        pytest.skip("no filter for this kind of machine")
    column = ["x86_64", "aarch64"].index(os.uname().machine)
    numbers = {
        name: calls[name][column]
        for calls in (REFUSED, ABSENT)
        for name in calls
        if calls[name][column] is not None
    }
    code = f"""
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        for name, number in {numbers!r}.items():
            ctypes.set_errno(0)
            assert libc.syscall(number, -1, -1, -1, -1, -1, -1) == -1, name
            print(name, errno.errorcode[ctypes.get_errno()])
    """
    said = dict(line.split() for line in python(code).stdout.decode().splitlines())
    assert {name for name, error in said.items() if error == "EPERM"} == REFUSED.keys() & numbers.keys()
    assert {name for name, error in said.items() if error == "ENOSYS"} == ABSENT.keys() & numbers.keys()


@pytest.mark.covers("mounts")
@pytest.mark.parametrize("place", ["/", "/etc", "/proc", "/dev", "/dev/shm", "/tmp", "/home"])
def test_mounts_that_would_undo_the_isolation(sandbox: Sandbox, place: str) -> None:
    with pytest.raises(UsageError, match="cannot be mounted"):
        sandbox.run(Command(("/bin/true",), mounts=(Path(place),)))
