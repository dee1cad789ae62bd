# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rows of the xdp engine's core in plain Python: makes them, and executes them according to engines/xdp/core.md."""

from __future__ import annotations

from dataclasses import dataclass, field

import xdp_isa as isa

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
BUFFER = isa.SIZE_PACKET
WINDOW = 56
STACK_WINDOW = 64
STACK = 512
CONDITIONS = ["eq", "ne", "set", "gt", "ge", "lt", "le", "sgt", "sge", "slt", "sle"]
ARITHMETIC = ["add", "sub", "and", "or", "xor", "lsh", "rsh", "arsh", "mul", "mov", "sext8", "sext16"]


def bank_size(lanes: int) -> int:
    return 8 if lanes >= 4 else 32 if lanes == 1 else 16


def put(value: int, name: str) -> int:
    """A value in the field of that name."""
    bits = getattr(isa, f"{name}_BITS")
    assert 0 <= value < 1 << bits, (name, value)
    return int(value << getattr(isa, f"{name}_AT"))


def get(word: int, name: str) -> int:
    return word >> getattr(isa, f"{name}_AT") & (1 << getattr(isa, f"{name}_BITS")) - 1


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def opcode(name: str, wide: bool = False) -> int:
    """The number of an operation: `add`, `br.lt`; `wide` is the one on 64 bits."""
    family, _, condition = name.partition(".")
    number = getattr(isa, f"OP_{family.upper()}")
    if condition:
        number += getattr(isa, f"CONDITION_{condition.upper()}")
    return int(number + (isa.OP_WIDE if wide else 0))


@dataclass
class Lane:
    """A lane's word, in parts. `b` None: the immediate."""

    op: int = 0
    dst: int = 0
    a: int = isa.SOURCE_ZERO
    b: int | None = None
    imm: int = 0
    guard: tuple[int, bool] | None = None

    def word(self) -> int:
        word = put(self.op, "LANE_OP") | put(self.dst, "LANE_DST") | put(self.a, "LANE_A")
        word |= put(self.imm & M32, "LANE_IMM")
        word |= put(1, "LANE_IMMEDIATE") if self.b is None else put(self.b, "LANE_B")
        if self.guard is not None:
            word |= put(1, "LANE_GUARDED") | put(self.guard[0], "LANE_GUARD_LANE")
            word |= put(int(self.guard[1]), "LANE_GUARD_WANTED")
        return word


def place_bits(first: int, count: int, sign: bool = False, swap: bool = False) -> int:
    return (
        put(first, "BYTES_FIRST")
        | put(count, "BYTES_COUNT")
        | put(int(sign), "BYTES_SIGNED")
        | put(int(swap), "BYTES_SWAP")
    )


def load(dst: int, first: int, count: int, *, stack: bool = False, sign: bool = False, swap: bool = False) -> Lane:
    return Lane(isa.OP_LDS if stack else isa.OP_LDP, dst, imm=place_bits(first, count, sign, swap))


def store(source: int, first: int, count: int, *, stack: bool = False, swap: bool = False) -> Lane:
    """The number of a register."""
    bits = place_bits(first, count, swap=swap)
    return Lane(isa.OP_STS if stack else isa.OP_STP, bits & 31, source, bits >> 5)


def control(base: int | None = None, off: int = 0, word: int | None = None) -> int:
    """The control word: packet window at `base` + 8 * `off`, stack window from group `word` on."""
    bits = 0
    if base is not None:
        bits |= put(1, "CONTROL_PACKET") | put(base, "CONTROL_PACKET_BASE") | put(off & 511, "CONTROL_PACKET_OFFSET")
    if word is not None:
        bits |= put(1, "CONTROL_STACK") | put(word, "CONTROL_STACK_WORD")
    return bits


@dataclass
class Row:
    control: int
    lanes: list[int]


@dataclass
class Machine:
    """A context and its packet."""

    lanes: int
    buffer: bytearray
    meta: int
    start: int
    finish: int
    ifindex: int = 0
    cpu: int = 0
    registers: list[int] = field(default_factory=list)
    stack: bytearray = field(default_factory=lambda: bytearray(STACK))
    target: int = 0  # interface of a redirection
    rows: int = 0
    stray: int = 0  # rows of which a store was left out

    def __post_init__(self) -> None:
        self.registers = self.registers or [0] * (self.lanes * bank_size(self.lanes))

    def source(self, number: int) -> int:
        if number < 64:
            return self.registers[number]
        return {
            isa.SOURCE_ZERO: 0,
            isa.SOURCE_DATA: isa.ADDRESS_PACKET + self.start,
            isa.SOURCE_DATA_END: isa.ADDRESS_PACKET + self.finish,
            isa.SOURCE_DATA_META: isa.ADDRESS_PACKET + self.meta,
            isa.SOURCE_LEN: self.finish - self.start,
            isa.SOURCE_STACK: isa.ADDRESS_STACK + STACK,
            isa.SOURCE_IFINDEX: self.ifindex,
            isa.SOURCE_QUEUE: 0,
            isa.SOURCE_EGRESS: 0,
            isa.SOURCE_CPU: self.cpu,
        }[number]

    def run(self, program: list[Row], limit: int = 10_000) -> int:
        """Carries rows out until one exits; gives the verdict."""
        at = 0
        for self.rows in range(1, limit):
            verdict, at = self.step(program[at], at)
            if verdict is not None:
                return verdict
        raise AssertionError("no exit")

    def step(self, row: Row, at: int) -> tuple[int | None, int]:
        words = row.lanes
        packet_at = self.source(get(row.control, "CONTROL_PACKET_BASE"))
        packet_at += 8 * signed(get(row.control, "CONTROL_PACKET_OFFSET"), 9)
        stack_at = 8 * get(row.control, "CONTROL_STACK_WORD")
        outcomes = []
        for word in words:
            a, b = self.operands(word)
            op = get(word, "LANE_OP")
            compares = op >= isa.OP_CMP and op & 15 <= isa.CONDITION_SLE
            outcomes.append(compares and compared(op, a, b))
        writes: list[tuple[int, int]] = []
        stores: list[tuple[bytearray, int, int]] = []
        extent = (self.meta, self.start, self.finish)
        strays = False
        ended: tuple[int | None, int] | None = None
        for lane, word in enumerate(words):
            if get(word, "LANE_GUARDED"):
                other = get(word, "LANE_GUARD_LANE")
                if (outcomes[other] if other < len(outcomes) else False) != bool(get(word, "LANE_GUARD_WANTED")):
                    continue
            op = get(word, "LANE_OP")
            a, b = self.operands(word)
            imm = get(word, "LANE_IMM")
            low = get(word, "LANE_B") << 5 | get(word, "LANE_DST")
            target = low if get(word, "LANE_IMMEDIATE") else imm & 4095
            name = lane * bank_size(self.lanes) + get(word, "LANE_DST")
            if op in (isa.OP_LDP, isa.OP_LDS):
                stack = op == isa.OP_LDS
                first = (stack_at if stack else packet_at) + get(imm, "BYTES_FIRST")
                memory = self.stack if stack else self.buffer
                data = bytes(memory[(first + i) % len(memory)] for i in range(get(imm, "BYTES_COUNT")))
                order = "big" if get(imm, "BYTES_SWAP") else "little"
                value = int.from_bytes(data, order, signed=bool(get(imm, "BYTES_SIGNED")))  # type: ignore[arg-type]
                writes.append((name, value & M64))
            elif op in (isa.OP_STP, isa.OP_STS):
                value = signed(imm, 32) & M64 if get(word, "LANE_IMMEDIATE") else a
                bits = low
                stack = op == isa.OP_STS
                first = (stack_at if stack else packet_at) + get(bits, "BYTES_FIRST")
                memory = self.stack if stack else self.buffer
                count = get(bits, "BYTES_COUNT")
                data = (value & (1 << 8 * count) - 1).to_bytes(count, "little")
                if not stack and not self.holds(first, count):
                    strays = True
                    continue
                for i, byte in enumerate(reversed(data) if get(bits, "BYTES_SWAP") else data):
                    stores.append((memory, (first + i) % len(memory), byte))
            elif op == isa.OP_EXT:
                first, count = a, get(imm, "REQUEST_COUNT")
                assert get(imm, "REQUEST_KIND") in (isa.KIND_LOAD, isa.KIND_STORE)
                stack = first >> 16 == isa.ADDRESS_STACK >> 16
                assert stack or first >> 16 == isa.ADDRESS_PACKET >> 16, "not the context's own"
                memory = self.stack if stack else self.buffer
                places = [(first + i) % len(memory) for i in range(count)]
                order = "big" if get(imm, "REQUEST_SWAP") else "little"
                if get(imm, "REQUEST_KIND") == isa.KIND_STORE and not stack and not self.holds(first, count):
                    strays = True
                elif get(imm, "REQUEST_KIND") == isa.KIND_STORE:
                    data = (b & (1 << 8 * count) - 1).to_bytes(count, order)  # type: ignore[arg-type]
                    stores += [(memory, place, byte) for place, byte in zip(places, data, strict=True)]
                else:
                    sign = bool(get(imm, "REQUEST_SIGNED"))
                    value = int.from_bytes([memory[place] for place in places], order, signed=sign)  # type: ignore[arg-type]
                    writes.append((name, value & M64))
            elif op in (isa.OP_ADJH, isa.OP_ADJM, isa.OP_ADJT):
                moved, value = adjust(op, extent, signed(a, 32))
                extent = moved
                writes.append((name, value & M64))
            elif op == isa.OP_REDIR:
                self.target = a & M32 if a & M32 <= 255 else 0
                writes.append((name, 4))
            elif op == isa.OP_JMP or (op >= isa.OP_BR and op & 15 <= isa.CONDITION_SLE and outcomes[lane]):
                if ended is None:
                    ended = (known(target & 7), 0) if target >> isa.TARGET_EXIT_AT & 1 else (None, target & 2047)
            elif op == isa.OP_EXIT:
                if ended is None:
                    ended = (known(a & M32), 0)
            elif op not in (isa.OP_NOP, isa.OP_ARG) and not isa.OP_CMP <= op:
                writes.append((name, compute(op, a, b, imm)))
        for name, value in writes:
            self.registers[name] = value
        for memory, index, byte in stores:
            memory[index] = byte
        self.stray += strays
        self.meta, self.start, self.finish = extent
        return ended or (None, at + 1)

    def holds(self, first: int, count: int) -> bool:
        """Whether bytes that begin at an address are metadata or packet: others are not stored."""
        at = first % BUFFER
        return at >= self.meta and at + count <= self.finish

    def operands(self, word: int) -> tuple[int, int]:
        """The inputs of a lane: a, and b or the immediate. Loads and stores have other fields there."""
        op = get(word, "LANE_OP")
        if op in (isa.OP_LDP, isa.OP_LDS):
            return 0, 0
        a = self.source(get(word, "LANE_A"))
        if get(word, "LANE_IMMEDIATE"):
            return a, signed(get(word, "LANE_IMM"), 32) & M64
        return a, 0 if op in (isa.OP_STP, isa.OP_STS) else self.source(get(word, "LANE_B"))


def known(verdict: int) -> int:
    """A verdict, or XDP_ABORTED if it does not exist."""
    return verdict if verdict <= 4 else 0


def compared(op: int, a: int, b: int) -> bool:
    """The result of the comparison in an operation."""
    return compare(CONDITIONS[op & 15], a, b, 64 if op & isa.OP_WIDE else 32)


def compare(condition: str, a: int, b: int, bits: int) -> bool:
    mask = (1 << bits) - 1
    a, b = a & mask, b & mask
    if condition.startswith("s") and condition != "set":
        a, b, condition = signed(a, bits), signed(b, bits), condition[1:]
    return {
        "eq": a == b,
        "ne": a != b,
        "set": a & b != 0,
        "gt": a > b,
        "ge": a >= b,
        "lt": a < b,
        "le": a <= b,
    }[condition]


def compute(op: int, a: int, b: int, imm: int) -> int:
    if isa.OP_SET <= op < isa.OP_CMP:
        return int(compared(op, a, b))
    if op == isa.OP_FIELD:
        bits = get(imm, "FIELD_BITS") + 1
        return ((a >> get(imm, "FIELD_SHIFT") & (1 << bits) - 1) << get(imm, "FIELD_LEFT")) & M64
    if op == isa.OP_MOVHI:
        return imm << 32 | a & M32
    if op == isa.OP_SEXT32:
        return signed(a, 32) & M64
    for number, size in ((isa.OP_SWAP16, 2), (isa.OP_SWAP32, 4), (isa.OP_SWAP64, 8)):
        if op == number:
            return int.from_bytes((a & (1 << 8 * size) - 1).to_bytes(size, "little"), "big")
    wide = bool(op & isa.OP_WIDE)
    bits = 64 if wide else 32
    mask = (1 << bits) - 1
    x, y, by = a & mask, b & mask, b & bits - 1
    name = ARITHMETIC[(op & ~isa.OP_WIDE) - isa.OP_ADD]
    return {
        "add": x + y,
        "sub": x - y,
        "and": x & y,
        "or": x | y,
        "xor": x ^ y,
        "lsh": x << by,
        "rsh": x >> by,
        "arsh": signed(x, bits) >> by,
        "mul": x * y,
        "mov": y,
        "sext8": signed(x, 8),
        "sext16": signed(x, 16),
    }[name] & mask


def adjust(op: int, extent: tuple[int, int, int], by: int) -> tuple[tuple[int, int, int], int]:
    """Linux' limits: 40 bytes before the headroom are its own; a packet keeps an Ethernet header; metadata has up to
    252 bytes, in words."""
    meta, start, finish = extent
    if op == isa.OP_ADJH:
        bad = start + by < 40 + (start - meta) or start + by > finish - 14
        return (extent, -22) if bad else ((meta + by, start + by, finish), 0)
    if op == isa.OP_ADJM:
        if not 40 <= meta + by <= start:
            return extent, -22
        length = start - meta - by
        return (extent, -13) if length % 4 or length > 252 else ((meta + by, start, finish), 0)
    bad = finish + by > isa.SIZE_PACKET_END or finish + by < start + 14
    return (extent, -22) if bad else ((meta, start, finish + by), 0)
