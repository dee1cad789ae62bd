# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""wide_counters against sums in Python: every read is exact in its cycle, also beyond 32 bits."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))


@cocotb.test()
async def reads_are_exact(dut: Any) -> None:
    """Counters grow by as much as they can; reads come as often as they may, of one counter or of any."""
    counters, step_bits = int(dut.Counters.value), int(dut.StepW.value)
    lengths = int(dut.Bytes.value)
    first = int(os.environ["FIRST_COUNT"])
    rng = random.Random(5)
    dut.rst.value = 1
    dut.read.value = 0
    dut.index.value = 0
    for i in range(counters):
        dut.step[i].value = 0
    Clock(dut.clk, 4, unit="ns").start()
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0

    totals = [first] * counters
    asked: list[tuple[int, int]] = []  # due in so many cycles, expected
    may_read, beyond, looked = True, 0, 0
    for cycle in range(6000):
        busy = rng.random() < 0.5 if cycle < 3000 else True
        index = rng.randrange(counters) if cycle % 1000 < 500 else cycle // 1000 % counters
        read = may_read and (rng.random() < 0.3 if cycle % 200 < 100 else True)
        dut.read.value = read
        dut.index.value = index
        may_read = not read
        asked = [(due - 1, value) for due, value in asked]
        if asked and asked[0][0] == 0:
            _, value = asked.pop(0)
            got = int(dut.value.value)
            assert got == value, f"cycle {cycle}: {got}, expected {value}"
            looked += 1
            beyond += value >= 1 << 32
        if read:
            asked.append((2, totals[index]))
        for i in range(counters):
            most = 0xFFFF if lengths >> i & 1 else (1 << step_bits) - 1
            step = (most if cycle >= 5000 else rng.randint(0, most)) if busy else 0
            dut.step[i].value = step
            totals[i] += step
        await FallingEdge(dut.clk)
    assert looked > 2000
    assert beyond > 100, "no counter has come beyond 32 bits"


@pytest.mark.parametrize(("counters", "step_bits", "lengths"), [(13, 5, 0b10000000010), (1, 3, 0), (3, 1, 0b100)])
def test_wide_counters(counters: int, step_bits: int, lengths: int) -> None:
    first = (1 << 32) - 2000
    simulate(
        "wide_counters",
        ["lib/rtl/first_count.sv", "lib/rtl/wide_counters.sv"],
        "test_wide_counters",
        {"Counters": counters, "StepW": step_bits, "Bytes": lengths},
        env={"FIRST_COUNT": str(first)},
        plusargs=[f"+first_count={first}"],
    )
