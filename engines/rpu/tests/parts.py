# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Builds and runs `parts_bench` for the test benches of the unit's parts, with their shared code.

As in unit.py all happens at the falling edge: outputs are those of the cycle, inputs driven there are taken at the
rising edge.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from penstock import hdl

HERE = Path(__file__).resolve().parent
SOURCES = [
    "lib/rtl/rtl.f",
    "engines/rpu/regs/rpu_regs_pkg.sv",
    "engines/rpu/rtl/rpu_pkg.sv",
    "engines/rpu/rtl/slot_table.sv",
    "engines/rpu/rtl/rx_dma.sv",
    "engines/rpu/rtl/tx_dma.sv",
    "engines/rpu/rtl/core_regs.sv",
    "engines/rpu/tests/parts_bench.sv",
]
INPUTS = [
    *(
        "rx_valid",
        "rx_data",
        "rx_last",
        "rx_meta",
        "rx_table_place",
        "rx_table_header",
        "rx_table_copies",
        "rx_row_ready",
        "rx_head_ready",
    ),
    *("tx_send", "tx_send_data", "tx_table_src", "tx_table_timestamp", "tx_row_ready", "tx_row_data", "tx_ready"),
    *("tx_table_hash", "tx_loop_table_hash", "loop_answer", "loop_granted", "loop_unit_id", "loop_slot"),
    *(
        "irq_ready",
        "unit_id",
        "timer",
        "rd",
        "wr",
        "addr",
        "wdata",
        "be",
        "wild",
        "pc",
        "accel_error",
        "poke",
        "evict",
        "info_we",
        "info_slot",
    ),
    *("info_data", "done", "done_slot", "free", "free_slot", "debug_in"),
    *("tx_mem_addr", "tx_mem_read", "was_read", "was_read_tag", "was_read_error", "wrote", "wrote_tag", "wrote_error"),
    *("tx_now", "extra_busy", "unread", "quiet", "data_we", "data_wdata"),
]


async def start(dut: Any) -> FallingEdge:
    """Starts the clock and resets all; gives the edge to wait for."""
    for name in INPUTS:
        getattr(dut, name).value = 0
    dut.rst.value = 1
    Clock(dut.clk, 4, "ns").start()
    edge = FallingEdge(dut.clk)
    for _ in range(4):
        await edge
    dut.rst.value = 0
    await edge
    return edge


def settled() -> Timer:
    """Outputs that follow inputs of the same cycle: after the falling edge, before the rising one."""
    return Timer(800, "ps")


def run(module: str, case: str) -> None:
    path = os.pathsep.join([str(HERE), str(hdl.ROOT / "python"), *sys.path])
    hdl.simulate("parts_bench", SOURCES, module, testcase=case, env={"PYTHONPATH": path})
