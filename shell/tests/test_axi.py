# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Managers that share a channel of card memory: each reads its own writes, in its own range and nowhere else, answers
keep their order, and the channel has the timing of a DRAM channel.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

MANAGERS, RANGE, BEAT, FRESH = 3, 1 << 24, 64, 0xA5
PAGES = (*range(12), RANGE // 4096 - 1, RANGE // 4096)  # the last one is outside
OKAY, SLVERR = 0, 2


@dataclass
class Burst:
    """A read or a write, and its result."""

    id: int
    address: int
    beats: int
    data: list[bytes] = field(default_factory=list)
    strobes: list[int] = field(default_factory=list)
    responses: list[int] = field(default_factory=list)
    asked: int = 0
    done: int = 0

    @property
    def is_outside(self) -> bool:
        return self.address + BEAT * self.beats > RANGE


class Manager:
    """Sends reads and writes, as many at once as `window` lets."""

    def __init__(self, bench: Bench, number: int) -> None:
        self.bench, self.number = bench, number
        self.reads: deque[Burst] = deque()
        self.writes: deque[Burst] = deque()
        self.beats: deque[tuple[bytes, int, bool]] = deque()
        self.open_reads: list[Burst] = []
        self.open_writes: list[Burst] = []
        self.done: list[Burst] = []
        self.window = 16
        self.gap = 0.0
        self.has = [False, False, False]

    def busy(self) -> bool:
        return bool(self.reads or self.writes or self.beats or self.open_reads or self.open_writes)


class Bench:
    """The clock loop: it drives all managers at the falling edge and samples before the rising one."""

    def __init__(self, dut: Any, managers: int = MANAGERS) -> None:
        self.dut, self.rng, self.cycle = dut, random.Random(1), 0
        self.managers = [Manager(self, number) for number in range(managers)]
        self.errors: Counter[int] = Counter()

    async def start(self) -> None:
        d = self.dut
        d.rst.value = 1
        self.clear()
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(5):
            await RisingEdge(d.clk)
        d.rst.value = 0
        await RisingEdge(d.clk)

    def clear(self) -> None:
        """No manager asks for anything."""
        for name in (
            "awvalid",
            "wvalid",
            "arvalid",
            "awid",
            "awaddr",
            "awlen",
            "wdata",
            "wstrb",
            "wlast",
            "arid",
            "araddr",
            "arlen",
        ):
            getattr(self.dut, name).value = 0

    def _put(self, words: dict[str, int], name: str, manager: int, width: int, value: int) -> None:
        words[name] = words.get(name, 0) | value << (width * manager)

    async def step(self) -> None:
        d = self.dut
        await FallingEdge(d.clk)
        words: dict[str, int] = dict.fromkeys(("awvalid", "wvalid", "arvalid", "wlast"), 0)
        for m in self.managers:
            free = [len(m.open_reads) < m.window, True, len(m.open_writes) < m.window]
            for at, queue in enumerate((m.reads, m.beats, m.writes)):
                m.has[at] = bool(queue) and (m.has[at] or (free[at] and self.rng.random() >= m.gap))
            if m.has[0]:
                one = m.reads[0]
                one.asked = one.asked or self.cycle
                for name, width, value in (
                    ("arvalid", 1, 1),
                    ("arid", 4, one.id),
                    ("araddr", 40, one.address),
                    ("arlen", 8, one.beats - 1),
                ):
                    self._put(words, name, m.number, width, value)
            if m.has[1]:
                data, strobe, last = m.beats[0]
                for name, width, value in (
                    ("wvalid", 1, 1),
                    ("wdata", 512, int.from_bytes(data, "little")),
                    ("wstrb", 64, strobe),
                    ("wlast", 1, last),
                ):
                    self._put(words, name, m.number, width, value)
            if m.has[2]:
                one = m.writes[0]
                one.asked = one.asked or self.cycle
                for name, width, value in (
                    ("awvalid", 1, 1),
                    ("awid", 4, one.id),
                    ("awaddr", 40, one.address),
                    ("awlen", 8, one.beats - 1),
                ):
                    self._put(words, name, m.number, width, value)
        for name, value in words.items():
            getattr(d, name).value = value
        await RisingEdge(d.clk)  # values from before the edge
        self.cycle += 1
        arready, awready, wready = (int(getattr(d, name).value) for name in ("arready", "awready", "wready"))
        rvalid, bvalid, failed = int(d.rvalid.value), int(d.bvalid.value), int(d.errors.value)
        rid, rresp, rlast, rdata = (
            int(d.rid.value),
            int(d.rresp.value),
            int(d.rlast.value),
            d.rdata.value.to_unsigned() if rvalid else 0,
        )
        bid, bresp = int(d.bid.value), int(d.bresp.value)
        for m in self.managers:
            n = m.number
            self.errors[n] += failed >> n & 1
            if rvalid >> n & 1:
                one = next(one for one in m.open_reads if one.id == rid >> (4 * n) & 15)
                one.data.append((rdata >> (512 * n) & (1 << 512) - 1).to_bytes(BEAT, "little"))
                one.responses.append(rresp >> (2 * n) & 3)
                assert bool(rlast >> n & 1) == (len(one.data) == one.beats)
                if rlast >> n & 1:
                    self._end(m, m.open_reads, one)
            if bvalid >> n & 1:
                one = next(one for one in m.open_writes if one.id == bid >> (4 * n) & 15)
                one.responses.append(bresp >> (2 * n) & 3)
                self._end(m, m.open_writes, one)
            if m.has[0] and arready >> n & 1:
                m.open_reads.append(m.reads.popleft())
                m.has[0] = False
            if m.has[1] and wready >> n & 1:
                m.beats.popleft()
                m.has[1] = False
            if m.has[2] and awready >> n & 1:
                one = m.writes.popleft()
                m.open_writes.append(one)
                m.beats.extend(
                    (data, strobe, at + 1 == one.beats)
                    for at, (data, strobe) in enumerate(zip(one.data, one.strobes, strict=True))
                )
                m.has[2] = False

    def _end(self, manager: Manager, open_: list[Burst], one: Burst) -> None:
        one.done = self.cycle
        open_.remove(one)
        manager.done.append(one)

    async def drain(self, limit: int = 100_000) -> None:
        end = self.cycle + limit
        while any(manager.busy() for manager in self.managers):
            assert self.cycle < end, "answers do not come"
            await self.step()


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


@cocotb.test()
async def each_has_its_own(dut: Any) -> None:
    """Random bursts with gaps, from all managers at once: each read returns the bytes that the same manager wrote
    there; bursts out of range fail and change nothing.
    """
    bench = await started(dut)
    rng = bench.rng
    memories = [bytearray([FRESH]) * RANGE for _ in range(MANAGERS)]
    outside: Counter[int] = Counter()
    for manager in bench.managers:
        manager.gap = rng.choice((0.0, 0.3, 0.8))
    for _ in range(12):
        # First writes, each to different bytes; then reads of them.
        for number, manager in enumerate(bench.managers):
            for page in rng.sample(PAGES, 12):
                beats = rng.choice((1, 1, 2, 5, 16))
                address = page * 4096 + BEAT * rng.randrange(64 - beats + 1)
                if page == RANGE // 4096 and rng.random() < 0.5:
                    address += rng.choice((1 << 25, 1 << 30, 1 << 39))
                one = Burst(rng.randrange(16), address, beats, [rng.randbytes(BEAT) for _ in range(beats)])
                one.strobes = [rng.choice(((1 << BEAT) - 1, rng.getrandbits(BEAT))) for _ in range(beats)]
                manager.writes.append(one)
                outside[number] += one.is_outside
                if not one.is_outside:
                    for at, (data, strobe) in enumerate(zip(one.data, one.strobes, strict=True)):
                        for byte in range(BEAT):
                            if strobe >> byte & 1:
                                memories[number][address + BEAT * at + byte] = data[byte]
        await bench.drain()
        for number, manager in enumerate(bench.managers):
            assert all(one.responses == [SLVERR if one.is_outside else OKAY] for one in manager.done)
            manager.done.clear()
            for _ in range(40):
                beats = rng.choice((1, 1, 1, 3, 16))
                page = rng.choice(PAGES if rng.random() < 0.2 else PAGES[:-1])
                one = Burst(rng.randrange(16), page * 4096 + BEAT * rng.randrange(64 - beats + 1), beats)
                outside[number] += one.is_outside
                manager.reads.append(one)
        await bench.drain()
        for number, manager in enumerate(bench.managers):
            for one in manager.done:
                expected = (
                    bytes(one.beats * BEAT)
                    if one.is_outside
                    else memories[number][one.address : one.address + BEAT * one.beats]
                )
                assert b"".join(one.data) == expected, f"manager {number}, {one}"
                assert set(one.responses) == {SLVERR if one.is_outside else OKAY}
            manager.done.clear()
    await bench.step()
    await bench.step()
    assert bench.errors == outside and min(outside.values()) > 5, (bench.errors, outside)


async def rate(bench: Bench, managers: int, addresses: Any, beats: int, count: int) -> float:
    """Cycles for each burst, when the managers read as fast as they may."""
    for manager in bench.managers[:managers]:
        manager.gap, manager.window = 0.0, 16
        manager.done.clear()
        for at in range(count):
            manager.reads.append(Burst(at % 16, addresses(at), beats))
    start = bench.cycle
    await bench.drain()
    return (bench.cycle - start) / (count * managers)


@cocotb.test()
async def what_it_costs(dut: Any) -> None:
    """About 150 ns, a beat a cycle in order, at most 50 M random accesses a second, answers out of
    order between IDs.
    """
    bench = await started(dut)
    rng = bench.rng
    manager = bench.managers[0]
    latencies = []
    for _ in range(50):
        manager.reads.append(Burst(0, BEAT * rng.randrange(RANGE // BEAT), 1))
        await bench.drain()
        latencies.append(manager.done[-1].done - manager.done[-1].asked)
    latencies.sort()
    assert 36 <= latencies[0] and 38 <= latencies[25] <= 50, latencies
    cycles = await rate(bench, 1, lambda at: BEAT * 16 * at % RANGE, 16, 300)
    assert 16 <= cycles < 17.6, f"a burst of 16 beats takes {cycles:.2f} cycles"
    cycles = await rate(bench, 3, lambda at: BEAT * rng.randrange(RANGE // BEAT), 1, 500)
    assert 5 <= cycles < 9, f"a random access takes {cycles:.2f} cycles"
    asked = sorted(manager.done, key=lambda one: one.asked)
    overtaken = sum(one.done > later.done for one, later in pairwise(asked))
    assert overtaken > 5, overtaken
    assert all(
        one.done < later.done for at in range(16) for one, later in pairwise([one for one in asked if one.id == at])
    )
    # Three share evenly.
    ends = [max(one.done for one in manager.done) for manager in bench.managers]
    assert max(ends) - min(ends) < 200, ends


def test_axi() -> None:
    simulate(
        "axi_bench",
        ["lib/rtl/rtl.f", "shell/rtl/axi_share.sv", "lib/sim/axi_memory.sv", "shell/tests/axi_bench.sv"],
        "test_axi",
        {"Managers": MANAGERS},
    )
