"""Sources are read as users write them, and written so that they are read back."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskforge.domain.errors import UsageError
from taskforge.domain.source import Source, SourceKind
from taskforge.sources import load_sources_file, parse_source
from tests.sources.gitrepos import PACKAGE, GitRepo


def git(location: str, revision: str = "") -> Source:
    return Source(kind=SourceKind.GIT, location=location, revision=revision)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("https://example.org/a/b", git("https://example.org/a/b")),
        ("https://example.org/a/b.git@v1.0", git("https://example.org/a/b.git", "v1.0")),
        ("https://example.org:8443/a/b/@feature/x", git("https://example.org:8443/a/b", "feature/x")),
        ("ssh://git@example.org/a/b", git("ssh://git@example.org/a/b")),
        ("ssh://git@example.org:22/a/b@3fa2", git("ssh://git@example.org:22/a/b", "3fa2")),
        ("git@example.org:a/b.git", git("git@example.org:a/b.git")),
        ("git@example.org:a/b.git@main", git("git@example.org:a/b.git", "main")),
        ("file:///srv/b.git", git("file:///srv/b.git")),
        ("file:///srv/b.git@v1", git("file:///srv/b.git", "v1")),
        ("file://localhost/srv/my%20b", git("file:///srv/my%20b")),
        ("pypi:toolz==1.0.0", Source(kind=SourceKind.SDIST, location="toolz", revision="1.0.0")),
        ("pypi:Ruamel_yaml", Source(kind=SourceKind.SDIST, location="ruamel-yaml")),
        ("/srv/absent", Source(kind=SourceKind.LOCAL, location="/srv/absent")),
    ],
)
def test_forms(text: str, source: Source) -> None:
    assert parse_source(text) == source
    assert parse_source(source.spec) == source


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no source"),
        ("http://example.org/a", "http://"),
        ("ext::sh -c x", "no folder"),
        ("ext://sh", "ext://"),
        ("https://example.org", "no repository"),
        ("https://user:secret@example.org/a", "credentials"),
        ("https://token@example.org/a", "credentials"),
        ("https://example.org/a?x=1", "no \\?"),
        ("https://example.org/a@", "revision"),
        ("https://example.org/a@--upload-pack=x", "revision"),
        ("https://example.org/a@a..b", "revision"),
        ("file://host/a", "this machine"),
        ("pypi:", "no name"),
        ("pypi:a b", "no name"),
        ("pypi:toolz==", "no version"),
        ("pypi:toolz==one", "no version"),
        ("toolz", "pypi:toolz"),
    ],
)
def test_mistakes_are_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as raised:
        parse_source(text)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = GitRepo(tmp_path / "a@b")
    repo.commit(PACKAGE)
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path)
    for text, source in {
        "plain": Source(kind=SourceKind.LOCAL, location=str(tmp_path / "plain")),
        "./plain/../plain": Source(kind=SourceKind.LOCAL, location=str(tmp_path / "plain")),
        "a@b": Source(kind=SourceKind.LOCAL, location=str(tmp_path / "a@b")),
        "a@b@main": git((tmp_path / "a%40b").as_uri().replace("%2540", "%40"), "main"),
        "bare": git((tmp_path / "bare").as_uri()),
        "bare@main": git((tmp_path / "bare").as_uri(), "main"),
        "plain@main": Source(kind=SourceKind.LOCAL, location=str(tmp_path / "plain@main")),
    }.items():
        if text == "plain@main":
            with pytest.raises(UsageError, match="no folder"):
                parse_source(text)
            continue
        assert parse_source(text) == source, text
        assert parse_source(source.spec) == source, text


WORDS = st.text("abcXYZ019-_.", min_size=1, max_size=8).filter(
    lambda word: word.strip(".-_") == word and ".." not in word and not word.endswith((".lock", ".git"))
)
REVISIONS = st.lists(WORDS, min_size=1, max_size=3).map("/".join) | st.just("")
SEGMENTS = st.lists(WORDS, min_size=1, max_size=3).map("/".join)


@given(
    form=st.sampled_from(["https://{}.org/{}", "ssh://git@{}.org/{}", "git@{}.org:{}", "file:///{}/{}"]),
    host=st.text("abc1", min_size=1, max_size=5),
    path=SEGMENTS,
    revision=REVISIONS,
)
@example(form="git@{}.org:{}", host="a", path="b", revision="c/d")
def test_git_sources_survive_the_round_trip(form: str, host: str, path: str, revision: str) -> None:
    source = git(form.format(host, path), revision)
    assert parse_source(source.spec) == source


@given(name=WORDS, version=st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_sdist_sources_survive_the_round_trip(name: str, version: list[int]) -> None:
    source = parse_source(f"pypi:{name}=={'.'.join(map(str, version))}")
    assert parse_source(source.spec) == source


@given(st.text("abc @:/.%~", min_size=1, max_size=12))
def test_whatever_is_read_is_read_back(text: str) -> None:
    try:
        source = parse_source("/" + text)
    except UsageError:
        return
    assert parse_source(source.spec) == source


def test_a_list_of_sources(tmp_path: Path) -> None:
    file = tmp_path / "sources.toml"
    file.write_text(
        f"""
        [[source]]
        name = "Toolz"
        version = "1.0.0"
        sha256 = "{"AB" * 32}"
        note = "for people"

        [[source]]
        name = "attrs"

        [[source]]
        url = "https://example.org/a"
        revision = "v1"

        [[source]]
        url = "git@example.org:a@v2"

        [[source]]
        path = "here"
        """
    )
    assert load_sources_file(file) == [
        Source(kind=SourceKind.SDIST, location="toolz", revision="1.0.0", sha256="ab" * 32),
        Source(kind=SourceKind.SDIST, location="attrs"),
        git("https://example.org/a", "v1"),
        git("git@example.org:a", "v2"),
        Source(kind=SourceKind.LOCAL, location=str(tmp_path / "here")),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[source]]\nnmae = 'x'", "nmae"),
        ("[[source]]\nname = 'a'\n[[source]]\nname = 'b'\nbranch = 'x'", "`branch` in source 2"),
        ("sources = []", "sources"),
        ("", "no \\[\\[source\\]\\]"),
        ("source = []", "no \\[\\[source\\]\\]"),
        ("[[source]]", "exactly one"),
        ("[[source]]\nname = 'a'\nurl = 'https://x.org/a'", "exactly one"),
        ("[[source]]\nurl = 'https://x.org/a'\nsha256 = 'ab'", "`sha256` does not go with `url`"),
        ("[[source]]\nname = 'a'\nsha256 = 'ab'", "source 1: the sha256"),
        ("[[source]]\nname = 'a'\nversion = 1", "version"),
        ("[[source]]\nurl = 'https://x.org/a@b'\nrevision = 'c'", "twice"),
        ("[[source]]\nurl = 'pypi:a'", "not pypi:a"),
        ("[[source", "cannot read"),
    ],
)
def test_mistakes_in_a_list_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "sources.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=complaint) as raised:
        load_sources_file(file)
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)
