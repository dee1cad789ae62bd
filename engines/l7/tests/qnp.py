# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Messages of QNP from the paper's description: a header of 22 bytes after UDP, then fields of
number, length, value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

HEADER = struct.Struct(">BBIIBBBB8x")
DATA, ACK = 0, 1


@dataclass(frozen=True)
class Message:
    """A message, its sender and its receiver."""

    application: int
    type: int
    id: int
    fields: Sequence[tuple[int, bytes]]
    source: str = "10.0.0.1"
    sport: int = 4000
    dest: str = "10.0.9.9"
    dport: int = 7000
    vlan: int | None = None
    segments: int = 0

    def payload(self) -> bytes:
        return b"".join(tlv(number, value) for number, value in self.fields)

    def packets(self, cuts: Iterable[int] = ()) -> list[bytes]:
        """The frames of the message, divided at these bytes of its payload."""
        payload = self.payload()
        at = [0, *cuts, len(payload)]
        parts = [payload[begin:end] for begin, end in pairwise(at)]
        return [self.frame(part, len(parts), number) for number, part in enumerate(parts)]

    def frame(self, part: bytes, count: int, number: int, flag: int = DATA) -> bytes:
        header = HEADER.pack(self.application, self.type, self.id, 0, count, number, flag, self.segments)
        ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
        if self.vlan is not None:
            ether /= Dot1Q(vlan=self.vlan)
        network = IPv6 if ":" in self.source else IP
        packet = ether / network(src=self.source, dst=self.dest) / UDP(sport=self.sport, dport=self.dport)
        return bytes(packet / Raw(header + part))

    def delivered(self, packets: int) -> bytes:
        """The frame in which it is delivered: one packet with all of it, without a UDP checksum if
        there were several.
        """
        frame = self.frame(self.payload(), 1, 0)
        if packets == 1:
            return frame
        packet = Ether(frame)
        packet[UDP].chksum = 0
        return bytes(packet)

    def to(self, **changes: object) -> Message:
        return replace(self, **changes)  # type: ignore[arg-type]


def tlv(number: int, value: bytes) -> bytes:
    """A field; a long value is a row of pieces of the same number, of which the last is shorter than 255 bytes."""
    pieces = [value[at : at + 255] for at in range(0, len(value) + 1, 255)]
    return b"".join(bytes([number, len(piece)]) + piece for piece in pieces)
