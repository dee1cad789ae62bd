# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""l7_delivery alone: how long an application that has stopped makes a port crowded for the other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from penstock.hdl import simulate

SOURCES = ["lib/rtl/rtl.f", "engines/l7/rtl/rtl.f", "engines/l7/tests/l7_delivery_bench.sv"]
CYCLE_NS = 4
PERIOD = 1 << 20  # cycles, 4.2 ms
# Payload of the longest message, and its beats with headers: two such messages fill the queue of 512 beats.
LONGEST, BEATS = 16_256, 255


class Bench:
    """Drives the ports between two rising edges of the clock."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.cycle = 0  # since the reset
        self.slot = 0

    async def reset(self) -> None:
        dut = self.dut
        for name in ("send", "slot", "app", "port", "len", "popped"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        await Timer(8 * CYCLE_NS, "ns")
        dut.rst.value = 0
        self.cycle = 0

    async def until(self, cycle: int) -> None:
        assert cycle > self.cycle
        await Timer((cycle - self.cycle) * CYCLE_NS, "ns")
        self.cycle = cycle

    async def send(self, app: int, port: int = 0) -> None:
        """Makes a message of an application whole, and gives it time to be chosen."""
        dut = self.dut
        dut.send.value, dut.app.value, dut.port.value, dut.len.value = 1, app, port, LONGEST
        dut.slot.value = self.slot
        self.slot = (self.slot + 1) % 512
        await self.until(self.cycle + 1)
        dut.send.value = 0
        await self.until(self.cycle + 20)

    async def pop(self, beats: int) -> None:
        """Beats of port 0 leave."""
        self.dut.popped.value = 1
        await self.until(self.cycle + beats)
        self.dut.popped.value = 0
        await self.until(self.cycle + 20)

    def crowded(self) -> int:
        return int(self.dut.crowded.value)


async def start(dut: Any) -> Bench:
    Clock(dut.clk, CYCLE_NS, unit="ns").start()
    await FallingEdge(dut.clk)
    bench = Bench(dut)
    await bench.reset()
    return bench


async def stops(bench: Bench, first: int, begin: int) -> None:
    """Messages of `first` fill port 0 from this cycle on, and then it sends no more."""
    await bench.until(begin)
    other = 1 - first
    for _ in range(2):
        await bench.send(first)
    # The other application at the other port, where nobody else is
    for _ in range(3):
        await bench.send(other, 1)
    last = bench.cycle
    assert bench.crowded() == 0
    await bench.send(other)
    assert bench.crowded() == 1
    # It counts until the period behind that of its last message ends.
    end = (last // PERIOD + 2) * PERIOD
    assert PERIOD < end - begin <= 2 * PERIOD
    for cycle in (begin + PERIOD, end - 4):
        if cycle > bench.cycle:
            await bench.until(cycle)
            assert bench.crowded() == 1, cycle
    await bench.until(end + 4)
    assert bench.crowded() == 0
    # Its own message waits, too: the other one had none chosen at this port.
    await bench.send(first)
    assert bench.crowded() == 0
    # Now it has one, and the first one's message waits behind it.
    await bench.pop(BEATS)
    assert bench.crowded() == 1


@cocotb.test()
async def an_application_stops_as_a_period_begins(dut: Any) -> None:
    """It counts for up to 8.4 ms: the rest of its period, and the next one."""
    await stops(await start(dut), 0, 4)


@cocotb.test()
async def an_application_stops_as_a_period_ends(dut: Any) -> None:
    """It counts for at least 4.2 ms."""
    await stops(await start(dut), 1, PERIOD - 200)


def test_l7_delivery() -> None:
    simulate("l7_delivery_bench", SOURCES, Path(__file__).stem)
