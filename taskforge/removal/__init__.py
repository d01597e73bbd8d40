"""Agents that take a feature out of a repository. `surgeon` needs no key and no network."""
