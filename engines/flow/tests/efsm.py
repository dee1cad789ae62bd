# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Runs .efsm files in plain Python, from their text: the rules of engines/flow/language.md and element.md, without an
eye on speed or hardware.

It takes valid programs; reporting faults is the compiler's job.
"""

from __future__ import annotations

import ipaddress
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lib" / "headers" / "tests"))

from header_model import Found, look  # noqa: E402

FIELDS = tomllib.loads((ROOT / "lib/headers/fields.toml").read_text())["field"]
HEADERS = ("vlan", "vlan2", "mpls", "ip", "ip6", "tcp", "udp", "icmp", "fragment")
TUPLES = {
    "5tuple": ["ip.src", "ip.dst", "l4.proto", "l4.sport", "l4.dport"],
    "5tuple6": ["ip6.src", "ip6.dst", "l4.proto", "l4.sport", "l4.dport"],
}
PAIRS = {
    "eth": ("eth.src", "eth.dst"),
    "ip": ("ip.src", "ip.dst"),
    "ip6": ("ip6.src", "ip6.dst"),
    "l4": ("l4.sport", "l4.dport"),
}
WORD = re.compile(
    r"(?P<skip>\s+|#[^\n]*)"
    r"|(?P<address>(?:[0-9a-fA-F]{0,4}:){2,}[0-9a-fA-F.:]*|\d+\.\d+\.\d+\.\d+)"
    r"|(?P<name>5tuple6?|[A-Za-z_][\w.]*)"
    r"|(?P<number>0x[0-9a-fA-F]+|\d+)(?P<unit>us|ms|[kMGs])?\b"
    r"|(?P<sign>>=s\b|<s\b|=>|==|!=|<=|>=|<<|>>|&&|[{}(),;=<>!&|^+*/-])"
)
MASK = 0xFFFFFFFF
# The offset of the checksum in the header after IP.
SUMS = {"tcp": 16, "udp": 6, "icmp": 2}
Operand = str | int


@dataclass
class Row:
    states: list[str]
    tests: list[tuple] = field(default_factory=list)
    updates: dict[str, tuple] = field(default_factory=dict)
    edits: list[tuple] = field(default_factory=list)
    # goto: a state, None for the same; keep alone: "".
    goto: str | None = None
    timeouts: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    forget: bool = False
    notify: bool = False
    verdict: tuple = ("pass",)


@dataclass
class Element:
    name: str
    key: list[str] | None = None
    biflow: bool = False
    states: list[str] = field(default_factory=lambda: [""])
    flow: dict[str, int] = field(default_factory=dict)
    globals: dict[str, int] = field(default_factory=dict)
    capacity: int | None = None
    evict: str | None = None
    rows: list[Row] = field(default_factory=list)


@dataclass
class Context:
    state: str
    registers: dict[str, int]
    # When, and the state that follows.
    hard: tuple[int, str | None] | None = None
    # How long, since when, and the state that follows.
    idle: tuple[int, int, str | None] | None = None


class Reader:
    """Reads a file, word by word."""

    def __init__(self, text: str) -> None:
        self.words: list[str | int] = []
        at = 0
        while at < len(text):
            match = WORD.match(text, at)
            if match is None:
                raise ValueError(f"what is {text[at : at + 20]!r}?")
            at = match.end()
            if match["address"]:
                self.words.append(_address(match["address"]))
            elif match["number"]:
                scale = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}.get(match["unit"] or "", 1)
                self.words.append(int(match["number"], 0) * scale)
                if (match["unit"] or "").endswith("s"):
                    self.words.append(match["unit"])
            elif not match["skip"]:
                self.words.append(match[0])
        self.at = 0
        self.constants: dict[str, int] = {}

    def peek(self) -> str | int | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def next(self) -> str | int:
        self.at += 1
        return self.words[self.at - 1]

    def name(self) -> str:
        word = self.next()
        assert isinstance(word, str), word
        return word

    def take(self, *words: str) -> str | None:
        word = self.peek()
        if isinstance(word, str) and word in words:
            self.at += 1
            return word
        return None

    def want(self, word: str) -> None:
        assert self.take(word), f"{word} wanted, not {self.words[self.at - 3 : self.at + 3]}"

    def operand(self) -> Operand:
        word = self.next()
        return self.constants.get(word, word) if isinstance(word, str) else word

    def number(self) -> int:
        number = self.operand()
        assert isinstance(number, int), number
        return number

    def list(self, item: Callable[[], object]) -> list:
        items = [item()]
        while self.take(","):
            items.append(item())
        return items

    def file(self) -> list[Element]:
        elements = []
        while self.peek() is not None:
            if self.take("const"):
                name = self.name()
                self.want("=")
                self.constants[name] = self.number()
            else:
                self.want("element")
                elements.append(self.element())
        return elements

    def element(self) -> Element:
        element = Element(self.name())
        self.want("{")
        while not self.take("}"):
            if self.take("key"):
                element.biflow = bool(self.take("biflow"))
                if element.biflow:
                    self.want("(")
                names = self.list(self.name)
                if element.biflow:
                    self.want(")")
                element.key = [one for name in names for one in TUPLES.get(name, [name])]
            elif self.take("states"):
                element.states = self.list(self.name)
            elif self.take("flow"):
                element.flow = dict(self.list(self.register))
            elif self.take("global"):
                element.globals = dict(self.list(self.register))
            elif self.take("table"):
                element.capacity = self.number()
                if self.take("evict"):
                    element.evict = self.name()
            elif self.take("in"):
                states = self.list(self.name)
                self.want("{")
                while not self.take("}"):
                    element.rows.append(self.row(states))
            else:
                element.rows.append(self.row(element.states))
        return element

    def register(self) -> tuple[str, int]:
        name = self.name()
        return name, self.number() if self.take("=") else 0

    def row(self, states: list[str]) -> Row:
        row = Row(states)
        if not self.take("else"):
            row.tests.append(self.test())
            while self.take("&&"):
                row.tests.append(self.test())
        self.want("=>")
        self.list(lambda: self.action(row))
        self.take(";")
        return row

    def test(self) -> tuple:
        """A test as (kind, …, how it must be)."""
        holds = not self.take("!")
        left = self.operand()
        if self.take("in"):
            value = self.number()
            self.want("/")
            bits = FIELDS[left]["bits"]
            mask = ((1 << bits) - 1) ^ ((1 << (bits - self.number())) - 1)
            return ("==", (left, mask), value, holds)
        mask = None
        if self.take("&"):
            mask = self.number()
        compare = self.take("==", "!=", "<", "<=", ">", ">=", "<s", ">=s", "before")
        if compare is None:
            return ("is", left, holds)
        right = self.operand()
        if self.take("&"):
            right = (right, self.number())
        return (compare, left if mask is None else (left, mask), right, holds)

    def action(self, row: Row) -> None:
        word = self.name()
        if self.take("="):
            expression = self.expression()
            if word in FIELDS:
                row.edits.append(("set", word, expression))
            else:
                row.updates[word] = expression
        elif word in {"goto", "keep"}:
            row.goto = self.name() if word == "goto" else ""
            while kind := self.take("for", "idle"):
                span = self.number() * {"us": 1, "ms": 1_000, "s": 1_000_000}[self.name()]
                row.timeouts[kind] = (span, self.name() if self.take("then") else None)
        elif word == "forget":
            row.forget = True
        elif word == "notify":
            row.notify = True
        elif word == "push":
            row.edits.append(("push", self.name(), (self.operand(),)))
        elif word in {"pop", "swap"}:
            row.edits.append((word, self.name()))
        elif word in {"next", "port"}:
            row.verdict = (word, self.operand())
        else:
            assert word in {"pass", "opposite", "host", "drop"}, word
            row.verdict = (word,)

    def expression(self) -> tuple:
        if self.take("not"):
            return ("not", self.operand(), 0)
        if name := self.take("min", "max", "ewma"):
            self.want("(")
            a = self.operand()
            self.want(",")
            b = self.operand()
            shift = self.number() if name == "ewma" and self.take(",") else 0
            self.want(")")
            return (name, a, b, shift)
        a = self.operand()
        if operation := self.take("+", "-", "&", "|", "^", "<<", ">>", "*", "ror"):
            return (operation, a, self.operand())
        return (a,)


def _address(text: str) -> int:
    if re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        return int(text.replace(":", ""), 16)
    return int(ipaddress.ip_address(text))


def calculate(expression: tuple, value: Callable[[Operand], int]) -> int:
    """The value of an expression, modulo 2^32 unless it is a lone operand."""
    if len(expression) == 1:
        return value(expression[0])
    operation, a, b = expression[0], value(expression[1]), value(expression[2])
    turn = b % 32
    if operation == "ewma":
        difference = (b - a) & MASK
        if difference >> 31:
            difference -= 1 << 32
        return (a + (difference >> expression[3])) & MASK
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
        "<<": lambda: a << turn,
        ">>": lambda: a >> turn,
        "*": lambda: a * b,
        "ror": lambda: a >> turn | a << (32 - turn),
        "not": lambda: ~a,
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
    }[operation]() & MASK


def holds(compare: str, a: int, b: int) -> bool:
    """Whether a comparison does."""

    def signed(number: int) -> int:
        return number - (1 << 32) if number >> 31 else number

    return {
        "==": lambda: a == b,
        "!=": lambda: a != b,
        "<": lambda: a < b,
        "<=": lambda: a <= b,
        ">": lambda: a > b,
        ">=": lambda: a >= b,
        "<s": lambda: signed(a) < signed(b),
        ">=s": lambda: signed(a) >= signed(b),
        "before": lambda: signed((a - b) & MASK) < 0,
    }[compare]()


class Missing(Exception):
    """The frame lacks the field."""


class Layers:
    """The beginnings of the headers in a frame that has them."""

    def __init__(self, frame: bytes, found: Found) -> None:
        self.at = {"eth": 0, "vlan": 14, "vlan2": 18}
        at = 12 + 4 * len(found.headers & {"vlan", "vlan2"})
        self.at["type"] = at
        at += 2
        if "mpls" in found.headers:
            self.at["mpls"] = at
            at += 4
        self.at["net"] = at
        if "ip" in found.headers:
            at += 4 * (frame[at] & 15)
        elif "ip6" in found.headers:
            proto, at = frame[at + 6], at + 40
            while proto in {0, 43, 44, 60} and at + 2 <= len(frame):
                proto, at = frame[at], at + (8 if proto == 44 else 8 + 8 * frame[at + 1])
        self.at["l4"] = at
        if "tcp" in found.headers:
            self.at["data"] = at + 4 * (frame[at + 12] >> 4)
        elif "udp" in found.headers:
            self.at["data"] = at + 8


class Frame:
    """A frame on its way through the elements."""

    def __init__(self, data: bytes, port: int, hash_: int, time: int) -> None:
        self.data = bytearray(data)
        self.outside = {"port": port, "hash": hash_, "time": time & MASK, "meta0": 0, "meta1": 0}
        self.added = {"net": 0, "l4": 0}
        self.look()

    def look(self) -> None:
        self.found = look(bytes(self.data))
        self.outside["len"] = len(self.data) & 0xFFFF

    def get(self, name: str) -> int:
        if name in self.outside:
            return self.outside[name]
        if name not in self.found.fields:
            raise Missing(name)
        return self.found.fields[name]

    def set(self, name: str, value: int) -> None:
        """Sets a field, and records the amount that this adds to the sums of checksums."""
        if name in self.outside:
            self.outside[name] = value & MASK
            return
        if name not in self.found.fields:
            raise Missing(name)
        addresses = name in {"ip6.src", "ip6.dst"}
        if addresses and self.found.hidden:
            raise Missing(name)
        bits, (layer, first) = FIELDS[name]["bits"], FIELDS[name]["at"]
        layers = Layers(bytes(self.data), self.found).at
        whole = int.from_bytes(self.data, "big")
        shift = len(self.data) * 8 - layers[layer] * 8 - first - bits
        ones = (1 << bits) - 1
        after = whole & ~(ones << shift) | (value & ones) << shift
        before, self.data = bytes(self.data), bytearray(after.to_bytes(len(self.data), "big"))
        # Sums are of words of 16 bits.
        start = (layers[layer] + first // 8) & ~1
        end = (layers[layer] + (first + bits + 7) // 8 + 1) & ~1
        words = [(before[at : at + 2], self.data[at : at + 2]) for at in range(start, end, 2)]
        added = sum(int.from_bytes(new, "big") - int.from_bytes(old, "big") for old, new in words)
        if layer == "net" and "ip" in self.found.headers:
            self.added["net"] += added
        covered = layer in {"l4", "data"} or (addresses and not (name == "ip6.dst" and self.found.routed))
        # ICMP does not cover IPv4's addresses.
        if covered or (name in {"ip.src", "ip.dst"} and "icmp" not in self.found.headers):
            self.added["l4"] += added
        self.look()

    def repaired(self) -> bytes:
        """The frame on exit, with checksums repaired by the sum of all edits (RFC 1624, equation 3)."""
        layers = Layers(bytes(self.data), self.found).at
        sums = [("net", layers["net"] + 10)] if "ip" in self.found.headers else []
        sums += [("l4", layers["l4"] + at) for name, at in SUMS.items() if name in self.found.headers]
        data = bytearray(self.data)
        for which, at in sums:
            checksum, added = int.from_bytes(data[at : at + 2], "big"), self.added[which] % 0xFFFF
            udp = which == "l4" and "udp" in self.found.headers
            if added and not (udp and checksum == 0):
                checksum = (checksum - added) % 0xFFFF
                data[at : at + 2] = (0xFFFF if udp and checksum == 0 else checksum).to_bytes(2, "big")
        return bytes(data)

    def edit(self, edit: tuple, value: int) -> None:
        kind, what = edit[0], edit[1]
        headers = self.found.headers
        kinds = Layers(bytes(self.data), self.found).at["type"]
        if kind == "set":
            self.set(what, value)
        elif kind == "swap":
            one, other = PAIRS[what]
            first, second = self.get(one), self.get(other)
            self.set(one, second)
            self.set(other, first)
        elif kind == "push" and what == "vlan":
            if "vlan2" in headers:
                raise Missing("place for a tag")
            # IEEE 802.1Q; in front of another tag 802.1ad.
            kind_of_tag = b"\x88\xa8" if "vlan" in headers else b"\x81\x00"
            self.data[12:12] = kind_of_tag + (value & 0xFFFF).to_bytes(2, "big")
        elif kind == "pop" and what == "vlan":
            if "vlan" not in headers:
                raise Missing("a tag")
            del self.data[12:16]
        elif kind == "push":
            if "mpls" in headers or not headers & {"ip", "ip6"}:
                raise Missing("place for a label")
            ttl = self.get("ip.ttl" if "ip" in headers else "ip6.hops")
            self.data[kinds : kinds + 2] = b"\x88\x47" + ((value & 0xFFFFF) << 12 | 1 << 8 | ttl).to_bytes(4, "big")
        else:
            if "mpls" not in headers or not headers & {"ip", "ip6"}:
                raise Missing("a label")
            self.data[kinds : kinds + 6] = b"\x08\x00" if "ip" in headers else b"\x86\xdd"
        self.look()


class Machine:
    """A running program."""

    def __init__(self, text: str, contexts: int = 16384) -> None:
        self.elements = Reader(text).file()
        self.contexts: list[dict[tuple[int, ...], Context]] = [{} for _ in self.elements]
        self.globals = [dict(element.globals) for element in self.elements]
        self.capacity = [element.capacity or contexts for element in self.elements]
        self.events: list[tuple] = []
        # The choice when any of several contexts may give way: the keys that the device evicted.
        self.gone: list[tuple[int, ...]] = []
        self.counters = [dict.fromkeys(("keyless", "unmatched", "unkept", "expired"), 0) for _ in self.elements]

    def run(self, data: bytes, port: int, time: int, hash_: int = 0) -> tuple[tuple, bytes]:
        """A frame's verdict and its bytes afterwards."""
        frame = Frame(data, port, hash_, time)
        at = 0
        while at < len(self.elements):
            verdict = self.step(at, frame, time)
            if verdict[0] == "pass":
                at += 1
            elif verdict[0] == "next":
                at = next(i for i, element in enumerate(self.elements) if element.name == verdict[1])
            else:
                return verdict, frame.repaired()
        return ("pass",), frame.repaired()

    def walk(self, time: int) -> None:
        """Ends all contexts whose time is over."""
        for at, contexts in enumerate(self.contexts):
            for key in list(contexts):
                self.expire(at, key, time)

    def expire(self, at: int, key: tuple[int, ...], time: int) -> None:
        context = self.contexts[at][key]
        ends = []
        if context.hard:
            ends.append((context.hard[0], 0, context.hard[1]))
        if context.idle:
            span, since, then = context.idle
            ends.append((since + span, 1, then))
        if not ends or time < min(ends)[0]:
            return
        self.event(at, "Expired", key, context)
        self.counters[at]["expired"] += 1
        then = min(ends)[2]
        if then is None:
            del self.contexts[at][key]
        else:
            self.contexts[at][key] = Context(then, context.registers)

    def event(self, at: int, kind: str, key: tuple[int, ...], context: Context) -> None:
        self.events.append((kind, at, key, context.state, tuple(context.registers.values())))

    def key(self, element: Element, frame: Frame) -> tuple[int, ...]:
        """The values of a key's fields, for both directions the same."""
        names = list(element.key or [])
        if element.biflow:
            ends = {"src": "dst", "sport": "dport"}
            sources = [name for name in names if name.split(".")[-1] in ends]
            others = [name.split(".")[0] + "." + ends[name.split(".")[1]] for name in sources]
            if [frame.get(name) for name in sources] > [frame.get(name) for name in others]:
                swap = dict(zip(sources + others, others + sources, strict=True))
                names = [swap.get(name, name) for name in names]
        return tuple(frame.get(name) for name in names)

    def step(self, at: int, frame: Frame, time: int) -> tuple:
        element, contexts = self.elements[at], self.contexts[at]
        key: tuple[int, ...] = ()
        context = None
        if element.key is not None:
            try:
                key = self.key(element, frame)
            except Missing:
                self.counters[at]["keyless"] += 1
                return ("pass",)
            if key in contexts:
                self.expire(at, key, time)
            context = contexts.get(key)
        new = context is None
        context = context or Context(element.states[0], dict(element.flow))
        full = element.key is not None and element.evict is None and len(contexts) >= self.capacity[at]

        def value(operand: Operand) -> int:
            if isinstance(operand, int):
                return operand
            if operand in context.registers:
                return context.registers[operand]
            if operand in self.globals[at]:
                return self.globals[at][operand]
            return frame.get(operand)

        for row in element.rows:
            if context.state in row.states:
                result = self.fits(row, frame, value, {"new": new, "full": full})
                if result is not None:
                    break
        else:
            self.counters[at]["unmatched"] += 1
            return ("pass",)
        updates, edited = result

        for name, number in updates.items():
            if name in self.globals[at]:
                self.globals[at][name] = number
        registers = {name: updates.get(name, number) for name, number in context.registers.items()}
        context = Context(context.state, registers, context.hard, context.idle)
        if context.idle:
            context.idle = (context.idle[0], time, context.idle[2])
        if row.goto is not None:
            context.state = row.goto or context.state
            context.hard = context.idle = None
            if "for" in row.timeouts:
                span, then = row.timeouts["for"]
                context.hard = (time + span, then)
            if "idle" in row.timeouts:
                span, then = row.timeouts["idle"]
                context.idle = (span, time, then)
        if row.forget:
            contexts.pop(key, None)
        elif not new:
            contexts[key] = context
        elif row.goto is not None or any(name in element.flow for name in updates):
            if element.evict and len(contexts) >= self.capacity[at]:
                # The language does not define among how many contexts the lowest or highest gives way; with four at
                # most it is among all.
                register = next(iter(element.flow))
                sign = 1 if element.evict == "lowest" else -1
                lowest = min(sign * one.registers[register] for one in contexts.values())
                equal = [one for one in contexts if sign * contexts[one].registers[register] == lowest]
                gone = next((one for one in self.gone if one in equal), equal[0])
                self.event(at, "Evicted", gone, contexts.pop(gone))
            if len(contexts) < self.capacity[at]:
                contexts[key] = context
                self.event(at, "New", key, context)
                if not element.evict and len(contexts) == self.capacity[at]:
                    self.event(at, "Full", key, context)
            else:
                self.counters[at]["unkept"] += 1
        if row.notify:
            self.event(at, "Notified", key, context)
        verdict = row.verdict
        if verdict[0] == "port":
            operand = verdict[1]
            port = updates[operand] if operand in updates else value(operand)
            verdict = ("port", port)
        elif verdict[0] == "opposite":
            verdict = ("port", frame.outside["port"] ^ 1)
        frame.data, frame.outside, frame.added = edited.data, edited.outside, edited.added
        frame.look()
        return verdict

    def fits(
        self, row: Row, frame: Frame, value: Callable[[Operand], int], flags: dict[str, bool]
    ) -> tuple[dict[str, int], Frame] | None:
        """The new registers and the new frame, if the row matches."""

        def operand(one: Operand | tuple) -> int:
            return value(one[0]) & one[1] if isinstance(one, tuple) else value(one)

        try:
            for test in row.tests:
                if test[0] == "is":
                    found = flags[test[1]] if test[1] in flags else test[1] in frame.found.headers
                    if found != test[2]:
                        return None
                elif holds(test[0], operand(test[1]), operand(test[2])) != test[3]:
                    return None
            updates = {name: calculate(expression, value) & MASK for name, expression in row.updates.items()}
            if row.verdict[0] == "port":
                value(row.verdict[1])

            def after(one: Operand) -> int:
                return updates[one] if isinstance(one, str) and one in updates else value(one)

            # A lone register is taken as the row leaves it, an expression of registers as the row finds them.
            values = [
                calculate(edit[2], after if len(edit[2]) == 1 else value) if len(edit) > 2 else 0 for edit in row.edits
            ]
            edited = Frame(bytes(frame.data), 0, 0, 0)
            edited.outside, edited.added = dict(frame.outside), dict(frame.added)
            for edit, number in zip(row.edits, values, strict=True):
                edited.edit(edit, number)
        except Missing:
            return None
        return updates, edited
