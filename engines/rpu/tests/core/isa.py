# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""RV32IM, Zbb and machine mode in plain Python, written from the specifications: encodings, formulas, and a simulator.

It is the oracle for the core and shares nothing with the RTL or the soft model. `Simulator` itself is judged against
Unicorn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF


def signed(x: int) -> int:
    """The 32-bit word `x` as a two's complement number."""
    return x - (1 << 32) if x & 0x80000000 else x


def sext(x: int, bits: int) -> int:
    """The low `bits` of `x`, sign extended to a 32-bit word."""
    x &= (1 << bits) - 1
    return (x - (1 << bits)) & MASK if x >> (bits - 1) else x


def _truncated_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _div(a: int, b: int) -> int:
    return MASK if b == 0 else _truncated_div(signed(a), signed(b)) & MASK


def _rem(a: int, b: int) -> int:
    return a if b == 0 else (signed(a) - _truncated_div(signed(a), signed(b)) * signed(b)) & MASK


def _rotate_right(a: int, n: int) -> int:
    bits = f"{a:032b}"
    n %= 32
    return int(bits[32 - n :] + bits[: 32 - n], 2)


def _leading_zeros(a: int) -> int:
    return len(f"{a:032b}") - len(f"{a:032b}".lstrip("0"))


def _trailing_zeros(a: int) -> int:
    return len(f"{a:032b}") - len(f"{a:032b}".rstrip("0"))


# Result of rd = f(rs1, rs2), by name: funct7, funct3, formula.
REG: dict[str, tuple[int, int, Callable[[int, int], int]]] = {
    "add": (0x00, 0, lambda a, b: (a + b) & MASK),
    "sub": (0x20, 0, lambda a, b: (a - b) & MASK),
    "sll": (0x00, 1, lambda a, b: (a << (b % 32)) & MASK),
    "slt": (0x00, 2, lambda a, b: int(signed(a) < signed(b))),
    "sltu": (0x00, 3, lambda a, b: int(a < b)),
    "xor": (0x00, 4, lambda a, b: a ^ b),
    "srl": (0x00, 5, lambda a, b: a >> (b % 32)),
    "sra": (0x20, 5, lambda a, b: (signed(a) >> (b % 32)) & MASK),
    "or": (0x00, 6, lambda a, b: a | b),
    "and": (0x00, 7, lambda a, b: a & b),
    "mul": (0x01, 0, lambda a, b: (a * b) & MASK),
    "mulh": (0x01, 1, lambda a, b: (signed(a) * signed(b) >> 32) & MASK),
    "mulhsu": (0x01, 2, lambda a, b: (signed(a) * b >> 32) & MASK),
    "mulhu": (0x01, 3, lambda a, b: a * b >> 32),
    "div": (0x01, 4, _div),
    "divu": (0x01, 5, lambda a, b: a // b if b else MASK),
    "rem": (0x01, 6, _rem),
    "remu": (0x01, 7, lambda a, b: a % b if b else a),
    "andn": (0x20, 7, lambda a, b: a & (b ^ MASK)),
    "orn": (0x20, 6, lambda a, b: a | (b ^ MASK)),
    "xnor": (0x20, 4, lambda a, b: (a ^ b) ^ MASK),
    "min": (0x05, 4, lambda a, b: min(signed(a), signed(b)) & MASK),
    "minu": (0x05, 5, min),
    "max": (0x05, 6, lambda a, b: max(signed(a), signed(b)) & MASK),
    "maxu": (0x05, 7, max),
    "rol": (0x30, 1, lambda a, b: _rotate_right(a, 32 - b % 32)),
    "ror": (0x30, 5, lambda a, b: _rotate_right(a, b % 32)),
}

# rd = f(rs1, immediate): funct3, formula of rs1 and the sign extended immediate.
IMM: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "addi": (0, REG["add"][2]),
    "slti": (2, REG["slt"][2]),
    "sltiu": (3, REG["sltu"][2]),
    "xori": (4, REG["xor"][2]),
    "ori": (6, REG["or"][2]),
    "andi": (7, REG["and"][2]),
}

# rd = f(rs1, shift amount): funct7, funct3, formula.
SHIFT: dict[str, tuple[int, int, Callable[[int, int], int]]] = {
    "slli": (0x00, 1, REG["sll"][2]),
    "srli": (0x00, 5, REG["srl"][2]),
    "srai": (0x20, 5, REG["sra"][2]),
    "rori": (0x30, 5, REG["ror"][2]),
}

# rd = f(rs1): the upper twelve bits, funct3, opcode, formula.
UNARY: dict[str, tuple[int, int, int, Callable[[int], int]]] = {
    "clz": (0x600, 1, 0x13, _leading_zeros),
    "ctz": (0x601, 1, 0x13, _trailing_zeros),
    "cpop": (0x602, 1, 0x13, lambda a: f"{a:b}".count("1")),
    "sext.b": (0x604, 1, 0x13, lambda a: sext(a, 8)),
    "sext.h": (0x605, 1, 0x13, lambda a: sext(a, 16)),
    "zext.h": (0x080, 4, 0x33, lambda a: a % 65536),
    "rev8": (0x698, 5, 0x13, lambda a: int.from_bytes(a.to_bytes(4, "little"), "big")),
    "orc.b": (
        0x287,
        5,
        0x13,
        lambda a: int.from_bytes(bytes(255 if x else 0 for x in a.to_bytes(4, "little")), "little"),
    ),
}
ZBB = {"andn", "orn", "xnor", "min", "minu", "max", "maxu", "rol", "ror", "rori", *UNARY}

BRANCH: dict[str, tuple[int, Callable[[int, int], bool]]] = {
    "beq": (0, lambda a, b: a == b),
    "bne": (1, lambda a, b: a != b),
    "blt": (4, lambda a, b: signed(a) < signed(b)),
    "bge": (5, lambda a, b: signed(a) >= signed(b)),
    "bltu": (6, lambda a, b: a < b),
    "bgeu": (7, lambda a, b: a >= b),
}

# funct3, bytes, sign extended.
LOAD = {"lb": (0, 1, True), "lh": (1, 2, True), "lw": (2, 4, False), "lbu": (4, 1, False), "lhu": (5, 2, False)}
STORE = {"sb": (0, 1), "sh": (1, 2), "sw": (2, 4)}
CSR_OPS = {"csrrw": 1, "csrrs": 2, "csrrc": 3, "csrrwi": 5, "csrrsi": 6, "csrrci": 7}
CSRS = {
    "mstatus": 0x300,
    "mtvec": 0x305,
    "mscratch": 0x340,
    "mepc": 0x341,
    "mcause": 0x342,
    "mtval": 0x343,
    "mcycle": 0xB00,
    "minstret": 0xB02,
    "mcycleh": 0xB80,
    "minstreth": 0xB82,
    "mhartid": 0xF14,
}
ECALL, EBREAK, MRET, WFI, FENCE, NOP = 0x73, 0x100073, 0x30200073, 0x10500073, 0x0FF0000F, 0x13


def reg(name: str, rd: int, rs1: int, rs2: int) -> int:
    """Encodes a register-register instruction."""
    f7, f3, _ = REG[name]
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33


def imm(name: str, rd: int, rs1: int, value: int) -> int:
    """Encodes an instruction with an immediate of -2048..2047."""
    return (value & 0xFFF) << 20 | rs1 << 15 | IMM[name][0] << 12 | rd << 7 | 0x13


def shift(name: str, rd: int, rs1: int, amount: int) -> int:
    """Encodes a shift by a constant of 0..31."""
    f7, f3, _ = SHIFT[name]
    return f7 << 25 | amount << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x13


def unary(name: str, rd: int, rs1: int) -> int:
    """Encodes an instruction of one operand."""
    upper, f3, opcode, _ = UNARY[name]
    return upper << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode


def lui(rd: int, value: int) -> int:
    """Encodes rd = value << 12."""
    return (value & 0xFFFFF) << 12 | rd << 7 | 0x37


def auipc(rd: int, value: int) -> int:
    """Encodes rd = pc + (value << 12)."""
    return (value & 0xFFFFF) << 12 | rd << 7 | 0x17


def branch(name: str, rs1: int, rs2: int, offset: int) -> int:
    """Encodes a branch over `offset` bytes."""
    o = offset & 0x1FFF
    upper = (o >> 12) << 31 | (o >> 5 & 0x3F) << 25
    return upper | rs2 << 20 | rs1 << 15 | BRANCH[name][0] << 12 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | 0x63


def jal(rd: int, offset: int) -> int:
    """Encodes a jump over `offset` bytes."""
    o = offset & 0x1FFFFF
    return (o >> 20) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | rd << 7 | 0x6F


def jalr(rd: int, rs1: int, offset: int) -> int:
    """Encodes a jump to rs1 + offset."""
    return (offset & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x67


def load(name: str, rd: int, rs1: int, offset: int) -> int:
    """Encodes a load."""
    return (offset & 0xFFF) << 20 | rs1 << 15 | LOAD[name][0] << 12 | rd << 7 | 0x03


def store(name: str, rs2: int, rs1: int, offset: int) -> int:
    """Encodes a store."""
    o = offset & 0xFFF
    return (o >> 5) << 25 | rs2 << 20 | rs1 << 15 | STORE[name][0] << 12 | (o & 31) << 7 | 0x23


def csr(name: str, rd: int, number: int, source: int) -> int:
    """Encodes a CSR instruction; `source` is a register or, for the -i forms, a constant of 0..31."""
    return number << 20 | source << 15 | CSR_OPS[name] << 12 | rd << 7 | 0x73


def li(rd: int, value: int) -> list[int]:
    """Two instructions that load any word."""
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    return [lui(rd, (value - low) >> 12), imm("addi", rd, rd, low)]


class Trap(Exception):
    """A synchronous exception of the simulated program."""

    def __init__(self, cause: int, tval: int = 0) -> None:
        super().__init__(cause, tval)
        self.cause, self.tval = cause, tval


@dataclass
class Event:
    """The effect of one instruction. `rd` 0 means that it wrote no register; `store` is (address, bytes)."""

    pc: int
    kind: int = 1
    rd: int = 0
    value: int = 0
    store: tuple[int, bytes] | None = None


_BY_REG = {(f7, f3): f for f7, f3, f in REG.values()}
_BY_IMM = {f3: f for f3, f in IMM.values()}
_BY_SHIFT = {(f7, f3): f for f7, f3, f in SHIFT.values()}
_BY_UNARY = {(upper, f3, opcode): f for upper, f3, opcode, f in UNARY.values()}
_BY_BRANCH = {f3: f for f3, f in BRANCH.values()}
_BY_LOAD = {f3: (size, sign) for f3, size, sign in LOAD.values()}
_BY_STORE = {f3: size for f3, size in STORE.values()}
RETIRED, EXCEPTION, INTERRUPT = 1, 2, 3
DATA_BASE = 0x800000


@dataclass
class Simulator:
    """One instruction per `step`. `program` at 0, `memory` (bytes) at DATA_BASE; other data addresses read 0 and ignore
    stores.
    """

    program: list[int]
    memory: bytearray
    hart_id: int = 0
    pc: int = 0
    x: list[int] = field(default_factory=lambda: [0] * 32)
    mie: int = 0
    mpie: int = 0
    scratch: int = 0
    epc: int = 0
    cause: int = 0
    tval: int = 0
    instret: int = 0
    cycle: Callable[[], int] | None = None  # what mcycle reads; a program that reads it cannot be simulated without

    def read_csr(self, number: int) -> int:
        """The value of a CSR; raises Trap if it does not exist."""
        match number:
            case 0x300:
                return 0x1800 | self.mpie << 7 | self.mie << 3
            case 0x305:
                return 4
            case 0x340:
                return self.scratch
            case 0x341:
                return self.epc
            case 0x342:
                return self.cause
            case 0x343:
                return self.tval
            case 0xB00 | 0xB80 if self.cycle is not None:
                return (self.cycle() >> (32 if number & 0x80 else 0)) & MASK
            case 0xB02:
                return self.instret & MASK
            case 0xB82:
                return self.instret >> 32
            case 0xF14:
                return self.hart_id
        raise Trap(2)

    def write_csr(self, number: int, value: int) -> None:
        """Writes a CSR. A half of minstret that is written does not count the instruction that wrote it; mcycle is not
        kept.
        """
        match number:
            case 0x300:
                self.mie, self.mpie = value >> 3 & 1, value >> 7 & 1
            case 0x340:
                self.scratch = value
            case 0x341:
                self.epc = value & 0xFFFC
            case 0x342:
                self.cause = value & 0x8000000F
            case 0x343:
                self.tval = value
            case 0xB02:
                self.instret = (self.instret >> 32 << 32 | value) - 1
            case 0xB82:
                self.instret = value << 32 | self.instret & MASK
            case 0xF14:
                raise Trap(2)

    def interrupt(self) -> Event:
        """Takes an interrupt instead of the next instruction."""
        if not self.mie:
            raise AssertionError("interrupt while disabled")
        event = Event(self.pc, INTERRUPT)
        self._enter(0x8000000B, 0)
        return event

    def _enter(self, cause: int, tval: int) -> None:
        self.epc, self.cause, self.tval = self.pc, cause, tval
        self.mpie, self.mie = self.mie, 0
        self.pc = 4

    def step(self) -> Event:
        """Runs one instruction, or takes the exception it raises."""
        event = Event(self.pc)
        try:
            following = self._execute(self.program[self.pc >> 2], event)
        except Trap as trap:
            self._enter(trap.cause, trap.tval)
            return Event(event.pc, EXCEPTION)
        if event.rd:
            self.x[event.rd] = event.value
        self.pc = following & 0xFFFF
        self.instret += 1
        return event

    def _execute(self, i: int, event: Event) -> int:
        opcode, rd, f3, rs1, rs2, f7 = i & 127, i >> 7 & 31, i >> 12 & 7, i >> 15 & 31, i >> 20 & 31, i >> 25
        a, b, x_imm, following = self.x[rs1], self.x[rs2], sext(i >> 20, 12), self.pc + 4
        value = None
        match opcode:
            case 0x33:
                if (i >> 20, f3, opcode) in _BY_UNARY:
                    value = _BY_UNARY[i >> 20, f3, opcode](a)
                elif (f7, f3) in _BY_REG:
                    value = _BY_REG[f7, f3](a, b)
                else:
                    raise Trap(2)
            case 0x13:
                if f3 in _BY_IMM:
                    value = _BY_IMM[f3](a, x_imm)
                elif (i >> 20, f3, opcode) in _BY_UNARY:
                    value = _BY_UNARY[i >> 20, f3, opcode](a)
                elif (f7, f3) in _BY_SHIFT:
                    value = _BY_SHIFT[f7, f3](a, rs2)
                else:
                    raise Trap(2)
            case 0x37:
                value = i & 0xFFFFF000
            case 0x17:
                value = (self.pc + (i & 0xFFFFF000)) & MASK
            case 0x6F:
                offset = (i >> 31) << 20 | (i >> 12 & 255) << 12 | (i >> 20 & 1) << 11 | (i >> 21 & 1023) << 1
                value, following = self.pc + 4, self.pc + sext(offset, 21)
            case 0x67 if f3 == 0:
                value, following = self.pc + 4, (a + x_imm) & 0xFFFFFFFE
            case 0x63 if f3 in _BY_BRANCH:
                offset = (i >> 31) << 12 | (i >> 7 & 1) << 11 | (i >> 25 & 63) << 5 | (i >> 8 & 15) << 1
                if _BY_BRANCH[f3](a, b):
                    following = self.pc + sext(offset, 13)
            case 0x03 if f3 in _BY_LOAD:
                size, sign = _BY_LOAD[f3]
                address = (a + x_imm) & MASK
                if address % size:
                    raise Trap(4, address)
                value = int.from_bytes(self._bytes(address, size), "little")
                if sign:
                    value = sext(value, 8 * size)
            case 0x23 if f3 in _BY_STORE:
                size = _BY_STORE[f3]
                address = (a + sext(f7 << 5 | rd, 12)) & MASK
                if address % size:
                    raise Trap(6, address)
                event.store = address, (b & ((1 << 8 * size) - 1)).to_bytes(size, "little")
                if DATA_BASE <= address < DATA_BASE + len(self.memory):
                    self.memory[address - DATA_BASE : address - DATA_BASE + size] = event.store[1]
            case 0x0F if f3 == 0:
                pass
            case 0x73 if f3 & 3:
                number, operand = i >> 20, rs1 if f3 & 4 else a
                writes = f3 & 3 == 1 or rs1 != 0
                if writes and number >> 10 == 3:
                    raise Trap(2)
                value = self.read_csr(number)
                if writes:
                    self.write_csr(number, (operand, value | operand, value & ~operand & MASK)[(f3 & 3) - 1])
            case 0x73 if i == ECALL:
                raise Trap(11)
            case 0x73 if i == EBREAK:
                raise Trap(3)
            case 0x73 if i == MRET:
                self.mie, self.mpie = self.mpie, 1
                following = self.epc
            case 0x73 if i == WFI:
                pass
            case _:
                raise Trap(2)
        if following % 4:
            raise Trap(0)
        if value is not None and rd:
            event.rd, event.value = rd, value
        return following

    def _bytes(self, address: int, size: int) -> bytes:
        if DATA_BASE <= address < DATA_BASE + len(self.memory):
            return bytes(self.memory[address - DATA_BASE : address - DATA_BASE + size])
        return bytes(size)
