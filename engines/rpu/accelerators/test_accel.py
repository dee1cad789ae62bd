# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""accel.sv: pages and windows of the kinds, unused pages and windows, and packet memory shared by all accelerators that
read it at the same time.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from penstock import regs
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from accel_bus import CHECKSUM, CRC32, FLOW_HASH, IP_PREFIX, PMEM, SOURCES, STRING_MATCH, WINDOW, Bus

ALL = 0b11111


async def access(bus: Bus, address: int, *, write: bool) -> tuple[int, int, int]:
    """One cycle of an access: rd_valid, rdata and error in it."""
    dut = bus.dut
    dut.addr.value = address
    (dut.wr_en if write else dut.rd_en).value = 1
    await FallingEdge(dut.clk)
    seen = (int(dut.rd_valid.value), int(dut.rdata.value), int(dut.error.value))
    await RisingEdge(dut.clk)
    dut.wr_en.value = dut.rd_en.value = 0
    return seen


async def nobody_there(dut: Any, mask: int) -> None:
    """Unused registers raise an error, and a read gives 0 at once; unused tables read as empty and ignore writes."""
    bus = Bus(dut)
    await bus.start()
    pages = [kind << 8 for kind in range(5) if not mask >> kind & 1]
    for address in [*pages, *(page + 0xFC for page in pages), 0x500, 0xF00, 0x1000, 0x1100, 0x20_0000, 0x3F_FFFC]:
        assert await access(bus, address, write=False) == (1, 0, 1), f"{address:#x}"
        assert (await access(bus, address, write=True))[2] == 1
    await bus.wait(1)
    errors = bus.errors
    for kind in range(5):
        if mask >> kind & 1:
            assert (await access(bus, kind << 8, write=False))[::2] == (1, 0)
            assert (await access(bus, kind << 8 | 0xFC, write=True))[2] == 0
    await bus.wait(1)
    assert bus.errors == errors
    for window in range(16):
        if not mask >> window & 1:
            await bus.load([(window * WINDOW, 0x1234)])
            assert await bus.table_word(window * WINDOW) == 0


@cocotb.test()
async def nobody_at_all(dut: Any) -> None:
    await nobody_there(dut, 0)


@cocotb.test()
async def nobody_beside_one(dut: Any) -> None:
    await nobody_there(dut, 1)


@cocotb.test()
async def nobody_beside_all(dut: Any) -> None:
    await nobody_there(dut, ALL)


@cocotb.test()
async def tables_are_apart(dut: Any) -> None:
    """The same offset in each window, written and read back: no window changes another one."""
    bus = Bus(dut)
    await bus.start()
    tables = {IP_PREFIX: 0x11111111, FLOW_HASH: 0x22222222, STRING_MATCH: 0x33333333}
    for kind, word in tables.items():
        await bus.load([(kind * WINDOW + 4, word)])
    for kind in range(16):
        assert await bus.table_word(kind * WINDOW + 4) == tables.get(kind, 0)


@cocotb.test()
async def all_at_once(dut: Any) -> None:
    """All that read packet memory at the same time, under a host that takes it, too, are asked in any order: each gets
    its own rows.
    """
    bus = Bus(dut)
    await bus.start()
    await bus.load(
        [
            (STRING_MATCH * WINDOW + 16 * 0x61, 1),
            (STRING_MATCH * WINDOW + 0x1000, 1),
            (STRING_MATCH * WINDOW + 0x1010, 1),
        ]
    )
    await bus.load([(STRING_MATCH * WINDOW + 0x1040, 0x80)])
    data = bytes(bus.rng.choices(bytes([0x61, *range(0x80, 0x100)]), k=8192))
    await bus.store(0, data)
    cocotb.start_soon(bus.disturb(0.3))
    for _ in range(60):
        ranges: dict[int, tuple[int, int]] = {}
        starts = [CHECKSUM, CRC32, STRING_MATCH]
        bus.rng.shuffle(starts)
        for kind in starts:
            length = bus.rng.choice([5, 64, 200, 1000])
            ranges[kind] = (bus.rng.randrange(7000), length)
            # ADDR and LENGTH are the same registers in all three.
            await bus.write(kind * 0x100 + regs.CRC32_ADDR, PMEM + ranges[kind][0])
            await bus.write(kind * 0x100 + regs.CRC32_LENGTH, length)
            await bus.wait(bus.rng.choice([0, 0, 5]))
        bus.rng.shuffle(starts)
        results = {kind: (await bus.read(kind * 0x100 + 8, 3000))[0] for kind in starts}
        parts = {kind: data[first : first + length] for kind, (first, length) in ranges.items()}
        sums = parts[CHECKSUM] + bytes(len(parts[CHECKSUM]) % 2)
        total = sum(int.from_bytes(sums[n : n + 2], "little") for n in range(0, len(sums), 2))
        assert results[CHECKSUM] == (total - 1) % 0xFFFF + 1
        assert results[CRC32] == zlib.crc32(parts[CRC32])
        assert results[STRING_MATCH] == int(b"a" in parts[STRING_MATCH])
    assert bus.errors == 0


@pytest.mark.parametrize(
    ("mask", "case"),
    [
        (0, "nobody_at_all"),
        (1, "nobody_beside_one"),
        (ALL, "nobody_beside_all"),
        (ALL, "tables_are_apart"),
        (ALL, "all_at_once"),
    ],
)
def test_accel(mask: int, case: str) -> None:
    simulate("accel_bench", SOURCES, "test_accel", {"Accel": mask}, testcase=case)
