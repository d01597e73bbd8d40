"""Backends by name, and their refusal where they do not isolate."""

import os
import stat
from pathlib import Path

import pytest

from sandboxes import registry, selftest
from sandboxes.namespaces import NamespacesSandbox
from sandboxes.process import ProcessSandbox
from sandboxes.registry import get_sandbox, statuses
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Command, Completed, Ending, Sandbox


@pytest.fixture(autouse=True)
def _fresh() -> None:
    registry._namespaces.cache_clear()


def fake_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch, *, version: str, script: str) -> None:
    folder.mkdir()
    text = f'#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap {version}" && exit 0\n{script}\n'
    (folder / "bwrap").write_text(text)
    (folder / "bwrap").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_an_isolating_one_is_the_default() -> None:
    sandbox = get_sandbox()
    assert isinstance(sandbox, Sandbox)
    assert (sandbox.name, sandbox.isolated) == ("namespaces", True)
    assert get_sandbox("namespaces").isolated


def test_no_isolation_only_by_name() -> None:
    sandbox = get_sandbox("process")
    assert isinstance(sandbox, Sandbox)
    assert (sandbox.name, sandbox.isolated) == ("process", False)


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError, match=r"'podman'.*auto, namespaces, process"):
        get_sandbox("podman")


def test_statuses() -> None:
    told = {status.name: status for status in statuses()}
    assert list(told) == ["namespaces", "process"]
    assert all(status.works for status in told.values())
    assert "bubblewrap" in told["namespaces"].detail


def test_without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"install the package `bubblewrap`.*`process`.*without any isolation"
    ):
        get_sandbox("auto")
    assert [status.works for status in statuses()] == [False, True]


def test_an_old_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_bwrap(tmp_path / "bin", monkeypatch, version="0.6.1", script="exit 0")
    with pytest.raises(UsageError, match=r"0\.6\.1 is too old"):
        get_sandbox("auto")


def test_a_bubblewrap_that_may_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"
    fake_bwrap(tmp_path / "bin", monkeypatch, version="0.9.0", script=script)
    with pytest.raises(UsageError, match=r"No permissions.*max_user_namespaces.*`process`"):
        get_sandbox("auto")


@pytest.mark.parametrize("code", [0, 1, 125, 137])
def test_a_sandbox_that_does_not_come_up_is_no_failing_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int
) -> None:
    fake_bwrap(tmp_path / "bin", monkeypatch, version="0.9.0", script=f"echo bwrap: broken >&2; exit {code}")
    with pytest.raises(SandboxError, match="bwrap: broken"):
        NamespacesSandbox().run(Command(("/bin/true",)))


def test_a_sandbox_without_isolation_is_found_out() -> None:
    found = "; ".join(selftest.holes(ProcessSandbox()))
    assert str(Path(selftest.__file__).resolve()) in found
    assert ("can write /usr" in found) is os.access("/usr", os.W_OK)
    for kind in selftest.NAMESPACES:
        assert f"the {kind} namespace is the host's" in found


def test_a_sandbox_that_holds_is_not() -> None:
    assert selftest.holes(NamespacesSandbox()) == ()


def test_isolation_that_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "holes", lambda _: ("the net namespace is the host's",))
    with pytest.raises(UsageError, match="isolation does not hold: the net namespace"):
        get_sandbox("auto")


def test_a_sandbox_in_which_nothing_runs() -> None:
    class Mute:
        name = "mute"
        isolated = True

        def run(self, _: Command) -> Completed:
            return Completed(Ending.EXITED, 1, b"", b"no shell", b"", 0.1, 0.1)

    with pytest.raises(SandboxError, match="no shell"):
        selftest.holes(Mute())
