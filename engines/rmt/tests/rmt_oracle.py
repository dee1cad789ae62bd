# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The intended results of the rmt engine's programs, in plain Python: from their intent, not from their source."""

from __future__ import annotations

import ipaddress
import operator
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

DROP = None
"""A frame that a program drops; otherwise it leaves at a port."""

Out = tuple[int, bytes] | None

TAGS = (0x8100, 0x88A8)


def tenant_of(frame: bytes, vlans: Mapping[int, str]) -> str | None:
    """Whose a frame is: by the VLAN id of its first tag, all 12 bits."""
    if len(frame) < 16 or struct.unpack_from("!H", frame, 12)[0] not in TAGS:
        return None
    return vlans.get(struct.unpack_from("!H", frame, 14)[0] & 0xFFF)


def internet_checksum(data: bytes) -> int:
    """RFC 1071, of whole 16-bit words."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def behind_tag(frame: bytes) -> tuple[int, int]:
    """EtherType after at most one customer tag, and the beginning of its header."""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x8100 and len(frame) >= 18:
        return struct.unpack_from("!H", frame, 16)[0], 18
    return kind, 14


@dataclass
class Router:
    """Routes IPv4: the longest prefix names a next hop or drops, a next hop names port and addresses of Ethernet."""

    routes: dict[ipaddress.IPv4Network, int | None] = field(default_factory=dict)
    hops: dict[int, tuple[int, bytes, bytes]] = field(default_factory=dict)

    def route(self, address: ipaddress.IPv4Address) -> int | None:
        found = [net for net in self.routes if address in net]
        return self.routes[max(found, key=lambda net: net.prefixlen)] if found else None

    def __call__(self, _port: int, frame: bytes) -> Out:
        kind, at = behind_tag(frame)
        if kind != 0x0800 or len(frame) < at + 20:
            return DROP
        version, words = frame[at] >> 4, frame[at] & 15
        if version != 4 or words < 5 or len(frame) < at + 4 * words:
            return DROP
        header = bytearray(frame[at : at + 4 * words])
        if internet_checksum(bytes(header)) != 0 or header[8] <= 1:
            return DROP
        hop = self.hops.get(self.route(ipaddress.IPv4Address(bytes(header[16:20]))) or 0)
        if hop is None:
            return DROP
        port, src, dst = hop
        header[8] -= 1
        header[10:12] = bytes(2)
        header[10:12] = struct.pack("!H", internet_checksum(bytes(header)))
        return port, dst + src + frame[12:at] + bytes(header) + frame[at + len(header) :]


@dataclass
class Calculator:
    """Answers requests with the result and their number, at their port."""

    count: int = 0
    plus: Callable[[int, int], int] = operator.add
    """What `+` does."""

    def __call__(self, port: int, frame: bytes) -> Out:
        kind, at = behind_tag(frame)
        if kind != 0x1234 or len(frame) < at + 20 or frame[at : at + 3] != b"P4\x01":
            return DROP
        left, right = struct.unpack_from("!II", frame, at + 4)
        results = {
            "+": self.plus(left, right),
            "-": left - right,
            "&": left & right,
            "|": left | right,
            "^": left ^ right,
        }
        result = results.get(chr(frame[at + 3]))
        if result is None:
            return DROP
        self.count = self.count + 1 & 0xFFFFFFFF
        answer = struct.pack("!II", result & 0xFFFFFFFF, self.count)
        return port, frame[6:12] + frame[:6] + frame[12 : at + 12] + answer + frame[at + 20 :]


@dataclass
class Card:
    """Tenants by their VLAN ids. Frames without a tenant go to a unit, which forwards them to the other port of the
    pair.
    """

    vlans: Mapping[int, str]
    programs: Mapping[str, Router | Calculator]

    def __call__(self, port: int, frame: bytes) -> Out:
        tenant = tenant_of(frame, self.vlans)
        return self.programs[tenant](port, frame) if tenant else (port ^ 1, frame)

    def outputs(self, frames: Iterable[tuple[int, bytes]]) -> dict[str, list[bytes]]:
        """The frames that leave, by destination, for frames with their ports."""
        out: dict[str, list[bytes]] = {"port0": [], "port1": [], "host": []}
        for port, frame in frames:
            left = self(port, frame)
            if left:
                out[f"port{left[0]}"].append(left[1])
        return out


def demo_router() -> Router:
    """The router with the entries of designs/rmt-entries.json."""
    net = ipaddress.IPv4Network
    return Router(
        {
            net("10.0.0.0/8"): 1,
            net("10.1.0.0/16"): 2,
            net("10.1.2.3/32"): None,
            net("192.0.2.0/24"): 2,
        },
        {
            1: (0, bytes.fromhex("020000000100"), bytes.fromhex("020000000101")),
            2: (1, bytes.fromhex("020000000200"), bytes.fromhex("020000000202")),
        },
    )
