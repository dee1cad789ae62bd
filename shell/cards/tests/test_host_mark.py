# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""host_mark and the converters of width: frames of all lengths arrive behind a header that Scapy reads, whichever side
waits for the other.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly, Timer
from penstock.hdl import simulate
from scapy.layers.l2 import Ether

sys.path.insert(0, str(Path(__file__).resolve().parent))

BEAT, HEADER = 64, 20
Sent = tuple[bytes, int, int, int]  # frame, source, mark, timestamp


async def clock(signal: Any) -> None:
    while True:
        signal.value = 1
        await Timer(2, unit="ns")
        signal.value = 0
        await Timer(2, unit="ns")


async def drive(dut: Any, frames: list[Sent], rng: random.Random, rate: float) -> None:
    """Offers the beats of all frames, each until it is taken."""
    for data, source, mark, timestamp in frames:
        for at in range(0, len(data), BEAT):
            beat = data[at : at + BEAT]
            while rng.random() >= rate:
                await FallingEdge(dut.clk)
            dut.in_tvalid.value = 1
            dut.in_tdata.value = int.from_bytes(beat + rng.randbytes(BEAT - len(beat)), "little")
            dut.in_tkeep.value = (1 << len(beat)) - 1
            dut.in_tlast.value = int(at + BEAT >= len(data))
            dut.in_source.value, dut.in_mark.value, dut.in_timestamp.value = source, mark, timestamp
            taken = False
            while not taken:
                await ReadOnly()
                taken = bool(dut.in_tready.value)
                await FallingEdge(dut.clk)
            dut.in_tvalid.value = 0


async def receive(dut: Any, count: int, rng: random.Random, rate: float) -> list[bytes]:
    """Takes so many frames, at some of the cycles."""
    frames, frame = [], b""
    for _ in range(400_000):
        dut.out_tready.value = int(rng.random() < rate)
        await ReadOnly()
        if dut.out_tvalid.value and dut.out_tready.value:
            keep = int(dut.out_tkeep.value)
            length = keep.bit_count()
            assert keep == (1 << length) - 1 and length > 0
            frame += int(dut.out_tdata.value).to_bytes(BEAT, "little")[:length]
            if dut.out_tlast.value:
                frames.append(frame)
                frame = b""
            else:
                assert length == BEAT
        if len(frames) == count:
            return frames
        await FallingEdge(dut.clk)
    raise AssertionError(f"{len(frames)} of {count} frames came")


@cocotb.test()
async def headers(dut: Any) -> None:
    rng = random.Random(11)
    dut.in_tvalid.value, dut.out_tready.value, dut.rst.value = 0, 0, 1
    cocotb.start_soon(clock(dut.clk))
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for rate_in, rate_out in ((1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.6, 0.6)):
        sizes = [rng.randrange(14, 400) for _ in range(60)]
        if rate_in == rate_out == 1:
            sizes += [*range(14, 2 * BEAT + 2), 1500, 16384]
        rng.shuffle(sizes)
        sent = [(rng.randbytes(n), rng.randrange(256), rng.getrandbits(32), rng.getrandbits(32)) for n in sizes]
        cocotb.start_soon(drive(dut, sent, rng, rate_in))
        arrived = await receive(dut, len(sent), rng, rate_out)
        for frame, (data, source, mark, timestamp) in zip(arrived, sent, strict=True):
            head = Ether(frame)
            assert (head.dst, head.type) == ("02:50:4e:46:50:01", 0x88B5)
            assert head.src == f"02:{source:02x}:" + ":".join(f"{byte:02x}" for byte in mark.to_bytes(4, "big"))
            assert frame[14:HEADER] == struct.pack(">IH", timestamp, 0) and frame[HEADER:] == data
        await FallingEdge(dut.clk)


def test_host_mark() -> None:
    simulate(
        "host_bench",
        [
            "lib/rtl/rtl.f",
            "shell/cards/lib/host_mark.sv",
            "shell/cards/lib/beats_to_rows.sv",
            "shell/cards/lib/rows_to_beats.sv",
            "shell/cards/tests/host_bench.sv",
        ],
        "test_host_mark",
        testcase="headers",
    )
