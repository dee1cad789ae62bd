# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs and frames for the machine of the rmt engine, of few different values, so that cases match, entries
are hit and bounds are met.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import machine
from machine import (
    ACTION,
    CHECK,
    COUNTER,
    EXIT,
    KEY,
    LEAF,
    LPM,
    METER,
    PARSER,
    REGISTER,
    SEGMENT,
    TARGET,
    TENANT,
    TERNARY,
    WAY,
    Machine,
)

Write = tuple[int, int, int, tuple[int, ...]]  # memory, stage, row, words
STATES, ACTIONS, UNITS = 4, 8, 8


def pack(*fields: tuple[int, int]) -> int:
    """A word from values and their lowest bits."""
    word = 0
    for value, low in fields:
        word |= value << low
    assert word < 1 << 32
    return word


def second(source: int, rotation: int = 0, width: int = 32) -> int:
    """Operand B: 0, 1 and 2 the CRCs, 3 `v28`, 4 to 7 parameters, 8 to 15 `v19` to `v26`; rotated by bytes."""
    return pack((source, 0), (rotation, 4), (width - 1, 6))


def unit(
    op: int,
    to: tuple[int, int, int],
    a: tuple[int, int, int] = (0, 0, 32),
    b: int = 0,
    value: int = 0,
    when: tuple[int, int] = (0, 0),
) -> tuple[int, int, int]:
    """The words of a unit. `to`: word, lowest bit and bits that are written; `a`: word, rotation and bits; `b`: of
    `second`; `value`: the immediate; `when`: mode and index of the predicate.
    """
    return (
        pack((op, 0), (to[0], 4), (to[1], 9), (to[2] - 1, 14), (when[0], 19), (when[1], 21)),
        pack((a[0], 0), (a[1], 5), (a[2] - 1, 10), (b, 16)),
        value,
    )


def units(*words: tuple[int, int, int]) -> tuple[int, ...]:
    """The units of an action's row, each in a place from which it writes its word."""
    free: dict[int, tuple[int, int, int]] = {}

    def put(rest: tuple[tuple[int, int, int], ...]) -> bool:
        if not rest:
            return True
        for place in sorted(machine.writers(machine.bits(rest[0][0], 8, 4)) - free.keys()):
            free[place] = rest[0]
            if put(rest[1:]):
                return True
            del free[place]
        return False

    assert put(words), "no places for these units"
    return tuple(word for place in range(UNITS) for word in free.get(place, (0, 0, 0)))


def nodes(starts: list[int], first: int = 0) -> list[tuple[int, int, tuple[int, ...]]]:
    """Level, row and words of each node of a search tree's part that begins at leaf `first` and has these leaves, from
    the first keys of the leaves.
    """
    found = []
    for level in range(machine.LEVELS):
        span = 16 ** (machine.LEVELS - 1 - level)  # leaves of a branch
        for at in range(0, len(starts) - 16 * span + 1, 16 * span):
            words = tuple(starts[at + span * branch] for branch in range(1, 16))
            found.append((level, (first + at) // (16 * span), words))
    return found


@dataclass
class Program:
    """A tenant's program in one bank, and its partitions."""

    rng: random.Random
    tenant: int
    bank: int
    stages: int
    part: int  # number of its partitions, 0 to 15
    stateful: bool
    heads: bool = True  # it adds and removes headers
    lone: bool = True  # the tenant has no program in the other bank, which this one's rows could name
    writes: list[Write] = field(default_factory=list)

    SIZE = 2  # log2 of buckets
    LEAF_SIZE = 4  # log2 of leaves
    ROWS = 8  # ternary rows, counters, and meters

    @property
    def bt(self) -> int:
        return 64 * self.bank + self.tenant

    @property
    def enable(self) -> Write:
        return (TENANT, 0, self.tenant, (1 | self.bank << 1 | self.stateful << 2,))

    def make(self) -> None:
        """All rows but those of entries and TENANT."""
        for depth in range(machine.DEPTHS):
            for state in range(8):
                row = self.state(depth) if state < STATES else (0, 0, 0, 10 << 6, *[0] * 8)
                self.writes.append((PARSER, depth, 8 * self.bt + state, row))
        self.writes.append((CHECK, 0, self.bt, self.edge(self.verdict())))
        edge = self.edge(self.rng.getrandbits(27) | self.rng.getrandbits(27))
        self.writes.append((EXIT, 0, self.bt, (*edge, *self.head(), *self.digest())))
        for stage in range(self.stages):
            self.writes.append((KEY, stage, self.bt, self.key()))
            base = 32 * self.part
            counters = pack((self.ROWS * self.part, 0), (self.rng.choice([1, 2, 3, 5]), 16))
            registers = pack((base, 0), (self.rng.choice([1, 2, 3, 5]), 16))
            meters = pack((self.ROWS * self.part, 0), (self.rng.choice([1, 2, 3, 5]), 16))
            self.writes.append((SEGMENT, stage, self.bt, (registers, counters, meters)))
            self.writes += [(METER, stage, self.ROWS * self.part + n, self.meter()) for n in range(self.ROWS)]
            self.writes += [(COUNTER, stage, self.ROWS * self.part + n, (n, 0, M32 - n, n)) for n in range(self.ROWS)]
            self.writes += [(TERNARY, stage, self.ROWS * self.part + n, (0,) * 9) for n in range(self.ROWS)]
            self.writes += [(REGISTER, stage, base + n, (n,)) for n in range(32)]
            self.writes += [(ACTION, stage, 8 * self.bt + n, self.action()) for n in range(ACTIONS)]
            self.writes += [
                (WAY + way, stage, (self.part << self.SIZE) + n, (0,) * 9)
                for way in range(machine.WAYS)
                for n in range(1 << self.SIZE)
            ]
            self.routes(stage, [])

    def few(self) -> int:
        """A mask of few bits."""
        rng = self.rng
        return rng.choice([0, 3 << rng.randrange(30), 0xF << rng.randrange(28), 0xFF << rng.randrange(24), 0x00030003])

    def state(self, depth: int) -> tuple[int, ...]:
        rng = self.rng

        def goto() -> int:
            return rng.choice(
                [rng.randrange(STATES)] * 6 + [8] + ([8 + rng.randrange(8)] if rng.random() < 0.3 else [])
            )

        has_var = rng.random() < 0.4
        masks = [self.few() for _ in range(4)]
        first = rng.choice([0, 0, 16]) if depth == 0 else rng.choice([0, 4, 4, 8, rng.randrange(40)])
        return (
            pack(
                (rng.randrange(32), 0),
                (rng.choice([0, 1, 2, 3, 4, 5, 5, rng.randrange(12)]), 5),
                (rng.choice([0, 1, 1, 2, 4, 5, rng.randrange(16)]), 10),
                (has_var, 15),
                (rng.randrange(32), 16),
                (rng.choice([2, 10, 31]), 21),
                (rng.random() < 0.3, 26),
                (rng.random() < 0.7, 27),
            ),
            pack(
                (rng.choice([0, 0, 1, 2, 63, 62, rng.randrange(64)]), 0),
                (rng.randrange(32), 6),
                (rng.choice([1, 3, 3, 7, 15, 63]), 11),
                (rng.choice([0, 0, 1, 2]), 17),
                (rng.choice([9, 12, rng.randrange(STATES)]), 23),
            ),
            pack((rng.getrandbits(16) & rng.getrandbits(16), 0), (first, 16)),
            pack(
                (rng.choice([0, 0, 1, 2, 3, 63, rng.randrange(64)]), 0),
                (goto(), 6),
                *((goto(), 10 + 4 * case) for case in range(4)),
                (rng.randrange(16), 26),
            ),
            *masks,
            *(mask & rng.choice([0, 0x01010101, 0x02020202, 0x00010203, M32]) for mask in masks),
        )

    def edge(self, first: int) -> tuple[int, ...]:
        rng = self.rng
        half = rng.randrange(54)
        covers = rng.getrandbits(64) & rng.getrandbits(64) & ~(1 << half)
        return (first, covers & M32, covers >> 32, pack((rng.randrange(64), 0), (rng.randrange(4), 6), (half, 8)))

    def head(self) -> tuple[int, ...]:
        """The words of the new head: in some programs none, in some a few, in some nearly all."""
        rng = self.rng
        density = rng.choice([0, 0.15, 0.15, 0.5, 0.9]) if self.heads else 0
        by_place, by_flag = rng.choice([(0.9, 0.2), (0.5, 0.5), (0.1, 0.9)])
        words = [0] * 9
        for word in range(machine.EXTRACTED):
            if rng.random() < density:
                fields = pack(
                    (rng.randrange(64), 0),
                    (rng.random() < by_place, 6),
                    (rng.random() < by_flag, 7),
                    (rng.choice([1, 2, 3, 3, 3]), 8),
                )
                words[word // 3] |= fields << 10 * (word % 3)
        return tuple(words)

    def digest(self) -> tuple[int, int]:
        """The words of a record, of some programs; few of their frames ask for one."""
        rng = self.rng
        words = [rng.randrange(32) for _ in range(10)]
        mask = (1 << rng.randrange(12) | 1 << rng.randrange(12)) * (rng.random() < 0.4)
        first = pack(*((word, 5 * n) for n, word in enumerate(words[:6])))
        return first, pack(*((word, 5 * n) for n, word in enumerate(words[6:])), (mask, 20))

    def verdict(self) -> int:
        rng = self.rng
        return pack((rng.choice([0, 1, 5, 255, 256, 510, 511]), 0), (rng.choice([0, 0, 1, 1, 2, 3]), 16))

    def key(self) -> tuple[int, ...]:
        rng = self.rng
        gate = self.few() if rng.random() < 0.6 else 0
        kind = rng.choice([0, 1, 1, 2, 2, 3, 3])
        size = self.SIZE if kind == 1 else self.LEAF_SIZE
        base = self.part << size
        masks = [self.few() for _ in range(4)]
        if kind == 2:
            masks[0] = rng.choice([M32, 0xFFFF, 0xFF00FF])
        return (
            pack(
                (kind, 0),
                (rng.randrange(8), 2),
                (rng.randrange(8), 5),
                (rng.choice([30, 31, rng.randrange(32)]), 8),
                *((rng.choice([28, 31, rng.randrange(27)]), 13 + 5 * n) for n in range(3)),
            ),
            pack((rng.choice([28, 30, rng.randrange(27)]), 0), (base, 8), (size, 24)),
            gate,
            gate & rng.choice([0, 0, 0x01010101, rng.getrandbits(32)]),
            *masks,
            *(rng.getrandbits(32) for _ in range(4)),
        )

    def bits(self) -> int:
        return self.rng.choice([32, 16, 8, self.rng.randrange(1, 33)])

    def first(self) -> tuple[int, int, int]:
        rng = self.rng
        return rng.randrange(32), rng.choice([0, 0, 8, 16, rng.randrange(32)]), self.bits()

    def second(self) -> int:
        rng = self.rng
        return second(rng.choice([0, rng.randrange(1, 4), *[rng.randrange(16)] * 4]), rng.randrange(4), self.bits())

    def when(self) -> tuple[int, int]:
        return self.rng.choice([0, 0, 0, 1, 2, 3]), self.rng.randrange(64)

    def place(self, word: int) -> tuple[int, int, int]:
        rng = self.rng
        return word, rng.choice([0, 0, 16, rng.randrange(32)]), self.bits()

    def unit(self, number: int) -> tuple[int, int, int]:
        """A unit that writes a word of its own, or in few cases tries to write another one."""
        rng = self.rng
        own = [word for word in range(32) if number in machine.writers(word)]
        word = rng.randrange(32) if rng.random() < 0.1 else rng.choice([rng.choice(own)] * 6 + [27, 29, 30])
        if word == 29 and rng.random() < 0.8:  # not all frames shall be dropped
            return unit(2, (29, 0, 32), value=self.verdict(), when=self.when())
        op = rng.choice([rng.randrange(16), rng.randrange(16), 1, 2, 6, 0])
        immediate = rng.getrandbits(32) & self.few()
        return unit(op, self.place(word), self.first(), self.second(), immediate, self.when())

    def action(self) -> tuple[int, ...]:
        rng = self.rng
        row = [word for number in range(UNITS) for word in self.unit(number)]
        index = second(rng.choice([0, 3, *[rng.randrange(16)] * 6]), rng.choice([0, 1, 3]), rng.randrange(1, 5))
        op = rng.choice([*range(12), *[10] * 6])
        # Most meters take the frame's bytes, or a token.
        by_length, by_frame = second(3, 0, 16), 1 << 11
        some = self.second() | (rng.random() < 0.3) << 11
        x = rng.choice([by_length, by_length, by_frame]) if op == 10 and rng.random() < 0.8 else some
        goal = unit(op, self.place(rng.randrange(32)), when=self.when())[0]
        row += [
            goal | rng.getrandbits(2) << 27,
            index | x << 16,
            pack((rng.choice([0, 0, 1, 2, 3]), 0), (rng.choice([1, 2, 3, 8]), 16)),
            self.counting(),
            pack((rng.choice([0, 0, 1, 2, 3]), 0), (rng.choice([1, 2, 3, 8]), 16)),
        ]
        return tuple(row)

    def meter(self) -> tuple[int, ...]:
        """Rates of which some frames fit into the buckets and some do not: buckets have room for some frames or some
        bytes, and time brings a part of that. Some cells have no rates, and some buckets do not fill.
        """
        rng = self.rng
        words = []
        for _ in range(2):
            mantissa = rng.choice([1 << 16, rng.getrandbits(26), rng.getrandbits(26), rng.getrandbits(14)])
            mantissa *= rng.random() < 0.9
            words.append(
                pack((mantissa, 0), (rng.choice([0, 0, 1, 2, rng.randrange(32)]), 26), (rng.random() < 0.2, 31))
            )
        for pace in words[:2]:
            depth = ((pace & 0x3FFFFFF) << (pace >> 26 & 31)) * rng.choice([0, 1, 5, 60, 500, 2000]) % (1 << 64)
            words += [depth & M32, depth >> 32]
        return tuple(words)

    def counting(self) -> int:
        rng = self.rng
        index = second(rng.choice([0, 3, rng.randrange(16)]), rng.choice([0, 1, 3]), rng.randrange(1, 4))
        return index | pack((rng.random() < 0.7, 16), (rng.choice([0, 0, 1, 2, 3]), 17), (rng.randrange(64), 19))

    def lines(self, stage: int, keys: list[tuple[int, ...]]) -> None:
        """Ternary rows that some of these keys fit, and often several of them."""
        rng = self.rng
        for n in range(self.ROWS):
            masks = [rng.choice([0, M32, M32, rng.getrandbits(32)]) for _ in range(4)]
            values = [word & mask for word, mask in zip(rng.choice(keys), masks, strict=True)]
            if rng.random() < 0.1:
                values[0] ^= 1  # fits nothing if the mask lacks the bit
            owner = self.bt ^ rng.choice(
                [0] * 8 + [1, 64 * self.lone]
            )  # of some rows another tenant, or the other bank
            row = self.ROWS * self.part + n
            self.writes.append((TERNARY, stage, row, (pack((rng.random() < 0.9, 0), (owner, 1)), *values, *masks)))
            target = (rng.randrange(8), *(rng.getrandbits(32) for _ in range(4)))
            self.writes.append((TARGET, stage, row, target))

    def routes(self, stage: int, keys: list[int]) -> None:
        """A tree whose intervals begin near these keys."""
        rng = self.rng
        leaves = 1 << self.LEAF_SIZE
        inner = {min(M32, max(1, key + rng.choice([-1, 0, 1]))) for key in keys} if keys else set()
        starts = [0, *sorted(rng.sample(sorted(inner), min(len(inner), leaves - 2)))]
        starts += [M32] * (leaves - len(starts))
        base = self.part * leaves
        self.writes += [(LPM + level, stage, row, node) for level, row, node in nodes(starts, base)]
        last: tuple[int, ...] = (0,) * 5
        for n in range(leaves):
            if not n or starts[n] != starts[n - 1]:
                owner = self.tenant ^ (rng.random() < 0.1)
                head = pack((rng.random() < 0.8, 0), (owner, 1), (rng.randrange(8), 7))
                last = (head, *(rng.getrandbits(32) for _ in range(4)))
            self.writes.append((LEAF, stage, base + n, last))

    def learn(self, model: Machine) -> None:
        """Entries for what the model has searched for; the tenants of some are wrong."""
        rng = self.rng
        for stage in range(self.stages):
            searched = [each for each in model.searched if each.stage == stage]
            if not searched:
                continue
            keys = sorted({each.key for each in searched})
            if searched[0].kind == 2:
                self.routes(stage, sorted({key[0] for key in keys}))
                continue
            if searched[0].kind == 3:
                self.lines(stage, keys)
                continue
            for key in rng.sample(keys, min(len(keys), 6)):
                way = rng.randrange(machine.WAYS)
                bucket = model.buckets(self.part << self.SIZE, self.SIZE, key)[way]
                owner = self.tenant ^ (rng.random() < 0.1)
                head = pack((rng.random() < 0.95, 0), (owner, 1), (rng.randrange(8), 7))
                self.writes.append((WAY + way, stage, bucket, (head, *key, *(rng.getrandbits(32) for _ in range(4)))))


M32 = machine.M32


def random_frame(rng: random.Random, longest: int = 400) -> bytes:
    length = rng.choice([rng.randint(14, 40), rng.randint(14, 80), rng.randint(60, 140), rng.randint(14, longest)])
    return bytes(rng.choice([0, 1, 2, 3, rng.randrange(256)]) for _ in range(length))


def random_program(
    rng: random.Random,
    tenant: int,
    bank: int,
    stages: int,
    part: int,
    stateful: bool,
    port: int,
    heads: bool = True,
    lone: bool = True,
) -> Program:
    """A program with entries that frames of this port find."""
    program = Program(rng, tenant, bank, stages, part, stateful, heads, lone)
    program.make()
    for _ in range(2):
        model = Machine(stages)
        for write in [*program.writes, program.enable]:
            model.write(*write)
        for _ in range(60):
            model.carry(port, random_frame(rng), tenant, rng.getrandbits(32))
        program.learn(model)
    return program
