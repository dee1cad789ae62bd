# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The clock of a flow block in us, compared with the card's time in ns divided by 1000, while that advances, stops and
leaps.
"""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.hdl import simulate

CYCLE_NS = 4
# The delay of `us` in cycles, and the cycles in which it is wrong after a leap
BEHIND, LEAP = 3, 40


@cocotb.test()
async def as_the_card(dut: Any) -> None:
    rng = random.Random(3)
    dut.ns.value, dut.rst.value = 0, 1
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    ns, held, leaps, checked, unsteady = 0, False, 0, 0, 0
    before: deque[int] = deque([0] * (BEHIND + 1), BEHIND + 1)
    for cycle in range(60_000):
        chance = rng.random()
        if chance < 0.004:
            special = [
                0,
                999,
                1000,
                (1 << 64) - 1,
                (1 << 32) - 4,
                4_294_967_295_996,
                ns - 4,
                ns + 8,
                ns + 1,
                ns ^ 1 << 40,
            ]
            ns = rng.choice([*special, rng.getrandbits(64), rng.getrandbits(rng.randrange(64))]) % (1 << 64)
            leaps += 1
        elif chance < 0.006:
            held = not held
        elif not held and ns + CYCLE_NS < 1 << 64:  # 584 years
            ns += CYCLE_NS
        dut.ns.value = ns
        await FallingEdge(dut.clk)
        before.append(ns)
        if not int(dut.steady.value):
            unsteady += 1
            assert unsteady <= LEAP * 8, "the clock never gets steady"
            continue
        unsteady = 0
        # A leap shows two cycles later.
        if any(
            (b - a) % (1 << 64) not in (0, CYCLE_NS) for a, b in zip(list(before)[-3:], list(before)[-2:], strict=False)
        ):
            continue
        us = int(dut.us.value)
        assert us in {one // 1000 & 0xFFFFFFFF for one in before}, f"cycle {cycle}: {us} us at {ns} ns"
        checked += 1
        if held and before[0] == ns:
            assert us == ns // 1000 & 0xFFFFFFFF
    assert leaps > 150 and checked > 30_000


def test_flow_clock() -> None:
    sources = ["lib/rtl/headers.f", "engines/flow/rtl/flow_pkg.sv", "engines/flow/rtl/flow_clock.sv"]
    simulate("flow_clock", sources, Path(__file__).stem)
