# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock sweep`, behind its command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from penstock.sweep.plan import Job, PlanError, read
from penstock.sweep.pool import Pool
from penstock.sweep.table import rows, write_csv, write_parquet
from penstock.sweep.work import BINARY, Done, model, models


def main() -> int:
    parser = argparse.ArgumentParser(prog="penstock sweep", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--parquet", type=Path)
    parser.add_argument("--ray")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    try:
        jobs = read(args.file)
        args.out.mkdir(parents=True, exist_ok=True)
        table = args.out / "table.csv"
        table.touch()
        if args.parquet:
            _need("pyarrow", "--parquet")
            args.parquet.touch()
        carried = _cluster(args.ray, jobs, args.out) if args.ray else _pool(args.jobs, jobs, args.out)
    except (PlanError, Wrong) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    done: list[Done] = []
    stopped = False
    try:
        for one in carried:
            done.append(one)
            if not args.quiet or one.error:
                print(_line(one, len(done), len(jobs)), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        stopped = True
    finally:
        found = rows(done)
        write_csv(table, found)
        if args.parquet:
            write_parquet(args.parquet, found)
    failed = sum(bool(one.error) for one in done)
    if not args.quiet:
        print(f"{len(done)} of {len(jobs)} runs, {failed} with errors: {table}")
    return 130 if stopped else int(failed > 0)


class Wrong(Exception):
    """What is wrong with the options or what they need."""


def _need(package: str, option: str) -> None:
    try:
        __import__(package)
    except ImportError:
        raise Wrong(f"{option} needs {package}: {Path(sys.executable).parent}/pip install {package}") from None


def _pool(count: int | None, jobs: list[Job], out: Path) -> Iterator[Done]:
    # Models are built one after the other: each build takes all processors.
    for options in models(jobs):
        try:
            model(list(options))
        except RuntimeError:
            # The runs that need it say why.
            continue
    return Pool(count).carry(jobs, out)


def _cluster(address: str, jobs: list[Job], out: Path) -> Iterator[Done]:
    _need("ray", "--ray")
    from penstock.sweep.cluster import Cluster

    try:
        return Cluster(address).carry(jobs, out)
    except (ConnectionError, ValueError) as error:
        raise Wrong(f"--ray {address}: {error}") from error


def _line(done: Done, count: int, total: int) -> str:
    what = ", ".join(f"{key} {value}" for key, value in done.job.parameters.items())
    came = done.error or f"{sum(done.result.get('frames_out', {}).values()):,} frames out"
    return f"{count}/{total}  {what}: {came}"


def _fail(text: str) -> int:
    print(f"error: {text}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    if not BINARY.exists():
        sys.exit(_fail(f"{BINARY}: there is no such program; call ./penstock, which builds it"))
    sys.exit(main())
