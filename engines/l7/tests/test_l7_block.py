# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The l7 block beside its model: random rules, messages cut into packets, reordered, repeated, from senders with equal
numbers.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from l7_bench import PLUSARGS, SOURCES, Bench, cut, tlv
from l7_machine import Alternative, Branch, Packet, Row, Rules, Skip, at_field, decide, exactly
from penstock import regs
from penstock.hdl import simulate

LETTERS = b"ab/."
TO_HOST = (1, 0, 0)


def always(decision: tuple[int, int, int] = TO_HOST, number: int = 0) -> Rules:
    """Rules without a step: each message gets this decision."""
    return Rules([decide(number)] * 16, {}, {number: decision})


def chain(steps: int, base: int = 0, number: int = 0, last: tuple[int, int, int] = TO_HOST) -> Rules:
    """Rules that compare `steps` letters `a` of field 1, one after the other; decision `number` if all are there, the
    next one if not.
    """
    rows = {}
    for i in range(steps):
        branch = Branch(base + i + 1) if i + 1 < steps else decide(number)
        rows[base + i] = Row((exactly(b"a", branch),), decide(number + 1))
    return Rules([at_field(base, 1)] * 16, rows, {number: last, number + 1: (1, 999, 0)})


def random_rules(rng: random.Random, base: int, decisions: int) -> Rules:
    """Rules as no compiler writes them: any skip, any match, branches to later rows only."""
    size = 40

    def branch(row: int) -> Branch:
        if row >= size or rng.random() < 0.12:
            return decide(decisions + rng.randrange(8))
        to = base + rng.randrange(row, min(size, row + 12))
        kind = rng.choice([Skip.BYTES, Skip.UNTIL, Skip.UNTIL, Skip.FIELD, Skip.FIELD])
        if rng.random() < 0.02:
            kind = Skip.NEVER
        few = rng.choice([0, 0, 0, 1, 2, 40])
        operand = {
            Skip.BYTES: few,
            Skip.UNTIL: rng.choice([1 << 3, 1 << 3 | 1 << 15, rng.getrandbits(16)]),
            Skip.FIELD: rng.choice([1, 1, 1, 2, 2, 3, 15, 0]) | few << 8,
            Skip.NEVER: 0,
        }[kind]
        return Branch(to, False, kind, operand)

    def alternative(row: int) -> Alternative:
        length = rng.choice([0, 1, 1, 1, 2, 2, 3, 8, 32])
        value = bytes(rng.choice(LETTERS) for _ in range(length))
        at_end = rng.random() < 0.1
        if length in (1, 2, 3, 8) and rng.random() < 0.3:
            other = bytes(rng.choice(LETTERS) for _ in range(length))
            low, high = sorted((value, other))
            both = low.ljust(8, b"\0") + high.ljust(8, b"\0")
            return Alternative(both, (1 << length) - 1, length, at_end, True, branch(row))
        mask = (1 << length) - 1
        if length > 3:
            mask = 1 << rng.randrange(length) | 1 << rng.randrange(length)
        return Alternative(value, mask, length, at_end, False, branch(row))

    rows = {}
    for row in range(size):
        alternatives = tuple(alternative(row + 1) for _ in range(rng.choice([1, 2, 3, 4, 4])))
        bits = rng.randrange(3)
        # A hash row leads to rows behind it; the last ones stay in the program by their misses.
        hashes = rng.random() < 0.2 and row + (1 << bits) < size
        rows[base + row] = Row(
            alternatives, branch(row + 1), rng.choice([0, 1, 2, 5, 32]), base + row + 1, bits, hashes
        )
    starts = [branch(0) if i else decide(decisions) for i in range(16)]
    kinds = [(1, 5, 0), (1, 8, 3), (2, 0, 0), (2, 1, 2), (3, 77, 0), (3, 0, 15), (0, 0, 0), (2, 255, 1)]
    classes = bytearray(rng.randrange(16) for _ in range(256))
    classes[ord("/")] = 3
    return Rules(starts, rows, {decisions + i: kind for i, kind in enumerate(kinds)}, bytes(classes))


def random_payload(rng: random.Random) -> bytes:
    """TLVs with letters of the rules, and sometimes lengths that lie."""
    payload = b""
    for _ in range(rng.randint(1, 6)):
        value = bytes(rng.choice(LETTERS) for _ in range(rng.choice([0, 1, 3, 8, 20, 40, 100, 200])))
        field = tlv(rng.choice([1, 1, 2, 2, 3, 15, 16, 0, 200]), value)
        if rng.random() < 0.05:
            field = field[:1] + bytes([rng.getrandbits(8)]) + field[2:]
        payload += field
    return payload


def random_message(rng: random.Random, number: int) -> list[Packet]:
    payload = random_payload(rng)
    count = min(rng.choice([1, 1, 1, 2, 3, 5]), len(payload))
    if rng.random() < 0.05:
        payload = (payload + rng.randbytes(2000))[: rng.choice([600, 2000])]
        count = rng.choice([1, 2, 32])
    where = rng.choice([(7000, 1, 0), (7001, 1, 3), (7000, 2, 0), (53, 2, 0)])
    common: dict[str, Any] = {
        "dport": where[0],
        "app_id": where[1],
        "tenant": where[2],
        "mtype": rng.choice([1, 2, 15, 16, 0, 255]),
        "msg_id": number // 4,  # four messages of a number, of different senders
        "sender": 1 + number % 4,
        "sport": rng.choice([1000, 1001]),
        "segments": rng.choice([0, 0, 0, 1, 2, 4, 9]),
        "v6": rng.random() < 0.4,
        "vlan": rng.choice([None, 100]),
        "hash": rng.getrandbits(32),
    }
    return [
        Packet(part, count=count, number=i, behind=rng.choice([b"", b"", b"behind"]), **common)
        for i, part in enumerate(cut(rng, payload, count))
    ]


@cocotb.test()
async def straight_frames(dut: Any) -> None:
    """Frames that are no packets of messages leave as they came and in order, whatever they look like."""
    bench = Bench(dut, 1)
    await bench.start()
    await bench.use([always(), always(number=1)])
    rng = bench.rng
    for rate in (1.0, 0.6):
        bench.into, bench.out = [1.0, rate], [rate, 1.0]
        for i in range(150):
            bench.send_straight(
                i % 2, rng.randbytes(rng.choice([14, 60, 64, 65, 80, 81, 128, 129, rng.randint(14, 1518)])), i % 3
            )
        bench.send_straight(0, rng.randbytes(16384))
        near: list[Packet] = [
            Packet(b"x", dport=7002),
            Packet(b"x", app_id=3),
            Packet(b"x", tenant=1),
            Packet(b"x", flag=1),
            Packet(b"x" * 200, flag=1, v6=True, vlan=5),
        ]
        for packet in near:
            assert bench.send_packet(0, packet) == "straight"
        good = Packet(b"\x01\x01a" * 10).frame()
        for at, byte in ((12, 0x09), (14, 0x46), (20, 0x20), (21, 0x01), (23, 6)):
            # Type, IP header with options, more fragments, fragment offset, TCP
            bench.send_straight(1, good[:at] + bytes([byte]) + good[at + 1 :])
        for size in (40, 41, 42, 50, 63):
            bench.send_straight(1, good[:size])
        await bench.drain()
        bench.check()
    assert bench.events == {"made": 0, "absorbed": 0, "dropped": 0}


@cocotb.test()
async def random_messages(dut: Any) -> None:
    """Any rules, any messages, gaps everywhere; all that the model has, and its counters."""
    await random_traffic(dut)


async def random_traffic(dut: Any, in_card: bool = False) -> None:
    for seed in range(3):
        bench = Bench(dut, seed, in_card)
        await bench.start()
        rng = bench.rng
        await bench.use([random_rules(rng, 0, 0), random_rules(rng, 4000, 8184)])
        for turn, rates in enumerate(((1.0, 1.0), (0.8, 0.5), (0.3, 1.0))):
            bench.into, bench.out = [rates[0]] * 2, [rates[1]] * 2
            packets: list[Packet] = []
            for number in range(80):
                message = random_message(rng, 1000 * turn + number)
                if rng.random() < 0.3:
                    message.append(rng.choice(message))
                packets += message
            # Packets move by up to twelve places.
            order = sorted(range(len(packets)), key=lambda i: i + rng.random() * 12)
            ports = {}
            for i in order:
                packet = packets[i]
                flow = (packet.sender, packet.sport, packet.v6, packet.vlan, packet.dport)
                bench.send_packet(ports.setdefault(flow, rng.randrange(2)), packet)
                if rng.random() < 0.1:
                    bench.send_straight(rng.randrange(2), rng.randbytes(rng.randint(14, 200)))
                # Few enough to find room in the window queues
                while sum(len(port.waiting) for port in bench.ports) > 4:
                    await bench.step()
            await bench.drain()
            bench.check()
            await bench.check_counters()
        assert bench.model is not None
        for number in (*range(8), *range(8184, 8192)):
            told = sum(counts.get(f"hit {number}", 0) for counts in bench.model.counts)
            assert await bench.hits(number) == told
        assert max(bench.model.steps) >= 6, "the rules are too simple to try anything"


@cocotb.test()
async def cycles_of_a_decision(dut: Any) -> None:
    """9 + 2N cycles from the first beat of a message to its decision, with N steps."""
    bench = Bench(dut, 5)
    await bench.start()
    for steps in range(9):
        rules = chain(steps) if steps else always()
        await bench.use([rules, always(number=9)])
        for v6, vlan in ((False, None), (True, None), (False, 7), (True, 7)):
            packet = Packet((tlv(1, b"a" * 20)).ljust(40, b"\0"), v6=v6, vlan=vlan)
            bench.decided.clear()
            bench.entered.clear()
            bench.send_packet(0, packet)
            await bench.drain()
            assert len(bench.decided) == 1
            assert bench.decided[0] - bench.entered[0] == 9 + 2 * steps, (steps, v6, vlan)
            assert await bench.access(regs.L7_BLOCK_CYCLES) == 9 + 2 * steps
            # Two in a row: only the first one found the block idle.
            for number in range(2):
                bench.send_packet(1, Packet(tlv(1, b"a" * 20), msg_id=2 + number))
            bench.send_straight(1, bytes(80))
            await bench.drain()
            assert await bench.access(regs.L7_BLOCK_CYCLES) == 9 + 2 * steps
        bench.check()


@cocotb.test()
async def a_field_in_further_beats(dut: Any) -> None:
    """A field that ends in the window's second beat costs no cycle, and each further beat costs one."""
    bench = Bench(dut, 7)
    await bench.start()
    await bench.use([chain(4), always(number=9)])
    for number, (size, more) in enumerate([(62, 0), (63, 0), (126, 0), (127, 1), (190, 1), (191, 2), (254, 2)]):
        bench.decided.clear()
        bench.entered.clear()
        bench.send_packet(0, Packet(tlv(1, b"a" * size), msg_id=number))
        await bench.drain()
        assert bench.decided[0] - bench.entered[0] == 9 + 2 * 4 + more, (size, bench.decided, bench.entered)
    bench.check()


@cocotb.test()
async def a_field_behind_others(dut: Any) -> None:
    """The first step waits a cycle for each field ahead of its own. The second step finds the next field there."""
    bench = Bench(dut, 8)
    await bench.start()
    steps = chain(4)
    number = 0

    async def cycles(rules: Rules, payload: bytes) -> int:
        nonlocal number
        number += 1
        await bench.use([rules, always(number=9)])
        bench.decided.clear()
        bench.entered.clear()
        bench.send_packet(0, Packet(payload, msg_id=number))
        await bench.drain()
        return bench.decided[0] - bench.entered[0]

    for field in range(1, 7):
        ahead = b"".join(tlv(n, b"b" * n) for n in range(1, field))
        rules = replace(steps, starts=[at_field(0, field)] * 16)
        assert await cycles(rules, ahead + tlv(field, b"a" * 20)) == 9 + 2 * 4 + field - 1, field
    rows = {0: Row((exactly(b"a", at_field(1, 2)),), decide(1)), 1: Row((exactly(b"b", decide(0)),), decide(1))}
    rules = Rules([at_field(0, 1)] * 16, rows, {0: (1, 5, 0), 1: (1, 999, 0)})
    for size in (1, 2, 5, 60, 61, 62):
        assert await cycles(rules, tlv(1, b"a" * size) + tlv(2, b"b")) == 9 + 2 * 2, size
    bench.check()


@cocotb.test()
async def misses_in_a_row(dut: Any) -> None:
    """A miss begins again at the place in front of its step, also behind another miss."""
    bench = Bench(dut, 9)
    await bench.start()
    nothing = exactly(b"zz", decide(2))

    def ahead(row: int, count: int) -> Branch:
        return Branch(row, kind=Skip.BYTES, operand=count)

    rows = {
        0: Row((exactly(b"ab", ahead(1, 5)),), decide(2)),
        1: Row((nothing,), ahead(2, 7)),
        2: Row((nothing,), ahead(3, 4)),
        3: Row((exactly(b"g", decide(0)), exactly(b"n", decide(1))), decide(2)),
    }
    rules = Rules([at_field(0, 1)] * 16, rows, {0: (1, 5, 0), 1: (1, 6, 0), 2: (1, 999, 0)})
    await bench.use([rules, always(number=9)])
    bench.send_packet(0, Packet(tlv(1, b"abcdefghijklmnopqrstuvwxyz")))
    await bench.drain()
    assert bench.model is not None and bench.model.counts[0]["hit 0"] == 1
    bench.check()


@cocotb.test()
async def until_across_the_window(dut: Any) -> None:
    """The byte that a skip looks for is anywhere in the field, also several times 64 bytes on; behind the field it does
    not count.
    """
    bench = Bench(dut, 6)
    await bench.start()
    classes = bytearray(256)
    classes[ord("/")] = 3
    rows = {
        0: Row((exactly(b"a", Branch(1, False, Skip.UNTIL, 1 << 3)),), decide(2)),
        1: Row((exactly(b"b", decide(0)),), decide(1)),
    }
    rules = Rules([at_field(0, 1)] * 16, rows, {0: (1, 10, 0), 1: (1, 11, 0), 2: (1, 12, 0)}, bytes(classes))
    await bench.use([rules, always(number=64)])
    for at in (0, 1, 59, 60, 61, 62, 63, 64, 123, 124, 125, 126, 127, 180, 190, 200, 230, 240, 251):
        for size in (at, at + 1, at + 2):
            field = (b"a" * (at + 1) + b"/b")[: size + 1]
            payload = (tlv(1, field) + tlv(2, b"/b"))[:300]
            bench.send_packet(0, Packet(payload, msg_id=at, sender=1 + size - at))
            await bench.run(40)
    await bench.drain()
    bench.check()
    assert {frame.mark for frame in bench.left} == {10, 11}


def test_l7_block() -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem, plusargs=PLUSARGS)
