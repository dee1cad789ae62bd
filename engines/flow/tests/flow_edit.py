# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The effect of a row of hardware on a frame (`edit_t` of edit_pkg.sv), in plain Python."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass

from efsm import FIELDS, PAIRS
from flow_element import FUNCTIONS, GLOBALS, OPERANDS, REGISTERS, SOURCE, bits, fields, repeated
from flow_vector import NO_ELEMENT, VERDICTS, Vector

WRITES = 8
NO_SINK = 63
PLACES, FIRST = fields.sinks(SOURCE)
# By sink, the words of fields that are present.
SINKS = [
    [
        (name, word)
        for name, first in FIRST.items()
        for word in range(-(-FIELDS[name]["bits"] // 32))
        if first + word == sink
    ]
    for sink in range(len(PLACES) + 2)
]
# The names of a program's sources, by their first number.
SOURCES = {"result": 0x00, "operand": 0x10, "global": 0x18, "flow": 0x20, "constant": 0x30}
COUNTS = {"result": FUNCTIONS, "operand": OPERANDS, "global": GLOBALS, "flow": REGISTERS}
# One of these, and which; or the constant.
Of = tuple[str, int]
# By name, the values that an element calculates and holds.
Values = dict[str, list[int]]


@dataclass
class Edit:
    """Edit words: their fields, and their effect on a vector."""

    popped: int = 0
    pushed: int = 0
    label_out: bool = False
    label_in: bool = False
    swaps: Sequence[bool] = (False,) * len(PAIRS)
    writes: Sequence[tuple[int, Of]] = ()
    verdict: str = "onward"
    opposite: bool = False
    port: Of = ("constant", 0)
    next: int = NO_ELEMENT

    @classmethod
    def any(cls, rng: random.Random, vector: Vector) -> Edit:
        """Any that the frame allows."""
        self = cls()
        own = len(vector.parts & {"vlan", "vlan2"})
        self.popped = rng.randint(0, own)
        self.pushed = rng.randint(0, 2 - own + self.popped)
        net, label = "net" in vector.parts, "mpls" in vector.parts
        self.label_out = net and label and rng.random() < 0.5
        self.label_in = net and (self.label_out or not label) and rng.random() < 0.5
        self.swaps = [pair in vector.parts and rng.random() < 0.3 for pair in PAIRS]
        # A new tag has all of its bits from the edit.
        sinks = {FIRST[name] for name in ("vlan.tci", "vlan2.tci")[: self.pushed]}
        sinks |= {FIRST["mpls.label"]} if self.label_in else set()
        sinks |= {
            rng.choice([rng.randrange(len(SINKS)), *map(FIRST.get, ("vlan.id", "meta0"))])
            for _ in range(rng.randrange(7))
        }
        chosen = [(sink, self.source(rng)) for sink in sinks][:WRITES]
        chosen += [(NO_SINK, self.source(rng)) for _ in range(WRITES - len(chosen))]
        rng.shuffle(chosen)
        self.writes = chosen
        self.verdict = rng.choice(VERDICTS)
        self.opposite = rng.random() < 0.5
        kind, index = self.source(rng)
        self.port = kind, index & 0xFF if kind == "constant" else index
        self.next = rng.randint(vector.next + 1, NO_ELEMENT)
        return self

    @staticmethod
    def source(rng: random.Random) -> Of:
        kind = rng.choice(list(SOURCES))
        return kind, rng.getrandbits(32) if kind == "constant" else rng.randrange(COUNTS[kind])

    def bits(self) -> int:
        def source(of: Of, width: int) -> tuple[int, int]:
            kind, index = of
            constant = kind == "constant"
            value = index & ((1 << width) - 1) if constant else 0
            return bits((SOURCES[kind] + (0 if constant else index), 6), (value, width))

        writes = [*self.writes, *[(NO_SINK, ("constant", 0))] * (WRITES - len(self.writes))]
        return bits(
            (self.next, 4),
            (VERDICTS.index(self.verdict), 2),
            (int(self.opposite), 1),
            source(self.port, 8),
            *((int(swap), 1) for swap in reversed(self.swaps)),
            (int(self.label_in), 1),
            (int(self.label_out), 1),
            (self.pushed, 2),
            (self.popped, 2),
            repeated([bits((sink, 6), source(of, 32)) for sink, of in writes]),
        )[0]

    def apply(self, before: Vector, values: Values) -> Vector:
        def value(of: Of) -> int:
            return of[1] if of[0] == "constant" else values[of[0]][of[1]]

        after = copy.deepcopy(before)
        eth = after.layers["eth"]
        tags = [eth[12:16], eth[16:20]][: len(before.parts & {"vlan", "vlan2"})][self.popped :]
        for _ in range(self.pushed):
            tags.insert(0, (b"\x88\xa8" if tags else b"\x81\x00") + bytes(2))
        after.layers["eth"] = (eth[:12] + b"".join(tags)).ljust(len(eth), b"\0")
        after.parts -= {"vlan", "vlan2"}
        after.parts |= set(("vlan", "vlan2")[: len(tags)])
        if self.label_out:
            after.parts.remove("mpls")
            after.layers["kind"] = b"\x08\x00" if "ip" in before.parts else b"\x86\xdd"
        if self.label_in:
            after.parts.add("mpls")
            after.layers["kind"] = b"\x88\x47"
            ttl = before.get("ip.ttl" if "ip" in before.parts else "ip6.hops")
            after.layers["mpls"] = bytes((0, 0, 1, ttl))
        for swap, (one, other) in zip(self.swaps, PAIRS.values(), strict=True):
            for word in range(-(-FIELDS[one]["bits"] // 32) if swap else 0):
                after.set(one, word, before.get(other) >> 32 * word)
                after.set(other, word, before.get(one) >> 32 * word)
        # Narrow fields overwrite the wide ones that contain them.
        for sink, of in sorted(self.writes):
            if sink != NO_SINK:
                name, word = SINKS[sink][-1]
                after.set(name, word, value(of))
        size = 4 * (self.pushed - self.popped + self.label_in - self.label_out)
        after.beside["len"] = (before.beside["len"] + size) & 0xFFFF
        after.verdict, after.next = self.verdict, self.next
        # Hardware has eight bits for a port; 255, which no card has, represents all larger numbers.
        after.verdict_port = before.beside["port"] ^ 1 if self.opposite else min(value(self.port), 0xFF)
        return after


def meaning(vector: Vector) -> Vector:
    """The vector without meaningless bits: bytes after the last VLAN tag, the entry of an absent label."""
    vector = copy.deepcopy(vector)
    tags = len(vector.parts & {"vlan", "vlan2"})
    vector.layers["eth"] = vector.layers["eth"][: 12 + 4 * tags]
    if "mpls" not in vector.parts:
        vector.layers["mpls"] = b""
    return vector
