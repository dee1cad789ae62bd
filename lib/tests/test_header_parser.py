# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The parser of headers against plain Python (lib/headers/tests), which is held against Scapy: intact, damaged and cut
frames, back to back and with gaps.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.hdl import ROOT, simulate

for folder in ("lib/tests", "lib/headers/tests", "tools"):
    sys.path.insert(0, str(ROOT / folder))

import fields  # noqa: E402
from header_model import look  # noqa: E402
from header_vectors import Maker  # noqa: E402

BEAT = 64
LATENCY = 14
SOURCE = fields.tomllib.loads((ROOT / fields.SOURCE).read_text())
PARTS = [*SOURCE["header"], *SOURCE["part"]]
LOWEST = fields.places(SOURCE)
TOP = 16 + 8 * sum(layer["bytes"] for layer in SOURCE["layer"].values())


def frames(rng: random.Random, count: int) -> Iterator[bytes]:
    maker = Maker(rng, tiny=True)
    for _ in range(count):
        frame = maker.case().frame()
        yield frame
        for _ in range(4):
            damaged = bytearray(frame)
            damaged[rng.randrange(12, min(len(damaged), 140))] = rng.choice([0, 1, 255, 0x45, 0x60, rng.getrandbits(8)])
            yield bytes(damaged)
        for _ in range(4):
            yield frame[: rng.randint(14, min(len(frame), 200))]


def check(headers: int, layout: int, frame: bytes) -> None:
    """The parser's fields by name, and the expected ones."""
    found = look(frame)
    places = {name: 14 + 4 * (layout >> low & 31) for name, low in (("net", 10), ("l4", 5), ("data", 0))}
    # The place of a payload of which nothing is seen means nothing.
    needed = found.at.keys() - ({"data"} if "data.0" not in found.fields else set())
    assert {name: places[name] for name in needed} == {name: found.at[name] for name in needed}, frame.hex()
    parts = {name for index, name in enumerate(PARTS) if headers >> (TOP + index) & 1}
    there = {name: field for name, field in SOURCE["field"].items() if field.get("part") in parts}
    values = {name: headers >> LOWEST[name] & ((1 << field["bits"]) - 1) for name, field in there.items()}
    assert values == found.fields, f"{frame.hex()}: {values.items() ^ found.fields.items()}"
    assert parts & SOURCE["header"].keys() == found.headers, frame.hex()
    ip = bool(found.headers & {"ip", "ip6"})
    assert ("sums" in parts, "routed" in parts, "net" in parts) == (ip and not found.hidden, found.routed, ip), (
        frame.hex()
    )


@cocotb.test()
async def finds_what_is_there(dut: Any) -> None:
    rng = random.Random(11)
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    dut.rst.value, dut.valid.value = 1, 0
    for _ in range(20):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    waiting: deque[tuple[int, bytes]] = deque()
    cycle = checked = 0

    async def step() -> None:
        nonlocal cycle, checked
        await FallingEdge(dut.clk)
        cycle += 1
        due = bool(waiting) and waiting[0][0] == cycle
        assert bool(int(dut.out_valid.value)) == due, "headers come 14 cycles after the beat"
        if due:
            check(int(dut.out.value), int(dut.layout.value), waiting.popleft()[1])
            checked += 1

    for gaps, count in ((0.0, 250), (0.4, 100)):
        for frame in frames(rng, count):
            folded = BEAT < len(frame) <= BEAT + 16 and rng.random() < 0.5
            beats = 1 if folded else -(-len(frame) // BEAT)
            for beat in range(beats):
                while rng.random() < gaps:
                    dut.valid.value = 0
                    await step()
                data = frame[BEAT * beat : BEAT * (beat + 1)]
                dut.valid.value, dut.last.value = 1, int(beat == beats - 1)
                # Behind the end of the frame there is whatever was there before.
                dut.data.value = int.from_bytes(data + rng.randbytes(BEAT - len(data)), "little")
                dut.len.value = len(frame) if beat == 0 else rng.getrandbits(16)
                tail = frame[BEAT:] if folded else b""
                dut.tail.value = (
                    folded << 128 | int.from_bytes(tail + rng.randbytes(16 - len(tail)), "little") if not beat else 0
                )
                if beat == min(1, beats - 1):
                    waiting.append((cycle + LATENCY, frame))
                await step()
    dut.valid.value = 0
    for _ in range(LATENCY):
        await step()
    assert not waiting and checked == 9 * 350


def test_header_parser() -> None:
    simulate("header_parser", ["lib/rtl/headers.f"], Path(__file__).stem)
