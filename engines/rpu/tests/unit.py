# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A packet unit under test: its clock, its host, a dispatcher that gives it frames and a sink that takes what it sends.

Everything happens at the falling edge, once a cycle: outputs are those of the cycle, and inputs driven there count at
the rising edge that follows. A beat leaves when `valid` and `ready` are both up after the falling edge.
"""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from elftools.elf.elffile import ELFFile
from penstock import hdl, regs
from penstock.hdl import ROOT

HERE = Path(__file__).resolve().parent
SOURCES = ["engines/rpu/rtl/rtl.f", "engines/rpu/tests/rpu_bench.sv"]
PROGRAMS = ROOT / "engines" / "rpu" / "programs"
FIRMWARE = HERE / "firmware"
KIT = ROOT / "engines" / "rpu" / "compiler"
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
BEAT = 64

DMEM, PMEM, IMEM, TABLES = 0x0800000, 0x1000000, 0x2000000, 0x3000000  # docs/architecture.md
HEADERS = DMEM + 0x4000
HEADER_SPACING = 256
SLOTS = 32
SLOT_BYTES = 32768
OFFSET = 10  # packet offset of the kit
ON_THE_WAY = 3  # beats that come after the unit has said that it has no room
PLACE = (9, 17)  # unit and slot that a frame over loopback gets


@functools.cache
def firmware_folder() -> tempfile.TemporaryDirectory[str]:
    """The folder in which this process keeps compiled firmware while it lives."""
    return tempfile.TemporaryDirectory(prefix="penstock-firmware-")


@functools.cache
def compile_firmware(source: Path) -> Path:
    """Compiles a C file against the kit; returns the ELF. The compiler keeps its results under build/zig."""
    cache = ROOT / "build" / "zig"
    elf = Path(firmware_folder().name) / f"{source.stem}.elf"
    start = [KIT / "start" / name for name in ("crt0.S", "handlers.c", "string.c", "div64.c")]
    subprocess.run(
        [
            *(sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding", "-mcpu=rocket_rv32+m+zbb"),
            *("-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-sanitize=all"),
            *("-fomit-frame-pointer", "-mno-relax", "-nostdlib", "-fno-unwind-tables"),
            *("-fno-asynchronous-unwind-tables", "-ffunction-sections", "-fdata-sections"),
            *(
                f"-I{KIT / 'include'}",
                f"-I{KIT / 'compat'}",
                f"-I{ROOT / 'engines/rpu/regs'}",
                "-Wl,--gc-sections",
                "-T",
                str(KIT / "start/link.ld"),
            ),
            *map(str, [*start, source]),
            *("-o", str(elf)),
        ],
        check=True,
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)},
    )
    return elf


def run(module: str, case: str, *firmware: Path, first_count: int = 0) -> None:
    """Runs a coroutine of `module` on `rpu_bench`; it finds the compiled firmware by name (see `Unit.load`). Counters
    begin at `first_count`.
    """
    for source in firmware:
        compile_firmware(source)
    env = {"PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "python"), *sys.path])}
    env |= {"PENSTOCK_TEST_FIRMWARE": firmware_folder().name, "FIRST_COUNT": str(first_count)}
    hdl.simulate("rpu_bench", SOURCES, module, testcase=case, env=env, plusargs=[f"+first_count={first_count}"])


def load_words(elf: Path) -> dict[int, int]:
    """The writes by which the host loads an ELF: window address -> word."""
    words: dict[int, int] = {}
    with elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            data = segment.data()
            base = segment["p_vaddr"] + (IMEM if segment["p_vaddr"] < DMEM else 0)
            assert base % 4 == 0
            data += bytes(-len(data) % 4)
            for i in range(0, len(data), 4):
                words[base + i] = int.from_bytes(data[i : i + 4], "little")
    return words


@dataclass
class Frame:
    """A frame on its way into the unit, or out of it."""

    data: bytes
    src: int = 0
    dst: int = 0
    slot: int = 0
    timestamp: int = 0
    hash: int = 0

    def meta(self) -> int:
        """frame_meta_t of tenant 0 without a mark: len, src, dst, unit_id, slot, timestamp, hash from the top."""
        value = len(self.data)
        for bits, item in ((8, self.src), (8, self.dst), (5, 0), (6, self.slot), (32, self.timestamp), (32, self.hash)):
            value = value << bits | item
        return value

    def beats(self) -> list[int]:
        return [int.from_bytes(self.data[i : i + BEAT], "little") for i in range(0, len(self.data), BEAT)]


def frame_of(meta: int, beats: list[int]) -> Frame:
    length = meta >> 91
    data = b"".join(beat.to_bytes(BEAT, "little") for beat in beats)
    return Frame(data[:length], meta >> 83 & 0xFF, meta >> 75 & 0xFF, meta >> 64 & 0x3F, meta >> 32 & 0xFFFFFFFF)


@dataclass
class Access:
    """One access of the host."""

    addr: int
    data: int | None = None  # None reads
    value: int = 0
    err: bool = False
    cycles: int = -1  # from request to answer; -1 while it waits


@dataclass
class Unit:
    """Drives one `rpu_bench`. `step()` is one cycle; the probabilities set how often a side pauses."""

    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(SEED))
    place_rate: float = 0.2  # probability that a frame over loopback gets its place in this cycle
    rx_pause: float = 0.0  # share of cycles without a beat on rx
    tx_pause: float = 0.0  # share of cycles in which tx may not go on
    cycle: int = 0
    free_slots: deque[int] = field(default_factory=deque)
    in_unit: dict[int, Frame] = field(default_factory=dict)  # by slot, until it is freed
    setups: list[tuple[int, int]] = field(default_factory=list)
    freed: list[int] = field(default_factory=list)
    to_send: deque[Frame] = field(default_factory=deque)
    entered: list[Frame] = field(default_factory=list)
    sent: list[Frame] = field(default_factory=list)
    rx_last_cycle: int = 0  # when the last beat of a frame entered
    rx_stalls: int = 0
    tx_stalls: int = 0
    tx_first_cycles: list[int] = field(default_factory=list)
    places: list[tuple[int, int, int]] = field(default_factory=list)  # asked for: destination, length, hash
    accesses: deque[Access] = field(default_factory=deque)
    _beats: deque[tuple[int, bool, int]] = field(default_factory=deque)  # data, last, metadata
    # On their way over the link: beats that left while there was room.
    _link: deque[tuple[int, bool, int] | None] = field(default_factory=lambda: deque([None] * ON_THE_WAY))
    _tx_ready: bool = False
    _tx_beats: list[int] = field(default_factory=list)
    _tx_meta: int = 0
    _request: Access | None = None
    _since: int = 0

    async def start(self, unit_id: int = 0) -> None:
        dut = self.dut
        for name in (
            "rx_valid",
            "rx_data",
            "rx_last",
            "rx_meta",
            "tx_ready",
            "cfg_req",
            "cfg_we",
            "cfg_addr",
            "cfg_wdata",
            "loop_answer",
            "loop_granted",
            "loop_unit_id",
            "loop_slot",
        ):
            getattr(dut, name).value = 0
        dut.unit_id.value = unit_id
        dut.rst.value = 1
        Clock(dut.clk, 4, "ns").start()
        self.edge = FallingEdge(dut.clk)
        for _ in range(4):
            await self.edge
        dut.rst.value = 0
        await self.edge

    async def step(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await self.edge
            self.cycle += 1
            self._slots()
            self._tx()
            self._rx()
            self._loop()
            self._cfg()

    async def until(self, condition: Callable[[], bool], limit: int = 20000) -> None:
        end = self.cycle + limit
        while not condition():
            assert self.cycle < end, f"nothing came of it in {limit} cycles"
            await self.step()

    # ---- dispatcher
    def _slots(self) -> None:
        message = int(self.dut.slots.value)
        if message >> 29:
            slot = message >> 23 & 0x3F
            assert slot in self.in_unit, f"slot {slot} came back, which holds no frame"
            del self.in_unit[slot]
            self.freed.append(slot)
            self.free_slots.append(slot)
        if message >> 22 & 1:
            count, size = message >> 16 & 0x3F, message & 0xFFFF
            self.setups.append((count, size))
            self.free_slots = deque(range(1, count + 1))

    def _rx(self) -> None:
        dut = self.dut
        room = bool(dut.rx_room.value)
        self.rx_stalls += not room
        if not self._beats and self.to_send and self.free_slots and self.rng.random() >= self.rx_pause:
            self._next_frame()
        goes = room and self._beats and self.rng.random() >= self.rx_pause
        self._link.append(self._beats.popleft() if goes else None)
        arrives = self._link.popleft()
        dut.rx_valid.value = arrives is not None
        if arrives:
            dut.rx_data.value, dut.rx_last.value, dut.rx_meta.value = arrives
            if arrives[1]:
                self.rx_last_cycle = self.cycle + 1

    def _next_frame(self) -> None:
        frame = self.to_send.popleft()
        if not frame.slot:
            frame.slot = self.free_slots.popleft()
        assert frame.slot not in self.in_unit
        frame.timestamp = self.cycle
        self.in_unit[frame.slot] = frame
        self.entered.append(frame)
        beats = frame.beats()
        self._beats.extend((beat, i + 1 == len(beats), frame.meta()) for i, beat in enumerate(beats))

    # ---- sink
    def _tx(self) -> None:
        dut = self.dut
        if self._tx_ready and self._tx_valid:
            self._tx_beats.append(self._tx_data)
            if len(self._tx_beats) == 1:
                self.tx_first_cycles.append(self.cycle)
            if self._tx_last:
                self.sent.append(frame_of(self._tx_meta, self._tx_beats))
                self._tx_beats = []
        self._tx_ready = self.rng.random() >= self.tx_pause
        dut.tx_ready.value = self._tx_ready
        self._tx_valid = bool(dut.tx_valid.value)
        self.tx_stalls += self._tx_valid and not self._tx_ready
        if self._tx_valid and self._tx_ready:
            self._tx_data = int(dut.tx_data.value)
            self._tx_last = bool(dut.tx_last.value)
            if not self._tx_beats:
                self._tx_meta = int(dut.tx_meta.value)

    # ---- host
    def _loop(self) -> None:
        """Gives every frame that asks the same place in another unit, a while later."""
        dut = self.dut
        asks = bool(dut.loop_valid.value) and not dut.loop_answer.value
        answer = asks and self.rng.random() < self.place_rate
        if answer:
            self.places.append((int(dut.loop_dst.value), int(dut.loop_len.value), int(dut.loop_hash.value)))
        dut.loop_answer.value = answer
        dut.loop_granted.value = 1
        dut.loop_unit_id.value, dut.loop_slot.value = PLACE

    def _cfg(self) -> None:
        dut = self.dut
        if self._request is not None:
            if not dut.cfg_ack.value:
                return
            access, self._request = self._request, None
            access.cycles = self.cycle - self._since
            access.value = int(dut.cfg_rdata.value)
            access.err = bool(dut.cfg_err.value)
            dut.cfg_req.value = 0
        elif self.accesses:
            self._request = access = self.accesses.popleft()
            self._since = self.cycle
            dut.cfg_req.value = 1
            dut.cfg_we.value = access.data is not None
            dut.cfg_addr.value = access.addr
            if access.data is not None:
                dut.cfg_wdata.value = access.data
        else:
            assert not dut.cfg_ack.value, "an answer that nobody asked for"

    async def access(self, addr: int, data: int | None = None) -> Access:
        request = Access(addr, data)
        self.accesses.append(request)
        await self.until(lambda: request.cycles >= 0, 1000)
        return request

    async def read(self, addr: int) -> int:
        done = await self.access(addr)
        assert not done.err, f"read of {addr:#x} fails"
        return done.value

    async def count(self, addr: int) -> int:
        """A counter, 64 bits, since the bench began."""
        low = await self.read(addr)
        return (low | await self.read(regs.UNIT_COUNT_H) << 32) - int(os.environ["FIRST_COUNT"])

    async def write(self, addr: int, data: int) -> None:
        done = await self.access(addr, data)
        assert not done.err, f"write of {addr:#x} fails"

    async def load(self, firmware: str) -> None:
        """Writes the firmware of that name into the memories."""
        elf = Path(os.environ["PENSTOCK_TEST_FIRMWARE"]) / f"{firmware}.elf"
        for addr, word in load_words(elf).items():
            await self.write(addr, word)

    # ---- what most tests do
    async def boot(self, firmware: str) -> None:
        """Loads firmware, lets it run and waits until it has declared its slots."""
        self.setups.clear()
        await self.load(firmware)
        await self.write(regs.UNIT_RESET, 0)
        await self.until(lambda: bool(self.setups))
        assert self.setups == [(SLOTS, SLOT_BYTES - OFFSET)]

    async def drained(self, limit: int = 20000) -> None:
        """Waits until all frames have entered and all slots have returned, and until the last beats are counted."""
        await self.until(lambda: not self.to_send and not self.in_unit, limit)
        await self.step(4)

    async def stop(self) -> None:
        """Puts the core into reset and forgets the contents of its slots, as the dispatcher does."""
        await self.write(regs.UNIT_RESET, 1)
        self.in_unit.clear()
        self.free_slots.clear()

    def random_frame(self, length: int, first: int | None = None) -> Frame:
        """A frame from Ethernet 0 or 1, with `first` as its first byte when that is given."""
        data = self.rng.randbytes(length)
        if first is not None:
            data = bytes([first]) + data[1:]
        return Frame(data, src=self.rng.choice([0, 1]), hash=self.rng.getrandbits(32))

    def check_forwarded(self, change: Callable[[Frame], bytes] = lambda frame: frame.data) -> None:
        """The frames that left are those that entered after `change`, in order, for the other port of the pair."""
        assert len(self.sent) == len(self.entered)
        for got, frame in zip(self.sent, self.entered, strict=True):
            assert got.data == change(frame), f"{len(frame.data)} bytes in slot {frame.slot}"
            assert (got.src, got.dst, got.timestamp) == (frame.src, 8 + (frame.src ^ 1), frame.timestamp)
        assert sorted(self.freed) == sorted(frame.slot for frame in self.entered)
        assert not self.in_unit
