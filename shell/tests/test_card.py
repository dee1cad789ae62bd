# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The card with an echo unit (unit.sv in this folder) in the place of engines."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import cocotb
import pytest
from card_bench import CardBench

from penstock.hdl import simulate

SOURCES = ["shell/tests/unit.sv", "shell/rtl/rtl.f"]


@cocotb.test()
async def forwards(dut: Any) -> None:
    """Random sizes on both ports, with gaps and stalls: everything comes out at the neighbour, once and whole."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    assert await bench.read(0) == 0x50454E53
    bench.rx_idle = 0.2
    bench.tx_stall = 0.2
    rng = bench.rng
    sent: dict[int, list[bytes]] = {p: [] for p in range(bench.ports)}
    for i in range(150):
        for p in range(bench.ports):
            size = rng.choice([14, 60, 63, 64, 65, 127, 128, 129, 512, 1500, rng.randrange(14, 2048)])
            frame = bytes([p]) + i.to_bytes(4, "big") + rng.randbytes(size - 5)
            sent[p].append(frame)
            bench.send(p, frame)
    await bench.drained(150 * bench.ports)
    for p in range(bench.ports):
        got = [f.data for f in bench.out[p ^ 1]]
        assert Counter(got) == Counter(sent[p])
        assert all(f.src == p for f in bench.out[p ^ 1])
        assert {f.timestamp for f in bench.out[p ^ 1]} and await bench.counter(p, "RX_FRAMES") == 150


@pytest.mark.parametrize(("ports", "units"), [(2, 16)])
def test_card(ports: int, units: int) -> None:
    simulate("card_top", ["lib/rtl/rtl.f", *SOURCES], "test_card", {"Ports": ports, "Units": units, "IngressDepth": 1024},
             testcase=os.environ.get("TESTCASE"))
