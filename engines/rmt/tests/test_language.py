# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""P4 programs: the results of `soft` and of their rows on the model of the machine, against plain Python written from
the programs' purpose.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rmt_frames
import rmt_oracle
from rmt_language import PROGRAMS, Frame, Seen, entry, exact, lpm, run
from rmt_random import Random

HERE = Path(__file__).parent
M32 = 0xFFFFFFFF


def left(out: rmt_oracle.Out) -> Seen:
    return ("drop", b"") if out is None else (f"port {out[0]}", out[1])


def mac(text: str) -> int:
    return int(text.replace(":", ""), 16)


def test_router() -> None:
    text = (PROGRAMS / "router.p4").read_text()
    net = ipaddress.IPv4Network
    routes: dict[ipaddress.IPv4Network, int | None] = {
        net("10.0.0.0/8"): 1,
        net("10.1.0.0/16"): 2,
        net("10.1.2.0/24"): None,
        net("10.1.2.4/32"): 3,
        net("192.0.2.64/26"): 77,
        net("10.255.255.255/32"): 2,
    }
    hops = {1: (1, 0x020000000001, 0x020000000011), 2: (0, 0x020000000002, 0x020000000012), 3: (1, 3 << 40, M32 << 16)}
    entries = [
        entry(
            "routes",
            [lpm(int(where.network_address), where.prefixlen)],
            *(("drop",) if hop is None else ("route", hop)),
        )
        for where, hop in routes.items()
    ]
    entries += [entry("next_hops", [exact(hop)], "forward", *to) for hop, to in hops.items()]
    as_bytes = {hop: (port, src.to_bytes(6, "big"), dst.to_bytes(6, "big")) for hop, (port, src, dst) in hops.items()}
    oracle = rmt_oracle.Router(routes, as_bytes)
    rng = random.Random(1)
    frames = [(rng.randrange(2), rmt_frames.routed(rng, rng.choice([None, 1, 4095]))) for _ in range(1500)]
    frames += [(0, frame[: rng.randrange(14, 60)]) for _, frame in frames[:200]]
    ran = run("router.p4", text, entries, frames, stages=3)
    assert ran.faults is None and ran.refused is None and ran.card is not None
    expected = [left(oracle(port, frame)) for port, frame in frames]
    assert sum(verdict != "drop" for verdict, _ in expected) > 300
    for frame, want, soft, card in zip(frames, expected, ran.soft, ran.card, strict=True):
        assert soft == want, frame
        assert card == want, frame


def test_prefixes_of_computed_keys() -> None:
    """A table of prefixes takes its key a stage ahead of the others, so it must stand behind what computes the key."""
    text = (HERE / "programs/computed.p4").read_text()
    rng = random.Random(3)
    frames, expected = [], []
    routes = [(value << 24, 8, value % 251) for value in range(0, 256, 3)]
    entries = [entry("routes", [lpm(value, length)], "found", found) for value, length, found in routes]
    entries += [entry("how", [exact(1)], "difference"), entry("how", [exact(2)], "either")]
    for _ in range(400):
        a, b, how = rng.getrandbits(32), rng.getrandbits(32), rng.randrange(4)
        key = {1: a - b, 2: a | b}.get(how, a + b) & M32
        found = next((found for value, _, found in routes if value >> 24 == key >> 24), 255)
        head = a.to_bytes(4, "big") + b.to_bytes(4, "big") + bytes([how])
        rest = rng.randbytes(50)
        frames.append((0, head + b"\xff" + rest))
        expected.append(("port 1", head + bytes([found]) + rest))
    ran = run("computed.p4", text, entries, frames, stages=5)
    assert ran.faults is None and ran.refused is None
    assert ran.soft == expected
    assert ran.card == expected


def test_calculator() -> None:
    text = (PROGRAMS / "calculator.p4").read_text()
    rng = random.Random(2)
    frames = [(rng.randrange(2), rmt_frames.asked(rng, rng.choice([None, 257]))) for _ in range(800)]
    frames += [(0, rmt_frames.routed(rng, None)) for _ in range(50)]
    frames += [(0, frame[: rng.randrange(14, 60)]) for _, frame in frames[:200]]
    oracle = rmt_oracle.Calculator()
    ran = run("calculator.p4", text, [], frames, stages=3)
    assert ran.faults is None and ran.refused is None
    expected = [left(oracle(port, frame)) for port, frame in frames]
    assert ran.soft == expected
    assert ran.card == expected
    assert ran.registers == [[oracle.count]]


def firewall(port: int, frame: bytes, blocked: list[ipaddress.IPv4Network], closed: set[tuple[int, int]]) -> Seen:
    """The other port, unless the source is blocked, the port closed or the header broken."""
    kind, at = rmt_oracle.behind_tag(frame) if len(frame) >= 14 else (0, 14)
    passed = f"port {port ^ 1}", frame
    if len(frame) < 14 or (frame[12:14] == b"\x81\x00" and len(frame) < 18):
        return "drop", b""
    if kind != 0x0800:
        return passed
    if len(frame) < at + 20 or frame[at] >> 4 != 4 or frame[at] & 15 < 5:
        return "drop", b""
    protocol, behind = frame[at + 9], at + 4 * (frame[at] & 15)
    first = int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF == 0
    has_ports = protocol in (6, 17) and first
    if len(frame) < behind + (4 if has_ports else 0):
        return "drop", b""
    source = ipaddress.IPv4Address(frame[at + 12 : at + 16])
    if any(source in net for net in blocked):
        return "drop", b""
    if has_ports and (protocol, int.from_bytes(frame[behind + 2 : behind + 4], "big")) in closed:
        return "drop", b""
    return passed


def test_firewall() -> None:
    blocked = [ipaddress.IPv4Network(net) for net in ("10.9.0.0/16", "192.0.2.0/28")]
    closed = {(6, 80), (17, 53)}
    entries = [entry("blocked", [lpm(int(net.network_address), net.prefixlen)], "drop") for net in blocked]
    entries += [entry("closed", [exact(protocol), exact(port)], "drop") for protocol, port in closed]
    rng = random.Random(5)
    frames: list[Frame] = []
    for _ in range(1500):
        frame = bytearray(rmt_frames.routed(rng, rng.choice([None, 257])))
        at = 18 if frame[12:14] == b"\x81\x00" else 14
        frame[at + 9] = rng.choice([6, 17, 1])
        frame[at + 12 : at + 16] = rng.choice(
            [b"\x0a\x09\x01\x01", b"\x0a\x08\x01\x01", b"\xc0\x00\x02\x0f", b"\xc0\x00\x02\x10"]
        )
        frame[at + 7] = rng.choice([0, 0, 0, 1])
        behind = at + 4 * (frame[at] & 15)
        if behind + 4 <= len(frame):
            frame[behind + 2 : behind + 4] = rng.choice([80, 53, 443]).to_bytes(2, "big")
        cut = rng.randrange(10, len(frame)) if rng.random() < 0.2 else len(frame)
        frames.append((rng.randrange(2), bytes(frame[:cut])))
    ran = run("firewall.p4", (PROGRAMS / "firewall.p4").read_text(), entries, frames)
    assert ran.faults is None, ran.faults
    expected = [firewall(port, frame, blocked, closed) for port, frame in frames]
    passed = sum(verdict != "drop" for verdict, _ in expected)
    assert 300 < passed < 1200
    for frame_, want, soft in zip(frames, expected, ran.soft, strict=True):
        assert soft == want, frame_
    assert ran.card is not None, ran.refused
    for frame_, want, card in zip(frames, expected, ran.card, strict=True):
        assert card == want, frame_


# ---- parts of the language, in a program whose header has four numbers and room for results

HEAD = """
#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header num_t { bit<32> a; bit<32> b; bit<16> c; bit<8> d; bit<4> e; bit<4> f; int<32> s; \
bit<32> x; bit<32> y; bit<64> z; }
struct headers_t { eth_t eth; num_t n; }
struct meta_t { bit<32> m; bit<8> small; bool flag; }
"""
BODY = """
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start { p.extract(h.eth); p.extract(h.n); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    LOCALS
    apply { std.egress_spec = 1; APPLY }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
FIELDS = [("a", 32), ("b", 32), ("c", 16), ("d", 8), ("e", 4), ("f", 4), ("s", 32), ("x", 32), ("y", 32), ("z", 64)]

Numbers = dict[str, int]


def pack(numbers: Numbers) -> bytes:
    value = 0
    for name, width in FIELDS:
        value = value << width | numbers[name] & (1 << width) - 1
    return bytes(range(14)) + value.to_bytes(32, "big") + b"payload"


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def triple(n: Numbers) -> int:
    return (n["z"] << 64 | n["a"] << 32 | n["b"]) * 3 + 1


def samples() -> list[Numbers]:
    rng = random.Random(3)
    edges = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
    made = []
    for _ in range(120):
        numbers = {name: rng.choice([*edges, rng.getrandbits(width)]) & (1 << width) - 1 for name, width in FIELDS}
        if rng.random() < 0.3:
            numbers["b"] = numbers["a"]
        made.append(numbers)
    return made


# The effect of a program on the numbers: locals, statements, the same in Python, and whether the machine supports it.
CASES: list[tuple[str, str, str, Callable[[Numbers], Numbers], bool]] = [
    ("sum", "", "h.n.x = h.n.a + h.n.b;", lambda n: {"x": n["a"] + n["b"]}, True),
    ("difference", "", "h.n.x = h.n.a - 1;", lambda n: {"x": n["a"] - 1}, True),
    ("product", "", "h.n.x = h.n.a * h.n.b;", lambda n: {"x": n["a"] * n["b"]}, False),
    ("bits", "", "h.n.x = (h.n.a & h.n.b) | ~h.n.a ^ 7;", lambda n: {"x": n["a"] & n["b"] | (~n["a"] ^ 7)}, True),
    ("swap", "", "bit<32> t = h.n.a; h.n.a = h.n.b; h.n.b = t;", lambda n: {"a": n["b"], "b": n["a"]}, True),
    ("slices", "", "h.n.x[15:8] = h.n.a[31:24]; h.n.y = h.n.a[7:0] ++ h.n.b[31:8];",
     lambda n: {"x": n["x"] & ~0xFF00 | n["a"] >> 24 << 8, "y": (n["a"] & 255) << 24 | n["b"] >> 8}, True),
    ("shifts", "", "h.n.x = h.n.a << 5; h.n.y = h.n.b >> 9;", lambda n: {"x": n["a"] << 5, "y": n["b"] >> 9}, True),
    ("shift by a field", "", "h.n.x = h.n.a >> h.n.d;", lambda n: {"x": n["a"] >> n["d"]}, False),
    ("signed shift", "", "h.n.s = h.n.s >> 3;", lambda n: {"s": signed(n["s"], 32) >> 3}, False),
    ("saturation", "", "h.n.x = h.n.a |+| h.n.b; h.n.y = h.n.a |-| h.n.b;",
     lambda n: {"x": min(n["a"] + n["b"], M32), "y": max(n["a"] - n["b"], 0)}, False),
    ("signed saturation", "", "h.n.s = h.n.s |+| (int<32>)h.n.a;",
     lambda n: {"s": clamp(signed(n["s"], 32) + signed(n["a"], 32), -(1 << 31), (1 << 31) - 1)}, False),
    ("casts", "", "h.n.x = (bit<32>)h.n.c; h.n.c = (bit<16>)h.n.a; h.n.s = (int<32>)(int<8>)h.n.d;",
     lambda n: {"x": n["c"], "c": n["a"], "s": signed(n["d"], 8)}, False),
    ("if", "", "if (h.n.a > h.n.b) { h.n.x = 1; } else if (h.n.a == h.n.b) h.n.x = 2; else { h.n.x = 3; }",
     lambda n: {"x": 1 if n["a"] > n["b"] else 2 if n["a"] == n["b"] else 3}, True),
    ("logic", "", "if (h.n.a == 0 || (h.n.b != 1 && !(h.n.d >= 9))) h.n.x = 5;",
     lambda n: {"x": 5} if n["a"] == 0 or (n["b"] != 1 and not n["d"] >= 9) else {}, True),
    ("mux", "", "h.n.x = h.n.e == 3 ? h.n.a : h.n.b;", lambda n: {"x": n["a"] if n["e"] == 3 else n["b"]}, True),
    ("signed less", "", "if (h.n.s < -5) h.n.x = 1;", lambda n: {"x": 1} if signed(n["s"], 32) < -5 else {}, False),
    ("metadata", "", "m.m = h.n.a; h.n.a = 0; m.flag = m.m > 9; if (m.flag) h.n.x = m.m + 1;",
     lambda n: {"a": 0} | ({"x": n["a"] + 1} if n["a"] > 9 else {}), True),
    ("wide", "", "h.n.z = h.n.z + 1; h.eth.dst = h.eth.dst;", lambda n: {"z": n["z"] + 1}, False),
    ("wide copy", "", "h.n.z = h.n.a ++ h.n.b;", lambda n: {"z": n["a"] << 32 | n["b"]}, True),
    ("beyond 64 bits", "", "bit<128> w = h.n.z ++ h.n.a ++ h.n.b; w = w * 3 + 1; h.n.z = w[127:64]; h.n.x = w[31:0];",
     lambda n: {"z": triple(n) >> 64, "x": triple(n)}, False),
    ("action", "action f(in bit<32> v, out bit<32> r) { r = v + 1; }", "f(h.n.a, h.n.x); f(h.n.x, h.n.y);",
     lambda n: {"x": n["a"] + 1, "y": n["a"] + 2}, True),
    ("argument that the action writes", "action f(in bit<32> v) { h.n.a = 9; h.n.x = v; }", "f(h.n.a);",
     lambda n: {"a": 9, "x": n["a"]}, True),
    ("inout", "action f(inout bit<32> v) { v = v + h.n.x; h.n.x = 0; v = v + h.n.x; }", "f(h.n.x);",
     lambda n: {"x": 2 * n["x"]}, True),
    ("return", "action f() { if (h.n.a == 0) { h.n.x = 1; return; } h.n.x = 2; h.n.y = 3; }", "f(); h.n.d = 7;",
     lambda n: {"d": 7} | ({"x": 1} if n["a"] == 0 else {"x": 2, "y": 3}), True),
    ("exit", "action f() { if (h.n.a == 0) exit; h.n.x = 2; }", "f(); h.n.d = 7;",
     lambda n: {} if n["a"] == 0 else {"x": 2, "d": 7}, False),
    ("switch", "", "switch (h.n.e) { 1: 2: { h.n.x = 12; } 3: { h.n.x = 3; } default: { h.n.x = 0; } }",
     lambda n: {"x": {1: 12, 2: 12, 3: 3}.get(n["e"], 0)}, True),
    ("register", "register<bit<32>>(4) r;", ("bit<32> v; r.read(v, 2); v = v |+| 1; r.write(2, v); r.read(v, 9); "
                                             "h.n.x = v;"),
     lambda n: {"x": 0}, False),
    ("list", "", "{ bit<32> p = 1; h.n.x = p; } h.n = { h.n.b, h.n.a, 1, 2, 3, 4, 5, h.n.x, h.n.y, h.n.z };",
     lambda n: {"a": n["b"], "b": n["a"], "c": 1, "d": 2, "e": 3, "f": 4, "s": 5, "x": 1}, True),
    ("rotation", "", "h.n = { h.n.b, h.n.x, 1, 2, 3, 4, 5, h.n.y, h.n.a, h.n.z };",
     lambda n: {"a": n["b"], "b": n["x"], "c": 1, "d": 2, "e": 3, "f": 4, "s": 5, "x": n["y"], "y": n["a"]}, True),
    ("constants", "const bit<32> K = (3 + 4) * 2 - 0x10; const bit<8> L = 5 / 2;", "h.n.x = K; h.n.d = L;",
     lambda n: {"x": -2, "d": 2}, True),
    ("parser error", "", "if (std.parser_error != error.NoError) h.n.x = 1;", lambda n: {}, True),
    ("sub-control", "S() s;", "s.apply(h.n.a, h.n.x); s.apply(h.n.a, h.n.x);",
     lambda n: {"x": n["x"] + 2 * n["a"]}, True),
    ("function", "", "h.n.x = most(h.n.a, h.n.b);", lambda n: {"x": max(n["a"], n["b"])}, True),
    ("register behind its end", "register<bit<32>>(4) r;",
     "bit<32> v; r.read(v, 9); v = v + h.n.a; r.write(9, v); h.n.x = v;", lambda n: {"x": n["a"]}, True),
    ("register read behind a write", "register<bit<32>>(4) r;",
     "bit<32> v; r.write(3, h.n.a); r.read(v, 3); h.n.x = v;", lambda n: {"x": n["a"]}, True),
    ("register read behind a write, behind its end", "register<bit<32>>(4) r;",
     "bit<32> v; r.write(9, h.n.a); r.read(v, 9); h.n.x = v;", lambda n: {"x": 0}, False),
    ("header that is an out parameter", "Z() z;", "z.apply(h.n); if (!h.n.isValid()) { h.n.setValid(); h.n.y = 7; }",
     lambda n: {"y": 7}, True),
]  # fmt: skip
EXTRA = """
bit<32> most(in bit<32> one, in bit<32> two) { if (one > two) { return one; } return two; }
control Z(out num_t t) { apply { } }
control S(in bit<32> by, inout bit<32> to) { apply { to = to + by; } }
"""


@pytest.mark.parametrize(
    ("locals_", "apply", "meaning", "fits"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_statements(locals_: str, apply: str, meaning: Callable[[Numbers], Numbers], fits: bool) -> None:
    text = HEAD + EXTRA + BODY.replace("LOCALS", locals_).replace("APPLY", apply)
    numbers = samples()
    frames: list[Frame] = [(0, pack(one)) for one in numbers]
    ran = run("case.p4", text, [], frames)
    assert ran.faults is None, ran.faults
    expected = [("port 1", pack(one | meaning(one))) for one in numbers]
    for one, want, soft in zip(numbers, expected, ran.soft, strict=True):
        assert soft == want, one
    assert (ran.card is not None) == fits, ran.refused
    if ran.card is not None:
        for one, want, card in zip(numbers, expected, ran.card, strict=True):
            assert card == want, one


TABLE = """
action set_x(bit<32> v) { h.n.x = v; }
action set_y(bit<48> v, bit<16> c) { h.eth.src = v; h.n.c = c; h.n.y = h.n.y + 1; }
action none() { }
table one { key = { h.n.a: exact; h.n.d: exact; } actions = { set_x; set_y; none; } default_action = set_x(77); }
table two { key = { h.n.x: exact; } actions = { set_y; none; } default_action = none(); }
"""


@pytest.mark.parametrize(
    ("apply", "after_hit", "after_miss"),
    [
        ("one.apply();", {}, {}),
        ("if (one.apply().hit) { h.n.b = 1; } else { h.n.b = 2; }", {"b": 1}, {"b": 2}),
        ("if (!one.apply().hit) { h.n.b = 2; }", {}, {"b": 2}),
        ("bool hit = one.apply().hit; if (hit) { h.n.b = 1; }", {"b": 1}, {}),
    ],
)
def test_tables(apply: str, after_hit: Numbers, after_miss: Numbers) -> None:
    text = HEAD + BODY.replace("LOCALS", TABLE).replace("APPLY", apply + " two.apply();")
    entries: list[Any] = [
        entry("one", [exact(5), exact(1)], "set_x", 12),
        entry("one", [exact(5), exact(2)], "set_y", 0x020304050607, 0xABCD),
        entry("one", [exact(6), exact(2)], "none"),
        entry("two", [exact(12)], "set_y", 0x0A0B0C0D0E0F, 1),
    ]
    rng = random.Random(4)
    numbers = [one | {"a": rng.choice([5, 6, 7]), "d": rng.choice([1, 2])} for one in samples()]
    expected = []
    for one in numbers:
        now, src = dict(one), None
        found = {(5, 1): "x", (5, 2): "y", (6, 2): "none"}.get((one["a"], one["d"]))
        if found == "x":
            now["x"] = 12
        elif found == "y":
            src, now["c"], now["y"] = 0x020304050607, 0xABCD, now["y"] + 1
        elif found is None:
            now["x"] = 77
        now |= after_miss if found is None else after_hit
        if now["x"] == 12:
            src, now["c"], now["y"] = 0x0A0B0C0D0E0F, 1, now["y"] + 1
        frame = bytearray(pack(now))
        if src is not None:
            frame[6:12] = src.to_bytes(6, "big")
        expected.append(("port 1", bytes(frame)))
    ran = run("tables.p4", text, entries, [(0, pack(one)) for one in numbers])
    assert ran.faults is None, ran.faults
    for one, want, soft in zip(numbers, expected, ran.soft, strict=True):
        assert soft == want, one
    assert ran.card is not None, ran.refused
    for one, want, card in zip(numbers, expected, ran.card, strict=True):
        assert card == want, one


def test_a_prefix_that_the_check_writes() -> None:
    """The search for prefixes in stage 0 sees what stands in front of the check."""
    text = HEAD + BODY.replace("LOCALS", "action found() { h.n.x = 5; } TABLE").replace("APPLY", "sums.apply();")
    table = (
        "table sums { key = { std.checksum_error: lpm; } actions = { found; NoAction; } default_action = NoAction; }"
    )
    verify = "verify_checksum(true, { h.n.a, h.n.b }, h.n.c, HashAlgorithm.csum16);"
    text = text.replace("TABLE", table).replace("control V(inout headers_t h, inout meta_t m) { apply { } }",
        f"control V(inout headers_t h, inout meta_t m) {{ apply {{ {verify} }} }}")  # fmt: skip
    numbers = [one | {"a": 1, "b": 2, "c": c} for one, c in zip(samples(), [0xFFFC, 0xFFFD] * 20, strict=False)]
    ran = run("sums.p4", text, [entry("sums", [lpm(1, 1)], "found")], [(0, pack(one)) for one in numbers])
    assert ran.faults is None, ran.faults
    expected = [("port 1", pack(one | ({"x": 5} if one["c"] == 0xFFFD else {}))) for one in numbers]
    assert ran.soft == expected
    assert ran.card == expected, ran.refused


@pytest.mark.parametrize("easy", [True, False], ids=["units", "all"])
def test_random_statements(easy: bool) -> None:
    """Programs of random statements: `soft`, the model of the machine where they fit, and Python agree."""
    numbers = samples()[:40]
    fitted = 0
    for seed in range(40):
        text, meaning = Random(seed, easy).block(2)
        ran = run(
            "random.p4",
            HEAD + EXTRA + BODY.replace("LOCALS", "").replace("APPLY", text),
            [],
            [(0, pack(one)) for one in numbers],
        )
        assert ran.faults is None, (text, ran.faults)
        for index, one in enumerate(numbers):
            now = one | {"m": 0, "small": 0}
            meaning(now)
            want = "port 1", pack(now)
            assert ran.soft[index] == want, (seed, text, one)
            if ran.card is not None:
                assert ran.card[index] == want, (seed, text, one)
        fitted += ran.card is not None
    assert fitted > 12 or not easy, fitted


def test_lookahead_behind_the_frame() -> None:
    """A lookahead that meets the frame's end is an error; the headers in front of it stay valid."""
    text = HEAD + BODY.replace("LOCALS", "").replace(
        "APPLY", "if (std.parser_error == error.PacketTooShort) std.egress_spec = 2; h.eth.type = 7;"
    )
    states = "state start { p.extract(h.eth); transition select(p.lookahead<bit<24>>()) { 1: one; default: accept; } } "
    states += "state one { transition accept; }"
    text = text.replace("state start { p.extract(h.eth); p.extract(h.n); transition accept; }", states)
    whole = bytes(range(14)) + b"\0\0\1rest"
    frames = [(0, whole[:length]) for length in range(14, len(whole) + 1)] + [(0, bytes(13))]
    ran = run("lookahead.p4", text, [], frames)
    assert ran.faults is None, ran.faults
    expected = [
        (f"port {2 if len(frame) < 17 else 1}", frame[:12] + b"\0\7" + frame[14:] if len(frame) >= 14 else frame)
        for _, frame in frames
    ]
    assert ran.soft == expected
    assert ran.card == expected
