# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Copies of frames, hashes and meters of v1model, by `penstock exec rmt`, against plain Python."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path

from p4_interpreter import crc16, csum16, xor16
from system import ROOT, call

PROGRAMS = ROOT / "engines/rmt/tests/programs"
# bmv2's values of instance_type
NORMAL, INGRESS_CLONE, EGRESS_CLONE, RECIRCULATED, REPLICATION, RESUBMITTED = 0, 1, 2, 4, 5, 6
REST = "aabbccddeeff"


def run(folder: Path, program: str, lines: list[str], target: str = "soft") -> subprocess.CompletedProcess[str]:
    test = folder / "test.stf"
    test.write_text("\n".join([*lines, ""]))
    return call("exec", "rmt", PROGRAMS / program, test, "--target", target)


def frame(op: int, argument: int = 0, *seen: int) -> str:
    """A frame of copies.p4; `seen` is kind, port, rid, kept, lost and rounds as they are on the way out."""
    return bytes([op, argument, *seen, *[0] * (6 - len(seen))]).hex() + REST


SETUP = [
    "mirroring_add 5 7",
    "mirroring_add_mc 6 2",
    *["mc_mgrp_create 1", "mc_mgrp_create 2"],
    *["mc_node_create 3 4 5", "mc_node_create 8 4", "mc_node_create 9 6", "mc_node_create 2 8"],
    *["mc_node_associate 1 0", "mc_node_associate 1 1", "mc_node_associate 1 2", "mc_node_associate 2 3"],
]
# The group 1 goes to 4 and 5 as copy 3 and again to 4 as copy 8; copy 9 is dropped in egress.
GROUP = ((4, 3), (5, 3), (4, 8))


def group(op: int, argument: int = 0) -> list[str]:
    return [f"expect {port} {frame(op, argument, REPLICATION, port, rid)}$" for port, rid in GROUP]


def test_copies(tmp_path: Path) -> None:
    lines = list(SETUP)
    for op, argument, expected in (
        (0, 0, [f"expect 1 {frame(0, 0, NORMAL, 1)}$"]),
        # The clone is the frame as it entered, with the metadata of its field list.
        (1, 0, [f"expect 7 {frame(1, 0, INGRESS_CLONE, 7, 0, 0x11)}$", f"expect 1 {frame(1, 0xFF, NORMAL, 1)}$"]),
        (2, 1, group(2, 1)),
        (2, 77, []),
        # The second pass sees the frame as it entered, and no group.
        (3, 0, [f"expect 1 {frame(3, 0, NORMAL, 1, 0, 0x33)}$"]),
        # The metadata has its value at the end of egress; the clone leaves after the frame.
        (4, 0, [f"expect 1 {frame(4, 0, NORMAL, 1)}$", f"expect 8 {frame(4, 0, EGRESS_CLONE, 8, 2, 0x77)}$"]),
        (5, 3, [f"expect 1 {frame(5, 3, NORMAL, 1, 0, 6, 0, 3)}$"]),
        (7, 0, [f"expect 7 {frame(7, 0, INGRESS_CLONE, 7)}$"]),
        (8, 9, [f"expect 1 {frame(8, 9, NORMAL, 1)[:18]}$"]),
        (10, 0, group(10)),
        (11, 0, []),
        (12, 1, [f"expect 1 {frame(12, 1, NORMAL, 1)}$"]),
        (12, 0, []),
    ):
        lines += [f"packet 0 {frame(op, argument)}", *expected]
    done = run(tmp_path, "copies.p4", lines)
    assert done.returncode == 0, done.stderr


def test_a_program_that_copies_for_ever_ends(tmp_path: Path) -> None:
    # 9 resubmits for ever; 6 clones each clone, and every one of them leaves until the limit ends it.
    lines = [*SETUP, f"packet 0 {frame(9)}", "no_packet", f"packet 0 {frame(6)}", "expect 1", "expect 8"]
    done = run(tmp_path, "copies.p4", lines)
    assert done.returncode == 0, done.stderr


def test_the_card_refuses_copies(tmp_path: Path) -> None:
    done = run(tmp_path, "copies.p4", ["no_packet"], "rtl")
    assert done.returncode == 1 and "does not fit" in done.stderr and "clone" in done.stderr, done.stderr


def test_hashes(tmp_path: Path) -> None:
    lines = []
    for number in range(8):
        data = bytes((number * 31 + at * 37 + 5) % 256 for at in range(12)) + bytes([2])
        last, payload = (number * 53 + 7) % 256, bytes(range(number))
        # The five bits after the field count as 0.
        hashed = data + bytes([last & 0xE0])
        # The three bits follow the first word.
        over = data[:4] + bytes([last & 0xE0]) + payload
        sums = b"".join(
            [
                zlib.crc32(hashed).to_bytes(4, "big"),
                crc16(hashed).to_bytes(2, "big"),
                csum16(hashed).to_bytes(2, "big"),
                xor16(hashed).to_bytes(2, "big"),
                hashed[:8],
                (1000 + zlib.crc32(data[:4]) % 77).to_bytes(4, "big"),
                (1000).to_bytes(4, "big"),
            ]
        )
        end = zlib.crc32(over).to_bytes(4, "big") + bytes(1) + payload
        lines.append(f"packet 0 {(data + bytes([last]) + bytes(32) + payload).hex()}")
        # Random numbers from 40 to 43 are 0x28 to 0x2b.
        lines.append(f"expect 2 {(data + bytes([last]) + sums).hex()}2*{end.hex()}$")
    done = run(tmp_path, "hashes.p4", lines)
    assert done.returncode == 0, done.stderr


def test_meters(tmp_path: Path) -> None:
    """All frames enter at one time: 2 are green, 3 - 2 yellow, all others red. Cells without rates are green."""
    lines = ["meter_set_rates m 2 0.1:2 0.2:3"]
    for cell, colors in ((2, [0, 0, 1, 2, 2]), (1, [0] * 5), (9, [0])):
        for color in colors:
            data = bytes(12) + bytes([cell, 0])
            lines.append(f"packet 0 {(data + bytes(32)).hex()}")
            lines.append(f"expect 2 {data.hex()}{'*' * 62}{color:02x}$")
    done = run(tmp_path, "hashes.p4", lines)
    assert done.returncode == 0, done.stderr
