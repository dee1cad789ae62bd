# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What a card does with packets of messages, in plain Python from machine.md: an oracle that shares nothing with the
engine. It decides a message at once, when its packet 0 comes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from l7_language import NUMBERS, Action, Application, On
from l7_protocols import fields_of

DATA = 0
MOST_PACKETS, MOST_PAYLOAD, WINDOW, PAGE = 32, 16256, 256, 512


def u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def crc16(data: bytes) -> int:
    """CRC-16, polynomial 0x1021, of the first 32 bytes, with zeros behind a shorter text."""
    crc = 0
    for byte in data[:32].ljust(32, b"\0"):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
            crc &= 0xFFFF
    return crc


@dataclass(frozen=True)
class Heads:
    """Where the headers of a UDP datagram stand."""

    version: int
    ip: int
    udp: int

    @classmethod
    def of(cls, frame: bytes) -> Heads | None:
        """None if the frame is no plain UDP datagram."""
        at = 18 if frame[12:14] == b"\x81\x00" else 14
        kind = frame[at - 2 : at]
        if kind == b"\x08\x00" and len(frame) >= at + 28:
            plain = frame[at] == 0x45 and not u16(frame, at + 6) & 0x3FFF and frame[at + 9] == 17
            return cls(4, at, at + 20) if plain else None
        if kind == b"\x86\xdd" and len(frame) >= at + 48:
            return cls(6, at, at + 40) if frame[at] >> 4 == 6 and frame[at + 6] == 17 else None
        return None


def walk(window: bytes) -> list[tuple[int, bytes]]:
    """The complete TLVs from byte 0 on."""
    found, at = [], 0
    while at + 2 <= len(window) and at + 2 + window[at + 1] <= len(window):
        found.append((window[at], window[at + 2 : at + 2 + window[at + 1]]))
        at += 2 + window[at + 1]
    return found


def dns(payload: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Type and window of a DNS message."""
    data, other = payload[:WINDOW], (0, [])
    if len(data) < 12 or data[2] & 0xF8 or u16(data, 4) != 1:
        return other
    at, bound, behind = 12, 12, None
    labels: list[bytes] = []
    while True:
        if at >= len(data):
            return other
        length = data[at]
        if length == 0:
            behind = at + 1 if behind is None else behind
            break
        if length >= 0xC0:
            if at + 2 > len(data):
                return other
            target = u16(data, at) & 0x3FFF
            if target >= bound:
                return other
            behind = at + 2 if behind is None else behind
            at = bound = target
            continue
        if length >= 0x40 or at + 1 + length > len(data):
            return other
        labels.append(data[at + 1 : at + 1 + length])
        if len(labels) > 32:
            return other
        at += 1 + length
    if behind + 4 > len(data):
        return other
    low = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
    name = b"".join(bytes([len(label)]) + label.translate(low) for label in reversed(labels))
    if len(name) > 250:
        return other
    return 1, [(2, data[behind : behind + 2]), (1, name)]


COMMANDS = {
    **dict.fromkeys([b"get", b"gets"], 1),
    **dict.fromkeys([b"set", b"add", b"replace", b"append", b"prepend", b"cas"], 2),
    **dict.fromkeys([b"delete", b"incr", b"decr", b"touch"], 3),
}


def memcached(payload: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Type and window of a datagram of memcached's text protocol."""
    data = payload[:WINDOW]
    if u16(data, 2) != 0 or u16(data, 4) != 1:
        return 0, []
    command, space, rest = data[8:].partition(b" ")
    if not space or command not in COMMANDS:
        return 0, []
    ends = [at for at, byte in enumerate(rest) if byte in b" \r\n"]
    if not ends or not 1 <= ends[0] <= 250:
        return COMMANDS[command], []
    return COMMANDS[command], [(1, rest[: ends[0]])]


@dataclass
class Out:
    """A frame that leaves: as it came, or made from a message (`verdict` is None for the former)."""

    port: int
    data: bytes
    tenant: int = 0
    hash: int = 0
    verdict: tuple[str, int] | None = None
    mark: int = 0
    application: int = 0


@dataclass
class Entry:
    """A message of which packets are missing."""

    count: int
    last: int
    payloads: dict[int, bytes] = field(default_factory=dict)
    head: bytes = b""
    decision: tuple[str, int] | None = None
    port: int = 0
    hash: int = 0
    pages: int = 0


COUNTERS = ["packets", "malformed", "duplicates", "oversize", "refused", "delivered", "denied", "expired"]


@dataclass
class Share:
    """An application with its counters."""

    program: Application
    messages_max: int = 256
    pages_max: int = 1024
    counters: Counter = field(default_factory=Counter)
    hits: Counter = field(default_factory=Counter)
    entries: dict[tuple, Entry] = field(default_factory=dict)


class Card:
    """A block; times are in ns."""

    def __init__(self, applications: list[Application], timeout: int) -> None:
        self.shares = [Share(application) for application in applications]
        self.timeout = timeout
        self.coverage: Counter = Counter()

    def load(self, index: int, program: Application) -> None:
        """New rules, for messages whose packet 0 comes later."""
        self.shares[index].program = program
        self.shares[index].hits = Counter()

    def expire(self, time: int) -> None:
        for share in self.shares:
            for key, entry in list(share.entries.items()):
                if self.timeout and time - entry.last >= self.timeout:
                    del share.entries[key]
                    share.counters["expired"] += 1
                    self.coverage["outcome expired"] += 1

    def packet(self, port: int, tenant: int, frame: bytes, time: int, hash: int = 0) -> list[Out]:
        """What leaves because of this frame."""
        self.expire(time)
        heads = Heads.of(frame)
        found = heads and self.filter(frame, heads, tenant)
        if not found:
            self.coverage["outcome passed"] += 1
            return [Out(port, frame, tenant, hash)]
        index, share = found
        before = share.counters.copy()
        out = self.take(index, share, heads, port, tenant, frame, time, hash)
        for name in (share.counters - before).keys():
            self.coverage[f"outcome {name}"] += 1
        return out

    def filter(self, frame: bytes, heads: Heads, tenant: int) -> tuple[int, Share] | None:
        qnp = heads.udp + 8
        for index, share in enumerate(self.shares):
            of = share.program
            if of.port != u16(frame, heads.udp + 2) or of.tenant != tenant:
                continue
            if of.protocol:
                return index, share
            if len(frame) >= qnp + 22 and frame[qnp] == of.number and frame[qnp + 12] == DATA:
                return index, share
        return None

    def take(
        self, index: int, share: Share, heads: Heads, port: int, tenant: int, frame: bytes, time: int, hash: int
    ) -> list[Out]:
        counters, udp, program = share.counters, heads.udp, share.program
        length, least = u16(frame, udp + 4), 9 if program.protocol else 31
        said = u16(frame, heads.ip + 2) - 20 if heads.version == 4 else u16(frame, heads.ip + 4)
        malformed = length < least or udp + length > len(frame) or said != length
        frame = frame[: udp + length]
        qnp = udp + 8
        if program.protocol:
            kind, count, number, key, first = 0, 1, 0, (), qnp
        else:
            kind, count, number, first = *(frame[qnp + at] if not malformed else 0 for at in (1, 10, 11)), qnp + 22
            malformed = malformed or not 1 <= count <= MOST_PACKETS or number >= count
            source = frame[heads.ip + 12 : heads.ip + 16] if heads.version == 4 else frame[heads.ip + 8 : heads.ip + 24]
            key = (tenant, heads.version, source, frame[udp : udp + 2], frame[qnp + 2 : qnp + 6])
        entry = share.entries.get(key) if count > 1 else None
        if malformed or (entry and entry.count != count):
            counters["malformed"] += 1
            return []
        payload = frame[first:]
        if entry and number in entry.payloads:
            counters["duplicates"] += 1
            return []
        if sum(map(len, entry.payloads.values()) if entry else [0]) + len(payload) > MOST_PAYLOAD:
            counters["oversize"] += 1
            return []
        pages = -(-len(payload) // PAGE)
        full = not entry and len(share.entries) >= share.messages_max
        if full or sum(of.pages for of in share.entries.values()) + pages > share.pages_max:
            counters["refused"] += 1
            return []
        counters["packets"] += 1
        if not entry:
            entry = Entry(count, time)
            if count > 1:
                share.entries[key] = entry
        entry.last = time
        entry.payloads[number] = payload
        entry.pages += pages
        if number == 0:
            entry.head, entry.port, entry.hash = frame[:first], port, hash
            entry.decision = self.decide(share, kind, frame[qnp + 13] if not program.protocol else 0, payload)
        if len(entry.payloads) < count:
            return []
        share.entries.pop(key, None) if count > 1 else None
        assert entry.decision is not None
        target, value = entry.decision
        if target == "drop":
            counters["denied"] += 1
            return []
        counters["delivered"] += 1
        data = self.deliver(entry, heads, program.protocol is not None)
        # An invalid place is 255 in the verdict, but the mark has the number.
        return [Out(entry.port, data, tenant, entry.hash, (target, value), value & 0xFFFF | entry.port << 16, index)]

    def decide(self, share: Share, kind: int, segments: int, payload: bytes) -> tuple[str, int]:
        protocol = share.program.protocol
        if protocol:
            if protocol == "dns" or (protocol == "memcached" and payload[8:9] != b"\x80"):
                kind, window = (dns if protocol == "dns" else memcached)(payload)
            else:
                kind, fields = fields_of(NUMBERS[protocol], payload, share.program.id_bytes)
                window = walk(fields)
            self.coverage[f"type {protocol} {kind}"] += 1
        else:
            length = min(len(payload), WINDOW, 64 * segments or WINDOW)
            window = walk(payload[:length])
        on = share.program.on(kind)
        rule = on.choose(window) if on else None
        name = f"{on.message.name}.{rule.name if rule else 'default'}" if on else "default"
        action = rule.action if rule else on.default if on else share.program.default or Action("drop")
        self.coverage[f"rule {'hit' if rule else 'default'}"] += 1
        self.coverage[f"protocol {protocol or 'qnp'}"] += 1
        self.coverage[f"action {self.describe(action)}"] += 1
        for patterns in rule.conditions.values() if rule else []:
            for pattern in patterns:
                for piece in getattr(pattern, "pieces", [pattern]):
                    self.coverage[f"pattern {type(piece).__name__}"] += 1
        before = share.hits[name]
        share.hits[name] += 1
        return self.target(action, on, window, before)

    @staticmethod
    def describe(action: Action) -> str:
        if action.kind == "queue" and action.last is not None:
            return "queues by" if action.by else "queues in turn"
        return action.kind

    @staticmethod
    def target(action: Action, on: On | None, window: list[tuple[int, bytes]], before: int) -> tuple[str, int]:
        """Where an action sends a message, the `before`th that it gets."""
        if action.kind == "drop":
            return "drop", 0
        value = on.fields(window).get(action.by) if on and action.by else None
        number = 0 if value is None else crc16(value)
        if action.kind == "units":
            return "dispatch", number % 2**15
        if action.last is None:
            return {"queue": "host"}.get(action.kind, action.kind), action.first
        size = action.last - action.first + 1
        return "host", action.first + (number if action.by else before) % size

    @staticmethod
    def deliver(entry: Entry, heads: Heads, protocol: bool) -> bytes:
        """The frame of a whole message."""
        payload = b"".join(entry.payloads[number] for number in range(entry.count))
        if entry.count == 1:
            return entry.head + payload
        # The headers are those of packet 0, which may be of another form than the last packet's.
        own = Heads.of(entry.head + bytes(64))
        assert own is not None
        head, udp, ip = bytearray(entry.head), own.udp, own.ip
        length = 8 + 22 + len(payload)
        if own.version == 4:
            old, check, new = u16(head, ip + 2), u16(head, ip + 10), 20 + length
            total = (~check & 0xFFFF) + (~old & 0xFFFF) + new
            while total > 0xFFFF:
                total = (total & 0xFFFF) + (total >> 16)
            head[ip + 2 : ip + 4] = new.to_bytes(2, "big")
            head[ip + 10 : ip + 12] = (~total & 0xFFFF).to_bytes(2, "big")
        else:
            head[ip + 4 : ip + 6] = length.to_bytes(2, "big")
        head[udp + 4 : udp + 6] = length.to_bytes(2, "big")
        head[udp + 6 : udp + 8] = b"\0\0"
        head[udp + 8 + 10] = 1
        return bytes(head) + payload
