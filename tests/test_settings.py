from pathlib import Path

import pytest
from pydantic import BaseModel

from taskforge.domain.errors import UsageError
from taskforge.settings import Settings, load_settings

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_defaults_need_no_file() -> None:
    settings = load_settings()
    assert settings.discovery.tier_set == {1, 2, 3, 4, 5}
    assert settings.sandbox.limits.wall_s == settings.sandbox.wall_s


def test_flag_beats_environment_beats_file_beats_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("taskforge.toml").write_text(
        'seed = 3\n[discovery]\nper_repo = 5\ntiers = "2"\nmode = "stub"\n', "utf-8"
    )
    monkeypatch.setenv("TASKFORGE_DISCOVERY__PER_REPO", "6")
    monkeypatch.setenv("TASKFORGE_DISCOVERY__TIERS", "3-4")
    settings = load_settings(overrides={"discovery": {"per_repo": 7, "tiers": None}})
    assert settings.seed == 3
    assert settings.discovery.per_repo == 7
    assert settings.discovery.tier_set == {3, 4}
    assert settings.discovery.mode == "stub"


def test_named_file_replaces_the_default_one(tmp_path: Path) -> None:
    Path("taskforge.toml").write_text("seed = 3\n", "utf-8")
    other = tmp_path / "other.toml"
    other.write_text("[pipeline]\nworkers = 2\n", "utf-8")
    settings = load_settings(other)
    assert (settings.seed, settings.pipeline.workers) == (0, 2)


def test_list_in_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKFORGE_FETCH__LICENSES", '["MIT", "BSD-3-Clause"]')
    assert load_settings().fetch.licenses == ("MIT", "BSD-3-Clause")


def test_cache_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert load_settings().cache == tmp_path / "taskforge"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[discovery]\nper_rep = 5\n", "no setting `discovery.per_rep`"),
        ("sede = 1\n", "no setting `sede`"),
        ('[discovery]\ntiers = "0-9"\n', "discovery.tiers"),
        ("seed = -1\n", "`seed`"),
        ("seed = \n", "cannot read settings"),
    ],
)
def test_mistakes_are_one_line_that_says_where(text: str, words: str) -> None:
    Path("taskforge.toml").write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        load_settings()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value) or "cannot read" in str(caught.value)


def test_missing_named_file_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml"):
        load_settings(Path("nowhere.toml"))


def test_malformed_environment_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKFORGE_FETCH__LICENSES", "MIT")
    with pytest.raises(UsageError, match=r"fetch.*JSON"):
        load_settings()


def fields(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str]]:
    found = []
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found += fields(annotation, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", field.description or ""))
    return found


@pytest.mark.parametrize(("name", "description"), fields(Settings))
def test_every_setting_is_documented(name: str, description: str) -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert description, f"{name} has no text beneath it"
    row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` |")), "")
    assert " ".join(description.split()) in row, f"docs/settings.md does not say what {name} is"


def test_the_page_names_no_setting_that_is_gone() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    named = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert named == {name for name, _ in fields(Settings)}
