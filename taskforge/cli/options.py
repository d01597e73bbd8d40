"""Options that several commands share, and what they open. Light to import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from taskforge.settings import Settings
    from taskforge.store import Corpus

CorpusOption = Annotated[
    Path | None, typer.Option("--corpus", metavar="DIR", help="Corpus folder.", show_default="./corpus")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and errors as JSON on standard error.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file.", show_default="./taskforge.toml"),
]
SandboxOption = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="NAME",
        help="Where foreign code runs: auto, namespaces, process.",
        show_default="auto",
    ),
]


def read_settings(
    corpus: Path | None = None, config: Path | None = None, sandbox: str | None = None
) -> "Settings":
    """Return the settings with what the command line names on top. Raises UsageError for what is wrong."""
    from taskforge.settings import load_settings

    return load_settings(config, {"corpus": corpus, "sandbox": {"backend": sandbox}})


def open_corpus(corpus: Path | None, config: Path | None = None) -> "Corpus":
    """Return the corpus that the command line or the settings name. Raises UsageError when there is none."""
    from taskforge.store import Corpus

    return Corpus.open(read_settings(corpus, config).corpus)
