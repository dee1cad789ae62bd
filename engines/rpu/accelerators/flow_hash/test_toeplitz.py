# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""flow_hash against Toeplitz in plain Python and the vectors that Microsoft published ("Verifying the RSS hash
calculation").
"""

from __future__ import annotations

import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate
from penstock.regs import FLOW_HASH_CLEAR, FLOW_HASH_HASH, FLOW_HASH_PUSH1, FLOW_HASH_PUSH2, FLOW_HASH_PUSH4

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from accel_bus import FLOW_HASH, SOURCES, Bus  # noqa: E402

KEY = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"  # the one of the vectors
)

# Source and port, destination and port, hash of the addresses, hash of addresses and ports.
VECTORS = [
    ("66.9.149.187", 2794, "161.142.100.80", 1766, 0x323E8FC2, 0x51CCC178),
    ("199.92.111.2", 14230, "65.69.140.83", 4739, 0xD718262A, 0xC626B0EA),
    ("24.19.198.95", 12898, "12.22.207.184", 38024, 0xD2D0A5DE, 0x5C2B394A),
    ("38.27.205.30", 48228, "209.142.163.6", 2217, 0x82989176, 0xAFC7327F),
    ("153.39.163.191", 44251, "202.188.127.2", 1303, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2CC18CD5, 0x40207D3D),
    ("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0F0C461C, 0xDDE51BBF),
    ("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x4B61E985, 0x02D1FEEF),
]


def toeplitz(key: bytes, data: bytes) -> int:
    """Bit by bit; zeros follow the key."""
    bits = int.from_bytes(key, "big") << 8 * len(data)
    width = 8 * (len(key) + len(data))
    hash_ = 0
    for n in range(8 * len(data)):
        if data[n // 8] >> (7 - n % 8) & 1:
            hash_ ^= bits >> (width - 32 - n) & 0xFFFFFFFF
    return hash_


class Hash(Bus):
    def __init__(self, dut: Any) -> None:
        super().__init__(dut, FLOW_HASH)

    async def push(self, data: bytes, sizes: tuple[int, ...] = (4,)) -> None:
        """Pushes in pieces of random sizes out of these, as many as fit."""
        while data:
            size = self.rng.choice([size for size in sizes if size <= len(data)])
            piece, data = data[:size], data[size:]
            noise = self.rng.getrandbits(32) << 8 * size & 0xFFFFFFFF
            register = {1: FLOW_HASH_PUSH1, 2: FLOW_HASH_PUSH2, 4: FLOW_HASH_PUSH4}[size]
            await self.write(register, int.from_bytes(piece, "little") | noise)

    async def hash_of(self, data: bytes, sizes: tuple[int, ...] = (4,)) -> int:
        await self.write(FLOW_HASH_CLEAR, 0)
        await self.push(data, sizes)
        return (await self.read(FLOW_HASH_HASH))[0]

    async def load_key(self, key: bytes) -> None:
        await self.load((at, int.from_bytes(key[at : at + 4], "little")) for at in range(0, 40, 4))


@cocotb.test()
async def published_vectors(dut: Any) -> None:
    bus = Hash(dut)
    await bus.start()
    for source, sport, target, dport, of_addresses, of_all in VECTORS:
        addresses = ip_address(source).packed + ip_address(target).packed
        ports = sport.to_bytes(2, "big") + dport.to_bytes(2, "big")
        assert toeplitz(KEY, addresses) == of_addresses and toeplitz(KEY, addresses + ports) == of_all
        assert await bus.hash_of(addresses) == of_addresses
        # The hash continues.
        await bus.push(ports, (2, 4))
        assert (await bus.read(FLOW_HASH_HASH))[0] == of_all


@cocotb.test()
async def any_bytes_in_any_pieces(dut: Any) -> None:
    """Up to the limit of the key and beyond, and with other keys, which take effect at the next CLEAR."""
    bus = Hash(dut)
    await bus.start()
    key = KEY
    for n in range(300):
        data = bus.rng.randbytes(bus.rng.choice([0, 1, 12, 36, 40, 44, bus.rng.randrange(60)]))
        assert await bus.hash_of(data, (1, 2, 4)) == toeplitz(key, data), f"{data.hex()} with {key.hex()}"
        if n % 20 == 0:
            key = bus.rng.randbytes(40)
            await bus.load_key(key)
            for at in range(0, 40, 4):
                assert await bus.table_word(at) == int.from_bytes(key[at : at + 4], "little")
            assert await bus.table_word(40) == await bus.table_word(0xFFFC0) == 0


@cocotb.test()
async def a_word_a_cycle(dut: Any) -> None:
    """No push waits; the hash holds the core for one cycle after the last."""
    bus = Hash(dut)
    await bus.start()
    assert (await bus.read(FLOW_HASH_HASH))[0] == 0
    data = bus.rng.randbytes(36)
    await bus.write(FLOW_HASH_CLEAR, 1)
    await bus.push(data)
    assert await bus.read(FLOW_HASH_HASH) == (toeplitz(KEY, data), 1)
    assert await bus.read(FLOW_HASH_HASH) == (toeplitz(KEY, data), 0)
    await bus.write(FLOW_HASH_CLEAR, 1)
    assert await bus.read(FLOW_HASH_HASH) == (0, 1)
    for register in (FLOW_HASH_CLEAR, FLOW_HASH_PUSH1, 0x14, 0xFC):
        assert await bus.read(register) == (0, 0)
    # Stores elsewhere push nothing.
    await bus.write(FLOW_HASH_HASH, 1)
    await bus.write(0x14, 1)
    assert (await bus.read(FLOW_HASH_HASH))[0] == 0
    assert bus.errors == 0


@pytest.mark.parametrize("case", ["published_vectors", "any_bytes_in_any_pieces", "a_word_a_cycle"])
def test_flow_hash(case: str) -> None:
    simulate("accel_bench", SOURCES, "test_toeplitz", {"Accel": 31}, testcase=case)
