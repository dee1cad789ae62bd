# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs as the words that hardware is given, carried out in plain Python beside the interpreter of their text (efsm.py)."""

from __future__ import annotations

import functools
import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import efsm
from efsm import Machine, Missing
from flow_element import PARTS, ROOT, Element, Outcome, Program, fields
from flow_random import Traffic, Writer
from flow_soft import PROGRAMS

LOWEST = fields.places(efsm.tomllib.loads((ROOT / fields.SOURCE).read_text()))
HEADER_BITS = max(LOWEST.values()) + 48  # the first field, an address, is the topmost
SEEDS = 30
FRAMES = 120


@functools.cache
def binary() -> Path:
    """The compiler's example `words`, built if it is not there."""
    options = ["--quiet", "--release", "--locked", "--package", "penstock-flow-compiler", "--example", "words"]
    subprocess.run(["cargo", "build", *options], cwd=ROOT, check=True)
    return ROOT / "target/release/examples/words"


def words(path: Path) -> list[dict] | str:
    """For each element of a program its words, and the program's row of each of its own; or what is wrong."""
    done = subprocess.run([binary(), path], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    # Never a panic; always a place.
    assert done.returncode == 1 and done.stderr.startswith(f"{path}:"), done.stderr
    return done.stderr


def values_of(frame: efsm.Frame, time: int) -> dict[str, int]:
    """All fields of a frame, and those that come with it."""
    return frame.found.fields | frame.outside | {"time": time & 0xFFFFFFFF}


def parts_of(frame: efsm.Frame) -> int:
    """What a frame has, as bits."""
    found = frame.found
    ip = bool(found.headers & {"ip", "ip6"})
    there = {"type": "eth.type", "proto": "ip6.proto", "l4": "l4.proto"} | {f"data.{n}": f"data.{n}" for n in range(8)}
    parts = found.headers | {part for part, name in there.items() if name in found.fields} | {"eth"}
    parts |= {"net"} if ip else set()
    parts |= {"sums"} if ip and not found.hidden else set()
    parts |= {"routed"} if found.routed else set()
    return sum(1 << PARTS.index(part) for part in parts)


def headers_of(rng: random.Random, frame: efsm.Frame) -> int:
    """What the parser of hardware shows of a frame; where nothing is, anything."""
    headers = rng.getrandbits(HEADER_BITS)
    for name, value in frame.found.fields.items():
        ones = (1 << efsm.FIELDS[name]["bits"]) - 1
        headers = headers & ~(ones << LOWEST[name]) | value << LOWEST[name]
    return headers | parts_of(frame) << HEADER_BITS


@dataclass
class Given:
    """What an element got, and what it has made of it."""

    now: int
    headers: int
    values: dict[str, int]
    key: int | None
    outcome: Outcome
    # Contexts have ended since the one before, although their flows had no frames.
    walked: bool


@dataclass
class Play:
    """An element's words, and all that it was given."""

    words: list[int]
    given: list[Given] = field(default_factory=list)


class Twin(Machine):
    """The interpreter, with elements beside it that run the words; says where they part."""

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
        self.walked = [False] * len(compiled)

    def fits(
        self, row: efsm.Row, frame: efsm.Frame, value: Callable[[efsm.Operand], int], flags: dict[str, bool]
    ) -> tuple[dict[str, int], efsm.Frame] | None:
        result = super().fits(row, frame, value, flags)
        if result is not None:
            self.taken = row
        return result

    def step(self, at: int, frame: efsm.Frame, time: int) -> tuple:
        element, twin, program = self.elements[at], self.twins[at], self.programs[at]
        values, headers, parts = values_of(frame, time), headers_of(self.random, frame), parts_of(frame)
        key = program.key.of(values, parts)
        twin.now = time & 0xFFFFFFFF
        outcome = twin.vector(values, parts)
        self.plays[at].given.append(Given(twin.now, headers, values, key, outcome, self.walked[at]))
        self.walked[at] = False
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
        kinds = {event[0].lower() for event in self.events[events:]} - {"full"}
        assert outcome.events == kinds
        self.alike(at)
        return verdict

    def walk(self, time: int) -> None:
        super().walk(time)
        for at, twin in enumerate(self.twins):
            twin.now = time & 0xFFFFFFFF
            for key in list(twin.contexts):
                self.walked[at] |= twin.expire(key)
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
    """A random program that the compiler takes for hardware, and its elements."""
    for attempt in range(3000):
        text = Writer(3000 * seed + attempt).program()
        path.write_text(text)
        compiled = words(path)
        if not isinstance(compiled, str):
            return text, compiled
    raise AssertionError("no program was accepted")


def play(text: str, compiled: list[dict], room: int, seed: int, walk: int) -> list[Play]:
    """Frames through a program, and the walker before each of so many."""
    twin, traffic = Twin(text, compiled, room, seed), Traffic(seed)
    for number in range(FRAMES):
        data, port, time, hash_ = traffic.frame()
        if number % walk == walk - 1:
            twin.walk(time)
        twin.run(data, port, time, hash_)
    return twin.plays


def programs() -> list[Path]:
    """Those that come with the engine."""
    return sorted(PROGRAMS.glob("*.efsm"))
