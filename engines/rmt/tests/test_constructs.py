# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Header stacks, header unions, `if` in parsers and deparsers, compound assignments, controls with different arguments:
`soft`, and rows of the machine where they fit, against plain Python written from the P4-16 specification.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable

from rmt_language import Frame, Ran, Seen, entry, exact, run

TYPE_LABELS = 0x8847
SIZE = 4

HEAD = """
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<48> dst;
    bit<8>  op;
    bit<8>  a;
    bit<8>  b;
    bit<8>  result;
    bit<16> wide;
    bit<16> type;
}

header label_t {
    bit<20> label;
    bit<3>  tc;
    bit<1>  last;
    bit<8>  ttl;
}
"""

TAIL = """
control NoSums(inout headers_t hdr, inout meta_t meta) { apply { } }
control MyEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
V1Switch(Parse(), NoSums(), MyIngress(), MyEgress(), NoSums(), Deparse()) main;
"""

PARSER = "parser Parse(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std)"
INGRESS = "control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std)"
DEPARSER = "control Deparse(packet_out b, in headers_t hdr)"
PLAIN = DEPARSER + " { apply { b.emit(hdr); } }"


def both(text: str, frames: list[bytes], oracle: Callable[[bytes], bytes | None], card: bool = False) -> Ran:
    """Runs frames, and compares what leaves at port 1 with the oracle's frames; None is a drop."""
    asked: list[Frame] = [(0, frame) for frame in frames]
    ran = run("constructs.p4", text, [], asked)
    assert ran.faults is None, ran.faults
    want: list[Seen] = []
    for frame in frames:
        out = oracle(frame)
        want.append(("drop", b"") if out is None else ("port 1", out))
    for frame, expected, soft in zip(frames, want, ran.soft, strict=True):
        assert soft == expected, (frame.hex(), soft[1].hex(), expected[1].hex())
    if card:
        assert ran.card is not None, ran.refused
        for frame, expected, row in zip(frames, want, ran.card, strict=True):
            assert row == expected, (frame.hex(), row[1].hex(), expected[1].hex())
    return ran


def op(number: int, a: int = 0, b: int = 0, ty: int = TYPE_LABELS, wide: int = 0) -> bytes:
    return b"\x02\0\0\0\0\x01" + bytes([number, a, b, 0]) + wide.to_bytes(2, "big") + ty.to_bytes(2, "big")


def label(value: int, last: int, ttl: int) -> bytes:
    return (value << 12 | last << 8 | ttl).to_bytes(4, "big")


def labels_of(frame: bytes) -> tuple[list[bytes | None], bytes, bool]:
    """The stack as the parser's loop fills it, the payload, and whether the stack was too small."""
    found: list[bytes | None] = []
    at = 14
    while len(found) < SIZE:
        if len(frame) < at + 4:
            return found + [None] * (SIZE - len(found)), frame[at:], False
        found.append(frame[at : at + 4])
        at += 4
        if found[-1] is not None and found[-1][2] & 1:
            return found + [None] * (SIZE - len(found)), frame[at:], False
    return found, frame[at:], True


LABELS = (
    HEAD
    + """
struct headers_t { op_t op; label_t[4] labels; }
struct meta_t { }
"""
    + PARSER
    + """ {
    state start {
        b.extract(hdr.op);
        transition select(hdr.op.type) { 0x8847: labels; default: accept; }
    }
    state labels {
        b.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) { 1: accept; default: labels; }
    }
}
"""
    + INGRESS
    + """ {
    action exchange(inout label_t x, inout label_t y) {
        label_t z = x;
        x = y;
        y = z;
    }
    apply {
        std.egress_spec = 1;
        if (std.parser_error == error.StackOutOfBounds) { hdr.op.wide = 3; }
        switch (hdr.op.op) {
            1: { hdr.labels.pop_front(1); }
            2: { hdr.labels.pop_front(2); }
            3: { hdr.labels.push_front(1); hdr.labels[0].setValid(); hdr.labels[0].ttl = hdr.op.a; }
            4: { hdr.labels.push_front(2); hdr.labels[1] = { 20w7, 3w0, 1w0, hdr.op.a }; }
            5: { hdr.op.result = hdr.labels[hdr.op.a].ttl; }
            6: { hdr.labels[hdr.op.a].ttl = hdr.op.b; }
            7: { hdr.labels[hdr.op.a].setInvalid(); }
            8: { hdr.labels[hdr.op.a].setValid(); hdr.labels[hdr.op.a].label = 5; }
            9: { hdr.labels[hdr.op.a] = hdr.labels[hdr.op.b]; }
            10: { if (hdr.labels[hdr.op.a].isValid()) { hdr.op.result = 1; } else { hdr.op.result = 2; } }
            11: { hdr.labels[hdr.op.a].label[7:0] = hdr.op.b; }
            12: { hdr.labels[hdr.op.a].ttl += hdr.op.b; }
            13: { hdr.labels.push_front(5); }
            14: { hdr.labels.pop_front(9); }
            15: { exchange(hdr.labels[hdr.op.a], hdr.labels[hdr.op.b]); }
            16: { hdr.op.result = (bit<8>)hdr.labels.size; }
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def labels_oracle(frame: bytes) -> bytes:
    head = bytearray(frame[:14])
    a, b = frame[7], frame[8]
    stack: list[bytes | None] = [None] * SIZE
    rest = frame[14:]
    if head[12:14] == b"\x88\x47":
        stack, rest, small = labels_of(frame)
        if small:
            head[10:12] = b"\0\3"
    # An invalid header keeps its fields: what the elements hold beside their validity.
    fields = [bytearray(one or bytes(4)) for one in stack]
    valid = [one is not None for one in stack]

    def shift(by: int) -> None:
        order = range(SIZE) if by < 0 else range(SIZE - 1, -1, -1)
        for to in order:
            source = to - by
            if 0 <= source < SIZE:
                fields[to], valid[to] = bytearray(fields[source]), valid[source]
            else:
                valid[to] = False

    number = head[6]
    inside = a < SIZE
    if number in (1, 2):
        shift(-number)
    elif number == 3:
        shift(1)
        valid[0] = True
        fields[0][3] = a
    elif number == 4:
        shift(2)
        fields[1], valid[1] = bytearray(label(7, 0, a)), True
    elif number == 5:
        head[9] = fields[a][3] if inside else 0
    elif number == 6 and inside:
        fields[a][3] = b
    elif number == 7 and inside:
        valid[a] = False
    elif number == 8 and inside:
        valid[a] = True
        fields[a][:3] = bytes([0, 0, 5 << 4 | fields[a][2] & 15])
    elif number == 9 and inside:
        if b < SIZE:
            fields[a], valid[a] = bytearray(fields[b]), valid[b]
        else:
            valid[a] = False
    elif number == 10:
        head[9] = 1 if inside and valid[a] else 2
    elif number == 11 and inside:
        fields[a][1] = fields[a][1] & 0xF0 | b >> 4
        fields[a][2] = b << 4 & 0xF0 | fields[a][2] & 15
    elif number == 12 and inside:
        fields[a][3] = fields[a][3] + b & 255
    elif number == 13:
        shift(5)
    elif number == 14:
        shift(-9)
    elif number == 15 and inside and b < SIZE:
        fields[a], fields[b], valid[a], valid[b] = fields[b], fields[a], valid[b], valid[a]
    elif number == 16:
        head[9] = SIZE
    return bytes(head) + b"".join(bytes(one) for one, is_valid in zip(fields, valid, strict=True) if is_valid) + rest


def test_stacks() -> None:
    rng = random.Random(1)
    frames = []
    for _ in range(1500):
        number = rng.randrange(17)
        a, b = rng.choice([0, 1, 2, 3]), rng.choice([0, 1, 2, 3])
        if number in (5, 6, 7, 8, 10, 11, 12) and rng.random() < 0.1:
            a = rng.choice([4, 255])
        if number in (3, 6, 11, 12):
            b = rng.randrange(256)
        count = rng.choice([1, 1, 2, 3, 4, 5])
        stack = b"".join(label(rng.getrandbits(20), at == count - 1, rng.randrange(256)) for at in range(count))
        ty = TYPE_LABELS if rng.random() < 0.95 else 0x0800
        frame = op(number, a, b, ty) + stack + rng.randbytes(20)
        frames.append(frame[: rng.randrange(14, len(frame))] if rng.random() < 0.1 else frame)
    both(LABELS, frames, labels_oracle)


POPS = (
    HEAD
    + """
struct headers_t { op_t op; label_t[4] labels; }
struct meta_t { bit<20> first; }
"""
    + PARSER
    + """ {
    state start {
        b.extract(hdr.op);
        transition select(hdr.op.type) { 0x8847: labels; default: accept; }
    }
    state labels {
        b.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) { 1: accept; default: labels; }
    }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        if (hdr.labels[0].isValid()) {
            hdr.labels[0].ttl = 9;
            hdr.op.result = 1;
            hdr.labels.pop_front(1);
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def test_pop_front_on_the_card() -> None:
    def oracle(frame: bytes) -> bytes:
        if frame[12:14] != b"\x88\x47":
            return frame
        stack, rest, _ = labels_of(frame)
        if stack[0] is None:
            return frame
        return frame[:9] + b"\1" + frame[10:14] + b"".join(one for one in stack[1:] if one is not None) + rest

    rng = random.Random(2)
    frames = []
    for _ in range(300):
        count = rng.choice([1, 2, 3, 4, 5])
        stack = b"".join(label(rng.getrandbits(20), at == count - 1, rng.randrange(256)) for at in range(count))
        frames.append(op(0, ty=rng.choice([TYPE_LABELS, TYPE_LABELS, 0x0800])) + stack + rng.randbytes(20))
    both(POPS, frames, oracle, card=True)
