"""Frozen records and the vocabulary shared by every layer. Imports nothing of taskforge above it."""
