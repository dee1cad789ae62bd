# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The card's maps in plain Python (engines/xdp/maps.md): requests in parts, a loader's layout of maps, the result of
each operation.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

LOAD, STORE, ATOMIC, LOOKUP, UPDATE, DELETE, ROWS, SAY = range(8)
ARRAY, HASH, LRU, LPM = 1, 2, 3, 4
ANY, NOEXIST, EXIST = 0, 1, 2
ENOENT, E2BIG, EEXIST, EINVAL, ENOSPC = -2, -7, -17, -22, -28
ORIGIN = 0x8000_0000
ROW = 16
M64 = (1 << 64) - 1


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def parts(data: bytes) -> list[int]:
    """Bytes in parts of 16, followed by zeros."""
    return [int.from_bytes(data[i : i + ROW], "little") for i in range(0, len(data), ROW)]


@dataclass
class Request:
    op: int
    ctx: int = 0
    map: int = 0
    key: bytes = b""
    value: bytes = b""
    flags: int = 0
    address: int = 0
    count: int = 8  # of bytes, or of rows
    atomic: int = 0
    operand: int = 0
    expected: int = 0
    quiet: bool = False
    unit: int = 0  # with ctx, the processor whose value is meant
    begin: int = 0  # cycles
    end: int = 0
    answer: int = 0

    def info(self) -> int:
        if self.op in (LOOKUP, UPDATE, DELETE):
            return self.map | self.flags << 6 | self.unit << 25
        if self.op == ROWS:
            return self.address - ORIGIN | self.count - 1 << 25
        return self.address - ORIGIN | self.count << 25 | self.atomic << 29

    def data(self) -> tuple[list[int], int]:
        """Its parts, and how many are the key's."""
        if self.op in (LOOKUP, UPDATE, DELETE):
            key = parts(self.key)
            return key + (parts(self.value) if self.op == UPDATE else []), len(key)
        return [self.operand | self.expected << 64], 1

    def flits(self) -> list[int]:
        data, keys = self.data()
        words = []
        for at, part in enumerate(data):
            head = int(at + 1 == len(data)) << 1 | int(at + 1 == keys)
            head = ((head << 3 | self.op) << 1 | int(self.quiet)) << 4 | self.ctx
            words.append((head << 32 | self.info()) << 128 | part)
        return words


@dataclass
class Shape:
    """A map: its declaration in the program, and its place in each bank."""

    kind: int
    key_bytes: int
    value_bytes: int
    max_entries: int
    processors: int = 0  # that have a value each; 0: all have the same
    base: int = 0
    buckets: int = 0
    first: int = 0
    end: int = 0
    stride: int = 0

    def step(self) -> int:
        """Halves of rows from a processor's value to the next one's."""
        if not self.processors:
            return 0
        return 1 if self.value_bytes <= 8 else 2 * -(-self.value_bytes // ROW)

    def lay_out(self, base: int, banks: int, share: int | None = None) -> int:
        """Finds its place from row `base` on; returns the row after it."""
        value_rows = -(-self.step() * self.processors // 2) or -(-self.value_bytes // ROW)
        mean = self.max_entries / banks
        if self.kind == ARRAY:
            self.stride, self.base, self.first = value_rows, base, base
            self.end = base + self.stride * math.ceil(mean)
            return self.end
        share = share or min(self.max_entries, math.ceil(mean + 6 * math.sqrt(mean)) + 8)
        self.stride = 1 + -(-self.key_bytes // ROW) + value_rows
        self.base = base
        self.buckets = max(3, (share - 1).bit_length())
        self.first = base + (1 << self.buckets) // 8
        self.end = self.first + share * self.stride
        return self.end

    def words(self) -> list[int]:
        return [
            self.value_bytes << 16 | self.key_bytes << 8 | self.kind,
            self.max_entries,
            self.buckets << 16 | self.base,
            self.end << 16 | self.first,
            self.stride << 16 | self.step(),
        ]


def hash_of(key: bytes, seed: list[int]) -> int:
    data = key + bytes(-len(key) % ROW)
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    total = seed[0]
    for k in range(0, len(words), 2):
        total += (seed[k + 1] + words[k]) * (seed[k + 2] + words[k + 1])
    return (total & M64) >> 32


def cut(key: bytes, length: int) -> bytes:
    """A key of prefixes, without the bits after `length`."""
    bits = int.from_bytes(key[4:], "big")
    width = 8 * (len(key) - 4)
    bits = bits >> (width - length) << (width - length) if length < width else bits
    return length.to_bytes(4, "little") + bits.to_bytes(len(key) - 4, "big")


@dataclass
class Model:
    """A map of exact keys or of prefixes, and its keys. Addresses come from the hardware."""

    shape: Shape
    keys: dict[bytes, int] = field(default_factory=dict)  # to the value's address, 0 while it is not known

    def full(self) -> bool:
        return len(self.keys) >= self.shape.max_entries

    def update(self, key: bytes, flags: int) -> int:
        """The result of an update."""
        if self.shape.kind == ARRAY:
            if int.from_bytes(key, "little") >= self.shape.max_entries:
                return E2BIG
            return EEXIST if flags == NOEXIST else 0
        if self.shape.kind == LPM:
            length = int.from_bytes(key[:4], "little")
            if length > 8 * (self.shape.key_bytes - 4):
                return EINVAL
            key = cut(key, length)
        if key in self.keys:
            return EEXIST if flags == NOEXIST else 0
        if flags == EXIST:
            return ENOENT
        if self.full() and self.shape.kind != LRU:
            return ENOSPC if self.shape.kind == LPM else E2BIG
        self.keys[key] = 0
        return 0

    def delete(self, key: bytes) -> int:
        if self.shape.kind == ARRAY:
            return EINVAL
        if self.shape.kind == LPM:
            length = int.from_bytes(key[:4], "little")
            if length > 8 * (self.shape.key_bytes - 4):
                return EINVAL
            key = cut(key, length)
        return 0 if self.keys.pop(key, None) is not None else ENOENT

    def find(self, key: bytes) -> bytes | None:
        """The key that a lookup finds."""
        if self.shape.kind == LPM:
            asked = int.from_bytes(key[:4], "little")
            if asked > 8 * (self.shape.key_bytes - 4):
                return None
            prefixes = (cut(key, length) for length in range(asked, -1, -1))
            return next((prefix for prefix in prefixes if prefix in self.keys), None)
        return key if key in self.keys else None


def linearizable(history: list[Request], present: bool) -> bool:
    """Whether some order of operations on one key, each within its time, explains their answers. State: the key is
    there or is not."""
    history = sorted(history, key=lambda request: request.begin)
    # Independent stretches one after the other: between them nothing is under way.
    states = {present}
    for _, group in itertools.groupby(stretches(history), key=lambda pair: pair[0]):
        members = [request for _, request in group]
        reached = set()
        for state in states:
            for end in (False, True):
                if reaches(members, state, end):
                    reached.add(end)
        states = reached
        if not states:
            return False
    return True


def stretches(history: list[Request]) -> list[tuple[int, Request]]:
    numbered, number, until = [], 0, -1
    for request in history:
        if request.begin > until:
            number += 1
        until = max(until, request.end)
        numbered.append((number, request))
    return numbered


def reaches(members: list[Request], there: bool, end: bool) -> bool:
    seen: set[tuple[int, bool]] = set()

    def follow(left: int, now: bool) -> bool:
        if not left:
            return now == end
        if (left, now) in seen:
            return False
        seen.add((left, now))
        open_ones = [i for i in range(len(members)) if left >> i & 1]
        first_end = min(members[i].end for i in open_ones)
        for i in open_ones:
            if members[i].begin <= first_end:
                after = step(members[i], now)
                if after is not None and follow(left & ~(1 << i), after):
                    return True
        return False

    return follow((1 << len(members)) - 1, there)


def step(request: Request, there: bool) -> bool | None:
    """The state after an operation that returned this result; None: the result is impossible."""
    answer = signed(request.answer)
    if request.op == LOOKUP:
        return there if bool(answer) == there else None
    if request.op == DELETE:
        return False if answer == (0 if there else ENOENT) else None
    if there:
        expected, after = (EEXIST if request.flags == NOEXIST else 0), True
    else:
        expected, after = (ENOENT, False) if request.flags == EXIST else (0, True)
    return after if answer == expected else None
