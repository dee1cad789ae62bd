# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""switch_in: order, whole frames, full speed, and which frames may block which."""

from __future__ import annotations

import random
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

SOURCES, TAILS, UNITS, CLUSTERS, CLUSTER, BEAT, TAIL = 4, 2, 8, 2, 4, 64, 16
QUEUE, ROOM = 32, 4  # beats of a unit's queue, and how many must have a place when it says that it has room


def pack(values: list[int], width: int) -> int:
    """Element i of a packed array is at bit i * width."""
    return sum(value << (i * width) for i, value in enumerate(values))


@dataclass
class Frame:
    number: int
    source: int
    unit: int
    size: int

    def beats(self) -> int:
        """On the link to the unit."""
        return (self.size + BEAT - 1) // BEAT

    def beats_in(self) -> int:
        """One when the source has tails and the frame is folded."""
        return 1 if self.source < TAILS and BEAT < self.size <= BEAT + TAIL else self.beats()


class Bench:
    """Plays the dispatcher, which decides two cycles before a beat arrives here, and the units, each with a queue of 32
    beats.
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(13)
        self.cycle = 0
        self.frames: list[Frame] = []
        self.ready = 1.0  # probability that a unit takes a beat from its queue
        self.stalled: set[int] = set()  # units that take nothing
        self.slow: set[int] = set()  # units that take a beat in every second cycle
        self.queues: list[deque[tuple[int, bool, int]]] = [deque() for _ in range(UNITS)]
        self.waiting: list[deque[Frame]] = [deque() for _ in range(SOURCES)]
        self.beat = [0] * SOURCES
        self.decided: deque[list[tuple[Frame, int] | None]] = deque([[None] * SOURCES] * 2)
        self.out: list[list[Frame]] = [[] for _ in range(UNITS)]
        self.partial: list[list[int]] = [[] for _ in range(UNITS)]

    async def start(self) -> None:
        d = self.dut
        for name in ("in_valid", "in_last", "in_tag", "in_len", "in_unit", "out_room"):
            getattr(d, name).value = 0
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        for _ in range(3):
            await FallingEdge(d.clk)

    def send(self, source: int, unit: int, size: int = BEAT) -> None:
        self.frames.append(Frame(len(self.frames), source, unit, size))
        self.waiting[source].append(self.frames[-1])

    def total(self) -> int:
        return sum(map(len, self.out))

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def drain(self, timeout: int = 20_000) -> None:
        for _ in range(timeout):
            if self.total() == len(self.frames):
                break
            await self.step()
        await self.run(20)
        assert self.total() == len(self.frames), f"{self.total()} frames of {len(self.frames)}"

    async def step(self) -> None:
        d = self.dut
        starts, beats = int(d.start_room.value), int(d.beat_room.value)
        now: list[tuple[Frame, int] | None] = [None] * SOURCES
        for s in range(SOURCES):
            if self.waiting[s]:
                frame, at = self.waiting[s][0], self.beat[s]
                if (beats if at else starts) >> (s * CLUSTERS + frame.unit // CLUSTER) & 1:
                    now[s] = frame, at
                    self.beat[s] = at + 1
                    if at + 1 == frame.beats_in():
                        self.waiting[s].popleft()
                        self.beat[s] = 0
        self.decided.append(now)
        valid, last, tag, size, unit = ([0] * SOURCES for _ in range(5))
        for s, beat in enumerate(self.decided.popleft()):
            if beat:
                frame, at = beat
                valid[s] = 1 << frame.unit // CLUSTER
                last[s] = at + 1 == frame.beats_in()
                tag[s], size[s], unit[s] = frame.number << 8 | at, frame.size, frame.unit
        room = 0
        for u, queue in enumerate(self.queues):
            room |= (len(queue) <= QUEUE - ROOM) << u
            if u in self.stalled or (u in self.slow and self.cycle % 2):
                continue
            if queue and (self.ready == 1 or self.rng.random() < self.ready):
                self._take(u, *queue.popleft())
        d.in_valid.value, d.in_last.value = pack(valid, CLUSTERS), pack(last, 1)
        d.in_tag.value, d.in_len.value, d.in_unit.value = pack(tag, 32), pack(size, 16), pack(unit, 5)
        d.out_room.value = room
        await ReadOnly()
        leaving = int(d.out_valid.value)
        if leaving:
            lasts, tags, units = int(d.out_last.value), int(d.out_tag.value), int(d.out_unit.value)
            for u in range(UNITS):
                if leaving >> u & 1:
                    self.queues[u].append((tags >> (32 * u) & 0xFFFFFFFF, bool(lasts >> u & 1), units >> (5 * u) & 31))
                    assert len(self.queues[u]) <= QUEUE, f"a beat for unit {u} without room"
        await FallingEdge(d.clk)
        self.cycle += 1

    def _take(self, unit: int, tag: int, last: bool, named: int) -> None:
        beats = self.partial[unit]
        beats.append(tag)
        frame = self.frames[tag >> 8]
        assert named == unit == frame.unit
        assert tag == frame.number << 8 | (len(beats) - 1), "frames are mixed"
        assert last == (len(beats) == frame.beats())
        if last:
            self.out[unit].append(frame)
            beats.clear()

    def expect_order(self) -> None:
        """Frames of one source to one unit keep their order."""
        numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for frames in self.out:
            for frame in frames:
                numbers[frame.source, frame.unit].append(frame.number)
        assert all(n == sorted(n) for n in numbers.values())


@cocotb.test()
async def keeps_frames_whole(dut: Any) -> None:
    """Random sizes, units and stalls: every frame once, in order, not mixed with another."""
    bench = Bench(dut)
    await bench.start()
    for ready in (1.0, 0.7, 0.3):
        bench.ready = ready
        for _ in range(300):
            size = bench.rng.choice([14, 64, 65, 65, 80, 81, 128, 512, 1500, bench.rng.randrange(14, 4000)])
            bench.send(bench.rng.randrange(SOURCES), bench.rng.randrange(UNITS), size)
        await bench.drain()
    bench.expect_order()


@cocotb.test()
async def full_speed(dut: Any) -> None:
    """Two sources keep two clusters busy in every cycle: with single-beat frames, with folded ones, which take two
    cycles each on the links, and with long ones.
    """
    bench = Bench(dut)
    await bench.start()
    for size, count in ((64, 400), (65, 300), (9000, 6)):
        first = bench.cycle
        for i in range(count):
            bench.send(0, (i % 2 * CLUSTER + i // 2 % CLUSTER) % UNITS, size)
            bench.send(1, ((i + 1) % 2 * CLUSTER + i // 2 % CLUSTER) % UNITS, size)
        while bench.total() < len(bench.frames):
            await bench.step()
            assert bench.cycle - first < 10_000
        beats = count * ((size + BEAT - 1) // BEAT)
        dut._log.info(f"{size} B: {beats} beats of each source in {bench.cycle - first} cycles")
        assert bench.cycle - first <= 1.05 * beats + 20
    bench.expect_order()


@cocotb.test()
async def stalled_unit_holds_only_its_own(dut: Any) -> None:
    """Unit 0 takes no frame and source 0 has frames for it alone: the others get theirs at full rate, on its link and
    the other one.
    """
    bench = Bench(dut)
    await bench.start()
    bench.stalled = {0}
    for _ in range(100):
        bench.send(0, 0)
    for i in range(500):
        bench.send(1, 1 + i % 3)
        bench.send(2, 4 + i % 4)
    await bench.run(540 + 40)  # 40 beats for unit 0 pass before its queue is full
    assert sum(map(len, bench.out[1:])) == 1000 and not bench.out[0] and bench.waiting[0]
    bench.stalled = set()
    await bench.drain()
    bench.expect_order()


@cocotb.test()
async def slow_unit_in_turn_with_others(dut: Any) -> None:
    """One source has frames for all units of a cluster. Unit 0 takes beats at half the link's rate, as a unit whose
    program stores all the time; its fourth of the frames needs no more, so the source loses no cycle.
    """
    bench = Bench(dut)
    await bench.start()
    bench.slow = {0}
    for i in range(400):
        bench.send(2, i % 4)
    await bench.run(400 + 20)
    assert bench.total() == 400
    bench.expect_order()


@cocotb.test()
async def sources_take_turns(dut: Any) -> None:
    """All sources at once into one cluster, long frames against short ones: each source gets a frame in each round."""
    bench = Bench(dut)
    await bench.start()
    sizes = [9000, 64, 1500, 64]
    for i in range(12):
        for source in range(SOURCES):
            bench.send(source, (i + source) % CLUSTER, sizes[source])
    firsts: list[int] = []
    while bench.total() < len(bench.frames):
        before = bench.total()
        await bench.step()
        firsts += [f.source for u in range(CLUSTER) for f in bench.out[u][-1:] if bench.total() > before]
        if bench.total() >= 16:
            break
    counts = [sum(f.source == s for frames in bench.out for f in frames) for s in range(SOURCES)]
    assert min(counts) >= 3, counts
    await bench.drain()
    bench.expect_order()


@pytest.mark.parametrize("stages", [0, 3])
def test_switch_in(stages: int) -> None:
    simulate(
        "switch_in_bench",
        ["lib/rtl/rtl.f", "shell/rtl/shell_pkg.sv", "shell/rtl/switch_in.sv", "shell/tests/switch_in_bench.sv"],
        "test_switch_in",
        {"Stages": stages},
    )
