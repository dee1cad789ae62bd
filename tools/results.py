# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the measured column of README.md and docs/benchmarks.md from bench/results/*.json
(`penstock bench NAME --save`).

Usage: python tools/results.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Programs of xdp-rate in the README: the shortest, two with lookups, and the one that is closest to the paper's.
XDP_SHOWN = ("drop", "xdp1", "simple_firewall", "router_ipv4")
RESULTS = ROOT / "bench" / "results"
# Benches whose figures are saved.
BENCHES = sorted(path.stem for path in RESULTS.glob("*.json"))
BEGIN, END = "<!-- results -->", "<!-- /results -->"

Row = dict[str, Any]


def load(name: str) -> list[Row]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def pick(rows: Iterable[Row], metric: str, **case: object) -> float | None:
    """The one value of a metric whose case has these parameters."""
    found = [r["value"] for r in rows if r["metric"] == metric and all(r["case"].get(k) == v for k, v in case.items())]
    return found[0] if len(found) == 1 else None


def text(value: float | None, form: str) -> str:
    return "not measured yet" if value is None else form.format(value)


def smallest_full(rows: list[Row], **case: object) -> str:
    """The smallest size from which on every measured size reaches 200 Gb/s within half a percent."""
    shares = sorted(
        (r["case"]["size"], r["value"]) for r in rows if r["metric"] == "share" and case.items() <= r["case"].items()
    )
    best = None
    for size, share in reversed(shares):
        if share < 0.995:
            break
        best = size
    return "not measured yet" if not shares else f"{best} B" if best else "none"


def readme_rows() -> list[str]:
    results = {name: load(name) for name in BENCHES}
    forward, latency, firewall = (results[f"rpu-{name}"] for name in ("forward", "latency", "firewall"))
    messages, generate, reload = (results[f"rpu-{name}"] for name in ("messages", "generate", "reload"))
    speed, synth, xdp = results["sim-speed"], results["synth"], results["xdp-rate"]
    flow, table, element = (results[f"flow-{name}"] for name in ("rate", "table", "latency"))
    unit = [pick(synth, metric, block="unit") for metric in ("lut", "ff", "bram", "uram")]
    ratios = [
        (r["value"], r["case"]["block"])
        for r in synth
        if r["metric"] == "fmax_ratio" and r["value"] is not None and r["case"]["block"] != "card"
    ]
    slowest = min(ratios) if ratios else None
    area = (
        " / ".join(number(v) for v in unit if v is not None) if all(v is not None for v in unit) else "not measured yet"
    )
    rows = [
        (
            "Forwarding, 64 B frames, 16 units, 2 ports",
            text(pick(forward, "mpps", size=64, units=16, ports=2), "{:.1f} Mpps"),
            "250 Mpps",
            "bench rpu-forward",
        ),
        (
            "Forwarding, 64 B frames, 8 units, 2 ports",
            text(pick(forward, "mpps", size=64, units=8, ports=2), "{:.1f} Mpps"),
            "125 Mpps",
            "bench rpu-forward",
        ),
        (
            "Forwarding, 65 B frames, 16 units, 2 ports",
            text(pick(forward, "mpps", size=65, units=16, ports=2), "{:.1f} Mpps"),
            "250 Mpps",
            "bench rpu-forward",
        ),
        (
            "200 Gb/s from, forwarding, 16 units",
            smallest_full(forward, units=16, ports=2),
            "128 B",
            "bench rpu-forward",
        ),
        (
            "Latency of a 64 B frame",
            text(pick(latency, "latency_ns", size=64), "{:.0f} ns"),
            "807 ns (its Equation 1)",
            "bench rpu-latency",
        ),
        (
            "Firewall, 64 B frames",
            text(pick(firewall, "mpps", size=64, firmware="firewall"), "{:.1f} Mpps"),
            "not published",
            "bench rpu-firewall",
        ),
        ("200 Gb/s from, firewall", smallest_full(firewall, firmware="firewall"), "256 B", "bench rpu-firewall"),
        (
            "200 Gb/s from, firewall through Rosebud's interface",
            smallest_full(firewall, firmware="firewall_compat"),
            "256 B",
            "bench rpu-firewall",
        ),
        (
            "From unit to unit over loopback, 64 B frames",
            text(pick(messages, "mpps", size=64), "{:.1f} Mpps"),
            "85.2 Mpps",
            "bench rpu-messages",
        ),
        (
            "Frames that 16 units make themselves, 64 B, 2 ports",
            text(pick(generate, "mpps", size=64, units=16), "{:.1f} Mpps"),
            "250 Mpps",
            "bench rpu-generate",
        ),
        (
            "A broadcast word to all units, longest, few / as many as can be",
            " / ".join(text(pick(messages, "longest_ns", broadcast=how), "{:.0f} ns") for how in ("sparse", "flood")),
            "92 / 1,680 ns",
            "bench rpu-messages",
        ),
        (
            "A unit without frames while it is loaded anew, forwarder / firewall with its table; frames dropped, all units in turn, line rate, round robin",
            " / ".join(text(pick(reload, "reload_us", size=size), "{:,.0f} µs") for size in (64, 128))
            + "; "
            + " / ".join(text(pick(reload, "dropped", size=size), "{:.0f}") for size in (64, 128)),
            "756,000 µs (with new logic)",
            "bench rpu-reload",
        ),
        ("One unit without accelerator, LUT / FF / BRAM / URAM", area, "4,541 / 3,788 / 24 / 32", "synth unit"),
        (
            "Slowest placed block, of the reference core's Fmax; the XDP core's is not known well (STATUS)",
            f"{slowest[0]:.2f} ({slowest[1]})" if slowest else "not measured yet",
            "",
            "synth",
        ),
        (
            "Simulation of the 16-unit card, one core",
            text(pick(speed, "cycles_per_s", units=16), "{:,.0f} cycles/s"),
            "109 cycles/s (measured, not published)",
            "bench sim-speed",
        ),
        *(xdp_row(xdp, program) for program in XDP_SHOWN),
        (
            "Frames dropped before an element of state machines, 40 Gb/s without gaps at 156.25 MHz, the worst of four mixes: one state for each five-tuple / for all",
            " / ".join(
                text(pick(flow, "dropped", key=key, trace="worst", mhz=156.25), "{:.1f} %")
                for key in ("5-tuple", "1-flow")
            ),
            "1.8 % / 10.2 %",
            "bench flow-rate",
        ),
        (
            "Moves for a new flow in a table that is 95 % full, median / most",
            " / ".join(
                text(pick(table, metric, load=95, test="one at a time"), "{:.0f}")
                for metric in ("moves_median", "moves_most")
            ),
            "125 / 300",
            "bench flow-table",
        ),
        (
            "An element of state machines",
            text(pick(element, "element_cycles", elements=1, size=60), "{:.0f} cycles"),
            "8 cycles",
            "bench flow-latency",
        ),
    ]
    lines = ["| what | measured | Rosebud, hXDP or FlowBlaze | printed by |", "|---|---|---|---|"]
    return lines + [f"| {what} | {ours} | {theirs} | `./penstock {command}` |" for what, ours, theirs, command in rows]


def xdp_row(rows: list[Row], program: str) -> tuple[str, str, str, str]:
    """The rate of one unit for frames of 64 bytes, beside the paper's core."""
    case = {"program": program, "units": 1, "size": 64}
    paper = [r["paper"] for r in rows if r["metric"] == "mpps_at_156" and case.items() <= r["case"].items()]
    return (
        f"XDP program `{program}`, 64 B frames, one unit, at 250 / at the paper's 156.25 MHz",
        f"{text(pick(rows, 'mpps', **case), '{:.1f}')} / {text(pick(rows, 'mpps_at_156', **case), '{:.1f} Mpps')}",
        f"{paper[0]:.1f} Mpps (at 156.25 MHz)" if paper else "",
        "bench xdp-rate",
    )


def number(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def benchmark_tables() -> list[str]:
    lines = []
    for name in BENCHES:
        rows = load(name)
        if not rows:
            continue
        peers = sorted({row["peer"] for row in rows if "peer" in row})
        beside = "measured beside it" if peers else "paper"
        lines += [f"## {name}", "", *(f"Beside ours, {peer}.\n" for peer in peers)]
        lines += rates_by_clock(rows) if name == "flow-rate" else one_by_one(rows, beside)
        lines.append("")
    return lines


def one_by_one(rows: list[Row], beside: str) -> list[str]:
    lines = [f"| case | metric | ours | {beside} | goal |", "|---|---|---|---|---|"]
    for row in rows:
        case = ", ".join(f"{k} {v}" for k, v in row["case"].items())
        unit = f" ({row['unit']})" if row["unit"] else ""
        lines.append(
            f"| {case} | {row['metric']}{unit} | {number(row['value'])} | {number(row['paper'])} | {number(row['goal'])} |"
        )
    return lines


def rates_by_clock(rows: list[Row]) -> list[str]:
    """flow-rate has some hundred cases: the drops and the latency, a column for each rate and clock."""
    at = sorted({(row["case"]["gbps"], row["case"]["mhz"]) for row in rows})
    cases = list(dict.fromkeys(tuple(row["case"][name] for name in ("key", "sizes", "trace")) for row in rows))
    lines = [
        "In each cell: frames that are dropped, in parentheses what the paper's card drops where it says so; time that 99 % of the frames do not exceed. "
        "0 % is none in front of the element, and less than 0.3 % that have come and not left. Tables begin empty.",
        "",
        f"| flows | sizes | trace | {' | '.join(f'{number(gbps)} Gb/s, {number(mhz)} MHz' for gbps, mhz in at)} |",
        "|---" * (3 + len(at)) + "|",
    ]
    for key, sizes, trace in cases:
        cells = []
        for gbps, mhz in at:
            case = {"key": key, "sizes": sizes, "trace": trace, "gbps": gbps, "mhz": mhz}
            found = {row["metric"]: row for row in rows if row["case"] == case}
            cell = ""
            if dropped := found.get("dropped"):
                paper = "" if dropped["paper"] is None else f" ({number(dropped['paper'])} %)"
                cell = f"{number(dropped['value'])} %{paper}"
            if latency := found.get("latency_p99_ns"):
                cell += f", {latency['value']:,.0f} ns"
            cells.append(cell)
        lines.append(f"| {key} | {sizes} | {trace} | {' | '.join(cells)} |")
    return lines


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
