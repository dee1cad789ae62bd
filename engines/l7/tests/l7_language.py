# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs of the l7 engine as plain Python: their text, and which rule a message matches (language.md). Nothing here
comes from the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTHS = {"uint32": 4, "uint64": 8}


class Ambiguous(AssertionError):
    """Two rules of equal priority and different actions match a message: the program must be refused."""


def literal(data: bytes) -> str:
    """Bytes as a string of the language."""
    plain = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0: "\\0"}
    text = "".join(plain.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in data)
    return f'"{text}"'


@dataclass(frozen=True)
class Text:
    data: bytes

    def text(self) -> str:
        return literal(self.data)


@dataclass(frozen=True)
class Skip:
    count: int

    def text(self) -> str:
        return f"skip {self.count}"


@dataclass(frozen=True)
class Until:
    stops: bytes

    def text(self) -> str:
        return f"until {literal(self.stops)}"


@dataclass(frozen=True)
class Row:
    """Pieces one behind the other; `rest` stands for `..` at the end."""

    pieces: tuple[Text | Skip | Until, ...]
    rest: bool = False

    def text(self) -> str:
        return " ".join([piece.text() for piece in self.pieces] + [".."] * self.rest)

    def matches(self, value: bytes) -> bool:
        at = 0
        for piece in self.pieces:
            if isinstance(piece, Text):
                if value[at : at + len(piece.data)] != piece.data:
                    return False
                at += len(piece.data)
            elif isinstance(piece, Skip):
                at += piece.count
                if at > len(value):
                    return False
            else:
                ends = [end for end in range(at, len(value)) if value[end] in piece.stops]
                if not ends:
                    return False
                at = ends[0] + 1
        return self.rest or at == len(value)

    def length(self) -> tuple[int, bool]:
        """What `longest` compares: the bytes of text, those skipped and one for each `until`; and whether the pattern
        is exact.
        """
        lengths = {Text: lambda piece: len(piece.data), Skip: lambda piece: piece.count, Until: lambda _: 1}
        return sum(lengths[type(piece)](piece) for piece in self.pieces), not self.rest


@dataclass(frozen=True)
class Range:
    """An integer of `width` bytes from `low` to `high`."""

    low: int
    high: int
    width: int
    single: bool = False

    def text(self) -> str:
        return str(self.low) if self.single else f"{self.low} ..= {self.high}"

    def matches(self, value: bytes) -> bool:
        return len(value) == self.width and self.low <= int.from_bytes(value, "big") <= self.high

    def length(self) -> tuple[int, bool]:
        return 0, False


@dataclass(frozen=True)
class Name:
    """A domain name, the first label first; a zone also matches the names below it."""

    labels: tuple[bytes, ...]
    zone: bool

    def text(self) -> str:
        return "zone " * self.zone + literal(b".".join(self.labels))

    def wire(self) -> bytes:
        return b"".join(bytes([len(label)]) + label.lower() for label in reversed(self.labels))

    def matches(self, value: bytes) -> bool:
        return value.startswith(self.wire()) if self.zone else value == self.wire()

    def length(self) -> tuple[int, bool]:
        return len(self.wire()), not self.zone


Pattern = Row | Range | Name


@dataclass(frozen=True)
class Action:
    """`kind` is drop, queue, unit or port; `last` and `by` (a field, or None for "in turn") make it a group."""

    kind: str
    first: int = 0
    last: int | None = None
    by: str | None = None

    def text(self) -> str:
        if self.kind == "drop":
            return "drop"
        if self.kind == "units":
            return f"units by {self.by}"
        if self.last is None:
            return f"{self.kind} {self.first}"
        return f"queues {self.first} ..= {self.last} " + (f"by {self.by}" if self.by else "in turn")


@dataclass
class Rule:
    name: str
    conditions: dict[str, tuple[Pattern, ...]]
    action: Action
    priority: int = 0

    def text(self) -> str:
        conditions = "".join(
            f" {name} = {' | '.join(p.text() for p in patterns)};" for name, patterns in self.conditions.items()
        )
        priority = f" priority {self.priority}" if self.priority else ""
        return f"rule {self.name}{priority} {{{conditions} }} => {self.action.text()};"

    def matches(self, fields: dict[str, bytes]) -> bool:
        return all(
            name in fields and any(pattern.matches(fields[name]) for pattern in patterns)
            for name, patterns in self.conditions.items()
        )


@dataclass
class Field:
    name: str
    number: int
    kind: str
    dispatch: bool

    def text(self) -> str:
        return f"{self.kind} {self.name} = {self.number}" + " [(dispatch) = true]" * self.dispatch + ";"


@dataclass
class Message:
    name: str
    number: int
    fields: list[Field]

    def text(self) -> str:
        fields = "".join(f"    {of.text()}\n" for of in self.fields)
        return f"message {self.name} {{\n    option (type) = {self.number};\n{fields}}}\n"


@dataclass
class On:
    """The rules for messages of a type."""

    message: Message
    rules: list[Rule]
    default: Action
    longest: str | None = None

    def text(self) -> str:
        longest = f" longest {self.longest}" if self.longest else ""
        rules = "".join(f"        {rule.text()}\n" for rule in self.rules)
        return f"    on {self.message.name}{longest} {{\n{rules}        default => {self.default.text()};\n    }}\n"

    def fields(self, window: list[tuple[int, bytes]]) -> dict[str, bytes]:
        """The dispatch fields of a window; the first of several with a number counts."""
        found: dict[str, bytes] = {}
        names = {of.number: of.name for of in self.message.fields if of.dispatch}
        for number, value in window:
            if number in names:
                found.setdefault(names[number], value)
        return found

    def order(self, rule: Rule, fields: dict[str, bytes]) -> tuple[int, int, bool]:
        """What decides between rules that match: a greater one wins."""
        if not self.longest:
            return rule.priority, 0, False
        patterns = rule.conditions.get(self.longest, ())
        lengths = [pattern.length() for pattern in patterns if pattern.matches(fields[self.longest])]
        return (rule.priority, *max(lengths, default=(0, False)))

    def choose(self, window: list[tuple[int, bytes]]) -> Rule | None:
        """The rule that wins, None for the default."""
        fields = self.fields(window)
        matching = [rule for rule in self.rules if rule.matches(fields)]
        if not matching:
            return None
        best = max(self.order(rule, fields) for rule in matching)
        winners = [rule for rule in matching if self.order(rule, fields) == best]
        if any(rule.action != winners[0].action for rule in winners):
            raise Ambiguous(f"rules {[rule.name for rule in winners]} match {fields}")
        return winners[0]


QUERY = Message("query", 1, [Field("type", 2, "uint16", True), Field("name", 1, "name", True)])
KEY = [Field("opcode", 2, "uint8", True), Field("key", 1, "bytes", True)]
REQUEST = [
    Field("method", 2, "uint8", True),
    Field("format", 3, "uint16", True),
    Field("host", 4, "bytes", True),
    Field("path", 1, "bytes", True),
]
LOGIN = [Field("user", 1, "bytes", True), Field("nas", 2, "bytes", True), Field("realm", 3, "name", True)]
CODE = Field("code", 4, "uint8", True)
ID = Field("id", 1, "bytes", True)
PROTOCOLS = {
    "dns": [QUERY],
    "memcached": [Message("get", 1, KEY), Message("set", 2, KEY), Message("change", 3, KEY)],
    "coap": [Message("request", 1, REQUEST)],
    "radius": [Message("access", 1, LOGIN), Message("accounting", 2, LOGIN), Message("other", 3, [CODE, *LOGIN])],
    "quic": [Message("long", 1, [Field("version", 2, "uint32", True), ID]), Message("short", 2, [ID])],
}
# Their numbers in the register PROTOCOL.
NUMBERS = {None: 0, "dns": 1, "memcached": 2, "coap": 3, "radius": 4, "quic": 5}


@dataclass
class Application:
    name: str
    number: int
    port: int
    ons: list[On]
    default: Action | None = None
    tenant: int = 0
    protocol: str | None = None
    id_bytes: int = 0  # of a connection ID in a short header of QUIC

    def text(self) -> str:
        tenant = f"    tenant {self.tenant};\n" if self.tenant else ""
        id_bytes = f" id {self.id_bytes}" if self.protocol == "quic" else ""
        protocol = f"    protocol {self.protocol}{id_bytes};\n" if self.protocol else ""
        default = f"    default => {self.default.text()};\n" if self.default else ""
        body = f"    udp port {self.port};\n{tenant}{protocol}{''.join(on.text() for on in self.ons)}{default}"
        return f"application {self.name} = {self.number} {{\n{body}}}\n"

    def on(self, number: int) -> On | None:
        return next((on for on in self.ons if on.message.number == number), None)


@dataclass
class Program:
    applications: list[Application]
    messages: list[Message] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(part.text() for part in [*self.messages, *self.applications])
