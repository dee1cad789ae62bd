# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The meters of a stage against the model in plain Python (machine.py): frames of few cells in every cycle, rows that
the host writes between them, and time that goes on.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

sys.path.insert(0, str(Path(__file__).resolve().parent))

from machine import METER, Machine
from machine_random import Program
from penstock.hdl import simulate

CYCLES = 5  # from an access to its color
BASE, SIZE, LENGTH, OFFSET = 1020, 6, 5, 2  # the segment goes around the memory's end, and ends ahead of the array


@cocotb.test()
async def colors(dut: Any) -> None:
    rng, model = random.Random(3), Machine(1)
    program = Program(rng, 0, 0, 1, 0, True)
    for name in ("now", "slot", "we", "row", "data", "valid", "index", "x"):
        getattr(dut, name).value = 0
    dut.offset.value, dut.length.value, dut.base.value, dut.size.value = OFFSET, LENGTH, BASE, SIZE
    dut.rst.value = 1
    Clock(dut.clk, 4, unit="ns").start()
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    wanted: dict[int, int] = {}
    cycle = 0

    async def step(valid: int = 0, slot: int = 0) -> None:
        nonlocal cycle
        dut.valid.value, dut.slot.value = valid, slot
        await FallingEdge(dut.clk)
        cycle += 1
        assert int(dut.color.value) == wanted.pop(cycle, 0), cycle

    async def write(row: int) -> None:
        words = program.meter()
        model.write(METER, 0, row, words)
        dut.we.value, dut.row.value = 1, row
        dut.data.value = sum(word << 32 * n for n, word in enumerate(words))
        await step(slot=1)

    for row in [*range(BASE, 1024), 0, 1, 2, 3]:
        await write(row)
        for _ in range(8):
            await step()
    for turn in range(1500):
        since = 0
        for _ in range(rng.choice([3, 10, 40])):
            since += 1
            if since > 8 and rng.random() < 0.1:
                await write((BASE + rng.randrange(8)) % 1024)
                since = 0
                continue
            index, x = rng.choice([0, 0, 1, 2, 3, 4, 5, 1 << 16]), rng.choice([1, 60, 1500, rng.getrandbits(32)])
            dut.index.value, dut.x.value = index, x
            inside = index < LENGTH and OFFSET + index < SIZE
            color = model.color(0, (BASE + OFFSET + index) % 1024, x & 0x7FFF) if inside else 0
            wanted[cycle + CYCLES] = color
            await step(valid=rng.choice([1, 2]))
        for _ in range(8):
            await step()
        model.now += rng.choice([0, 1, 10, 300, 5000, 1 << 20])
        if turn % 500 == 499:
            model.now += 1 << 40
        dut.now.value = model.now
    assert all(model.colors.count(color) > 1000 for color in range(3))


def test_rmt_meter() -> None:
    simulate("rmt_meter_bench", ["engines/rmt/rtl/rtl.f", "engines/rmt/tests/rmt_meter_bench.sv"], Path(__file__).stem)
