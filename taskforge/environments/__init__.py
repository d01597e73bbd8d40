"""Environments: an interpreter and locked dependencies in which a snapshot's tests run."""

from taskforge.environments.prepare import prepare, realise

__all__ = ["prepare", "realise"]
