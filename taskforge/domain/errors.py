"""The error vocabulary: one class per boundary that can break. A failing test is never one of these."""

from enum import StrEnum


class Boundary(StrEnum):
    """What broke when a stage could not do its work."""

    USAGE = "usage"
    SOURCE = "source"
    NETWORK = "network"
    SANDBOX = "sandbox"
    STORE = "store"
    INTERNAL = "internal"


class TaskforgeError(Exception):
    """Base of all errors that a user may see. The message is one line that says what to do."""

    boundary = Boundary.INTERNAL
    exit_code = 1


class UsageError(TaskforgeError):
    """A wrong argument, setting or file given by the user."""

    boundary = Boundary.USAGE
    exit_code = 2


class NetworkError(TaskforgeError):
    """A remote host could not be reached; trying again later may succeed."""

    boundary = Boundary.NETWORK
    exit_code = 3


class SandboxError(TaskforgeError):
    """The sandbox itself is broken or unavailable. Never raised for a command that merely fails."""

    boundary = Boundary.SANDBOX
    exit_code = 4


class StoreError(TaskforgeError):
    """The corpus cannot be read or written, or holds a record that does not match its hash."""

    boundary = Boundary.STORE
    exit_code = 5
