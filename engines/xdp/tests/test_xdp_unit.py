# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The xdp unit: frames in and out through programs of a few rows, its maps, its counters."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest
import xdp_isa as isa
from penstock import regs
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "rpu" / "tests"))

from rows import BUFFER, Lane, Machine, Row, control, load, opcode, store
from unit import Frame, Unit

MAPS, ROWS = 0x1000000, 0x2000000
BANK_BYTES, ROW_BYTES = 0x40000, 128
BUFFERS = 32
CONTEXTS = 16
LONGEST = isa.SIZE_PACKET_END - 256
LANES = 4
DROP, PASS, TX, REDIRECT = 1, 2, 3, 4
PORTS = [0, 1]


def row(*lanes: Lane, window: int = 0) -> Row:
    words = [lane.word() for lane in lanes]
    return Row(window, words + [Lane().word()] * (LANES - len(words)))


def jump(target: int) -> Lane:
    return Lane(isa.OP_JMP, b=isa.SOURCE_ZERO, imm=target)


def leave(verdict: int) -> Lane:
    return jump(1 << isa.TARGET_EXIT_AT | verdict)


def ask(
    dst: int,
    kind: int,
    a: int,
    b: int,
    count: int = 8,
    atomic: int = 0,
    silent: bool = False,
    sign: bool = False,
    swap: bool = False,
) -> Lane:
    what = kind | count << isa.REQUEST_COUNT_AT | atomic << isa.REQUEST_ATOMIC_AT
    what |= int(sign) << isa.REQUEST_SIGNED_AT | int(swap) << isa.REQUEST_SWAP_AT
    lane = Lane(isa.OP_EXT, dst, a, b, what | int(silent) << isa.REQUEST_SILENT_AT)
    return lane


class Xdp(Unit):
    """The unit with its rows."""

    async def program(self, rows: list[Row], bank: int = 0, first: int = 0) -> None:
        for number, line in enumerate(rows, first):
            base = ROWS + bank * BANK_BYTES + number * ROW_BYTES
            await self.write(base, line.control)
            for lane, word in enumerate(line.lanes):
                await self.write(base + 8 + 8 * lane, word & 0xFFFFFFFF)
                await self.write(base + 12 + 8 * lane, word >> 32)

    async def begin(self, rows: list[Row], by_flow: bool = False) -> None:
        await self.start(2)
        await self.program(rows)
        await self.write(regs.XDP_HOST_BY_FLOW, int(by_flow))
        await self.write(regs.UNIT_RESET, 0)
        await self.until(lambda: bool(self.setups))
        assert self.setups == [(BUFFERS, LONGEST)]

    async def counted(self, **counts: int) -> None:
        for name, value in counts.items():
            shared = getattr(regs, f"UNIT_{name.upper()}", None)
            register = getattr(regs, f"XDP_HOST_{name.upper()}") if shared is None else shared
            assert await self.read(register) == value, name

    def entries(self) -> Counter[tuple[bytes, int, int]]:
        return Counter((frame.data, frame.src, frame.timestamp) for frame in self.entered)

    def exits(self) -> Counter[tuple[bytes, int, int]]:
        return Counter((frame.data, frame.src, frame.timestamp) for frame in self.sent)


def sizes(rng: random.Random, count: int) -> list[int]:
    corners = [14, 15, 60, 63, 64, 65, 127, 128, 129, 1514, LONGEST - 1, LONGEST]
    return corners + [rng.choice([rng.randrange(14, 200), rng.randrange(14, 1600)]) for _ in range(count)]


@cocotb.test()
async def sends_back(dut: Any) -> None:
    """XDP_TX in one row: all frames return to their source unchanged, with stalls on both sides."""
    unit = Xdp(dut)
    await unit.begin([row(leave(TX))])
    unit.rx_pause, unit.tx_pause = 0.2, 0.2
    unit.to_send.extend(unit.random_frame(size) for size in sizes(unit.rng, 150))
    await unit.drained(100_000)
    assert unit.exits() == unit.entries()
    assert all(frame.dst == frame.src for frame in unit.sent)
    await unit.counted(rx_frames=len(unit.entered), tx_frames=len(unit.entered), blocked=0, aborted=0, active_slots=0)


@cocotb.test()
async def stores_hold_no_frames_up(dut: Any) -> None:
    """Contexts that store in every cycle leave frames half of packet memory's cycles. Frames that begin with 1 do so in
    1000 rows.
    """
    unit = Xdp(dut)
    data, add, unless = control(isa.SOURCE_DATA), opcode("add", True), opcode("br.ne", True)
    program = [
        row(load(0, 0, 1), Lane(), Lane(opcode("mov", True), 0, imm=500), window=data),
        row(Lane(unless, 0, 0, isa.SOURCE_ZERO, 3)),
        row(leave(TX)),
        row(store(0, 8, 8), Lane(), Lane(add, 0, 16, None, -1), window=data),
        row(store(0, 8, 8), Lane(unless, 0, 16, isa.SOURCE_ZERO, 3), window=data),
        row(leave(TX)),
    ]
    await unit.begin(program)
    unit.to_send.extend(unit.random_frame(64, 1) for _ in range(CONTEXTS - 1))
    await unit.until(lambda: not unit.to_send)
    await unit.step(200)
    # Through the unit: one more frame, to the last context, which sends it back
    beats = -(-LONGEST // 64)
    start = unit.cycle
    unit.to_send.append(unit.random_frame(LONGEST, 0))
    await unit.until(lambda: bool(unit.sent), 20_000)
    dut._log.info(f"{LONGEST} B in and out again within {unit.cycle - start} cycles")
    assert unit.cycle - start <= 2 * 2 * beats + 200 and unit.sent[0].data[0] == 0
    # Input: frames for which there is one context, and buffers
    start, count = unit.cycle, BUFFERS - CONTEXTS + 1
    unit.to_send.extend(unit.random_frame(LONGEST, 1) for _ in range(count))
    await unit.until(lambda: unit.rx_last_cycle > start and not unit.to_send and not unit._beats, 50_000)
    dut._log.info(f"{count} frames of {LONGEST} B in within {unit.cycle - start} cycles")
    assert unit.cycle - start <= 2 * beats * count + 100
    assert len(unit.sent) == 1, "the others are through already"
    await unit.drained(100_000)
    marked = Counter(
        f.data[:8] + (1).to_bytes(8, "little") + f.data[16:] if f.data[0] else f.data for f in unit.entered
    )
    assert Counter(frame.data for frame in unit.sent) == marked
    await unit.counted(active_slots=0, aborted=0)


@cocotb.test()
async def verdicts(dut: Any) -> None:
    """The first byte selects the verdict; a verdict that does not exist aborts."""
    unit = Xdp(dut)
    program = [
        row(load(0, 0, 1), Lane(isa.OP_REDIR, 0, 0), window=control(isa.SOURCE_DATA)),
        row(load(0, 0, 1), load(0, 1, 1), window=control(isa.SOURCE_DATA)),
        row(Lane(isa.OP_EXIT, a=0), Lane(isa.OP_REDIR, 1, 8)),
    ]
    await unit.begin(program)
    frames = []
    for verdict in [*range(7)] * 12:
        for target in (0, 1, 2, 3, 16):
            data = bytes([verdict, target]) + unit.rng.randbytes(unit.rng.randrange(40, 300))
            frames.append(Frame(data, src=unit.rng.choice(PORTS)))
    unit.rng.shuffle(frames)
    unit.to_send.extend(frames)
    await unit.drained(50_000)
    expected: Counter[tuple[bytes, int]] = Counter()
    refused = 0
    for frame in frames:
        verdict, target = frame.data[:2]
        place = {PASS: 2, TX: frame.src, REDIRECT: {1: 0, 2: 1, 16: 2}.get(target)}.get(verdict)
        refused += verdict == REDIRECT and place is None
        if place is not None:
            expected[frame.data, place] += 1
    assert Counter((frame.data, frame.dst) for frame in unit.sent) == expected
    of = Counter(frame.data[0] for frame in frames)
    await unit.counted(blocked=of[DROP], aborted=of[0] + of[5] + of[6], refused=refused, active_slots=0)


@cocotb.test()
async def grows_and_shrinks(dut: Any) -> None:
    """The packet's first two bytes move its head, and the next two its tail; the bytes at head and tail are checked.
    New bytes at the head are 0, whatever earlier packets have stored there. Some packets are dropped after that."""
    unit = Xdp(dut)
    move = [
        row(
            load(0, 0, 2, sign=True),
            load(0, 2, 2, sign=True),
            load(0, 4, 8),
            window=control(isa.SOURCE_DATA),
        ),
        row(Lane(isa.OP_ADJH, 1, 0)),
        row(Lane(isa.OP_ADJT, 2, 8)),
        row(store(16, 0, 8), store(16, 8, 2), window=control(isa.SOURCE_DATA)),
        row(Lane(opcode("and", True), 1, 16, None, 1)),
        row(Lane(opcode("br.ne", True), 0, 1, isa.SOURCE_ZERO, 7)),
        row(leave(TX)),
        row(leave(DROP)),
    ]
    await unit.begin(move)
    frames = []
    for _ in range(10 * BUFFERS):
        head, tail = unit.rng.randrange(-216, 60), -unit.rng.randrange(0, 40)
        length = unit.rng.randrange(130, 400)
        data = head.to_bytes(2, "little", signed=True) + tail.to_bytes(2, "little", signed=True)
        frames.append(Frame(data + unit.rng.randbytes(length - 4)))
    unit.to_send.extend(frames)
    await unit.drained(50_000)
    expected = Counter()
    for frame in frames:
        if frame.data[4] & 1:
            continue
        head = int.from_bytes(frame.data[:2], "little", signed=True)
        tail = int.from_bytes(frame.data[2:4], "little", signed=True)
        moved = (bytes(max(-head, 0)) + frame.data[max(head, 0) :])[: len(frame.data) + tail - head]
        expected[frame.data[4:12] + frame.data[4:6] + moved[10:]] += 1
    assert Counter(frame.data for frame in unit.sent) == expected
    assert len(unit.sent) not in (0, len(frames))
    await unit.counted(active_slots=0)


@cocotb.test()
async def sees_the_time(dut: Any) -> None:
    """Programs see the unit's time. It counts 4 ns a cycle, stands where the host sets it, and goes on from there."""
    unit = Xdp(dut)
    await unit.begin(
        [
            row(Lane(opcode("add", True), 0, isa.SOURCE_TIME, None, 0)),
            row(store(0, 0, 8), window=control(isa.SOURCE_DATA)),
            row(leave(TX)),
        ]
    )

    async def time() -> int:
        low = await unit.read(regs.UNIT_TIME_L)
        return await unit.read(regs.UNIT_TIME_H) << 32 | low

    async def seen() -> int:
        unit.to_send.append(unit.random_frame(64))
        await unit.drained(10_000)
        return int.from_bytes(unit.sent[-1].data[:8], "little")

    async def goes_on() -> None:
        before, cycle = await time(), unit.cycle
        told = await seen()
        after, cycles = await time(), unit.cycle - cycle
        assert before < told < after and abs(after - before - 4 * cycles) <= 80

    await goes_on()
    for ns in (0x12_3456_789A, 7, (1 << 64) - 1):
        await unit.write(regs.UNIT_TIME_H, ns >> 32)
        await unit.write(regs.UNIT_TIME_L, ns & 0xFFFFFFFF)
        for _ in range(3):
            assert await seen() == ns == await time()
    await unit.write(regs.UNIT_TIME_H, 1)
    await unit.write(regs.UNIT_TIME_L, (1 << 32) - 100)
    await unit.write(regs.UNIT_TIME_RUN, 1)
    await goes_on()
    assert 2 << 32 < await time() < (2 << 32) + 100_000


@cocotb.test()
async def counts(dut: Any) -> None:
    """Each context counts its frames in the unit's maps; division, and a load after a store without an answer."""
    unit = Xdp(dut)
    program = [
        row(
            Lane(opcode("and", True), 0, isa.SOURCE_CPU, None, CONTEXTS - 1),
            Lane(opcode("mov", True), 0, imm=1),
            load(0, 0, 4),
            Lane(opcode("mov", True), 0, imm=7),
            window=control(isa.SOURCE_DATA),
        ),
        row(Lane(opcode("lsh", True), 0, 0, None, 4)),
        row(Lane(opcode("or", True), 0, 0, None, isa.ADDRESS_UNIT_MAPS)),
        row(
            ask(0, isa.KIND_ATOMIC, 0, 8, atomic=isa.ATOMIC_ADD, silent=True), Lane(opcode("add", True), 1, 0, None, 9)
        ),
        row(ask(1, isa.KIND_STORE, 9, 16, count=4, silent=True)),
        row(ask(1, isa.KIND_LOAD, 9, 8, count=4)),
        row(ask(2, isa.KIND_DIV, 1, 24)),
        row(store(2, 0, 4), window=control(isa.SOURCE_DATA)),
        row(leave(TX)),
    ]
    await unit.begin(program, by_flow=True)
    for word in range(0, 256, 4):
        await unit.write(MAPS + word, 0)
    frames = [unit.random_frame(unit.rng.randrange(14, 100)) for _ in range(120)]
    unit.to_send.extend(frames)
    await unit.drained(50_000)
    expected = Counter(
        (int.from_bytes(frame.data[:4], "little") // 7).to_bytes(4, "little") + frame.data[4:] for frame in frames
    )
    assert Counter(frame.data for frame in unit.sent) == expected
    by_context = Counter(frame.hash >> 7 & CONTEXTS - 1 for frame in frames)
    for context in range(CONTEXTS):
        assert await unit.read(MAPS + 16 * context) == by_context[context]
    await unit.counted(wild=0)


@cocotb.test()
async def ends_with_a_request(dut: Any) -> None:
    """Short programs that count in the row in which they end, while other contexts divide all the time: each count is
    made, once."""
    unit = Xdp(dut)
    program = [
        row(
            load(0, 0, 1),
            load(0, 1, 4),
            Lane(opcode("mov", True), 0, imm=isa.ADDRESS_UNIT_MAPS),
            Lane(opcode("mov", True), 0, imm=3),
            window=control(isa.SOURCE_DATA),
        ),
        row(Lane(opcode("br.ne", True), 0, 0, isa.SOURCE_ZERO, 3)),
        row(ask(1, isa.KIND_ATOMIC, 16, 24, atomic=isa.ATOMIC_ADD, silent=True), leave(DROP)),
        *[row(ask(1, isa.KIND_DIV, 8, 24, count=0))] * 5,
        row(store(1, 8, 4), leave(TX), window=control(isa.SOURCE_DATA)),
    ]
    await unit.begin(program)
    await unit.write(MAPS, 0)
    await unit.write(MAPS + 4, 0)
    frames = [Frame(bytes([index % 6 == 0]) + unit.rng.randbytes(63)) for index in range(400)]
    unit.to_send.extend(frames)
    await unit.drained(100_000)
    divided = [frame.data for frame in frames if frame.data[0]]
    expected = Counter(
        data[:8] + (int.from_bytes(data[1:5], "little") // 3).to_bytes(4, "little") + data[12:] for data in divided
    )
    assert Counter(frame.data for frame in unit.sent) == expected
    counted = len(frames) - len(divided)
    assert await unit.read(MAPS) == 3 * counted
    await unit.counted(blocked=counted, active_slots=0, wild=0)


@cocotb.test()
async def reaches_its_memories(dut: Any) -> None:
    """Loads and stores by address, of stack and packet, from any byte on, while the packet arrives: as plain Python
    does them. Registers of lane 0: 0 where, 1 what was loaded; of lane 1 what is stored, of lane 2 where by another
    number."""
    unit = Xdp(dut)
    unit.rx_pause = 0.6
    rng = unit.rng
    wide = opcode("add", True)
    packet = control(isa.SOURCE_DATA)
    program = []
    for turn in range(10):
        # At multiples of 16 bytes the stores overlap earlier ones.
        mask = 0x1FF if turn < 3 else 0x1F7 if turn < 6 else 0xF
        own = [isa.ADDRESS_STACK, isa.ADDRESS_STACK + 80, isa.ADDRESS_PACKET + 256]
        to, of = rng.choice(own), rng.choice(own)
        program += [
            row(load(0, 4 * turn, 2), load(0, 4 * turn + 1, 8), load(0, 4 * turn + 2, 2), window=packet),
            row(*(Lane(opcode("and", True), 0, 8 * lane, None, mask if lane % 2 == 0 else -1) for lane in range(3))),
            row(Lane(wide, 0, 0, None, to), Lane(), Lane(wide, 0, 16, None, of)),
            row(ask(2, isa.KIND_STORE, 0, 8, rng.randrange(1, 9), silent=rng.random() < 0.5, swap=rng.random() < 0.5)),
        ]
        for at in (0, 16):
            kind = {"count": rng.randrange(1, 9), "sign": rng.random() < 0.5, "swap": rng.random() < 0.5}
            program.append(row(ask(1, isa.KIND_LOAD, at, isa.SOURCE_ZERO, **kind)))
            program.append(row(store(1, 0, 8), window=control(isa.SOURCE_DATA, 8 + 2 * turn + at // 16)))
    await unit.begin([*program, row(leave(TX))])
    frames = [Frame(rng.randbytes(rng.choice([776, 800, 1200]))) for _ in range(60)]
    unit.to_send.extend(frames)
    await unit.drained(100_000)
    expected: Counter[bytes] = Counter()
    for frame in frames:
        end = 256 + len(frame.data)
        machine = Machine(LANES, bytearray(bytes(256) + frame.data + bytes(BUFFER - end)), 256, 256, end)
        assert machine.run([*program, row(leave(TX))]) == TX
        expected[bytes(machine.buffer[256:end])] += 1
    assert Counter(frame.data for frame in unit.sent) == expected
    # A row that was held for bytes counts once.
    await unit.counted(wild=0, rows=len(frames) * (len(program) + 1))


@cocotb.test()
async def guards_arguments(dut: Any) -> None:
    """Arguments whose guard does not hold keep their old values: compare-and-exchange compares with them."""
    unit = Xdp(dut)
    program = [
        row(
            Lane(opcode("and", True), 0, isa.SOURCE_CPU, None, CONTEXTS - 1),
            Lane(opcode("mov", True), 0, imm=5),
            load(0, 0, 1),
            Lane(opcode("mov", True), 0, imm=9),
            window=control(isa.SOURCE_DATA),
        ),
        row(Lane(opcode("lsh", True), 0, 0, None, 4)),
        row(Lane(opcode("or", True), 0, 0, None, isa.ADDRESS_UNIT_MAPS), Lane(isa.OP_ARG, 1, 8, isa.SOURCE_ZERO)),
        row(ask(1, isa.KIND_STORE, 0, 8, silent=True)),
        row(Lane(), Lane(isa.OP_ARG, 1, 24, isa.SOURCE_ZERO, guard=(2, True)), Lane(opcode("cmp.gt"), a=16, imm=127)),
        row(ask(1, isa.KIND_ATOMIC, 0, 24, atomic=isa.ATOMIC_CMPXCHG)),
        row(ask(2, isa.KIND_LOAD, 0, isa.SOURCE_ZERO)),
        row(store(2, 8, 8), leave(TX), window=control(isa.SOURCE_DATA)),
    ]
    await unit.begin(program)
    frames = [unit.random_frame(64) for _ in range(60)]
    unit.to_send.extend(frames)
    await unit.drained(50_000)
    found = {True: (5).to_bytes(8, "little"), False: (9).to_bytes(8, "little")}
    expected = Counter(frame.data[:8] + found[frame.data[0] > 127] + frame.data[16:] for frame in frames)
    assert Counter(frame.data for frame in unit.sent) == expected


@cocotb.test()
async def keeps_flows_in_order(dut: Any) -> None:
    """By flow, frames of a flow leave in their order of arrival, however long each takes."""
    unit = Xdp(dut)
    program = [
        row(load(0, 0, 1), window=control(isa.SOURCE_DATA)),
        row(Lane(opcode("br.eq", True), 0, 0, isa.SOURCE_ZERO, 1 << isa.TARGET_EXIT_AT | TX)),
        row(Lane(opcode("sub", True), 0, 0, None, 1), jump(1)),
    ]
    await unit.begin(program, by_flow=True)
    unit.rx_pause = 0.3
    frames = [
        Frame(bytes([unit.rng.randrange(0, 12)]) + unit.rng.randbytes(63), hash=unit.rng.choice([0x80, 0x101, 0x17F]))
        for _ in range(150)
    ]
    unit.to_send.extend(frames)
    await unit.drained(50_000)
    for context in range(CONTEXTS):
        came = [frame.data for frame in frames if frame.hash >> 7 & CONTEXTS - 1 == context]
        assert [frame.data for frame in unit.sent if frame.data in set(came)] == came


@cocotb.test()
async def swaps_programs(dut: Any) -> None:
    """A program in the other bank takes over between two frames; none is lost."""
    unit = Xdp(dut)
    await unit.begin([row(), row(), row(leave(TX))])
    unit.to_send.extend(unit.random_frame(unit.rng.randrange(60, 200)) for _ in range(60))
    await unit.step(100)
    await unit.program([row(), row(leave(PASS))], bank=1)
    unit.to_send.extend(unit.random_frame(unit.rng.randrange(60, 200)) for _ in range(60))
    await unit.step(40)
    await unit.write(regs.XDP_HOST_BANK, 1)
    unit.to_send.extend(unit.random_frame(unit.rng.randrange(60, 200)) for _ in range(60))
    await unit.drained(50_000)
    assert unit.exits() == unit.entries()
    where = Counter("host" if frame.dst == 2 else "back" for frame in unit.sent)
    assert where["back"] >= 20 and where["host"] >= 60, where
    assert await unit.read(regs.XDP_HOST_WORKING) == 0


@cocotb.test()
async def keeps_up(dut: Any) -> None:
    """Frames of 64 bytes: four in five cycles when one row drops them; a row a cycle when all contexts are busy."""
    unit = Xdp(dut)
    await unit.begin([row(leave(DROP))])

    async def cycles(count: int) -> int:
        unit.to_send.extend(unit.random_frame(64) for _ in range(count))
        begin = unit.cycle
        await unit.drained(50_000)
        return unit.cycle - begin

    # The difference of two runs has neither their beginning nor their end.
    dropped = await cycles(600) - await cycles(200)
    dut._log.info("dropped in one row: %.2f cycles a frame", dropped / 400)
    assert dropped <= 1.27 * 400
    before = await unit.read(regs.XDP_HOST_ROWS)
    await unit.program([row()] * 15 + [row(leave(TX))], bank=1)
    await unit.write(regs.XDP_HOST_BANK, 1)
    sent = await cycles(300) - await cycles(100)
    dut._log.info("16 rows: %.2f cycles a frame", sent / 200)
    assert await unit.read(regs.XDP_HOST_ROWS) - before == 16 * 400
    assert sent <= 16.2 * 200


CASES = [
    "sends_back",
    "verdicts",
    "grows_and_shrinks",
    "sees_the_time",
    "counts",
    "ends_with_a_request",
    "reaches_its_memories",
]
CASES += ["stores_hold_no_frames_up", "guards_arguments", "keeps_flows_in_order", "swaps_programs", "keeps_up"]


@pytest.mark.parametrize("case", CASES)
def test_xdp_unit(case: str) -> None:
    """The coroutine of that name describes the test."""
    simulate(
        "xdp_bench",
        ["engines/xdp/rtl/rtl.f", "lib/sim/axi_absent.sv", "engines/xdp/tests/xdp_bench.sv"],
        "test_xdp_unit",
        testcase=case,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
