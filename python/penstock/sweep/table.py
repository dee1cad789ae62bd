# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The table of a sweep: a row for each run."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from penstock.sweep.work import Done

# Columns behind those of the parameters.
RESULTS = (
    "frames_in",
    "frames_out",
    "dropped",
    "mpps",
    "gbps",
    "seconds",
    "cycles",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_max_ns",
    "frames",
    "error",
)


def rows(done: Iterable[Done]) -> list[dict[str, Any]]:
    """A row for each run, in the order of the jobs; None where a run has no such figure."""
    ordered = sorted(done, key=lambda one: one.job.number)
    keys = list(dict.fromkeys(key for one in ordered for key in one.job.parameters))
    return [
        {"run": one.job.number, **{key: one.job.parameters.get(key) for key in keys}, **_figures(one)}
        for one in ordered
    ]


def _figures(done: Done) -> dict[str, Any]:
    result = done.result
    latency = result.get("latency_ns") or {}
    figures = {
        "frames_in": result.get("frames_in"),
        "frames_out": sum(result["frames_out"].values()) if "frames_out" in result else None,
        "dropped": sum(result["drops"].values()) if "drops" in result else None,
        **{key: result.get(key) for key in ("mpps", "gbps", "seconds", "cycles")},
        **{f"latency_{key}_ns": latency.get(key) for key in ("p50", "p99", "max")},
        "frames": done.frames or None,
        "error": done.error or None,
    }
    return {key: figures[key] for key in RESULTS}


def write_csv(path: Path, table: list[dict[str, Any]]) -> None:
    """Writes the rows as CSV; a figure that a run does not have is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]) if table else ["run"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def write_parquet(path: Path, table: list[dict[str, Any]]) -> None:
    """Writes the rows as Parquet.

    Raises ImportError without pyarrow.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(table), path)
