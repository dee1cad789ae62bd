# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The xdp core against rows in plain Python: random programs in all contexts at once, on packets that arrive while they
run."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest
import xdp_isa as isa
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rows import (
    BUFFER,
    CONDITIONS,
    STACK_WINDOW,
    WINDOW,
    Lane,
    Machine,
    Row,
    bank_size,
    control,
    load,
    opcode,
    place_bits,
    store,
)

CONTEXTS = 16
BUFFERS = 32
HEADROOM = 256
BEAT = 64
DUMP = 1024  # where a program leaves its registers, and behind them its stack
SPECIALS = [isa.SOURCE_ZERO, isa.SOURCE_DATA, isa.SOURCE_DATA_END, isa.SOURCE_DATA_META, isa.SOURCE_LEN]
SPECIALS += [isa.SOURCE_STACK, isa.SOURCE_IFINDEX, isa.SOURCE_QUEUE, isa.SOURCE_EGRESS, isa.SOURCE_CPU]
CORNERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, (1 << 64) - 1]
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))


class Writer:
    """Writes a random program whose branches lead forward, and which ends by leaving all that it has where the bench
    can see it."""

    def __init__(self, rng: random.Random, lanes: int, length: int) -> None:
        self.rng, self.lanes, self.length = rng, lanes, length
        self.size = bank_size(lanes)
        self.names = lanes * self.size
        self.storing = min(lanes, 2)
        self.rows: list[Row] = []

    def program(self) -> list[Row]:
        for index in range(self.size):
            values = [self.rng.choice([self.rng.getrandbits(64), self.rng.choice(CORNERS)]) for _ in range(self.lanes)]
            low = [Lane(opcode("mov"), index, imm=value) for value in values]
            high = [
                Lane(isa.OP_MOVHI, index, lane * self.size + index, imm=value >> 32)
                for lane, value in enumerate(values)
            ]
            self.row(low)
            self.row(high)
        end = len(self.rows) + self.length
        while len(self.rows) < end:
            self.random_row(end)
        self.dump()
        return self.rows

    def row(self, lanes: list[Lane], window: int = 0) -> None:
        words = [lane.word() for lane in lanes]
        self.rows.append(Row(window, words + [Lane().word()] * (self.lanes - len(words))))

    def source(self) -> int:
        return self.rng.choice(SPECIALS) if self.rng.random() < 0.15 else self.rng.randrange(self.names)

    def random_row(self, end: int) -> None:
        rng = self.rng
        base = rng.choice([isa.SOURCE_DATA, isa.SOURCE_DATA, isa.SOURCE_DATA_END, isa.SOURCE_DATA_META, self.source()])
        near = rng.randrange(-4, 5) if rng.random() < 0.8 else rng.randrange(-256, 256)
        window = control(base, near, rng.randrange(64))
        once: set[str] = set()  # what only one lane of a row does
        lanes = []
        for index in range(self.lanes):
            lane = self.random_lane(index, end, once)
            if rng.random() < 0.3:
                lane.guard = (rng.randrange(self.lanes), rng.random() < 0.5)
            lanes.append(lane)
        self.row(lanes, window)

    def random_lane(self, index: int, end: int, once: set[str]) -> Lane:
        rng = self.rng
        dst, a = rng.randrange(self.size), self.source()
        b = None if rng.random() < 0.4 else self.source()
        imm = rng.choice([rng.getrandbits(32), rng.choice(CORNERS) & 0xFFFFFFFF, rng.randrange(64)])
        wide = rng.random() < 0.5
        kind = rng.choice(
            ["alu"] * 5 + ["sized", "field", "set", "cmp", "branch", "load", "load", "store", "adjust", "redirect"]
        )
        count = rng.randrange(1, 9)
        if kind == "alu":
            names = ["add", "sub", "and", "or", "xor", "lsh", "rsh", "arsh", "mov", "sext8", "sext16"]
            return Lane(opcode(rng.choice(names + ["mul"] * (index == self.lanes - 1)), wide), dst, a, b, imm)
        if kind == "sized":
            op = rng.choice([isa.OP_SEXT32, isa.OP_SWAP16, isa.OP_SWAP32, isa.OP_SWAP64, isa.OP_MOVHI])
            return Lane(op, dst, a, None, imm)
        if kind == "field":
            imm = rng.randrange(64) | rng.randrange(32) << isa.FIELD_BITS_AT | rng.randrange(8) << isa.FIELD_LEFT_AT
            return Lane(isa.OP_FIELD, dst, a, None, imm)
        if kind in ("set", "cmp"):
            return Lane(opcode(f"{kind}.{rng.choice(CONDITIONS)}", wide), dst, a, b, imm)
        if kind == "branch":
            target = rng.randrange(len(self.rows) + 1, end + 1)
            if rng.random() < 0.05:
                target = 1 << isa.TARGET_EXIT_AT | rng.randrange(8)
            op = opcode(f"br.{rng.choice(CONDITIONS)}", wide) if rng.random() < 0.9 else isa.OP_JMP
            if b is None or op == isa.OP_JMP:
                return self.near(op, target, a, imm)
            return Lane(op, 0, a, b, target)
        if kind == "load":
            op = rng.choice([isa.OP_LDP, isa.OP_LDS])
            first = rng.randrange((STACK_WINDOW if op == isa.OP_LDS else WINDOW) - count + 1)
            bits = place_bits(first, count, rng.random() < 0.5, rng.random() < 0.5)
            return Lane(op, dst, imm=bits)
        if kind == "store" and index < self.storing:
            first = rng.randrange(WINDOW // 2 - count + 1) + index * WINDOW // 2  # each lane its own half
            bits = place_bits(first, count, swap=rng.random() < 0.5)
            op = rng.choice([isa.OP_STP, isa.OP_STS])
            return Lane(op, bits & 31, a, bits >> 5, imm) if rng.random() < 0.6 else self.near(op, bits, a, imm)
        if kind in ("adjust", "redirect") and kind not in once:
            once.add(kind)
            if kind == "redirect":
                return Lane(isa.OP_REDIR, dst, a, None, imm)
            return Lane(rng.choice([isa.OP_ADJH, isa.OP_ADJM, isa.OP_ADJT]), dst, a, None, imm)
        return Lane()

    def near(self, op: int, bits: int, a: int, imm: int) -> Immediate:
        """A lane with an immediate whose target or place is in b and dst."""
        return Immediate(op, bits & 31, a, bits >> 5, imm)

    def dump(self) -> None:
        """Grows the packet to its longest, because stores reach nothing else. Its old end is on the stack then."""
        word = self.rng.randrange(63)
        self.row([store(0, 0, 8, stack=True)], control(word=word))
        self.row([Lane(opcode("mov", True), 0, isa.SOURCE_ZERO, isa.SOURCE_DATA_END)])
        self.row([store(0, 8, 8, stack=True)], control(word=word))
        self.row([Lane(opcode("mov", True), 0, imm=isa.ADDRESS_PACKET + isa.SIZE_PACKET_END)])
        self.row([Lane(opcode("sub", True), 0, 0, isa.SOURCE_DATA_END)])
        self.row([Lane(isa.OP_ADJT, 0, 0)])
        at = DUMP // 8
        for name in range(0, self.names, self.storing):
            lanes = [store(name + i, 8 * i, 8) for i in range(self.storing)]
            self.row(lanes, control(isa.SOURCE_ZERO, at))
            at += self.storing
        for word in range(0, 64, self.storing):
            self.row([load(0, 8 * i, 8, stack=True) for i in range(self.storing)], control(word=word))
            self.row([store(i * self.size, 8 * i, 8) for i in range(self.storing)], control(isa.SOURCE_ZERO, at))
            at += self.storing
        verdict = 1 << isa.TARGET_EXIT_AT | self.rng.randrange(2, 8)
        jump = self.near(isa.OP_JMP, verdict, isa.SOURCE_ZERO, 0)
        self.row([self.rng.choice([jump, Lane(isa.OP_EXIT, 0, self.rng.randrange(self.names))])])


class Immediate(Lane):
    """A lane whose immediate is an operand while `b` and `dst` hold something else."""

    def word(self) -> int:
        return super().word() | 1 << isa.LANE_IMMEDIATE_AT


@dataclass
class Frame:
    """A packet in a buffer: the bytes that the bench puts there, and how many of them arrive in a cycle."""

    buffer: bytes
    meta: int
    start: int
    finish: int
    ifindex: int
    pace: float = BEAT

    def machine(self, lanes: int, cpu: int) -> Machine:
        return Machine(lanes, bytearray(self.buffer), self.meta, self.start, self.finish, self.ifindex, cpu)


def random_frame(rng: random.Random) -> Frame:
    length = rng.choice([14, 60, 64, 65, rng.randrange(14, 700)])
    meta = HEADROOM - 4 * rng.choice([0, 0, 1, 8])
    return Frame(rng.randbytes(BUFFER), meta, HEADROOM, HEADROOM + length, rng.randrange(256), rng.choice([1, 8, 64]))


class Bench:
    """The core, its clock, and port B of its packet memory."""

    def __init__(self, dut: Any, lanes: int) -> None:
        self.dut, self.lanes = dut, lanes
        self.arrived = [float(BUFFER)] * BUFFERS  # up to which place of each buffer
        self.finish = [0] * BUFFERS
        self.pace = [0.0] * BUFFERS
        self.ended: dict[int, tuple[int, int, int, int, int]] = {}

    async def reset(self) -> None:
        dut = self.dut
        for name in ("bank", "row_we", "row_write_bank", "start", "a_whole", "answer", "accepted", "io_write"):
            getattr(dut, name).value = 0
        dut.io_buffer.value, dut.io_place.value, dut.unit_id.value, dut.rst.value = 0, 0, 3, 1
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        for _ in range(3):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        await FallingEdge(dut.clk)

    async def cycle(self) -> None:
        """One cycle: packets arrive, the core asks how far they have, contexts end."""
        dut = self.dut
        number = int(dut.a_buffer.value)
        dut.a_whole.value = int(self.arrived[number] >= self.finish[number])
        dut.a_arrived.value = int(min(self.arrived[number], BUFFER))
        if int(dut.done.value):
            extent = tuple(int(getattr(dut, f"done_{name}").value) for name in ("meta", "start", "finish", "target"))
            assert int(dut.done_ctx.value) not in self.ended
            self.ended[int(dut.done_ctx.value)] = (int(dut.done_verdict.value), *extent)
        await FallingEdge(dut.clk)
        for i in range(BUFFERS):
            self.arrived[i] += self.pace[i]

    async def write_rows(self, program: list[Row], bank: int) -> None:
        dut = self.dut
        dut.row_we.value, dut.row_write_bank.value = 1, bank
        for number, row in enumerate(program):
            for part, word in enumerate([row.control, *row.lanes]):
                dut.row_write_row.value, dut.row_write_part.value = number, part
                dut.row_write_data.value = word
                await self.cycle()
        dut.row_we.value = 0

    async def fill(self, number: int, data: bytes) -> None:
        dut = self.dut
        dut.io_buffer.value = number
        for place in range(0, BUFFER, BEAT):
            while True:
                dut.io_place.value, dut.io_write.value = place, 1
                dut.io_wdata.value = int.from_bytes(data[place : place + BEAT], "little")
                taken = not int(dut.store.value)
                await self.cycle()
                if taken:
                    break
        dut.io_write.value = 0

    async def read(self, number: int) -> bytes:
        """A buffer, while nothing stores."""
        dut = self.dut
        data = b""
        dut.io_buffer.value = number
        for place in range(0, BUFFER, BEAT):
            dut.io_place.value = place
            await self.cycle()
            await self.cycle()
            data += int(dut.io_rdata.value).to_bytes(BEAT, "little")
        return data

    async def start(self, context: int, number: int, frame: Frame) -> None:
        dut = self.dut
        self.arrived[number] = min(frame.meta, frame.start)
        self.finish[number], self.pace[number] = frame.finish, frame.pace
        dut.start.value, dut.start_ctx.value, dut.start_buffer.value = 1, context, number
        dut.start_meta.value, dut.start_start.value = frame.meta, frame.start
        dut.start_finish.value, dut.start_ifindex.value = frame.finish, frame.ifindex
        await self.cycle()
        dut.start.value = 0


@cocotb.test()
async def random_programs(dut: Any) -> None:
    lanes = int(os.environ["XDP_LANES"])
    rng = random.Random(f"{SEED} {lanes}")
    bench = Bench(dut, lanes)
    await bench.reset()
    for number in range(int(os.environ["XDP_PROGRAMS"])):
        program = Writer(rng, lanes, rng.randrange(1, 40)).program()
        await bench.write_rows(program, number % 2)
        dut.bank.value = number % 2
        frames = [random_frame(rng) for _ in range(CONTEXTS)]
        places = rng.sample(range(BUFFERS), CONTEXTS)
        for place, frame in zip(places, frames, strict=True):
            await bench.fill(place, frame.buffer)
        bench.ended.clear()
        for context, (place, frame) in enumerate(zip(places, frames, strict=True)):
            await bench.start(context, place, frame)
        for _ in range(20_000):
            if len(bench.ended) == CONTEXTS:
                break
            await bench.cycle()
        for _ in range(4):
            await bench.cycle()
        for context, (place, frame) in enumerate(zip(places, frames, strict=True)):
            machine = frame.machine(lanes, 3 * CONTEXTS + context)
            verdict = machine.run(program)
            expected = (verdict, machine.meta, machine.start, machine.finish, machine.target)
            where = f"program {number}, context {context}"
            assert bench.ended[context] == expected, where
            got = await bench.read(place)
            differ = [i for i in range(BUFFER) if got[i] != machine.buffer[i]]
            assert not differ, f"{where}: bytes {differ[:20]}"


# Units and cards are tested with four lanes.
@pytest.mark.parametrize(
    "lanes", [1, 2, pytest.param(3, marks=pytest.mark.long), pytest.param(4, marks=pytest.mark.long), 8]
)
def test_core(lanes: int) -> None:
    """Equal verdicts, packets, registers and stacks."""
    simulate(
        "xdp_core_bench",
        ["engines/xdp/rtl/rtl.f", "engines/xdp/tests/xdp_core_bench.sv"],
        "test_xdp_core",
        {"Lanes": lanes},
        env={"XDP_LANES": str(lanes), "XDP_PROGRAMS": os.environ.get("PENSTOCK_XDP_PROGRAMS", "12")},
    )
