# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""An element up to its rows and registers, with the words that the compiler makes: vectors of headers in, as the parser would give them."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from efsm import Frame
from flow_element import GLOBALS, HALVES, OPERANDS, REGISTERS, SIDES, WORDS, Key, Program, word_of
from flow_random import Traffic
from flow_words import Given, Play, accepted, binary, headers_of, parts_of, play, programs, values_of, words

ENTRIES = 64
ROOM = ENTRIES * 97 // 100
RANDOM = range(100, 115)


def unpacked(value: int, count: int) -> tuple[int, ...]:
    return tuple(value >> 32 * i & 0xFFFFFFFF for i in range(count))


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.outputs: list[tuple] = []

    async def step(self) -> bool:
        """A cycle; whether the frame was taken in it."""
        dut = self.dut
        await Timer(1, "ps")
        taken = bool(dut.valid.value) and bool(dut.ready.value)
        if dut.out_valid.value:
            fits = bool(dut.out_fits.value)
            self.outputs.append(
                (
                    int(dut.out_row.value) if fits else None,
                    bool(dut.out_unkept.value),
                    unpacked(int(dut.out_r.value), REGISTERS) if fits else None,
                    unpacked(int(dut.out_g.value), GLOBALS),
                )
            )
        await FallingEdge(dut.clk)
        return taken

    async def start(self) -> None:
        dut = self.dut
        for name in ("shift", "word", "now", "secret", "valid", "headers", "port", "len", "hash", "meta0", "meta1"):
            getattr(dut, name).value = 0
        dut.secret.value = random.Random(1).getrandbits(len(dut.secret))
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        for _ in range(3):
            await FallingEdge(dut.clk)

    async def load(self, program: list[int]) -> None:
        """Gives the element a program, and empties its table."""
        dut = self.dut
        assert len(program) == int(dut.program_words.value)
        dut.rst.value = 1
        for word in program:
            dut.shift.value, dut.word.value = 1, word
            await FallingEdge(dut.clk)
        dut.shift.value = 0
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(ENTRIES):
            await self.step()
        self.outputs.clear()

    async def settle(self) -> None:
        """Until nothing is on its way."""
        self.dut.valid.value = 0
        for _ in range(20):
            await self.step()

    def offer(self, headers: int, values: dict[str, int]) -> None:
        self.dut.valid.value, self.dut.headers.value = 1, headers
        for name in ("port", "len", "hash", "meta0", "meta1"):
            getattr(self.dut, name).value = values[name]

    async def frame(self, given: Given) -> None:
        dut = self.dut
        if given.now != int(dut.now.value):
            # Frames that are on their way see the time in which they came.
            await self.settle()
            dut.now.value = given.now
            await self.step()
            await self.step()
        if given.walked:
            # A round of the walker.
            await Timer(4 * 130 * ENTRIES, "ns")
        self.offer(given.headers, given.values)
        await Timer(1, "ps")
        assert bool(dut.keyed.value) == (given.key is not None)
        if given.key is not None:
            assert int(dut.key.value) == given.key
        for _ in range(1000):
            if await self.step():
                break
        else:
            raise AssertionError("a frame waits for ever")
        dut.valid.value = 0


async def check(bench: Bench, of: str, plays: list[Play]) -> None:
    for at, one in enumerate(plays):
        await bench.load(one.words)
        for given in one.given:
            await bench.frame(given)
        await bench.settle()
        wanted = [(given.outcome.row, given.outcome.unkept, given.outcome.r, given.outcome.g) for given in one.given]
        assert len(bench.outputs) == len(wanted)
        for number, (got, want) in enumerate(zip(bench.outputs, wanted, strict=True)):
            assert got == want, f"{of}, element {at}, frame {number}: {got} instead of {want}"


@cocotb.test()
async def programs_of_the_engine(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for path in programs():
        compiled = words(path)
        if not isinstance(compiled, str):
            await check(bench, path.stem, play(path.read_text(), compiled, ROOM, 1, walk=1))


@cocotb.test()
async def random_programs(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for seed in RANDOM:
        text, compiled = accepted(seed, Path(os.environ["FOLDER"]) / "random.efsm")
        await check(bench, text, play(text, compiled, ROOM, seed, walk=1))


@cocotb.test()
async def any_choice(dut: Any) -> None:
    """Any words in any halves of the key and as any operands, whatever changes places; of each frame those that it has."""
    bench = Bench(dut)
    await bench.start()
    rng, traffic = random.Random(5), Traffic(5)
    swapped = 0
    for _ in range(150):
        data, port, time, hash_ = traffic.frame()
        frame = Frame(data, port, hash_, time)
        frame.outside |= {"meta0": rng.getrandbits(32), "meta1": rng.getrandbits(32)}
        values, parts = values_of(frame, time), parts_of(frame)
        there = [number for number, of in enumerate(WORDS) if not of or any(name in values for name, _ in of)]
        pairs = [pair for pair, sides in enumerate(SIDES) if values.keys() >= set(sides)]
        key = Key(
            rng.choice([0, parts, parts & rng.getrandbits(24), 1 << rng.randrange(24)]),
            rng.getrandbits(9),
            rng.choices(pairs, k=3),
            rng.choices(there, k=HALVES),
        )
        program = Program(1, key=key, operands=rng.choices(there, k=OPERANDS))
        await bench.load(list(program.words(int(dut.program_words.value))))
        bench.offer(headers_of(rng, frame), values)
        dut.now.value = values["time"]
        await Timer(1, "ps")
        assert bool(dut.keyed.value) == (key.of(values, parts) is not None)
        assert int(dut.key.value) == key.of(values, key.parts)
        assert unpacked(int(dut.x.value), OPERANDS) == tuple(word_of(number, values) for number in program.operands)
        swapped += key.of(values, key.parts) != replace(key, swap=0).of(values, key.parts)
        dut.valid.value = 0
    assert swapped > 30


@pytest.mark.parametrize("case", ["any_choice", "programs_of_the_engine", "random_programs"])
def test_flow_extract(case: str, tmp_path: Path) -> None:
    binary()
    simulate(
        "flow_front_bench",
        ["engines/flow/rtl/rtl.f", "engines/flow/tests/flow_front_bench.sv"],
        "test_flow_extract",
        {"Entries": ENTRIES},
        testcase=case,
        env={"FOLDER": str(tmp_path)},
    )
