"""Verification: the gates that a removal has to pass to become a task, each in a file of its own."""

from taskforge.verification.duplicate import alike, duplicate_gate
from taskforge.verification.record import task_of
from taskforge.verification.retry import blocking_tests, hide_more
from taskforge.verification.reverify import Reverification, reverify
from taskforge.verification.verified import Verified
from taskforge.verification.verify import verify

__all__ = [
    "Reverification",
    "Verified",
    "alike",
    "blocking_tests",
    "duplicate_gate",
    "hide_more",
    "reverify",
    "task_of",
    "verify",
]
