"""A look around from inside: whether the isolation that a backend promises holds on this machine."""

import os
from pathlib import Path

from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Command, Ending, Limits, Sandbox

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
LIMITS = Limits(wall_s=30, cpu_s=10, memory_bytes=256 << 20, disk_bytes=16 << 20)
LOOK = """\
for kind in cgroup ipc mnt net pid user uts; do echo "ns $kind $(readlink /proc/self/ns/$kind)"; done
for path in "$@"; do [ -e "$path" ] && echo "sees $path"; done
for path in /usr /etc /proc/sys/kernel/core_pattern; do [ -w "$path" ] && echo "can write $path"; done
: >probe || echo "keeps no files"
while read -r key value; do
    case $key in CapEff: | CapPrm: | CapBnd:) echo "caps $value" ;; esac
done </proc/self/status
echo looked
"""
"""Asks and does not try: where isolation does not hold, this runs on the host."""


def holes(sandbox: Sandbox) -> tuple[str, ...]:
    """Return what is wrong with an isolating sandbox, empty when all holds.

    Raises SandboxError when it does not start.
    """
    host_only = (str(Path(__file__).resolve()), "/sys/kernel")
    done = sandbox.run(Command(("/bin/sh", "-c", LOOK, "look", *host_only), limits=LIMITS))
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if done.ending is not Ending.EXITED or "looked" not in lines:
        said = done.stderr.decode("utf-8", "replace").strip() or f"it ended with {done.ending}"
        raise SandboxError(f"a sandbox starts but runs no commands: {said}")
    found = [f"the command {line}" for line in lines if line.startswith(("sees ", "can write ", "keeps "))]
    inside = dict(line.split(" ", 2)[1:] for line in lines if line.startswith("ns ") and line.count(" ") == 2)
    shared = [
        kind for kind in NAMESPACES if inside.get(kind, "") in {"", os.readlink(f"/proc/self/ns/{kind}")}
    ]
    found += [f"the {kind} namespace is the host's" for kind in shared]
    if any(int(line.split()[1], 16) for line in lines if line.startswith("caps ")):
        found.append("the command has capabilities")
    return tuple(found)
