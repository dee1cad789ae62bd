# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A unit under a debugger: halts, steps, breakpoints and reads of registers, while frames arrive."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import unit as bench
from unit import FIRMWARE, IMEM, PROGRAMS, Unit, regs

RUNS, REQUEST, EBREAK_HIT, STEPPED = range(4)  # values of HALTED
HALT, BREAK = 1, 2  # bits of HALT
EBREAK = 0x00100073
BREAKPOINT = 3  # mcause
IN_TRAP = 4  # bit of STATUS


def load(rd: int, offset: int, base: int = 0) -> int:
    return offset << 20 | base << 15 | 0x2003 | rd << 7


def store(rs2: int, offset: int) -> int:
    return (offset >> 5) << 25 | rs2 << 20 | 0x2023 | (offset & 31) << 7


class Debugger:
    """A host that debugs a unit through its window alone."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    async def halted(self) -> int:
        return await self.unit.read(regs.UNIT_HALTED)

    async def pc(self) -> int:
        return await self.unit.read(regs.UNIT_PC)

    async def halt(self, flags: int = 0) -> None:
        await self.unit.write(regs.UNIT_HALT, HALT | flags)
        await self.unit.step(12)
        assert await self.halted() != RUNS

    async def resume(self, flags: int = 0) -> None:
        await self.unit.write(regs.UNIT_HALT, flags)

    async def step(self) -> None:
        await self.unit.write(regs.UNIT_STEP, 1)
        await self.unit.step(12)

    async def carry_out(self, word: int) -> None:
        """One instruction in place of that at the PC."""
        unit, pc = self.unit, await self.pc()
        before = await unit.read(IMEM + pc)
        await unit.write(IMEM + pc, word)
        await self.step()
        assert await self.halted() == STEPPED
        await unit.write(IMEM + pc, before)
        await unit.write(regs.UNIT_PC, pc)
        assert await self.pc() == pc

    async def register(self, number: int) -> int:
        await self.carry_out(store(number, regs.RPU_CORE_DATA))
        return await self.unit.read(regs.UNIT_DATA)

    async def set_register(self, number: int, value: int) -> None:
        await self.unit.write(regs.UNIT_DATA, value)
        await self.carry_out(load(number, regs.RPU_CORE_DATA))


async def running(dut: Any, firmware: str) -> tuple[Unit, Debugger]:
    unit = Unit(dut)
    await unit.start()
    await unit.boot(firmware)
    return unit, Debugger(unit)


@cocotb.test()
async def costs_no_frame(dut: Any) -> None:
    """Halts at any time, mostly while forward.c waits for a frame, with steps, reads of registers, and pokes."""
    unit, debugger = await running(dut, "forward")
    rng = unit.rng
    unit.rx_pause = 0.95
    unit.to_send.extend(unit.random_frame(rng.choice([14, 64, 200])) for _ in range(150))
    while unit.to_send:
        await debugger.halt()
        for _ in range(rng.randrange(3)):
            number = rng.randrange(1, 32)
            value = await debugger.register(number)
            await debugger.set_register(number, rng.getrandbits(32))
            await debugger.set_register(number, value)
        if rng.random() < 0.3:
            await unit.write(regs.UNIT_POKE, 1)
        if rng.random() < 0.5:
            await debugger.step()
            if rng.random() < 0.5:
                await debugger.halt()
        await debugger.resume()
        await unit.step(rng.randrange(60))
    await unit.drained()
    unit.check_forwarded()
    assert await unit.read(regs.UNIT_ERRORS) == 0


@cocotb.test()
async def registers_keep_what_is_written(dut: Any) -> None:
    """All registers, in any order; afterwards the program goes on with its own values."""
    unit, debugger = await running(dut, "memory")
    for _ in range(2):
        await debugger.halt()
        own = {n: await debugger.register(n) for n in range(1, 32)}
        values = {n: unit.rng.getrandbits(32) for n in range(1, 32)}
        for n in unit.rng.sample(sorted(values), 31):
            await debugger.set_register(n, values[n])
        assert {n: await debugger.register(n) for n in range(1, 32)} == values
        await debugger.set_register(0, 0xFFFFFFFF)
        assert await debugger.register(0) == 0
        for n, value in own.items():
            await debugger.set_register(n, value)
        await debugger.resume()
        unit.to_send.extend(unit.random_frame(length) for length in (300, 64, 117, 14))
        await unit.drained()
        unit.check_forwarded(
            lambda frame: bytes((b + 1) % 256 for b in frame.data) if len(frame.data) <= 256 else frame.data
        )
        assert await unit.read(regs.UNIT_DEBUG_OUT_L) == 0


@cocotb.test()
async def a_load_that_waits(dut: Any) -> None:
    """HALT ends the wait. A step stays in it until a frame arrives, or HALT is written again."""
    unit, debugger = await running(dut, "forward")
    await unit.step(100)
    await debugger.halt()
    pc = await debugger.pc()
    word = await unit.read(IMEM + pc)
    rd = word >> 7 & 31
    assert word == load(rd, regs.RPU_CORE_RECV)
    for _ in range(2):
        await debugger.step()
        await unit.step(300)
        assert await debugger.halted() == RUNS
        await debugger.halt()
        assert (await debugger.halted(), await debugger.pc()) == (REQUEST, pc)
    # A poke is no reason to leave it: no interrupt is taken in a step.
    await unit.write(regs.UNIT_POKE, 1)
    await debugger.step()
    await unit.step(100)
    assert (await debugger.halted(), await unit.read(regs.UNIT_STATUS)) == (RUNS, 0)
    unit.to_send.append(unit.random_frame(100))
    await unit.step(100)
    assert (await debugger.halted(), await debugger.pc()) == (STEPPED, pc + 4)
    assert await debugger.register(rd) == 100 | unit.entered[0].slot << 16 | unit.entered[0].src << 24
    assert not unit.sent
    await debugger.resume()
    await unit.drained()
    # Let go while the step waits, it is a step no more.
    await debugger.halt()
    await debugger.step()
    await debugger.resume()
    await unit.step(100)
    unit.to_send.extend(unit.random_frame(100) for _ in range(5))
    await unit.drained()
    assert await debugger.halted() == RUNS
    unit.check_forwarded()


@cocotb.test()
async def breakpoints(dut: Any) -> None:
    """If enabled, ebreak halts the unit each time that the program reaches it; a halted unit does not count as hung."""
    unit, debugger = await running(dut, "forward")
    await debugger.halt()
    pc = await debugger.pc()
    place = pc + 4
    own = await unit.read(IMEM + place)
    await debugger.resume(BREAK)
    for _ in range(3):
        # All of the loop's frames but one go by where no breakpoint is: it is unrolled.
        await unit.write(IMEM + place, EBREAK)
        count = len(unit.entered)
        unit.to_send.extend(unit.random_frame(64) for _ in range(12))
        await unit.until(lambda: not unit.to_send)
        await unit.step(200)
        assert (await debugger.halted(), await debugger.pc()) == (EBREAK_HIT, place)
        assert len(unit.sent) < len(unit.entered) == count + 12
        held = await unit.read(regs.UNIT_HELD_CYCLES)
        await unit.step(300)
        assert await unit.read(regs.UNIT_HELD_CYCLES) == held < 200
        await unit.write(IMEM + place, own)
        await debugger.step()
        assert (await debugger.halted(), await debugger.pc()) == (STEPPED, place + 4)
        await debugger.resume(BREAK)
        await unit.drained()
    unit.check_forwarded()
    # Without that it is the exception it always was.
    await debugger.halt()
    await unit.write(IMEM + await debugger.pc(), EBREAK)
    pc = await debugger.pc()
    await debugger.resume()
    await unit.step(300)
    assert await debugger.halted() == RUNS
    told = [await unit.read(word) for word in (regs.UNIT_DEBUG_OUT_L, regs.UNIT_DEBUG_OUT_H)]
    assert told == [pc, BREAKPOINT]


@cocotb.test()
async def from_reset(dut: Any) -> None:
    """HALT outlasts a reset: the core halts at its first instruction, and again there when it is reset while it is
    halted.
    """
    unit = Unit(dut)
    await unit.start()
    debugger = Debugger(unit)
    await unit.load("forward")
    await unit.write(regs.UNIT_HALT, HALT)
    assert await debugger.halted() == RUNS, "in reset"
    await unit.write(regs.UNIT_RESET, 0)
    await unit.step(200)
    assert (await debugger.halted(), await debugger.pc(), unit.setups) == (REQUEST, 0, [])
    trail = []
    for _ in range(8):
        await debugger.step()
        trail.append(await debugger.pc())
    assert trail[0] > 4 and [b - a for a, b in pairwise(trail)].count(4) >= 6
    await debugger.resume()
    await unit.until(lambda: bool(unit.setups))
    unit.to_send.extend(unit.random_frame(64) for _ in range(3))
    await unit.drained()
    unit.check_forwarded()
    # Reset while frames are held, and another program.
    await debugger.halt()
    unit.to_send.extend(unit.random_frame(64) for _ in range(3))
    await unit.step(100)
    await unit.stop()
    assert await debugger.halted() == RUNS
    unit.entered, unit.sent, unit.freed = [], [], []
    await unit.load("memory")
    await unit.write(regs.UNIT_RESET, 0)
    await unit.step(100)
    assert (await debugger.halted(), await debugger.pc()) == (REQUEST, 0)
    assert await unit.read(regs.UNIT_ACTIVE_SLOTS) == 0
    unit.setups.clear()
    await debugger.resume()
    await unit.until(lambda: bool(unit.setups))
    unit.to_send.extend(unit.random_frame(300) for _ in range(3))
    await unit.drained()
    unit.check_forwarded()


@cocotb.test()
async def interrupts_wait(dut: Any) -> None:
    """An interrupt is taken when the core resumes. Its handler can be stepped through, and mret returns."""
    unit, debugger = await running(dut, "events")
    await debugger.halt()
    await unit.write(regs.UNIT_POKE, 1)
    for _ in range(20):
        await debugger.step()
        assert await unit.read(regs.UNIT_STATUS) == 0
        await debugger.register(5)
    pc = await debugger.pc()
    vector = await unit.read(IMEM + 4)
    await unit.write(IMEM + 4, EBREAK)
    await debugger.resume(BREAK)
    await unit.step(50)
    assert (await debugger.halted(), await debugger.pc()) == (EBREAK_HIT, 4)
    assert await unit.read(regs.UNIT_STATUS) == IN_TRAP
    await unit.write(IMEM + 4, vector)
    for _ in range(300):
        await debugger.step()
        if await debugger.pc() == pc:
            break
        assert await unit.read(regs.UNIT_STATUS) == IN_TRAP
    assert (await debugger.pc(), await unit.read(regs.UNIT_STATUS)) == (pc, 0)
    assert await unit.read(regs.UNIT_DEBUG_OUT_L) & 1 << 4
    await debugger.resume()
    unit.to_send.extend(unit.random_frame(64) for _ in range(10))
    await unit.drained()
    unit.check_forwarded()


CASES = {
    "costs_no_frame": [PROGRAMS / "forward.c"],
    "registers_keep_what_is_written": [FIRMWARE / "memory.c"],
    "a_load_that_waits": [PROGRAMS / "forward.c"],
    "breakpoints": [PROGRAMS / "forward.c"],
    "from_reset": [PROGRAMS / "forward.c", FIRMWARE / "memory.c"],
    "interrupts_wait": [FIRMWARE / "events.c"],
}


@pytest.mark.parametrize("case", CASES)
def test_debug(case: str) -> None:
    bench.run("test_debug", case, *CASES[case])
