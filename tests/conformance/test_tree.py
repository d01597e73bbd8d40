"""The tree is a copy, the mounts are as they were asked for, and nothing stays."""

import os
from pathlib import Path

import pytest

from tests.conformance.conftest import Run


def listing(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path).encode() if path.is_symlink() else b""
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (path.lstat().st_mode, path.lstat().st_mtime_ns, content)
    return found


def test_the_command_works_in_a_copy(run: Run, tree: Path) -> None:
    before = listing(tree)
    script = """
        [ "$PWD" = "$TASKFORGE_TREE" ] || exit 1
        ./tool || exit 2
        [ "$(readlink link)" = package/module.py ] && cat link || exit 3
        [ -L dangling ] && [ -d package/empty ] || exit 4
        echo changed >link; echo new >new; rm tool; chmod 700 package; rm -r package/empty; mv dangling moved
    """
    done = run(script, tree=tree)
    assert (done.exit_code, done.stdout) == (0, b"tool ran\nVALUE = 1\n"), done.stderr
    assert listing(tree) == before


def test_the_copy_is_exact(python: Run, tree: Path) -> None:
    os.utime(tree / "tool", ns=(10**18, 10**18 + 123_456_789))
    code = """
        import os
        for where, folders, names in os.walk("."):
            for name in folders + names:
                path = os.path.join(where, name)
                told = os.lstat(path)
                print(ascii(path[2:]), told.st_mode, told.st_mtime_ns)
    """
    done = python(code, tree=tree)
    lines = set(done.stdout.decode().splitlines())
    assert lines == {f"{path!a} {mode} {mtime}" for path, (mode, mtime, _) in listing(tree).items()}


def test_no_tree_is_an_empty_folder(run: Run) -> None:
    assert run("ls -A; echo x >file && cat file").stdout == b"x\n"


def test_a_read_only_tree_gives_a_folder_to_write_to(run: Run, tree: Path) -> None:
    tree.chmod(0o555)
    try:
        assert run("echo x >new && cat new", tree=tree).stdout == b"x\n"
    finally:
        tree.chmod(0o755)


def test_a_tree_by_a_link(run: Run, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tree)
    assert run("./tool", tree=tmp_path / "alias").stdout == b"tool ran\n"


def test_nothing_stays_for_the_next(run: Run, tree: Path) -> None:
    run('for p in "$HOME" "$TMPDIR" .; do echo secret >"$p/left"; done', tree=tree)
    done = run('for p in "$HOME" "$TMPDIR" .; do ls -A "$p" | grep left; done; echo none', tree=tree)
    assert done.stdout == b"none\n"


def test_home_and_temporary_files_are_private(run: Run) -> None:
    done = run('ls -A "$HOME" "$TMPDIR"; echo x >"$HOME/a" && echo x >"$TMPDIR/a" && echo "$HOME"')
    home = done.stdout.decode().split()[-1]
    assert done.exit_code == 0
    assert home != str(Path.home())


def test_mounts_are_at_the_same_path(run: Run, tree: Path) -> None:
    assert run(f"{tree}/tool", mounts=(tree,)).stdout == b"tool ran\n"


def test_writable_mounts_are_written(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    done = run(f"echo kept >{place}/file", writable=(place,))
    assert done.exit_code == 0, done.stderr
    assert (place / "file").read_text() == "kept\n"
    assert (place / "file").stat().st_uid == os.getuid()


@pytest.mark.covers("mounts")
def test_mounts_are_read_only(run: Run, tree: Path) -> None:
    before = listing(tree)
    script = f"""
        cd {tree}; echo x >new; echo x >link; rm tool; chmod 777 tool; touch tool; mv package other
        ln -s x y; mkdir z; echo x >package/module.py; echo tried
    """
    assert run(script, mounts=(tree,)).stdout == b"tried\n"
    assert listing(tree) == before


@pytest.mark.covers("mounts")
def test_a_writable_mount_inside_a_read_only_one(run: Run, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    done = run(
        f"echo x >{inner}/file; echo x >{inner.parent}/file; true", mounts=(inner.parent,), writable=(inner,)
    )
    assert done.exit_code == 0
    assert sorted(path.name for path in inner.parent.rglob("file")) == ["file"]
    assert (inner / "file").exists()


def test_the_environment_is_clean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKFORGE_TEST_SECRET", "hunter2")
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:hunter2@index.invalid/")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    done = run("env", env={"GIVEN": "a b\u00e4\nc", "LANG": "C", "TASKFORGE_TREE": "/elsewhere"})
    names = {line.split("=")[0] for line in done.stdout.decode().splitlines() if "=" in line}
    by_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    ours = {"PATH", "HOME", "TMPDIR", "LANG", "TASKFORGE_TREE", "TASKFORGE_CHANNEL", "GIVEN"}
    assert names - by_the_shell == ours
    text = done.stdout.decode()
    assert "hunter2" not in text
    assert "GIVEN=a b\u00e4\nc\n" in text
    assert "LANG=C\n" in text
    assert "/elsewhere" not in text
