"""Reads what the guest wrote on the channel and makes suite runs of it.

Everything on the channel may have been touched by foreign code: what cannot be read is ignored, and a session
without its end record was cut off.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskforge.domain.sandbox import Ending
from taskforge.domain.testrun import SuiteRun, TestOutcome, TestResult
from taskforge.testing.linemap import LineRecords

CONFTEST = re.compile(r"ImportError while loading conftest '([^']+)'")
ENDINGS = {
    "wall": Ending.WALL_LIMIT,
    "quiet": Ending.WALL_LIMIT,
    "output": Ending.OUTPUT_LIMIT,
    "disk": Ending.DISK_LIMIT,
    "processes": Ending.PROCESS_LIMIT,
}
SIGXCPU = 24


@dataclass(slots=True)
class SessionTranscript:
    """Frames of one variant."""

    records: list[bytes] = field(default_factory=list)
    end: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Transcript:
    """All frames of a batch."""

    hello: Mapping[str, Any] | None = None
    sessions: dict[int, SessionTranscript] = field(default_factory=dict)
    dirty: bool = False
    bytecode: bytes = b""
    """What the batch compiled, as JSON."""
    broken: str = ""
    """Traceback of a fault in the driver itself."""


def read_channel(data: bytes) -> Transcript:
    """Parse the frames; a frame cut off at the end is used as far as it goes."""
    transcript = Transcript()
    at = 0
    while (stop := data.find(b"\n", at)) >= 0:
        head = data[at:stop].split(b" ")
        if len(head) != 3 or not (head[1] + head[2]).isdigit():
            break
        number, length = int(head[1]), int(head[2])
        body = data[stop + 1 : stop + 1 + length]
        at = stop + 1 + length
        session = transcript.sessions.setdefault(number, SessionTranscript()) if head[0] in b"bre" else None
        if session is not None and head[0] == b"r":
            session.records.append(body)
            continue
        if len(body) < length:
            break
        if head[0] == b"h":
            transcript.hello = json.loads(body)
        elif head[0] == b"d":
            transcript.dirty = True
        elif head[0] == b"p":
            transcript.bytecode = body
        elif head[0] == b"x":
            transcript.broken = str(json.loads(body))
        elif session is not None and head[0] == b"e":
            session.end = json.loads(body)
    return transcript


class _Reading:
    """Accumulates the records of one session."""

    def __init__(self) -> None:
        self.collected: dict[str, tuple[str, str]] = {}
        self.order: list[str] = []
        self.results: dict[str, TestResult] = {}
        self.errors: dict[str, str] = {}
        self.repeated: tuple[str, ...] = ()
        self.running = ""
        self.exit_code: int | None = None
        self.modules: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.lines = LineRecords()

    def _name(self, key: int | str) -> str:
        return self.order[key] if isinstance(key, int) else key

    def add(self, record: Any) -> None:
        match record:
            case ["start", int() | str() as key]:
                self.running = self._name(key)
            case ["test", int() | str() as key, str(outcome), str(message), int() | float() as seconds]:
                self.running = ""
                self.results[self._name(key)] = self._worse(
                    self.results.get(self._name(key)), TestResult(TestOutcome(outcome), message, seconds)
                )
            case ["collected", list(rows)]:
                for node_id, path, name in rows:
                    self.collected[node_id] = (path, name)
                    self.order.append(node_id)
            case ["collect_error", str(place), str(message)]:
                self.errors[place] = message
            case ["repeated", list(names)]:
                self.repeated = tuple(names)
            case ["note", str(text)]:
                self.notes.append(text)
            case ["end", int(code), list(modules)]:
                self.exit_code = code
                self.modules = tuple(name for name, _ in modules)
            case list():
                self.lines.add(record)

    @staticmethod
    def _worse(one: TestResult | None, other: TestResult) -> TestResult:
        if one is None or (one.outcome.passes and not other.outcome.passes) or other.outcome.fails:
            return other
        return one


def suite_run(session: SessionTranscript, *, ending: Ending, coverage: bool) -> SuiteRun:
    """Return the run that the frames of a session tell of.

    `ending` says why the sandbox stopped, for a session that the driver did not see end.
    """
    reading = _Reading()
    for line in b"".join(session.records).split(b"\n"):
        try:
            if line:
                reading.add(json.loads(line))
        except (ValueError, TypeError, IndexError, KeyError):
            continue
    end = session.end or {}
    output = str(end.get("output", "")) + "".join(f"\n[{note}]" for note in reading.notes)
    if session.end is not None:
        ending = ENDINGS.get(end.get("ending", ""), Ending.EXITED)
        if end.get("signal") == SIGXCPU:
            ending = Ending.CPU_LIMIT
    if ending is Ending.WALL_LIMIT and reading.running:
        reading.results[reading.running] = TestResult(TestOutcome.TIMEOUT, "killed: the test does not end")
    exit_code = reading.exit_code if ending is Ending.EXITED and session.end is not None else None
    if exit_code == 4 and not reading.order:
        for path in CONFTEST.findall(output):
            reading.errors.setdefault(path, output[-2000:])
    return SuiteRun(
        ending=ending,
        exit_code=exit_code,
        results=reading.results,
        collect_errors=reading.errors,
        cpu_s=float(end.get("cpu_s", 0.0)),
        wall_s=float(end.get("wall_s", 0.0)),
        output=output,
        coverage=reading.lines.coverage(reading.order) if coverage else None,
        duplicates=reading.repeated,
        collected=reading.collected,
        stopped_in=reading.running,
        modules=reading.modules,
    )
