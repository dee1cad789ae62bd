# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""switch_out and the destinations' buffers: order, whole frames, full speed, and which frames may block which."""

from __future__ import annotations

import random
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

UNITS, DESTS, BEAT = 8, 5, 64
PORT_0, PORT_1, HOST, LOOPBACK, HOST_MEM = range(DESTS)
# Port bytes of a descriptor (docs/architecture.md) and where they lead; the others lead nowhere.
CODES = {
    0: PORT_0,
    8: PORT_0,
    1: PORT_1,
    9: PORT_1,
    2: HOST,
    3: LOOPBACK,
    4: HOST_MEM,
    5: HOST_MEM,
    **{0x40 + u: LOOPBACK for u in range(32)},
}
NOWHERE = [6, 7, 10, 11, 0x3F, 0x60, 0x80, 0xFF]


def pack(values: list[int], width: int) -> int:
    """Element i of a packed array is at bit i * width."""
    return sum(value << (i * width) for i, value in enumerate(values))


@dataclass
class Frame:
    number: int
    unit: int
    dst: int
    size: int
    cycle: int = -1  # of its last beat

    def beats(self) -> int:
        return (self.size + BEAT - 1) // BEAT


class Bench:
    """Feeds the units' links and empties the destinations."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(11)
        self.cycle = 0
        self.frames: list[Frame] = []
        self.rate = self.ready = 1.0  # probability that a unit offers a beat, that a destination takes one
        self.stalled: set[int] = set()  # destinations that take nothing
        self.waiting: list[deque[Frame]] = [deque() for _ in range(UNITS)]
        self.beat = [0] * UNITS
        self.offered = [False] * UNITS
        self.out: list[list[Frame]] = [[] for _ in range(DESTS)]
        self.busy = [0] * DESTS  # beats that came out
        self.partial: list[list[int]] = [[] for _ in range(DESTS)]

    async def start(self) -> None:
        d = self.dut
        for name in ("in_valid", "in_last", "in_tag", "in_len", "in_dst", "out_ready"):
            getattr(d, name).value = 0
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        await FallingEdge(d.clk)

    def send(self, unit: int, dst: int, size: int = BEAT) -> None:
        self.frames.append(Frame(len(self.frames), unit, dst, size))
        self.waiting[unit].append(self.frames[-1])

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def drain(self, timeout: int = 20_000) -> None:
        """Until the units are empty and all frames with a destination have left."""
        expected = sum(f.dst in CODES for f in self.frames)
        for _ in range(timeout):
            if not any(self.waiting) and sum(map(len, self.out)) >= expected:
                break
            await self.step()
        await self.run(40)
        assert sum(map(len, self.out)) == expected, f"{sum(map(len, self.out))} frames of {expected}"

    async def step(self) -> None:
        d, rng = self.dut, self.rng
        valid = last = ready = 0
        tag, size, dst = [0] * UNITS, [0] * UNITS, [0] * UNITS
        for u in range(UNITS):
            self.offered[u] = self.offered[u] or (
                bool(self.waiting[u]) and (self.rate == 1 or rng.random() < self.rate)
            )
            if self.offered[u]:
                frame = self.waiting[u][0]
                valid |= 1 << u
                last |= (self.beat[u] == frame.beats() - 1) << u
                tag[u] = frame.number << 8 | self.beat[u]
                # Both are defined with the first beat only
                size[u], dst[u] = (frame.size, frame.dst) if self.beat[u] == 0 else (0xFFFF, 0)
        for i in range(DESTS):
            ready |= (i not in self.stalled and (self.ready == 1 or rng.random() < self.ready)) << i
        d.in_valid.value, d.in_last.value, d.out_ready.value = valid, last, ready
        d.in_tag.value, d.in_len.value, d.in_dst.value = pack(tag, 32), pack(size, 16), pack(dst, 8)
        await ReadOnly()
        taken = valid & int(d.in_ready.value)
        for u in range(UNITS):
            if taken >> u & 1:
                self.offered[u] = False
                self.beat[u] += 1
                if last >> u & 1:
                    self.waiting[u].popleft()
                    self.beat[u] = 0
        leaving = int(d.out_valid.value)
        if leaving:
            lasts, tags, dsts = int(d.out_last.value), int(d.out_tag.value), int(d.out_dst.value)
            for i in range(DESTS):
                # No gap inside a frame, whatever the units do
                assert leaving >> i & 1 or not self.partial[i], f"destination {i}: gap in a frame"
                if leaving & ready & 1 << i:
                    self._take(i, tags >> (32 * i) & 0xFFFFFFFF, bool(lasts >> i & 1), dsts >> (8 * i) & 0xFF)
        await FallingEdge(d.clk)
        self.cycle += 1

    def _take(self, dest: int, tag: int, last: bool, dst: int) -> None:
        beats = self.partial[dest]
        beats.append(tag)
        self.busy[dest] += 1
        frame = self.frames[tag >> 8]
        assert tag == frame.number << 8 | (len(beats) - 1), "frames are mixed"
        if len(beats) == 1:
            assert dst == frame.dst and CODES.get(dst) == dest
        assert last == (len(beats) == frame.beats())
        if last:
            assert frame.cycle < 0, "a frame came twice"
            frame.cycle = self.cycle
            self.out[dest].append(frame)
            beats.clear()

    def expect_order(self) -> None:
        """Frames of one unit to one destination keep their order."""
        numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for dest, frames in enumerate(self.out):
            for frame in frames:
                numbers[frame.unit, dest].append(frame.number)
        assert all(n == sorted(n) for n in numbers.values())


@cocotb.test()
async def keeps_frames_whole(dut: Any) -> None:
    """Random sizes, destinations (missing ones swallow frames), gaps and stalls."""
    bench = Bench(dut)
    await bench.start()
    for rate, ready in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.8, 0.8)):
        bench.rate, bench.ready = rate, ready
        for _ in range(200):
            dst = bench.rng.choice([*CODES, 0, 1, 2, 3, *[bench.rng.choice(NOWHERE)] * 6])
            size = bench.rng.choice([14, 64, 65, 128, 512, 1500, bench.rng.randrange(14, 4000)])
            bench.send(bench.rng.randrange(UNITS), dst, size)
        await bench.drain()
    bench.expect_order()


@cocotb.test()
async def longest_frames(dut: Any) -> None:
    """16,384 B from all units to one destination that is slow: nothing overflows, nothing mixes."""
    bench = Bench(dut)
    await bench.start()
    bench.ready = 0.7
    for unit in range(UNITS):
        for size in (16384, 64, 16384):
            bench.send(unit, 1, size)
    await bench.drain()
    bench.expect_order()


@cocotb.test()
async def single_beats_fill_a_stalled_exit(dut: Any) -> None:
    """Frames of one beat, one a cycle over each link, to an exit that takes nothing, then longest ones behind them: all
    that is on its way when the exit has no room for more is stored.
    """
    bench = Bench(dut)
    await bench.start()
    for size in (64, 16384):
        bench.stalled = {PORT_0}
        for i in range(30):
            for unit in range(UNITS):
                bench.send(unit, 0, size if i > 4 and unit % 4 == 0 else 64)
        await bench.run(600)
        bench.stalled = set()
        await bench.drain(80_000)
    bench.expect_order()


@cocotb.test()
async def full_speed(dut: Any) -> None:
    """Two clusters, two ports: a beat a cycle to each port, with single-beat frames and with jumbo frames."""
    bench = Bench(dut)
    await bench.start()
    for size, count in ((64, 100), (1500, 12), (9000, 4)):
        beats = (size + BEAT - 1) // BEAT * count * UNITS // 2
        first = bench.cycle
        for i in range(count):
            for unit in range(UNITS):
                bench.send(unit, unit // 4 ^ i & 1 if size == BEAT else unit & 1, size)
        await bench.drain()
        cycles = max(f.cycle for f in bench.frames) - first
        dut._log.info(f"{size} B: {beats} beats to each port in {cycles} cycles")
        assert cycles <= 1.05 * beats + 2 * size // BEAT + 30
    bench.expect_order()


@cocotb.test()
async def stalled_destinations_hold_only_their_own(dut: Any) -> None:
    """Port 1 and the host take nothing, two units of each cluster have frames for them: the others send at full rate
    past them.
    """
    bench = Bench(dut)
    await bench.start()
    bench.stalled = {PORT_1, HOST}
    for unit, dst in ((0, 1), (5, 1), (1, 2), (7, 9)):
        for _ in range(60):
            bench.send(unit, dst, 1500)
    for i in range(600):
        for unit in (2, 3):
            bench.send(unit, 0, 64)
        for unit in (4, 6):
            bench.send(unit, 0x40 + i % 32, 64)
    await bench.run(1300 + 900)  # the links carry frames to the stalled ones, too, until their buffers are full
    assert len(bench.out[PORT_0]) == len(bench.out[LOOPBACK]) == 1200
    assert not bench.out[PORT_1] and not bench.out[HOST] and any(bench.waiting)
    # Now the stalled ones are full: the link belongs to the others alone
    first = bench.cycle
    for _ in range(200):
        bench.send(2, 0, 64)
        bench.send(4, 3, 64)
    await bench.run(230)
    assert len(bench.out[PORT_0]) == len(bench.out[LOOPBACK]) == 1400, f"after {bench.cycle - first} cycles"
    bench.stalled = set()
    await bench.drain()
    bench.expect_order()


@cocotb.test()
async def sizes_take_turns(dut: Any) -> None:
    """Seven units with 9,000 B frames and one with 64 B, all to port 0: the small ones come out one in each round."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(6):
        for unit in range(7):
            bench.send(unit, 0, 9000)
        bench.send(7, 0, 64)
    await bench.drain()
    small = [i for i, frame in enumerate(bench.out[PORT_0]) if frame.unit == 7]
    assert all(later - earlier <= 10 for earlier, later in pairwise(small)), small
    per_unit = [sum(f.unit == u for f in bench.out[PORT_0][:24]) for u in range(UNITS)]
    assert min(per_unit) >= 2, per_unit


@pytest.mark.parametrize("stages", [0, 3])
def test_switch_out(stages: int) -> None:
    simulate(
        "switch_out_bench",
        [
            "lib/rtl/rtl.f",
            "shell/rtl/shell_pkg.sv",
            "shell/rtl/switch_out.sv",
            "shell/rtl/frame_gather.sv",
            "shell/tests/switch_out_bench.sv",
        ],
        "test_switch_out",
        {"Stages": stages},
    )
