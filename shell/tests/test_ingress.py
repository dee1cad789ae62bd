# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""ingress of a port and of the host: beats, tails, hashes, drops and their order, and its speed."""

from __future__ import annotations

import random
import sys
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_flow_hash import random_frame
from toeplitz import flow_hash

BEAT, TAIL, LONGEST, SHORTEST = 64, 16, 16384, 14
DISABLED, DAMAGED, OVERSIZE, RUNT, OVERFLOW = range(5)
# pytest, which has no ingress, reads this file too.
INGRESS: Any = getattr(cocotb, "top", None)
of_port = cocotb.skipif(
    INGRESS is not None and int(INGRESS.Bytes.value) == BEAT, reason="the host's stream has no tails, and waits"
)


@dataclass
class Frame:
    data: bytes
    damaged: bool = False
    cycle: int = -1  # in which its first row went in


class Bench:
    """Feeds the stream, takes the beats, and checks each frame that comes out against those that went in, in their
    order.
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(3)
        self.bytes = int(dut.Bytes.value)
        self.cycle = 0
        self.rate = self.ready = 1.0  # probability that a row comes, that a beat is taken
        self.waiting: deque[Frame] = deque()
        self.at = 0  # bytes of the first of them that are inside
        self.taken = True
        self.inside: deque[Frame] = deque()
        self.partial: list[bytes] = []
        self.head = (0, 0, 0)
        self.out: list[int] = []  # cycle of each frame's last beat
        self.bad: Counter[int] = Counter()
        self.counted = Counter[str]()

    async def start(self) -> None:
        d = self.dut
        for name in ("rx_tvalid", "rx_tdata", "rx_tkeep", "rx_tlast", "rx_tuser", "out_ready"):
            getattr(d, name).value = 0
        d.enable.value = 1
        d.rst.value = 1
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk)
        d.rst.value = 0
        self.cycle = 0

    def send(self, data: bytes, damaged: bool = False) -> None:
        self.waiting.append(Frame(data, damaged))

    def random(self, size: int) -> bytes:
        return self.rng.randbytes(size)

    async def drain(self, timeout: int = 20_000) -> None:
        """Until all is in, and nothing has come out for a while."""
        quiet = 0
        for _ in range(timeout):
            count = len(self.out) + len(self.partial)
            await self.step()
            quiet = 0 if self.waiting or count != len(self.out) + len(self.partial) else quiet + 1
            if quiet > 60:
                return
        raise AssertionError("it never ends")

    async def step(self) -> None:
        d = self.dut
        if self.taken:
            fire = bool(self.waiting) and (self.rate == 1 or self.rng.random() < self.rate)
            d.rx_tvalid.value = fire
            self.taken = not fire
            if fire:
                frame = self.waiting[0]
                chunk = frame.data[self.at : self.at + self.bytes]
                last = self.at + self.bytes >= len(frame.data)
                # Bytes beyond the frame are arbitrary
                d.rx_tdata.value = int.from_bytes(chunk.ljust(self.bytes, b"\xa5"), "little")
                d.rx_tkeep.value = (1 << len(chunk)) - 1
                d.rx_tlast.value, d.rx_tuser.value = last, last and frame.damaged
        ready = self.ready == 1 or self.rng.random() < self.ready
        d.out_ready.value = ready
        await ReadOnly()
        if not self.taken and int(d.rx_tready.value):
            self.taken = True
            frame = self.waiting[0]
            if self.at == 0:
                frame.cycle = self.cycle
            self.at += self.bytes
            if self.at >= len(frame.data):
                self.inside.append(self.waiting.popleft())
                self.at = 0
        if ready and int(d.out_valid.value):
            self._take()
        if int(d.event_frame.value):
            self.counted["frames"] += 1
            self.counted["bytes"] += int(d.event_bytes.value)
        bad = int(d.event_bad.value)
        assert bad.bit_count() <= 1, "a frame counts twice"
        for reason in range(5):
            self.bad[reason] += bad >> reason & 1
        await FallingEdge(d.clk)
        self.cycle += 1

    def _take(self) -> None:
        d = self.dut
        if not self.partial:
            self.head = int(d.out_len.value), int(d.out_time.value), int(d.out_hash.value)
        size, time, value = self.head
        self.partial.append(d.out_data.value.to_unsigned().to_bytes(BEAT, "little"))
        if not int(d.out_last.value):
            assert not int(d.out_folded.value), "a tail in mid-frame"
            return
        folded = self.bytes > BEAT and BEAT < size <= BEAT + TAIL
        assert int(d.out_folded.value) == folded and len(self.partial) == (1 if folded else -(-size // BEAT)), size
        if folded:
            self.partial.append(d.out_tail.value.to_unsigned().to_bytes(TAIL, "little"))
        data = b"".join(self.partial)[:size]
        self.partial = []
        while self.inside and self.inside[0].data != data:
            self.inside.popleft()  # it was dropped; who counts the drops says whether rightly
        assert self.inside, f"a frame of {size} bytes came from nowhere, or out of order"
        frame = self.inside.popleft()
        assert value == flow_hash(data)
        assert time == frame.cycle, "the time of arrival"
        self.out.append(self.cycle)


@cocotb.test()
async def all_lengths(dut: Any) -> None:
    """Every length from the shortest up to 300 bytes, and those around rows and the longest, with gaps and stalls and
    without.
    """
    bench = Bench(dut)
    await bench.start()
    sizes = [*range(SHORTEST, 301), 383, 384, 385, 448, 449, 465, 1500, 9000, 16320, 16321, 16336, 16383, LONGEST]
    for rate, ready in ((1.0, 1.0), (0.6, 0.9), (0.9, 0.7)):
        bench.rate, bench.ready = rate, ready
        done = len(bench.out)
        bench.rng.shuffle(sizes)
        for i, size in enumerate(sizes):
            bench.send(bench.random(size))
            if i % 8 == 7:
                await bench.drain()  # the ring holds a few of the longest
        await bench.drain()
        assert len(bench.out) - done == len(sizes)
    assert not bench.bad.total()
    assert bench.counted == {"frames": 3 * len(sizes), "bytes": 3 * sum(sizes)}


@cocotb.test()
async def headers(dut: Any) -> None:
    """Headers of all kinds, whole and cut, also with what belongs to them in the tail: the hash is that of the first 64
    bytes.
    """
    bench = Bench(dut)
    await bench.start()
    for i in range(400):
        bench.send(random_frame(bench.rng))
        # IPv6 and two tags: the ports begin at byte 62
        ports = b"\x81\x00" + bench.random(2) + b"\x88\xa8" + bench.random(2) + b"\x86\xdd\x60" + bytes(5) + b"\x11"
        bench.send(bench.random(12) + ports + bench.random(33 + (i % 40)))
    await bench.drain()
    assert len(bench.out) == 800


@of_port
@cocotb.test()
async def a_frame_a_cycle(dut: Any) -> None:
    """Frames of up to 80 bytes enter and leave in each cycle; longer ones as fast as their beats; whatever enters never
    waits.
    """
    bench = Bench(dut)
    await bench.start()
    for sizes, cycles in (([60, 64, 65, 80], 400), ([81, 128], 800), ([65, 129, 193], 267 + 133 * 3 + 134 * 4)):
        first = len(bench.out)
        for i in range(400):
            bench.send(bench.random(sizes[i % len(sizes)]))
        begin = bench.cycle
        await bench.drain()
        took = bench.out[-1] - bench.out[first] + 1
        dut._log.info(f"{sizes} B: 400 frames in {took} cycles, the first after {bench.out[first] - begin}")
        assert len(bench.out) - first == 400 and took <= cycles + 2
    assert not bench.bad.total()


@cocotb.test()
async def faults(dut: Any) -> None:
    """Runts, damaged and longest frames among good ones, also folded: counted once by the first reason, and the
    neighbours get through.
    """
    bench = Bench(dut)
    await bench.start()
    rng = bench.rng
    bench.rate, bench.ready = 0.9, 0.9
    expected: Counter[int] = Counter()
    good = 0
    for i in range(400):
        size = rng.choice([1, 13, 14, 60, 64, 65, 72, 80, 81, 128, 129, 144, 145])
        if i % 40 == 20:
            size = rng.choice([LONGEST + 1, LONGEST + 64, LONGEST + 65, LONGEST + 129, 3 * LONGEST])
        damaged = rng.random() < 0.2
        bench.send(bench.random(size), damaged)
        if damaged:
            expected[DAMAGED] += 1
        elif size > LONGEST:
            expected[OVERSIZE] += 1
        elif size < SHORTEST:
            expected[RUNT] += 1
        else:
            good += 1
    await bench.drain(40_000)
    assert bench.bad == expected and len(bench.out) == good == bench.counted["frames"]
    dut.enable.value = 0
    for i in range(30):
        bench.send(bench.random((65, 80, 300)[i % 3]), i % 5 == 0)
    await bench.drain()
    assert bench.bad[DISABLED] == 30 and len(bench.out) == good
    assert int(dut.level.value) == 0


@cocotb.test()
async def a_full_ring(dut: Any) -> None:
    """Nobody takes the frames: `pause` rises while half of the ring is free, `crowded` at a quarter, then a port drops
    whole frames, and goes on afterwards; the host waits."""
    bench = Bench(dut)
    await bench.start()
    bench.ready = 0.0
    sizes = [bench.rng.choice([64, 65, 80, 500, 1500]) for _ in range(400)]
    for size in sizes:
        bench.send(bench.random(size))
    host = bench.bytes == BEAT
    depth = {128: 512, 64: 1024}[bench.bytes]
    levels: dict[str, int] = {}  # of the ring when each was seen first
    for _ in range(4000):
        await bench.step()
        for name in ("pause", "crowded"):
            if int(getattr(dut, name).value):
                levels.setdefault(name, int(dut.level.value))
        if bench.bad[OVERFLOW]:
            assert len(levels) == 2
    # `level` is what the signals see, some cycles later.
    assert 0 <= levels["pause"] - depth // 2 < 8 and 0 <= levels["crowded"] - depth * 3 // 4 < 8
    assert bool(bench.waiting) == host and bool(bench.bad[OVERFLOW]) != host
    bench.ready = 1.0
    await bench.drain()
    assert len(bench.out) == 400 - bench.bad[OVERFLOW] and bench.bad.total() == bench.bad[OVERFLOW]
    for size in (64, 65, 9000):
        bench.send(bench.random(size))
    await bench.drain()
    assert (
        len(bench.out) == 403 - bench.bad[OVERFLOW]
        and int(dut.level.value) == 0
        and not int(dut.pause.value) | int(dut.crowded.value)
    )


@pytest.mark.parametrize(("width", "depth"), [(128, 512), (64, 1024)])
def test_ingress(width: int, depth: int) -> None:
    simulate(
        "ingress_bench",
        [
            "lib/rtl/rtl.f",
            "shell/rtl/shell_pkg.sv",
            "shell/rtl/flow_hash.sv",
            "shell/rtl/ingress.sv",
            "shell/tests/ingress_bench.sv",
        ],
        "test_ingress",
        {"Bytes": width, "Depth": depth},
    )
