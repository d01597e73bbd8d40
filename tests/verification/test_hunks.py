from taskforge.verification.hunks import HunkKind, Hunks

BEFORE = '''"""Doc."""

import os
import re

__all__ = ["a", "b", "c"]

LIMIT = 3
TABLE = {
    "a": len,
    "b": str,
}


def a(x):
    """Say a."""
    y = x + 1
    return y


# about b
def b(x):
    return re.sub("b", "", x)


class C:
    x = 1

    def m(self):
        return 1

    def n(self):
        return os.sep


def c():
    if LIMIT:
        return 1
    return 2
'''
AFTER = '''"""Doc."""

import os

__all__ = ["c"]

TABLE = {
    "a": len,
}


class C:
    x = 1

    def n(self):
        return os.sep


def c():
    return 2
'''


def hunks(after: str | None = AFTER, before: str = BEFORE) -> Hunks:
    return Hunks({"p/m.py": before}, {"p/m.py": after})


def test_each_symbol_is_a_hunk_of_its_own() -> None:
    found = {hunk.name: hunk.kind for hunk in hunks().all}
    assert found == {
        "imports": HunkKind.BOOKKEEPING,
        "__all__": HunkKind.BOOKKEEPING,
        "LIMIT": HunkKind.VALUE,
        "TABLE": HunkKind.REFERENCE,
        "a": HunkKind.CODE,
        "b": HunkKind.CODE,
        "C.m": HunkKind.CODE,
        "c": HunkKind.REFERENCE,
    }


def test_all_hunks_make_the_start_tree_and_none_the_original() -> None:
    cut = hunks()
    assert cut.texts(frozenset(h.number for h in cut.all)) == {"p/m.py": AFTER}
    assert cut.texts(frozenset()) == {}
    assert cut.text_without(frozenset()) == {"p/m.py": AFTER}


def test_one_hunk_leaves_all_else() -> None:
    cut = hunks()
    b = next(h for h in cut.all if h.name == "b")
    text = cut.texts(frozenset({b.number}))["p/m.py"]
    assert text is not None
    assert "def b" not in text
    assert "# about b" not in text
    assert all(part in text for part in ("def a", "import re", '"b"', "class C"))
    assert cut.all[b.number].lines[-1] - cut.all[b.number].lines[0] >= 2
    back = cut.text_without(frozenset({b.number}))["p/m.py"]
    assert back is not None
    assert "def b" in back
    assert "def a" not in back


def test_blank_lines_belong_to_what_goes() -> None:
    before = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n"
    for after in (
        "def a():\n    return 1\n\n\ndef c():\n    return 3\n",
        "def b():\n    return 2\n\n\ndef c():\n    return 3\n",
        "def a():\n    return 1\n\n\ndef b():\n    return 2\n",
        "def a():\n    return 1\n",
    ):
        assert all(h.kind is HunkKind.CODE for h in hunks(after, before).all)


def test_a_file_that_goes_is_one_hunk() -> None:
    cut = hunks(None)
    assert [(h.place, h.kind) for h in cut.all] == [("p/m.py", HunkKind.CODE)]
    assert cut.texts(frozenset({0})) == {"p/m.py": None}
    assert cut.texts(frozenset()) == {}


def test_an_emptied_body_is_code() -> None:
    after = BEFORE.replace("    y = x + 1\n    return y\n", "    raise NotImplementedError\n")
    assert [(h.name, h.kind) for h in hunks(after).all] == [("a", HunkKind.CODE)]


def test_documents_and_stubs_are_bookkeeping() -> None:
    cut = Hunks({"p/m.pyi": "def a(): ...\n", "docs/a.md": "a\nb\n"}, {"p/m.pyi": "", "docs/a.md": "b\n"})
    assert {h.kind for h in cut.all} == {HunkKind.BOOKKEEPING}
    assert cut.texts(frozenset({0, 1})) == {"p/m.pyi": "", "docs/a.md": "b\n"}
