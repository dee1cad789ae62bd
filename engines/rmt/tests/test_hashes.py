# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Hashes of P4 programs: the results of `soft` and of their rows on the model of the machine, against zlib's CRC-32 and
plain Python.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable

import pytest
from p4_interpreter import HASHES, crc16
from rmt_language import entry, exact, run

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header h_t { FIELDS bit<32> found; }
struct headers { h_t h; }
struct meta_t { bit<32> m; bit<16> s; }
parser P(packet_in p, out headers h, inout meta_t m, inout standard_metadata_t std) {
    state start { p.extract(h.h); transition accept; }
}
control V(inout headers h, inout meta_t m) { apply { } }
control I(inout headers h, inout meta_t m, inout standard_metadata_t std) {
    LOCALS
    apply { std.egress_spec = 1; APPLY }
}
control E(inout headers h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers h, inout meta_t m) { apply { } }
control D(packet_out p, in headers h) { apply { p.emit(h.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


ALGORITHMS: dict[str, Callable[[bytes], int]] = {name: HASHES[name] for name in ("crc32", "crc16", "xor16")}

# Fields by name and width, and those that are hashed.
FIELDS = {
    "a word": ({"a": 32, "b": 32}, ["b"]),
    "a byte": ({"a": 24, "b": 8}, ["b"]),
    "bits": ({"a": 13, "b": 11, "c": 8}, ["a", "b", "a"]),
    "one bit": ({"a": 7, "b": 1, "c": 8}, ["b"]),
    "a flow of IPv4": ({"src": 32, "dst": 32, "ttl": 8, "kind": 8, "x": 16, "from": 16, "to": 16},
                       ["src", "dst", "kind", "from", "to"]),
    "a whole key": ({"a": 128}, ["a"]),
    "a byte more than a key": ({"a": 128, "b": 8, "c": 24}, ["a", "b"]),
    "a flow of IPv6": ({"x": 40, "kind": 8, "src": 128, "dst": 128, "from": 16, "to": 16},
                       ["src", "dst", "kind", "from", "to"]),
    "an aligned flow of IPv6": ({"x": 40, "kind": 8, "src": 128, "dst": 128, "from": 16, "to": 16, "y": 16},
                                ["kind", "src", "dst", "from", "to"]),
}  # fmt: skip


def hash_of(values: dict[str, int], widths: dict[str, int], names: list[str], algorithm: str) -> int:
    """The hash of fields one behind the other, with zeros up to a whole byte."""
    data, count = 0, 0
    for name in names:
        data, count = data << widths[name] | values[name], count + widths[name]
    padding = -count % 8
    return ALGORITHMS[algorithm]((data << padding).to_bytes((count + padding) // 8, "big"))


# The exclusive or of more than a key's words takes more stages than there are.
CASES = [
    (case, algorithm)
    for case, (widths, names) in FIELDS.items()
    for algorithm in ALGORITHMS
    if algorithm != "xor16" or sum(widths[name] for name in names) <= 128
]


@pytest.mark.parametrize(("case", "algorithm"), CASES)
def test_data(case: str, algorithm: str) -> None:
    widths, names = FIELDS[case]
    rng = random.Random(f"{case} {algorithm}")
    base, results = (0, 1 << 40) if rng.random() < 0.5 else (1000, 1 << rng.randrange(1, 17))
    text = PROGRAM.replace("FIELDS", " ".join(f"bit<{width}> {name}_;" for name, width in widths.items()))
    data = ", ".join(f"h.h.{name}_" for name in names)
    call = f"hash(h.h.found, HashAlgorithm.{algorithm}, 32w{base}, {{ {data} }}, 64w{results});"
    text = text.replace("LOCALS", "").replace("APPLY", call)
    bits = sum(widths.values())
    frames, expected = [], []
    for number in range(60):
        values = {name: 0 if number == 0 else rng.getrandbits(width) for name, width in widths.items()}
        head = 0
        for name, width in widths.items():
            head = head << width | values[name]
        rest = rng.randbytes(60)
        found = (base + hash_of(values, widths, names, algorithm) % results) % (1 << 32)
        start = head.to_bytes(bits // 8, "big")
        frames.append((0, start + bytes(4) + rest))
        expected.append(("port 1", start + found.to_bytes(4, "big") + rest))
    ran = run("hash.p4", text, [], frames)
    assert ran.faults is None and ran.soft == expected, ran.faults
    assert ran.refused is None and ran.card == expected, ran.refused


def test_places() -> None:
    """A hash of computed values, under a condition, in an action with parameters, and of another hash."""
    locals_ = """
    action by_hash(bit<8> which) {
        bit<16> v;
        hash(v, HashAlgorithm.crc16, 16w0, { h.h.a_, h.h.b_ }, 32w65536);
        h.h.found = v ++ 8w0 ++ which;
    }
    action none() { }
    table t { key = { h.h.c_: exact; } actions = { by_hash; none; } default_action = none(); }
    """
    apply = """
    m.m = h.h.a_ + h.h.b_;
    if (h.h.c_ == 1) {
        hash(m.m, HashAlgorithm.crc32, 8w3, { m.m, 8w255, h.h.c_ }, 8w16);
        h.h.found = m.m;
    } else if (h.h.c_ == 2) {
        hash(m.m, HashAlgorithm.crc32, 32w0, { h.h.b_ }, 64w0x100000000);
        hash(h.h.found, HashAlgorithm.crc32, 32w0, { m.m, h.h.a_ }, 64w0x100000000);
    } else {
        h.h.found = 7;
    }
    t.apply();
    """
    text = PROGRAM.replace("FIELDS", "bit<32> a_; bit<32> b_; bit<8> c_; bit<24> d_;")
    rng = random.Random(5)
    frames, expected = [], []
    for number in range(200):
        a, b, c, d = rng.getrandbits(32), rng.getrandbits(32), number % 4, rng.randbytes(3)
        word = {name: value.to_bytes(4, "big") for name, value in (("a", a), ("b", b))}
        total = (a + b).to_bytes(5, "big")[1:]
        if c == 1:
            out = 3 + zlib.crc32(total + b"\xff\x01") % 16
        elif c == 2:
            out = zlib.crc32(zlib.crc32(word["b"]).to_bytes(4, "big") + word["a"])
        elif c == 3:
            out = crc16(word["a"] + word["b"]) << 16 | 99
        else:
            out = 7
        start, rest = word["a"] + word["b"] + bytes([c]) + d, rng.randbytes(44)
        frames.append((0, start + bytes(4) + rest))
        expected.append(("port 1", start + out.to_bytes(4, "big") + rest))
    text = text.replace("LOCALS", locals_).replace("APPLY", apply)
    ran = run("places.p4", text, [entry("t", [exact(3)], "by_hash", 99)], frames)
    assert ran.faults is None and ran.refused is None, (ran.faults, ran.refused)
    assert ran.soft == expected
    assert ran.card == expected


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("hash(h.h.found, HashAlgorithm.crc32, 32w0, { h.h.a_ }, 32w77);", ["modulo 77", "write 128"]),
        ("hash(h.h.found, HashAlgorithm.crc32, 32w0, { h.h.a_ }, h.h.a_);", ["not a constant"]),
        (
            "hash(h.h.found, HashAlgorithm.csum16, 32w0, { h.h.a_ }, 32w64);",
            ["another algorithm", "HashAlgorithm.crc32"],
        ),
    ],
)
def test_what_the_card_refuses(call: str, words: list[str]) -> None:
    text = PROGRAM.replace("FIELDS", "bit<32> a_;").replace("LOCALS", "").replace("APPLY", call)
    ran = run("refused.p4", text, [], [(0, bytes(60))])
    assert ran.faults is None and len(ran.soft) == 1
    assert ran.refused is not None and all(word in ran.refused for word in words), ran.refused
