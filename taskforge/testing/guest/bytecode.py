"""Bytecode of the tree under test goes to a folder outside the tree; all other bytecode stays as it is.

PYTHONPYCACHEPREFIX would move the bytecode of the standard library and of pytest too, which then would have
to be compiled anew in every sandbox.
"""

import importlib._bootstrap_external as machinery
import os


class Cache(object):
    """Where bytecode of the tree lies. Overlaid files have a folder of their own for each content."""

    def __init__(self, folder, tree):
        self.folder = folder
        self.tree = tree + os.sep
        self.overlaid = {}  # absolute path -> name of the folder for this content
        self._original = machinery.cache_from_source

    def _moved(self, path):
        return os.path.join(self.folder, self.overlaid.get(path, "tree")) + path

    def install(self):
        """Redirect the import system."""
        original = self._original

        def cache_from_source(path, *args, **kwargs):
            place = os.fspath(path)
            if place.startswith(self.tree):
                place = self._moved(place)
            return original(place, *args, **kwargs)

        machinery.cache_from_source = cache_from_source

    def install_rewriter(self):
        """Redirect pytest's rewritten test modules. Call after pytest is imported."""
        try:
            from pathlib import Path

            from _pytest.assertion import rewrite

            original = rewrite.get_cache_dir
        except (ImportError, AttributeError):
            return

        def get_cache_dir(file_path):
            place = str(file_path)
            if place.startswith(self.tree):
                return Path(os.path.dirname(self._moved(place)))
            return original(file_path)

        rewrite.get_cache_dir = get_cache_dir
