# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""bar_front: registers that always answer, a window into a card's address space, and cards that refuse, hang or are in
reset.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, Timer
from penstock import regs
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

WINDOW, ONES, TIMEOUT = 0x10000, 0xFFFFFFFF, 200


class Bench:
    """The host at one side and a card at the other: a memory by address, in which some addresses are refused and some
    never answer.
    """

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(7)
        self.memory: dict[int, int] = {}
        self.refused: set[int] = set()
        self.silent: set[int] = set()
        self.held = False  # an answer is kept back
        self.asked: list[tuple[str, int, int]] = []

    async def start(self) -> None:
        d = self.dut
        for name in ("awaddr", "awvalid", "wdata", "wvalid", "bready", "araddr", "arvalid", "rready"):
            getattr(d, f"s_axil_{name}").value = 0
        for name in ("awready", "wready", "bresp", "bvalid", "arready", "rdata", "rresp", "rvalid"):
            getattr(d, f"m_axil_{name}").value = 0
        d.rst_in.value = d.card_rst_in.value = 1
        cocotb.start_soon(Clock(d.clk, 8000, unit="ps").start())
        cocotb.start_soon(Clock(d.card_clk, 4002, unit="ps").start())
        await Timer(50, unit="ns")
        d.rst_in.value = d.card_rst_in.value = 0
        await Timer(200, unit="ns")
        await FallingEdge(d.clk)
        cocotb.start_soon(self._card())

    async def _card(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.card_clk)
            write, read = int(d.m_axil_awvalid.value), int(d.m_axil_arvalid.value)
            if not write and not read:
                continue
            for _ in range(self.rng.randrange(4)):
                await FallingEdge(d.card_clk)
            address = int((d.m_axil_awaddr if write else d.m_axil_araddr).value)
            value = int(d.m_axil_wdata.value)
            self.asked.append(("write", address, value) if write else ("read", address, 0))
            if write:
                assert int(d.m_axil_wvalid.value) and int(d.m_axil_wstrb.value) == 15
                d.m_axil_awready.value = d.m_axil_wready.value = 1
            else:
                d.m_axil_arready.value = 1
            await FallingEdge(d.card_clk)
            d.m_axil_awready.value = d.m_axil_wready.value = d.m_axil_arready.value = 0
            if address in self.silent:
                self.held = True
                while self.held:
                    await FallingEdge(d.card_clk)
                if self.held is None:
                    continue
            error = 2 if address in self.refused else 0
            if write and not error:
                self.memory[address] = value
            d.m_axil_bresp.value = d.m_axil_rresp.value = error
            d.m_axil_rdata.value = self.memory.get(address, 0)
            d.m_axil_bvalid.value, d.m_axil_rvalid.value = write, read
            await ReadOnly()
            while not int(d.m_axil_bready.value):
                await FallingEdge(d.card_clk)
                await ReadOnly()
            await FallingEdge(d.card_clk)
            d.m_axil_bvalid.value = d.m_axil_rvalid.value = 0

    async def _access(self, write: bool, offset: int, value: int = 0) -> int:
        d = self.dut
        address, valids = offset | 0x0020_0000, ["awvalid", "wvalid"] if write else ["arvalid"]
        d.s_axil_awaddr.value = d.s_axil_araddr.value = address
        d.s_axil_wdata.value = value
        for name in valids:
            getattr(d, f"s_axil_{name}").value = 1
        (d.s_axil_bready if write else d.s_axil_rready).value = 1
        for _ in range(2 * TIMEOUT):
            await ReadOnly()
            taken = [name for name in valids if int(getattr(d, f"s_axil_{name[:-5]}ready").value)]
            done = int((d.s_axil_bvalid if write else d.s_axil_rvalid).value)
            result = int(d.s_axil_rdata.value) if done else 0
            assert not int(d.s_axil_bresp.value) and not int(d.s_axil_rresp.value)
            await FallingEdge(d.clk)
            for name in taken:
                getattr(d, f"s_axil_{name}").value = 0
            if done:
                d.s_axil_bready.value = d.s_axil_rready.value = 0
                return result
        raise AssertionError(f"no answer for {offset:#x}")

    async def read(self, offset: int) -> int:
        return await self._access(False, offset)

    async def write(self, offset: int, value: int) -> None:
        await self._access(True, offset, value)

    async def counts(self) -> tuple[int, int]:
        return await self.read(regs.BAR_ERRORS), await self.read(regs.BAR_TIMEOUTS)


@cocotb.test()
async def identity(dut: Any) -> None:
    """The registers say who the card is; those that are not there, and writes to those that are
    fixed, count as errors.
    """
    b = Bench(dut)
    await b.start()
    words = [await b.read(regs.BAR_DESIGN + 4 * i) for i in range(4)]
    assert words == [0x00112233, 0x44556677, 0x8899AABB, 0xCCDDEEFF]
    assert (await b.read(regs.BAR_MAGIC), await b.read(regs.BAR_VERSION)) == (0x504E4650, 0x20000)
    assert (await b.read(regs.BAR_SHELL)).to_bytes(4, "big") == b"TEST" and await b.read(regs.BAR_SHAPE) == 0x10402
    assert await b.read(regs.BAR_STATUS) == 0x201
    for port in (0, 1):
        base = regs.BAR_PORT_BASE + port * regs.BAR_PORT_STRIDE
        assert await b.read(base + regs.BAR_PORT_RX_LOST) == 11 + port
        assert await b.read(base + regs.BAR_PORT_TX_LOST) == 21 + port
    assert await b.counts() == (0, 0)
    for number, offset in enumerate((0x34, 0x50, 0xFFC, 0xFFFC, 0x20000, 0xF0000), 1):
        assert await b.read(offset) == ONES and await b.counts() == (number, 0)
    await b.write(regs.BAR_MAGIC, 1)
    assert await b.counts() == (7, 0) and await b.read(regs.BAR_MAGIC) == 0x504E4650
    assert not b.asked


@cocotb.test()
async def window(dut: Any) -> None:
    """Words go through the window to the address in PAGE, each once and in order; refusals of the card are counted."""
    b = Bench(dut)
    await b.start()
    b.refused = {0x40000018}
    expected = []
    for page in (0, 0x4000, 0x4001, 0xFFFF):
        await b.write(regs.BAR_PAGE, page)
        assert await b.read(regs.BAR_PAGE) == page
        for low in (0, 4, 0x18, 0x8000, 0xFFFC):
            address, value = page << 16 | low, b.rng.getrandbits(32)
            await b.write(WINDOW | low, value)
            got = await b.read(WINDOW | low)
            assert got == (ONES if address in b.refused else value)
            expected += [("write", address, value), ("read", address, 0)]
    assert b.asked == expected and await b.counts() == (2, 0)


@cocotb.test()
async def a_card_that_hangs(dut: Any) -> None:
    """It costs one access the time; until it answers, others fail at once; its late answer is nobody else's."""
    b = Bench(dut)
    await b.start()
    b.memory, b.silent = {0: 0x1111, 4: 0x2222}, {0}
    assert await b.read(WINDOW) == ONES and await b.counts() == (1, 1)
    for number in (2, 3):
        assert await b.read(WINDOW | 4) == ONES and await b.counts() == (number, number)
    assert await b.read(regs.BAR_MAGIC) == 0x504E4650
    b.held = False
    await Timer(300, unit="ns")
    await FallingEdge(dut.clk)
    assert await b.read(WINDOW | 4) == 0x2222 and await b.counts() == (3, 3)
    assert [address for _, address, _ in b.asked] == [0, 4]


@cocotb.test()
async def resets(dut: Any) -> None:
    """The host resets the card, for a while; a card in reset counts as one that does not answer,
    and works afterwards.
    """
    b = Bench(dut)
    await b.start()
    b.memory = {8: 0x3333}
    await b.write(regs.BAR_RESET, 0)
    assert not int(dut.card_reset.value)
    await b.write(regs.BAR_RESET, 1)
    cycles = 0
    while int(dut.card_reset.value) or cycles == 0:
        await FallingEdge(dut.clk)
        cycles += 1
        assert cycles < 400
    assert 200 < cycles
    dut.card_rst_in.value = 1
    await Timer(200, unit="ns")
    await FallingEdge(dut.clk)
    assert await b.read(regs.BAR_STATUS) == 0x200
    assert await b.read(WINDOW | 8) == ONES and await b.counts() == (1, 1) and not b.asked
    dut.card_rst_in.value = 0
    await Timer(300, unit="ns")
    await FallingEdge(dut.clk)
    assert await b.read(regs.BAR_STATUS) == 0x201 and await b.read(WINDOW | 8) == 0x3333 and await b.counts() == (1, 1)


@pytest.mark.parametrize("late", [(), ("PENSTOCK_METASTABLE",)])
def test_bar(late: tuple[str, ...]) -> None:
    simulate(
        "bar_bench",
        [
            "shell/cards/lib/lib.f",
            "shell/cards/regs/bar_regs_pkg.sv",
            "shell/cards/lib/bar_front.sv",
            "shell/cards/tests/bar_bench.sv",
        ],
        "test_bar",
        defines=late,
    )
