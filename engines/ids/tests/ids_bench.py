# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Drives ids_block_bench: frames in and out, the registers, tables, logs."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly
from ids_machine import Record, Tables
from penstock import regs

BEAT, TAIL = 64, 16
LOG, LOG_STRIDE = 0x800000, 0x200000
IPS, LATE_DROPS, FOLLOW, BANK, SEARCH = 1, 2, 4, 8, 16


class Refused(Exception):
    """The block answered an access with an error."""


@dataclass
class Port:
    waiting: deque[tuple[bytes, int]] = field(default_factory=deque)  # frame, hash
    at: int = 0  # beats of the first of them that have entered
    offered: bool = False
    partial: bytes = b""
    length: int = 0  # of the frame that leaves
    left: list[bytes] = field(default_factory=list)
    dropped: int = 0
    stalls: int = 0
    last_in: int = 0  # cycle in which the last beat entered
    last_out: int = 0
    into: float = 1.0
    out: float = 1.0


class Bench:
    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.ports = [Port() for _ in range(int(dut.Ports.value))]
        self.cycle = 0
        self.tables: Tables | None = None
        self.bank = 0
        self.control = 0

    async def start(self) -> None:
        dut = self.dut
        for name in ("in_valid", "in_data", "in_last", "in_len", "in_hash", "in_tail", "out_ready", "now_base"):
            getattr(dut, name).value = 0
        for name in ("req", "we", "addr", "wdata"):
            getattr(dut, f"cfg_{name}").value = 0
        dut.rst.value = 1
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        await ClockCycles(dut.clk, 20)
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        await ClockCycles(dut.clk, 3)
        await FallingEdge(dut.clk)

    # ---- registers
    async def access(self, address: int, value: int | None) -> int:
        dut = self.dut
        dut.cfg_addr.value = address
        dut.cfg_we.value = value is not None
        dut.cfg_wdata.value = value or 0
        dut.cfg_req.value = 1
        for _ in range(5000):
            await self.step()
            if int(dut.cfg_ack.value):
                break
        else:
            raise AssertionError(f"no answer at {address:#x}")
        err, answer = int(dut.cfg_err.value), int(dut.cfg_rdata.value)
        dut.cfg_req.value = 0
        await self.step()
        if err:
            raise Refused(f"{address:#x}")
        return answer

    async def read(self, address: int) -> int:
        return await self.access(address, None)

    async def write(self, address: int, value: int) -> None:
        await self.access(address, value)

    async def cleared(self) -> None:
        while await self.read(regs.IDS_BLOCK_STATUS) & 1:
            for _ in range(500):
                await self.step()

    async def write_entries(self, tables: Tables) -> None:
        for (way, index), number in tables.entries.items():
            key = tables.keys[number]
            window = key.rjust(8, b"\0")
            await self.write(regs.IDS_BLOCK_KEY_L, int.from_bytes(window[:4], "little"))
            await self.write(regs.IDS_BLOCK_KEY_H, int.from_bytes(window[4:], "little"))
            await self.write(regs.IDS_BLOCK_PLACE, way << 16 | index)
            await self.write(regs.IDS_BLOCK_ENTRY, len(key) << 16 | number)

    async def write_maps(self, old: Tables | None, new: Tables | None, both: bool) -> None:
        """To `old` OR `new`, or from that to `new`."""
        for which in range(3):
            before = old.maps[which] if old else {}
            after = new.maps[which] if new else {}
            for index in sorted(before.keys() | after.keys()):
                a, b = before.get(index, 0), after.get(index, 0)
                now, then = (a, a | b) if both else (a | b, b)
                if now != then:
                    await self.write(regs.IDS_BLOCK_BITMAP, then << 20 | which << 16 | index)

    async def load(self, tables: Tables, control: int = 0, clear: bool = True) -> None:
        """Loads tables in the format of machine.md."""
        await self.write(regs.IDS_BLOCK_CONTROL, 0)
        if clear:
            await self.write(regs.IDS_BLOCK_CLEAR, 7)
            await self.cleared()
        await self.write_entries(tables)
        await self.write_maps(None, tables, both=True)
        self.bank, self.control, self.tables = 1, control, tables
        await self.write(regs.IDS_BLOCK_CONTROL, SEARCH | BANK | control)

    async def reload(self, tables: Tables) -> None:
        """Loads other tables while frames pass."""
        await self.write(regs.IDS_BLOCK_CLEAR, 2)
        await self.cleared()
        await self.write_entries(tables)
        await self.write_maps(self.tables, tables, both=True)
        self.bank ^= 1
        await self.write(regs.IDS_BLOCK_CONTROL, SEARCH | self.control | (BANK if self.bank else 0))
        while await self.read(regs.IDS_BLOCK_STATUS) & 2:
            pass
        await self.write_maps(self.tables, tables, both=False)
        self.tables = tables

    # ---- log and records
    async def row(self, port: int, place: int) -> bytes:
        rows = 1 << int(self.dut.RowsLog2.value)
        at = LOG + LOG_STRIDE * port + BEAT * (place % rows)
        data = b""
        for word in range(16):
            data += (await self.read(at + 4 * word)).to_bytes(4, "little")
        return data

    async def frame_of(self, record: Record) -> bytes:
        data = b""
        for place in range(record.first, record.place):
            data += await self.row(record.port, place)
        return data[: record.length]

    async def told(self) -> Record | None:
        """Takes the oldest reported frame out of the queue."""
        head = await self.read(regs.IDS_BLOCK_RECORD)
        if not head >> 31:
            return None
        record = Record.read(await self.row(head >> 29 & 3, head & 0x1FFFFFFF))
        assert record.place & 0x1FFFFFFF == head & 0x1FFFFFFF and record.port == head >> 29 & 3
        await self.write(regs.IDS_BLOCK_RECORD, 0)
        return record

    async def all_told(self) -> list[Record]:
        records = []
        while (record := await self.told()) is not None:
            records.append(record)
        return records

    async def verdict(self, record: Record, drop: bool) -> None:
        await self.write(regs.IDS_BLOCK_VERDICT, drop << 31 | record.port << 16 | record.ticket)

    # ---- frames
    def send(self, port: int, frame: bytes, flow_hash: int = 0) -> None:
        self.ports[port].waiting.append((frame, flow_hash))

    async def step(self) -> None:
        dut, rng = self.dut, self.rng
        if any(port.waiting or port.offered for port in self.ports) or self.dirty:
            self.offer()
        dut.out_ready.value = sum((port.out >= 1 or rng.random() < port.out) << p for p, port in enumerate(self.ports))
        await ReadOnly()
        if self.dirty:
            ready = int(dut.in_ready.value)
            for p, port in enumerate(self.ports):
                if port.offered and ready >> p & 1:
                    port.offered = False
                    port.at += 1
                    if port.at == self.beats(len(port.waiting[0][0])):
                        port.waiting.popleft()
                        port.at = 0
                        port.last_in = self.cycle
                port.stalls += port.offered
        valid = int(dut.out_valid.value) & int(dut.out_ready.value)
        if valid:
            for p, port in enumerate(self.ports):
                if valid >> p & 1:
                    self.take(p, port)
        drops = int(dut.dropped.value)
        for p, port in enumerate(self.ports):
            port.dropped += drops >> p & 1
        await FallingEdge(dut.clk)
        self.cycle += 1

    dirty = False

    @staticmethod
    def beats(length: int) -> int:
        return 1 if length <= BEAT + TAIL else -(-length // BEAT)

    def offer(self) -> None:
        dut, rng = self.dut, self.rng
        values = [0] * 5
        valid = 0
        for p, port in enumerate(self.ports):
            if port.waiting and not port.offered:
                port.offered = port.into >= 1 or rng.random() < port.into
            if not port.offered:
                continue
            valid |= 1 << p
            frame, flow_hash = port.waiting[0]
            some = frame[BEAT * port.at : BEAT * (port.at + 1)]
            folded = BEAT < len(frame) <= BEAT + TAIL
            # Bytes after a frame's end are random, and stable while the beat waits.
            some += b"ATTACK99" * 8
            tail = (frame[BEAT:] if folded else b"") + b"ATTACK99" * 2
            fields = (
                (int.from_bytes(some[:BEAT], "little"), 8 * BEAT),
                (int(port.at + 1 == self.beats(len(frame))), 1),
                (len(frame), 16),
                (flow_hash, 32),
                (folded << 8 * TAIL | int.from_bytes(tail[:TAIL], "little"), 8 * TAIL + 1),
            )
            for i, (value, width) in enumerate(fields):
                values[i] |= value << width * p
        dut.in_data.value, dut.in_last.value, dut.in_len.value, dut.in_hash.value, dut.in_tail.value = values
        dut.in_valid.value = valid
        self.dirty = valid != 0

    def take(self, p: int, port: Port) -> None:
        dut = self.dut
        length = int(dut.out_len.value) >> 16 * p & 0xFFFF
        if not port.partial:
            assert int(dut.out_word.value) >> 32 * p & 0xFFFFFFFF == ~length & 0xFFFF, "the verdict that came is gone"
            port.length = length
        port.partial += (int(dut.out_data.value) >> 8 * BEAT * p & (1 << 8 * BEAT) - 1).to_bytes(BEAT, "little")
        if int(dut.out_last.value) >> p & 1:
            tail = int(dut.out_tail.value) >> (8 * TAIL + 1) * p
            if tail >> 8 * TAIL & 1:
                port.partial += (tail & (1 << 8 * TAIL) - 1).to_bytes(TAIL, "little")
            port.left.append(port.partial[: port.length])
            port.partial = b""
            port.last_out = self.cycle

    async def drain(self, timeout: int = 60_000) -> None:
        for _ in range(timeout):
            if not any(port.waiting or port.offered for port in self.ports) and not int(self.dut.busy.value):
                break
            await self.step()
        for _ in range(40):
            await self.step()
        assert not int(self.dut.busy.value), "frames stay in the block"
        assert not any(port.waiting or port.partial for port in self.ports)
