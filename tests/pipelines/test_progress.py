import io
import json
from collections import Counter

import pytest
from rich.console import Console

from pipelines.progress import (
    Funnel,
    RunStarted,
    StageEnded,
    TaskAccepted,
    duration,
    event_line,
    event_record,
    funnel_line,
)
from pipelines.table import live_table, render

FUNNEL = Funnel(
    repositories=3,
    fetched=3,
    environments=2,
    baselines=2,
    candidates=40,
    tried=10,
    removed=9,
    verified=8,
    accepted=8,
    planned=20,
    skipped=Counter({"weak_tests": 2, "no_tests": 1}),
    busy=("toolz: pkg/mod.py::f",),
    elapsed_s=60.0,
    tried_now=5,
)
ACCEPTED = TaskAccepted("ab" * 32, "toolz-mod-f-abab", "toolz", 3, 2, "delete", "function", 17, 1)


def test_events_are_json_with_their_name() -> None:
    assert json.loads(json.dumps(event_record(ACCEPTED)))["event"] == "task"
    assert event_record(RunStarted("c", 1, 2, "namespaces", 0))["workers"] == 2
    skipped = StageEnded("environment", "x", "x", "skipped", "no_interpreter", "needs 2.7")
    assert event_record(skipped)["reason"] == "no_interpreter"


def test_lines_say_what_happened() -> None:
    assert "accepted toolz-mod-f-abab" in event_line(ACCEPTED)
    skipped = StageEnded("verify", "toolz", "mod.py::f", "skipped", "weak_tests", "2 of 5 stubs pass")
    assert event_line(skipped) == "toolz: verify mod.py::f: skipped weak_tests: 2 of 5 stubs pass"
    assert event_line(StageEnded("fetch", "toolz", "pypi:toolz", "done", wall_s=1.25)).endswith("[1.2 s]")


def test_time_left_follows_from_the_rate_of_this_run() -> None:
    assert FUNNEL.left_s == pytest.approx(12 * 10 / 8 * 60 / 5)
    assert Funnel().left_s is None
    assert "about 3 min left" in funnel_line(FUNNEL)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89, "89 s"), (150, "2 min"), (3900, "1 h 05 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_table_shows_the_funnel() -> None:
    console = Console(file=io.StringIO(), width=160, force_terminal=True, color_system=None)
    console.print(render(FUNNEL))
    with live_table(console) as listener:
        listener.event(ACCEPTED)
        listener.funnel(FUNNEL)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for text in ("8/20", "weak_tests", "80 % of tried accepted", "5.0 candidates a minute", "pkg/mod.py::f"):
        assert text in shown
    assert "accepted toolz-mod-f-abab" in shown
