# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random P4 programs of several tenants at once on a block in RTL, by the card's driver: frames, colors of meters,
registers, counters and digests are those of plain Python (p4_twins.py). PENSTOCK_SEED sets the first program,
PENSTOCK_RMT_PROGRAMS how many run.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import machine
import p4_twins
from block_bench import Bench
from machine import Result
from p4_case import Case, state_of
from p4_interpreter import SHORTEST, Frame, Interpreter
from p4_random import Writer, moment
from penstock import regs
from penstock.hdl import simulate

SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
TENANTS = 6
MARK = 0x1234_5678
RECORD_CYCLES = 16  # that a record takes, at most
# Most frames of a random program, and words of the memories that frames change.
FRAMES, WORDS = 14, {machine.REGISTER: 1, machine.COUNTER: 4}


def results(python: Interpreter, number: int, frames: list[Frame]) -> list[Result]:
    """What becomes of a frame, with its clones."""
    own = list(frames)
    for clone in python.clones:
        own.remove(clone)
    # The card drops frames that become too short, also in programs that clone.
    found = own_results(python, number, [one for one in own if len(one[1]) >= SHORTEST])
    clones = tuple(int(verdict.removeprefix("port ")) for verdict, frame in python.clones if len(frame) >= SHORTEST)
    if not clones:
        return found
    clone = python.clones[0][1]
    return [replace(one, clones=clones, clone=clone, raw=True, queue=number) for one in found]


def own_results(python: Interpreter, number: int, frames: list[Frame]) -> list[Result]:
    if not frames:
        return [Result("drop", b"", 0, refused=refused) for refused in (False, True)]
    if python.copied:
        ports = tuple(int(verdict.removeprefix("port ")) for verdict, _ in frames)
        return [Result("copies", frames[0][1], MARK, copies=ports, queue=number)]
    ((verdict, frame),) = frames
    kind, _, port = verdict.partition(" ")
    return [Result(kind, frame, MARK, int(port or 0))]


def fitting(twins: p4_twins.Twins, seed: int, stages: int) -> tuple[list[Case], int]:
    """Programs that fit the block together, and the seed behind them. The driver of `twins` has loaded them. The first
    one sends digests.
    """
    names = [f"t{number}" for number in range(1, TENANTS + 1)]
    twins.ask([{"begin": {"stages": stages, "tenants": names}}])
    cases: list[Case] = []
    # A program whose entries do not fit stays in its tenant's place, which ends the search.
    while len(cases) < TENANTS:
        case = Writer(seed, card=True).program()
        seed += 1
        if not cases and "digest" not in p4_twins.externs(case.program):
            continue
        why = p4_twins.refusal(case, twins, names[len(cases)])
        if not why:
            cases.append(case)
        elif "rows" in why:
            break
    return cases, seed


async def load(bench: Bench, rows: list[list[Any]], before: list[list[Any]]) -> None:
    bench.drive("now", moment(0))
    # The driver begins with a block without tenants and ternary rows.
    for memory, stage, row, _ in before:
        if memory in (machine.TENANT, machine.TERNARY):
            bench.write([(memory, stage, row, (0,) * machine.SHAPES[memory][1])])
    # The rows that let frames meet a program come last.
    rows.sort(key=lambda row: row[0] == machine.TENANT)
    bench.write((memory, stage, row, tuple(words[: machine.SHAPES[memory][1]])) for memory, stage, row, words in rows)
    await bench.settle()


async def read_back(bench: Bench, rows: list[list[Any]]) -> list[list[Any]]:
    """The rows that frames may have changed."""
    found: list[list[Any]] = []
    for memory, stage, row, _ in rows:
        if memory in WORDS:
            words = [0] * WORDS[memory]
            found.append([memory, stage, row, words])
            bench.select(memory, stage, row)
            for n in range(len(words)):

                def done(value: int, _: bool, words: list[int] = words, n: int = n) -> None:
                    words[n] = value

                bench.access(False, regs.RMT_BLOCK_DATA + 4 * n, 0, done)
    await bench.settle()
    return found


@cocotb.test()
async def programs(dut: Any) -> None:
    bench, twins, seed, done = Bench(dut, 9), p4_twins.Twins(), SEED, 0
    told = 0  # records
    await bench.start()
    bench.compares = False
    before: list[list[Any]] = []
    while done < int(os.environ["PENSTOCK_RMT_PROGRAMS"]):
        cases, seed = fitting(twins, seed, bench.stages)
        (rows,) = twins.ask([{"rows": None}])
        await load(bench, rows, before)
        before = rows
        pythons = [Interpreter(case.program, state_of(case)) for case in cases]
        for at in range(FRAMES):
            # Frames of all tenants are inside at once, one of each.
            bench.drive("now", moment(at))
            for number, (case, python) in enumerate(zip(cases, pythons, strict=True), 1):
                for port, time, frame in case.frames[at : at + 1]:
                    bench.send(port, frame, number, MARK, results(python, number, python.carry(port, frame, time)))
            await bench.drain()
        for _ in range(RECORD_CYCLES * TENANTS):
            await bench.step()
        twins.ask([{"put": await read_back(bench, rows)}, {"records": [record.hex() for record in bench.records]}])
        told += len(bench.records)
        bench.records.clear()
        for number, (case, python) in enumerate(zip(cases, pythons, strict=True), 1):
            wrong = p4_twins.state_differs(case, twins, python, f"t{number}")
            assert not wrong, f"{wrong}\n{case.program}"
        done += len(cases)
        dut._log.info("%d programs of %d, %d records", done, seed - SEED, told)
    assert told


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.long)])
def test_p4_rtl(count: int) -> None:
    count = int(os.environ.get("PENSTOCK_RMT_PROGRAMS", count))
    sources = ["engines/rmt/rtl/rtl.f", "engines/rmt/tests/rmt_bench.sv"]
    simulate("rmt_bench", sources, Path(__file__).stem, env={"PENSTOCK_RMT_PROGRAMS": str(count)})
