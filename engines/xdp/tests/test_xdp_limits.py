# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The limits that the xdp unit enforces: the number of programs in a chain, the number of rows, and stores inside of
the packet.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest
import xdp_isa as isa
from cocotb.triggers import Timer
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "rpu" / "tests"))

from rows import BUFFER, Lane, Machine, Row, control, load, opcode, store
from test_xdp_unit import LANES, TX, Xdp, ask, leave, row
from unit import Frame

MOST_TAIL_CALLS = 33
MOST_ROWS = 65_536
PROGRAM = 1 << 31  # beside a row, in an entry of a program array
CLOCK = 4  # ns
DATA = control(isa.SOURCE_DATA)


@cocotb.test()
async def programs_follow_each_other(dut: Any) -> None:
    """Two programs hand over to each other until the frame has seen as many as its first byte says, or there were too
    many. Each finds the packet as the one before has left it, and a stack of zeros, of which it fills a part."""
    unit = Xdp(dut)
    second = 1029

    def program(begin: int, other: int) -> list[Row]:
        return [
            # Runs in byte 8; the previous contents of the stack in bytes 16 to 23; the number of wanted runs.
            row(load(0, 16, 8), load(0, 8, 1), load(0, 0, 1), window=DATA),
            row(Lane(), load(1, 40, 8, stack=True), Lane(), window=control(word=8)),
            row(
                Lane(opcode("or", True), 0, 0, 9),
                Lane(opcode("add", True), 0, 8, None, 1),
                Lane(opcode("mov"), 1, 0, imm=other),
            ),
            row(store(0, 16, 8), store(8, 8, 1), window=DATA),
            row(store(8, 40, 8, stack=True), Lane(opcode("br.ge"), a=8, b=16, imm=begin + 6), window=control(word=8)),
            row(ask(0, isa.KIND_TAIL_CALL, 17, isa.SOURCE_ZERO)),
            row(store(17, 24, 4), leave(TX), window=DATA),
        ]

    await unit.begin(program(0, PROGRAM | second))
    await unit.program(program(second, PROGRAM), first=second)
    frames = [Frame(bytes([wanted]) + bytes(31) + unit.rng.randbytes(60)) for wanted in [1, 2, 33, 34, 35, 36, 255] * 9]
    unit.rng.shuffle(frames)
    unit.to_send.extend(frames)
    await unit.drained(100_000)
    expected: Counter[bytes] = Counter()
    for frame in frames:
        data = bytearray(frame.data)
        data[8] = min(data[0], MOST_TAIL_CALLS + 1)
        other = PROGRAM | (second if data[8] % 2 else 0)
        data[24:28] = other.to_bytes(4, "little")
        expected[bytes(data)] += 1
    assert Counter(frame.data for frame in unit.sent) == expected
    await unit.counted(wild=0, stray=0, active_slots=0)


@cocotb.test()
async def stores_stay_inside(dut: Any) -> None:
    """Stores at distances from the frame, by window and by address, from one or two lanes: stores that reach a byte
    outside of metadata and packet are ignored as a whole, and counted by row. Neighbours in other buffers, and the same
    buffer's next frame, see no change.
    """
    unit = Xdp(dut)
    rng = unit.rng
    # Distances go into registers 1 and 2 of each lane: stores may meet their bytes.
    program = [
        row(*(load(index, 8 * index - 8 + 2 * lane, 2, sign=True) for lane in range(LANES)), window=DATA)
        for index in (1, 2)
    ]
    for turn in range(8):
        distance = turn % LANES * 8 + 1 + turn // LANES
        first, other = rng.randrange(0, 20), rng.randrange(28, 48)  # never the same byte
        base = rng.choice([isa.SOURCE_DATA, isa.SOURCE_DATA_END])
        counts = [rng.randrange(1, 9), rng.randrange(1, 9)]
        program += [
            row(Lane(isa.OP_ADJM, 7, 0)) if turn == 4 else row(),
            row(Lane(opcode("add", True), 0, distance, base), load(0, 16, 8), load(0, 24, 8), window=DATA),
            row(store(8, first, counts[0]), store(16, other, counts[1]), window=control(0, rng.randrange(-3, 3)))
            if turn % 2
            else row(ask(2, isa.KIND_STORE, 0, 8, counts[0], silent=rng.random() < 0.5)),
            row(Lane(opcode("mov", True), 0, imm=-8)),
        ]
    program.append(row(leave(TX)))
    await unit.begin(program)
    frames = []
    for _ in range(150):
        size = rng.choice([40, 64, 100, 700])
        distances = [rng.choice([rng.randrange(-60, 60), rng.randrange(-250, 3000)]) for _ in range(8)]
        data = b"".join(distance.to_bytes(2, "little", signed=True) for distance in distances)
        frames.append(Frame(data + rng.randbytes(size - len(data))))
    unit.to_send.extend(frames)
    await unit.drained(100_000)
    expected: Counter[bytes] = Counter()
    stray = 0
    for frame in frames:
        end = 256 + len(frame.data)
        machine = Machine(LANES, bytearray(bytes(256) + frame.data + bytes(BUFFER - end)), 256, 256, end)
        assert machine.run(program) == TX
        expected[bytes(machine.buffer[machine.start : machine.finish])] += 1
        stray += machine.stray
    assert Counter(frame.data for frame in unit.sent) == expected
    assert stray > 100
    await unit.counted(stray=stray, wild=0)


@cocotb.test()
async def nobody_runs_for_ever(dut: Any) -> None:
    """A program without an end is stopped, and its frame counts as aborted; a program that ends in its very last row is
    not stopped. Others go on meanwhile.
    """
    unit = Xdp(dut)
    # The second byte shortens the loop by this many rounds; four rows are outside of it.
    program = [
        row(load(0, 0, 1), load(0, 1, 1), Lane(opcode("mov"), 0, imm=MOST_ROWS - 4), window=DATA),
        row(Lane(opcode("br.eq"), a=0, b=isa.SOURCE_ZERO, imm=1 << isa.TARGET_EXIT_AT | TX)),
        row(Lane(opcode("sub"), 0, 16, 8)),
        row(Lane(opcode("sub"), 0, 0, None, 1), Lane(opcode("br.gt"), a=0, b=isa.SOURCE_ZERO, imm=3)),
        row(leave(TX)),
    ]
    await unit.begin(program)

    def short() -> list[Frame]:
        return [Frame(bytes(2) + unit.rng.randbytes(62)) for _ in range(100)]

    # Rows of earlier frames do not count.
    unit.to_send.extend(short())
    await unit.drained()
    frame = [Frame(bytes([1, rounds]) + unit.rng.randbytes(62)) for rounds in (0, 1, 2, 9)]
    unit.to_send.extend([*frame, *short()])
    # The test does not see events between two looks.
    await unit.until(lambda: not unit.to_send and len(unit.in_unit) == len(frame), 100_000)
    assert len(unit.sent) == 200
    assert {frame.data[0] for frame in unit.sent} == {0}
    unit.sent.clear()
    await Timer(CLOCK * 6 * (MOST_ROWS - 400), unit="ns")
    await unit.drained(100_000)
    rows = {data.data[1]: 4 + MOST_ROWS - 4 - data.data[1] + 1 for data in frame}
    assert {data.data[1] for data in unit.sent} == {short for short, count in rows.items() if count <= MOST_ROWS}
    await unit.counted(aborted=sum(count > MOST_ROWS for count in rows.values()), active_slots=0)


CASES = ["programs_follow_each_other", "stores_stay_inside", "nobody_runs_for_ever"]


@pytest.mark.parametrize("case", CASES)
def test_xdp_limits(case: str) -> None:
    """The coroutine of that name describes the test."""
    simulate(
        "xdp_bench",
        ["engines/xdp/rtl/rtl.f", "lib/sim/axi_absent.sv", "engines/xdp/tests/xdp_bench.sv"],
        "test_xdp_limits",
        testcase=case,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
