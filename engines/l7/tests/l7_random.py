# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs of the l7 engine, and messages at the edges of their rules: cut into packets, reordered, lost,
duplicated and mixed with those of other senders, beside hostile ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

from l7_language import (
    PROTOCOLS,
    WIDTHS,
    Action,
    Application,
    Field,
    Message,
    Name,
    On,
    Pattern,
    Program,
    Range,
    Row,
    Rule,
    Skip,
    Text,
    Until,
)
from l7_wire import binary, coap, last, lying, quic, radius

TIMEOUT = 4000 * 1024  # ns: short beside a pause, long beside all frames between two pauses
LETTERS = b"ab/-C2"
DELIMITERS = b"/-.:?&= \n\x00\xff"


@dataclass
class Frame:
    time: int
    port: int
    tenant: int
    hash: int
    data: bytes


@dataclass
class Load:
    """Other rules for an application."""

    application: int
    program: Program


@dataclass
class Case:
    """A program and what happens to it."""

    program: Program
    messages_max: int = 256
    pages_max: int = 1024
    steps: list[Frame | Load] = field(default_factory=list)


# ---- rules
def word(random: Random, most: int = 6) -> bytes:
    return bytes(random.choices(LETTERS, k=random.randint(1, most)))


def long_word(random: Random) -> bytes:
    """Bytes that end about where a row of the machine or a beat ends."""
    length = random.choice([31, 32, 33, 34, 60, 62, 63, 64, 65, 96, 100, 128, 250, 254])
    return (word(random, 9) * length)[:length]


def pieces(random: Random, pool: list[bytes]) -> Row:
    parts: list[Text | Skip | Until] = []
    for _ in range(random.choice([1, 1, 2, 2, 3, 3, 4, 5, 7])):
        kind = random.random()
        if kind < 0.5:
            parts.append(Text(random.choice(pool)))
        elif kind < 0.7:
            parts.append(Skip(random.choice([0, 1, 1, 2, 3, 5, 31, 32, 33, 63, 64, 70, 120])))
        else:
            parts.append(Until(bytes(random.sample(DELIMITERS, random.choice([1, 1, 1, 2, 3, 11])))))
    row = Row(tuple(parts), random.random() < 0.6)
    least = sum(len(part.data) if isinstance(part, Text) else getattr(part, "count", 1) for part in parts)
    return row if least <= 254 else Row((Text(random.choice(pool)),), True)


def name(random: Random, pool: list[bytes]) -> Name:
    labels = random.choices(pool, k=random.choice([1, 1, 2, 2, 3, 4]))
    return Name(tuple(labels), random.random() < 0.6)


def integer(random: Random, width: int) -> Range:
    top = 256**width - 1
    ends = [0, 1, 9, 10, 255, 256, 1000, 65535, top - 1, top, random.randint(0, top)]
    low, high = sorted(random.choices([end for end in ends if end <= top], k=2))
    single = random.random() < 0.4
    return Range(low, low if single else high, width, single)


def width_of(of: Field) -> int:
    """Bytes of an integer; 0 for other fields."""
    return {"uint8": 1, "uint16": 2, **WIDTHS}.get(of.kind, 0)


def pattern(random: Random, of: Field, pool: list[bytes]) -> Pattern:
    if width := width_of(of):
        return integer(random, width) if random.random() < 0.95 else Row((), True)
    if of.kind == "name":
        return name(random, pool) if random.random() < 0.97 else Row((), True)
    kind = random.random()
    if kind < 0.4:
        return pieces(random, pool)
    if kind < 0.5:
        return Row((Text(long_word(random)),), random.random() < 0.5)
    if kind < 0.53:
        return Row((), True)
    return Row((Text(b"".join(random.choices(pool, k=random.randint(1, 3)))[:254]),), random.random() < 0.5)


def action(random: Random, fields: list[Field]) -> Action:
    kind = random.choice(["queue"] * 6 + ["drop", "unit", "unit", "port", "by", "by", "turn", "units"])
    if kind == "queue":
        return Action("queue", random.choice([0, 1, 2, 255, 256, 65535, random.randrange(65536)]))
    if kind in ("unit", "port"):
        return Action(kind, random.randrange(32 if kind == "unit" else 4))
    if kind == "turn" or (kind == "by" and fields):
        bits = random.choice([0, 1, 2, 3, 5, 15])
        first = random.choice([0, 1, 100, 65536 - 2**bits])
        return Action("queue", first, first + 2**bits - 1, random.choice(fields).name if kind == "by" else None)
    return Action("units", by=random.choice(fields).name) if kind == "units" and fields else Action("drop")


class Names:
    """Names that no other rule of a program has."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> str:
        self.count += 1
        return f"r{self.count}"


def pool_of(random: Random, domain: bool) -> list[bytes]:
    if domain:
        labels = [b"a", b"b", b"example", b"Shop", b"x-y", b"l" * 30, b"n" * 63]
        return random.sample(labels, random.randint(3, 6))
    pool = [word(random) for _ in range(random.randint(3, 7))]
    return [*pool, bytes(random.randrange(256) for _ in range(random.randint(1, 4)))]


def rules_of(random: Random, message: Message, names: Names) -> On:
    """Rules for a message type."""
    fields = [of for of in message.fields if of.dispatch]
    pools = {of.name: pool_of(random, of.kind == "name") for of in fields}
    rules: list[Rule] = []
    texts = [of for of in fields if of.kind in ("string", "bytes")]
    theme = random.random()
    longest = domain = next((of.name for of in fields if of.kind == "name"), None)
    if texts and theme < 0.2:
        # Many values at one place: they are found by a hash.
        of, length = random.choice(texts), random.choice([2, 4, 8, 33, 40])
        prefix = word(random, 8)
        values = {
            prefix + bytes(random.choices(b"abcdefgh", k=length)) for _ in range(random.choice([4, 5, 9, 40, 90]))
        }
        for value in sorted(values):
            row = Row((Text(value),), random.random() < 0.2)
            rules.append(Rule(names.next(), {of.name: (row,)}, action(random, fields)))
    elif texts and theme < 0.4:
        longest = random.choice(texts).name
    for _ in range(random.choice([1, 2, 3, 4, 6, 10, 14])):
        some = random.sample(fields, min(len(fields), random.choice([0, 1, 1, 1, 2, 2, 3])))
        conditions = {
            of.name: tuple(pattern(random, of, pools[of.name]) for _ in range(random.choice([1, 1, 1, 2, 3])))
            for of in some
        }
        if longest in conditions and random.random() < 0.7 and longest != domain:
            row = Row((Text(b"".join(random.choices(pools[longest], k=random.randint(1, 4)))),), random.random() < 0.6)
            conditions[longest] = (row, *conditions[longest][1:])
        rules.append(Rule(names.next(), conditions, action(random, fields)))
    if random.random() < 0.75 and not (longest and random.random() < 0.8):
        order = list(range(len(rules)))
        random.shuffle(order)
        for rule, priority in zip(rules, order, strict=True):
            rule.priority = priority
        if random.random() < 0.1:
            # The highest number that there is, and one below it.
            rules[order.index(len(rules) - 1)].priority = 2**64 - 1
            if len(rules) > 1:
                rules[order.index(len(rules) - 2)].priority = 2**64 - 2
    else:
        for rule in rules:
            rule.priority = random.choice([0, 0, 0, 1])
    random.shuffle(rules)
    return On(message, rules, action(random, fields), longest)


def add_many(random: Random, program: Program, names: Names, count: int) -> None:
    """Adds so many rules to a message type, whose values of one field differ in their length, too."""
    ons = [on for application in program.applications for on in application.ons]
    found = [(on, of) for on in ons for of in on.message.fields if of.dispatch and of.kind in ("string", "bytes")]
    if not found:
        return
    on, chosen = random.choice(found)
    fields = [of for of in on.message.fields if of.dispatch]
    prefix = word(random, 8)
    values = {prefix + bytes(random.choices(b"abcdefgh", k=random.choice([4, 6, 9, 33]))) for _ in range(count)}
    for priority, value in enumerate(sorted(values), 10_000):
        row = Row((Text(value),), random.random() < 0.2)
        on.rules.append(Rule(names.next(), {chosen.name: (row,)}, action(random, fields), priority))


def schema(random: Random) -> list[Message]:
    messages = []
    for number, index in zip(random.sample(range(1, 16), 3), range(random.randint(1, 3)), strict=False):
        kinds = ["string", "string", "bytes", "uint32", "uint64"]
        dispatch = [
            Field(f"f{at}", of, random.choice(kinds), True)
            for at, of in enumerate(random.sample(range(1, 16), random.randint(1, 4)))
        ]
        rest = random.sample(sorted(set(range(1, 256)) - {of.number for of in dispatch}), random.randint(0, 3))
        fields = [*dispatch, *(Field(f"g{at}", of, random.choice(kinds), False) for at, of in enumerate(rest))]
        messages.append(Message(f"M{index}", number, fields))
    return messages


def application(random: Random, index: int, messages: list[Message], names: Names) -> Application:
    protocol = random.choice([None] * 6 + ["dns", "dns", "memcached", "coap", "radius", "quic"])
    known = PROTOCOLS[protocol] if protocol else messages
    chosen = random.sample(known, random.randint(1, len(known)))
    return Application(
        f"app{index}",
        random.randrange(256),
        random.choice([53, 7000, 11211, 65535]) + index * -2,
        [rules_of(random, message, names) for message in chosen],
        random.choice([None, action(random, [])]),
        random.choice([0, 0, 1, 5, 63]),
        protocol,
        random.choice([0, 4, 8, 20]) if protocol == "quic" else 0,
    )


def program(random: Random, names: Names) -> Program:
    messages = schema(random)
    applications = [application(random, index, messages, names) for index in range(random.choice([1, 2, 2]))]
    for other in applications[1:]:
        other.number = (applications[0].number + random.randint(1, 3)) % 256
    return Program(applications, messages)


def rule_at(program: Program, line: int) -> tuple[On, Rule] | None:
    """The rule that stands in a line of a program's text."""
    lines = program.text().splitlines()
    found = re.match(r"\s*rule (\w+)", lines[line - 1]) if 0 < line <= len(lines) else None
    ons = [on for application in program.applications for on in application.ons]
    return next(((on, rule) for on in ons for rule in on.rules if found and rule.name == found[1]), None)


def without(program: Program, lines: set[int], random: Random) -> None:
    """Takes the rules of some lines out of a program that was refused; half of all rules if there are none."""
    refused = [found[1] for line in lines if (found := rule_at(program, line))]
    for on in (on for application in program.applications for on in application.ons):
        if refused:
            on.rules = [rule for rule in on.rules if rule not in refused]
        elif len(on.rules) > 1:
            on.rules = random.sample(on.rules, len(on.rules) // 2)


# ---- values
def witness(random: Random, of: Pattern) -> bytes:
    """A value that a pattern matches."""
    if isinstance(of, Range):
        return random.choice([of.low, of.high, random.randint(of.low, of.high)]).to_bytes(of.width, "big")
    if isinstance(of, Name):
        return b".".join(of.labels)
    out = b""
    for piece in of.pieces:
        if isinstance(piece, Text):
            out += piece.data
        elif isinstance(piece, Skip):
            out += bytes(random.choices(LETTERS, k=piece.count))
        else:
            other = [byte for byte in [*LETTERS, *DELIMITERS] if byte not in piece.stops]
            length = random.choice([0, 1, 2, 5, 5, 20, 40, 65])
            out += bytes(random.choices(other, k=length)) + bytes([random.choice(piece.stops)])
    return out + (bytes(random.choices(LETTERS, k=random.choice([0, 0, 1, 3, 20]))) if of.rest else b"")


def fields_of(random: Random, rule: Rule) -> dict[str, bytes]:
    """Fields, as rules see them, that fulfil a rule's conditions."""
    found = {}
    for name, patterns in rule.conditions.items():
        one = random.choice(patterns)
        found[name] = one.wire() if isinstance(one, Name) else witness(random, one)
    return found


def edge(random: Random, value: bytes) -> bytes:
    """A value beside another one."""
    at = random.randrange(len(value) + 1)
    kind = random.randrange(6)
    if kind == 0:
        return value[:-1]
    if kind == 1:
        return value + random.choice([b"/", b"a", b"\0"])
    if kind == 2 and value:
        at = random.choice([0, len(value) - 1, at % len(value)])
        return value[:at] + bytes([value[at] ^ random.choice([1, 0x20, 0x80])]) + value[at + 1 :]
    if kind == 3 and value:
        number = int.from_bytes(value, "big") + random.choice([-1, 1])
        return (number % 256 ** len(value)).to_bytes(len(value), "big")
    if kind == 4:
        return value[:at] + value[at + 1 :]
    return value[:at] + random.choice([b"/", b"-", b"a"]) + value[at:]


def values(random: Random, on: On) -> dict[str, bytes]:
    """Fields of a message that a rule matches, mostly."""
    found: dict[str, bytes] = {}
    wanted = random.sample(on.rules, min(len(on.rules), random.choice([1, 1, 1, 2])))
    for rule in wanted:
        for name, patterns in rule.conditions.items():
            found.setdefault(name, witness(random, random.choice(patterns)))
    for of in on.message.fields:
        if of.dispatch and of.name not in found and random.random() < 0.6:
            found[of.name] = random.randbytes(width_of(of)) if width_of(of) else word(random, 12)
    if random.random() < 0.3 and found:
        name = random.choice(sorted(found))
        found[name] = edge(random, found[name])
    if random.random() < 0.03 and found:
        del found[random.choice(sorted(found))]
    return {name: value[:255] for name, value in found.items()}


def tlv(number: int, value: bytes) -> bytes:
    return bytes([number, len(value)]) + value


def qnp_payload(random: Random, on: On | None) -> tuple[bytes, int]:
    """TLVs, and how many of their bytes hold dispatch fields."""
    if on is None:
        return random.randbytes(random.randint(1, 80)), 0
    numbers = {of.name: of.number for of in on.message.fields}
    parts = [tlv(numbers[name], value) for name, value in values(random, on).items()]
    if random.random() < 0.4:
        random.shuffle(parts)
    if random.random() < 0.1:
        parts.insert(random.randrange(len(parts) + 1), tlv(random.choice([0, 16, 77, 255]), random.randbytes(3)))
    if random.random() < 0.05 and parts:
        # The first of two fields with a number counts.
        parts.append(random.choice(parts)[:1] + tlv(0, word(random))[1:])
    head = b"".join(parts)
    if random.random() < 0.05 and head:
        # A length that lies.
        at = random.randrange(len(head))
        head = head[:at] + bytes([random.choice([0, 1, head[at] + 1 & 255, 255])]) + head[at + 1 :]
    rest = b"".join(tlv(of.number, word(random, 30)) for of in on.message.fields if not of.dispatch)
    return (head + rest) or b"\0", len(head)


def dns_payload(random: Random, on: On | None) -> bytes:
    found = values(random, on) if on and random.random() < 0.95 else {}
    labels = [label for label in found.get("name", b"a.b").split(b".") if label]
    if random.random() < 0.4:
        labels = random.choices([b"www", b"a", b"Shop"], k=random.choice([1, 1, 2, 29, 31, 33])) + labels
    labels = [label[:63].swapcase() if random.random() < 0.2 else label[:63] for label in labels]
    if random.random() < 0.03:
        labels += [b"q" * 63] * 3
    kind = found.get("type", b"\0\1")[:2].ljust(2, b"\0")
    header = bytearray(random.randbytes(2) + b"\1\0" + b"\0\1" + bytes(6))
    encoded = b"".join(bytes([len(label)]) + label for label in labels)
    end = b"\0"
    if random.random() < 0.12:
        # The number of the message is the label `a`, or a pointer leads to an end, forth, or round in a circle.
        header[0:3] = b"\1a\0"
        end = (0xC000 | random.choice([0, 0, 0, 0, 2, 3, 4, 11, 12, 13, 200])).to_bytes(2, "big")
    if random.random() < 0.03:
        header[random.choice([2, 3, 4, 5])] ^= random.choice([1, 0x80, 0x08])
    if random.random() < 0.02:
        encoded += bytes([random.choice([0x40, 0x80, 0xBF, 0xC0])])
    payload = bytes(header) + encoded + end + kind + b"\0\1"
    if random.random() < 0.05:
        payload = payload[: random.randint(1, len(payload))]
    return payload + random.randbytes(random.choice([0, 0, 11]))


def memcached_payload(random: Random, on: On | None) -> bytes:
    found = values(random, on).get("key", b"k") if on else b"k"
    commands = {
        "get": [b"get", b"gets"],
        "set": [b"set", b"add", b"replace", b"append", b"prepend", b"cas"],
        "change": [b"delete", b"incr", b"decr", b"touch"],
    }
    known = commands[on.message.name] if on else [b"stats", b"version", b"GET", b"getx", b"ge", b""]
    header = random.randbytes(2) + b"\0\0" + b"\0\1" + random.randbytes(2)
    if random.random() < 0.05:
        header = random.randbytes(8)
    end = random.choice([b"\r\n", b"\r\n", b" 0 0 1\r\na\r\n", b" b c\r\n", b"\n", b""])
    text = random.choice(known) + (b" " if random.random() < 0.97 else random.choice([b"", b"  ", b"\r\n"])) + found
    payload = header + text + end
    if random.random() < 0.05:
        payload = payload[: random.randint(1, len(payload))]
    return payload


def payload_of(random: Random, of: Application, on: On | None) -> bytes:
    """A message of another protocol than QNP, for the rules of a type or of none."""
    if of.protocol == "dns":
        return dns_payload(random, on)
    if of.protocol == "memcached" and random.random() < 0.6:
        return memcached_payload(random, on)
    fields = values(random, on) if on else {}
    kind = on.message.number if on else 0
    if of.protocol == "memcached":
        payload = binary(random, fields, kind)
    elif of.protocol == "coap":
        payload = coap(random, fields if on else {"method": bytes([random.choice([0, 0x20, 0x45, 0xFF])])})
    elif of.protocol == "radius":
        payload = radius(random, fields, {1: 1, 2: 4}.get(kind, last(fields, "code", 12)))
    else:
        payload = quic(random, fields, of.id_bytes, kind != 2)
    return lying(random, payload)


# ---- frames
@dataclass(frozen=True)
class Sender:
    version: int
    address: bytes
    port: int
    tag: bool
    tenant: int


def datagram(random: Random, sender: Sender, port: int, payload: bytes, lie: str = "") -> bytes:
    """A frame. `lie` is a length or header that contradicts the others, or makes it no message."""
    length = 8 + len(payload)
    udp_length = length + {"udp longer": 1, "udp shorter": -1, "udp 8": 8 - length, "udp 0": -length}.get(lie, 0)
    udp = sender.port.to_bytes(2, "big") + port.to_bytes(2, "big") + udp_length.to_bytes(2, "big") + random.randbytes(2)
    tag = b"\x81\x00" + random.randbytes(2) if sender.tag else b""
    tag += b"\x81\x00\x00\x07" if lie == "two tags" else b""
    by = {"ip longer": 1, "ip shorter": -1}.get(lie, 0)
    follow = by if lie not in ("udp longer", "udp shorter", "udp 8", "udp 0") else udp_length - length
    if sender.version == 4:
        first = 0x46 if lie == "options" else 0x45
        fragment = {"fragment": 0x2000, "later fragment": 0x0001}.get(lie, random.choice([0, 0x4000, 0x8000]))
        protocol = 6 if lie == "tcp" else 17
        head = bytes([first, random.randrange(256)]) + (20 + length + follow).to_bytes(2, "big") + random.randbytes(2)
        head += fragment.to_bytes(2, "big") + bytes([random.randrange(256), protocol]) + random.randbytes(2)
        head += sender.address + b"\x0a\x00\x00\x63"
        kind = b"\x08\x00"
    else:
        first = 0x40 if lie == "options" else 0x60 | random.randrange(16)
        following = {"fragment": 44, "later fragment": 44, "tcp": 6}.get(lie, 17)
        head = bytes([first]) + random.randbytes(3) + (length + follow).to_bytes(2, "big")
        head += bytes([following, 64]) + sender.address + random.randbytes(16)
        kind = b"\x86\xdd"
    frame = random.randbytes(12) + tag + kind + head + udp + payload
    if lie == "cut":
        return frame[: random.randint(14, len(frame) - 1)]
    behind = random.choice([0] * 6 + [1, 4, 18])
    return frame + random.randbytes(behind if lie != "udp longer" else random.choice([0, 4]))


LIES = [
    "udp longer", "udp shorter", "udp 8", "udp 0", "ip longer", "ip shorter", "options", "fragment", "later fragment",
    "tcp", "two tags", "cut",
]  # fmt: skip


def lie_of(random: Random) -> str:
    return random.choice(LIES) if random.random() < 0.04 else ""


def senders(random: Random, tenant: int) -> list[Sender]:
    """Two to four, of which some share all but one part of their key."""
    address = random.randbytes(4)
    some = [
        Sender(4, address, 4000, False, tenant),
        Sender(4, address, 4001, random.random() < 0.5, tenant),
        Sender(4, address[:3] + bytes([address[3] ^ 1]), 4000, True, tenant),
        Sender(6, address + bytes(12), 4000, False, tenant),
        Sender(6, address + bytes(11) + b"\1", 4000, True, tenant),
    ]
    return random.sample(some, random.randint(2, 4))


def qnp_message(random: Random, of: Application, sender: Sender, number: int, big: bool) -> list[bytes]:
    """The packets of a message, in order. `big`: it may be longer than the card takes."""
    on = random.choice(of.ons) if random.random() < 0.95 else None
    kind = on.message.number if on else random.choice([0, 1, 2, 3, 14, 15, 16, 17, 200])
    payload, dispatch = qnp_payload(random, on)
    count = random.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 32] if random.random() < 0.4 else [1, 1, 2, 3])
    first = max(1, dispatch) if random.random() < 0.9 else random.randint(1, len(payload))
    body = payload[first:] + random.randbytes(random.choice([0, 1, 5, 64, 200]))
    parts = [payload[:first]]
    if count == 1:
        parts[0] += body
    elif big:
        parts += [random.randbytes(random.choice([1400, 4000, 8100])) for _ in range(count - 1)]
    else:
        body = body.ljust(count - 1, b"z")
        places = sorted(random.sample(range(1, len(body)), count - 2)) if count > 2 else []
        parts += [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
    least = -(-dispatch // 64)
    segments = random.choice([0, 0, 0, least, least, least + 1, max(0, least - 1), 255])
    frames = []
    for at, part in enumerate(parts):
        said = [count, at, 0]
        if random.random() < 0.03:
            said = random.choice(
                [[0, 0, 0], [33, 0, 0], [count, count, 0], [count + 1, at, 0], [count, at, 1], [count, at, 128]]
            )
        application = of.number if random.random() < 0.99 else random.randrange(256)
        header = bytes([application, kind]) + number.to_bytes(4, "big") + random.randbytes(4)
        header += bytes([*said, segments]) + random.randbytes(8)
        frames.append(datagram(random, sender, of.port, header + part, lie_of(random)))
    return frames


def impaired(random: Random, packets: list[bytes]) -> list[bytes]:
    """Packets of a message as a network may bring them."""
    packets = list(packets)
    kind = random.random()
    if kind < 0.1:
        del packets[random.randrange(len(packets))]
    elif kind < 0.15:
        # Packet 0 never comes.
        del packets[0]
    if random.random() < 0.2 and packets:
        packets.insert(random.randrange(len(packets) + 1), random.choice(packets))
    if random.random() < 0.4:
        random.shuffle(packets)
    elif random.random() < 0.2:
        packets.reverse()
    return packets


def messages(random: Random, program: Program, count: int) -> Iterator[tuple[int, list[bytes]]]:
    """Packets of messages, each with the tenant of its sender."""
    by_app = [senders(random, of.tenant) for of in program.applications]
    big, fresh = random.random() < 0.04, random.randrange(2**30)
    for _ in range(count):
        index = random.randrange(len(program.applications))
        of, sender = program.applications[index], random.choice(by_app[index])
        if of.protocol:
            on = random.choice(of.ons) if random.random() < 0.95 else None
            payload = payload_of(random, of, on)
            packets = [datagram(random, sender, of.port, payload, lie_of(random))]
        else:
            # Numbers come again, with the same sender and with others.
            fresh += 1
            number = fresh if random.random() < 0.8 else random.choice([0, 1, 2, 2**32 - 1])
            # Numbers come again with another sender, and sometimes with the same one.
            packets = qnp_message(random, of, sender, number // len(by_app[index]), big)
        tenant = sender.tenant if random.random() < 0.99 else random.choice([0, 1, 62])
        yield tenant, impaired(random, packets)
    if random.random() < 0.5:
        yield 0, [random.randbytes(random.choice([1, 13, 14, 18, 42, 60, 200])) for _ in range(3)]


def wire(random: Random, program: Program, count: int, time: int) -> Iterator[Frame]:
    """Frames of messages, up to four of them mixed."""
    queues: list[tuple[int, list[bytes]]] = []
    source = messages(random, program, count)
    port = random.randrange(2)
    while True:
        while len(queues) < 4 and (one := next(source, None)):
            queues.append(one)
        queues = [queue for queue in queues if queue[1]]
        if not queues:
            return
        tenant, packets = random.choice(queues)
        if random.random() < 0.1:
            port = random.randrange(2)
        time += 1000
        yield Frame(time, port, tenant, random.getrandbits(32), packets.pop(0))


def other_rules(random: Random, program: Program, names: Names) -> Load:
    """Other rules for an application of a program, which keeps its place on the wire."""
    other = deepcopy(program)
    index = random.randrange(len(other.applications))
    of = other.applications[index]
    known = PROTOCOLS[of.protocol] if of.protocol else other.messages
    of.ons = [rules_of(random, message, names) for message in random.sample(known, random.randint(1, len(known)))]
    of.default = random.choice([None, action(random, [])])
    return Load(index, other)


def traffic(random: Random, of: Case, loads: list[Load], count: int) -> None:
    """Adds messages to a case, with loads of rules between them and pauses in which messages expire."""
    time, now = 0, deepcopy(of.program)
    for load in [*loads, None]:
        for frame in wire(random, now, count // (1 + len(loads)), time):
            of.steps.append(frame)
            time = frame.time
        if load:
            now.applications[load.application] = load.program.applications[load.application]
            of.steps.append(load)
        if random.random() < 0.3:
            time += 2 * TIMEOUT
    # At the end all that is not whole expires.
    of.steps.append(Frame(time + 4 * TIMEOUT, 0, 0, 0, bytes(60)))
