# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The machine of the l7 engine as engines/l7/machine.md describes it, in plain Python: what becomes of packets and
messages.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum

from l7_protocols import fields_of
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

MAX_PAYLOAD, WINDOW, MAX_PACKETS, STEPS = 16256, 256, 32, 128
ROW_WORDS = 46


class Skip(IntEnum):
    BYTES, UNTIL, FIELD, NEVER = range(4)


@dataclass(frozen=True)
class Branch:
    next: int = 0
    last: bool = False
    kind: Skip = Skip.BYTES
    operand: int = 0

    def word(self) -> int:
        return self.next | self.last << 13 | self.kind << 14 | self.operand << 16


def decide(decision: int) -> Branch:
    return Branch(decision, last=True)


def at_field(row: int, number: int, skip: int = 0) -> Branch:
    return Branch(row, kind=Skip.FIELD, operand=number | skip << 8)


@dataclass(frozen=True)
class Alternative:
    value: bytes = b""
    mask: int = 0
    length: int = 63
    at_end: bool = False
    is_range: bool = False
    branch: Branch = Branch()

    def words(self) -> list[int]:
        value = struct.unpack("<8I", self.value.ljust(32, b"\0"))
        return [*value, self.mask, self.length | self.at_end << 8 | self.is_range << 9, self.branch.word()]

    def matches(self, there: bytes) -> bool:
        """`there`: the rest of the field."""
        if self.length > 32 or len(there) < self.length or (self.at_end and len(there) != self.length):
            return False
        if self.is_range:
            masked = bytes(byte if self.mask >> i & 1 else 0 for i, byte in enumerate(there[:8].ljust(8, b"\0")))
            low, high = (self.value.ljust(16, b"\0")[at : at + 8] for at in (0, 8))
            return low <= masked <= high
        return all(there[i] == self.value[i] for i in range(32) if self.mask >> i & 1)


def exactly(value: bytes, branch: Branch, at_end: bool = False) -> Alternative:
    return Alternative(value, (1 << len(value)) - 1, len(value), at_end, branch=branch)


@dataclass(frozen=True)
class Row:
    alternatives: tuple[Alternative, ...] = ()
    miss: Branch = Branch()
    hash_length: int = 0
    hash_base: int = 0
    hash_bits: int = 0
    hash_on: bool = False

    def words(self) -> list[int]:
        words = [word for i in range(4) for word in (*self.alternatives, *[Alternative()] * 4)[i].words()]
        hash_word = self.hash_length | self.hash_base << 8 | self.hash_bits << 20 | self.hash_on << 31
        return [*words, self.miss.word(), hash_word]


def crc16(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


@dataclass
class Rules:
    """Rules of an application: starts by type, rows, decisions as (kind, first, bits), classes of bytes. Bits from 16
    on: in turn.
    """

    starts: list[Branch]
    rows: dict[int, Row]
    decisions: dict[int, tuple[int, int, int]]
    classes: bytes = bytes(256)
    hits: dict[int, int] = field(default_factory=dict)

    def decide(self, window: bytes, mtype: int) -> tuple[int, int, int, int]:
        """Decision, its kind, the number, and how many steps it took. A program without an end: decision -1."""
        fields = walk(window)
        branch = self.starts[mtype if mtype < 16 else 0]
        pos = end = digest = steps = 0
        while not branch.last:
            if steps == STEPS:
                return -1, 0, 0, steps
            steps += 1
            row = self.rows[branch.next]
            place = self.skip(branch, window, fields, pos, end)
            digest = 0
            branch = row.miss
            if place is None:
                continue
            at, stop = place
            rest = window[at:stop]
            hashed = crc16(rest[: row.hash_length].ljust(32, b"\0"))
            if row.hash_on:
                digest, pos, end = hashed, at, stop
                branch = Branch(row.hash_base + hashed % (1 << row.hash_bits))
                continue
            for alternative in (*row.alternatives, *[Alternative()] * 4)[:4]:
                if alternative.matches(rest):
                    digest, pos, end = hashed, at + alternative.length, stop
                    branch = alternative.branch
                    break
        decision = branch.next
        kind, first, bits = self.decisions[decision]
        hits = self.hits.get(decision, 0)
        self.hits[decision] = hits + 1
        offset = hits % (1 << bits - 16) if bits >= 16 else digest % (1 << bits)
        return decision, kind, (first + offset) & 0xFFFF, steps

    def skip(
        self, branch: Branch, window: bytes, fields: dict[int, tuple[int, int]], pos: int, end: int
    ) -> tuple[int, int] | None:
        if branch.kind == Skip.BYTES:
            at = pos + (branch.operand & 0xFF)
        elif branch.kind == Skip.UNTIL:
            hits = (i + 1 for i in range(pos, end) if branch.operand >> self.classes[window[i]] & 1)
            at = next(hits, end + 1)
        elif branch.kind == Skip.FIELD and branch.operand & 15 in fields:
            start, end = fields[branch.operand & 15]
            at = start + (branch.operand >> 8)
        else:
            return None
        return (at, end) if at <= end else None


def walk(window: bytes) -> dict[int, tuple[int, int]]:
    """Fields 1 to 15 of a window: where their values begin and end."""
    fields: dict[int, tuple[int, int]] = {}
    at = 0
    while at + 2 <= len(window):
        number, length = window[at : at + 2]
        if at + 2 + length > len(window):
            break
        if 1 <= number <= 15:
            fields.setdefault(number, (at + 2, at + 2 + length))
        at += 2 + length
    return fields


@dataclass
class Packet:
    """A packet of a message, and the frame that carries it."""

    payload: bytes
    sport: int = 1000
    dport: int = 7000
    app_id: int = 1
    mtype: int = 1
    msg_id: int = 1
    count: int = 1
    number: int = 0
    flag: int = 0
    segments: int = 0
    v6: bool = False
    vlan: int | None = None
    sender: int = 1  # last byte of the source address
    tenant: int = 0
    hash: int = 0
    behind: bytes = b""  # behind the UDP length
    plain: bool = False  # without a QNP header

    def qnp(self) -> bytes:
        if self.plain:
            return b""
        head = (self.app_id, self.mtype, self.msg_id, 0xA5A5A5A5, self.count, self.number, self.flag, self.segments)
        return struct.pack(">BBIIBBBB", *head) + b"paddings"

    def scapy(self, payload: bytes) -> Ether:
        packet = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
        if self.vlan is not None:
            packet /= Dot1Q(vlan=self.vlan)
        if self.v6:
            packet /= IPv6(src=f"fd00::{self.sender:x}", dst="fd00::ffff")
        else:
            packet /= IP(src=f"10.0.0.{self.sender}", dst="10.0.1.1", id=self.number)
        return packet / UDP(sport=self.sport, dport=self.dport) / (self.qnp() + payload)

    def frame(self) -> bytes:
        return bytes(self.scapy(self.payload)) + self.behind


def delivered(packets: list[Packet]) -> bytes:
    """The frame of a whole message: its packets in their order."""
    first = packets[0]
    if len(packets) == 1:
        return bytes(first.scapy(first.payload))
    count, first.count = first.count, 1
    packet = first.scapy(b"".join(packet.payload for packet in packets))
    first.count = count
    packet[UDP].chksum = 0
    return bytes(packet)


@dataclass
class Out:
    """A message that is delivered."""

    frame: bytes
    port: int
    tenant: int
    hash: int
    mark: int
    kind: int
    target: int
    word: int

    def key(self) -> tuple[int | bytes, ...]:
        return (self.frame, self.port, self.tenant, self.hash, self.mark, self.kind, self.target, self.word)


@dataclass
class Message:
    count: int
    packets: dict[int, Packet] = field(default_factory=dict)
    port: int = 0
    decision: tuple[int, int, int] = (-1, 0, 0)  # with its kind and number


@dataclass
class Machine:
    """Rules and protocols (words of PROTOCOL) by application, filter as {(port, app_id, tenant): application}. Room has
    no bound; time stands.
    """

    filter: dict[tuple[int, int, int], int]
    rules: list[Rules]
    protocols: list[int]
    in_card: bool = False  # messages of several packets are in card memory, and are decided when they are whole
    messages: dict[tuple[object, ...], Message] = field(default_factory=dict)
    counts: list[dict[str, int]] = field(default_factory=lambda: [{}, {}])
    steps: list[int] = field(default_factory=list)
    types: set[int] = field(default_factory=set)  # of messages of protocols other than QNP

    def count(self, app: int, name: str) -> None:
        self.counts[app][name] = self.counts[app].get(name, 0) + 1

    def packet(self, port: int, packet: Packet) -> tuple[str, Out | None]:
        """The fate of the packet (straight, absorbed, dropped), and the message that it completes."""
        app = self.filter.get((packet.dport, packet.app_id, packet.tenant))
        if packet.plain:
            known = self.filter.items()
            app = next(
                (app for (port, _, tenant), app in known if (port, tenant) == (packet.dport, packet.tenant)), None
            )
        if app is None or packet.flag:
            return "straight", None
        if packet.plain:
            self.count(app, "packets")
            message = Message(1, {0: packet}, port, self.decide(app, packet))
            return "absorbed", self.whole(app, message)
        key = (app, packet.tenant, packet.v6, packet.sender, packet.sport, packet.msg_id)
        message = self.messages.get(key, Message(packet.count))
        if not 1 <= packet.count <= MAX_PACKETS or packet.number >= packet.count or message.count != packet.count:
            self.count(app, "malformed")
            return "dropped", None
        if packet.number in message.packets:
            self.count(app, "duplicates")
            return "dropped", None
        if sum(len(other.payload) for other in message.packets.values()) + len(packet.payload) > MAX_PAYLOAD:
            self.count(app, "oversize")
            return "dropped", None
        self.count(app, "packets")
        self.messages[key] = message
        message.packets[packet.number] = packet
        if packet.number == 0:
            message.port = port
            if not self.in_card or message.count == 1:
                message.decision = self.decide(app, packet)
        if len(message.packets) < message.count:
            return "absorbed", None
        del self.messages[key]
        if self.in_card and message.count > 1:
            message.decision = self.decide(app, message.packets[0])
        return "absorbed", self.whole(app, message)

    def decide(self, app: int, first: Packet) -> tuple[int, int, int]:
        size = min(len(first.payload), WINDOW, 64 * first.segments if first.segments else WINDOW)
        window, mtype = first.payload[:size], first.mtype
        if self.protocols[app]:
            mtype, window = fields_of(self.protocols[app] & 7, first.payload, self.protocols[app] >> 8)
            self.types.add(mtype)
        decision, kind, number, steps = self.rules[app].decide(window, mtype)
        self.steps.append(steps)
        if decision >= 0:
            self.count(app, f"hit {decision}")
        return decision, kind, number

    def whole(self, app: int, message: Message) -> Out | None:
        packets = [message.packets[number] for number in range(message.count)]
        first = packets[0]
        decision, kind, number = message.decision
        if kind == 0:
            self.count(app, "stuck" if decision < 0 else "denied")
            return None
        self.count(app, "delivered")
        # Kinds of verdicts as in lib/rtl/penstock_pkg.sv: port 1, host 2, unit 3, dispatch 4
        target = min(number, 255) if kind in (2, 4) else 0
        mark = number | message.port << 16
        word = number if kind == 3 else 0
        verdict = 1 if kind == 4 else kind + 1
        return Out(delivered(packets), message.port, first.tenant, first.hash, mark, verdict, target, word)
