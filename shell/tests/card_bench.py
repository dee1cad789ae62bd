# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Drives `card_top` from cocotb: registers, frames in, frames out.

Ports are 0..3; the host stream is `HOST`. A received frame is `Frame(data, src, timestamp)`, in order of its last beat
per stream.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from penstock import regs

HOST = 4
LOOPBACK = 5
BEAT, PORT_BEAT = 64, 128  # bytes; the host's, and those of a port
UNIT_WINDOW = 0x4000_0000


@dataclass
class Frame:
    """A frame that left the card, where it entered, when it entered, and the cycle of its last beat."""

    data: bytes
    src: int
    timestamp: int
    cycle: int


class AxiError(Exception):
    """The card answered SLVERR."""


class CardBench:
    """Owns every input of the card. All of it runs in one coroutine per clock edge, because wide signals are dear in
    Python.
    """

    def __init__(self, dut: Any, seed: int = 1) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.ports = int(dut.Ports.value)
        self.units = int(dut.Units.value)
        self.queue: dict[int, deque[tuple[bytes, bool]]] = {p: deque() for p in [*range(self.ports), HOST]}
        self.out: dict[int, list[Frame]] = {p: [] for p in [*range(self.ports), HOST]}
        self.sending: dict[int, tuple[bytes, bool, int] | None] = dict.fromkeys(self.queue)
        self.partial: dict[int, bytearray] = {p: bytearray() for p in self.out}
        self.meta: dict[int, tuple[int, int]] = {}
        self.rx_idle = 0.0  # probability of an idle cycle
        self.tx_stall = 0.0  # probability that a receiver is not ready
        self.stall_ports: set[int] = set()  # receivers that take nothing
        self.pause = True  # honour rx_pause
        self.cycle = 0
        self.entry: dict[int, list[int]] = {p: [] for p in self.queue}

    async def start(self) -> None:
        d = self.dut
        d.rst.value = 1
        for name in ("rx_tvalid", "rx_tlast", "rx_tuser", "rx_tdata", "rx_tkeep", "tx_tready"):
            getattr(d, name).value = 0
        for name in ("tvalid", "tlast", "tuser", "tdata", "tkeep"):
            getattr(d, f"host_rx_{name}").value = 0
        d.host_tx_tready.value = 0
        for name in ("awaddr", "awvalid", "wdata", "wstrb", "wvalid", "bready", "araddr", "arvalid", "rready"):
            getattr(d, f"s_axil_{name}").value = 0
        cocotb.start_soon(Clock(d.clk, 4, unit="ns").start())
        for _ in range(10):
            await RisingEdge(d.clk)
        d.rst.value = 0
        cocotb.start_soon(self._run())
        for _ in range(5):
            await RisingEdge(d.clk)

    async def _run(self) -> None:
        d, ports = self.dut, self.ports
        host_ready = False
        ready = 0
        while True:
            # Values for this cycle
            data = keep = valid = last = user = 0
            pause = int(d.rx_pause.value)
            for p in range(ports):
                beat = self._next_beat(p, bool(pause >> p & 1))
                if beat:
                    chunk, is_last, damaged = beat
                    data |= int.from_bytes(chunk, "little") << (8 * PORT_BEAT * p)
                    keep |= ((1 << len(chunk)) - 1) << (PORT_BEAT * p)
                    valid |= 1 << p
                    last |= is_last << p
                    user |= (is_last and damaged) << p
            d.rx_tvalid.value = valid
            if valid:
                d.rx_tdata.value = data
                d.rx_tkeep.value = keep
                d.rx_tlast.value = last
                d.rx_tuser.value = user
            if not int(d.host_rx_tvalid.value) or host_ready:
                beat = self._next_beat(HOST, False)
                d.host_rx_tvalid.value = 1 if beat else 0
                if beat:
                    d.host_rx_tdata.value = int.from_bytes(beat[0], "little")
                    d.host_rx_tkeep.value = (1 << len(beat[0])) - 1
                    d.host_rx_tlast.value = beat[1]
                    d.host_rx_tuser.value = beat[2] and beat[1]
            ready = 0
            for p in range(ports):
                if p not in self.stall_ports and self.rng.random() >= self.tx_stall:
                    ready |= 1 << p
            d.tx_tready.value = ready
            host_tx_ready = HOST not in self.stall_ports and self.rng.random() >= self.tx_stall
            d.host_tx_tready.value = host_tx_ready
            await ReadOnly()
            host_ready = bool(int(d.host_rx_tready.value))
            tx_valid = int(d.tx_tvalid.value) & ready
            if tx_valid:
                tx_data = d.tx_tdata.value.to_unsigned()
                tx_keep = d.tx_tkeep.value.to_unsigned()
                tx_last = int(d.tx_tlast.value)
                for p in range(ports):
                    if tx_valid >> p & 1:
                        src = int(d.tx_src.value) >> (8 * p) & 0xFF
                        time = int(d.tx_timestamp.value) >> (32 * p) & 0xFFFFFFFF
                        self._take(
                            p,
                            tx_data >> (8 * PORT_BEAT * p),
                            tx_keep >> (PORT_BEAT * p),
                            bool(tx_last >> p & 1),
                            src,
                            time,
                        )
            if host_tx_ready and int(d.host_tx_tvalid.value):
                self._take(
                    HOST,
                    d.host_tx_tdata.value.to_unsigned(),
                    d.host_tx_tkeep.value.to_unsigned(),
                    bool(int(d.host_tx_tlast.value)),
                    int(d.host_tx_src.value),
                    int(d.host_tx_timestamp.value),
                )
            await RisingEdge(d.clk)
            self.cycle += 1

    def _next_beat(self, p: int, pause: bool) -> tuple[bytes, bool, bool] | None:
        current = self.sending[p]
        if self.rx_idle and self.rng.random() < self.rx_idle:
            return None
        if current is None:
            if not self.queue[p] or (pause and self.pause):
                return None
            frame, damaged = self.queue[p].popleft()
            current = (frame, damaged, 0)
            self.entry[p].append(self.cycle)
        frame, damaged, at = current
        beat = self._beat(p)
        chunk = frame[at : at + beat]
        is_last = at + beat >= len(frame)
        self.sending[p] = None if is_last else (frame, damaged, at + beat)
        return chunk, is_last, damaged

    def _take(self, p: int, data: int, keep: int, last: bool, src: int, time: int) -> None:
        beat = self._beat(p)
        keep &= (1 << beat) - 1
        count = keep.bit_count()
        assert keep == (1 << count) - 1 and (last or count == beat), f"bad tkeep {keep:#x} at stream {p}"
        if not self.partial[p]:
            self.meta[p] = (src, time)
        self.partial[p] += (data & ((1 << 8 * beat) - 1)).to_bytes(beat, "little")[:count]
        if last:
            self.out[p].append(Frame(bytes(self.partial[p]), *self.meta[p], self.cycle))
            self.partial[p] = bytearray()

    def _beat(self, p: int) -> int:
        return BEAT if p == HOST else PORT_BEAT

    def send(self, p: int, frame: bytes, damaged: bool = False) -> None:
        """Queues a frame for stream p."""
        self.queue[p].append((frame, damaged))

    async def clocks(self, n: int) -> None:
        for _ in range(n):
            await RisingEdge(self.dut.clk)

    async def drained(self, frames: int, timeout: int = 20_000) -> None:
        """Waits until `frames` frames have left in all; then a while longer, for unexpected ones."""
        for _ in range(timeout // 50):
            await self.clocks(50)
            if self.total() >= frames and not any(self.queue.values()):
                break
        await self.clocks(300)
        assert self.total() == frames, f"{self.total()} frames out, expected {frames}"

    def total(self) -> int:
        return sum(len(frames) for frames in self.out.values())

    async def write(self, addr: int, data: int) -> None:
        """One AXI4-Lite write; raises AxiError when the card refuses it."""
        d = self.dut
        d.s_axil_awaddr.value = addr
        d.s_axil_wdata.value = data
        d.s_axil_wstrb.value = 0xF
        d.s_axil_awvalid.value = 1
        d.s_axil_wvalid.value = 1
        d.s_axil_bready.value = 1
        await self._until("awready")
        d.s_axil_awvalid.value = 0
        d.s_axil_wvalid.value = 0
        if await self._until("bvalid", "bresp"):
            raise AxiError(f"write to {addr:#x}")

    async def read(self, addr: int) -> int:
        """One AXI4-Lite read; raises AxiError when the card refuses it."""
        d = self.dut
        d.s_axil_araddr.value = addr
        d.s_axil_arvalid.value = 1
        d.s_axil_rready.value = 1
        await self._until("arready")
        d.s_axil_arvalid.value = 0
        if await self._until("rvalid", "rresp"):
            raise AxiError(f"read of {addr:#x}")
        return self.answer

    async def counter(self, stream: int, name: str) -> int:
        """A counter of a stream, 64 bits, by its name in card.rdl."""
        offset = int(getattr(regs, f"CARD_STREAM_{name}"))
        low = await self.read(regs.CARD_STREAM_BASE + regs.CARD_STREAM_STRIDE * stream + offset)
        return low | await self.read(regs.CARD_COUNT_H) << 32

    async def unit_write(self, mask: int, addr: int, data: int) -> None:
        await self.write(regs.CARD_UNIT_WRITE_MASK, mask)
        await self.write(UNIT_WINDOW + addr, data)

    async def unit_read(self, unit: int, addr: int) -> int:
        await self.write(regs.CARD_UNIT_READ, unit)
        return await self.read(UNIT_WINDOW + addr)

    async def boot(self, policy: int = 0, hold: int = 20, mode: int = 0, slots: int = 16, size: int = 16384) -> None:
        """Makes all units ready, spreads RETA over them, enables everything."""
        everyone = (1 << self.units) - 1
        for addr, value in ((0x0, hold), (0x4, slots), (0x8, size), (0xC, mode), (0x10, 1)):
            await self.unit_write(everyone, addr, value)
        await self.write(regs.CARD_POLICY, policy)
        for i in range(regs.CARD_RETA_COUNT if policy >= 2 else 0):
            await self.write(regs.CARD_RETA + 4 * i, i % self.units)
        await self.clocks(50)
        await self.write(regs.CARD_UNIT_ENABLE, everyone)
        await self.write(regs.CARD_PORT_ENABLE, (1 << self.ports) - 1)

    async def _until(self, name: str, resp: str | None = None) -> int:
        signal = getattr(self.dut, f"s_axil_{name}")
        for _ in range(5000):
            await ReadOnly()
            if int(signal.value):
                value = int(getattr(self.dut, f"s_axil_{resp}").value) if resp else 0
                self.answer = int(self.dut.s_axil_rdata.value)
                await RisingEdge(self.dut.clk)
                return value
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"AXI4-Lite: no {name} in 5000 cycles")
