"""Bytecode of the tree under test goes to a folder outside the tree; all other bytecode stays as it is.

PYTHONPYCACHEPREFIX would move the bytecode of the standard library and of pytest too, which then would have
to be compiled anew in every sandbox. What one sandbox compiled can be collected and given to the next: each
piece belongs to one path and one content of its source.
"""

import base64
import hashlib
import importlib._bootstrap_external as machinery
import os
import struct


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def _stamped(code, seconds):
    """Return the bytecode with another time of its source; some kinds carry a hash instead."""
    if code[4:8] in (b"\1\0\0\0", b"\3\0\0\0"):
        return code
    at = 8 if code[4:8] == b"\0\0\0\0" else 4  # up to Python 3.6 there is no word of flags
    return code[:at] + struct.pack("<I", seconds & 0xFFFFFFFF) + code[at + 4 :]


class Cache(object):
    """Where bytecode of the tree lies. Overlaid files have a folder of their own for each content."""

    def __init__(self, folder, tree):
        self.folder = folder
        self.root = tree
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
            usual = original(file_path)
            tail = getattr(rewrite, "PYC_TAIL", ".pyc")
            if place.startswith(self.tree) or not os.path.exists(str(usual / (file_path.stem + tail))):
                return Path(os.path.dirname(self._moved(place))) / "__pycache__"
            return usual  # a plugin of the environment, rewritten when that was built

        rewrite.get_cache_dir = get_cache_dir

    def collect(self):
        """Return the bytecode made here, but for overlaid files: path -> [digest of source, {name: base64}].

        Paths are relative to the tree, or absolute for rewritten plugins of the environment.
        """
        found = {}
        base = os.path.join(self.folder, "tree")
        for folder, _, names in os.walk(base):
            if os.path.basename(folder) != "__pycache__":
                continue
            for name in sorted(names):
                source = os.path.join(os.path.dirname(folder)[len(base) :], name.split(".")[0] + ".py")
                try:
                    with open(source, "rb") as file:
                        digest = _digest(file.read())
                    with open(os.path.join(folder, name), "rb") as file:
                        code = file.read()
                except OSError:
                    continue
                key = source[len(self.tree) :] if source.startswith(self.tree) else source
                entry = found.setdefault(key, [digest, {}])
                entry[1][name] = base64.b64encode(code).decode("ascii")
        return found

    def prime(self, known, sources=None):
        """Write known bytecode, as `collect` returns it, for source files that it fits (by default all).

        The time in the bytecode becomes that of the source here.
        """
        for source in sorted(known if sources is None else set(known).intersection(sources)):
            digest, pieces = known[source]
            place = os.path.join(self.root, source)
            try:
                with open(place, "rb") as file:
                    if _digest(file.read()) != digest:
                        continue
                seconds = int(os.stat(place).st_mtime)
                target = os.path.join(os.path.dirname(self._moved(place)), "__pycache__")
                os.makedirs(target, exist_ok=True)
                for name, text in pieces.items():
                    with open(os.path.join(target, name), "wb") as file:
                        file.write(_stamped(base64.b64decode(text), seconds))
            except OSError:
                continue
