# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Drives l7_block_bench.sv: frames in and out of each port, registers, and the model beside them (l7_machine.py)."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from l7_machine import Machine, Out, Packet, Rules
from penstock import regs

BEAT, TAIL, PORTS = 64, 16, 2
SOURCES = [
    "lib/rtl/rtl.f",
    "engines/l7/rtl/rtl.f",
    "lib/sim/axi_memory.sv",
    "lib/sim/axi_fault.sv",
    "engines/l7/tests/l7_block_bench.sv",
]
# Counters begin near the end of their low word: those of messages by a write, the others if a simulation has PLUSARGS.
FIRST_HITS, FIRST_COUNT = (1 << 32) - 4, (1 << 32) - 20
PLUSARGS = [f"+first_count={FIRST_COUNT}"]
SOURCE = 0x80 + 1  # of made frames: the block's number in the bench
COUNTERS = (
    "PACKETS",
    "MALFORMED",
    "DUPLICATES",
    "OVERSIZE",
    "REFUSED",
    "BUSY",
    "DELIVERED",
    "DENIED",
    "EXPIRED",
    "STUCK",
    "FAILED",
)


def beats(length: int) -> int:
    return 1 if BEAT < length <= BEAT + TAIL else -(-length // BEAT)


@dataclass
class Frame:
    data: bytes
    tenant: int = 0
    hash: int = 0
    word: int = 0


@dataclass
class Left:
    """A frame that has left the block."""

    data: bytes
    port: int
    tenant: int
    hash: int
    mark: int
    src: int
    kind: int
    target: int
    word: int
    cycle: int

    def key(self) -> tuple[int | bytes, ...]:
        return (self.data, self.port, self.tenant, self.hash, self.mark, self.kind, self.target, self.word)


@dataclass
class Port:
    waiting: deque[Frame] = field(default_factory=deque)
    at: int = 0  # beats of the first of `waiting` that have entered
    offered: bool = False
    partial: bytes = b""
    head: Left | None = None
    length: int = 0  # of the frame that leaves, bytes


class Bench:
    def __init__(self, dut: Any, seed: int, in_card: bool = False) -> None:
        self.dut = dut
        self.in_card = in_card  # messages of several packets are in card memory
        self.rng = random.Random(seed)
        self.ports = [Port() for _ in range(PORTS)]
        self.into, self.out = [1.0] * PORTS, [1.0] * PORTS  # how often a port brings and takes a beat
        self.left: list[Left] = []
        self.events: Counter[str] = Counter()
        self.decided: list[int] = []  # cycles
        self.entered: list[int] = []  # cycles in which first beats were taken
        self.cycle = 0
        self.now = 0
        self.pace = 4  # ns of a cycle
        self.model: Machine | None = None
        self.expected: list[Out] = []
        self.straight: list[list[tuple[bytes, int]]] = [[] for _ in range(PORTS)]

    async def start(self) -> None:
        dut = self.dut
        for name in ("valid", "data", "last", "len", "tenant", "hash", "tail", "word"):
            getattr(dut, f"in_{name}").value = 0
        for name in (
            "out_ready",
            "cfg_req",
            "cfg_we",
            "cfg_addr",
            "cfg_wdata",
            "now",
            "fail_write",
            "fail_read",
            "stop",
        ):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, 4, unit="ns").start()
        for _ in range(8):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk)

    # ---- frames
    def send(self, port: int, frame: Frame) -> None:
        self.ports[port].waiting.append(frame)

    def send_straight(self, port: int, data: bytes, hash: int = 0) -> None:
        word = self.rng.getrandbits(32)
        self.straight[port].append((data, word))
        self.send(port, Frame(data, 0, hash, word))

    def send_packet(self, port: int, packet: Packet) -> str:
        """Sends a packet, and asks the model what becomes of it."""
        assert self.model is not None
        data = packet.frame()
        word = self.rng.getrandbits(32)
        fate, out = self.model.packet(port, packet)
        if fate == "straight":
            self.straight[port].append((data, word))
        if out is not None:
            self.expected.append(out)
        self.send(port, Frame(data, packet.tenant, packet.hash, word))
        return fate

    def offer(self) -> None:
        values: Counter[str] = Counter()
        for p, port in enumerate(self.ports):
            if not port.offered and port.waiting:
                port.offered = self.rng.random() < self.into[p]
            if not port.offered:
                continue
            frame = port.waiting[0]
            data, first = frame.data, port.at == 0
            some = data[BEAT * port.at : BEAT * (port.at + 1)].ljust(BEAT, b"\xee")
            folded = BEAT < len(data) <= BEAT + TAIL
            tail = data[BEAT:].ljust(TAIL, b"\xdd") if folded else b""
            parts = {
                "valid": (1, 1),
                "data": (int.from_bytes(some, "little"), 8 * BEAT),
                "last": (int(port.at + 1 == beats(len(data))), 1),
                "len": (len(data) if first else 0xFFFF, 16),
                "tenant": (frame.tenant if first else 63, 6),
                "hash": (frame.hash if first else 0, 32),
                "word": (frame.word if first else 0, 32),
                "tail": (folded << 8 * TAIL | int.from_bytes(tail, "little"), 8 * TAIL + 1),
            }
            for name, (value, width) in parts.items():
                values[name] |= value << width * p
        for name in ("valid", "data", "last", "len", "tenant", "hash", "word", "tail"):
            getattr(self.dut, f"in_{name}").value = values[name]

    async def step(self) -> None:
        dut = self.dut
        self.offer()
        dut.out_ready.value = sum((self.rng.random() < self.out[p]) << p for p in range(PORTS))
        dut.now.value = self.now
        self.now += self.pace
        await ReadOnly()
        ready = int(dut.in_ready.value)
        leaves = int(dut.out_valid.value) & int(dut.out_ready.value)
        for p, port in enumerate(self.ports):
            if port.offered and ready >> p & 1:
                if port.at == 0:
                    self.entered.append(self.cycle)
                port.offered = False
                port.at += 1
                if port.at == beats(len(port.waiting[0].data)):
                    port.waiting.popleft()
                    port.at = 0
            if leaves >> p & 1:
                self.take(p, port)
        if int(dut.decided.value):
            self.decided.append(self.cycle)
        for name in ("made", "absorbed", "dropped"):
            self.events[name] += int(getattr(dut, name).value).bit_count()
        await FallingEdge(dut.clk)
        self.cycle += 1

    def part(self, name: str, port: int, width: int) -> int:
        return int(getattr(self.dut, f"out_{name}").value) >> width * port & (1 << width) - 1

    def take(self, p: int, port: Port) -> None:
        if port.head is None:
            words = [
                self.part(name, p, width) for name, width in (("tenant", 6), ("hash", 32), ("mark", 32), ("src", 8))
            ]
            words += [self.part(name, p, width) for name, width in (("kind", 3), ("target", 8), ("word", 32))]
            port.head = Left(b"", p, *words, self.cycle)
            port.length = self.part("len", p, 16)
        port.partial += self.part("data", p, 8 * BEAT).to_bytes(BEAT, "little")
        if self.part("last", p, 1):
            tail = self.part("tail", p, 8 * TAIL + 1)
            if tail >> 8 * TAIL:
                port.partial += (tail & (1 << 8 * TAIL) - 1).to_bytes(TAIL, "little")
            port.head.data = port.partial[: port.length]
            self.left.append(port.head)
            port.head, port.partial = None, b""

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def drain(self, timeout: int = 60_000) -> None:
        """Until nothing is under way; messages that are not whole stay."""
        for _ in range(timeout):
            await self.step()
            if not any(port.waiting for port in self.ports) and not int(self.dut.busy.value):
                break
        else:
            raise AssertionError("the block stays busy")
        await self.run(20)

    def check(self) -> None:
        """Straight frames have left unchanged and in order, and messages as the model says."""
        for p in range(PORTS):
            straight = [frame for frame in self.left if frame.port == p and frame.src != SOURCE]
            assert [(frame.data, frame.word) for frame in straight] == self.straight[p]
            assert all(frame.src == p and frame.kind == 4 and frame.mark == 0 for frame in straight)
        made = Counter(frame.key() for frame in self.left if frame.src == SOURCE)
        wanted = Counter(out.key() for out in self.expected)
        assert made == wanted, differences(made, wanted)
        assert self.events["made"] == made.total()

    async def check_counters(self) -> None:
        assert self.model is not None
        for app in range(2):
            for name in COUNTERS:
                told = self.model.counts[app].get(name.lower(), 0)
                assert await self.counter(app, name) == told, (app, name, self.model.counts[app])

    # ---- registers
    async def access(self, addr: int, data: int | None = None) -> int:
        """A read, or a write of `data`; -1 if the block answers with an error."""
        dut = self.dut
        dut.cfg_req.value, dut.cfg_we.value = 1, int(data is not None)
        dut.cfg_addr.value, dut.cfg_wdata.value = addr, data or 0
        for _ in range(1000):
            await self.step()
            if int(dut.cfg_ack.value):
                break
        else:
            raise AssertionError(f"no answer from {addr:#x}")
        result = -1 if int(dut.cfg_err.value) else int(dut.cfg_rdata.value)
        dut.cfg_req.value = 0
        await self.step()
        return result

    async def write(self, addr: int, data: int) -> None:
        assert await self.access(addr, data) >= 0, hex(addr)

    async def count(self, addr: int) -> int:
        """A counter of 64 bits, by its low word."""
        low, high = await self.access(addr), await self.access(regs.L7_BLOCK_COUNT_H)
        assert low >= 0 and high >= 0, hex(addr)
        return low | high << 32

    async def counter(self, app: int, name: str) -> int:
        """A register of an application; if it is a counter, since the reset."""
        if name in COUNTERS:
            return await self.count(self.app(app, name)) - int(cocotb.plusargs.get("first_count", 0))
        return await self.access(self.app(app, name))

    async def hits(self, decision: int) -> int:
        """Messages that got a decision since the rules were loaded."""
        return await self.count(regs.L7_BLOCK_HITS + 4 * decision) - FIRST_HITS

    @staticmethod
    def app(app: int, name: str) -> int:
        return 0x100 + 0x80 * app + int(getattr(regs, f"L7_APP_{name}"))

    async def load(self, app: int, rules: Rules, bank: int = 0) -> None:
        for number, row in rules.rows.items():
            for i, word in enumerate(row.words()):
                await self.write(regs.L7_BLOCK_ROW_WORDS + 4 * i, word)
            await self.write(regs.L7_BLOCK_ROW, number)
        for number, (kind, first, bits) in rules.decisions.items():
            await self.write(regs.L7_BLOCK_DECISIONS + 4 * number, kind | bits << 8 | first << 16)
            await self.write(regs.L7_BLOCK_HITS + 4 * number, FIRST_HITS)
        for i, branch in enumerate(rules.starts):
            await self.write(regs.L7_BLOCK_STARTS + 4 * (32 * app + 16 * bank + i), branch.word())
        for i in range(32):
            word = sum(rules.classes[8 * i + n] << 4 * n for n in range(8))
            await self.write(regs.L7_BLOCK_CLASSES + 4 * (32 * (2 * app + bank) + i), word)

    async def filter(self, rows: Sequence[tuple[int, int, int, int]]) -> None:
        """Rows of the filter: UDP port, application on the wire, tenant, application."""
        for i, (dport, app_id, tenant, app) in enumerate(rows):
            await self.write(regs.L7_BLOCK_FILTER + 4 * i, dport | app_id << 16 | tenant << 24 | app << 30 | 1 << 31)

    async def use(
        self,
        rules: list[Rules],
        protocols: Sequence[int] = (0, 0),
        rows: Sequence[tuple[int, int, int, int]] = ((7000, 1, 0, 0), (7001, 1, 3, 0), (7000, 2, 0, 1), (53, 2, 0, 1)),
    ) -> None:
        """Loads rules of both applications and their protocols, and a filter, by default with two rows for each."""
        known = {(dport, app_id, tenant): app for dport, app_id, tenant, app in rows}
        self.model = Machine(known, rules, list(protocols), self.in_card)
        for app, one in enumerate(rules):
            await self.load(app, one)
            await self.write(self.app(app, "PROTOCOL"), protocols[app])
        await self.filter(rows)


def differences(made: Counter[Any], wanted: Counter[Any]) -> str:
    lines = []
    for what, some in (("not wanted", made - wanted), ("missing", wanted - made)):
        lines += [f"{what}: {key[0].hex()} {key[1:]}" for key in list(some)[:3]]
    return "\n".join(lines)


def tlv(number: int, value: bytes) -> bytes:
    return bytes([number, len(value)]) + value


def cut(rng: random.Random, payload: bytes, parts: int) -> list[bytes]:
    """The payload in so many parts, each of a byte at least."""
    places = sorted(rng.sample(range(1, len(payload)), parts - 1))
    return [payload[a:b] for a, b in zip([0, *places], [*places, len(payload)], strict=True)]
