# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The dispatcher's policies, drops and fairness, against slots counted in plain Python: 2 ports, host, loopback, 8
units.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

SOURCES, FRAMES, UNITS, CLUSTERS, CLUSTER = 4, 3, 8, 2, 4
PORT_0, PORT_1, HOST, LOOPBACK = range(SOURCES)
ROUND_ROBIN, LEAST_LOADED, FLOW_HASH, FLOW_HASH_DROP = range(4)
TO_ANY, TO_UNIT = 3, 0x40
TELL_UNIT, TELL_KEY = 0x100, 0x80  # beside 7 bits: which
BEAT, TAIL = 64, 16
EVENTS = ("oversize", "policy", "stall")


def pack(values: list[int], width: int) -> int:
    """Element i of a packed array stands at bit i * width."""
    return sum(value << (i * width) for i, value in enumerate(values))


def part(value: int, i: int, width: int) -> int:
    return value >> (i * width) & ((1 << width) - 1)


@dataclass
class Frame:
    """The input: a frame, or the loopback's request for a frame's place. The result: its unit, -1 if it was dropped,
    the cycle in which its first beat left or the answer came, and the number of repeated requests.
    """

    number: int
    size: int = BEAT
    flow: int = 0
    dst: int = TO_ANY
    told: int = 0
    unit: int = -1
    cycle: int = -1
    again: int = 0

    def folded(self, source: int) -> bool:
        """Its last bytes are a tail beside its only beat."""
        return source in (PORT_0, PORT_1) and BEAT < self.size <= BEAT + TAIL

    def beats(self, source: int) -> int:
        return 1 if self.folded(source) else (self.size + BEAT - 1) // BEAT


class Bench:
    """Feeds the sources, plays switch and units; checks that each frame leaves whole, in order, with a slot that was
    free.
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(5)
        self.cycle = 0
        self.active = 0  # cycle in which a frame was last seen to move or to wait
        self.numbers = 0
        self.rate = 1.0  # probability that a source offers a beat
        self.room = 1.0  # probability that a queue of the switch has room
        self.hold: Callable[[int], int | None] = lambda unit: (
            20
        )  # cycles a unit keeps a frame; None: until told otherwise
        self.waiting: list[deque[Frame]] = [deque() for _ in range(SOURCES)]
        self.beat = [0] * SOURCES  # of the frame at the head of `waiting`
        self.offered = [False] * SOURCES
        self.inside: list[deque[Frame]] = [deque() for _ in range(SOURCES)]
        self.leaving: list[Frame | None] = [None] * SOURCES
        self.leaving_beat = [0] * SOURCES
        self.out: list[list[Frame]] = [[] for _ in range(SOURCES)]
        self.lost: list[list[Frame]] = [[] for _ in range(SOURCES)]
        self.free: list[set[int]] = [set() for _ in range(UNITS)]
        self.held: list[deque[tuple[float, int]]] = [deque() for _ in range(UNITS)]  # due cycle, slot
        self.events = {name: [0] * SOURCES for name in EVENTS}

    async def start(self, counts: list[int], sizes: list[int] | None = None, policy: int = ROUND_ROBIN) -> None:
        """Reset; then all units declare their slots in the same cycle."""
        d = self.dut
        for name in (
            "in_valid",
            "in_last",
            "in_tag",
            "in_len",
            "in_hash",
            "in_dst",
            "in_told",
            "start_room",
            "beat_room",
            "reta_we",
        ):
            getattr(d, name).value = 0
        for name in ("free_valid", "free_slot", "setup_valid", "unit_enable", "unit_flush", "reta_addr", "reta_wdata"):
            getattr(d, name).value = 0
        d.show_unit.value = 0
        d.unit_timeout.value = 0
        d.crowded.value = 0
        d.policy.value = policy
        d.unit_ingress.value = (1 << UNITS) - 1
        d.setup_count.value = pack(counts, 6)
        d.setup_size.value = pack(sizes or [16384] * UNITS, 16)
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        d.setup_valid.value = sum(1 << u for u in range(UNITS) if counts[u])
        await FallingEdge(d.clk)
        d.setup_valid.value = 0
        self.free = [set(range(1, count + 1)) for count in counts]
        await self.run(UNITS + 4)  # a set-up takes effect when its unit's turn comes
        d.unit_enable.value = (1 << UNITS) - 1
        await self.run(8)

    async def reta(self, table: list[int]) -> None:
        d = self.dut
        d.reta_we.value = 1
        for i, unit in enumerate(table):
            d.reta_addr.value, d.reta_wdata.value = i, unit
            await FallingEdge(d.clk)
        d.reta_we.value = 0

    def send(self, source: int, **fields: int) -> Frame:
        self.numbers += 1
        frame = Frame(self.numbers, **fields)
        self.waiting[source].append(frame)
        return frame

    def release(self, unit: int, count: int) -> None:
        """The unit gives up to `count` of its slots back, whichever, one a cycle."""
        slots = list(self.held[unit])
        self.rng.shuffle(slots)
        self.held[unit] = deque([(self.cycle, slot) for _, slot in slots[:count]] + slots[count:])

    def release_all(self) -> None:
        for unit in range(UNITS):
            self.release(unit, len(self.held[unit]))

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def drain(self, timeout: int = 10_000) -> None:
        """Until nothing waits, outside or inside; frames that have not left then were dropped."""
        for _ in range(timeout):
            if not any(self.waiting) and self.cycle > self.active + 12:
                break
            await self.step()
        else:
            raise AssertionError(f"frames still wait: {[len(w) for w in self.waiting]}")
        for s in range(SOURCES):
            self.lost[s] += self.inside[s]
            self.inside[s].clear()

    async def expect_all_slots(self) -> None:
        """Every slot is back, in the dispatcher's own count as in ours."""
        self.release_all()
        await self.run(60)
        for u in range(UNITS):
            self.dut.show_unit.value = u
            await self.run(2)
            assert int(self.dut.show_free.value) == int(self.dut.show_total.value) == len(self.free[u]), f"unit {u}"
        assert int(self.dut.idle.value) == (1 << UNITS) - 1

    async def step(self) -> None:
        """One cycle, from falling edge to falling edge: look at the registers, drive, look at `in_ready`."""
        d, rng = self.dut, self.rng
        self._outputs()
        valid = last = freed = 0
        tag, size, flow, dst, told, slots = ([0] * UNITS for _ in range(6))
        for s in range(SOURCES):
            self.offered[s] = self.offered[s] or (
                bool(self.waiting[s]) and (self.rate == 1 or rng.random() < self.rate)
            )
            if self.offered[s]:
                frame = self.waiting[s][0]
                valid |= 1 << s
                last |= (s == LOOPBACK or self.beat[s] == frame.beats(s) - 1) << s
                tag[s] = frame.number if s == LOOPBACK else frame.number << 8 | self.beat[s]
                size[s], flow[s], dst[s], told[s] = frame.size, frame.flow, frame.dst, frame.told
        d.in_valid.value, d.in_last.value = valid, last
        d.in_tag.value, d.in_len.value, d.in_hash.value, d.in_dst.value = (
            pack(tag[:SOURCES], 32),
            pack(size[:SOURCES], 16),
            pack(flow[:SOURCES], 7),
            pack(dst[:SOURCES], 8),
        )
        # With other beats than a frame's first one it means nothing.
        first = [told[p] if self.beat[p] == 0 else rng.getrandbits(9) for p in (PORT_0, PORT_1)]
        d.in_told.value = pack(first, 9)
        starts = beats = (1 << FRAMES * CLUSTERS) - 1
        if self.room < 1:
            starts = sum((rng.random() < self.room) << i for i in range(FRAMES * CLUSTERS))
            beats = starts | sum((rng.random() < self.room) << i for i in range(FRAMES * CLUSTERS))
        d.start_room.value, d.beat_room.value = starts, beats
        for u in range(UNITS):
            if self.held[u] and self.held[u][0][0] <= self.cycle:
                slots[u] = self.held[u].popleft()[1]
                freed |= 1 << u
                self.free[u].add(slots[u])
        d.free_valid.value, d.free_slot.value = freed, pack(slots, 6)
        await ReadOnly()
        taken = valid & int(d.in_ready.value)
        for s in range(SOURCES):
            if taken >> s & 1:
                self.offered[s] = False
                self.active = self.cycle
                self.beat[s] += 1
                if self.beat[s] == 1:
                    self.inside[s].append(self.waiting[s][0])
                if last >> s & 1:
                    self.waiting[s].popleft()
                    self.beat[s] = 0
        await FallingEdge(d.clk)
        self.cycle += 1

    def _outputs(self) -> None:
        d = self.dut
        for name in EVENTS:
            happened = int(getattr(d, f"event_{name}").value)
            for s in range(SOURCES):
                self.events[name][s] += happened >> s & 1
            if happened:
                self.active = self.cycle
        if int(d.answer_valid.value):
            self._answer()
        valid = int(d.out_valid.value)
        if not valid:
            return
        self.active = self.cycle
        last, tag, size = int(d.out_last.value), int(d.out_tag.value), int(d.out_len.value)
        unit, slot = int(d.out_unit.value), int(d.out_slot.value)
        folded, tail = int(d.out_folded.value), int(d.out_tail.value)
        for s in range(FRAMES):
            cluster = part(valid, s, CLUSTERS)
            if cluster:
                self._beat(s, cluster, part(tag, s, 32), part(size, s, 16), part(unit, s, 5), part(slot, s, 6))
                frame = self.leaving[s]
                if s != HOST:
                    assert frame and folded >> s & 1 == frame.folded(s)
                    assert not frame.folded(s) or part(tail, s, 32) == ~part(tag, s, 32) & 0xFFFFFFFF, (
                        "a tail of another"
                    )
                assert frame and (last >> s & 1) == (self.leaving_beat[s] == frame.beats(s))
                if last >> s & 1:
                    self.leaving[s] = None

    def _answer(self) -> None:
        d = self.dut
        self.active = self.cycle
        assert self.inside[LOOPBACK], "an answer without a request"
        request = self.inside[LOOPBACK].popleft()
        assert int(d.answer_from.value) == request.number & 31, "an answer for somebody else"
        if int(d.answer_again.value):
            assert not int(d.answer_granted.value)
            request.again += 1
            self.waiting[LOOPBACK].append(request)
        elif int(d.answer_granted.value):
            request.unit, request.cycle = int(d.answer_unit.value), self.cycle
            self._place(request, int(d.answer_slot.value))
            self.out[LOOPBACK].append(request)
        else:
            self.lost[LOOPBACK].append(request)

    def _place(self, frame: Frame, slot: int) -> None:
        unit = frame.unit
        assert slot in self.free[unit], f"slot {slot} of unit {unit} is not free"
        self.free[unit].remove(slot)
        due = self.hold(unit)
        self.held[unit].append((float("inf") if due is None else self.cycle + due, slot))

    def _beat(self, s: int, cluster: int, tag: int, size: int, unit: int, slot: int) -> None:
        frame = self.leaving[s]
        if frame is None:
            while self.inside[s] and self.inside[s][0].number != tag >> 8:
                self.lost[s].append(self.inside[s].popleft())
            assert self.inside[s], f"source {s}: frame {tag >> 8} came from nowhere, twice or out of order"
            frame = self.inside[s].popleft()
            frame.unit, frame.cycle = unit, self.cycle
            self._place(frame, slot)
            self.out[s].append(frame)
            self.leaving[s], self.leaving_beat[s] = frame, 0
        assert cluster == 1 << frame.unit // CLUSTER and unit == frame.unit and size == frame.size
        assert tag == frame.number << 8 | self.leaving_beat[s], "a beat is missing"
        self.leaving_beat[s] += 1


def span(frames: list[Frame]) -> int:
    return frames[-1].cycle - frames[0].cycle + 1


@cocotb.test()
async def one_decision_a_cycle_and_port(dut: Any) -> None:
    """Both ports send a single-beat frame in each cycle, every other one folded, with either spreading policy, and with
    hashes that keep to different clusters.
    """
    bench = Bench(dut)
    await bench.start([32] * UNITS)
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH):
        dut.policy.value = policy
        await bench.reta([i % UNITS for i in range(128)])
        await bench.run(8)
        first = [len(frames) for frames in bench.out]
        for i in range(400):
            for port in (PORT_0, PORT_1):
                bench.send(port, flow=(i + port * CLUSTER) % UNITS, size=(64, 80)[i % 2])
        await bench.drain()
        for port in (PORT_0, PORT_1):
            assert span(bench.out[port][first[port] :]) <= 402, f"policy {policy}"
    assert not any(map(any, bench.lost)), "frames were dropped"
    await bench.expect_all_slots()


@cocotb.test()
async def round_robin_is_fair(dut: Any) -> None:
    """Each unit gets its share; units that are full, disabled or without slots are passed over and the others share."""
    bench = Bench(dut)
    await bench.start([32, 32, 32, 0, 32, 32, 32, 32])
    for _ in range(600):
        bench.send(PORT_0)
        bench.send(PORT_1)
    await bench.drain()
    share = Counter(frame.unit for frame in bench.out[PORT_0] + bench.out[PORT_1])
    assert share[3] == 0 and all(abs(share[u] - 200) <= 4 for u in range(3)), share
    assert all(abs(share[u] - 150) <= 4 for u in range(4, 8)), share
    # Unit 5 keeps what it has, unit 6 is taken out
    bench.hold = lambda unit: None if unit == 5 else 20
    dut.unit_enable.value = 0xBF
    await bench.run(4)
    first = bench.cycle
    for _ in range(600):
        bench.send(PORT_0)
        bench.send(PORT_1)
    await bench.drain()
    late = Counter(frame.unit for frames in bench.out for frame in frames if frame.cycle > first)
    assert late[6] == 0 and late[5] == 31 and abs(late[4] - late[7]) <= 4, late
    await bench.expect_all_slots()


@cocotb.test()
async def least_loaded_takes_the_emptiest(dut: Any) -> None:
    """One frame at a time, slots come back in between at random: of its cluster it gets a unit with the most free
    slots, exactly.
    """
    bench = Bench(dut)
    counts = [12, 10, 12, 9, 1, 2, 3, 2]
    await bench.start(counts, policy=LEAST_LOADED)
    bench.hold = lambda unit: None
    chosen = Counter[int]()
    for _ in range(250):
        for unit in range(UNITS):
            bench.release(unit, int(bench.rng.random() < 0.12))
        await bench.run(8 + bench.rng.randrange(3))
        before = [len(slots) for slots in bench.free]
        frame = bench.send(bench.rng.randrange(2))
        await bench.run(8)
        if frame.unit < 0:  # no unit has a slot for a port
            assert not any(n > (total > 1) for n, total in zip(before, counts, strict=True)), before
            bench.release_all()
            await bench.drain()
            continue
        own = frame.unit // CLUSTER * CLUSTER
        # Units with a slot for a port: the last one is left to loopback
        rivals = [before[unit] for unit in range(own, own + CLUSTER) if before[unit] > (counts[unit] > 1)]
        assert before[frame.unit] == max(rivals), f"unit {frame.unit} of {before}"
        chosen[frame.unit] += 1
    assert len(chosen) == UNITS and sum(chosen.values()) > 200, chosen
    await bench.expect_all_slots()


@cocotb.test()
async def least_loaded_passes_over_the_full(dut: Any) -> None:
    """A unit whose one free slot is the loopback's does not stand in the way of one that has as many, all for ports."""
    bench = Bench(dut)
    await bench.start([2, 1, 1, 1, 0, 0, 0, 0], policy=LEAST_LOADED)
    bench.hold = lambda unit: None if unit == 0 else 20
    for _ in range(12):
        bench.send(PORT_0)
    await bench.drain(1000)
    assert len(bench.out[PORT_0]) == 12
    await bench.expect_all_slots()


@cocotb.test()
async def least_loaded_spares_the_slow(dut: Any) -> None:
    """A slow unit in each cluster, both ports at full rate: nobody waits, and the slow ones get what they can do."""
    bench = Bench(dut)
    await bench.start([16] * UNITS, policy=LEAST_LOADED)
    bench.hold = lambda unit: 400 if unit in (1, 6) else 8
    for _ in range(1200):
        bench.send(PORT_0)
        bench.send(PORT_1)
    await bench.drain()
    assert span(bench.out[PORT_0]) <= 1202 and span(bench.out[PORT_1]) <= 1202
    share = Counter(frame.unit for frames in bench.out for frame in frames)
    assert all(share[u] <= 16 * 4 for u in (1, 6)) and all(share[u] > 300 for u in (0, 2, 3, 4, 5, 7)), share
    await bench.expect_all_slots()


@cocotb.test()
async def hash_follows_reta(dut: Any) -> None:
    """The low 7 bits of the hash pick the entry, the entry the unit; a full unit makes its frames
    wait and drops none.
    """
    bench = Bench(dut)
    await bench.start([3] * UNITS, policy=FLOW_HASH)
    table = [bench.rng.randrange(UNITS) for _ in range(128)]
    await bench.reta(table)
    bench.rate, bench.room = 0.7, 0.7
    bench.hold = lambda unit: bench.rng.randrange(5, 60)
    frames = [
        bench.send(source, flow=bench.rng.randrange(128), size=bench.rng.choice([60, 64, 65, 80, 81, 200]))
        for _ in range(200)
        for source in (PORT_0, PORT_1, HOST)
    ]
    await bench.drain()
    assert all(frame.unit == table[frame.flow] for frame in frames)
    assert not any(bench.events["policy"]) and sum(bench.events["stall"]) > 100
    await bench.expect_all_slots()


@cocotb.test()
async def hash_drop_counts(dut: Any) -> None:
    """Units that give nothing back: each takes as many frames as it has slots, less the one for loopback when there are
    more than one; everything else is dropped and counted at its source.
    """
    bench = Bench(dut)
    counts = [1, 2, 3, 4, 5, 6, 7, 0]
    await bench.start(counts, policy=FLOW_HASH_DROP)
    await bench.reta([i % UNITS for i in range(128)])
    bench.hold = lambda unit: None
    for _ in range(150):
        for source in (PORT_0, PORT_1):
            bench.send(source, flow=bench.rng.randrange(128), size=bench.rng.choice([64, 300]))
    await bench.drain(1500)
    assert [sum(f.unit == u for frames in bench.out for f in frames) for u in range(UNITS)] == [1, 1, 2, 3, 4, 5, 6, 0]
    for source in (PORT_0, PORT_1):
        assert bench.events["policy"][source] == 150 - len(bench.out[source]) == len(bench.lost[source])
    bench.release_all()
    await bench.run(60)
    frame = bench.send(PORT_1, flow=4)
    await bench.drain()
    assert frame.unit == 4
    await bench.expect_all_slots()


@cocotb.test()
async def oversize_gives_the_slot_back(dut: Any) -> None:
    """Units with slots of different sizes: what does not fit its unit is dropped whole and counted; every slot comes
    back.
    """
    bench = Bench(dut)
    sizes = [64, 100, 128, 1000, 1024, 1500, 63, 16384]
    await bench.start([1, 2, 1, 2, 1, 2, 1, 2], sizes, policy=FLOW_HASH)
    await bench.reta([i % UNITS for i in range(128)])
    bench.room = 0.8
    frames: list[tuple[int, Frame]] = []
    for _ in range(120):
        for source in range(SOURCES):
            size = bench.rng.choice([60, 63, 64, 65, 80, 81, 100, 101, 128, 129, 1000, 1001, 1024, 1025, 1500, 1501])
            frames.append((source, bench.send(source, flow=bench.rng.randrange(128), size=size)))
    await bench.drain()
    for source in range(SOURCES):
        long = sum(s == source and f.size > sizes[f.flow % UNITS] for s, f in frames)
        assert bench.events["oversize"][source] == long == len(bench.lost[source])
    assert all(f.unit == (f.flow % UNITS if f.size <= sizes[f.flow % UNITS] else -1) for _, f in frames)
    await bench.expect_all_slots()


@cocotb.test()
async def host_and_loopback_are_not_starved(dut: Any) -> None:
    """Both ports at full rate: host and loopback still get a frame every few dozen cycles each, and the ports keep
    nearly all of theirs.
    """
    bench = Bench(dut)
    await bench.start([32] * UNITS)
    await bench.reta([i % UNITS for i in range(128)])
    for policy in (ROUND_ROBIN, FLOW_HASH):
        dut.policy.value = policy
        await bench.run(8)
        done = [len(frames) for frames in bench.out]
        for i in range(1000):
            for source in range(SOURCES):
                # The hashes of all sources select the same units, whatever the ports do
                bench.send(source, flow=i % UNITS, dst=TO_UNIT + i % UNITS if source == LOOPBACK and i % 2 else TO_ANY)
        await bench.run(1000)
        got = [len(frames) - n for frames, n in zip(bench.out, done, strict=True)]
        dut._log.info(f"policy {policy}: frames of each source in 1000 cycles: {got}")
        assert min(got[HOST], got[LOOPBACK]) >= 20, got
        assert policy == FLOW_HASH or min(got[PORT_0], got[PORT_1]) >= 900, got
        assert got[PORT_0] + got[PORT_1] >= 850, got
        await bench.drain()
    await bench.expect_all_slots()


@cocotb.test()
async def loopback_to_one_unit(dut: Any) -> None:
    """`dst` names the unit whatever the policy; a full one is asked again, one that is disabled, absent or without
    slots drops.
    """
    bench = Bench(dut)
    await bench.start([2] * 6 + [0, 2])
    dut.unit_enable.value = 0xF7
    await bench.run(4)
    bench.hold = lambda unit: 30
    frames = []
    for i in range(200):
        frames.append(bench.send(LOOPBACK, dst=TO_UNIT + bench.rng.choice([*range(UNITS), 9]), size=64 + i % 3 * 64))
        bench.send(PORT_0)
    await bench.drain()
    dead = [f for f in frames if f.dst - TO_UNIT in (3, 6, 9)]
    assert all(f.unit == f.dst - TO_UNIT for f in frames if f not in dead)
    assert all(f.unit == -1 for f in dead) and bench.events["policy"] == [0, 0, 0, len(dead)]
    assert sum(f.again for f in frames) > 100
    await bench.expect_all_slots()


@cocotb.test()
async def a_slot_is_left_for_loopback(dut: Any) -> None:
    """Units that give nothing back: ports and host leave one slot of each, if it has two, and the loopback gets it. A
    request for a full unit holds nobody: those for others pass it.
    """
    bench = Bench(dut)
    counts = [1, 2, 3, 4, 5, 6, 7, 32]
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH):
        bench.hold = lambda unit: None
        await bench.start(counts, policy=policy)
        await bench.reta([i % UNITS for i in range(128)])
        taken = [len(frames) for frames in bench.out]
        ports = sum(max(1, count - 1) for count in counts)
        sources = (PORT_0, PORT_1, HOST)
        for i in range(ports):
            # Flow hash: as many for each unit as it takes
            unit = next(u for u in range(UNITS) if sum(max(1, c - 1) for c in counts[: u + 1]) > i)
            bench.send(sources[i % 3], flow=unit)
        await bench.drain()
        assert [len(slots) for slots in bench.free] == [int(count > 1) for count in counts], f"policy {policy}"
        more = [bench.send(source, flow=UNITS - 1) for source in sources]
        await bench.run(60)
        assert all(frame.unit == -1 for frame in more)
        full = bench.send(LOOPBACK, dst=TO_UNIT)
        others = [bench.send(LOOPBACK, dst=TO_UNIT + unit) for unit in range(1, UNITS - 1)]
        anywhere = bench.send(LOOPBACK, flow=UNITS - 1)
        await bench.run(100)
        assert full.unit == -1 and full.again > 3
        assert [request.unit for request in others] == list(range(1, UNITS - 1)) and anywhere.unit == UNITS - 1
        assert not any(map(len, bench.free))
        bench.hold = lambda unit: 20
        bench.release_all()
        await bench.drain()
        assert full.unit == 0 and all(frame.unit >= 0 for frame in more)
        assert sum(map(len, bench.out)) == sum(taken) + ports + 3 + UNITS
        await bench.expect_all_slots()


@cocotb.test()
async def a_unit_that_keeps_its_slots(dut: Any) -> None:
    """Flow hash: a unit that gives no slot back holds ports and host for so long, once; then frames for it are dropped
    and all others go on. When it has slots again it gets frames again. One that is slow loses nothing.
    """
    limit = 500
    bench = Bench(dut)
    await bench.start([4] * UNITS, policy=FLOW_HASH)
    await bench.reta([i % UNITS for i in range(128)])
    bench.hold = lambda unit: None if unit == 3 else 5
    sources = (PORT_0, PORT_1, HOST)

    def send(count: int) -> None:
        for i in range(count):
            for source in sources:
                bench.send(source, flow=i % UNITS, size=(64, 80, 300)[i % 3])

    # Without a limit it holds them for ever.
    send(64)
    await bench.run(3000)
    assert all(bench.waiting[source] for source in sources) and not any(bench.events["policy"])
    # With a slot they go on after it. Later frames no longer wait.
    bench.release(3, 1)
    await bench.run(20)
    dut.unit_timeout.value = limit
    await bench.run(limit - 40)
    assert all(bench.waiting[source] for source in sources) and not any(bench.events["policy"])
    await bench.drain(300 + 3 * 64 * 3)
    for _ in range(3):
        send(64)
        await bench.drain(3 * 64 * 5)
    for source in sources:
        others = [frame for frame in bench.out[source] if frame.unit != 3]
        assert len(others) == 4 * 56 and bench.lost[source] and all(frame.flow == 3 for frame in bench.lost[source])
        assert bench.events["policy"][source] == len(bench.lost[source]) == 4 * 64 - len(bench.out[source])
    # A slow unit holds its sources, in all for longer than the limit, and nothing is dropped.
    lost = list(bench.events["policy"])
    bench.release_all()
    bench.hold = lambda unit: 400 if unit == 3 else 5
    await bench.run(60)
    for _ in range(20):
        bench.send(PORT_0, flow=3)
    await bench.drain()
    assert bench.events["policy"] == lost and all(frame.unit == 3 for frame in bench.out[PORT_0][-20:])
    # Nor does one that is full for longer than that while no frame waits for it.
    bench.hold = lambda unit: None
    for _ in range(3):
        bench.send(PORT_0, flow=3)
    await bench.drain()
    await bench.run(2 * limit)
    bench.send(PORT_0, flow=3)
    await bench.run(limit - 40)
    assert bench.events["policy"] == lost
    bench.release_all()
    await bench.drain()
    assert bench.events["policy"] == lost and bench.out[PORT_0][-1].unit == 3
    await bench.expect_all_slots()


@cocotb.test()
async def a_slow_unit_and_crowded_ports(dut: Any) -> None:
    """Flow hash: while the ring of a port is crowded, its frames for a unit that has kept frames waiting for long are
    dropped, and its other frames come through at nearly one a cycle. The other port and the host wait, and so does
    that port without a limit."""
    bench = Bench(dut)
    await bench.start([4] * UNITS, policy=FLOW_HASH)
    await bench.reta([i % UNITS for i in range(128)])
    dut.unit_timeout.value = 100_000
    bench.hold = lambda unit: 600 if unit == 3 else 5

    def send(source: int, count: int) -> list[Frame]:
        return [bench.send(source, flow=i % UNITS, size=(64, 80)[i % 2]) for i in range(count)]

    # A burst for a unit that is full for a moment only is waited with, even by a port that is crowded.
    dut.crowded.value = 1 << PORT_0
    bench.hold = lambda unit: 100 if unit == 3 else 5
    burst = [bench.send(PORT_0, flow=3) for _ in range(4)]
    await bench.drain()
    assert not any(bench.events["policy"]) and all(frame.unit == 3 for frame in burst)
    # A slow unit: frames wait while there is room for those behind them,
    dut.crowded.value = 0
    bench.hold = lambda unit: 600 if unit == 3 else 5
    await bench.run(200)
    send(PORT_0, 64)
    await bench.drain()
    assert not any(bench.events["policy"])
    # and not when the ring is crowded. The unit still gets the frames that find a slot; the other units get all of
    # theirs.
    dut.crowded.value = 1 << PORT_0
    first, begun = len(bench.out[PORT_0]), bench.cycle
    send(PORT_0, 800)
    await bench.drain()
    out = bench.out[PORT_0][first:]
    assert sum(frame.unit != 3 for frame in out) == 700 and out[-1].cycle - begun < 800 + 800 // 16
    assert bench.events["policy"] == [len(bench.lost[PORT_0]), 0, 0, 0] and 90 < len(bench.lost[PORT_0]) < 100
    assert all(frame.flow == 3 for frame in bench.lost[PORT_0])
    # Those who are not crowded wait.
    lost = list(bench.events["policy"])
    for source in (PORT_1, HOST):
        await bench.run(1000)
        begun = bench.cycle
        send(source, 64)
        await bench.drain()
        assert bench.cycle - begun > 600 and bench.events["policy"] == lost, f"source {source}"
    # Nothing is dropped when the host wants frames to wait for ever.
    dut.unit_timeout.value = 0
    await bench.run(1000)
    send(PORT_0, 64)
    await bench.drain()
    assert bench.events["policy"] == lost
    # A unit that is fast again loses nothing, once its waits are forgotten.
    dut.unit_timeout.value = 100_000
    bench.hold = lambda unit: 5
    await bench.run(260 * 64)
    send(PORT_0, 64)
    bench.hold = lambda unit: 40 if unit == 3 else 5
    await bench.drain()
    assert bench.events["policy"] == lost
    await bench.expect_all_slots()


@cocotb.test()
async def a_named_unit_that_keeps_its_slots(dut: Any) -> None:
    """Whatever POLICY is, frames that an inline block sends to a unit wait for that unit for the limit at most, in all;
    then they are dropped, and frames for other units go on.
    """
    limit = 500
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH, FLOW_HASH_DROP):
        bench = Bench(dut)
        await bench.start([4] * UNITS, policy=policy)
        await bench.reta([i % UNITS for i in range(128)])
        bench.hold = lambda unit: None if unit == 3 else 5
        dut.unit_timeout.value = limit
        frames = [(unit, bench.send(PORT_0, told=TELL_UNIT | unit)) for _ in range(16) for unit in range(UNITS)]
        await bench.run(limit - 60)
        # The fourth frame for unit 3 waits for its last slot, which is loopback's.
        assert bench.waiting[PORT_0] and not any(bench.events["policy"]), f"policy {policy}"
        await bench.drain(limit + 400)
        for unit, frame in frames:
            assert frame.unit == unit or (unit == 3 and frame in bench.lost[PORT_0]), f"policy {policy}"
        assert bench.events["policy"] == [13, 0, 0, 0], f"policy {policy}"
        # The unit gets frames again once it has slots.
        bench.hold = lambda unit: 5
        bench.release_all()
        await bench.run(60)
        again = bench.send(PORT_0, told=TELL_UNIT | 3)
        await bench.drain()
        assert again.unit == 3 and bench.events["policy"] == [13, 0, 0, 0]
        await bench.expect_all_slots()


@cocotb.test()
async def hash_drop_over_loopback(dut: Any) -> None:
    """Flow hash that drops: a request for any unit is dropped while the unit that its hash names is full; one for a
    certain unit asks again.
    """
    bench = Bench(dut)
    await bench.start([2] * UNITS, policy=FLOW_HASH_DROP)
    table = [bench.rng.randrange(UNITS) for _ in range(128)]
    await bench.reta(table)
    bench.hold = lambda unit: None
    full = (0, 3, 6)
    fill = [bench.send(LOOPBACK, dst=TO_UNIT + unit) for unit in full for _ in range(2)]
    await bench.drain(200)
    assert all(request.unit >= 0 for request in fill) and not any(bench.events["policy"])
    named = [bench.send(LOOPBACK, dst=TO_UNIT + unit) for unit in full]
    dropped = [bench.send(LOOPBACK, flow=flow) for flow in range(128) if table[flow] in full]
    free = [bench.send(LOOPBACK, flow=table.index(unit)) for unit in range(UNITS) if unit not in full]
    await bench.run(600)
    assert bench.lost[LOOPBACK] == dropped and bench.events["policy"] == [0, 0, 0, len(dropped)]
    assert all(request.unit == table[request.flow] for request in free)
    assert all(request.unit == -1 and request.again > 3 for request in named)
    bench.hold = lambda unit: 20
    bench.release_all()
    await bench.drain()
    assert [request.unit for request in named] == list(full)
    assert bench.events["policy"][LOOPBACK] == len(dropped)
    await bench.expect_all_slots()


@cocotb.test()
async def reta_names_a_unit_without_slots(dut: Any) -> None:
    """Frames for it, and for one that is disabled, are dropped as `policy`; their port goes on."""
    bench = Bench(dut)
    await bench.start([4, 4, 0, 4, 4, 4, 4, 4], policy=FLOW_HASH)
    dut.unit_enable.value = 0xBF
    await bench.reta([i % UNITS for i in range(128)])
    await bench.run(8)
    frames = [(s, bench.send(s, flow=i)) for i in range(128) for s in (PORT_0, PORT_1, HOST, LOOPBACK)]
    await bench.drain()
    for source, frame in frames:
        assert frame.unit == (-1 if frame.flow % UNITS in (2, 6) else frame.flow % UNITS)
        assert (frame in bench.lost[source]) == (frame.unit == -1)
    assert bench.events["policy"] == [32] * SOURCES
    await bench.expect_all_slots()


@cocotb.test()
async def inline_blocks_tell(dut: Any) -> None:
    """Whatever POLICY is, a frame that is told a unit goes there, one that is told a key where RETA says, and both wait
    while the unit is full.
    """
    bench = Bench(dut)
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH, FLOW_HASH_DROP):
        await bench.start([3] * UNITS, policy=policy)
        # A unit that nobody chooses is there for frames that are told so.
        ingress, outside = 0xEF, 4
        dut.unit_ingress.value = ingress
        table = [bench.rng.choice([unit for unit in range(UNITS) if unit != outside]) for _ in range(128)]
        await bench.reta(table)
        bench.room = 0.8
        bench.hold = lambda unit: bench.rng.randrange(5, 60)
        told: list[tuple[Frame, int]] = []
        untold = []
        for _ in range(200):
            for port in (PORT_0, PORT_1):
                unit, key = bench.rng.randrange(UNITS), bench.rng.randrange(128)
                size, flow = bench.rng.choice([60, 64, 65, 80, 81, 200]), bench.rng.randrange(128)
                to, expected = bench.rng.choice([(TELL_UNIT | unit, unit), (TELL_KEY | key, table[key]), (0, None)])
                frame = bench.send(port, size=size, flow=flow, told=to)
                if expected is None:
                    untold.append(frame)
                else:
                    told.append((frame, expected))
            bench.send(HOST)
        await bench.drain()
        assert [frame.unit for frame, _ in told] == [unit for _, unit in told], f"policy {policy}"
        if policy == FLOW_HASH:
            assert [frame.unit for frame in untold] == [table[frame.flow] for frame in untold], f"policy {policy}"
        if policy == FLOW_HASH_DROP:
            # They drop while their unit is full, and nothing else does.
            bench.events["policy"] = [0] * SOURCES
        else:
            assert all(frame.unit not in (-1, outside) for frame in untold) and not any(bench.events["policy"])
        # To a unit that is not enabled, and to one that is not there
        dut.unit_enable.value = 0xF7
        await bench.run(8)
        lost = [bench.send(PORT_1, told=TELL_UNIT | unit) for unit in (3, 9)]
        found = bench.send(PORT_1, told=TELL_UNIT | outside)
        await bench.drain()
        assert [frame.unit for frame in lost] == [-1, -1] and found.unit == outside
        assert bench.events["policy"] == [0, 2, 0, 0]
        bench.events["policy"] = [0] * SOURCES
        # A full unit keeps its last slot for loopback.
        bench.release_all()
        await bench.run(60)
        bench.hold = lambda unit: None
        filled = [bench.send(PORT_0, told=TELL_UNIT | outside) for _ in range(3)]
        await bench.run(100)
        assert [frame.unit for frame in filled] == [outside, outside, -1] and not any(bench.events["policy"])
        bench.hold = lambda unit: 20
        bench.release(outside, 2)
        await bench.drain()
        assert filled[2].unit == outside
        dut.unit_enable.value = 0xFF
        dut.unit_ingress.value = 0xFF
        await bench.run(8)
        await bench.expect_all_slots()


@cocotb.test()
async def nobody_takes_frames(dut: Any) -> None:
    """While no unit is enabled frames of ports and host wait; what asks for a place over loopback is dropped."""
    bench = Bench(dut)
    await bench.start([4] * UNITS)
    dut.unit_enable.value = 0
    await bench.run(8)
    waits = [bench.send(source) for source in (PORT_0, PORT_1, HOST)]
    asks = [bench.send(LOOPBACK, dst=dst) for dst in (TO_ANY, TO_UNIT, TO_ANY)]
    await bench.run(40)
    assert bench.lost[LOOPBACK] == asks and bench.events["policy"] == [0, 0, 0, 3]
    assert all(frame.unit == -1 for frame in waits)
    dut.unit_enable.value = 4
    await bench.drain()
    assert all(frame.unit == 2 for frame in waits)
    await bench.expect_all_slots()


@cocotb.test()
async def flush_forgets_what_is_on_its_way(dut: Any) -> None:
    """A frame that is too long has its slot taken and given back; a flush or a new set-up at any moment between leaves
    the count right.
    """
    bench = Bench(dut)
    await bench.start([3] * UNITS, [64] * UNITS, policy=FLOW_HASH)
    await bench.reta([1] * 128)
    dut.show_unit.value = 1
    for flush, moment in itertools.product((True, False), range(24)):
        bench.send(PORT_0, size=65)
        await bench.run(moment)
        if flush:
            dut.unit_flush.value = 2
            await bench.run(1)
            dut.unit_flush.value = 0
            await bench.drain()
            await bench.run(8)
            assert int(dut.show_free.value) == int(dut.show_total.value) == 0 and int(dut.idle.value) >> 1 & 1
        dut.setup_valid.value = 2
        await bench.run(1)
        dut.setup_valid.value = 0
        await bench.drain()
        await bench.run(UNITS + 8)
        await bench.expect_all_slots()
        dut.show_unit.value = 1


@cocotb.test()
async def a_second_declaration(dut: Any) -> None:
    """A unit that declares its slots again while frames hold some gets no slot twice: the declaration takes effect when
    all are back, and until then the unit gets no frames.
    """
    bench = Bench(dut)
    counts = [4, 1, 2, 32, 5, 6, 7, 8]
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH):
        bench.hold = lambda unit: bench.rng.randrange(5, 60)
        await bench.start(counts, policy=policy)
        await bench.reta([i % UNITS for i in range(128)])
        for i in range(800):
            source = i % SOURCES
            dst = TO_UNIT + i % UNITS if source == LOOPBACK and i % 3 else TO_ANY
            bench.send(source, flow=bench.rng.randrange(128), dst=dst)
        while any(bench.waiting):
            dut.setup_valid.value = bench.rng.getrandbits(UNITS) & bench.rng.getrandbits(UNITS)
            await bench.run(1)
            dut.setup_valid.value = 0
            await bench.run(bench.rng.randrange(40))
        await bench.drain()
        assert not any(bench.events["policy"])
        await bench.expect_all_slots()
    # Others than before
    bench.hold = lambda unit: None
    held = [bench.send(LOOPBACK, dst=TO_UNIT) for _ in range(3)]
    await bench.drain()
    dut.show_unit.value = 0
    dut.setup_count.value = pack([6] * UNITS, 6)
    dut.setup_valid.value = 1
    await bench.run(1)
    dut.setup_valid.value = 0
    waits = bench.send(LOOPBACK, dst=TO_UNIT)
    await bench.run(200)
    assert all(frame.unit == 0 for frame in held) and waits.unit == -1 and int(dut.show_total.value) == 4
    bench.release(0, 2)
    await bench.run(100)
    assert waits.unit == -1 and int(dut.show_total.value) == 4
    bench.free[0] |= {5, 6}
    bench.release(0, 1)
    await bench.drain()
    await bench.run(40)
    assert waits.unit == 0 and (int(dut.show_free.value), int(dut.show_total.value)) == (5, 6)
    await bench.expect_all_slots()


@cocotb.test()
async def units_for_senders_that_name_them(dut: Any) -> None:
    """Units without `ingress` get nothing from ports, host and loopback to any unit, under any policy; RETA that names
    one drops; a loopback frame that names one reaches it, down to its last slot. Everything is as before when they are
    available to all again.
    """
    bench = Bench(dut)
    inside, outside = (1, 2, 6), (0, 3, 4, 5, 7)
    for policy in (ROUND_ROBIN, LEAST_LOADED, FLOW_HASH):
        bench.hold = lambda unit: 20
        await bench.start([3] * UNITS, policy=policy)
        dut.unit_ingress.value = sum(1 << unit for unit in inside)
        await bench.reta([inside[i % 3] for i in range(128)])
        await bench.run(8)
        frames = [bench.send(source, flow=i) for i in range(60) for source in range(SOURCES)]
        named = [bench.send(LOOPBACK, dst=TO_UNIT + unit) for unit in range(UNITS) for _ in range(5)]
        await bench.drain()
        assert Counter(frame.unit for frame in frames).keys() == set(inside), f"policy {policy}"
        assert all(request.unit == request.dst - TO_UNIT for request in named)
        bench.hold = lambda unit: None
        last = [bench.send(LOOPBACK, dst=TO_UNIT + unit) for unit in outside for _ in range(3)]
        await bench.drain()
        assert all(request.unit >= 0 for request in last) and not any(len(bench.free[unit]) for unit in outside)
        bench.hold = lambda unit: 20
        bench.release_all()
        await bench.expect_all_slots()
        assert not any(bench.events["policy"]), f"policy {policy}"
    await bench.reta([outside[i % 5] for i in range(128)])
    lost = [(source, bench.send(source, flow=i)) for i in range(20) for source in (PORT_0, PORT_1, HOST)]
    await bench.drain()
    assert all(frame in bench.lost[source] for source, frame in lost)
    assert bench.events["policy"] == [20, 20, 20, 0]
    # Only units for others are left: nobody to choose for those that name none.
    dut.policy.value = ROUND_ROBIN
    dut.unit_enable.value = sum(1 << unit for unit in outside)
    await bench.run(8)
    asks = [bench.send(LOOPBACK, dst=TO_ANY) for _ in range(3)]
    waits = bench.send(PORT_0)
    await bench.run(40)
    assert bench.lost[LOOPBACK] == asks and waits.unit == -1
    dut.unit_ingress.value = (1 << UNITS) - 1
    await bench.drain()
    assert waits.unit in outside
    await bench.expect_all_slots()


@cocotb.test()
async def anything_goes(dut: Any) -> None:
    """Random sizes, policies, gaps and full queues: no frame is lost, doubled or cut, no slot is handed out twice."""
    bench = Bench(dut)
    await bench.start([bench.rng.randrange(1, 33) for _ in range(UNITS)])
    await bench.reta([bench.rng.randrange(UNITS) for _ in range(128)])
    bench.hold = lambda unit: bench.rng.randrange(2, 80)
    sent = 0
    for _ in range(12):
        policy = bench.rng.randrange(3)
        dut.policy.value = policy
        bench.rate, bench.room = bench.rng.choice([0.3, 0.8, 1.0]), bench.rng.choice([0.4, 0.8, 1.0])
        for _ in range(40):
            for source in range(SOURCES):
                dst = (
                    TO_UNIT + bench.rng.randrange(UNITS) if source == LOOPBACK and bench.rng.random() < 0.5 else TO_ANY
                )
                size = bench.rng.choice([14, 64, 65, 72, 80, 81, 128, 500, 1500])
                bench.send(source, size=size, flow=bench.rng.randrange(128), dst=dst)
                sent += 1
        await bench.drain()
    assert sum(map(len, bench.out)) == sent
    await bench.expect_all_slots()


@cocotb.test()
async def flushed_and_foolish_units(dut: Any) -> None:
    """A flushed unit gets nothing until it declares anew; slots it never had, or has free already, change nothing when
    they come back.
    """
    bench = Bench(dut)
    await bench.start([4] * UNITS)
    bench.hold = lambda unit: None
    for slot in (0, 5, 33, 1, 2, 3, 63):
        dut.free_slot.value, dut.free_valid.value = pack([slot] * UNITS, 6), (1 << UNITS) - 1
        await FallingEdge(dut.clk)
    dut.free_valid.value = 0
    dut.unit_flush.value = 1 << 2
    await FallingEdge(dut.clk)
    dut.unit_flush.value = 0
    bench.free[2].clear()
    for _ in range(3 * (UNITS - 1)):
        bench.send(PORT_0)
    await bench.drain()
    assert [len(slots) for slots in bench.free] == [1, 1, 0, 1, 1, 1, 1, 1] and len(bench.out[PORT_0]) == 21
    waits = bench.send(PORT_0)
    await bench.run(40)
    assert waits.unit == -1
    dut.setup_count.value, dut.setup_size.value = pack([40] * UNITS, 6), pack([64] * UNITS, 16)  # only 32 exist
    dut.setup_valid.value = 1 << 2
    await FallingEdge(dut.clk)
    dut.setup_valid.value = 0
    bench.free[2] = set(range(1, 33))
    await bench.drain()
    assert waits.unit == 2
    await bench.expect_all_slots()


def test_dispatch() -> None:
    simulate(
        "dispatch_bench",
        [
            "lib/rtl/rtl.f",
            "shell/rtl/shell_pkg.sv",
            "shell/rtl/slot_pool.sv",
            "shell/rtl/stuck_units.sv",
            "shell/rtl/dispatcher.sv",
            "shell/tests/dispatch_bench.sv",
        ],
        "test_dispatch",
    )
