# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The matches of rules, by brute force: written from engines/ids/language.md, and sharing nothing with the engine.

Every rule is evaluated on every packet and on the whole of every stream, each time that the stream has grown. Nothing
is filtered, kept apart or cut short; a match is searched by trying all places of all contents, one inside the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Content:
    data: bytes
    negated: bool = False
    nocase: bool = False
    offset: int | None = None
    depth: int | None = None
    distance: int | None = None
    within: int | None = None
    starts: bool = False
    ends: bool = False

    @property
    def relative(self) -> bool:
        return self.distance is not None or self.within is not None

    def spots(self, text: bytes, after: int) -> Iterator[int]:
        """The allowed places of the content in the text; the previous match ends at `after`."""
        low, high = 0, len(text)
        if self.starts:
            high = len(self.data)
        elif self.relative:
            low = after + (self.distance or 0)
            if self.within is not None:
                high = low + self.within
        else:
            low = self.offset or 0
            if self.depth is not None:
                high = low + self.depth
        wanted = self.data.lower() if self.nocase else self.data
        for at in range(max(low, 0), min(high, len(text)) - len(wanted) + 1):
            there = text[at : at + len(wanted)]
            if (there.lower() if self.nocase else there) != wanted:
                continue
            if self.ends and at + len(wanted) != len(text):
                continue
            yield at


@dataclass
class Pcre:
    regex: re.Pattern[bytes]
    negated: bool
    relative: bool

    def ends(self, text: bytes, after: int) -> Iterator[int]:
        begin = min(max(after, 0), len(text)) if self.relative else 0
        subject, at = text[begin:], 0
        while at <= len(subject):
            found = self.regex.search(subject, at)
            if not found:
                return
            yield begin + found.end()
            at = found.start() + 1


@dataclass
class DataAt:
    at: int
    relative: bool
    negated: bool

    def holds(self, text: bytes, after: int) -> bool:
        there = after + self.at <= len(text) if self.relative else self.at < len(text)
        return there != self.negated


Step = Content | Pcre | DataAt


@dataclass
class Rule:
    action: str
    protocol: str
    ports: tuple[str, str]
    both: bool
    sid: int = 0
    steps: list[Step] = field(default_factory=list)
    flow: set[str] = field(default_factory=set)
    dsize: str | None = None
    flags: str | None = None

    @property
    def positive(self) -> bool:
        return any(isinstance(step, Content | Pcre) and not step.negated for step in self.steps)

    @property
    def looks(self) -> tuple[bool, bool]:
        """Whether the rule applies to packets, and to streams."""
        if self.protocol == "udp":
            return True, False
        if self.dsize or self.flags or not self.positive:
            return True, False
        placed = any(
            isinstance(step, Content)
            and (step.offset is not None or step.depth is not None or step.starts or step.ends)
            for step in self.steps
        )
        return placed, True


RULE = re.compile(r"(\w+) (\w+) \S+ (\S+) (->|<>) \S+ (\S+) \((.*)\)")


def octets(text: str) -> bytes:
    """The bytes of a content: text, with hexadecimal bytes between bars."""
    parts = text.split("|")
    return b"".join(bytes.fromhex(part) if at % 2 else part.encode("latin-1") for at, part in enumerate(parts))


def read(text: str) -> Rule:
    """A rule as ids_random writes it: options have no escapes and no semicolons in quotes."""
    header = RULE.fullmatch(text.strip())
    assert header, text
    rule = Rule(header[1], header[2], (header[3], header[5]), header[4] == "<>")
    last: Content | None = None
    for option in header[6].split(";")[:-1]:
        word, _, value = option.strip().partition(":")
        quoted = value.lstrip("!").strip('"')
        match word:
            case "content":
                last = Content(octets(quoted), value.startswith("!"))
                rule.steps.append(last)
            case "pcre":
                body, _, letters = quoted[1:].rpartition("/")
                options = re.DOTALL if "s" in letters else 0
                options |= re.IGNORECASE if "i" in letters else 0
                rule.steps.append(
                    Pcre(re.compile(body.encode("latin-1"), options), value.startswith("!"), "R" in letters)
                )
            case "isdataat":
                number, _, kind = value.lstrip("!").partition(",")
                rule.steps.append(DataAt(int(number), kind == "relative", value.startswith("!")))
            case "sid":
                rule.sid = int(value)
            case "flow":
                rule.flow = set(value.split(","))
            case "dsize":
                rule.dsize = value
            case "flags":
                rule.flags = value
            case "nocase" | "startswith" | "endswith" | "offset" | "depth" | "distance" | "within":
                assert last
                names = {"startswith": "starts", "endswith": "ends"}
                setattr(last, names.get(word, word), int(value) if value else True)
            case "msg" | "fast_pattern" | "rev":
                pass
            case _:
                raise AssertionError(word)
    return rule


def tries(steps: list[Step], text: bytes, after: int, newest: int, fresh: int) -> bool:
    """Whether the steps match, if the previous match ends at `after`; a content or pcre must end after `fresh`."""
    if not steps:
        return newest > fresh
    step, rest = steps[0], steps[1:]
    match step:
        case Content(negated=True):
            return not any(True for _ in step.spots(text, after)) and tries(rest, text, after, newest, fresh)
        case Content():
            ends = [at + len(step.data) for at in step.spots(text, after)]
        case Pcre(negated=True):
            begin = min(max(after, 0), len(text)) if step.relative else 0
            return not step.regex.search(text[begin:]) and tries(rest, text, after, newest, fresh)
        case Pcre():
            ends = list(step.ends(text, after))
        case DataAt():
            return step.holds(text, after) and tries(rest, text, after, newest, fresh)
    return any(tries(rest, text, end, max(newest, end), fresh) for end in dict.fromkeys(ends))


def matches(rule: Rule, text: bytes, fresh: int = -1) -> bool:
    return tries(rule.steps, text, 0, 0, fresh)


@dataclass
class Packet:
    """A packet as the tests make it."""

    protocol: str
    source: tuple[str, int]
    target: tuple[str, int]
    payload: bytes
    sequence: int = 0
    flags: str = "A"
    acknowledged: int = 0


LETTERS = {letter: 1 << at for at, letter in enumerate("FSRPAU")}


def port_fits(rule: str, port: int) -> bool:
    return rule == "any" or int(rule) == port


@dataclass
class Side:
    """One direction of a connection."""

    first: int | None = None
    text: bytearray = field(default_factory=bytearray)
    waiting: list[tuple[int, bytes]] = field(default_factory=list)
    reported: set[int] = field(default_factory=set)

    def push(self, sequence: int, data: bytes) -> None:
        if not data:
            return
        if self.first is None:
            self.first = sequence
        at = (sequence - self.first + 2**31) % 2**32 - 2**31
        # A segment that waits in another one as a whole is not kept twice.
        if at <= len(self.text):
            self.text += data[len(self.text) - at :]
        else:
            self.waiting.append((at, data))
        while True:
            # Among the segments that go on here: the one that begins first, then the oldest, as BSD and Windows do.
            here = [
                (begin, age)
                for age, (begin, piece) in enumerate(self.waiting)
                if begin <= len(self.text) < begin + len(piece)
            ]
            if not here:
                return
            begin, age = min(here)
            self.text += self.waiting[age][1][len(self.text) - begin :]


class Oracle:
    """All rules on all packets, in their order."""

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.sides: dict[tuple, Side] = {}
        self.clients: dict[frozenset, tuple[str, int]] = {}
        self.established: set[frozenset] = set()
        self.senders: dict[frozenset, set] = {}

    def packet(self, packet: Packet) -> list[int]:
        """The sids that a packet reports."""
        key = frozenset([(packet.protocol, *packet.source), (packet.protocol, *packet.target)])
        client = self.clients.setdefault(key, packet.source)
        flags = sum(LETTERS[letter] for letter in packet.flags)
        if packet.protocol == "tcp":
            if "S" not in packet.flags and "A" in packet.flags:
                self.established.add(key)
        else:
            self.senders.setdefault(key, set()).add(packet.source)
            if len(self.senders[key]) == 2:
                self.established.add(key)
        words = {
            "to_server" if packet.source == client else "to_client",
            "established" if key in self.established else "not_established",
        }
        side = self.sides.setdefault((packet.protocol, packet.source, packet.target), Side())
        before = len(side.text)
        if packet.protocol == "tcp":
            if "S" in packet.flags:
                side.first = packet.sequence + 1 if side.first is None else side.first
            side.push(packet.sequence + ("S" in packet.flags), packet.payload)
        found = []
        for rule in self.rules:
            if rule.protocol != packet.protocol or not rule.flow <= words:
                continue
            ways = [(packet.source[1], packet.target[1])]
            ways += [ways[0][::-1]] if rule.both else []
            if not any(all(map(port_fits, rule.ports, way)) for way in ways):
                continue
            packets, stream = rule.looks
            hit = False
            if stream and len(side.text) > before:
                # A rule that has reported reports again for a match that ends in new bytes.
                fresh = before if rule.sid in side.reported else -1
                if matches(rule, bytes(side.text), fresh):
                    side.reported.add(rule.sid)
                    hit = True
            if packets and self.header(rule, packet, flags) and matches(rule, packet.payload):
                hit = True
            if hit:
                found.append(rule.sid)
        return found

    @staticmethod
    def header(rule: Rule, packet: Packet, flags: int) -> bool:
        size = len(packet.payload)
        if rule.dsize:
            sign, number = rule.dsize[0], int(rule.dsize.lstrip("<>"))
            if not (size < number if sign == "<" else size > number if sign == ">" else size == number):
                return False
        return not rule.flags or flags == sum(LETTERS[letter] for letter in rule.flags)
