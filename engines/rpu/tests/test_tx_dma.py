# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The transmit engine against plain Python: frames from a model of packet memory, and the slots that return."""

from __future__ import annotations

import os
import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts

BEAT = 64
SLOTS = 32
ROWS = 1 << 14
OFFSETS = range(0, 16, 2)
UNIT = 21  # this one
LOOPBACK, TO_UNIT = 3, 0x40
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))


@dataclass(frozen=True)
class Send:
    """A frame of `length` bytes at `start`; without a destination its slot only returns. Slot 0:
    the program made it.
    """

    slot: int
    start: int
    length: int
    dst: int = 0
    discard: bool = False
    blocked: bool = False

    def over_loopback(self) -> bool:
        return not self.discard and (self.dst == LOOPBACK or self.dst >= TO_UNIT)

    def word(self) -> int:
        """send_t: generated, slot, discard, blocked, len, dst, start from the top."""
        value = 1 << 5 | 31 if self.slot == 0 else self.slot - 1
        fields = ((1, self.discard), (1, self.blocked), (16, self.length), (8, self.dst), (19, self.start // 2))
        for bits, item in fields:
            value = value << bits | int(item)
        return value


class Bench:
    """Gives the engine frames to send, serves its reads and collects its output."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut = dut
        self.rng = rng
        self.row_stall = self.tx_stall = self.send_pause = 0.0
        self.memory = rng.randbytes(ROWS * BEAT)
        self.src = [rng.getrandbits(8) for _ in range(SLOTS + 1)]
        self.timestamp = [rng.getrandbits(32) for _ in range(SLOTS + 1)]
        self.hash = [rng.getrandbits(32) for _ in range(SLOTS + 1)]
        self.answer_delay: Callable[[], int] = lambda: 7
        self.refuse = 0.0  # probability that a frame gets no place
        self.asked: list[tuple[int, int, int]] = []  # destination, length, hash of each request
        self.places: deque[tuple[int, int]] = deque()  # unit and slot of each frame that got a place
        self.refused = 0
        self._answer_in = -1
        self.to_send: deque[Send] = deque()
        self.frames: list[tuple[int, bytes]] = []  # metadata, beats
        self.freed: list[int] = []
        self.blocked = 0
        self.cycle = 0
        self.first_cycles: list[int] = []
        self.granted: list[int] = []
        self._reads: deque[int | None] = deque([None, None])
        self._beats = b""
        self._meta = 0
        self._on_tx: Send | None = None

    async def start(self) -> None:
        self.edge = await parts.start(self.dut)
        self.dut.unit_id.value = UNIT

    async def step(self) -> None:
        dut, rng = self.dut, self.rng
        # the row requested two cycles ago
        row = self._reads.popleft()
        data = (
            rng.getrandbits(512)
            if row is None
            else int.from_bytes(self.memory[row * BEAT : (row + 1) * BEAT], "little")
        )
        dut.tx_row_data.value = data
        row_ready = rng.random() >= self.row_stall
        dut.tx_row_ready.value = row_ready
        granted = bool(dut.tx_row_valid.value) and row_ready
        self._reads.append(int(dut.tx_row_addr.value) if granted else None)
        if granted:
            self.granted.append(int(dut.tx_row_addr.value))
        slot = int(dut.tx_table_slot.value) + 1
        dut.tx_table_src.value = self.src[slot]
        dut.tx_table_timestamp.value = self.timestamp[slot]
        dut.tx_table_hash.value = self.hash[slot]
        dut.tx_now.value = self.cycle
        dut.tx_loop_table_hash.value = self.hash[int(dut.tx_loop_table_slot.value) + 1] & 0x7F
        self._dispatcher()
        # returned slots, and the counters
        if dut.tx_free.value:
            self.freed.append(int(dut.tx_free_slot.value) + 1)
        self.blocked += int(dut.tx_blocked.value)
        # link
        tx_ready = rng.random() >= self.tx_stall
        dut.tx_ready.value = tx_ready
        if tx_ready and dut.tx_valid.value:
            if not self._beats:
                self._meta = int(dut.tx_meta.value)
                self.first_cycles.append(self.cycle)
            self._beats += int(dut.tx_data.value).to_bytes(BEAT, "little")
            if dut.tx_last.value:
                self.frames.append((self._meta, self._beats))
                self._beats = b""
        # firmware
        send = bool(self.to_send) and rng.random() >= self.send_pause
        dut.tx_send.value = send
        if send:
            dut.tx_send_data.value = self.to_send.popleft().word()
        await self.edge
        self.cycle += 1

    def _dispatcher(self) -> None:
        """Answers a request some cycles after it appears; its fields must not change meanwhile."""
        dut, rng = self.dut, self.rng
        dut.loop_answer.value = 0
        if not dut.loop_valid.value:
            assert self._answer_in < 0, "a request is gone before its answer"
            return
        asks = (
            int(dut.loop_dst.value),
            int(dut.loop_len.value),
            self.hash[int(dut.tx_loop_table_slot.value) + 1] & 0x7F,
        )
        if self._answer_in < 0:
            self.asked.append(asks)
            self._answer_in = self.answer_delay()
        assert asks == self.asked[-1], "a request changed"
        if self._answer_in == 0:
            granted = rng.random() >= self.refuse
            place = (rng.randrange(32), rng.randrange(1, SLOTS + 1))
            dut.loop_answer.value, dut.loop_granted.value = 1, granted
            dut.loop_unit_id.value, dut.loop_slot.value = place
            if granted:
                self.places.append(place)
            else:
                self.refused += 1
        self._answer_in -= 1

    async def run(self, sends: list[Send]) -> None:
        """Sends all of them, in order, each slot once; checks the output."""
        assert len({send.slot for send in sends}) == len(sends) <= SLOTS
        self.to_send.extend(sends)
        limit = self.cycle + 30000
        while len(self.freed) < len(sends):
            assert self.cycle < limit, "the engine stands still"
            await self.step()
        for _ in range(8):
            await self.step()
        frames = [send for send in sends if not send.discard]
        assert len(self.frames) == len(frames)
        for send, (meta, beats) in zip(frames, self.frames, strict=True):
            what = f"{send.length} bytes from {send.start:#x}"
            assert len(beats) == -(-send.length // BEAT) * BEAT, what
            assert beats[: send.length] == self.memory[send.start : send.start + send.length], what
            assert meta >> 91 == send.length, what
            assert meta >> 83 & 0xFF == self.src[send.slot], what
            assert meta >> 75 & 0xFF == send.dst, what
            assert (meta >> 70 & 31, meta >> 64 & 0x3F) == (UNIT, send.slot), what
            assert meta >> 32 & 0xFFFFFFFF == self.timestamp[send.slot], what
            assert meta & 0xFFFFFFFF == self.hash[send.slot], what
        # Frames arrive in order; slots without a frame may return at any time.
        kept = {send.slot for send in frames}
        assert sorted(self.freed) == sorted(send.slot for send in sends)
        assert [slot for slot in self.freed if slot in kept] == [send.slot for send in frames]
        assert self.blocked == sum(send.blocked for send in sends)
        rows = [row for s in frames for row in range(s.start // BEAT, (s.start + s.length + BEAT - 1) // BEAT)]
        assert self.granted == rows, "rows read"
        self.frames.clear()
        self.freed.clear()
        self.granted.clear()
        self.blocked = 0


def random_send(rng: random.Random, slot: int, length: int, offset: int) -> Send:
    start = rng.randrange(ROWS - 260) * BEAT + offset
    return Send(slot, start, length, rng.getrandbits(6) | 8)  # neither host memory nor loopback


def batches(rng: random.Random, pairs: list[tuple[int, int]]) -> list[list[Send]]:
    """Sends of (length, offset), a slot each, 32 at a time."""
    result = []
    for start in range(0, len(pairs), SLOTS):
        part = pairs[start : start + SLOTS]
        slots = rng.sample(range(1, SLOTS + 1), len(part))
        result.append([random_send(rng, slot, *pair) for slot, pair in zip(slots, part, strict=True)])
    return result


def pairs_of_interest() -> list[tuple[int, int]]:
    lengths = [1, 2, 13, 14, *(64 * n + d for n in (1, 2, 3) for d in (-15, -14, -11, -10, -9, -1, 0, 1))]
    return [(length, offset) for length in lengths for offset in OFFSETS]


@cocotb.test()
async def every_offset_and_length(dut: Any) -> None:
    """All offsets with all lengths around the edges of beats, without other traffic."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    for sends in batches(bench.rng, pairs_of_interest()):
        await bench.run(sends)


@cocotb.test()
async def stalls_everywhere(dut: Any) -> None:
    """Random lengths, offsets, drops and stalls of memory, link and firmware."""
    bench = Bench(dut, random.Random(SEED + 1))
    rng = bench.rng
    await bench.start()
    for stalls in ((0.6, 0, 0), (0, 0.6, 0), (0, 0, 0.7), (0.3, 0.3, 0.3), (0.8, 0.1, 0), (0.1, 0.9, 0), (0, 0, 0)):
        bench.row_stall, bench.tx_stall, bench.send_pause = stalls
        sends = []
        for slot in rng.sample(range(1, SLOTS + 1), SLOTS):
            kind = rng.random()
            if kind < 0.6:
                length = rng.choice([14, 64, 128, 1514, rng.randint(14, 400)])
                sends.append(random_send(rng, slot, length, rng.choice(OFFSETS)))
            else:
                sends.append(Send(slot, 0, 0, discard=True, blocked=kind < 0.8))
        await bench.run(sends)


@cocotb.test()
async def requests_to_host_memory(dut: Any) -> None:
    """Writes and reads between frames: address and length go with them, no slot returns, and the
    frames are unchanged.
    """
    bench = Bench(dut, random.Random(SEED + 4))
    rng = bench.rng
    await bench.start()
    bench.row_stall = bench.tx_stall = bench.send_pause = 0.2
    for number in range(60):
        slots = rng.sample(range(1, SLOTS + 1), 3)
        tag = rng.choice([slots[0], slots[2]])  # may be that of a frame
        write = number % 2 == 0
        length = rng.choice([1, 14, 64, 65, 200, 1514]) if write else 8
        start = random_send(rng, tag, length, rng.choice(OFFSETS)).start
        request = Send(tag, start, length, 4 if write else 5)
        sends = [random_send(rng, slots[0], 100, 10), request, random_send(rng, slots[2], 64, 2)]
        address, asked = rng.getrandbits(64), rng.getrandbits(35)
        dut.tx_mem_addr.value, dut.tx_mem_read.value = address, asked
        bench.to_send.extend(sends)
        begun = False
        limit = bench.cycle + 3000
        while len(bench.frames) < 3 or len(bench.freed) < 2:
            assert bench.cycle < limit, "the engine stands still"
            await bench.step()
            busy = bool(dut.tx_extra_busy.value)
            if begun and not busy:  # whoever asks next may change both now
                dut.tx_mem_addr.value, dut.tx_mem_read.value = rng.getrandbits(64), rng.getrandbits(35)
            begun |= busy
        assert begun and not busy
        meta, beats = bench.frames[1]
        due = bench.memory[request.start : request.start + length]
        if not write:
            assert int.from_bytes(beats, "little") & (1 << 35) - 1 == asked
        else:
            assert beats[:length] == due
        assert (meta >> 91, meta >> 75 & 0xFF, meta >> 70 & 31, meta >> 64 & 63) == (length, request.dst, UNIT, tag)
        assert meta & (1 << 64) - 1 == address
        for send, (_, data) in zip((sends[0], sends[2]), (bench.frames[0], bench.frames[2]), strict=True):
            assert data[: send.length] == bench.memory[send.start : send.start + send.length]
        assert bench.freed == [slots[0], slots[2]]
        bench.frames.clear()
        bench.freed.clear()
        bench.granted.clear()


@cocotb.test()
async def frames_without_a_slot(dut: Any) -> None:
    """Between frames with a slot and requests, as many as there is room for: their metadata have their source and the
    time of their beginning, they return no slot, and they report while their memory must stay.
    """
    bench = Bench(dut, random.Random(SEED + 7))
    rng = bench.rng
    await bench.start()
    for number, stalls in enumerate(((0, 0, 0), (0.6, 0, 0), (0, 0.6, 0), (0.3, 0.3, 0.3), (0, 1.0, 0))):
        bench.row_stall, bench.tx_stall, bench.send_pause = stalls
        waiting = [
            Send(
                slot,
                rng.randrange(first, first + 8000) * BEAT + rng.choice(OFFSETS),
                rng.choice([14, 64, 128, 300, 1514]),
                8,
            )
            for slot, first in [*((slot, 0) for slot in range(1, SLOTS + 1)), *[(0, 8192)] * 20]
        ]
        rng.shuffle(waiting)
        if number == 4:  # all slots behind a frame without one, and another one behind them, while nothing leaves
            waiting.sort(key=lambda send: send.slot != 0)
            waiting = [replace(waiting[0], length=5000), *waiting[20:], *waiting[1:20]]
        sends = list(waiting)
        begun: list[int] = []  # cycles in which frames without a slot were given
        limit = bench.cycle + 30000
        while len(bench.frames) < len(sends) or waiting:
            assert bench.cycle < limit, "the engine stands still"
            if number == 4 and len(waiting) <= 18:
                bench.tx_stall = 0.0
            # A further one waits until the one before has begun; `extra_busy` is up from the cycle after it was sent.
            free = not dut.tx_extra_busy.value
            if waiting and not bench.to_send and (waiting[0].slot or free):
                bench.to_send.append(send := waiting.pop(0))
                if send.slot == 0:
                    begun.append(bench.cycle)
            unread = bool(dut.tx_unread.value)
            granted = len(bench.granted)
            await bench.step()
            if len(bench.granted) > granted:
                assert unread or bench.granted[-1] < 8192, "memory that is still to be read seems free"
        for _ in range(4):
            await bench.step()
        assert not dut.tx_unread.value and not dut.tx_extra_busy.value and dut.tx_empty.value
        cycles = iter(begun)
        for send, (meta, beats) in zip(sends, bench.frames, strict=True):
            assert beats[: send.length] == bench.memory[send.start : send.start + send.length]
            assert (meta >> 91, meta >> 75 & 0xFF, meta >> 70 & 31) == (send.length, send.dst, UNIT)
            assert meta >> 64 & 0x3F == send.slot
            if send.slot:
                assert meta >> 83 & 0xFF == bench.src[send.slot] and meta & 0xFFFFFFFF == bench.hash[send.slot]
                assert meta >> 32 & 0xFFFFFFFF == bench.timestamp[send.slot]
            else:
                assert (meta >> 83 & 0xFF, meta & 0xFFFFFFFF) == (TO_UNIT + UNIT, 0)
                assert next(cycles) < meta >> 32 & 0xFFFFFFFF <= bench.cycle
        assert bench.freed == [send.slot for send in sends if send.slot]
        bench.frames.clear()
        bench.freed.clear()
        bench.granted.clear()


@cocotb.test()
async def places_for_loopback(dut: Any) -> None:
    """Frames over loopback wait for their places while all others pass; they go out in order, labelled with the place,
    and a refused one only gives its slot back.
    """
    bench = Bench(dut, random.Random(SEED + 6))
    rng = bench.rng
    await bench.start()
    bench.row_stall = bench.tx_stall = bench.send_pause = 0.2
    bench.refuse = 0.3
    for number in range(12):
        bench.answer_delay = lambda: rng.randrange(30)
        sends = []
        for slot in rng.sample(range(1, SLOTS + 1), SLOTS):
            send = random_send(rng, slot, rng.choice([14, 64, 65, 200]), rng.choice(OFFSETS))
            kind = rng.random()
            dst = LOOPBACK if kind < 0.2 else TO_UNIT + rng.randrange(32) if kind < 0.5 or number == 0 else send.dst
            sends.append(replace(send, dst=dst))
        bench.to_send.extend(sends)
        limit = bench.cycle + 5000
        while len(bench.freed) < len(sends):
            assert bench.cycle < limit, "the engine stands still"
            await bench.step()
        loops = [send for send in sends if send.over_loopback()]
        assert bench.asked == [(send.dst, send.length, bench.hash[send.slot] & 0x7F) for send in loops]
        assert sorted(bench.freed) == sorted(send.slot for send in sends)
        order: dict[bool, list[Send]] = {False: [], True: []}
        for meta, beats in bench.frames:
            source = next(s for s in sends if bench.timestamp[s.slot] == meta >> 32 & 0xFFFFFFFF)
            place = (meta >> 70 & 31, meta >> 64 & 0x3F)
            assert place == (bench.places.popleft() if source.over_loopback() else (UNIT, source.slot))
            assert (meta >> 91, meta >> 75 & 0xFF) == (source.length, source.dst)
            assert meta & 0xFFFFFFFF == bench.hash[source.slot]
            assert beats[: source.length] == bench.memory[source.start : source.start + source.length]
            order[source.over_loopback()].append(source)
        assert order[False] == [send for send in sends if not send.over_loopback()]
        assert [s for s in loops if s in order[True]] == order[True] and len(order[True]) == len(loops) - bench.refused
        assert not bench.places and bench.blocked == 0
        bench.refused = 0
        for record in (bench.asked, bench.frames, bench.freed, bench.granted):
            record.clear()
    # Without an answer, however long, the others go on.
    bench.answer_delay = lambda: 1 << 30
    waits = [replace(random_send(rng, slot, 64, 10), dst=LOOPBACK) for slot in (1, 2, 3)]
    others = [random_send(rng, slot, 64, 10) for slot in range(4, SLOTS + 1)]
    bench.to_send.extend([*waits, *others])
    for _ in range(400):
        await bench.step()
    assert bench.freed == [send.slot for send in others] and len(bench.asked) == 1
    bench._answer_in, bench.refuse = 0, 0.0
    bench.answer_delay = lambda: 0
    for _ in range(100):
        await bench.step()
    assert bench.freed[-3:] == [1, 2, 3]


@cocotb.test()
async def only_drops(dut: Any) -> None:
    """Slots of frames that are not sent return at once, one a cycle."""
    bench = Bench(dut, random.Random(SEED + 2))
    await bench.start()
    sends = [Send(slot, 0, 0, discard=True, blocked=True) for slot in range(1, SLOTS + 1)]
    begin = bench.cycle
    await bench.run(sends)
    assert bench.cycle - begin <= SLOTS + 16


@cocotb.test()
async def drops_while_the_link_stands(dut: Any) -> None:
    """A drop after frames that wait for the link does not wait for them to leave; a drop before them lets them pass."""
    bench = Bench(dut, random.Random(SEED + 3))
    await bench.start()
    bench.tx_stall = 1.0
    first = [random_send(bench.rng, slot, 64, 10) for slot in (3, 4)]
    drop = Send(7, 0, 0, discard=True, blocked=True)
    bench.to_send.extend([*first, drop])
    for _ in range(40):
        await bench.step()
    assert bench.freed == [7] and bench.blocked == 1 and not bench.frames
    bench.tx_stall = 0.0
    for _ in range(20):
        await bench.step()
    assert bench.freed == [7, 3, 4] and len(bench.frames) == 2


@cocotb.test()
async def longest_frames(dut: Any) -> None:
    bench = Bench(dut, random.Random(SEED + 4))
    await bench.start()
    bench.row_stall = 0.1
    bench.tx_stall = 0.1
    longest = [(16384, 14), (16384, 0), (16383, 10), (16371, 14), (16370, 14), (16369, 14)]
    for sends in batches(bench.rng, longest):
        await bench.run(sends)


@cocotb.test()
async def cycles_per_frame(dut: Any) -> None:
    """A row a cycle, back to back, and soon after the send."""
    bench = Bench(dut, random.Random(SEED + 5))
    await bench.start()
    for length, offset, cycles in ((64, 0, 1), (64, 10, 2), (128, 10, 3), (1514, 10, 24)):
        sends = batches(bench.rng, [(length, offset)] * SLOTS)[0]
        bench.first_cycles.clear()
        begin = bench.cycle
        await bench.run(sends)
        took = (bench.first_cycles[-1] - bench.first_cycles[4]) / (len(bench.first_cycles) - 5)
        latency = bench.first_cycles[0] - begin
        dut._log.info("tx_dma: %.2f cycles per frame of %d bytes, latency %d", took, length, latency)
        assert took <= cycles
        assert latency <= 10


CASES = [
    *("every_offset_and_length", "stalls_everywhere", "only_drops", "drops_while_the_link_stands"),
    *("longest_frames", "cycles_per_frame", "requests_to_host_memory"),
    *("places_for_loopback", "frames_without_a_slot"),
]


@pytest.mark.parametrize("case", CASES)
def test_tx_dma(case: str) -> None:
    parts.run("test_tx_dma", case)
