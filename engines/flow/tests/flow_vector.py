# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The vector that goes through the elements in hardware: a frame's headers and the data that travels with them
(`vector_t` of flow_pkg.sv), in plain Python.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field

from efsm import FIELDS, Frame, Layers
from flow_element import PARTS, SOURCE, bits

SIZES = {name: layer["bytes"] for name, layer in SOURCE["layer"].items()}
VERDICTS = ("onward", "port", "host", "drop")
NO_ELEMENT = 15


@dataclass
class Vector:
    parts: set[str] = field(default_factory=set)
    layers: dict[str, bytes] = field(default_factory=dict)
    tcp_len: int = 0
    # meta0 and meta1, hash, port, len.
    beside: dict[str, int] = field(default_factory=dict)
    verdict: str = "onward"
    verdict_port: int = 0
    next: int = 0

    def pack(self) -> int:
        beside = self.beside
        return bits(
            (self.bits_of_parts(), len(PARTS)),
            *((int.from_bytes(self.layers[name], "big"), 8 * size) for name, size in SIZES.items()),
            (self.tcp_len, 16),
            *((beside[name], width) for name, width in BESIDE.items()),
            (VERDICTS.index(self.verdict), 2),
            (self.verdict_port, 8),
            (self.next, 4),
        )[0]

    @classmethod
    def unpack(cls, value: int) -> Vector:
        def take(width: int) -> int:
            nonlocal value
            low = value & ((1 << width) - 1)
            value >>= width
            return low

        next_, port, verdict = take(4), take(8), VERDICTS[take(2)]
        beside = {name: take(width) for name, width in reversed(BESIDE.items())}
        tcp_len = take(16)
        layers = {name: take(8 * size).to_bytes(size, "big") for name, size in reversed(SIZES.items())}
        parts = {name for name in PARTS if take(1)}
        return cls(parts, layers, tcp_len, beside, verdict, port, next_)

    def get(self, name: str) -> int:
        """A field, whether or not it is present."""
        if name in self.beside:
            return self.beside[name]
        if name == "tcp.len":
            return self.tcp_len
        layer, first = FIELDS[name]["at"]
        shift = 8 * SIZES[layer] - first - FIELDS[name]["bits"]
        return int.from_bytes(self.layers[layer], "big") >> shift & ((1 << FIELDS[name]["bits"]) - 1)

    def set(self, name: str, word: int, value: int) -> None:
        """A word of 32 bits of a field becomes the low bits of a value."""
        width = min(32, FIELDS[name]["bits"] - 32 * word)
        ones = (1 << width) - 1
        if name in self.beside:
            self.beside[name] = value & ones
            return
        layer, first = FIELDS[name]["at"]
        shift = 8 * SIZES[layer] - first - FIELDS[name]["bits"] + 32 * word
        whole = int.from_bytes(self.layers[layer], "big")
        whole = whole & ~(ones << shift) | (value & ones) << shift
        self.layers[layer] = whole.to_bytes(SIZES[layer], "big")

    def fields(self) -> dict[str, int]:
        """All fields that are in the frame."""
        return {name: self.get(name) for name, one in FIELDS.items() if one.get("part") in self.parts}

    def headers(self) -> Collection[str]:
        return self.parts & SOURCE["header"].keys()

    def bits_of_parts(self) -> int:
        """The parts that the frame has."""
        return sum(1 << index for index, name in enumerate(PARTS) if name in self.parts)


BESIDE = {"meta0": 32, "meta1": 32, "hash": 32, "port": 8, "len": 16}


def of_frame(frame: Frame, rng: random.Random) -> Vector:
    """The vector of a frame, as the parser gives it; parts that the frame lacks are random."""
    found, data = frame.found, bytes(frame.data)
    parts = {*found.headers, "eth"} | {name for name in found.fields if name.startswith("data.")}
    for part, name in (("type", "eth.type"), ("proto", "ip6.proto"), ("l4", "l4.proto")):
        if name in found.fields:
            parts.add(part)
    if parts & {"ip", "ip6"}:
        parts |= {"net"} if found.hidden else {"net", "sums"}
    if found.routed:
        parts.add("routed")
    at = Layers(data, found).at
    begins = {
        "eth": 0,
        "kind": at["type"],
        "mpls": at.get("mpls"),
        "net": at["net"],
        "l4": at["l4"],
        "data": at.get("data"),
    }
    layers = {}
    for name, size in SIZES.items():
        begin = begins.get(name)
        seen = b"" if begin is None else data[begin : begin + size]
        if name == "proto" and parts & {"ip", "proto"}:
            seen = bytes([found.fields["ip.proto" if "ip" in parts else "ip6.proto"]])
        layers[name] = seen + rng.randbytes(size - len(seen))
    beside = {name: frame.outside[name] for name in BESIDE}
    return Vector(parts, layers, found.fields.get("tcp.len", rng.getrandbits(16)), beside)
