# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""broadcast: every word once to all, in each sender's order, a word a cycle, a fair share for everybody, a gap for the
host.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

GAP = 64  # cycles in which at least one brings no word
LATENCY = 5  # cycles from the unit that offers to the units that are told; twice the stages of the links come on top


class Bench:
    """Units that offer numbered words (unit in the upper bits) and record the words that arrive."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.units = len(dut.out_valid)
        self.rng = random.Random(7)
        self.cycle = 0
        self.queues: list[deque[int]] = [deque() for _ in range(self.units)]
        self.sent = [0] * self.units
        self.offered_at: list[int] = [0] * self.units  # cycle since which the word at the head waits
        self.longest_wait = 0
        self.offers: Callable[[int], bool] = lambda unit: True
        self.heard: list[tuple[int, int, int]] = []  # cycle, from, data
        self.quiet = 0
        self.longest_run = 0
        self._offering = [False] * self.units

    async def start(self) -> None:
        d = self.dut
        d.out_valid.value = 0
        d.out_data.value = 0
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        for _ in range(GAP + 8):
            await self.step()

    def give(self, unit: int, count: int = 1) -> None:
        for _ in range(count):
            self.queues[unit].append(unit << 24 | self.sent[unit])
            self.sent[unit] += 1

    async def step(self) -> None:
        d = self.dut
        valid = data = 0
        for unit, queue in enumerate(self.queues):
            # An offered word stays.
            offering = bool(queue) and (self._offering[unit] or self.offers(unit))
            if offering and not self._offering[unit]:
                self.offered_at[unit] = self.cycle
            self._offering[unit] = offering
            if offering:
                valid |= 1 << unit
                data |= queue[0] << (32 * unit)
        d.out_valid.value = valid
        d.out_data.value = data
        await ReadOnly()
        ready = int(d.out_ready.value)
        for unit in range(self.units):
            if ready >> unit & 1 and valid >> unit & 1:
                self.queues[unit].popleft()
                self.longest_wait = max(self.longest_wait, self.cycle - self.offered_at[unit])
                self._offering[unit] = False
        if d.in_valid.value:
            word = int(d.in_data.value)
            assert int(d.in_addr.value) == (word & 0x7FF) ^ 0x5A5, "address of another word"
            assert int(d.in_be.value) == ~word & 0xF, "enables of another word"
            self.heard.append((self.cycle, int(d.in_from.value), word))
            self.quiet += 1
            self.longest_run = max(self.longest_run, self.quiet)
        else:
            self.quiet = 0
        await FallingEdge(d.clk)
        self.cycle += 1

    async def drain(self) -> None:
        for _ in range(20_000):
            if not any(self.queues):
                break
            await self.step()
        assert not any(self.queues), "words stay behind"
        for _ in range(100):
            await self.step()

    def check(self) -> None:
        """Every word once, from whom it is, in its sender's order."""
        words: list[list[int]] = [[] for _ in range(self.units)]
        for _, unit, word in self.heard:
            words[unit].append(word)
        assert words == [[unit << 24 | n for n in range(count)] for unit, count in enumerate(self.sent)]
        assert self.longest_run < GAP, "no gap for the host"


@cocotb.test()
async def words_arrive_once_and_in_order(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for share in (0.02, 0.2, 0.7):
        bench.offers = lambda unit, share=share: bench.rng.random() < share  # type: ignore[misc]
        for unit in range(bench.units):
            bench.give(unit, bench.rng.randrange(40, 80))
        await bench.drain()
    bench.check()


@cocotb.test()
async def one_word_a_cycle_and_a_fair_share(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    each = 2048 // bench.units
    for unit in range(bench.units):
        bench.give(unit, each)
    await bench.drain()
    bench.check()
    cycles = bench.heard[-1][0] - bench.heard[0][0] + 1
    gaps = cycles - len(bench.heard)
    assert gaps <= cycles // GAP + 1, f"{len(bench.heard)} words took {cycles} cycles"
    if bench.units % 4 == 0:
        # All clusters are alike: each unit gets every n-th word.
        for start in range(0, len(bench.heard) - 8 * bench.units, bench.units):
            turn = {unit for _, unit, _ in bench.heard[start : start + bench.units]}
            assert turn == set(range(bench.units)), f"words {start} on: {sorted(turn)}"


@cocotb.test()
async def a_lone_word_takes_five_cycles_and_a_lone_sender_the_whole_rate(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    latency = LATENCY + 2 * int(dut.Stages.value)
    for unit in range(bench.units):
        latencies = []
        for _ in range(3):
            bench.give(unit)
            began, count = bench.cycle, len(bench.heard)
            while len(bench.heard) == count:
                await bench.step()
            latencies.append(bench.heard[-1][0] - began)
            for _ in range(bench.rng.randrange(5)):
                await bench.step()
        # A gap for the host may come in between.
        assert min(latencies) == latency and max(latencies) <= latency + 1, latencies
    first = len(bench.heard)
    bench.give(bench.units - 1, 500)
    await bench.drain()
    bench.check()
    assert bench.heard[-1][0] - bench.heard[first][0] <= 500 + 500 // (GAP - 1) + 1


@pytest.mark.parametrize(("units", "stages"), [(1, 0), (6, 3), (16, 0), (32, 0)])
def test_broadcast(units: int, stages: int) -> None:
    sources = ["lib/rtl/rtl.f", "shell/rtl/shell_pkg.sv", "shell/rtl/broadcast.sv", "shell/tests/broadcast_bench.sv"]
    simulate("broadcast_bench", sources, "test_broadcast", {"Units": units, "Stages": stages})
