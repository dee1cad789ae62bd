# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Words between units: programs whose frames leave only when the units have understood each other, on both targets."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from system import ROOT, TARGETS, DesignMaker, run_design, write_capture

PROGRAMS = ROOT / "engines" / "rpu" / "programs"


def frames_for(units: int, count: int) -> list[bytes]:
    rng = random.Random(units)
    numbers = [rng.getrandbits(32) for _ in range(count)]
    return [
        bytes(range(14)) + bytes([units]) + rng.randbytes(3) + struct.pack("<I", number) + rng.randbytes(60)
        for number in numbers
    ]


def with_number(frame: bytes, number: int) -> bytes:
    return frame[:18] + struct.pack("<I", number & 0xFFFFFFFF) + frame[22:]


@pytest.mark.parametrize(("program", "units"), [("all_to_all.c", 4), ("all_to_all.c", 16), ("waterfall.c", 16)])
def test_frames_leave_when_all_units_have_spoken(
    program: str, units: int, make_design: DesignMaker, tmp_path: Path
) -> None:
    frames = frames_for(units, 10 * units)
    if program == "all_to_all.c":
        numbers = [int.from_bytes(frame[18:21], "little") for frame in frames]
        sums = [sum((number + unit) % (1 << 24) for unit in range(units)) for number in numbers]
        expected = [with_number(frame, total) for frame, total in zip(frames, sums, strict=True)]
    else:
        expected = [with_number(frame, units * (units + 1) // 2) for frame in frames]
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAMS / program, units=units, policy="round-robin")
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, f"{target}: {run.stderr}"
        assert sorted(run.frames["port1"]) == sorted(expected), target
        assert run.result["drops"] == {reason: 0 for reason in run.result["drops"]}
