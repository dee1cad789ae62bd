# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The decisions of designs/l7.toml for packets of messages, in plain Python from the description of its rules; regular
expressions represent them.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from qnp import ACK, HEADER
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

TIMEOUT = 1_000_000  # µs
DROP, UNIT = "drop", "unit"
# The action of a rule: drop, unit, or a queue of the host.
Where = str | int
Fields = dict[int, bytes]


def fits(pattern: bytes, value: bytes | None) -> bool:
    return value is not None and re.fullmatch(pattern, value, re.DOTALL) is not None


def review(fields: Fields) -> Where:
    """Bob's rules A and B, of the paper; a message that both match goes to A's process."""
    student, course = fields.get(1), fields.get(2)
    if fits(rb"/[^/]*/2024.*", student):
        return 0
    if fits(rb"/CA/.*", student) and fits(rb"/[^/]*/Math", course):
        return 1
    return DROP


def order(fields: Fields) -> Where:
    path, amount = fields.get(1), fields.get(2)
    if fits(rb"/order/.*", path) and amount is not None and len(amount) == 4 and int.from_bytes(amount, "big") >= 1000:
        return 9
    if fits(rb"/order/.*", path) or fits(rb"/cart/[^/?]*[/?]pay.*", path):
        return UNIT
    if path is not None and fits(rb"/customer/.*", path):
        return 16 + crc(path) % 4
    return DROP


def crc(data: bytes) -> int:
    """CRC-16 of 32 bytes: division of a polynomial, bit by bit."""
    value = int.from_bytes(data[:32].ljust(32, b"\0"), "big") << 16
    for bit in range(255, -1, -1):
        if value >> (bit + 16) & 1:
            value ^= 0x11021 << bit
    return value


# UDP port and number of an application: message type and rules.
APPLICATIONS: dict[tuple[int, int], tuple[int, Callable[[Fields], Where]]] = {
    (7000, 1): (1, review),
    (8000, 2): (2, order),
}


@dataclass
class Waiting:
    """A message of which packets are missing."""

    count: int
    last: int
    parts: dict[int, bytes] = field(default_factory=dict)
    first: bytes = b""
    where: Where = DROP


@dataclass
class Shop:
    """Takes packets in order; returns the result of each message."""

    host: list[bytes] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: dict[tuple[object, ...], Waiting] = field(default_factory=dict)

    def take(self, time: int, frame: bytes) -> None:
        for key in [key for key, message in self.waiting.items() if time - message.last >= TIMEOUT]:
            del self.waiting[key]
            self.counts["expired"] += 1
        packet = Ether(frame)
        if UDP not in packet or len(frame) < 64:
            self.counts["other"] += 1
            return
        data = bytes(packet[UDP].payload)
        application, of_type, number, _, count, at, flag, segments = HEADER.unpack(data[:22])
        entry = APPLICATIONS.get((packet[UDP].dport, application))
        if entry is None or flag == ACK:
            self.counts["other"] += 1
            return
        length = packet[UDP].len
        if length < 31 or packet[IP].len != length + 20 or not 1 <= count <= 32 or at >= count:
            self.counts["malformed"] += 1
            return
        key = (application, packet[IP].src, packet[UDP].sport, number)
        message = self.waiting.setdefault(key, Waiting(count, time))
        if message.count != count:
            self.counts["malformed"] += 1
            return
        if at in message.parts:
            self.counts["duplicates"] += 1
            return
        self.counts["packets"] += 1
        message.last = time
        message.parts[at] = data[22 : length - 8]
        if at == 0:
            message.first = frame
            window = message.parts[0][: min(256, 64 * segments or 256)]
            message.where = entry[1](fields_of(window)) if of_type == entry[0] else DROP
            self.counts[f"queue {message.where}"] += 1
        if len(message.parts) == count:
            del self.waiting[key]
            self.deliver(message)

    def deliver(self, message: Waiting) -> None:
        if message.where == DROP:
            self.counts["denied"] += 1
            return
        self.counts["delivered"] += 1
        payload = b"".join(message.parts[at] for at in range(message.count))
        packet = Ether(message.first)
        if message.count > 1:
            header = bytearray(bytes(packet[UDP].payload)[:22])
            header[10] = 1
            packet[UDP].remove_payload()
            packet /= bytes(header) + payload
            del packet[IP].len, packet[IP].chksum, packet[UDP].len
            packet[UDP].chksum = 0
            packet = Ether(bytes(packet))
        if message.where == UNIT:
            self.answers.append(answer(packet))
        else:
            self.host.append(bytes(packet))


def fields_of(payload: bytes) -> Fields:
    fields: Fields = {}
    while len(payload) >= 2 and len(payload) >= 2 + payload[1]:
        fields.setdefault(payload[0], payload[2 : 2 + payload[1]])
        payload = payload[2 + payload[1] :]
    return fields


def answer(packet: Ether) -> bytes:
    """The answer of programs/answer.c to a message."""
    packet.src, packet.dst = packet.dst, packet.src
    packet[IP].src, packet[IP].dst = packet[IP].dst, packet[IP].src
    packet[UDP].sport, packet[UDP].dport = packet[UDP].dport, packet[UDP].sport
    packet[UDP].chksum = 0
    data = bytearray(bytes(packet[UDP].payload))
    data[6:10] = data[2:6]
    packet[UDP].remove_payload()
    return bytes(packet / bytes(data))


def amount(number: int) -> bytes:
    return struct.pack(">I", number)
