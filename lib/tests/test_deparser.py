# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The deparser: frames that leave equal, byte for byte, Scapy's result of the same edits; for damaged frames and frames
with wrong checksums, they equal the result of native code (lib/headers/examples/edit.rs).
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from penstock.cargo import example
from penstock.hdl import ROOT, simulate

for folder in ("lib/tests", "lib/headers/tests", "tools"):
    sys.path.insert(0, str(ROOT / folder))

import fields  # noqa: E402
from header_model import Found, look  # noqa: E402
from header_vectors import Edits, Maker, random_edit, zero_checksums  # noqa: E402

BEAT, TAIL, LONGEST = 64, 16, 16384
LATENCY = 11
# How often there is a beat, an edit, and room in the next stage.
FULL = (1.0, 1.0, 1.0)
STALLS = ((0.6, 1.0, 1.0), (1.0, 0.3, 1.0), (1.0, 1.0, 0.3), (0.5, 0.5, 0.5))
SOURCE = fields.tomllib.loads((ROOT / fields.SOURCE).read_text())
PARTS = [*SOURCE["header"], *SOURCE["part"]]
LAYERS = {name: layer["bytes"] for name, layer in SOURCE["layer"].items()}
TAGS = ("vlan", "vlan2")
SHIMS = (*TAGS, "mpls")
# The offset of the checksum in the header after IP, and the size of the header.
SUM_AT = {"tcp": 16, "udp": 6, "icmp": 2}
L4_BYTES = {"tcp": 20, "udp": 8, "icmp": 8}


@dataclass
class Job:
    """A frame, its edits, and the expected frame, or None if it is dropped."""

    frame: bytes
    layout: int
    came: int
    leaves: int
    mark: int
    result: bytes | None


def beats(length: int) -> int:
    """On links where frames are folded."""
    return 1 if length <= BEAT + TAIL else -(-length // BEAT)


def packed(parts: set[str], layers: dict[str, bytes]) -> int:
    """`headers_t`, with an arbitrary length of TCP's payload, which is not used."""
    value = sum(1 << index for index, name in enumerate(PARTS) if name in parts)
    for name, size in LAYERS.items():
        value = value << 8 * size | int.from_bytes(layers[name], "big")
    return value << 16


def job(rng: random.Random, frame: bytes, result: bytes, tags: set[str]) -> Job:
    """The parser's output for a frame, and the headers after the edits, taken from the expected frame; `tags` are the
    tags and the label that it has then. Checksums stay as they were. For absent layers both have the same random bits.
    """
    found = look(frame)
    headers, shims = found.headers, found.headers & {*SHIMS}
    parts = (headers | parts_of(found)) - shims
    places = {
        "eth": 0,
        "kind": 12 + 4 * len(shims & {*TAGS}),
        "mpls": found.at["net"] - 4,
        "proto": 0,
        "data": 0,
        "l4": 0,
    }
    places |= found.at
    came = {name: frame[at : at + LAYERS[name]] for name, at in places.items()}
    came = {name: data + rng.randbytes(LAYERS[name] - len(data)) for name, data in came.items()}
    leaves = dict(came)

    moved = 4 * (len(tags) - len(shims))
    words = sum(name.startswith("data.") for name in found.fields)
    l4 = next((name for name in SUM_AT if name in headers), "")
    there = {
        "net": 20 if "ip" in headers else 40 if "ip6" in headers else 0,
        "l4": L4_BYTES.get(l4, 0),
        "data": 4 * words,
    }
    for name, size in there.items():
        at = places[name] + moved
        leaves[name] = result[at : at + size] + came[name][size:]
    for name, at in (("net", 10 if "ip" in headers else None), ("l4", SUM_AT.get(l4))):
        if at is not None:
            leaves[name] = leaves[name][:at] + came[name][at : at + 2] + leaves[name][at + 2 :]
    behind = 12 + 4 * len(tags & {*TAGS})
    leaves["eth"] = result[:behind] + rng.randbytes(LAYERS["eth"] - behind)
    leaves["kind"] = result[behind : behind + 2]
    leaves["mpls"] = result[behind + 2 : behind + 6].ljust(4, b"\0") if "mpls" in tags else rng.randbytes(4)

    words_at = [(found.at.get(name, rng.randrange(14, 142, 4)) - 14) // 4 & 31 for name in ("net", "l4", "data")]
    layout = words_at[0] << 10 | words_at[1] << 5 | words_at[2]
    return Job(frame, layout, packed(parts | shims, came), packed(parts | tags, leaves), rng.getrandbits(32), result)


def parts_of(found: Found) -> set[str]:
    """The parts beside headers."""
    ip = bool(found.headers & {"ip", "ip6"})
    parts = {"eth", *(name for name in found.fields if name.startswith("data."))}
    parts |= {
        name for name, there in (("net", ip), ("sums", ip and not found.hidden), ("routed", found.routed)) if there
    }
    parts |= {
        part
        for part, name in (("type", "eth.type"), ("proto", "ip6.proto"), ("l4", "l4.proto"))
        if name in found.fields
    }
    return parts


def sizes(rng: random.Random) -> int:
    """Lengths about which beats begin and end, and any."""
    near = rng.choice([64, 80, 80, 64 * rng.randint(2, 23)]) + rng.choice([rng.randint(-14, 14), rng.randint(-7, 0)])
    return rng.choice([0, near, near, near, near, rng.randint(14, 300), rng.randint(14, 1518)])


def some_edits(rng: random.Random, found: Found) -> list[list[str]]:
    """Many that make frames longer or shorter."""
    push = ["push_vlan", f"{rng.getrandbits(16):x}"]
    tags = rng.choice([[], [], [push], [push, push], [["pop_vlan"]], [["pop_vlan"]] * 2])
    edits = tags + [random_edit(rng, found) for _ in range(rng.randint(0, 4))]
    rng.shuffle(edits)
    return edits


def by_scapy(rng: random.Random, count: int) -> Iterator[Job]:
    maker = Maker(rng, tiny=False)
    for index in range(count):
        case = maker.case()
        size = rng.choice([9000, 9018, LONGEST]) if index % 100 == 99 else sizes(rng)
        packet = len(case.frame()) - len(case.padding)
        case = replace(case, padding=rng.randbytes(max(size - packet, len(case.padding))))
        hands = Edits(case)
        for edit in some_edits(rng, hands.found):
            if hands.allowed(*edit):
                hands.apply(*edit)
        yield job(rng, case.frame(), hands.case.frame(), hands.found.headers & {*SHIMS})


def zeros(rng: random.Random, count: int) -> Iterator[Job]:
    """UDP whose checksum is 0."""
    for line in zero_checksums(rng, count):
        _, frame, _, result, *_ = line.split(" ")
        yield job(rng, bytes.fromhex(frame), bytes.fromhex(result), set())


def unsound(rng: random.Random, maker: Maker) -> tuple[bytearray, list[list[str]]]:
    """A frame that Scapy would not make, and edits."""
    frame = bytearray(maker.case().frame())
    found = look(bytes(frame))
    sums = [found.at["l4"] + SUM_AT[name] for name in SUM_AT if name in found.headers]
    sums += [found.at["net"] + 10] if "ip" in found.headers else []
    what = rng.choice(["byte", "cut", "wrong", "ones"])
    if what == "byte":
        at = rng.randrange(12, min(len(frame), 140))
        frame[at] = rng.choice([0, 1, 255, 0x45, 0x60, rng.getrandbits(8)])
    elif what == "cut":
        del frame[rng.randint(14, min(len(frame), 200)) :]
    elif what == "wrong":
        for at in sums:
            frame[at : at + 2] = rng.choice([bytes(2), rng.randbytes(2)])
    else:
        # The other form of 0. It stays when edits undo each other.
        for at in sums:
            frame[at : at + 2] = b"\xff\xff"
        name = rng.choice([name for name in found.fields if SOURCE["field"][name].get("set")])
        once = ["set", name, f"{rng.choice([found.fields[name], rng.getrandbits(128)]):x}"]
        return frame, [once, *rng.choice([[], [["set", name, f"{found.fields[name]:x}"]], some_edits(rng, found)])]
    return frame, some_edits(rng, look(bytes(frame)))


def by_native_code(rng: random.Random, count: int) -> Iterator[Job]:
    maker = Maker(rng, tiny=True)
    cases = [unsound(rng, maker) for _ in range(count)]
    # An edit that the frame does not allow changes nothing; the line must have one.
    lines = [f"{frame.hex()} {','.join(':'.join(edit) for edit in edits) or 'set:port:0'}\n" for frame, edits in cases]
    done = subprocess.run([example("edit")], input="".join(lines), check=True, capture_output=True, text=True).stdout
    for (frame, _), line in zip(cases, done.splitlines(), strict=True):
        result, tags = line.split(" ")
        yield job(rng, bytes(frame), bytes.fromhex(result), {*tags.split(",")} & {*SHIMS})


class Bench:
    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.cycle = 0
        self.frames: deque[tuple[Job, int]] = deque()
        self.edits: deque[Job] = deque()
        self.expected: deque[tuple[Job, int]] = deque()
        self.at = 0  # beats of the first of `frames` that have been taken
        self.offers = self.tells = False  # a beat, an edit
        self.partial = b""
        self.number = self.done = self.stalls = 0
        self.taken: list[int] = []  # cycles in which first beats were taken
        self.left: list[int] = []  # the same of those that left

    async def start(self) -> None:
        dut = self.dut
        for name in ("in_valid", "in_data", "in_last", "in_len", "in_time", "in_tail", "out_ready"):
            getattr(dut, name).value = 0
        for name in ("valid", "drop", "mark", "layout", "came", "leaves"):
            getattr(dut, f"edit_{name}").value = 0
        dut.rst.value = 1
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        for _ in range(20):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk)

    def send(self, one: Job) -> None:
        self.number += 1
        self.frames.append((one, self.number))
        self.edits.append(one)
        if one.result is not None:
            self.expected.append((one, self.number))

    async def drain(self, rates: tuple[float, float, float]) -> None:
        """Until all has left, and then some cycles."""
        for _ in range(100 + 100 * sum(beats(len(one.frame)) for one, _ in self.frames)):
            if not self.frames and not self.expected:
                break
            await self.step(rates)
        for _ in range(20):
            await self.step(rates)
        assert not self.frames and not self.edits and not self.expected and not self.partial

    async def step(self, rates: tuple[float, float, float]) -> None:
        dut, rng = self.dut, self.rng
        # An offered beat stays until it is taken.
        if not self.offers and self.frames and rng.random() < rates[0]:
            self.offers = True
            one, number = self.frames[0]
            data = one.frame[BEAT * self.at : BEAT * (self.at + 1)]
            folded = BEAT < len(one.frame) <= BEAT + TAIL
            tail = one.frame[BEAT:] if folded else b""
            dut.in_data.value = int.from_bytes(data + rng.randbytes(BEAT - len(data)), "little")
            dut.in_last.value = self.at + 1 == beats(len(one.frame))
            dut.in_len.value = rng.getrandbits(16) if self.at else len(one.frame)
            dut.in_time.value = rng.getrandbits(32) if self.at else number
            dut.in_tail.value = folded << 8 * TAIL | int.from_bytes(tail + rng.randbytes(TAIL - len(tail)), "little")
        if not self.tells and self.edits and rng.random() < rates[1]:
            self.tells = True
            edit = self.edits[0]
            dut.edit_drop.value, dut.edit_mark.value = edit.result is None, edit.mark
            dut.edit_layout.value, dut.edit_came.value, dut.edit_leaves.value = edit.layout, edit.came, edit.leaves
        dut.in_valid.value, dut.edit_valid.value, dut.out_ready.value = self.offers, self.tells, rng.random() < rates[2]
        await ReadOnly()
        taken = self.offers and bool(int(dut.in_ready.value))
        edited = self.tells and bool(int(dut.edit_ready.value))
        self.stalls += self.offers and not taken
        if taken:
            if self.at == 0:
                self.taken.append(self.cycle)
            assert edited == (self.at == 0), "an edit is taken with its frame's first beat"
            self.at += 1
            if self.at == beats(len(self.frames[0][0].frame)):
                self.frames.popleft()
                self.at = 0
        if edited:
            self.edits.popleft()
        if int(dut.out_valid.value) and int(dut.out_ready.value):
            self.take()
        self.offers, self.tells = self.offers and not taken, self.tells and not edited
        await FallingEdge(dut.clk)
        self.cycle += 1

    def take(self) -> None:
        """A beat that leaves; frame_check sees that it is the last one when it should be."""
        dut = self.dut
        assert self.expected, "a frame from nowhere"
        one, number = self.expected[0]
        assert one.result is not None
        if not self.partial:
            self.left.append(self.cycle)
            meta = int(dut.out_len.value), int(dut.out_time.value), int(dut.out_mark.value), int(dut.out_word.value)
            assert meta == (len(one.result), number, one.mark, ~one.mark & 0xFFFFFFFF), one.frame.hex()
        self.partial += int(dut.out_data.value).to_bytes(BEAT, "little")
        if int(dut.out_last.value):
            tail = int(dut.out_tail.value)
            if tail >> 8 * TAIL:
                self.partial += (tail & (1 << 8 * TAIL) - 1).to_bytes(TAIL, "little")
            data = self.partial[: len(one.result)]
            assert data == one.result, f"{one.frame.hex()}\nis     {data.hex()}\nand not {one.result.hex()}"
            self.expected.popleft()
            self.partial = b""
            self.done += 1


@cocotb.test()
async def edits_of_scapy(dut: Any) -> None:
    """Without stalls a beat a cycle, and one more when a frame grows over its last; with stalls the same frames."""
    bench = Bench(dut, 1)
    await bench.start()
    bench.send(next(zeros(bench.rng, 1)))
    await bench.drain(FULL)
    assert bench.left == [bench.taken[0] + LATENCY]
    grown = edited = 0
    for rates in [FULL] * 4 + [*STALLS]:
        jobs = [*by_scapy(bench.rng, 100), *zeros(bench.rng, 3)]
        for one in jobs:
            if bench.rng.random() < 0.1:
                one.result = None
            bench.send(one)
        bench.stalls = 0
        await bench.drain(rates)
        kept = [(one.frame, one.result) for one in jobs if one.result is not None]
        edited += sum(frame != result for frame, result in kept)
        if rates == FULL:
            grow = sum(beats(len(result)) > beats(len(frame)) for frame, result in kept)
            assert bench.stalls == grow
            grown += grow
    dut._log.info("%d frames, %d changed; without stalls %d have grown by a beat", bench.done, edited, grown)
    assert bench.done > 700 and edited > 400 and grown > 8


@cocotb.test()
async def edits_of_native_code(dut: Any) -> None:
    bench = Bench(dut, 2)
    await bench.start()
    jobs = list(by_native_code(bench.rng, 700))
    for one in jobs:
        bench.send(one)
    await bench.drain((1.0, 1.0, 0.9))
    assert bench.done == len(jobs) and sum(one.result != one.frame for one in jobs) > 230


def test_deparser() -> None:
    example("edit")  # built before the simulation starts
    simulate("deparser_bench", ["lib/rtl/headers.f", "lib/tests/deparser_bench.sv"], Path(__file__).stem)
