"""Where the code of a pytest item lies."""

import os


def _unwrapped(function):
    for _ in range(50):
        if hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__func__"):
            function = function.__func__
        elif hasattr(function, "func") and hasattr(function, "keywords"):
            function = function.func
        else:
            break
    return function


def inside(tree, path):
    """Return `path` relative to the tree, or None when it lies elsewhere."""
    path = os.path.realpath(path)
    if path.startswith(tree + os.sep):
        return path[len(tree) + 1 :].replace(os.sep, "/")
    return None


class Locator(object):
    """Finds (file relative to the tree, qualified name without parameters) of items."""

    def __init__(self, tree):
        self.tree = tree
        self._files = {}

    def _relative(self, path):
        if path not in self._files:
            self._files[path] = inside(self.tree, path)
        return self._files[path]

    def find(self, item):
        """Return the place of the item's code.

        Functions: the file and `__qualname__` of the innermost wrapped function (with `<locals>` when it is
        made by another function). Doctests: the file and the documented name, empty for a text file. Other
        items: their file and "". A name alone is given as ["", name] when its file is outside of the tree.
        """
        doctest = getattr(item, "dtest", None)
        if doctest is not None:
            path = self._relative(doctest.filename) if doctest.filename else None
            module = doctest.globs.get("__name__") if doctest.globs else None
            name = doctest.name
            if not module or module == "__main__":
                name = ""
            elif name == module:
                name = ""
            elif name.startswith(module + "."):
                name = name[len(module) + 1 :]
            return [path or item.nodeid.split("::")[0], name]
        function = _unwrapped(getattr(item, "function", None) or getattr(item, "obj", None))
        code = getattr(function, "__code__", None)
        if code is not None:
            path = self._relative(code.co_filename)
            if path is not None:
                return [path, getattr(function, "__qualname__", code.co_name)]
        parts = item.nodeid.partition("[")[0].split("::")
        original = getattr(item, "originalname", None)
        if original:
            return [parts[0], ".".join(parts[1:-1] + [original])]
        return [parts[0], ""]
