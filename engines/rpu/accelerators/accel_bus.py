# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The unit's side of the accelerators (accel_bench.sv), for cocotb coroutines: core, host, packet memory."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

SOURCES = ["engines/rpu/rtl/rtl.f", "engines/rpu/accelerators/accel_bench.sv"]
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))

# The kinds: bit of the mask, page of the registers, window of the tables (accel.sv).
IP_PREFIX, FLOW_HASH, CHECKSUM, CRC32, STRING_MATCH = range(5)
PAGE, WINDOW = 0x100, 0x100000
PMEM, PMEM_BYTES, ROW = 0x1000000, 1 << 20, 64


class Bus:
    """One kind of accelerator, as core and host reach it. Inputs change behind the rising edge; outputs are read at the
    falling one.
    """

    def __init__(self, dut: Any, kind: int = 0) -> None:
        self.dut = dut
        self.page, self.window = kind * PAGE, kind * WINDOW
        self.rng = random.Random(SEED)
        self.errors = 0

    async def start(self) -> None:
        dut = self.dut
        for signal in (dut.addr, dut.wr_en, dut.rd_en, dut.wdata, dut.ld_wr, dut.ld_rd, dut.ld_addr, dut.ld_wdata):
            signal.value = 0
        for signal in (dut.mem_we, dut.mem_row, dut.mem_wdata, dut.host_takes):
            signal.value = 0
        dut.rst.value = 1
        Clock(dut.clk, 2, "ns").start()
        await self.wait(3)
        dut.rst.value = 0
        await self.wait(1)
        cocotb.start_soon(self.count_errors())

    async def count_errors(self) -> None:
        while True:
            await FallingEdge(self.dut.clk)
            self.errors += int(self.dut.error.value)

    async def wait(self, cycles: int) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)

    async def disturb(self, share: float) -> None:
        """The host takes port B of packet memory in so large a share of the cycles; without end."""
        while True:
            self.dut.host_takes.value = int(self.rng.random() < share)
            await RisingEdge(self.dut.clk)

    # --- Core ---------------------------------------------------------------------------------------------------------

    async def write(self, register: int, value: int) -> None:
        """A store; returns in the cycle after it."""
        self.dut.addr.value = self.page + register
        self.dut.wdata.value = value
        self.dut.wr_en.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.wr_en.value = 0

    async def read(self, register: int, most: int = 10) -> tuple[int, int]:
        """A load: value and cycles for which it held the core, `most` at most; returns in the cycle
        after the answer.
        """
        self.dut.addr.value = self.page + register
        self.dut.rd_en.value = 1
        for held in range(most):
            await FallingEdge(self.dut.clk)
            if self.dut.rd_valid.value == 1:
                value = int(self.dut.rdata.value)
                await RisingEdge(self.dut.clk)
                self.dut.rd_en.value = 0
                return value, held
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"no answer from register {register:#x}")

    # --- Host ---------------------------------------------------------------------------------------------------------

    async def load(self, words: Any) -> None:
        """Writes table words, one a cycle: pairs of offset and word."""
        self.dut.ld_wr.value = 1
        for offset, word in words:
            self.dut.ld_addr.value = self.window + offset
            self.dut.ld_wdata.value = word
            await RisingEdge(self.dut.clk)
        self.dut.ld_wr.value = 0
        await self.wait(2)

    async def table_word(self, offset: int) -> int:
        """Reads a table word back, as late as the host's window waits for it."""
        self.dut.ld_addr.value = self.window + offset
        self.dut.ld_rd.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.ld_rd.value = 0
        for _ in range(20):
            await FallingEdge(self.dut.clk)
            if self.dut.ld_rvalid.value == 1:
                value = int(self.dut.ld_rdata.value)
                await RisingEdge(self.dut.clk)
                return value
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"no answer from table word {offset:#x}")

    # --- Packet memory ------------------------------------------------------------------------------------------------

    async def store(self, offset: int, data: bytes) -> None:
        """Writes whole rows of packet memory; the bytes around `data` in the first and last row become random."""
        begin, end = offset // ROW * ROW, -(-(offset + len(data)) // ROW) * ROW
        rows = self.rng.randbytes(offset - begin) + data + self.rng.randbytes(end - offset - len(data))
        self.dut.mem_we.value = 1
        for at in range(0, len(rows), ROW):
            self.dut.mem_row.value = (begin + at) // ROW
            self.dut.mem_wdata.value = int.from_bytes(rows[at : at + ROW], "little")
            await RisingEdge(self.dut.clk)
        self.dut.mem_we.value = 0
