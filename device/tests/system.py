# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Shared by the system tests: the command line as a function, captures, comparison of two runs."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from built import COMMAND_LINE
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("soft", "rtl")
RSS_KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")


@dataclass
class Run:
    """The results of one call of the command line."""

    status: int
    stdout: str
    stderr: str
    result: dict[str, Any]
    frames: dict[str, list[bytes]]  # by destination, in order: port0, port1, host


def call(*args: str | Path, timeout: float = 900) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND_LINE), *map(str, args)],
        cwd=ROOT,
        env={**os.environ, "PENSTOCK_ROOT": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def run_design(design: Path, inputs: Iterable[str | Path], out: Path, target: str, *options: str | Path) -> Run:
    out.mkdir(parents=True, exist_ok=True)
    result = out / "result.json"
    ins: list[str | Path] = [word for item in inputs for word in ("--in", item)]
    done = call("run", design, *ins, "--out", out, "--target", target, "--json", result, *options)
    frames = {}
    for path in sorted(out.glob("*.pcap")):
        frames[path.stem] = [bytes(data) for data, _ in RawPcapReader(str(path))]
    return Run(
        done.returncode, done.stdout, done.stderr, json.loads(result.read_text()) if result.exists() else {}, frames
    )


def write_capture(path: Path, frames: Iterable[bytes]) -> Path:
    """A classic pcap, one frame a microsecond."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)
    for index, frame in enumerate(frames):
        data += struct.pack("<IIII", index // 1_000_000, index % 1_000_000, len(frame), len(frame)) + frame
    path.write_bytes(data)
    return path


def toeplitz(key: bytes, packet: bytes) -> int:
    """The RSS hash, bit by bit."""
    window, hash_ = int.from_bytes(key, "big"), 0
    for n in range(8 * len(packet)):
        if packet[n // 8] & 0x80 >> n % 8:
            hash_ ^= window >> 8 * len(key) - 32 - n & 0xFFFFFFFF
    return hash_


def flow_of(frame: bytes) -> tuple[object, ...]:
    """The five-tuple as Scapy sees it; frames without one are a flow of their own kind."""
    packet = Ether(frame)
    network = packet.getlayer(IP) or packet.getlayer(IPv6)
    if network is None:
        return ("other",)
    transport = network.getlayer(TCP) or network.getlayer(UDP)
    ports = (transport.sport, transport.dport) if transport is not None else ()
    return (network.src, network.dst, *ports)


def by_flow(frames: Iterable[bytes]) -> dict[tuple[object, ...], list[bytes]]:
    flows: dict[tuple[object, ...], list[bytes]] = defaultdict(list)
    for frame in frames:
        flows[flow_of(frame)].append(frame)
    return dict(flows)


def assert_twins(soft: Run, rtl: Run) -> None:
    """The same frames at every destination, per flow in the same order, and the same counts."""
    assert {k: sorted(v) for k, v in soft.frames.items()} == {k: sorted(v) for k, v in rtl.frames.items()}
    for port, frames in soft.frames.items():
        assert by_flow(frames) == by_flow(rtl.frames[port]), f"order within a flow differs at {port}"
    for key in ("frames_in", "generated", "frames_out", "drops", "bytes_in", "bytes_out"):
        assert soft.result[key] == rtl.result[key], key
    for port, (ours, theirs) in enumerate(
        zip(soft.result["counters"]["ports"], rtl.result["counters"]["ports"], strict=True)
    ):
        for name in ours:
            assert "stall" in name or ours[name] == theirs[name], f"port {port}: {name}"


DesignMaker = Callable[..., Path]
