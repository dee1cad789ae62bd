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
    # An invalid header keeps its fields: the values that the elements hold beside their validity.
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


OPTIONS = (
    HEAD
    + """
header end_t { bit<8> kind; }
header short_t { bit<8> kind; bit<8> value; }
header long_t { bit<8> kind; bit<16> value; bit<8> more; }
header_union option_t { end_t end; short_t small; long_t large; }
struct headers_t { op_t op; option_t[3] options; option_t other; }
struct meta_t { }

parser Options(packet_in b, out option_t[3] options) {
    state start {
        transition select(b.lookahead<bit<8>>()) { 0: end; 1: small; 2: large; default: accept; }
    }
    state end { b.extract(options.next.end); transition accept; }
    state small { b.extract(options.next.small); transition start; }
    state large { b.extract(options.next.large); transition start; }
}
"""
    + PARSER
    + """ {
    Options() options;
    state start {
        b.extract(hdr.op);
        options.apply(b, hdr.options);
        transition accept;
    }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        if (std.parser_error == error.StackOutOfBounds) { hdr.op.wide = 3; }
        hdr.op.result = hdr.options[0].isValid() ? 8w1 : 0;
        switch (hdr.op.op) {
            1: {
                hdr.options[0].small.setValid();
                hdr.options[0].small.kind = 1;
                hdr.options[0].small.value = hdr.op.a;
            }
            2: { hdr.options[0].large.setInvalid(); }
            3: { hdr.options[0] = hdr.options[1]; }
            4: { hdr.options.pop_front(1); }
            5: { hdr.options.push_front(1); hdr.options[0].end.setValid(); hdr.options[0].end.kind = 0; }
            6: { hdr.options[1].end = hdr.options[0].end; }
            7: { hdr.other = hdr.options[0]; }
            8: { if (hdr.options[0] == hdr.options[1]) { hdr.op.result = 77; } }
            9: { hdr.options[hdr.op.a].small.setValid(); hdr.options[hdr.op.a].small = { 1, hdr.op.b }; }
            10: { if (hdr.options[hdr.op.a].isValid()) { hdr.op.result = 5; } }
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def options_oracle(frame: bytes) -> bytes:
    """An option is its kind and its bytes, or None: of a union at most one member is valid."""
    sizes = {0: 1, 1: 2, 2: 4}
    head, at = bytearray(frame[:14]), 14
    options: list[bytes | None] = []
    while at < len(frame) and frame[at] in sizes:
        if len(options) == 3:
            head[10:12] = b"\0\3"
            break
        size = sizes[frame[at]]
        if len(frame) < at + size:
            break
        options.append(frame[at : at + size])
        at += size
        if size == 1:
            break
    options += [None] * (3 - len(options))
    rest, other, number, a, b = frame[at:], b"", head[6], head[7], head[8]
    first = options[0]
    head[9] = first is not None
    if number == 1:
        options[0] = bytes([1, a])
    elif number == 2:
        # `setInvalid` of a member makes all members invalid, as section 8.20 has it.
        options[0] = None
    elif number == 3:
        options[0] = options[1]
    elif number == 4:
        options = [*options[1:], None]
    elif number == 5:
        options = [b"\0", *options[:2]]
    elif number == 6:
        options[1] = first if first is not None and first[0] == 0 else None
    elif number == 7:
        other = first or b""
    elif number == 8 and options[0] == options[1]:
        head[9] = 77
    elif number == 9 and a < 3:
        options[a] = bytes([1, b])
    elif number == 10 and a < 3 and options[a] is not None:
        head[9] = 5
    return bytes(head) + b"".join(one or b"" for one in options) + other + rest


def test_unions() -> None:
    rng = random.Random(3)
    frames = []
    for _ in range(1200):
        made = b""
        for _ in range(rng.randrange(5)):
            kind = rng.choice([0, 1, 1, 2, 2, 7])
            made += bytes([kind]) + rng.choice([b"\x11", b"\x22"]) * {0: 0, 1: 1, 2: 3, 7: 0}[kind]
        frame = op(rng.randrange(11), rng.randrange(4), rng.randrange(256)) + made + b"\xff" * rng.randrange(6)
        frames.append(frame)
    both(OPTIONS, frames, options_oracle)


GUARDS = (
    HEAD
    + """
header byte_t { bit<8> value; }
header_union pair_t { byte_t a; byte_t b; }
struct headers_t { op_t op; pair_t pair; byte_t[3] bytes; }
struct meta_t { bit<8> seen; }
"""
    + PARSER
    + """ {
    state start { b.extract(hdr.op); b.extract(hdr.pair.b); transition more; }
    state more {
        meta.seen = hdr.bytes.lastIndex != 0xFFFFFFFF && hdr.bytes.last.value == 0 ? 8w1 : 0;
        transition select(meta.seen) { 1: accept; default: next; }
    }
    state next { b.extract(hdr.bytes.next); transition more; }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        hdr.op.result = meta.seen;
        switch (hdr.op.op) {
            1: { hdr.pair.a = hdr.pair.b; }
            2: { hdr.pair.b = hdr.pair.a; }
            3: { hdr.pair.b = hdr.pair.b; }
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def guards_oracle(frame: bytes) -> bytes:
    """Bytes up to the first 0, at most three; an element of a stack is looked at if there is one. A member of a union
    may be given the value of another one.
    """
    head, pair, at = bytearray(frame[:14]), frame[14:15], 15
    while at < len(frame) and at < 18 and not (at > 15 and frame[at - 1] == 0):
        at += 1
    head[9] = at > 15 and frame[at - 1] == 0
    if head[6] == 2:
        pair = b""
    return bytes(head) + pair + frame[15:]


def test_guards_and_members() -> None:
    rng = random.Random(9)
    frames = [op(rng.randrange(4)) + bytes(rng.choice([0, 1, 2]) for _ in range(rng.randrange(7))) for _ in range(400)]
    both(GUARDS, frames, guards_oracle)


PARSING = (
    HEAD
    + """
header byte_t { bit<8> value; }
struct headers_t { op_t op; byte_t[4] bytes; byte_t x; byte_t y; }
struct meta_t { bit<8> sum; bit<8> count; bit<32> last; bit<32> crc; bit<8> stored; }
register<bit<8>>(4) cells;

bit<32> crc_of(in bit<8> value) {
    bit<32> result;
    hash(result, HashAlgorithm.crc32, 32w0, { value }, 64w0x100000000);
    return result;
}

parser Two(packet_in b, out byte_t one, out byte_t two) {
    state start {
        b.extract(one);
        transition select(one.value) { 0x80 &&& 0x80: second; default: accept; }
    }
    state second { b.extract(two); transition accept; }
}
"""
    + PARSER
    + """ {
    Two() two;
    bit<8> left;
    state start {
        b.extract(hdr.op);
        left = hdr.op.a;
        transition select(hdr.op.op) {
            1: loop; 2: pair; 3: again; 4: at; 5: crossed; 6: stored; 7: none; 8: nothing; default: accept;
        }
    }
    state loop {
        if (left != 0) {
            b.extract(hdr.bytes.next);
            meta.sum += hdr.bytes.last.value;
            if (hdr.bytes.last.value > 0x7f && left > 1) {
                meta.sum |+|= 0x40;
            }
            meta.last = hdr.bytes.lastIndex;
            left -= 1;
        } else {
            meta.count = 255;
        }
        transition select(left) { 0: accept; default: loop; }
    }
    state pair { two.apply(b, hdr.x, hdr.y); transition accept; }
    state again {
        two.apply(b, hdr.x, hdr.y);
        transition select(hdr.x.value) { 0x81: again; default: accept; }
    }
    state at { b.extract(hdr.bytes[hdr.op.a]); transition accept; }
    state none { meta.sum = hdr.bytes.last.value; transition accept; }
    state nothing {
        if (hdr.op.a == 3) { meta.count = 4; }
        meta.last = hdr.bytes.lastIndex;
        transition accept;
    }
    state crossed { two.apply(b, hdr.x, hdr.bytes.next); transition accept; }
    state stored {
        b.extract(hdr.x);
        cells.read(meta.stored, (bit<32>)hdr.op.a);
        cells.write((bit<32>)hdr.op.a, hdr.x.value);
        meta.crc = crc_of(hdr.x.value);
        transition accept;
    }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        hdr.op.result = meta.sum == 0 ? meta.stored : meta.sum;
        hdr.op.wide = meta.count ++ meta.last[7:0];
        if (std.parser_error == error.StackOutOfBounds) { hdr.op.b = 3; }
        if (hdr.op.op == 6) { hdr.op.wide = meta.crc[15:0]; }
    }
}
"""
    + PLAIN
    + TAIL
)


def parsing_oracle() -> Callable[[bytes], bytes]:
    cells = [0] * 4

    def oracle(frame: bytes) -> bytes:
        head, rest = bytearray(frame[:14]), frame[14:]
        number, a = head[6], head[7]
        heads: list[bytes] = []
        total, count, last, stored = 0, 0, 0, 0
        bounds = False
        if number == 1:
            left = a
            if left == 0:
                count = 255
            while left:
                if len(heads) == 4:
                    bounds = True
                    break
                if not rest:
                    break
                heads.append(rest[:1])
                total = total + rest[0] & 255
                if rest[0] > 0x7F and left > 1:
                    total = min(total + 0x40, 255)
                rest = rest[1:]
                last, left = len(heads) - 1, left - 1
        elif number in (2, 3, 5):
            while True:
                # Both headers start invalid in the sub-parser, each time.
                taken = 0
                if rest:
                    taken = 2 if rest[0] >= 0x80 and len(rest) > 1 else 1
                heads = [rest[at : at + 1] for at in range(taken)]
                ended = not rest or (rest[0] >= 0x80 and len(rest) == 1)
                rest = rest[taken:]
                if ended or number != 3 or heads[0] != b"\x81":
                    break
            if number == 5:
                # The second header is element 0 of the stack, which leaves in front of `x`. If the frame ends in the
                # sub-parser, nothing is copied to the stack.
                heads = heads[::-1]
        elif number == 4:
            if a >= 4:
                bounds = True
            elif rest:
                heads, rest = [rest[:1]], rest[1:]
        elif number == 6 and rest:
            heads, rest = [rest[:1]], rest[1:]
            if a < 4:
                stored, cells[a] = cells[a], heads[0][0]
            else:
                stored = 0
            count, last = divmod(zlib.crc32(heads[0]) & 0xFFFF, 256)
        elif number == 7:
            bounds = True
        elif number == 8:
            count, last = 4 if a == 3 else 0, 255
        head[9] = total or stored
        head[10:12] = bytes([count, last])
        if bounds:
            head[8] = 3
        return bytes(head) + b"".join(heads) + rest

    return oracle


def test_parsers() -> None:
    rng = random.Random(4)
    frames = []
    for _ in range(1500):
        a = rng.choice([0, 1, 2, 3, 4, 5, 6, 255]) if rng.random() < 0.5 else rng.randrange(4)
        payload = bytes(rng.choice([rng.randrange(256), 0x80, 0x81, 1]) for _ in range(rng.choice([0, 1, 2, 4, 9])))
        frames.append(op(rng.randrange(9), a, 0) + payload)
    both(PARSING, frames, parsing_oracle())


DEPARSING = (
    HEAD
    + """
header byte_t { bit<8> value; }
struct headers_t { op_t op; byte_t x; byte_t y; byte_t[3] z; byte_t v; byte_t w; }
struct meta_t { }
"""
    + PARSER
    + """ {
    state start {
        b.extract(hdr.op);
        b.extract(hdr.x);
        b.extract(hdr.y);
        b.extract(hdr.z.next);
        b.extract(hdr.z.next);
        b.extract(hdr.z.next);
        transition accept;
    }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        if (hdr.op.op == 9) { hdr.x.setInvalid(); }
        hdr.w.setValid();
        hdr.w.value = 5;
        if (hdr.op.a < 2) { hdr.v.setValid(); }
        if (hdr.op.b > 2) { hdr.op.result = 1; }
    }
}
"""
    + DEPARSER
    + """ {
    bit<8> chosen = hdr.op.a;
    apply {
        b.emit(hdr.op);
        if (hdr.x.isValid() && hdr.op.op == 1) {
            b.emit(hdr.x);
            b.emit(hdr.y);
        } else if (hdr.op.op == 2) {
            b.emit(hdr.y);
            b.emit(hdr.x);
        } else {
            bit<8> more = 1;
            if (hdr.op.b > 7) { more += 1; }
            chosen = hdr.op.a + more;
        }
        if (chosen == 2) { b.emit(hdr.z[0]); }
        b.emit(hdr.z[hdr.op.b]);
        if (hdr.op.result == 1) { b.emit(hdr.v); }
        if (hdr.v.isValid()) { b.emit(hdr.w); }
    }
}
"""
    + TAIL
)


def deparsing_oracle(frame: bytes) -> bytes:
    number, a, b = frame[6], frame[7], frame[8]
    x, y = frame[14:15], frame[15:16]
    z = [frame[at : at + 1] for at in (16, 17, 18)]
    rest = frame[19:]
    out, chosen = frame[:14], a
    if number == 9:
        x = b""
    if number == 1 and x:
        out += x + y
    elif number == 2:
        out += y + x
    else:
        chosen = a + (2 if b > 7 else 1) & 255
    if chosen == 2:
        out += z[0]
    if b < 3:
        out += z[b]
    result = b > 2
    out = out[:9] + bytes([result]) + out[10:]
    # The second one of the last two leaves whenever the first one is valid, whether that leaves or not.
    if a < 2:
        out += b"\0" * result + b"\5"
    return out + rest


def test_deparsers() -> None:
    rng = random.Random(5)
    frames = [
        op(rng.choice([0, 1, 2, 9]), rng.randrange(4), rng.choice([0, 1, 2, 3, 8]))
        + rng.randbytes(5 + rng.randrange(9))
        for _ in range(800)
    ]
    both(DEPARSING, frames, deparsing_oracle)


GUARDED = HEAD + POPS.split(HEAD)[1].replace(
    "b.emit(hdr);",
    """b.emit(hdr.op);
        if (hdr.labels[0].isValid()) { b.emit(hdr.labels[0]); }
        if (hdr.labels[1].isValid()) { b.emit(hdr.labels[1]); }
        if (hdr.op.b == 7) { b.emit(hdr.labels[2]); }""",
)


def test_deparser_with_conditions_on_the_card() -> None:
    def oracle(frame: bytes) -> bytes:
        if frame[12:14] != b"\x88\x47":
            return frame
        stack, rest, _ = labels_of(frame)
        head, kept = frame[:9] + b"\1" + frame[10:14], [one or b"" for one in stack[1:]] + [b""]
        return head + kept[0] + kept[1] + (kept[2] if frame[8] == 7 else b"") + rest

    rng = random.Random(6)
    frames = []
    for _ in range(300):
        count = rng.choice([1, 2, 3, 4])
        stack = b"".join(label(rng.getrandbits(20), at == count - 1, rng.randrange(256)) for at in range(count))
        frames.append(op(0, b=rng.choice([0, 7]), ty=rng.choice([TYPE_LABELS, 0x0800])) + stack + rng.randbytes(20))
    both(GUARDED, frames, oracle, card=True)


APPLIED = (
    HEAD
    + """
header byte_t { bit<8> value; }
struct headers_t { op_t op; byte_t x; byte_t y; byte_t[2] z; }
struct meta_t { }

control Step(inout byte_t one, in bit<8> by) {
    action add(bit<8> more) { one.value += more; }
    table steps {
        key = { one.value: exact; }
        actions = { add; NoAction; }
    }
    apply {
        steps.apply();
        one.value += by;
    }
}

control Plain(inout byte_t one, out bit<8> result) {
    action twice() { one.value = one.value << 1; }
    apply {
        twice();
        result = one.value;
        if (one.value == 0) { exit; }
    }
}

control Both(inout byte_t one, inout byte_t two) {
    action note() { one.value = one.value + 1; }
    table always { actions = { note; } const default_action = note(); }
    apply {
        always.apply();
        two.value = one.value ^ two.value;
    }
}
"""
    + PARSER
    + """ {
    state start {
        b.extract(hdr.op);
        b.extract(hdr.x);
        b.extract(hdr.y);
        b.extract(hdr.z.next);
        b.extract(hdr.z.next);
        transition accept;
    }
}
"""
    + INGRESS
    + """ {
    Step() step;
    Plain() plain;
    Both() both;
    action last(inout bit<8> value) {
        value = 99;
        if (hdr.op.b == 1) { exit; }
        value = 98;
    }
    apply {
        std.egress_spec = 1;
        switch (hdr.op.op) {
            1: { step.apply(hdr.x, 1); step.apply(hdr.y, 2); step.apply(hdr.x, 3); }
            2: { plain.apply(hdr.x, hdr.op.a); plain.apply(hdr.y, hdr.op.result); }
            3: { both.apply(hdr.x, hdr.y); both.apply(hdr.y, hdr.x); }
            4: { both.apply(hdr.x, hdr.x); }
            5: { step.apply(hdr.z[hdr.op.a], 5); }
            6: { last(hdr.x.value); hdr.y.value = 1; }
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def applied_oracle(frame: bytes) -> bytes:
    head, cells, rest = bytearray(frame[:14]), list(frame[14:18]), frame[18:]
    number, a = head[6], head[7]

    def step(value: int, by: int) -> int:
        return value + {7: 10, 20: 100}.get(value, 0) + by & 255

    if number == 1:
        for at, by in ((0, 1), (1, 2), (0, 3)):
            cells[at] = step(cells[at], by)
    elif number == 2:
        cells[0] = head[7] = cells[0] << 1 & 255
        if cells[0]:
            cells[1] = head[9] = cells[1] << 1 & 255
    elif number == 3:
        for one, two in ((0, 1), (1, 0)):
            cells[one] = cells[one] + 1 & 255
            cells[two] ^= cells[one]
    elif number == 4:
        # Both parameters are copies of `x`, which go back in the order of the parameters.
        cells[0] ^= cells[0] + 1 & 255
    elif number == 5 and a < 2:
        cells[2 + a] = step(cells[2 + a], 5)
    elif number == 6:
        cells[0] = 99 if head[8] == 1 else 98
        if head[8] != 1:
            cells[1] = 1
    return bytes(head) + bytes(cells) + rest


def test_one_control_for_several_variables() -> None:
    rng = random.Random(7)
    frames = []
    for _ in range(900):
        cells = bytes(rng.choice([7, 20, 0, 0x80, rng.randrange(256)]) for _ in range(4))
        frames.append(op(rng.randrange(7), rng.randrange(3), rng.randrange(2)) + cells + rng.randbytes(3))
    asked: list[Frame] = [(0, frame) for frame in frames]
    entries = [entry("steps", [exact(value)], "add", more) for value, more in ((7, 10), (20, 100))]
    ran = run("constructs.p4", APPLIED, entries, asked)
    assert ran.faults is None, ran.faults
    for frame, soft in zip(frames, ran.soft, strict=True):
        assert soft == ("port 1", applied_oracle(frame)), (frame.hex(), soft[1].hex(), applied_oracle(frame).hex())


COMPOUND = (
    HEAD
    + """
struct headers_t { op_t op; }
struct meta_t { }
bit<8> taken(inout bit<8> x) { x += 1; return x; }
"""
    + PARSER
    + """ {
    state start { b.extract(hdr.op); transition accept; }
}
"""
    + INGRESS
    + """ {
    apply {
        std.egress_spec = 1;
        int<8> s = (int<8>)hdr.op.a;
        switch (hdr.op.op) {
            0: { hdr.op.a += hdr.op.b; }
            1: { hdr.op.a -= hdr.op.b; }
            2: { hdr.op.a *= hdr.op.b; }
            3: { hdr.op.a &= hdr.op.b; }
            4: { hdr.op.a |= hdr.op.b; }
            5: { hdr.op.a ^= hdr.op.b; }
            6: { hdr.op.a <<= hdr.op.b; }
            7: { hdr.op.a >>= 1; }
            8: { hdr.op.a |+|= hdr.op.b; }
            9: { hdr.op.a |-|= hdr.op.b; }
            10: { hdr.op.a[5:2] += hdr.op.b[3:0]; }
            11: { hdr.op.a += taken(hdr.op.a); }
            12: { s >>= 1; hdr.op.a = (bit<8>)s; }
            13: { s |+|= (int<8>)hdr.op.b; hdr.op.a = (bit<8>)s; }
        }
    }
}
"""
    + PLAIN
    + TAIL
)


def compound_oracle(frame: bytes) -> bytes:
    number, a, b = frame[6], frame[7], frame[8]
    signed, other = (value - 256 if value > 127 else value for value in (a, b))
    result = [
        a + b,
        a - b,
        a * b,
        a & b,
        a | b,
        a ^ b,
        a << b,
        a >> 1,
        min(a + b, 255),
        max(a - b, 0),
        a & 0xC3 | ((a >> 2) + b & 15) << 2,
        a + a + 1,
        signed >> 1,
        max(-128, min(127, signed + other)),
    ][number]
    return frame[:7] + bytes([result & 255]) + frame[8:]


def test_compound_assignments() -> None:
    rng = random.Random(8)
    frames = [
        op(rng.randrange(14), rng.randrange(256), rng.choice([rng.randrange(9), rng.randrange(256)]))
        for _ in range(900)
    ]
    both(COMPOUND, frames, compound_oracle)
