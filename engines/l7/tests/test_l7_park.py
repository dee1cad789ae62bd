# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The l7 block whose messages of several packets wait in card memory: thousands at once, any order, full tables, held
ports, errors of card memory.
"""

from __future__ import annotations

import os
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
    # Each packet has bytes of its own, so that those of two do not pass for each other.
    fields = [tlv(1, f"{number} {i} ".encode().ljust(100, b"a")) for i in range(count)]
    return [Packet((fields[i] * (size // 100 + 1))[:size], count=count, number=i, **common) for i in range(count)]


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
    number = int(os.environ.get("L7_MESSAGES", "3000" if full else "100"))
    patience = 60_000 + 20 * number
    messages = [parts(i, 3 if i % 50 == 0 else 2, i % 2, bench.rng.choice([1, 60, 102, 300])) for i in range(number)]
    early = [message.pop(bench.rng.randrange(len(message))) for message in messages]
    bench.rng.shuffle(early)
    await sent(bench, early, [packet.hash % 3 % 2 for packet in early])
    await bench.drain(patience)
    assert not bench.left
    for app in range(2):
        assert await counters(bench, app, "MESSAGES", "PAGES", "REFUSED") == [number // 2, number // 2, 0]
    late = [packet for message in messages for packet in message]
    bench.rng.shuffle(late)
    bench.out = [0.9, 0.6]
    await sent(bench, late, [packet.hash % 3 % 2 for packet in late])
    await bench.drain(patience)
    await bench.check_counters()
    bench.check()
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
    """An application whose share is used up, or whose sets are full, is refused; its messages of one packet and the
    other application's pass.
    """
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
async def whole_messages_wait(dut: Any) -> None:
    """Behind a port that takes nothing, whole messages wait as long as there are pages: none is dropped before."""
    bench = await begin(dut, 19)
    pages = await counters(bench, 0, "PAGES_MAX")
    bench.out = [0.0, 1.0]
    # Some wait behind card memory: 256 in the lane, 170 in the output queue, fewer than 100 between.
    number = 4800 if pages > [256] else 400
    for i in range(number):
        await sent(bench, parts(i, 2, 0, 60), [0, 0])
    await bench.run(4000)
    assert not bench.left
    assert await counters(bench, 0, "PACKETS", "BUSY", "REFUSED") == [2 * number, 0, 0]
    if pages == [256]:
        for i in range(number, number + 400):  # more than there is room for
            for packet in parts(i, 2, 0, 60):
                bench.send(0, Frame(packet.frame()))
        await bench.run(12_000)
        packets, busy, refused = await counters(bench, 0, "PACKETS", "BUSY", "REFUSED")
        assert (packets + refused, busy) == (2 * (number + 400), 0) and refused > 100
        assert await counters(bench, 0, "PAGES") >= [256]
        return
    bench.out = [1.0, 1.0]
    await bench.drain()
    bench.check()
    await bench.check_counters()


def split(bench: Bench, app: int) -> tuple[Counter[Any], Counter[Any]]:
    """Messages of an application that have left, and those that the model expects."""
    made = Counter(frame.key() for frame in bench.left if frame.hash % 2 == app)
    return made, Counter(out.key() for out in bench.expected if out.hash % 2 == app)


@cocotb.test()
async def bursts_fail(dut: Any) -> None:
    """A message is dropped and counted if card memory answers one of its bursts with an error; no other message is."""
    bench = await begin(dut, 20)
    channels = len(dut.stop) // 2  # of an application
    lost = 0
    for number, size in enumerate((1, 102, 1920, 1921, 2049, 4000, 5000)):
        for writes, reads in ((1, 0), (0, 1), (0, 2), (0, 3), (0, 0)):
            packets = parts(10 * number + writes + 2 * reads, 3, 0, size)
            bench.rng.shuffle(packets)
            fails = [0, 1, 2][number % 3]  # the packet whose writes fail; a message is read at once
            for at, packet in enumerate(packets):
                if writes and at == fails:
                    dut.fail_write.value = (1 << channels) - 1
                if reads and at == 2:
                    dut.fail_read.value = int(f"{reads:02b}" * channels, 2)
                await sent(bench, [packet], [at % 2])
                while any(port.waiting for port in bench.ports):
                    await bench.step()
                await bench.run(300)
                dut.fail_write.value = 0
            await bench.drain()
            dut.fail_read.value = 0
            if writes or reads:
                bench.expected.pop()
                lost += 1
    assert await counters(bench, 0, "FAILED", "PAGES", "MESSAGES", "EXPIRED") == [lost, 0, 0, 0]
    bench.check()


@cocotb.test()
async def bursts_fail_at_random(dut: Any) -> None:
    """Errors of an application's channels lose messages of that application alone, and mix none."""
    bench = await begin(dut, 21)
    channels = len(dut.stop) // 2
    number = 400
    bench.out = [0.9, 0.7]
    packets: list[Packet] = []
    for i in range(number):
        packets += parts(i, bench.rng.choice([2, 2, 3, 5]), i % 2, bench.rng.choice([1, 60, 102, 300, 2100]))
        if len(packets) > 40:
            bench.rng.shuffle(packets)
            for packet in packets:
                dut.fail_write.value = sum((bench.rng.random() < 0.03) << c for c in range(channels))
                dut.fail_read.value = sum(bench.rng.choice([0] * 60 + [1, 2, 3]) << 2 * c for c in range(channels))
                await sent(bench, [packet], [packet.hash % 3 % 2])
            packets = []
    dut.fail_write.value = 0
    await sent(bench, packets, [packet.hash % 3 % 2 for packet in packets])
    await bench.drain()
    made, wanted = split(bench, 1)
    assert made == wanted
    assert await counters(bench, 1, "FAILED", "BUSY", "PAGES") == [0, 0, 0]
    made, wanted = split(bench, 0)
    assert not made - wanted
    failed, delivered, *rest = await counters(bench, 0, "FAILED", "DELIVERED", "BUSY", "PAGES", "MESSAGES")
    assert rest == [0, 0, 0]
    assert (delivered, failed) == (made.total(), wanted.total() - made.total())
    assert 20 < failed < 180


@cocotb.test()
async def a_channel_stops(dut: Any) -> None:
    """Messages with pages on a channel that does not answer are dropped; when it answers again, they are delivered."""
    bench = await begin(dut, 22)
    # Pages are taken in their order, which goes through the four channels: with 1 stopped, every second message is
    # lost, and with 3 stopped, the others.
    gone: set[int] = set()
    for first, stop, dead in ((0, 1, 0), (1000, 3, 1)):
        dut.stop.value = 1 << stop
        for known_to_be_dead in (False, True):
            numbers = range(first + 100 * known_to_be_dead, first + 100 * known_to_be_dead + 16, 2)
            before = bench.cycle
            for i in numbers:
                await sent(bench, parts(i, 2, 0), [0, 0])
                await sent(bench, parts(i + 1, 2, 1), [1, 1])
            if not known_to_be_dead:
                await bench.run(2000)
                assert await counters(bench, 1, "MESSAGES", "PAGES") == [0, 0]
                assert await counters(bench, 0, "FAILED") == [len(gone)]
            await bench.drain()
            assert (bench.cycle - before < 2000) == known_to_be_dead
            gone.update(numbers[dead::2])
            assert await counters(bench, 0, "FAILED", "BUSY", "MESSAGES", "PAGES") == [len(gone), 0, 0, 0]
        dut.stop.value = 0
        await bench.run(200)
        for i in range(first + 200, first + 216, 2):
            await sent(bench, parts(i, 2, 0), [0, 0])
        await bench.drain()
        assert await counters(bench, 0, "FAILED") == [len(gone)]
    assert await counters(bench, 1, "FAILED") == [0]
    bench.expected = [out for out in bench.expected if out.hash not in gone]
    bench.check()


@cocotb.test()
async def channels_stop_while_they_are_read(dut: Any) -> None:
    """Beats of a page that come after the channel was given up are not taken for those of the next page."""
    bench = await begin(dut, 24)
    for turn, after in enumerate((120, 200, 280, 360)):
        await sent(bench, parts(4 * turn, 3, 0, 5000), [0, 1, 0])
        while any(port.waiting for port in bench.ports):
            await bench.step()
        await bench.run(after)
        dut.stop.value = 15  # all channels of the application
        await bench.drain()
        dut.stop.value = 0
        await bench.run(200)  # what the channels owe comes
        await sent(bench, parts(4 * turn + 2, 3, 0, 5000), [0, 1, 0])
        await bench.drain()
    made, wanted = split(bench, 0)
    assert not made - wanted
    failed, *rest = await counters(bench, 0, "FAILED", "BUSY", "MESSAGES", "PAGES")
    assert (failed, rest) == (wanted.total() - made.total(), [0, 0, 0])
    assert {2, 6, 10, 14} <= {frame.hash for frame in bench.left}
    assert failed >= 2


@cocotb.test()
async def channels_stop_at_random(dut: Any) -> None:
    """Channels of one application stop, go on and fail at any time, and one stops for good: no hang, no mixed bytes."""
    bench = await begin(dut, 23)
    channels = len(dut.stop) // 2
    bench.out = [0.9, 0.7]
    until = [0] * channels
    stopped = [False] * channels

    def change() -> None:
        for c in range(channels):
            if bench.cycle >= until[c]:
                stopped[c] = not stopped[c]
                until[c] = bench.cycle + bench.rng.choice([3, 50, 700, 9000] if stopped[c] else [300, 3000, 6000])
        dut.stop.value = sum(one << c for c, one in enumerate(stopped))
        dut.fail_write.value = sum((bench.rng.random() < 0.01) << c for c in range(channels))

    number = 900
    packets: list[Packet] = []
    for i in range(number):
        packets += parts(i, bench.rng.choice([2, 2, 3, 5]), i % 2, bench.rng.choice([1, 60, 102, 300, 2100]))
        if len(packets) > 20:
            bench.rng.shuffle(packets)
            for packet in packets:
                change()
                await sent(bench, [packet], [packet.hash % 3 % 2])
                for _ in range(bench.rng.choice([0, 0, 60])):
                    change()
                    await bench.step()
            packets = []
    await sent(bench, packets, [packet.hash % 3 % 2 for packet in packets])
    dut.stop.value = 1  # for good
    await bench.drain()
    made, wanted = split(bench, 1)
    assert made == wanted
    assert await counters(bench, 1, "FAILED", "BUSY", "REFUSED", "PAGES", "MESSAGES") == [0] * 5
    made, wanted = split(bench, 0)
    assert not made - wanted
    failed, delivered, denied, busy, waiting = await counters(
        bench, 0, "FAILED", "DELIVERED", "DENIED", "BUSY", "MESSAGES"
    )
    assert (delivered, denied) == (made.total(), 0)
    # A message misses packets that were dropped, and waits for them.
    assert failed > 20 and delivered > 100 and waiting <= busy
    assert wanted.total() - busy <= failed + delivered + waiting <= wanted.total()
    # They expire, with all of their pages.
    sets = (await bench.access(regs.L7_BLOCK_CARD)) // 4
    await bench.write(regs.L7_BLOCK_TIMEOUT, 1)
    await bench.run(16 * sets + 4000)
    assert await counters(bench, 0, "MESSAGES", "PAGES", "EXPIRED") == [0, 0, waiting]
    # The channels work again.
    dut.stop.value = 0
    dut.fail_write.value = 0
    await bench.write(regs.L7_BLOCK_TIMEOUT, 0)
    await bench.run(7000)
    for i in range(0, 32, 2):
        await sent(bench, parts(2000 + i, 3, 0, 300), [0, 1, 0])
    await bench.drain()
    assert await counters(bench, 0, "FAILED", "DELIVERED", "MESSAGES", "PAGES") == [failed, delivered + 16, 0, 0]


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
OF_ALL_SIZES = ("thousands", "held_port", "whole_messages_wait", "beside_each_other", "rate_of_packets")


@pytest.mark.parametrize("case", CASES)
def test_l7_park(case: str) -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, {"SetsLog2": SMALL}, testcase=case)


@pytest.mark.parametrize("case", OF_ALL_SIZES)
def test_l7_park_of_full_size(case: str) -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, {"SetsLog2": FULL}, testcase=case)


@pytest.mark.long
def test_l7_park_of_60_000_messages() -> None:
    """As many messages at once as card memory has places for, nearly."""
    env = {"L7_MESSAGES": "60000"}
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, {"SetsLog2": FULL}, testcase="thousands", env=env)
