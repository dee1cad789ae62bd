# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The block on the programs of l7_twins.py, one after the other, beside plain Python (l7_model.py). The file that the
environment names has the pairs of cases and their images.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cocotb.triggers import ClockCycles, FallingEdge
from l7_bench import BEAT, SOURCE, Bench, Frame
from l7_language import NUMBERS
from l7_model import COUNTERS, Card, Out
from l7_random import TIMEOUT, Case, Load
from penstock import regs

KINDS = {"port": 1, "host": 2, "unit": 3, "dispatch": 4}
# In the time that a sweep takes.
SWEEP = 512 * 16 + 200
BURST = 8


class Twin:
    """The block, its words, and what it did before this case."""

    def __init__(self, dut: Any) -> None:
        self.bench = Bench(dut, 1)
        self.words: list[int | None] = [None] * 46
        self.left = 0
        self.bank = [0, 0]
        self.coverage: Counter = Counter()

    async def write(self, addr: int, data: int) -> None:
        """Writes a register while no frame is under way, which needs no look at the streams."""
        dut = self.bench.dut
        dut.cfg_req.value, dut.cfg_we.value = 1, 1
        dut.cfg_addr.value, dut.cfg_wdata.value = addr, data
        while True:
            await FallingEdge(dut.clk)
            if int(dut.cfg_ack.value):
                break
        assert not int(dut.cfg_err.value), hex(addr)
        dut.cfg_req.value = 0
        await FallingEdge(dut.clk)

    async def fill(self, base: int, words: list[int]) -> None:
        for at, word in enumerate(words):
            await self.write(base + 4 * at, word)

    async def load(self, app: int, image: dict[str, Any]) -> None:
        """Brings rules into the other bank of an application, and takes them."""
        for number, row in enumerate(image["rows"], image["base"]):
            for at, word in enumerate(row):
                # A staged word stays.
                if self.words[at] != word:
                    await self.write(regs.L7_BLOCK_ROW_WORDS + 4 * at, word)
                    self.words[at] = word
            await self.write(regs.L7_BLOCK_ROW, number)
        await self.fill(regs.L7_BLOCK_DECISIONS + 4 * image["first"], image["decisions"])
        await self.fill(regs.L7_BLOCK_HITS + 4 * image["first"], [0] * len(image["decisions"]))
        self.bank[app] ^= 1
        part = 2 * app + self.bank[app]
        await self.fill(regs.L7_BLOCK_CLASSES + 4 * 32 * part, image["classes"])
        await self.fill(regs.L7_BLOCK_STARTS + 4 * 16 * part, image["starts"])
        await self.write(self.bench.app(app, "BANK"), self.bank[app])

    async def begin(self, case: Case, images: list[dict[str, Any]], random: Random) -> None:
        for row in range(2):
            await self.write(regs.L7_BLOCK_FILTER + 4 * row, 0)
        await self.write(regs.L7_BLOCK_TIMEOUT, TIMEOUT // 1024)
        matchers = random.choice([(15, 15), (15, 15), (3, 12), (1, 14), (8, 8)])
        for app, of in enumerate(case.program.applications):
            await self.load(app, images[app])
            await self.write(self.bench.app(app, "PROTOCOL"), NUMBERS[of.protocol] | of.id_bytes << 8)
            await self.write(self.bench.app(app, "MATCHERS"), matchers[app])
            await self.write(self.bench.app(app, "MESSAGES_MAX"), case.messages_max)
            await self.write(self.bench.app(app, "PAGES_MAX"), case.pages_max)
            row = of.port | of.number << 16 | of.tenant << 24 | app << 30 | 1 << 31
            await self.write(regs.L7_BLOCK_FILTER + 4 * app, row)

    async def counters(self, app: int) -> Counter:
        names = [*COUNTERS, "busy", "stuck"]
        return Counter({name: await self.bench.counter(app, name.upper()) for name in names})

    async def expire(self) -> None:
        """A pause in which all messages expire that are not whole."""
        self.bench.now += 2 * TIMEOUT
        self.bench.dut.now.value = self.bench.now
        await ClockCycles(self.bench.dut.clk, SWEEP)
        await FallingEdge(self.bench.dut.clk)

    async def settle(self) -> None:
        """Until the block is idle, and the decisions are counted."""
        bench = self.bench
        quiet = 0
        for _ in range(200_000):
            await bench.step()
            waits = any(port.waiting for port in bench.ports) or int(bench.dut.busy.value)
            quiet = 0 if waits else quiet + 1
            if quiet == 6:
                return
        raise AssertionError("the block stays busy")

    def compare(self, outs: list[Out], ordered: bool) -> None:
        """What has left since the last look: as the model says, and in its order for each port and application."""
        bench = self.bench
        left, self.left = bench.left[self.left :], len(bench.left)
        for port in range(2):
            straight = [frame.data for frame in left if frame.port == port and frame.src != SOURCE]
            assert straight == [out.data for out in outs if out.verdict is None and out.port == port], "straight frames"
        made = [frame.key() for frame in left if frame.src == SOURCE]
        wanted = [key(out) for out in outs if out.verdict]
        if ordered:
            assert made == wanted, f"made {shown(made)}\nnot  {shown(wanted)}"
        else:
            assert sorted(made) == sorted(wanted), f"made {shown(made)}\nnot  {shown(wanted)}"

    async def run(self, case: Case, images: list[dict[str, Any]], seed: int) -> None:
        random = Random(seed)
        await self.begin(case, images, random)
        bench = self.bench
        card = Card(case.program.applications, TIMEOUT)
        for share in card.shares:
            share.messages_max, share.pages_max = case.messages_max, case.pages_max
        before = [await self.counters(app) for app in range(len(card.shares))]
        bench.into = [random.choice([1.0, 1.0, 0.5])] * 2
        bench.out = [random.choice([1.0, 1.0, 0.5])] * 2
        in_turn = any("in turn" in text for text in [case.program.text(), *(loaded(case))])
        # Several messages at once overtake each other, and the order of decisions is open then.
        bursts = case.messages_max == 256 and case.pages_max == 1024 and not in_turn and random.random() < 0.5
        self.coverage["cases in bursts"] += bursts
        outs: list[Out] = []
        current, later = images[: len(card.shares)], images[len(card.shares) :]
        time = waiting = frames = port = 0
        for step in case.steps:
            is_load = isinstance(step, Load)
            pause = not is_load and step.time - time > TIMEOUT
            if waiting and (is_load or pause or not bursts or waiting == BURST or step.port != port):
                await self.settle()
                self.compare(outs, not bursts)
                outs, waiting = [], 0
            if isinstance(step, Load):
                card.load(step.application, step.program.applications[step.application])
                current[step.application], *later = later
                await self.load(step.application, current[step.application])
                continue
            if pause:
                await self.expire()
            time, port = step.time, step.port
            outs += card.packet(step.port, step.tenant, step.data, step.time, step.hash)
            bench.send(step.port, Frame(step.data, step.tenant, step.hash, random.getrandbits(32)))
            waiting, frames = waiting + 1, frames + 1
        await self.settle()
        self.compare(outs, not bursts)
        self.coverage += card.coverage
        self.coverage["frames"] += frames
        for app, share in enumerate(card.shares):
            told = await self.counters(app) - before[app]
            wanted = +Counter({name: share.counters[name] for name in COUNTERS})
            assert told == wanted, f"application {app}: {dict(told)}, not {dict(wanted)}"
            assert await bench.counter(app, "MESSAGES") == await bench.counter(app, "PAGES") == 0
            hits: Counter = Counter()
            for at, (message, rule) in enumerate(current[app]["names"], current[app]["first"]):
                hits[f"{message}.{rule}" if message else rule] += await bench.count(regs.L7_BLOCK_HITS + 4 * at)
            assert +hits == +share.hits, f"application {app}: {dict(+hits)}, not {dict(share.hits)}"


def loaded(case: Case) -> list[str]:
    return [step.program.text() for step in case.steps if isinstance(step, Load)]


def key(out: Out) -> tuple[int | bytes, ...]:
    assert out.verdict is not None
    kind, number = out.verdict
    target = min(number, 255) if kind in ("unit", "port") else 0
    word = number if kind == "dispatch" else 0
    return (out.data, out.port, out.tenant, out.hash, out.mark, KINDS[kind], target, word)


def shown(keys: list[tuple[Any, ...]]) -> str:
    return " ".join(f"[{key[0].hex()} {key[1:]}]" for key in keys)


@cocotb.test()
async def twins(dut: Any) -> None:
    """All cases of the file, on one block without a reset between them."""
    twin = Twin(dut)
    await twin.bench.start()
    assert BEAT == 64
    with Path(os.environ["TWINS"]).open("rb") as file:
        cases = pickle.load(file)
    for seed, case, images in cases:
        try:
            await twin.run(case, images, seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{case.program.text()}") from error
        twin.coverage["cases"] += 1
    Path(os.environ["TWINS_OUT"]).write_bytes(pickle.dumps(twin.coverage))
