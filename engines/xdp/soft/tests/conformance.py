# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Cases for bare execution: each instruction with operands at the corners, and the results of RFC 9669, in Python's
integers.

A line `program NAME CODE` is followed by its runs: `run MEMORY R0 MEMORY-AFTERWARDS`, all in hex ("-" is no bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

# Values at which something changes: lengths of shifts, signs and widths.
CORNERS = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
]
CORNERS += [
    0xFFFFFFFF,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    (1 << 64) - 2,
    0x0123456789ABCDEF,
    0xFEDCBA9876543210,
]
IMMEDIATES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 256, 0x7FFFFFFF, -1, -2, -7, -128, -32769, -(1 << 31)]

LD, LDX, ST, STX, ALU, JMP, JMP32, ALU64 = range(8)
X = 8
SIZES = {1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18}
MEM, MEMSX, ATOMIC = 0x60, 0x80, 0xC0
EXIT = (JMP | 0x90, 0, 0, 0, 0)


def encode(*insns: tuple[int, int, int, int, int]) -> str:
    """Opcode, destination, source, offset, immediate."""
    slots = (struct.pack("<BBhI", op, src << 4 | dst, offset, imm % (1 << 32)) for op, dst, src, offset, imm in insns)
    return b"".join(slots).hex()


def load(size: int, dst: int, src: int, offset: int) -> tuple[int, int, int, int, int]:
    return (LDX | MEM | SIZES[size], dst, src, offset, 0)


def signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide(a: int, b: int, bits: int) -> int:
    return a // b if b else 0


def remainder(a: int, b: int, bits: int) -> int:
    return a % b if b else a


def sdivide(a: int, b: int, bits: int) -> int:
    a, b = signed(a, bits), signed(b, bits)
    return toward_zero(a, b) if b else 0


def sremainder(a: int, b: int, bits: int) -> int:
    a, b = signed(a, bits), signed(b, bits)
    return a - b * toward_zero(a, b) if b else a


# Operation: its code, its offset field, and its function on operands of that many bits.
OPERATIONS: dict[str, tuple[int, int, Callable[[int, int, int], int]]] = {
    "add": (0x00, 0, lambda a, b, bits: a + b),
    "sub": (0x10, 0, lambda a, b, bits: a - b),
    "mul": (0x20, 0, lambda a, b, bits: a * b),
    "div": (0x30, 0, divide),
    "sdiv": (0x30, 1, sdivide),
    "or": (0x40, 0, lambda a, b, bits: a | b),
    "and": (0x50, 0, lambda a, b, bits: a & b),
    "lsh": (0x60, 0, lambda a, b, bits: a << b % bits),
    "rsh": (0x70, 0, lambda a, b, bits: a >> b % bits),
    "mod": (0x90, 0, remainder),
    "smod": (0x90, 1, sremainder),
    "xor": (0xA0, 0, lambda a, b, bits: a ^ b),
    "mov": (0xB0, 0, lambda a, b, bits: b),
    "arsh": (0xC0, 0, lambda a, b, bits: signed(a, bits) >> b % bits),
}

CONDITIONS: dict[str, tuple[int, Callable[[int, int, int], bool]]] = {
    "eq": (0x10, lambda a, b, bits: a == b),
    "gt": (0x20, lambda a, b, bits: a > b),
    "ge": (0x30, lambda a, b, bits: a >= b),
    "set": (0x40, lambda a, b, bits: a & b != 0),
    "ne": (0x50, lambda a, b, bits: a != b),
    "sgt": (0x60, lambda a, b, bits: signed(a, bits) > signed(b, bits)),
    "sge": (0x70, lambda a, b, bits: signed(a, bits) >= signed(b, bits)),
    "lt": (0xA0, lambda a, b, bits: a < b),
    "le": (0xB0, lambda a, b, bits: a <= b),
    "slt": (0xC0, lambda a, b, bits: signed(a, bits) < signed(b, bits)),
    "sle": (0xD0, lambda a, b, bits: signed(a, bits) <= signed(b, bits)),
}

Run = tuple[bytes, int, bytes]
Program = tuple[str, str, list[Run]]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def unchanged(memory: bytes, result: int) -> Run:
    return memory, result % (1 << 64), memory


PAIR = (load(8, 0, 1, 0), load(8, 3, 1, 8))


def computed(function: Callable[[int, int, int], int], a: int, b: int, bits: int) -> int:
    """The result of an operation of that many bits, with the upper bits cleared."""
    cut = (1 << bits) - 1
    return function(a & cut, b & cut, bits) & cut


def way(function: Callable[[int, int, int], bool], a: int, b: int, bits: int) -> int:
    """Which way a jump goes: 1 is on, 2 is away."""
    cut = (1 << bits) - 1
    return 2 if function(a & cut, b & cut, bits) else 1


def arithmetic() -> Iterator[Program]:
    for name, (code, offset, function) in OPERATIONS.items():
        for bits, group in ((64, ALU64), (32, ALU)):
            runs = [unchanged(words(a, b), computed(function, a, b, bits)) for a in CORNERS for b in CORNERS]
            yield f"{name}{bits}", encode(*PAIR, (group | X | code, 0, 3, offset, 0), EXIT), runs
            for imm in IMMEDIATES:
                runs = [unchanged(words(a), computed(function, a, imm, bits)) for a in CORNERS]
                insns = (load(8, 0, 1, 0), (group | code, 0, 0, offset, imm), EXIT)
                yield f"{name}{bits}-{imm}", encode(*insns), runs


def conditions() -> Iterator[Program]:
    # Both ways set r0 after the jump, so that a jump by one too many is visible.
    ways = ((ALU64 | 0xB0, 0, 0, 0, 1), EXIT, (ALU64 | 0xB0, 0, 0, 0, 2), EXIT)
    for name, (code, function) in CONDITIONS.items():
        for bits, group in ((64, JMP), (32, JMP32)):
            runs = [unchanged(words(a, b), way(function, a, b, bits)) for a in CORNERS for b in CORNERS]
            yield f"j{name}{bits}", encode(*PAIR, (group | X | code, 0, 3, 2, 0), *ways), runs
            for imm in IMMEDIATES:
                runs = [unchanged(words(a), way(function, a, imm, bits)) for a in CORNERS]
                yield f"j{name}{bits}-{imm}", encode(load(8, 0, 1, 0), (group | code, 0, 0, 2, imm), *ways), runs


def swapped(a: int, size: int) -> int:
    return int.from_bytes((a % (1 << size)).to_bytes(size // 8, "little"), "big")


def replaced(old: int, new: int, bits: int) -> int:
    """A word with the lower bits of another."""
    cut = (1 << bits) - 1
    return old & ~cut | new & cut


def single() -> Iterator[Program]:
    def program(name: str, insn: tuple[int, int, int, int, int], function: Callable[[int], int]) -> Program:
        runs = [unchanged(words(a), function(a)) for a in CORNERS]
        return name, encode(load(8, 0, 1, 0), insn, EXIT), runs

    yield program("neg64", (ALU64 | 0x80, 0, 0, 0, 0), lambda a: -a)
    yield program("neg32", (ALU | 0x80, 0, 0, 0, 0), lambda a: -a % (1 << 32))
    for bits, group, sizes in ((64, ALU64, (8, 16, 32)), (32, ALU, (8, 16))):
        for size in sizes:
            insn = (group | X | 0xB0, 0, 0, size, 0)
            yield program(f"movsx{bits}-{size}", insn, lambda a, size=size, bits=bits: signed(a, size) % (1 << bits))
    for size in (16, 32, 64):
        yield program(f"le{size}", (ALU | 0xD0, 0, 0, 0, size), lambda a, size=size: a % (1 << size))
        yield program(f"be{size}", (ALU | X | 0xD0, 0, 0, 0, size), lambda a, size=size: swapped(a, size))
        yield program(f"bswap{size}", (ALU64 | 0xD0, 0, 0, 0, size), lambda a, size=size: swapped(a, size))
    for value in CORNERS:
        insns = ((LD | 0x18, 0, 0, 0, value), (0, 0, 0, 0, value >> 32), EXIT)
        yield f"lddw-{value:x}", encode(*insns), [(b"", value, b"")]


def memory() -> Iterator[Program]:
    contents = bytes(range(0x7A, 0x8A))
    for size, code in SIZES.items():
        for offset in range(17 - size):
            value = int.from_bytes(contents[offset : offset + size], "little")
            yield f"load{size}+{offset}", encode(load(size, 0, 1, offset), EXIT), [unchanged(contents, value)]
            if size < 8:
                insns = ((LDX | MEMSX | code, 0, 1, offset, 0), EXIT)
                yield f"loads{size}+{offset}", encode(*insns), [unchanged(contents, signed(value, size * 8))]
            stored = 0xF1E2D3C4B5A69788
            after = contents[:offset] + (stored % (1 << size * 8)).to_bytes(size, "little") + contents[offset + size :]
            insns = ((LD | 0x18, 3, 0, 0, stored), (0, 0, 0, 0, stored >> 32), (STX | MEM | code, 1, 3, offset, 0))
            yield f"store{size}+{offset}", encode(*insns, (ALU64 | 0xB0, 0, 0, 0, 5), EXIT), [(contents, 5, after)]
            for imm in (-2, 0x12345678):
                put = (imm % (1 << size * 8)).to_bytes(size, "little")
                after = contents[:offset] + put + contents[offset + size :]
                insns = ((ST | MEM | code, 1, 0, offset, imm), (ALU64 | 0xB0, 0, 0, 0, 5), EXIT)
                yield f"storei{size}+{offset}{imm}", encode(*insns), [(contents, 5, after)]
    # Before and after the base, and on the stack.
    insns = ((ALU64 | 0x00, 1, 0, 0, 8), load(8, 0, 1, -8), EXIT)
    yield "load-before", encode(*insns), [unchanged(contents, int.from_bytes(contents[:8], "little"))]
    for offset in (-8, -16, -256, -512):
        insns = (load(8, 3, 1, 0), (STX | MEM | 0x18, 10, 3, offset, 0), load(4, 0, 10, offset + 4), EXIT)
        yield f"stack{offset}", encode(*insns), [unchanged(words(a), a >> 32) for a in CORNERS]


def atomics() -> Iterator[Program]:
    operations: dict[str, tuple[int, Callable[[int, int], int]]] = {
        "add": (0x00, lambda old, src: old + src),
        "or": (0x40, lambda old, src: old | src),
        "and": (0x50, lambda old, src: old & src),
        "xor": (0xA0, lambda old, src: old ^ src),
        "xchg": (0xE1, lambda old, src: src),
    }
    guard = 0xA5A5A5A5A5A5A5A5
    for bits, size in ((64, 0x18), (32, 0x00)):
        cut = (1 << bits) - 1
        for name, (code, function) in operations.items():
            for fetch in (0, 1):
                if code & 1 and not fetch:
                    continue
                runs = []
                for old in CORNERS:
                    for src in CORNERS:
                        new = replaced(old, function(old, src), bits)
                        result = old & cut if fetch else src
                        runs.append((words(src, old, guard), result, words(src, new, guard)))
                insns = (load(8, 0, 1, 0), (STX | ATOMIC | size, 1, 0, 8, code | fetch), EXIT)
                yield f"atomic-{name}{bits}-{fetch}", encode(*insns), runs
        runs = []
        for old in CORNERS:
            for expected in (old, old ^ 1, old ^ 1 << 63, 0):
                new = replaced(old, guard, bits) if (old ^ expected) & cut == 0 else old
                runs.append((words(expected, old, guard), old & cut, words(expected, new, guard)))
        insns = (load(8, 0, 1, 0), load(8, 3, 1, 16), (STX | ATOMIC | size, 1, 3, 8, 0xF1), EXIT)
        yield f"atomic-cmpxchg{bits}", encode(*insns), runs
    yield from stack_atomics()


def stack_atomics() -> Iterator[Program]:
    """The same on the stack: by r10, by a copy of it, and by a pointer that leads to the memory or the stack."""
    operations: dict[int, Callable[[int, int, int], int]] = {
        0x00: lambda old, src, r0: old + src,
        0x01: lambda old, src, r0: old + src,
        0x41: lambda old, src, r0: old | src,
        0x51: lambda old, src, r0: old & src,
        0xA1: lambda old, src, r0: old ^ src,
        0xE1: lambda old, src, r0: src,
        0xF1: lambda old, src, r0: src if old == r0 else old,
    }
    mov, add = ALU64 | 0xB0, ALU64 | 0x00
    pairs = [(5, 3, 5), (CORNERS[-1], CORNERS[-2], 0), (1 << 63, 1 << 63, 1 << 63), (0xFFFFFFFF, 1, 0xFFFFFFFF)]
    for bits, size in ((64, 0x18), (32, 0x00)):
        cut = (1 << bits) - 1
        for code, function in operations.items():
            for way in ("r10", "copy", "either"):
                # r3: the operand, r0: the expected value. The memory: old, operand, r0, which pointer, then the
                # program's results.
                insns = [load(8, 2, 1, 0), load(8, 3, 1, 8), load(8, 0, 1, 16), (STX | MEM | 0x18, 10, 2, -16, 0)]
                insns += [(mov | X, 4, 10, 0, 0)] if way != "r10" else []
                insns += [(add, 4, 0, 0, -24)] if way != "r10" else []
                if way == "either":
                    insns += [load(8, 5, 1, 24), (JMP | 0x50, 5, 0, 2, 0), (mov | X, 4, 1, 0, 0), (add, 4, 0, 0, -8)]
                base, offset = (10, -16) if way == "r10" else (4, 8)
                insns += [(STX | ATOMIC | size, base, 3, offset, code), load(8, 2, 10, -16)]
                insns += [(STX | MEM | 0x18, 1, 2, 32, 0), (STX | MEM | 0x18, 1, 3, 40, 0), EXIT]
                runs = []
                for old, src, r0 in pairs:
                    for stack in (1, 0) if way == "either" else (1,):
                        new = replaced(old, function(old & cut, src & cut, r0 & cut), bits)
                        left = old & cut if code == 0xF1 else r0
                        taken = old & cut if code & 1 and code != 0xF1 else src
                        before = words(old, src, r0, stack, 0, 0)
                        after = words(old if stack else new, src, r0, stack, new if stack else old, taken)
                        runs.append((before, left, after))
                yield f"stack-atomic-{code:02x}-{bits}-{way}", encode(*insns), runs


def calls() -> Iterator[Program]:
    mov, add = ALU64 | 0xB0, ALU64 | 0x00
    # A function that changes r6 and its stack and adds up its arguments; the caller's stay.
    caller = [(mov, 6, 0, 0, 1000), (ST | MEM | 0x18, 10, 0, -8, 500)]
    caller += [(mov, number, 0, 0, 1 << number) for number in range(1, 6)]
    caller += [(JMP | 0x80, 0, 1, 0, 4), (add | X, 0, 6, 0, 0), load(8, 6, 10, -8), (add | X, 0, 6, 0, 0), EXIT]
    callee = [(mov, 0, 0, 0, 0), (mov, 6, 0, 0, 7), (ST | MEM | 0x18, 10, 0, -8, 9)]
    callee += [(add | X, 0, number, 0, 0) for number in range(1, 6)]
    yield "call", encode(*caller, *callee, EXIT), [(b"", sum(1 << n for n in range(1, 6)) + 1500, b"")]
    # A factorial that calls itself: 7 deep.
    insns = [(mov, 1, 0, 0, 6), (JMP | 0x80, 0, 1, 0, 1), EXIT]
    insns += [(JMP | 0x50, 1, 0, 2, 0), (mov, 0, 0, 0, 1), EXIT, (mov | X, 6, 1, 0, 0), (add, 1, 0, 0, -1)]
    insns += [(JMP | 0x80, 0, 1, 0, -6), (ALU64 | X | 0x20, 0, 6, 0, 0), EXIT]
    yield "factorial", encode(*insns), [(b"", 720, b"")]
    # A sum in a loop, with a jump back; and jumps of both kinds.
    insns = [
        (mov, 0, 0, 0, 0),
        (mov, 3, 0, 0, 100),
        (add | X, 0, 3, 0, 0),
        (add, 3, 0, 0, -1),
        (JMP | 0x50, 3, 0, -3, 0),
        EXIT,
    ]
    yield "loop", encode(*insns), [(b"", 5050, b"")]
    for name, jump in (("ja", (JMP, 0, 0, 2, 0)), ("ja32", (JMP32, 0, 0, 0, 2))):
        insns = [(mov, 0, 0, 0, 1), jump, (mov, 0, 0, 0, 2), EXIT, (add, 0, 0, 0, 10), EXIT]
        yield name, encode(*insns), [(b"", 11, b"")]


def main() -> None:
    for group in (arithmetic, conditions, single, memory, atomics, calls):
        for name, code, runs in group():
            print("program", name, code)
            for before, result, after in runs:
                print("run", before.hex() or "-", f"{result % (1 << 64):x}", after.hex() or "-")


if __name__ == "__main__":
    main()
