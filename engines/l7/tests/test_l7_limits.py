# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The l7 block when things go wrong: lost packets, floods, lengths that lie, slow rules, held ports; and rules that
change under load.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parent))

import itertools

from l7_bench import PLUSARGS, SOURCES, Bench, Frame, tlv
from l7_machine import Branch, Packet, Row, Rules, at_field, decide, exactly
from penstock import regs
from penstock.hdl import simulate
from test_l7_block import TO_HOST, always, chain

FIELD = tlv(1, b"a" * 100)


async def counters(bench: Bench, app: int, *names: str) -> list[int]:
    return [await bench.counter(app, name) for name in names]


@cocotb.test()
async def lost_packets(dut: Any) -> None:
    """Messages that miss a packet expire, and leave nothing behind; their numbers can be used again."""
    bench = Bench(dut, 1)
    await bench.start()
    await bench.use([always(), always(number=1)])
    assert bench.model is not None
    await bench.write(regs.L7_BLOCK_TIMEOUT, 2000)  # 2 ms
    for turn in range(2):
        for i in range(60):
            # The first packet is lost, or the last one
            numbers = (1, 2) if i % 2 else (0, 1)
            for number in numbers:
                fate = bench.send_packet(i % 2, Packet(FIELD * 6, msg_id=i, app_id=1 + i // 30, count=3, number=number))
                assert fate == "absorbed"
        await bench.drain()
        assert await counters(bench, 0, "MESSAGES", "PAGES", "EXPIRED") == [30, 120, 30 * turn]
        bench.pace = 400  # 2 ms are 5,000 cycles; a sweep takes 8,192
        await bench.run(4000)
        assert await counters(bench, 0, "EXPIRED") == [30 * turn]
        await bench.run(15_000)
        for app in range(2):
            assert await counters(bench, app, "MESSAGES", "PAGES", "EXPIRED") == [0, 0, 30 * (turn + 1)]
        bench.pace = 4
        bench.model.messages.clear()
    for number in (2, 0, 1):
        bench.send_packet(0, Packet(FIELD, msg_id=1, count=3, number=number))
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PAGES", "DELIVERED") == [0, 0, 1]
    # A packet that is accepted begins the time anew: 1.6 ms, and 1.6 ms.
    bench.pace = 100
    for number in (2, 0, 1):
        bench.send_packet(0, Packet(FIELD, msg_id=2, count=3, number=number))
        await bench.run(16_000)
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "DELIVERED") == [0, 2]
    # A packet that comes too late begins a new message, even before the sweep has come by.
    bench.pace = 4
    bench.send_packet(0, Packet(FIELD, msg_id=3, count=3))
    await bench.drain()
    bench.now += 3_000_000
    bench.model.messages.clear()
    for number in (1, 2, 0):
        bench.send_packet(0, Packet(FIELD, msg_id=3, count=3, number=number))
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PAGES", "DELIVERED", "EXPIRED", "DUPLICATES") == [0, 0, 3, 61, 0]
    # Without a timeout nothing expires.
    await bench.write(regs.L7_BLOCK_TIMEOUT, 0)
    bench.send_packet(0, Packet(FIELD, count=2))
    bench.pace = 4000
    await bench.run(20_000)
    assert await counters(bench, 0, "MESSAGES", "EXPIRED") == [1, 61]


@cocotb.test()
async def flood_of_first_packets(dut: Any) -> None:
    """An application that begins messages and never ends them uses up its share; the other one does not notice."""
    bench = Bench(dut, 2)
    await bench.start()
    await bench.use([always(), always(number=1)])
    await bench.write(bench.app(0, "MESSAGES_MAX"), 40)
    for i in range(300):
        bench.send(0, Frame(Packet(FIELD, msg_id=i, count=2).frame()))
        if i % 3 == 0:
            bench.send_packet(1, Packet(FIELD, msg_id=i, app_id=2))
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PACKETS", "REFUSED", "BUSY") == [40, 40, 260, 0]
    assert await counters(bench, 1, "MESSAGES", "DELIVERED", "REFUSED") == [0, 100, 0]
    # Pages: 8 of 12 hold two packets of four pages; smaller ones find room beside them.
    await bench.write(bench.app(1, "PAGES_MAX"), 12)
    for number, size in ((0, 2000), (1, 2000), (2, 2048), (3, 2049), (4, 1), (5, 513)):
        bench.send(0, Frame(Packet(bytes(size), app_id=2, msg_id=1, count=9, number=number).frame()))
    await bench.drain()
    assert await counters(bench, 1, "PAGES", "REFUSED", "OVERSIZE") == [12, 3, 0]


@cocotb.test()
async def lengths_that_lie(dut: Any) -> None:
    """Packets with wrong lengths and counts are dropped and counted, and those behind them are delivered."""
    bench = Bench(dut, 3)
    await bench.start()
    await bench.use([always(), always(number=1)])
    good = Packet(FIELD).frame()
    bad: list[bytes] = []
    for at, value in (
        (38, 30),
        (38, 0),
        (38, 8),
        (38, 0xFFFF),
        (38, len(good) - 33),
        (16, 20),
        (16, 0xFFFF),
        (16, len(good)),
    ):
        bad.append(good[:at] + value.to_bytes(2, "big") + good[at + 2 :])
    for at, value in ((52, 0), (52, 33), (52, 255), (53, 1), (53, 255)):
        bad.append(good[:at] + bytes([value]) + good[at + 1 :])
    bad += [good[:64], good[:65], good[:80], good[:-1]]
    v6 = Packet(FIELD, v6=True, vlan=3).frame()
    bad += [v6[:22] + b"\0\1" + v6[24:], v6[:88], v6[:89], v6[:-1]]
    for frame in bad:
        bench.send(0, Frame(frame))
        bench.send_packet(0, Packet(FIELD, msg_id=len(bench.expected)))
    for number, count in ((0, 3), (1, 4), (2, 3), (3, 4), (1, 3)):
        # Two packets with another count than the first one
        bench.send(0, Frame(Packet(FIELD, msg_id=99, count=count, number=number, sport=9).frame()))
    for number, size in ((0, 8000), (1, 8000), (2, 257), (2, 256)):
        # A message of the longest payload, and one byte more
        bench.send_packet(1, Packet(bytes(size), msg_id=98, count=3, number=number))
    bench.send_packet(1, Packet(bytes(16256), msg_id=97))
    bench.send_packet(1, Packet(bytes(16257), msg_id=97))
    await bench.drain()
    assert await counters(bench, 0, "MALFORMED", "DUPLICATES", "OVERSIZE") == [len(bad) + 2, 0, 2]
    assert await counters(bench, 0, "MESSAGES", "PAGES", "REFUSED") == [0, 0, 0]
    lost = next(frame for frame in bench.left if len(frame.data) == 64 + 3 * len(FIELD))
    bench.left.remove(lost)
    bench.events["made"] -= 1
    bench.check()


@cocotb.test()
async def slow_rules_of_a_neighbour(dut: Any) -> None:
    """One application's rules take 100 steps and have one matcher; the other application's messages do not wait for
    them.
    """
    bench = Bench(dut, 4)
    await bench.start()
    await bench.use([chain(100), chain(1, 512, 64)])
    await bench.write(bench.app(0, "MATCHERS"), 0b0001)
    await bench.write(bench.app(1, "MATCHERS"), 0b1110)
    latencies = []
    for busy in (False, True):
        bench.left.clear()
        if busy:
            for i in range(120):
                bench.send(0, Frame(Packet(FIELD, msg_id=i).frame()))
            await bench.run(300)
        for i in range(10):
            start = bench.cycle
            bench.send(1, Frame(Packet(FIELD, msg_id=i, app_id=2).frame()))
            await bench.run(60)
            mine = [frame for frame in bench.left if frame.port == 1]
            assert len(mine) == i + 1
            latencies.append(mine[-1].cycle - start)
    # A packet of the other port in the lane, and a message of it in delivery
    assert max(latencies[10:]) <= max(latencies[:10]) + 12, latencies
    await bench.drain()
    delivered, dropped, stuck = await counters(bench, 0, "DELIVERED", "BUSY", "STUCK")
    assert delivered + dropped == 120 and dropped > 40 and stuck == 0
    assert await counters(bench, 1, "DELIVERED", "BUSY") == [20, 0]


@cocotb.test()
async def rules_swapped_under_load(dut: Any) -> None:
    """Each message is decided by the old rules or by the new ones; none is lost, none waits."""
    bench = Bench(dut, 5)
    await bench.start()
    old, new = chain(3, 0, 0, (1, 11, 0)), chain(3, 100, 10, (1, 22, 0))
    await bench.use([old, always(number=64)])
    await bench.load(0, new, bank=1)
    gaps = []
    for bank in (1, 0, 1):
        bench.left.clear()
        for i in range(200):
            bench.send(0, Frame(Packet(FIELD, msg_id=i).frame()))
        await bench.run(400)
        await bench.write(bench.app(0, "BANK"), bank)
        await bench.drain()
        assert await counters(bench, 0, "OLD", "BUSY", "REFUSED") == [0, 0, 0]
        queues = [frame.mark for frame in bench.left]
        first, second = (11, 22) if bank else (22, 11)
        assert len(queues) == 200
        assert queues == sorted(queues, key=[first, second].index)
        assert Counter(queues)[first] > 5 and Counter(queues)[second] > 5
        cycles = [frame.cycle for frame in bench.left]
        gaps.append(max(b - a for a, b in itertools.pairwise(cycles)))
    assert max(gaps) <= 16, gaps
    # While messages run in the old bank, it cannot become the current one again.
    slow = chain(100, 200, 20)
    await bench.load(0, slow, bank=0)
    await bench.write(bench.app(0, "BANK"), 0)
    bench.send(0, Frame(Packet(FIELD).frame()))
    await bench.run(30)
    await bench.write(bench.app(0, "BANK"), 1)
    assert await counters(bench, 0, "OLD") == [1]
    assert await bench.access(bench.app(0, "BANK"), 0) == -1
    assert await counters(bench, 0, "BANK") == [1]
    await bench.drain()
    await bench.write(bench.app(0, "BANK"), 0)


@cocotb.test()
async def a_port_is_held(dut: Any) -> None:
    """Port 0 takes nothing: frames and messages of port 1 leave, and dropped messages give their memory back."""
    bench = Bench(dut, 6)
    await bench.start()
    denied = Rules([at_field(512, 1)] * 16, {512: Row(miss=decide(64))}, {64: (0, 0, 0)})
    await bench.use([always(), denied])
    bench.out = [0.0, 1.0]
    for i in range(300):
        bench.send_packet(0, Packet(FIELD * 8, msg_id=i, count=1))
        bench.send_packet(1, Packet(FIELD, msg_id=i, sender=2))
        bench.send_packet(0, Packet(FIELD * 8, msg_id=i, app_id=2))
        bench.send_straight(1, bytes(range(100)))
    await bench.write(bench.app(0, "MESSAGES_MAX"), 500)
    for _ in range(20_000):
        await bench.step()
        if not any(port.waiting for port in bench.ports):
            break
    await bench.run(3000)
    assert len([frame for frame in bench.left if frame.port == 1]) == 600
    assert await counters(bench, 1, "MESSAGES", "PAGES", "DENIED") == [0, 0, 300]
    assert await counters(bench, 0, "REFUSED", "BUSY") == [0, 0]
    assert not any(frame.port == 0 for frame in bench.left)
    bench.out = [0.7, 1.0]
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "MESSAGES", "PAGES", "DELIVERED") == [0, 0, 600]


async def crowded(dut: Any, first: int) -> None:
    """Messages of `first` fill port 0, and then one of the other application comes."""
    bench = Bench(dut, 13)
    await bench.start()
    await bench.use([always(), always(number=1)])

    async def send(count: int, app: int) -> int:
        for _ in range(count):
            # Eight beats, also with the longest headers
            bench.send_packet(0, Packet(FIELD * 4, msg_id=len(bench.expected), app_id=1 + app))
            bench.send_packet(1, Packet(FIELD * 4, msg_id=len(bench.expected), app_id=1 + app, sender=2))
        await bench.run(2000)
        return int(dut.crowded.value)

    # One application alone waits for itself.
    bench.out = [0.0, 1.0]
    assert await send(80, first) == 0
    # A message of the other one waits behind it,
    assert await send(1, 1 - first) == 1
    # until it has room: then messages of the first one wait for those of both.
    bench.out = [1.0, 1.0]
    for _ in range(20):
        await bench.step()
    bench.out = [0.0, 1.0]
    await bench.run(100)
    assert int(dut.crowded.value) == 1
    # It ends when the last of 81 messages has room, which is when 17 have left; the next is on its way by then.
    bench.out = [1.0, 1.0]
    crowded_until = 0
    for _ in range(1000):
        await bench.step()
        if int(dut.crowded.value):
            crowded_until = sum(frame.port == 0 for frame in bench.left)
    assert 16 <= crowded_until <= 17, crowded_until
    await bench.drain()
    # A message of the other application has left the block, and may wait in front of those of the first one.
    assert await send(1, 1 - first) == 0
    bench.out = [0.0, 1.0]
    assert await send(80, first) == 1
    bench.out = [1.0, 1.0]
    await bench.drain()
    # Both fit.
    bench.out = [0.0, 1.0]
    assert await send(30, 0) == 0
    assert await send(30, 1) == 0
    bench.out = [1.0, 1.0]
    await bench.drain()
    bench.check()


@cocotb.test()
async def a_port_is_crowded_by_the_first(dut: Any) -> None:
    """A port is crowded while a message finds no room in the queue of 512 beats, and both applications use the port."""
    await crowded(dut, 0)


@cocotb.test()
async def a_port_is_crowded_by_the_second(dut: Any) -> None:
    await crowded(dut, 1)


async def turns(dut: Any, app: int) -> None:
    """A port takes less than comes. The longest messages of one application have turns with the other's short ones."""
    bench = Bench(dut, 14 + app)
    await bench.start()
    await bench.use([always(), always(number=1)])
    bench.out = [0.0, 0.0]
    short, long = [1 + (app + other) % 2 for other in (1, 0)]
    for other in range(2):
        await bench.write(bench.app(other, "MESSAGES_MAX"), 400)
    for i in range(160):
        bench.send_packet(0, Packet(FIELD * 2, msg_id=i, app_id=short))
        if i % 20 == 0:
            for number in range(32):
                bench.send_packet(0, Packet(bytes(508), msg_id=i, app_id=long, count=32, number=number))
        # Messages of the other port are chosen in between.
        bench.send_packet(1, Packet(FIELD * 4, msg_id=i, app_id=1 + i % 2, sender=2))
    await bench.run(8000)
    bench.out = [0.2, 0.12]
    await bench.drain()
    bench.check()
    kinds = "".join("L" if len(frame.data) > 16_000 else "s" for frame in bench.left if frame.port == 0)
    assert (kinds.count("L"), kinds.count("s")) == (8, 160)
    # Seven of the long ones wait with short ones behind the first of each: from then on one of each has its turn.
    assert "LsLsLsLsLsLsL" in kinds, kinds


@cocotb.test()
async def long_messages_of_the_first_have_turns(dut: Any) -> None:
    await turns(dut, 0)


@cocotb.test()
async def long_messages_of_the_second_have_turns(dut: Any) -> None:
    await turns(dut, 1)


@cocotb.test()
async def programs_without_an_end(dut: Any) -> None:
    """A loop is stopped after 128 steps, and its message dropped; 128 steps with an end are none."""
    bench = Bench(dut, 7)
    await bench.start()
    loop = Rules([at_field(512, 1)] * 16, {512: Row(miss=Branch(512))}, {64: (1, 0, 0)})
    await bench.use([chain(100), loop])
    long = tlv(1, b"a" * 128)
    bench.send_packet(0, Packet(long, app_id=2))
    bench.send_packet(0, Packet(long))
    await bench.drain()
    bench.check()
    await bench.check_counters()
    await bench.use([chain(128), loop])
    bench.send_packet(0, Packet(long))
    await bench.drain()
    await bench.use([chain(129), always(number=200)])
    bench.send_packet(0, Packet(tlv(1, b"a" * 130)))
    await bench.drain()
    bench.check()
    assert await counters(bench, 0, "DELIVERED", "STUCK") == [2, 1]


@cocotb.test()
async def rate_of_messages(dut: Any) -> None:
    """Messages of one packet of 128 bytes and four steps at line rate of a port, which is 82 million a second."""
    bench = Bench(dut, 8)
    await bench.start()
    await bench.use([chain(4), chain(4, 512, 64)])
    field = tlv(1, b"a" * 62)
    count = 600  # more than an output queue has beats
    bench.into[0] = 0.66  # two beats in three cycles: 100 Gb/s
    for i in range(count):
        bench.send(0, Frame(Packet(field, msg_id=i, app_id=1 + i % 2).frame()))
    await bench.write(bench.app(0, "MESSAGES_MAX"), 512)
    await bench.write(bench.app(1, "MESSAGES_MAX"), 512)
    await bench.drain()
    made = [frame.cycle for frame in bench.left]
    dropped = sum([await bench.counter(app, "BUSY") + await bench.counter(app, "REFUSED") for app in range(2)])
    assert len(made) + dropped == count
    cycles = (made[-1] - made[0]) / (len(made) - 1)
    dut._log.info("%.2f cycles a message, %.1f million a second; %d dropped", cycles, 250 / cycles, dropped)
    assert cycles <= 3.1
    assert dropped == 0


@cocotb.test()
async def pages_in_any_order(dut: Any) -> None:
    """Pages that come back in another order than they were taken in: a packet's pages do not follow each other."""
    bench = Bench(dut, 12)
    await bench.start()
    await bench.use([always(), always(number=64)])
    bench.out = [0.4, 1.0]
    # 2,048 pages of 512 bytes are taken for the first time in their order.
    for i in range(240):
        size = bench.rng.choice([4000, 8000])
        bench.send_packet(i % 2, Packet(bench.rng.randbytes(size), msg_id=i, app_id=1 + i // 2 % 2))
        while len(bench.expected) - len(bench.left) > 30:
            await bench.step()
    await bench.drain()
    bench.check()
    await bench.check_counters()


@cocotb.test()
async def many_decisions_in_a_row(dut: Any) -> None:
    """Messages wait behind four slow ones; then one is decided in each cycle while others become whole. None is lost,
    and each counts. Counters that are read meanwhile are those of the read.
    """
    bench = Bench(dut, 10)
    await bench.start()
    slow = chain(120)
    slow.starts[2] = decide(0)
    await bench.use([slow, always(number=4)])
    for i in range(4):
        bench.send(0, Frame(Packet(tlv(1, b"a" * 120), msg_id=i, mtype=1).frame()))
    for port, app_id in ((0, 1), (1, 2)):
        for i in range(300):
            bench.send(port, Frame(Packet(b"short", msg_id=100 + i, app_id=app_id, mtype=2).frame()))
    for number in (8190, 8191):
        await bench.write(regs.L7_BLOCK_HITS + 4 * number, number)
    while not bench.decided or any(port.waiting for port in bench.ports):
        number = bench.rng.choice((8190, 8191))
        assert await bench.count(regs.L7_BLOCK_HITS + 4 * number) == number
    await bench.drain()
    apart = [later - earlier for earlier, later in itertools.pairwise(bench.decided)]
    assert apart.count(1) > 130
    for app in range(2):
        accepted, delivered, waiting = await counters(bench, app, "PACKETS", "DELIVERED", "MESSAGES")
        assert accepted == delivered > 130 and waiting == 0
        counted = [await bench.hits(number) for number in ((0, 1), (4,))[app]]
        assert sum(counted) == delivered, counted


@cocotb.test()
async def a_row_waits_for_a_matcher(dut: Any) -> None:
    """Rows are written while the second matcher waits for a field that has not come: they wait for it, and none is
    lost.
    """
    bench = Bench(dut, 11)
    await bench.start()
    deep = Rules([at_field(4000, 1)] * 16, {4000: Row((), decide(8000))}, {8000: TO_HOST})
    await bench.use([always(), deep])
    await bench.write(bench.app(1, "MATCHERS"), 0b0010)
    value = bytes(range(100, 200))
    others = {4001 + i: Row((exactly(value[i : i + 1], decide(8001 + i)),), decide(8000)) for i in range(8)}
    new = Rules([at_field(4001, 1)] * 16, others, {8000 + i: (1, 100 + i, 0) for i in range(9)})
    for i in range(8):
        new.starts[i] = at_field(4001 + i, 1, i)
    for turn in range(3):
        bench.send_packet(0, Packet(2 * tlv(2, bytes(62)) + tlv(1, value), msg_id=turn, app_id=2))
        # Four beats of five come; then the port pauses.
        bench.into[0] = 1.0
        while bench.ports[0].at < 4:
            await bench.step()
        bench.into[0] = 0.0
        await bench.run(40)
        for i, word in enumerate(others[4001 + 2 * turn].words()):
            await bench.write(regs.L7_BLOCK_ROW_WORDS + 4 * i, word)
        await bench.write(regs.L7_BLOCK_ROW, 4001 + 2 * turn)
        begin = bench.cycle
        bench.into[0] = 0.05
        for i, word in enumerate(others[4002 + 2 * turn].words()):
            await bench.write(regs.L7_BLOCK_ROW_WORDS + 4 * i, word)
            if i == 0:
                # This write has waited for the port.
                assert bench.cycle - begin > 12, bench.cycle - begin
        await bench.write(regs.L7_BLOCK_ROW, 4002 + 2 * turn)
        bench.into[0] = 1.0
        await bench.drain()
    bench.check()
    for number in (4007, 4008):
        for i, word in enumerate(others[number].words()):
            await bench.write(regs.L7_BLOCK_ROW_WORDS + 4 * i, word)
        await bench.write(regs.L7_BLOCK_ROW, number)
    await bench.use([always(), Rules(new.starts, {}, new.decisions)])
    assert bench.model is not None
    bench.model.rules[1] = new
    for mask in (0b0001, 0b0010, 0b0100, 0b1000):
        await bench.write(bench.app(1, "MATCHERS"), mask)
        for i in range(1, 8):
            bench.send_packet(0, Packet(tlv(1, value), msg_id=i, app_id=2, mtype=i))
        await bench.drain()
    bench.check()
    assert await bench.hits(8001) == 0 and all([await bench.hits(8001 + i) == 4 for i in range(1, 8)])


@cocotb.test()
async def registers(dut: Any) -> None:
    """The registers that can be read and written, and those that answer with an error."""
    bench = Bench(dut, 9)
    await bench.start()
    assert await bench.access(regs.L7_BLOCK_SHAPE) == 4096 << 16 | 4 << 8 | 2
    assert await bench.access(regs.L7_BLOCK_LIMITS) == 2048 << 16 | 512
    assert await bench.access(regs.L7_BLOCK_TIMEOUT) == 976563
    for app in range(2):
        got = await counters(bench, app, "BANK", "OLD", "MATCHERS", "PAGES_MAX", "MESSAGES_MAX", "PAGES", "MESSAGES")
        assert got == [0, 0, 15, 1024, 256, 0, 0]
        assert await counters(bench, app, "PROTOCOL") == [0]
        await bench.write(bench.app(app, "PROTOCOL"), 2 - app)
        assert await counters(bench, app, "PROTOCOL") == [2 - app]
        for i, name in enumerate(("MATCHERS", "PAGES_MAX", "MESSAGES_MAX")):
            await bench.write(bench.app(app, name), 5 + i + app)
        assert await counters(bench, app, "MATCHERS", "PAGES_MAX", "MESSAGES_MAX") == [5 + app, 6 + app, 7 + app]
    for i in range(8):
        await bench.write(regs.L7_BLOCK_FILTER + 4 * i, 0x12345678 + i)
    assert [await bench.access(regs.L7_BLOCK_FILTER + 4 * i) for i in range(8)] == [0x12345678 + i for i in range(8)]
    # Each counter is its own, to the last one.
    numbers = (0, 1, 255, 256, 4095, 4096, 8191)
    for number in numbers:
        await bench.write(regs.L7_BLOCK_HITS + 4 * number, 77 + number)
    assert [await bench.count(regs.L7_BLOCK_HITS + 4 * number) for number in numbers] == [77 + n for n in numbers]
    assert await bench.access(regs.L7_BLOCK_CARD) == 0
    for addr in (
        0x1C,
        0x40,
        0x14C,
        0x200,
        0x1000 + 4 * 46,
        0x2200,
        0x4000,
        0xFF_FFFC,
        regs.L7_BLOCK_ROW,
        regs.L7_BLOCK_STARTS,
        0x800,
        0xFFFC,
        regs.L7_BLOCK_DECISIONS,
        0x20000,
    ):
        assert await bench.access(addr) == -1, hex(addr)
    for addr in (
        0,
        4,
        0x10,
        0x14,
        0x18,
        0x40,
        0x104,
        0x114,
        0x120,
        0x144,
        0x148,
        0x14C,
        0x10B8,
        0x2200,
        0x4008,
        0x800,
        0xFFFC,
        0x20000,
    ):
        assert await bench.access(addr, 1) == -1, hex(addr)


def test_l7_limits() -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, plusargs=PLUSARGS)
