# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The checkers of inline blocks: they let a right block be, and stop the simulation of each wrong one."""

from __future__ import annotations

import os
import random
import sys
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

PORTS, DROP = 2, 5
INPUTS = (
    "in_valid",
    "out_valid",
    "out_len",
    "out_src",
    "out_time",
    "out_hash",
    "out_kind",
    "made",
    "absorbed",
    "dropped",
)
FAULTS = ("loses", "doubles", "claims", "hides", "turns", "leaks", "grows")


@cocotb.test()
async def a_block(dut: Any) -> None:
    """A block that takes frames of a few flows, drops some, absorbs some, makes some, and sends the others in order;
    and has one fault.
    """
    fault = os.environ["PENSTOCK_FAULT"]
    rng = random.Random(1)
    for name in (*INPUTS, "busy"):
        getattr(dut, name).value = 0
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    # Timestamps wrap around.
    now = (1 << 32) - 200
    inside: list[deque[tuple[int, int, int]]] = [deque() for _ in range(PORTS)]  # source, hash, timestamp
    acts = 0
    for cycle in range(600):
        now += 1
        values = dict.fromkeys(INPUTS, 0)

        def put(name: str, port: int, value: int, width: int = 1, values: dict[str, int] = values) -> None:
            values[name] |= value << width * port

        for port in range(PORTS):
            queue = inside[port]
            # Times without frames, in which the block gets idle
            if cycle % 200 < 120 and rng.random() < 0.6:
                put("in_valid", port, 1)
                queue.append((port, rng.randrange(3), now & 0xFFFFFFFF))
            if not queue or rng.random() < 0.3:
                continue
            wrong = fault != "none" and cycle > 300 and acts == 0
            flows = [one[:2] for one in queue]
            kind = rng.random()
            if wrong and fault == "turns":
                later = next((i for i in range(1, len(queue)) if flows[i] == flows[0]), None)
                if later is None:
                    continue
                queue[0], queue[later] = queue[later], queue[0]
                kind, acts = 1, 1
            elif wrong:
                acts, kind = 1, 1
            src, flow, time = queue.popleft()
            if kind < 0.1:
                put("dropped", port, 1)
                continue
            if kind < 0.2:
                put("absorbed", port, 1)
                continue
            if kind < 0.3:
                put("made", port, 1)
                queue.appendleft((src, flow, time))  # a copy leaves first
            if acts == 1 and fault != "turns":
                acts = 2
                if fault == "loses":
                    continue
                if fault == "claims":
                    put("made", port, 1)
                if fault == "hides":
                    put("dropped", port, 1)
                if fault == "doubles":
                    queue.appendleft((src, flow, time))
                if fault == "leaks":
                    put("out_kind", port, DROP, 3)
            put("out_valid", port, 1)
            put("out_len", port, 16385 if fault == "grows" and acts == 2 else 60, 16)
            put("out_src", port, src, 8)
            put("out_time", port, time, 32)
            put("out_hash", port, flow, 32)
        for name, value in values.items():
            getattr(dut, name).value = value
        dut.busy.value = any(inside) or any(values[name] for name in ("dropped", "absorbed", "made"))
        await FallingEdge(dut.clk)
    assert not any(inside)


def run(fault: str) -> None:
    sources = ["lib/rtl/rtl.f", "lib/tests/checks_bench.sv"]
    simulate("checks_bench", sources, Path(__file__).stem, env={"PENSTOCK_FAULT": fault})


def test_a_right_block() -> None:
    run("none")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_block(fault: str, capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(RuntimeError):
        run(fault)
    said = {
        "turns": "leaves too late",
        "leaks": "a frame that was dropped leaves",
        "grows": "a frame of 16385 bytes leaves",
    }
    assert said.get(fault, "frames in + made exceed") in capfd.readouterr().out
