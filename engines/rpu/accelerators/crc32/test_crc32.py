# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""crc32 against zlib.crc32. PENSTOCK_SEED changes the ranges."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate
from penstock.regs import CRC32_ADDR, CRC32_CRC, CRC32_INITIAL, CRC32_LENGTH

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from accel_bus import CRC32, PMEM, PMEM_BYTES, SOURCES, Bus  # noqa: E402


class Crc(Bus):
    def __init__(self, dut: Any) -> None:
        super().__init__(dut, CRC32)

    async def begin(self, offset: int, length: int, initial: int = 0) -> None:
        await self.write(CRC32_INITIAL, initial)
        await self.write(CRC32_ADDR, PMEM + offset)
        await self.write(CRC32_LENGTH, length)

    async def crc_of(self, offset: int, length: int, initial: int = 0) -> int:
        await self.begin(offset, length, initial)
        return (await self.read(CRC32_CRC, 100 + 40 * (length // 64 + 2)))[0]


@cocotb.test()
async def published_values(dut: Any) -> None:
    """The check value of the CRC catalogue, and of an empty range; the frame check sequence leaves the residue."""
    bus = Crc(dut)
    await bus.start()
    await bus.store(7, b"123456789")
    assert await bus.crc_of(7, 9) == 0xCBF43926
    assert await bus.crc_of(7, 0) == 0
    frame = bus.rng.randbytes(60)
    await bus.store(10, frame + zlib.crc32(frame).to_bytes(4, "little"))
    assert await bus.crc_of(10, 64) == 0x2144DF1C


@cocotb.test()
async def every_alignment(dut: Any) -> None:
    """Each first byte of a row with each short length and some up to three rows, from the start and continued."""
    bus = Crc(dut)
    await bus.start()
    data = bus.rng.randbytes(320)
    await bus.store(0x4000, data)
    for first in range(64):
        for length in [*range(8), *bus.rng.sample(range(8, 192), 10)]:
            initial = bus.rng.choice([0, bus.rng.getrandbits(32)])
            want = zlib.crc32(data[first : first + length], initial)
            got = await bus.crc_of(0x4000 + first, length, initial)
            assert got == want, f"{length} bytes from {first} on: {got:#x}, expected {want:#x}"


@cocotb.test()
async def long_ranges(dut: Any) -> None:
    """Jumbo frames, also in two parts, while the host takes packet memory at times."""
    bus = Crc(dut)
    await bus.start()
    data = bus.rng.randbytes(20032)
    await bus.store(PMEM_BYTES - 20032, data)
    cocotb.start_soon(bus.disturb(0.5))
    for length in (16384, 20032, 1500, 9000):
        first = bus.rng.randrange(20032 - length + 1)
        want = zlib.crc32(data[first : first + length])
        assert await bus.crc_of(PMEM_BYTES - 20032 + first, length) == want
        part = bus.rng.randrange(length)
        begun = await bus.crc_of(PMEM_BYTES - 20032 + first, part)
        assert await bus.crc_of(PMEM_BYTES - 20032 + first + part, length - part, begun) == want


@cocotb.test()
async def a_new_start_forgets_the_old(dut: Any) -> None:
    """LENGTH written again in any cycle: the last range counts, and nothing is left of the others."""
    bus = Crc(dut)
    await bus.start()
    data = bus.rng.randbytes(4096)
    await bus.store(0, data)
    cocotb.start_soon(bus.disturb(0.2))
    for _ in range(300):
        for _ in range(bus.rng.randrange(1, 4)):
            first = bus.rng.randrange(3000)
            length = bus.rng.choice([0, 1, 20, 64, 300, 1000])
            await bus.begin(first, length)
            await bus.wait(bus.rng.randrange(40))
        want = zlib.crc32(data[first : first + length])
        assert (await bus.read(CRC32_CRC, 200))[0] == want
        await bus.wait(bus.rng.choice([0, 0, 40]))
        assert await bus.read(CRC32_CRC) == (want, 0)


@cocotb.test()
async def outside_packet_memory(dut: Any) -> None:
    """An error each, and the CRC of nothing."""
    bus = Crc(dut)
    await bus.start()
    for count, (address, length) in enumerate(
        [(PMEM - 1, 1), (PMEM + PMEM_BYTES, 0), (PMEM + PMEM_BYTES - 1, 2), (0x0080_0000, 20)], 1
    ):
        await bus.write(CRC32_INITIAL, 0x12345678)
        await bus.write(CRC32_ADDR, address)
        await bus.write(CRC32_LENGTH, length)
        assert (await bus.read(CRC32_CRC, 100))[0] == 0x12345678
        assert bus.errors == count, f"{length} bytes from {address:#x} on"


@cocotb.test()
async def cycles_to_the_crc(dut: Any) -> None:
    """A row a cycle, after a constant; short ranges at the end of a row take another row."""
    bus = Crc(dut)
    await bus.start()
    assert await bus.read(CRC32_CRC) == (0, 0)
    for rows in (1, 2, 24, 256):
        await bus.begin(0, rows * 64)
        _, held = await bus.read(CRC32_CRC, 1000)
        assert held == CYCLES + rows
    await bus.begin(62, 2)
    assert (await bus.read(CRC32_CRC, 1000))[1] == CYCLES + 2


CYCLES = 18  # crc32.sv: to the CRC, beside those of the rows


@pytest.mark.parametrize(
    "case",
    [
        "published_values",
        "every_alignment",
        "long_ranges",
        "a_new_start_forgets_the_old",
        "outside_packet_memory",
        "cycles_to_the_crc",
    ],
)
def test_crc32(case: str) -> None:
    simulate("accel_bench", SOURCES, "test_crc32", {"Accel": 31}, testcase=case)
