"""The reward of a solution, from pristine tests in a fresh sandbox."""

from taskforge.rewards.grade import Grade, GradeStatus, SuiteRunner, grade
from taskforge.rewards.submission import FolderSubmission, PatchSubmission, Rejected, Submission, patched

__all__ = [
    "FolderSubmission",
    "Grade",
    "GradeStatus",
    "PatchSubmission",
    "Rejected",
    "Submission",
    "SuiteRunner",
    "grade",
    "patched",
]
