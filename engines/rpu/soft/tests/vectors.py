# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Expected results of instructions and programs, for the simulator's test: from the specification's formulas, and from
Unicorn.

Prints lines `i WORD A B RESULT` (one instruction, x3 = WORD(x1 = A, x2 = B)) and
`p WORDS REGISTERS MEMORY REGISTERS MEMORY` (a program at CODE; the registers x1..x15 and the first 256 bytes of data
memory before and after it). RV32I and M results are checked against Unicorn before they are printed.
"""

import random
import sys
from collections.abc import Callable

from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
from unicorn.riscv_const import UC_RISCV_REG_X0

MASK = 0xFFFFFFFF
CORNERS = [
    0,
    1,
    2,
    31,
    32,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFF0000,
    MASK - 1,
    MASK,
]
DATA = 0x00800000
CODE = 0x400


def signed(value: int) -> int:
    """The two's complement number of 32 bits."""
    return value - (1 << 32) if value >> 31 else value


def divide(a: int, b: int) -> int:
    """Quotient rounded towards zero."""
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def remainder(a: int, b: int) -> int:
    """The remainder of a division towards zero."""
    return a - b * divide(a, b)


def bits(value: int) -> str:
    """All 32 bits as text, the highest first."""
    return f"{value:032b}"


Formula = Callable[[int, int], int]

# funct7, funct3 of register instructions (chapters RV32I, M, Zbb).
REGISTER: dict[str, tuple[int, int, Formula]] = {
    "add": (0x00, 0, lambda a, b: a + b),
    "sub": (0x20, 0, lambda a, b: a - b),
    "sll": (0x00, 1, lambda a, b: a << b % 32),
    "slt": (0x00, 2, lambda a, b: int(signed(a) < signed(b))),
    "sltu": (0x00, 3, lambda a, b: int(a < b)),
    "xor": (0x00, 4, lambda a, b: a ^ b),
    "srl": (0x00, 5, lambda a, b: a >> b % 32),
    "sra": (0x20, 5, lambda a, b: signed(a) >> b % 32),
    "or": (0x00, 6, lambda a, b: a | b),
    "and": (0x00, 7, lambda a, b: a & b),
    "mul": (0x01, 0, lambda a, b: a * b),
    "mulh": (0x01, 1, lambda a, b: signed(a) * signed(b) >> 32),
    "mulhsu": (0x01, 2, lambda a, b: signed(a) * b >> 32),
    "mulhu": (0x01, 3, lambda a, b: a * b >> 32),
    "div": (0x01, 4, lambda a, b: divide(signed(a), signed(b)) if b else -1),
    "divu": (0x01, 5, lambda a, b: a // b if b else -1),
    "rem": (0x01, 6, lambda a, b: remainder(signed(a), signed(b)) if b else a),
    "remu": (0x01, 7, lambda a, b: a % b if b else a),
    "andn": (0x20, 7, lambda a, b: a & ~b),
    "orn": (0x20, 6, lambda a, b: a | ~b),
    "xnor": (0x20, 4, lambda a, b: ~(a ^ b)),
    "min": (0x05, 4, lambda a, b: min(signed(a), signed(b))),
    "minu": (0x05, 5, min),
    "max": (0x05, 6, lambda a, b: max(signed(a), signed(b))),
    "maxu": (0x05, 7, max),
    "rol": (0x30, 1, lambda a, b: a << b % 32 | a >> -b % 32),
    "ror": (0x30, 5, lambda a, b: a >> b % 32 | a << -b % 32),
}
# funct7, rs2, funct3 of instructions with one register operand.
UNARY: dict[str, tuple[int, int, int, Callable[[int], int]]] = {
    "clz": (0x30, 0, 1, lambda a: (bits(a) + "1").index("1")),
    "ctz": (0x30, 1, 1, lambda a: (bits(a)[::-1] + "1").index("1")),
    "cpop": (0x30, 2, 1, lambda a: bits(a).count("1")),
    "sext.b": (0x30, 4, 1, lambda a: (a & 0xFF ^ 0x80) - 0x80),
    "sext.h": (0x30, 5, 1, lambda a: (a & 0xFFFF ^ 0x8000) - 0x8000),
    "orc.b": (0x14, 7, 5, lambda a: int.from_bytes(bytes(255 * (byte != 0) for byte in a.to_bytes(4)))),
    "rev8": (0x34, 24, 5, lambda a: int.from_bytes(a.to_bytes(4), "little")),
}
# funct3 of instructions with an immediate, and their function (sign extended).
IMMEDIATE: dict[str, tuple[int, Formula]] = {
    "addi": (0, lambda a, i: a + i),
    "slti": (2, lambda a, i: int(signed(a) < i)),
    "sltiu": (3, lambda a, i: int(a < i & MASK)),
    "xori": (4, lambda a, i: a ^ i),
    "ori": (6, lambda a, i: a | i),
    "andi": (7, lambda a, i: a & i),
}
# funct7, funct3 of shifts by an immediate.
SHIFT: dict[str, tuple[int, int, Formula]] = {
    "slli": (0x00, 1, lambda a, i: a << i),
    "srli": (0x00, 5, lambda a, i: a >> i),
    "srai": (0x20, 5, lambda a, i: signed(a) >> i),
    "rori": (0x30, 5, lambda a, i: a >> i | a << (32 - i)),
}
BASE = {"I": 0x13, "R": 0x33}


def r_type(funct7: int, rs2: int, rs1: int, funct3: int, rd: int, opcode: int) -> int:
    """Encodes a register instruction, or one whose immediate fills rs2 and funct7."""
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def i_type(immediate: int, rs1: int, funct3: int, rd: int, opcode: int) -> int:
    """Encodes an instruction with a 12-bit immediate."""
    return (immediate & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def s_type(immediate: int, rs2: int, rs1: int, funct3: int) -> int:
    """Encodes a store."""
    return r_type(immediate >> 5 & 0x7F, rs2, rs1, funct3, immediate & 0x1F, 0x23)


def b_type(offset: int, rs2: int, rs1: int, funct3: int) -> int:
    """Encodes a branch by `offset` bytes."""
    high = (offset >> 12 & 1) << 6 | offset >> 5 & 0x3F
    low = (offset >> 1 & 0xF) << 1 | offset >> 11 & 1
    return r_type(high, rs2, rs1, funct3, low, 0x63)


def j_type(offset: int, rd: int) -> int:
    """Encodes a jump by `offset` bytes."""
    fields = (offset >> 20 & 1) << 19 | (offset >> 1 & 0x3FF) << 9 | (offset >> 11 & 1) << 8 | offset >> 12 & 0xFF
    return fields << 12 | rd << 7 | 0x6F


def instructions(rng: random.Random, each: int) -> list[tuple[bool, int, int, int, int]]:
    """Single instructions: whether Unicorn knows them, word, operands, result."""

    def operand() -> int:
        return rng.choice(CORNERS) if rng.random() < 0.5 else rng.getrandbits(32)

    rows = []
    for _ in range(each):
        for funct7, funct3, formula in REGISTER.values():
            a, b = operand(), operand()
            word = r_type(funct7, 2, 1, funct3, 3, BASE["R"])
            is_base = funct7 in (0x00, 0x01) or (funct7 == 0x20 and funct3 in (0, 5))
            rows.append((is_base, word, a, b, formula(a, b) & MASK))
        for funct7, rs2, funct3, unary in UNARY.values():
            a = operand()
            rows.append((False, r_type(funct7, rs2, 1, funct3, 3, BASE["I"]), a, 0, unary(a) & MASK))
        a = operand()
        rows.append((False, r_type(0x04, 0, 1, 4, 3, BASE["R"]), a, 0, a & 0xFFFF))  # zext.h
        for funct3, formula in IMMEDIATE.values():
            a, i = operand(), rng.choice([-2048, -1, 0, 1, 2047, rng.randrange(-2048, 2048)])
            rows.append((True, i_type(i, 1, funct3, 3, BASE["I"]), a, 0, formula(a, i) & MASK))
        for funct7, funct3, formula in SHIFT.values():
            a, i = operand(), rng.randrange(32)
            rows.append((funct7 != 0x30, r_type(funct7, i, 1, funct3, 3, BASE["I"]), a, 0, formula(a, i) & MASK))
        upper = rng.getrandbits(20) << 12
        rows.append((True, upper | 3 << 7 | 0x37, 0, 0, upper))
    return rows


def unicorn(words: list[int], registers: dict[int, int], memory: bytes) -> tuple[list[int], bytes]:
    """Runs `words` from CODE to their end: registers x0..x31 and data memory then."""
    machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
    machine.mem_map(0, 0x10000)
    machine.mem_map(DATA, 0x8000)
    machine.mem_write(CODE, b"".join(word.to_bytes(4, "little") for word in words))
    machine.mem_write(DATA, memory)
    for register, value in registers.items():
        machine.reg_write(UC_RISCV_REG_X0 + register, value)
    machine.emu_start(CODE, CODE + 4 * len(words), count=100_000)
    after = [machine.reg_read(UC_RISCV_REG_X0 + register) & MASK for register in range(32)]
    return after, bytes(machine.mem_read(DATA, len(memory)))


def program(rng: random.Random, length: int) -> list[int]:
    """A random program over x1..x15; x31 holds the data's address. Branches and jumps go forward,
    so the program ends.
    """
    arithmetic = [(f7, f3) for f7, f3, _ in REGISTER.values() if f7 in (0x00, 0x01) or (f7 == 0x20 and f3 in (0, 5))]
    words = []
    for at in range(length):
        rd, rs1, rs2 = (rng.randrange(16) for _ in range(3))
        ahead = 4 * rng.randint(1, min(8, length - at))
        match rng.randrange(10):
            case 0 | 1 | 2:
                funct7, funct3 = rng.choice(arithmetic)
                words.append(r_type(funct7, rs2, rs1, funct3, rd, BASE["R"]))
            case 3 | 4:
                words.append(i_type(rng.randrange(-2048, 2048), rs1, rng.choice([0, 2, 3, 4, 6, 7]), rd, BASE["I"]))
            case 5:
                funct3, size = rng.choice([(0, 1), (1, 2), (2, 4), (4, 1), (5, 2)])
                words.append(i_type(rng.randrange(0, 256, size), 31, funct3, rd, 0x03))
            case 6:
                funct3, size = rng.choice([(0, 1), (1, 2), (2, 4)])
                words.append(s_type(rng.randrange(0, 256, size), rs2, 31, funct3))
            case 7:
                words.append(b_type(ahead, rs2, rs1, rng.choice([0, 1, 4, 5, 6, 7])))
            case 8:
                words.append(j_type(ahead, rd))
            case _:
                words.append(rng.getrandbits(20) << 12 | rd << 7 | rng.choice([0x37, 0x17]))
    return words


def main() -> None:
    """Prints all vectors; the argument is the seed."""
    rng = random.Random(int(sys.argv[1]))
    for known, word, a, b, result in instructions(rng, 60):
        if known:
            after, _ = unicorn([word], {1: a, 2: b}, b"")
            assert after[3] == result, f"the oracles differ on {word:08x} {a:08x} {b:08x}: {after[3]:08x} {result:08x}"
        print(f"i {word:x} {a:x} {b:x} {result:x}")
    for _ in range(200):
        words = program(rng, rng.randint(10, 200))
        registers = {register: rng.choice([*CORNERS, rng.getrandbits(32)]) for register in range(1, 16)}
        memory = rng.randbytes(256)
        after, data = unicorn(words, {**registers, 31: DATA}, memory)
        before = ",".join(f"{registers[register]:x}" for register in range(1, 16))
        print(
            f"p {','.join(f'{w:x}' for w in words)} {before} {memory.hex()} "
            f"{','.join(f'{value:x}' for value in after[1:16])} {data.hex()}"
        )


main()
