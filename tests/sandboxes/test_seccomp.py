"""The filter's program, run step by step as the kernel would."""

import errno
import struct

import pytest

from sandboxes.seccomp import ABSENT, ALLOW, AUDIT_ARCH, ERRNO, KILL_PROCESS, REFUSED, seccomp_filter


def verdict(program: bytes, architecture: int, number: int) -> int:
    steps = list(struct.iter_unpack("=HBBI", program))
    place = loaded = 0
    while True:
        code, then, otherwise, value = steps[place]
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            loaded = {0: number, 4: architecture}[value]
        else:
            holds = loaded == value if code == 0x15 else loaded >= value
            place += then if holds else otherwise


@pytest.mark.parametrize("machine", sorted(AUDIT_ARCH))
def test_every_call(machine: str) -> None:
    program = seccomp_filter(machine)
    assert program is not None
    column = list(AUDIT_ARCH).index(machine)
    expected = dict.fromkeys(range(600), ALLOW)
    expected |= {numbers[column]: ERRNO | errno.EPERM for numbers in REFUSED.values()}
    expected |= {numbers[column]: ERRNO | errno.ENOSYS for numbers in ABSENT.values()}
    expected.pop(None, None)
    assert {number: verdict(program, AUDIT_ARCH[machine], number) for number in expected} == expected


def test_another_architecture_on_the_same_machine() -> None:
    program = seccomp_filter("x86_64")
    assert program is not None
    assert verdict(program, 0x40000003, 1) == KILL_PROCESS
    assert verdict(program, AUDIT_ARCH["x86_64"], 0x40000000 + 165) == ERRNO | errno.ENOSYS


def test_a_machine_that_is_not_known() -> None:
    assert seccomp_filter("riscv64") is None
