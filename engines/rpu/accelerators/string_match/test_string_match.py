# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""string_match against bytes.find. The table is written here, from string_match.sv's description alone. PENSTOCK_SEED
changes it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate
from penstock.regs import STRING_MATCH_ADDR, STRING_MATCH_END, STRING_MATCH_FOUND, STRING_MATCH_LENGTH

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from accel_bus import PMEM, PMEM_BYTES, SOURCES, STRING_MATCH, Bus  # noqa: E402

FIRSTS, LASTS, ENDS = 0x1000, 0x1010, 0x1040
PLACES, PATTERNS = 128, 16


@dataclass
class Patterns:
    """Patterns, and whether capitals matter in each."""

    patterns: list[tuple[bytes, bool]]

    def words(self) -> Iterator[tuple[int, int]]:
        allowed = [0] * 256
        firsts = lasts = place = 0
        ends = [0] * PATTERNS
        for n, (pattern, nocase) in enumerate(self.patterns):
            firsts |= 1 << place
            for byte in pattern:
                for case in {byte, *(bytes([byte]).swapcase() if nocase else b"")}:
                    allowed[case] |= 1 << place
                place += 1
            lasts |= 1 << place - 1
            ends[n] = 0x80 | place - 1
        assert place <= PLACES
        rows = [(16 * byte, places) for byte, places in enumerate(allowed)]
        for base, places in [*rows, (FIRSTS, firsts), (LASTS, lasts)]:
            yield from ((base + 4 * w, places >> 32 * w & 0xFFFFFFFF) for w in range(4))
        yield from ((ENDS + 4 * n, end) for n, end in enumerate(ends))

    def search(self, data: bytes) -> tuple[int, int]:
        """Patterns found, and the end of the occurrence that ends first."""
        found, ends = 0, []
        for n, (pattern, nocase) in enumerate(self.patterns):
            at = data.lower().find(pattern.lower()) if nocase else data.find(pattern)
            if at >= 0:
                found |= 1 << n
                ends.append(at + len(pattern))
        return found, min(ends, default=0)


def random_patterns(rng: random.Random, alphabet: bytes) -> Patterns:
    """As many as fit, of all lengths, many of them parts of each other."""
    patterns: list[tuple[bytes, bool]] = []
    room = PLACES
    while room and len(patterns) < PATTERNS:
        pattern = bytes(rng.choices(alphabet, k=rng.choice([1, 2, 3, 4, 5, 8, 13, 32])))
        if patterns and rng.random() < 0.3:
            pattern = rng.choice(patterns)[0][rng.randrange(2) :] + pattern[:2]
        pattern = (pattern or alphabet)[: min(room, 32)]
        patterns.append((pattern, rng.random() < 0.3))
        room -= len(pattern)
    return Patterns(patterns)


class Match(Bus):
    def __init__(self, dut: Any) -> None:
        super().__init__(dut, STRING_MATCH)

    async def begin(self, offset: int, length: int) -> None:
        await self.write(STRING_MATCH_ADDR, PMEM + offset)
        await self.write(STRING_MATCH_LENGTH, length)

    async def result(self, most: int = 500) -> tuple[int, int]:
        registers = [STRING_MATCH_FOUND, STRING_MATCH_END]
        self.rng.shuffle(registers)
        answers = {register: (await self.read(register, most))[0] for register in registers}
        return answers[STRING_MATCH_FOUND], answers[STRING_MATCH_END]

    async def search(self, offset: int, length: int) -> tuple[int, int]:
        await self.begin(offset, length)
        return await self.result(200 + length)


@cocotb.test()
async def every_place_and_byte(dut: Any) -> None:
    """One pattern with all 128 places' worth of ranges: found wherever it lies, not when a byte of it is missing at
    either end.
    """
    bus = Match(dut)
    await bus.start()
    assert await bus.result() == (0, 0)
    assert await bus.search(0, 64) == (0, 0)
    # The last one is the padding of accel_rows.sv around the range.
    patterns = Patterns([(b"needle", False), (b"N", False), (b"x" * 32, False), (b"edl", False), (b"\0", False)])
    await bus.load(patterns.words())
    for first in range(64):
        data = b"n" * first + b"needle" + b"neeedle" * 3
        await bus.store(0x2000, data)
        assert await bus.search(0x2000, len(data)) == (0b1001, first + 5)
        assert await bus.search(0x2000 + first, 6) == (0b1001, 5)
        assert await bus.search(0x2000 + first + 1, 5) == (0b1000, 4)
        assert await bus.search(0x2000 + first + 3, 2) == (0, 0)
        assert await bus.search(0x2000 + first, 0) == (0, 0)


@cocotb.test()
async def random_texts(dut: Any) -> None:
    """Random patterns in texts made of their letters, in ranges of any alignment, the host taking cycles of memory and
    table.
    """
    bus = Match(dut)
    await bus.start()
    cocotb.start_soon(bus.disturb(0.3))
    hits = 0
    for n in range(12):
        alphabet = [b"ab", b"abcABC", bytes(bus.rng.randbytes(4)), bytes(range(256))][n % 4]
        patterns = random_patterns(bus.rng, alphabet)
        words = dict(patterns.words())
        await bus.load(words.items())
        data = bytes(bus.rng.choices(alphabet, k=2048))
        for _ in range(6):
            at = bus.rng.randrange(2000)
            pattern = bus.rng.choice(patterns.patterns)[0]
            data = data[:at] + pattern + data[at + len(pattern) :]
        data = data[:2048]
        await bus.store(PMEM_BYTES - 2048, data)
        for _ in range(25):
            length = bus.rng.choice([1, 4, 40, 64, 128, 500])
            first = bus.rng.randrange(2048 - length + 1)
            await bus.begin(PMEM_BYTES - 2048 + first, length)
            for _ in range(bus.rng.randrange(4)):
                offset = bus.rng.choice([*words, 0x1020, 0x1080, 0x2000, 0xFFFFC])
                assert await bus.table_word(offset) == words.get(offset, 0), f"table word {offset:#x}"
                await bus.wait(bus.rng.randrange(4))
            got, want = await bus.result(2000), patterns.search(data[first : first + length])
            assert got == want, f"{patterns} in {data[first : first + length]!r}: {got}, expected {want}"
            hits += want[0] != 0
    assert 50 < hits < 290, "texts that do not test both verdicts"
    for offset, word in words.items():
        assert await bus.table_word(offset) == word


@cocotb.test()
async def the_last_place_and_sixteen_patterns(dut: Any) -> None:
    """A full table: each pattern alone is found under its number."""
    bus = Match(dut)
    await bus.start()
    patterns = Patterns(
        [(bytes([97 + n, 97 - n % 3, 65 + n]) * 2 + bytes([n, 255 - n]), n % 2 == 0) for n in range(16)]
    )
    assert sum(len(pattern) for pattern, _ in patterns.patterns) == PLACES
    await bus.load(patterns.words())
    for n, (pattern, _) in enumerate(patterns.patterns):
        await bus.store(3, pattern.swapcase() if n % 2 == 0 else pattern)
        assert await bus.search(3, len(pattern)) == (1 << n, len(pattern))
    whole = b"".join(pattern for pattern, _ in patterns.patterns)
    await bus.store(1, whole)
    assert await bus.search(1, len(whole)) == (0xFFFF, 8)


@cocotb.test()
async def a_new_start_forgets_the_old(dut: Any) -> None:
    """LENGTH written again in any cycle: the last range counts, and nothing is left of the others."""
    bus = Match(dut)
    await bus.start()
    patterns = Patterns([(b"abc", False), (b"ca", False), (b"bbbb", False)])
    await bus.load(patterns.words())
    data = bytes(bus.rng.choices(b"abcd", k=4096))
    await bus.store(0, data)
    cocotb.start_soon(bus.disturb(0.2))
    for _ in range(300):
        for _ in range(bus.rng.randrange(1, 4)):
            first = bus.rng.randrange(3900)
            length = bus.rng.choice([0, 1, 3, 9, 20, 64, 100])
            await bus.begin(first, length)
            await bus.wait(bus.rng.randrange(60))
        want = patterns.search(data[first : first + length])
        assert await bus.result() == want
        await bus.wait(bus.rng.choice([0, 0, 60]))
        assert await bus.result() == want


@cocotb.test()
async def outside_packet_memory(dut: Any) -> None:
    """An error each, and nothing found."""
    bus = Match(dut)
    await bus.start()
    await bus.load(Patterns([(b"a", False)]).words())
    await bus.store(PMEM_BYTES - 64, b"a" * 64)
    for count, (address, length) in enumerate([(PMEM + PMEM_BYTES - 1, 2), (PMEM + PMEM_BYTES, 0), (PMEM - 1, 2)], 1):
        await bus.write(STRING_MATCH_ADDR, address)
        await bus.write(STRING_MATCH_LENGTH, length)
        assert await bus.result() == (0, 0)
        assert bus.errors == count
    assert await bus.search(PMEM_BYTES - 1, 1) == (1, 1)
    assert bus.errors == 3


@cocotb.test()
async def four_bytes_a_cycle(dut: Any) -> None:
    """Nothing found: the time of the words; else that of sixteen patterns more."""
    bus = Match(dut)
    await bus.start()
    await bus.load(Patterns([(b"a", False)]).words())
    await bus.store(0, b"b" * 16384)
    for rows in (1, 2, 24, 256):
        await bus.begin(0, rows * 64)
        _, held = await bus.read(STRING_MATCH_FOUND, 6000)
        assert held == CYCLES + 16 * rows
    await bus.store(0, b"a" * 64)
    await bus.begin(0, 64)
    assert (await bus.read(STRING_MATCH_FOUND, 6000))[1] == CYCLES + 16 + FOUND_CYCLES


CYCLES, FOUND_CYCLES = 14, 17  # string_match.sv: beside those of the words; when something is found


@pytest.mark.parametrize(
    "case",
    [
        "every_place_and_byte",
        "random_texts",
        "the_last_place_and_sixteen_patterns",
        "a_new_start_forgets_the_old",
        "outside_packet_memory",
        "four_bytes_a_cycle",
    ],
)
def test_string_match(case: str) -> None:
    simulate("accel_bench", SOURCES, "test_string_match", {"Accel": 31}, testcase=case)
