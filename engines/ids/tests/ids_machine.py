# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""engines/ids/machine.md in plain Python: tables of the filter, the filter itself, flow lines, records."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

REASONS = ("string", "unchecked", "order", "midstream", "fragment", "headers", "followed", "class")
MASK = 0xFFFFFFFF


def crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


TABLE = crc_table()


def f(word: int) -> int:
    """CRC-32C of one word, a byte after the other."""
    crc = word
    for _ in range(4):
        crc = crc >> 8 ^ TABLE[crc & 0xFF]
    return crc


def fold(data: bytes) -> bytes:
    return bytes(b + 32 if 0x41 <= b <= 0x5A else b for b in data)


def words(window: bytes) -> tuple[int, int]:
    first, second = struct.unpack("<II", window)
    return int(first), int(second)


def hashes(window: bytes) -> tuple[int, int]:
    """h4 and h8 of a window of 8 bytes."""
    a, b = words(window)
    return f(b), f(f(a) ^ b)


@dataclass
class Tables:
    """The tables for keys of 3 to 8 bytes; a key's id is its place in `keys`, which are folded and differ."""

    keys: list[bytes]
    log2: int  # entries of a way
    seed: int = 1
    maps: list[dict[int, int]] = field(default_factory=lambda: [{}, {}, {}])
    entries: dict[tuple[int, int], int] = field(default_factory=dict)  # way, index: id

    def __post_init__(self) -> None:
        for key in self.keys:
            assert 3 <= len(key) <= 8 and key == fold(key)
            self.mark(key)
        self.place()

    def mark(self, key: bytes) -> None:
        if len(key) == 8:
            h4, h8 = hashes(key)
            self.set(0, h4 & 0x7FFF, 1)
            self.set(1, h4 >> 15 & 0x7FFF, 1)
            self.set(2, h8 & 0xFFFF, 1)
            return
        ends = [key[-4:]] if len(key) > 3 else [bytes([byte]) + key for byte in range(256)]
        for end in ends:
            h4 = f(int.from_bytes(end, "little"))
            self.set(0, h4 & 0x7FFF, 2)
            self.set(1, h4 >> 15 & 0x7FFF, 2)

    def set(self, which: int, index: int, value: int) -> None:
        self.maps[which][index] = self.maps[which].get(index, 0) | value

    def places(self, g: int) -> list[tuple[int, int]]:
        mask, shift = (1 << self.log2) - 1, 32 - self.log2
        return [(0, g & mask), (1, g >> shift), (2, f(g) & mask), (3, f(g) >> shift)]

    def g(self, key: bytes) -> int:
        if len(key) == 8:
            return hashes(key)[1]
        return f(int.from_bytes(key[-4:] if len(key) > 3 else b"\0" + key, "little"))

    def place(self) -> None:
        rng = random.Random(self.seed)
        for number in range(len(self.keys)):
            homeless = number
            for _ in range(500):
                places = self.places(self.g(self.keys[homeless]))
                free = [place for place in places if place not in self.entries]
                place = free[0] if free else rng.choice(places)
                other = self.entries.get(place)
                self.entries[place] = homeless
                if other is None:
                    break
                homeless = other
            else:
                raise AssertionError("no place for a key")

    def lookup(self, kind: int, window: bytes) -> list[int]:
        """Ids of the entries that match, way by way."""
        part = window if kind == 8 else window[-4:] if kind == 4 else window[-3:]
        found = []
        for place in self.places(self.g(part)):
            number = self.entries.get(place)
            if number is None:
                continue
            key = self.keys[number]
            fits = len(key) == kind if kind != 4 else 4 <= len(key) <= 7
            if fits and window.endswith(key):
                found.append(number)
        return found

    def search(self, before: bytes, payload: bytes) -> list[int]:
        """Ids that the card finds in a payload, in its order, each once."""
        stream = fold(b"\0" * 7 + before)[-7:] + fold(payload)
        found: dict[int, None] = {}
        for at in range(len(payload)):
            window = stream[at : at + 8]
            h4, h8 = hashes(window)
            both = self.maps[0].get(h4 & 0x7FFF, 0) & self.maps[1].get(h4 >> 15 & 0x7FFF, 0)
            if both & 1 and self.maps[2].get(h8 & 0xFFFF, 0):
                found.update(dict.fromkeys(self.lookup(8, window)))
            if both & 2:
                found.update(dict.fromkeys(self.lookup(4, window)))
                found.update(dict.fromkeys(self.lookup(3, window)))
        return list(found)


@dataclass
class Record:
    """A record of a log, from its 64 bytes."""

    place: int
    first: int
    before: int
    number: int
    time: int
    length: int
    start: int
    payload: int
    port: int
    flags: int
    seq: int
    line: int
    ticket: int
    prior: bytes
    generation: int
    reasons: set[str]
    ids: list[int]

    @classmethod
    def read(cls, row: bytes) -> Record:
        (
            place,
            first,
            before,
            number,
            time,
            length,
            start,
            payload,
            port,
            flags,
            seq,
            line,
            ticket,
            prior,
            known,
            why,
            count,
        ) = struct.unpack_from("<IIIIQHHHBBIHH7sBBB", row)
        return cls(
            place, first, before, number, time, length, start, payload, port & 7, flags, seq,
            port >> 3 << 16 | line,
            ticket,
            prior[7 - (known & 7) :],
            known >> 3,
            {name for bit, name in enumerate(REASONS) if why >> bit & 1},
            list(struct.unpack_from("<7H", row, 50))[: count & 7],
        )  # fmt: skip

    @property
    def chained(self) -> bool:
        return bool(self.flags & 1)

    @property
    def direction(self) -> int:
        return self.flags >> 1 & 1

    @property
    def held(self) -> bool:
        return bool(self.flags & 8)

    @property
    def more(self) -> bool:
        return bool(self.flags & 16)

    @property
    def bank(self) -> int:
        return self.flags >> 5 & 1

    @property
    def searched(self) -> bool:
        return bool(self.flags & 64)


@dataclass
class Direction:
    """A direction of a flow line."""

    open: bool = False
    lost: bool = False
    next: int = 0
    prior: bytes = b""

    def take(self, seq: int, syn: bool, payload: bytes) -> tuple[set[str], bytes | None]:
        """Why a frame is reported before it is searched, and the number of bytes before the searched part; None if it
        is not searched.
        """
        end = seq + syn + len(payload) & MASK
        if not self.open:
            self.open, self.next = True, end
            before, why = b"", set() if syn else {"midstream"}
        elif not self.lost and syn and not payload and not self.prior and seq + 1 & MASK == self.next:
            return set(), None
        elif self.lost or syn or seq != self.next:
            self.lost = True
            return {"order"}, None
        else:
            before, why = self.prior, set()
            self.next = end
        self.prior = (before + payload)[-7:]
        return why, before if payload else None


def distinct(keys: Iterable[bytes]) -> list[bytes]:
    return list(dict.fromkeys(fold(key) for key in keys))
