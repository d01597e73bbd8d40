"""A filter of system calls that no test suite needs and that have opened kernels before.

Namespaces share one kernel; the fewer of its parts can be reached, the better. The filter denies what needs
privileges anyway (mounts, modules, clocks of other namespaces), what reaches across namespaces (keyrings) and
large young interfaces (io_uring, bpf, userfaultfd). It is classic BPF, built here, for x86-64 and aarch64.
"""

import errno
import platform
import struct
from collections.abc import Mapping

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED: Mapping[str, tuple[int | None, int | None]] = {
    # name: number on x86-64, number on aarch64
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""Fail with EPERM, as they do for a user without privileges."""
ABSENT: Mapping[str, tuple[int | None, int | None]] = {
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
"""Fail with ENOSYS, as on an older kernel, so that libraries take their other way. Memory of a memfd belongs
to no process and no mount: a limit on memory would not see it."""

LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE = 0, 4
X32 = 0x40000000
"""Numbers from here on are x86-64's second, 32-bit set of calls."""


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """Return the filter as an array of `struct sock_filter`, None for a machine that is not known here."""
    machine = machine or platform.machine()
    if machine not in AUDIT_ARCH:
        return None
    column = list(AUDIT_ARCH).index(machine)
    program = [
        _step(LOAD, ARCHITECTURE),
        _step(JUMP_EQUAL, AUDIT_ARCH[machine], then=1),
        _step(RETURN, KILL_PROCESS),
        _step(LOAD, NUMBER),
    ]
    if machine == "x86_64":
        program += [_step(JUMP_GREATER_EQUAL, X32, otherwise=1), _step(RETURN, ERRNO | errno.ENOSYS)]
    for calls, code in ((REFUSED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                program += [_step(JUMP_EQUAL, number, otherwise=1), _step(RETURN, ERRNO | code)]
    program.append(_step(RETURN, ALLOW))
    return b"".join(program)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """Pack one instruction; `then` and `otherwise` say how many instructions a comparison skips."""
    return struct.pack("=HBBI", code, then, otherwise, value)
