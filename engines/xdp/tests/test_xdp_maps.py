# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The xdp unit with the maps of a card: programs of a few rows that look up, update, delete and count, in many contexts
at once."""

from __future__ import annotations

import os
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

from card_maps import ARRAY, HASH, LPM, ORIGIN, ROWS, Request, Shape
from rows import Lane, control, load, opcode, store
from test_xdp_unit import TX, Xdp, leave, row
from unit import Frame

M64 = (1 << 64) - 1
DATA = control(isa.SOURCE_DATA)


def of_map(dst: int, kind: int, number: int, a: int, b: int = isa.SOURCE_ZERO, **key: int) -> Lane:
    """A request of a map: with `stack` or `packet` its key is in that window, from that byte on; with `pointer`
    argument 3 names the map."""
    what = kind | number << isa.REQUEST_NUMBER_AT | key.get("pointer", 0) << isa.REQUEST_POINTER_AT
    for name, at in (("stack", isa.REQUEST_KEY_STACK_AT), ("packet", isa.REQUEST_KEY_PACKET_AT)):
        if name in key:
            what |= 1 << at | key[name] << isa.REQUEST_KEY_FIRST_AT
    return Lane(isa.OP_EXT, dst, a, b, what | key.get("silent", 0) << isa.REQUEST_SILENT_AT)


def access(dst: int, kind: int, a: int, b: int, count: int = 8, **more: int) -> Lane:
    what = kind | count << isa.REQUEST_COUNT_AT
    for name, at in (
        ("sign", isa.REQUEST_SIGNED_AT),
        ("swap", isa.REQUEST_SWAP_AT),
        ("atomic", isa.REQUEST_ATOMIC_AT),
        ("silent", isa.REQUEST_SILENT_AT),
    ):
        what |= more.get(name, 0) << at
    return Lane(isa.OP_EXT, dst, a, b, what)


def add(dst: int, a: int, imm: int) -> Lane:
    return Lane(opcode("add", True), dst, a, None, imm)


class Card(Xdp):
    """The unit, and the host at the card's maps."""

    async def begin(self, rows: list[Any], by_flow: bool = False) -> None:
        for name in ("maps_req", "maps_we", "maps_addr", "maps_wdata"):
            getattr(self.dut, name).value = 0
        await super().begin(rows, by_flow)
        for at in range(17):
            await self.set(regs.MAPS_HOST_SEED_LOW, self.rng.getrandbits(32))
            await self.set(regs.MAPS_HOST_SEED_HIGH, self.rng.getrandbits(32))
            await self.set(regs.MAPS_HOST_SEED_AT, at)
        shape = await self.get(regs.MAPS_HOST_SHAPE)
        self.banks, self.rows = 1 << (shape & 255), 1 << (shape >> 8 & 255)
        self.next_row = 1

    async def at(self, addr: int, data: int | None = None) -> int:
        dut = self.dut
        dut.maps_req.value, dut.maps_we.value = 1, int(data is not None)
        dut.maps_addr.value, dut.maps_wdata.value = addr, data or 0
        await self.step()
        while not int(dut.maps_ack.value):
            await self.step()
        assert not int(dut.maps_err.value)
        dut.maps_req.value = 0
        value = int(dut.maps_rdata.value)
        await self.step()
        return value

    async def set(self, addr: int, data: int) -> None:
        await self.at(addr, data)

    async def get(self, addr: int) -> int:
        return await self.at(addr)

    async def make(self, number: int, shape: Shape) -> None:
        self.next_row = shape.lay_out(self.next_row, self.banks)
        assert self.next_row <= self.rows
        for at, word in enumerate(shape.words()):
            await self.set(regs.MAPS_HOST_DESCRIPTOR + 4 * at, word)
        await self.set(regs.MAPS_HOST_DEFINE, number)
        while await self.get(regs.MAPS_HOST_COMMAND) & 2:
            pass

    async def host(self, request: Request) -> list[int]:
        data, keys = request.data()
        for at, part in enumerate(data):
            for word in range(4):
                await self.set(regs.MAPS_HOST_DATA + 16 * at + 4 * word, part >> 32 * word & 0xFFFFFFFF)
        await self.set(regs.MAPS_HOST_INFO, request.info())
        await self.set(regs.MAPS_HOST_COMMAND, request.op | keys << 4 | len(data) << 8)
        while await self.get(regs.MAPS_HOST_COMMAND) & 1:
            pass
        words = []
        for at in range(2 * request.count if request.op == ROWS else 1):
            low = await self.get(regs.MAPS_HOST_DATA + 8 * at)
            words.append(low | await self.get(regs.MAPS_HOST_DATA + 8 * at + 4) << 32)
        return words

    async def value(self, number: int, key: bytes, size: int) -> bytes | None:
        """The value of a key."""
        address = (await self.host(Request(3, map=number, key=key)))[0]
        if not address:
            return None
        words = await self.host(Request(ROWS, address=address, count=-(-size // 16)))
        return b"".join(word.to_bytes(8, "little") for word in words)[:size]


async def exchange(card: Card, frames: list[bytes]) -> Counter[bytes]:
    card.to_send.extend(Frame(data, src=card.rng.randrange(2)) for data in frames)
    await card.drained(100_000)
    return Counter(frame.data for frame in card.sent)


@cocotb.test()
async def counts_flows(dut: Any) -> None:
    """A key of 16 bytes in the packet's window, from byte 5 of it on; the count behind it is raised and its old value
    written into the frame. Frames of an unknown key pass as they are."""
    card = Card(dut)
    found = [
        row(of_map(0, isa.KIND_LOOKUP, 7, isa.SOURCE_ZERO, packet=5), Lane(opcode("mov", True), 0, imm=1), window=DATA),
        row(Lane(opcode("br.eq", True), 0, 0, isa.SOURCE_ZERO, 1 << isa.TARGET_EXIT_AT | TX)),
        row(access(1, isa.KIND_ATOMIC, 0, 8, atomic=isa.ATOMIC_ADD)),
        row(store(1, 24, 8), window=DATA),
        row(leave(TX)),
    ]
    await card.begin(found)
    await card.make(7, Shape(HASH, 16, 8, 40))
    keys = [card.rng.randbytes(16) for _ in range(12)]
    for key in keys[:10]:
        assert await card.host(Request(4, map=7, key=key, value=bytes(8))) == [0]
    frames = [card.rng.randbytes(5) + card.rng.choice(keys) + card.rng.randbytes(43) for _ in range(300)]
    got = await exchange(card, frames)
    of = Counter(frame[5:21] for frame in frames)
    seen: dict[bytes, set[int]] = {key: set() for key in keys}
    for data in got:
        if data[5:21] in keys[:10]:
            seen[data[5:21]].add(int.from_bytes(data[24:32], "little"))
        else:
            assert data in frames
    for key in keys[:10]:
        assert seen[key] == set(range(of[key]))
        assert await card.value(7, key, 8) == of[key].to_bytes(8, "little")
    assert await card.value(7, keys[11], 8) is None
    await card.counted(wild=0)


@cocotb.test()
async def keeps_what_it_is_told(dut: Any) -> None:
    """The frame selects the operation: an update or deletion under its key of 20 bytes, which is on the stack behind a
    pointer, or a lookup of the key in the stack's window. The value's address, or Linux' error, comes back in the
    frame. Frames go one at a time, so plain Python can predict the result.
    """
    card = Card(dut)
    # Stack: the key from byte 3 of its second 8 on, 20 bytes, and others behind it; the value of 56 bytes is in the
    # packet, from byte 33 on.
    copy = [
        row(load(0, 4, 8), load(0, 12, 8), load(0, 20, 8), load(0, 0, 1), window=DATA),
        row(
            store(0, 11, 8, stack=True),
            store(8, 19, 8, stack=True),
            add(1, isa.SOURCE_STACK, 11 - 512),
            window=control(word=0),
        ),
        row(store(16, 27, 8, stack=True), Lane(), load(1, 1, 1), Lane(), window=control(isa.SOURCE_DATA, word=0)),
        row(Lane(), add(1, isa.SOURCE_STACK, 11 - 512), add(2, isa.SOURCE_DATA, 33), window=0),
        row(
            Lane(opcode("cmp.eq", True), a=24, imm=1),
            Lane(opcode("cmp.eq", True), a=24, imm=2),
            Lane(isa.OP_JMP, imm=9, guard=(1, True), b=isa.SOURCE_ZERO),
            Lane(isa.OP_JMP, imm=11, guard=(0, False), b=isa.SOURCE_ZERO),
        ),
        row(Lane(), Lane(isa.OP_ARG, 1, 17, isa.SOURCE_ZERO)),
        row(of_map(0, isa.KIND_UPDATE, 3, 9, 18)),
        row(store(0, 24, 8), window=DATA),
        row(leave(TX)),
        row(of_map(0, isa.KIND_DELETE, 3, 9)),
        row(store(0, 24, 8), leave(TX), window=DATA),
        row(of_map(0, isa.KIND_LOOKUP, 3, isa.SOURCE_ZERO, stack=3), window=control(word=1)),
        row(store(0, 24, 8), leave(TX), window=DATA),
    ]
    await card.begin(copy)
    await card.make(3, Shape(HASH, 20, 56, 6))
    rng = card.rng
    keys = [rng.randbytes(20) for _ in range(9)]
    there: dict[bytes, bytes] = {}
    for _ in range(160):
        what, flags, key, value = (
            rng.choice([0, 1, 1, 2]),
            rng.choice([0, 0, 1, 2, 3]),
            rng.choice(keys),
            rng.randbytes(56),
        )
        frame = bytes([what, flags]) + bytes(2) + key + rng.randbytes(9) + value + bytes(4)
        card.sent.clear()
        await exchange(card, [frame])
        answer = int.from_bytes(card.sent[0].data[24:32], "little")
        if what == 0:
            assert bool(answer) == (key in there)
            if answer:
                assert answer >= ORIGIN
        elif what == 2:
            assert answer == (0 if key in there else -2 & M64)
            there.pop(key, None)
        else:
            expected = 0
            if flags == 3:
                expected = -22
            elif key in there:
                expected = -17 if flags == 1 else 0
            elif flags == 2:
                expected = -2
            elif len(there) == 6:
                expected = -7
            assert answer == expected & M64, (flags, key in there)
            if not expected:
                there[key] = value
    for key in keys:
        assert await card.value(3, key, 56) == there.get(key)
    await card.counted(wild=0)


@cocotb.test()
async def goes_on_from_memory(dut: Any) -> None:
    """Loads with sign and order, stores without an answer and loads behind them, of a card's array; a key of 4 bytes
    and one of prefixes from where a pointer leads; no such map, and a pointer to nowhere."""
    card = Card(dut)
    program = [
        row(load(0, 0, 8), load(0, 8, 4), window=DATA),
        row(store(8, 4, 4, stack=True), add(1, isa.SOURCE_STACK, 4 - 512), window=control(word=0)),
        row(of_map(1, isa.KIND_LOOKUP, 0, 9)),
        row(Lane(), add(2, 1, 3)),
        row(access(0, isa.KIND_STORE, 1, 0, count=8, silent=1)),
        row(access(2, isa.KIND_STORE, 10, 0, count=2, swap=1, silent=1)),
        row(access(2, isa.KIND_LOAD, 10, isa.SOURCE_ZERO, count=4, sign=1)),
        row(
            access(3, isa.KIND_LOAD, 1, isa.SOURCE_ZERO, count=8, swap=1),
            store(9, 0, 8, stack=True),
            window=control(word=20),
        ),
        row(of_map(4, isa.KIND_LOOKUP, 9, 9)),
        row(of_map(5, isa.KIND_DELETE, 0, isa.SOURCE_ZERO)),
        row(Lane(), add(3, isa.SOURCE_DATA, 40)),
        row(of_map(6, isa.KIND_LOOKUP, 1, 11)),
        row(store(2, 12, 8), store(9, 48, 4), window=DATA),
        row(store(3, 20, 8), window=DATA),
        row(store(4, 28, 4), window=DATA),
        row(store(5, 32, 8), window=DATA),
        row(store(6, 48, 8), leave(TX), window=DATA),
    ]
    await card.begin(program)
    await card.make(0, Shape(ARRAY, 4, 16, 50))
    await card.make(1, Shape(LPM, 8, 8, 20))
    route = bytes([16, 0, 0, 0, 192, 168, 0, 0])
    assert await card.host(Request(4, map=1, key=route, value=bytes(8))) == [0]
    hop = (await card.host(Request(3, map=1, key=route)))[0]
    frames, expected = [], Counter()
    for index in range(50):
        data = bytearray(card.rng.randbytes(80))
        data[8:12] = index.to_bytes(4, "little")
        inside = index % 2
        data[40:48] = bytes([32, 0, 0, 0, 192, 168 + inside, index, 1])
        value = bytearray(data[0:8])
        value[3:5] = data[1::-1]
        out = bytearray(data)
        out[12:20] = (int.from_bytes(value[3:7], "little", signed=True) & M64).to_bytes(8, "little")
        out[20:28] = value[::-1]
        out[28:32] = bytes(4)
        out[32:40] = (-14 & M64).to_bytes(8, "little")
        out[48:56] = (0 if inside else hop).to_bytes(8, "little")
        frames.append(bytes(data))
        expected[bytes(out)] += 1
    assert await exchange(card, frames) == expected
    await card.counted(wild=100)


@cocotb.test()
async def each_counts_for_itself(dut: Any) -> None:
    """Entries that the host has made: each context raises its own count in them, and none of another's."""
    card = Card(dut)
    found = [
        row(
            of_map(0, isa.KIND_LOOKUP, 7, isa.SOURCE_ZERO, packet=0),
            Lane(opcode("mov", True), 0, b=isa.SOURCE_CPU),
            Lane(opcode("mov", True), 0, imm=1),
            window=DATA,
        ),
        row(access(1, isa.KIND_ATOMIC, 0, 16, atomic=isa.ATOMIC_ADD)),
        row(store(1, 24, 8), store(8, 32, 4), window=DATA),
        row(leave(TX)),
    ]
    await card.begin(found)
    count = 48  # of the card's processors, up to this unit's last
    for value_bytes in (8, 24):
        shape = Shape(HASH, 16, value_bytes, 4, count)
        card.next_row = 1
        await card.make(7, shape)
        keys = [card.rng.randbytes(16) for _ in range(4)]
        for key in keys:
            assert await card.host(Request(4, map=7, key=key, value=bytes(value_bytes))) == [0]
        card.sent.clear()
        await exchange(card, [card.rng.choice(keys) + bytes(44) for _ in range(300)])
        counts: Counter[tuple[bytes, int]] = Counter()
        for frame in card.sent:
            key, processor = frame.data[:16], int.from_bytes(frame.data[32:36], "little")
            assert 32 <= processor < 48
            assert int.from_bytes(frame.data[24:32], "little") <= counts[key, processor]
            counts[key, processor] += 1
        assert len({processor for _, processor in counts}) == 16
        for key in keys:
            size = 8 * shape.step() * count
            values = await card.value(7, key, 512) or b""
            address = (await card.host(Request(3, map=7, key=key)))[0]
            for at in range(512, size, 512):
                words = await card.host(Request(ROWS, address=address + at, count=min(512, size - at) // 16))
                values += b"".join(word.to_bytes(8, "little") for word in words)
            for processor in range(count):
                value = values[8 * shape.step() * processor :][:8]
                assert int.from_bytes(value, "little") == counts[key, processor]
    await card.counted(wild=0)


@cocotb.test()
async def maps_by_pointer(dut: Any) -> None:
    """The frame names the map in which its key is looked up and then deleted; a frame that names no map is counted."""
    card = Card(dut)
    pointer = Lane(isa.OP_ARG, 1, isa.SOURCE_ZERO, 0)
    program = [
        row(load(0, 8, 8), window=DATA),
        row(of_map(1, isa.KIND_LOOKUP, 0, isa.SOURCE_ZERO, packet=4, pointer=1), pointer, window=DATA),
        row(of_map(2, isa.KIND_DELETE, 0, isa.SOURCE_ZERO, packet=4, pointer=1), pointer, window=DATA),
        row(store(1, 24, 8), store(2, 32, 8), window=DATA),
        row(leave(TX)),
    ]
    await card.begin(program)
    await card.make(5, Shape(HASH, 4, 8, 20))
    await card.make(0, Shape(HASH, 4, 8, 20))
    await card.make(9, Shape(ARRAY, 4, 8, 20))
    there: dict[int, set[int]] = {5: set(), 0: set()}
    for number, keys in there.items():
        for key in card.rng.sample(range(24), 12):
            assert await card.host(Request(4, map=number, key=key.to_bytes(4, "little"), value=bytes(8))) == [0]
            keys.add(key)
    wild = 0
    for _ in range(80):
        number, key = card.rng.choice([5, 0, 9, 9, 6, 64, 64 + 9]), card.rng.randrange(24)
        word = card.rng.choice([number | 1 << 16, number | 1 << 16, number | 1 << 16, number])
        bytes_ = key.to_bytes(4, "little")
        address = (await card.host(Request(3, map=number, key=bytes_)))[0] if number in (0, 5, 9) else 0
        known = number in (0, 5, 9) and word >> 16 == 1
        card.sent.clear()
        await exchange(card, [bytes(4) + bytes_ + word.to_bytes(8, "little") + bytes(44)])
        found, deleted = (int.from_bytes(card.sent[0].data[at : at + 8], "little") for at in (24, 32))
        assert found == (address if known else 0)
        expected = -22 if not known or number == 9 else 0 if key in there[number] else -2
        assert deleted == expected & M64
        wild += 0 if known else 2
        if known and number != 9:
            there[number].discard(key)
    await card.counted(wild=wild)


@cocotb.test()
async def many_at_once(dut: Any) -> None:
    """Lookups of all contexts are under way at once: far faster than one after the other."""
    card = Card(dut)
    lookups = 12
    program = [row(of_map(0, isa.KIND_LOOKUP, 2, isa.SOURCE_ZERO, packet=0), window=DATA) for _ in range(lookups)]
    await card.begin([*program, row(store(0, 16, 8), leave(TX), window=DATA)])
    await card.make(2, Shape(HASH, 16, 8, 32))
    keys = [card.rng.randbytes(16) for _ in range(20)]
    for key in keys:
        assert await card.host(Request(4, map=2, key=key, value=bytes(8))) == [0]
    frames = [card.rng.choice(keys) + bytes(48) for _ in range(200)]
    begin = card.cycle
    await exchange(card, frames)
    cycles = card.cycle - begin
    dut._log.info("%d lookups of all contexts: %.1f cycles each", 200 * lookups, cycles / 200 / lookups)
    assert all(frame.data[16:24] != bytes(8) for frame in card.sent)
    assert cycles < 10 * 200 * lookups


CASES = [
    "counts_flows",
    "keeps_what_it_is_told",
    "goes_on_from_memory",
    "each_counts_for_itself",
    "maps_by_pointer",
    "many_at_once",
]


@pytest.mark.parametrize("case", CASES)
def test_xdp_maps(case: str) -> None:
    """The coroutine of that name describes the test."""
    simulate(
        "xdp_bench",
        ["engines/xdp/rtl/rtl.f", "lib/sim/axi_absent.sv", "engines/xdp/tests/xdp_bench.sv"],
        "test_xdp_maps",
        testcase=case,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
