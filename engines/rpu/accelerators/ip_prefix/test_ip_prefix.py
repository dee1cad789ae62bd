# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""ip_prefix against longest match in plain Python, on random and adversarial tables.

The tables are compiled here, from docs/architecture.md alone. PENSTOCK_SEED changes the random ones.
"""

from __future__ import annotations

import bisect
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import cocotb
import pytest
from penstock.hdl import simulate

# The simulator imports this file by its name.
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from accel_bus import SOURCES, Bus  # noqa: E402

ADDR, CLASS, PASS_MASK = 0x00, 0x04, 0x08  # ip_prefix.rdl
KEYS, CLASSES, BELOW = 0x00000, 0x08000, 0x10000  # docs/architecture.md
INTERVALS = 8192
TOP = 0xFFFFFFFF


# --- Longest match, and tables for it ---------------------------------------------------------------------------------


class Prefixes:
    """Prefixes with their classes; of equal prefixes the last one counts."""

    def __init__(self, entries: list[tuple[IPv4Network, int]]) -> None:
        self.by_network = dict(entries)
        self.lengths = sorted({network.prefixlen for network in self.by_network}, reverse=True)
        self.by_length: dict[int, dict[int, int]] = {length: {} for length in self.lengths}
        for network, number in self.by_network.items():
            self.by_length[network.prefixlen][int(network.network_address)] = number

    def class_of(self, address: int) -> int:
        for length in self.lengths:
            found = self.by_length[length].get(address >> (32 - length) << (32 - length))
            if found is not None:
                return found
        return 0

    def edges(self) -> set[int]:
        """First and last address of each prefix, and their neighbours."""
        ends = {int(a) for network in self.by_network for a in (network.network_address, network.broadcast_address)}
        return {a + d for a in ends for d in (-1, 0, 1) if 0 <= a + d <= TOP}


@dataclass
class Table:
    """The words that the host writes: interval starts, their classes, the class below the first start."""

    keys: list[int]
    classes: list[int]
    below: int = 0

    def words(self) -> Iterator[tuple[int, int]]:
        assert len(self.keys) == len(self.classes) <= INTERVALS
        unused = INTERVALS - len(self.keys)
        last = self.classes[-1] if self.classes else self.below
        yield from ((KEYS + 4 * i, key) for i, key in enumerate(self.keys + [TOP] * unused))
        yield from ((CLASSES + 4 * i, number) for i, number in enumerate(self.classes + [last] * unused))
        yield BELOW, self.below

    def class_of(self, address: int) -> int:
        """Class of the last interval that starts at or below `address`."""
        starts = bisect.bisect_right(self.keys, address)
        return self.classes[starts - 1] if starts else self.below


def compiled(prefixes: Prefixes, *, key_at_zero: bool) -> Table:
    """The table of `prefixes`; an interval from address 0 on is a key or, with `key_at_zero` false, the class below the
    keys.
    """
    starts = {int(network.network_address) for network in prefixes.by_network}
    starts |= {int(network.broadcast_address) + 1 for network in prefixes.by_network}
    table = Table([], [])
    for start in sorted(starts - {TOP + 1}):
        number = prefixes.class_of(start)
        if start == 0 and not key_at_zero:
            table.below = number
        elif number != (table.classes[-1] if table.classes else table.below):
            table.keys.append(start)
            table.classes.append(number)
    return table


def net(text: str) -> IPv4Network:
    return IPv4Network(text)


def random_prefixes(rng: random.Random, count: int) -> Prefixes:
    """Prefixes of all lengths; half of them inside or beside an earlier one."""
    entries: list[tuple[IPv4Network, int]] = []
    for _ in range(count):
        address, length = (
            rng.getrandbits(32),
            min(32, rng.choice([0, 8, 12, 16, 20, 24, 24, 28, 32]) + rng.randrange(4)),
        )
        if entries and rng.random() < 0.5:
            near = rng.choice(entries)[0]
            address = (int(near.network_address) + rng.choice([0, 1, -1]) * near.num_addresses) % 2**32
            length = min(32, near.prefixlen + rng.randrange(6))
        entries.append((IPv4Network((address, length), strict=False), rng.randrange(16)))
    return Prefixes(entries)


def adversarial() -> Iterator[Prefixes]:
    """Tables at the edges of the search tree or of the address space."""
    yield Prefixes([(net("0.0.0.0/0"), 9)])
    yield Prefixes([(net("255.255.255.255/32"), 3)])
    yield Prefixes([(net("0.0.0.0/32"), 3)])
    yield Prefixes(
        [(net("0.0.0.0/0"), 1), (net("255.255.255.255/32"), 15), (net("0.0.0.0/32"), 7), (net("128.0.0.0/1"), 0)]
    )
    # Nested from /0 to /32, towards both ends and into the middle.
    for inner in ("0.0.0.0", "255.255.255.255", "170.85.170.85"):
        yield Prefixes([(IPv4Network((inner, length), strict=False), 1 + length % 15) for length in range(33)])
    # Adjacent: 4,096 neighbours that fill a /16.
    yield Prefixes([(subnet, 1 + n % 15) for n, subnet in enumerate(net("10.20.0.0/16").subnets(new_prefix=28))])
    # 4,096 prefixes in a /16 with a gap after each: all 8,192 intervals.
    gaps = list(net("203.0.0.0/16").subnets(new_prefix=29))[::2]
    yield Prefixes([(subnet, 1 + n % 15) for n, subnet in enumerate(gaps)])
    # The same at the end of the address space, its last addresses among them.
    gaps = list(net("255.255.0.0/16").subnets(new_prefix=29))[1::2]
    yield Prefixes([(subnet, 1 + n % 14) for n, subnet in enumerate(gaps)])


# --- Driver -----------------------------------------------------------------------------------------------------------


class Prefix(Bus):
    """The accelerator with its registers by name."""

    async def ask(self, address: int) -> None:
        """Writes ADDR as firmware does: the address as a little-endian load gives it."""
        await self.write(ADDR, int.from_bytes(address.to_bytes(4, "big"), "little"))

    async def class_of(self, address: int) -> int:
        """A lookup that is read after a random number of cycles, checked in both registers."""
        await self.ask(address)
        await self.wait(self.rng.choice([0, 0, 0, 1, 2, 3, 5]))
        registers = [CLASS, PASS_MASK]
        self.rng.shuffle(registers)
        answers = {register: (await self.read(register))[0] for register in registers}
        assert answers[PASS_MASK] == (0xFFFF0000 if answers[CLASS] else TOP), f"PASS_MASK of {address:#x}"
        return answers[CLASS]


async def check(bus: Prefix, prefixes: Prefixes, table: Table, most: int = 1500) -> None:
    """Loads the table; compares the edges of all prefixes (at most `most` of them) and some random addresses."""
    await bus.load(table.words())
    edges = sorted(prefixes.edges())
    addresses = edges if len(edges) <= most else bus.rng.sample(edges, most)
    for address in [*addresses, *(bus.rng.getrandbits(32) for _ in range(100)), 0, TOP]:
        got, expected = await bus.class_of(address), prefixes.class_of(address)
        assert got == expected, f"class of {address:#010x}: {got}, expected {expected}; {len(table.keys)} keys"


# --- Tests in the simulator -------------------------------------------------------------------------------------------


@cocotb.test()
async def empty_table(dut: Any) -> None:
    """Before the host has loaded a table: class 0, even for a read before the first lookup."""
    bus = Prefix(dut)
    await bus.start()
    assert await bus.read(CLASS) == (0, 0)
    assert await bus.read(PASS_MASK) == (TOP, 0)
    for address in (0, 1, 0x0A000001, TOP):
        assert await bus.class_of(address) == 0
    assert await bus.table_word(KEYS + 4 * 777) == TOP
    assert await bus.table_word(CLASSES) == 0


@cocotb.test()
async def adversarial_tables(dut: Any) -> None:
    """Edges of the tree and of the address space."""
    bus = Prefix(dut)
    await bus.start()
    for n, prefixes in enumerate(adversarial()):
        await check(bus, prefixes, compiled(prefixes, key_at_zero=n % 2 == 0))


@cocotb.test()
async def random_tables(dut: Any) -> None:
    """Prefixes of all lengths, nested and adjacent."""
    bus = Prefix(dut)
    await bus.start()
    for n, count in enumerate((5, 100, 1000, 3500)):
        prefixes = random_prefixes(bus.rng, count)
        await check(bus, prefixes, compiled(prefixes, key_at_zero=n % 2 == 1))


@cocotb.test()
async def every_key(dut: Any) -> None:
    """8,192 keys, some of them equal: the address before, at and after each, and every table word read back."""
    bus = Prefix(dut)
    await bus.start()
    distinct = bus.rng.sample(range(1, TOP), INTERVALS - 200)
    keys = sorted([*distinct, *bus.rng.sample(distinct, 200)])
    table = Table(keys, [bus.rng.randrange(16) for _ in keys], below=11)
    await bus.load(table.words())
    for key in keys:
        address = key + bus.rng.choice([-1, 0, 1])
        assert await bus.class_of(address) == table.class_of(address), f"class of {address:#010x}"
    for offset, word in table.words():
        assert await bus.table_word(offset) == word, f"table word {offset:#x}"


@cocotb.test()
async def cycles_to_the_answer(dut: Any) -> None:
    """The answer is ready two cycles after the address register: three after the store began."""
    bus = Prefix(dut)
    await bus.start()
    for later, held in ((0, 2), (1, 1), (2, 0), (3, 0)):
        for register in (CLASS, PASS_MASK):
            await bus.ask(0x01020304)
            await bus.wait(later)
            assert (await bus.read(register))[1] == held, f"read {later} cycles after the store's"


@cocotb.test()
async def last_question_counts(dut: Any) -> None:
    """A store to ADDR at any time, even in each cycle, restarts the search; other stores do not."""
    bus = Prefix(dut)
    await bus.start()
    table = Table([n << 20 for n in range(4096)], [bus.rng.randrange(16) for _ in range(4096)])
    await bus.load(table.words())
    for _ in range(1000):
        for _ in range(bus.rng.randrange(1, 5)):
            address = bus.rng.getrandbits(32)
            await bus.ask(address)
            await bus.wait(bus.rng.choice([0, 0, 1, 2]))
        if bus.rng.random() < 0.5:
            await bus.write(bus.rng.choice([CLASS, PASS_MASK, 0x10, 0xFC]), bus.rng.getrandbits(32))
        assert (await bus.read(CLASS))[0] == table.class_of(address)
    for offset in (ADDR, 0x0C, 0xF4):
        assert (await bus.read(offset))[0] == 0


@cocotb.test()
async def host_reads_under_load(dut: Any) -> None:
    """The host reads table words while firmware looks up as fast as it can; neither disturbs the other."""
    bus = Prefix(dut)
    await bus.start()
    prefixes = random_prefixes(bus.rng, 2000)
    table = compiled(prefixes, key_at_zero=True)
    table.below = 5
    await bus.load(table.words())
    words = dict(table.words())
    words |= {0x10004: 0, 0x18000: 0, 0x80000: 0, 0xFFFFC: 0}
    done = False

    async def firmware() -> None:
        while not done:
            address = bus.rng.choice(table.keys) + bus.rng.choice([-1, 0, 1])
            for _ in range(bus.rng.choice([1, 1, 2, 6])):
                await bus.ask(address % 2**32)
            await bus.wait(bus.rng.choice([0, 0, 1, 2, 3]))
            assert (await bus.read(CLASS))[0] == table.class_of(address % 2**32)

    running = cocotb.start_soon(firmware())
    for offset in [*bus.rng.sample(sorted(words), 1500), BELOW, 0x10004, 0x18000, 0x80000, 0xFFFFC]:
        assert await bus.table_word(offset) == words[offset], f"table word {offset:#x}"
        await bus.wait(bus.rng.randrange(3))
    done = True
    await running


@cocotb.test()
async def new_table_under_load(dut: Any) -> None:
    """While the host writes, lookups keep their latency; afterwards they use the new table."""
    bus = Prefix(dut)
    await bus.start()
    old, new = random_prefixes(bus.rng, 1000), random_prefixes(bus.rng, 1000)
    await bus.load(compiled(old, key_at_zero=True).words())
    loading = cocotb.start_soon(bus.load(compiled(new, key_at_zero=False).words()))
    while not loading.done():
        await bus.ask(bus.rng.getrandbits(32))
        value, held = await bus.read(CLASS)
        assert value < 16
        assert held == 2
    for address in bus.rng.sample(sorted(new.edges()), 500):
        assert await bus.class_of(address) == new.class_of(address)


# --- Tests in pytest --------------------------------------------------------------------------------------------------


PREFIX_TESTS = [
    "empty_table",
    "adversarial_tables",
    "random_tables",
    "every_key",
    "cycles_to_the_answer",
    "last_question_counts",
    "host_reads_under_load",
    "new_table_under_load",
]


@pytest.mark.parametrize("case", PREFIX_TESTS)
def test_ip_prefix(case: str) -> None:
    simulate("accel_bench", SOURCES, "test_ip_prefix", {"Accel": 1}, testcase=case)
