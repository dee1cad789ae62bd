# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The way of frames around the elements of a flow block, with a chain in Python that takes its time: frames leave in
order, each with what the chain has said of it, ports do not wait for each other, and nothing overflows.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import ROOT, simulate

sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tools")]

import fields  # noqa: E402

BEAT, TAIL, LONGEST = 64, 16, 16384
SOURCE = fields.tomllib.loads((ROOT / fields.SOURCE).read_text())
LOWEST = fields.places(SOURCE)
PARTS_AT = 16 + 8 * sum(layer["bytes"] for layer in SOURCE["layer"].values())
VLAN = 1 << PARTS_AT + [*SOURCE["header"], *SOURCE["part"]].index("vlan")


def beats(length: int) -> int:
    return 1 if length <= BEAT + TAIL else -(-length // BEAT)


@dataclass
class Frame:
    """It begins with its number. The chain sets its destination address to `address` and takes its tag, if it has one.
    With `keep` it leaves the verdict with which the frame came.
    """

    data: bytes
    number: int
    address: int
    dst: int
    drop: bool
    keep: bool
    mark: int
    tagged: bool

    def result(self) -> bytes:
        return self.address.to_bytes(6, "big") + self.data[6:12] + self.data[16 if self.tagged else 12 :]


@dataclass
class Rates:
    """How often a port brings a beat, the chain takes headers, a port takes a beat; how long the chain needs."""

    into: tuple[float, float] = (1.0, 1.0)
    chain: float = 1.0
    out: tuple[float, float] = (1.0, 1.0)
    latency: tuple[int, int] = (10, 10)


@dataclass
class Port:
    waiting: deque[Frame] = field(default_factory=deque)  # have not entered whole
    parsed: deque[Frame] = field(default_factory=deque)  # the chain has not had them
    leaving: deque[Frame] = field(default_factory=deque)
    at: int = 0  # beats of the first of `waiting` that have entered
    offered: tuple[int, int, int, int] | None = None  # data, last, length, tail
    partial: bytes = b""
    stalls: int = 0
    left: int = 0


class Bench:
    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.ports = [Port() for _ in range(int(dut.Ports.value))]
        self.chain: deque[tuple[int, int, Frame, int]] = deque()  # when it is through, port, frame, headers
        self.cycle = self.number = self.most = 0
        self.order: list[tuple[int, int]] = []  # cycles and ports in which the chain took headers

    async def start(self) -> None:
        dut = self.dut
        for name in ("in_valid", "in_data", "in_last", "in_len", "in_tail", "to_ready", "out_ready"):
            getattr(dut, name).value = 0
        for name in ("valid", "port", "drop", "keep", "dst", "mark", "headers"):
            getattr(dut, f"from_{name}").value = 0
        dut.rst.value = 1
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        for _ in range(20):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk)

    def send(self, port: int, length: int, drops: float = 0.1) -> None:
        rng = self.rng
        self.number += 1
        tagged = length >= 18 and rng.random() < 0.5
        start = self.number.to_bytes(6, "big") + rng.randbytes(6) + (b"\x81\0\x12\x34" if tagged else b"") + b"\x88\xb5"
        data = start + rng.randbytes(length - len(start))
        address, dst, mark = (rng.getrandbits(bits) for bits in (48, 8, 32))
        drop, keep = rng.random() < drops, rng.random() < 0.5
        frame = Frame(data, self.number, address, dst, drop, keep, mark, tagged)
        self.ports[port].waiting.append(frame)
        self.ports[port].parsed.append(frame)
        if not frame.drop:
            self.ports[port].leaving.append(frame)

    async def drain(self, rates: Rates, timeout: int = 60_000) -> None:
        for _ in range(timeout):
            if not any(port.waiting or port.parsed or port.leaving for port in self.ports):
                break
            inside = any(port.leaving and port.leaving[0] not in port.waiting for port in self.ports)
            assert not inside or int(self.dut.busy.value), "busy has fallen too soon"
            await self.step(rates)
        for _ in range(30):
            await self.step(rates)
        assert not int(self.dut.busy.value)
        assert not any(port.waiting or port.parsed or port.leaving or port.partial for port in self.ports)

    async def step(self, rates: Rates) -> None:
        dut, rng = self.dut, self.rng
        values = [0, 0, 0, 0]
        for p, port in enumerate(self.ports):
            if port.offered is None and port.waiting and rng.random() < rates.into[p]:
                port.offered = self.beat(port)
            for i, (value, width) in enumerate(zip(port.offered or (), (8 * BEAT, 1, 16, 8 * TAIL + 1), strict=False)):
                values[i] |= value << width * p
        dut.in_data.value, dut.in_last.value, dut.in_len.value, dut.in_tail.value = values
        dut.in_valid.value = sum((port.offered is not None) << p for p, port in enumerate(self.ports))
        dut.out_ready.value = sum((rng.random() < rates.out[p]) << p for p in range(len(self.ports)))
        dut.to_ready.value = rng.random() < rates.chain
        self.answer()
        await ReadOnly()
        ready, valid = int(dut.in_ready.value), int(dut.out_valid.value) & int(dut.out_ready.value)
        for p, port in enumerate(self.ports):
            if port.offered is not None and ready >> p & 1:
                port.offered = None
                port.at += 1
                if port.at == beats(len(port.waiting[0].data)):
                    port.waiting.popleft()
                    port.at = 0
            port.stalls += port.offered is not None
            if valid >> p & 1:
                self.take(p, port)
        if int(dut.to_valid.value) and int(dut.to_ready.value):
            self.ask(rates)
        await FallingEdge(dut.clk)
        self.cycle += 1

    def beat(self, port: Port) -> tuple[int, int, int, int]:
        data, rng = port.waiting[0].data, self.rng
        some = data[BEAT * port.at : BEAT * (port.at + 1)]
        folded = BEAT < len(data) <= BEAT + TAIL
        tail = data[BEAT:] if folded else b""
        return (
            int.from_bytes(some + rng.randbytes(BEAT - len(some)), "little"),
            int(port.at + 1 == beats(len(data))),
            rng.getrandbits(16) if port.at else len(data),
            folded << 8 * TAIL | int.from_bytes(tail + rng.randbytes(TAIL - len(tail)), "little"),
        )

    def ask(self, rates: Rates) -> None:
        """The chain takes headers: of the oldest frame of their port."""
        dut = self.dut
        p, headers = int(dut.to_port.value), int(dut.to_headers.value)
        frame = self.ports[p].parsed.popleft()
        shown = headers >> LOWEST["eth.dst"] & (1 << 48) - 1, int(dut.to_len.value), bool(headers & VLAN)
        assert shown == (frame.number, len(frame.data), frame.tagged)
        due = self.cycle + self.rng.randint(*rates.latency)
        if self.chain:
            due = max(due, self.chain[-1][0] + 1)
        self.chain.append((due, p, frame, headers))
        self.order.append((self.cycle, p))

    def answer(self) -> None:
        """The chain gives headers back."""
        dut = self.dut
        self.most = max(self.most, len(self.chain))
        there = bool(self.chain) and self.chain[0][0] <= self.cycle
        dut.from_valid.value = there
        if there:
            _, p, frame, headers = self.chain.popleft()
            at = LOWEST["eth.dst"]
            headers = headers & ~((1 << 48) - 1 << at) & ~VLAN | frame.address << at
            dut.from_port.value, dut.from_headers.value = p, headers
            dut.from_drop.value, dut.from_keep.value = frame.drop, frame.keep
            dut.from_dst.value, dut.from_mark.value = frame.dst, frame.mark

    def take(self, p: int, port: Port) -> None:
        dut = self.dut
        assert port.leaving, "a frame from nowhere"
        frame = port.leaving[0]
        result = frame.result()
        if not port.partial:
            assert int(dut.out_len.value) >> 16 * p & 0xFFFF == len(result)
            assert int(dut.out_dst.value) >> 8 * p & 0xFF == (0 if frame.keep else frame.dst)
            assert int(dut.out_word.value) >> 32 * p & 0xFFFFFFFF == (~len(frame.data) & 0xFFFF if frame.keep else 0)
            assert int(dut.out_mark.value) >> 32 * p & 0xFFFFFFFF == frame.mark
        port.partial += (int(dut.out_data.value) >> 8 * BEAT * p & (1 << 8 * BEAT) - 1).to_bytes(BEAT, "little")
        if int(dut.out_last.value) >> p & 1:
            tail = int(dut.out_tail.value) >> (8 * TAIL + 1) * p
            if tail >> 8 * TAIL & 1:
                port.partial += (tail & (1 << 8 * TAIL) - 1).to_bytes(TAIL, "little")
            assert port.partial[: len(result)] == result
            port.leaving.popleft()
            port.partial = b""
            port.left += 1


@cocotb.test()
async def a_frame_a_cycle(dut: Any) -> None:
    """One port alone never waits; two have the chain in turn, and it never waits."""
    bench = Bench(dut, 1)
    await bench.start()
    for _ in range(500):
        bench.send(0, bench.rng.randint(14, 80))
    await bench.drain(Rates())
    assert bench.ports[0].stalls == 0
    bench.order.clear()
    for _ in range(500):
        for p in range(2):
            bench.send(p, bench.rng.randint(14, 80))
    await bench.drain(Rates())
    # The ports' first frames arrive together, and the last ones are not alone for longer than a delay queue.
    assert bench.order[-1][0] - bench.order[0][0] == len(bench.order) - 1
    assert [p for _, p in bench.order[:800]] in ([0, 1] * 400, [1, 0] * 400)


@cocotb.test()
async def gaps_everywhere(dut: Any) -> None:
    bench = Bench(dut, 2)
    await bench.start()
    rng = bench.rng
    for rates in (
        Rates(into=(0.5, 0.9), chain=0.7, out=(0.6, 0.8), latency=(1, 30)),
        Rates(chain=0.2, latency=(1, 200)),
        Rates(out=(0.2, 1.0), latency=(1, 3)),
        Rates(into=(1.0, 0.1), latency=(60, 60)),
    ):
        for _ in range(150):
            for p in range(2):
                bench.send(p, rng.choice([rng.randint(14, 140), rng.randint(14, 1518)]))
        bench.send(rng.randrange(2), LONGEST)
        await bench.drain(rates)


@cocotb.test()
async def who_waits(dut: Any) -> None:
    """A chain that stops stops ports, and no more; a port that is not taken from does not stop the other one."""
    bench = Bench(dut, 3)
    await bench.start()
    depth = int(dut.Depth.value)
    for _ in range(4 * depth):
        for p in range(2):
            bench.send(p, bench.rng.randint(14, 300), drops=0)
    for _ in range(4 * depth):
        await bench.step(Rates(latency=(3000, 3000)))
    assert all(port.offered is not None and not port.left for port in bench.ports)
    # As many frames as the delay queues hold are in the chain.
    assert bench.most > depth // 4
    for _ in range(6000):
        await bench.step(Rates(out=(0.0, 1.0)))
    assert bench.ports[0].left == 0 and not bench.ports[1].leaving
    await bench.drain(Rates())


def test_flow_frames() -> None:
    sources = ["lib/rtl/headers.f", "engines/flow/rtl/flow_frames.sv", "engines/flow/tests/flow_frames_bench.sv"]
    simulate("flow_frames_bench", sources, Path(__file__).stem)
