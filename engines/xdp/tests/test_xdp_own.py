# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Updates of per-context arrays: on both targets the results equal plain Python's."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from system import TARGETS, DesignMaker, run_design, write_capture

PROGRAM = Path(__file__).parent / "firmware" / "owned.c"
ENTRIES, DELETE = 5, 1


@pytest.mark.parametrize("target", TARGETS)
def test_own_values(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(6)
    frames = []
    for _ in range(200):
        what, flags = rng.choice([0, 0, 0, DELETE]), rng.choice([0, 0, 0, 1, 2, 3, 255])
        key = rng.choice([*range(ENTRIES), ENTRIES, 255])
        frames.append(bytes([what, key, flags, rng.randrange(2), *bytes(12)]) + rng.randbytes(48))
    expected, kept = [], [bytes(18)] * ENTRIES
    for frame in frames:
        what, key, flags = frame[:3]
        if what == DELETE or flags > 2:
            answer = -22
        elif key >= ENTRIES:
            answer = -7
        elif flags == 1:
            answer = -17
        else:
            answer, kept[key] = 0, frame[16:34]
        now = kept[key] if key < ENTRIES else frame[40:58]
        expected.append(frame[:8] + struct.pack("<q", answer) + frame[16:40] + now + frame[58:])
    capture = write_capture(tmp_path / "in.pcap", frames)
    # Frames of one flow, and so of one context.
    run = run_design(make_design(PROGRAM, units=1, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    assert run.frames["port0"] == expected
