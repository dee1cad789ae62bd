# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The registers that firmware sees, against a model in plain Python written from engines/rpu/regs/rpu.rdl."""

from __future__ import annotations

import os
import random
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts
from penstock import regs

SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
SLOTS = 32
PORTS, UNITS = 2, 16
DMEM, PMEM, PMEM_BYTES = 0x0800000, 0x1000000, 1 << 20
MAX_FRAME = 16384
SEND, RELEASE, TO_UNIT, DECLARE = 0, 1, 2, 3
TIMER, PACKET, POKE, EVICT = 1 << 0, 1 << 1, 1 << 4, 1 << 5
WILD, DESCRIPTOR, DESTINATION, SLOT, ACCELERATOR = (1 << n for n in range(8, 13))
HOST_MEMORY, HOST_ERROR = 1 << 2, 1 << 13
ERRORS = 0x3F00


def destination(port: int, kind: int) -> int | None:
    """The port byte in its one form, or None when there is no such place."""
    if kind > DECLARE:
        return None
    if kind == TO_UNIT:
        return 0x40 + port if port < UNITS else None
    ethernet = {0: 0, 1: 1, **{8 + n: n for n in range(4)}}
    if port in ethernet:
        return 8 + ethernet[port] if ethernet[port] < PORTS else None
    if port in (2, 3) or 0x40 <= port < 0x40 + UNITS:
        return port
    return None


def in_packet_memory(address: int) -> bool:
    """A place at which a frame may begin: even, and at most 14 bytes into a row."""
    return PMEM <= address < PMEM + PMEM_BYTES and address % 2 == 0 and address % 64 <= 14


@dataclass
class Model:
    """The state of the registers. A store returns its expected effect: ("send", slot, length, destination, start), for
    slot 0 with ("generated",), ("release", slot, counts as blocked), ("refused",) if a frame is dropped for its
    descriptor, ("setup", count, size).
    """

    held: set[int] = field(default_factory=set)
    active: set[int] = field(default_factory=set)
    place: dict[int, int] = field(default_factory=dict)
    header: dict[int, int] = field(default_factory=dict)
    queue: deque[int] = field(default_factory=deque)
    desc_low: int = 0
    desc_high: int = 0
    slot_addr: int = 0
    flags: int = 0

    def store(self, register: int, data: int) -> list[tuple]:
        if register == regs.RPU_CORE_SEND_DESC_LOW:
            self.desc_low = data
        elif register == regs.RPU_CORE_SEND_DESC_HIGH:
            self.desc_high = data
        elif register == regs.RPU_CORE_SEND_DESC_TYPE:
            return self.send(self.desc_low, data, self.desc_high)
        elif register == regs.RPU_CORE_SLOT_ADDR:
            self.slot_addr = data
        elif register == regs.RPU_CORE_UPDATE_SLOT:
            self.update_slot(data)
        elif register == regs.RPU_CORE_SEND:
            return self.send(data, SEND, None)
        elif register == regs.RPU_CORE_SEND_FROM:
            return self.send(self.desc_low, SEND, data)
        return []

    def update_slot(self, data: int) -> None:
        slot, address = data & 0x3F, self.slot_addr
        if 1 <= slot <= SLOTS and data & 0x100 and DMEM <= address < DMEM + 0x6000 and address % 32 == 0:
            self.header[slot] = address
        elif 1 <= slot <= SLOTS and not data & 0x100 and in_packet_memory(address):
            self.place[slot] = address
        else:
            self.flags |= SLOT

    def send(self, desc: int, kind: int, pointer: int | None) -> list[tuple]:
        length, slot, port = desc & 0xFFFF, desc >> 16 & 0xFF, desc >> 24
        if kind == DECLARE:
            if 1 <= slot <= SLOTS and not self.active:
                return [("setup", slot, length)]
            self.flags |= SLOT
            return []
        if slot == 0 and pointer is not None and kind in (SEND, TO_UNIT):
            dst = destination(port, kind)
            if dst is None or dst == 3 or dst >= 0x40:
                self.flags |= DESTINATION
            elif not 1 <= length <= MAX_FRAME or not in_packet_memory(pointer):
                self.flags |= DESCRIPTOR
            else:
                return [("send", 0, length, dst, pointer - PMEM), ("generated",)]
            return []
        if slot not in self.held:
            self.flags |= DESCRIPTOR
            return []
        self.held.remove(slot)
        start = self.place[slot]
        if pointer is not None and PMEM <= pointer < PMEM + PMEM_BYTES:
            start = pointer
        dst = destination(port, kind)
        if kind == RELEASE or length == 0:
            return [("release", slot, True)]
        if dst is None:
            self.flags |= DESTINATION
            return [("release", slot, False), ("refused",)]
        if length > MAX_FRAME or not in_packet_memory(start):
            self.flags |= DESCRIPTOR
            return [("release", slot, False), ("refused",)]
        return [("send", slot, length, dst, start - PMEM)]


class Bench:
    """Plays core, receive and transmit engine, and the host."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut = dut
        self.rng = rng
        self.cycle = 0
        self.events: list[tuple] = []
        self.frames: dict[int, tuple[int, int, int, int]] = {}  # slot -> len, src, timestamp, hash

    async def start(self) -> None:
        self.edge = await parts.start(self.dut)

    async def step(self, cycles: int = 1, **inputs: int) -> None:
        """Cycles with `inputs` in the first; single-cycle strobes fall by themselves."""
        dut = self.dut
        if "addr" in inputs:
            inputs = {"be": 0xF} | inputs | {"addr": inputs["addr"] & 0x1FF}
        for _ in range(cycles):
            for name, value in inputs.items():
                getattr(dut, name).value = value
            await parts.settled()
            self.watch()
            await self.edge
            self.cycle += 1
            for name in inputs:
                if name in ("wr", "done", "info_we", "free", "poke", "evict", "wild", "accel_error", "data_we"):
                    getattr(dut, name).value = 0
            inputs = {}

    def watch(self) -> None:
        dut = self.dut
        self.hold, self.rdata = bool(dut.hold.value), int(dut.rdata.value)
        assert self.rdata >> 32 == 0 or self.rdata & 0xFFFFFFFF == 0, "both parts of a word"
        self.rdata = self.rdata >> 32 | self.rdata & 0xFFFFFFFF
        self.retry = bool(dut.retry.value)
        self.window = int(dut.window.value) << 8
        if dut.send.value:
            word = int(dut.send_data.value)
            slot = 0 if word >> 50 else (word >> 45 & 31) + 1
            start, dst, length = (word & 0x7FFFF) * 2, word >> 19 & 0xFF, word >> 27 & 0xFFFF
            if word >> 44 & 1:
                self.events.append(("release", slot, bool(word >> 43 & 1)))
            else:
                self.events.append(("send", slot, length, dst, start))
        if dut.generated.value:
            self.events.append(("generated",))
        if dut.refused.value:
            self.events.append(("refused",))
        if dut.setup_valid.value:
            self.events.append(("setup", int(dut.setup_count.value), int(dut.setup_size.value)))

    async def store(self, register: int, data: int) -> None:
        await self.step(wr=1, addr=register, wdata=data)

    async def load(self, register: int, limit: int = 1) -> int:
        """Reads a register; RECV may hold for `limit` - 1 cycles."""
        for _ in range(limit):
            await self.step(rd=1, addr=register)
            if not self.hold:
                break
        self.dut.rd.value = 0
        assert not self.hold, f"read of {register:#x} takes more than {limit} cycles"
        return self.rdata

    async def arrive(self, slot: int) -> None:
        """A frame is complete in `slot`."""
        bits = self.rng.getrandbits
        self.frames[slot] = frame = (
            self.rng.randint(14, MAX_FRAME),
            self.rng.choice([0, 1, 2, 3, 10]),
            bits(32),
            bits(32),
        )
        word = frame[0] << 72 | frame[1] << 64 | frame[2] << 32 | frame[3]
        await self.step(done=1, done_slot=slot - 1, info_we=1, info_slot=slot - 1, info_data=word)

    def descriptor(self, slot: int) -> int:
        length, src, _, _ = self.frames[slot]
        return length | slot << 16 | src << 24

    async def arrive_and_take(self, slot: int) -> None:
        await self.arrive(slot)
        assert await self.load(regs.RPU_CORE_RECV, 4) == self.descriptor(slot)

    async def expect(self, *expected: tuple) -> None:
        """After two cycles exactly these events have occurred."""
        await self.step(3)
        assert self.events == list(expected)
        self.events = []

    async def flags(self, expected: int) -> None:
        """Flags and the host's view of errors; acknowledges them."""
        await self.step(2)
        assert await self.load(regs.RPU_CORE_INTERRUPT_FLAGS) & ~PACKET == expected
        assert int(self.dut.errors.value) & expected == expected & ERRORS
        await self.store(regs.RPU_CORE_INTERRUPT_ACK, 0xFFFF)

    async def declare(self, slot: int, place: int, header: int) -> None:
        await self.store(regs.RPU_CORE_SLOT_ADDR, header)
        await self.store(regs.RPU_CORE_UPDATE_SLOT, slot | 0x100)
        await self.store(regs.RPU_CORE_SLOT_ADDR, place)
        await self.store(regs.RPU_CORE_UPDATE_SLOT, slot)

    async def declare_all(self) -> None:
        for slot in range(1, SLOTS + 1):
            await self.declare(slot, place_of(slot), header_of(slot))
        await self.flags(0)


def place_of(slot: int) -> int:
    return PMEM + (slot - 1) * 32768 + slot % 8 * 2


def header_of(slot: int) -> int:
    return DMEM + 0x4000 + (slot - 1) * 128


@cocotb.test()
async def receives(dut: Any) -> None:
    """RECV waits, gives frames in order; the registers beside it describe the frame that it gave last."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    await bench.declare_all()
    assert await bench.load(regs.RPU_CORE_RECV_DESC_LOW) == 0
    assert await bench.load(regs.RPU_CORE_READY) == 0x01010100
    await bench.store(regs.RPU_CORE_RECV_DESC_RELEASE, 1)
    assert bench.window == 0
    for _ in range(20):
        await bench.step(rd=1, addr=regs.RPU_CORE_RECV)
        assert bench.hold
    dut.rd.value = 0
    # It gives way to an interrupt: in the next cycle, without taking a frame, even if one arrives just then.
    await bench.arrive(6)
    await bench.step(1, rd=1, addr=regs.RPU_CORE_RECV)
    assert bench.hold
    dut.irq_ready.value = 1
    await bench.step()
    assert bench.hold and not bench.retry
    await bench.step()
    assert bench.retry and not bench.hold
    dut.irq_ready.value = 0
    dut.rd.value = 0
    await bench.step(2)
    assert await bench.load(regs.RPU_CORE_RECV) == bench.descriptor(6)
    await bench.store(regs.RPU_CORE_SEND, 6 << 16)
    await bench.step(free=1, free_slot=5)
    slots = bench.rng.sample(range(1, SLOTS + 1), SLOTS)
    for slot in slots:
        await bench.arrive(slot)
    assert int(dut.active.value) == 0xFFFFFFFF
    for n, slot in enumerate(slots):
        length, _, timestamp, flow = bench.frames[slot]
        if n % 2:
            assert await bench.load(regs.RPU_CORE_READY) == 0x01010101
            assert await bench.load(regs.RPU_CORE_RECV_DESC_LOW) == bench.descriptor(slot)
            assert await bench.load(regs.RPU_CORE_RECV_DESC_LOW) == bench.descriptor(slot)
            assert await bench.load(regs.RPU_CORE_RECV_DESC_HIGH) == place_of(slot)
            await bench.store(regs.RPU_CORE_RECV_DESC_RELEASE, bench.rng.getrandbits(32))
        else:
            assert await bench.load(regs.RPU_CORE_RECV) == bench.descriptor(slot), length
        # In the same cycle, so that the next access sees it, and from then on.
        assert bench.window == header_of(slot) - DMEM & ~0xFF
        assert await bench.load(regs.RPU_CORE_RECV_HDR) == header_of(slot) + place_of(slot) % 64
        assert await bench.load(regs.RPU_CORE_RECV_DATA) == place_of(slot)
        assert await bench.load(regs.RPU_CORE_RECV_HASH) == flow
        assert await bench.load(regs.RPU_CORE_RECV_TIME) == timestamp
        assert bench.window == header_of(slot) - DMEM & ~0xFF
    assert await bench.load(regs.RPU_CORE_READY) == 0x01010100
    # A frame that arrives while RECV waits ends the wait, and one a cycle leaves the queue.
    for slot in slots:
        await bench.store(regs.RPU_CORE_SEND, slot << 16)
        await bench.step(free=1, free_slot=slot - 1)
    assert int(dut.active.value) == 0
    await bench.step(rd=1, addr=regs.RPU_CORE_RECV)
    await bench.arrive(slots[0])
    assert await bench.load(regs.RPU_CORE_RECV, 4) == bench.descriptor(slots[0])
    for slot in slots[1:4]:
        await bench.arrive(slot)
    await bench.step(4)
    for slot in slots[1:4]:
        assert await bench.load(regs.RPU_CORE_RECV) == bench.descriptor(slot)


@cocotb.test()
async def sends(dut: Any) -> None:
    """Every port byte with every kind of send; refusals raise an interrupt and return the slot."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    await bench.declare_all()
    model = Model(place={slot: place_of(slot) for slot in range(1, SLOTS + 1)})

    async def check(register: int, data: int) -> None:
        expected = model.store(register, data)
        await bench.store(register, data)
        await bench.expect(*expected)
        for event in expected:
            if event[0] in ("send", "release"):
                await bench.step(free=1, free_slot=event[1] - 1)
        await bench.flags(model.flags)
        model.flags = 0

    async def give(slot: int) -> None:
        if slot not in model.held:
            await bench.arrive_and_take(slot)
            model.held.add(slot)

    slots = [bench.rng.randint(1, SLOTS) for _ in range(256)]
    for port, slot in enumerate(slots):
        await give(slot)
        await check(regs.RPU_CORE_SEND, 64 | slot << 16 | port << 24)
    for kind in (SEND, TO_UNIT, RELEASE):
        for port in (0, 1, 2, 3, 4, 7, 8, 10, 15, 16, 0x40, 0x4F, 0x50, 0xFF):
            await give(9)
            await check(regs.RPU_CORE_SEND_DESC_LOW, 100 | 9 << 16 | port << 24)
            await check(regs.RPU_CORE_SEND_DESC_HIGH, place_of(9))
            await check(regs.RPU_CORE_SEND_DESC_TYPE, kind)
    # SEND does not change the descriptor of SEND_DESC.
    await give(2)
    await check(regs.RPU_CORE_SEND, 64 | 2 << 16)
    await give(9)
    await check(regs.RPU_CORE_SEND_DESC_TYPE, RELEASE)
    # a frame that firmware has not taken yet is not its own
    await bench.arrive(30)
    await check(regs.RPU_CORE_SEND, 64 | 30 << 16)
    assert await bench.load(regs.RPU_CORE_RECV) == bench.descriptor(30)
    model.held.add(30)
    await check(regs.RPU_CORE_SEND, 64 | 30 << 16)
    # lengths
    for length in (0, 1, 14, MAX_FRAME, MAX_FRAME + 1, 0xFFFF):
        await give(3)
        await check(regs.RPU_CORE_SEND, length | 3 << 16)
    # slots that are not held, or do not exist
    for slot in (0, 1, 31, 32, 33, 34, 64, 65, 128, 255):
        await check(regs.RPU_CORE_SEND, 64 | slot << 16)
    await give(32)
    await check(regs.RPU_CORE_SEND, 64 | 32 << 16)
    await check(regs.RPU_CORE_SEND, 64 | 32 << 16)
    await check(regs.RPU_CORE_SEND, 32 << 16)
    # pointers
    base = place_of(5)
    rows = [base - base % 64 + offset for offset in range(0, 64)]
    outside = [0, 64, PMEM - 64, PMEM, PMEM + PMEM_BYTES - 64, PMEM + PMEM_BYTES, DMEM, 0x5000000, 0xFFFFFFFE]
    for pointer in [*rows, *outside]:
        await give(5)
        await check(regs.RPU_CORE_SEND_DESC_LOW, 64 | 5 << 16)
        await check(regs.RPU_CORE_SEND_FROM, pointer)
        await give(5)
        await check(regs.RPU_CORE_SEND_DESC_HIGH, pointer)
        await check(regs.RPU_CORE_SEND_DESC_TYPE, SEND)
    for kind in (6, 7):
        await check(regs.RPU_CORE_SEND_DESC_HIGH, base)
        await check(regs.RPU_CORE_SEND_DESC_TYPE, kind)
        await give(5)
        await check(regs.RPU_CORE_SEND_DESC_TYPE, kind)


@cocotb.test()
async def takes_descriptors_in_parts(dut: Any) -> None:
    """Bytes, halfwords and words of a descriptor, in any order and some twice: nothing is sent before SEND_DESC_TYPE,
    and then what was written.
    """
    bench = Bench(dut, random.Random(SEED + 9))
    rng = bench.rng
    await bench.start()
    await bench.declare_all()
    low, high = 0, 0
    for number in range(400):
        slot = rng.randint(1, SLOTS)
        await bench.arrive_and_take(slot)
        length, port = rng.randint(14, MAX_FRAME), rng.choice([0, 1])
        place = PMEM + rng.randrange(0, PMEM_BYTES, 64) + rng.randrange(0, 16, 2)
        due = length | slot << 16 | port << 24 | place << 32
        parts_left = list(range(8))
        while parts_left:
            width = rng.choice([1, 2, 4])
            at = rng.choice(parts_left) // width * width
            # The data in the other lanes does not count.
            word, lanes = due >> 32 * (at // 4) & 0xFFFFFFFF, ((1 << width) - 1) << at % 4
            mask = sum(0xFF << 8 * lane for lane in range(4) if lanes >> lane & 1)
            register = (regs.RPU_CORE_SEND_DESC_LOW, regs.RPU_CORE_SEND_DESC_HIGH)[at // 4]
            await bench.step(wr=1, addr=register, wdata=word & mask | rng.getrandbits(32) & ~mask, be=lanes)
            parts_left = [part for part in parts_left if not at <= part < at + width]
        await bench.expect()
        await bench.step(wr=1, addr=regs.RPU_CORE_SEND_DESC_TYPE, wdata=0, be=1)
        await bench.expect(("send", slot, length, 8 + port, place - PMEM))
        await bench.step(free=1, free_slot=slot - 1)
        low, high = due & 0xFFFFFFFF, due >> 32
        if number % 4 == 0:
            # Registers that are not written again keep their values.
            await bench.arrive_and_take(slot)
            await bench.step(wr=1, addr=regs.RPU_CORE_SEND_DESC_LOW, wdata=(port ^ 1) * 0x01010101, be=8)
            await bench.store(regs.RPU_CORE_SEND_DESC_TYPE, SEND)
            await bench.expect(("send", slot, low & 0xFFFF, 8 + (port ^ 1), high - PMEM))
            await bench.step(free=1, free_slot=slot - 1)
    await bench.flags(0)
    # A program begins without a descriptor.
    dut.rst.value = 1
    await bench.step(2)
    dut.rst.value = 0
    await bench.store(regs.RPU_CORE_SEND_DESC_TYPE, SEND)
    await bench.expect()
    await bench.flags(DESCRIPTOR)


@cocotb.test()
async def sends_without_a_slot(dut: Any) -> None:
    """Frames that the program made: from any place where one may begin, to ports and the host, one at a time; what
    cannot be is refused.
    """
    bench = Bench(dut, random.Random(SEED + 8))
    rng = bench.rng
    await bench.start()
    await bench.declare_all()
    model = Model(place={slot: place_of(slot) for slot in range(1, SLOTS + 1)})

    async def check(register: int, data: int) -> None:
        expected = model.store(register, data)
        await bench.store(register, data)
        await bench.expect(*expected)
        await bench.flags(model.flags)
        model.flags = 0

    # Before the first descriptor the register is 0.
    await check(regs.RPU_CORE_SEND_FROM, PMEM)
    for kind in (SEND, TO_UNIT, RELEASE, 6):
        for port in (0, 1, 2, 3, 4, 7, 8, 9, 10, 15, 16, 0x40, 0x4F, 0x50, 0xFF):
            await check(regs.RPU_CORE_SEND_DESC_LOW, 100 | port << 24)
            await check(regs.RPU_CORE_SEND_DESC_HIGH, PMEM + 64)
            await check(regs.RPU_CORE_SEND_DESC_TYPE, kind)
    for length in (0, 1, 14, 60, MAX_FRAME, MAX_FRAME + 1, 0xFFFF):
        await check(regs.RPU_CORE_SEND_DESC_LOW, length)
        for pointer in (*range(PMEM + 640, PMEM + 704), PMEM + PMEM_BYTES - 64, PMEM + PMEM_BYTES, PMEM - 64, DMEM, 0):
            await check(regs.RPU_CORE_SEND_FROM, pointer)
    await check(regs.RPU_CORE_SEND, 64)  # has no pointer

    # One at a time: a further one waits in the store, and only that.
    model.held.add(5)
    await bench.arrive_and_take(5)
    for number in range(30):
        assert await bench.load(regs.RPU_CORE_OCCUPANCY) == 0
        await bench.store(regs.RPU_CORE_SEND_DESC_LOW, 64 | 1 << 24)
        assert await bench.load(regs.RPU_CORE_READY) >> 8 & 1
        await bench.store(regs.RPU_CORE_SEND_FROM, PMEM + 64 * number)
        # The engine reports that it is busy a cycle after it has received the frame.
        assert await bench.load(regs.RPU_CORE_OCCUPANCY) == 1 << 16
        dut.extra_busy.value = dut.unread.value = 1
        assert not await bench.load(regs.RPU_CORE_READY) >> 8 & 1
        await bench.expect(("send", 0, 64, 9, 64 * number), ("generated",))
        if number % 3 == 0:
            # SEND_FROM does not wait with a descriptor that has a slot.
            await bench.store(regs.RPU_CORE_SEND_DESC_LOW, 64 | 5 << 16)
            await bench.store(regs.RPU_CORE_SEND_FROM, 0)
            assert not bench.hold
            await bench.expect(("send", 5, 64, 8, place_of(5) - PMEM))
            await bench.step(free=1, free_slot=4)
            await bench.arrive_and_take(5)
        request = number % 3 == 1  # also has none
        await bench.store(regs.RPU_CORE_SEND_DESC_LOW, 200 | (2 << 16 if request else 0))
        await bench.store(regs.RPU_CORE_SEND_DESC_HIGH, PMEM + 128)
        second = {"addr": regs.RPU_CORE_SEND_FROM, "wdata": PMEM + 128}
        if request or number % 2:
            second = {"addr": regs.RPU_CORE_SEND_DESC_TYPE, "wdata": 4 if request else SEND}
        for _ in range(rng.randrange(1, 5)):
            await bench.step(wr=1, **second)
            assert bench.hold, "a second one does not wait"
        await bench.expect()
        dut.extra_busy.value = 0
        await bench.step(wr=1, **second)
        assert not bench.hold
        if request:
            await bench.expect(("send", 2, 200, 4, 128))
        else:
            await bench.expect(("send", 0, 200, 8, 128), ("generated",))
        assert await bench.load(regs.RPU_CORE_OCCUPANCY) == 1 << 16
        dut.unread.value = 0
    await bench.flags(0)


@cocotb.test()
async def asks_host_memory(dut: Any) -> None:
    """Requests leave one at a time and hold the core meanwhile; impossible ones are refused; flags and interrupts
    report the answers.
    """
    bench = Bench(dut, random.Random(SEED + 5))
    rng = bench.rng
    await bench.start()
    write, read = 4, 5

    async def ready() -> bool:
        return bool(await bench.load(regs.RPU_CORE_READY) >> 8 & 1)

    async def held(register: int, data: int) -> None:
        """A store that must wait until the request before it has left."""
        for _ in range(rng.randrange(2, 6)):
            await bench.step(wr=1, addr=register, wdata=data)
            assert bench.hold, f"{register:#x} does not wait"
        dut.extra_busy.value = 0
        await bench.step(wr=1, addr=register, wdata=data)
        assert not bench.hold

    address = 0
    for number in range(40):
        kind, tag = rng.choice([write, read]), rng.choice([1, 2, 31, 32])
        length = rng.choice([1, 64, 1500, MAX_FRAME])
        place = PMEM + rng.randrange(0, PMEM_BYTES - MAX_FRAME - 64, 64) + rng.randrange(0, 16, 2)
        if number == 7:
            place, length = PMEM + PMEM_BYTES - 128, 128
        address = rng.getrandbits(64)
        await bench.store(regs.RPU_CORE_DRAM_ADDR_LOW, address & 0xFFFFFFFF)
        await bench.store(regs.RPU_CORE_DRAM_ADDR_HIGH, address >> 32)
        await bench.store(regs.RPU_CORE_SEND_DESC_LOW, length | tag << 16 | rng.getrandbits(8) << 24)
        await bench.store(regs.RPU_CORE_SEND_DESC_HIGH, place)
        assert await ready()
        await bench.store(regs.RPU_CORE_SEND_DESC_TYPE, kind)
        # The engine reports that it is busy a cycle after it has received the request.
        assert not await ready()
        dut.extra_busy.value = 1
        assert not await ready()
        sent = ("send", tag, 8 if kind == read else length, kind, place - PMEM)
        await bench.expect(sent)
        assert int(dut.mem_addr.value) == address
        if kind == read:
            assert int(dut.mem_read.value) == (place - PMEM) // 2 << 16 | length
        # Other accesses go on.
        assert await bench.load(regs.RPU_CORE_CORE_ID) == 0
        if number % 3 == 0:
            await bench.store(regs.RPU_CORE_SEND_DESC_LOW, 64 | 3 << 16)
            await bench.store(regs.RPU_CORE_SEND_DESC_HIGH, PMEM + 64)
            await held(regs.RPU_CORE_SEND_DESC_TYPE, write)
            await bench.expect(("send", 3, 64, write, 64))
        elif number % 3 == 1:
            await held(rng.choice([regs.RPU_CORE_DRAM_ADDR_LOW, regs.RPU_CORE_DRAM_ADDR_HIGH]), 5)
            assert int(dut.mem_addr.value) != address
        dut.extra_busy.value = 0
        await bench.step()
    bench.events.clear()

    # Refused, each with an interrupt and nothing else
    for tag, length, place in (
        *((tag, 64, PMEM) for tag in (0, 33, 64, 255)),
        *((1, length, PMEM) for length in (0, MAX_FRAME + 1, 0xFFFF)),
        *((1, 64, place) for place in (PMEM + 1, PMEM + 16, PMEM + 62, DMEM, 0, PMEM + PMEM_BYTES, PMEM - 64)),
        (1, 129, PMEM + PMEM_BYTES - 128),
        (1, MAX_FRAME, PMEM + PMEM_BYTES - 64),
    ):
        for kind in (write, read):
            await bench.store(regs.RPU_CORE_SEND_DESC_LOW, length | tag << 16)
            await bench.store(regs.RPU_CORE_SEND_DESC_HIGH, place)
            await bench.store(regs.RPU_CORE_SEND_DESC_TYPE, kind)
            await bench.expect()
            await bench.flags(DESCRIPTOR)
    assert await ready()

    # Flags
    flags = 0
    assert await bench.load(regs.RPU_CORE_DRAM_FLAGS) == 0
    for _ in range(300):
        what = rng.choice(["was_read", "wrote", "both", "reset", "word"])
        tag, other = rng.randint(1, 32), rng.randint(1, 32)
        error = rng.random() < 0.1
        if what == "reset":
            await bench.store(regs.RPU_CORE_DRAM_FLAG_RST, tag)
            flags &= ~(1 << (tag - 1))
        elif what == "word":
            flags = rng.getrandbits(32)
            await bench.store(regs.RPU_CORE_DRAM_FLAG_WR, flags)
        else:
            inputs: dict[str, int] = {}
            for name, number in (("was_read", tag), ("wrote", other)):
                if what in (name, "both"):
                    inputs |= {name: 1, f"{name}_tag": number - 1, f"{name}_error": int(error)}
                    flags |= 1 << (number - 1)
            await bench.step(**inputs)
            dut.was_read.value = dut.wrote.value = 0
            await bench.flags(HOST_MEMORY | (HOST_ERROR if error else 0))
        assert await bench.load(regs.RPU_CORE_DRAM_FLAGS) == flags
    # An answer in the cycle of a write to the flags is not lost.
    await bench.step(wr=1, addr=regs.RPU_CORE_DRAM_FLAG_WR, wdata=0, wrote=1, wrote_tag=4)
    dut.wrote.value = 0
    assert await bench.load(regs.RPU_CORE_DRAM_FLAGS) == 1 << 4


@cocotb.test()
async def a_frame_without_header_copy(dut: Any) -> None:
    """Its place is 0, whatever earlier frames had, and after a reset no slot has one; the window
    shows the first page.
    """
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    assert await bench.load(regs.RPU_CORE_RECV_HDR) == 0
    await bench.declare(1, place_of(1), header_of(1))
    await bench.store(regs.RPU_CORE_SLOT_ADDR, place_of(2))
    await bench.store(regs.RPU_CORE_UPDATE_SLOT, 2)
    for slot, header in ((1, header_of(1) + place_of(1) % 64), (2, 0)):
        await bench.arrive_and_take(slot)
        assert await bench.load(regs.RPU_CORE_RECV_HDR) == header
        assert bench.window == (header - DMEM & ~0xFF if header else 0)
    dut.rst.value = 1
    await bench.step(2)
    dut.rst.value = 0
    assert await bench.load(regs.RPU_CORE_RECV_HDR) == 0
    await bench.store(regs.RPU_CORE_SLOT_ADDR, place_of(1))
    await bench.store(regs.RPU_CORE_UPDATE_SLOT, 1)
    await bench.arrive_and_take(1)
    assert await bench.load(regs.RPU_CORE_RECV_HDR) == 0


@cocotb.test()
async def sets_slots_up(dut: Any) -> None:
    """Places of frames and headers go to the right slot or are refused; the declaration reaches the dispatcher."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    model = Model(place={slot: 0 for slot in range(1, SLOTS + 1)})
    places = [
        PMEM,
        PMEM + 10,
        PMEM + 14,
        PMEM + 15,
        PMEM + 16,
        PMEM + 62,
        PMEM + PMEM_BYTES - 50,
        PMEM + PMEM_BYTES,
        10,
    ]
    headers = [
        DMEM,
        DMEM + 0x5FE0,
        DMEM + 0x6000,
        DMEM + 0x7FE0,
        DMEM + 0x8000,
        DMEM + 16,
        DMEM + 4,
        DMEM - 32,
        32,
        PMEM + 64,
    ]
    for address in [*places, *headers]:
        await bench.store(regs.RPU_CORE_SLOT_ADDR, address)
        model.store(regs.RPU_CORE_SLOT_ADDR, address)
        for slot in (0, 1, 17, 32, 33, 64, 255):
            for header in (0, 0x100):
                model.store(regs.RPU_CORE_UPDATE_SLOT, slot | header)
                await bench.store(regs.RPU_CORE_UPDATE_SLOT, slot | header)
                await bench.flags(model.flags)
                model.flags = 0
    for slot in (1, 17, 32):
        await bench.arrive(slot)
        await bench.load(regs.RPU_CORE_RECV, 4)
        assert await bench.load(regs.RPU_CORE_RECV_DATA) == model.place[slot]
        assert await bench.load(regs.RPU_CORE_RECV_HDR) == model.header[slot] + model.place[slot] % 64

    async def declares() -> None:
        for count in (0, 1, 16, 32, 33, 64, 96, 255):
            low, high = 2038 | count << 16, bench.rng.getrandbits(32)
            await bench.store(regs.RPU_CORE_SEND_DESC_LOW, low)
            await bench.store(regs.RPU_CORE_SEND_DESC_HIGH, high)
            await bench.store(regs.RPU_CORE_SEND_DESC_TYPE, DECLARE)
            model.store(regs.RPU_CORE_SEND_DESC_LOW, low)
            await bench.expect(*model.store(regs.RPU_CORE_SEND_DESC_TYPE, DECLARE))
            await bench.flags(model.flags)
            model.flags = 0

    # Not while a slot holds a frame: until it has left, not until it is sent.
    model.active = {1, 17, 32}
    for slot in (17, 1, 32):
        await declares()
        await bench.store(regs.RPU_CORE_SEND, slot << 16)
        await bench.expect(("release", slot, True))
        await declares()
        await bench.step(free=1, free_slot=slot - 1)
        model.active.remove(slot)
    await declares()
    await bench.arrive(32)
    model.active.add(32)
    await declares()


@cocotb.test()
async def random_traffic(dut: Any) -> None:
    """A program in a hurry: an access in nearly every cycle, frames arriving, slots coming back, now and then a
    mistake.
    """
    bench = Bench(dut, random.Random(SEED))
    rng = bench.rng
    await bench.start()
    await bench.declare_all()
    model = Model(place={slot: place_of(slot) for slot in range(1, SLOTS + 1)})
    idle, leaving = set(range(1, SLOTS + 1)), deque[tuple[int, int]]()
    arrived: deque[tuple[int, int]] = deque()  # slot, when
    expected: list[tuple] = []
    known: list[int] = []  # slots that firmware has taken
    waits = gives_up = False
    for _ in range(6000):
        inputs: dict[str, int] = {}
        if idle and rng.random() < 0.3:
            slot = rng.choice(sorted(idle))
            idle.remove(slot)
            bits = rng.getrandbits
            bench.frames[slot] = frame = (rng.randint(14, MAX_FRAME), rng.choice([0, 1, 2, 3]), bits(32), bits(32))
            word = frame[0] << 72 | frame[1] << 64 | frame[2] << 32 | frame[3]
            inputs |= {"done": 1, "done_slot": slot - 1, "info_we": 1, "info_slot": slot - 1, "info_data": word}
            arrived.append((slot, bench.cycle))
        if leaving and leaving[0][1] <= bench.cycle:
            slot, _ = leaving.popleft()
            idle.add(slot)
            inputs |= {"free": 1, "free_slot": slot - 1}
        act = rng.random()
        inputs |= {"rd": 0, "irq_ready": rng.random() < 0.1}
        sent: list[tuple] = []
        # A program that waits for a frame while it holds all slots would wait for ever.
        if waits or (act < 0.35 and len(known) < SLOTS - 1):
            inputs |= {"rd": 1, "addr": regs.RPU_CORE_RECV}
        elif act < 0.75 and known:
            slot = known.pop(rng.randrange(len(known))) if rng.random() < 0.95 else rng.randint(0, 40)
            if slot in known:
                known.remove(slot)
            length = rng.choice([0, 64, 1500, MAX_FRAME])
            port = rng.choice([0, 1, 2, 3, 8, 9, 0x40, 0x4F]) if rng.random() < 0.9 else rng.getrandbits(8)
            desc = length | slot << 16 | port << 24
            sent = model.store(regs.RPU_CORE_SEND, desc)
            inputs |= {"wr": 1, "addr": regs.RPU_CORE_SEND, "wdata": desc}
        expected += sent
        leaving.extend((event[1], bench.cycle + 3 + rng.randint(0, 8)) for event in sent if event[0] != "refused")
        await bench.step(**inputs)
        waits = bool(inputs["rd"]) and bench.hold
        assert bench.retry == gives_up
        gives_up = waits and bool(inputs["irq_ready"])
        if bench.retry:
            assert inputs["rd"] and not bench.hold
        elif inputs["rd"] and not bench.hold:
            slot, when = arrived.popleft()
            assert bench.rdata == bench.descriptor(slot)
            known.append(slot)
            model.held.add(slot)
            assert bench.cycle > when + 2
        elif waits:
            assert not arrived or bench.cycle <= arrived[0][1] + 4, "RECV holds although a frame is there"
        assert bool(dut.active.value) == (len(idle) < SLOTS)
    await bench.step(4)

    def in_order(events: list[tuple]) -> tuple[list[tuple], int]:
        return [event for event in events if event[0] != "refused"], events.count(("refused",))

    assert in_order(bench.events) == in_order(expected)
    assert len(expected) > 1000


@cocotb.test()
async def interrupts(dut: Any) -> None:
    """Each source sets its flag; the mask hides all but errors; acknowledging clears the named
    flags and nothing else.
    """
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    await bench.declare_all()
    sources = {"poke": POKE, "evict": EVICT, "wild": WILD, "accel_error": ACCELERATOR}
    for mask in (0, POKE | EVICT, 0xFFFF):
        await bench.store(regs.RPU_CORE_MASK_WRITE, mask)
        assert await bench.load(regs.RPU_CORE_MASK_READ) == mask
        for name, flag in sources.items():
            assert not dut.irq.value
            await bench.step(**{name: 1})
            await bench.step(2)
            assert bool(dut.irq.value) == bool(flag & (mask | ERRORS))
            assert await bench.load(regs.RPU_CORE_INTERRUPT_FLAGS) == flag
            await bench.store(regs.RPU_CORE_INTERRUPT_ACK, 0xFFFF & ~flag)
            assert await bench.load(regs.RPU_CORE_INTERRUPT_FLAGS) == flag
            # An event in the cycle of its acknowledgement is not lost.
            await bench.step(wr=1, addr=regs.RPU_CORE_INTERRUPT_ACK, wdata=flag, **{name: 1})
            assert await bench.load(regs.RPU_CORE_INTERRUPT_FLAGS) == flag
            await bench.store(regs.RPU_CORE_INTERRUPT_ACK, flag)
            assert await bench.load(regs.RPU_CORE_INTERRUPT_FLAGS) == 0
            await bench.step(2)
    assert int(dut.errors.value) == WILD | ACCELERATOR
    # Behind the access nothing is left of where it was.
    await bench.step(wild=1, pc=0x1234)
    await bench.step(pc=0x2222)
    assert int(dut.error_pcs.value) >> 42 == 0x1234
    await bench.store(regs.RPU_CORE_INTERRUPT_ACK, WILD)
    await bench.store(regs.RPU_CORE_MASK_WRITE, PACKET)
    await bench.arrive(4)
    await bench.step(4)
    assert dut.irq.value
    assert await bench.load(regs.RPU_CORE_INTERRUPT_FLAGS) == PACKET


@cocotb.test()
async def timer(dut: Any) -> None:
    """The interval in cycles, its end by 0, and the two halves of the time."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    await bench.store(regs.RPU_CORE_MASK_WRITE, TIMER)
    for interval in (1, 2, 100):
        await bench.store(regs.RPU_CORE_TIMER_INTERVAL, interval)
        begin = bench.cycle
        times = []
        while len(times) < 3:
            while not dut.irq.value:
                await bench.step()
            times.append(bench.cycle - begin)
            await bench.store(regs.RPU_CORE_INTERRUPT_ACK, TIMER)
        if interval == 100:
            assert times == [100, 200, 300]
        await bench.store(regs.RPU_CORE_TIMER_INTERVAL, 0)
        await bench.step(2)
        await bench.store(regs.RPU_CORE_INTERRUPT_ACK, TIMER)
        await bench.step(2)
        assert not dut.irq.value
    await bench.step(300)
    assert not dut.irq.value
    await bench.step(timer=0x00000001FFFFFFFE)
    assert await bench.load(regs.RPU_CORE_TIMER_L) == 0xFFFFFFFE
    dut.timer.value = 0x0000000200000000
    assert await bench.load(regs.RPU_CORE_TIMER_H) == 1
    assert await bench.load(regs.RPU_CORE_TIMER_L) == 0
    assert await bench.load(regs.RPU_CORE_TIMER_H) == 2
    # The bench gives the core the timer's complement as its time in ns.
    dut.timer.value = 0x0000000312345678
    assert await bench.load(regs.RPU_CORE_TIME_L) == 0xEDCBA987
    dut.timer.value = 0x0000000400000000
    assert await bench.load(regs.RPU_CORE_TIME_H) == 0xFFFFFFFC
    assert await bench.load(regs.RPU_CORE_TIME_L) == 0xFFFFFFFF
    assert await bench.load(regs.RPU_CORE_TIME_H) == 0xFFFFFFFB


@cocotb.test()
async def words(dut: Any) -> None:
    """Identity, sizes, debug words, readiness to leave, how long a slot is held; all of it gone after a reset."""
    bench = Bench(dut, random.Random(SEED))
    await bench.start()
    dut.unit_id.value = 21
    dut.debug_in.value = 0x0123456789ABCDEF
    expected = {
        regs.RPU_CORE_CORE_ID: 21,
        regs.RPU_CORE_IMEM_SIZE: 65536,
        regs.RPU_CORE_DMEM_SIZE: 32768,
        regs.RPU_CORE_PMEM_SIZE: PMEM_BYTES,
        regs.RPU_CORE_SEG_SIZE: PMEM_BYTES,
        regs.RPU_CORE_SEG_COUNT: 1,
        regs.RPU_CORE_BC_SIZE: 8192,
        regs.RPU_CORE_MAX_SLOTS: SLOTS,
        regs.RPU_CORE_DEBUG_IN_L: 0x89ABCDEF,
        regs.RPU_CORE_DEBUG_IN_H: 0x01234567,
        0x1FC: 0,
    }
    for register, value in expected.items():
        assert await bench.load(register) == value, hex(register)
    await bench.store(regs.RPU_CORE_DEBUG_OUT_L, 0xCAFE0001)
    await bench.store(regs.RPU_CORE_DEBUG_OUT_H, 0xCAFE0002)
    await bench.store(regs.RPU_CORE_READY_TO_EVICT, 1)
    assert int(dut.debug_out.value) == 0xCAFE0002CAFE0001
    assert dut.ready_to_evict.value
    await bench.step(data_we=1, data_wdata=0xDA7A0001)
    assert await bench.load(regs.RPU_CORE_DATA) == int(dut.data.value) == 0xDA7A0001
    await bench.store(regs.RPU_CORE_DATA, 0xDA7A0002)
    assert await bench.load(regs.RPU_CORE_DATA) == int(dut.data.value) == 0xDA7A0002
    await bench.declare_all()
    await bench.arrive(1)
    await bench.step(100)
    assert 95 <= int(dut.held_cycles.value) <= 98
    assert await bench.load(regs.RPU_CORE_RECV) == bench.descriptor(1)
    await bench.store(regs.RPU_CORE_SEND, 1 << 16)
    await bench.step(2, free=1, free_slot=0)
    bench.events = []
    for slot in (1, 2):
        await bench.arrive_and_take(slot)
    await bench.step(100)
    assert 100 <= int(dut.held_cycles.value) <= 108
    assert await bench.load(regs.RPU_CORE_ACTIVE_SLOTS) == 3
    await bench.store(regs.RPU_CORE_SEND, 1 << 16)
    await bench.step(10)
    held = int(dut.held_cycles.value)
    assert 7 <= held <= 10
    await bench.step(50, quiet=1)
    assert int(dut.held_cycles.value) == held, "the time of a core that is debugged does not count"
    await bench.step(quiet=0)
    await bench.step(9)
    assert int(dut.held_cycles.value) == held + 10
    await bench.step(free=1, free_slot=0)
    assert await bench.load(regs.RPU_CORE_ACTIVE_SLOTS) == 2
    await bench.store(regs.RPU_CORE_SEND, 2 << 16)
    await bench.step(10)
    assert int(dut.held_cycles.value) == 0
    await bench.store(regs.RPU_CORE_SEND, 2 << 16)
    await bench.step(3)
    assert int(dut.errors.value) == DESCRIPTOR
    await bench.arrive(7)
    dut.rst.value = 1
    await bench.step(2)
    dut.rst.value = 0
    await bench.step(6)
    for name in ("active", "errors", "held_cycles", "debug_out", "ready_to_evict", "irq"):
        assert int(getattr(dut, name).value) == 0, name
    assert await bench.load(regs.RPU_CORE_READY) == 0x01010100
    bench.events = []
    await bench.store(regs.RPU_CORE_SEND, 64 | 7 << 16)
    await bench.expect()
    await bench.flags(DESCRIPTOR)


CASES = [
    "receives",
    "sends",
    "takes_descriptors_in_parts",
    "sends_without_a_slot",
    "asks_host_memory",
    "sets_slots_up",
    "a_frame_without_header_copy",
    "random_traffic",
    "interrupts",
    "timer",
    "words",
]


@pytest.mark.parametrize("case", CASES)
def test_core_regs(case: str) -> None:
    parts.run("test_core_regs", case)
