# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Runs programs of p4_tree.py as the P4-16 specification and v1model say, and language.md where these leave it open.
Numbers are Python's own; a field of a header has its value whether the header is valid or not.
"""

from __future__ import annotations

import copy
import dataclasses
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import p4_tree as p4
from p4_tree import BOOL, Bits, Entry, Fields, Stack, Varbit

DROP, HOST, ONWARD, PORTS, SHORTEST = 511, 510, 509, 256, 14
NORMAL, INGRESS_CLONE, EGRESS_CLONE, RECIRCULATED, REPLICATION, RESUBMITTED = 0, 1, 2, 4, 5, 6
STANDARD = {
    "ingress_port": 9, "egress_spec": 9, "egress_port": 9, "instance_type": 32, "packet_length": 32,
    "ingress_global_timestamp": 48, "egress_global_timestamp": 48, "mcast_grp": 16, "egress_rid": 16,
    "checksum_error": 1, "priority": 3, "enq_qdepth": 19, "deq_qdepth": 19,
}  # fmt: skip
GREEN, YELLOW, RED = range(3)
SECOND = 1_000_000_000

Frame = tuple[str, bytes]
"""Verdict (`port N`, `host`, `onward`) and bytes. Dropped frames are none."""


class ExitError(Exception):
    """`exit`."""


class ReturnError(Exception):
    """`return`, with its value."""


class ParserError(Exception):
    """The parser ends with an error."""


@dataclass
class Header:
    fields: dict[str, Any]
    valid: bool = False
    at: int = 0
    """Its first bit in the frame, when it was extracted."""

    def take(self, other: Header) -> None:
        self.fields, self.valid, self.at = dict(other.fields), other.valid, other.at


class Elements(list[Any]):
    """A header stack; `index` counts the elements that a parser has extracted."""

    index = 0

    def next(self) -> Any:
        if self.index >= len(self):
            raise ParserError("StackOutOfBounds")
        return self[self.index]

    def last(self) -> Any:
        if self.index == 0:
            raise ParserError("StackOutOfBounds")
        return self[self.index - 1]

    def push_front(self, count: int) -> None:
        for at in reversed(range(len(self))):
            if at >= count:
                self[at].take(self[at - count])
            else:
                self[at].valid = False
        self.index = min(self.index + count, len(self))

    def pop_front(self, count: int) -> None:
        for at in range(len(self)):
            if at + count < len(self):
                self[at].take(self[at + count])
            else:
                self[at].valid = False
        self.index = max(self.index - count, 0)


@dataclass
class Scope:
    names: dict[str, Any]
    outer: Scope | None
    path: str = ""
    control: p4.Control | p4.Parser | None = None

    def where(self, name: str) -> dict[str, Any]:
        scope = self
        while name not in scope.names:
            assert scope.outer is not None, name
            scope = scope.outer
        return scope.names

    def declared(self, name: str) -> tuple[Any, Scope]:
        """An action, table, object or sub-control of the control around."""
        scope: Scope | None = self
        while scope is not None:
            if scope.control is not None:
                for one in scope.control.locals:
                    if one.name == name:
                        return one, scope
            scope = scope.outer
        raise AssertionError(name)


def empty(of: Any) -> Any:
    if isinstance(of, Fields):
        fields = {name: empty(one) for name, one in of.fields}
        return Header(fields) if of.kind == "header" else fields
    if isinstance(of, Stack):
        return Elements(empty(of.of) for _ in range(of.size))
    if isinstance(of, Varbit):
        return (0, 0)
    return False if of == BOOL else 0 if isinstance(of, Bits) else "NoError"


def width(of: Any) -> int:
    """Bits of a value of a type; of a header without its varbit."""
    if isinstance(of, Fields):
        return sum(width(one) for _, one in of.fields if not isinstance(one, Varbit))
    return of.width if isinstance(of, Bits) else 1


# ---- hashes


def padded(value: int, bits: int) -> bytes:
    """The bits from the highest on, with zeros up to a whole byte."""
    return (value << -bits % 8).to_bytes((bits + 7) // 8, "big")


def crc16(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def halves(data: bytes) -> list[int]:
    data += bytes(len(data) % 2)
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def csum16(data: bytes) -> int:
    total = sum(halves(data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def xor16(data: bytes) -> int:
    result = 0
    for half in halves(data):
        result ^= half
    return result


HASHES: dict[str, Callable[[bytes], int]] = {
    "crc32": zlib.crc32,
    "crc16": crc16,
    "csum16": csum16,
    "xor16": xor16,
    "identity": lambda data: int.from_bytes(data[:8], "big"),
}


# ---- operators


def saturated(of: Bits, value: int) -> int:
    low, high = (-(1 << of.width - 1), (1 << of.width - 1) - 1) if of.signed else (0, (1 << of.width) - 1)
    return max(low, min(high, value))


ARITHMETIC: dict[str, Callable[[Bits, int, int], int]] = {
    "+": lambda of, a, b: of.wrap(a + b),
    "-": lambda of, a, b: of.wrap(a - b),
    "*": lambda of, a, b: of.wrap(a * b),
    "&": lambda of, a, b: of.wrap(a & b),
    "|": lambda of, a, b: of.wrap(a | b),
    "^": lambda of, a, b: of.wrap(a ^ b),
    "|+|": lambda of, a, b: saturated(of, a + b),
    "|-|": lambda of, a, b: saturated(of, a - b),
    "<<": lambda of, a, b: of.wrap(a << b) if b < of.width else 0,
    ">>": lambda of, a, b: of.wrap(a >> min(b, of.width)),
}
COMPARISON: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: same(a, b),  # noqa: PLW0108 - it is defined below
    "!=": lambda a, b: not same(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Header):
        return a.valid == b.valid and (not a.valid or a.fields == b.fields)
    if isinstance(a, dict):
        return all(same(a[name], b[name]) for name in a)
    return a == b


def takes(match: Any, value: int, bits: int) -> bool:
    if match is None:
        return True
    if not isinstance(match, tuple):
        return value == match
    kind, one, two = match
    if kind == "/":
        return value >> bits - two == one >> bits - two
    return one <= value <= two if kind == ".." else value & two == one & two


@dataclass
class Bucket:
    """The tokens of a meter (RFC 2698), in billionths."""

    rates: dict[str, int]
    time: int
    committed: int = 0
    peak: int = 0

    def __post_init__(self) -> None:
        self.committed, self.peak = self.rates["cbs"] * SECOND, self.rates["pbs"] * SECOND

    def color(self, amount: int, time: int) -> int:
        passed, self.time = time - self.time, time
        self.committed = min(self.committed + passed * self.rates["cir"], self.rates["cbs"] * SECOND)
        self.peak = min(self.peak + passed * self.rates["pir"], self.rates["pbs"] * SECOND)
        amount *= SECOND
        if self.peak < amount:
            return RED
        self.peak -= amount
        if self.committed < amount:
            return YELLOW
        self.committed -= amount
        return GREEN


@dataclass
class State:
    """What stays from frame to frame, by full names, and what the host sets."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    registers: dict[str, list[int]] = field(default_factory=dict)
    counters: dict[str, list[list[int]]] = field(default_factory=dict)
    meters: dict[tuple[str, Any], Bucket] = field(default_factory=dict)
    hits: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    """Packets and bytes by table and index of the entry."""
    groups: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    sessions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Ports and numbers of copies."""
    sets: dict[str, list[int]] = field(default_factory=dict)
    members: dict[tuple[str, int], tuple[str, list[int]]] = field(default_factory=dict)
    member_groups: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    """Members and their weights."""


class Interpreter:
    """A program with its state. `seen` are values that keys of tables had, for those who choose entries."""

    def __init__(self, program: p4.Program, state: State) -> None:
        self.program, self.state = program, state
        self.types = {of.name: of for of in program.types}
        self.functions = {one.name: one for one in program.functions}
        self.subs = {one.name: one for one in program.subs}
        self.seen: dict[str, list[tuple[int, ...]]] = {}
        self.compared: dict[str, list[tuple[int, ...]]] = {}
        self.ran: Counter[str] = Counter()
        self.messages: list[tuple[int, ...]] = []
        self.met = False  # an entry, by this frame
        text = str(program)
        self.keeps_short = any(of in text for of in ("clone", "circulate", "resubmit", "truncate", "assert("))
        self.declare(program.parser, "P")
        self.declare(program.ingress, "I")
        self.declare(program.egress, "E")

    def declare(self, control: p4.Control | p4.Parser, path: str) -> None:
        for one in control.locals:
            if isinstance(one, p4.Object):
                name = f"{path}.{one.name}"
                if one.kind == "register":
                    self.state.registers[name] = [0] * one.args[0]
                elif one.kind == "counter":
                    self.state.counters[name] = [[0, 0] for _ in range(one.args[0])]
                elif one.kind in self.subs:
                    self.declare(self.subs[one.kind], name)

    # ---- a frame
    def carry(self, port: int, frame: bytes, time: int) -> list[Frame]:
        self.out: list[Frame] = []
        self.parsed: Scope | None = None  # as the first pass parses it
        self.clones: list[Frame] = []  # those of `out` that are clones
        self.met = self.copied = False
        self.ingress(port, frame, time, NORMAL, {})
        return self.out

    def ingress(self, port: int, frame: bytes, time: int, kind: int, kept: dict[str, Any]) -> None:
        std = {name: 0 for name in STANDARD} | {"parser_error": "NoError"}
        std |= {"ingress_port": port, "packet_length": len(frame), "instance_type": kind}
        std |= {"ingress_global_timestamp": time // 1000, "egress_global_timestamp": time // 1000}
        self.begin(frame, time, std, kept)
        self.sums(self.program.verify)
        self.control(self.program.ingress, "I", [self.h, self.m, self.std])
        ends = self.ends
        if self.asserted:
            return
        if "clone" in ends:
            here = self.h, self.m, self.std, self.rest, self.ends
            self.clone(INGRESS_CLONE, *ends["clone"], frame, time)
            self.h, self.m, self.std, self.rest, self.ends = here
        if "resubmit" in ends:
            self.ingress(port, frame, time, RESUBMITTED, self.kept(ends["resubmit"]))
            return
        self.copied = bool(self.std["mcast_grp"])
        if self.copied:
            here = self.h, self.m, self.std, self.rest
            for to, number in self.state.groups.get(self.std["mcast_grp"], []):
                self.h, self.m, self.std, self.rest = copy.deepcopy(here)
                self.egress(to, number, REPLICATION, frame, time)
            return
        if self.std["egress_spec"] != DROP:
            self.egress(self.std["egress_spec"], 0, NORMAL, frame, time)

    def begin(self, frame: bytes, time: int, std: dict[str, Any], kept: dict[str, Any]) -> None:
        """Parses a frame."""
        self.h, self.m, self.std = empty(self.types["headers_t"]), empty(self.types["meta_t"]), std
        self.m |= kept
        self.frame, self.at, self.time, self.length = frame, 0, time, len(frame)
        self.ends: dict[str, Any] = {}
        self.asserted = False
        try:
            self.parse(
                self.program.parser, Scope({"h": self.h, "m": self.m, "std": self.std}, None, "P", self.program.parser)
            )
        except ParserError as error:
            self.std["parser_error"] = str(error)
        self.ran[f"error {self.std['parser_error']}"] += 1
        self.rest = frame[self.at // 8 :]

    def kept(self, listed: bool) -> dict[str, Any]:
        return {name: self.m[name] for name in self.types["meta_t"].kept if listed}

    def clone(self, kind: int, session: int, listed: bool, frame: bytes, time: int) -> None:
        """The copies of a session, each in a pass of its own. One of ingress is parsed anew from the frame as it
        entered, one of egress has the headers of the end of egress.
        """
        kept, headers, rest = self.kept(listed), self.h, self.rest
        std = {name: 0 for name in STANDARD} | {"parser_error": "NoError"}
        names = ("ingress_port", "packet_length", "ingress_global_timestamp", "egress_global_timestamp")
        std |= {name: self.std[name] for name in names}
        for to, number in self.state.sessions.get(session, []):
            if kind == INGRESS_CLONE:
                self.begin(frame, time, dict(std), {})
            else:
                self.h, self.m, self.std = copy.deepcopy(headers), empty(self.types["meta_t"]), dict(std)
                self.rest, self.ends = rest, {}
            self.m |= kept
            self.egress(to, number, kind, frame, time)

    def egress(self, port: int, number: int, kind: int, frame: bytes, time: int) -> None:
        self.std |= {"egress_port": port, "egress_rid": number, "instance_type": kind, "egress_spec": port}
        self.ends = {name: value for name, value in self.ends.items() if name == "truncate"}
        self.asserted = False
        std = self.std
        self.control(self.program.egress, "E", [self.h, self.m, self.std])
        ends = self.ends
        if self.asserted:
            return
        if "clone" in ends:
            here = self.h, self.m, self.std, self.rest
            self.clone(EGRESS_CLONE, *ends["clone"], frame, time)
            self.h, self.m, self.std, self.rest = here
        if std["egress_spec"] == DROP:
            return
        self.sums(self.program.update)
        headers, guards = Scope({"h": self.h}, None), self.program.guards
        emits = [
            emit for at, emit in enumerate(self.program.emits) if at not in guards or self.value(guards[at], headers)
        ]
        out = b"".join(self.emitted(self.value(emit, headers), emit.type) for emit in emits)
        out += self.rest
        out = out[: ends.get("truncate", len(out))]
        if "recirculate" in ends:
            self.ingress(std["ingress_port"], out, time, RECIRCULATED, self.kept(ends["recirculate"]))
        elif self.keeps_short or len(out) >= min(SHORTEST, len(frame)):
            verdict = {HOST: "host", ONWARD: "onward"}.get(port, f"port {port}" if port < PORTS else "")
            self.out += [(verdict, out)] * bool(verdict)
            if kind in (INGRESS_CLONE, EGRESS_CLONE):
                self.clones += [(verdict, out)] * bool(verdict)

    def emitted(self, value: Any, of: Any) -> bytes:
        if isinstance(value, list):
            return b"".join(self.emitted(one, of.of) for one in value)
        if isinstance(value, dict):
            return b"".join(self.emitted(value[name], one) for name, one in of.fields)
        if not value.valid:
            return b""
        bits, size = 0, 0
        for name, one in of.fields:
            more, held = self.raw(value.fields[name], one)
            bits, size = bits << held | more, size + held
        assert size % 8 == 0
        return bits.to_bytes(size // 8, "big")

    @staticmethod
    def raw(value: Any, of: Any) -> tuple[int, int]:
        """A value as bits, and how many."""
        if isinstance(of, Varbit):
            return value
        size = width(of)
        return int(value) & (1 << size) - 1, size

    def joined(self, values: list[Any], scope: Scope) -> tuple[int, int]:
        bits = size = 0
        for one in values:
            more, held = self.raw(self.value(one, scope), one.type)
            bits, size = bits << held | more, size + held
        return bits, size

    # ---- parser
    def parse(self, parser: p4.Parser, scope: Scope) -> None:
        path = scope.path
        self.variables(parser, scope)
        states = {state.name: state for state in parser.states}
        to = "start"
        while to != "accept":
            if to == "reject":
                raise ParserError("NoError")
            state = states[to]
            self.ran[f"state {path}.{to}"] += 1
            for statement in state.statements:
                self.run(statement, scope)
            if not state.keys:
                to = state.rows[0].state
                continue
            keys = [self.raw(self.value(key, scope), key.type)[0] for key in state.keys]
            self.compared.setdefault(f"{path}.{state.name}", []).append(tuple(keys))
            row = next((row for row in state.rows if self.selects(row, keys, state.keys, path)), None)
            if row is None:
                raise ParserError("NoMatch")
            to = row.state

    def selects(self, row: p4.Row, keys: list[int], of: list[p4.Expr], path: str) -> bool:
        if row.matches == [None]:
            return True

        def fits(match: Any, key: int, one: p4.Expr) -> bool:
            if isinstance(match, str):
                return key in self.state.sets.get(f"{path}.{match}", [])
            return takes(match, key, width(one.type))

        return all(fits(*one) for one in zip(row.matches, keys, of, strict=True))

    def need(self, bits: int) -> None:
        if self.at + bits > 8 * self.length:
            raise ParserError("PacketTooShort")

    def peek(self, bits: int, at: int) -> int:
        return int.from_bytes(self.frame, "big") >> 8 * self.length - at - bits & (1 << bits) - 1

    def extract(self, header: Header, of: Fields, varying: int) -> None:
        if varying % 8:
            raise ParserError("ParserInvalidArgument")
        if any(isinstance(one, Varbit) and varying > one.most for _, one in of.fields):
            raise ParserError("HeaderTooShort")
        self.need(width(of) + varying)
        header.at = at = self.at
        new: dict[str, Any] = {}
        for name, one in of.fields:
            if isinstance(one, Varbit):
                new[name] = (self.peek(varying, at), varying)
                at += varying
            else:
                bits = self.peek(width(one), at)
                new[name] = one.wrap(bits) if isinstance(one, Bits) else bool(bits)
                at += width(one)
        header.fields, header.valid, self.at = new, True, at

    # ---- checksums
    def sums(self, block: p4.Block) -> None:
        scope = Scope({"h": self.h, "m": self.m}, None)
        if block is self.program.verify and self.parsed is None:
            self.parsed = Scope(copy.deepcopy(scope.names), None)
        for one in block.statements:
            assert isinstance(one, p4.Extern)
            condition, _, to, _ = one.args
            if not self.value(condition, scope):
                continue
            result = self.sum(one, scope)
            if one.name.startswith("verify"):
                wrong = self.raw(self.value(to, scope), to.type)[0] != result
                self.std["checksum_error"] |= int(wrong)
                self.ran["checksum error" if wrong else "checksum"] += 1
            else:
                self.assign(to, result, scope)

    def sum(self, one: p4.Extern, scope: Scope) -> int:
        _, data, to, algorithm = one.args
        payload = self.rest if "payload" in one.name else b""
        data = padded(*self.joined(data, scope)) + payload
        return HASHES[algorithm.split(".")[1]](data) & (1 << width(to.type)) - 1

    # ---- controls
    def variables(self, control: p4.Control | p4.Parser, scope: Scope) -> None:
        for one in control.locals:
            if isinstance(one, p4.Var):
                self.run(one, scope)

    def control(self, control: p4.Control, path: str, args: list[Any]) -> None:
        """A control of the package; its parameters are the frame's own values."""
        names = {param.name: arg for param, arg in zip(control.params, args, strict=True)}
        try:
            self.body(control, Scope(names, None, path, control))
        except ExitError:
            self.ran["exit"] += 1

    def body(self, control: p4.Control, scope: Scope) -> None:
        self.variables(control, scope)
        try:
            self.run(control.body, scope)
        except ReturnError:
            pass

    def call(
        self, params: list[p4.Param], args: list[Any], scope: Scope, inner: Scope, job: Callable[[Scope], None]
    ) -> None:
        """Copies in, does the job and copies out, also if the job ends by `exit` or an error of the parser."""
        # The interpreter finds the places of arguments before the job begins, which may change an index (P4-16, 6.8).
        args = [self.settled(arg, scope) for arg in args]
        for param, arg in zip(params, args, strict=True):
            if param.direction == "out":
                inner.names[param.name] = empty(param.type)
            else:
                value = arg if isinstance(arg, int) else self.value(arg, scope)
                inner.names[param.name] = copy.deepcopy(value)
        try:
            job(inner)
        finally:
            for param, arg in zip(params, args, strict=True):
                if "out" in param.direction:
                    self.assign(arg, inner.names[param.name], scope)

    def settled(self, arg: Any, scope: Scope) -> Any:
        """An argument whose indices are numbers."""
        match arg:
            case p4.Element():
                index = arg.index if isinstance(arg.index, int) else self.value(arg.index, scope)
                return dataclasses.replace(arg, of=self.settled(arg.of, scope), index=index)
            case p4.Member() | p4.Slice():
                return dataclasses.replace(arg, of=self.settled(arg.of, scope))
            case _:
                return arg

    def action(self, name: str, args: list[Any], scope: Scope) -> None:
        action, home = scope.declared(name) if name not in self.functions else (self.functions[name], Scope({}, None))
        self.ran[f"action {name}"] += 1

        def job(inner: Scope) -> None:
            try:
                self.run(action.body, inner)
            except ReturnError:
                pass

        self.call(action.params, args, scope, Scope({}, home), job)

    def apply(self, name: str, scope: Scope) -> tuple[bool, str]:
        """Whether an entry was hit, and the action that ran."""
        table, home = scope.declared(name)
        path = f"{home.path}.{name}"
        keys = [self.raw(self.value(key.value, scope), key.value.type)[0] for key in table.keys]
        looked = [key for key, of in zip(keys, table.keys, strict=True) if of.kind != "selector"]
        self.seen.setdefault(path, []).append(tuple(looked))
        index = self.find(table, path, looked)
        action, args = table.default
        if index is not None:
            entry = self.entries(table, path)[index]
            self.met = True
            if table.counter:
                hits = self.state.hits.setdefault((path, index), [0, 0])
                hits[0] += 1
                hits[1] += self.std["packet_length"]
            if table.meter:
                self.colors(table, path, index, home)
            action, args = self.chosen(table, entry, keys, home)
        elif table.meter:
            self.colored = {table.meter: GREEN}
        self.ran[f"{'hit' if index is not None else 'miss'} {path}"] += 1
        self.ran["hits" if index is not None else "misses"] += 1
        self.table = table, path, index
        self.action(action, args, home)
        return index is not None, action

    def entries(self, table: p4.Table, path: str) -> list[Entry]:
        return table.const if table.const is not None else self.state.entries.get(path, [])

    def find(self, table: p4.Table, path: str, keys: list[int]) -> int | None:
        best: tuple[tuple[int, int], int] | None = None
        widths = [width(key.value.type) for key in table.keys if key.kind != "selector"]
        for index, entry in enumerate(self.entries(table, path)):
            if not all(takes(*one) for one in zip(entry.keys, keys, widths, strict=True)):
                continue
            prefix = next((match[2] for match in entry.keys if isinstance(match, tuple) and match[0] == "/"), 0)
            if table.has_priorities:
                rank = (-index if table.const is not None else entry.priority, 0)
            else:
                rank = (prefix, 0)
            if best is None or rank > best[0]:
                best = rank, index
        return None if best is None else best[1]

    def chosen(self, table: p4.Table, entry: Entry, keys: list[int], home: Scope) -> tuple[str, list[int]]:
        if entry.via is None:
            return entry.action, entry.args
        profile, scope = home.declared(table.profile)
        name, (kind, number) = f"{scope.path}.{profile.name}", entry.via
        if kind == "group":
            members = self.state.member_groups[name, number]
            if not members:
                return table.default
            bits = size = 0
            for value, key in zip(keys, table.keys, strict=True):
                if key.kind == "selector":
                    bits, size = bits << width(key.value.type) | value, size + width(key.value.type)
            hashed = HASHES[profile.args[0].split(".")[1]](padded(bits, size)) & (1 << profile.args[2]) - 1
            chosen = [member for member, weight in members for _ in range(weight)]
            number = chosen[hashed % len(chosen)]
        return self.state.members[name, number]

    def colors(self, table: p4.Table, path: str, index: int, home: Scope) -> None:
        meter, _ = home.declared(table.meter)
        bucket = self.state.meters.get((path, index))
        amount = self.std["packet_length"] if meter.args[0].endswith("bytes") else 1
        self.colored = {table.meter: bucket.color(amount, self.time) if bucket else GREEN}

    # ---- statements
    def run(self, statement: p4.Statement, scope: Scope) -> None:
        match statement:
            case p4.Block():
                inner = Scope({}, scope)
                for one in statement.statements:
                    self.run(one, inner)
            case p4.Assign() if statement.sign:
                of = statement.to.type
                both = p4.Binary(of, statement.sign, statement.to, statement.value)
                self.assign(statement.to, self.value(both, scope), scope)
            case p4.Assign():
                self.assign(statement.to, self.value(statement.value, scope), scope)
            case p4.Push():
                getattr(self.value(statement.of, scope), statement.which)(statement.count)
            case p4.AssignList():
                self.assign_list(statement, scope)
            case p4.Var():
                scope.names[statement.name] = copy.deepcopy(self.value(statement.value, scope))
            case p4.If():
                if self.value(statement.condition, scope):
                    self.run(statement.then, scope)
                elif statement.otherwise:
                    self.run(statement.otherwise, scope)
            case p4.Switch():
                self.switch(statement, scope)
            case p4.Call():
                self.call_named(statement, scope)
            case p4.Apply():
                self.apply(statement.table, scope)
            case p4.Extern():
                self.extern(statement, scope)
            case p4.SetValid():
                self.value(statement.of, scope).valid = statement.valid
            case p4.Return():
                raise ReturnError(self.value(statement.value, scope) if statement.value else None)
            case p4.Exit():
                raise ExitError

    def assign_list(self, statement: p4.AssignList, scope: Scope) -> None:
        of = statement.to.type
        assert isinstance(of, Fields)
        # All values are read before one is written.
        values = [copy.deepcopy(self.value(one, scope)) for one in statement.values]
        fields = {name: value for (name, _), value in zip(of.fields, values, strict=True)}
        self.assign(statement.to, Header(fields, True) if of.kind == "header" else fields, scope)

    def switch(self, statement: p4.Switch, scope: Scope) -> None:
        value: Any
        if isinstance(statement.of, str):
            value = self.apply(statement.of, scope)[1]
        else:
            value = self.value(statement.of, scope)
        labels = [case.label for case in statement.cases]
        at = labels.index(value) if value in labels else labels.index(None) if None in labels else len(labels)
        block = next((case.block for case in statement.cases[at:] if case.block is not None), None)
        if block:
            self.run(block, scope)

    def call_named(self, statement: p4.Call, scope: Scope) -> None:
        if not statement.apply:
            self.action(statement.name, statement.args, scope)
            return
        one, home = scope.declared(statement.name)
        sub, path = self.subs[one.kind], f"{home.path}.{statement.name}"
        inner = Scope({}, None, path, sub)
        self.ran["sub"] += 1
        if isinstance(sub, p4.Control):
            self.call(sub.params, statement.args, scope, inner, lambda inner: self.body(sub, inner))
        else:
            # The first argument is the frame.
            self.call(sub.params, statement.args[1:], scope, inner, lambda inner: self.parse(sub, inner))

    def path_of(self, name: str, scope: Scope) -> str:
        return f"{scope.declared(name)[1].path}.{name}"

    def extern(self, statement: p4.Extern, scope: Scope) -> None:
        args = statement.args
        self.ran[f"extern {statement.name}"] += 1
        match statement.name:
            case "extract":
                header = self.value(args[0], scope)
                self.extract(header, args[0].type, self.value(args[1], scope) if len(args) > 1 else 0)
                if isinstance(args[0], p4.Member) and isinstance(args[0].of.type, Stack):
                    self.value(args[0].of, scope).index += 1
            case "advance":
                bits = self.value(args[0], scope)
                self.need(bits)
                self.at += bits
            case "verify":
                if not self.value(args[0], scope):
                    raise ParserError(args[1].value)
            case "read" if len(args) == 2:
                cells = self.state.registers[self.path_of(statement.object, scope)]
                index = self.value(args[1], scope)
                self.assign(args[0], cells[index] if index < len(cells) else 0, scope)
            case "read":
                self.assign(args[0], self.colored[statement.object], scope)
            case "write":
                cells = self.state.registers[self.path_of(statement.object, scope)]
                index, value = (self.value(arg, scope) for arg in args)
                if index < len(cells):
                    cells[index] = value
            case "count" if args:
                cells = self.state.counters[self.path_of(statement.object, scope)]
                index = self.value(args[0], scope)
                if index < len(cells):
                    cells[index][0] += 1
                    cells[index][1] += self.std["packet_length"]
            case "count":
                pass  # its table counts
            case "execute_meter":
                meter, home = scope.declared(statement.object)
                index = self.value(args[0], scope)
                bucket = self.state.meters.get((f"{home.path}.{meter.name}", index))
                amount = self.std["packet_length"] if meter.args[1].endswith("bytes") else 1
                self.assign(args[1], bucket.color(amount, self.time) if bucket else GREEN, scope)
            case "mark_to_drop":
                self.std["egress_spec"], self.std["mcast_grp"] = DROP, 0
            case "hash":
                to, algorithm, base, data, most = args
                hashed = HASHES[algorithm.split(".")[1]](padded(*self.joined(data, scope)))
                first, size = self.value(base, scope), self.value(most, scope)
                self.assign(to, first + (hashed % size if size else 0) & (1 << width(to.type)) - 1, scope)
            case "random":
                assert args[1] is args[2]
                self.assign(args[0], self.value(args[1], scope), scope)
            case "digest<digest_t>":
                self.messages.append(tuple(self.raw(self.value(one, scope), one.type)[0] for one in args[1]))
            case "assert":
                if not self.value(args[0], scope):
                    self.asserted = True
                    raise ExitError
            case "assume" | "log_msg":
                pass
            case "clone_preserving_field_list":
                self.ends["clone"] = self.value(args[1], scope), args[2] == "1"
            case "clone":
                self.ends["clone"] = self.value(args[1], scope), False
            case "resubmit_preserving_field_list":
                self.ends["resubmit"] = args[0] == "1"
            case "recirculate_preserving_field_list":
                self.ends["recirculate"] = args[0] == "1"
            case "truncate":
                self.ends["truncate"] = self.value(args[0], scope)
            case other:
                raise AssertionError(other)

    # ---- values
    def assign(self, to: p4.Expr, value: Any, scope: Scope) -> None:
        match to:
            case p4.Name():
                at = scope.where(to.name)
                # A frame's own headers and metadata stay the same objects.
                if isinstance(at[to.name], Header):
                    at[to.name].take(value)
                elif isinstance(at[to.name], dict):
                    at[to.name].update(copy.deepcopy(value))
                else:
                    at[to.name] = value
            case p4.Member():
                inside = self.value(to.of, scope)
                if isinstance(inside, Elements):
                    self.of_stack(inside, to.name).take(value)
                    return
                names = inside.fields if isinstance(inside, Header) else inside
                if isinstance(value, Header):
                    names[to.name].take(value)
                else:
                    names[to.name] = copy.deepcopy(value)
            case p4.Element():
                element = self.value(to, scope)
                element.take(value)
            case p4.Slice():
                assert isinstance(to.of.type, Bits)
                mask = (1 << to.high - to.low + 1) - 1 << to.low
                before = self.value(to.of, scope)
                self.assign(to.of, to.of.type.wrap(before & ~mask | value << to.low), scope)
            case _:
                raise AssertionError(to)

    def value(self, of: p4.Expr, scope: Scope) -> Any:
        match of:
            case p4.Const():
                return of.value
            case p4.Name():
                return scope.where(of.name)[of.name]
            case p4.Member():
                inside = self.value(of.of, scope)
                if isinstance(inside, Elements):
                    return self.of_stack(inside, of.name)
                return inside.fields[of.name] if isinstance(inside, Header) else inside[of.name]
            case p4.Element():
                elements = self.value(of.of, scope)
                index = of.index if isinstance(of.index, int) else self.value(of.index, scope)
                # Behind the end nothing is written, and zeros are read.
                return elements[index] if index < len(elements) else empty(of.type)
            case p4.Slice():
                return self.value(of.of, scope) >> of.low & (1 << of.high - of.low + 1) - 1
            case p4.Unary():
                value = self.value(of.of, scope)
                if of.sign == "!":
                    return not value
                assert isinstance(of.type, Bits)
                return of.type.wrap(~value if of.sign == "~" else -value if of.sign == "-" else value)
            case p4.Binary():
                return self.binary(of, scope)
            case p4.Shift():
                assert isinstance(of.type, Bits)
                return ARITHMETIC[of.sign](of.type, self.value(of.left, scope), of.by)
            case p4.Mux():
                return self.value(of.yes if self.value(of.condition, scope) else of.no, scope)
            case p4.Cast():
                value = self.value(of.of, scope)
                return of.type.wrap(int(value)) if isinstance(of.type, Bits) else bool(value)
            case p4.IsValid():
                return self.value(of.of, scope).valid
            case p4.Lookahead():
                assert isinstance(of.type, Bits)
                self.need(of.type.width)
                return of.type.wrap(self.peek(of.type.width, self.at))
            case p4.Hit():
                hit = self.apply(of.table, scope)[0]
                return hit if of.which == "hit" else not hit
            case p4.FunctionCall():
                return self.function(of, scope)
            case _:
                raise AssertionError(of)

    @staticmethod
    def of_stack(elements: Elements, name: str) -> Any:
        if name == "size":
            return len(elements)
        if name == "lastIndex":
            return elements.index - 1 & 0xFFFFFFFF
        return elements.next() if name == "next" else elements.last()

    def binary(self, of: p4.Binary, scope: Scope) -> Any:
        left = self.value(of.left, scope)
        if of.sign in ("&&", "||"):
            return left if left == (of.sign == "||") else self.value(of.right, scope)
        left = copy.deepcopy(left)
        right = self.value(of.right, scope)
        if of.sign in COMPARISON:
            return COMPARISON[of.sign](left, right)
        assert isinstance(of.type, Bits)
        if of.sign == "++":
            bits = width(of.right.type)
            return of.type.wrap(left << bits | right & (1 << bits) - 1)
        return ARITHMETIC[of.sign](of.type, left, right)

    def function(self, of: p4.FunctionCall, scope: Scope) -> Any:
        function = self.functions[of.name]
        result: list[Any] = []

        def job(inner: Scope) -> None:
            try:
                self.run(function.body, inner)
            except ReturnError as done:
                result.extend(done.args)

        self.ran["function"] += 1
        self.call(function.params, of.args, scope, Scope({}, None), job)
        return result[0]
