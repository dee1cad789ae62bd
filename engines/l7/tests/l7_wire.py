# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random messages of CoAP, RADIUS, QUIC and memcached's binary protocol for given fields, and messages that lie."""

from __future__ import annotations

import struct
from random import Random

from l7_protocols import OPCODES

Fields = dict[str, bytes]


def last(fields: Fields, name: str, otherwise: int) -> int:
    """The lowest byte of an integer field."""
    return (fields.get(name) or bytes([otherwise]))[-1]


def option(delta: int, value: bytes) -> bytes:
    """An option of CoAP (RFC 7252, section 3.1)."""

    def nibble(number: int) -> tuple[int, bytes]:
        if number < 13:
            return number, b""
        return (13, bytes([number - 13])) if number < 269 else (14, struct.pack(">H", number - 269))

    (high, more), (low, longer) = nibble(delta), nibble(len(value))
    return bytes([high << 4 | low]) + more + longer + value


def coap(random: Random, fields: Fields) -> bytes:
    options = [(11, segment) for segment in fields.get("path", b"/").lstrip(b"/").split(b"/")]
    if options == [(11, b"")] and random.random() < 0.8:
        options = []
    if "host" in fields:
        options.append((3, fields["host"]))
    if "format" in fields:
        media = fields["format"][-2:].lstrip(b"\0")
        options.append((12, media.rjust(random.choice([0, 0, 2]), b"\0")))
    for number in random.sample([1, 3, 4, 5, 7, 8, 9, 12, 14, 15, 17, 35, 60, 292, 65000], random.choice([0, 1, 1, 3])):
        options.append((number, random.randbytes(random.choice([0, 1, 2, 3, 8, 13, 14]))))
    token = random.randbytes(random.choice([0, 0, 1, 4, 8]))
    method = last(fields, "method", 1)
    if random.random() < 0.7:
        method = method % 31 or 31
    payload = bytes([0x40 | random.choice([0, 0x10]) | len(token), method]) + random.randbytes(2) + token
    number = 0
    for at, value in sorted(options, key=lambda one: one[0]):
        payload += option(at - number, value)
        number = at
    return payload + random.choice([b"", b"", b"\xff{}", b"\xff" + random.randbytes(300)])


def radius(random: Random, fields: Fields, code: int) -> bytes:
    user = fields.get("user")
    if "realm" in fields and (user is None or random.random() < 0.7):
        user = (user or b"a.b") + b"@" + fields["realm"]
    attributes = [] if user is None else [(1, user)]
    if "nas" in fields:
        attributes.append((32, fields["nas"]))
    for _ in range(random.choice([0, 1, 1, 4])):
        number = random.choice([1, 2, 4, 5, 26, 32, 79, 80])
        attributes.append((number, random.randbytes(random.choice([0, 1, 4, 16, 18, 100, 253]))))
    if random.random() < 0.5:
        random.shuffle(attributes)
    body = b"".join(bytes([number, 2 + len(value[:253])]) + value[:253] for number, value in attributes)
    length = 20 + len(body)
    if random.random() < 0.1:
        length += random.choice(
            [-1, 1, -length, 19 - length, 4096 - length, 4097 - length, 256 - length, 65535 - length]
        )
    return (
        struct.pack(">BBH", code, 7, max(0, length)) + random.randbytes(16) + body + random.choice([b"", b"", b"pad"])
    )


def quic(random: Random, fields: Fields, id_bytes: int, long: bool) -> bytes:
    number = fields.get("id", b"")
    if not long:
        return bytes([random.choice([0x40, 0x7F, 0])]) + number[:id_bytes].ljust(id_bytes, b"\0") + random.randbytes(30)
    version = fields.get("version", b"\0\0\0\1")[-4:].rjust(4, b"\0")
    number = number[:20] if random.random() < 0.9 else number[:255]
    source = random.randbytes(random.choice([0, 0, 4, 8, 20]))
    payload = bytes([random.choice([0xC0, 0xD3, 0x80, 0xFF])]) + version + bytes([len(number)]) + number
    return payload + bytes([len(source)]) + source + random.randbytes(random.choice([0, 1, 300]))


def binary(random: Random, fields: Fields, kind: int) -> bytes:
    opcode = random.choice(OPCODES.get(kind, (0x07, 0x0A, 0x0B, 0x10, 0x1B, 0x1D, 0x1E, 0x20, 0xFF)))
    if random.random() < 0.5 and last(fields, "opcode", 0xFF) in OPCODES.get(kind, ()):
        opcode = last(fields, "opcode", 0xFF)
    key, extras, value = fields.get("key", b""), random.randbytes(random.choice([0, 0, 8, 20])), random.randbytes(5)
    body = len(extras) + len(key) + random.choice([0, len(value)])
    if random.random() < 0.1:
        body += random.choice([-1, -body, 1 << 16, 1 << 31])
    header = struct.pack(">BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0, max(0, body), 1, 2)
    return random.randbytes(2) + b"\0\0\0\1" + random.randbytes(2) + header + extras + key + value


def lying(random: Random, payload: bytes) -> bytes:
    """The message, sometimes cut or with a byte that is another one."""
    kind = random.random()
    if kind < 0.1:
        return payload[: random.randint(1, len(payload))]
    if kind < 0.25:
        at = random.randrange(min(len(payload), random.choice([4, 8, 40, 256])))
        byte = random.choice(
            [0, 1, 0x0D, 0x0E, 0x0F, 0x2F, 0x40, 0xBD, 0xBE, 0xFF, payload[at] ^ 1, payload[at] + 1 & 255]
        )
        return payload[:at] + bytes([byte]) + payload[at + 1 :]
    return payload


# ---- messages at the edges of what the card reads
def text(random: Random, most: int) -> bytes:
    return bytes(random.choice(b"ab.@/ \x00\xffAZ") for _ in range(random.randint(0, most)))


def size(random: Random) -> int:
    return random.choice(
        [0, 1, 2, 3, 5, 12, 13, 14, 20, 61, 62, 63, 64, 65, 100, 127, 128, 130, 200, 250, 251, 253, 255]
    )


def hostile_coap(random: Random) -> bytes:
    """A request with a path, mostly; some of its options contradict their lengths or order."""
    if random.random() < 0.3:
        # Any options up to some place.
        payload = bytes([0x40 | random.choice([0, 0x10]) | random.choice([0, 8]), random.choice([1, 2, 31])]) + bytes(
            10
        )
        for _ in range(random.randrange(12)):
            payload += option(
                random.choice([0, 0, 0, 1, 3, 8, 11, 12]), text(random, size(random) if random.random() < 0.2 else 9)
            )
        return lying(random, payload + random.choice([b"", b"\xff", b"\xffx", b"\xf1", b"\x1f", b"\xe0", b"\xd0"]))
    count = random.choice([0, 1, 2, 3, 4, 30, 31, 32, 33])
    sizes = [size(random) if random.random() < 0.04 else random.choice([0, 1, 3, 4]) for _ in range(count)]
    segments = [bytes(random.choices(b"abc", k=one)) for one in sizes]
    fields = {"path": b"/" + b"/".join(segments)}
    if random.random() < 0.4:
        fields["host"] = text(random, size(random) if random.random() < 0.2 else 20) or b"h"
    if random.random() < 0.4:
        fields["format"] = random.randbytes(random.choice([0, 1, 2, 2]))
    return lying(random, coap(random, fields))


def hostile_radius(random: Random) -> bytes:
    labels = [text(random, 4).replace(b".", b"") for _ in range(random.choice([1, 2, 2, 3, 31, 32, 33]))]
    if random.random() < 0.2:
        labels = [b"l" * random.choice([1, 62, 63, 64, 65, 128]) for _ in range(random.randint(1, 4))]
    user = text(random, random.choice([0, 3, 8, 64, 70])) + random.choice([b"@", b"@", b"@@", b""]) + b".".join(labels)
    fields = {"user": user[:253]}
    if random.random() < 0.5:
        fields["nas"] = text(random, random.choice([0, 8, 64, 130]))
    if random.random() < 0.1:
        del fields["user"]
    return lying(random, radius(random, fields, random.choice([1, 1, 4, 12, 255])))


def hostile_memcached(random: Random) -> bytes:
    return lying(random, binary(random, {"key": random.randbytes(size(random))}, random.randrange(4)))


def uri(*segments: bytes, host: bytes = b"") -> bytes:
    """A GET of this path."""
    options = option(3, host) if host else b""
    for at, segment in enumerate(segments):
        options += option(0 if at else 11 - (3 if host else 0), segment)
    return b"\x40\x01\0\7" + options


def login(*attributes: tuple[int, bytes], length: int | None = None) -> bytes:
    body = b"".join(bytes([number, 2 + len(value)]) + value for number, value in attributes)
    return struct.pack(">BBH", 1, 0, 20 + len(body) if length is None else length) + bytes(16) + body
