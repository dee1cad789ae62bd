# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Records that programs send to the host: on both targets they equal plain Python's, in order for each flow."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from system import RSS_KEY, TARGETS, DesignMaker, run_design, toeplitz, write_capture

PROGRAM = Path(__file__).parent / "firmware" / "recorded.c"
UNITS = 2
QUEUES = 12
OUTPUT, TWENTY_THREE, TWO, EVENT, NAMED = 0, 2, 3, 4, 5
FLOWS = [bytes([10, 0, 0, n, 10, 0, 1, 3 * n]) for n in range(40)]
FIRST = 26  # where a frame has its addresses


def processor(frame: bytes) -> int:
    """The context that works on it, numbered through."""
    flow = toeplitz(RSS_KEY, frame[FIRST : FIRST + 8])
    return flow % 128 % UNITS * 16 + (flow >> 7) % 16


def a_frame(rng: random.Random, number: int) -> bytes:
    kind = rng.choice([OUTPUT, OUTPUT, TWENTY_THREE, TWO, EVENT, EVENT, NAMED])
    frame = bytearray(rng.randbytes(rng.choice([80, 81, 200, 700])))
    # IPv4 of a protocol without ports.
    frame[12:16], frame[23], frame[FIRST : FIRST + 8] = b"\x08\x00\x45\x00", 0, rng.choice(FLOWS)
    frame[16:20] = number.to_bytes(4, "big")
    # 0 is a program's reason to give a record back.
    frame[0], frame[1], frame[2] = kind, rng.choice([0, rng.randrange(256)]), rng.choice([0, 0, 1, 3, 9, 70, 255])
    frame[3] = 0
    if kind == NAMED:
        frame[2], frame[3] = rng.choice([processor(frame), processor(frame), rng.randrange(16)]), rng.random() < 0.1
    return bytes(frame)


def sent(frame: bytes) -> tuple[int, list[bytes], list[bytes]]:
    """The commands in the program's frames, and its records in the ring and in the array."""
    kind, number, third, fourth = frame[:4]
    words = frame[16:80]
    if kind == OUTPUT:
        return (-22, [], []) if third & ~3 else (0, [words[: number & 63]], [])
    if kind == TWENTY_THREE:
        return 0, [words[:23]], []
    if kind == TWO:
        uppers = b"".join(words[8 * n + 4 : 8 * n + 8] for n in range(3))
        return 2, [words[:24], uppers] if number else [uppers], []
    queue = third if kind == NAMED else processor(frame)
    if kind == NAMED and fourth:
        return -22, [], []
    if kind == EVENT and third > len(frame):
        return -14, [], []
    if queue >= QUEUES:
        return -7, [], []
    if queue != processor(frame):
        return -95, [], []
    return 0, [], [words[:5] if kind == NAMED else words[: number & 63] + frame[:third]]


def taken(folder: Path, name: str) -> tuple[list[Any], int]:
    told = json.loads((folder / f"{name}.json").read_text())
    return told["records"], told["lost"]


@pytest.mark.parametrize("target", TARGETS)
def test_records(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(130)
    frames = [a_frame(rng, number) for number in range(600)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=UNITS, engine="xdp")
    run = run_design(design, [capture], tmp_path / "out", target, "--dump", f"map={tmp_path / 'maps'}")
    assert run.status == 0, run.stderr
    told = [sent(frame) for frame in frames]
    assert {result for result, _, _ in told} == {-95, -22, -14, -7, 0, 2}
    answers = Counter(
        frame[:8] + struct.pack("<q", told[0]) + frame[16:] for frame, told in zip(frames, told, strict=True)
    )
    missing = answers - Counter(run.frames["port0"])
    assert not missing and len(run.frames["port0"]) == len(frames), [frame[:32].hex(" ", 8) for frame in missing]

    records, lost = taken(tmp_path / "maps", "ring")
    records = [bytes.fromhex(record[2:]) for record in records]
    assert lost == 0 and Counter(records) == Counter(record for _, of_frame, _ in told for record in of_frame)
    in_order = defaultdict(list), defaultdict(list)
    for side, side_records in zip(in_order, (records, [record for _, of, _ in told for record in of]), strict=True):
        for record in side_records:
            # Records that name their flow.
            if len(record) >= FIRST - 16 + 8 and record[10:18] in FLOWS:
                side[record[10:18]].append(record)
    assert in_order[0] == in_order[1] and max(map(len, in_order[0].values())) > 5

    events, lost = taken(tmp_path / "maps", "events")
    of_processor = defaultdict(list), defaultdict(list)
    for event in events:
        of_processor[0][event["cpu"]].append(bytes.fromhex(event["data"][2:]))
    for frame, (_, _, of_frame) in zip(frames, told, strict=True):
        for event in of_frame:
            of_processor[1][processor(frame)].append(event)
    assert lost == 0 and of_processor[0] == of_processor[1]


@pytest.mark.parametrize("target", TARGETS)
def test_units_share_a_ring(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    """All contexts at once, into a ring that is too small: no record is torn, and records without room are counted."""
    rng = random.Random(131)
    frames = [bytes([1, 24, 0, 0]) + bytes(12) + rng.randbytes(64) for _ in range(500)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=UNITS, engine="xdp", policy="round-robin")
    run = run_design(design, [capture], tmp_path / "out", target, "--dump", f"map={tmp_path / 'maps'}")
    assert run.status == 0, run.stderr
    records, lost = taken(tmp_path / "maps", "small")
    # Each takes 8 bytes more, and one byte of the ring is always left.
    assert (len(records), lost) == (4095 // 32, len(frames) - 4095 // 32)
    assert len(set(records)) == len(records) and set(records) <= {"0x" + frame[16:40].hex() for frame in frames}
    answers = Counter(struct.unpack_from("<q", frame, 8)[0] for frame in run.frames["port0"])
    assert answers == {0: 4095 // 32, -11: lost}
