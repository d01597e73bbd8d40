"""Backends by name. `auto` takes the isolating one that works here and never falls back to none."""

import functools
from dataclasses import dataclass
from pathlib import Path

from sandboxes.namespaces import NamespacesSandbox
from sandboxes.process import ProcessSandbox
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Command, Limits, Sandbox

NAMES = ("auto", "namespaces", "process")
PROBE = """
[ "$(id -u)" = 1000 ] || { echo "user id is not mapped"; exit 1; }
[ "$(grep -c : /proc/net/dev)" -le 1 ] || { echo "network interfaces are visible"; exit 1; }
[ ! -e "$1" ] || { echo "the host's files are visible"; exit 1; }
[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 10 ] || { echo "the host's processes are visible"; exit 1; }
: > /repo/probe && ! (: > /usr/probe) 2>/dev/null || { echo "the system is writable"; exit 1; }
"""


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """Whether a backend can be used on this machine, and what to do if not."""

    name: str
    works: bool
    detail: str


def get_sandbox(name: str = "auto") -> Sandbox:
    """Return a backend that has passed its self-test.

    Raises UsageError for an unknown name or a backend that cannot work here; the message says what to do.
    """
    if name == "process":
        return ProcessSandbox()
    if name in {"auto", "namespaces"}:
        status = _namespaces()
        if status.works:
            return NamespacesSandbox()
        raise UsageError(
            f"no isolating sandbox works here: {status.detail}. Or ask for `--sandbox process`, which runs "
            "the code of repositories as you, without isolation"
        )
    raise UsageError(f"there is no sandbox called {name!r}; choose one of {', '.join(NAMES)}")


def statuses() -> tuple[BackendStatus, ...]:
    """Report on every backend, for `taskforge doctor`."""
    return (
        _namespaces(),
        BackendStatus("process", works=True, detail="no isolation; only used when asked for by name"),
    )


@functools.cache
def _namespaces() -> BackendStatus:
    """Start one sandbox and look around in it. Refuses where isolation does not hold."""
    host_only = str(Path(__file__).resolve())
    try:
        limits = Limits(wall_s=20, cpu_s=10)
        done = NamespacesSandbox().run(Command(("/bin/sh", "-c", PROBE, "probe", host_only), limits=limits))
    except SandboxError as error:
        hint = " (user namespaces may be disabled: set kernel.unprivileged_userns_clone=1 and, on Ubuntu, "
        hint += "kernel.apparmor_restrict_unprivileged_userns=0)"
        return BackendStatus(
            "namespaces", works=False, detail=f"{error}{'' if 'install' in str(error) else hint}"
        )
    if done.exit_code != 0:
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        return BackendStatus("namespaces", works=False, detail=f"the isolation self-test failed: {said}")
    return BackendStatus("namespaces", works=True, detail="bubblewrap with all namespaces unshared")
