# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The walker of protocols alone: the window that it writes, byte for byte, for random messages, for those that lie, and
for each place at which a message can be cut.
"""

from __future__ import annotations

import random
import struct
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

sys.path.insert(0, str(Path(__file__).resolve().parent))

from l7_protocols import COAP, DNS, MEMCACHED, QNP, QUIC, RADIUS, SEEN, fields_of
from l7_wire import hostile_coap, hostile_memcached, hostile_radius, login, lying, option, quic, size, uri
from penstock.hdl import simulate
from test_l7_protocols import query, request

BEAT = 64
# Fields of a window, the first one lowest.
WIDTHS = {"data": 512, "limit": 9, "mtype": 4, "bank": 1, "port": 2, "slot": 9, "last": 1, "first": 1}


def packed(values: dict[str, int]) -> int:
    word = at = 0
    for name, width in WIDTHS.items():
        word |= values[name] << at
        at += width
    return word


def unpacked(word: int) -> dict[str, int]:
    values = {}
    for name, width in WIDTHS.items():
        values[name] = word & (1 << width) - 1
        word >>= width
    return values


class Walker:
    """Sends payloads, and holds the windows that leave against the oracle."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.into = self.out = 1.0
        self.cycle = 0
        self.types: Counter[tuple[int, int]] = Counter()
        self.cycles: list[int] = []  # from a message's last beat to the first of its window

    async def start(self) -> None:
        self.dut.in_valid.value = self.dut.out_pop.value = self.dut.protocol.value = self.dut.id_bytes.value = 0
        self.dut.rst.value = 1
        Clock(self.dut.clk, 4, unit="ns").start()
        for _ in range(4):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0

    def beats(self, payload: bytes, head: dict[str, int]) -> list[int]:
        seen = payload[:SEEN]
        parts = [seen[at : at + BEAT] for at in range(0, len(seen), BEAT)]
        words = []
        for at, part in enumerate(parts):
            # Bytes behind the payload are those of something else.
            data = part + self.rng.randbytes(BEAT - len(part))
            edges = {"first": int(at == 0), "last": int(at + 1 == len(parts)), "limit": len(seen)}
            words.append(packed({**head, **edges, "data": int.from_bytes(data, "little")}))
        return words

    async def check(self, protocol: int, payloads: Iterable[bytes], id_bytes: int = 0) -> None:
        """All payloads, one behind the other."""
        dut = self.dut
        dut.protocol.value, dut.id_bytes.value = protocol, id_bytes
        waiting: list[tuple[int, bool]] = []
        wanted: list[tuple[bytes, dict[str, int], bytes]] = []
        for payload in payloads:
            head = {"slot": self.rng.randrange(512), "port": self.rng.randrange(4), "bank": self.rng.randrange(2)}
            kind, fields = fields_of(protocol, payload, id_bytes)
            self.types[protocol, kind] += 1
            wanted.append((payload, {**head, "mtype": kind, "limit": len(fields)}, fields))
            beats = self.beats(payload, {**head, "mtype": 15})
            waiting += [(beat, at + 1 == len(beats)) for at, beat in enumerate(beats)]
        waiting.reverse()
        wanted.reverse()
        data, ended, patience = b"", -1, 0
        while wanted:
            dut.in_valid.value = int(bool(waiting) and self.rng.random() < self.into)
            if waiting:
                getattr(dut, "in").value = waiting[-1][0]
            dut.out_pop.value = int(self.rng.random() < self.out)
            await ReadOnly()
            patience += 1
            assert patience < 2000, wanted[-1]
            if int(dut.in_valid.value) and int(dut.in_pop.value):
                _, is_last = waiting.pop()
                ended = self.cycle if is_last else ended
            if int(dut.out_valid.value) and int(dut.out_pop.value):
                patience = 0
                window = unpacked(int(dut.out.value))
                payload, head, fields = wanted[-1]
                assert window["first"] == int(not data), payload
                if window["first"]:
                    self.cycles.append(self.cycle - ended)
                    assert {name: window[name] for name in head} == head, (payload, fields, window)
                data += window["data"].to_bytes(BEAT, "little")
                assert window["last"] == int(len(data) >= len(fields)), (payload, fields, data)
                if window["last"]:
                    assert data[: len(fields)] == fields, (payload, fields, data)
                    wanted.pop()
                    data = b""
            await FallingEdge(dut.clk)
            self.cycle += 1


@cocotb.test()
async def random_messages(dut: Any) -> None:
    """All protocols in turn, with and without pauses."""
    walker = Walker(dut, 1)
    rng = walker.rng
    await walker.start()
    for turn in range(16):
        walker.into, walker.out = rng.choice([1.0, 0.5]), rng.choice([1.0, 0.4])
        await walker.check(DNS, [query(rng) for _ in range(60)])
        await walker.check(COAP, [hostile_coap(rng) for _ in range(200)])
        await walker.check(RADIUS, [hostile_radius(rng) for _ in range(200)])
        await walker.check(MEMCACHED, [rng.choice([request, hostile_memcached])(rng) for _ in range(120)])
        id_bytes = rng.choice([0, 4, 8, 20])
        messages = [quic(rng, {"id": rng.randbytes(size(rng))}, id_bytes, rng.random() < 0.6) for _ in range(100)]
        await walker.check(QUIC, [lying(rng, message) for message in messages], id_bytes)
        if turn % 4 == 0:
            await walker.check(COAP, [rng.randbytes(rng.randint(1, 300)) for _ in range(100)])
    dut._log.info("%s", walker.types)
    kinds = {DNS: 2, MEMCACHED: 4, COAP: 2, RADIUS: 4, QUIC: 3}
    assert all(walker.types[protocol, kind] >= 30 for protocol, count in kinds.items() for kind in range(count))


@cocotb.test()
async def every_place(dut: Any) -> None:
    """Messages that are cut at each byte, and values of each length."""
    walker = Walker(dut, 2)
    await walker.start()
    whole = b"\x48\x02\0\7" + b"8 bytes!" + option(3, b"host.example") + option(4, b"port")
    whole += option(4, b"a" * 70) + option(0, b"") + option(0, b"b" * 13) + option(1, b"\x27\x10") + option(3, b"q=1")
    await walker.check(COAP, [(whole + b"\xffpayload")[:cut] for cut in range(1, len(whole) + 8)])
    await walker.check(COAP, [uri(b"s" * count) for count in range(260)])
    await walker.check(COAP, [uri(b"s" * count, b"t" * (235 - count)) for count in range(236)])
    await walker.check(
        COAP, [uri(b"s" * 8, host=b"h" * count) + tail for count in range(240) for tail in (b"", b"\xffx")]
    )
    await walker.check(COAP, [uri(b"s" * at + b"/" + b"s" * 70) for at in range(140)])
    await walker.check(COAP, [b"\x40\x01\0\7" + bytes([byte]) + bytes(40) for byte in range(256)])
    await walker.check(COAP, [bytes([byte, 1]) + bytes(40) for byte in range(256)])
    await walker.check(COAP, [bytes([0x40, byte]) + bytes(2) for byte in range(256)])
    # Options behind each other up to the end of what is seen
    for tail in (b"", b"\xff", b"\xff!", b"\x10", b"\x20a", b"\xd0", b"\x00"):
        await walker.check(
            COAP, [uri(b"s" * count) + tail + rest for count in range(235, 256) for rest in (b"", b"xyz")]
        )
    await walker.check(RADIUS, [login((4, b"addr"), (1, b"u@b.c"), (32, b"ap"))[:cut] for cut in range(1, 40)])
    await walker.check(
        RADIUS, [login((1, b"u@b.c"), (32, b"ap"), length=length) for length in [*range(60), 4096, 4097]]
    )
    await walker.check(RADIUS, [login((1, b"u" * count + b"@b.c")) for count in range(250)])
    await walker.check(RADIUS, [login((1, b"u@" + b"l" * count + b".c")) for count in range(240)])
    await walker.check(RADIUS, [login((1, b"u@c." + b"l" * count)) for count in range(240)])
    await walker.check(RADIUS, [login((1, b"@" + b".".join([b"l"] * count))) for count in range(100)])
    await walker.check(RADIUS, [login((1, b"@" * count + b"b.c")) for count in range(240)])
    # Labels in front of the last `@` do not count
    labels = [(b".".join([b"l"] * count), b".".join([b"m"] * (40 - count))) for count in range(1, 40)]
    await walker.check(RADIUS, [login((1, b"@" + before + b"@" + behind)) for before, behind in labels])
    await walker.check(
        RADIUS, [login((26, b"v" * (100 + count)), (1, b"x" * 100), (32, b"ap")) for count in range(100)]
    )
    # More attributes than are seen, the last one of which begins at each place around the end
    for length in (256, 257, 300, 4096, 4097, 8192):
        filled = [login((26, bytes(200 + count)), (1, b"x"), length=length) for count in range(40)]
        await walker.check(RADIUS, [payload.ljust(length + more, b"\1") for payload in filled for more in (0, 1)])
    for id_bytes in (0, 8, 20):
        shorts = [b"\x40" + bytes(range(1, count)) for count in range(1, 30)]
        longs = [
            b"\xc0\0\0\0\1" + bytes([count]) + bytes(count) + b"\2me"[: 3 - less]
            for count in range(256)
            for less in (0, 1, 3)
        ]
        await walker.check(QUIC, [*shorts, *longs, *(longs[60][:cut] for cut in range(1, 32))], id_bytes)
    head = b"\0\1\0\0\0\1\0\0"
    keys = [(opcode, 6, 0, 6) for opcode in range(256)] + [(0, count, 0, count) for count in range(256)]
    keys += [(1, 6, extras, 6 + extras) for extras in range(256)] + [(1, 6, 8, body) for body in range(20)]
    keys += [(0, 256 * high + 6, 0, 65535) for high in range(256)] + [
        (0, 6, 0, 6 << shift) for shift in range(0, 30, 8)
    ]
    payloads = [
        head + struct.pack(">BBHBBHIIQ", 0x80, opcode, key, extras, 0, 0, body, 1, 2) + bytes(range(256))
        for opcode, key, extras, body in keys
    ]
    await walker.check(MEMCACHED, payloads)
    await walker.check(MEMCACHED, [payloads[0][:cut] for cut in range(1, 50)])
    await walker.check(MEMCACHED, [head[:at] + bytes([head[at] ^ 1]) + payloads[0][at + 1 :] for at in range(8)])


@cocotb.test()
async def cycles_of_messages(dut: Any) -> None:
    """The cycles that machine.md names, from the last beat of a message to the first of its window."""
    walker = Walker(dut, 3)
    await walker.start()
    for protocol, payload, cycles in [
        (DNS, b"\0\1\1\0\0\1" + bytes(6) + b"\3www\7example\3com\0\0\1\0\1", 10),
        (COAP, uri(b"a", b"b"), 11),
        (COAP, uri(b"a"), 8),
        (COAP, uri(b"a" * 70), 9),
        (COAP, uri(b"a", host=b"h"), 11),
        (RADIUS, login((1, b"bob@b.example"), (4, b"x"), (32, b"ap")), 17),
        (RADIUS, login((1, b"bob")), 8),
        (QUIC, b"\xc0\0\0\0\1\4abcd\0", 5),
        (QUIC, b"\x40abcdefgh", 4),
        (MEMCACHED, b"\0\1\0\0\0\1\0\0get user:7\r\n", 5),
        (MEMCACHED, b"\0\1\0\0\0\1\0\0" + struct.pack(">BBHBBHIIQ", 0x80, 0, 1, 0, 0, 0, 1, 1, 2) + b"k", 4),
    ]:
        walker.cycles = []
        for _ in range(3):
            await walker.check(protocol, [payload], 8)
        assert walker.cycles == [cycles] * 3, (payload, walker.cycles)


@cocotb.test()
async def qnp_passes(dut: Any) -> None:
    """Windows of QNP pass unchanged in the same cycle."""
    walker = Walker(dut, 4)
    await walker.start()
    dut.protocol.value = QNP
    for at in range(50):
        dut.in_valid.value, dut.out_pop.value = at % 2, at // 2 % 2
        word = walker.rng.getrandbits(sum(WIDTHS.values()))
        getattr(dut, "in").value = word
        await ReadOnly()
        assert (int(dut.out_valid.value), int(dut.in_pop.value)) == (at % 2, at // 2 % 2)
        assert int(dut.out.value) == word
        await FallingEdge(dut.clk)


def test_l7_walkers() -> None:
    simulate("l7_protocol", ["lib/rtl/rtl.f", "engines/l7/rtl/rtl.f"], Path(__file__).stem)
