"""Finds features: seeds, their closures, the tests that exercise them, and how hard they are."""
