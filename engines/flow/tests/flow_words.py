# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs as the words that hardware is given, carried out in plain Python beside the interpreter of their text
(efsm.py).
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import efsm
from efsm import Machine, Missing
from flow_element import Context, Element, Event, Outcome, Program
from flow_random import Traffic, Writer, without_refused
from flow_soft import PROGRAMS
from flow_vector import NO_ELEMENT, Vector, of_frame
from penstock.cargo import example

SEEDS = 30
FRAMES = 120


def words(path: Path, contexts: int = 1 << 20) -> list[dict] | str:
    """For each element of a program, with a table of this many contexts, its words, and the program's row for each of
    its rows; or the compiler's error.
    """
    done = subprocess.run([example("words"), path, str(contexts)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    # Never a panic; always a place.
    assert done.returncode == 1 and done.stderr.startswith(f"{path}:"), done.stderr
    return done.stderr


def values_of(frame: efsm.Frame, time: int) -> dict[str, int]:
    """All fields of a frame, and its metadata."""
    return frame.found.fields | frame.outside | {"time": time & 0xFFFFFFFF}


# A frame after an element: fields, headers, tags, the data that travels with them; verdict, its port, the next element.
Left = tuple


def left(vector: Vector) -> Left:
    tags = len(vector.parts & {"vlan", "vlan2"})
    beside = {name: vector.beside[name] for name in ("meta0", "meta1", "len", "hash")}
    port = vector.verdict_port if vector.verdict == "port" else None
    eth = vector.layers["eth"][: 12 + 4 * tags]
    return vector.fields(), set(vector.headers()), eth, beside, vector.verdict, port, vector.next


def left_by(frame: efsm.Frame, verdict: tuple, next_: int) -> Left:
    """The same for the interpreter's result."""
    headers = frame.found.headers
    beside = {name: frame.outside[name] for name in ("meta0", "meta1", "len", "hash")}
    eth = bytes(frame.data[: 12 + 4 * len(headers & {"vlan", "vlan2"})])
    fields = dict(frame.found.fields)
    kind = "onward" if verdict[0] in {"pass", "next"} else verdict[0]
    return fields, set(headers), eth, beside, kind, verdict[1] if kind == "port" else None, next_


@dataclass
class Given:
    """The input of an element, and its output."""

    now: int
    vector: Vector
    outcome: Outcome
    left: Left
    # Contexts that have ended since the last frame, although their flows had no frames.
    walked: list[Event]


@dataclass
class Play:
    """An element's words, and all that it was given."""

    words: list[int]
    given: list[Given] = field(default_factory=list)
    contexts: dict[int, Context] = field(default_factory=dict)  # behind the last of these


class Twin(Machine):
    """The interpreter, with elements beside it that run the words; reports their first difference."""

    def __init__(self, text: str, compiled: list[dict], room: int, seed: int) -> None:
        super().__init__(text, room)
        self.random = random.Random(seed)
        self.programs = [Program.read(one["words"]) for one in compiled]
        for program in self.programs:
            program.capacity = min(program.capacity, room)
        self.rows = [one["rows"] for one in compiled]
        self.twins = [Element(program) for program in self.programs]
        self.plays = [Play(one["words"]) for one in compiled]
        self.keys: list[dict[tuple[int, ...], int]] = [{} for _ in compiled]
        self.taken: efsm.Row | None = None
        self.walked: list[list[Event]] = [[] for _ in compiled]

    def fits(
        self, row: efsm.Row, frame: efsm.Frame, value: Callable[[efsm.Operand], int], flags: dict[str, bool]
    ) -> tuple[dict[str, int], efsm.Frame] | None:
        result = super().fits(row, frame, value, flags)
        if result is not None:
            self.taken = row
        return result

    def step(self, at: int, frame: efsm.Frame, time: int) -> tuple:
        element, twin, program = self.elements[at], self.twins[at], self.programs[at]
        values, vector = values_of(frame, time), of_frame(frame, self.random)
        parts = vector.bits_of_parts()
        key = program.key.of(values, parts)
        twin.now = time & 0xFFFFFFFF
        outcome = twin.vector(values, parts)
        # The twin has evicted; of equal ones any may be.
        self.gone = [
            fields for fields, one in self.keys[at].items() if any(one == event.key for event in outcome.events)
        ]
        if element.key is not None:
            try:
                fields_of_key = self.key(element, frame)
            except Missing:
                assert key is None
            else:
                assert key is not None and self.keys[at].setdefault(fields_of_key, key) == key
                assert len(set(self.keys[at].values())) == len(self.keys[at]), "two flows have one key"
        before, events = self.counters[at]["unkept"], len(self.events)
        self.taken = None
        verdict = super().step(at, frame, time)
        taken = next((number for number, row in enumerate(element.rows) if row is self.taken), None)
        assert (None if outcome.row is None else self.rows[at][outcome.row]) == taken
        assert outcome.unkept == (self.counters[at]["unkept"] > before)
        self.check_events(at, outcome.events, self.events[events:])
        self.alike(at)
        behind = {"pass": at + 1, "next": self.number(verdict)}.get(verdict[0], NO_ELEMENT)
        given = Given(twin.now, vector, outcome, left_by(frame, verdict, behind), self.walked[at])
        # Once it is not known which of equal contexts has given way, nothing more is.
        if not any(one.ambiguous for one in self.twins):
            self.plays[at].given.append(given)
            self.plays[at].contexts = dict(twin.contexts)
        self.walked[at] = []
        return verdict

    def number(self, verdict: tuple) -> int | None:
        """The element to which a frame goes, by name."""
        return next((at for at, one in enumerate(self.elements) if one.name == verdict[-1]), None)

    def check_events(self, at: int, events: tuple[Event, ...], wanted: list[tuple]) -> None:
        states = self.elements[at].states
        found = [(event.kind, event.key, event.state, event.r) for event in events]
        assert found == [
            (kind.lower(), self.keys[at].get(key, 0), states.index(state), (*registers, 0, 0, 0, 0)[:4])
            for kind, _, key, state, registers in wanted
        ]

    def walk(self, time: int) -> None:
        super().walk(time)
        for at, twin in enumerate(self.twins):
            twin.now = time & 0xFFFFFFFF
            for key in list(twin.contexts):
                if event := twin.expire(key):
                    self.walked[at].append(event)
            self.alike(at)

    def alike(self, at: int) -> None:
        """Contexts and global registers."""
        element, twin, program = self.elements[at], self.twins[at], self.programs[at]
        assert [*self.globals[at].values(), *[0] * 8][:8] == twin.g

        def state(name: str | None) -> int | None:
            return None if name is None else element.states.index(name)

        wanted = {}
        for key, context in self.contexts[at].items():
            hard = context.hard and (context.hard[0] & 0xFFFFFFFF, state(context.hard[1]))
            idle = context.idle
            idle = idle and (idle[0] + idle[1] & 0xFFFFFFFF, state(idle[2]))
            registers = [*context.registers.values(), 0, 0, 0, 0][:4]
            wanted[self.keys[at][key]] = (state(context.state), registers, hard, idle)

        def deadline(one: tuple[int, int] | None) -> tuple[int, int | None] | None:
            return one and (one[1], program.periods[one[0]].then)

        found = {key: (one.state, one.r, deadline(one.hard), deadline(one.idle)) for key, one in twin.contexts.items()}
        assert found == wanted


def accepted(seed: int, path: Path) -> tuple[str, list[dict]]:
    """A random program, without the parts that the compiler refuses for hardware, and its elements."""
    for attempt in range(100):
        compiled = without_refused(Writer(100 * seed + attempt).program(), path, words)
        if compiled is not None:
            return compiled
    raise AssertionError("no program was accepted")


def play(text: str, compiled: list[dict], room: int, seed: int, walk: int) -> list[Play]:
    """Frames through a program, with the walker before each group."""
    twin, traffic = Twin(text, compiled, room, seed), Traffic(seed)
    for number in range(FRAMES):
        data, port, time, hash_ = traffic.frame()
        if number % walk == walk - 1:
            twin.walk(time)
        twin.run(data, port, time, hash_)
    return twin.plays


def programs() -> list[Path]:
    """The programs of the engine."""
    return sorted(PROGRAMS.glob("*.efsm"))
