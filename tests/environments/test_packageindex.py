from pathlib import Path

from taskforge.environments.packageindex import index_settings


def settings(home: Path, environ: dict[str, str], conf: str = "") -> tuple[dict[str, str], tuple[Path, ...]]:
    (home / "pip.conf").write_text(conf)
    found = index_settings(
        {"PIP_CONFIG_FILE": str(home / "pip.conf"), "XDG_CONFIG_DIRS": "/none", **environ}, home
    )
    return dict(found.env), found.mounts


def test_pip_configuration_is_translated(tmp_path: Path) -> None:
    for folder in ("wheels", "mirror/simple"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "limits.txt").write_text("x<2\n")
    env, mounts = settings(
        tmp_path,
        {"PIP_FIND_LINKS": str(tmp_path / "wheels"), "HTTPS_PROXY": "http://proxy.invalid:1"},
        f"[global]\nindex-url = https://mirror.invalid/simple\nconstraint = {tmp_path}/limits.txt\n"
        f"[install]\nextra-index-url =\n  https://b.invalid/simple\n  file://{tmp_path}/mirror/simple\n",
    )
    assert env["UV_DEFAULT_INDEX"] == "https://mirror.invalid/simple"
    assert env["UV_INDEX"] == f"https://b.invalid/simple file://{tmp_path}/mirror/simple"
    assert env["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert env["UV_FIND_LINKS"] == str(tmp_path / "wheels")
    assert env["UV_CONSTRAINT"] == env["UV_BUILD_CONSTRAINT"] == str(tmp_path / "limits.txt")
    assert env["HTTPS_PROXY"] == "http://proxy.invalid:1"
    assert set(mounts) >= {tmp_path / "wheels", tmp_path / "mirror", tmp_path / "limits.txt"}


def test_settings_of_uv_win_and_private_ones_stay_out(tmp_path: Path) -> None:
    env, _ = settings(
        tmp_path,
        {
            "UV_DEFAULT_INDEX": "https://u.invalid/simple",
            "UV_CACHE_DIR": "/mine",
            "PIP_INDEX_URL": "https://p.invalid",
        },
    )
    assert env == {"UV_DEFAULT_INDEX": "https://u.invalid/simple"}


def test_configuration_file_of_uv(tmp_path: Path) -> None:
    (tmp_path / ".config/uv").mkdir(parents=True)
    (tmp_path / ".config/uv/uv.toml").write_text("")
    env, mounts = settings(tmp_path, {"PIP_INDEX_URL": "https://p.invalid"})
    assert env == {"UV_CONFIG_FILE": str(tmp_path / ".config/uv/uv.toml")}
    assert tmp_path / ".config/uv/uv.toml" in mounts
