# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""flow_hash against Microsoft's verification values and against the plain Python hash on frames that Scapy makes."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from toeplitz import VERIFICATION, address, flow_hash, toeplitz


def verification_frames() -> list[tuple[bytes, int]]:
    from scapy.all import IP, TCP, Ether, IPv6  # type: ignore[attr-defined]

    frames = []
    for dst, src, dport, sport, plain, ports in VERIFICATION:
        ip = IPv6(dst=dst, src=src) if ":" in dst else IP(dst=dst, src=src)
        frames.append(
            (bytes(Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / ip / TCP(dport=dport, sport=sport)), ports)
        )
        other = IPv6(dst=dst, src=src, nh=59) if ":" in dst else IP(dst=dst, src=src, proto=89)
        frames.append((bytes(Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / other) + bytes(30), plain))
    return frames


def random_frame(rng: random.Random) -> bytes:
    """Anything between an ordinary packet and noise; headers that are nearly right are the interesting ones."""
    tags = b"".join(
        rng.choice([b"\x81\x00", b"\x88\xa8", b"\x91\x00"]) + rng.randbytes(2)
        for _ in range(rng.choice([0, 0, 1, 2, 3]))
    )
    ethertype = rng.choice([b"\x08\x00", b"\x08\x00", b"\x86\xdd", b"\x86\xdd", b"\x08\x06", rng.randbytes(2)])
    layer3 = bytearray(rng.randbytes(80))
    if rng.random() < 0.9:
        if ethertype == b"\x08\x00":
            layer3[0] = rng.choice([0x45, 0x45, 0x45, 0x46, 0x4F, 0x44, 0x65])
            layer3[6:8] = rng.choice([b"\0\0", b"\x40\0", b"\x20\0", b"\0\x01", b"\x1f\xff", b"\x80\0"])
            layer3[9] = rng.choice([6, 17, 6, 17, 1, 132])
        else:
            layer3[0] = rng.choice([0x60, 0x6F, 0x45])
            layer3[6] = rng.choice([6, 17, 0, 44, 58])
    frame = rng.randbytes(12) + tags + ethertype + bytes(layer3)
    return frame[: rng.choice([len(frame), 64, 60, rng.randrange(14, 100)])]


@cocotb.test()
async def hashes(dut: Any) -> None:
    rng = random.Random(7)
    for dst, src, dport, sport, plain, ports in VERIFICATION:
        pair = address(src) + address(dst)
        assert toeplitz(pair) == plain and toeplitz(pair + sport.to_bytes(2, "big") + dport.to_bytes(2, "big")) == ports
    cases = verification_frames()
    for frame, value in cases:
        assert flow_hash(frame) == value
    for _ in range(3000):
        frame = random_frame(rng)
        cases.append((frame, flow_hash(frame)))

    dut.rst.value, dut.valid.value, dut.bytes.value, dut.data.value = 1, 0, 0, 0
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    got: list[int] = []
    due: list[int] = []
    starts: list[int] = []
    todo = list(cases)
    length = 0
    for cycle in range(10 * len(cases)):
        dut.bytes.value = length  # of the frame in the cycle before
        length = 0
        fire = bool(todo) and (rng.random() < 0.7 or len(todo) > 2500)
        dut.valid.value = fire
        if fire:
            frame, value = todo.pop(0)
            dut.data.value = int.from_bytes(frame[:64].ljust(64, b"\xa5"), "little")
            length = min(len(frame), 64)
            due.append(value)
            starts.append(cycle)
        await ReadOnly()
        if int(dut.hash_valid.value):
            assert cycle - starts[len(got)] == 5, "latency"
            got.append(int(dut.hash.value))
        await RisingEdge(dut.clk)
        if len(got) == len(cases):
            break
    assert got == due


def test_flow_hash() -> None:
    simulate("flow_hash", ["lib/rtl/penstock_pkg.sv", "shell/rtl/flow_hash.sv"], "test_flow_hash")
