# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The l7 block whose messages of several packets wait in card memory: thousands at once, any order, full tables, held ports."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from l7_bench import SOURCES, Bench, Frame, tlv
from l7_machine import Packet
from penstock import regs
from penstock.hdl import simulate
from test_l7_block import always, chain, random_traffic

FIELD = tlv(1, b"a" * 100)
SMALL, FULL = 6, 14  # log2 of the sets of the table: 256 places and pages for each application, 65,536


async def counters(bench: Bench, app: int, *names: str) -> list[int]:
    return [await bench.counter(app, name) for name in names]


async def begin(dut: Any, seed: int) -> Bench:
    bench = Bench(dut, seed, in_card=True)
    await bench.start()
    await bench.use([always(), always(number=1)])
    return bench


def parts(number: int, count: int, app: int = 0, size: int = 102, **more: Any) -> list[Packet]:
    """The packets of a message; a sender has four."""
    common: dict[str, Any] = {
        "msg_id": number % 4,
        "sport": 1000 + number // 4,
        "app_id": 1 + app,
        "hash": number,
        **more,
    }
    return [Packet((FIELD * (size // 100 + 1))[:size], count=count, number=i, **common) for i in range(count)]


async def sent(bench: Bench, packets: list[Packet], ports: list[int]) -> None:
    for packet, port in zip(packets, ports, strict=True):
        assert bench.send_packet(port, packet) == "absorbed"
        while sum(len(port.waiting) for port in bench.ports) > 4:
            await bench.step()


@cocotb.test()
async def random_messages(dut: Any) -> None:
    """Any rules, any messages, gaps everywhere; the pages are used several times."""
    await random_traffic(dut, in_card=True)


@cocotb.test()
async def thousands(dut: Any) -> None:
    """Messages of both applications that all begin before the first one is whole, in any order."""
    bench = await begin(dut, 11)
    full = await bench.access(regs.L7_BLOCK_CARD) == 4 << FULL
    assert await counters(bench, 0, "MESSAGES_MAX", "PAGES_MAX") == ([32768, 65536] if full else [128, 256])
    number = 3000 if full else 100
    messages = [parts(i, 3 if i % 50 == 0 else 2, i % 2, bench.rng.choice([1, 60, 102, 300])) for i in range(number)]
    early = [message.pop(bench.rng.randrange(len(message))) for message in messages]
    bench.rng.shuffle(early)
    await sent(bench, early, [packet.hash % 3 % 2 for packet in early])
    await bench.drain()
    assert not bench.left
    for app in range(2):
        assert await counters(bench, app, "MESSAGES", "PAGES", "REFUSED") == [number // 2, number // 2, 0]
    late = [packet for message in messages for packet in message]
    bench.rng.shuffle(late)
    bench.out = [0.9, 0.6]
    await sent(bench, late, [packet.hash % 3 % 2 for packet in late])
    await bench.drain()
    bench.check()
    await bench.check_counters()
    for app in range(2):
        assert await counters(bench, app, "MESSAGES", "PAGES", "DELIVERED") == [0, 0, number // 2]


@cocotb.test()
async def long_messages(dut: Any) -> None:
    """Packets of several pages, the longest message, one byte more, and copies of packets."""
    bench = await begin(dut, 12)
    sizes = [8000, 8000, 255, 1]
    for number, order in enumerate(((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2))):
        packets = [
            Packet((FIELD * 80)[:size], count=4, number=i, msg_id=number, sport=7) for i, size in enumerate(sizes)
        ]
        for i in order:
            bench.send_packet(number % 2, packets[i])
            if i != order[-1]:
                assert bench.send_packet(number % 2, packets[i]) == "dropped"
    for number, (size, count) in enumerate([(8000, 3), (8000, 3), (257, 3), (1, 4), (256, 3)]):
        bench.send_packet(0, Packet(bytes(size), count=count, number=min(number, 2), msg_id=9, sport=8))
    await bench.drain()
    bench.check()
    await bench.check_counters()
    names = ("DELIVERED", "DUPLICATES", "OVERSIZE", "MALFORMED", "MESSAGES", "PAGES")
    assert await counters(bench, 0, *names) == [4, 9, 1, 1, 0, 0]
    for size in (1792, 1920, 1921, 2048, 2049, 3968, 3969, 4096):  # pages that are full, and a byte more
        await sent(bench, parts(size, 2, size=size), [1, 1])
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PAGES") == [0, 0]


@cocotb.test()
async def expired(dut: Any) -> None:
    """Messages that miss a packet expire with all of their pages, by the sweep or when a packet finds them."""
    bench = await begin(dut, 13)
    assert bench.model is not None
    sets = (await bench.access(regs.L7_BLOCK_CARD)) // 4
    await bench.write(regs.L7_BLOCK_TIMEOUT, 2000)  # 2 ms
    for turn in range(3):
        lost = [parts(i, 3, i % 2, 3000)[:2] for i in range(60)]
        await sent(bench, [packet for message in lost for packet in message], [0, 0] * 60)
        await bench.drain()
        # Packet 0 has 128 bytes of headers.
        assert await counters(bench, 0, "MESSAGES", "PAGES", "EXPIRED") == [30, 120, 30 * turn]
        bench.now += 2_100_000
        await bench.run(16 * sets + 2000)
        for app in range(2):
            assert await counters(bench, app, "MESSAGES", "PAGES", "EXPIRED") == [0, 0, 30 * (turn + 1)]
        bench.model.messages.clear()
    # A packet that comes too late begins a new message, even before the sweep has come by.
    await sent(bench, parts(1, 3)[:1], [0])
    await bench.drain()
    bench.now += 3_000_000
    bench.model.messages.clear()
    await sent(bench, parts(1, 3)[1:] + parts(1, 3)[:1], [0, 0, 0])
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PAGES", "DELIVERED", "EXPIRED", "DUPLICATES") == [0, 0, 1, 91, 0]
    # A packet that is accepted begins the time anew; without a timeout nothing expires.
    for packet in parts(2, 3):
        await sent(bench, [packet], [1])
        bench.now += 1_900_000
        await bench.run(16 * sets + 2000)
    bench.check()
    await bench.write(regs.L7_BLOCK_TIMEOUT, 0)
    await sent(bench, parts(5, 2)[1:], [1])
    bench.now += 1 << 50
    await bench.run(16 * sets + 2000)
    assert await counters(bench, 0, "MESSAGES", "EXPIRED") == [1, 91]


@cocotb.test()
async def full(dut: Any) -> None:
    """An application whose share is used up, or whose sets are full, is refused; its messages of one packet and the other application's pass."""
    bench = await begin(dut, 14)
    await bench.write(bench.app(0, "MESSAGES_MAX"), 40)
    for i in range(120):
        bench.send(0, Frame(Packet(FIELD, msg_id=i, count=2).frame()))
        bench.send_packet(0, Packet(FIELD, msg_id=i))
        await sent(bench, parts(i, 2, 1), [1, 1])
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PACKETS", "REFUSED", "BUSY") == [40, 160, 80, 0]
    assert await counters(bench, 1, "MESSAGES", "DELIVERED", "REFUSED") == [0, 120, 0]
    # A message that has begun goes on.
    for i in range(40):
        bench.send(0, Frame(Packet(FIELD, msg_id=i, count=2, number=1).frame()))
    await bench.drain()
    assert await counters(bench, 0, "MESSAGES", "PAGES", "DELIVERED", "REFUSED") == [0, 0, 160, 80]
    # Pages of 2,048 bytes, of which the headers of packet 0 take 128
    await bench.write(bench.app(1, "PAGES_MAX"), 5)
    for number, size in ((0, 1921), (1, 4096), (2, 2049), (3, 2048), (4, 1)):
        bench.send(0, Frame(Packet(bytes(size), app_id=2, msg_id=1, count=9, number=number).frame()))
    await bench.drain()
    assert await counters(bench, 1, "PAGES", "REFUSED") == [5, 2]
    # As many messages as there are places: most find one.
    places = await bench.access(regs.L7_BLOCK_CARD)
    if places <= 1024:
        await bench.write(bench.app(0, "MESSAGES_MAX"), places)
        for i in range(places + 100):
            bench.send(0, Frame(Packet(b"x", msg_id=i, sport=5000 + i % 7, count=2, number=1).frame()))
        await bench.drain()
        used, refused = await counters(bench, 0, "MESSAGES", "REFUSED")
        assert used + refused - 80 == places + 100
        assert places * 0.95 < used <= places
        for i in range(places + 100):
            bench.send(1, Frame(Packet(FIELD, msg_id=i, sport=5000 + i % 7, count=2).frame()))
            await bench.run(60)
        await bench.drain()
        # Those that were refused have begun now, as far as there was room.
        delivered, now = await counters(bench, 0, "DELIVERED", "MESSAGES")
        assert 160 + 0.9 * used < delivered <= 160 + used
        assert now <= places + 100 - (delivered - 160)


@cocotb.test()
async def held_port(dut: Any) -> None:
    """A port that takes nothing fills its application's memory, and the other application's messages pass."""
    bench = await begin(dut, 15)
    bench.out = [0.0, 1.0]
    places = await bench.access(regs.L7_BLOCK_CARD)
    number = 400 if places > 1024 else 100
    for i in range(number):
        await sent(bench, parts(i, 2, 0, 600), [0, 0])
        await sent(bench, parts(i, 2, 1, 600), [1, 1])
    await bench.run(12_000 if places > 1024 else 4000)
    assert {frame.port for frame in bench.left} == {1}
    assert len(bench.left) == number
    assert await counters(bench, 0, "MESSAGES") != [0]
    bench.out = [1.0, 1.0]
    await bench.drain()
    bench.check()
    await bench.check_counters()


@cocotb.test()
async def beside_each_other(dut: Any) -> None:
    """Messages of one packet are decided in 9 + 2N cycles, also where other messages are in card memory."""
    bench = Bench(dut, 16, in_card=True)
    await bench.start()
    for steps in (1, 4, 8):
        await bench.use([chain(steps), always(number=100)])
        await sent(bench, parts(steps, 3, 1)[1:], [1, 1])
        await bench.drain()
        bench.decided.clear()
        bench.entered.clear()
        bench.send_packet(0, Packet(tlv(1, b"a" * 20).ljust(40, b"\0"), msg_id=steps))
        await bench.drain()
        assert [bench.decided[0] - bench.entered[0]] == [9 + 2 * steps]
    bench.check()


@cocotb.test()
async def slow_rules(dut: Any) -> None:
    """Messages of one packet that fill the window queue are dropped, and none that comes from card memory."""
    bench = Bench(dut, 18, in_card=True)
    await bench.start()
    await bench.use([chain(60), always(number=100)])
    flood = 0xFFFF_FFFF  # the hash of their frames
    for i in range(60):
        for n, packet in enumerate(parts(i, 2)):
            assert bench.send_packet((i + n) % 2, packet) == "absorbed"
            for k in range(8):
                bench.send(k % 2, Frame(Packet(FIELD, msg_id=k).frame(), hash=flood))
    await bench.drain()
    made = Counter(frame.key() for frame in bench.left if frame.hash != flood)
    assert made == Counter(out.key() for out in bench.expected)
    delivered, busy, refused, now = await counters(bench, 0, "DELIVERED", "BUSY", "REFUSED", "MESSAGES")
    assert (delivered + busy, refused, now) == (60 + 60 * 16, 0, 0)
    assert busy > 100


async def rate(bench: Bench, frames: list[tuple[int, bytes]]) -> float:
    """Packets in a cycle, until all messages have left."""
    for port, frame in frames:
        bench.send(port, Frame(frame))
    first = bench.cycle
    await bench.drain()
    return len(frames) / (bench.cycle - first)


@cocotb.test()
async def rate_of_packets(dut: Any) -> None:
    """128-byte packets of messages of two, and packets of 1,500 bytes, both applications at once."""
    bench = await begin(dut, 17)
    await bench.run(await bench.access(regs.L7_BLOCK_CARD) // 4)  # until the table is empty
    for size, least in ((128, 0.14), (1500, 0.03)):
        payload = bytes(size - 64)
        frames = [
            (port, Packet(payload, app_id=1 + port, msg_id=i, sport=size, count=2, number=n).frame())
            for i in range(100)
            for n in range(2)
            for port in range(2)
        ]
        told = await rate(bench, frames)
        bench.dut._log.info("%d bytes: %.3f packets in a cycle", size, told)
        assert told > least
    assert [await counters(bench, app, "DELIVERED", "BUSY", "REFUSED") for app in range(2)] == [[200, 0, 0]] * 2


CASES = [name for name, value in list(globals().items()) if isinstance(value, type(full))]  # the coroutines
OF_ALL_SIZES = ("thousands", "held_port", "beside_each_other", "rate_of_packets")


@pytest.mark.parametrize("case", CASES)
def test_l7_park(case: str) -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, {"SetsLog2": SMALL}, testcase=case)


@pytest.mark.parametrize("case", OF_ALL_SIZES)
def test_l7_park_of_full_size(case: str) -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, {"SetsLog2": FULL}, testcase=case)
