# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""mac_rx and mac_tx: between a MAC of 512 bits without ready and a port of 1,024 bits, with drift, resets and a card
that stands still; and mac_rx for the host's stream, which waits.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, deque
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, Timer
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

HALF, ROW, LONGEST, SHORTEST, OVERHEAD = 64, 128, 16384, 60, 24
MAC_PS = 3103
BYTES_A_PS = 12.5 / 1000  # 100 Gb/s


class Port:
    """A MAC and a card at either side of a port, with what went in at each."""

    def __init__(self, dut: Any, seed: int, mac_ps: int, card_ps: int) -> None:
        self.dut, self.rng = dut, random.Random(seed)
        self.mac_ps, self.card_ps = mac_ps, card_ps
        self.running = {"clk": True, "mac_clk": True}
        self.wire = False  # the MAC brings frames as fast as its wire does, and not as fast as its bus
        self.wire_rate = 1.0  # of that: a slow MAC has gaps inside a frame
        self.to_card: deque[tuple[bytes, bool]] = deque()
        self.to_mac: deque[bytes] = deque()
        self.entered: deque[tuple[bytes, bool]] = deque()
        self.sent: deque[bytes] = deque()
        self.at_card: list[tuple[bytes, bool]] = []
        self.at_mac: list[tuple[bytes, bool]] = []
        self.lost: Counter[str] = Counter()
        self.card_rate = self.mac_rate = 1.0
        self.waits = False  # the way in has a ready
        self.taking = 1.0  # how often the card takes a row, if it may wait
        self.strict = True  # no frame may be missing
        self.resets = {"rst_in": 0, "mac_rst_in": 0}  # of the card and of the MAC, so far

    async def start(self) -> None:
        d = self.dut
        for name in ("in_tvalid", "in_tdata", "in_tkeep", "in_tlast", "in_tuser", "out_tready"):
            getattr(d, name).value = 0
        for name in ("tx_tvalid", "tx_tdata", "tx_tkeep", "tx_tlast"):
            getattr(d, name).value = 0
        d.rx_tready.value = 1
        d.mac_rst_in.value = d.rst_in.value = 1
        for name, period in (("clk", self.card_ps), ("mac_clk", self.mac_ps)):
            cocotb.start_soon(self._clock(getattr(d, name), name, period))
        await Timer(50, unit="ns")
        d.mac_rst_in.value = d.rst_in.value = 0
        await self.up()
        for task in (self._mac_sends, self._card_takes, self._card_sends, self._mac_takes):
            cocotb.start_soon(task())
        cocotb.start_soon(self._count(d.mac_clk, d.rx_lost, "rx"))
        cocotb.start_soon(self._count(d.clk, d.tx_lost, "tx"))

    async def _count(self, clock: Any, event: Any, name: str) -> None:
        while True:
            await FallingEdge(clock)
            self.lost[name] += int(event.value)

    async def _clock(self, signal: Any, name: str, period: int) -> None:
        signal.value = 0
        await Timer(self.rng.randrange(1, period), unit="ps")
        while True:
            if self.running[name]:
                signal.value = 1
            await Timer(period // 2, unit="ps")
            signal.value = 0
            await Timer(period - period // 2, unit="ps")

    async def up(self) -> None:
        for _ in range(1000):
            await Timer(4, unit="ns")
            if not int(self.dut.rst.value) and not int(self.dut.mac_rst.value):
                return
        raise AssertionError("the resets do not end")

    async def reset(self, name: str, ns: float) -> None:
        """Resets a side, which then begins with a new frame."""
        self.resets[name] += 1
        signal = getattr(self.dut, name)
        signal.value = 1
        await Timer(ns, unit="ns")
        signal.value = 0
        await self.up()

    async def _mac_sends(self) -> None:
        d, budget = self.dut, 0.0
        while True:
            await FallingEdge(d.mac_clk)
            d.in_tvalid.value = 0
            if not self.to_card:
                continue
            data, bad = self.to_card.popleft()
            resets = self.resets["mac_rst_in"]
            for at in range(0, len(data), HALF):
                chunk, last = data[at : at + HALF], at + HALF >= len(data)
                while self.wire and budget < 0:
                    d.in_tvalid.value = 0
                    await FallingEdge(d.mac_clk)
                    budget += self.mac_ps * BYTES_A_PS * self.wire_rate
                if resets != self.resets["mac_rst_in"]:
                    d.in_tvalid.value = 0
                    break
                if self.wire:
                    budget -= len(chunk) - self.mac_ps * BYTES_A_PS + (OVERHEAD if last else 0)
                d.in_tvalid.value = 1
                d.in_tdata.value = int.from_bytes(chunk.ljust(HALF, b"\xa5"), "little")
                d.in_tkeep.value = (1 << len(chunk)) - 1
                d.in_tlast.value, d.in_tuser.value = last, last and bad
                if self.waits:
                    await ReadOnly()
                    while not int(d.in_tready.value) and resets == self.resets["mac_rst_in"]:
                        await FallingEdge(d.mac_clk)
                        await ReadOnly()
                if last:
                    self.entered.append((data, bad))
                else:
                    await FallingEdge(d.mac_clk)

    async def _card_takes(self) -> None:
        d, data, resets, ready = self.dut, b"", 0, True
        while True:
            await FallingEdge(d.clk)
            if self.waits:
                d.rx_tready.value = ready = self.rng.random() < self.taking
            await ReadOnly()
            # A reset of the MAC's side leaves the card with what it has of a frame.
            if int(d.rst_in.value) or resets != self.resets["rst_in"]:
                data, resets = b"", self.resets["rst_in"]
                continue
            if not int(d.rx_tvalid.value) or not ready:
                continue
            keep = int(d.rx_tkeep.value)
            count, last = keep.bit_count(), int(d.rx_tlast.value)
            assert keep == (1 << count) - 1 and count and (last or count == ROW)
            data += d.rx_tdata.value.to_unsigned().to_bytes(ROW, "little")[:count]
            if last and int(d.rx_tuser.value) and not self.strict:
                self.lost["cut on the way in"] += 1
                data = b""
            elif last:
                self._arrived(self.entered, self.at_card, (data, bool(int(d.rx_tuser.value))))
                data = b""

    def _arrived(self, sent: deque[Any], at: list[Any], frame: Any) -> None:
        """Takes a frame down, which is the next of those that were sent, or a later one when some may be missing."""
        while not self.strict and sent and sent[0] != frame:
            sent.popleft()
        assert sent and sent.popleft() == frame, f"a frame of {len(frame[0])} bytes that nobody sent, or out of order"
        at.append(frame)

    async def _card_sends(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.clk)
            d.tx_tvalid.value = 0
            if not self.to_mac:
                continue
            data = self.to_mac.popleft()
            self.sent.append((data.ljust(SHORTEST, b"\0"), False))
            resets = self.resets["rst_in"]
            for at in range(0, len(data), ROW):
                chunk, last = data[at : at + ROW], at + ROW >= len(data)
                # As egress does: a frame of several rows has gaps of one cycle
                while self.rng.random() > self.card_rate:
                    d.tx_tvalid.value = 0
                    await FallingEdge(d.clk)
                if resets != self.resets["rst_in"]:
                    break
                d.tx_tvalid.value = 1
                d.tx_tdata.value = int.from_bytes(chunk.ljust(ROW, b"\x5a"), "little")
                d.tx_tkeep.value = (1 << len(chunk)) - 1
                d.tx_tlast.value = last
                await ReadOnly()
                while not int(d.tx_tready.value) and resets == self.resets["rst_in"]:
                    await FallingEdge(d.clk)
                    await ReadOnly()
                if not last:
                    await FallingEdge(d.clk)

    async def _mac_takes(self) -> None:
        d, data, inside, resets = self.dut, b"", False, 0
        while True:
            await FallingEdge(d.mac_clk)
            if resets != self.resets["mac_rst_in"]:
                data, inside, resets = b"", False, self.resets["mac_rst_in"]
            ready = self.rng.random() < self.mac_rate
            d.out_tready.value = ready
            await ReadOnly()
            if int(d.mac_rst.value) and not inside and not int(d.out_tvalid.value):
                continue
            if not int(d.out_tvalid.value):
                assert not inside, "the MAC underruns"
                continue
            if not ready:
                continue
            keep = int(d.out_tkeep.value)
            count, last = keep.bit_count(), int(d.out_tlast.value)
            assert keep == (1 << count) - 1 and count and (last or count == HALF)
            word = d.out_tdata.value.to_unsigned().to_bytes(HALF, "little")
            data += word[:count]
            inside = not last
            if last:
                assert int(d.out_tuser.value) or not any(word[count:]), "bytes behind the frame's end"
                if int(d.out_tuser.value):
                    self.lost["cut"] += 1
                else:
                    self._arrived(self.sent, self.at_mac, (data, False))
                data = b""

    async def drain(self) -> None:
        """Until nothing has arrived for a while."""
        quiet, count = 0, -1
        while quiet < 3 or self.to_card or self.to_mac:
            await Timer(1, unit="us")
            now = len(self.at_card) + len(self.at_mac) + len(self.to_card) + len(self.to_mac)
            quiet, count = (quiet + 1, count) if now == count else (0, now)

    def frames(self, sizes: list[int], *, bad: float = 0.0) -> None:
        for size in sizes:
            self.to_card.append((self.rng.randbytes(size), self.rng.random() < bad))
            self.to_mac.append(self.rng.randbytes(size))


def port(dut: Any, seed: int) -> Port:
    card = int(cocotb.plusargs["card"])
    return Port(dut, seed, MAC_PS, card)


SIZES = [*range(1, 260), 383, 384, 385, 511, 512, 513, 1500, 1514, 9000, LONGEST - 1, LONGEST]


@cocotb.test()
async def all_lengths(dut: Any) -> None:
    """Every length crosses both ways, byte for byte, in order; short ones are filled up; a frame
    that is bad stays bad.
    """
    p = port(dut, 1)
    await p.start()
    for p.wire, p.mac_rate in ((False, 1.0), (True, 0.7)):
        sizes = list(SIZES)
        p.rng.shuffle(sizes)
        p.frames(sizes, bad=0.2)
        await p.drain()
    assert len(p.at_card) == len(p.at_mac) == 2 * len(SIZES)
    assert sum(bad for _, bad in p.at_card) > 50 and not +p.lost


@cocotb.test()
async def line_rate(dut: Any) -> None:
    """100 Gb/s of the shortest frames and of 65 bytes: nothing is lost, and nothing piles up."""
    p = port(dut, 2)
    await p.start()
    p.wire = True
    for size in (60, 64, 65, 128, 129):
        p.frames([size] * 200)
        await p.drain()
    assert len(p.at_card) == len(p.at_mac) == 1000 and not +p.lost


@cocotb.test()
async def no_room(dut: Any) -> None:
    """The card's clock stands still while frames come: those that find no room are lost whole and counted, all others
    arrive.
    """
    p = port(dut, 3)
    await p.start()
    p.strict = False
    sizes = [p.rng.choice([60, 300, 1500, 9000]) for _ in range(60)]
    p.running["clk"] = False
    for size in sizes:
        p.to_card.append((p.rng.randbytes(size), False))
    while p.to_card:
        await Timer(1, unit="us")
    p.running["clk"] = True
    await p.drain()
    assert p.lost["rx"] > 3 and len(p.at_card) + p.lost["rx"] == 60, (p.lost, len(p.at_card))
    p.strict = True
    p.entered.clear()
    p.frames([60, 1500, 65])
    await p.drain()
    assert len(p.at_card) + p.lost["rx"] == 63


@cocotb.test()
async def jabber(dut: Any) -> None:
    """Some rows of a frame without end go on, more than the card accepts as a frame, and its
    neighbours are complete.
    """
    p = port(dut, 4)
    await p.start()
    long = p.rng.randbytes(60000)
    p.to_card.extend([(b"\x01" * 60, False), (long, False), (b"\x02" * 60, False)])
    cut = long[: 129 * ROW] + long[-(60000 % ROW or ROW) :]
    while len(p.entered) + len(p.at_card) < 3:
        await Timer(100, unit="ns")
        for i, (data, bad) in enumerate(p.entered):
            if data == long:
                p.entered[i] = (cut, bad)
    await p.drain()
    assert [data for data, _ in p.at_card] == [b"\x01" * 60, cut, b"\x02" * 60] and len(cut) > LONGEST


@cocotb.test()
async def resets(dut: Any) -> None:
    """Resets of either side in the middle of traffic: what arrives is whole and in order, a frame that was cut at the
    MAC is marked bad, and afterwards all frames pass.
    """
    p = port(dut, 5)
    await p.start()
    p.wire, p.mac_rate = True, 0.8
    for turn in range(10):
        p.strict = False
        p.frames([p.rng.choice([60, 65, 300, 1500, 9000]) for _ in range(12)])
        await Timer(p.rng.randrange(100, 2500), unit="ns")
        side = p.rng.choice(["rst_in", "rst_in", "mac_rst_in"])
        await p.reset(side, p.rng.choice([1, 5, 40, 400]))
        await p.drain()
        p.entered.clear()
        p.sent.clear()
        p.strict = True
        arrived = len(p.at_card), len(p.at_mac)
        p.frames([60, 1500, 65, 9000, 300])
        await p.drain()
        assert (len(p.at_card), len(p.at_mac)) == (arrived[0] + 5, arrived[1] + 5), f"turn {turn}"
    assert p.lost["cut"] > 0 and p.lost["rx"] > 0 and p.lost["tx"] > 0, p.lost


@cocotb.test()
async def resets_on_the_way_in(dut: Any) -> None:
    """The same with traffic to the card only, also with gaps inside frames that are longer than a reset of the card."""
    p = port(dut, 6)
    await p.start()
    p.wire = True
    for turn in range(12):
        p.strict = False
        p.wire_rate, sizes, sides = (
            (1.0, [65, 300, 1500, 9000], ["rst_in", "mac_rst_in"]),
            (0.02, [300], ["rst_in"]),
        )[turn % 2]
        p.to_card.extend((p.rng.randbytes(p.rng.choice(sizes)), False) for _ in range(8))
        await Timer(p.rng.randrange(100, 2500), unit="ns")
        await p.reset(p.rng.choice(sides), p.rng.choice([1, 5, 40, 400]))
        await p.drain()
        p.entered.clear()
        p.strict, p.wire_rate = True, 1.0
        arrived = len(p.at_card)
        p.to_card.extend((p.rng.randbytes(size), False) for size in (60, 1500, 65))
        await p.drain()
        assert len(p.at_card) == arrived + 3, f"turn {turn}"
    assert p.lost["rx"] > 0, p.lost


@cocotb.test()
async def a_frame_that_a_reset_cuts(dut: Any) -> None:
    """A reset of the card while a frame leaves: it ends at the MAC, marked bad. A reset of the MAC: the frame's rest is
    dropped and counted. The next frames pass.
    """
    p = port(dut, 7)
    await p.start()
    for side, what in (("rst_in", "cut"), ("mac_rst_in", "tx")):
        p.strict = False
        p.to_mac.append(p.rng.randbytes(9000))
        while p.to_mac:
            await FallingEdge(dut.clk)
        # In the MAC's case the card is in the middle of the frame; in the card's case the MAC is.
        while side == "rst_in" and not int(dut.out_tvalid.value):
            await FallingEdge(dut.mac_clk)
        await Timer(100, unit="ns")
        await p.reset(side, 40)
        await p.drain()
        assert p.lost[what] == 1, (side, p.lost)
        p.sent.clear()
        p.strict = True
        arrived = len(p.at_mac)
        p.to_mac.extend(p.rng.randbytes(size) for size in (60, 1500, 65))
        await p.drain()
        assert len(p.at_mac) == arrived + 3, side


@cocotb.test()
async def host_waits(dut: Any) -> None:
    """A card that takes rows now and then, or none for long: the host's frames wait, short and longest ones in any
    order, and none is lost. Resets of the MAC's side meanwhile cut a frame, which ends marked bad.
    """
    p = port(dut, 8)
    p.waits = True
    await p.start()
    for taking in (0.2, 1.0, 0.6):
        p.taking = taking
        sizes = [p.rng.choice([60, 64, 65, 128, 129, 1500, LONGEST]) for _ in range(40)]
        p.to_card.extend((p.rng.randbytes(size), p.rng.random() < 0.1) for size in [*[60] * 150, *sizes, *[65] * 150])
        await p.drain()
        # The queue fills while the card takes nothing.
        p.taking = 0.0
        p.to_card.extend((p.rng.randbytes(size), False) for size in [*[LONGEST] * 3, *[60] * 500, LONGEST])
        await Timer(8, unit="us")
        assert len(p.to_card) > 1 and not int(dut.in_tready.value)
        p.taking = taking
        await p.drain()
    # A longest frame begins when there is just room for it, or waits.
    for short in range(8):
        p.taking = 0.0
        p.to_card.extend((p.rng.randbytes(size), False) for size in [*[LONGEST] * 3, *[60] * short, LONGEST, 60])
        await Timer(8, unit="us")
        p.taking = 1.0
        await p.drain()
    assert len(p.at_card) == 3 * (340 + 504) + sum(5 + short for short in range(8)) and not +p.lost
    p.taking = 0.1
    for turn in range(8):
        p.strict = False
        p.to_card.extend((p.rng.randbytes(p.rng.choice([65, 1500, 9000])), False) for _ in range(6))
        await Timer(p.rng.randrange(500, 2500), unit="ns")
        await p.reset("mac_rst_in", p.rng.choice([5, 40, 400]))
        await p.drain()
        p.entered.clear()
        p.strict = True
        arrived = len(p.at_card)
        p.to_card.extend((p.rng.randbytes(size), False) for size in (60, 1500, 65))
        await p.drain()
        assert len(p.at_card) == arrived + 3, f"turn {turn}"
    assert p.lost["cut on the way in"] > 0, p.lost


@pytest.mark.parametrize(
    "testcase", ["all_lengths", "line_rate", "no_room", "jabber", "resets_on_the_way_in", "a_frame_that_a_reset_cuts"]
)
@pytest.mark.parametrize("card_ps", [4000, *(pytest.param(period, marks=pytest.mark.long) for period in (3999, 6000))])
def test_mac(card_ps: int, testcase: str) -> None:
    simulated(card_ps, testcase)


@pytest.mark.long
@pytest.mark.xfail(strict=True, reason="a reset in the middle of traffic can make the MAC underrun: docs/STATUS.md")
def test_resets() -> None:
    simulated(4000, "resets")


def test_host_waits() -> None:
    simulated(4000, "host_waits", waits=True)


def simulated(card_ps: int, testcase: str, *, waits: bool = False) -> None:
    """Runs one test on the converters, with a card clock of this period."""
    simulate(
        "mac_bench",
        [
            "lib/rtl/rtl.f",
            "shell/rtl/shell_pkg.sv",
            "shell/cards/lib/lib.f",
            "shell/cards/lib/mac_rx.sv",
            "shell/cards/lib/mac_tx.sv",
            "shell/cards/tests/mac_bench.sv",
        ],
        "test_mac",
        {"Waits": int(waits)},
        testcase=testcase,
        defines=["PENSTOCK_METASTABLE"],
        plusargs=[f"+card={card_ps}"],
    )
