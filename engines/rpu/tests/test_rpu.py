# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The whole unit with real firmware, against a dispatcher, a host and a sink in plain Python.

PENSTOCK_SEED changes the random numbers.
"""

from __future__ import annotations

import random
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import unit as bench
from unit import FIRMWARE, PLACE, PROGRAMS, Access, Frame, Unit, regs

MAX_FRAME = 16384
WILD, DESCRIPTOR, DESTINATION = 1 << 8, 1 << 9, 1 << 10  # bits of ERRORS


async def running(dut: Any, firmware: str, unit_id: int = 0) -> Unit:
    """A unit that runs `firmware` and has declared its slots."""
    unit = Unit(dut)
    await unit.start(unit_id)
    await unit.boot(firmware)
    return unit


def random_lengths(rng: random.Random, count: int) -> list[int]:
    """Many small frames, all lengths around multiples of a beat, a few of the longest."""
    lengths = [rng.choice([14, 60, 64, 65, 127, 128, 129, 1514, rng.randint(14, 300)]) for _ in range(count)]
    lengths += [64 * n + d for n in (1, 2, 3, 4) for d in range(-12, 3)]
    lengths += [MAX_FRAME, MAX_FRAME - 1, MAX_FRAME - 10, MAX_FRAME - 9, 9001]
    rng.shuffle(lengths)
    return lengths


async def check_counters(unit: Unit, blocked: int = 0, refused: int = 0, errors: int = 0, generated: int = 0) -> None:
    def total(frames: list[Frame]) -> int:
        return sum(len(frame.data) for frame in frames)

    counts = {
        regs.UNIT_RX_FRAMES: len(unit.entered),
        regs.UNIT_RX_BYTES: total(unit.entered),
        regs.UNIT_RX_STALLS: unit.rx_stalls,
        regs.UNIT_TX_FRAMES: len(unit.sent),
        regs.UNIT_TX_BYTES: total(unit.sent),
        regs.UNIT_TX_STALLS: unit.tx_stalls,
        regs.UNIT_BLOCKED: blocked,
        regs.UNIT_REFUSED: refused,
        regs.UNIT_GENERATED: generated,
    }
    for register, value in counts.items():
        assert await unit.count(register) == value, hex(register)
    expected = {
        regs.UNIT_ERRORS: errors,
        regs.UNIT_ACTIVE_SLOTS: 0,
        regs.UNIT_HELD_CYCLES: 0,
    }
    for register, value in expected.items():
        assert await unit.read(register) == value, hex(register)


@cocotb.test()
async def forwards_frames_of_all_sizes(dut: Any) -> None:
    unit = await running(dut, "forward", unit_id=5)
    assert await unit.read(regs.UNIT_ID) == 5
    for pauses in ((0.0, 0.0), (0.3, 0.5), (0.8, 0.1), (0.0, 0.8)):
        unit.rx_pause, unit.tx_pause = pauses
        unit.to_send.extend(unit.random_frame(length) for length in random_lengths(unit.rng, 100))
        await unit.drained(80000)
    unit.check_forwarded()
    await check_counters(unit)


@cocotb.test()
async def keeps_up_with_small_frames(dut: Any) -> None:
    unit = await running(dut, "forward")
    unit.to_send.extend(unit.random_frame(64) for _ in range(400))
    await unit.drained()
    unit.check_forwarded()
    starts = unit.tx_first_cycles[100:-40]
    cycles = (starts[-1] - starts[0]) / (len(starts) - 1)
    dut._log.info("forward.c: %.2f cycles per 64-byte frame", cycles)
    assert cycles <= 8


@cocotb.test()
async def answers_soon(dut: Any) -> None:
    unit = await running(dut, "forward")
    for length in (64, 1514):
        unit.to_send.append(unit.random_frame(length))
        await unit.drained()
        latency = unit.tx_first_cycles[-1] - unit.rx_last_cycle
        dut._log.info("forward.c: %d bytes leave %d cycles after their last beat came", length, latency)
        assert latency <= 24
        await unit.step(50)
    unit.check_forwarded()


@cocotb.test()
async def interrupts_cost_no_frame(dut: Any) -> None:
    """Pokes at any time, most of them while forward.c waits for a frame: each is served, and no frame is lost or sent
    twice.
    """
    unit = await running(dut, "forward")
    unit.rx_pause = 0.97
    unit.to_send.extend(unit.random_frame(unit.rng.choice([14, 64, 200])) for _ in range(150))
    while unit.to_send:
        await unit.write(regs.UNIT_POKE, 1)
        await unit.step(unit.rng.randrange(120))
    await unit.drained()
    unit.check_forwarded()
    await check_counters(unit)
    # Also without any frame.
    await unit.step(200)
    assert await unit.read(regs.UNIT_STATUS) == 0
    await unit.write(regs.UNIT_EVICT, 1)
    await unit.step(200)
    assert await unit.read(regs.UNIT_STATUS) == 2


@cocotb.test()
async def loads_and_stores_while_frames_flow(dut: Any) -> None:
    """memory.c changes and checks the small frames; the long ones it forwards keep packet memory busy meanwhile."""
    unit = await running(dut, "memory")
    lengths = [14, 15, 63, 64, 65, 117, 128, 129, 200]
    for length in lengths:
        unit.to_send.append(unit.random_frame(length))
        unit.to_send.extend(unit.random_frame(unit.rng.choice([300, 1514, 5000, MAX_FRAME])) for _ in range(4))
    # The host reads data memory all the time, and wins the port that stores use.
    unit.accesses.extend(Access(bench.DMEM + 4 * (n % 64)) for n in range(2000))
    await unit.drained(200000)
    assert await unit.read(regs.UNIT_DEBUG_OUT_L) == 0
    unit.check_forwarded(
        lambda frame: bytes((b + 1) % 256 for b in frame.data) if len(frame.data) <= 256 else frame.data
    )
    await check_counters(unit)


@cocotb.test()
async def sends_as_firmware_says(dut: Any) -> None:
    """reframe.c: frames dropped, shortened, lengthened, to all kinds of ports, refused."""
    unit = await running(dut, "reframe")
    unit.rx_pause, unit.tx_pause = 0.2, 0.2
    actions = [unit.rng.randrange(8) for _ in range(300)]
    unit.to_send.extend(unit.random_frame(unit.rng.randint(18, 300), action) for action in actions)
    await unit.drained()
    data = {
        2: lambda data: data[4:],
        3: lambda data: bytes([0xA4, 0xA3, 0xA2, 0xA1]) + data,
    }
    port = {0: 8, 2: 8, 3: 9, 4: 2, 5: 0x43, 7: 9}
    expected = [
        (
            data.get(action, bytes)(frame.data),
            frame.src,
            port[action],
            PLACE[1] if action == 5 else frame.slot,
            frame.timestamp,
        )
        for action, frame in zip(actions, unit.entered, strict=True)
        if action in port
    ]
    got = [(f.data, f.src, f.dst, f.slot, f.timestamp) for f in unit.sent]
    for over_loopback in (False, True):  # those that wait for a place let the others pass
        assert [f for f in got if (f[2] >= 0x40) == over_loopback] == [
            f for f in expected if (f[2] >= 0x40) == over_loopback
        ]
    assert unit.places == [
        (port[5], len(frame.data), frame.hash & 0x7F)
        for action, frame in zip(actions, unit.entered, strict=True)
        if action == 5
    ]
    assert sorted(unit.freed) == sorted(frame.slot for frame in unit.entered)
    refused = actions.count(6)
    await check_counters(unit, actions.count(1), refused, DESCRIPTOR | DESTINATION)


@cocotb.test()
async def makes_frames(dut: Any) -> None:
    """generate.c: frames without a slot between frames with one, in order, even while the link stalls; impossible ones
    are reported.
    """
    unit = await running(dut, "generate", unit_id=5)
    expected: list[tuple[bytes, int, int, int, slice]] = []  # bytes, source, destination, slot, which bytes are known
    everything, behind_the_offset = slice(None), slice(bench.OFFSET, None)
    made = 0
    for pauses in ((0.0, 0.0), (0.3, 0.5), (0.0, 0.8), (0.8, 0.0)):
        unit.rx_pause, unit.tx_pause = pauses
        first = len(unit.entered)
        for _ in range(60):
            kind, number = unit.rng.choice([0, 1, 2, 3, 4, 16, 24]), unit.rng.randint(1, 8)
            frame = unit.random_frame(1600 if kind == 4 else unit.rng.randint(64, 300), kind)
            if kind in (1, 2):
                number = unit.rng.randint(1, len(frame.data) - 1) & 0xFF or 1
            frame.data = frame.data[:1] + bytes([number]) + frame.data[2:]
            unit.to_send.append(frame)
        await unit.drained(80000)
        for frame in unit.entered[first:]:
            kind, number = frame.data[:2]
            if kind in (1, 2):
                expected.append((frame.data[:number], 0x45, 8, 0, everything))
            elif kind in (3, 4):
                length = (64, 1500)[kind - 3]
                part = bytes(bench.OFFSET) + frame.data[: length - bench.OFFSET]
                expected += [(part, 0x45, 8, 0, behind_the_offset)] * number
            expected.append((frame.data, frame.src, 9, frame.slot, everything))
        made = sum(source == 0x45 for _, source, *_ in expected)
        await check_counters(unit, errors=DESCRIPTOR, generated=made)
    assert len(unit.sent) == len(expected)
    begun = [frame.timestamp for frame in unit.sent if frame.src == 0x45]
    assert begun == sorted(set(begun))
    for got, start, (data, source, destination, slot, known) in zip(
        unit.sent, unit.tx_first_cycles, expected, strict=True
    ):
        assert len(got.data) == len(data) and got.data[known] == data[known]
        assert (got.src, got.dst, got.slot) == (source, destination, slot)
        assert source != 0x45 or start - 3000 < got.timestamp < start
    # Impossible descriptors, each kind alone; the unit goes on.
    for kind in (*range(16, 26), 0):
        unit.tx_pause = 0.0
        unit.entered, unit.sent, unit.freed = [], [], []
        await unit.stop()
        await unit.boot("generate")
        unit.to_send.extend(unit.random_frame(100, kind) for _ in range(3))
        await unit.drained()
        await unit.step(50)
        assert [frame.data for frame in unit.sent] == [frame.data for frame in unit.entered]
        due = DESTINATION if kind in (21, 22, 23, 25) else DESCRIPTOR if kind else 0
        assert await unit.read(regs.UNIT_ERRORS) == due, kind
        assert await unit.read(regs.UNIT_GENERATED) == made


@cocotb.test()
async def makes_frames_fast(dut: Any) -> None:
    """Back to back, the card's link limits long frames, and the core limits short ones; the same
    holds for generator.c.
    """
    unit = await running(dut, "generate")
    for kind, length, limit in ((3, 64, 5), (4, 1500, 24)):
        unit.tx_first_cycles.clear()
        frame = unit.random_frame(1600, kind)
        frame.data = bytes([kind, 100]) + frame.data[2:]
        unit.to_send.append(frame)
        await unit.drained()
        starts = unit.tx_first_cycles[5:95]
        cycles = (starts[-1] - starts[0]) / (len(starts) - 1)
        dut._log.info("pn_generate: %.2f cycles per frame of %d bytes", cycles, length)
        assert cycles <= limit
    await unit.stop()
    unit.setups.clear()
    await unit.load("generator")
    await unit.write(regs.UNIT_RESET, 0)
    await unit.until(lambda: bool(unit.setups))
    for length, limit in ((64, 14), (1500, 26)):
        unit.sent.clear()
        unit.tx_first_cycles.clear()
        await unit.write(regs.UNIT_DEBUG_IN_H, 0)
        await unit.step(100)
        await unit.write(regs.UNIT_DEBUG_IN_L, length | 1 << 20)
        await unit.write(regs.UNIT_DEBUG_IN_H, 200)
        await unit.until(lambda: len(unit.sent) == 200, 40000)
        assert [len(frame.data) for frame in unit.sent] == [length] * 200
        assert [frame.data[42:46] for frame in unit.sent] == [n.to_bytes(4, "little") for n in range(200)]
        cycles = (unit.tx_first_cycles[-1] - unit.tx_first_cycles[8]) / 191
        dut._log.info("generator.c: %.2f cycles per frame of %d bytes", cycles, length)
        assert cycles <= limit


def ways_to_write(rng: random.Random) -> list[bytes]:
    """How descriptors.c writes a descriptor, as frames begin: every C statement, every order of fields, words and
    halfwords, many of bytes.
    """
    ways = [bytes([way]) for way in range(32)]
    stores = [
        *([(offset, width) for offset in order] for width in (4, 2) for order in permutations(range(0, 8, width))),
        *([(offset, 1) for offset in rng.sample(range(8), 8)] for _ in range(100)),
    ]
    for _ in range(100):
        # Widths mixed, and some parts written twice.
        left, mixed = set(range(8)), []
        while left:
            width = rng.choice([1, 2, 4])
            offset = rng.choice(sorted(left)) // width * width
            left -= set(range(offset, offset + width))
            mixed.append((offset, width))
        stores.append(mixed)
    ways += [bytes([32, len(order), *(number for store in order for number in store)]) for order in stores]
    rng.shuffle(ways)
    return ways


@cocotb.test()
async def takes_descriptors_however_written(dut: Any) -> None:
    unit = await running(dut, "descriptors")
    for way in ways_to_write(unit.rng):
        data = way + unit.rng.randbytes(unit.rng.randint(60, 200))
        unit.to_send.append(Frame(data, src=unit.rng.choice([0, 1])))
    await unit.drained(80000)
    unit.check_forwarded(lambda frame: frame.data[4:])
    await unit.step(20)
    assert await unit.read(regs.UNIT_ERRORS) == 0


async def check_is_store(unit: Unit, register: int) -> None:
    """The register has the address of a store of a word."""
    assert await unit.read(await unit.read(register) + bench.IMEM) & 0x707F == 0x2023


@cocotb.test()
async def survives_bad_firmware(dut: Any) -> None:
    """Wild addresses, slots given back twice, ports that do not exist: reported to the host. A wild access ends the
    program, the others do not."""
    unit = await running(dut, "double_release")
    unit.to_send.extend(unit.random_frame(length) for length in (64, 200, 64))
    await unit.drained()
    unit.check_forwarded()
    await unit.step(100)
    await check_counters(unit, errors=DESCRIPTOR)
    await check_is_store(unit, regs.RPU_HOST_DESCRIPTOR_PC)

    await unit.stop()
    assert await unit.read(regs.UNIT_ERRORS) == 0
    await unit.boot("nowhere")
    unit.to_send.extend(unit.random_frame(64) for _ in range(50))
    await unit.drained()
    assert len(unit.sent) == 3 and len(unit.freed) == 53
    await check_counters(unit, refused=50, errors=DESTINATION)
    await check_is_store(unit, regs.RPU_HOST_DESTINATION_PC)

    await unit.stop()
    await unit.boot("wild")
    unit.to_send.extend(unit.random_frame(length) for length in (64, 200, 1514, 14))
    await unit.until(lambda: len(unit.entered) == 57)
    await unit.step(2000)
    # The frame in hand may leave before the core takes the interrupt.
    assert len(unit.sent) <= 4 and len(unit.freed) <= 54
    assert await unit.read(regs.UNIT_ERRORS) == WILD
    assert await unit.read(regs.UNIT_ERROR_ADDR) == 0x0F000040
    await check_is_store(unit, regs.RPU_HOST_WILD_PC)


@cocotb.test()
async def nothing_lies_where_null_pointers_lead(dut: Any) -> None:
    """Loads and stores of every width below and after the registers are wild, and those to the registers are not."""
    unit = await running(dut, "pointer")
    last = 0
    for address, is_wild in (
        *((address, True) for address in (0, 4, 0x58, 0xFC, 0x100, 0x1FC, 0x200, 0x400, 0x5FC)),
        *((address, False) for address in (0x600, 0x658, 0x7FC, bench.DMEM + 0x3000)),
        *((address, True) for address in (0x800, 0xFFFC, 0x3FFFFC, 0xFFFFFFFC)),
    ):
        for access, width in enumerate((1, 2, 4) * 2):
            at = (address + unit.rng.randrange(4)) // width * width
            unit.to_send.append(Frame(bytes([access]) + at.to_bytes(4, "little") + bytes(59)))
            await unit.drained()
            last = at if is_wild else last
            assert await unit.read(regs.UNIT_ERROR_ADDR) == last, f"access {access} at {at:#x}"
    assert await unit.read(regs.UNIT_ERRORS) == WILD


@cocotb.test()
async def dies_and_lives_again(dut: Any) -> None:
    """A fault and an endless loop are seen from outside, where the host still reads and writes; a reset brings the unit
    back.
    """
    unit = await running(dut, "illegal")
    unit.to_send.append(unit.random_frame(64))
    await unit.step(400)
    assert not unit.sent
    assert await unit.read(regs.UNIT_DEBUG_OUT_H) == 2
    assert await unit.read(await unit.read(regs.UNIT_DEBUG_OUT_L) + bench.IMEM) == 0xC0001073

    await unit.stop()
    await unit.boot("hang")
    unit.to_send.extend([unit.random_frame(100, 1), *(unit.random_frame(100, 0xEE) for _ in range(4))])
    await unit.until(lambda: len(unit.sent) == 1)
    await unit.step(300)
    slots = [frame.slot for frame in unit.entered[-4:]]
    assert await unit.read(regs.UNIT_ACTIVE_SLOTS) == sum(1 << (slot - 1) for slot in slots)
    held = await unit.read(regs.UNIT_HELD_CYCLES)
    await unit.step(100)
    assert 100 <= await unit.read(regs.UNIT_HELD_CYCLES) - held <= 140
    assert 4 <= await unit.read(regs.UNIT_PC) < 4096
    assert len(unit.sent) == 1
    await unit.stop()
    assert await unit.read(regs.UNIT_ACTIVE_SLOTS) == 0
    unit.entered, unit.sent, unit.freed = [], [], []
    await unit.boot("hang")
    unit.to_send.extend(unit.random_frame(length, 1) for length in (64, 65, 1514) * 20)
    await unit.drained()
    unit.check_forwarded()


@cocotb.test()
async def a_reset_waits_for_what_is_to_be_sent(dut: Any) -> None:
    """Frames that wait for a place when the unit is reset leave as they are, and give their slots back before the next
    program runs.
    """
    unit = await running(dut, "loopback")
    unit.place_rate = 0.0
    unit.to_send.extend(unit.random_frame(100) for _ in range(3))
    await unit.step(300)
    assert len(unit.entered) == 3 and not unit.sent
    unit.setups.clear()
    await unit.write(regs.UNIT_RESET, 1)
    await unit.load("forward")
    await unit.write(regs.UNIT_RESET, 0)
    await unit.step(500)
    assert not unit.setups and not unit.freed
    unit.place_rate = 0.2
    await unit.until(lambda: bool(unit.setups))
    assert [frame.data[1:] for frame in unit.sent] == [frame.data[1:] for frame in unit.entered]
    assert unit.freed == [frame.slot for frame in unit.entered]
    unit.entered, unit.sent, unit.freed = [], [], []
    unit.to_send.extend(unit.random_frame(64) for _ in range(40))
    await unit.drained()
    unit.check_forwarded()


@cocotb.test()
async def stores_hold_no_frames_up(dut: Any) -> None:
    """A program that stores in every cycle leaves frames half of the cycles of the memories: they come in and go out at
    half the link's rate or more.
    """
    unit = await running(dut, "stores")
    for where in range(4):
        # In: the program takes none of them.
        await unit.write(regs.UNIT_DEBUG_IN_L, 0x100 | where)
        for length, rows in ((64, 4), (128, 6), (1500, 26), (9000, 144)):
            before, count = await unit.read(regs.UNIT_RX_FRAMES), 7
            unit.to_send.extend(unit.random_frame(length) for _ in range(count))
            start = unit.cycle
            while await unit.read(regs.UNIT_RX_FRAMES) < before + count:
                assert unit.cycle < start + 30000, "the frames do not come in"
            took = unit.cycle - start
            dut._log.info(f"stores {where}: {count} frames of {length} B came in within {took} cycles")
            assert took <= 2 * rows * count + 60
        # Out: all of them.
        await unit.write(regs.UNIT_DEBUG_IN_L, where)
        await unit.drained(60000)
        unit.to_send.append(unit.random_frame(MAX_FRAME))
        await unit.drained(60000)
        took = unit.cycle - unit.tx_first_cycles[-1]
        dut._log.info(f"stores {where}: {MAX_FRAME} B left within {took} cycles")
        assert took <= 2 * MAX_FRAME // bench.BEAT + 20
    unit.check_forwarded()
    await check_counters(unit)


@cocotb.test()
async def copies_headers_where_told(dut: Any) -> None:
    """forward.c gets header copies and nothing beside them in data memory; bare.c, which declares no place for them,
    gets none.
    """
    unit = await running(dut, "forward")
    for place in range(bench.HEADERS, bench.DMEM + 0x6000, 4):
        await unit.write(place, 0x5A5A5A5A)
    unit.to_send.extend(unit.random_frame(length) for length in (14, 64, 128, 1514, 63, 127) * 5)
    # The host wins the port through which the copies go.
    unit.accesses.extend(Access(bench.DMEM + 0x3000) for _ in range(100))
    await unit.until(lambda: not unit.accesses)
    await unit.drained()
    memory = bytearray(b"\x5a" * 0x2000)
    for frame in unit.entered:
        start = (frame.slot - 1) * bench.HEADER_SPACING + bench.OFFSET
        memory[start : start + len(frame.data[:128])] = frame.data[:128]

    async def dump() -> bytes:
        words = [await unit.read(place) for place in range(bench.HEADERS, bench.DMEM + 0x6000, 4)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    assert await dump() == memory
    await unit.stop()
    await unit.boot("bare")
    unit.to_send.extend(unit.random_frame(64) for _ in range(40))
    await unit.drained()
    unit.check_forwarded()
    assert await dump() == memory


CASES = {
    "forwards_frames_of_all_sizes": [PROGRAMS / "forward.c"],
    "keeps_up_with_small_frames": [PROGRAMS / "forward.c"],
    "answers_soon": [PROGRAMS / "forward.c"],
    "interrupts_cost_no_frame": [PROGRAMS / "forward.c"],
    "loads_and_stores_while_frames_flow": [FIRMWARE / "memory.c"],
    "stores_hold_no_frames_up": [FIRMWARE / "stores.c"],
    "copies_headers_where_told": [PROGRAMS / "forward.c", FIRMWARE / "bare.c"],
    "sends_as_firmware_says": [FIRMWARE / "reframe.c"],
    "nothing_lies_where_null_pointers_lead": [FIRMWARE / "pointer.c"],
    "takes_descriptors_however_written": [FIRMWARE / "descriptors.c"],
    "makes_frames": [FIRMWARE / "generate.c"],
    "makes_frames_fast": [FIRMWARE / "generate.c", PROGRAMS / "generator.c"],
    "survives_bad_firmware": [PROGRAMS / "bad" / f"{name}.c" for name in ("wild", "double_release", "nowhere")],
    "a_reset_waits_for_what_is_to_be_sent": [PROGRAMS / "loopback.c", PROGRAMS / "forward.c"],
    "dies_and_lives_again": [PROGRAMS / "bad" / f"{name}.c" for name in ("illegal", "hang")],
}


@pytest.mark.parametrize("case", CASES)
def test_rpu(case: str) -> None:
    bench.run("test_rpu", case, *CASES[case])


def test_counters_beyond_32_bits() -> None:
    case = "forwards_frames_of_all_sizes"
    bench.run("test_rpu", case, *CASES[case], first_count=(1 << 32) - 100)
