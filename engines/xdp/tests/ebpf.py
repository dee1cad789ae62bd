# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""XDP programs in plain Python, according to RFC 9669 and Linux' manual of helpers: the reference for native code and
RTL where the kernel cannot serve. It reads programs and frames from standard input and writes the results:

program HEX KIND:KEY_BYTES:VALUE_BYTES:ENTRIES... a new program, its maps are empty frame HEX r0, the interface that was
named, and the frame: `R0 TARGET HEX`
"""

from __future__ import annotations

import struct
import sys

MASK, HALF = (1 << 64) - 1, (1 << 32) - 1
CONTEXT, PACKET, STACK, MAPS, VALUES = 0x1000, 0x10000, 0x20000, 0x30000000, 0x80000000
HEADROOM, BUFFER, KEPT, SHORTEST, FRAME_STACK = 256, 4096, 40, 14, 512
E2BIG, EEXIST, EINVAL, ENOENT, ENOSPC = 7, 17, 22, 2, 28
ANY, NOEXIST, EXIST = 0, 1, 2
GARBAGE = 0xDEAD_0000_BEEF  # what a call leaves in r1 to r5
IFINDEX = 1


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def error(number: int) -> int:
    return -number & MASK


class Map:
    """A map of a kind: values by key. An array has all entries from the beginning."""

    def __init__(self, kind: str, key: int, value: int, entries: int) -> None:
        self.kind, self.key_bytes, self.value_bytes, self.entries = kind, key, value, entries
        self.values: dict[bytes, bytearray] = {}
        if self.is_array:
            self.values = {n.to_bytes(4, "little"): bytearray(value) for n in range(entries)}

    @property
    def is_array(self) -> bool:
        return self.kind in ("array", "percpu_array")

    @staticmethod
    def cut(key: bytes) -> bytes:
        """A prefix without the bits after it."""
        length = int.from_bytes(key[:4], "little")
        bits = 8 * (len(key) - 4)
        number = int.from_bytes(key[4:], "big") >> bits - length << bits - length if length else 0
        return key[:4] + number.to_bytes(len(key) - 4, "big")

    def is_wrong(self, key: bytes) -> bool:
        return self.kind == "lpm_trie" and int.from_bytes(key[:4], "little") > 8 * (len(key) - 4)

    def lookup(self, key: bytes) -> bytearray | None:
        if self.kind != "lpm_trie":
            return self.values.get(key)
        if self.is_wrong(key):
            return None
        for length in range(int.from_bytes(key[:4], "little"), -1, -1):
            found = self.values.get(self.cut(length.to_bytes(4, "little") + key[4:]))
            if found is not None:
                return found
        return None

    def update(self, key: bytes, value: bytes, flags: int) -> int:
        if flags > EXIST or self.is_wrong(key):
            return error(EINVAL)
        if self.is_array and key not in self.values:
            return error(E2BIG)
        key = self.cut(key) if self.kind == "lpm_trie" else key
        if key in self.values:
            if flags == NOEXIST:
                return error(EEXIST)
            self.values[key][:] = value
            return 0
        if flags == EXIST:
            return error(ENOENT)
        if len(self.values) >= self.entries:
            return error(ENOSPC if self.kind == "lpm_trie" else E2BIG)
        self.values[key] = bytearray(value)
        return 0

    def delete(self, key: bytes) -> int:
        if self.is_array or self.is_wrong(key):
            return error(EINVAL)
        key = self.cut(key) if self.kind == "lpm_trie" else key
        return 0 if self.values.pop(key, None) is not None else error(ENOENT)


def arithmetic(op: int, a: int, b: int, bits: int, variant: int) -> int:
    """`a op b` of that many bits, not cut yet."""
    cut = (1 << bits) - 1
    a, b = a & cut, b & cut
    if op in (0x30, 0x90):
        if b == 0:
            return 0 if op == 0x30 else a
        if not variant:
            return a // b if op == 0x30 else a % b
        x, y = signed(a, bits), signed(b, bits)
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == 0x30 else x - quotient * y
    by = b % bits
    match op:
        case 0x00:
            return a + b
        case 0x10:
            return a - b
        case 0x20:
            return a * b
        case 0x40:
            return a | b
        case 0x50:
            return a & b
        case 0x60:
            return a << by
        case 0x70:
            return a >> by
        case 0x80:
            return -a
        case 0xA0:
            return a ^ b
        case 0xB0:
            return signed(b, variant) if variant else b
        case 0xC0:
            return signed(a, bits) >> by
    raise ValueError(f"no operation {op:#x}")


def holds(op: int, a: int, b: int, bits: int) -> bool:
    """Whether a conditional jump is taken."""
    cut = (1 << bits) - 1
    a, b = a & cut, b & cut
    x, y = signed(a, bits), signed(b, bits)
    table = {0x10: a == b, 0x20: a > b, 0x30: a >= b, 0x40: a & b != 0, 0x50: a != b, 0x60: x > y, 0x70: x >= y}
    table |= {0xA0: a < b, 0xB0: a <= b, 0xC0: x < y, 0xD0: x <= y}
    return table[op]


class Machine:
    """A program on a frame."""

    def __init__(self, code: list[tuple[int, int, int, int, int]], maps: list[Map], frame: bytes) -> None:
        self.code, self.maps = code, maps
        self.buffer = bytearray(HEADROOM) + frame + bytes(BUFFER - HEADROOM - len(frame))
        self.start, self.end = HEADROOM, HEADROOM + len(frame)
        self.stack = bytearray(8 * FRAME_STACK)
        self.found: list[bytearray] = []  # values that lookups have given
        self.target = 0

    @property
    def frame(self) -> bytes:
        return bytes(self.buffer[self.start : self.end])

    def place(self, address: int, count: int) -> tuple[bytearray, int]:
        """The memory that an address is in, and where."""
        if address >= VALUES:
            value = self.found[(address - VALUES) >> 12]
            at = (address - VALUES) & 0xFFF
            assert at + count <= len(value), "a program reaches outside of a value"
            return value, at
        if address >= STACK:
            at = address - STACK
            assert at + count <= len(self.stack), "a program reaches outside of its stack"
            return self.stack, at
        if address >= PACKET:
            at = address - PACKET
            assert self.start <= at and at + count <= self.end, "a program reaches outside of its packet"
            return self.buffer, at
        words = (PACKET + self.start, PACKET + self.end, PACKET + self.start, IFINDEX, 0, 0)
        return bytearray(struct.pack("<6I", *words)), address - CONTEXT

    def read(self, address: int, count: int) -> int:
        memory, at = self.place(address, count)
        return int.from_bytes(memory[at : at + count], "little")

    def bytes_at(self, address: int, count: int) -> bytes:
        memory, at = self.place(address, count)
        return bytes(memory[at : at + count])

    def write(self, address: int, count: int, value: int) -> None:
        memory, at = self.place(address, count)
        memory[at : at + count] = (value & ((1 << 8 * count) - 1)).to_bytes(count, "little")

    def atomic(self, regs: list[int], insn: tuple[int, int, int, int, int], count: int) -> None:
        _, dst, src, offset, op = insn
        address = regs[dst] + offset & MASK
        old, cut = self.read(address, count), (1 << 8 * count) - 1
        value = regs[src] & cut
        match op & 0xF0:
            case 0x00:
                new = old + value
            case 0x40:
                new = old | value
            case 0x50:
                new = old & value
            case 0xA0:
                new = old ^ value
            case 0xE0:
                new = value
            case _:
                new = value if old == regs[0] & cut else old
        self.write(address, count, new)
        if op & 0xF0 == 0xF0:
            regs[0] = old
        elif op & 1:
            regs[src] = old

    def helper(self, number: int, regs: list[int]) -> int:
        if number in (1, 2, 3):
            table = self.maps[regs[1] - MAPS]
            key = self.bytes_at(regs[2], table.key_bytes)
            if number == 1:
                value = table.lookup(key)
                if value is None:
                    return 0
                self.found.append(value)
                return VALUES + ((len(self.found) - 1) << 12)
            if number == 2:
                return table.update(key, self.bytes_at(regs[3], table.value_bytes), regs[4])
            return table.delete(key)
        if number == 23:
            self.target = regs[1] & HALF
            return 4
        if number == 44:
            moved = self.start + signed(regs[2], 32)
            if moved < KEPT or moved > self.end - SHORTEST:
                return error(EINVAL)
            self.start = moved
            return 0
        if number in (5, 7, 8):  # the clock, random numbers, the processor: programs make 0 of the first two
            return 0
        raise ValueError(f"no helper {number}")

    def run(self) -> int:
        regs = [GARBAGE] * 11
        regs[1], regs[10] = CONTEXT, STACK + len(self.stack)
        callers: list[tuple[int, list[int]]] = []
        at = 0
        while True:
            op, dst, src, offset, imm = insn = self.code[at]
            at += 1
            group, mode = op & 7, op & 0xF0
            if group in (4, 7):
                bits = 32 if group == 4 else 64
                if mode == 0xD0:
                    turned = group == 7 or op & 8
                    value = (regs[dst] & ((1 << imm) - 1)).to_bytes(imm // 8, "little")
                    regs[dst] = int.from_bytes(value, "big" if turned else "little")
                else:
                    operand = regs[src] if op & 8 else imm
                    regs[dst] = arithmetic(mode, regs[dst], operand, bits, offset) & ((1 << bits) - 1)
            elif group in (5, 6):
                if mode == 0x00:
                    at += imm if group == 6 else offset
                elif mode == 0x80 and src == 1:
                    callers.append((at, regs[6:]))
                    regs[10] -= FRAME_STACK
                    at += imm
                elif mode == 0x80:
                    regs[0] = self.helper(imm, regs)
                    regs[1:6] = [GARBAGE] * 5
                elif mode == 0x90:
                    if not callers:
                        return regs[0]
                    at, regs[6:] = callers.pop()
                    regs[1:6] = [GARBAGE] * 5
                elif holds(mode, regs[dst], regs[src] if op & 8 else imm, 64 if group == 5 else 32):
                    at += offset
            elif group == 0:
                high = self.code[at][4]
                regs[dst] = MAPS + imm if src else (imm & HALF) | (high & HALF) << 32
                at += 1
            else:
                count = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}[op & 0x18]
                if group == 1:
                    value = self.read(regs[src] + offset & MASK, count)
                    regs[dst] = signed(value, 8 * count) & MASK if op & 0xE0 == 0x80 else value
                elif op & 0xE0 == 0xC0:
                    self.atomic(regs, insn, count)
                else:
                    self.write(regs[dst] + offset & MASK, count, regs[src] if group == 3 else imm)


def decoded(code: bytes) -> list[tuple[int, int, int, int, int]]:
    """Opcode, destination, source, offset, immediate of each slot."""
    slots = struct.iter_unpack("<BBhi", code)
    return [(op, regs & 15, regs >> 4, offset, imm) for op, regs, offset, imm in slots]


def main() -> None:
    code: list[tuple[int, int, int, int, int]] = []
    maps: list[Map] = []
    for line in sys.stdin:
        what, text, *more = line.split()
        if what == "program":
            code = decoded(bytes.fromhex(text))
            maps = []
            for shape in more:
                kind, *numbers = shape.split(":")
                maps.append(Map(kind, *map(int, numbers)))
            continue
        machine = Machine(code, maps, bytes.fromhex(text))
        result = machine.run()
        print(f"{result & HALF} {machine.target} {machine.frame.hex()}", flush=True)


if __name__ == "__main__":
    main()
