# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The card's maps alone: many units at once, the host beside them, held against a plain Python model."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter, deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock import regs
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from card_maps import (
    ANY,
    ARRAY,
    ATOMIC,
    DELETE,
    EEXIST,
    EINVAL,
    EXIST,
    HASH,
    LOAD,
    LOOKUP,
    LPM,
    LRU,
    M64,
    NOEXIST,
    ORIGIN,
    ROWS,
    STORE,
    UPDATE,
    Model,
    Request,
    Shape,
    cut,
    hash_of,
    linearizable,
    signed,
)

SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
FLIT, REPLY = 170, 69


class Maps:
    """Drives a `maps_bench`: links with queues, the host's window. `step()` is one cycle."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(SEED)
        self.cycle = 0
        self.units = len(dut.valid)
        self.queues: list[deque[tuple[int, Request | None]]] = [deque() for _ in range(self.units)]
        self.waiting: list[dict[int, Request]] = [{} for _ in range(self.units)]
        self.pause = 0.0
        self.shapes: list[int] = []
        self.seed: list[int] = []

    async def start(self) -> None:
        dut = self.dut
        for name in ("valid", "flit", "cfg_req", "cfg_we", "cfg_addr", "cfg_wdata", "fail_write", "fail_read"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        self.edge = FallingEdge(dut.clk)
        for _ in range(4):
            await self.edge
        dut.rst.value = 0
        await self.edge
        shape = await self.read(regs.MAPS_HOST_SHAPE)
        self.banks, self.rows = 1 << (shape & 255), 1 << (shape >> 8 & 255)
        self.seed = [self.rng.getrandbits(64) for _ in range(17)]
        for at, word in enumerate(self.seed):
            await self.write(regs.MAPS_HOST_SEED_LOW, word & 0xFFFFFFFF)
            await self.write(regs.MAPS_HOST_SEED_HIGH, word >> 32)
            await self.write(regs.MAPS_HOST_SEED_AT, at)

    def send(self, unit: int, request: Request) -> None:
        flits = request.flits()
        self.queues[unit].extend((flit, request if at == 0 else None) for at, flit in enumerate(flits))
        if not request.quiet:
            assert request.ctx not in self.waiting[unit]
            self.waiting[unit][request.ctx] = request

    async def step(self) -> None:
        await self.edge
        self.cycle += 1
        dut = self.dut
        replied = int(dut.reply_valid.value)
        if replied:
            replies = int(dut.reply.value)
            for unit in range(self.units):
                if replied >> unit & 1:
                    word = replies >> REPLY * unit & (1 << REPLY) - 1
                    if word >> 68:
                        if unit == 0:
                            self.shapes.append(word & M64)
                        continue
                    request = self.waiting[unit].pop(word >> 64 & 15)
                    request.answer, request.end = word & M64, self.cycle
        room, valid, flits = int(dut.room.value), 0, 0
        for unit in range(self.units):
            if self.queues[unit] and room >> unit & 1 and not (self.pause and self.rng.random() < self.pause):
                flit, first = self.queues[unit].popleft()
                if first:
                    first.begin = self.cycle
                valid |= 1 << unit
                flits |= flit << FLIT * unit
        dut.valid.value = valid
        if valid:
            dut.flit.value = flits

    def quiet(self) -> bool:
        return not any(self.queues) and not any(self.waiting)

    async def settle(self, limit: int = 200_000) -> None:
        end = self.cycle + limit
        while not self.quiet():
            assert self.cycle < end, "no answer"
            await self.step()
        for _ in range(60):
            await self.step()

    async def ask(self, request: Request, unit: int = 0) -> int:
        self.send(unit, request)
        end = self.cycle + 20_000
        while not request.end:
            assert self.cycle < end, "no answer"
            await self.step()
        return signed(request.answer)

    # ---- host
    async def access(self, addr: int, data: int | None = None) -> tuple[int, bool]:
        dut = self.dut
        dut.cfg_req.value = 1
        dut.cfg_we.value = int(data is not None)
        dut.cfg_addr.value = addr
        dut.cfg_wdata.value = data or 0
        await self.step()
        while not int(dut.cfg_ack.value):
            await self.step()
        dut.cfg_req.value = 0
        found = int(dut.cfg_rdata.value), bool(int(dut.cfg_err.value))
        await self.step()
        return found

    async def read(self, addr: int) -> int:
        value, err = await self.access(addr)
        assert not err
        return value

    async def write(self, addr: int, data: int) -> None:
        assert not (await self.access(addr, data))[1], hex(addr)

    async def make(self, number: int, shape: Shape) -> None:
        for at, word in enumerate(shape.words()):
            await self.write(regs.MAPS_HOST_DESCRIPTOR + 4 * at, word)
        await self.write(regs.MAPS_HOST_DEFINE, number)
        while await self.read(regs.MAPS_HOST_COMMAND) & 2:
            pass

    async def host(self, request: Request) -> list[int]:
        """A request of the host; gives the words of its answer."""
        data, keys = request.data()
        for at, part in enumerate(data):
            for word in range(4):
                await self.write(regs.MAPS_HOST_DATA + 16 * at + 4 * word, part >> 32 * word & 0xFFFFFFFF)
        await self.write(regs.MAPS_HOST_INFO, request.info())
        await self.write(regs.MAPS_HOST_COMMAND, request.op | keys << 4 | len(data) << 8 | request.ctx << 16)
        while await self.read(regs.MAPS_HOST_COMMAND) & 1:
            pass
        count = 2 * request.count if request.op == ROWS else 1
        words = []
        for at in range(count):
            low = await self.read(regs.MAPS_HOST_DATA + 8 * at)
            words.append(low | await self.read(regs.MAPS_HOST_DATA + 8 * at + 4) << 32)
        return words


@cocotb.test()
async def arrays(dut: Any) -> None:
    """An array's elements have the contract's places, in bank after bank, and are zeros; wrong numbers and flags get
    Linux' answers.
    """
    maps = Maps(dut)
    await maps.start()
    shape = Shape(ARRAY, 4, 24, 37)
    shape.lay_out(3, maps.banks)
    await maps.make(5, shape)
    assert maps.shapes == [24 << 16 | 4 << 6 | 5]
    for index in range(37):
        address = await maps.ask(Request(LOOKUP, map=5, key=index.to_bytes(4, "little")), index % maps.units)
        bank, local = index % maps.banks, index // maps.banks
        assert address == ORIGIN + bank * maps.rows * 16 + (3 + local * 2) * 16
        for word in range(3):
            assert await maps.ask(Request(LOAD, address=address + 8 * word)) == 0
        assert await maps.ask(Request(UPDATE, map=5, key=index.to_bytes(4, "little"), value=bytes([index]) * 24)) == 0
    for index in range(37):
        key = index.to_bytes(4, "little")
        address = await maps.ask(Request(LOOKUP, map=5, key=key))
        for offset, count in [(0, 8), (7, 4), (15, 2), (20, 4), (23, 1)]:
            value = await maps.ask(Request(LOAD, address=address + offset, count=count))
            assert value == int.from_bytes(bytes([index]) * count, "little")
    key = (36).to_bytes(4, "little")
    assert await maps.ask(Request(UPDATE, map=5, key=key, value=bytes(24), flags=NOEXIST)) == EEXIST
    assert await maps.ask(Request(UPDATE, map=5, key=key, value=bytes(24), flags=EXIST)) == 0
    assert await maps.ask(Request(DELETE, map=5, key=key)) == EINVAL
    # An update follows a silent store of the same context sent right before it; a store to another element is not lost.
    address = await maps.ask(Request(LOOKUP, map=5, key=key))
    for byte in range(1, 5):
        for place in (address, address - 32):
            maps.send(0, Request(STORE, address=place, operand=byte << 32, quiet=True))
            assert await maps.ask(Request(UPDATE, map=5, key=key, value=bytes([byte]) * 24)) == 0
        assert await maps.ask(Request(LOAD, address=address)) == int.from_bytes(bytes([byte]) * 8, "little")
        assert await maps.ask(Request(LOAD, address=address - 32)) == byte << 32
    for index in (37, 1 << 31):
        key = index.to_bytes(4, "little")
        assert await maps.ask(Request(LOOKUP, map=5, key=key)) == 0
        assert await maps.ask(Request(UPDATE, map=5, key=key, value=bytes(24))) == -7
    # No such map
    assert await maps.ask(Request(LOOKUP, map=6, key=key)) == 0
    assert await maps.ask(Request(UPDATE, map=6, key=key, value=bytes(24))) == EINVAL
    assert await maps.ask(Request(DELETE, map=6, key=key)) == EINVAL


@cocotb.test()
async def accesses(dut: Any) -> None:
    """Loads, stores and atomics of all sizes at all places, compared with bytes; a context's loads see its silent
    stores.
    """
    maps = Maps(dut)
    await maps.start()
    memory = bytearray(256)
    base = ORIGIN + maps.rows * 16 * (maps.banks - 1) + 0x100
    for at in range(0, 256, 8):
        maps.send(0, Request(STORE, address=base + at, operand=0, quiet=True))
    await maps.settle()
    rng = maps.rng
    for _ in range(1200):
        count, atomic = rng.choice([1, 2, 4, 8]), rng.randrange(6)
        at = rng.randrange(256 - count + 1)
        old = int.from_bytes(memory[at : at + count], "little")
        operand, expected = rng.getrandbits(64), rng.choice([old, old ^ 1 << rng.randrange(8 * count)])
        mask = (1 << 8 * count) - 1
        op = rng.choice([LOAD, STORE, ATOMIC, ATOMIC])
        new = old
        if op == STORE:
            new = operand & mask
        elif op == ATOMIC:
            results = [old + operand, old | operand, old & operand, old ^ operand, operand, old]
            new = (results[atomic] if atomic < 5 else operand if expected == old else old) & mask
        memory[at : at + count] = new.to_bytes(count, "little")
        request = Request(op, 3, address=base + at, count=count, atomic=atomic, operand=operand)
        request.expected = (expected | rng.getrandbits(64) << 8 * count) & M64  # what is above its bytes does not count
        request.quiet = op != LOAD and rng.random() < 0.3
        if request.quiet:
            maps.send(1, request)
        else:
            assert await maps.ask(request, 1) & M64 == old, (op, atomic, count)
    rows = await maps.host(Request(ROWS, address=base, count=16))
    assert b"".join(word.to_bytes(8, "little") for word in rows) == memory


@cocotb.test()
async def close(dut: Any) -> None:
    """Back-to-back accesses over a link to few bytes: each sees the results of earlier ones, including silent ones."""
    maps = Maps(dut)
    await maps.start()
    rng, memory = maps.rng, bytearray(48)
    base = ORIGIN + 0x400
    sent: list[tuple[Request, int]] = []
    for at in range(0, len(memory), 8):
        maps.send(1, Request(STORE, address=base + at, operand=0, quiet=True))
    for turn in range(6000):
        while len(maps.queues[1]) < 4:
            ctx = next((c for c in range(16) if c not in maps.waiting[1]), None)
            if ctx is None:
                break
            count = rng.choice([1, 2, 4, 8])
            at = rng.randrange(len(memory) - count + 1)
            request = Request(rng.choice([LOAD, LOAD, STORE, ATOMIC]), ctx, address=base + at, count=count)
            request.operand, request.quiet = rng.getrandbits(64), request.op != LOAD and rng.random() < 0.5
            old = int.from_bytes(memory[at : at + count], "little")
            new = {LOAD: old, STORE: request.operand, ATOMIC: old + request.operand}[request.op]
            memory[at : at + count] = (new & (1 << 8 * count) - 1).to_bytes(count, "little")
            maps.send(1, request)
            if not request.quiet:
                sent.append((request, old))
        # Sometimes all requests in flight complete before the next one.
        for _ in range(rng.choice([1, 1, 1, 12]) if turn % 50 == 0 else 1):
            await maps.step()
    await maps.settle()
    assert len(sent) > 1000
    for request, old in sent:
        assert request.answer == old, (request, old)


@cocotb.test()
async def spills(dut: Any) -> None:
    """Counters and bytes all over the memory, including the ends of rows and lines, while cache lines come and go: no
    count is lost, and each byte has the value that was stored last.
    """
    maps = Maps(dut)
    await maps.start()
    rng, line = maps.rng, 256
    # All rows that maps may have, cleared by making a map of them
    whole = Shape(ARRAY, 4, 16 * (maps.rows - 2), maps.banks)
    whole.lay_out(1, maps.banks)
    await maps.make(0, whole)
    lines = [(bank, at) for bank in range(maps.banks) for at in rng.sample(range(1, maps.rows // 16 - 1), 12)]
    places = [ORIGIN + (bank * maps.rows + 16 * at) * 16 for bank, at in lines]
    # In each line: a counter in its last 4 bytes and the 4 after them, and bytes that only one context stores
    counters = {place + line - 4: 0 for place in places}
    # Near the line boundary, so that a read of a wrong line is visible
    starts = {counter: (rng.getrandbits(30) << 32) + 0xFFFF_FFFF - rng.randrange(50) for counter in counters}
    for counter, start in starts.items():
        await maps.ask(Request(STORE, address=counter, operand=start))
    owned: dict[tuple[int, int], dict[int, int]] = {(unit, ctx): {} for unit in range(maps.units) for ctx in range(4)}
    owners = [*owned]
    cells = [place + 8 * cell for place in places for cell in range(2, 30)]
    for number, cell in enumerate(rng.sample(cells, len(cells))):
        owned[owners[number % len(owners)]][cell] = 0
    waits: dict[tuple[int, int], tuple[Request, int | None]] = {}
    seen: dict[int, list[int]] = {counter: [] for counter in counters}
    for _ in range(12_000):
        for who, mine in owned.items():
            if who in waits:
                request, expected = waits[who]
                if not request.end:
                    continue
                assert expected is None or request.answer == expected, (who, request)
                if expected is None:
                    seen[request.address].append(request.answer)
                del waits[who]
            unit, ctx = who
            if rng.random() < 0.3:
                counter = rng.choice([*counters])
                counters[counter] += 1
                request, expected = Request(ATOMIC, ctx, address=counter, count=8, operand=1), None
            else:
                cell = rng.choice([*mine])
                store = rng.random() < 0.5
                request, expected = Request(STORE if store else LOAD, ctx, address=cell), mine[cell]
                if store:
                    mine[cell] = request.operand = rng.getrandbits(64)
            waits[who] = request, expected
            maps.send(unit, request)
        await maps.step()
    await maps.settle()
    for request, expected in waits.values():
        if expected is None:
            seen[request.address].append(request.answer)
    for counter, count in counters.items():
        assert sorted(seen[counter]) == list(range(starts[counter], starts[counter] + count)), hex(counter)
    for mine in owned.values():
        for cell, value in mine.items():
            assert await maps.ask(Request(LOAD, address=cell)) & M64 == value, hex(cell)
    # Untouched bytes read as zero, although the memory was full of other data.
    for bank in range(maps.banks):
        rows = await maps.host(Request(ROWS, address=places[0] + line + 16 + 16 * maps.rows * bank, count=1))
        assert rows == [0, 0] or (bank, lines[0][1] + 1) in lines
    # A map that is made on a line's first two rows leaves the others as they are.
    first = Shape(ARRAY, 4, 8, 2 * maps.banks)
    held = {cell: value for mine in owned.values() for cell, value in mine.items()}
    for _, at in lines:
        first.lay_out(16 * at, maps.banks)
        await maps.make(1, first)
    for place in places:
        cell = place + 8 * rng.randrange(4, 30)
        assert await maps.ask(Request(LOAD, address=cell)) & M64 == held[cell], hex(cell)
    came, went = int(dut.lines_in.value), int(dut.lines_out.value)
    dut._log.info(f"{came} lines came, {went} went")
    is_cached = int(dut.OnChip.value) < maps.rows
    assert (came > 500 and went > 500) if is_cached else came == went == 0


@cocotb.test()
async def faults_of_memory(dut: Any) -> None:
    """A line that card memory cannot read is zeros, and one that it cannot write keeps its old bytes there. Both are
    counted, and all other lines keep theirs.
    """
    maps = Maps(dut)
    await maps.start()
    whole = Shape(ARRAY, 4, 16 * (maps.rows - 2), maps.banks)
    whole.lay_out(1, maps.banks)
    await maps.make(0, whole)
    # Lines of one bank that take each other's place on the chip
    apart = int(dut.OnChip.value) * 16
    first = ORIGIN + 2 * 256 + 8
    cells = {first + apart * line: 1000 + line for line in range(1, 6)}
    for cell, value in cells.items():
        await maps.ask(Request(STORE, address=cell, operand=value))

    async def load(cell: int) -> int:
        return int(await maps.ask(Request(LOAD, address=cell))) & M64

    async def errors() -> list[int]:
        return [await maps.read(regs.MAPS_HOST_MEMORY_ERRORS), await maps.read(regs.MAPS_HOST_COMMAND) >> 2]

    for cell, value in cells.items():
        assert await load(cell) == value
    assert await errors() == [0, 0]
    unread, unwritten, other, *_ = cells
    dut.fail_read.value = 1
    assert await load(unread) == 0
    dut.fail_read.value = 0
    assert await errors() == [1, 1]
    await maps.ask(Request(STORE, address=unwritten, operand=7))
    dut.fail_write.value = 1
    assert await load(other) == cells[other]
    dut.fail_write.value = 0
    assert await load(unwritten) == cells[unwritten]
    assert await errors() == [2, 1]
    for cell, value in cells.items():
        assert cell == unread or await load(cell) == value


def keys_of(rng: random.Random, size: int, count: int) -> list[bytes]:
    """Keys that differ in one byte only, beside random ones."""
    near = bytearray(rng.randbytes(size))
    keys = {bytes(near)}
    while len(keys) < count:
        other = bytearray(near)
        other[rng.randrange(size)] = rng.randrange(256)
        keys.add(bytes(other) if rng.random() < 0.5 else rng.randbytes(size))
    return sorted(keys)


async def tables(maps: Maps, number: int, shape: Shape, keys: list[bytes], rounds: int) -> Model:
    """One operation after the other on a map, with values checked against the model."""
    model = Model(shape)
    values: dict[bytes, bytes] = {}
    rng = maps.rng
    for _ in range(rounds):
        key = rng.choice(keys)
        unit = rng.randrange(maps.units)
        what = rng.choice([LOOKUP, LOOKUP, UPDATE, UPDATE, DELETE])
        if what == UPDATE:
            flags, value = rng.choice([ANY, ANY, NOEXIST, EXIST]), rng.randbytes(shape.value_bytes)
            expected = model.update(key, flags)
            answer = await maps.ask(Request(UPDATE, map=number, key=key, value=value, flags=flags), unit)
            assert answer == expected, (key.hex(), flags)
            if not expected:
                values[key if shape.kind != LPM else cut(key, key[0])] = value
        elif what == DELETE:
            assert await maps.ask(Request(DELETE, map=number, key=key), unit) == model.delete(key)
        else:
            address = await maps.ask(Request(LOOKUP, map=number, key=key), unit)
            found = model.find(key)
            assert bool(address) == (found is not None), key.hex()
            if found is not None:
                known = model.keys[found]
                assert known in (0, address)
                model.keys[found] = address
                at = 8 * rng.randrange(shape.value_bytes // 8)
                value = await maps.ask(Request(LOAD, address=address + at), unit)
                assert value & M64 == int.from_bytes(values[found][at : at + 8], "little")
    assert len({address for address in model.keys.values() if address}) == sum(map(bool, model.keys.values()))
    return model


@cocotb.test()
async def hashes(dut: Any) -> None:
    """Keys and values of several sizes; a map holds exactly its declared number of entries, wherever they are."""
    maps = Maps(dut)
    await maps.start()
    row = 1
    for number, (key_bytes, value_bytes, entries) in enumerate([(4, 8, 20), (16, 16, 32), (17, 40, 24), (64, 256, 12)]):
        shape = Shape(HASH, key_bytes, value_bytes, entries)
        row = shape.lay_out(row, maps.banks, share=entries)
        await maps.make(number, shape)
        keys = keys_of(maps.rng, key_bytes, 2 * entries)
        model = await tables(maps, number, shape, keys, 500)
        # Full, and one too many; then room for it.
        for key in keys:
            expected = model.update(key, ANY)
            assert await maps.ask(Request(UPDATE, map=number, key=key, value=bytes(value_bytes))) == expected
        assert model.full()
        there, missing = next(k for k in keys if k in model.keys), next(k for k in keys if k not in model.keys)
        assert await maps.ask(Request(DELETE, map=number, key=there)) == model.delete(there) == 0
        update = Request(UPDATE, map=number, key=missing, value=bytes(value_bytes))
        assert await maps.ask(update) == model.update(missing, ANY) == 0


@cocotb.test()
async def chains(dut: Any) -> None:
    """Entries of a bucket, removed from any place of their chain; the rows show that the contract's
    hash places them.
    """
    maps = Maps(dut)
    await maps.start()
    shape = Shape(HASH, 8, 16, 60)
    shape.lay_out(1, maps.banks, share=60)
    shape.buckets = 3
    await maps.make(9, shape)
    # Keys of one bucket
    candidates = (number.to_bytes(8, "little") for number in range(1 << 20))
    low = maps.banks.bit_length() - 1 + shape.buckets
    keys = []
    while len(keys) < 17:
        key = next(candidates)
        if hash_of(key, maps.seed) & (1 << low) - 1 == 5 * maps.banks + 1:
            keys.append(key)
    for key in keys[:16]:
        assert await maps.ask(Request(UPDATE, map=9, key=key, value=key * 2)) == 0
    assert await maps.ask(Request(UPDATE, map=9, key=keys[16], value=bytes(16))) == -7
    for taken in (keys[0], keys[15], keys[7], keys[8]):
        assert await maps.ask(Request(DELETE, map=9, key=taken)) == 0
        keys.remove(taken)
        for key in keys[:-1]:
            address = await maps.ask(Request(LOOKUP, map=9, key=key))
            bank = (address - ORIGIN) // (16 * maps.rows)
            assert bank == 1
            words = await maps.host(Request(ROWS, address=address - 32, count=3))
            assert words[0] >> 32 == hash_of(key, maps.seed)
            assert words[0] >> 16 & 1
            assert [words[2], words[3]] == [int.from_bytes(key, "little"), 0]
            assert words[4:] == [int.from_bytes(key, "little")] * 2
        assert await maps.ask(Request(LOOKUP, map=9, key=taken)) == 0
    bucket = ORIGIN + maps.rows * 16 + shape.base * 16 + 2 * 5
    seen, at = set(), await maps.ask(Request(LOAD, address=bucket, count=2))
    while at:
        seen.add(at)
        at = (await maps.host(Request(ROWS, address=ORIGIN + (maps.rows + at) * 16, count=1)))[0] & 0xFFFF
    assert len(seen) == 12


@cocotb.test()
async def alike(dut: Any) -> None:
    """Keys that share a hash, which whoever knows the seed can make, and all their bytes but a few, are still different
    keys; and the hash is the contract's for keys of all sizes."""
    maps = Maps(dut)
    await maps.start()
    row = 1
    for number, size in enumerate([3, 16, 31, 33, 64]):
        shape = Shape(HASH, size, 8, 30)
        row = shape.lay_out(row, maps.banks, share=30)
        await maps.make(number, shape)
        for key in keys_of(maps.rng, size, 20):
            assert await maps.ask(Request(UPDATE, map=number, key=key, value=bytes(8))) == 0
            address = await maps.ask(Request(LOOKUP, map=number, key=key))
            above = -(-size // 16)
            words = await maps.host(Request(ROWS, address=address - 16 * (above + 1), count=above + 1))
            assert words[0] >> 32 == hash_of(key, maps.seed)
            assert b"".join(word.to_bytes(8, "little") for word in words[2:]) == key + bytes(-size % 16)
    # With a seed of zeros the product of a word and a following zero is zero, so all these keys have the hash 0.
    await maps.write(regs.MAPS_HOST_SEED_LOW, 0)
    await maps.write(regs.MAPS_HOST_SEED_HIGH, 0)
    for at in range(17):
        await maps.write(regs.MAPS_HOST_SEED_AT, at)
    shape = Shape(HASH, 24, 8, 30)
    shape.lay_out(row, maps.banks, share=30)
    await maps.make(9, shape)
    trunk = b"".join(maps.rng.randbytes(4) + bytes(4) for _ in range(3))
    places = [0, 3, 9, 11, 16, 19]
    keys = [trunk[:at] + bytes([trunk[at] ^ 1]) + trunk[at + 1 :] for at in places] + [trunk]
    addresses = set()
    for key in keys:
        assert await maps.ask(Request(UPDATE, map=9, key=key, value=bytes(8), flags=NOEXIST)) == 0
    for key in keys:
        addresses.add(await maps.ask(Request(LOOKUP, map=9, key=key)))
    assert len(addresses) == len(keys)


@cocotb.test()
async def forgets(dut: Any) -> None:
    """An LRU map takes every new key; used entries stay, unused ones go."""
    maps = Maps(dut)
    await maps.start()
    shape = Shape(LRU, 16, 16, 8 * maps.banks)
    shape.lay_out(1, maps.banks, share=8)
    await maps.make(0, shape)
    rng = maps.rng
    kept = [rng.randbytes(16) for _ in range(maps.banks // 2)]
    for key in kept:
        assert await maps.ask(Request(UPDATE, map=0, key=key, value=key)) == 0
    gone = []
    for turn in range(40 * maps.banks):
        key = rng.randbytes(16)
        gone.append(key)
        assert await maps.ask(Request(UPDATE, map=0, key=key, value=key), turn % maps.units) == 0
        if turn % 8 == 0:
            address = await maps.ask(Request(LOOKUP, map=0, key=key))
            assert address
            assert await maps.ask(Request(LOAD, address=address)) & M64 == int.from_bytes(key[:8], "little")
        if turn % 2 == 0:
            assert await maps.ask(Request(LOOKUP, map=0, key=kept[turn // 2 % len(kept)])), turn
    there = [key for key in gone if await maps.ask(Request(LOOKUP, map=0, key=key))]
    assert 6 * maps.banks <= len(there) <= 8 * maps.banks
    old, young = gone[: len(gone) // 2], gone[-4 * maps.banks :]
    assert not set(there) & set(old)
    assert len(set(there) & set(young)) > 2 * maps.banks
    for key in there:
        assert await maps.ask(Request(DELETE, map=0, key=key)) == 0


@cocotb.test()
async def straddles(dut: Any) -> None:
    """Lookups of a map that forgets, of entries on one line or two, while lines come for others in their places: each
    marks its entry, and nothing else."""
    maps = Maps(dut)
    await maps.start()
    rng = maps.rng
    shape = Shape(LRU, 64, 8, 64)
    end = shape.lay_out(1, maps.banks, share=64)
    shape.buckets = 3
    await maps.make(0, shape)
    # For each bank: keys, the places of their values, and the rows of their entries
    there: dict[int, list[tuple[bytes, int, int]]] = {bank: [] for bank in range(maps.banks)}
    for key in keys_of(rng, 64, 64):
        assert await maps.ask(Request(UPDATE, map=0, key=key, value=bytes(8))) == 0
        address = await maps.ask(Request(LOOKUP, map=0, key=key))
        entry = (address - ORIGIN) // 16 - 5  # in front of its value four rows of its key
        there[entry // maps.rows].append((key, address, entry))
    assert all(any(entry % 16 > 11 for _, _, entry in some) for some in there.values())
    # Lines after the map, two for each of the four places that a bank has on the chip
    words: dict[int, int] = {}
    for bank in range(maps.banks):
        for row in range(16 * (end // 16 + 1), 16 * (end // 16 + 9)):
            words[bank * maps.rows + row] = word = rng.getrandbits(64)
            await maps.ask(Request(STORE, address=ORIGIN + 16 * (bank * maps.rows + row), operand=word))
    for _ in range(400):
        bank = rng.randrange(maps.banks)
        asked = rng.sample(there[bank], 3)
        for _, _, entry in asked:
            # Not used any more since the hand has passed
            await maps.ask(Request(STORE, address=ORIGIN + 16 * entry + 2, count=1, operand=1))
        key, address, entry = asked[0]
        assert await maps.ask(Request(LOOKUP, map=0, key=key)) == address
        await maps.ask(Request(STORE, address=ORIGIN + 16 * entry + 2, count=1, operand=1))
        # In the place of its entry, of the next line, and anywhere
        beside = [row for row in words if row // maps.rows == bank]
        in_its_place = [row for row in beside if (row - entry) % 64 == 0]
        behind_it = [row for row in beside if (row // 16 - entry // 16) % 4 == 1]
        rows = [rng.choice(in_its_place), rng.choice(behind_it), rng.choice(beside)][rng.randrange(3) :]
        requests = [Request(LOAD, 1 + at, address=ORIGIN + 16 * row) for at, row in enumerate(rows)]
        requests += [Request(LOOKUP, 8 + at, map=0, key=key) for at, (key, _, _) in enumerate(asked)]
        times = [rng.randrange(40) for _ in requests]
        for time in range(40):
            for at, request in enumerate(requests):
                if times[at] == time:
                    maps.send(at % maps.units, request)
            await maps.step()
        await maps.settle()
        expected = [*(words[row] for row in rows), *(address for _, address, _ in asked)]
        assert [request.answer for request in requests] == expected
        for row in rows:
            assert await maps.ask(Request(LOAD, address=ORIGIN + 16 * row)) & M64 == words[row], row
        for _, _, entry in asked:
            assert await maps.ask(Request(LOAD, address=ORIGIN + 16 * entry + 2, count=1)) == 3, entry


@cocotb.test()
async def processors(dut: Any) -> None:
    """Each processor has a value of its own, zeros where it has stored none; an entry is everyone's, and the host
    stores as any of them."""
    maps = Maps(dut)
    await maps.start()
    rng, row = maps.rng, 1
    count = 16 * maps.units
    for number, (kind, key_bytes, value_bytes) in enumerate(
        [(HASH, 4, 8), (HASH, 17, 3), (LRU, 16, 24), (HASH, 4, 40), (LRU, 8, 8)]
    ):
        shape = Shape(kind, key_bytes, value_bytes, 6, count)
        if shape.lay_out(row, maps.banks, share=6) > maps.rows:
            assert number
            continue
        row = shape.end
        await maps.make(number, shape)
        keys = keys_of(rng, key_bytes, 8)
        model = Model(shape)
        values: dict[bytes, list[bytes]] = {}
        bases: dict[bytes, int] = {}

        for turn in range(250):
            key, unit, ctx = rng.choice(keys), rng.randrange(maps.units), rng.randrange(16)
            processor = 16 * unit + ctx
            what = rng.choice([LOOKUP, LOOKUP, UPDATE, UPDATE, UPDATE, DELETE])
            request = Request(what, ctx, number, key, unit=unit)
            if what == UPDATE:
                request.flags, request.value = rng.choice([ANY, ANY, NOEXIST, EXIST]), rng.randbytes(value_bytes)
                # A map that forgets may forget any key once a bank is full: those are not asked for again.
                if kind == LRU and key not in model.keys and len(model.keys) == 6:
                    continue
                expected = model.update(key, request.flags)
                by_host = rng.random() < 0.2
                answer = (await maps.host(request))[0] if by_host else await maps.ask(request, unit) & M64
                assert signed(answer) == expected, (key.hex(), request.flags)
                if not expected:
                    values.setdefault(key, [bytes(value_bytes)] * count)[processor] = request.value
            elif what == DELETE:
                assert await maps.ask(request, unit) == model.delete(key)
                values.pop(key, None)
                bases.pop(key, None)
            else:
                address = await maps.ask(request, unit)
                assert bool(address) == (key in values)
                if address:
                    base = bases.setdefault(key, address - 8 * shape.step() * processor)
                    assert address == base + 8 * shape.step() * processor
                    size = min(8, value_bytes)
                    at = rng.randrange(value_bytes - size + 1)
                    found = await maps.ask(Request(LOAD, address=address + at, count=size), unit) & M64
                    assert found == int.from_bytes(values[key][processor][at : at + size], "little"), (turn, processor)
        for key, expected_values in values.items():
            # Processor 0's address is the host's; all others follow it.
            address = (await maps.host(Request(LOOKUP, map=number, key=key)))[0]
            size = 8 * shape.step() * count
            rows = []
            for at in range(0, size, 512):
                rows += await maps.host(Request(ROWS, address=address + at, count=min(512, size - at) // 16))
            memory = b"".join(word.to_bytes(8, "little") for word in rows)
            for processor, value in enumerate(expected_values):
                at = 8 * shape.step() * processor
                assert memory[at : at + value_bytes] == value, processor
        # Evicted entries leave nothing to those that replace them.
        if kind == LRU:
            for _ in range(30 * maps.banks):
                key = rng.randbytes(key_bytes)
                update = Request(UPDATE, 3, number, key, b"\xff" * value_bytes, unit=1)
                assert await maps.ask(update, 1) == 0
                for ctx, full in ((3, True), (4, False), (2, False)):
                    address = await maps.ask(Request(LOOKUP, ctx, number, key, unit=1), 1)
                    found = await maps.ask(Request(LOAD, address=address), 1) & M64
                    assert found == (M64 if full else 0)


@cocotb.test()
async def prefixes(dut: Any) -> None:
    """The longest existing prefix, of IPv4, of IPv6 and of odd sizes; lengths that are too long."""
    maps = Maps(dut)
    await maps.start()
    rng, row = maps.rng, 1
    for number, size in enumerate([4, 16, 1, 13]):
        shape = Shape(LPM, 4 + size, 8, 40)
        row = shape.lay_out(row, maps.banks, share=40)
        await maps.make(number, shape)
        trunk = rng.randbytes(size)
        keys = [bytes([0, 0, 0, 0]) + rng.randbytes(size)]
        while len(keys) < 90:
            bits = bytearray(trunk)
            for _ in range(rng.randrange(3)):
                bits[rng.randrange(size)] ^= 1 << rng.randrange(8)
            length = rng.choice([rng.randrange(8 * size + 1), 8 * size, 8 * size + 1, 4])
            keys.append(length.to_bytes(4, "little") + bytes(bits))
        model = await tables(maps, number, shape, keys, 500)
        assert await maps.ask(Request(LOOKUP, map=number, key=b"\xff" * 4 + trunk)) == 0
        for key in keys:
            expected = model.update(key, ANY)
            assert await maps.ask(Request(UPDATE, map=number, key=key, value=bytes(8))) == expected
        for key in keys:
            assert await maps.ask(Request(DELETE, map=number, key=key)) == model.delete(key)
        for key in keys[:20]:
            assert await maps.ask(Request(LOOKUP, map=number, key=key)) == 0


@cocotb.test()
async def made(dut: Any) -> None:
    """Maps are made while units work with another one, as a swap of programs does: of that one nothing is lost, no new
    length of prefixes either."""
    maps = Maps(dut)
    await maps.start()
    trie, other = Shape(LPM, 12, 8, 64), Shape(ARRAY, 4, 8, 1)
    other.lay_out(trie.lay_out(1, maps.banks, share=64), maps.banks)
    # No prefix begins another one, and each has a different length.
    keys = [length.to_bytes(4, "little") + bytes([length]) + bytes(7) for length in range(8, 65)]
    for _ in range(6):
        await maps.make(1, trie)
        updates = [
            Request(UPDATE, map=1, key=key, value=bytes(8), ctx=at // maps.units % 16) for at, key in enumerate(keys)
        ]
        for first in range(0, len(updates), 16 * maps.units):
            for at, update in enumerate(updates[first : first + 16 * maps.units]):
                maps.send(at % maps.units, update)
            while not maps.quiet():
                await maps.make(2, other)
                for _ in range(maps.rng.randrange(30)):
                    await maps.step()
        assert all(update.answer == 0 for update in updates)
        found = [await maps.ask(Request(LOOKUP, map=1, key=(64).to_bytes(4, "little") + key[4:])) for key in keys]
        assert len(set(found)) == len(keys) and 0 not in found


@cocotb.test()
async def together(dut: Any) -> None:
    """All units, several contexts each, on few keys, while the host works too: for each key, some order of all
    operations explains the results; no count is lost.
    """
    maps = Maps(dut)
    await maps.start()
    maps.pause = 0.1
    rng = maps.rng
    shape, longest, counters = Shape(HASH, 16, 8, 400), Shape(LPM, 8, 8, 300), Shape(ARRAY, 4, 8, 8)
    row = counters.lay_out(longest.lay_out(shape.lay_out(1, maps.banks), maps.banks), maps.banks)
    assert row <= maps.rows
    for number, each in enumerate([shape, longest, counters]):
        await maps.make(number, each)
    keys = [rng.randbytes(16) for _ in range(10)]
    fixed = [bytes([8 * n, 0, 0, 0, 10, 1, 2, 3]) for n in range(1, 5)]
    for prefix in fixed[:3]:
        assert await maps.ask(Request(UPDATE, map=1, key=prefix, value=bytes(8))) == 0
    address = {cut(key, key[0]): await maps.ask(Request(LOOKUP, map=1, key=key)) for key in fixed[:3]}
    cells = [await maps.ask(Request(LOOKUP, map=2, key=n.to_bytes(4, "little"))) for n in range(8)]
    history: list[Request] = []
    added: Counter[int] = Counter()
    seen: dict[int, list[int]] = {cell: [] for cell in cells}
    host_done = 0

    def another(unit: int, ctx: int) -> None:
        kind = rng.randrange(10)
        if kind < 5:
            op = rng.choice([LOOKUP, UPDATE, DELETE])
            request = Request(op, ctx, 0, rng.choice(keys), rng.randbytes(8), rng.choice([ANY, NOEXIST, EXIST]))
        elif kind < 7:
            bits = rng.choice([b"\x0a\x01\x02\x03", b"\x0a\x01\x02\x04", b"\x0a\x01\x07\x03"])
            request = Request(LOOKUP, ctx, 1, bytes([32, 0, 0, 0]) + bits)
        else:
            request = Request(ATOMIC, ctx, address=rng.choice(cells), operand=1, quiet=rng.random() < 0.2)
            added[request.address] += 1
        maps.send(unit, request)
        if not request.quiet:
            history.append(request)

    for turn in range(1500 if maps.units > 8 else 6000):
        for unit in range(maps.units):
            ctx = rng.randrange(16)
            if len(maps.queues[unit]) < 4 and ctx not in maps.waiting[unit]:
                another(unit, ctx)
        if turn % 100 == 50:
            request = Request(rng.choice([LOOKUP, UPDATE, DELETE]), 0, 0, rng.choice(keys), rng.randbytes(8))
            request.begin = maps.cycle
            request.answer = (await maps.host(request))[0]
            request.end = maps.cycle
            history.append(request)
            host_done += 1
        await maps.step()
    await maps.settle()
    assert host_done >= 15
    for request in history:
        if request.op == ATOMIC:
            seen[request.address].append(request.answer)
        elif request.map == 1:
            length = next(
                n
                for n in (24, 16, 8)
                if cut(request.key, n) in address and cut(fixed[2], n)[4:] == cut(request.key, n)[4:]
            )
            assert request.answer == address[cut(request.key, length)]
    for key in keys:
        of_key = [request for request in history if request.op != ATOMIC and request.map == 0 and request.key == key]
        assert len(of_key) > 50
        assert linearizable(of_key, present=False), key.hex()
    for cell in cells:
        assert len(set(seen[cell])) == len(seen[cell]), "two got the same"
        assert await maps.ask(Request(LOAD, address=cell)) == added[cell]


@cocotb.test()
async def hot(dut: Any) -> None:
    """All units look up the same few keys, load the same value and store another one, while keys come and go and the
    oldest are evicted: each answer was possible while its request was open. The host reads the value's row in between.
    """
    maps = Maps(dut)
    await maps.start()
    rng = maps.rng
    shape = Shape(LRU, 16, 8, 8 * maps.banks, 16)
    cell = Shape(ARRAY, 4, 16, 1)
    assert cell.lay_out(shape.lay_out(1, maps.banks, share=8), maps.banks) <= maps.rows
    await maps.make(0, shape)
    await maps.make(1, cell)
    kept = [rng.randbytes(16) for _ in range(maps.banks)]
    there: dict[bytes, int] = {}
    for key in kept:
        assert await maps.ask(Request(UPDATE, key=key, value=key[:8])) == 0
        there[key] = await maps.ask(Request(LOOKUP, key=key))
    place = await maps.ask(Request(LOOKUP, map=1, key=bytes(4)))
    looked: list[Request] = []
    accesses: list[Request] = []
    new = 1
    for turn in range(1500 if maps.units > 8 else 6000):
        for unit in range(maps.units):
            ctx = rng.randrange(16)
            if len(maps.queues[unit]) > 3 or ctx in maps.waiting[unit]:
                continue
            what = rng.random()
            if what < 0.5:
                looked.append(Request(LOOKUP, ctx, key=rng.choice(kept)))
                maps.send(unit, looked[-1])
            elif what < 0.75:
                accesses.append(Request(LOAD, ctx, address=place))
                maps.send(unit, accesses[-1])
            elif what < 0.96:
                accesses.append(Request(ATOMIC, ctx, address=place, atomic=4, operand=new))
                new += 1
                maps.send(unit, accesses[-1])
            elif unit == 0:
                # Keys that are inserted once, and keys that are overwritten repeatedly; some of the others are removed.
                key = rng.choice([rng.randbytes(16), rng.choice(kept)])
                maps.send(unit, Request(UPDATE, ctx, key=key, value=key[:8]))
            else:
                maps.send(unit, Request(DELETE, ctx, key=rng.randbytes(16)))
        if turn % 500 == 250:
            request = Request(LOAD, address=place)
            request.begin = maps.cycle
            request.answer = (await maps.host(Request(ROWS, address=place, count=1)))[0]
            request.end = maps.cycle
            accesses.append(request)
        await maps.step()
    await maps.settle()
    # Asked for that often, none is forgotten, and an entry stays where it is.
    assert len(looked) > 1000
    assert all(request.answer == there[request.key] + 8 * request.ctx for request in looked)
    for key in kept:
        assert await maps.ask(Request(LOAD, address=there[key])) & M64 == int.from_bytes(key[:8], "little")
    # Each exchange has found the value of the one before it, which gives their order.
    following = {request.answer: request for request in accesses if request.op == ATOMIC}
    assert len(following) == new - 1
    found: dict[int, list[Request]] = {}
    for request in accesses:
        if request.op == LOAD:
            found.setdefault(request.answer, []).append(request)
    value, since, latest = 0, 0, 0
    for _ in range(new):
        after = following.get(value)
        until = after.end if after else maps.cycle
        assert latest <= until, "an exchange came before one that had ended"
        for load in found.pop(value, []):
            assert load.end >= since and load.begin <= until
        if after:
            value, since, latest = after.operand, after.begin, max(latest, after.begin)
    assert value not in following and not found


@cocotb.test()
async def burst(dut: Any) -> None:
    """Requests that gathered while a map was made are answered at once by two banks, faster than a group of links takes
    them: no answer is lost.
    """
    maps = Maps(dut)
    await maps.start()
    places = [ORIGIN + bank * maps.rows * 16 + 0x100 + 8 * unit for bank in range(2) for unit in range(maps.units)]
    for at, place in enumerate(places):
        maps.send(0, Request(STORE, address=place, operand=at + 1, quiet=True))
    await maps.settle()
    spare = Shape(ARRAY, 4, 16, 400 * maps.banks)
    spare.lay_out(0x100, maps.banks)
    for at, word in enumerate(spare.words()):
        await maps.write(regs.MAPS_HOST_DESCRIPTOR + 4 * at, word)
    await maps.write(regs.MAPS_HOST_DEFINE, 0)
    sent = []
    for unit in range(maps.units):
        # Requests of the second group wait behind all of the first, which blocks them.
        for _ in range(150 if unit == 4 else 0):
            await maps.step()
        for ctx in range(16):
            at = ctx % 2 * maps.units + unit
            sent.append((Request(LOAD, ctx, address=places[at]), at + 1))
            maps.send(unit, sent[-1][0])
    await maps.settle()
    assert all(request.answer == expected for request, expected in sent)


@cocotb.test()
async def speed(dut: Any) -> None:
    """Lookups of keys of 16 bytes: how long one takes, and how many a cycle brings when all units ask."""
    maps = Maps(dut)
    await maps.start()
    rng = maps.rng
    shape = Shape(HASH, 16, 16, 512)
    shape.lay_out(1, maps.banks)
    routes = Shape(LPM, 8, 8, 64)
    assert routes.lay_out(shape.end, maps.banks) <= maps.rows
    await maps.make(0, shape)
    await maps.make(1, routes)
    keys = [rng.randbytes(16) for _ in range(400)]
    for at, key in enumerate(keys):
        maps.send(at % maps.units, Request(UPDATE, at // maps.units % 16, key=key, value=bytes(16)))
        if at % maps.units == maps.units - 1:
            await maps.settle()
    await maps.settle()
    for length in (8, 16, 24, 32):
        for n in range(16):
            key = bytes([length, 0, 0, 0, n, 1, 2, 3])
            assert await maps.ask(Request(UPDATE, map=1, key=key, value=bytes(8))) == 0

    async def latency(request: Request) -> int:
        await maps.settle()
        await maps.ask(request, 1)
        return request.end - request.begin

    times = sorted([await latency(Request(LOOKUP, key=key)) for key in keys[:60]])
    missed = await latency(Request(LOOKUP, key=bytes(16)))
    access = await latency(Request(LOAD, address=ORIGIN + 16))
    route = await latency(Request(LOOKUP, map=1, key=bytes([32, 0, 0, 0, 1, 1, 2, 3])))
    dut._log.info(
        "cycles: lookup %d to %d, median %d, of a key that is not there %d", times[0], times[-1], times[30], missed
    )
    dut._log.info("cycles: load %d, longest of four lengths of prefixes %d", access, route)

    async def rate(make: Any) -> float:
        begin, done = 0, 0
        sent: list[Request] = []
        for turn in range(1400):
            for unit in range(maps.units):
                if len(maps.queues[unit]) < 2:
                    ctx = next((c for c in range(16) if c not in maps.waiting[unit]), None)
                    if ctx is not None:
                        sent.append(make(ctx))
                        maps.send(unit, sent[-1])
            await maps.step()
            if turn == 399:
                begin = maps.cycle
        done = sum(1 for request in sent if request.end > begin)
        end = maps.cycle
        await maps.settle()
        assert all(request.answer or request.op in (ATOMIC, UPDATE) for request in sent)
        return done / (end - begin)

    # The first 8 bytes of an entry: not 0
    there = await maps.ask(Request(LOOKUP, key=keys[0])) - 32
    spread = await rate(lambda ctx: Request(LOOKUP, ctx, key=rng.choice(keys)))
    one = await rate(lambda ctx: Request(LOOKUP, ctx, key=keys[0]))
    loads = await rate(lambda ctx: Request(LOAD, ctx, address=there))
    adds = await rate(lambda ctx: Request(ATOMIC, ctx, address=there + 40, operand=1))
    longest = await rate(lambda ctx: Request(LOOKUP, ctx, 1, bytes([32, 0, 0, 0, rng.randrange(16), 1, 2, 3])))
    dut._log.info(
        "a cycle: lookups %.2f of %d keys, %.2f of one key, %.2f of prefixes, loads %.2f of one word",
        *(spread, len(keys), one, longest, loads),
    )
    updates = await rate(lambda ctx: Request(UPDATE, ctx, key=keys[0], value=bytes(16)))
    dut._log.info("cycles: an atomic of one word %.1f, an update of one key %.1f", 1 / adds, 1 / updates)
    if maps.units >= 16 and maps.banks >= 16:
        assert spread >= 3
    assert times[0] <= 30
    # Two passes each through the one bank that has the key, and one
    assert one >= 0.49
    assert loads >= 0.98
    # A group's key of four lengths takes three cycles, and four for its probes.
    assert longest >= 0.14


CASES = [
    "arrays",
    "accesses",
    "close",
    "spills",
    "hashes",
    "chains",
    "alike",
    "forgets",
    "straddles",
    "processors",
    "prefixes",
    "made",
    "together",
    "hot",
    "burst",
    "speed",
]
# The smallest, one of two groups of links, which matter to those alone who ask at once, and the card's usual one, of
# five, whose model takes minutes.
SMALL, TWO_GROUPS = {"Units": 2, "Banks": 2, "Rows": 2048}, {"Units": 5, "Banks": 4, "Rows": 2048}
USUAL = {"Units": 16, "Banks": 16, "Rows": 1024}
# Four lines of sixteen rows of each bank are on the chip, the others in the card's memory.
CACHED = {"OnChip": 64}
MEMORY = ("lib/sim/axi_fault.sv", "lib/sim/axi_memory.sv")
# These tests measure time.
TIMED = ("speed", "hot", "burst")


@pytest.mark.parametrize(
    ("case", "shape"),
    [
        *(
            pytest.param(case, SMALL, id=f"{case}-2_units")
            for case in CASES
            if case not in ("together", "hot", "burst")
        ),
        *(pytest.param(case, TWO_GROUPS, id=f"{case}-5_units") for case in ("together", "hot", "burst")),
        *(pytest.param(case, SMALL | {"Stages": 3}, id=f"{case}-stages") for case in ("hashes", "processors")),
        *(pytest.param(case, TWO_GROUPS | CACHED, id=f"{case}-cached") for case in CASES if case not in TIMED),
        pytest.param("faults_of_memory", TWO_GROUPS | CACHED, id="faults_of_memory"),
        *(pytest.param(case, SMALL, id=f"{case}-2_units", marks=pytest.mark.long) for case in ("together", "hot")),
        *(pytest.param(case, USUAL, id=f"{case}-16_units", marks=pytest.mark.long) for case in CASES),
    ],
)
def test_maps(case: str, shape: dict[str, int]) -> None:
    """The coroutine of that name describes the test."""
    simulate(
        "maps_bench",
        ["engines/xdp/rtl/maps/maps.f", *MEMORY, "engines/xdp/tests/maps_bench.sv"],
        "test_maps",
        shape,
        testcase=case,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
