# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The flow table and its lines in card memory against a dictionary in plain Python."""

from __future__ import annotations

import random
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path[:0] = [str(Path(__file__).resolve().parent)]

HOMES, TAGS = 16, 20  # lines of a bucket; the first bit of a tag
CHANNELS, BAD = 8, 8  # of card memory; lines that a channel knows to be bad
FAILS = ("fail_write", "fail_read")


@dataclass
class Line:
    """A line as the model knows it."""

    owner: int | None = None
    gen: int = 0
    states: list[tuple[bool, int] | None] = field(default_factory=lambda: [None, None])  # followed, number
    bad: bool = False  # memory has an older value
    unread: bool = False  # it is asked for and comes with an error, or is bad


@dataclass
class Port:
    wanted: deque[tuple[int, int]] = field(default_factory=deque)  # flow, direction
    offered: bool = False
    asked: deque[tuple[int, int]] = field(default_factory=deque)
    updates: deque[tuple[int, int, int, int, bool, int]] = field(default_factory=deque)  # from which cycle on; the rest
    answers: int = 0


class Bench:
    """Drives the table: answers come in each port's order, and each has the last update of its direction."""

    def __init__(self, dut: Any, seed: int, hashes: dict[int, int]) -> None:
        self.dut, self.rng, self.hashes = dut, random.Random(seed), hashes
        self.ports = [Port() for _ in range(int(dut.Ports.value))]
        self.buckets = int(dut.BucketsLog2.value)
        self.lines: dict[int, Line] = {}
        self.home: dict[int, int] = {}  # of a flow, the number of its line
        self.busy: set[int] = set()  # flows that have an answer and no update
        self.marks: deque[tuple[int, int, int, bool, int]] = deque()
        self.lost: set[int] = set()  # channels with more bad lines than they can know
        self.cycle = self.taken = self.evicted = self.fetched = self.ended = self.began = self.next = 0
        self.rate, self.delay = 1.0, (1, 20)
        self.fails = 0.0  # how likely an access of card memory fails
        self.failed = self.failures = self.unread = 0

    async def start(self) -> None:
        dut = self.dut
        for name in ("lookup_valid", "answer_pop", "update_valid", "mark_valid", "now", "clear", *FAILS):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        await ClockCycles(dut.clk, 10)
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        await self.emptied()

    async def emptied(self) -> None:
        for _ in range(1 << 18):
            await FallingEdge(self.dut.clk)
            if int(self.dut.ready.value):
                return
        raise AssertionError("the table is never ready")

    def bucket(self, flow: int) -> int:
        return self.hashes[flow] & ((1 << self.buckets) - 1)

    def answered(self, p: int, port: Port) -> None:
        """Compares an answer with the model."""
        dut = self.dut

        def of(name: str, width: int) -> int:
            return int(getattr(dut, f"answer_{name}").value) >> width * p & (1 << width) - 1

        flow, direction = port.asked.popleft()
        port.answers += 1
        number, gen = of("number", 21), of("gen", 5)
        got = (bool(of("followed", 1)), of("next", 32)) if of("open", 1) else None
        assert flow not in self.busy, "two frames of a flow at once"
        line = self.lines.setdefault(number, Line())
        if line.unread and line.owner == flow:  # what the memory has of it is lost
            line.unread = False
            self.unread += 1
            del self.home[flow]
            line.owner, line.states = None, [None, None]
            self.ended += 1
            self.takes(flow, number, line)
            assert gen == line.gen and got is None, (flow, number, gen, got, line)
        elif self.home.get(flow) == number:
            assert gen == line.gen and got == line.states[direction], (flow, number, gen, got, line)
        else:
            self.begins(flow, number, line)
            assert gen == line.gen and got is None, (flow, number, gen, got, line)
        self.busy.add(flow)
        self.next += 1
        due = self.cycle + self.rng.randint(*self.delay)
        due = max(due, port.updates[-1][0] if port.updates else 0)
        followed = bool(got and got[0])
        port.updates.append((due, flow, direction, of("place", 16), followed, self.next))

    def begins(self, flow: int, number: int, line: Line) -> None:
        """A flow without a line takes this one: an invalid one if there is one, or that of a flow with its tag."""
        assert flow not in self.home, f"flow {flow} had line {self.home.get(flow)} and gets {number}"
        if self.buckets:
            assert number // HOMES == self.bucket(flow)
            first = number // HOMES * HOMES
            mine = [self.lines.get(first + n, Line()).owner for n in range(HOMES)]
            tags = [None if owner is None else self.hashes[owner] >> TAGS for owner in mine]
            if self.hashes[flow] >> TAGS in tags:
                assert tags[number - first] == self.hashes[flow] >> TAGS, "two lines with the same tag"
            else:
                assert line.owner is None or None not in mine, "a line was taken though another was free"
        if line.owner is not None:
            assert line.owner not in self.busy
            self.ended += 1
            del self.home[line.owner]
        line.unread = False
        self.takes(flow, number, line)

    def takes(self, flow: int, number: int, line: Line) -> None:
        self.began += 1
        line.owner, line.gen, line.states = flow, line.gen + 1 & 31, [None, None]
        self.home[flow] = number

    async def step(self) -> None:
        dut, rng = self.dut, self.rng
        valid = flows = hashes = directions = 0
        for p, port in enumerate(self.ports):
            port.offered = port.offered or rng.random() < self.rate
            if port.offered and port.wanted and len(port.asked) + len(port.updates) < 32:
                flow, direction = port.wanted[0]
                valid |= 1 << p
                flows |= flow << 32 * p
                hashes |= self.hashes[flow] << 32 * p
                directions |= direction << p
        dut.lookup_valid.value = valid
        dut.lookup_flow.value, dut.lookup_hash.value, dut.lookup_direction.value = flows, hashes, directions
        pops = sum((rng.random() < 0.9) << p for p in range(len(self.ports)))
        dut.answer_pop.value = pops
        valid = places = directions = followed = states = 0
        for p, port in enumerate(self.ports):
            if port.updates and port.updates[0][0] <= self.cycle:
                _, _, direction, place, follows, state = port.updates[0]
                valid |= 1 << p
                places |= place << 16 * p
                directions |= direction << p
                followed |= follows << p
                states |= state << 32 * p
        dut.update_valid.value, dut.update_place.value, dut.update_direction.value = valid, places, directions
        dut.update_followed.value, dut.update_next.value = followed, states
        dut.mark_valid.value = bool(self.marks)
        if self.marks:
            number, gen, direction, follow, last = self.marks[0]
            dut.mark_number.value, dut.mark_gen.value = number, gen
            dut.mark_direction.value, dut.mark_follow.value = direction, follow
            dut.mark_port.value, dut.mark_place.value = last & 3, ~last & 0xFFFFFFFF
        if self.fails:
            dut.fail_write.value = sum((rng.random() < self.fails) << c for c in range(CHANNELS))
            dut.fail_read.value = sum((rng.random() < self.fails) * rng.randint(1, 3) << 2 * c for c in range(CHANNELS))
        await ReadOnly()
        self.memory()
        lookups = int(dut.lookup_valid.value) & int(dut.lookup_ready.value)
        answers = int(dut.answer_valid.value) & pops
        updates = valid & int(dut.update_ready.value)
        for p, port in enumerate(self.ports):
            if lookups >> p & 1:
                port.asked.append(port.wanted.popleft())
                port.offered = False
            if answers >> p & 1:
                self.answered(p, port)
            if updates >> p & 1:
                _, flow, direction, _, follows, state = port.updates.popleft()
                self.lines[self.home[flow]].states[direction] = (follows, state)
                self.busy.remove(flow)
        if self.marks and int(dut.mark_ready.value):
            self.marks.popleft()
        self.taken += int(dut.taken.value)
        self.evicted += int(dut.evicted.value)
        self.fetched += int(dut.fetched.value)
        self.failed += int(dut.failed.value)
        await FallingEdge(dut.clk)
        self.cycle += 1

    def memory(self) -> None:
        """Follows the lines that are written and read, and those of them that fail."""
        dut = self.dut
        for access in ("write", "read"):
            going = int(getattr(dut, f"{access}s").value)
            for c in range(CHANNELS) if going else ():
                if going >> c & 1:
                    line = self.lines[int(getattr(dut, f"{access}_line").value) >> 21 * c & (1 << 21) - 1]
                    if access == "write":
                        line.bad = bool(int(dut.fail_write.value) >> c & 1)
                        self.failures += line.bad
                    else:
                        failed = int(dut.fail_read.value) >> 2 * c & 3 != 0
                        line.unread = failed or line.bad or c in self.lost
                        self.failures += failed

    def bad(self) -> list[int]:
        """How many lines of each channel are bad."""
        lines = [number // HOMES % CHANNELS for number, line in self.lines.items() if line.bad]
        return [lines.count(c) for c in range(CHANNELS)]

    async def drain(self, timeout: int = 200_000) -> None:
        for _ in range(timeout):
            if not any(port.wanted or port.asked or port.updates for port in self.ports) and not self.marks:
                break
            await self.step()
        else:
            raise AssertionError("lookups stay in the table")
        for _ in range(200):
            await self.step()
        assert not self.busy
        assert (self.taken, self.evicted) == (self.began, self.ended)
        assert self.failed == self.failures


def hashes(rng: random.Random, flows: int, tags: int) -> dict[int, int]:
    """A hash for each flow, with so many different tags."""
    return {flow: rng.randrange(tags) << TAGS | rng.getrandbits(TAGS) for flow in range(flows)}


@cocotb.test()
async def random_lookups(dut: Any) -> None:
    """Flows that fit, some more than that, and flows that share few tags: every answer is the model's."""
    rng = random.Random(1)
    for round_, (flows, tags, least) in enumerate(((60, 4096, 0), (150, 4096, 0), (400, 4096, 50), (150, 6, 50))):
        bench = Bench(dut, round_, hashes(rng, flows, tags))
        if round_ == 0:
            await bench.start()
        else:
            dut.clear.value = 1
            await FallingEdge(dut.clk)
            dut.clear.value = 0
            await bench.emptied()
        bench.rate = rng.choice([0.3, 1.0])
        bench.delay = rng.choice([(1, 1), (1, 20), (5, 60)])
        for _ in range(3000):
            near = rng.random() < 0.3
            flow = rng.randrange(5) if near else rng.randrange(flows)
            bench.ports[rng.randrange(len(bench.ports))].wanted.append((flow, rng.randrange(2)))
        await bench.drain()
        dut._log.info(
            "%d flows: %d cycles, %d lines taken, %d from others, %d read",
            flows, bench.cycle, bench.taken, bench.evicted, bench.fetched,
        )  # fmt: skip
        assert bench.ended >= least and (least or bench.taken == flows or not bench.buckets)
        assert bench.fetched > 100 or not bench.buckets


@cocotb.test()
async def errors(dut: Any) -> None:
    """Card memory answers with errors: no older value of a line is taken for the last one."""
    rng = random.Random(4)
    flows = 150
    bench = Bench(dut, 4, hashes(rng, flows, 4096))
    await bench.start()

    async def lookups(count: int) -> None:
        for n in range(count):
            bench.ports[n % 2].wanted.append((rng.randrange(flows), rng.randrange(2)))
        await bench.drain()

    bench.fails = 0.05
    for _ in range(40):
        await lookups(100)
        assert max(bench.bad()) <= BAD
    assert bench.unread > 100
    # All writes of a channel fail: when more lines are bad than it knows of, it reads none until it is cleared.
    bench.fails = 0.0
    dut.fail_read.value = 0
    dut.fail_write.value = 1 << CHANNELS // 2
    for _ in range(40):
        if max(bench.bad()) > BAD:
            break
        await lookups(20)
    assert [n > BAD for n in bench.bad()].index(True) == CHANNELS // 2
    bench.lost = {CHANNELS // 2}
    dut.fail_write.value = 0
    await lookups(1500)
    assert sum(bench.bad()) <= 2 * BAD
    # After a clear all lines are as after a reset.
    unread = bench.unread
    bench.lines, bench.home, bench.lost = {}, {}, set()
    dut.clear.value = 1
    await FallingEdge(dut.clk)
    dut.clear.value = 0
    await bench.emptied()
    await lookups(1500)
    assert bench.unread == unread


@cocotb.test()
async def clear_waits(dut: Any) -> None:
    """A clear begins when all lookups have their updates, and then every flow is new."""
    rng = random.Random(5)
    flows = 100
    bench = Bench(dut, 5, hashes(rng, flows, 4096))
    await bench.start()
    bench.delay = (60, 100)
    for n in range(400):
        bench.ports[n % 2].wanted.append((rng.randrange(flows), 0))
    for _ in range(500):
        await bench.step()
    for port in bench.ports:
        port.wanted = deque()
    assert any(port.asked for port in bench.ports) and bench.busy
    dut.clear.value = 1
    await bench.step()
    dut.clear.value = 0
    while any(port.asked or port.updates for port in bench.ports):
        await bench.step()
        assert not int(dut.ready.value), "lines are cleared while a lookup is under way"
    await bench.step()
    await bench.emptied()
    bench.lines, bench.home = {}, {}
    for n in range(1000):
        bench.ports[n % 2].wanted.append((rng.randrange(flows), rng.randrange(2)))
    await bench.drain()


@cocotb.test()
async def marks(dut: Any) -> None:
    """A mark reaches its line wherever it is, and no line of another flow. A release is about the last record."""
    rng = random.Random(2)
    flows = 150
    bench = Bench(dut, 2, hashes(rng, flows, 4096))
    await bench.start()
    for n in range(4000):
        bench.ports[n % 2].wanted.append((rng.randrange(flows), rng.randrange(2)))
    reached = ignored = 0
    while any(port.wanted for port in bench.ports):
        await bench.step()
        if rng.random() < 0.02:
            for _ in range(400):
                if not any(port.asked or port.updates for port in bench.ports):
                    break
                held = [port.wanted for port in bench.ports]
                for port in bench.ports:
                    port.wanted = deque()
                await bench.step()
                for port, wanted in zip(bench.ports, held, strict=True):
                    port.wanted = wanted
            flow = rng.choice(list(bench.home))
            number, direction, follow = bench.home[flow], rng.randrange(2), rng.random() < 0.6
            line = bench.lines[number]
            stale = rng.random() < 0.3
            state = line.states[direction]
            # The frame that the host has looked at last, or one with the same place on another port or another place
            last = state[1] ^ rng.choice([0, 0, 0, 1 << 2 + rng.randrange(30), 1 + rng.randrange(3)]) if state else 0
            bench.marks.append((number, line.gen - stale & 31, direction, follow, last))
            held = [port.wanted for port in bench.ports]
            for port in bench.ports:
                port.wanted = deque()
            for _ in range(250):
                await bench.step()
            assert not bench.marks
            for port, wanted in zip(bench.ports, held, strict=True):
                port.wanted = wanted
            if not stale and state is not None:
                if not follow and state[0] and last != state[1]:
                    ignored += 1
                else:
                    line.states[direction] = (follow, state[1])
                    reached += 1
    await bench.drain()
    assert reached > 20 and ignored > 3


@cocotb.test()
async def rate(dut: Any) -> None:
    """100 million lookups a second of flows, of which the chip has a third: two ports, a lookup each five cycles."""
    rng = random.Random(3)
    flows = 3 * (4 << int(dut.SetsLog2.value))
    bench = Bench(dut, 3, hashes(rng, flows, 4096))
    await bench.start()
    for flow in range(flows):
        bench.ports[flow % 2].wanted.append((flow, 0))
    await bench.drain()
    bench.delay = (10, 14)
    fetched = bench.fetched
    lookups = 8000
    begin = bench.cycle
    for n in range(lookups):
        bench.ports[n % 2].wanted.append((rng.randrange(flows), 0))
    while any(port.wanted for port in bench.ports):
        await bench.step()
    cycles = bench.cycle - begin
    dut._log.info("%.1f million lookups a second, %d %% from memory", lookups * 250 / cycles,
                  100 * (bench.fetched - fetched) // lookups)  # fmt: skip
    await bench.drain()
    assert lookups * 250 / cycles > 100 and bench.fetched - fetched > lookups * 6 // 10


CASES = {
    "random_lookups": (4, 4),
    "small": (4, 0),
    "errors": (4, 4),
    "clear_waits": (4, 4),
    "marks": (4, 4),
    "rate": (11, 12),
}


@pytest.mark.parametrize("case", CASES)
def test_ids_flow(case: str) -> None:
    sets, buckets = CASES[case]
    rtl = [f"engines/ids/rtl/ids_{name}.sv" for name in ("pkg", "answers", "directory", "channel", "flow")]
    sources = ["lib/rtl/rtl.f", *rtl, "lib/sim/axi_memory.sv", "engines/ids/tests/ids_flow_bench.sv"]
    shape = {"SetsLog2": sets, "BucketsLog2": buckets}
    simulate(
        "ids_flow_bench", sources, Path(__file__).stem, shape, testcase=case if case != "small" else "random_lookups"
    )
