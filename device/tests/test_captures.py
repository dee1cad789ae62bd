# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Every real capture crosses the forwarding card on both targets; the frames that leave are those of a plain reading of
the file.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from penstock import data
from system import ROOT, TARGETS, assert_twins, run_design

CAPTURES = sorted(data.CAPTURES.glob("*.pcap"))
# The forwarding firmware declares slots that hold the longest frame the card stores.
SLOT = 16384


def read(path: Path) -> tuple[list[bytes], bool]:
    """Frames of a classic little-endian pcap, and whether the file ends in the middle of one."""
    data = path.read_bytes()
    frames, at = [], 24
    while at < len(data):
        if at + 16 > len(data):
            return frames, True
        (length,) = struct.unpack_from("<I", data, at + 8)
        if at + 16 + length > len(data):
            return frames, True
        frames.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return frames, False


@pytest.mark.skipif(not CAPTURES, reason=data.ABSENT)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_capture(capture: Path, tmp_path: Path) -> None:
    frames, cut = read(capture)
    want = sorted(frame for frame in frames if 14 <= len(frame) <= SLOT)
    oversize = sum(len(frame) > SLOT for frame in frames)
    runs = {}
    for target in TARGETS:
        run = run_design(ROOT / "designs/forward.toml", [capture], tmp_path / target, target)
        assert (run.status != 0) == cut, run.stderr
        if cut:
            assert capture.name in run.stderr and "cut short" in run.stderr
        assert sorted(run.frames["port1"]) == want
        assert run.result["drops"] == ({"oversize": oversize} if oversize else {})
        assert run.result["frames_in"] == len(frames)
        runs[target] = run
    assert_twins(runs["soft"], runs["rtl"])
