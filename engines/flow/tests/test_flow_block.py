# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A flow block in the card, with elements that obey commands in frames (flow_stage.sv in this folder) and one echo unit
behind it: the frames that leave, their ports and order, and the counters, against a model in Scapy.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "shell/tests"))

from card_bench import HOST, AxiError, CardBench, regs
from penstock.hdl import simulate
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

ELEMENTS = 2
CHAIN, BLOCK = 0x4400_1000, 0x4500_0000  # registers of the chain and of the block
COUNTERS = CHAIN + regs.INLINE_BLOCK_BASE
ALL, ELEMENT, STRIDE = (
    0x4508_0000,
    0x4510_0000,
    0x10_0000,
)  # windows of all elements, of the first, and from one to the next
SHARE, TAKEN, TIME, EDITION = 0, 4, 8, 12  # registers of an element
NOTHING, DROP, TO_HOST, TO_PORT, PUSH, TTL, PASS_BY, META, META_TTL, META_PORT, POP, META_EDITION, SAME_EDITION = range(
    13
)
UNITS, BLOCKED, REFUSED, OVERSIZE = "units", "blocked", "refused", "oversize"
# Destinations of port numbers: the units' numbers for host, loopback, Ethernet 0 and Ethernet 2 are not ports of a card
# of two.
PORTS = {0: 0, 1: 1, 2: REFUSED, 3: REFUSED, 8: REFUSED, 10: REFUSED}
LONGEST = 16384


def does(op: int, value: int = 0) -> int:
    return op << 4 | value


def frame(bench: CardBench, number: int, ops: tuple[int, int], size: int, tags: int = 0, udp: bool = False) -> bytes:
    """Its destination address is its number, its source address the commands for the elements."""
    head = b"\x02" + number.to_bytes(5, "big") + bytes(ops) + bench.rng.randbytes(4)
    head += b"".join(b"\x81\x00\x00" + bytes([0x40 + tag]) for tag in range(tags))
    if not udp:
        return head + b"\x88\xb5" + bench.rng.randbytes(size - len(head) - 2)
    rest = bench.rng.randbytes(size - len(head) - 30)
    packet = IP(src="10.0.0.1", dst="10.0.0.2", ttl=64) / UDP(sport=7, dport=number & 0xFFFF) / rest
    return head + b"\x08\x00" + bytes(packet)


def outcome(data: bytes) -> tuple[Any, bytes]:
    """The elements' verdict for a frame, and its bytes."""
    following, meta, to = 0, 0, UNITS
    ops = data[6 : 6 + ELEMENTS]
    for number in range(ELEMENTS):
        if following != number:
            continue
        op, value = ops[number] >> 4, ops[number] & 15
        following = number + (2 if op == PASS_BY else 1)
        if op == META:
            meta = value
        elif op == PUSH:
            data = data[:12] + b"\x81\x00\x00" + bytes([value]) + data[12:]
        elif op == POP:
            data = data[:12] + data[16:]
        elif op in (TTL, META_TTL, META_PORT):
            packet = Ether(data)
            if op == META_PORT:
                packet[UDP].sport = meta
                del packet[UDP].chksum
            else:
                packet[IP].ttl = value if op == TTL else meta
                del packet[IP].chksum
            data = bytes(packet)
        elif op in (DROP, TO_HOST, TO_PORT, SAME_EDITION):
            to = BLOCKED if op == DROP else HOST if op == TO_HOST else PORTS[value]
            break
    if to not in (BLOCKED, REFUSED) and len(data) > LONGEST:
        to = OVERSIZE
    return to, data


@dataclass
class Traffic:
    """Sent frames, by number: source, destination, and bytes."""

    bench: CardBench

    def __post_init__(self) -> None:
        self.sent: list[tuple[int, Any, bytes]] = []

    def send(self, port: int, ops: tuple[int, int], size: int, tags: int = 0, udp: bool = False) -> None:
        data = frame(self.bench, len(self.sent), ops, size, tags, udp)
        self.sent.append((port, *outcome(data)))
        self.bench.send(port, data)

    def any(self, port: int) -> None:
        """A frame of any size, with which the elements do anything that they can."""
        rng = self.bench.rng
        tags, udp = rng.choice([0, 0, 1]), rng.random() < 0.6
        there, ops = tags, []
        for _ in range(ELEMENTS):
            can = [NOTHING, DROP, TO_HOST, TO_PORT, TO_PORT, PASS_BY, META]
            can += [PUSH] * (there < 2) + [POP] * (there > 0) + [TTL, META_TTL, META_PORT, META_PORT] * udp
            op = rng.choice(can)
            there += (op == PUSH) - (op == POP)
            ops.append(does(op, rng.choice([*PORTS]) if op == TO_PORT else rng.randrange(16)))
        least = (46 if udp else 14) + 4 * tags
        size = rng.choice([least, rng.randint(60, 84), rng.randint(60, 84), rng.randint(100, 300), 1500])
        self.send(port, (ops[0], ops[1]), max(size, least), tags, udp)

    def leave(self) -> int:
        """Frames that are to leave."""
        return sum(to == UNITS or isinstance(to, int) for _, to, _ in self.sent)

    def count(self, what: str) -> int:
        return sum(to == what for _, to, _ in self.sent)

    def check(self) -> None:
        """Each frame that should leave has left once, at the right port and with the right bytes, and frames of one
        port on one way in their order.
        """
        left: Counter[int] = Counter()
        last: dict[tuple[int, Any, int], int] = {}
        for exit_, frames in self.bench.out.items():
            for out in frames:
                if out.src not in (0, 1):
                    continue
                number = int.from_bytes(out.data[1:6], "big")
                port, to, data = self.sent[number]
                assert out.src == port and out.data == data, f"frame {number}"
                assert exit_ == (port ^ 1 if to == UNITS else to), f"frame {number} left at {exit_}"
                assert last.get((port, to, exit_), -1) < number, f"frame {number} is late"
                last[port, to, exit_] = number
                left[number] += 1
        assert left == Counter(n for n, (_, to, _) in enumerate(self.sent) if to == UNITS or isinstance(to, int))


async def started(dut: Any) -> tuple[CardBench, Traffic]:
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    return bench, Traffic(bench)


@cocotb.test()
async def as_the_elements_say(dut: Any) -> None:
    """Frames of both ports with gaps, stalls and elements that are slow, and frames of the host, which the chain does
    not see.
    """
    bench, traffic = await started(dut)
    for idle, stall, *shares in ((0, 0, 256, 256), (0.3, 0.3, 256, 200), (0.1, 0.5, 60, 256), (0.4, 0.1, 256, 60)):
        bench.rx_idle, bench.tx_stall = idle, stall
        for element, share in enumerate(shares):
            await bench.write(ELEMENT + STRIDE * element + SHARE, share)
        for _ in range(100):
            for port in range(2):
                traffic.any(port)
        await bench.drained(traffic.leave())
    traffic.check()
    sent = len(traffic.sent)
    blocked, refused = traffic.count(BLOCKED), traffic.count(REFUSED)
    assert min(blocked, refused, traffic.count(UNITS), *(traffic.count(exit_) for exit_ in (0, 1, HOST))) > 20
    for name, value in (("FRAMES", sent), ("BLOCKED", blocked), ("REFUSED", 0), ("MADE", 0), ("ABSORBED", 0)):
        assert await bench.read(COUNTERS + getattr(regs, f"INLINE_BLOCK_{name}")) == value, name
    assert await bench.read(CHAIN + regs.INLINE_REFUSED) == refused
    assert await bench.read(CHAIN + regs.INLINE_BUSY) == 0
    for element in range(ELEMENTS):
        assert await bench.read(ELEMENT + STRIDE * element + TAKEN) == sent
    for exit_, frames in bench.out.items():
        assert await bench.counter(exit_, "TX_FRAMES") == len(frames)
        assert await bench.counter(exit_, "TX_BYTES") == sum(len(out.data) for out in frames)
    for port in range(2):
        assert await bench.counter(port, "RX_FRAMES") == sent // 2
        assert await bench.counter(port, "DROP_OVERSIZE") == await bench.counter(port, "DROP_OVERFLOW") == 0
    # The unit sends them round over loopback, then back.
    frames = [frame(bench, n, (does(DROP), does(DROP)), 100) for n in range(5)]
    for data in frames:
        bench.send(HOST, data)
    await bench.drained(traffic.leave() + len(frames))
    assert [out.data for out in bench.out[HOST][-5:]] == frames
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_FRAMES) == sent


@cocotb.test()
async def a_frame_a_cycle(dut: Any) -> None:
    """64 B back to back past the units: a port alone has all of the chain, two share it, and nothing waits that need
    not.
    """
    bench, traffic = await started(dut)
    bench.pause = False
    count = 500
    for _ in range(count):
        traffic.send(0, (does(NOTHING), does(TO_PORT, 1)), 64)
    await bench.drained(count)
    span = bench.out[1][-1].cycle - bench.out[1][0].cycle
    assert span <= 1.02 * count, f"{count} frames in {span} cycles"
    for _ in range(count):
        for port in range(2):
            traffic.send(port, (does(NOTHING), does(TO_PORT, port ^ 1)), 64)
    await bench.drained(3 * count)
    traffic.check()
    both = sorted(out.cycle for exit_ in range(2) for out in bench.out[exit_][-count:])
    dut._log.info(f"alone {count} frames in {span} cycles, together {2 * count} in {both[-1] - both[0]}")
    assert both[-1] - both[0] <= 1.02 * 2 * count
    shortest = min(out.cycle - bench.entry[1][n] for n, out in enumerate(bench.out[0]))
    dut._log.info(f"shortest way past the units: {shortest} cycles")
    for port in range(2):
        assert await bench.counter(port, "DROP_OVERFLOW") == 0


@cocotb.test()
async def an_exit_that_stands(dut: Any) -> None:
    """It holds up the port whose frames go there, not the other one; when it goes on, nothing is lost. Two ports share
    an exit evenly.
    """
    bench, traffic = await started(dut)
    bench.stall_ports = {1}
    for number in range(200):
        traffic.send(0, (does(TO_PORT, 1), 0), 300)
        traffic.send(1, (does(TO_PORT, 0) if number % 2 else does(TO_HOST), 0), 300)
    traffic.send(0, (does(TO_HOST), 0), LONGEST)
    await bench.drained(200)
    assert (len(bench.out[0]), len(bench.out[HOST])) == (100, 100)
    assert not bench.out[1]
    bench.stall_ports = set()
    await bench.drained(401)
    traffic.check()
    for _ in range(300):
        for port in range(2):
            traffic.send(port, (does(TO_HOST), 0), 128)
    await bench.drained(1001)
    traffic.check()
    first = Counter(out.src for out in bench.out[HOST][101:401])
    assert abs(first[0] - first[1]) < 10, first


@cocotb.test()
async def grown_too_long(dut: Any) -> None:
    """If a tag makes a frame longer than the maximum, the card drops it as oversize of its port; a frame that is
    dropped anyway is not counted twice.
    """
    bench, traffic = await started(dut)
    tag, drop = does(PUSH, 5), does(DROP)
    for size, ops in (
        (LONGEST, (tag, 0)),
        (LONGEST - 4, (tag, does(TO_PORT, 0))),
        (LONGEST, (tag, drop)),
        (LONGEST - 4, (tag, 0)),
    ):
        traffic.send(1, ops, size)
    traffic.send(1, (tag, tag), LONGEST - 4)
    await bench.drained(2)
    traffic.check()
    assert await bench.counter(1, "DROP_OVERSIZE") == 2 and await bench.counter(0, "DROP_OVERSIZE") == 0
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_BLOCKED) == 1
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_OVERSIZE) == 2


@cocotb.test()
async def all_elements_at_once(dut: Any) -> None:
    """Frames that meet one edition in the first element and another one in the second are dropped. With a write to both
    elements there are no such frames, whatever waits between the elements, and at line rate the waiting frames have
    room; with a write to each element there are many.
    """
    bench, traffic = await started(dut)
    bench.pause = False
    for shares in ((256, 256), (256, 100)):
        for element, share in enumerate(shares):
            await bench.write(ELEMENT + STRIDE * element + SHARE, share)
        for _ in range(600):
            traffic.send(0, (does(META_EDITION), does(SAME_EDITION, 1)), 250)
        for edition in range(20):
            before = await bench.read(COUNTERS + regs.INLINE_BLOCK_FRAMES)
            await bench.write(ALL + EDITION, edition)
            assert [await bench.read(ELEMENT + STRIDE * element + EDITION) for element in range(ELEMENTS)] == [
                edition
            ] * 2
        assert before < len(traffic.sent), "no frame was on its way"
        await bench.drained(traffic.leave())
    traffic.check()
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_BLOCKED) == 0
    assert await bench.counter(0, "DROP_OVERFLOW") == 0
    await bench.write(ELEMENT + STRIDE + SHARE, 100)
    for _ in range(100):
        bench.send(0, frame(bench, 0, (does(META_EDITION), does(SAME_EDITION, 1)), 60))
    await bench.clocks(150)
    for element in range(ELEMENTS):
        await bench.write(ELEMENT + STRIDE * element + EDITION, 100)
    await bench.clocks(1000)
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_BLOCKED) > 0


async def at_time(bench: CardBench, nanoseconds: int) -> None:
    await bench.write(CHAIN + regs.INLINE_TIME_H, nanoseconds >> 32)
    await bench.write(CHAIN + regs.INLINE_TIME_L, nanoseconds & 0xFFFFFFFF)


@cocotb.test()
async def windows(dut: Any) -> None:
    """The block's registers, an element's after them, and the clock that all elements read."""
    bench, traffic = await started(dut)
    assert await bench.read(BLOCK + regs.FLOW_BLOCK_ELEMENTS) == ELEMENTS
    assert await bench.read(BLOCK + regs.FLOW_BLOCK_CONTEXTS) == 1024

    async def refused(write: bool, address: int) -> None:
        try:
            await (bench.write(address, 1) if write else bench.read(address))
        except AxiError:
            return
        raise AssertionError(f"{'write to' if write else 'read of'} {address:#x} was accepted")

    for element in range(ELEMENTS):
        await bench.write(ELEMENT + STRIDE * element + SHARE, 200 + element)
    assert [await bench.read(ELEMENT + STRIDE * element + SHARE) for element in range(ELEMENTS)] == [200, 201]
    for address in (
        BLOCK + 0x8,
        BLOCK + 0x1000,
        ELEMENT + 0x10,
        ELEMENT + STRIDE * ELEMENTS,
        ALL + 0x10,
        BLOCK + 0xFF_FFFC,
    ):
        await refused(False, address)
        await refused(True, address)
    await refused(True, BLOCK + regs.FLOW_BLOCK_ELEMENTS)
    await refused(False, ALL + SHARE)
    await bench.write(ALL + SHARE, 256)
    assert [await bench.read(ELEMENT + STRIDE * element + SHARE) for element in range(ELEMENTS)] == [256, 256]
    await bench.write(CHAIN + regs.INLINE_HOLD, 1)
    # A frame directly after a leap sees the new time.
    for nanoseconds in (
        12_345_678,
        0,
        999,
        1000,
        (1 << 64) - 1,
        7 << 60,
        0xFFFF_FFFF,
        4_294_967_295_999,
        4_294_967_296_000,
    ):
        await at_time(bench, nanoseconds)
        traffic.send(0, (does(DROP), 0), 60)
        await bench.drained(0)
        times = [await bench.read(ELEMENT + STRIDE * element + TIME) for element in range(ELEMENTS)]
        assert times == [nanoseconds // 1000 & 0xFFFFFFFF] * 2, nanoseconds
    # Time goes on while a leap is computed, and does not drift.
    await bench.write(CHAIN + regs.INLINE_HOLD, 0)
    await at_time(bench, 5_000_000_990)
    for _ in range(20):
        await bench.clocks(bench.rng.randrange(300))
        low = await bench.read(CHAIN + regs.INLINE_TIME_L)
        before = await bench.read(CHAIN + regs.INLINE_TIME_H) << 32 | low
        traffic.send(0, (does(DROP), 0), 60)
        await bench.drained(0)
        found = await bench.read(ELEMENT + TIME)
        assert before // 1000 <= found <= before // 1000 + 1, (before, found)


def test_flow_block() -> None:
    flow = "engines/flow/rtl"
    block = ["flow_pkg", "flow_chain", "flow_frames", "flow_clock", "flow_regs", "flow_block"]
    simulate(
        "card_top",
        [
            "lib/rtl/rtl.f",
            "shell/tests/unit.sv",
            "lib/rtl/headers.f",
            "engines/flow/regs/flow_regs_pkg.sv",
            *(f"{flow}/{name}.sv" for name in block),
            "engines/flow/tests/flow_stage.sv",
            "engines/inline_block.sv",
            "shell/rtl/rtl.f",
        ],
        "test_flow_block",
        {"Ports": 2, "Units": 1, "IngressDepth": 1024, "Blocks": 1, "BlockEngine": 2, "BlockParam": ELEMENTS | 10 << 8},
    )
