# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The core of an element against the same in plain Python: random programs, keys that come often and seldom, full tables, timeouts, moves."""

from __future__ import annotations

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
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from flow_element import (
    CONDITION,
    CONDITIONS,
    FUNCTION,
    GLOBALS,
    OPERANDS,
    PARTS,
    PERIODS,
    PREDICATE,
    PREDICATES,
    REGISTERS,
    ROWS,
    Condition,
    Context,
    Element,
    Function,
    Period,
    Predicate,
    Program,
    Row,
    Source,
)

KEY_BITS = 32
FIND, PUT, DELETE = 4, 5, 6
SEED = 1


def words(values: Sequence[int]) -> int:
    return sum(value << 32 * i for i, value in enumerate(values))


def unpacked(value: int, count: int) -> tuple[int, ...]:
    return tuple(value >> 32 * i & 0xFFFFFFFF for i in range(count))


class Bench:
    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.outputs: list[tuple] = []
        self.events: list[tuple[str, int]] = []
        self.moves = 0
        self.cycle = 0
        self.stash_most = 0

    async def start(self) -> None:
        dut = self.dut
        for name in (
            "shift",
            "word",
            "now",
            "secret",
            "valid",
            "keyed",
            "key",
            "x",
            "parts",
            "side",
            "host_valid",
            "host_op",
        ):
            getattr(dut, name).value = 0
        for name in ("host_key", "host_state", "host_r", "host_stash", "host_slot", "host_addr"):
            getattr(dut, name).value = 0
        dut.secret.value = self.rng.getrandbits(len(dut.secret))
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        for _ in range(3):
            await FallingEdge(dut.clk)

    async def load(self, program: Program) -> None:
        """Gives the element a program, and empties its table, which a reset does not: it is full of what is not valid."""
        dut = self.dut
        dut.rst.value = 1
        for word in program.words(int(dut.program_words.value)):
            dut.shift.value, dut.word.value = 1, word
            await FallingEdge(dut.clk)
        dut.shift.value = 0
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        self.outputs.clear()
        self.events.clear()
        await self.step(2)

    async def step(self, cycles: int = 1) -> bool:
        """Cycles; whether the frame was taken in the first."""
        dut = self.dut
        taken = False
        for index in range(cycles):
            await Timer(1, "ps")
            if index == 0:
                taken = bool(dut.valid.value) and bool(dut.ready.value)
            if dut.out_valid.value:
                self.outputs.append(
                    (
                        int(dut.out_side.value),
                        int(dut.out_row.value) if dut.out_fits.value else None,
                        bool(dut.out_unkept.value),
                        unpacked(int(dut.out_r.value), REGISTERS) if dut.out_fits.value else None,
                        unpacked(int(dut.out_g.value), GLOBALS),
                    )
                )
            for name in ("new", "expired", "notified"):
                if getattr(dut, f"event_{name}").value:
                    self.events.append((name, int(dut.event_key.value)))
            self.moves += int(dut.moved.value)
            self.stash_most = max(self.stash_most, int(dut.stash_used.value))
            self.cycle += 1
            await FallingEdge(dut.clk)
        return taken

    async def frame(self, key: int | None, x: Sequence[int], parts: int, side: int, pause: float = 0.0) -> None:
        dut = self.dut
        while self.rng.random() < pause:
            await self.step()
        dut.valid.value, dut.keyed.value, dut.key.value = 1, int(key is not None), key or 0
        dut.x.value, dut.parts.value, dut.side.value = words(x), parts, side & 0xFFFF
        for _ in range(10_000):
            if await self.step():
                break
        else:
            raise AssertionError(
                f"a frame waits for ever: {int(dut.contexts.value)} contexts, {self.moves} moves, stash {int(dut.stash_used.value)}"
            )
        dut.valid.value = 0

    async def ask(
        self, op: int, key: int, state: int = 0, r: Sequence[int] = (0,) * REGISTERS
    ) -> tuple[int, tuple] | None:
        """An operation of the host on a key: the context that there is then; of DELETE, that there was one."""
        dut = self.dut
        dut.host_valid.value, dut.host_op.value, dut.host_key.value = 1, op, key
        dut.host_state.value, dut.host_r.value = state, words(r)
        for _ in range(1000):
            await Timer(1, "ps")
            taken = bool(dut.host_taken.value)
            await self.step()
            if taken:
                break
        dut.host_valid.value = 0
        for _ in range(1000):
            await Timer(1, "ps")
            if dut.answer_valid.value:
                found = bool(dut.answer_found.value)
                answer = int(dut.answer_state.value), unpacked(int(dut.answer_r.value), REGISTERS)
                await self.step()
                return answer if found else None
            await self.step()
        raise AssertionError("no answer")

    async def settled(self) -> None:
        """Until nothing is on its way: an operation waits for those ahead of it a few times at most."""
        await self.step(40)

    async def check_contexts(self, model: Element, keys: Sequence[int]) -> None:
        assert int(self.dut.contexts.value) == len(model.contexts)
        for key in keys:
            context = model.contexts.get(key)
            wanted = context and (context.state, tuple(context.r))
            assert await self.ask(FIND, key) == wanted, hex(key)


def random_source(rng: random.Random) -> Source:
    of = rng.choice(["r", "r", "g", "x", "constant"])
    return Source(
        of, {"r": rng.randrange(REGISTERS), "g": rng.randrange(GLOBALS), "x": rng.randrange(OPERANDS)}.get(of, 0)
    )


def random_word(rng: random.Random) -> int:
    return rng.choice(
        [rng.randrange(4), rng.randrange(16), rng.getrandbits(32), (1 << 32) - 1 - rng.randrange(3), 1 << 31]
    )


def random_program(rng: random.Random, capacity: int, globals_: bool) -> Program:
    def mask(count: int, most: int) -> int:
        return sum({1 << rng.randrange(count) for _ in range(rng.randrange(most + 1))})

    def row(index: int) -> Row:
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

    return Program(
        capacity=capacity,
        keyed=rng.random() < 0.95,
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
                rng.choice(list(FUNCTION)), random_source(rng), random_source(rng), rng.randrange(32), random_word(rng)
            )
            for _ in range(16)
        ],
        rows=[row(index) for index in range(rng.choice([3, 12, ROWS]))],
    )


async def play(bench: Bench, model: Element, keys: Sequence[int], count: int, pause: float) -> None:
    """Random frames; what comes out is what the model says, in their order."""
    rng = bench.rng
    wanted, events = [], []
    begin = len(bench.events)
    bench.outputs.clear()
    for number in range(count):
        key = None if rng.random() < 0.02 else rng.choice(keys[: rng.choice([1, 2, 4, len(keys)])])
        x = [random_word(rng) for _ in range(OPERANDS)]
        parts = rng.choice([0, rng.getrandbits(len(PARTS)), (1 << len(PARTS)) - 1])
        await bench.frame(key, x, parts, number, pause)
        outcome = model.frame(key, x, parts)
        wanted.append((number & 0xFFFF, outcome.row, outcome.unkept, outcome.r, outcome.g))
        events += [(name, key) for name in outcome.events]
    await bench.settled()
    if bench.outputs != wanted:
        pairs = enumerate(zip_longest(bench.outputs, wanted))
        first, (got, want) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
        raise AssertionError(f"frame {first} of {count}: {got} instead of {want}")
    assert sorted(bench.events[begin:]) == sorted(events)


@cocotb.test()
async def random_programs(dut: Any) -> None:
    """All that an element can do, at full rate and with pauses; at the end each key has what it should have."""
    bench = Bench(dut, SEED)
    await bench.start()
    rng = bench.rng
    for _ in range(40):
        program = random_program(rng, rng.choice([0, 3, 20, 1000]), globals_=rng.random() < 0.3)
        await bench.load(program)
        model = Element(program)
        model.now = rng.getrandbits(32)
        dut.now.value = model.now
        keys = [rng.getrandbits(KEY_BITS) for _ in range(40)]
        await bench.step(40)
        await play(bench, model, keys, 150, pause=rng.choice([0.0, 0.0, 0.5]))
        await bench.check_contexts(model, keys)
        await empty(bench, model)


# A flow's first register counts its frames; the second function is never chosen.
COUNTING = Program(
    capacity=1 << 20,
    functions=[Function("add", Source("r", 0), Source(), value=1)],
    rows=[Row(r={0: 0})],
)


@cocotb.test()
async def rates(dut: Any) -> None:
    """A frame each cycle of different flows, one each second cycle of one flow or with globals; seven cycles from in to out."""
    bench = Bench(dut, SEED)
    await bench.start()
    keys = [bench.rng.getrandbits(KEY_BITS) for _ in range(16)]
    together = replace(COUNTING, rows=[Row(r={0: 0}, g={0: 0})])
    for program, of, cycles in (
        (COUNTING, keys, 1.0),
        (COUNTING, keys[:1], 2.0),
        (COUNTING, keys[:2], 1.0),
        (together, keys, 2.0),
    ):
        await bench.load(program)
        await bench.step(60)
        model = Element(program)
        for key in of:
            # None of them is new, so none goes to the stash.
            await bench.frame(key, [0] * OPERANDS, 0, 0)
            model.frame(key, [0] * OPERANDS, 0)
            await bench.step(40)
        bench.outputs.clear()
        begin = bench.cycle
        count = 400
        for number in range(count):
            await bench.frame(of[number % len(of)], [0] * OPERANDS, 0, number)
            model.frame(of[number % len(of)], [0] * OPERANDS, 0)
        # The walker takes a cycle of 256, and a frame that shares a place with it waits for five.
        assert cycles * (count - 2) <= bench.cycle - begin <= cycles * count * 1.04
        await bench.settled()
        assert len(bench.outputs) == count
        await bench.check_contexts(model, of)
    begin = bench.cycle
    bench.outputs.clear()
    await bench.frame(keys[0], [0] * OPERANDS, 0, 0)
    while not bench.outputs:
        await bench.step()
    assert bench.cycle - begin == 8  # seven, and the one in which it is seen


@cocotb.test()
async def fills_up(dut: Any) -> None:
    """New flows at full rate until the table is full: each finds its place, and none is lost or there twice."""
    bench = Bench(dut, SEED)
    await bench.start()
    entries = int(dut.entries.value)
    capacity = entries * 97 // 100
    # The program has more than there is room for.
    await bench.load(replace(COUNTING, capacity=entries))
    await bench.step(entries)
    model = Element(replace(COUNTING, capacity=capacity))
    keys = list({bench.rng.getrandbits(KEY_BITS) for _ in range(capacity + 50)})
    unkept = 0
    for number, key in enumerate(keys):
        await bench.frame(key, [0] * OPERANDS, 0, number)
        unkept += model.frame(key, [0] * OPERANDS, 0).unkept
    await bench.step(2000)
    dut._log.info(
        "%d contexts in %d places: %.2f moves each, %d in the stash at most",
        capacity,
        entries,
        bench.moves / capacity,
        bench.stash_most,
    )
    assert unkept == len(keys) - capacity == sum(output[2] for output in bench.outputs)
    assert dut.is_full.value
    await bench.check_contexts(model, keys)
    # Half of them go, others come.
    gone = keys[: capacity // 2]
    for key in gone:
        assert await bench.ask(DELETE, key) is not None
        del model.contexts[key]
        assert await bench.ask(DELETE, key) is None
    state = (3, (1, 2, 3, 4))
    for number in range(capacity // 4):
        key = bench.rng.getrandbits(KEY_BITS)
        keys.append(key)
        assert await bench.ask(PUT, key, *state) == state
        model.contexts[key] = Context(state[0], list(state[1]))
        await bench.frame(key, [0] * OPERANDS, 0, number)
        model.frame(key, [0] * OPERANDS, 0)
    await bench.step(500)
    await bench.check_contexts(model, keys)


@cocotb.test()
async def time_passes(dut: Any) -> None:
    """Contexts go, or change their state, when their time is over: at their next frame, or when the walker comes by."""
    bench = Bench(dut, SEED)
    await bench.start()
    rng = bench.rng
    program = Program(
        capacity=1000,
        periods=[Period(10), Period(20, then=7), Period(15), Period(4_000_000_000)],
        predicates=[Predicate(0, value=kind) for kind in range(6)],
        functions=COUNTING.functions,
        rows=[
            Row(true_p=1, r={0: 0}, keep=True, hard=0),
            Row(true_p=2, r={0: 0}, goto=2, hard=1),
            Row(true_p=4, r={0: 0}, keep=True, idle=2),
            Row(true_p=8, r={0: 0}),
            # Either is the earlier, as time goes on and frames renew one of them.
            Row(true_p=16, r={0: 0}, keep=True, hard=1, idle=2),
            Row(true_p=32, r={0: 0}, goto=3, hard=3),
        ],
    )
    await bench.load(program)
    await bench.step(int(dut.entries.value))
    model = Element(program)
    model.now = (1 << 32) - 200
    keys = [rng.getrandbits(KEY_BITS) for _ in range(30)]
    passes = int(dut.entries.value) * 130
    for round_ in range(60):
        model.now = (model.now + rng.randrange(8)) % (1 << 32)
        dut.now.value = model.now
        await bench.step(3)
        begin = len(bench.events)
        expired = []
        if round_ % 20 == 19:
            await bench.step(passes)
            expired = [key for key in list(model.contexts) if model.expire(key)]
        wanted = []
        for number in range(10):
            key = rng.choice(keys)
            x = [rng.randrange(6)] * OPERANDS
            await bench.frame(key, x, 0, number)
            outcome = model.frame(key, x, 0)
            wanted += [(name, key) for name in outcome.events]
        await bench.settled()
        late = [event for event in bench.events[begin:] if event not in wanted]
        # Whom the walker has found between two frames of this round was not to have any more, so the model finds the same.
        for name, key in late:
            assert name == "expired"
            if key not in expired:
                assert model.expire(key), (
                    hex(key),
                    round_,
                    model.now,
                    model.contexts.get(key),
                    bench.events[begin:],
                    wanted,
                    expired,
                )
    await bench.step(passes)
    for key in list(model.contexts):
        model.expire(key)
    await bench.check_contexts(model, keys)


async def empty(bench: Bench, model: Element) -> None:
    for key in list(model.contexts):
        assert await bench.ask(DELETE, key) is not None
        del model.contexts[key]
    assert int(bench.dut.contexts.value) == 0


# In the smaller table frames of different flows share places all the time.
@pytest.mark.parametrize(
    ("entries", "case"),
    [
        (64, "random_programs"),
        (64, "time_passes"),
        (64, "fills_up"),
        (1024, "random_programs"),
        (1024, "rates"),
        (1024, "fills_up"),
    ],
)
def test_flow_core(entries: int, case: str) -> None:
    simulate(
        "flow_core_bench",
        ["engines/flow/rtl/rtl.f", "engines/flow/tests/flow_core_bench.sv"],
        "test_flow_core",
        {"KeyW": KEY_BITS, "Entries": entries},
        testcase=case,
    )
