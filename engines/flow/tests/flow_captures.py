# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Makes the captures in engines/flow/programs, from the frames of the tests: `PYTHONPATH=python build/venv/bin/python
engines/flow/tests/flow_captures.py`.

NAME.N.pcap holds the frames for Ethernet port N of a card. Each program has captures for ports 0 and 1; a port without
traffic has one ARP.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from flow_soft import PROGRAMS
from scapy.packet import Packet
from test_flow_programs import ADDRESS_QUESTION, PASS, SEQUENCES, Model, Step, built
from test_flow_tcp import tracked

PLAYED: dict[str, Callable[[], tuple[Model, Iterable[Step]]]] = SEQUENCES | {"tcp_tracking": lambda: tracked(0)}
# This many frames show what a program does; programs with limits need more frames to reach them.
FRAMES = 60
LONGER = {
    "big_flows": 250,
    "flowlets": 140,
    "load_balancer": 160,
    "nat": 100,
    "optimistic_ack": 220,
    "quota": 256,
    "super_spreader": 460,
    "syn_flood": 160,
}
# Time, port and packet; the program's verdict and the bytes of the frame after it.
Shown = tuple[int, int, Packet, tuple, bytes]


def shown(name: str) -> list[Shown]:
    """The frames in order, with the verdicts of plain Python."""
    model, sequence = PLAYED[name]()
    steps = sorted(islice(sequence, LONGER.get(name, FRAMES)), key=lambda step: step[0])
    frames: list[Shown] = []
    last = -1
    for time, port, packet in steps:
        # A microsecond apart at least, so that their order is that of their times.
        last = max(time, last + 1)
        verdict, left = model(last, port, built(packet))
        frames.append((last, port, packet, verdict, bytes(left)))
    for port in {0, 1} - {port for _, port, _, _, _ in frames}:
        last += 1
        frames.append((last, port, ADDRESS_QUESTION, PASS, bytes(ADDRESS_QUESTION)))
    return frames


def captures(name: str, frames: list[Shown]) -> dict[Path, bytes]:
    """Classic captures with microseconds, by file."""
    files: dict[Path, bytes] = {}
    for time, port, packet, _, _ in frames:
        path = PROGRAMS / f"{name}.{port}.pcap"
        begun = files.get(path) or struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)
        data = bytes(packet)
        files[path] = begun + struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(data), len(data)) + data
    return files


if __name__ == "__main__":
    for each in PLAYED:
        for path, data in captures(each, shown(each)).items():
            path.write_bytes(data)
