"""Pipelines on Ray. The only package of the distribution that imports ray."""
