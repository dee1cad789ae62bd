# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The host's window into a unit: every region, unmapped addresses, and answers in bounded time
whatever the unit does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import unit as bench
from unit import DMEM, FIRMWARE, IMEM, PMEM, PROGRAMS, TABLES, Access, Unit, regs

LONGEST_ANSWER = 24  # cycles, from the header of host_window.sv
POKE, EVICT = 1 << 4, 1 << 5
MAPPED = [
    (regs.UNIT_RESET, regs.UNIT_RESET + 0x100),
    (DMEM, DMEM + 0x8000),
    (PMEM, PMEM + 0x100000),
    (IMEM, IMEM + 0x10000),
    (TABLES, 0x4000000),
]


@cocotb.test()
async def regions_read_back(dut: Any) -> None:
    """Random words in every region, including the first and the last; the neighbours of a written word keep their
    values.
    """
    unit = Unit(dut)
    await unit.start(unit_id=13)
    words: dict[int, int] = {}
    for base, size in ((DMEM, 0x8000), (PMEM, 0x100000), (IMEM, 0x10000)):
        row = base + unit.rng.randrange(size // 64) * 64
        places = {base, base + size - 4, *(row + 4 * i for i in range(16))}
        places |= {base + unit.rng.randrange(size // 4) * 4 for _ in range(40)}
        for place in unit.rng.sample(sorted(places), len(places)):
            words[place] = unit.rng.getrandbits(32)
            await unit.write(place, words[place])
    for place in unit.rng.sample(sorted(words), len(words)):
        assert await unit.read(place) == words[place], hex(place)
    for place, value in (
        (TABLES, 0x01020304),
        (TABLES + 4 * 8191, 0xFFFF0000),
        (TABLES + 0x8000, 11),
        (TABLES + 0x10000, 9),
    ):
        await unit.write(place, value)
    for place, value in ((TABLES, 0x01020304), (TABLES + 4 * 8191, 0xFFFF0000), (TABLES + 0x8000, 11)):
        assert await unit.read(place) == value, hex(place)


@cocotb.test()
async def registers(dut: Any) -> None:
    """Values after power-up, of writable and of read-only registers."""
    unit = Unit(dut)
    await unit.start(unit_id=13)
    fixed = {
        regs.UNIT_RESET: 1,
        regs.UNIT_ENGINE: 0x00757072,
        regs.UNIT_ID: 13,
        regs.UNIT_STATUS: 1,
        regs.UNIT_ERRORS: 0,
        regs.UNIT_PC: 0,
        regs.UNIT_ACTIVE_SLOTS: 0,
        regs.UNIT_RX_FRAMES: 0,
        regs.UNIT_TX_FRAMES: 0,
        regs.UNIT_BLOCKED: 0,
        regs.UNIT_REFUSED: 0,
        regs.RPU_HOST_ACCEL: 1,
        regs.UNIT_HALT: 0,
        regs.UNIT_HALTED: 0,
    }
    for register, value in fixed.items():
        assert await unit.read(register) == value, hex(register)
    for register in (regs.UNIT_ENGINE, regs.UNIT_RX_FRAMES, regs.RPU_HOST_ACCEL, regs.UNIT_HALTED):
        await unit.access(register, 0xFFFFFFFF)
        assert await unit.read(register) == fixed[register]
    for register in (regs.UNIT_DEBUG_IN_L, regs.UNIT_DEBUG_IN_H):
        assert await unit.read(register) == 0
        await unit.write(register, 0x12345600 + register)
    for register in (regs.UNIT_DEBUG_IN_L, regs.UNIT_DEBUG_IN_H):
        assert await unit.read(register) == 0x12345600 + register
    for ns in (0x12_3456_789A, 7):
        await unit.write(regs.UNIT_TIME_H, ns >> 32)
        await unit.write(regs.UNIT_TIME_L, ns & 0xFFFFFFFF)
        for _ in range(2):
            assert await unit.read(regs.UNIT_TIME_L) == ns & 0xFFFFFFFF
            assert await unit.read(regs.UNIT_TIME_H) == ns >> 32
    await unit.write(regs.UNIT_TIME_RUN, 1)
    first = await unit.read(regs.UNIT_TIME_L)
    assert 7 < first < await unit.read(regs.UNIT_TIME_L) < 4000
    await unit.write(regs.UNIT_DATA, 0xDA7A0003)
    for value in (3, 0, 2, 1):
        await unit.write(regs.UNIT_HALT, 0xFFFFFFFC | value)
        assert await unit.read(regs.UNIT_HALT) == value
    assert await unit.read(regs.UNIT_DATA) == 0xDA7A0003


@cocotb.test()
async def nothing_there(dut: Any) -> None:
    """An access to an address that means nothing is answered as an error, and disturbs nothing."""
    unit = Unit(dut)
    await unit.start()
    for base in (DMEM, PMEM, IMEM):
        await unit.write(base, 0xA5A5A5A5)
    ends = [end for _, end in MAPPED] + [start - 4 for start, _ in MAPPED]
    places = [*ends, 0x0400000, 0x0FFFFFC, 0x1FFFFFC, *(unit.rng.randrange(1 << 24) * 4 for _ in range(60))]
    for place in places:
        mapped = any(start <= place < end for start, end in MAPPED)
        if 0 <= place < 1 << 26 and not mapped:
            assert (await unit.access(place)).err, hex(place)
            assert (await unit.access(place, 0)).err, hex(place)
    for base in (DMEM, PMEM, IMEM):
        assert await unit.read(base) == 0xA5A5A5A5


async def probe(unit: Unit, rounds: int) -> list[Access]:
    """Accesses of all kinds, spread at random, to places that the firmware does not use."""
    made = []
    for _ in range(rounds):
        kind = unit.rng.randrange(6)
        base = [regs.UNIT_DEBUG_IN_L, DMEM + 0x3000, PMEM + 0x7F00, IMEM + 0x8000, TABLES, 0x0400000][kind]
        place = base + (unit.rng.randrange(64) * 4 if 1 <= kind <= 3 else 0)
        value = unit.rng.getrandbits(32)
        made.append(await unit.access(place, value))
        made.append(await unit.access(place))
        assert made[-1].err == (kind == 5)
        assert kind == 5 or made[-1].value == value, hex(place)
        await unit.step(unit.rng.choice([0, 0, 1, 7]))
    return made


@cocotb.test()
async def answers_under_traffic(dut: Any) -> None:
    """The host's accesses are right and in time, and no frame suffers, while frames pass as fast as they can."""
    unit = Unit(dut)
    await unit.start()
    await unit.boot("forward")
    unit.to_send.extend(unit.random_frame(unit.rng.choice([14, 64, 64, 128, 600])) for _ in range(900))
    made = await probe(unit, 250)
    assert unit.to_send, "traffic ended before the host did"
    await unit.drained()
    unit.check_forwarded()
    longest = max(access.cycles for access in made)
    dut._log.info("host window: longest answer %d cycles", longest)
    assert longest <= LONGEST_ANSWER


@cocotb.test()
async def answers_while_the_core_hangs(dut: Any) -> None:
    """The same with a core that waits in RECV for ever, one that loops, and one that faulted."""
    unit = Unit(dut)
    await unit.start()
    for firmware in ("forward", "hang", "illegal"):
        await unit.boot(firmware)
        if firmware != "forward":
            unit.to_send.append(unit.random_frame(64, 0xEE))
        await unit.step(300)
        made = await probe(unit, 40)
        assert max(access.cycles for access in made) <= LONGEST_ANSWER
        await unit.stop()


@cocotb.test()
async def poke_evict_and_debug(dut: Any) -> None:
    """events.c counts the events that it received."""
    unit = Unit(dut)
    await unit.start()
    await unit.boot("events")
    await unit.write(regs.UNIT_DEBUG_IN_L, 0xBEEF)
    await unit.step(100)
    assert await unit.read(regs.UNIT_DEBUG_OUT_L) == 0
    assert await unit.read(regs.UNIT_STATUS) == 0
    await unit.write(regs.UNIT_POKE, 1)
    taken = [await unit.read(regs.UNIT_STATUS) for _ in range(60)]
    assert set(taken) == {0, 4} and taken[-1] == 0, "the interrupt is not seen to come and go"
    assert await unit.read(regs.UNIT_DEBUG_OUT_L) == POKE
    assert await unit.read(regs.UNIT_DEBUG_OUT_H) == 0xBEEF
    await unit.write(regs.UNIT_EVICT, 1)
    await unit.step(100)
    assert await unit.read(regs.UNIT_DEBUG_OUT_L) == POKE | EVICT
    assert await unit.read(regs.UNIT_STATUS) == 2
    unit.to_send.extend(unit.random_frame(64) for _ in range(20))
    await unit.drained()
    unit.check_forwarded()


CASES = {
    "regions_read_back": [PROGRAMS / "forward.c"],
    "registers": [PROGRAMS / "forward.c"],
    "nothing_there": [PROGRAMS / "forward.c"],
    "answers_under_traffic": [PROGRAMS / "forward.c"],
    "answers_while_the_core_hangs": [
        PROGRAMS / "forward.c",
        *(PROGRAMS / "bad" / f"{n}.c" for n in ("hang", "illegal")),
    ],
    "poke_evict_and_debug": [FIRMWARE / "events.c"],
}


@pytest.mark.parametrize("case", CASES)
def test_host_window(case: str) -> None:
    bench.run("test_host_window", case, *CASES[case])
