# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The block of the ids engine against machine.md in plain Python (ids_machine.py), and against what the filter is for:
no occurrence of a string in a stream is missed, however the stream is cut.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, PadN
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from ids_bench import FOLLOW, IPS, LATE_DROPS, Bench, Refused  # noqa: E402
from ids_machine import Direction, Record, Tables, distinct, f, fold, hashes  # noqa: E402
from penstock import regs  # noqa: E402

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")  # so that Scapy asks no network for addresses
ATTACK = [b"attack99", b"evil", b"bad", b"wickedly", b"sh1t5"]


def frame(packet: Packet, least: int = 60) -> bytes:
    """The frame of a packet, padded with a string that the filter searches for."""
    data = bytes(packet)
    return data + (b"attack99evil" * 5)[: max(0, least - len(data))]


def tcp(
    payload: bytes = b"", seq: int = 0, flags: str = "A", port: int = 1000, back: bool = False, **more: Any
) -> Packet:
    """A segment of the flow with this port; `back`: of its other direction."""
    ends = ("10.0.0.1", "10.0.0.2") if not back else ("10.0.0.2", "10.0.0.1")
    ports = (port, 80) if not back else (80, port)
    return (
        ETHER
        / IP(src=ends[0], dst=ends[1])
        / TCP(sport=ports[0], dport=ports[1], seq=seq, flags=flags, **more)
        / Raw(payload)
    )


def udp(payload: bytes, port: int = 53) -> Packet:
    return ETHER / IP(src="10.0.0.3", dst="10.0.0.4") / UDP(sport=port, dport=port) / Raw(payload)


def ends_in(stream: bytes, keys: list[bytes], begin: int, end: int) -> set[int]:
    """The keys of which an occurrence in the stream has its last byte between these places."""
    folded = fold(stream)
    return {n for n, key in enumerate(keys) if folded.find(key, max(0, begin - len(key) + 1), end) >= 0}


def line_bits(record: Record) -> int:
    """The line's number as RELEASE and FOLLOW have it."""
    return record.line >> 16 << 27 | record.line & 0xFFFF


async def told_of(bench: Bench, packets: list[Packet], port: int = 0) -> list[Record | None]:
    """The host's records of these frames."""
    first = (await bench.read(regs.IDS_BLOCK_FRAMES + 4 * port)) & 0xFFFFFFFF
    for packet in packets:
        bench.send(port, frame(packet))
    await bench.drain()
    records = {record.number: record for record in await bench.all_told()}
    return [records.get(first + n) for n in range(len(packets))]


def words_of(records: list[Record | None]) -> list[set[str]]:
    return [record.reasons if record else set() for record in records]


@cocotb.test()
async def passes(dut: Any) -> None:
    """Before it is loaded, and in IDS mode, the block changes no frame and loses none."""
    bench = Bench(dut, 1)
    await bench.start()
    rng = bench.rng
    assert f(1) == 0xDD45AAB8 and hashes(b"abcdefgh") == (0x3C9A7A13, 0x86BC933D)
    for control in (None, 0):
        if control is not None:
            await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
        sent: list[list[bytes]] = [[], []]
        for port in bench.ports:
            port.left, port.into, port.out = [], 0.8, 0.7
        for n in range(150):
            for p in range(2):
                length = rng.choice([14, 60, 64, 65, 80, 81, 128, rng.randint(14, 1518)])
                data = rng.choice(
                    [
                        rng.randbytes(length),
                        frame(tcp(rng.randbytes(length), n, port=rng.randrange(20))),
                        frame(udp(b"Evil" * 30)),
                    ]
                )
                sent[p].append(data)
                bench.send(p, data, rng.getrandbits(32))
        sent[0].append(rng.randbytes(16384))
        bench.send(0, sent[0][-1])
        await bench.drain()
        assert [port.left for port in bench.ports] == sent
        assert bool(await bench.all_told()) == (control is not None)


@cocotb.test()
async def filter_is_exact(dut: Any) -> None:
    """Random keys of all lengths and payloads made of them: the ids are those of machine.md, on both lanes."""
    bench = Bench(dut, 2)
    await bench.start()
    rng = bench.rng
    letters = b"aAbBcC\x00\x20"
    keys = distinct(bytes(rng.choices(letters, k=rng.randint(3, 8))) for _ in range(120))
    keys += distinct(rng.randbytes(rng.randint(4, 8)) for _ in range(200))
    tables = Tables(distinct(keys), int(dut.EntriesLog2.value))
    await bench.load(tables)
    sent: list[list[bytes]] = [[], []]
    for _ in range(60):
        for p in range(2):
            parts = [
                rng.choice(
                    [rng.choice(keys).upper(), rng.randbytes(rng.randint(1, 90)), bytes(rng.choices(letters, k=6))]
                )
                for _ in range(rng.randint(1, 6))
            ]
            payload = b"".join(parts)
            sent[p].append(payload)
            bench.send(p, frame(udp(payload)))
            for _ in range(60 + 8 * len(payload)):
                await bench.step()
    records = await bench.all_told()
    by_number = [{record.number: record for record in records if record.port == p} for p in range(2)]
    hits = 0
    for p in range(2):
        for n, payload in enumerate(sent[p]):
            expected = tables.search(b"", payload)
            record = by_number[p].get(n)
            assert (record.ids, record.more) == (expected[:7], len(expected) > 7) if record else not expected, (p, n)
            assert record is None or record.reasons == {"string"}
            hits += len(expected)
            if record and n % 10 == 0:
                assert (await bench.frame_of(record)) == frame(udp(payload))
                assert frame(udp(payload))[record.start :][: record.payload] == payload
    assert hits > 100


@cocotb.test()
async def thousand_strings(dut: Any) -> None:
    """1,100 strings are each found, at any place of a frame."""
    bench = Bench(dut, 3)
    await bench.start()
    rng = bench.rng
    room = 4 << int(dut.EntriesLog2.value)
    keys = distinct(rng.randbytes(rng.choice([4, 5, 6, 7, 8, 8, 8, 8])) for _ in range(min(1100, room * 8 // 10)))
    tables = Tables(keys, int(dut.EntriesLog2.value))
    await bench.load(tables)
    # Five strings a frame are more than the second stage looks up at line rate.
    for port in bench.ports:
        port.into = 0.15
    found: set[int] = set()
    todo = list(range(len(keys)))
    while todo:
        some, todo = todo[:5], todo[5:]
        payload = b"".join(keys[n].swapcase() + bytes(rng.randint(0, 30)) for n in some)
        bench.send(rng.randrange(2), frame(udp(payload)))
        if rng.random() < 0.05:
            await bench.drain()
            for record in await bench.all_told():
                assert "unchecked" not in record.reasons
                found.update(record.ids)
    await bench.drain()
    for record in await bench.all_told():
        found.update(record.ids)
    assert found == set(range(len(keys)))


@cocotb.test()
async def streams_in_order(dut: Any) -> None:
    """Streams cut at random, over both ports: every occurrence is reported, and each frame as machine.md defines."""
    bench = Bench(dut, 4)
    await bench.start()
    rng = bench.rng
    keys = distinct(ATTACK)
    tables = Tables(keys, int(dut.EntriesLog2.value))
    await bench.load(tables)
    text = bytes(rng.choices(b"xyz", k=40))
    for _ in range(3):
        flows = []
        unchecked = frames = 0
        for n in range(8):
            stream = b"".join(rng.choice([rng.choice(keys).upper(), text[: rng.randint(0, 9)]]) for _ in range(60))
            seq = rng.choice([rng.getrandbits(32), 0xFFFFFFFF - rng.randint(0, 200)])
            number, back, six = rng.randrange(1 << 15), rng.random() < 0.5, n % 3 == 0
            cuts = [(seq, True, b"")]
            at = 0
            while at < len(stream):
                size = rng.choice([1, 2, 3, 7, 8, rng.randint(1, 80)])
                cuts.append((seq + 1 + at & 0xFFFFFFFF, False, stream[at : at + size]))
                at += size
            packets = []
            for place, syn, part in cuts:
                packet = tcp(
                    part,
                    place,
                    "S" if syn else "PA",
                    number,
                    back,
                    options=[("Timestamp", (1, 2))] if rng.random() < 0.3 else [],
                )
                if six:
                    ip = packet[IP]
                    packet = ETHER / Dot1Q(vlan=5) / IPv6(src=f"::{ip.src}", dst=f"::{ip.dst}") / ip.payload
                begin = len(stream) if syn else place - seq - 1 & 0xFFFFFFFF
                packets.append((frame(packet), place, syn, part, ends_in(stream, keys, begin, begin + len(part))))
            flows.append((n, packets, Direction()))
        expected: list[list[tuple[set[str], list[int], set[int]]]] = [[], []]
        base = [await bench.read(regs.IDS_BLOCK_FRAMES + 4 * p) for p in range(2)]
        for p in range(2):
            mine = [flow for flow in flows if flow[0] % 2 == p]
            while any(packets for _, packets, _ in mine):
                _, packets, direction = rng.choice([flow for flow in mine if flow[1]])
                data, seq, syn, part, there = packets.pop(0)
                why, before = direction.take(seq, syn, part)
                ids = tables.search(before, part) if before is not None else []
                expected[p].append((why | ({"string"} if ids else set()), ids, there))
                bench.send(p, data, rng.getrandbits(32))
        records: dict[tuple[int, int], Record] = {}
        while any(port.waiting or port.offered for port in bench.ports):
            for _ in range(400):
                await bench.step()
            records |= {(record.port, record.number): record for record in await bench.all_told()}
        await bench.drain()
        records |= {(record.port, record.number): record for record in await bench.all_told()}
        for p in range(2):
            for n, (why, ids, there) in enumerate(expected[p]):
                record = records.get((p, base[p] + n))
                got = (record.reasons, record.ids) if record else (set(), [])
                frames += 1
                if record and "unchecked" in record.reasons:
                    unchecked += 1
                    continue
                assert got == (why, ids[:7]), (p, n, got, why, ids)
                # By definition, without tables
                assert there == set(got[1]), (p, n, got, there)
        assert unchecked < frames // 2
    assert await bench.read(regs.IDS_BLOCK_LOST_RECORDS) == 0


@cocotb.test()
async def streams_disordered(dut: Any) -> None:
    """Streams cut, reordered, overlapped and retransmitted at random: of each frame that has the last byte of an
    occurrence the host is told.
    """
    bench = Bench(dut, 16)
    await bench.start()
    rng = bench.rng
    keys = distinct(ATTACK)
    await bench.load(Tables(keys, int(dut.EntriesLog2.value)))
    occurrences = clean = 0
    for number in range(40):
        stream = b"".join(rng.choice([rng.choice(keys).upper(), b"." * rng.randint(1, 40)]) for _ in range(30))
        seq = rng.choice([rng.getrandbits(32), 0xFFFFFFFF - rng.randint(0, 200)])
        places = [(0, 0)]
        at = 0
        while at < len(stream):
            size = rng.choice([1, 3, 7, rng.randint(1, 90)])
            places.append((at, min(at + size, len(stream))))
            at += size
        # Before the first fault, everything is in order.
        calm = rng.randrange(len(places))
        for _ in range(rng.choice([0, 1, 4])):
            one, other = rng.randint(calm, len(places) - 1), rng.randint(calm, len(places) - 1)
            begin = rng.randrange(len(stream))
            wrong = rng.randrange(3)
            if wrong == 0:
                places[one], places[other] = places[other], places[one]
            elif wrong == 1:
                places.insert(one + 1, places[other])
            else:
                places.insert(one + 1, (begin, min(begin + rng.randint(1, 50), len(stream))))
        p = number % 2
        base = await bench.read(regs.IDS_BLOCK_FRAMES + 4 * p)
        for n, (begin, end) in enumerate(places):
            flags = "S" if n == 0 else "A"
            bench.send(
                p, frame(tcp(stream[begin:end], seq + begin + (n > 0) & 0xFFFFFFFF, flags, 2000 + number)), number
            )
        await bench.drain()
        told = {record.number - base: record for record in await bench.all_told()}
        for n, (begin, end) in enumerate(places):
            there = ends_in(stream, keys, begin, end)
            occurrences += len(there)
            clean += n not in told
            assert not there or n in told, (number, n)
            if n in told and told[n].searched and "unchecked" not in told[n].reasons:
                assert set(told[n].ids) == there, (number, n, told[n], there)
    assert occurrences > 300 and clean > 100


@cocotb.test()
async def anomalies(dut: Any) -> None:
    """Holes, retransmissions, overlaps, a second SYN, midstream: from then on each frame is reported."""
    bench = Bench(dut, 5)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    rng = bench.rng
    order, none = {"order"}, set[str]()
    start = 0xFFFFFFF0
    for name, segments, expected in (
        ("hole", [(0, b"abcd"), (8, b"efgh"), (4, b"xxxx"), (12, b"yy")], [none, order, order, order]),
        ("again", [(0, b"abcd"), (0, b"abcd"), (4, b"y")], [none, order, order]),
        ("overlap", [(0, b"abcdefgh"), (4, b"efghij"), (10, b"y")], [none, order, order]),
        ("old by 2^31", [(0, b"abcd"), (4 + (1 << 31), b"efgh"), (4, b"y")], [none, order, order]),
        ("in order", [(0, b"abcdefgh"), (8, b"i"), (9, b"jk")], [none, none, none]),
    ):
        port = rng.randrange(1 << 16)
        packets = [tcp(seq=start, flags="S", port=port)]
        packets += [tcp(part, start + 1 + at & 0xFFFFFFFF, port=port) for at, part in segments]
        assert words_of(await told_of(bench, packets)) == [none, *expected], name
    # SYN again is harmless at the beginning only; midstream; a reused five-tuple.
    packets = [
        tcp(seq=5, flags="S", port=7),
        tcp(seq=5, flags="S", port=7),
        tcp(b"ab", 6, port=7),
        tcp(seq=7, flags="S", port=7),
        tcp(b"cd", 8, port=7),
    ]
    assert words_of(await told_of(bench, packets)) == [none, none, none, order, order]
    packets = [tcp(b"xev", 100, port=8), tcp(b"IL", 103, port=8), tcp(b"zz", 105, port=8), tcp(b"", 105, port=8)]
    assert words_of(await told_of(bench, packets)) == [{"midstream"}, {"string"}, none, none]
    # After AGE a SYN begins a new connection.
    await bench.write(regs.IDS_BLOCK_AGE, 3)
    packets = [tcp(seq=5, flags="S", port=9), tcp(b"evi", 6, port=9)]
    assert words_of(await told_of(bench, packets)) == [none, none]
    dut.now_base.value = 4 << 28
    packets = [tcp(seq=8, flags="S", port=9), tcp(b"l...", 9, port=9), tcp(b"EVIL", 13, port=9)]
    assert words_of(await told_of(bench, packets)) == [none, none, {"string"}]


@cocotb.test()
async def both_directions(dut: Any) -> None:
    """The two directions of a flow share a line and nothing else, also over two ports; records of a direction are a
    chain.
    """
    bench = Bench(dut, 6)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    bench.send(0, frame(tcp(seq=10, flags="S")))
    bench.send(1, frame(tcp(seq=20, flags="SA", back=True)))
    await bench.drain()
    for n, part in enumerate([b"aa", b"ev", b"il"]):
        bench.send(0, frame(tcp(part, 11 + 2 * n)))
        bench.send(1, frame(tcp(part[::-1], 21 + 2 * n, back=True)))
        await bench.drain()
    records = await bench.all_told()
    assert [(record.port, record.reasons, record.ids, record.prior) for record in records] == [
        (0, {"string"}, [1], b"aaev")
    ]
    assert await bench.read(regs.IDS_BLOCK_FLOWS) == 1
    # The history: the frames of this direction, newest first.
    record, parts = records[0], []
    while True:
        data = await bench.frame_of(record)
        parts.append(data[record.start :][: record.payload])
        if not record.chained:
            break
        record = Record.read(await bench.row(record.port, record.before))
    assert parts == [b"il", b"ev", b"aa"]


@cocotb.test()
async def what_is_searched(dut: Any) -> None:
    """Headers of all lengths; padding and headers are never searched; frames that cannot be searched are reported."""
    bench = Bench(dut, 7)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    none, string = set[str](), {"string"}
    layers = IP(src="1.2.3.4", dst="5.6.7.8")
    cases: list[tuple[Packet, set[str]]] = [
        (udp(b"no"), none),
        (udp(b""), none),
        (udp(b"evil"), string),
        (udp(b"..EviL.."), string),
        (tcp(b"", 0, "S", 1, options=[("MSS", 1460)]), none),
        (ETHER / IP(src="1.2.3.4", dst="5.6.7.8", options=[IPOption(b"\x9e\x0cevilevil55")]) / UDP() / b"fine", none),
        (
            ETHER
            / IP(src="1.2.3.4", dst="5.6.7.8", options=[IPOption(b"\x9e\x0c\x05\0evilevil")])
            / UDP()
            / b"so evil",
            string,
        ),
        (ETHER / Dot1Q(vlan=3) / Dot1Q(vlan=4) / layers / UDP() / b"evil", string),
        (ETHER / Dot1Q(vlan=3) / Dot1Q(vlan=4) / Dot1Q(vlan=5) / layers / UDP() / b"evil", {"headers"}),
        (ETHER / IPv6() / UDP() / b"attack99", string),
        (ETHER / IPv6() / IPv6ExtHdrDestOpt() / UDP() / b"attack99", string),
        (ETHER / IPv6() / IPv6ExtHdrFragment(m=1) / UDP() / b"attack99", {"fragment"}),
        (ETHER / IPv6() / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(100))]) / UDP() / b"attack99", {"headers"}),
        (ETHER / IP(src="1.2.3.4", dst="5.6.7.8", ihl=4) / UDP() / b"evil", {"headers"}),
        (ETHER / IP(src="1.2.3.4", dst="5.6.7.8", len=200) / UDP() / b"evil", {"headers"}),
        (ETHER / layers / UDP(len=4) / b"evil", {"headers"}),
        (ETHER / layers / TCP(dataofs=4) / b"evil", {"headers"}),
        (ETHER / layers / UDP(len=12) / b"fine" / b"evil", none),  # behind the datagram's length
        (ETHER / layers / ICMP() / b"evil", none),
        (ETHER / layers / b"", none),
        (ETHER / ARP(), none),
    ]
    cases += [(packet, {"fragment"}) for packet in fragment(ETHER / layers / UDP() / Raw(b"evil" * 20), 48)]
    got = words_of(await told_of(bench, [packet for packet, _ in cases]))
    for at, ((packet, expected), words) in enumerate(zip(cases, got, strict=True)):
        assert words == expected, (at, packet.summary(), words, expected)
    # Classes that the host asks for.
    kinds = [
        tcp(b"x", 1, "A", 2),
        tcp(b"", 2, "A", 2),
        udp(b"x"),
        ETHER / layers / ICMP(),
        ETHER / IP(proto=47) / b"x",
        ETHER / ARP(),
    ]
    await told_of(bench, [tcp(b"", 0, "S", 2)])
    for bit in range(6):
        await bench.write(regs.IDS_BLOCK_TELL, 1 << bit)
        fresh = [tcp(b"x", 1 + bit, "A", 2), *kinds[1:]]
        assert words_of(await told_of(bench, fresh)) == [{"class"} if n == bit else none for n in range(6)]
    await bench.write(regs.IDS_BLOCK_TELL, 1 << 6)
    ends = [tcp(b"", 0, flags, 3) for flags in ("S", "SA", "F", "FA", "R", "RA", "A", "PA", "U")]
    assert words_of(await told_of(bench, ends)) == [{"class"}] * 6 + [none] * 3
    # Datagrams that may carry a packet, by their ports.
    await bench.write(regs.IDS_BLOCK_TELL, 0)
    for place, value in ((0, 1 << 16 | 4789), (6, 4000), (7, 3 << 16 | 3544)):
        await bench.write(regs.IDS_BLOCK_TUNNEL + 4 * place, value)
        assert await bench.read(regs.IDS_BLOCK_TUNNEL + 4 * place) == value
    ports = [(9, 4789), (4789, 9), (9, 3544), (3544, 9), (9, 4000), (0, 0)]
    datagrams = [ETHER / layers / UDP(sport=source, dport=target) / b"x" for source, target in ports]
    datagrams.append(ETHER / layers / TCP(sport=9, dport=4789, flags="A"))
    expected = [{"class"} if n in (0, 2, 3) else none for n in range(7)]
    assert words_of(await told_of(bench, datagrams)) == expected


@cocotb.test()
async def padding_on_line(dut: Any) -> None:
    """A string that ends in another frame of its port, or in padding, is no string of a stream."""
    bench = Bench(dut, 8)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    packets = [
        udp(b"att"),
        udp(b"ack99"),
        tcp(b"", 0, "S", 1),
        tcp(b"att", 1, port=1),
        udp(b"ack99"),
        tcp(b"", 0, "S", 2),
        tcp(b"ack99", 1, port=2),
        tcp(b"ack99", 4, port=1),
    ]
    assert words_of(await told_of(bench, packets)) == [set()] * 7 + [{"string"}]


@cocotb.test()
async def flood(dut: Any) -> None:
    """A payload that hits at every byte, on port 0: its frames are told as unchecked; no port waits for the second
    stage.
    """
    bench = Bench(dut, 9)
    await bench.start()
    keys = distinct([b"aaaaaaaa", b"aaaaaaa", b"aaaaaa", b"aaaaa", b"aaa", b"bbbb"])
    await bench.load(Tables(keys, int(dut.EntriesLog2.value)))
    for _ in range(40):
        bench.send(0, frame(udp(b"A" * 1400)))
        bench.send(1, frame(udp(b"c" * 1400)))
    for _ in range(300):
        bench.send(1, frame(udp(b"cc")))
    bench.send(1, frame(udp(b"BBBB")))
    await bench.drain()
    records = await bench.all_told()
    # Frames are taken at full speed, except for the record after each.
    assert all(port.stalls < 200 for port in bench.ports), [port.stalls for port in bench.ports]
    told = [record for record in records if record.port == 0]
    assert len(told) == 40 and all("string" in record.reasons or "unchecked" in record.reasons for record in told)
    assert sum("unchecked" in record.reasons for record in told) > 30
    assert [record.ids for record in records if record.port == 1] == [[5]]
    assert await bench.read(regs.IDS_BLOCK_UNCHECKED) == sum("unchecked" in record.reasons for record in told)


@cocotb.test()
async def many_flows(dut: Any) -> None:
    """More flows than lines: none is refused, and a flow that lost its line is reported as midstream."""
    bench = Bench(dut, 10)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    buckets = int(dut.BucketsLog2.value)
    lines = 16 << buckets if buckets else 4 << int(dut.SetsLog2.value)
    ports = list(range(1, 3 * lines))
    for port in ports:
        bench.send(port % 2, frame(tcp(b"", 5, "S", port, back=port % 3 == 0)))
    await bench.drain(200_000)
    assert not await bench.all_told()
    assert await bench.read(regs.IDS_BLOCK_FLOWS) == len(ports)
    assert await bench.read(regs.IDS_BLOCK_EVICTED) >= len(ports) - lines
    last = ports[-12:]
    words = words_of(
        await told_of(bench, [tcp(b"EVIL", 6, port=port, back=port % 3 == 0) for port in last + ports[:5]])
    )
    assert words == [{"string"}] * 12 + [{"string", "midstream"}] * 5
    # The other direction of a line that another flow had
    words = words_of(await told_of(bench, [tcp(b"EVIL", 6, port=port, back=port % 3 != 0) for port in last]))
    assert words == [{"string", "midstream"}] * 12


@cocotb.test()
async def follows(dut: Any) -> None:
    """A direction with a string is followed until the host releases it."""
    bench = Bench(dut, 11)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)), FOLLOW)
    records = await told_of(bench, [tcp(b"", 0, "S", 3), tcp(b"evil", 1, port=3)])
    assert words_of(records) == [set(), {"string"}]
    record = records[1]
    assert record is not None
    assert words_of(await told_of(bench, [tcp(b"more", 5, port=3), tcp(b"back", 7, port=3, back=True)])) == [
        {"followed"},
        {"midstream"},
    ]
    [last] = await told_of(bench, [tcp(b"e", 9, port=3)])
    assert last is not None
    # Another generation, an earlier record, the last one's place in another log, the last one
    for seq, generation, earlier, other, expected in (
        (10, 1, False, 0, {"followed"}),
        (11, 0, True, 0, {"followed"}),
        (12, 0, False, 1, {"followed"}),
        (13, 0, False, 0, set[str]()),
    ):
        place = record.place if earlier else last.place
        await bench.write(regs.IDS_BLOCK_SEEN, place)
        assert await bench.read(regs.IDS_BLOCK_SEEN) == place
        release = (last.port ^ other) << 25 | (record.generation + generation & 31) << 20 | record.direction << 16
        await bench.write(regs.IDS_BLOCK_RELEASE, release | line_bits(record))
        [told] = await told_of(bench, [tcp(b"e", seq, port=3)])
        assert words_of([told]) == [expected]
        last = told or last
    assert words_of(await told_of(bench, [tcp(b"vil", 14, port=3)])) == [{"string"}]
    # A direction that was not seen yet
    records = await told_of(bench, [tcp(b"", 0, "S", 4), tcp(b"evil", 1, port=4)])
    record = records[1]
    assert record is not None
    await bench.write(regs.IDS_BLOCK_FOLLOW, record.generation << 20 | (1 - record.direction) << 16 | line_bits(record))
    back = [tcp(b"", 0, "SA", 4, back=True), tcp(b"xx", 1, port=4, back=True)]
    assert words_of(await told_of(bench, back)) == [{"followed"}] * 2


@cocotb.test()
async def holds(dut: Any) -> None:
    """IPS: a reported frame waits for its verdict, and its flow behind it; others pass; the policy decides if the host
    is late.
    """
    bench = Bench(dut, 12)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)), IPS | LATE_DROPS)
    port = bench.ports[0]

    async def rest(steps: int = 300) -> list[bytes]:
        for _ in range(steps):
            await bench.step()
        left, port.left = port.left, []
        return left

    evil, after, other = (frame(udp(part)) for part in (b"so evil", b"after", b"other"))
    for drop in (False, True):
        dropped = port.dropped
        for data, flow_hash in ((evil, 5), (after, 5), (other, 6)):
            bench.send(0, data, flow_hash)
        assert await rest() == [other]
        record = await bench.told()
        assert record is not None and record.held and record.ids == [1]
        assert await rest() == []
        await bench.verdict(record, drop)
        assert await rest() == ([after] if drop else [evil, after])
        assert port.dropped - dropped == drop
    # Late
    for late_drops in (True, False):
        await bench.write(regs.IDS_BLOCK_CONTROL, 16 | 8 | IPS | (LATE_DROPS if late_drops else 0))
        await bench.write(regs.IDS_BLOCK_TIMEOUT, 4000)
        bench.send(0, evil, 5)
        assert await rest(800) == []
        assert await rest(800) == ([] if late_drops else [evil])
        record = await bench.told()
        assert record is not None
        await bench.verdict(record, not late_drops)  # too late: it means nothing
    assert await bench.read(regs.IDS_BLOCK_LATE) == 2
    # More frames than there is room for: the oldest are late, the port goes on, and the other port never waits.
    await bench.write(regs.IDS_BLOCK_TIMEOUT, 1 << 30)
    many = [frame(udp(b"evil %d" % n)) for n in range(300)]
    for n, data in enumerate(many):
        bench.send(0, data, n)
        bench.send(1, other, n)
    left = await rest(4000)
    assert left == many[: len(left)] and len(left) >= 45
    assert len(bench.ports[1].left) == 300
    waiting = []
    while (record := await bench.told()) is not None:
        await bench.verdict(record, False)
        waiting.append(record)
    assert len(waiting) == 300
    await bench.drain()
    assert left + port.left == many


@cocotb.test()
async def records_lost(dut: Any) -> None:
    """A host that takes no records stalls nothing: missed records are counted."""
    bench = Bench(dut, 13)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    for n in range(700):
        bench.send(n % 2, frame(udp(b"evil")))
    await bench.drain()
    assert sum(len(port.left) for port in bench.ports) == 700
    lost = await bench.read(regs.IDS_BLOCK_LOST_RECORDS)
    assert 150 < lost < 250 and len(await bench.all_told()) == 700 - lost


@cocotb.test()
async def records_beside_beats(dut: Any) -> None:
    """Frames of one to three beats that are all told, without gaps on both ports: records wait for each other while the
    beats of later frames come, and each record has its own frame.
    """
    bench = Bench(dut, 19)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    sent: list[list[bytes]] = [[], []]
    # For a string, which takes lookups; then for their class, a frame a cycle.
    for tell, words in ((0, [b"evil"]), (1 << 2, [b"evil", b"calm", b"calm"])):
        await bench.write(regs.IDS_BLOCK_TELL, tell)
        for n in range(80):
            size = bench.rng.choice([0, 20, 30, 60, 80, 90, 100, 140])
            payload = words[n % len(words)] + (bytes(size) if tell else bench.rng.randbytes(size))
            sent[n % 2].append(frame(udp(payload, 2000 + n)))
            bench.send(n % 2, sent[n % 2][-1])
        await bench.drain()
        records = await bench.all_told()
        assert len(records) == 80
        for record in records:
            # There are more hits than lookups.
            assert record.reasons <= {"class", "string", "unchecked"}
            assert await bench.frame_of(record) == sent[record.port][record.number]


@cocotb.test()
async def reload_while_frames_pass(dut: Any) -> None:
    """Keys of both rule sets are found in all frames of a reload, across a segment border too; new ones in frames after
    it, old ones not.
    """
    bench = Bench(dut, 14)
    await bench.start()
    rng = random.Random(14)
    log2 = int(dut.EntriesLog2.value)
    common = [b"evil", b"attack99"]
    old = Tables(distinct(common + [rng.randbytes(rng.randint(4, 8)) for _ in range(60)]), log2)
    new = Tables(distinct([rng.randbytes(rng.randint(4, 8)) for _ in range(60)] + common), log2)
    await bench.load(old)
    ids = {1: [old.keys.index(b"evil")], 0: [new.keys.index(b"evil")]}
    loading, sent, seqs = True, 0, [100, 100]
    for p in range(2):
        bench.send(p, frame(tcp(b"", seqs[p] - 1, "S", port=p)))
    steps = bench.step

    async def step() -> None:
        """A stream on each port contains "evil" repeatedly, in two segments each time."""
        nonlocal sent
        for p in range(2):
            if loading and len(bench.ports[p].waiting) < 2:
                for part in (b"...ev", b"IL..."):
                    bench.send(p, frame(tcp(part, seqs[p], port=p)))
                    seqs[p] += 5
                sent += 1
        await steps()

    bench.step = step  # type: ignore[method-assign]
    await bench.reload(new)
    loading = False
    await bench.drain()
    # The load takes longer than the queue of records has room for.
    told = await bench.all_told()
    assert len(told) + await bench.read(regs.IDS_BLOCK_LOST_RECORDS) == sent
    assert all(record.ids == ids[record.bank] and record.reasons == {"string"} for record in told)
    assert await bench.read(regs.IDS_BLOCK_STRINGS) + await bench.read(regs.IDS_BLOCK_STRINGS + 4) == sent
    assert bench.ports[0].left and not bench.ports[0].dropped
    for _ in range(3):
        unique = [key for key in new.keys if key not in common][:3]
        gone = [key for key in old.keys if key not in common][:3]
        records = await told_of(bench, [udp(key) for key in unique + gone])
        assert [record.ids if record else None for record in records] == [[new.keys.index(key)] for key in unique] + [
            None
        ] * 3


@cocotb.test()
async def line_rate(dut: Any) -> None:
    """256-byte frames of many flows on both ports: a beat a cycle, so no port waits at 100 Gb/s (5.6 cycles a frame). A
    frame in order is out in less than 2 us.
    """
    bench = Bench(dut, 17)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    flows = list(range(50))
    for flow in flows:
        bench.send(flow % 2, frame(tcp(b"", 0, "S", flow)))
    await bench.drain()
    begin = bench.cycle
    for n in range(8):
        for flow in flows:
            bench.send(flow % 2, frame(tcp(b"." * 202, 1 + 202 * n, port=flow)))
    await bench.drain()
    cycles = (max(port.last_out for port in bench.ports) - begin) / (4 * len(flows))
    bench.send(0, frame(tcp(b"." * 202, 1 + 202 * 8, port=2)))
    await bench.drain()
    latency = bench.ports[0].last_out - bench.ports[0].last_in
    for n in range(200):
        bench.send(0, frame(tcp(b"." * 202, 1 + 202 * (9 + n), port=2)))
    begin = bench.cycle
    await bench.drain()
    alone = (bench.ports[0].last_out - begin) / 200
    dut._log.info("%.2f cycles a frame of many flows, %.2f of one flow; latency %d cycles", cycles, alone, latency)
    assert not await bench.all_told()
    assert cycles < 4.5 and latency < 500 and alone < 20


@cocotb.test()
async def cleared_flows(dut: Any) -> None:
    """A load begins without flows."""
    bench = Bench(dut, 18)
    await bench.start()
    tables = Tables(distinct(ATTACK), int(dut.EntriesLog2.value))
    await bench.load(tables)
    assert words_of(await told_of(bench, [tcp(b"", 0, "S", 3), tcp(b"ev", 1, port=3)])) == [set(), set()]
    await bench.load(tables)
    assert words_of(await told_of(bench, [tcp(b"il", 3, port=3)])) == [{"midstream"}]


@cocotb.test()
async def counters(dut: Any) -> None:
    """Counters have 64 bits, each its own; those of ports are of their port. Some may begin beside a bound."""
    first = int(cocotb.plusargs.get("first_count", 0))
    bench = Bench(dut, 29)
    await bench.start()
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    sent = [frame(udp(b"calm" if n % 3 else b"evil", port=n % 5)) for n in range(150)]
    for n, data in enumerate(sent):
        bench.send(int(n % 4 == 0), data)
    await bench.drain()
    told = await bench.all_told()

    async def count(register: int) -> int:
        low = await bench.read(register)
        return low | await bench.read(regs.IDS_BLOCK_COUNT_H) << 32

    for port in range(2):
        mine = [record for record in told if record.port == port]
        assert mine
        for register, wanted in (
            (regs.IDS_BLOCK_FRAMES, sum(int(n % 4 == 0) == port for n in range(150))),
            (regs.IDS_BLOCK_TOLD, len(mine)),
            (regs.IDS_BLOCK_STRINGS, sum("string" in record.reasons for record in mine)),
            (regs.IDS_BLOCK_UNCHECKED, sum("unchecked" in record.reasons for record in mine)),
        ):
            assert await count(register + 4 * port) == first + wanted, hex(register)
    # Port 0 has three times the frames of port 1.
    searched = [await count(regs.IDS_BLOCK_SEARCHED + 4 * port) - first for port in range(2)]
    assert searched[0] > searched[1] > 0
    for register in (regs.IDS_BLOCK_LOST_RECORDS, regs.IDS_BLOCK_LATE, regs.IDS_BLOCK_MEMORY_ERRORS):
        assert await count(register) == first


@cocotb.test()
async def registers(dut: Any) -> None:
    """Accesses that make no sense are refused, and nothing else happens."""
    bench = Bench(dut, 15)
    await bench.start()
    shape = await bench.read(regs.IDS_BLOCK_SHAPE)
    assert shape & 15 == 2 and shape >> 8 & 31 == int(dut.EntriesLog2.value)
    rows = 1 << int(dut.RowsLog2.value)
    for address, value in (
        (regs.IDS_BLOCK_SHAPE, 0),
        (regs.IDS_BLOCK_BITMAP, 3 << 16),
        (regs.IDS_BLOCK_BITMAP, None),
        (regs.IDS_BLOCK_VERDICT, 2 << 16),
        (regs.IDS_BLOCK_LOG_HEAD + 8, None),
        (0xB4, None),
        (0xB0, None),
        (0x200000, None),
        (0x800000, 1),
        (0x800000 + 64 * rows, None),
        (0xC00000, None),
    ):
        try:
            await bench.access(address, value)
        except Refused:
            continue
        raise AssertionError(f"{address:#x} was not refused")
    await bench.load(Tables(distinct(ATTACK), int(dut.EntriesLog2.value)))
    for value in (1, 4, 5):
        try:
            await bench.write(regs.IDS_BLOCK_CLEAR, value)
        except Refused:
            continue
        raise AssertionError("bitmaps or flows were cleared under traffic")


CASES = [name for name, value in globals().items() if isinstance(value, type(passes))]  # the coroutines


def run(case: str, shape: dict[str, int], first_count: int = 0) -> None:
    sources = ["engines/ids/rtl/rtl.f", "lib/sim/axi_memory.sv", "engines/ids/tests/ids_block_bench.sv"]
    simulate(
        "ids_block_bench", sources, Path(__file__).stem, shape, testcase=case, plusargs=[f"+first_count={first_count}"]
    )


@pytest.mark.parametrize("case", CASES)
def test_ids_block(case: str) -> None:
    run(case, {})


def test_ids_block_counters_beyond_32_bits() -> None:
    run("counters", {}, (1 << 32) - 20)


# Cases about flows, with few lines on the chip and more in card memory
MEMORY = ["streams_in_order", "streams_disordered", "anomalies", "many_flows", "follows", "cleared_flows"]


@pytest.mark.parametrize("case", MEMORY)
def test_ids_block_memory(case: str) -> None:
    run(case, {"SetsLog2": 3, "BucketsLog2": 3})
