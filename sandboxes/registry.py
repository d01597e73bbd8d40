"""Backends by name. `auto` takes the isolating one that works here and never falls back to none."""

import functools
import os
from dataclasses import dataclass

from sandboxes.namespaces import NamespacesSandbox
from sandboxes.process import ProcessSandbox
from sandboxes.selftest import holes
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Sandbox

NAMES = ("auto", "namespaces", "process")
USERNS_HINT = (
    "unprivileged user namespaces may be switched off: set the sysctls user.max_user_namespaces above 0, "
    "kernel.unprivileged_userns_clone=1 where it exists and, on Ubuntu, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, allow them in its profile"
)


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """Whether a backend can be used on this machine, and what to do if not."""

    name: str
    works: bool
    detail: str


def get_sandbox(name: str = "auto") -> Sandbox:
    """Return a backend that has passed its self-test, which is made once in a process.

    Raises UsageError for an unknown name or a backend that cannot work here; the message says what to do.
    """
    if name == "process":
        return ProcessSandbox()
    if name in {"auto", "namespaces"}:
        backend, status = _namespaces()
        if backend is not None and status.works:
            return backend
        raise UsageError(
            f"no isolating sandbox works here: {status.detail}. Or ask for the sandbox `process` by name: "
            "it runs the code of repositories as you, without any isolation"
        )
    raise UsageError(f"there is no sandbox called {name!r}; choose one of {', '.join(NAMES)}")


def statuses() -> tuple[BackendStatus, ...]:
    """Report on every backend, for `taskforge doctor`."""
    return (
        _namespaces()[1],
        BackendStatus("process", works=True, detail="no isolation; only used when asked for by name"),
    )


@functools.cache
def _namespaces() -> tuple[NamespacesSandbox | None, BackendStatus]:
    """Start one sandbox and look around in it. Refused where isolation does not hold."""
    try:
        backend = NamespacesSandbox()
    except SandboxError as error:
        return None, BackendStatus("namespaces", works=False, detail=str(error))
    try:
        found = holes(backend)
    except SandboxError as error:
        return None, BackendStatus("namespaces", works=False, detail=f"{error} ({USERNS_HINT})")
    if found:
        detail = f"isolation does not hold: {'; '.join(found)}"
        return None, BackendStatus("namespaces", works=False, detail=detail)
    calls = "system calls filtered" if backend.filters_calls else "system calls not filtered on this machine"
    user = ", started by root (a plain user is safer)" if os.geteuid() == 0 else ""
    detail = f"bubblewrap {backend.version}, all namespaces unshared, {calls}{user}"
    return backend, BackendStatus("namespaces", works=True, detail=detail)
