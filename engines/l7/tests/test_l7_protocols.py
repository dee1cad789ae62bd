# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The l7 block with applications of DNS and memcached: random names and keys, and messages that lie."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from l7_bench import SOURCES, Bench, Frame
from l7_machine import Branch, Packet, Row, Rules, Skip, at_field, decide, exactly
from l7_protocols import COAP, DNS, MEMCACHED, QNP, QUIC, RADIUS, TYPES
from l7_wire import hostile_coap, hostile_memcached, hostile_radius, login, lying, quic, size, uri
from penstock import regs
from penstock.hdl import simulate
from test_l7_block import always, random_message, random_rules

LETTERS = "abAB-"


def name(rng: random.Random) -> bytes:
    """A name on the wire: labels, or what a liar takes for some."""
    wire = b""
    for _ in range(rng.choice([0, 1, 1, 2, 3, 3, 4, 31, 32, 33])):
        size = rng.choice([1, 1, 1, 2, 3, 20, 63])
        wire += bytes([size]) + "".join(rng.choice(LETTERS) for _ in range(size)).encode()
    end = b"\0"
    if rng.random() < 0.15:
        end = rng.choice(
            [b"\xc0\x0c", b"\xc0\x04", b"\xc0\x00", b"\xc0\x06", b"\xc0", b"\xff\xff", b"\x40a", b"\x80", b"\x3fa", b""]
        )
    return wire + end


def query(rng: random.Random) -> bytes:
    flags = rng.choice([b"\x01\0"] * 12 + [b"\x81\0", b"\x29\0", b"\0\0", b"\x07\xff"])
    count = rng.choice([b"\0\1"] * 12 + [b"\0\0", b"\0\2", b"\1\1"])
    payload = rng.randbytes(2) + flags + count + rng.choice([bytes(6), b"\0\0\0\0\0\1"])
    payload += name(rng) + bytes([0, rng.choice([1, 28, 65])]) + b"\0\1"
    return shortened(rng, payload + rng.choice([b"", bytes(11), rng.randbytes(200)]))


def request(rng: random.Random) -> bytes:
    word = rng.choice([word for words in TYPES.values() for word in words] + ["gat", "getx", "", "GET", "verylongword"])
    key = "".join(rng.choice("ab/.") for _ in range(rng.choice([0, 1, 3, 8, 20, 63, 64, 65, 100, 250, 251])))
    behind = rng.choice(["\r\n", " 0 0 1\r\nx\r\n", "\n", " b\r\n", ""])
    header = rng.randbytes(2) + rng.choice([b"\0\0\0\1"] * 9 + [b"\0\1\0\1", b"\0\0\0\2"]) + rng.randbytes(2)
    return shortened(rng, header + f"{word} {key}{behind}".encode())


def shortened(rng: random.Random, payload: bytes) -> bytes:
    return payload[: rng.randrange(1, len(payload))] if rng.random() < 0.1 else payload


def packet(rng: random.Random, at: int) -> Packet:
    protocol = rng.choice([DNS, MEMCACHED])
    return Packet(
        (query if protocol == DNS else request)(rng),
        dport=53 if protocol == DNS else 7000,
        plain=True,
        v6=rng.random() < 0.4,
        vlan=rng.choice([None, 100]),
        sender=1 + at % 5,
        hash=rng.getrandbits(32),
        behind=rng.choice([b"", b"", b"behind"]),
    )


async def undecided(bench: Bench, most: int) -> None:
    """Waits until at most so many messages have no decision: a window queue has room for them, and drops none."""
    assert bench.model is not None
    while len(bench.model.steps) - len(bench.decided) > most:
        await bench.step()


@cocotb.test()
async def names_and_keys(dut: Any) -> None:
    """Any rules over names, types and keys; bytes, verdicts and counters as in the model."""
    for seed in range(2):
        bench = Bench(dut, seed)
        await bench.start()
        rng = bench.rng
        await bench.use([random_rules(rng, 0, 0), random_rules(rng, 512, 64)], [MEMCACHED, DNS])
        for rates in ((1.0, 1.0), (0.6, 0.5)):
            bench.into, bench.out = [rates[0]] * 2, [rates[1]] * 2
            for at in range(250):
                bench.send_packet(rng.randrange(2), packet(rng, at))
                if rng.random() < 0.2:
                    bench.send_straight(rng.randrange(2), rng.randbytes(rng.randint(14, 200)))
                await undecided(bench, 8)
            await bench.drain()
            bench.check()
            await bench.check_counters()
        assert bench.model is not None
        assert {1, 2, 3} <= bench.model.types and max(bench.model.steps) >= 6


ID_BYTES = 8


def other(rng: random.Random, protocol: int) -> bytes:
    """A message of one of the other protocols, which may lie."""
    if protocol == COAP:
        return hostile_coap(rng)
    if protocol == RADIUS:
        return hostile_radius(rng)
    if protocol == MEMCACHED:
        return hostile_memcached(rng)
    return lying(rng, quic(rng, {"id": rng.randbytes(size(rng))}, ID_BYTES, rng.random() < 0.6))


@cocotb.test()
async def beside_each_other(dut: Any) -> None:
    """CoAP, RADIUS, QUIC and memcached's binary protocol in pairs, at both ports and in any shape of frame: bytes,
    verdicts and counters as in the model.
    """
    for seed, pair in enumerate([(COAP, RADIUS), (QUIC, COAP), (RADIUS, MEMCACHED), (DNS, QUIC)]):
        bench = Bench(dut, 20 + seed)
        await bench.start()
        rng = bench.rng
        words = [protocol | (ID_BYTES << 8 if protocol == QUIC else 0) for protocol in pair]
        await bench.use([random_rules(rng, 0, 0), random_rules(rng, 512, 64)], words)
        assert [await bench.counter(app, "PROTOCOL") for app in range(2)] == words
        bench.into, bench.out = [rng.choice([1.0, 0.6])] * 2, [rng.choice([1.0, 0.5])] * 2
        for at in range(200):
            app = rng.randrange(2)
            payload = query(rng) if pair[app] == DNS else other(rng, pair[app])
            sent = Packet(
                payload,
                dport=(7000, 53)[app],
                plain=True,
                v6=rng.random() < 0.4,
                vlan=rng.choice([None, 100]),
                sender=1 + at % 5,
                hash=rng.getrandbits(32),
                behind=rng.choice([b"", b"", b"behind"]),
            )
            bench.send_packet(rng.randrange(2), sent)
            if rng.random() < 0.2:
                bench.send_straight(rng.randrange(2), rng.randbytes(rng.randint(14, 200)))
            await undecided(bench, 4)
        await bench.drain()
        bench.check()
        await bench.check_counters()
        assert bench.model is not None
        assert {0, 1} <= bench.model.types and max(bench.model.steps) >= 3


@cocotb.test()
async def beside_qnp(dut: Any) -> None:
    """DNS beside QNP: a short datagram to the port of QNP is no packet, one to the port of DNS is."""
    bench = Bench(dut, 7)
    await bench.start()
    rng = bench.rng
    rows = [(7000, 1, 0, 0), (53, 0, 0, 1)]
    await bench.use([random_rules(rng, 0, 0), random_rules(rng, 512, 64)], [QNP, DNS], rows)
    for number in range(100):
        for part in random_message(rng, number):
            if (part.app_id, part.dport) == (1, 7000):
                bench.send_packet(part.sender % 2, part)
        bench.send_packet(rng.randrange(2), Packet(query(rng), dport=53, plain=True, vlan=rng.choice([None, 5])))
        short = Packet(b"x" * rng.randint(0, 21), dport=7000, plain=True).frame()
        bench.send_straight(0, short)
        while sum(len(port.waiting) for port in bench.ports) > 2:
            await bench.step()
    bench.send(0, Frame(Packet(b"", dport=53, plain=True).frame()))
    await bench.drain()
    bench.check()
    assert await bench.counter(1, "MALFORMED") == 1


@cocotb.test()
async def queues_in_turn(dut: Any) -> None:
    """One message after the other goes to the next queue of four; messages for a port leave there."""
    bench = Bench(dut, 9)
    await bench.start()
    await bench.use([always((1, 40, 16 + 2)), always((4, 3, 0), 64)])
    for number in range(11):
        bench.send_packet(0, Packet(b"x", msg_id=number))
        bench.send_packet(1, Packet(b"x", msg_id=number, app_id=2))
        await bench.run(60)
    bench.check()
    assert [frame.mark for frame in bench.left if frame.port == 0] == [40 + number % 4 for number in range(11)]


@cocotb.test()
async def delimiter_at_every_place(dut: Any) -> None:
    """A delimiter at each byte of keys and names, behind which the rules compare a byte: `until` finds it wherever the
    window has it.
    """
    bench = Bench(dut, 10)
    await bench.start()

    def behind(delimiter: str, row: int) -> Rules:
        """Field 1 up to the delimiter: decision `row` if `b` follows, the next one if another byte does."""
        classes = bytearray(256)
        classes[ord(delimiter)] = 15
        until = Branch(row + 1, False, Skip.UNTIL, 1 << 15)
        rows = {
            row: Row((exactly(b"", until),), decide(row % 256 + 2)),
            row + 1: Row((exactly(b"b", decide(row % 256)),), decide(row % 256 + 1)),
        }
        decisions = {row % 256 + i: (1, row + i, 0) for i in range(3)}
        return Rules([at_field(row, 1)] * 16, rows, decisions, bytes(classes))

    await bench.use([behind(":", 0), behind("-", 512 + 64)], [MEMCACHED, DNS])
    for at in range(240):
        follows = "b" if at % 3 else "c"
        key = "a" * at + ":" + follows
        bench.send_packet(0, Packet(f"\0\1\0\0\0\1\0\0get {key}\r\n".encode(), plain=True, msg_id=at))
        if at < 230:
            # Labels from the last to the first: one of the name's first 59 bytes or fewer, and whole ones behind it.
            letters = "a" * (at % 59) + "-" + follows
            sizes = [59] * (at // 59)
            labels = [letters] + ["a" * size for size in sizes]
            wire = b"".join(bytes([len(label)]) + label.encode() for label in labels)
            payload = b"\0\1\1\0\0\1" + bytes(6) + wire + b"\0\0\1\0\1"
            bench.send_packet(1, Packet(payload, dport=53, plain=True, msg_id=at))
        await undecided(bench, 8)
    await bench.drain()
    bench.check()
    await bench.check_counters()
    marks = {frame.mark & 0xFFFF for frame in bench.left}
    assert marks == {0, 1, 576, 577}, marks


@cocotb.test()
async def types_behind_pointers(dut: Any) -> None:
    """The type of a query stands behind its name, also if the name ends in a pointer; all of it must be there."""
    bench = Bench(dut, 11)
    await bench.start()
    by_type = {512: Row((exactly(b"\0\x1c", decide(65)),), decide(64))}
    rules = Rules([at_field(512, 2)] * 16, by_type, {64 + i: (1, 64 + i, 0) for i in range(2)})
    await bench.use([always(), rules], [QNP, DNS])
    for end in (b"\0", b"\xc0\x04", b"\xc0\x00"):  # the empty label, and pointers to one in the header
        for labels in (b"", b"\3www", b"\1a\1b"):
            for of_type in (1, 28):
                payload = b"\0\1\1\0\0\1" + bytes(6) + labels + end + bytes([0, of_type, 0, 1])
                for cut in (0, 1, 4):
                    bench.send_packet(0, Packet(payload[: len(payload) - cut], dport=53, plain=True))
                    await undecided(bench, 4)
    # A pointer to a label that ends behind the message, where bytes of the message before may still stand.
    before = b"\0\1\1\0\0\1" + bytes(6) + b"\1a\0\0\x1c\0\1" + bytes(200)
    liar = b"\x3f\1\1\0\0\1" + bytes(6) + b"\xc0\0\0\x1c\0\1"
    for payload in (before, liar, before, liar):
        bench.send_packet(0, Packet(payload, dport=53, plain=True))
        await undecided(bench, 0)
    await bench.drain()
    bench.check()
    assert Counter(out.mark & 0xFFFF for out in bench.expected) == {64: 47, 65: 11}


NAME = b"\0\1\1\0\0\1" + bytes(6) + b"\3www\7example\3com\0\0\1\0\1"
REQUEST = b"\0\1\0\0\0\1\0\0"
# Messages, and how many cycles later than a message of QNP they are decided (machine.md, "Cycles").
LATER = [
    (DNS, NAME, 10),
    (MEMCACHED, REQUEST + b"get user:7\r\n", 5),
    (MEMCACHED, REQUEST + b"\x80\0\0\1" + bytes(7) + b"\1" + bytes(12) + b"k", 4),
    (COAP, uri(b"a", b"b"), 11),
    (COAP, uri(), 6),
    (COAP, uri(b"a", b"b", host=b"h"), 14),
    (RADIUS, login((1, b"bob@b.example"), (4, b"x"), (32, b"ap")), 17),
    (RADIUS, login((80, bytes(16))), 6),
    (QUIC, b"\xc0\0\0\0\1\4abcd\0", 5),
    (QUIC, b"\xc0\0\0\0\1\0\0", 4),
    (QUIC, b"\x40abcdefgh", 4),
]


@cocotb.test()
async def cycles_beside_qnp(dut: Any) -> None:
    """The walkers' cycles, in the register CYCLES of an idle block."""
    bench = Bench(dut, 12)
    await bench.start()
    for protocol, payload, later in LATER:
        await bench.use(
            [always(), always(number=64)], [QNP, protocol | ID_BYTES << 8], [(7000, 1, 0, 0), (53, 0, 0, 1)]
        )
        cycles = []
        for packet_of in (Packet(b"x"), Packet(payload, dport=53, plain=True)):
            bench.send_packet(0, packet_of)
            await bench.drain()
            cycles.append(await bench.access(regs.L7_BLOCK_CYCLES))
        dut._log.info("%d cycles, %d for QNP: %s", cycles[1], cycles[0], payload)
        assert cycles[0] == 9 and cycles[1] - cycles[0] == later, (payload, cycles)


@cocotb.test()
async def rate_of_queries(dut: Any) -> None:
    """Queries for names of three labels, one port, as fast as they come."""
    bench = Bench(dut, 8)
    await bench.start()
    await bench.use([always(), always(number=64)], [QNP, DNS])
    bench.into[0] = 0.1
    for _ in range(200):
        bench.send_packet(0, Packet(NAME, dport=53, plain=True))
    await bench.drain()
    bench.check()
    made = [frame.cycle for frame in bench.left]
    cycles = (made[-1] - made[0]) / (len(made) - 1)
    dut._log.info("%.2f cycles a query, %.1f million a second", cycles, 250 / cycles)
    assert await bench.counter(1, "BUSY") == 0


def test_l7_protocols() -> None:
    simulate("l7_block_bench", SOURCES, Path(__file__).stem)
