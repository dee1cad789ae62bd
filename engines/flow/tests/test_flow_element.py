# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The element in hardware against plain Python: random rows at full rate, programs as the compiler makes them against
the interpreter, changes under traffic, full tables, timeouts, rates; through the registers that the host sees.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from penstock import regs
from penstock.cargo import example
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from efsm import Frame
from flow_edit import FIRST, Edit
from flow_element import (
    CONDITION,
    CONDITIONS,
    FULL,
    FULL_FUNCTIONS,
    FUNCTION,
    FUNCTIONS,
    GLOBALS,
    HALF_CHOICES,
    HALVES,
    OPERAND_CHOICES,
    OPERANDS,
    PARTS,
    PERIODS,
    PREDICATE,
    PREDICATES,
    REGISTERS,
    ROWS,
    SIDES,
    WORDS,
    Condition,
    Context,
    Element,
    Event,
    Function,
    Key,
    Outcome,
    Period,
    Predicate,
    Program,
    Row,
    Source,
    operands_of,
)
from flow_random import Traffic
from flow_vector import BESIDE, NO_ELEMENT, SIZES, Vector, of_frame
from flow_words import Given, Play, accepted, left, play, programs, values_of, words

ENTRIES = 64
ROOM = ENTRIES * 97 // 100
LATENCY = 8
WALK = 130 * ENTRIES  # cycles in which the walker has been everywhere
READ, FIND, PUT, DELETE = range(4)
KINDS = ("expired", "evicted", "new", "full", "notified")
COMMIT, CLEAR, BEGIN_G, SWEEP = 1, 2, 4, 8
WAYS, STASH = 4, 16
FIRST_COUNT = (1 << 32) - 20  # counters begin near the end of their low word
SPREAD = 5  # bits of a key's hash that are in no place

# Words that rows of random programs read; all of them are in the frame.
KEY_FIELD = "data.7"
X_FIELDS = ("tcp.seq", "meta1", "ip.src", "data.0", "tcp.ack", "data.1", "ip.dst", "hash")
# The places where these rows write the new registers.
R_FIELDS = ("ip.src", "ip.dst", "tcp.seq", "tcp.ack")
G_FIELDS = ("meta1", "data.0", "data.1", "data.2")
ETH = PARTS.index("eth")


def number_of(name: str) -> int:
    """The number of a field's lowest word."""
    return next(number for number, of in enumerate(WORDS) if (name, 0) in of)


# A frame without Ethernet has no key. Real frames always have Ethernet, but tests make some without.
HALVES_OF_KEY = [HALF_CHOICES[half].index((number_of(KEY_FIELD), half)) for half in range(2)]
KEY = Key(parts=1 << ETH, halves=HALVES_OF_KEY + [0] * (HALVES - 2))
OPERANDS_OF_ROWS = [OPERAND_CHOICES[at].index((number_of(name), 0)) for at, name in enumerate(X_FIELDS)]


class Bench:
    """An element, its host, and the frames that are offered to it."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.outputs: list[Vector] = []
        self.writes: list[tuple[int, int]] = []  # of the host, that are to be made, one a cycle
        self.cycle = 0

    async def start(self) -> None:
        dut = self.dut
        for name in ("now", "valid", "in", "host_we", "host_re", "host_addr", "host_wdata"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        for _ in range(3):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        words_ = [self.rng.getrandbits(32) for _ in range(14)]
        self.write(regs.FLOW_HOST_SECRET, *words_, apart=0)
        await self.settle()
        self.way_bits = (await self.read(regs.FLOW_HOST_SHAPE))[0] % 256 - 2
        # The last words stay.
        count = (320 + 2 * self.way_bits + SPREAD + 31) // 32
        self.secret = sum(word << 32 * at for at, word in enumerate(words_[-count:]))

    async def step(self, cycles: int = 1) -> bool:
        """Cycles; whether the frame was taken in the first."""
        dut = self.dut
        taken = False
        for index in range(cycles):
            dut.host_we.value = int(bool(self.writes))
            if self.writes:
                dut.host_addr.value, dut.host_wdata.value = self.writes.pop(0)
            await Timer(1, "ps")
            if index == 0:
                taken = bool(dut.valid.value) and bool(dut.ready.value)
            if dut.out_valid.value:
                self.outputs.append(Vector.unpack(int(dut.out.value)))
            self.cycle += 1
            await FallingEdge(dut.clk)
        return taken

    # ---- the host
    def write(self, register: int, *values: int, apart: int = 4) -> None:
        self.writes += [(register + apart * at, value) for at, value in enumerate(values)]

    async def read(self, register: int, count: int = 1) -> list[int]:
        while self.writes:
            await self.step()
        found = []
        for at in range(count + 2):
            if at >= 2:
                found.append(int(self.dut.host_rdata.value))
            self.dut.host_addr.value = register + 4 * min(at, count - 1)
            await self.step()
        return found

    async def counts(self, register: int, count: int = 1) -> list[int]:
        """Counters of 64 bits, without the number with which they begin."""
        while self.writes:
            await self.step()
        found = []
        for at in range(count):
            self.dut.host_addr.value = register + 4 * at
            self.dut.host_re.value = 1
            await self.step()
            self.dut.host_re.value = 0
            await self.step(3)
            low = int(self.dut.host_rdata.value)
            [high] = await self.read(regs.FLOW_HOST_COUNT_H)
            found.append((low | high << 32) - FIRST_COUNT)
        return found

    async def status(self, bit: int) -> bool:
        return bool((await self.read(regs.FLOW_HOST_STATUS))[0] >> bit & 1)

    async def settle(self) -> None:
        """Until nothing is on its way."""
        self.dut.valid.value = 0
        await self.step(len(self.writes) + 40)
        while await self.status(1):
            await self.step(10)

    def load(self, program: Sequence[int], change: int = COMMIT | CLEAR | BEGIN_G) -> None:
        """Another program from the next steps on; without contexts, unless the change keeps them."""
        self.write(regs.FLOW_HOST_BEGIN, 0)
        for word in program:
            self.write(regs.FLOW_HOST_PROGRAM, word)
        self.write(regs.FLOW_HOST_CHANGE, change)

    async def run(self, program: Program | Sequence[int]) -> None:
        self.load(program if isinstance(program, list) else list(program.words(await self.program_words())))
        await self.settle()
        while await self.events():
            pass
        self.outputs.clear()

    async def program_words(self) -> int:
        return (await self.read(regs.FLOW_HOST_SHAPE))[0] >> 16

    async def ask(self, command: int, key: int, context: Context | None = None, place: int = 0) -> Context | None:
        """An operation on a key: the context that is found, or given."""
        self.write(regs.FLOW_HOST_PLACE, place)
        self.write(regs.FLOW_HOST_KEY, *(key >> 32 * at & 0xFFFFFFFF for at in range(10)))
        if context is not None:
            deadlines = (context.hard, context.idle)
            self.write(regs.FLOW_HOST_STATE, context.state)
            self.write(regs.FLOW_HOST_REGISTERS, *context.r)
            self.write(regs.FLOW_HOST_TIMEOUT, *(int(bool(one)) | (one[0] if one else 0) << 1 for one in deadlines))
            self.write(regs.FLOW_HOST_DEADLINE, *(one[1] if one else 0 for one in deadlines))
        self.write(regs.FLOW_HOST_COMMAND, command)
        while self.writes:
            await self.step()
        await self.step(3)
        for _ in range(1000):
            [status] = await self.read(regs.FLOW_HOST_STATUS)
            if not status >> 2 & 1:
                break
        else:
            raise AssertionError("no answer")
        if not status >> 3 & 1:
            return None
        state, *r = await self.read(regs.FLOW_HOST_STATE, 1 + REGISTERS)
        [*timeouts] = await self.read(regs.FLOW_HOST_TIMEOUT, 2)
        deadlines = await self.read(regs.FLOW_HOST_DEADLINE, 2)
        hard, idle = ((one >> 1, at) if one & 1 else None for one, at in zip(timeouts, deadlines, strict=True))
        return Context(state, r, hard, idle)

    async def events(self) -> list[Event]:
        """The events of the oldest frame that has any."""
        [kinds] = await self.read(regs.FLOW_HOST_EVENT)
        if not kinds:
            return []
        flow = await self.read(regs.FLOW_HOST_EVENT_FLOW, 15)
        gone = await self.read(regs.FLOW_HOST_EVENT_GONE, 15)
        self.write(regs.FLOW_HOST_EVENT, 0)
        await self.step(6)
        found = []
        for at, kind in enumerate(KINDS):
            if kinds >> at & 1:
                words_ = gone if at < 2 else flow
                key = sum(word << 32 * index for index, word in enumerate(words_[:10]))
                found.append(Event(kind, key, words_[10], tuple(words_[11:])))
        return found

    async def all_events(self) -> list[Event]:
        events: list[Event] = []
        while some := await self.events():
            events += some
        return events

    # ---- frames
    async def frame(self, vector: Vector) -> None:
        dut = self.dut
        dut.valid.value = 1
        getattr(dut, "in").value = vector.pack()
        for _ in range(10_000):
            if await self.step():
                break
        else:
            raise AssertionError("a frame waits for ever")
        dut.valid.value = 0

    async def at(self, now: int) -> None:
        self.dut.now.value = now
        await self.step()

    # ---- where contexts lie
    def places(self, key: int) -> list[int]:
        """The places of a key, by way."""
        bits = 2 * self.way_bits
        sums = [(key & self.secret >> n).bit_count() & 1 for n in range(bits + SPREAD)]
        spread = [sums[n] ^ sums[n + 1] & sums[n + 2] ^ sums[n + 3] & sums[n + 5] for n in range(bits)]
        first, second = (sum(bit << at for at, bit in enumerate(spread[way::2])) for way in range(2))

        def turned(place: int, by: int) -> int:
            return (place << by | place >> self.way_bits - by) & (1 << self.way_bits) - 1

        return [
            first,
            second,
            first ^ turned(second, self.way_bits // 2),
            turned(first, self.way_bits // 3) ^ turned(second, 1),
        ]

    def colliding(self, count: int) -> list[int]:
        """Keys of 32 bits with the same sums, and so the same places: with the secret one can solve the equations."""
        solved: dict[int, int] = {}  # by highest bit of the sums
        same = []
        for at in range(32):
            n = range(2 * self.way_bits + SPREAD)
            sums = sum((self.secret >> bit >> at & 1) << bit for bit in n)
            key = 1 << at
            while sums and (top := sums.bit_length()) in solved:
                other, of = divmod(solved[top], 1 << 32)
                sums, key = sums ^ other, key ^ of
            if sums:
                solved[sums.bit_length()] = sums << 32 | key
            else:
                same.append(key)
        base, keys = self.rng.getrandbits(32), []
        for number in range(count):
            keys.append(base)
            for at, key in enumerate(same):
                base ^= key if number + 1 & ~number == 1 << at else 0
        assert len({tuple(self.places(key)) for key in keys}) == 1 and len({*keys}) == count
        return keys

    async def check_contexts(self, contexts: dict[int, Context], keys: Sequence[int] = ()) -> None:
        assert await self.read(regs.FLOW_HOST_CONTEXTS) == [len(contexts)]
        for key in {*keys, *contexts}:
            assert await self.ask(FIND, key) == contexts.get(key), hex(key)


# ---- random rows


def random_vector(rng: random.Random, key: int | None, x: Sequence[int], parts: set[str], next_: int = 0) -> Vector:
    """A frame that has this key and these operands."""
    layers = {name: rng.randbytes(size) for name, size in SIZES.items()}
    beside = {name: rng.getrandbits(width) for name, width in BESIDE.items()}
    own = parts - {"eth"} | ({"eth"} if key is not None else set()) | ({"vlan"} if "vlan2" in parts else set())
    vector = Vector(own, layers, rng.getrandbits(16), beside, "onward", 0, next_)
    vector.set(KEY_FIELD, 0, key or 0)
    for name, value in zip(X_FIELDS, x, strict=True):
        vector.set(name, 0, value)
    return vector


def telling(number: int) -> int:
    """Edits that show that this row was taken, and the new registers."""
    writes = [(FIRST[name], ("flow", at)) for at, name in enumerate(R_FIELDS)]
    writes += [(FIRST[name], ("global", at)) for at, name in enumerate(G_FIELDS)]
    return Edit(writes=writes, verdict="port", port=("constant", number)).bits()


def told(before: Vector, outcome: Outcome) -> Vector:
    """The frame after such a row."""
    after = Vector.unpack(before.pack())
    if outcome.row is None or outcome.r is None:
        after.next += 1
        return after
    for name, value in zip(R_FIELDS, outcome.r, strict=True):
        after.set(name, 0, value)
    for name, value in zip(G_FIELDS, outcome.g, strict=False):
        after.set(name, 0, value)
    after.verdict, after.verdict_port, after.next = "port", outcome.row, NO_ELEMENT
    return after


def random_source(rng: random.Random, upper: int | None = None) -> Source:
    """One of all, or of those that a side of a function reads."""
    of = rng.choice(["r", "r", "g", "x", "constant"])
    if upper is not None and of in {"g", "x"}:
        return Source(of, 4 * upper + rng.randrange(4))
    return Source(
        of, {"r": rng.randrange(REGISTERS), "g": rng.randrange(GLOBALS), "x": rng.randrange(OPERANDS)}.get(of, 0)
    )


def random_word(rng: random.Random) -> int:
    return rng.choice(
        [rng.randrange(4), rng.randrange(16), rng.getrandbits(32), (1 << 32) - 1 - rng.randrange(3), 1 << 31]
    )


def random_program(rng: random.Random, capacity: int, globals_: bool, evict: str | None = None) -> Program:
    def mask(count: int, most: int) -> int:
        return sum({1 << rng.randrange(count) for _ in range(rng.randrange(most + 1))})

    def row() -> Row:
        true_p, true_c, has = mask(PREDICATES, 1), mask(CONDITIONS, 1), mask(len(PARTS), 1)
        named = rng.random() < 0.6
        functions = lambda count: {rng.randrange(count): rng.randrange(16) for _ in range(rng.randrange(3))}  # noqa: E731
        return Row(
            state=rng.choice([None, rng.randrange(4), rng.randrange(4)]),
            true_p=true_p,
            false_p=mask(PREDICATES, 1) & ~true_p,
            has=has,
            lacks=mask(len(PARTS), 1) & ~has if rng.random() < 0.3 else 0,
            true_c=true_c,
            false_c=mask(CONDITIONS, 1) & ~true_c,
            new=rng.choice([None] * 8 + [True, False]),
            full=rng.choice([None] * 8 + [True, False]),
            r=functions(REGISTERS),
            g=functions(GLOBALS) if globals_ else {},
            goto=rng.randrange(4) if named else None,
            keep=not named and rng.random() < 0.3,
            hard=rng.choice([None] * 4 + [rng.randrange(PERIODS)]) if named else None,
            idle=rng.choice([None] * 4 + [rng.randrange(PERIODS)]) if named else None,
            forget=rng.random() < 0.1,
            notify=rng.random() < 0.1,
        )

    rows = [row() for _ in range(rng.choice([3, 12, ROWS]))]
    return Program(
        capacity=capacity,
        keyed=rng.random() < 0.95,
        evict=evict,
        # Few contexts that all compete for the same places.
        places=0 if capacity <= 4 else (1 << 18) - 1,
        key=KEY,
        operands=OPERANDS_OF_ROWS,
        initial=[random_word(rng) for _ in range(REGISTERS)],
        initial_g=[random_word(rng) for _ in range(GLOBALS)],
        periods=[Period(rng.randrange(1, 50), rng.choice([None, rng.randrange(4)])) for _ in range(PERIODS)],
        predicates=[
            Predicate(
                rng.randrange(OPERANDS),
                rng.choice([0xFFFFFFFF, 7, 0xFF]),
                rng.choice(list(PREDICATE)),
                random_word(rng),
            )
            for _ in range(PREDICATES)
        ],
        conditions=[
            Condition(rng.choice(list(CONDITION)), random_source(rng), random_source(rng), random_word(rng))
            for _ in range(CONDITIONS)
        ],
        functions=[
            Function(
                rng.choice([op for op in FUNCTION if op not in FULL or at < FULL_FUNCTIONS]),
                *(random_source(rng, None if at < FULL_FUNCTIONS else at >> side & 1) for side in range(2)),
                rng.randrange(32),
                random_word(rng),
            )
            for at in range(FUNCTIONS)
        ],
        rows=rows,
        edits=[telling(number) for number in range(len(rows))],
    )


def same(of: str, found: Sequence, wanted: Sequence) -> None:
    if list(found) != list(wanted):
        pairs = enumerate(zip_longest(found, wanted))
        first, (got, want) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
        raise AssertionError(f"{of} {first} of {len(wanted)}: {got} instead of {want}")


async def traffic(
    bench: Bench, keys: Sequence[int], count: int, pause: float
) -> list[tuple[Vector, int | None, list[int]]]:
    """Random frames at full rate, some of them another element's; with their keys and operands."""
    rng = bench.rng
    sent = []
    for _ in range(count):
        key = None if rng.random() < 0.02 else rng.choice(keys[: rng.choice([1, 2, 4, len(keys)])])
        x = [random_word(rng) for _ in range(OPERANDS)]
        parts = set(rng.choice([[], [part for part in PARTS if rng.random() < 0.5], PARTS]))
        vector = random_vector(rng, key, x, parts, 0 if rng.random() < 0.9 else rng.randrange(1, 15))
        while rng.random() < pause:
            await bench.step()
        await bench.frame(vector)
        sent.append((vector, key, x))
    return sent


def expected(
    model: Element,
    sent: Sequence[tuple[Vector, int | None, list[int]]],
    changes: tuple[int, Program] | None = None,
) -> tuple[list[Vector], list[Event], list[Outcome]]:
    """The outcomes of frames when the program changes at one of them."""
    wanted, events, outcomes = [], [], []
    for number, (vector, key, x) in enumerate(sent):
        if changes and number == changes[0]:
            model.program = changes[1]
        if vector.next != 0:
            wanted.append(vector)
            continue
        outcome = model.frame(key, x, vector.bits_of_parts())
        wanted.append(told(vector, outcome))
        events += outcome.events
        outcomes.append(outcome)
    return wanted, events, outcomes


async def check_counters(
    bench: Bench, model: Element, outcomes: Sequence[Outcome], keyless: int, before: list[int]
) -> None:
    fitted = [outcome.row for outcome in outcomes if outcome.row is not None]
    events = [event.kind for outcome in outcomes for event in outcome.events]
    keyless = keyless if model.program.keyed else 0
    wanted = [
        len(outcomes),
        keyless,
        len(outcomes) - len(fitted) - keyless,
        sum(outcome.unkept for outcome in outcomes),
        events.count("expired"),
        events.count("evicted"),
    ]
    counts = await bench.counts(regs.FLOW_HOST_FRAMES, 6)
    assert [new - old for new, old in zip(counts, before, strict=True)] == wanted
    assert await bench.counts(regs.FLOW_HOST_ROWS, ROWS) == [fitted.count(row) for row in range(ROWS)]


async def random_rounds(bench: Bench, rounds: int, evict: bool) -> int:
    """Rounds of random rows; how often a context gave way."""
    rng = bench.rng
    evicted = 0
    for _ in range(rounds):
        capacity = rng.choice([1, 2, 3, 4] if evict else [0, 3, 20, 1000])
        kind = rng.choice(["lowest", "highest"]) if evict else None
        program = random_program(rng, capacity, rng.random() < 0.3, kind)
        await bench.run(program)
        model = Element(program)
        model.now = rng.getrandbits(32)
        await bench.at(model.now)
        keys = [rng.getrandbits(32) for _ in range(40)]
        before = await bench.counts(regs.FLOW_HOST_FRAMES, 6)
        sent = await traffic(bench, keys, 150, rng.choice([0.0, 0.0, 0.5]))
        await bench.settle()
        events = await bench.all_events()
        model.gone = [event.key for event in events if event.kind == "evicted"]
        evicted += len(model.gone)
        wanted, wanted_events, outcomes = expected(model, sent)
        same("frame", bench.outputs, wanted)
        same("event", events, wanted_events)
        keyless = sum(key is None and vector.next == 0 for vector, key, _ in sent)
        await check_counters(bench, model, outcomes, keyless, before)
        await bench.check_contexts(model.contexts, keys)
        assert await bench.read(regs.FLOW_HOST_GLOBALS, GLOBALS) == model.g
    return evicted


@cocotb.test()
async def random_rows(dut: Any) -> None:
    """All features of rows, at full rate and with pauses."""
    bench = Bench(dut, 1)
    await bench.start()
    await random_rounds(bench, 25, evict=False)


@cocotb.test()
async def contexts_give_way(dut: Any) -> None:
    """In tables of up to four contexts the lowest or highest of all does."""
    bench = Bench(dut, 2)
    await bench.start()
    assert await random_rounds(bench, 15, evict=True) > 100


@cocotb.test()
async def programs_change(dut: Any) -> None:
    """Under traffic: each frame is taken by all of the old program or all of the new one, and those behind it by the
    new one; contexts and globals stay.
    """
    bench = Bench(dut, 3)
    await bench.start()
    rng = bench.rng
    for _ in range(6):
        old = replace(random_program(rng, 1000, rng.random() < 0.5), keyed=True)
        new = replace(random_program(rng, 1000, rng.random() < 0.5), keyed=True, initial=old.initial)
        await bench.run(old)
        keys = [rng.getrandbits(32) for _ in range(8)]
        bench.load(list(new.words(await bench.program_words())), COMMIT)
        while len(bench.writes) > 40:
            await bench.step()
        # The change happens when all words have arrived, in the middle of these frames.
        sent = await traffic(bench, keys, 150, 0.0)
        await bench.settle()
        events = await bench.all_events()
        # The place of the change is not known, but it can be at one frame only.
        for at in range(len(sent)):
            model = Element(old)
            wanted, wanted_events, _ = expected(model, sent, (at, new))
            if wanted == bench.outputs and events == wanted_events:
                break
        else:
            raise AssertionError("some frame saw half of a program")
        assert at < 120
        await bench.check_contexts(model.contexts, keys)
        assert await bench.read(regs.FLOW_HOST_GLOBALS, GLOBALS) == model.g


@cocotb.test()
async def half_a_program(dut: Any) -> None:
    """A program that was not loaded completely is not committed, and the next one begins anew."""
    bench = Bench(dut, 4)
    await bench.start()
    await bench.run(COUNTING)
    count = await bench.program_words()
    dropping = replace(COUNTING, edits=[Edit(verdict="drop").bits()])
    some = list(dropping.words(count))
    bench.load(some[:-1])
    await bench.settle()
    assert not await bench.status(0)
    for given, verdict in ((None, "port"), (some, "drop")):
        if given:
            bench.load(given, 0)
            await bench.settle()
            assert await bench.status(0)
            bench.write(regs.FLOW_HOST_CHANGE, COMMIT)
            await bench.settle()
        bench.outputs.clear()
        await bench.frame(random_vector(bench.rng, 7, [0] * OPERANDS, set()))
        await bench.settle()
        assert [one.verdict for one in bench.outputs] == [verdict]


@cocotb.test()
async def nothing_loaded(dut: Any) -> None:
    """Behind a reset no row fits, whatever the registers of the program hold."""
    bench = Bench(dut, 5)
    await bench.start()
    await bench.run(COUNTING)
    dut.rst.value = 1
    await bench.step(3)
    dut.rst.value = 0
    await bench.settle()
    bench.outputs.clear()
    vector = random_vector(bench.rng, 7, [0] * OPERANDS, set(PARTS))
    await bench.frame(vector)
    await bench.settle()
    vector.next += 1
    assert bench.outputs == [vector]


@cocotb.test()
async def events_are_lost(dut: Any) -> None:
    """No frame waits for the queue of events, and events without room are counted."""
    bench = Bench(dut, 6)
    await bench.start()
    rows = [Row(r={0: 0}, notify=True, forget=True)]
    await bench.run(replace(COUNTING, rows=rows))
    count = 700
    begin = bench.cycle
    for number in range(count):
        await bench.frame(random_vector(bench.rng, number, [0] * OPERANDS, set()))
    assert bench.cycle - begin < 1.1 * count
    await bench.settle()
    events = await bench.all_events()
    assert 512 <= len(events) < 520 and [event.key for event in events] == list(range(len(events)))
    assert await bench.counts(regs.FLOW_HOST_EVENTS_LOST) == [count - len(events)]


@cocotb.test()
async def only_what_is_asked_for(dut: Any) -> None:
    """Events of kinds that the host does not want take up no room and are not lost."""
    bench = Bench(dut, 7)
    await bench.start()
    await bench.run(replace(COUNTING, rows=[Row(r={0: 0}, notify=True)]))
    kinds = ((16, ["notified"]), (4, ["new"]), (0, []), (31, ["new", "notified"]))
    for number, (asked, told) in enumerate(kinds):
        bench.write(regs.FLOW_HOST_TELL, asked)
        assert await bench.read(regs.FLOW_HOST_TELL) == [asked]
        await bench.frame(random_vector(bench.rng, number, [0] * OPERANDS, set()))
        await bench.settle()
        assert [event.kind for event in await bench.all_events()] == told
    assert await bench.counts(regs.FLOW_HOST_EVENTS_LOST) == [0]


# A flow's first register counts its frames; the second function is never chosen.
COUNTING = Program(
    capacity=1 << 20,
    key=KEY,
    operands=OPERANDS_OF_ROWS,
    functions=[Function("add", Source("r", 0), Source(), value=1)],
    rows=[Row(r={0: 0})],
    edits=[telling(0)],
)


@cocotb.test()
async def rates(dut: Any) -> None:
    """A frame each cycle of different flows, one each second cycle of one flow or with globals; eight cycles from in to
    out.
    """
    bench = Bench(dut, 7)
    await bench.start()
    keys = [bench.rng.getrandbits(32) for _ in range(8)]
    together = replace(COUNTING, rows=[Row(r={0: 0}, g={0: 0})])
    evicting = replace(COUNTING, evict="lowest")
    for program, of, cycles in (
        (COUNTING, keys, 1.0),
        (COUNTING, keys[:1], 2.0),
        (COUNTING, keys[:2], 1.0),
        (evicting, keys[:1], 2.0),
        (together, keys, 2.0),
    ):
        await bench.run(program)
        for key in of:
            # None of them is new, so none goes to the stash.
            await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
            await bench.step(40)
        begin = bench.cycle
        count = 300
        vectors = [random_vector(bench.rng, key, [0] * OPERANDS, set()) for key in of]
        for number in range(count):
            await bench.frame(vectors[number % len(of)])
        # The walker takes a cycle of 128, and a frame that shares a place with it waits for five.
        assert cycles * (count - 2) <= bench.cycle - begin <= cycles * count * 1.08
        await bench.settle()
        assert len(bench.outputs) == count + len(of)
    begin = bench.cycle
    bench.outputs.clear()
    await bench.frame(vectors[0])
    while not bench.outputs:
        await bench.step()
    assert bench.cycle - begin == LATENCY + 1  # and the one in which it is seen


@cocotb.test()
async def the_walker_gives_way(dut: Any) -> None:
    """Frames without contexts, which share no place with it, always take eight cycles; and the walker visits its places
    even if there is a frame in each cycle.
    """
    bench = Bench(dut, 18)
    await bench.start()
    rows = [Row(true_p=1, r={0: 0}, keep=True, hard=0), Row()]
    program = replace(COUNTING, predicates=[Predicate(0, value=1)], periods=[Period(10)], rows=rows)
    await bench.run(replace(program, edits=[telling(0), telling(0)]))
    keyless = random_vector(bench.rng, None, [0] * OPERANDS, set())
    # Nine cycles apart, so there is one in each of the 128 cycles between two visits of the walker.
    for _ in range(128):
        bench.outputs.clear()
        begin = bench.cycle
        await bench.frame(keyless)
        while not bench.outputs:
            await bench.step()
        assert bench.cycle - begin == 1 + LATENCY
    key = 5
    await bench.frame(random_vector(bench.rng, key, [1] * OPERANDS, set()))
    await bench.settle()
    assert [event.kind for event in await bench.all_events()] == ["new"]
    await bench.at(500)
    other = random_vector(bench.rng, 6, [0] * OPERANDS, set())
    for _ in range(WALK):
        await bench.frame(keyless if bench.cycle % 2 else other)
    await bench.settle()
    assert [(event.kind, event.key) for event in await bench.all_events()] == [("expired", key)]


@cocotb.test()
async def fills_up(dut: Any) -> None:
    """New flows at full rate until the table is full: each finds its place, and none is lost or there twice."""
    bench = Bench(dut, 8)
    await bench.start()
    entries = 1 << (await bench.read(regs.FLOW_HOST_SHAPE))[0] % 256
    room = entries * 97 // 100
    # The program has more than there is room for.
    await bench.run(replace(COUNTING, capacity=entries))
    # Flows that arrive together compete for places most often when many places are empty; when few are, flows return
    # while their contexts move.
    for flows, returns in [(ROOM // 2, 0)] * 8 + [(ROOM, 4)] * 4:
        model = Element(COUNTING)
        for new in [bench.rng.getrandbits(32) for _ in range(flows)]:
            for key in (new, *bench.rng.choices([new, *model.contexts], k=returns)):
                await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
                model.frame(key, [0] * OPERANDS, 0)
        await bench.settle()
        await bench.check_contexts(model.contexts)
        bench.write(regs.FLOW_HOST_CHANGE, CLEAR)
        await bench.settle()
    model = Element(replace(COUNTING, capacity=room))
    keys = list({bench.rng.getrandbits(32) for _ in range(room + 50)})
    unkept = 0
    for key in keys:
        await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
        unkept += model.frame(key, [0] * OPERANDS, 0).unkept
    await bench.settle()
    await bench.step(2000)
    [stash], [moves] = await bench.read(regs.FLOW_HOST_STASH), await bench.read(regs.FLOW_HOST_MOVED)
    dut._log.info("%d contexts in %d places: %d moves, %d in the stash at most", room, entries, moves, stash >> 8)
    assert await bench.counts(regs.FLOW_HOST_UNKEPT) == [unkept] == [len(keys) - room]
    assert await bench.status(4)
    await bench.check_contexts(model.contexts, keys)
    # Half of them leave, and others arrive.
    for key in keys[: room // 2]:
        assert await bench.ask(DELETE, key) is not None
        del model.contexts[key]
        assert await bench.ask(DELETE, key) is None
    for _ in range(room // 4):
        key = bench.rng.getrandbits(32)
        keys.append(key)
        given = Context(3, [1, 2, 3, 4], (2, 9), None)
        assert await bench.ask(PUT, key, given) == given
        model.contexts[key] = Context(3, [1, 2, 3, 4], (2, 9), None)
    await bench.check_contexts(model.contexts, keys)
    # Each of them is at one place. Nothing moves when the stash is empty.
    assert (await bench.read(regs.FLOW_HOST_STASH))[0] % 256 == 0
    places = [way << 20 | at for way in range(4) for at in range(entries // 4)]
    places += [1 << 31 | slot << 20 for slot in range(16)]
    found = {}
    for place in places:
        context = await bench.ask(READ, 0, place=place)
        if context is not None:
            found[sum(word << 32 * at for at, word in enumerate(await bench.read(regs.FLOW_HOST_KEY, 10)))] = context
    assert found == model.contexts
    bench.write(regs.FLOW_HOST_CHANGE, CLEAR)
    await bench.settle()
    await bench.check_contexts({}, keys[:5])


@cocotb.test()
async def a_flood(dut: Any) -> None:
    """New flows at full rate in a table in which others give way: no frame waits for ever, and the table has about as
    many contexts as it is to have.
    """
    bench = Bench(dut, 9)
    await bench.start()
    await bench.run(replace(COUNTING, capacity=40, evict="lowest"))
    for _ in range(1500):
        await bench.frame(random_vector(bench.rng, bench.rng.getrandbits(32), [0] * OPERANDS, set()))
    await bench.settle()
    [contexts], [evicted] = await bench.read(regs.FLOW_HOST_CONTEXTS), await bench.counts(regs.FLOW_HOST_EVICTED)
    assert 40 <= contexts <= ROOM
    assert evicted == 1500 - contexts


@cocotb.test()
async def keys_count_up(dut: Any) -> None:
    """Addresses of a range, under a secret by which sums alone would reach 24 of 64 places: all find room, at full
    rate.
    """
    bench = Bench(dut, 227)
    await bench.start()
    await bench.run(COUNTING)
    begin = bench.cycle
    for key in range(ROOM):
        await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
    assert bench.cycle - begin < 4000
    await bench.settle()
    assert await bench.read(regs.FLOW_HOST_CONTEXTS) + await bench.counts(regs.FLOW_HOST_UNKEPT) == [ROOM, 0]


@cocotb.test()
async def keys_collide(dut: Any) -> None:
    """Flows that all share their places, which need the secret, block other frames only briefly: those that find no
    slot are not kept, as in a full table, or take the places of each other. Frames of other flows, and the host, go on.
    """
    bench = Bench(dut, 14)
    await bench.start()
    keys = bench.colliding(60)
    others = [bench.rng.getrandbits(32) for _ in range(20)]
    counts_full = replace(COUNTING, rows=[Row(new=True, full=True), *COUNTING.rows], edits=[telling(0), telling(1)])
    for program in (COUNTING, counts_full, replace(COUNTING, evict="lowest")):
        before = await bench.counts(regs.FLOW_HOST_FRAMES, 6)
        await bench.run(program)
        begin = bench.cycle
        for key in keys:
            await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
            await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set(), 1))
        # Patience, with the additions of entries of the stash that find a place, which are few.
        assert bench.cycle - begin < 6000
        # Then nearly nothing is held up; where others give way, a frame waits for those ahead that share a place with
        # it, up to five cycles.
        begin = bench.cycle
        for number in range(400):
            await bench.frame(random_vector(bench.rng, others[number % 20], [0] * OPERANDS, set()))
        assert bench.cycle - begin < (6 if program.evict else 2) * 400
        await bench.settle()
        new, old = await bench.counts(regs.FLOW_HOST_FRAMES, 6), before
        unkept, evicted = (new[at] - old[at] for at in (3, 5))
        [contexts] = await bench.read(regs.FLOW_HOST_CONTEXTS)
        there = [await bench.ask(FIND, key) is not None for key in (*keys, *others)]
        assert sum(there) == contexts
        # Four places, and slots of the stash.
        kept = sum(there[: len(keys)])
        if program.evict:
            assert unkept == 0 and evicted == len(keys) + len(others) - contexts and all(there[len(keys) :])
        else:
            assert WAYS + 8 <= kept <= WAYS + STASH and evicted == 0
            refused = (await bench.counts(regs.FLOW_HOST_ROWS))[0] if len(program.rows) > 1 else unkept
            assert refused >= len(keys) - kept and (len(program.rows) == 1 or unkept == 0)
        # The host can make room for the next context.
        for key, is_there in zip(keys, there, strict=False):
            assert (await bench.ask(DELETE, key) is not None) == is_there
        assert await bench.ask(PUT, keys[-1], Context(3, [1, 2, 3, 4])) is not None


@cocotb.test()
async def others_give_way(dut: Any) -> None:
    """In a larger table, the context with the lowest or highest register in the new one's places gives way. If the
    places have no contexts, the new one is added all the same.
    """
    bench = Bench(dut, 15)
    await bench.start()
    rng = bench.rng
    capacity, evicted, added = 30, 0, 0
    for evict in ("lowest", "highest"):
        functions = [Function("copy", Source("x", 0))]
        await bench.run(replace(COUNTING, capacity=capacity, evict=evict, functions=functions))
        for number in range(capacity + 30):
            key, value = rng.getrandbits(32), rng.randrange(1000)
            while (await bench.read(regs.FLOW_HOST_STASH))[0] % 256:
                await bench.step(20)
            rivals = []
            for way, at in enumerate(bench.places(key)):
                context = await bench.ask(READ, 0, place=way << 20 | at) if number >= capacity else None
                if context is not None:
                    words_ = await bench.read(regs.FLOW_HOST_KEY, 10)
                    rivals.append((context.r[0], sum(word << 32 * at for at, word in enumerate(words_))))
            await bench.frame(random_vector(rng, key, [value] * OPERANDS, set()))
            await bench.settle()
            events = [(event.kind, event.key) for event in await bench.all_events()]
            gone = (min if evict == "lowest" else max)(rivals, key=lambda rival: rival[0], default=None)
            assert events == ([("evicted", gone[1])] if gone else []) + [("new", key)]
            evicted += bool(gone)
            added += not gone and number >= capacity
    assert evicted > 40 and added > 0


@cocotb.test()
async def the_clock_leaps(dut: Any) -> None:
    """The host has all contexts checked at once, including those of the stash: those whose time is over end, and no
    frame comes between.
    """
    bench = Bench(dut, 16)
    await bench.start()
    rows = [Row(true_p=1, r={0: 0}, keep=True, hard=0), Row(r={0: 0}, keep=True, idle=1)]
    program = replace(COUNTING, predicates=[Predicate(0, value=1)], periods=[Period(10), Period(1000)], rows=rows)
    await bench.run(replace(program, edits=[telling(0), telling(1)]))
    # Ten that share four places, so some of them stay in the stash; and others.
    keys = bench.colliding(10) + [bench.rng.getrandbits(32) for _ in range(20)]
    ends = {key: number % 3 > 0 for number, key in enumerate(keys)}
    for key in keys:
        await bench.frame(random_vector(bench.rng, key, [int(ends[key])] * OPERANDS, set()))
    await bench.settle()
    await bench.all_events()
    assert (await bench.read(regs.FLOW_HOST_STASH))[0] % 256 >= 5
    await bench.at(500)
    begin = bench.cycle
    bench.write(regs.FLOW_HOST_CHANGE, SWEEP)
    while await bench.status(1):
        await bench.step()
    # A cycle for each place, and far fewer than the walker takes.
    assert bench.cycle - begin < 2 * ENTRIES
    events = [(event.kind, event.key) for event in await bench.all_events()]
    assert sorted(events) == sorted(("expired", key) for key in keys if ends[key])
    for key in keys:
        assert (await bench.ask(FIND, key) is None) == ends[key]


@cocotb.test()
async def frames_follow_a_sweep(dut: Any) -> None:
    """Frames directly after a sweep, of flows whose contexts it ends in the stash: each ends once, and begins anew."""
    bench = Bench(dut, 18)
    await bench.start()
    await bench.run(replace(COUNTING, periods=[Period(10)], rows=[Row(r={0: 0}, keep=True, hard=0)]))
    keys = bench.colliding(20)
    for round_ in range(1, 21):
        for key in keys:
            await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
        await bench.settle()
        await bench.all_events()
        there = [key for key in keys if await bench.ask(FIND, key) is not None]
        # The last ones to be checked are in the last slots.
        assert len(there) >= WAYS + STASH - 3
        await bench.at(1000 * round_)
        bench.write(regs.FLOW_HOST_CHANGE, SWEEP)
        await bench.step(5)
        again = bench.rng.sample(there, 4)
        for key in again:
            await bench.frame(random_vector(bench.rng, key, [0] * OPERANDS, set()))
        await bench.settle()
        events = [(event.kind, event.key) for event in await bench.all_events()]
        assert sorted(events) == sorted([("expired", key) for key in there] + [("new", key) for key in again])
        assert await bench.read(regs.FLOW_HOST_CONTEXTS) == [len(again)]


@cocotb.test()
async def the_host_sets_registers(dut: Any) -> None:
    """Global registers while each frame counts in one: no frame counts from an old value, in whatever cycle the host
    writes.
    """
    bench = Bench(dut, 17)
    await bench.start()
    functions = [Function("add", Source("g", 0), Source(), value=1)]
    await bench.run(replace(COUNTING, functions=functions, rows=[Row(g={0: 0})]))
    vectors = [random_vector(bench.rng, key, [0] * OPERANDS, set()) for key in (1, 2, 3)]
    for round_ in range(12):
        bench.outputs.clear()
        bench.write(regs.FLOW_HOST_GLOBALS, 0)
        await bench.settle()
        for number in range(40):
            if number == 15:
                await bench.step(round_ % 3)
                bench.write(regs.FLOW_HOST_GLOBALS + 4 * (round_ % 2), 1000)
            await bench.frame(vectors[number % 3])
        await bench.settle()
        counts = [vector.get(G_FIELDS[0]) for vector in bench.outputs]
        first = next((at for at, count in enumerate(counts) if count > 1000), 40)
        assert counts == [*range(1, first + 1), *range(1001, 1041 - first)] and (first < 40) == (round_ % 2 == 0)
    assert await bench.read(regs.FLOW_HOST_GLOBALS, 2) == [40, 1000]


@cocotb.test()
async def time_passes(dut: Any) -> None:
    """Contexts end, or change their state, when their time is over: at their next frame, one cycle later or many, or at
    the walker's visit.
    """
    bench = Bench(dut, 10)
    await bench.start()
    rng = bench.rng
    program = replace(
        COUNTING,
        capacity=1000,
        periods=[Period(10), Period(20, then=7), Period(15), Period(4_000_000_000), Period(1)],
        predicates=[Predicate(0, value=kind) for kind in range(7)],
        rows=[
            Row(true_p=1, r={0: 0}, keep=True, hard=0),
            Row(true_p=2, r={0: 0}, goto=2, hard=1),
            Row(true_p=4, r={0: 0}, keep=True, idle=2),
            Row(true_p=8, r={0: 0}),
            # Either can be the earlier one, because time goes on and frames renew one of them.
            Row(true_p=16, r={0: 0}, keep=True, hard=1, idle=2),
            Row(true_p=32, r={0: 0}, goto=3, hard=3),
            Row(true_p=64, r={0: 0}, goto=1, idle=4),
        ],
        edits=[telling(number) for number in range(7)],
    )
    await bench.run(program)
    model = Element(program)
    model.now = (1 << 32) - 200
    keys = [rng.getrandbits(32) for _ in range(20)]
    gone = 0
    for round_ in range(50):
        bench.outputs.clear()
        walks = round_ % 25 == 24
        # Frames follow each other while the clock goes on, so the context of one frame may be over for the next.
        vectors, wanted, events = [], [], []
        for _ in range(10):
            key, x = (
                rng.choice(keys[: rng.choice([1, len(keys)])]),
                [rng.choice([0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6])] * OPERANDS,
            )
            model.now = (model.now + rng.choice([0, 0, 1, 1, 8, 8])) % (1 << 32)
            vectors.append((model.now, random_vector(rng, key, x, set())))
            outcome = model.frame(key, x, vectors[-1][1].bits_of_parts())
            wanted.append(told(vectors[-1][1], outcome))
            events += outcome.events
        for now, vector in vectors:
            dut.now.value = now
            await bench.frame(vector)
        await bench.settle()
        same("frame", bench.outputs, wanted)
        if walks:
            await Timer(4 * WALK, "ns")
        found = await bench.all_events()
        for event in events:
            found.remove(event)
        # By now the model also finds the contexts that the walker has found.
        assert sorted(map(repr, found)) == sorted(repr(model.expire(event.key)) for event in found)
        gone += len(found)
        if walks:
            await bench.check_contexts(model.contexts, keys)
    assert gone > 5


# ---- programs as the compiler makes them


async def check(bench: Bench, of: str, plays: Sequence[Play]) -> None:
    for at, one in enumerate(plays):
        if any(given.outcome.row is not None for given in one.given):
            await check_element(bench, f"{of}, element {at}", at, one)


async def check_element(bench: Bench, of: str, at: int, one: Play) -> None:
    await bench.run(one.words)
    events: list[Event] = []
    for given in one.given:
        if given.now != int(bench.dut.now.value):
            await bench.at(given.now)
        if given.walked:
            await bench.settle()
            await Timer(4 * WALK, "ns")
        await bench.frame(given.vector)
        events += [*given.walked, *given.outcome.events]
    await bench.settle()
    wanted = [in_place(given, at) for given in one.given]
    same(f"{of}: frame", [left(vector) for vector in bench.outputs], wanted)
    # The walker's events have the order of the table.
    assert sorted(map(repr, await bench.all_events())) == sorted(map(repr, events)), of
    await bench.check_contexts(one.contexts)


def in_place(given: Given, at: int) -> tuple:
    """The output for a frame from the first element of a chain: only a frame that matched no row may go to another
    element than the one its row names.
    """
    *rest, next_ = given.left
    return (*rest, 1 if given.outcome.row is None else next_)


@cocotb.test()
async def programs_of_the_engine(dut: Any) -> None:
    bench = Bench(dut, 11)
    await bench.start()
    for path in programs():
        compiled = words(path)
        assert not isinstance(compiled, str), compiled
        await check(bench, path.stem, play(path.read_text(), compiled, ROOM, 1, walk=1))


@cocotb.test()
async def random_programs(dut: Any) -> None:
    bench = Bench(dut, 12)
    await bench.start()
    for seed in range(100, 112):
        text, compiled = accepted(seed, Path(os.environ["FOLDER"]) / "random.efsm")
        await check(bench, text, play(text, compiled, ROOM, seed, walk=1))


@cocotb.test()
async def any_key(dut: Any) -> None:
    """Any words in any halves of the key and as any operands, with any swaps; of each frame the words that it has."""
    bench = Bench(dut, 13)
    await bench.start()
    rng, frames = bench.rng, Traffic(5)
    swapped = 0
    # Functions return operands, which edits write; the event has the key.
    functions = [Function("copy", Source("x", 4 * (at & 1) + at // 2)) for at in range(OPERANDS)]
    names = (*R_FIELDS, *G_FIELDS)
    edit = Edit(writes=[(FIRST[name], ("result", at % 4 * 2 + at // 4)) for at, name in enumerate(names)])
    count = await bench.program_words()
    for _ in range(60):
        data, port, time, hash_ = frames.frame()
        frame = Frame(data, port, hash_, time)
        frame.outside |= {"meta0": rng.getrandbits(32), "meta1": rng.getrandbits(32)}
        vector = of_frame(frame, rng)
        values, parts = values_of(frame, time), vector.bits_of_parts()
        there = {number for number, of in enumerate(WORDS) if not of or any(name in values for name, _ in of)}

        def any_of(choices: list[tuple[int, int]]) -> int:
            return rng.choice([at for at, (number, _) in enumerate(choices) if number in there])  # noqa: B023

        pairs = [pair for pair, sides in enumerate(SIDES) if values.keys() >= set(sides)]
        key = Key(
            rng.choice([0, parts, parts & rng.getrandbits(24), 1 << rng.randrange(24)]),
            rng.getrandbits(9),
            rng.choices(pairs, k=3),
            [any_of(choices) for choices in HALF_CHOICES],
        )
        operands = [any_of(choices) for choices in OPERAND_CHOICES]
        rows = [Row(notify=True)]
        program = Program(1, key=key, operands=operands, functions=functions, rows=rows, edits=[edit.bits()])
        bench.load(list(program.words(count)))
        await bench.settle()
        bench.outputs.clear()
        await bench.at(values["time"])
        await bench.frame(vector)
        await bench.settle()
        [left_] = bench.outputs
        events = await bench.all_events()
        wanted = key.of(values, parts)
        assert [event.key for event in events] == ([] if wanted is None else [wanted])
        if wanted is not None:
            assert [left_.get(name) for name in names] == operands_of(operands, values)
            swapped += wanted != replace(key, swap=0).of(values, parts)
    assert swapped > 5


# A larger table shows the delay of a flood of new flows, because places are hard to find.
@pytest.mark.parametrize(
    ("case", "entries"),
    [
        pytest.param("fills_up", 1024, marks=pytest.mark.long),
        ("random_rows", ENTRIES),
        ("contexts_give_way", ENTRIES),
        ("programs_change", ENTRIES),
        ("half_a_program", ENTRIES),
        ("nothing_loaded", ENTRIES),
        ("events_are_lost", ENTRIES),
        ("only_what_is_asked_for", ENTRIES),
        ("rates", ENTRIES),
        ("fills_up", ENTRIES),
        ("a_flood", ENTRIES),
        ("keys_count_up", ENTRIES),
        ("keys_collide", ENTRIES),
        ("others_give_way", ENTRIES),
        ("the_clock_leaps", ENTRIES),
        ("frames_follow_a_sweep", ENTRIES),
        ("the_walker_gives_way", ENTRIES),
        ("the_host_sets_registers", ENTRIES),
        ("time_passes", ENTRIES),
        ("any_key", ENTRIES),
        ("programs_of_the_engine", ENTRIES),
        ("random_programs", ENTRIES),
    ],
)
def test_flow_element(case: str, entries: int, tmp_path: Path) -> None:
    if "programs_of" in case or case == "random_programs":
        example("words")
    simulate(
        "flow_element",
        ["engines/flow/rtl/rtl.f"],
        Path(__file__).stem,
        {"Entries": entries},
        testcase=case,
        env={"FOLDER": str(tmp_path)},
        plusargs=[f"+first_count={FIRST_COUNT}"],
    )
