# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the measured column of README.md and docs/benchmarks.md from bench/results/*.json
(`penstock bench NAME --save`).

Usage: python tools/results.py [--check]

Which figures README.md shows stands in bench/readme.toml for the whole card and in bench/readme.toml of each engine's
folder:

    [[row]]     a row of the table
    what        what is measured
    bench       the bench whose saved figures these are
    command     what prints them, if it is another command than `bench BENCH`
    text        Python's format of the values
    values      what stands in the braces. {metric, case}: the one value of a metric whose case has these parameters.
                {smallest, case}: the smallest size from which on this share is 1. {slowest, without}: the lowest value
                of this metric, and its block, without that one.
    theirs      what was published; braces take the published value beside the last of ours

    [[pivot]]   a bench that docs/benchmarks.md shows as one table of cases by cases
    about       what stands in a cell
    rows        parameters that distinguish rows, with their titles
    columns     parameters that distinguish columns, with their units
    cell        metrics and their formats
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import registry

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
# Benches whose figures are saved.
BENCHES = sorted(path.stem for path in RESULTS.glob("*.json"))
# Where the rows of README.md stand: those of engines in the order of their numbers, then those of the card.
FOLDERS = [*(f"engines/{engine.name}" for engine in registry.read()), "."]
TABLES = [path for folder in FOLDERS if (path := ROOT / folder / "bench/readme.toml").exists()]
BEGIN, END = "<!-- results -->", "<!-- /results -->"

Row = dict[str, Any]


def load(name: str) -> list[Row]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def pick(rows: Iterable[Row], metric: str, which: str = "value", **case: object) -> float | None:
    """The one value of a metric whose case has these parameters; `which`: "value", or "paper" for the published one."""
    found = [r[which] for r in rows if r["metric"] == metric and all(r["case"].get(k) == v for k, v in case.items())]
    return found[0] if len(found) == 1 else None


def smallest_full(rows: Iterable[Row], share: str, **case: object) -> object:
    """The smallest size from which on every measured size reaches 200 Gb/s within half a percent; "more than" the
    largest if that one does not, None if there are no figures.
    """
    shares = sorted(
        (r["case"]["size"], r["value"]) for r in rows if r["metric"] == share and case.items() <= r["case"].items()
    )
    best = None
    for size, value in reversed(shares):
        if value < 0.995:
            break
        best = size
    return best or (f"more than {shares[-1][0]}" if shares else None)


def slowest(rows: Iterable[Row], metric: str, without: str) -> tuple[object, object]:
    """The lowest value of a metric, and the block that has it."""
    values = [(r["value"], r["case"]["block"]) for r in rows if r["metric"] == metric and r["value"] is not None]
    return min((pair for pair in values if pair[1] != without), default=(None, None))


def values(rows: list[Row], wanted: Row) -> list[object]:
    """The figures of one entry of `values`; None where there is none."""
    case = wanted.get("case", {})
    if "smallest" in wanted:
        return [smallest_full(rows, wanted["smallest"], **case)]
    if "slowest" in wanted:
        return list(slowest(rows, wanted["slowest"], wanted["without"]))
    return [pick(rows, wanted["metric"], **case)]


def readme_row(row: Row) -> str:
    saved = load(row["bench"])
    ours = [value for wanted in row["values"] for value in values(saved, wanted)]
    measured = "not measured yet" if None in ours else row["text"].format(*map(plain, ours))
    theirs = row["theirs"]
    if "{" in theirs:
        last = row["values"][-1]
        paper = pick(saved, last["metric"], "paper", **last["case"])
        theirs = "" if paper is None else theirs.format(paper)
    return f"| {row['what']} | {measured} | {theirs} | `./penstock {row.get('command', 'bench ' + row['bench'])}` |"


def plain(value: object) -> object:
    """A number without a fraction as a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def readme_rows() -> list[str]:
    lines = ["| what | measured | published | printed by |", "|---|---|---|---|"]
    return lines + [readme_row(row) for path in TABLES for row in tomllib.loads(path.read_text()).get("row", [])]


def number(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def benchmark_tables() -> list[str]:
    pivots = {pivot["bench"]: pivot for path in TABLES for pivot in tomllib.loads(path.read_text()).get("pivot", [])}
    lines = []
    for name in BENCHES:
        rows = load(name)
        if not rows:
            continue
        peers = sorted({row["peer"] for row in rows if "peer" in row})
        beside = "measured beside it" if peers else "paper"
        lines += [f"## {name}", "", *(f"Beside ours, {peer}.\n" for peer in peers)]
        lines += pivoted(rows, pivots[name]) if name in pivots else one_by_one(rows, beside)
        lines.append("")
    return lines


def one_by_one(rows: list[Row], beside: str) -> list[str]:
    lines = [f"| case | metric | ours | {beside} | goal |", "|---|---|---|---|---|"]
    for row in rows:
        case = ", ".join(f"{k} {v}" for k, v in row["case"].items())
        unit = f" ({row['unit']})" if row["unit"] else ""
        lines.append(
            f"| {case} | {row['metric']}{unit} | {number(row['value'])} | {number(row['paper'])} | "
            f"{number(row['goal'])} |"
        )
    return lines


def pivoted(rows: list[Row], pivot: Row) -> list[str]:
    """A table with a column for each of some parameters' values."""
    by_row, by_column = list(pivot["rows"]), list(pivot["columns"])
    across = sorted({tuple(row["case"][name] for name in by_column) for row in rows})
    down = list(dict.fromkeys(tuple(row["case"][name] for name in by_row) for row in rows))
    units = pivot["columns"].values()
    titles = [", ".join(f"{number(value)} {unit}" for value, unit in zip(at, units, strict=True)) for at in across]
    lines = [
        pivot["about"],
        "",
        f"| {' | '.join([*pivot['rows'].values(), *titles])} |",
        "|---" * (len(by_row) + len(across)) + "|",
    ]
    for case in down:
        wholes = [dict(zip([*by_row, *by_column], [*case, *at], strict=True)) for at in across]
        cells = [cell([row for row in rows if row["case"] == whole], pivot["cell"]) for whole in wholes]
        lines.append(f"| {' | '.join([*map(str, case), *cells])} |")
    return lines


def cell(rows: Iterable[Row], metrics: Iterable[Row]) -> str:
    """The figures of one case, each with the paper's behind it where there is one."""
    found = {row["metric"]: row for row in rows}
    parts = []
    for metric in metrics:
        if row := found.get(metric["metric"]):
            ours, paper = (
                None if value is None else metric["text"].format(number(value) if "{}" in metric["text"] else value)
                for value in (row["value"], row["paper"])
            )
            parts.append(f"{ours}" if paper is None else f"{ours} ({paper})")
    return ", ".join(parts)


def between_markers(path: Path, lines: list[str]) -> str:
    head, rest = path.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    return f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}"


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument(
        "--check", action="store_true", help="write nothing; fail when a file does not show the saved results"
    )
    opts = args.parse_args()
    stale = 0
    for path, lines in ((ROOT / "README.md", readme_rows()), (ROOT / "docs" / "benchmarks.md", benchmark_tables())):
        wanted = between_markers(path, lines)
        if opts.check and wanted != path.read_text():
            print(
                f"{path.relative_to(ROOT)}: does not show bench/results; run python tools/results.py", file=sys.stderr
            )
            stale += 1
        elif not opts.check:
            path.write_text(wanted)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
