"""Tests leave a file together with what only they used."""

from textwrap import dedent

import pytest

from taskforge.languages.python.surgery.source import EditError
from taskforge.languages.python.testsplit import dangling, split_tests, testnames

FILE = dedent(
    '''\
    """Tests of things."""

    import json
    import os.path
    from unittest import mock

    import pytest

    from pkg import (
        a,
        b,
        c,
    )

    pytestmark = pytest.mark.filterwarnings("error")

    # Rows for b.
    ROWS = [
        (1, "x"),
        (2, "y"),
    ]
    UNUSED = 1
    table = {}
    table["b"] = b


    class Fake:
        """Stands for b."""

        def run(self):
            return json.dumps(helper())


    def helper():
        return mock.sentinel.x


    @pytest.fixture
    def folder(tmp_path):
        return os.path.join(tmp_path, "x")


    @pytest.fixture(name="given")
    def _given(folder):
        return folder


    @pytest.fixture(autouse=True)
    def always():
        yield


    @pytest.fixture
    def marked():
        return 1


    # About a.
    def test_a(marked):
        assert a(c)


    @pytest.mark.parametrize(("n", "s"), ROWS)
    def test_b(n, s, given):
        assert b(n) == s == table == Fake()


    @pytest.mark.usefixtures("marked")
    class TestC:
        """Tests of c."""

        limit = 3
        other = 4

        def setup_method(self):
            self.x = 1

        def _check(self, x):
            assert x < self.limit

        def test_one(self):
            self._check(c)

        def test_two(self):
            assert c == self.other


    if __name__ == "__main__":
        pytest.main()
    '''
)


def test_nothing_leaves() -> None:
    assert split_tests(FILE, ()) == FILE


def test_a_test_with_all_that_it_used() -> None:
    after = split_tests(FILE, ["test_b"], ["b"])
    expected = FILE.replace("import json\nimport os.path\nfrom unittest import mock\n\n", "")
    expected = expected.replace("    b,\n", "")
    start, end = expected.index("# Rows for b."), expected.index("UNUSED = 1")
    expected = expected[:start] + expected[end:]
    start, end = expected.index("table = {}"), expected.index("@pytest.fixture(autouse=True)")
    expected = expected[:start].rstrip("\n") + "\n\n\n" + expected[end:]
    start, end = expected.index("@pytest.mark.parametrize"), expected.index("@pytest.mark.usefixtures")
    assert after == expected[:start] + expected[end:]


def test_a_method_with_its_helper_and_data() -> None:
    after = split_tests(FILE, ["TestC.test_one"])
    expected = FILE.replace("    limit = 3\n", "")
    start, end = expected.index("    def _check"), expected.index("    def test_two")
    assert after == expected[:start] + expected[end:]


def test_a_class_leaves_with_its_last_test() -> None:
    after = split_tests(FILE, ["TestC.test_one", "TestC.test_two"])
    start, end = FILE.index("@pytest.mark.usefixtures"), FILE.index("if __name__")
    assert after == FILE[:start] + FILE[end:]
    assert split_tests(FILE, ["TestC"]) == after


def test_no_test_stays() -> None:
    everything = ["test_a", "test_b", "TestC"]
    assert split_tests(FILE, everything) is None
    assert "test_" not in (split_tests(FILE, everything, helper=True) or "")


def test_a_helper_file_keeps_what_others_may_use() -> None:
    source = dedent(
        """\
        import pytest
        from pkg import a, b


        def _inner():
            return b


        @pytest.fixture
        def base():
            return 1


        @pytest.fixture
        def made(base):
            return _inner()


        def helper():
            return a
        """
    )
    after = dedent(
        """\
        import pytest
        from pkg import a


        @pytest.fixture
        def base():
            return 1


        def helper():
            return a
        """
    )
    assert split_tests(source, ["made"], path="tests/conftest.py") == after
    assert split_tests(source, ["made"], path="tests/helpers.py") == after


def test_names_that_other_files_import_stay() -> None:
    source = (
        "import json\n\n\ndef helper():\n    return json\n\n\n"
        "def test_a():\n    helper()\n\n\ndef test_b():\n    pass\n"
    )
    assert split_tests(source, ["test_a"]) == "def test_b():\n    pass\n"
    after = "import json\n\n\ndef helper():\n    return json\n\n\ndef test_b():\n    pass\n"
    assert split_tests(source, ["test_a"], keep=["helper"]) == after


@pytest.mark.parametrize(
    ("source", "leave", "gone", "after"),
    [
        pytest.param(
            "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n\n\n"
            "def test_a():\n    numpy.x\n\n\ndef test_b():\n    pass\n",
            ["test_a"],
            [],
            "def test_b():\n    pass\n",
            id="a guarded import",
        ),
        pytest.param(
            "try:\n    import numpy\n    HAS = True\nexcept ImportError:\n    HAS = False\n\n\n"
            "def test_a():\n    numpy.x\n\n\ndef test_b():\n    HAS\n",
            ["test_a"],
            [],
            "try:\n    import numpy\n    HAS = True\nexcept ImportError:\n    HAS = False\n\n\n"
            "def test_b():\n    HAS\n",
            id="an import that decides something",
        ),
        pytest.param(
            "import sys\n\nif sys.version_info > (3,):\n    def test_a():\n        pass\n\n\n"
            "def test_b():\n    pass\n",
            ["test_a"],
            [],
            "def test_b():\n    pass\n",
            id="a test under a condition",
        ),
        pytest.param(
            "from unittest import TestCase\nfrom pkg import a, b\n\n\nclass Base(TestCase):\n"
            "    def check(self):\n        a()\n\n    def other(self):\n        b()\n\n\n"
            "class TestX(Base):\n    def test_x(self):\n        self.check()\n\n    def test_y(self):\n"
            "        self.other()\n",
            ["TestX.test_x"],
            ["a"],
            "from unittest import TestCase\nfrom pkg import b\n\n\nclass Base(TestCase):\n"
            "    def other(self):\n        b()\n\n\nclass TestX(Base):\n    def test_y(self):\n"
            "        self.other()\n",
            id="a method of a base class",
        ),
        pytest.param(
            "from lib import Shared\n\n\nclass TestX(Shared):\n    size = 1\n\n    def test_x(self):\n"
            "        self.size\n\n\ndef test_y():\n    pass\n",
            ["TestX.test_x"],
            [],
            "from lib import Shared\n\n\nclass TestX(Shared):\n    size = 1\n\n\ndef test_y():\n    pass\n",
            id="a class that inherits tests",
        ),
        pytest.param(
            "class Mixin:\n    def test_x(self):\n        pass\n\n    def test_y(self):\n        pass\n\n\n"
            "class TestA(Mixin):\n    pass\n",
            ["TestA.test_x"],
            [],
            "class Mixin:\n    def test_y(self):\n        pass\n\n\nclass TestA(Mixin):\n    pass\n",
            id="an inherited test",
        ),
        pytest.param(
            "class TestA:\n    class TestB:\n        def test_x(self):\n            pass\n\n"
            "    def test_y(self):\n        pass\n",
            ["TestA.TestB.test_x"],
            [],
            "class TestA:\n    def test_y(self):\n        pass\n",
            id="a class in a class",
        ),
        pytest.param(
            "import a\n\nx, y = 1, 2\nz = a\n\n\ndef test_a():\n    x\n\n\ndef test_b():\n    y\n",
            ["test_a"],
            [],
            "import a\n\nx, y = 1, 2\nz = a\n\n\ndef test_b():\n    y\n",
            id="names bound together",
        ),
        pytest.param(
            "import pytest\n\n\n@pytest.fixture\ndef f():\n    pass\n\n\n@pytest.fixture\ndef g():\n"
            "    pass\n\n\ndef test_a(f, g):\n    pass\n\n\n"
            "def test_b(request):\n    request.getfixturevalue('f')\n",
            ["test_a"],
            [],
            "import pytest\n\n\n@pytest.fixture\ndef f():\n    pass\n\n\n"
            "def test_b(request):\n    request.getfixturevalue('f')\n",
            id="a fixture asked for by a string",
        ),
        pytest.param(
            "from pkg import A\n\n\ndef helper(x: 'A'):\n    pass\n\n\ndef test_a():\n    A()\n\n\n"
            "def test_b():\n    helper(1)\n",
            ["test_a"],
            [],
            "from pkg import A\n\n\ndef helper(x: 'A'):\n    pass\n\n\ndef test_b():\n    helper(1)\n",
            id="a quoted annotation",
        ),
        pytest.param(
            "from pkg import a, b\n\n\ndef test_a():\n    b = 1\n    return b\n\n\ndef test_b():\n    b()\n",
            ["test_b"],
            [],
            "from pkg import a\n\n\ndef test_a():\n    b = 1\n    return b\n",
            id="a local variable is no use",
        ),
    ],
)
def test_split(source: str, leave: list[str], gone: list[str], after: str) -> None:
    assert split_tests(source, leave, gone) == after


def test_what_leaves_must_exist() -> None:
    with pytest.raises(EditError, match=r"test\.py: there is no test_x that could leave"):
        split_tests(FILE, ["test_x"])


def test_what_leaves_must_not_be_used() -> None:
    source = "def helper(): pass\ndef test_a(): pass\ndef test_b(): helper()\n"
    with pytest.raises(EditError, match=r"test\.py:3: helper leaves and is still used"):
        split_tests(source, ["helper", "test_a"])


def test_dangling() -> None:
    assert dangling(FILE, ["b"]) == ("", "test_b")
    assert dangling(FILE, ["c"]) == ("test_a", "TestC.test_one", "TestC.test_two")
    assert dangling(FILE, ["nothing"]) == ()
    assert dangling("from x import A\n\n\nclass B(A):\n    pass\n", ["A"]) == ("B",)


def test_testnames() -> None:
    assert list(testnames(FILE)) == ["test_a", "test_b", "TestC.test_one", "TestC.test_two"]
    line = FILE.splitlines().index("def test_a(marked):") + 1
    assert testnames(FILE)["test_a"].line == line


def test_a_with_block_leaves_with_all_that_it_binds() -> None:
    source = dedent(
        """\
        import os

        PLACE = os.path.join("data", "file")
        with open(PLACE) as file:
            DATA = file.read()


        def test_data():
            assert DATA


        def test_other():
            assert True
        """
    )
    assert split_tests(source, ["test_data"]) == "def test_other():\n    assert True\n"
    assert split_tests(source, ["test_other"]) == source[: source.index("\n\ndef test_other")]
