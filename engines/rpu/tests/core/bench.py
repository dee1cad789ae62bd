# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Builds the compiled bench (core_bench.sv, bench.cpp) once per content and runs programs on it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(ROOT / "python"))

from penstock.hdl import VERILATOR_ROOT, filelist  # noqa: E402


@cache
def build() -> Path:
    """The bench's executable; compiled when a source has changed."""
    sources = [*filelist("engines/rpu/rtl/core/core.f"), HERE / "core_bench.sv", HERE / "bench.cpp"]
    key = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()[:16]
    folder = ROOT / "build" / "core_bench" / key
    executable = folder / "core_bench"
    folder.mkdir(parents=True, exist_ok=True)
    # If another process is building the bench, wait for it.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if executable.exists():
            return executable
        done = subprocess.run(
            [
                str(VERILATOR_ROOT / "bin" / "verilator_bin"),
                *("--cc", "--exe", "--build", "-O3", "--assert", "--x-initial", "unique", "-Wno-fatal"),
                *("-CFLAGS", "-O2 -std=c++20", "--top-module", "core_bench"),
                *("--Mdir", str(folder), "-o", "core_bench"),
                *map(str, sources),
            ],
            check=False,
            env={**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT), "MAKEFLAGS": "CFG_CXXFLAGS_PCH_I=-include"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise AssertionError(f"the bench does not compile:\n{done.stdout[-4000:]}")
    return executable


@dataclass(frozen=True)
class Record:
    """One event of the RTL's trace; `store` is (address, bytes)."""

    kind: int
    pc: int
    rd: int
    value: int
    store: tuple[int, bytes] | None
    cycle: int


@dataclass(frozen=True)
class Job:
    """A program for the bench. `stall` and `irq` are chances per cycle in 1/1000; `memory` is the initial data memory.

    `halt` is the chance that a debugger halts the core, and `inject` has it put instructions into the program
    (bench.cpp).
    """

    program: list[int]
    memory: bytes = b""
    seed: int = 0
    stall: int = 0
    irq: int = 0
    halt: int = 0
    inject: bool = False
    cycles: int = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """The RTL's run: the cycles until the program ended, its trace, data memory at the end, and how often it halted."""

    cycles: int
    trace: list[Record]
    memory: bytes
    halts: int


def _records(raw: bytes) -> list[Record]:
    records = []
    for kind, pc, rd, value, be, addr, wdata, cycle in struct.iter_unpack("<8I", raw):
        store = None
        if be:
            first = (be & -be).bit_length() - 1
            store = (addr & ~3) + first, wdata.to_bytes(4, "little")[first : be.bit_length()]
            if addr & 3 != first or be >> first not in (1, 3, 15):
                raise AssertionError(f"byte enables {be:04b} do not fit address {addr:#x}")
        records.append(Record(kind, pc, rd, value, store, cycle))
    return records


def run(jobs: list[Job], folder: Path, may_time_out: bool = False) -> list[Outcome]:
    """Runs the jobs, one after the other in one process; `folder` takes the images and traces.

    Raises if a program has not ended after its cycles, unless `may_time_out`.
    """
    lines = []
    for n, job in enumerate(jobs):
        (folder / f"{n}.text").write_bytes(b"".join(word.to_bytes(4, "little") for word in job.program))
        (folder / f"{n}.data").write_bytes(job.memory or bytes(4))
        files = [folder / f"{n}.text", folder / f"{n}.data"]
        out = [folder / f"{n}.trace", folder / f"{n}.memory"]
        lines.append(
            " ".join(map(str, [*files, job.seed, job.stall, job.irq, job.halt, int(job.inject), job.cycles, *out]))
        )
    done = subprocess.run(
        [str(build())], input="\n".join(lines), capture_output=True, text=True, check=False, timeout=1800
    )
    answers = done.stdout.split("\n")[:-1]
    if done.returncode or len(answers) != len(jobs):
        raise AssertionError(f"bench failed after {len(answers)} programs: {done.stdout[-500:]} {done.stderr[-2000:]}")
    outcomes = []
    for n, answer in enumerate(answers):
        status, figure, *rest = answer.split()
        if status == "debugger:":
            raise AssertionError(f"program {n} (seed {jobs[n].seed}): {answer}")
        if status != "ok" and not may_time_out:
            raise AssertionError(f"program {n} (seed {jobs[n].seed}) has not ended: pc {figure}")
        trace = _records((folder / f"{n}.trace").read_bytes())
        outcomes.append(
            Outcome(
                int(figure) if status == "ok" else jobs[n].cycles,
                trace,
                (folder / f"{n}.memory").read_bytes(),
                int(rest[0]) if status == "ok" else 0,
            )
        )
        for suffix in ("text", "data", "trace", "memory"):
            (folder / f"{n}.{suffix}").unlink()
    return outcomes
