# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The queues against a Python deque, with random stalls on both sides and full speed."""

from __future__ import annotations

import random
import sys
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))


@cocotb.test()
async def keeps_order(dut: Any) -> None:
    """A writer that sees `ready` late by Room - 1 cycles never loses a word; at full speed one word a cycle passes."""
    rng = random.Random(3)
    room = int(dut.Room.value) if hasattr(dut, "Room") else 1
    depth = int(dut.Depth.value)
    width = int(dut.Width.value)
    dut.rst.value, dut.push.value, dut.pop.value, dut.din.value = 1, 0, 0, 0
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    await FallingEdge(dut.clk)  # `ready` and `valid` have settled; what is driven here counts at the next rising edge
    held: deque[int] = deque()
    late: deque[bool] = deque([False] * (room - 1))
    passed = filled = 0
    for push_rate, pop_rate, cycles in (
        (1.0, 1.0, 200),
        (0.5, 0.5, 1000),
        (1.0, 0.2, 400),
        (0.2, 1.0, 400),
        (1.0, 1.0, 200),
        (0.0, 1.0, 100),
    ):
        start = passed
        for _ in range(cycles):
            # The block RAM queue leaves counting to its writer
            ready = bool(int(dut.ready.value)) if hasattr(dut, "ready") else len(held) < depth
            late.append(ready)
            push = late.popleft() and rng.random() < push_rate
            pop = rng.random() < pop_rate
            word = rng.getrandbits(width)
            dut.push.value, dut.din.value, dut.pop.value = push, word, pop
            await ReadOnly()
            if int(dut.valid.value):
                assert held, "a word from nowhere"
                assert int(dut.dout.value) == held[0]
                if pop:
                    held.popleft()
                    passed += 1
            if push:
                held.append(word)
            filled = max(filled, len(held))
            await FallingEdge(dut.clk)
        if push_rate == pop_rate == 1.0:
            assert passed - start >= cycles - 6, "not one word a cycle"
    assert not held and filled >= depth - room + 1


@cocotb.test()
async def body_follows_key(dut: Any) -> None:
    """The body of a popped key stands there in the next cycle; a queue that is full to its last
    word keeps every body.
    """
    rng = random.Random(4)
    room, depth = int(dut.Room.value), int(dut.Depth.value)
    dut.rst.value, dut.push.value, dut.pop.value, dut.key_in.value, dut.body_in.value = 1, 0, 0, 0, 0
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    await FallingEdge(dut.clk)
    held: deque[tuple[int, int]] = deque()
    late: deque[bool] = deque([False] * (room - 1))
    popped: int | None = None
    passed = filled = 0
    for push_rate, pop_rate, cycles in (
        (1.0, 1.0, 200),
        (1.0, 0.1, 600),
        (0.6, 0.6, 600),
        (0.2, 1.0, 200),
        (0.0, 1.0, 60),
    ):
        start = passed
        for _ in range(cycles):
            if popped is not None:
                assert int(dut.body.value) == popped
            popped = None
            late.append(bool(int(dut.ready.value)))
            word = rng.getrandbits(4), rng.getrandbits(40)
            dut.push.value = push = late.popleft() and rng.random() < push_rate
            dut.key_in.value, dut.body_in.value = word
            pop = bool(int(dut.valid.value)) and rng.random() < pop_rate
            dut.pop.value = pop
            await ReadOnly()
            if int(dut.valid.value):
                assert held and int(dut.key.value) == held[0][0]
            if pop:
                popped = held.popleft()[1]
                passed += 1
            if push:
                held.append(word)
            filled = max(filled, len(held))
            await FallingEdge(dut.clk)
        if push_rate == pop_rate == 1.0:
            assert passed - start >= cycles - 6, "not one word a cycle"
    assert not held and filled == depth


@pytest.mark.parametrize(("width", "room"), [(8, 1), (70, 4)])
def test_fifo_dist(width: int, room: int) -> None:
    parameters = {"Width": width, "Room": room}
    simulate("fifo_dist", ["lib/rtl/fifo_dist.sv"], "test_queues", parameters, testcase="keeps_order")


def test_fifo_keyed() -> None:
    sources = ["lib/rtl/fifo_dist.sv", "lib/rtl/fifo_keyed.sv"]
    simulate("fifo_keyed", sources, "test_queues", {"BodyW": 40, "Depth": 16, "Room": 4}, testcase="body_follows_key")


@pytest.mark.parametrize("bypass", [0, 1])
def test_fifo_block(bypass: int) -> None:
    sources = ["lib/rtl/ram_sdp.sv", "lib/rtl/fifo_block.sv"]
    parameters = {"Width": 40, "Depth": 16, "Bypass": bypass}
    simulate("fifo_block", sources, "test_queues", parameters, testcase="keeps_order")
