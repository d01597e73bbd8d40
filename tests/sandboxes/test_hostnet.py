"""What a build with network access is shown of the host's settings."""

from pathlib import Path

import pytest

from sandboxes.hostnet import network_environment, network_mounts
from sandboxes.registry import get_sandbox
from taskforge.domain.sandbox import Command


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    monkeypatch.setenv("UV_FIND_LINKS", "/wheels/here")
    monkeypatch.setenv("UV_CACHE_DIR", "/cache/of/host")
    monkeypatch.setenv("UV_PUBLISH_TOKEN", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    told = network_environment()
    assert told["PIP_INDEX_URL"] == "https://index.invalid/simple"
    assert told["UV_FIND_LINKS"] == "/wheels/here"
    assert "secret" not in told.values()
    assert "UV_CACHE_DIR" not in told


@pytest.mark.parametrize(
    "value",
    ["{0}", "file://{0}", "https://index.invalid/ {0}", "relative,{0}", "/nowhere/at/all:{0}", "file://{1}"],
)
def test_folders_that_they_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str) -> None:
    folder = tmp_path / "two words"
    folder.mkdir()
    (tmp_path / "plain").mkdir()
    quoted = str(folder).replace(" ", "%20")
    monkeypatch.setenv("UV_FIND_LINKS", value.format(tmp_path / "plain", quoted))
    named = folder if "{1}" in value else tmp_path / "plain"
    assert named in network_mounts()


@pytest.mark.parametrize("value", ["/", "/tmp", "/home", "/usr/../etc", "~", "."])
def test_folders_that_are_never_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    before = network_mounts()
    monkeypatch.setenv("UV_FIND_LINKS", value)
    assert network_mounts() == before


def test_files_that_pip_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".config/pip").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    settings = f"[global]\nfind-links =\n    {tmp_path}/a\n    file://{tmp_path}/b\n"
    (tmp_path / ".config/pip/pip.conf").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert {tmp_path / "a", tmp_path / "b"} <= set(network_mounts())


@pytest.mark.parametrize("network", [True, False])
def test_a_command_sees_them_only_with_the_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, network: bool
) -> None:
    (tmp_path / "wheel").write_text("content")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    script = f"cat {tmp_path}/wheel; echo $PIP_FIND_LINKS; [ -e /etc/ssl ] && echo certificates; true"
    done = get_sandbox("auto").run(Command(("/bin/sh", "-c", script), network=network))
    expected = f"content{tmp_path}\n" if network else "\n"
    assert done.stdout.decode().startswith(expected)
    assert (b"certificates" in done.stdout) is (network and Path("/etc/ssl").exists())
