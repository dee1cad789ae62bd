# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Messages that Scapy builds, and requests from the text of memcached's binary protocol: the card sends each to the
queue of its fields. The RTL is held against the same oracle in test_l7_walkers.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from l7_protocols import COAP, MEMCACHED, QUIC, RADIUS, fields_of, tlv
from penstock import Device
from scapy.contrib.coap import CoAP
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.quic import QUIC_Initial
from scapy.layers.radius import Radius, RadiusAttr_User_Name, RadiusAttribute
from scapy.packet import Raw
from system import ROOT

DESIGN = """
    [card]
    name = "walkers"
    ports = 2
    [[inline]]
    engine = "l7"
    program = "rules.l7"
    [[units]]
    engine = "rpu"
    count = 1
    program = "{root}/engines/l7/programs/answer.c"
"""


def coap(options: list[tuple[str | int, bytes]], code: int = 1, **fields: int | bytes) -> bytes:
    return bytes(CoAP(type=0, code=code, msg_id=7, options=options, **fields))


def radius(code: int, *attributes: object, behind: bytes = b"") -> bytes:
    return bytes(Radius(code=code, id=9, authenticator=bytes(16), attributes=list(attributes))) + behind


def user(name: bytes) -> RadiusAttribute:
    return RadiusAttr_User_Name(value=name)


def nas(name: bytes) -> RadiusAttribute:
    return RadiusAttribute(type=32, value=name)


def initial(number: bytes, source: bytes = b"me", version: int = 1) -> bytes:
    packet = QUIC_Initial(Version=version, DstConnID=number, SrcConnID=source, Length=9, PacketNumber=0)
    return bytes(packet / Raw(b"x" * 8))


def short(number: bytes) -> bytes:
    """A short header (RFC 9000, section 17.3.1), which Scapy does not build: a byte, the connection ID, the rest."""
    return b"\x43" + number + b"rest"


def binary(opcode: int, key: bytes, extras: bytes = b"", value: bytes = b"", body: int | None = None) -> bytes:
    """A request: magic, opcode, key length, extras length, data type, vbucket, body length, opaque, CAS."""
    body = len(extras + key + value) if body is None else body
    header = struct.pack(">BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0, body, 0, 0)
    return b"\0\1\0\0\0\1\0\0" + header + extras + key + value


RULES = {
    "coap": """
        on request {
            rule firmware { path = "/fw/" ..; method = 1; } => queue 1;
            rule reading { path = "/sensors/" until "/" "temp"; method = 2 ..= 3; } => queue 2;
            rule json { format = 50; path = "/in"; } => queue 3;
            rule other_host { host = "b.example"; path = "/x"; } => queue 4;
            rule root { path = "/"; } => queue 5;
            default => queue 9;
        }
        default => queue 10;
    """,
    "radius": """
        on access {
            rule campus { realm = zone "campus.example"; } => queue 1;
            rule exam { realm = "exam.campus.example"; } => queue 2;
            rule guest priority 1 { user = "guest-" ..; } => queue 3;
            rule access_point { nas = "ap-" ..; } => queue 4;
            default => queue 9;
        }
        on accounting { rule of_campus { realm = "campus.example"; } => queue 5; default => queue 8; }
        on other { rule status { code = 12; } => queue 6; default => queue 7; }
        default => queue 10;
    """,
    "quic id 8": """
        on long {
            rule a { id = skip 1 "\\x01" ..; version = 1; } => queue 1;
            rule draft priority 1 { version = 4278190080 ..= 4294967295; } => queue 2;
            rule no_number { id = ""; } => queue 3;
            default => queue 9;
        }
        on short { rule b { id = skip 1 "\\x01" skip 6; } => queue 4; default => queue 8; }
        default => queue 10;
    """,
    "memcached": """
        on get {
            rule user priority 1 { key = "user:" ..; opcode = 0; } => queue 1;
            rule text { key = "user:7"; } => queue 2;
            default => queue 9;
        }
        on set { rule user { key = "user:" ..; } => queue 3; default => queue 8; }
        on change { rule up { opcode = 5; } => queue 4; default => queue 7; }
        default => queue 10;
    """,
}  # fmt: skip
PORTS = {"coap": 5683, "radius": 1812, "quic id 8": 443, "memcached": 11211}
LONG = b"s" * 63

MESSAGES: dict[str, list[tuple[bytes, int]]] = {
    "coap": [
        (coap([("Uri-Path", b"fw"), ("Uri-Path", b"7")]), 1),
        (coap([("Uri-Path", b"fw"), ("Uri-Path", b"7")], code=2), 9),
        (coap([("Uri-Host", b"h"), ("Uri-Path", b"sensors"), ("Uri-Path", b"k"), ("Uri-Path", b"temp")], code=3), 2),
        (coap([("Uri-Path", b"in"), ("Content-Format", b"\x32")], code=2, paymark=b"\xff" + b"{}"), 3),
        (coap([("Uri-Path", b"in"), ("Content-Format", b"\0\x32")], code=2), 3),
        (coap([("Uri-Path", b"in"), ("Content-Format", b"\0\0\x32")], code=2), 9),
        (coap([("Uri-Path", b"in")], code=2), 9),
        (coap([("Uri-Host", b"b.example"), ("Uri-Path", b"x"), ("Uri-Query", b"a=b")]), 4),
        (coap([("Uri-Path", b"fw"), ("Uri-Path", LONG * 3)], tkl=8, token=b"8 bytes!"), 1),
        (coap([]), 5),
        (coap([], code=0x45), 10),  # 2.05, an answer
        (coap([("Uri-Path", b"fw/x")]), 10),
        (coap([("Uri-Path", b"fw")] + [("Uri-Path", b"")] * 31), 1),
        (coap([("Uri-Path", b"fw")] + [("Uri-Path", b"")] * 32), 10),
        (coap([("Uri-Path", b"fw")])[:-1], 10),  # an option past the end
        (coap([("Uri-Path", b"fw")]) + b"\xff", 10),  # a marker without a payload
        (coap([("Uri-Path", b"fw")]) + b"\xf0", 10),  # a delta of 15
        (coap([("Uri-Path", b"fw"), ("Uri-Path", b"x"), (2000, b"far")]), 1),
        (coap([("Uri-Path", b"fw"), ("Uri-Path", LONG * 4)]), 10),  # behind the first 255 bytes
    ],
    "radius": [
        (radius(1, user(b"bob@Campus.example")), 1),
        (radius(1, user(b"bob@exam.campus.example")), 2),
        (radius(1, user(b"x@guest@lab.CAMPUS.example")), 1),
        (radius(1, user(b"guest-4"), nas(b"sw-1")), 3),
        (radius(1, nas(b"ap-1"), user(b"eve")), 4),
        (radius(1, user(b"eve@campus..example")), 9),
        (radius(1, user(b"eve@" + b"c" * 64 + b".campus.example")), 9),
        (radius(1), 9),
        (radius(4, user(b"bob@campus.example"), user(b"second@other.example")), 5),
        (radius(4, user(b"bob")), 8),
        (radius(12), 6),
        (radius(40), 7),
        (radius(1, user(b"guest-4"), behind=b"\x01\x06guest-5 behind the packet"), 3),
        (radius(1, user(b"guest-4"))[:-1], 10),  # an attribute past the end
        (struct.pack(">BBH", 1, 0, 22) + bytes(16) + b"\x01\0", 10),  # an attribute of length 0
        (struct.pack(">BBH", 1, 0, 22) + bytes(16) + b"\x01\1", 10),  # of length 1
        (struct.pack(">BBH", 1, 0, 22) + bytes(16) + b"\x01\2", 9),  # an empty name
        (struct.pack(">BBH", 1, 0, 19) + bytes(16), 10),
        (struct.pack(">BBH", 1, 0, 4097) + bytes(4093), 10),
        (struct.pack(">BBH", 1, 0, 400) + bytes(16) + b"\x01\x09guest-4" + b"\x4f\xff" + bytes(371), 3),
    ],
    "quic id 8": [
        (initial(b"\0\1abcdef"), 1),
        (initial(b"\0\1abcdef", version=2), 9),
        (initial(b"\0\2abcdef", version=0xFF00001D), 2),
        (initial(b""), 3),
        (initial(b"\0\1" + b"i" * 18), 1),
        (initial(b"\0\1" + b"i" * 19), 10),
        (initial(b"\0\1abcdef", source=b"s" * 20)[: 6 + 8 + 1 + 20], 1),
        (initial(b"\0\1abcdef", source=b"s" * 20)[: 6 + 8 + 1 + 19], 10),
        (initial(b"\0\1abcdef")[:14], 10),
        (initial(b"\0\1abcdef")[:13], 10),
        (initial(b"\0\1abcdef")[:5], 10),
        (short(b"\0\1abcdef"), 4),
        (short(b"\0\2abcdef"), 8),
        (b"\x40\0\1abcde", 10),
        (b"\x40\0\1abcdef", 4),
    ],
    "memcached": [
        (binary(0x00, b"user:7"), 1),
        (binary(0x0C, b"user:7"), 2),
        (b"\0\1\0\0\0\1\0\0get user:7\r\n", 2),
        (binary(0x01, b"user:7", bytes(8), b"value"), 3),
        (binary(0x11, b"user:7", bytes(8), b"value"), 3),
        (binary(0x05, b"hits", bytes(20)), 4),
        (binary(0x15, b"hits", bytes(20)), 7),
        (binary(0x0A, b""), 10),
        (binary(0x00, b""), 9),
        (binary(0x00, b"user:7", body=5), 10),
        (binary(0x00, b"user:7")[:-1], 9),
        (binary(0x00, b"user:7")[:31], 10),
        (binary(0x01, b"user:" + b"k" * 224), 8),
        (binary(0x01, b"user:" + b"k" * 219), 3),
    ],
}


def frame(protocol: str, payload: bytes) -> bytes:
    ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    return bytes(ether / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=4000, dport=PORTS[protocol]) / Raw(payload))


@pytest.mark.parametrize("protocol", list(MESSAGES))
def test_messages_of_scapy_go_to_their_queue(protocol: str, tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text(DESIGN.format(root=ROOT))
    port = PORTS[protocol]
    rules = f"application a = 1 {{ udp port {port}; protocol {protocol}; {RULES[protocol]} }}"
    (tmp_path / "rules.l7").write_text(rules)
    messages = MESSAGES[protocol]
    with Device.open(tmp_path / "card.toml", "soft") as card:
        card.send([frame(protocol, payload) for payload, _ in messages])
        frames = card.run().frames
    found = {bytes(one): one.mark & 0xFFFF for one in frames if one.port == "host"}
    for payload, queue in messages:
        assert found.get(frame(protocol, payload)) == queue, (payload, queue)


WINDOWS: list[tuple[Callable[[], bytes], int, bytes]] = [
    (
        lambda: coap([("Uri-Host", b"h"), ("Uri-Path", b"a"), ("Uri-Path", b""), ("Content-Format", b"\7")], code=2),
        COAP,
        tlv(2, b"\2") + tlv(3, b"\0\7") + tlv(4, b"h") + tlv(1, b"/a/"),
    ),
    (
        lambda: radius(4, nas(b"ap"), user(b"Bob@A.b")),
        RADIUS,
        tlv(4, b"\4") + tlv(1, b"Bob@A.b") + tlv(2, b"ap") + tlv(3, b"\1b\1a"),
    ),
    (lambda: initial(b"abcd"), QUIC, tlv(2, b"\0\0\0\1") + tlv(1, b"abcd")),
    (lambda: short(b"abcdefgh"), QUIC, tlv(1, b"abcdefgh")),
    (lambda: binary(0x01, b"k", bytes(8), b"v"), MEMCACHED, tlv(2, b"\1") + tlv(1, b"k")),
]


@pytest.mark.parametrize("at", range(len(WINDOWS)))
def test_the_oracle_reads_what_scapy_writes(at: int) -> None:
    """Plain Python, against which random messages are held."""
    build, protocol, window = WINDOWS[at]
    assert fields_of(protocol, build(), 8)[1] == window
