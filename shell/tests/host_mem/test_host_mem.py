# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""host_mem against a host of bytes: any address, any length, pauses on every channel, refusals, the rules of AXI4."""

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
        self.events = {"read": 0, "write": 0, "error": 0, "read_bytes": 0, "write_bytes": 0}
        self.held: dict[str, tuple[int, ...]] = {}
        self.units_wait = False  # no answer is taken

    async def start(self) -> None:
        dut = self.dut
        for name in ("in_valid", "in_meta", "in_last", "in_data", "out_ready", "awready", "wready", "bresp", "bvalid"):
            getattr(dut, name).value = 0
        for name in ("arready", "rdata", "rresp", "rlast", "rvalid"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        self.edge = FallingEdge(dut.clk)
        for _ in range(4):
            await self.edge
        dut.rst.value = 0
        await self.edge

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
        assert answer >> 30 & 1 == (request.data is not None)
        if request.data is None:
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
            if request.data is not None:
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
    bench.to_send.extend(reads)
    for _ in range(2000):
        await bench.step()
    assert not bench.answers and len(bench.waiting) == len(reads)
    bench.units_wait = False
    await bench.drained()
    for request, error, data in bench.answers:
        start = request.address - BASE
        assert not error and data == bench.host.memory[start : start + request.length]
    assert [request for request, _, _ in bench.answers] == reads


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
        "streams_at_rate",
    ],
)
def test_host_mem(case: str) -> None:
    parts = ("frame_gather", "realign", "axi_bursts", "host_write", "host_read", "host_mem")
    sources = ["lib/rtl/rtl.f", "shell/rtl/shell_pkg.sv", *(f"shell/rtl/{p}.sv" for p in parts)]
    sources.append("shell/tests/host_mem/host_mem_bench.sv")
    simulate("host_mem_bench", sources, "test_host_mem", testcase=case)
