# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The crossings between clocks of random ratio and phase, with metastability modelled and resets that come and go
alone.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Periods in ps of a and b: those of a MAC and the card and the other way round, equal ones, and ratios far from one.
RATIOS = [(3103, 4000), (4000, 3103), (4000, 4000), (8000, 3103), (3103, 8000), (1000, 13007), (13007, 1000)]


class Clocks:
    """Two clocks that can be stopped."""

    def __init__(self, dut: Any, rng: random.Random, a: int, b: int) -> None:
        self.running = {"a": True, "b": True}
        for name, period in (("a", a), ("b", b)):
            cocotb.start_soon(self._run(getattr(dut, f"{name}_clk"), name, period, rng.randrange(1, 1 + period)))

    async def _run(self, signal: Any, name: str, period: int, phase: int) -> None:
        signal.value = 0
        await Timer(phase, unit="ps")
        while True:
            if self.running[name]:
                signal.value = 1
            await Timer(period // 2, unit="ps")
            signal.value = 0
            await Timer(period - period // 2, unit="ps")


async def settle(dut: Any, *, up: bool) -> None:
    """Until both sides are in reset, or out of it."""
    for _ in range(2000):
        await Timer(1000, unit="ps")
        if int(dut.a_rst.value) == int(dut.b_rst.value) == (0 if up else 1):
            return
    raise AssertionError(f"the pair of resets does not settle: a {dut.a_rst.value}, b {dut.b_rst.value}")


async def start(dut: Any, seed: int, a: int, b: int) -> tuple[random.Random, Clocks]:
    rng = random.Random(seed)
    for name in ("push", "din", "commit", "discard", "pop", "word_valid", "word_in", "event_in"):
        getattr(dut, name).value = 0
    dut.a_rst_in.value = dut.b_rst_in.value = 1
    clocks = Clocks(dut, rng, a, b)
    await Timer(4 * max(a, b), unit="ps")
    dut.a_rst_in.value = dut.b_rst_in.value = 0
    await settle(dut, up=True)
    return rng, clocks


class Queue:
    """Frames of words pushed at a and popped at b; b sees those that were committed, in their order and whole."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.held: deque[int] = deque()
        self.passed = self.discarded = self.number = 0
        self.push_rate = self.pop_rate = 1.0
        self.most = 0
        self.tasks = [cocotb.start_soon(self._write()), cocotb.start_soon(self._read())]

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        for name in ("push", "commit", "discard"):
            getattr(self.dut, name).value = 0

    async def _write(self) -> None:
        d, frame = self.dut, []
        while True:
            await FallingEdge(d.a_clk)
            push = bool(int(d.ready.value)) and self.rng.random() < self.push_rate and not int(d.a_rst.value)
            word = self.number & (1 << len(d.din)) - 1
            d.push.value, d.din.value = push, word
            d.commit.value = d.discard.value = 0
            if not push:
                continue
            self.number += 1
            frame.append(word)
            kind = self.rng.random()
            if kind < 0.4:
                d.commit.value = 1
                self.held.extend(frame)
                frame = []
            elif kind < 0.5 or len(frame) > 4:
                d.discard.value = 1
                self.discarded += len(frame)
                frame = []
            self.most = max(self.most, len(self.held) + len(frame))

    async def _read(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.b_clk)
            pop = self.rng.random() < self.pop_rate
            d.pop.value = pop
            await ReadOnly()
            if int(d.valid.value) and not int(d.b_rst.value):
                assert self.held, "a word from nowhere"
                assert int(d.dout.value) == self.held[0], f"{int(d.dout.value)} instead of {self.held[0]}"
                if pop:
                    self.held.popleft()
                    self.passed += 1


@cocotb.test()
async def queue(dut: Any) -> None:
    """Words arrive once, in order, at all rates of both sides; discarded words never arrive."""
    a, b = (int(period) for period in cocotb.plusargs["periods"].split(","))
    rng, _ = await start(dut, 1, a, b)
    q = Queue(dut, rng)
    for q.push_rate, q.pop_rate in ((1, 1), (0.3, 1), (1, 0.2), (1, 0), (0.5, 0.5), (1, 1)):
        await Timer(400 * max(a, b), unit="ps")
    q.push_rate = 0
    q.pop_rate = 1
    await Timer(60 * (a + b), unit="ps")
    depth = int(dut.Depth.value)
    assert not q.held, f"{len(q.held)} words did not come out"
    assert q.passed > 200 and q.discarded > 50 and q.most >= depth


@cocotb.test()
async def full_rate(dut: Any) -> None:
    """A word a cycle of the slower clock, when each is committed at once."""
    a, b = (int(period) for period in cocotb.plusargs["periods"].split(","))
    await start(dut, 2, a, b)
    passed = 0

    async def write() -> None:
        number = 0
        while True:
            await FallingEdge(dut.a_clk)
            push = int(dut.ready.value)
            dut.push.value = dut.commit.value = push
            dut.din.value = number & (1 << len(dut.din)) - 1
            number += push

    cocotb.start_soon(write())
    dut.pop.value = 1
    for cycle in range(460):
        await FallingEdge(dut.b_clk)
        if cycle >= 60:
            passed += int(dut.valid.value)
    least = 400 * min(1.0, b / a)
    # A queue this short holds less than the way there and back when one clock is many times faster.
    assert passed >= least * (0.97 if max(a, b) < 3 * min(a, b) else 0.25), f"{passed} of {least}"


@cocotb.test()
async def resets(dut: Any) -> None:
    """Resets of either side, long and shorter than a cycle of the other, also while a clock stands still: words of
    before never come after, and all those from after do.
    """
    a, b = (int(period) for period in cocotb.plusargs["periods"].split(","))
    rng, clocks = await start(dut, 3, a, b)
    for turn in range(30):
        queue = Queue(dut, rng)
        await Timer(rng.randrange(5, 40) * max(a, b), unit="ps")
        queue.stop()
        side = rng.choice("ab")
        stopped = rng.choice(["", "", "a", "b"])
        if stopped:
            clocks.running[stopped] = False
        getattr(dut, f"{side}_rst_in").value = 1
        await Timer(rng.choice([300, a, b, 5 * max(a, b)]), unit="ps")
        getattr(dut, f"{side}_rst_in").value = 0
        if stopped:
            await Timer(30 * max(a, b), unit="ps")
            other = "b" if stopped == "a" else "a"
            assert int(getattr(dut, f"{other}_rst").value), (
                "a side leaves its reset while the other's clock stands still"
            )
            clocks.running[stopped] = True
        await settle(dut, up=True)
        await Timer(12 * (a + b), unit="ps")
        assert not int(dut.valid.value), f"turn {turn}: a word of before the reset"
    queue = Queue(dut, rng)
    await Timer(100 * max(a, b), unit="ps")
    assert queue.passed > 10


@cocotb.test()
async def words_and_counts(dut: Any) -> None:
    """Each word crosses once; the count never runs ahead or back, and ends right; pulses far apart all arrive."""
    a, b = (int(period) for period in cocotb.plusargs["periods"].split(","))
    rng, _ = await start(dut, 4, a, b)
    sent: deque[int] = deque()
    got = events = pulses = 0
    counts = [0]

    async def send() -> None:
        nonlocal events
        for turn in range(300):
            await FallingEdge(dut.a_clk)
            valid = rng.random() < 0.7
            word = rng.getrandbits(len(dut.word_in))
            dut.word_valid.value, dut.word_in.value = valid, word
            far = max(1, 6 * b // a + 6)
            dut.event_in.value = fire = turn % far == 0
            events += fire
            if valid and int(dut.word_ready.value):
                sent.append(word)
        await FallingEdge(dut.a_clk)
        dut.word_valid.value = dut.event_in.value = 0

    async def take() -> None:
        nonlocal got, pulses
        while True:
            await RisingEdge(dut.b_clk)
            await ReadOnly()
            pulses += int(dut.pulse.value)
            count = int(dut.count.value)
            assert counts[-1] <= count <= events, f"a count of {count} after {counts[-1]}, of {events} events"
            counts.append(count)
            if int(dut.word_there.value):
                assert sent and int(dut.word_out.value) == sent.popleft()
                got += 1

    cocotb.start_soon(take())
    await cocotb.start_soon(send())
    await Timer(20 * (a + b), unit="ps")
    assert got >= 3 and not sent and counts[-1] == events == pulses


@cocotb.test()
async def counts_of_every_cycle(dut: Any) -> None:
    """Events in each cycle, also when the other clock is much slower."""
    a, b = (int(period) for period in cocotb.plusargs["periods"].split(","))
    await start(dut, 5, a, b)
    await FallingEdge(dut.a_clk)
    dut.event_in.value = 1
    last = 0
    for _ in range(200):
        await FallingEdge(dut.b_clk)
        count = int(dut.count.value)
        assert last <= count <= last + 2 * b // a + 3, f"{count} after {last}"
        last = count
    assert last > 150 * min(1, b / a)


@pytest.mark.parametrize("periods", RATIOS)
def test_crossings(periods: tuple[int, int]) -> None:
    simulate(
        "lib_bench",
        ["shell/cards/lib/lib.f", "shell/cards/tests/lib_bench.sv"],
        "test_crossings",
        {"Depth": 16},
        defines=["PENSTOCK_METASTABLE"],
        plusargs=[f"+periods={periods[0]},{periods[1]}"],
    )
