# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""host_mem against a host of bytes: any address, any length, pauses on every channel, refusals, ranges of units, the
rules of AXI4.
"""

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
from cocotb.triggers import FallingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

BEAT = 64
PAGE = 4096
MAX_FRAME = 16384
HOST_MEMORY, HOST_READ = 4, 5
BASE = 0x00C0_FFEE_1234_0000  # of the memory under test: uses both address words
SIZE = 1 << 20
BAD_PAGES = 16  # the last pages of it refuse what is asked of them
OKAY, SLVERR, DECERR = 0, 2, 3
TOP = 1 << 64
EVERYTHING = (0, TOP - 1)
NOTHING = (TOP - 1, 0)  # the range of a unit after a reset


def refuses(address: int) -> bool:
    return not BASE <= address < BASE + SIZE - BAD_PAGES * PAGE


@dataclass
class Host:
    """The AXI side. Checks bursts, carries them out on a bytearray, answers in order after a while."""

    rng: random.Random
    pause: float
    memory: bytearray = field(default_factory=lambda: bytearray(random.Random(7).randbytes(SIZE)))
    aw: deque[list[int]] = field(default_factory=deque)  # address, beats left
    w: deque[tuple[int, int, bool]] = field(default_factory=deque)
    b: deque[tuple[int, int]] = field(default_factory=deque)  # due, response
    r: deque[tuple[int, int, int, bool]] = field(default_factory=deque)  # due, data, response, last
    bursts: int = 0
    most_beats: int = 0
    failed: bool = False

    def burst(self, address: int, beats: int) -> None:
        assert address % BEAT == 0, hex(address)
        assert address // PAGE == (address + BEAT * beats - 1) // PAGE, (
            f"{beats} beats from {address:#x} leave the page"
        )
        self.bursts += 1
        self.most_beats = max(self.most_beats, beats)

    def write(self, cycle: int) -> None:
        """Carries out what has both its address and its data."""
        while self.aw and self.w:
            burst = self.aw[0]
            data, strobes, last = self.w.popleft()
            address, left = burst
            assert last == (left == 1), f"wlast of {address:#x}"
            assert strobes, "a beat that writes nothing"
            if not refuses(address):
                for byte in range(BEAT):
                    if strobes >> byte & 1:
                        self.memory[address - BASE + byte] = data >> 8 * byte & 0xFF
            burst[0], burst[1] = address + BEAT, left - 1
            if last:
                self.aw.popleft()
                response = self.rng.choice([SLVERR, DECERR]) if refuses(address) else OKAY
                self.b.append((cycle + self.rng.randrange(1, 60), response))

    def read(self, address: int, beats: int, cycle: int) -> None:
        due = cycle + self.rng.randrange(1, 80)
        for beat in range(beats):
            place = address + BEAT * beat
            if refuses(place):
                self.r.append((due, self.rng.getrandbits(512), DECERR, beat == beats - 1))
            else:
                data = self.memory[place - BASE : place - BASE + BEAT]
                self.r.append((due, int.from_bytes(data, "little"), OKAY, beat == beats - 1))


@dataclass
class Request:
    """A unit's request, and its expected result."""

    unit: int
    tag: int
    address: int
    length: int
    data: bytes | None  # None reads
    place: int = 0
    denied: bool = False

    def pages(self) -> int:
        return (self.address + self.length - 1) // PAGE - self.address // PAGE + 1

    def lies_in(self, base: int, limit: int) -> bool:
        return base <= self.address and self.address + self.length - 1 <= limit

    def refused(self) -> bool:
        return any(refuses(a) for a in (self.address, self.address + self.length - 1))

    def meta(self) -> int:
        """frame_meta_t: len, src, dst, unit_id, slot, timestamp, hash from the top."""
        value = 8 if self.data is None else self.length
        dst = HOST_READ if self.data is None else HOST_MEMORY
        for bits, item in ((8, 0), (8, dst), (5, self.unit), (6, self.tag), (64, self.address)):
            value = value << bits | item
        return value

    def beats(self) -> list[int]:
        if self.data is None:
            return [self.place << 16 | self.length]
        return [int.from_bytes(self.data[i : i + BEAT], "little") for i in range(0, self.length, BEAT)]


class Bench:
    """One `host_mem_bench`; `step()` is a cycle. As in the unit's benches all happens at the falling edge."""

    def __init__(self, dut: Any, seed: int, pause: float) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.pause = pause
        self.host = Host(self.rng, pause)
        self.cycle = 0
        self.to_send: deque[Request] = deque()
        self.sending: deque[tuple[int, int, int, bool]] = deque()  # cluster, meta, data, last
        self.waiting: dict[tuple[int, int], Request] = {}
        self.answers: list[tuple[Request, bool, bytes]] = []
        self.partial: list[int] = []
        self.events = {"read": 0, "write": 0, "error": 0, "read_bytes": 0, "write_bytes": 0, "denied": 0}
        self.held: dict[str, tuple[int, ...]] = {}
        self.units_wait = False  # no answer is taken

    async def start(self) -> None:
        dut = self.dut
        for name in ("in_valid", "in_meta", "in_last", "in_data", "out_ready", "awready", "wready", "bresp", "bvalid"):
            getattr(dut, name).value = 0
        for name in ("arready", "rdata", "rresp", "rlast", "rvalid", "range_we", "range_unit"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        self.edge = FallingEdge(dut.clk)
        for _ in range(4):
            await self.edge
        dut.rst.value = 0
        await self.edge
        await self.open()

    async def open(self) -> None:
        """Lets all units reach all host memory."""
        for unit in range(16):
            await self.give(unit, EVERYTHING)

    async def give(self, unit: int, bounds: tuple[int, int]) -> None:
        """Sets the range of a unit, as the registers do."""
        dut = self.dut
        dut.range_unit.value, dut.range_we.value = unit, 1
        dut.range_base.value, dut.range_limit.value = bounds
        await self.step()
        dut.range_we.value = 0
        # It holds for requests that come from now on.
        dut.range_base.value, dut.range_limit.value = EVERYTHING

    async def shown(self, unit: int) -> tuple[int, int]:
        self.dut.range_unit.value = unit
        await self.step()
        await self.step()
        return int(self.dut.shown_base.value), int(self.dut.shown_limit.value)

    def _stays(self, name: str, valid: bool, *values: int) -> None:
        """AXI4: an offered transfer stays until it is taken."""
        if name in self.held:
            assert valid and self.held[name] == values, f"{name} was withdrawn or changed"

    async def step(self) -> None:
        await self.edge
        self.cycle += 1
        dut, rng, host = self.dut, self.rng, self.host
        go = lambda: rng.random() >= self.pause  # noqa: E731

        # Requests
        dut.in_valid.value = 0
        if not self.sending and self.to_send:
            request = self.to_send[0]
            cluster = request.unit // 4
            if int(dut.room.value) >> cluster & 1 and (request.unit, request.tag) not in self.waiting:
                self.to_send.popleft()
                self.waiting[request.unit, request.tag] = request
                beats = request.beats()
                self.sending.extend((cluster, request.meta(), d, i == len(beats) - 1) for i, d in enumerate(beats))
        if self.sending and go():
            cluster, meta, data, last = self.sending.popleft()
            dut.in_valid.value = 1 << cluster
            dut.in_meta.value, dut.in_data.value, dut.in_last.value = meta, data, last

        # Writes
        ready = go()
        dut.awready.value = ready
        if dut.awvalid.value:
            address, beats = int(dut.awaddr.value), int(dut.awlen.value) + 1
            self._stays("aw", True, address, beats)
            self.held["aw"] = (address, beats)
            if ready:
                del self.held["aw"]
                host.burst(address, beats)
                host.aw.append([address, beats])
        else:
            self._stays("aw", False)
        ready = go()
        dut.wready.value = ready
        if dut.wvalid.value and ready:
            host.w.append((int(dut.wdata.value), int(dut.wstrb.value), bool(dut.wlast.value)))
        host.write(self.cycle)
        answer = bool(host.b) and host.b[0][0] <= self.cycle and (go() or "b" in self.held)
        dut.bvalid.value = answer
        self.held.pop("b", None)
        if answer:
            dut.bresp.value = host.b[0][1]
            if dut.bready.value:
                host.b.popleft()
            else:
                self.held["b"] = ()

        # Reads
        ready = go()
        dut.arready.value = ready
        if dut.arvalid.value:
            address, beats = int(dut.araddr.value), int(dut.arlen.value) + 1
            self._stays("ar", True, address, beats)
            self.held["ar"] = (address, beats)
            if ready:
                del self.held["ar"]
                host.burst(address, beats)
                host.read(address, beats, self.cycle)
        else:
            self._stays("ar", False)
        beat = bool(host.r) and host.r[0][0] <= self.cycle and (go() or "r" in self.held)
        dut.rvalid.value = beat
        self.held.pop("r", None)
        if beat:
            _, dut.rdata.value, dut.rresp.value, dut.rlast.value = host.r[0]
            if dut.rready.value:
                host.r.popleft()
            else:
                self.held["r"] = ()

        # Answers
        ready = go() and not self.units_wait
        dut.out_ready.value = ready
        if dut.out_valid.value and ready:
            self.partial.append(int(dut.out_data.value))
            if dut.out_last.value:
                self._answer(int(dut.out_meta.value))
        event = int(dut.events.value)
        if event >> 19 & 1:
            self.events["denied"] += 1
            assert not event >> 16 & 7, "a denied request counts as nothing else"
        for bit, name in ((18, "read"), (17, "write")):
            if event >> bit & 1:
                self.events[name] += 1
                self.events[f"{name}_bytes"] += event & 0xFFFF
                self.events["error"] += event >> 16 & 1

    def _answer(self, meta: int) -> None:
        unit, tag, answer = meta >> 70 & 0x1F, meta >> 64 & 0x3F, meta & 0xFFFFFFFF
        assert meta >> 83 & 0xFF == HOST_MEMORY
        request = self.waiting.pop((unit, tag))
        data = b"".join(beat.to_bytes(BEAT, "little") for beat in self.partial)[: meta >> 91]
        self.partial = []
        assert answer >> 30 & 1 == (request.data is not None or request.denied)
        if request.denied:
            assert answer >> 31 and meta >> 91 == 1, "a denied request has an error and no data"
        elif request.data is None:
            assert answer & 0x7FFFF == request.place and len(data) == request.length
        self.answers.append((request, bool(answer >> 31), data))

    async def drained(self) -> None:
        last = self.cycle + 200_000
        while self.to_send or self.sending or self.waiting:
            assert self.cycle < last, f"{len(self.waiting)} requests were not answered"
            await self.step()
        for _ in range(20):
            await self.step()

    def lengths(self) -> int:
        kind = self.rng.random()
        if kind < 0.4:
            return self.rng.randrange(1, 200)
        if kind < 0.9:
            return self.rng.randrange(1, 2000)
        return self.rng.choice([MAX_FRAME, MAX_FRAME - 1, 64, 128, 4096, 4097, self.rng.randrange(1, MAX_FRAME + 1)])

    def check_writes(self, requests: list[Request], before: bytes) -> None:
        memory = bytearray(before)
        for request in requests:
            if request.data is not None and not request.denied:
                for index in range(0, request.length):
                    place = request.address + index
                    if not refuses(place):
                        memory[place - BASE] = request.data[index]
        assert self.host.memory == memory


async def run(dut: Any, seed: int, pause: float, count: int) -> None:
    """Writes that do not overlap and reads of what nobody writes, all at once."""
    bench = Bench(dut, seed, pause)
    await bench.start()
    rng = bench.rng
    before = bytes(bench.host.memory)
    requests = []
    place = BASE + 2 * PAGE
    for number in range(count):
        length = bench.lengths()
        place += rng.choice([0, 1, rng.randrange(200), PAGE - place % PAGE, PAGE - place % PAGE - rng.randrange(1, 70)])
        data = rng.randbytes(length) if rng.random() < 0.5 else None
        # Twice through the memory: the second time what refuses is hit as well.
        if place + length > BASE + SIZE // 2 and number < count * 3 // 4:
            place = BASE + SIZE // 2
        requests.append(Request(number % 16, number // 16 % 32 + 1, place, length, data, rng.getrandbits(19)))
        place += length
        if place > BASE + SIZE - 2 * MAX_FRAME:
            break
    end = BASE + SIZE - BAD_PAGES * PAGE
    for number, (start, length) in enumerate(
        ((end - 100, 300), (end + 400, 64), (end - 264, 64), (end + 5000, 9000), (BASE - 100, 5000))
    ):
        requests.append(Request(3, 20 + number, start + number, length, rng.randbytes(length)))
        requests.append(Request(4, 20 + number, start + number, length, None, number))
    # The last ten read what they wrote: one after another.
    bench.to_send.extend(requests[:-10])
    await bench.drained()
    for request in requests[-10:]:
        bench.to_send.append(request)
        await bench.drained()
    bench.check_writes(requests, before)
    written = bench.host.memory
    assert len(bench.answers) == len(requests)
    for request, error, data in bench.answers:
        span = range(request.address // BEAT * BEAT, request.address + request.length, BEAT)
        assert error == any(refuses(a) for a in span), hex(request.address)
        if request.data is None:
            due = bytes(
                0 if refuses(a) else written[a - BASE] for a in range(request.address, request.address + request.length)
            )
            assert data == due, f"{request.length} bytes from {request.address:#x}"
    reads = [r for r in requests if r.data is None]
    writes = [r for r in requests if r.data is not None]
    assert bench.events == {
        "read": len(reads),
        "write": len(writes),
        "error": sum(error for _, error, _ in bench.answers),
        "read_bytes": sum(r.length for r in reads),
        "write_bytes": sum(r.length for r in writes),
        "denied": 0,
    }
    assert bench.host.most_beats == 64
    dut._log.info(f"{len(requests)} requests, {bench.host.bursts} bursts, {bench.cycle} cycles")


@cocotb.test()
async def at_full_speed(dut: Any) -> None:
    await run(dut, 1, 0.0, 250)


@cocotb.test()
async def resets_with_reads_on_their_way(dut: Any) -> None:
    """The card is reset, the host is not: it goes on sending what was asked for before. No later read is answered with
    that."""
    bench = Bench(dut, 7, 0.2)
    await bench.start()
    for round_ in range(20):
        bench.to_send.extend(
            Request(unit, 1 + round_, BASE + 2 * PAGE + 4 * PAGE * unit, 3 * PAGE, None, unit) for unit in range(8)
        )
        for _ in range(80 + 7 * round_):
            await bench.step()
        dut.rst.value = 1
        for _ in range(1 + round_ % 4):
            bench.held.pop("ar", None)
            await bench.step()
        assert bench.host.r, "nothing was on its way"
        dut.rst.value = 0
        bench.held.pop("ar", None)
        dut.in_valid.value = 0
        for pending in (bench.to_send, bench.sending, bench.waiting, bench.partial):
            pending.clear()
        await bench.open()
        first = len(bench.answers)
        reads = [Request(unit, 9, BASE + 2 * PAGE + 300 * unit, 250, None, unit) for unit in range(16)]
        bench.to_send.extend(reads)
        await bench.drained()
        assert len(bench.answers) == first + len(reads)
        for request, error, data in bench.answers[first:]:
            place = request.address - BASE
            assert not error and data == bench.host.memory[place : place + request.length], f"round {round_}"


@cocotb.test()
async def with_pauses(dut: Any) -> None:
    await run(dut, 2, 0.4, 200)


@cocotb.test()
async def every_alignment(dut: Any) -> None:
    """Lengths 1..130 at every place in a beat, written, then read back."""
    bench = Bench(dut, 3, 0.1)
    await bench.start()
    rng = bench.rng
    before = bytes(bench.host.memory)
    writes = []
    for shift in range(64):
        length = rng.randrange(1, 131)
        address = BASE + shift * 256 + shift
        writes.append(Request(shift % 16, shift // 16 + 1, address, length, rng.randbytes(length)))
    bench.to_send.extend(writes)
    await bench.drained()
    bench.check_writes(writes, before)
    bench.to_send.extend(Request(w.unit, w.tag, w.address, w.length, None, w.address & 0x7FFFF) for w in writes)
    await bench.drained()
    got = {request.address: data for request, _, data in bench.answers if request.data is None}
    assert got == {w.address: w.data for w in writes}


@cocotb.test()
async def waits_for_room(dut: Any) -> None:
    """Units that take no answer for a while: host_mem asks for no more than it has room for, and loses nothing."""
    bench = Bench(dut, 5, 0.0)
    await bench.start()
    bench.units_wait = True
    lengths = [MAX_FRAME, 5000, MAX_FRAME, MAX_FRAME, 4000, 64, MAX_FRAME]
    reads = [Request(n, n + 1, BASE + n * (MAX_FRAME + 77), length, None, n) for n, length in enumerate(lengths)]
    for read in reads:
        # Apart, so that requests of different clusters keep their order.
        bench.to_send.append(read)
        for _ in range(4):
            await bench.step()
    for _ in range(2000):
        await bench.step()
    assert not bench.answers and len(bench.waiting) == len(reads)
    bench.units_wait = False
    await bench.drained()
    for request, error, data in bench.answers:
        start = request.address - BASE
        assert not error and data == bench.host.memory[start : start + request.length]
    assert [request for request, _, _ in bench.answers] == reads


async def bounded(bench: Bench, requests: list[Request], ranges: list[tuple[int, int]]) -> None:
    """Sends the requests to a card with a range for each unit, and checks the answers, the counts and the bursts."""
    for request in requests:
        request.denied = not request.lies_in(*ranges[request.unit])
    before, bursts, events = bytes(bench.host.memory), bench.host.bursts, dict(bench.events)
    first = len(bench.answers)
    bench.to_send.extend(requests)
    await bench.drained()
    bench.check_writes(requests, before)
    answers = bench.answers[first:]
    assert len(answers) == len(requests)
    for unit in range(16):
        for reads in (True, False):
            mine = [r for r in requests if r.unit == unit and (r.data is None) == reads]
            got = [r for r, _, _ in answers if r.unit == unit and (r.data is None) == reads]
            assert [r.tag for r in got] == [r.tag for r in mine], f"unit {unit} was answered out of order"
    for request, error, data in answers:
        span = range(request.address, request.address + request.length)
        refused = any(refuses(a) for a in range(span.start // BEAT * BEAT, span.stop, BEAT))
        assert error == (request.denied or refused), f"unit {request.unit}, {request.length} at {request.address:#x}"
        if request.data is None and not request.denied:
            assert data == bytes(0 if refuses(a) else before[a - BASE] for a in span)
    allowed = [r for r in requests if not r.denied]
    gone = {name: count - events[name] for name, count in bench.events.items()}
    assert gone == {
        "read": sum(r.data is None for r in allowed),
        "write": sum(r.data is not None for r in allowed),
        "error": sum(error and not r.denied for r, error, _ in answers),
        "read_bytes": sum(r.length for r in allowed if r.data is None),
        "write_bytes": sum(r.length for r in allowed if r.data is not None),
        "denied": len(requests) - len(allowed),
    }
    assert bench.host.bursts - bursts == sum(r.pages() for r in allowed), "the host saw other bursts than it should"


@cocotb.test()
async def units_reach_nothing_after_a_reset(dut: Any) -> None:
    bench = Bench(dut, 8, 0.1)
    await bench.start()
    assert await bench.shown(15) == EVERYTHING
    dut.rst.value = 1
    await bench.step()
    dut.rst.value = 0
    ranges = [NOTHING] * 16
    for unit in range(16):
        assert await bench.shown(unit) == NOTHING
    places = [0, BASE, TOP - 100]
    requests = [Request(u, 1 + n, p, 100, None) for u in range(16) for n, p in enumerate(places)]
    requests += [Request(u, 9 + n, p, 100, bytes(100)) for u in range(16) for n, p in enumerate(places)]
    await bounded(bench, requests, ranges)
    # The first range of one unit opens no other.
    ranges[9] = (BASE, BASE + SIZE - 1)
    await bench.give(9, ranges[9])
    assert await bench.shown(9) == ranges[9] and await bench.shown(8) == NOTHING
    await bounded(bench, requests, ranges)


@cocotb.test()
async def ranges_end_where_they_end(dut: Any) -> None:
    """One byte beyond either end, at addresses that differ in one word only, and at the top of the address space."""
    bench = Bench(dut, 9, 0.2)
    await bench.start()
    low, high = BASE + 5 * PAGE + 7, BASE + 8 * PAGE + 1233
    ranges = [EVERYTHING] * 16
    ranges[1] = (low, high)
    ranges[2] = (low, low)  # one byte
    ranges[3] = (low + 1, low)  # none
    ranges[4] = (TOP - 300, TOP - 1)
    ranges[5] = (low, low + MAX_FRAME - 1)
    ranges[6] = (0, (1 << 32) - 1)
    ranges[7] = (BASE + (1 << 32), TOP - 1)
    ranges[8] = (0, 0)
    ranges[9] = (TOP - 1, TOP - 1)
    for unit, bounds in enumerate(ranges):
        await bench.give(unit, bounds)
    spans = [(low, 1), (low - 1, 1), (low - 1, 2), (low, 2), (low + 1, 1), (high, 1), (high, 2), (high + 1, 1)]
    spans += [(high - 99, 100), (high - 99, 101), (low - 63, 64), (low, high - low + 1), (low, high - low + 2)]
    spans += [(low, MAX_FRAME), (low + 1, MAX_FRAME), (low - 1, MAX_FRAME), (low - 1, 4 * PAGE - 1)]
    spans += [(TOP - 1, 1), (TOP - 1, 2), (TOP - 300, 300), (TOP - 300, 301), (TOP - 301, 2), (TOP - 1, MAX_FRAME)]
    spans += [(0, 1), (0, 2), (1, 1), (0, MAX_FRAME), ((1 << 32) - 1, 1), ((1 << 32) - 1, 2), (1 << 32, 1)]
    spans += [(low ^ 1 << bit, 1) for bit in (0, 12, 31, 32, 33, 47, 62, 63)]
    for address, length in spans:
        await bounded(bench, [Request(unit, 1, address, length, None, unit) for unit in range(11)], ranges)
        writes = [Request(unit, 2, address, length, bench.rng.randbytes(length)) for unit in range(11)]
        denied = [w for w in writes if not w.lies_in(*ranges[w.unit])]
        # The writes that are carried out go to one place, so each is sent after the answer to the one before.
        for write in writes:
            if write not in denied:
                await bounded(bench, [write], ranges)
        await bounded(bench, denied, ranges)
    assert bench.events["denied"] > 400 and bench.events["write"] > 60


@cocotb.test()
async def neighbours_go_on(dut: Any) -> None:
    """All units at once, each with a part of memory: most ask in it, some at its ends, and two always beyond."""
    for seed, pause in ((10, 0.0), (11, 0.4)):
        bench = Bench(dut, seed, pause)
        await bench.start()
        rng = bench.rng
        part = 12 * PAGE
        ranges = [(BASE + u * part, BASE + (u + 1) * part - 1) for u in range(16)]
        for unit in rng.sample(range(16), 16):
            await bench.give(unit, ranges[unit])
        requests = []
        for number in range(300):
            unit = number % 16
            base, limit = ranges[unit]
            length = bench.lengths()
            if unit in (5, 6):
                address = ranges[unit ^ 8][0] + rng.randrange(part - length)
            elif rng.random() < 0.15:
                address = max(rng.choice([base - rng.randrange(1, 70), limit + 2 - length]), BASE)
            else:
                # Writes in the upper half, one after another; reads below.
                address = base + rng.randrange(part // 2 - MAX_FRAME)
            write = not ranges[unit][0] <= address <= ranges[unit][1] - length + 1 and rng.random() < 0.5
            requests.append(
                Request(unit, number // 16 % 32 + 1, address, length, rng.randbytes(length) if write else None, number)
            )
        for unit in range(16):
            place = ranges[unit][0] + part // 2
            while place + 3000 < ranges[unit][1]:
                length = rng.randrange(1, 3000)
                requests.insert(rng.randrange(len(requests)), Request(unit, 30, place, length, rng.randbytes(length)))
                place += length
        # A tag is free again only after its answer, so any order is possible.
        await bounded(bench, requests, ranges)
        assert bench.events["denied"] > 40 and bench.events["read"] > 100 and bench.events["write"] > 80


@cocotb.test()
async def ranges_change_between_requests(dut: Any) -> None:
    """A unit asks again and again for the same bytes, while its range moves; another one keeps its own."""
    bench = Bench(dut, 12, 0.1)
    await bench.start()
    there, elsewhere = (BASE, BASE + PAGE - 1), (BASE + PAGE, BASE + 2 * PAGE - 1)
    ranges = [EVERYTHING] * 16
    for round_ in range(24):
        ranges[2] = bench.rng.choice([there, elsewhere, NOTHING, (there[0] + 1, there[1]), (there[0], 99)])
        ranges[3] = there
        await bench.give(2, ranges[2])
        await bench.give(3, ranges[3])
        data = bench.rng.randbytes(200)
        requests = [Request(2, 1, BASE, 200, data), Request(3, 2, BASE + 1000, 200, data[::-1])]
        await bounded(bench, requests, ranges)
        await bounded(bench, [Request(u, 3, BASE + 900 * (u - 2), 400, None, round_) for u in (2, 3)], ranges)


@cocotb.test()
async def a_range_changes_as_a_whole(dut: Any) -> None:
    """While a unit asks, its range goes to and fro between two. An address that only a mix of them has is never asked
    of the host."""
    bench = Bench(dut, 13, 0.0)
    await bench.start()
    lower, upper = (BASE, BASE + PAGE - 1), (BASE + 2 * PAGE, BASE + 3 * PAGE - 1)
    await bench.give(0, lower)
    for number in range(120):
        bench.to_send.append(Request(0, number % 32 + 1, BASE + PAGE, 64, None, number, denied=True))
    turns = 0
    while bench.to_send or bench.waiting:
        turns += 1
        await bench.give(0, upper if turns % 2 else lower)
    assert bench.host.bursts == 0 and len(bench.answers) == 120 and turns > 200


@cocotb.test()
async def streams_at_rate(dut: Any) -> None:
    """16 frames of 4,096 bytes each way: one beat a cycle, and few more for what lies between."""
    bench = Bench(dut, 4, 0.0)
    await bench.start()
    bench.to_send.extend(Request(n, 1, BASE + n * PAGE, PAGE, bench.rng.randbytes(PAGE)) for n in range(16))
    start = bench.cycle
    await bench.drained()
    wrote = bench.cycle - start
    bench.to_send.extend(Request(n, 1, BASE + n * PAGE, PAGE, None) for n in range(16))
    start = bench.cycle
    await bench.drained()
    read = bench.cycle - start
    dut._log.info(f"64 KiB written in {wrote} cycles, read in {read}")
    assert wrote < 1024 + 250 and read < 1024 + 350


@pytest.mark.parametrize(
    "case",
    [
        "at_full_speed",
        "resets_with_reads_on_their_way",
        "with_pauses",
        "every_alignment",
        "waits_for_room",
        "units_reach_nothing_after_a_reset",
        "ranges_end_where_they_end",
        "neighbours_go_on",
        "ranges_change_between_requests",
        "a_range_changes_as_a_whole",
        "streams_at_rate",
    ],
)
def test_host_mem(case: str) -> None:
    parts = ("frame_gather", "realign", "axi_bursts", "host_write", "host_read", "host_bounds", "host_mem")
    sources = ["lib/rtl/rtl.f", "shell/rtl/shell_pkg.sv", *(f"shell/rtl/{p}.sv" for p in parts)]
    sources.append("shell/tests/host_mem/host_mem_bench.sv")
    simulate("host_mem_bench", sources, "test_host_mem", testcase=case)
