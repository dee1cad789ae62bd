# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Helpers that are code in the program: native code and RTL agree with plain Python, and with each other."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

from system import ROOT, TARGETS, DesignMaker, assert_twins, run_design, write_capture

PROGRAMS = ROOT / "engines" / "xdp" / "programs"
FIRMWARE = Path(__file__).parent / "firmware"
LONGEST = 3520  # what a slot of an xdp unit holds
MOST_TAIL_CALLS = 33

# The destination of a frame from port 0 (None: dropped, for that reason), and its bytes.
Fate = tuple[str | None, bytes]


def ones_complement(data: bytes, seed: int = 0) -> int:
    """The sum of words of 16 bits, with its carries; 0 only of zeros."""
    data += bytes(-len(data) % 4)
    total = seed + sum(struct.unpack(f"<{len(data) // 2}H", data))
    return (total - 1) % 0xFFFF + 1 if total else 0


def helped(frame: bytes) -> Fate:
    """The commands of firmware/helped.c."""
    data, n = bytearray(frame), frame[1]
    if len(frame) < 80:
        return None, b"blocked"
    if frame[0] == 0:
        data[2:4] = ones_complement(frame[16 : 16 + (n & 63)], frame[2]).to_bytes(2, "little")
    elif frame[0] == 1:
        less = bytes(0xFF - byte for byte in frame[56:76])
        data[2:4] = ones_complement(frame[32:52] + less, n << 24).to_bytes(2, "little")
    elif frame[0] == 2:
        by = n - 40
        fits = len(frame) + by <= LONGEST
        data[2:4] = bytes(2) if fits else b"\xea\xff"
        data = data[: len(frame) + by] + bytes(max(by, 0)) if fits else data
    elif frame[0] == 3:
        data = data[24:] if n % 2 == 0 else bytearray(20) + data
        data[:20] = frame[8:12] + frame[4:8] + bytes(range(8, 20))
    elif frame[0] == 4:
        words = [frame[4], frame[5]]
        before = words[1 - n % 2]
        words[1 - n % 2] += n
        data[2:4] = (before << 8 ^ words[0] ^ words[1] << 4 & 0xFFFF).to_bytes(3, "little")[:2]
    elif frame[0] == 5:
        data[2:4] = b"\x07" + bytes([min(max(n, 1), MOST_TAIL_CALLS)]) if n & 3 < 2 else b"\x01\x00"
    else:
        return (None, b"aborted") if n & 2 else (f"port{n & 1}", frame)
    return "port0", bytes(data)


def test_helpers(make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(28)
    frames = []
    for number in range(700):
        size = rng.choice([79, 80, 81, 120, 500, LONGEST - 100, LONGEST])
        frame = bytearray(rng.choice([rng.randbytes(size), rng.randbytes(size), bytes(size), b"\xff" * size]))
        frame[0] = number % 7
        # Most numbers in frames are small.
        frame[1] = rng.choice([rng.randrange(256), rng.randrange(48)])
        frames.append(bytes(frame))
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(FIRMWARE / "helped.c", units=2, engine="xdp", **{"xdp.entry": "helped"})
    fates = [helped(frame) for frame in frames]
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        for place in ("port0", "port1"):
            expected = Counter(data for to, data in fates if to == place)
            got = Counter(run.frames[place])
            kinds = Counter(data[0] for data in (expected - got).elements())
            assert got == expected, f"{target}, {place}: {sorted(kinds.items())}"
        assert run.result["drops"] == dict(Counter(why.decode() for to, why in fates if to is None))
    assert_twins(runs["soft"], runs["rtl"])


def too_long(frame: bytes) -> Fate:
    """The answer of programs/xdp_adjust_tail.c: an ICMP error with the first 84 bytes after the Ethernet header."""
    if frame[12:14] != b"\x08\x00" or len(frame) <= 600:
        return "host", frame
    quoted = frame[14:98]
    icmp = bytearray(struct.pack(">BBHHH", 3, 4, 0, 0, 600 - 14) + quoted)
    icmp[2:4] = (0xFFFF - ones_complement(bytes(icmp))).to_bytes(2, "little")
    ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(icmp), 0, 0, 64, 1, 0) + frame[30:34] + frame[26:30])
    ip[10:12] = (0xFFFF - ones_complement(bytes(ip))).to_bytes(2, "little")
    return "port0", frame[6:12] + frame[:6] + b"\x08\x00" + bytes(ip + icmp)


def test_answers_what_is_too_long(make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(65)
    frames = []
    for _ in range(200):
        size = rng.choice([60, 599, 600, 601, 900, 1514])
        kind = rng.choice([b"\x08\x00", b"\x08\x00", b"\x86\xdd"])
        frames.append(rng.randbytes(12) + kind + rng.randbytes(size - 14))
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAMS / "xdp_adjust_tail.c", units=2, engine="xdp")
    fates = [too_long(frame) for frame in frames]
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        for place in ("port0", "host"):
            assert Counter(run.frames[place]) == Counter(data for to, data in fates if to == place), (target, place)
    assert_twins(runs["soft"], runs["rtl"])
