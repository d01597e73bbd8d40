"""Verification: the gates that a removal has to pass to become a task, each in a file of its own."""

from taskforge.verification.duplicate import alike, duplicate_gate
from taskforge.verification.record import task_of
from taskforge.verification.retry import hide_more, tests_to_hide
from taskforge.verification.verified import Verified
from taskforge.verification.verify import verify

__all__ = ["Verified", "alike", "duplicate_gate", "hide_more", "task_of", "tests_to_hide", "verify"]
