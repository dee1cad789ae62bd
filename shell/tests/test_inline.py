# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The inline chain of a card with two blocks that obey commands in frames (inline_block.sv in this folder) and two echo
units behind it: the frames that leave, their ports and order, their units, and the counters, against a model in plain
Python.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
from cocotb.utils import get_sim_time

sys.path.insert(0, str(Path(__file__).resolve().parent))

from card_bench import HOST, AxiError, CardBench, regs
from penstock.hdl import simulate

BLOCKS, UNITS, ENGINES = 2, 2, (7, 9)
CHANNELS = 8  # of card memory
PARAMS = (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
CHAIN, BLOCK, STRIDE = (
    0x4400_1000,
    0x4500_0000,
    0x100_0000,
)  # registers of the chain, the first block's window, from one to the next
SHARE, PARAM_L, PARAM_H, NUMBER = 0, 4, 8, 12  # registers of a block
NOTHING, TO_PORT, TO_HOST, TO_UNIT, TO_KEY, DROP, MARK, TELL_MARK, ABSORB, COPY, TIME, TELL_TENANT, RECORD = range(13)
ONWARD, DROPPED, REFUSED, ABSORBED = "onward", "dropped", "refused", "absorbed"
REASONS = ("BLOCKED", "OVERSIZE", "REFUSED")
FLOW_HASH = 2
RECEIVED, TO_FIRST_BYTE = 0x14, 1  # a register and a mode of an echo unit
MADE = 0x80  # source of frames that block 0 makes
LONGEST = 16384


@dataclass
class Fate:
    """The fate of a frame: its destination, its unit, its bytes on exit, and the number of copies that blocks have
    made.
    """

    to: Any
    unit: int | None
    data: bytes
    made: int = 0


def fate(port: int, data: bytes, keys: list[int]) -> Fate:
    """The result of the blocks and the exit for a frame; its flow hash is 0."""
    mark, verdict, made = 0, (ONWARD, 0), 0
    bytes_ = bytearray(data)
    for block in range(BLOCKS):
        op, value = bytes_[6 + 2 * block], bytes_[7 + 2 * block]
        if op in (TO_PORT, TO_HOST, TO_UNIT, TO_KEY):
            verdict = (op, value)
        elif op == DROP:
            return Fate((DROPPED, block, value), None, data)
        elif op == ABSORB:
            return Fate((ABSORBED, block), None, data)
        elif op == MARK:
            mark = value
        elif op == TELL_MARK:
            bytes_[7 + 2 * block] = mark
        elif op == COPY and len(data) <= 80:
            made += 1
    kind, value = verdict
    left = bytes(bytes_)
    there = {TO_PORT: value < 2, TO_HOST: value == 0, TO_UNIT: value < UNITS}.get(kind, True)
    if not there:
        return Fate(REFUSED, None, data, made)
    if kind in (TO_PORT, TO_HOST):
        return Fate(HOST if kind == TO_HOST else value, None, left, made)
    unit = value if kind == TO_UNIT else keys[value % 128 if kind == TO_KEY else 0]
    return Fate(port ^ 1, unit, left, made)


class Traffic:
    """Frames that have been sent. Each begins with its number."""

    def __init__(self, bench: CardBench, keys: list[int]) -> None:
        self.bench, self.keys = bench, keys
        self.sent: list[tuple[int, Fate]] = []

    def send(self, port: int, first: tuple[int, int], second: tuple[int, int] = (0, 0), size: int = 60) -> None:
        rng = self.bench.rng
        data = b"\x02" + len(self.sent).to_bytes(5, "big") + bytes((*first, *second)) + rng.randbytes(2) + b"\x88\xb5"
        data += rng.randbytes(size - len(data))
        self.sent.append((port, fate(port, data, self.keys)))
        self.bench.send(port, data)

    def any(self, port: int) -> None:
        """A frame of any size, with which the blocks do anything but make frames."""
        rng = self.bench.rng

        def does() -> tuple[int, int]:
            op = rng.choice((NOTHING, NOTHING, TO_PORT, TO_HOST, TO_UNIT, TO_KEY, DROP, MARK, TELL_MARK, ABSORB))
            most = {TO_PORT: 4, TO_HOST: 2, TO_UNIT: 4, DROP: 3}.get(op, 256)
            return op, rng.randrange(most)

        sizes = (14, 60, rng.randint(60, 84), rng.randint(60, 84), rng.randint(100, 300), 1500)
        self.send(port, does(), does(), rng.choice(sizes))

    def leave(self) -> int:
        return sum(1 + one.made for _, one in self.sent if isinstance(one.to, int))

    def check(self) -> None:
        """Each frame that should leave has left once and with the right number of copies, at the right place and with
        the right bytes; frames of one port on one way in their order.
        """
        left: Counter[int] = Counter()
        last: dict[tuple[int, int, Any, int], int] = {}
        for exit_, frames in self.bench.out.items():
            for out in frames:
                number = int.from_bytes(out.data[1:6], "big")
                port, one = self.sent[number]
                assert out.src == port or (one.made and out.src in (MADE, MADE + 1)), (
                    f"frame {number} comes from {out.src}"
                )
                assert exit_ == one.to and out.data == one.data, f"frame {number} left at {exit_}"
                way = (port, out.src, one.unit, exit_)
                assert last.get(way, -1) <= number, f"frame {number} is late"
                last[way] = number
                left[number] += 1
        assert left == Counter({n: 1 + one.made for n, (_, one) in enumerate(self.sent) if isinstance(one.to, int)})

    async def check_counters(self) -> None:
        async def counter(block: int, name: str) -> int:
            offset = regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_STRIDE * block
            return await self.bench.read(CHAIN + offset + getattr(regs, f"INLINE_BLOCK_{name}"))

        fates = [one for _, one in self.sent]
        entered = len(fates)
        for block in range(BLOCKS):
            assert await counter(block, "FRAMES") == entered
            drops = [sum(one.to == (DROPPED, block, reason) for one in fates) for reason in range(len(REASONS))]
            assert [await counter(block, name) for name in REASONS] == drops
            absorbed = sum(one.to == (ABSORBED, block) for one in fates)
            assert await counter(block, "ABSORBED") == absorbed
            entered += await counter(block, "MADE") - sum(drops) - absorbed
        made = sum([await counter(block, "MADE") for block in range(BLOCKS)])
        assert made == sum(one.made for one in fates)
        assert await self.bench.read(CHAIN + regs.INLINE_REFUSED) == sum(
            1 + one.made for one in fates if one.to == REFUSED
        )
        assert await self.bench.read(CHAIN + regs.INLINE_BUSY) == 0
        for unit in range(UNITS):
            expected = sum(1 + one.made for one in fates if one.unit == unit)
            assert await self.bench.unit_read(unit, RECEIVED) == expected, f"unit {unit}"
        for port in range(2):
            too_long = sum(
                at == port and isinstance(one.to, tuple) and one.to[0] == DROPPED and one.to[2] == 1
                for at, one in self.sent
            )
            assert await self.bench.counter(port, "DROP_OVERSIZE") == too_long


async def started(dut: Any, mode: int = 0) -> tuple[CardBench, Traffic]:
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(policy=FLOW_HASH, mode=mode)
    keys = [bench.rng.randrange(UNITS) for _ in range(128)]
    for key, unit in enumerate(keys):
        await bench.write(regs.CARD_RETA + 4 * key, unit)
    return bench, Traffic(bench, keys)


@cocotb.test()
async def as_the_blocks_say(dut: Any) -> None:
    """Frames of both ports with gaps, stalls and blocks that are slow: verdicts of two blocks, of which the later one
    counts, marks, drops by reason.
    """
    bench, traffic = await started(dut)
    for idle, stall, *shares in ((0, 0, 256, 256), (0.3, 0.3, 256, 200), (0.1, 0.5, 60, 256), (0.4, 0.1, 256, 60)):
        bench.rx_idle, bench.tx_stall = idle, stall
        for block, share in enumerate(shares):
            await bench.write(BLOCK + STRIDE * block + SHARE, share)
        for _ in range(100):
            for port in range(2):
                traffic.any(port)
        await bench.drained(traffic.leave())
    traffic.check()
    await traffic.check_counters()
    seen = Counter(one.to if isinstance(one.to, str | int) else one.to[0] for _, one in traffic.sent)
    assert min(seen[what] for what in (0, 1, HOST, DROPPED, ABSORBED, REFUSED)) > 20, seen
    # Frames of the host go past the blocks.
    bench.send(HOST, bytes(6) + bytes((DROP, 0, DROP, 0)) + bytes(50))
    await bench.drained(traffic.leave() + 1)


@cocotb.test()
async def what_blocks_make(dut: Any) -> None:
    """Copies leave the block after their frame, and go through the later blocks; all are counted."""
    bench, traffic = await started(dut, mode=TO_FIRST_BYTE)
    for number in range(60):
        for port in range(2):
            second = ((NOTHING, 0), (COPY, 0), (TO_HOST, 0), (TO_UNIT, 1), (TO_PORT, 9))[number % 5]
            traffic.send(port, (COPY, 0) if number % 3 else (NOTHING, 0), second, bench.rng.choice((60, 64, 70, 80)))
            # A copy of a copy is a made frame of the second block; one frame is at most one copy of each block here.
            one = traffic.sent[-1][1]
            if number % 3 and second[0] == COPY:
                one.made = 3
            # Made frames have no neighbour port: units send them to the host, which the first byte names.
            if one.unit is not None:
                one.to = HOST
        await bench.clocks(3)
    await bench.drained(traffic.leave())
    traffic.check()
    await traffic.check_counters()


@cocotb.test()
async def a_frame_a_cycle(dut: Any) -> None:
    """64 B back to back past the units from both ports: nothing waits that need not."""
    bench, traffic = await started(dut)
    bench.pause = False
    count = 500
    for _ in range(count):
        for port in range(2):
            traffic.send(port, (NOTHING, 0), (TO_PORT, port ^ 1), 64)
    await bench.drained(2 * count)
    traffic.check()
    for exit_ in range(2):
        span = bench.out[exit_][-1].cycle - bench.out[exit_][0].cycle
        assert span <= 1.02 * count, f"{count} frames in {span} cycles"
        assert await bench.counter(exit_, "DROP_OVERFLOW") == 0


@cocotb.test()
async def an_exit_that_stands(dut: Any) -> None:
    """It holds up the port whose frames go there, not the other one; when it goes on, nothing is lost. Two ports share
    an exit evenly.
    """
    bench, traffic = await started(dut)
    # The exit stands for longer than it may after a reset; test_egress has its limit.
    await bench.write(regs.CARD_EXIT_TIMEOUT, 0)
    bench.stall_ports = {1}
    for number in range(200):
        traffic.send(0, (TO_PORT, 1), size=300)
        traffic.send(1, (TO_PORT, 0) if number % 2 else (TO_HOST, 0), size=300)
    traffic.send(0, (TO_HOST, 0), size=LONGEST)
    traffic.send(0, (TO_PORT, 2), size=LONGEST)
    await bench.drained(200)
    assert (len(bench.out[0]), len(bench.out[HOST])) == (100, 100)
    assert not bench.out[1]
    bench.stall_ports = set()
    await bench.drained(401)
    traffic.check()
    for _ in range(300):
        for port in range(2):
            traffic.send(port, (TO_HOST, 0), size=128)
    await bench.drained(1001)
    traffic.check()
    first = Counter(out.src for out in bench.out[HOST][101:401])
    assert abs(first[0] - first[1]) < 10, first


@cocotb.test()
async def windows_and_time(dut: Any) -> None:
    """The chain's registers, the blocks' windows, and the card's time, which all blocks see."""
    bench, _ = await started(dut)
    assert await bench.read(CHAIN + regs.INLINE_BLOCKS) == BLOCKS

    async def refused(write: bool, address: int) -> None:
        try:
            await (bench.write(address, 1) if write else bench.read(address))
        except AxiError:
            return
        raise AssertionError(f"{'write to' if write else 'read of'} {address:#x} was accepted")

    for block in range(BLOCKS):
        counters = CHAIN + regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_STRIDE * block
        assert await bench.read(counters + regs.INLINE_BLOCK_ENGINE) == ENGINES[block]
        base = BLOCK + STRIDE * block
        assert [await bench.read(base + at) for at in (PARAM_L, PARAM_H, NUMBER)] == [
            PARAMS[block] & 0xFFFF_FFFF,
            PARAMS[block] >> 32,
            block,
        ]
        await bench.write(base + SHARE, 200 + block)
        await refused(False, base + 0x30)
        await refused(True, counters + regs.INLINE_BLOCK_FRAMES)
    assert [await bench.read(BLOCK + STRIDE * block + SHARE) for block in range(BLOCKS)] == [200, 201]
    absent = BLOCK + STRIDE * BLOCKS
    behind = CHAIN + regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_STRIDE * BLOCKS
    for address in (absent, BLOCK + STRIDE * 7, BLOCK - 4, CHAIN + 0x24, CHAIN + 0x200, behind, CHAIN + 0x1000):
        await refused(False, address)
        await refused(True, address)
    await refused(True, CHAIN + regs.INLINE_REFUSED)
    await refused(False, CHAIN + regs.INLINE_TENANT)

    async def time() -> int:
        low = await bench.read(CHAIN + regs.INLINE_TIME_L)
        return await bench.read(CHAIN + regs.INLINE_TIME_H) << 32 | low

    async def shown() -> int:
        """The time that a frame finds."""
        bench.send(0, bytes(6) + bytes((TIME, 0, TO_HOST, 0)) + bytes(50))
        await bench.drained(bench.total() + 1)
        return int.from_bytes(bench.out[HOST][-1].data[48:56], "little")

    before = await time()
    await bench.clocks(1000)
    assert 4000 <= await time() - before < 4200
    await bench.write(CHAIN + regs.INLINE_HOLD, 1)
    for nanoseconds in (0, 1, 0xFFFF_FFFF, 1 << 32, 0x0123_4567_89AB_CDEF):
        await bench.write(CHAIN + regs.INLINE_TIME_H, nanoseconds >> 32)
        await bench.write(CHAIN + regs.INLINE_TIME_L, nanoseconds & 0xFFFF_FFFF)
        await bench.clocks(100)
        assert await time() == await shown() == nanoseconds
    # A new high word counts with the low one.
    await bench.write(CHAIN + regs.INLINE_TIME_H, 5)
    assert await shown() == 0x0123_4567_89AB_CDEF
    await bench.write(CHAIN + regs.INLINE_TIME_L, 0xFFFF_FFF0)
    assert await bench.read(CHAIN + regs.INLINE_HOLD) == 1
    await bench.write(CHAIN + regs.INLINE_HOLD, 0)
    await bench.clocks(100)
    assert 6 << 32 < await time() < (6 << 32) + 1000 and await shown() >> 32 == 6


@cocotb.test()
async def memory(dut: Any) -> None:
    """Each block has its own range of each channel of the card's memory; an access beyond it is an error, which is
    counted.
    """
    bench, _ = await started(dut)
    answers = [0] * BLOCKS

    def errors(block: int) -> int:
        return CHAIN + regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_STRIDE * block + regs.INLINE_BLOCK_MEMORY_ERRORS

    async def access(block: int, at: int, value: int | None) -> tuple[int, int]:
        base = BLOCK + STRIDE * block
        await bench.write(base + 0x10, at)
        await bench.write(base + (0x18 if value is None else 0x14), value or 0)
        answers[block] += 1
        # The memory may refresh itself before it answers.
        for _ in range(4):
            await bench.clocks(100)
            told = await bench.read(base + 0x20)
            if told >> 2 == answers[block]:
                break
        assert told >> 2 == answers[block]
        return told & 3, await bench.read(base + 0x1C)

    last = (32 << 20) // 64 - 1
    places = (0, 1, 1000, last)
    everywhere = [(block, channel) for block in range(BLOCKS) for channel in range(CHANNELS)]

    def word(block: int, channel: int, at: int) -> int:
        return (1000 * block + 100 * channel + at) & 0xFFFF_FFFF

    for block, channel in everywhere:
        await bench.write(BLOCK + STRIDE * block + 0x2C, channel)
        for at in places:
            assert (await access(block, at, word(block, channel, at)))[0] == 0
    for block, channel in everywhere:
        await bench.write(BLOCK + STRIDE * block + 0x2C, channel)
        for at in places:
            assert await access(block, at, None) == (0, word(block, channel, at))
        # No other block has written behind them.
        assert await access(block, 5, None) == (0, 0xA5A5_A5A5)
        before = await bench.read(errors(block))
        for number, at in enumerate((last + 1, 1 << 31)):
            assert await access(block, at, 7) == (2, 0xA5A5_A5A5 if number == 0 else 0)
            assert await access(block, at, None) == (2, 0)
        assert await bench.read(errors(block)) == before + 4
    for block in range(BLOCKS):
        assert await bench.read(errors(block)) == 4 * CHANNELS
    await bench.write(BLOCK + 0x2C, 0)
    assert await access(0, 0, None) == (0, 0)


@cocotb.test()
async def records(dut: Any) -> None:
    """A record that a block sends reaches the host unchanged and in order; a record from the host reaches its block.
    Full queues lose none.
    """
    bench, _ = await started(dut)

    def ports(block: int) -> int:
        return CHAIN + regs.INLINE_RECORDS_BASE + regs.INLINE_RECORDS_STRIDE * block

    async def head(block: int) -> bytes:
        words = [await bench.read(ports(block) + regs.INLINE_RECORDS_HEAD + 4 * word) for word in range(16)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    async def refused(write: bool, address: int) -> bool:
        try:
            await (bench.write(address, 1) if write else bench.read(address))
        except AxiError:
            return True
        return False

    sent: list[list[bytes]] = [[], []]
    for number in range(20):
        port, block, reason = number % 2, number // 2 % 2, bench.rng.randrange(256)
        ops = ((RECORD, reason), (TO_HOST, 0)) if block == 0 else ((MARK, number), (RECORD, reason))
        data = b"\x02" + number.to_bytes(5, "big") + bytes((*ops[0], *ops[1])) + bytes(2) + b"\x81\x00\x00\x07"
        data += bench.rng.randbytes(60 - len(data))
        await bench.write(CHAIN + regs.INLINE_TENANT_VLAN, 3 << 16 | 7)
        await bench.write(CHAIN + regs.INLINE_TENANT, 9)
        bench.send(port, data)
        await bench.drained(number + 1)
        mark = 0 if block == 0 else number
        first = bytes((block, reason, 9, port)) + len(data).to_bytes(2, "little") + bytes(2)
        sent[block].append(first + mark.to_bytes(4, "little") + data[:40])
    for block in range(BLOCKS):
        before = 0
        for number, expected in enumerate(sent[block]):
            assert await bench.read(ports(block) + regs.INLINE_RECORDS_LEVEL) == len(sent[block]) - number
            record = await head(block)
            assert record[:8] + record[16:20] + record[24:] == expected
            now = int.from_bytes(record[8:16], "little")
            assert before < now
            before = now
            await bench.write(ports(block) + regs.INLINE_RECORDS_POP, 1)
        assert await bench.read(ports(block) + regs.INLINE_RECORDS_LEVEL) == 0 and await head(block) == bytes(64)
        assert await refused(True, ports(block) + regs.INLINE_RECORDS_POP)
        for offset in (regs.INLINE_RECORDS_SEND, regs.INLINE_RECORDS_POP, 0x8C, 0xFC):
            assert await refused(False, ports(block) + offset)
        for offset in (regs.INLINE_RECORDS_HEAD, regs.INLINE_RECORDS_LEVEL, regs.INLINE_RECORDS_ROOM, 0x8C):
            assert await refused(True, ports(block) + offset)
    for write in (False, True):
        assert await refused(write, ports(BLOCKS)) and await refused(write, ports(7) + 0xFC)

    # To the blocks: one waits until it is taken, and the next one must wait for it.
    async def send(block: int, mark: int) -> bool:
        for word in range(16):
            value = mark if word == 4 else bench.rng.getrandbits(32)
            try:
                await bench.write(ports(block) + regs.INLINE_RECORDS_SEND + 4 * word, value)
            except AxiError:
                return False
        return True

    for mark in (1000, 2000, 3000):
        for block in range(BLOCKS):
            assert await bench.read(ports(block) + regs.INLINE_RECORDS_ROOM) == 1
            assert await send(block, mark + block)
            assert await bench.read(ports(block) + regs.INLINE_RECORDS_ROOM) == 0
            assert not await send(block, 7)
        for block in range(BLOCKS):
            await bench.write(BLOCK + STRIDE * block + 0x24, 1)
            await bench.clocks(3)
            assert await bench.read(BLOCK + STRIDE * block + 0x28) == mark + block

    # More than the queue holds: the queue has the first ones, in order, and frames go on.
    bench.pause, start = False, bench.total()
    for number in range(600):
        bench.send(0, b"\x02" + number.to_bytes(5, "big") + bytes((RECORD, number & 255, TO_HOST, 0)) + bytes(50))
    await bench.drained(start + 600)
    level = await bench.read(ports(0) + regs.INLINE_RECORDS_LEVEL)
    assert 500 <= level <= 512
    start = get_sim_time("ns")
    for number in range(level):
        record = await head(0)
        # The record that waited in the block is the first that arrived when the queue was full.
        assert int.from_bytes(record[25:30], "big") == number, number
        await bench.write(ports(0) + regs.INLINE_RECORDS_POP, 1)
    cycles = (get_sim_time("ns") - start) / 4 / level
    assert cycles < 120, f"a record takes {cycles:.0f} cycles"
    cocotb.log.info(f"a record takes {cycles:.0f} cycles")


def tagged(number: int, kind: int, tci: int, size: int, rng: Any) -> bytes:
    """A frame with this first tag; its block reports its tenant, and sends it to the host."""
    head = b"\x02" + number.to_bytes(5, "big") + bytes((TELL_TENANT, 0, TO_HOST, 0)) + bytes(2)
    data = head + kind.to_bytes(2, "big") + tci.to_bytes(2, "big") + b"\x81\x00\x00\x05"
    return (data + rng.randbytes(size))[:size]


@cocotb.test()
async def tenants(dut: Any) -> None:
    """A frame's tenant follows from its port and the 12 bits of its first tag's id, at one frame a cycle; other ports'
    ids do not count.
    """
    bench, _ = await started(dut)
    table: dict[tuple[int, int], int] = {}

    async def give(vlan: int, tenant: int, ports: int = 3) -> None:
        await bench.write(CHAIN + regs.INLINE_TENANT_VLAN, ports << 16 | vlan)
        assert await bench.read(CHAIN + regs.INLINE_TENANT_VLAN) == ports << 16 | vlan
        await bench.write(CHAIN + regs.INLINE_TENANT, tenant)
        table.update({(port, vlan): tenant for port in range(2) if ports >> port & 1})

    for vlan, tenant in ((1, 1), (100, 2), (4094, 63), (257, 5), (2048, 7)):
        await give(vlan, tenant)
    await give(200, 9, ports=1)
    await give(200, 10, ports=2)
    await give(300, 11, ports=2)
    await give(100, 12, ports=1)  # a later write wins
    sent: list[tuple[int, int]] = []  # by frame: port, tenant

    def send(port: int, kind: int, tci: int, size: int) -> None:
        owner = table.get((port, tci & 0xFFF), 0) if kind in (0x8100, 0x88A8) and size >= 16 else 0
        bench.send(port, tagged(len(sent), kind, tci, size, bench.rng))
        sent.append((port, owner))

    ids = [*sorted({vlan for _, vlan in table}), 0, 2, 101, 256, 513, 4095]
    for size in (64, 60, 16, 15, 14, 66, 80, 81, 200):
        for vlan in ids:
            for kind in (0x8100, 0x88A8, 0x0800, 0x9100, 0x8101, 0x0081):
                for port in range(2):
                    send(port, kind, bench.rng.randrange(16) << 12 | vlan, size)
        await bench.drained(len(sent))
    bench.pause, start = False, len(bench.out[HOST])
    for number in range(300):
        for port in range(2):
            send(port, 0x8100, ids[number % len(ids)], 64)
    await bench.drained(len(sent))
    for out in bench.out[HOST]:
        number = int.from_bytes(out.data[1:6], "big")
        assert (out.src, out.data[7]) == sent[number], f"frame {number}: {out.data[:20].hex()}"
    assert len(bench.out[HOST]) == len(sent) and Counter(owner for _, owner in sent)[63] > 50
    span = bench.out[HOST][-1].cycle - bench.out[HOST][start].cycle
    assert span <= 1.05 * 600, f"600 frames in {span} cycles"


def test_inline() -> None:
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "shell/tests/inline_block.sv", "shell/rtl/rtl.f"],
        "test_inline",
        {
            "Ports": 2,
            "Units": UNITS,
            "IngressDepth": 1024,
            "Blocks": BLOCKS,
            "BlockEngine": f"64'h{ENGINES[1] << 8 | ENGINES[0]:x}",
            "BlockParam": f"512'h{PARAMS[1] << 64 | PARAMS[0]:x}",
        },
    )
