# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The fields of messages of other protocols for rules (engines/l7/machine.md, "Protocols"), in plain Python."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

QNP, DNS, MEMCACHED, COAP, RADIUS, QUIC = range(6)
SEEN, LONGEST, LABELS = 256, 250, 32
TYPES = {
    1: ("get", "gets"),
    2: ("set", "add", "replace", "append", "prepend", "cas"),
    3: ("delete", "incr", "decr", "touch"),
}
COMMANDS = {command.encode(): number for number, commands in TYPES.items() for command in commands}


OPCODES = {
    1: (0x00, 0x09, 0x0C, 0x0D),
    2: (0x01, 0x02, 0x03, 0x0E, 0x0F, 0x11, 0x12, 0x13, 0x19, 0x1A),
    3: (0x04, 0x05, 0x06, 0x14, 0x15, 0x16, 0x1C),
}
TYPE_OF_OPCODE = {opcode: number for number, opcodes in OPCODES.items() for opcode in opcodes}
NONE = (0, b"")


class Unreadable(Exception):
    """The message contradicts its protocol."""


def fields_of(protocol: int, payload: bytes, id_bytes: int = 0) -> tuple[int, bytes]:
    """Type of the message, and the fields in their bytes. `id_bytes`: of a connection ID in a short header."""
    seen = payload[:SEEN]
    try:
        if protocol in (DNS, MEMCACHED):
            kind, fields = question(seen) if protocol == DNS else command(seen)
        elif protocol == QUIC:
            kind, fields = connection(seen, id_bytes)
        else:
            kind, fields = (request if protocol == COAP else login)(seen)
    except Unreadable:
        return NONE
    return (kind, fields) if len(fields) <= SEEN else NONE


def tlv(number: int, value: bytes | None) -> bytes:
    return b"" if value is None else bytes([number, len(value)]) + value


def question(seen: bytes) -> tuple[int, bytes]:
    none = (0, b"")
    if len(seen) < 12:
        return none
    _, flags, questions = struct.unpack(">HHH", seen[:6])
    if flags & 0xF800 or questions != 1:
        return none
    labels: list[bytes] = []
    at = begin = 12
    past = None
    try:
        while seen[at]:
            size = seen[at]
            if size < 64:
                label = seen[at + 1 : at + 1 + size]
                labels.insert(0, bytes([size]) + label.lower())
                if len(label) < size or len(labels) > LABELS or len(b"".join(labels)) > LONGEST:
                    return none
                at += 1 + size
            elif size >= 192:
                (target,) = struct.unpack(">H", seen[at : at + 2])
                past = past or at + 2
                if target - 0xC000 >= begin:
                    return none
                at = begin = target - 0xC000
            else:
                return none
    except (IndexError, struct.error):
        return none
    past = past or at + 1
    if past + 4 > len(seen):
        return none
    name = b"".join(labels)
    return 1, b"\x02\x02" + seen[past : past + 2] + bytes([1, len(name)]) + name


def command(seen: bytes) -> tuple[int, bytes]:
    if re.match(rb"..\x00\x00\x00\x01..\x80", seen, re.DOTALL):
        return binary(seen[8:])
    match = re.match(rb"..\x00\x00\x00\x01..([a-z]+) ", seen, re.DOTALL)
    if match is None or match[1] not in COMMANDS:
        return 0, b""
    key = re.match(rb"([^ \r\n]*)[ \r\n]", seen[match.end() :], re.DOTALL)
    fields = bytes([1, len(key[1])]) + key[1] if key is not None and 1 <= len(key[1]) <= LONGEST else b""
    return COMMANDS[match[1]], fields


def binary(seen: bytes) -> tuple[int, bytes]:
    if len(seen) < 24:
        raise Unreadable
    _, opcode, key_len, extras, _, _, body, _, _ = struct.unpack(">BBHBBHIIQ", seen[:24])
    if opcode not in TYPE_OF_OPCODE or extras + key_len > body:
        raise Unreadable
    key = seen[24 + extras :][:key_len]
    fields = tlv(2, bytes([opcode])) + tlv(1, key) if 1 <= key_len <= LONGEST and len(key) == key_len else b""
    return TYPE_OF_OPCODE[opcode], fields


def options(seen: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Options of a message of CoAP up to number 12 (RFC 7252, section 3.1)."""
    number = 0
    while at < len(seen) and seen[at] != 0xFF:
        delta, size = divmod(seen[at], 16)
        if 15 in (delta, size):
            raise Unreadable
        number += delta
        if number > 12:
            return
        at += 1
        if size == 13:
            if at == len(seen):
                raise Unreadable
            size, at = seen[at] + 13, at + 1
        elif size == 14:
            size = 269  # or more
        if at + size > min(len(seen), SEEN - 1):
            raise Unreadable
        yield number, seen[at : at + size]
        at += size
    if at < len(seen) and at + 1 == len(seen):
        raise Unreadable


def request(seen: bytes) -> tuple[int, bytes]:
    if len(seen) < 4:
        raise Unreadable
    token = seen[0] & 15
    if seen[0] >> 6 != 1 or seen[0] >> 4 & 3 > 1 or token > 8 or seen[1] not in range(1, 32) or len(seen) < 4 + token:
        raise Unreadable
    host = media = None
    segments = []
    for number, value in options(seen, 4 + token):
        if number == 3 and value and host is None:
            host = value
        elif number == 11:
            segments.append(value)
        elif number == 12 and len(value) <= 2 and media is None:
            media = value.rjust(2, b"\0")
    pieces = [b"/" + segment[at : at + 64] for segment in segments for at in range(-1, len(segment), 64)]
    if len(pieces) > 32 or any(b"/" in segment for segment in segments):
        raise Unreadable
    path = b"".join(b"/" + segment for segment in segments) or b"/"
    return 1, tlv(2, seen[1:2]) + tlv(3, media) + tlv(4, host) + tlv(1, path)


def login(seen: bytes) -> tuple[int, bytes]:
    if len(seen) < 20:
        raise Unreadable
    code, _, length = struct.unpack(">BBH", seen[:4])
    if not 20 <= length <= 4096 or (length > len(seen) and len(seen) < SEEN):
        raise Unreadable
    values: dict[int, bytes] = {}
    at = 20
    while at < length:
        size = seen[at + 1] if at + 1 < min(length, SEEN) else 0
        if length > SEEN and (at + 2 > SEEN or at + size > SEEN):
            break
        if size < 2 or at + size > length:
            raise Unreadable
        values.setdefault(seen[at], seen[at + 2 : at + size])
        at += size
    realm = None
    if b"@" in values.get(1, b""):
        labels = values[1].rpartition(b"@")[2].split(b".")
        name = b"".join(bytes([len(label)]) + label.lower() for label in reversed(labels))
        if all(1 <= len(label) <= 63 for label in labels) and len(labels) <= LABELS and len(name) <= LONGEST:
            realm = name
    kind = {1: 1, 4: 2}.get(code, 3)
    return kind, tlv(4, seen[:1]) + tlv(1, values.get(1)) + tlv(2, values.get(32)) + tlv(3, realm)


def connection(seen: bytes, id_bytes: int) -> tuple[int, bytes]:
    if not seen:
        raise Unreadable
    if seen[0] < 0x80:
        if len(seen) < 1 + id_bytes:
            raise Unreadable
        return 2, tlv(1, seen[1 : 1 + id_bytes])
    if len(seen) < 6 or seen[5] > 20:
        raise Unreadable
    behind = 6 + seen[5]
    if len(seen) <= behind or len(seen) < behind + 1 + seen[behind]:
        raise Unreadable
    return 1, tlv(2, seen[1:5]) + tlv(1, seen[6:behind])
