"""Whether accepted tasks are what they say: `taskforge verify --repeat 5` on tasks drawn at random.

    python benchmarks/validity.py --corpus DIR [--count 100] [--repeat 5] [--seed 0]

No verdict may flip, the gold patch must resolve every task each time and the empty patch none. Where no
corpus is named and ./corpus is none, tasks are made first: those of `make demo`, with `--quick` a few of a
fixture repository.
"""

import random
import sys
import time
from pathlib import Path

from harness import DEMO, FIXTURE, at_least, at_most, folder, lines_of, parser, report, taskforge

from taskforge.store import Corpus

DEMO_SIZE = ("--per-repo", "8", "--limit", "28")


def main() -> int:
    """Run it; return the exit code."""
    options = parser(__doc__ or "")
    options.add_argument("--corpus", type=Path, help="corpus whose tasks are checked (default: ./corpus)")
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    count, repeat = (3, 2) if given.quick else (given.count, given.repeat)
    named = given.corpus
    if named is None and not given.quick and (Path("corpus") / "corpus.sqlite").is_file():
        named = Path("corpus")
    with folder(named) as corpus:
        if named is None:
            made = [str(FIXTURE), "--per-repo", "3"] if given.quick else ["--sources", str(DEMO), *DEMO_SIZE]
            taskforge("generate", *made, "--corpus", str(corpus), "--json")
        with Corpus.open(corpus) as opened:
            ids = [row.id for row in opened.tasks()]
        drawn = sorted(random.Random(given.seed).sample(ids, min(count, len(ids))))
        started = time.monotonic()
        printed = taskforge(
            "verify", *drawn, "--repeat", str(repeat), "--corpus", str(corpus), "--json", accept=(0, 1, 4)
        )
        wall_s = time.monotonic() - started
    checked = [line for line in lines_of(printed) if line["event"] == "task"]
    checks = sum(each["checks"] for each in checked)
    flipped = [each for each in checked if each["verdict"] == "flipped"]
    unchecked = [each for each in checked if each["verdict"] == "unchecked"]
    gold = sum(each["gold_resolved"] for each in checked)
    empty = sum(each["empty_resolved"] for each in checked)
    figures = {
        "tasks": len(checked),
        "repeat": repeat,
        "checks": checks,
        "flipped": [{"slug": each["slug"], "flips": each["flips"][:5]} for each in flipped],
        "unchecked": [{"slug": each["slug"], "faults": each["faults"][:5]} for each in unchecked],
        "gold_resolved": gold,
        "empty_resolved": empty,
        "wall_s": round(wall_s, 1),
    }
    targets = [
        at_least("tasks checked", len(checked), min(count, len(ids))),
        at_most("tasks that flipped", len(flipped), 0),
        at_most("tasks that could not be checked", len(unchecked), 0),
        at_least("share resolved by gold", gold / checks if checks else 0.0, 1),
        at_most("share resolved by the empty patch", empty / checks if checks else 1.0, 0),
    ]
    if not given.json:
        for each in [*flipped, *unchecked]:
            print(
                f"{each['verdict']}: {each['slug']}: {'; '.join([*each['flips'][:3], *each['faults'][:3]])}"
            )
    return report("validity", figures, targets, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
