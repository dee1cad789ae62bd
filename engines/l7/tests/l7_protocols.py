# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The fields of messages of DNS and memcached for rules (engines/l7/machine.md, "Protocols"), in plain Python."""

from __future__ import annotations

import re
import struct

QNP, DNS, MEMCACHED = range(3)
SEEN, LONGEST, LABELS = 256, 250, 32
TYPES = {
    1: ("get", "gets"),
    2: ("set", "add", "replace", "append", "prepend", "cas"),
    3: ("delete", "incr", "decr", "touch"),
}
COMMANDS = {command.encode(): number for number, commands in TYPES.items() for command in commands}


def fields_of(protocol: int, payload: bytes) -> tuple[int, bytes]:
    """Type of the message, and the fields in their bytes."""
    seen = payload[:SEEN]
    return question(seen) if protocol == DNS else command(seen)


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
    match = re.match(rb"..\x00\x00\x00\x01..([a-z]+) ", seen, re.DOTALL)
    if match is None or match[1] not in COMMANDS:
        return 0, b""
    key = re.match(rb"([^ \r\n]*)[ \r\n]", seen[match.end() :], re.DOTALL)
    fields = bytes([1, len(key[1])]) + key[1] if key is not None and 1 <= len(key[1]) <= LONGEST else b""
    return COMMANDS[match[1]], fields
