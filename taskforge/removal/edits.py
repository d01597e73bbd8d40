"""Edits of source files, as the agents of this package use them."""

from taskforge.languages.python.surgery.operation import apply_edits, is_empty_module
from taskforge.languages.python.surgery.source import EditError

__all__ = ["EditError", "apply_edits", "is_empty_module"]
