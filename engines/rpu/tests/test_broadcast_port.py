# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""broadcast_port: words out, words in, their receivers, and messages: none lost, none twice, in order."""

from __future__ import annotations

import random
import sys
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

ME, WORDS, CLEARING = 3, 2048, 2048
INPUTS = (
    *("out_ready", "in_valid", "in_from", "in_addr", "in_be", "in_data", "req", "we", "be", "addr", "wdata"),
    *("host_en", "host_we", "host_addr", "host_wdata", "listen", "mask", "value", "next"),
)
# A message may be queued again for a word that arrived up to this many cycles before its address reached the head.
BLUR = 4


def merged(old: int, new: int, be: int) -> int:
    lanes = sum(0xFF << (8 * lane) for lane in range(4) if be >> lane & 1)
    return (old & ~lanes) | (new & lanes)


class Bench:
    """The core, the host and the link of one port, and a plain model of its region."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(5)
        self.cycle = 0
        self.region = [0] * WORDS
        self.left: list[tuple[int, int, int]] = []
        self.expected: deque[tuple[int, int, int]] = deque()
        self.heads: list[tuple[int, int]] = []  # cycle and address of each message that came to the head
        self.loads = 0

    async def start(self) -> None:
        for name in INPUTS:
            getattr(self.dut, name).value = 0
        self.dut.rst.value = 1
        cocotb.start_soon(Clock(self.dut.clk, 4, unit="ns").start())
        for _ in range(3):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0
        for _ in range(CLEARING + 2):
            await self.step()

    async def step(self, **inputs: int) -> None:
        """A cycle with these inputs; all others are 0."""
        d = self.dut
        for name in ("in_valid", "req", "host_en", "next", "out_ready"):
            getattr(d, name).value = inputs.pop(name, 0)
        for name, value in inputs.items():
            getattr(d, name).value = value
        await ReadOnly()
        if d.out_valid.value and d.out_ready.value:
            self.left.append((int(d.out_addr.value), int(d.out_be.value), int(d.out_data.value)))
        if d.head_load.value:
            self.heads.append((self.cycle, int(d.head.value)))
        await FallingEdge(d.clk)
        self.cycle += 1

    async def come(self, addr: int, data: int, be: int = 15, unit: int = 0, **others: int) -> None:
        if unit != ME:
            self.region[addr] = merged(self.region[addr], data, be)
        await self.step(in_valid=1, in_from=unit, in_addr=addr, in_be=be, in_data=data, **others)

    async def store(self, addr: int, data: int, be: int = 15) -> None:
        self.region[addr] = merged(self.region[addr], data, be)
        self.expected.append((addr, be, data))
        while self.dut.hold.value:
            await self.step(req=1, we=1, addr=addr, be=be, wdata=data, out_ready=self.rng.getrandbits(1))
        await self.step(req=1, we=1, addr=addr, be=be, wdata=data, out_ready=self.rng.getrandbits(1))

    async def load(self, addr: int) -> int:
        while self.dut.hold.value:
            await self.step(out_ready=1)
        await self.step(req=1, we=0, addr=addr)
        while self.dut.hold.value:
            await self.step(addr=self.rng.randrange(WORDS), out_ready=1)
        return int(self.dut.rdata.value)

    async def host(self, addr: int, data: int | None = None, busy: bool = False) -> int:
        """Reads or, with `data`, writes as the host; with `busy` while words for other addresses arrive."""
        if data is not None:
            self.region[addr] = data
        access = {"host_en": 1, "host_we": int(data is not None), "host_addr": addr, "host_wdata": data or 0}
        waited = 0
        while True:
            gap = waited >= 62
            ready = bool(self.dut.host_ready.value)
            if busy and not gap:
                await self.come((addr + 1 + waited) % WORDS, self.rng.getrandbits(32), **access)
            else:
                await self.step(**access)
            if ready:
                return int(self.dut.host_rdata.value)
            waited += 1
            assert waited < 70, "the host has no turn"


@cocotb.test()
async def stores_leave_in_order_and_words_come_in(dut: Any) -> None:
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for addr in range(WORDS):
        await bench.host(addr, rng.getrandbits(32))
    for _ in range(4000):
        addr = rng.randrange(WORDS) if rng.random() < 0.5 else rng.randrange(8)
        match rng.randrange(6):
            case 0 | 1:
                await bench.step()  # a word that came for the same address is in by now
                await bench.store(addr, rng.getrandbits(32), rng.choice([1, 2, 4, 8, 3, 12, 15]))
                if rng.getrandbits(1):
                    behind = rng.choice([addr, rng.randrange(8)])
                    assert await bench.load(behind) == bench.region[behind]
            case 2 | 3:
                await bench.come(addr, rng.getrandbits(32), rng.randrange(16), rng.randrange(32))
            case 4:
                await bench.step(out_ready=1)
                assert await bench.load(addr) == bench.region[addr]
            case 5:
                await bench.step(out_ready=1)
                assert await bench.host(addr) == bench.region[addr]
    for _ in range(40):
        await bench.step(out_ready=1)
    assert bench.left == list(bench.expected)
    for addr in range(WORDS):
        assert await bench.host(addr) == bench.region[addr], hex(addr)


@cocotb.test()
async def eight_words_wait_and_the_next_store_holds(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    taken = 0
    for _ in range(40):
        if not dut.hold.value:
            taken += 1
        await bench.step(req=1, we=1, addr=taken, be=15, wdata=taken)
    # Eight in the queue, one at its output, one in the core's MEM.
    assert taken == 10 and dut.hold.value
    assert int(dut.leaving.value) == 8
    for _ in range(40):
        await bench.step(out_ready=1)
    assert [data for _, _, data in bench.left] == list(range(1, 11)) and not dut.hold.value


@cocotb.test()
async def the_host_gets_its_turn(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(20):
        addr = bench.rng.randrange(WORDS)
        word = bench.rng.getrandbits(32)
        await bench.host(addr, word, busy=True)
        assert await bench.host(addr, busy=True) == word
    for addr in range(WORDS):
        if bench.region[addr]:
            assert await bench.host(addr) == bench.region[addr]


@cocotb.test()
async def a_message_of_each_word_that_matches(dut: Any) -> None:
    """One at a time: exactly the words of other units that pass the filter."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    expected = []
    await bench.come(9, 1)
    for _ in range(300):
        mask, value = rng.choice([(0, 0), (0x7F0, 0x120), (1, 1), (0x7FF, 0x123), (0x400, 0x400)])
        await bench.step(listen=0)
        await bench.step(listen=1, mask=mask, value=value)
        addr = rng.choice([rng.randrange(WORDS), 0x120 + rng.randrange(16)])
        unit = rng.randrange(6)
        await bench.come(addr, 0, rng.randrange(16), unit)
        for _ in range(8):
            await bench.step()
        if unit != ME and addr & mask == value:
            expected.append(addr)
            assert dut.head_valid.value and int(dut.head.value) == addr
            await bench.step(next=1)
        assert not dut.head_valid.value
    assert [addr for _, addr in bench.heads] == expected
    assert len(expected) > 50


@cocotb.test()
async def addresses_wait_once(dut: Any) -> None:
    """All 2,048 wait, in the order of their first arrival, however often they arrive."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    await bench.step(listen=1, mask=0, value=0)
    await bench.come(77, 1)
    for _ in range(8):
        await bench.step()
    order = list(range(WORDS))
    rng.shuffle(order)
    for count, addr in enumerate(order):
        await bench.come(addr, addr)
        for _ in range(rng.randrange(3)):
            await bench.come(order[rng.randrange(count + 1)], 5)
        if count in (10, 300):
            for _ in range(4):
                await bench.step()
            assert int(dut.waiting.value) == min(count + 1, 255)
    while dut.head_valid.value:
        for _ in range(rng.choice([0, 0, 5])):
            await bench.step()
        await bench.step(next=1)
        for _ in range(4):
            await bench.step()
    assert [addr for _, addr in bench.heads] == [77, *order]
    await bench.come(order[0], 1)
    for _ in range(8):
        await bench.step()
    assert dut.head_valid.value and int(dut.head.value) == order[0], "an address that was read may come again"
    # A reset discards waiting messages, and they do not block later ones.
    for addr in range(50):
        await bench.come(addr, 1)
    for _ in range(80):
        await bench.step(listen=0)
    bench.heads.clear()
    await bench.step(listen=1)
    for _ in range(8):
        await bench.step()
    assert not dut.head_valid.value and int(dut.waiting.value) == 0
    for addr in range(50):
        await bench.come(addr, 1)
    for _ in range(300):
        await bench.step(next=1)
    assert [addr for _, addr in bench.heads] == list(range(50))


@cocotb.test()
async def no_message_is_lost_in_a_flood(dut: Any) -> None:
    """Words arrive every cycle while messages are read: after each word its address reaches the head, and no address
    without a word does.
    """
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    await bench.step(listen=1, mask=0, value=0)
    arrivals: dict[int, list[int]] = {}
    for count in range(6000):
        take = int(rng.random() < 0.3)
        if count % 64 == 63 or (count // 500 % 2 and rng.random() < 0.7):
            await bench.step(next=take)
        else:
            addr = rng.randrange(12) if rng.random() < 0.8 else rng.randrange(WORDS)
            arrivals.setdefault(addr, []).append(bench.cycle)
            await bench.come(addr, count, next=take)
    for _ in range(4 * WORDS):
        await bench.step(next=rng.getrandbits(1))
    assert not dut.head_valid.value
    shown: dict[int, list[int]] = {}
    for cycle, addr in bench.heads:
        shown.setdefault(addr, []).append(cycle)
    assert set(shown) == set(arrivals)
    for addr, cycles in arrivals.items():
        assert shown[addr][-1] > cycles[-1], f"the last word of {addr:#x} is not told"
        for earlier, later in zip(shown[addr], shown[addr][1:], strict=False):
            assert any(earlier - BLUR <= cycle < later for cycle in cycles), f"a message of {addr:#x} without a word"


def test_broadcast_port() -> None:
    sources = ["lib/rtl/rtl.f", "engines/rpu/rtl/broadcast_port.sv", "engines/rpu/tests/broadcast_port_bench.sv"]
    simulate("broadcast_port_bench", sources, "test_broadcast_port")
