# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The receive engine against plain Python: its writes to packet memory and data memory, byte for byte."""

from __future__ import annotations

import os
import random
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts

BEAT = 64
HALF = 32
COPIED = 128
SLOTS = 32
ON_THE_WAY = 3  # beats that come after the engine has said that it has no room
SLOT_ROWS = 264  # more than the longest frame needs at the largest offset
OFFSETS = range(0, 16, 2)
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))


@dataclass
class Frame:
    data: bytes
    slot: int
    place: int  # byte address in packet memory
    header: int | None  # address in data memory, a multiple of 32; None: no copy
    src: int
    timestamp: int
    hash: int


class Bench:
    """Sends frames into the engine and records its writes."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut = dut
        self.rng = rng
        self.pause = self.row_stall = self.head_stall = 0.0
        self.place = [0] * (SLOTS + 1)
        self.header: list[int | None] = [None] * (SLOTS + 1)
        self.rows: dict[int, bytes] = {}
        self.dmem: dict[int, int] = {}
        self.infos: list[tuple[int, int]] = []
        self.sent: deque[Frame] = deque()  # entered, not yet done
        self.done = 0
        self.cycle = self.stalls = 0
        self.done_cycles: list[int] = []
        self.answers: list[tuple[str, int, bool]] = []  # of host memory: what, tag, error
        self.parts: dict[int, int] = {}  # packet memory, of rows that are not written whole
        self._rooms = deque([True] * ON_THE_WAY)  # whether there was room when a beat that comes now left

    async def start(self) -> None:
        self.edge = await parts.start(self.dut)

    async def step(self) -> None:
        """Drives the interfaces other than rx, and records the engine's outputs of this cycle."""
        dut, rng = self.dut, self.rng
        row_ready, head_ready = rng.random() >= self.row_stall, rng.random() >= self.head_stall
        dut.rx_row_ready.value = row_ready
        dut.rx_head_ready.value = head_ready
        self._rooms.append(bool(dut.rx_room.value))
        self._rooms.popleft()
        self.stalls += bool(dut.rx_stall.value)
        if dut.rx_row_valid.value and row_ready:
            row, strobes = int(dut.rx_row_addr.value), int(dut.rx_row_be.value)
            data = int(dut.rx_row_data.value).to_bytes(BEAT, "little")
            if strobes == (1 << BEAT) - 1:
                self.rows[row] = data
            else:
                self.parts.update({row * BEAT + i: data[i] for i in range(BEAT) if strobes >> i & 1})
        if dut.rx_head_valid.value and head_ready:
            base, strobes = int(dut.rx_head_row.value) * HALF, int(dut.rx_head_be.value)
            data = int(dut.rx_head_data.value).to_bytes(HALF, "little")
            self.dmem.update({base + i: data[i] for i in range(HALF) if strobes >> i & 1})
        # The table answers in the cycle in which the engine asks.
        await parts.settled()
        slot = int(dut.rx_table_slot.value) + 1
        dut.rx_table_place.value = self.place[slot] // 2
        header = self.header[slot]
        dut.rx_table_copies.value = header is not None
        dut.rx_table_header.value = rng.getrandbits(10) if header is None else header // HALF
        # `done` and `info_we` follow inputs of this cycle, so the bench samples them just before the edge that takes
        # them.
        await parts.settled()
        if dut.rx_done.value:
            frame = self.sent.popleft()
            assert (int(dut.rx_done_slot.value) + 1, int(dut.rx_done_len.value)) == (frame.slot, len(frame.data))
            self.check(frame)  # firmware may look at it from now on
            self.done += 1
            self.done_cycles.append(self.cycle)
        for what in ("was_read", "wrote"):
            if getattr(dut, f"rx_{what}").value:
                tag, error = (int(getattr(dut, f"rx_{what}_{name}").value) for name in ("tag", "error"))
                self.answers.append((what, tag + 1, bool(error)))
        if dut.rx_info_we.value:
            self.infos.append((int(dut.rx_info_slot.value) + 1, int(dut.rx_info_data.value)))
        await self.edge
        self.cycle += 1

    async def send(self, frame: Frame, entry: tuple[int, int] | None = None) -> None:
        """Sends a frame into its slot; `entry` is the slot table's entry if the frame does not belong there (an answer
        of host memory).
        """
        dut = self.dut
        self.sent.append(frame)
        self.place[frame.slot], self.header[frame.slot] = entry or (frame.place, frame.header)
        meta = len(frame.data)
        fields = ((8, frame.src), (8, 0), (5, 0), (6, frame.slot), (32, frame.timestamp), (32, frame.hash))
        for bits, value in fields:
            meta = meta << bits | value
        for start in range(0, len(frame.data), BEAT):
            while self.rng.random() < self.pause or not self._rooms[0]:
                await self.step()
            chunk = frame.data[start : start + BEAT]
            # The bytes after the end of a frame are arbitrary.
            chunk += self.rng.randbytes(BEAT - len(chunk))
            dut.rx_valid.value = 1
            dut.rx_data.value = int.from_bytes(chunk, "little")
            dut.rx_last.value = start + BEAT >= len(frame.data)
            dut.rx_meta.value = meta
            await self.step()
            dut.rx_valid.value = 0

    async def drain(self, frames: int) -> None:
        limit = self.cycle + 5000
        while self.done < frames:
            assert self.cycle < limit, "the engine stands still"
            await self.step()
        for _ in range(8):
            await self.step()

    def check(self, frame: Frame) -> None:
        """The frame's rows, no row beyond them, and exactly the bytes of its header copy."""
        what = f"{len(frame.data)} bytes at offset {frame.place % BEAT}"
        first, end = frame.place // BEAT, (frame.place + len(frame.data) + BEAT - 1) // BEAT
        memory = b"".join(self.rows.pop(row) for row in range(first, end))
        start = frame.place % BEAT
        assert memory[start : start + len(frame.data)] == frame.data, f"{what}: packet memory"
        if frame.header is None:
            return
        begin = frame.header + start
        copied = frame.data[:COPIED]
        assert bytes(self.dmem.pop(begin + i) for i in range(len(copied))) == copied, f"{what}: header copy"

    def check_all(self, frames: list[Frame]) -> None:
        assert self.done == len(frames)
        assert self.infos == [(f.slot, len(f.data) << 72 | f.src << 64 | f.timestamp << 32 | f.hash) for f in frames]
        assert not self.parts, "a frame has whole rows"
        assert not self.rows, f"rows nobody asked for: {list(self.rows)}"
        assert not self.dmem, f"data memory nobody asked for: {[hex(a) for a in self.dmem]}"
        self.done = 0
        self.infos.clear()


def lengths_of_interest(rng: random.Random) -> list[int]:
    near = [64 * n + d for n in (1, 2, 3, 4) for d in (-15, -14, -11, -10, -9, -2, -1, 0, 1, 2)]
    return [*range(14, 24), *near, rng.randint(257, 2000)]


def frame_of(rng: random.Random, slot: int, length: int, offset: int, copies: bool = False) -> Frame:
    place = (slot - 1) * SLOT_ROWS * BEAT + offset
    header = None if not copies and rng.random() < 0.1 else 0x4000 + (slot - 1) * 160
    bits = rng.getrandbits
    # From any source except host memory, whose number lacks this bit.
    return Frame(rng.randbytes(length), slot, place, header, bits(8) | 8, bits(32), bits(32))


async def batch(bench: Bench, lengths: list[int], offset: int, always_copies: bool = False) -> None:
    """Sends a frame of each length, 32 at a time: one a slot."""
    for start in range(0, len(lengths), SLOTS):
        part = lengths[start : start + SLOTS]
        slots = bench.rng.sample(range(1, SLOTS + 1), len(part))
        frames = [
            frame_of(bench.rng, slot, length, offset, always_copies) for slot, length in zip(slots, part, strict=True)
        ]
        for frame in frames:
            await bench.send(frame)
        await bench.drain(len(frames))
        bench.check_all(frames)


@cocotb.test()
async def every_offset_and_length(dut: Any) -> None:
    """All offsets with all lengths around the edges of beats, half rows and the copy, without other traffic."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    for offset in OFFSETS:
        await batch(bench, lengths_of_interest(bench.rng), offset)


@cocotb.test()
async def stalls_everywhere(dut: Any) -> None:
    """Random offsets, lengths and stalls of the link and both memories."""
    bench = Bench(dut, random.Random(SEED + 1))
    await bench.start()
    for pause, row_stall, head_stall in ((0.5, 0, 0), (0, 0.6, 0), (0, 0, 0.6), (0.1, 0.3, 0.3), (0, 0.8, 0.8)):
        bench.pause, bench.row_stall, bench.head_stall = pause, row_stall, head_stall
        frames = []
        for slot in bench.rng.sample(range(1, SLOTS + 1), SLOTS):
            length = bench.rng.choice([14, 64, 128, 1514, bench.rng.randint(14, 400)])
            frames.append(frame_of(bench.rng, slot, length, bench.rng.choice(OFFSETS)))
            await bench.send(frames[-1])
        await bench.drain(len(frames))
        bench.check_all(frames)
    assert bench.stalls, "the queue was never full"
    bench.pause = bench.row_stall = bench.head_stall = 0
    await batch(bench, [16384, 16383, 14, 16370], 14)


@cocotb.test()
async def answers_of_host_memory(dut: Any) -> None:
    """Read data lands at its place and nowhere else, is reported once, and is not a frame; answers to writes are
    reported and write nothing.
    """
    bench = Bench(dut, random.Random(SEED + 3))
    rng = bench.rng
    await bench.start()
    for number in range(250):
        bench.row_stall = rng.choice([0, 0.5])
        write = number % 3 == 0
        length = (
            1 if write else rng.choice([1, 2, 8, 48, 50, 52, 54, 62, 63, 64, 65, 114, 118, 128, rng.randrange(1, 700)])
        )
        frame = frame_of(rng, rng.randint(1, SLOTS), length, rng.choice(OFFSETS), copies=True)
        error = rng.random() < 0.2
        frame.src = 4
        frame.hash = error << 31 | write << 30 | (0 if write else frame.place // 2)
        # The slot's own entry must not matter.
        await bench.send(frame, entry=(rng.randrange(1 << 19) * 2, 0x100))
        limit = bench.cycle + 200
        while not bench.answers:
            assert bench.cycle < limit, "no answer"
            await bench.step()
        memory = dict(bench.parts)
        for row, data in bench.rows.items():
            memory.update({row * BEAT + i: data[i] for i in range(BEAT)})
        due = {} if write else {frame.place + i: frame.data[i] for i in range(length)}
        assert memory == due, f"{length} bytes at offset {frame.place % BEAT}"
        assert bench.answers == [("wrote" if write else "was_read", frame.slot, error)]
        assert not bench.infos and not bench.dmem and not bench.done
        bench.sent.clear()
        bench.answers.clear()
        bench.parts.clear()
        bench.rows.clear()
        if number % 10 == 0:  # frames in between are as ever
            await batch(bench, [14, 100, 64], rng.choice(OFFSETS))


@cocotb.test()
async def a_reset_forgets_what_waits(dut: Any) -> None:
    """Later frames are received as usual, whatever the queue held at the reset."""
    bench = Bench(dut, random.Random(SEED + 4))
    await bench.start()
    for length in (64, 65, 1000, 1500):
        bench.row_stall = 1.0
        await bench.send(frame_of(bench.rng, 5, length, bench.rng.choice(OFFSETS)))
        dut.rst.value = 1
        await bench.step()
        dut.rst.value = 0
        bench.row_stall = 0.0
        for seen in (bench.sent, bench.infos, bench.dmem):
            seen.clear()
        for _ in range(4):
            await bench.step()
        assert not bench.rows and not bench.dmem and not bench.done
        await batch(bench, [64, 14, 300], bench.rng.choice(OFFSETS))


@cocotb.test()
async def cycles_per_frame(dut: Any) -> None:
    """64 bytes at the kit's offset take 3 cycles, 128 bytes 5, longer frames one more for each beat."""
    bench = Bench(dut, random.Random(SEED + 2))
    await bench.start()
    for length, cycles in ((64, 3), (128, 5), (192, 6), (512, 11)):
        bench.done_cycles.clear()
        await batch(bench, [length] * 20, 10, always_copies=True)
        took = (bench.done_cycles[19] - bench.done_cycles[4]) / 15
        dut._log.info("rx_dma: %.2f cycles per frame of %d bytes", took, length)
        assert took == cycles


@pytest.mark.parametrize(
    "case",
    [
        "every_offset_and_length",
        "stalls_everywhere",
        "answers_of_host_memory",
        "a_reset_forgets_what_waits",
        "cycles_per_frame",
    ],
)
def test_rx_dma(case: str) -> None:
    parts.run("test_rx_dma", case)
