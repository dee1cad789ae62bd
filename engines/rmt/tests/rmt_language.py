# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Runs P4 programs on `soft`, and their rows on the plain model of the machine."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from machine_random import nodes
from penstock.cargo import example

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "engines/rmt/programs"
TENANT = 1

Frame = tuple[int, bytes]
Seen = tuple[str, bytes]
"""Verdict (`port N`, `host`, `onward`, `drop`) and bytes; a dropped frame has none."""


@dataclass
class Ran:
    """The results of a program for frames."""

    faults: str | None
    refused: str | None
    soft: list[Seen]
    card: list[Seen] | None
    registers: list[list[int]]


def exact(value: int) -> list[str]:
    return ["exact", str(value)]


def lpm(value: int, length: int) -> list[str]:
    return ["lpm", str(value), str(length)]


def entry(table: str, keys: list[list[str]], action: str, *args: int, priority: int = 0) -> list[Any]:
    return [table, keys, priority, action, [str(arg) for arg in args]]


def run(file: str, text: str, entries: list[Any], frames: list[Frame], stages: int = 12) -> Ran:
    """Runs frames through a program, on `soft` and, if it fits, on the model of the machine."""
    asked = {"file": file, "text": text, "stages": stages, "entries": entries}
    asked["frames"] = [[port, frame.hex()] for port, frame in frames]
    done = subprocess.run([example("p4exec")], input=json.dumps(asked), capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    if "faults" in answer:
        return Ran(answer["faults"], None, [], None, [])
    soft = [seen(verdict, bytes.fromhex(frame)) for verdict, frame in answer["soft"]]
    registers = [[int(cell) for cell in cells] for cells in answer["registers"]]
    card = None
    if "card" in answer:
        block = loaded(answer["card"], stages)
        card = []
        for port, frame in frames:
            result = block.carry(port, frame, TENANT, 0)
            card.append(seen(f"port {result.target}" if result.kind == "port" else result.kind, result.frame))
    return Ran(None, answer.get("refused"), soft, card, registers)


def seen(verdict: str, frame: bytes) -> Seen:
    return verdict, b"" if verdict == "drop" else frame


def loaded(card: dict[str, Any], stages: int) -> machine.Machine:
    """The model of the machine with a program and its entries, by the order of writes of machine.md."""
    block = machine.Machine(stages)
    for depth, states in enumerate(card["parser"]):
        for state, row in enumerate(states):
            block.write(machine.PARSER, depth, 8 * TENANT + state, tuple(row))
    block.write(machine.CHECK, 0, TENANT, tuple(card["check"]))
    block.write(machine.EXIT, 0, TENANT, tuple(card["exit"]))
    for stage, code in enumerate(card["stages"]):
        block.write(machine.KEY, stage, TENANT, tuple(code["key"]))
        block.write(machine.SEGMENT, stage, TENANT, (code["registers"] << 16, 0, 0))
        for action, row in enumerate(code["actions"]):
            block.write(machine.ACTION, stage, 8 * TENANT + action, tuple(row))
    for table in card["tables"]:
        (place_exact if table["exact"] else place_prefixes)(block, table["stage"], table["entries"])
    block.write(machine.TENANT, 0, TENANT, (1 | card["stateful"] << 2,))
    return block


def place_exact(block: machine.Machine, stage: int, entries: list[dict[str, Any]]) -> None:
    for one in entries:
        key = tuple(one["key"])
        buckets = block.buckets(0, 10, key)
        way = next(way for way in range(machine.WAYS) if not block.read(machine.WAY + way, stage, buckets[way])[0] & 1)
        row = (1 | TENANT << 1 | one["row"] << 7, *key, *one["params"])
        block.write(machine.WAY + way, stage, buckets[way], row)


def place_prefixes(block: machine.Machine, stage: int, entries: list[dict[str, Any]]) -> None:
    """Leaves for all intervals, found by looking at every prefix at every edge."""
    edges = {0}
    for one in entries:
        value, length = one["prefix"]
        edges |= {value, value + (1 << 32 - length)}
    starts = sorted(edge for edge in edges if edge < 1 << 32)
    starts += [0xFFFFFFFF] * (machine.LEAVES - len(starts))
    for number, start in enumerate(starts):
        fits = [at for at, one in enumerate(entries) if (start ^ one["prefix"][0]) >> 32 - one["prefix"][1] == 0]
        best = max(fits, key=lambda at: entries[at]["prefix"][1], default=None)
        row = (0,) * 5
        if best is not None:
            row = (1 | TENANT << 1 | entries[best]["row"] << 7, *entries[best]["params"])
        block.write(machine.LEAF, stage, number, row)
    for level, number, node in nodes(starts):
        block.write(machine.LPM + level, stage, number, node)
