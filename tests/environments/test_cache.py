import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.environments.cache import EnvironmentCache
from taskforge.environments.interpreters import installed
from taskforge.environments.uvtool import Uv
from tests.environments.test_packageindex import settings


@pytest.fixture
def recipe() -> EnvironmentRecipe:
    return EnvironmentRecipe(
        python=installed()[0].minor,
        distribution="a",
        version="1",
        lock="",
        import_roots=(".",),
        packages=("a",),
        package_paths=("a.py",),
        test_paths=(),
        metadata={},
    )


def fill(folder: Path) -> None:
    for name in ("venv/bin", "overlay"):
        (folder / name).mkdir(parents=True)
    (folder / "venv/bin/python").write_text("")


def test_only_whole_environments_are_found(tmp_path: Path, recipe: EnvironmentRecipe) -> None:
    store = EnvironmentCache(tmp_path)
    interpreter = installed()[0]
    with store.work("key") as folder:
        fill(folder)
        assert store.environment(recipe, interpreter) is None
        place = store.publish(folder, recipe)
    found = store.environment(recipe, interpreter)
    assert found is not None
    assert found.folder == place
    assert EnvironmentRecipe.model_validate_json((place / "recipe.json").read_bytes()) == recipe
    assert not (tmp_path / "work/key").exists()


def test_second_builder_keeps_the_first_result(tmp_path: Path, recipe: EnvironmentRecipe) -> None:
    store = EnvironmentCache(tmp_path)
    for key in ("one", "two"):
        with store.work(key) as folder:
            fill(folder)
            (folder / "overlay" / key).write_text("")
            place = store.publish(folder, recipe)
    assert [entry.name for entry in (place / "overlay").iterdir()] == ["one"]


def test_memory_of_prepared_trees(tmp_path: Path, recipe: EnvironmentRecipe) -> None:
    store = EnvironmentCache(tmp_path)
    assert store.recall("key") is None
    store.remember("key", recipe)
    assert store.recall("key") == recipe
    (tmp_path / "prepared/key.json").write_text('{"python": "3.1')
    assert store.recall("key") is None


def test_a_killed_builder_leaves_neither_lock_nor_remains(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from taskforge.environments.cache import EnvironmentCache\n"
        "with EnvironmentCache(Path(sys.argv[1])).work('key') as folder:\n"
        "    (folder / 'half').write_text('x'); print('ready', flush=True); time.sleep(60)\n"
    )
    builder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert builder.stdout is not None
    assert builder.stdout.readline() == b"ready\n"
    assert (tmp_path / "work/key/half").exists()
    os.kill(builder.pid, signal.SIGKILL)
    builder.wait()
    builder.stdout.close()
    started = time.monotonic()
    with EnvironmentCache(tmp_path).work("key") as folder:
        assert list(folder.iterdir()) == []
    assert time.monotonic() - started < 5


def test_settings_reach_uv_in_the_sandbox(tmp_path: Path) -> None:
    from taskforge.domain.sandbox import Command, Completed, Ending
    from taskforge.environments.packageindex import IndexSettings

    seen: list[Command] = []

    class Recorder:
        name = "recorder"
        isolated = False

        def run(self, command: Command) -> Completed:
            seen.append(command)
            return Completed(Ending.EXITED, 0, b"", b"", b"", 0.0, 0.0)

    env, mounts = settings(tmp_path, {"PIP_INDEX_URL": "https://mirror.invalid/simple"})
    uv = Uv(Recorder(), tmp_path / "cache", tmp_path / "cache/work/key", IndexSettings(env, mounts))
    uv.folder.mkdir(parents=True)
    uv.run("build", interpreter=installed()[0], trusted=False)
    uv.run("pip", "sync", interpreter=installed()[0], trusted=True)
    foreign, trusted = seen
    assert all(command.env["UV_DEFAULT_INDEX"] == "https://mirror.invalid/simple" for command in seen)
    assert foreign.writable == (tmp_path / "cache/work/key/foreign",)
    assert trusted.writable == (tmp_path / "cache",)
