# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The card with an echo unit (unit.sv in this folder) in the place of engines."""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, Combine, FallingEdge, First, ReadOnly, RisingEdge, Timer

sys.path.insert(0, str(Path(__file__).resolve().parent))

from card_bench import HOST, LOOPBACK, AxiError, CardBench, regs
from penstock.hdl import simulate
from toeplitz import flow_hash

PORT_LOOPBACK, PORT_HOST, PORT_UNIT = 3, 2, 0x40
TO_NEIGHBOUR, TO_FIRST_BYTE, DROP = 0, 1, 2  # modes of the echo unit
# pytest, which has no card, reads this file too.
CARD: Any = getattr(cocotb, "top", None)
full_rate = cocotb.skipif(
    CARD is not None and (int(CARD.Ports.value), int(CARD.Units.value)) != (2, 8),
    reason="the rates are those of two ports and two clusters",
)
RX_DROPS = ["DROP_OVERFLOW", "DROP_OVERSIZE", "DROP_RUNT", "DROP_DAMAGED", "DROP_DISABLED", "DROP_POLICY"]


def numbered(bench: CardBench, first: int, number: int, size: int) -> bytes:
    """A frame that is its own name: `first` is its first byte, then its number, then noise."""
    return bytes([first]) + number.to_bytes(4, "big") + bench.rng.randbytes(size - 5)


def udp(bench: CardBench, flow: int, number: int, size: int = 60) -> bytes:
    """IPv4 and UDP of flow `flow`; the number comes behind the headers."""
    ip = bytes([0x45, 0, 0, size - 14, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, flow >> 8, flow & 255, 10, 1, 2, 3])
    ports = (1000 + flow).to_bytes(2, "big") + (53).to_bytes(2, "big")
    head = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0" + ip + ports + bytes(4)
    return head + flow.to_bytes(2, "big") + number.to_bytes(4, "big") + bench.rng.randbytes(size - len(head) - 6)


async def expect_counters(bench: CardBench, stream: int, **values: int) -> None:
    for name, value in values.items():
        got = await bench.counter(stream, name)
        assert got == value, f"stream {stream} {name}: {got}, expected {value}"


async def expect_idle(bench: CardBench) -> None:
    """All slots are back, nothing waits."""
    for _ in range(20):
        if await bench.read(regs.CARD_UNITS_IDLE) == (1 << bench.units) - 1:
            break
    assert await bench.read(regs.CARD_UNITS_IDLE) == (1 << bench.units) - 1, "slots were lost"
    for u in range(bench.units):
        await bench.write(regs.CARD_SLOTS_UNIT, u)
        assert await bench.read(regs.CARD_SLOTS_FREE) == await bench.read(regs.CARD_SLOTS_TOTAL)


@cocotb.test()
async def forwards(dut: Any) -> None:
    """Random sizes on all ports, gaps and stalls, every policy in turn: all frames once and whole at the neighbour,
    counters right.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(policy=2)
    rng = bench.rng
    sent: dict[int, list[bytes]] = {p: [] for p in range(bench.ports)}
    for policy, idle, stall in ((0, 0.0, 0.0), (1, 0.3, 0.3), (2, 0.1, 0.6), (0, 0.6, 0.1)):
        await bench.write(regs.CARD_POLICY, policy)
        bench.rx_idle, bench.tx_stall = idle, stall
        for _ in range(60):
            for p in range(bench.ports):
                size = rng.choice([14, 60, 64, 65, 72, 80, 81, 127, 128, 129, 145, 512, 1500, rng.randrange(14, 2048)])
                sent[p].append(numbered(bench, p, len(sent[p]), size))
                bench.send(p, sent[p][-1])
        await bench.drained(sum(map(len, sent.values())))
    everywhere = {p: p ^ 1 if bench.ports > 1 else p for p in range(bench.ports)}
    for p, to in everywhere.items():
        assert Counter(f.data for f in bench.out[to]) == Counter(sent[p])
        for frame in bench.out[to]:
            assert frame.src == (p if p < 2 else 8 + p)
        octets = sum(map(len, sent[p]))
        await expect_counters(
            bench, p, RX_FRAMES=len(sent[p]), RX_BYTES=octets, RX_LEVEL=0, **dict.fromkeys(RX_DROPS, 0)
        )
        await expect_counters(bench, to, TX_FRAMES=len(sent[p]), TX_BYTES=octets)
        # Time of arrival: the cycle that the bench counted, up to the constant between the two clocks
        entry = [bench.entry[p][int.from_bytes(f.data[1:5], "big")] - f.timestamp for f in bench.out[to]]
        assert len(set(entry)) == 1, set(entry)
    await expect_idle(bench)


@cocotb.test()
async def counters_have_64_bits(dut: Any) -> None:
    """Counters that begin at FIRST_COUNT, just below 2^32, are read while frames pass: they never go back, and in the
    end they are exact.
    """
    first = int(os.environ.get("FIRST_COUNT", "0"))
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    frames = [numbered(bench, 0, number, 60 + number) for number in range(200)]
    for frame in frames:
        bench.send(0, frame)
    to = 1 if bench.ports > 1 else 0
    seen = [first]
    while bench.total() < len(frames):
        seen.append(await bench.counter(0, "RX_BYTES"))
    await bench.drained(len(frames))
    octets = sum(map(len, frames))
    assert seen == sorted(seen), "a count went back"
    assert len(set(seen)) > 10, "no read was among the frames"
    assert seen[-1] <= first + octets
    await expect_counters(bench, 0, RX_FRAMES=first + 200, RX_BYTES=first + octets, DROP_RUNT=first)
    await expect_counters(bench, to, TX_FRAMES=first + 200, TX_BYTES=first + octets)
    # The high word is that of the counter read last, not of the one that is read now.
    low = await bench.read(regs.CARD_STREAM_BASE + regs.CARD_STREAM_RX_LEVEL)
    assert low | await bench.read(regs.CARD_COUNT_H) << 32 == 0
    assert await bench.read(regs.CARD_HOST_READS) == first & 0xFFFFFFFF
    assert await bench.read(regs.CARD_COUNT_H) == first >> 32


async def send(dut: Any, channel: str, pause: Callable[[], int], values: Sequence[dict[str, int]]) -> None:
    """Gives all values to a channel of the AXI4-Lite port, one after the other, with pauses between them."""
    valid, ready = getattr(dut, f"s_axil_{channel}valid"), getattr(dut, f"s_axil_{channel}ready")
    for value in values:
        for _ in range(pause()):
            await RisingEdge(dut.clk)
        for name, number in value.items():
            getattr(dut, f"s_axil_{name}").value = number
        valid.value = 1
        taken = False
        while not taken:
            await ReadOnly()
            taken = bool(int(ready.value))
            await RisingEdge(dut.clk)
        valid.value = 0


async def take(dut: Any, channel: str, pause: Callable[[], int], count: int) -> list[tuple[int, int]]:
    """Takes `count` answers, each after a pause in which it must not change: response and data."""
    valid, ready = getattr(dut, f"s_axil_{channel}valid"), getattr(dut, f"s_axil_{channel}ready")
    answers: list[tuple[int, int]] = []
    ready.value = 0
    while len(answers) < count:
        await ReadOnly()
        waits = int(valid.value)
        answer = (int(getattr(dut, f"s_axil_{channel}resp").value), int(dut.s_axil_rdata.value))
        await RisingEdge(dut.clk)
        if not waits:
            continue
        for _ in range(pause()):
            await ReadOnly()
            again = (int(getattr(dut, f"s_axil_{channel}resp").value), int(dut.s_axil_rdata.value))
            assert int(valid.value) and (channel == "b" or again == answer), "an answer did not wait"
            await RisingEdge(dut.clk)
        ready.value = 1
        await RisingEdge(dut.clk)
        ready.value = 0
        answers.append(answer)
    return answers


@cocotb.test()
async def configuration_channels(dut: Any) -> None:
    """The AXI4-Lite port with a pace of its own on each channel: every write and every read is answered, addresses and
    data of writes in any order; and no valid reaches a ready within the cycle.
    """
    bench = CardBench(dut)
    await bench.start()
    valids = [getattr(dut, f"s_axil_{channel}valid") for channel in ("aw", "w", "ar")]
    readies = [getattr(dut, f"s_axil_{channel}ready") for channel in ("aw", "w", "ar")]
    await FallingEdge(dut.clk)
    ready_before = [int(ready.value) for ready in readies]
    for pattern in range(8):
        for bit, valid in enumerate(valids):
            valid.value = pattern >> bit & 1
        await Timer(1, "ps")
        assert [int(ready.value) for ready in readies] == ready_before, (
            f"valids {pattern:03b} change a ready within the cycle"
        )
    for valid in valids:
        valid.value = 0
    await RisingEdge(dut.clk)

    rng, count = bench.rng, 100
    at_once, soon, late = lambda: 0, lambda: rng.randrange(3), lambda: 10 + rng.randrange(30)
    before = 0
    # The addresses of writes come long before the words, long after them, and both orders mixed. Writes and reads that
    # always wait are served in turns.
    for address_pace, word_pace in [(at_once, late), (late, at_once), (soon, soon), (late, late), (at_once, at_once)]:
        in_turns = address_pace is word_pace is at_once
        words = [rng.randrange(1 << bench.units) for _ in range(count)]
        writes = cocotb.start_soon(take(dut, "b", at_once if in_turns else rng.choice([at_once, soon, late]), count))
        reads = cocotb.start_soon(take(dut, "r", at_once if in_turns else rng.choice([at_once, soon, late]), count))
        address = {"awaddr": regs.CARD_UNIT_WRITE_MASK}
        cocotb.start_soon(send(dut, "aw", address_pace, [address] * count))
        cocotb.start_soon(send(dut, "w", word_pace, [{"wdata": word, "wstrb": 0xF} for word in words]))
        pace = at_once if in_turns else rng.choice([at_once, soon, late])
        cocotb.start_soon(send(dut, "ar", pace, [{"araddr": regs.CARD_UNIT_WRITE_MASK}] * count))
        if in_turns:
            await First(writes, reads)
            await First(Combine(writes, reads), ClockCycles(dut.clk, 40))
        else:
            await First(Combine(writes, reads), ClockCycles(dut.clk, 100 * count))
        assert writes.done() and reads.done(), "accesses are not answered"
        assert {response for response, _ in writes.result() + reads.result()} == {0}
        # Reads find the values that were written before, in order; each turn lets one access of the other kind pass.
        rest = iter([before, *words])
        last = None
        for _, data in reads.result():
            assert data == last or data in rest, f"a read found {data:#x}"
            last = data
        before = words[-1]
        assert await bench.read(regs.CARD_UNIT_WRITE_MASK) == before


@full_rate
@cocotb.test()
async def small_frames_every_cycle(dut: Any) -> None:
    """64 B back to back on two ports, one frame a cycle each: nothing is dropped, and the way out keeps up."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(hold=4)
    bench.pause = False
    count = 1500
    for i in range(count):
        for p in range(2):
            bench.send(p, numbered(bench, p, i, 64))
    await bench.drained(2 * count)
    for p in range(2):
        frames = bench.out[p ^ 1]
        assert {int.from_bytes(f.data[1:5], "big") for f in frames} == set(range(count))
        span = frames[-1].cycle - frames[0].cycle
        first = min(f.cycle - bench.entry[p][int.from_bytes(f.data[1:5], "big")] for f in frames)
        dut._log.info(f"port {p}: {count} frames in {span} cycles, shortest way {first} cycles (4 of them in the unit)")
        assert span <= 1.05 * count
        await expect_counters(bench, p, RX_FRAMES=count, DROP_OVERFLOW=0)
    latency = min(f.cycle - bench.entry[1][int.from_bytes(f.data[1:5], "big")] for f in bench.out[0])
    assert latency <= 45


@full_rate
@cocotb.test()
async def folded_frames_every_cycle(dut: Any) -> None:
    """65 to 80 B back to back on one port, one frame a cycle, two beats each on the links of two clusters: nothing is
    dropped on the way.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(hold=4)
    bench.pause = False
    count = 1000
    sent = [numbered(bench, 0, i, 65 + i % 16) for i in range(count)]
    for frame in sent:
        bench.send(0, frame)
    await bench.drained(count)
    frames = bench.out[1]
    assert Counter(f.data for f in frames) == Counter(sent)
    span = frames[-1].cycle - frames[0].cycle
    dut._log.info(f"{count} frames in {span} cycles")
    assert span <= 1.05 * count
    await expect_counters(bench, 0, RX_FRAMES=count, DROP_OVERFLOW=0)


@full_rate
@cocotb.test()
async def jumbo_keeps_both_ports_busy(dut: Any) -> None:
    """9,000 B back to back: both ports send at more than line rate (141 beats in 180 cycles)."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(hold=100, slots=8, size=9216)
    for i in range(24):
        for p in range(2):
            bench.send(p, numbered(bench, p, i, 9000))
    await bench.drained(48, timeout=40_000)
    for p in range(2):
        frames = bench.out[p]
        span = frames[-1].cycle - frames[3].cycle
        dut._log.info(f"port {p}: {141 * (len(frames) - 4)} beats in {span} cycles")
        assert span <= 1.2 * 141 * (len(frames) - 4)


@cocotb.test()
async def drops_have_reasons(dut: Any) -> None:
    """Runts, damaged, too long, 64 KiB between small frames, disabled ports: counted by reason, and the neighbours get
    through.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    rng = bench.rng
    expected = Counter[str]()
    sent = []
    for i in range(120):
        kind = rng.choice(["good", "good", "DROP_RUNT", "DROP_DAMAGED", "DROP_OVERSIZE" if i % 15 == 0 else "good"])
        size = {"DROP_RUNT": rng.randrange(1, 14), "DROP_OVERSIZE": rng.choice([16385, 65536, 16448])}.get(
            kind, rng.randrange(14, 300)
        )
        if i == 60:
            size, kind = 16384, "good"
        frame = rng.randbytes(size) if size < 14 else numbered(bench, 0, i, size)
        bench.send(0, frame, damaged=kind == "DROP_DAMAGED")
        expected[kind] += 1
        if kind == "good":
            sent.append(frame)
    await bench.drained(len(sent), timeout=40_000)
    assert Counter(f.data for frames in bench.out.values() for f in frames) == Counter(sent)
    await expect_counters(
        bench, 0, **{**dict.fromkeys(RX_DROPS, 0), **{k: v for k, v in expected.items() if k != "good"}}
    )
    await expect_counters(bench, 0, RX_FRAMES=len(sent), RX_BYTES=sum(map(len, sent)))
    await bench.write(regs.CARD_PORT_ENABLE, 0)
    for i in range(10):
        bench.send(0, numbered(bench, 0, i, 100), damaged=i == 5)
    await bench.drained(len(sent))
    await expect_counters(bench, 0, DROP_DISABLED=10, DROP_DAMAGED=expected["DROP_DAMAGED"])
    await expect_idle(bench)


@cocotb.test()
async def overflow(dut: Any) -> None:
    """A MAC that does not wait, no unit to take the frames: whole frames are dropped, the others come later. With pause
    nothing is.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    await bench.write(regs.CARD_UNIT_ENABLE, 0)
    bench.pause = False
    sent = [numbered(bench, 0, i, bench.rng.randrange(500, 1500)) for i in range(200)]
    for frame in sent:
        bench.send(0, frame)
    while bench.queue[0]:
        await bench.clocks(50)
    await bench.clocks(50)
    dropped = await bench.counter(0, "DROP_OVERFLOW")
    assert 0 < dropped < 190 and bench.total() == 0
    assert await bench.counter(0, "RX_LEVEL") > 900
    bench.pause = True
    later = [numbered(bench, 0, 1000 + i, 1000) for i in range(50)]
    for frame in later:
        bench.send(0, frame)
    await bench.write(regs.CARD_UNIT_ENABLE, (1 << bench.units) - 1)
    await bench.drained(250 - dropped)
    names = Counter(f.data for frames in bench.out.values() for f in frames)
    assert max(names.values()) == 1 and set(later) <= set(names) <= set(sent) | set(later)
    await expect_counters(bench, 0, DROP_OVERFLOW=dropped, RX_FRAMES=250 - dropped)


@cocotb.test()
async def an_exit_that_takes_nothing(dut: Any) -> None:
    """A port, then the host, whose receiver takes nothing: frames to the others go on, those to it are dropped and
    counted, no slot is lost.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(mode=TO_FIRST_BYTE)
    await bench.write(regs.CARD_EXIT_TIMEOUT, 500)
    rng, others = bench.rng, bench.ports
    for stuck in (0, HOST):
        code, other = (2, 0) if stuck == HOST else (0, 2)
        before, other_exit = bench.total(), HOST if stuck == 0 else 0
        out = len(bench.out[other_exit])
        bench.stall_ports = {stuck}
        sent = 0
        for i in range(1200):
            size = rng.choice([64, 100, 700, 1500])
            bench.send(i % others, bytes([code if i % 2 else other]) + numbered(bench, 0, i, size)[1:])
            sent += 1
        for _ in range(600):
            await bench.clocks(50)
            if len(bench.out[other_exit]) == out + sent // 2:
                break
        assert len(bench.out[other_exit]) == out + sent // 2, "frames to a healthy exit are held"
        bench.stall_ports = set()
        await bench.clocks(6000)
        unsent = await bench.counter(stuck, "DROP_UNSENT")
        assert unsent > 0 and bench.total() - before + unsent == sent
    await expect_idle(bench)


@cocotb.test()
async def longer_than_a_slot(dut: Any) -> None:
    """Frames that do not fit the slot are counted drops at their stream; their slots are not lost."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(slots=2, size=1000)
    sent = []
    for i in range(150):
        size = bench.rng.choice([999, 1000, 1001, 1024, 5000, 64])
        frame = numbered(bench, 0, i, size)
        bench.send(i % bench.ports, frame)
        sent.append((i % bench.ports, frame))
    good = Counter(frame for _, frame in sent if len(frame) <= 1000)
    await bench.drained(sum(good.values()))
    assert Counter(f.data for frames in bench.out.values() for f in frames) == good
    for p in range(bench.ports):
        await expect_counters(bench, p, DROP_OVERSIZE=sum(1 for q, f in sent if q == p and len(f) > 1000))
    await expect_idle(bench)


@cocotb.test()
async def flow_hash_policies(dut: Any) -> None:
    """Each frame goes to the unit that RETA names for its flow; per flow the order stays. With policy 3 a full unit
    drops, counted.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(policy=2, hold=5, slots=4, size=2048)
    for i in range(regs.CARD_RETA_COUNT):
        await bench.write(regs.CARD_RETA + 4 * i, (i * 7 + 3) % bench.units)
        assert await bench.read(regs.CARD_RETA + 4 * i) == (i * 7 + 3) % bench.units
    per_unit = Counter[int]()
    for i in range(300):
        flow = bench.rng.randrange(20) * bench.ports
        frame = udp(bench, flow + i % bench.ports, i, bench.rng.choice([60, 64, 200]))
        per_unit[(flow_hash(frame) % 128 * 7 + 3) % bench.units] += 1
        bench.send(i % bench.ports, frame)
    await bench.drained(300)
    for u in range(bench.units):
        assert await bench.unit_read(u, 0x14) == per_unit[u]
    order: dict[bytes, list[int]] = defaultdict(list)
    for frames in bench.out.values():
        for f in frames:
            order[f.data[42:44]].append(int.from_bytes(f.data[44:48], "big"))
    assert all(numbers == sorted(numbers) for numbers in order.values())
    # Full units: 4 slots each, nothing leaves for 2,000 cycles
    await bench.unit_write((1 << bench.units) - 1, 0, 2000)
    await bench.write(regs.CARD_POLICY, 3)
    for i in range(200):
        bench.send(0, udp(bench, i, i))
    await bench.clocks(800)
    dropped = await bench.counter(0, "DROP_POLICY")
    await bench.drained(500 - dropped)
    assert dropped >= 200 - 4 * bench.units - 5
    assert await bench.counter(0, "DROP_POLICY") == dropped
    await expect_idle(bench)


@cocotb.test()
async def host_and_loopback(dut: Any) -> None:
    """Host to unit to port, port to host, unit to a certain unit, unit to any unit; destinations that do not exist
    swallow and wedge nothing.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(mode=TO_FIRST_BYTE, size=9216, slots=8)
    last = bench.units - 1
    rng = bench.rng
    bench.tx_stall = 0.2
    ports = [p if p < 2 else 8 + p for p in range(bench.ports)] + [8]
    if last:
        # The last unit gets frames over loopback only: it sends what came from there (3) to 3 ^ 1 = the host
        await bench.unit_write(1 << last, 0xC, TO_NEIGHBOUR)
        await bench.write(regs.CARD_POLICY, 2)
        for i in range(regs.CARD_RETA_COUNT):
            await bench.write(regs.CARD_RETA + 4 * i, i % last)
    want = Counter[tuple[int, int, bytes]]()
    looped = nowhere = 0
    for i in range(160):
        stream = rng.choice([*range(bench.ports), HOST])
        src = PORT_HOST if stream == HOST else stream if stream < 2 else 8 + stream
        kind = rng.choice(["port", "host", "unit", "nowhere"])
        size = rng.choice([60, 64, 65, 1500, 9000 if i % 40 == 0 else 128])
        if kind == "port":
            dst = rng.choice(ports)
            want[(dst if dst < 2 else dst - 8, src, frame := numbered(bench, dst, i, size))] += 1
        elif kind == "host":
            want[(HOST, src, frame := numbered(bench, PORT_HOST, i, size))] += 1
        elif kind == "unit" and last:
            want[(HOST, PORT_LOOPBACK, frame := numbered(bench, PORT_UNIT + last, i, size))] += 1
            looped += 1
        else:
            frame = numbered(bench, rng.choice([0x77, 0x0E, 0xFF]), i, size)
            nowhere += 1
        bench.send(stream, frame)
    await bench.drained(160 - nowhere, timeout=40_000)
    got = Counter((to, f.src, f.data) for to, frames in bench.out.items() for f in frames)
    assert got == want
    await expect_counters(bench, LOOPBACK, RX_FRAMES=looped, TX_FRAMES=looped, DROP_POLICY=0)
    if last:
        # To a unit that is disabled, or that has no slots: a drop by policy at the loopback
        await bench.write(regs.CARD_UNIT_ENABLE, (1 << last) - 1)
        for i in range(3):
            bench.send(0, numbered(bench, PORT_UNIT + last, i, 64))
        bench.send(0, numbered(bench, PORT_UNIT + 31 if bench.units < 32 else 0xFF, 4, 64))
        await bench.drained(160 - nowhere)
        await expect_counters(bench, LOOPBACK, DROP_POLICY=4 if bench.units < 32 else 3)
    await expect_idle(bench)


@full_rate
@cocotb.test()
async def stalled_destinations(dut: Any) -> None:
    """A port whose receiver takes nothing holds only the frames that go there."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(slots=16, hold=0, size=2048)
    bench.stall_ports = {1}
    for i in range(12):
        bench.send(0, numbered(bench, 0, i, 1500))
    for i in range(100):
        bench.send(1, numbered(bench, 1, i, 300))
    await bench.clocks(1200)
    assert len(bench.out[0]) == 100 and not bench.out[1]
    bench.stall_ports = set()
    await bench.drained(112)
    assert await bench.counter(1, "TX_STALLS") > 500


@cocotb.test()
async def drains_and_flushes(dut: Any) -> None:
    """Units are taken out and put back under traffic: nothing is lost; a flushed unit has no slots until it declares
    them again.
    """
    bench = CardBench(dut)
    await bench.start()
    await bench.boot(slots=4, size=2048)
    bench.rx_idle = 0.5
    everyone = (1 << bench.units) - 1
    for i in range(900):
        bench.send(i % bench.ports, numbered(bench, 0, i, bench.rng.choice([64, 128, 700])))
    for u in range(bench.units if bench.units > 1 else 0):
        await bench.write(regs.CARD_UNIT_ENABLE, everyone & ~(1 << u))
        for _ in range(100):
            if await bench.read(regs.CARD_UNITS_IDLE) >> u & 1:
                break
        else:
            raise AssertionError(f"unit {u} did not drain")
        before = await bench.unit_read(u, 0x14)
        await bench.write(regs.CARD_UNIT_FLUSH, 1 << u)
        await bench.write(regs.CARD_SLOTS_UNIT, u)
        assert await bench.read(regs.CARD_SLOTS_TOTAL) == 0
        await bench.write(regs.CARD_UNIT_ENABLE, everyone)
        await bench.clocks(60)
        assert await bench.unit_read(u, 0x14) == before, "a unit without slots got a frame"
        await bench.unit_write(1 << u, 0x4, 6)
        await bench.unit_write(1 << u, 0x10, 1)
        await bench.clocks(40)
        assert await bench.read(regs.CARD_SLOTS_TOTAL) == 6 and await bench.read(regs.CARD_SLOTS_SIZE) == 2048
        if u >= 3:
            break
    await bench.drained(900, timeout=40_000)
    assert max(Counter(f.data for frames in bench.out.values() for f in frames).values()) == 1
    await expect_idle(bench)


@cocotb.test()
async def registers(dut: Any) -> None:
    """Identity, read and write, and every kind of access that must be refused without hanging."""
    bench = CardBench(dut)
    await bench.start()
    assert await bench.read(regs.CARD_MAGIC) == 0x50454E53
    assert await bench.read(regs.CARD_PORTS) == bench.ports and await bench.read(regs.CARD_UNITS) == bench.units
    assert await bench.read(regs.CARD_MAX_FRAME) == 16384 and await bench.read(regs.CARD_INGRESS_BYTES) == 1024 * 128
    assert await bench.read(regs.CARD_UNIT_INGRESS) == 0xFFFFFFFF
    assert await bench.read(regs.CARD_EXIT_TIMEOUT) == 4096 and await bench.read(regs.CARD_UNIT_TIMEOUT) == 1 << 20
    for addr, mask in (
        (regs.CARD_UNIT_WRITE_MASK, 0xFFFFFFFF),
        (regs.CARD_UNIT_READ, 31),
        (regs.CARD_PORT_ENABLE, 15),
        (regs.CARD_UNIT_ENABLE, 0xFFFFFFFF),
        (regs.CARD_UNIT_INGRESS, 0xFFFFFFFF),
        (regs.CARD_EXIT_TIMEOUT, 0xFFFFFF),
        (regs.CARD_UNIT_TIMEOUT, 0xFFFFFF),
        (regs.CARD_SLOTS_UNIT, 31),
    ):
        for value in (0xA5A5A5A5, 0x5A5A5A5A, 0xFFFFFFFF):
            await bench.write(addr, value)
            assert await bench.read(addr) == value & mask
    first = await bench.read(regs.CARD_CYCLES_L)
    assert 0 < (await bench.read(regs.CARD_CYCLES_L)) - first < 50 and await bench.read(regs.CARD_CYCLES_H) == 0

    async def refused(write: bool, addr: int) -> None:
        try:
            await (bench.write(addr, 1) if write else bench.read(addr))
        except AxiError:
            return
        raise AssertionError(f"{'write to' if write else 'read of'} {addr:#x} was accepted")

    for addr in (
        0x2C,
        0x8C,
        0x100,
        0x1FC,
        0x438,
        0x580,
        0xFFC,
        0x1000,
        0x3FFFFFFC,
        0x44000000,
        0x45000000,
        0xFFFFFFFC,
        0x6,
    ):
        await refused(False, addr)
        await refused(True, addr)
    for addr in (regs.CARD_MAGIC, regs.CARD_UNITS_IDLE, regs.CARD_CYCLES_L, regs.CARD_STREAM_BASE):
        await refused(True, addr)
    await refused(False, regs.CARD_UNIT_FLUSH)
    # The unit window: broadcast, single, a unit's own error, no unit at all
    await bench.unit_write((1 << bench.units) - 1, 0, 77)
    await bench.unit_write(1, 0, 78)
    assert [await bench.unit_read(u, 0) for u in range(bench.units)] == [78] + [77] * (bench.units - 1)
    assert [await bench.unit_read(u, 0x18) for u in range(bench.units)] == list(range(bench.units))
    await refused(False, 0x40000100)
    await refused(True, 0x43FFFFFC)
    await bench.write(regs.CARD_UNIT_WRITE_MASK, 0)
    await refused(True, 0x40000000)
    if bench.units < 32:
        await bench.write(regs.CARD_UNIT_READ, 31)
        await refused(False, 0x40000018)
    assert await bench.unit_read(0, 0) == 78


def test_card_of_several_dies() -> None:
    """Links with stages, a number of their own for each kind: clusters 2, exits 3, broadcast 1, configuration 3."""
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "shell/rtl/rtl.f"],
        "test_card",
        {"Ports": 2, "Units": 5, "IngressDepth": 1024, "Stages": 0x2313},
    )


@pytest.mark.parametrize(("ports", "units"), [(2, 8), pytest.param(4, 5, marks=pytest.mark.long), (1, 1)])
def test_card(ports: int, units: int) -> None:
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "shell/rtl/rtl.f"],
        "test_card",
        {"Ports": ports, "Units": units, "IngressDepth": 1024},
    )


def test_counters_beyond_32_bits() -> None:
    first = (1 << 32) - 100  # frames go beyond 2^32 at the end, bytes at once
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "shell/rtl/rtl.f"],
        "test_card",
        {"Ports": 2, "Units": 8, "IngressDepth": 1024},
        testcase="counters_have_64_bits",
        env={"FIRST_COUNT": str(first)},
        plusargs=[f"+first_count={first}"],
    )
