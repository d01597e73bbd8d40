import json
from pathlib import Path

import pytest

from taskforge.cli.doctor import Level, findings
from taskforge.cli.main import run
from taskforge.settings import load_settings


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def doctor(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    with pytest.raises(SystemExit) as ended:
        run(["doctor", "--json"])
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def test_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = doctor(capsys)
    found = {finding["name"]: finding for finding in said["findings"]}  # type: ignore[attr-defined]
    assert {"git", "uv", "ray", "interpreters", "memory", "sandbox namespaces", "disk for cache"} <= set(
        found
    )
    missing = [finding for finding in found.values() if finding["level"] == "missing"]
    assert code == (1 if missing else 0)
    assert said["ready"] is (not missing)
    assert all(finding["advice"] for finding in missing)


def test_names_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, said = doctor(capsys)
    git = next(finding for finding in said["findings"] if finding["name"] == "git")  # type: ignore[attr-defined]
    assert code == 1
    assert git["level"] == "missing"
    assert "install git" in git["advice"]


def test_warns_of_more_workers_than_the_machine_can_bear(tmp_path: Path) -> None:
    settings = load_settings(overrides={"pipeline": {"workers": 100_000}})
    found = {finding.name: finding for finding in findings(settings)}
    assert found["processors"].level is Level.OPTIONAL
    assert "fewer" in found["memory"].advice


def test_folder_that_does_not_exist_yet_is_no_fault(tmp_path: Path) -> None:
    settings = load_settings(overrides={"corpus": tmp_path / "a" / "b"})
    found = {finding.name: finding for finding in findings(settings)}
    assert found["disk for corpus"].level is not Level.MISSING
