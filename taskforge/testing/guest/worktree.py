"""The working copy: laying overlays over it and putting back whatever a session changed."""

import base64
import os
import shutil
import stat

HELD_FILE = 4 << 20
HELD_TOTAL = 96 << 20


def decode(content):
    """Return the bytes of an overlay's content: text, {"b64": text} or None."""
    if content is None:
        return None
    if isinstance(content, dict):
        return base64.b64decode(content["b64"])
    return content.encode("utf-8", "surrogateescape")


def _mark(status):
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def remove(path):
    """Remove a file, link or folder, whatever its permissions. Errors are ignored."""
    try:
        if os.path.islink(path) or not os.path.isdir(path):
            os.unlink(path)
            return
    except OSError:
        return

    def retry(function, name, _info):
        try:
            os.chmod(os.path.dirname(name), 0o700)
            os.chmod(name, 0o700)
            function(name)
        except OSError:
            pass

    shutil.rmtree(path, onerror=retry)


class Worktree(object):
    """A tree whose present state can be restored. Files over a bound are noted but not held."""

    def __init__(self, root):
        self.root = root
        self._marks = {}
        self._held = {}
        self._total = 0
        self._next_mtime = 1
        self._mtimes = {}

    def fill(self, files):
        """Write files that are lacking; path -> content as in a job."""
        for path, content in sorted(files.items()):
            place = os.path.join(self.root, path)
            if not os.path.lexists(place):
                self._write(place, decode(content))

    def remember(self, contents):
        """Take the present state as the one to restore. With `contents` false only its outline."""
        self._marks = dict(self._walk())
        newest = 1
        for path, mark in self._marks.items():
            newest = max(newest, int(mark[2] // 10**9))
            if contents and stat.S_ISREG(mark[0]) and mark[1] <= HELD_FILE:
                self._hold(path)
            elif stat.S_ISLNK(mark[0]):
                self._held[path] = os.readlink(os.path.join(self.root, path))
        self._next_mtime = min(newest, 2**32 - 10**6) + 1

    def lay(self, overlay):
        """Write the overlay. Return absolute path -> a name that stands for path and content."""
        names = {}
        for path, content in sorted(overlay.items()):
            place = os.path.join(self.root, path)
            data = decode(content)
            if path in self._marks and path not in self._held:
                self._hold(path, bounded=False)
            if data is None:
                remove(place)
                self._drop_empty(os.path.dirname(place))
                continue
            key = (path, data)
            if key not in self._mtimes:
                self._mtimes[key] = self._next_mtime
                self._next_mtime += 1
            mtime = self._mtimes[key]
            self._write(place, data)
            os.utime(place, (mtime, mtime))
            names[place] = "overlay-%d" % mtime
        return names

    def restore(self):
        """Put back the remembered state. Return False when a file that is not held was changed."""
        now = dict(self._walk())
        whole = True
        for path in sorted(set(now) - set(self._marks), reverse=True):
            remove(os.path.join(self.root, path))
        for path in sorted(self._marks):
            if now.get(path) != self._marks[path]:
                whole = self._put_back(path, now.get(path)) and whole
        return whole

    def _put_back(self, path, present):
        mode, _size, mtime = self._marks[path][:3]
        place = os.path.join(self.root, path)
        if stat.S_ISDIR(mode):
            if present is None or not stat.S_ISDIR(present[0]):
                remove(place)
                os.makedirs(place, exist_ok=True)
            if present is None or present[0] != mode:
                os.chmod(place, stat.S_IMODE(mode))
            return True  # a folder's times change with its entries; nothing depends on them
        if path not in self._held:
            return False
        remove(place)
        if stat.S_ISLNK(mode):
            os.symlink(self._held[path], place)
        else:
            self._write(place, self._held[path])
            os.chmod(place, stat.S_IMODE(mode))
            os.utime(place, ns=(mtime, mtime))
        self._marks[path] = _mark(os.lstat(place))
        return True

    def _drop_empty(self, folder):
        while len(folder) > len(self.root):
            try:
                os.rmdir(folder)
            except OSError:
                return
            folder = os.path.dirname(folder)

    def _hold(self, path, bounded=True):
        if bounded and self._total > HELD_TOTAL:
            return
        try:
            with open(os.path.join(self.root, path), "rb") as file:
                self._held[path] = file.read()
        except OSError:
            return
        self._total += len(self._held[path])

    def _write(self, place, data):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.islink(place) or os.path.isdir(place):
            remove(place)
        with open(place, "wb") as file:
            file.write(data)

    def _walk(self, folder=""):
        try:
            entries = list(os.scandir(os.path.join(self.root, folder)))
        except OSError:
            return
        for entry in entries:
            path = folder + entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                yield path, (status.st_mode, 0, 0, 0, 0)
                for found in self._walk(path + "/"):
                    yield found
            else:
                yield path, _mark(status)


class Scratch(object):
    """A folder of the sandbox (temporary files, home) that is emptied between sessions.

    What was there when the driver started stays: mounts, and in a backend that shares it the host's files.
    """

    def __init__(self, path, keep=()):
        self.path = path
        self.keep = set(keep)
        self.keep.update(self._names())

    def _names(self):
        try:
            return os.listdir(self.path)
        except OSError:
            return []

    def empty(self):
        """Remove what came since the start and is this user's."""
        for name in self._names():
            place = os.path.join(self.path, name)
            try:
                if name not in self.keep and os.lstat(place).st_uid == os.getuid():
                    remove(place)
            except OSError:
                continue
