# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The channels of card memory on two ports of a board's memory, whose clocks have any ratio to the card's: each channel
reads its own writes. After a reset of the card in the middle of traffic the memory has no burst that has not ended, and
no answer from before comes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from penstock.hdl import ROOT, simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(ROOT / "shell/tests"))
from test_axi import BEAT, FRESH, OKAY, Bench, Burst

CHANNELS, PORTS, RANGE = 9, 2, 1 << 28
CARD_PS = 4000
# Periods of the two memories in ps: a DDR4 controller's beside one that is nearly the card's, and far ones.
PERIODS = [(3333, 3999), (2222, 4000), (1000, 13007)]
PAGES = (0, 1, 2, RANGE // 4096 - 1)


class Memories(Bench):
    """The card's side of the channels, and the clocks of the memories."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut, CHANNELS)
        self.periods = [int(period) for period in cocotb.plusargs["periods"].split(",")]
        self.running = [True] * PORTS
        self.level = 0
        # Values that each channel may find, by the beat's address. The memories keep what earlier tests have written.
        self.written: list[dict[int, set[bytes]]] = [{} for _ in range(CHANNELS)]

    async def _clock(self, port: int) -> None:
        period = self.periods[port]
        await Timer(self.rng.randrange(1, period), unit="ps")
        while True:
            for value in (self.running[port], False):
                self.level = self.level & ~(1 << port) | value << port
                self.dut.mem_clk.value = self.level
                await Timer(period // 2, unit="ps")

    async def start(self) -> None:
        d = self.dut
        self.clear()
        d.rst_in.value = d.mem_rst_in.value = 1
        d.mem_clk.value = 0
        cocotb.start_soon(Clock(d.clk, CARD_PS, unit="ps").start())
        for port in range(PORTS):
            cocotb.start_soon(self._clock(port))
        await Timer(10 * max(self.periods), unit="ps")
        d.mem_rst_in.value = 0
        await self.release()

    async def release(self) -> None:
        """Ends the card's reset."""
        self.dut.rst_in.value = 0
        while int(self.dut.rst.value):
            await RisingEdge(self.dut.clk)

    def write(self, channel: int, page: int, beats: int) -> None:
        first = page * 4096 + BEAT * self.rng.randrange(64 - beats + 1)
        one = Burst(self.rng.randrange(16), first, beats, [self.rng.randbytes(BEAT) for _ in range(beats)])
        one.strobes = [(1 << BEAT) - 1] * beats
        self.managers[channel].writes.append(one)

    def read(self, channel: int, page: int, beats: int) -> None:
        first = page * 4096 + BEAT * self.rng.randrange(64 - beats + 1)
        self.managers[channel].reads.append(Burst(self.rng.randrange(16), first, beats))

    def note(self) -> None:
        """Takes note of the writes that were answered."""
        for channel, manager in enumerate(self.managers):
            for one in manager.done:
                assert set(one.responses) == {OKAY}
                if one.strobes:
                    for at, data in enumerate(one.data):
                        self.written[channel][one.address + BEAT * at] = {data}
            manager.done.clear()

    def forget(self) -> None:
        """The card is reset: writes without an answer may have reached the memory, wholly or in part."""
        self.note()
        for channel, manager in enumerate(self.managers):
            for one in manager.open_writes:
                for at, data in enumerate(one.data):
                    if known := self.written[channel].get(one.address + BEAT * at):
                        known.add(data)
            for queue in (manager.reads, manager.writes, manager.beats, manager.open_reads, manager.open_writes):
                queue.clear()
            manager.has = [False, False, False]
        self.clear()

    async def check(self, count: int, *, fresh: bool = False) -> None:
        """Reads what channels have written; with `fresh` also what none has."""
        self.note()
        for channel in range(CHANNELS):
            for page in self.rng.choices(PAGES, k=count):
                self.read(channel, page, self.rng.choice((1, 2, 16, 64)))
        await self.drain()
        for channel, manager in enumerate(self.managers):
            for one in manager.done:
                assert set(one.responses) == {OKAY}
                for at, data in enumerate(one.data):
                    known = self.written[channel].get(
                        one.address + BEAT * at, {bytes([FRESH]) * BEAT} if fresh else set()
                    )
                    assert not known or data in known, f"channel {channel}, {one.address + BEAT * at:x}"
            manager.done.clear()

    async def traffic(self, count: int) -> None:
        """Writes of all channels, each page of a channel at most once at a time, beside reads."""
        for channel in range(CHANNELS):
            self.managers[channel].gap = self.rng.choice((0.0, 0.0, 0.5))
            for page in self.rng.sample(PAGES, min(count, len(PAGES))):
                self.write(channel, page, self.rng.choice((1, 2, 5, 16, 64)))
            for _ in range(count):
                self.read(channel, self.rng.choice(PAGES), self.rng.choice((1, 1, 4, 64)))


@cocotb.test()
async def each_channel_has_its_own(dut: Any) -> None:
    """Nine channels at once, to the last byte of their ranges. At the memories the ranges lie one behind the other."""
    bench = Memories(dut)
    await bench.start()
    # The port and the range where writes arrive
    seen: set[tuple[int, int]] = set()

    async def watch() -> None:
        while True:
            await Timer(min(bench.periods) // 2, unit="ps")
            for port in range(PORTS):
                if int(dut.mem_awvalid.value) >> port & 1:
                    seen.add((port, int(dut.mem_awaddr.value) >> (40 * port + 28) & 0xFFF))

    cocotb.start_soon(watch())
    for channel in range(CHANNELS):
        seen.clear()
        bench.write(channel, PAGES[-1], 2)
        await bench.drain()
        assert seen == {(channel % PORTS, channel // PORTS)}, channel
    for _ in range(4):
        await bench.traffic(4)
        await bench.drain()
        await bench.check(4, fresh=True)
    assert sum(len(places) for places in bench.written) > 500


@cocotb.test()
async def reads_take_no_longer_than_they_must(dut: Any) -> None:
    """The way through two crossings, and the rate of long reads of one channel."""
    bench = Memories(dut)
    await bench.start()
    manager = bench.managers[8]
    latencies = []
    for _ in range(20):
        manager.reads.append(Burst(0, BEAT * bench.rng.randrange(RANGE // BEAT), 1))
        await bench.drain()
        latencies.append(manager.done[-1].done - manager.done[-1].asked)
    # 50 cycles of the memory, 42 of them its own, and 11 of the card
    ratio = bench.periods[0] / CARD_PS
    dut._log.info(f"cycles of a read: {sorted(latencies)}")
    assert sorted(latencies)[10] <= 50 * ratio + 11, latencies
    manager.done.clear()
    for at in range(60):
        manager.reads.append(Burst(at % 16, 4096 * at, 64))
    start = bench.cycle
    await bench.drain()
    cycles = (bench.cycle - start) / (60 * 64)
    assert cycles < 1.35 * max(1, ratio), f"{cycles:.2f} cycles a beat"


@cocotb.test()
async def resets_of_the_card(dut: Any) -> None:
    """In the middle of traffic, and shorter than the bursts that it cuts. In some turns a memory's clock stands still
    meanwhile, and the card's requests wait for it.
    """
    bench = Memories(dut)
    await bench.start()
    cut = 0
    for _ in range(25):
        await bench.traffic(3)
        for _ in range(bench.rng.randrange(3, 120)):
            await bench.step()
        stopped = bench.rng.choice((None, None, 0, 1))
        if stopped is not None:
            bench.running[stopped] = False
        cut += sum(len(manager.open_writes) + len(manager.open_reads) for manager in bench.managers)
        dut.rst_in.value = 1
        bench.forget()
        await Timer(bench.rng.choice((500, CARD_PS, 200 * CARD_PS)), unit="ps")
        await bench.release()
        if stopped is not None:
            bench.read(stopped, 0, 1)
            for _ in range(300):
                await bench.step()
            assert bench.managers[stopped].busy(), "a memory answers whose clock stands still"
            bench.running[stopped] = True
        await bench.check(2)
        assert not int(dut.mem_open.value), "the memory has bursts that nobody asked for"
    assert cut > 200


@cocotb.test()
async def resets_of_the_memory(dut: Any) -> None:
    """It forgets what it was asked, and the card is reset with it."""
    bench = Memories(dut)
    await bench.start()
    for _ in range(5):
        await bench.traffic(3)
        for _ in range(bench.rng.randrange(3, 120)):
            await bench.step()
        dut.mem_rst_in.value = 1
        bench.forget()
        await Timer(bench.rng.choice((500, 40_000)), unit="ps")
        dut.mem_rst_in.value = 0
        await RisingEdge(dut.clk)
        await bench.release()
        await bench.check(2)


@pytest.mark.parametrize("periods", PERIODS)
def test_memory(periods: tuple[int, int]) -> None:
    simulate(
        "memory_bench",
        ["lib/rtl/rtl.f", "shell/rtl/axi_share.sv", "shell/cards/lib/lib.f"]
        + [
            f"shell/cards/lib/{name}.sv"
            for name in ("axi_one_id", "axi_cross", "axi_finish", "memory_port", "card_memory")
        ]
        + ["lib/sim/axi_memory.sv", "shell/cards/tests/memory_bench.sv"],
        "test_memory",
        {"Ports": PORTS},
        defines=["PENSTOCK_METASTABLE"],
        plusargs=[f"+periods={periods[0]},{periods[1]}"],
    )
