"""How many tasks of which kind `taskforge generate` makes of a list of sources, at what yield and cost.

    python benchmarks/generation.py [--sources FILE.toml] [--corpus DIR] [--per-repo N] [--workers N]

Without a list, the command of `make demo` is run and its targets count (`--targets demo`); with another list
those of the development corpus of a dozen repositories (`--targets corpus`).
"""

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import (
    DEMO,
    FIXTURE,
    Target,
    at_least,
    at_most,
    folder,
    lines_of,
    marginal_bytes,
    parser,
    report,
    taskforge,
)

STAGES = {"fetch", "environment", "baseline", "discover"}


def main() -> int:
    """Run it; return the exit code."""
    options = parser(__doc__ or "")
    options.add_argument("--sources", type=Path, help="list of sources (default: demo/sources.toml)")
    options.add_argument("--corpus", type=Path, help="corpus to make or go on with (default: temporary)")
    options.add_argument("--per-repo", type=int)
    options.add_argument("--limit", type=int)
    options.add_argument("--workers", type=int)
    options.add_argument("--seed", type=int)
    options.add_argument("--targets", choices=["demo", "corpus", "none"])
    given = options.parse_args()
    arguments = ["generate", "--json"]
    targets = given.targets
    if given.quick:
        arguments += [str(FIXTURE), "--per-repo", "6"]
        targets = targets or "none"
    else:
        arguments += ["--sources", str(given.sources or DEMO)]
        targets = targets or ("corpus" if given.sources else "demo")
        if given.sources is None:  # as `make demo` does
            given.per_repo, given.limit = given.per_repo or 8, given.limit or 28
    for name in ("per_repo", "limit", "workers", "seed"):
        value = getattr(given, name)
        if value is not None and not (given.quick and name == "per_repo"):
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    with folder(given.corpus) as corpus:
        started = time.monotonic()
        events = lines_of(taskforge(*arguments, "--corpus", str(corpus), accept=(0, 6)))
        wall_s = time.monotonic() - started
        rows = json.loads(taskforge("tasks", "list", "--corpus", str(corpus), "--json"))
        size = marginal_bytes(corpus)
    summary = events[-1]
    stages = _stage_costs(events)
    repositories = {
        name: _repository(figures, [row for row in rows if row["repository"] == name], stages.get(name, {}))
        for name, figures in summary["per_repository"].items()
    }
    figures = {
        "repositories": repositories,
        "total": _total(summary, rows, wall_s, size),
        "skipped": summary["skipped"],
        "owed": summary["owed"],
    }
    if not given.json:
        _print(repositories, figures)
    return report("generation", figures, _targets(targets, repositories, figures), as_json=given.json)


def _stage_costs(events: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return CPU seconds by repository and stage."""
    costs: dict[str, Counter[str]] = {}
    for event in events:
        if event["event"] == "stage":
            costs.setdefault(event["repository"], Counter())[event["stage"]] += event["cpu_s"]
    return {name: {stage: round(cpu, 2) for stage, cpu in found.items()} for name, found in costs.items()}


def _repository(
    figures: dict[str, Any], rows: Sequence[dict[str, Any]], stages: dict[str, float]
) -> dict[str, Any]:
    accepted, suite = figures["accepted"], figures["suite_cpu_s"]
    return {
        "tasks": accepted,
        "candidates": figures["candidates"],
        "tried": figures["tried"],
        "yield": round(accepted / figures["tried"], 4) if figures["tried"] else None,
        "tiers": {str(tier): count for tier, count in sorted(Counter(row["tier"] for row in rows).items())},
        "multi_file": sum(row["files"] >= 2 for row in rows),
        "median_removed_lines": statistics.median(row["removed_lines"] for row in rows) if rows else None,
        "suite_cpu_s": suite,
        "cpu_s": figures["cpu_s"],
        "cpu_ratio": round(figures["cpu_s"] / accepted / suite, 3) if accepted and suite else None,
        "stage_cpu_s": stages,
        "skipped": figures["skipped"],
    }


def _total(
    summary: dict[str, Any], rows: Sequence[dict[str, Any]], wall_s: float, size: float
) -> dict[str, Any]:
    tiers = Counter(row["tier"] for row in rows)
    return {
        "tasks": len(rows),
        "tried": summary["tried"],
        "yield": round(summary["accepted"] / summary["tried"], 4) if summary["tried"] else 0.0,
        "tiers": {str(tier): count for tier, count in sorted(tiers.items())},
        "tier_1_share": round(tiers[1] / len(rows), 4) if rows else 0.0,
        "tier_3_or_higher": sum(count for tier, count in tiers.items() if tier >= 3),
        "multi_file": sum(row["files"] >= 2 for row in rows),
        "modes": dict(sorted(Counter(row["mode"] for row in rows).items())),
        "kinds": dict(sorted(Counter(row["kind"] for row in rows).items())),
        "median_removed_lines": statistics.median(row["removed_lines"] for row in rows) if rows else 0,
        "cpu_s": summary["cpu_s"],
        "wall_s": round(wall_s, 1),
        "marginal_bytes_a_task": round(size),
    }


def _targets(kind: str, repositories: dict[str, Any], figures: dict[str, Any]) -> list[Target]:
    total = figures["total"]
    giving = sum(each["tasks"] > 0 for each in repositories.values())
    common = [
        at_least("yield", total["yield"], 0.75),
        at_least("median removed lines", total["median_removed_lines"], 15),
        at_most("share of tier 1", total["tier_1_share"], 0.25),
        at_most("marginal bytes a task", total["marginal_bytes_a_task"], 100_000),
        *_cost_targets(repositories),
    ]
    if kind == "demo":
        return [
            at_least("tasks", total["tasks"], 20),
            at_least("tiers from 1 to 4", len(set(total["tiers"]) & set("1234")), 4),
            at_least("repositories that give tasks", giving, 3),
            at_most("wall seconds", total["wall_s"], 600),
            *common,
        ]
    if kind == "corpus":
        measured = sum(each["suite_cpu_s"] > 0 for each in repositories.values())
        return [
            at_least("repositories with a baseline", measured, len(repositories)),
            at_least("repositories that give tasks", giving, min(10, len(repositories))),
            at_least("tasks", total["tasks"], 400),
            at_least("tasks of tier 3 or higher", total["tier_3_or_higher"], 60),
            at_least("tasks over two or more files", total["multi_file"], 20),
            *common,
        ]
    return common


def _cost_targets(repositories: dict[str, Any]) -> list[Target]:
    found = []
    for name, each in repositories.items():
        if each["cpu_ratio"] is not None and each["suite_cpu_s"] >= 3:
            bound = 1.6 if each["suite_cpu_s"] >= 10 else 2.5
            found.append(at_most(f"CPU of a task in suite runs, {name}", each["cpu_ratio"], bound))
    return found


def _print(repositories: dict[str, Any], figures: dict[str, Any]) -> None:
    heads = ("tasks", "tried", "yield", "multi", "lines", " suite", "ratio")
    print(f"{'repository':20}" + "".join(f"{head:>7}" for head in heads) + "  tiers")
    for name, each in repositories.items():
        shares = f"{each['yield']:.0%}" if each["yield"] is not None else "-"
        ratio = f"{each['cpu_ratio']:.2f}" if each["cpu_ratio"] is not None else "-"
        lines = f"{each['median_removed_lines']:g}" if each["median_removed_lines"] is not None else "-"
        tiers = " ".join(f"{tier}:{count}" for tier, count in each["tiers"].items())
        print(
            f"{name[:20]:20}{each['tasks']:>7}{each['tried']:>7}{shares:>7}{each['multi_file']:>7}"
            f"{lines:>7}{each['suite_cpu_s']:>6.1f}s{ratio:>7}  {tiers}"
        )
        skipped = ", ".join(f"{count} {reason}" for reason, count in each["skipped"].items())
        if skipped:
            print(f"{'':20}skipped: {skipped}")
    print(json.dumps(figures["total"]))
    if figures["owed"]:
        print(f"still owed: {', '.join(figures['owed'])}")


if __name__ == "__main__":
    sys.exit(main())
