# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""egress of a port and of the host, with its buffers: whole frames, in order, without gaps, at full speed."""

from __future__ import annotations

import random
import sys
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

CLUSTERS, BEAT, LONGEST = 2, 64, 16384


class Bench:
    """Plays the links of two clusters and the receiver. A frame begins with its number, which is also its time of
    arrival.
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(17)
        self.bytes = int(dut.Bytes.value)
        self.cycle = 0
        self.rate = self.ready = 1.0  # probability that a link brings a beat, that the receiver takes one
        self.frames: list[bytes] = []
        self.waiting: list[deque[int]] = [deque() for _ in range(CLUSTERS)]
        self.at = [0] * CLUSTERS
        self.partial = b""
        self.idle = 0  # cycles since the last beat of the frame that leaves
        self.out: list[int] = []  # numbers
        self.first: list[int] = []  # cycle of each one's first beat
        self.last: list[int] = []
        self.counted = [0, 0]
        self.unsent = 0

    async def start(self) -> None:
        d = self.dut
        for name in ("timeout", "in_valid", "in_last", "in_data", "in_len", "in_time", "tx_tready"):
            getattr(d, name).value = 0
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        for _ in range(3):
            await FallingEdge(d.clk)

    def send(self, cluster: int, size: int) -> None:
        number = len(self.frames)
        self.frames.append((number.to_bytes(4, "little") + self.rng.randbytes(size))[:size])
        self.waiting[cluster].append(number)

    async def drain(self, timeout: int = 20_000) -> None:
        for _ in range(timeout):
            if len(self.out) == len(self.frames):
                break
            await self.step()
        for _ in range(20):
            await self.step()
        assert len(self.out) == len(self.frames), f"{len(self.out)} frames of {len(self.frames)}"

    async def step(self) -> None:
        d, rng = self.dut, self.rng
        room = int(d.room.value)
        valid = last = data = size = time = 0
        for c in range(CLUSTERS):
            # A link starts a frame only when there is room for all of it, and never stops for the destination
            if not self.waiting[c] or (self.rate < 1 and rng.random() >= self.rate):
                continue
            number, at = self.waiting[c][0], self.at[c]
            if at == 0 and not room >> c & 1:
                continue
            frame = self.frames[number]
            valid |= 1 << c
            # Bytes beyond the frame are arbitrary
            data |= int.from_bytes(frame[at : at + BEAT].ljust(BEAT, b"\xa5"), "little") << (8 * BEAT * c)
            size |= len(frame) << (16 * c)
            time |= number << (32 * c)
            self.at[c] += BEAT
            if self.at[c] >= len(frame):
                last |= 1 << c
                self.at[c] = 0
                self.waiting[c].popleft()
        ready = self.ready == 1 or rng.random() < self.ready
        d.in_valid.value, d.in_last.value, d.tx_tready.value = valid, last, ready
        d.in_data.value, d.in_len.value, d.in_time.value = data, size, time
        await ReadOnly()
        there = int(d.tx_tvalid.value)
        if self.partial and ready:
            self.idle = 0 if there else self.idle + 1
            assert self.idle < self.bytes // BEAT, "a gap in a frame"
        if there and ready:
            self._take()
        if int(d.event_frame.value):
            self.counted = [self.counted[0] + 1, self.counted[1] + int(d.event_bytes.value)]
        self.unsent += int(d.event_unsent.value)
        await FallingEdge(d.clk)
        self.cycle += 1

    def _take(self) -> None:
        d = self.dut
        keep, last = d.tx_tkeep.value.to_unsigned(), bool(int(d.tx_tlast.value))
        count = keep.bit_count()
        assert keep == (1 << count) - 1 and count and (last or count == self.bytes), f"tkeep {keep:#x}"
        if not self.partial:
            self.first.append(self.cycle)
            self.time = int(d.tx_time.value)
        self.partial += d.tx_tdata.value.to_unsigned().to_bytes(self.bytes, "little")[:count]
        if last:
            assert self.partial == self.frames[self.time], f"a frame of {len(self.frames[self.time])} bytes is damaged"
            self.out.append(self.time)
            self.last.append(self.cycle)
            self.partial = b""
            self.idle = 0


@cocotb.test()
async def all_lengths(dut: Any) -> None:
    """Every length from 14 to 300 bytes and the longest, with gaps on the links and a receiver that is slow, and
    without.
    """
    bench = Bench(dut)
    await bench.start()
    sizes = [*range(14, 301), 1500, 9000, 16320, 16321, 16336, 16383, LONGEST]
    for rate, ready in ((1.0, 1.0), (0.6, 1.0), (1.0, 0.4), (0.8, 0.8)):
        bench.rate, bench.ready = rate, ready
        bench.rng.shuffle(sizes)
        for i, size in enumerate(sizes):
            bench.send(i % 3 % CLUSTERS, size)
        await bench.drain()
    assert bench.counted == [len(bench.frames), sum(map(len, bench.frames))]
    parity = [[n for n in bench.out if n % len(sizes) % 3 % CLUSTERS == c] for c in range(CLUSTERS)]
    assert all(numbers == sorted(numbers) for numbers in parity), "out of order"


@cocotb.test()
async def full_speed(dut: Any) -> None:
    """A frame a cycle up to 64 bytes, on a port up to 80; else 64 bytes a cycle."""
    bench = Bench(dut)
    await bench.start()
    port = bench.bytes > BEAT
    for size in (60, 65, 80, 81, 128, 129, 1500):
        count = 8 if size == 1500 else 100
        first = len(bench.out)
        for i in range(count):
            bench.send(i % CLUSTERS, size)
        await bench.drain()
        took = bench.last[-1] - bench.first[first] + 1
        beats = 1 if port and size <= 80 else -(-size // BEAT)
        dut._log.info(f"{size} B: {count} frames in {took} cycles")
        assert took <= count * beats + 8


TIMEOUT = 300


async def taken(bench: Bench, cycles: int) -> bool:
    """Whether the links deliver all waiting frames within this many cycles."""
    for _ in range(cycles):
        if not any(bench.waiting):
            return True
        await bench.step()
    return False


@cocotb.test()
async def stuck_receiver(dut: Any) -> None:
    """A receiver that takes nothing stalls the links for EXIT_TIMEOUT and no longer; the frame that it has begun and
    the frames in the buffers stay.
    """
    bench = Bench(dut)
    await bench.start()
    dut.timeout.value = TIMEOUT
    sizes = [60, 9000, 80, LONGEST, 65, 1500, 128, 300]
    for round_ in range(3):
        before, unsent, sent = len(bench.out), bench.unsent, len(bench.frames)
        bench.send(0, 9000)
        while not bench.partial:
            await bench.step()
        bench.ready = 0.0
        for i in range(200):
            bench.send(i % CLUSTERS, bench.rng.choice(sizes))
        assert not await taken(bench, TIMEOUT - 10), "the buffers hold all"
        assert bench.unsent == unsent, "dropped too early"
        for _ in range(20):
            await bench.step()
        beats = sum(-(-len(bench.frames[n]) // BEAT) for waiting in bench.waiting for n in waiting)
        assert await taken(bench, beats + 100), "the links are held"
        # One that takes a beat now and then is as stuck as before
        if round_ == 1:
            for i in range(200):
                bench.send(i % CLUSTERS, 1500)
            for i in range(20_000):
                bench.ready = float(i % 100 == 0)
                await bench.step()
                assert i < 4000 or not any(bench.waiting), "the links are held again"
        bench.ready = 1.0
        for _ in range(3000):
            await bench.step()
        left = len(bench.out) - before
        assert left + bench.unsent - unsent == len(bench.frames) - sent, "a frame has neither left nor been counted"
        assert bench.unsent > unsent
        assert bench.out[before] == sent, "the frame that had begun"
        # Now all goes through again.
        unsent, before = bench.unsent, len(bench.out)
        for i in range(100):
            bench.send(i % CLUSTERS, bench.rng.choice(sizes))
        assert await taken(bench, 40_000)
        for _ in range(3000):
            await bench.step()
        assert (len(bench.out) - before, bench.unsent) == (100, unsent)


@cocotb.test()
async def short_frames_of_a_stuck_receiver(dut: Any) -> None:
    """More frames than a buffer's list has places for, and a receiver that returns while others are in flight."""
    bench = Bench(dut)
    await bench.start()
    dut.timeout.value = TIMEOUT
    for wait in range(0, 60, 3):
        unsent, out, sent = bench.unsent, len(bench.out), len(bench.frames)
        bench.ready = 0.0
        for i in range(150):
            bench.send(i % CLUSTERS, 64 if wait % 2 else 100)
        for _ in range(TIMEOUT + 10 + wait):
            await bench.step()
        bench.ready = 1.0
        for _ in range(800):
            await bench.step()
        assert not any(bench.waiting)
        assert bench.unsent - unsent + len(bench.out) - out == len(bench.frames) - sent


@cocotb.test()
async def timeout_of_zero(dut: Any) -> None:
    """With 0 nothing is ever dropped."""
    bench = Bench(dut)
    await bench.start()
    bench.ready = 0.0
    for i in range(100):
        bench.send(i % CLUSTERS, 1500)
    for _ in range(3000):
        await bench.step()
    bench.ready = 1.0
    await bench.drain()
    assert bench.unsent == 0


@pytest.mark.parametrize("width", [128, 64])
def test_egress(width: int) -> None:
    simulate(
        "egress_bench",
        [
            "lib/rtl/rtl.f",
            "shell/rtl/shell_pkg.sv",
            "shell/rtl/frame_gather.sv",
            "shell/rtl/egress.sv",
            "shell/tests/egress_bench.sv",
        ],
        "test_egress",
        {"Bytes": width},
    )
