# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs of the flow engine on random frames in a card: both targets do what plain Python makes of the
program's text, in all that leaves the card and all that the host sees of it.

PENSTOCK_FLOW_ROUNDS sets the number of programs, PENSTOCK_SEED the first one. When a program fails, the message has the
smallest part of it that still fails.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import efsm
import pytest
from efsm import Machine
from flow_card import TARGETS, Arrival, Left, TimedCard, exit_of
from flow_random import WORDS, Traffic, Writer, without_refused
from flow_words import words
from penstock import PenstockError, flow_counters
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw
from system import ROOT

sys.path.insert(0, str(ROOT / "shell/tests"))

from toeplitz import flow_hash

ROUNDS = int(os.environ.get("PENSTOCK_FLOW_ROUNDS", "10"))
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
# All programs run on the same kind of card.
PORTS, ELEMENTS, CONTEXTS = 2, 2, 62
NOTHING = "element e1 {\nport == 255 => drop\n}"
# Most random programs match hardly any frame, so up to this many are tried until one matches this many of its rows.
TRIES, ROWS = 500, 3
# Microseconds in which the walker gets round a table on soft.
ROUND = 200
# Batches of frames between two readings of all contexts.
LOOK = 4
MASK = 0xFFFFFFFF
ADDRESS = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
T = TypeVar("T")


# ---- programs and frames


class CardWriter(Writer):
    """Writes programs of two elements, of which the second may do nothing, that send frames to where there is
    something.
    """

    def program(self) -> str:
        elements = self.random.randint(1, ELEMENTS)
        text = "\n".join(self.element(at, elements) for at in range(elements))
        text = re.sub(r"\bport 3\b", lambda _: f"port {self.random.choice(range(PORTS))}", text)
        return text if elements == ELEMENTS else f"{text}\n{NOTHING}"

    def tests(self, count: int) -> str:
        """Few at a time, as otherwise hardly a frame fits."""
        return super().tests(min(count, 1))


def accepted(seed: int, path: Path) -> str | None:
    """A random program for the card, without the rows that the compiler refuses; None when it refuses something else of
    it.
    """
    compiled = without_refused(CardWriter(seed).program(), path, partial(words, contexts=CONTEXTS))
    return compiled and compiled[0]


class CardTraffic(Traffic):
    """Frames of a few flows, or of more than tables hold."""

    def __init__(self, seed: int, flows: int | None) -> None:
        super().__init__(seed)
        if flows is None:
            self.hosts = [str(host) for host in range(1, 255)]
            self.hosts6 = [f"{host:x}" for host in range(1, 255)]
        self.flows = [self.packet() for _ in range(flows or 0)]

    def data(self) -> bytes:
        packet = self.again(self.random.choice(self.flows)) if self.flows else self.packet()
        data = bytes(packet)
        return data[: self.random.randint(14, len(data))] if self.random.random() < 0.05 else data

    def again(self, packet: Packet) -> Packet:
        """Another frame of a packet's flow."""
        choice, packet = self.random.choice, packet.copy()
        if TCP in packet:
            packet[TCP].flags = choice((0x02, 0x12, 0x10, 0x11, 0x14, 0x18))
            packet[TCP].seq, packet[TCP].ack = choice((*WORDS, 1 << 31)), choice((*WORDS, 1 << 31))
        if IP in packet:
            packet[IP].ttl, packet[IP].id = choice((1, 64)), choice(WORDS)
        if IPv6 in packet:
            packet[IPv6].hlim = choice((1, 64))
        if Raw in packet:
            packet[Raw].load = b"".join(choice(WORDS).to_bytes(4, "big") for _ in range(choice((0, 1, 2, 8, 20))))
        return packet


@dataclass(frozen=True)
class Case:
    text: str
    arrivals: list[Arrival]
    # Whether the walker has visited all places before frames see another time. Otherwise frames also find expired
    # contexts, in an undefined order, and the result must not depend on the number of contexts.
    strict: bool

    def batches(self) -> list[tuple[int, int, list[bytes]]]:
        """Frames that arrive together: the target decides in which order those of two ports meet."""
        groups = groupby(self.arrivals, key=lambda arrival: arrival[:2])
        return [(time, port, [frame for _, _, frame in group]) for (time, port), group in groups]


def arrivals(seed: int, flows: int | None, strict: bool) -> list[Arrival]:
    chance, traffic = random.Random(seed), CardTraffic(seed, flows)
    time = chance.choice((10_000_000, (1 << 31) - 5000, (1 << 32) - 5000))
    steps = (0, ROUND, 499, 500, 501, 999, 1000, 1001, 100_000, 3_000_000)
    if not strict:
        steps += (1, 1, 10, 49, 50, 51)
    batches, size = (5, 50) if flows is None else (14, 10)
    all_ = []
    for _ in range(batches):
        time += chance.choice(steps)
        port = chance.randrange(PORTS)
        all_ += [(time, port, traffic.data()) for _ in range(chance.randint(1, size))]
    return all_


def random_case(seed: int, folder: Path) -> Case:
    """A program that has contexts and takes several rows, and the frames with which it does."""
    for attempt in range(TRIES * seed, TRIES * (seed + 1)):
        text = accepted(attempt, folder / "random.efsm")
        if text is None:
            continue
        flows = random.Random(attempt).choice((2, 3, 4, None, None, None))
        strict = flows is None or "table" in text
        case = Case(text, arrivals(attempt, flows, strict), strict)
        oracle = Oracle(text)
        record(case, PythonSide(oracle))
        if sum(map(len, oracle.rows)) >= ROWS and 0 < oracle.most and (strict or oracle.most < CONTEXTS // 2):
            return case
    raise AssertionError("no program does anything")


# ---- records: batch by batch, by names


Record = dict[str, Any]


def number(value: int | str) -> int:
    """A field of a key."""
    if isinstance(value, int):
        return value
    return int(value.replace(":", ""), 16) if ADDRESS.fullmatch(value) else int(ip_address(value))


def in_order(events: list[tuple], names: Sequence[str]) -> dict[str, list[tuple]]:
    """Events of each element: events of different elements have no order."""
    return {name: [event for event in events if event[0] == name] for name in names}


def on_card(case: Case, target: str, folder: Path) -> list[Record]:
    (folder / "program.efsm").write_text(case.text)
    design = folder / "card.toml"
    design.write_text(
        f'[card]\nname = "twins"\nports = {PORTS}\n[[inline]]\nengine = "flow"\nprogram = "program.efsm"\n'
        f"flow.contexts = {CONTEXTS}\n"
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    with TimedCard(design, target) as card:
        return record(case, CardSide(card))


class CardSide:
    """The observable state of a card."""

    def __init__(self, card: TimedCard) -> None:
        self.card = card
        self.names = list(card.flow)

    def at(self, time: int) -> None:
        self.card.at(time)

    def walk(self) -> None:
        self.card.walk()

    def send(self, port: int, frames: list[bytes]) -> list[Left]:
        return self.card.send(port, frames)

    def events(self) -> list[tuple]:
        return [
            (
                event.element,
                event.kind,
                event.time & MASK,
                tuple(map(number, event.key.values())),
                event.state,
                tuple(event.registers.values()),
            )
            for event in self.card.flow.events()
        ]

    def contexts(self, name: str) -> dict[tuple[int, ...], tuple]:
        return {
            tuple(map(number, one.key.values())): (
                one.state,
                tuple(one.registers.values()),
                (one.ends, one.ends_then),
                (one.idle, one.idle_left, one.idle_then),
            )
            for one in self.card.flow[name]
        }

    def registers(self, name: str) -> dict[str, int]:
        return self.card.flow[name].registers

    def counters(self) -> Record:
        inline = flow_counters(self.card.card.counters())
        assert inline is not None
        counters = {name: getattr(inline, name) for name in ("frames", "blocked", "refused", "events_lost")}
        for one in inline.elements:
            names = ("frames", "keyless", "unmatched", "unkept", "expired", "evicted", "contexts")
            counters |= {f"{name} of {one.name}": getattr(one, name) for name in names}
            counters[f"rows of {one.name}"] = [frames for _, frames in one.rows]
        return counters


class Oracle(Machine):
    """The interpreter of programs' text, with counters, and as much of a card as there is around it. `gone`: contexts
    that gave way elsewhere, of each element in their order, as any of equal ones may.
    """

    def __init__(self, text: str, gone: dict[str, list[tuple]] | None = None) -> None:
        super().__init__(text, CONTEXTS)
        self.names = [element.name for element in self.elements]
        self.elsewhere = gone or {}
        self.now = self.most = self.number = 0
        self.totals = dict.fromkeys(("frames", "blocked", "refused", "events_lost"), 0)
        self.frames = [0] * len(self.elements)
        self.evicted = [0] * len(self.elements)
        self.rows: list[Counter] = [Counter() for _ in self.elements]

    # ---- the interpreter
    def step(self, at: int, frame: efsm.Frame, time: int) -> tuple:
        self.number = at
        self.frames[at] += 1
        self.gone = self.elsewhere.get(self.names[at], [])[:1]
        before = len(self.events)
        verdict = super().step(at, frame, time)
        if any(event[0] == "Evicted" for event in self.events[before:]):
            self.evicted[at] += 1
            del self.elsewhere.get(self.names[at], [])[:1]
        self.most = max(self.most, len(self.contexts[at]))
        return verdict

    def fits(
        self, row: efsm.Row, frame: efsm.Frame, value: Callable[[efsm.Operand], int], flags: dict[str, bool]
    ) -> tuple[dict[str, int], efsm.Frame] | None:
        result = super().fits(row, frame, value, flags)
        if result is not None:
            rows = self.elements[self.number].rows
            self.rows[self.number][next(at for at, one in enumerate(rows) if one is row)] += 1
        return result

    # ---- the card
    def frame(self, data: bytes, port: int, time: int) -> Left:
        verdict, left = self.run(data, port, time, flow_hash(data))
        self.totals["frames"] += 1
        exit_ = exit_of(verdict, port, PORTS)
        if exit_ is None:
            self.totals["blocked" if verdict[0] == "drop" else "refused"] += 1
        return None if exit_ is None else (exit_, left)


class PythonSide:
    """The state that plain Python predicts for a card."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.names = oracle.names
        self.time = 0

    def at(self, time: int) -> None:
        self.time = time

    def walk(self) -> None:
        self.oracle.walk(self.time)

    def send(self, port: int, frames: list[bytes]) -> list[Left]:
        return [self.oracle.frame(frame, port, self.time) for frame in frames]

    def events(self) -> list[tuple]:
        found = [
            (self.names[at], kind.lower(), self.time & MASK, key, state, registers)
            for kind, at, key, state, registers in self.oracle.events
        ]
        self.oracle.events.clear()
        return found

    def contexts(self, name: str) -> dict[tuple[int, ...], tuple]:
        found = {}
        for key, one in self.oracle.contexts[self.names.index(name)].items():
            hard = (None, None) if one.hard is None else (one.hard[0] - self.time, one.hard[1])
            idle = (None, None, None)
            if one.idle is not None:
                span, since, then = one.idle
                idle = (span, since + span - self.time, then)
            found[key] = (one.state, tuple(one.registers.values()), hard, idle)
        return found

    def registers(self, name: str) -> dict[str, int]:
        return dict(self.oracle.globals[self.names.index(name)])

    def counters(self) -> Record:
        counters: Record = dict(self.oracle.totals)
        for at, name in enumerate(self.names):
            own = self.oracle.counters[at]
            own = own | {"frames": self.oracle.frames[at], "evicted": self.oracle.evicted[at]}
            own |= {"contexts": len(self.oracle.contexts[at])}
            counters |= {f"{what} of {name}": count for what, count in own.items()}
            taken = self.oracle.rows[at]
            counters[f"rows of {name}"] = [taken[row] for row in range(len(self.oracle.elements[at].rows))]
        return counters


def record(case: Case, side: CardSide | PythonSide) -> list[Record]:
    """Sends the frames of a case through; the records of each batch."""
    records: list[Record] = []
    batches = case.batches()
    before: int | None = None
    late = 0
    for at, (when, port, frames) in enumerate(batches):
        seen: Record = {}
        records.append(seen)
        time = when + late
        side.at(time)
        if case.strict and time != before:
            side.walk()
            seen["events of the walker"] = sorted(side.events(), key=repr)
        before = time
        seen["frames"] = side.send(port, frames)
        if case.strict:
            seen["events"] = in_order(side.events(), side.names)
        if at % LOOK != LOOK - 1 and at != len(batches) - 1:
            continue
        if not case.strict:
            late += ROUND
            side.at(time + ROUND)
            side.walk()
            # The time of an event depends on its finder.
            seen["events"] = sorted((event[:2] + event[3:] for event in side.events()), key=repr)
        for name in side.names:
            seen[f"contexts of {name}"] = side.contexts(name)
            seen[f"registers of {name}"] = side.registers(name)
        seen["counters"] = side.counters()
    return records


def expected(case: Case, found: list[Record]) -> list[Record]:
    """The same by plain Python, with the evictions of the card."""
    gone: dict[str, list[tuple]] = {}
    if case.strict:
        for seen in found:
            for name, events in seen["events"].items():
                gone.setdefault(name, []).extend(event[3] for event in events if event[1] == "evicted")
    return record(case, PythonSide(Oracle(case.text, gone)))


def difference(case: Case, target: str, folder: Path) -> str | None:
    """The first difference between a card and plain Python."""
    try:
        found = on_card(case, target, folder)
    except PenstockError as error:
        return str(error)
    for at, (seen, wanted) in enumerate(zip(found, expected(case, found), strict=True)):
        for name, value in wanted.items():
            if seen[name] != value:
                return f"batch {at}, {name}: {apart(seen[name], value)}"
    return None


def apart(found: Any, wanted: Any) -> str:
    """Two values that differ, or the first parts of them that do."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        key = next(key for key in (*wanted, *found) if found.get(key) != wanted.get(key))
        return f"{key}: {apart(found.get(key), wanted.get(key))}"
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        at = next(at for at, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other)
        return f"{at}: {apart(found[at], wanted[at])}"
    return f"{found} and not {wanted}"


# ---- the smallest part of a case that still fails


def smallest(items: list[T], fails: Callable[[list[T]], bool], tries: int) -> list[T]:
    """Leaves out everything that can be left out, large parts first."""
    size = (len(items) + 1) // 2
    while size and tries > 0:
        at = 0
        while at < len(items) and tries > 0:
            rest = items[:at] + items[at + size :]
            tries -= 1
            if rest and fails(rest):
                items = rest
            else:
                at += size
        size //= 2
    return items


def reduced(case: Case, target: str, folder: Path) -> Case:
    def fails(other: Case) -> bool:
        (folder / "rest.efsm").write_text(other.text)
        return not isinstance(words(folder / "rest.efsm", CONTEXTS), str) and bool(difference(other, target, folder))

    for tries in (30, 60):
        arrivals_ = smallest(case.arrivals, lambda some: fails(replace(case, arrivals=some)), tries)  # noqa: B023
        case = replace(case, arrivals=arrivals_)
        lines = smallest(case.text.split("\n"), lambda some: fails(replace(case, text="\n".join(some))), tries)  # noqa: B023
        case = replace(case, text="\n".join(lines))
    return case


@pytest.mark.parametrize("seed", range(SEED, SEED + ROUNDS))
def test_alike(seed: int, tmp_path: Path) -> None:
    case = random_case(seed, tmp_path)
    for target in TARGETS:
        if difference(case, target, tmp_path):
            case = reduced(case, target, tmp_path)
            told = difference(case, target, tmp_path)
            frames = "\n".join(f"{time} us, port {port}: {frame.hex()}" for time, port, frame in case.arrivals)
            raise AssertionError(f"PENSTOCK_SEED={seed}: on {target} {told}\n{case.text}\n{frames}")
