# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""checksum against RFC 1071 in plain Python and against the checksums that Scapy puts into headers. PENSTOCK_SEED
changes the ranges.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate
from penstock.regs import CHECKSUM_ADDR, CHECKSUM_INITIAL, CHECKSUM_LENGTH, CHECKSUM_SUM
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from accel_bus import CHECKSUM, PMEM, PMEM_BYTES, SOURCES, Bus  # noqa: E402


def rfc1071(data: bytes, initial: int = 0) -> int:
    """The sum as RFC 1071 defines it, over 16-bit words in memory order; `initial` in the same order."""
    total = initial + sum(data[::2]) + 256 * sum(data[1::2])
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Checksum(Bus):
    def __init__(self, dut: Any) -> None:
        super().__init__(dut, CHECKSUM)

    async def begin(self, offset: int, length: int, initial: int = 0) -> None:
        await self.write(CHECKSUM_INITIAL, initial)
        await self.write(CHECKSUM_ADDR, PMEM + offset)
        await self.write(CHECKSUM_LENGTH, length)

    async def sum_of(self, offset: int, length: int, initial: int = 0) -> int:
        await self.begin(offset, length, initial)
        return (await self.read(CHECKSUM_SUM, 100 + 40 * (length // 64 + 2)))[0]


@cocotb.test()
async def every_alignment(dut: Any) -> None:
    """Each first byte of a row with each length up to three rows, of bytes with many carries."""
    bus = Checksum(dut)
    await bus.start()
    data = bytes(bus.rng.choice([0, 0xFF, 0xFE, 1, bus.rng.randrange(256)]) for _ in range(320))
    await bus.store(0x4000, data)
    for first in range(64):
        for length in [*range(6), *bus.rng.sample(range(6, 192), 12)]:
            initial = bus.rng.choice([0, 0xFFFF, bus.rng.getrandbits(16), bus.rng.getrandbits(32)])
            want = rfc1071(data[first : first + length], initial)
            assert await bus.sum_of(0x4000 + first, length, initial) == want, f"{length} bytes from {first} on"


@cocotb.test()
async def long_ranges(dut: Any) -> None:
    """Up to the whole of packet memory, whose sum needs all bits, while the host takes packet memory at times."""
    bus = Checksum(dut)
    await bus.start()
    await bus.store(0, b"\xff" * PMEM_BYTES)
    assert await bus.sum_of(0, PMEM_BYTES, 0xFFFF_FFFF) == 0xFFFF
    # A total of 0x1FFFF_FFFF, which carries in each of the folds.
    assert await bus.sum_of(0, 131076, 0xFFFF_0001) == rfc1071(b"\xff" * 131076, 0xFFFF_0001) == 1
    data = bus.rng.randbytes(20000)
    await bus.store(PMEM_BYTES - 20032, data + bytes(32))
    cocotb.start_soon(bus.disturb(0.5))
    for length in (16384, 19999, 1500):
        first = bus.rng.randrange(20000 - length + 1)
        assert await bus.sum_of(PMEM_BYTES - 20032 + first, length) == rfc1071(data[first : first + length])
    assert await bus.sum_of(PMEM_BYTES - 1, 1) == 0


@cocotb.test()
async def headers(dut: Any) -> None:
    """IPv4 headers and TCP segments with the checksums that Scapy gave them sum up to 0xFFFF; repaired ones are Scapy's
    again.
    """
    bus = Checksum(dut)
    await bus.start()
    for n in range(20):
        payload = bus.rng.randbytes(bus.rng.randrange(100))
        source, target = (f"10.{n}.{bus.rng.randrange(256)}.{bus.rng.randrange(1, 255)}" for _ in range(2))
        frame = bytes(Ether() / IP(src=source, dst=target, ttl=n + 1) / TCP(sport=n, dport=80) / payload)
        at = 10 + 64 * bus.rng.randrange(100)
        await bus.store(at, frame)
        assert await bus.sum_of(at + 14, 20) == 0xFFFF
        segment = frame[34:]
        pseudo = frame[26:34] + b"\0\6" + len(segment).to_bytes(2, "big")
        assert await bus.sum_of(at + 34, len(segment), rfc1071(pseudo)) == 0xFFFF
        blank = frame[:50] + b"\0\0" + frame[52:]
        await bus.store(at, blank)
        repaired = ~await bus.sum_of(at + 34, len(segment), rfc1071(pseudo)) & 0xFFFF
        assert repaired.to_bytes(2, "little") == frame[50:52]


@cocotb.test()
async def a_new_start_forgets_the_old(dut: Any) -> None:
    """LENGTH written again in any cycle: the last range counts, and nothing is left of the others."""
    bus = Checksum(dut)
    await bus.start()
    data = bus.rng.randbytes(4096)
    await bus.store(0, data)
    cocotb.start_soon(bus.disturb(0.2))
    for _ in range(300):
        for _ in range(bus.rng.randrange(1, 4)):
            first = bus.rng.randrange(3000)
            length = bus.rng.choice([0, 1, 20, 64, 300, 1000])
            await bus.begin(first, length)
            await bus.wait(bus.rng.randrange(30))
        want = rfc1071(data[first : first + length])
        assert (await bus.read(CHECKSUM_SUM, 200))[0] == want
        await bus.wait(bus.rng.choice([0, 0, 30]))
        assert await bus.read(CHECKSUM_SUM) == (want, 0)


@cocotb.test()
async def outside_packet_memory(dut: Any) -> None:
    """An error each, and a sum of nothing but INITIAL."""
    bus = Checksum(dut)
    await bus.start()
    await bus.store(PMEM_BYTES - 64, b"\x11" * 64)
    for count, (address, length) in enumerate(
        [
            (PMEM - 1, 1),
            (PMEM + PMEM_BYTES, 0),
            (PMEM + PMEM_BYTES - 1, 2),
            (PMEM, PMEM_BYTES + 1),
            (PMEM + 64, 0xFFFF_FFFF),
            (PMEM, 0x0020_0000),
            (0x0080_0000, 20),
            (0x8100_0000, 20),
        ],
        1,
    ):
        await bus.write(CHECKSUM_INITIAL, 0x1234)
        await bus.write(CHECKSUM_ADDR, address)
        await bus.write(CHECKSUM_LENGTH, length)
        assert (await bus.read(CHECKSUM_SUM, 100))[0] == 0x1234
        assert bus.errors == count, f"{length} bytes from {address:#x} on"
    for address, length in [(PMEM + PMEM_BYTES - 64, 64), (PMEM + PMEM_BYTES - 1, 1), (PMEM, 0)]:
        await bus.write(CHECKSUM_ADDR, address)
        await bus.write(CHECKSUM_LENGTH, length)
        await bus.read(CHECKSUM_SUM, 100)
    assert bus.errors == 8


@cocotb.test()
async def cycles_to_the_sum(dut: Any) -> None:
    """A row a cycle, after a constant."""
    bus = Checksum(dut)
    await bus.start()
    assert await bus.read(CHECKSUM_SUM) == (0, 0)
    for rows in (1, 2, 24, 256):
        await bus.begin(0, rows * 64)
        _, held = await bus.read(CHECKSUM_SUM, 1000)
        assert held == CYCLES + rows


CYCLES = 13  # checksum.sv: to the sum, beside those of the rows


@pytest.mark.parametrize(
    "case",
    [
        "every_alignment",
        "long_ranges",
        "headers",
        "a_new_start_forgets_the_old",
        "outside_packet_memory",
        "cycles_to_the_sum",
    ],
)
def test_checksum(case: str) -> None:
    simulate("accel_bench", SOURCES, "test_checksum", {"Accel": 31}, testcase=case)
