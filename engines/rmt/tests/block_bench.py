# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Drives rmt_bench.sv: frames into both ports, host accesses beside them, and comparison of the output with the
expected frames.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, First, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time
from machine import CONTROLLER, LEAF, LEVELS, LPM, METER, TARGET, TERNARY, Machine, Result
from machine_random import Write
from penstock import regs

BEAT, TAIL = 64, 16
CLONES = 8  # number of the first queue of clones
PIECE = 32  # bytes of a frame in a record
CLOCK_NS = 4
FIRST_COUNT = (1 << 32) - 50  # counters of losses begin near the end of their low word
KINDS = {"port": 1, "host": 2}
DISPATCH, BLOCKED, REFUSED = 4, 0, 2  # the kind of verdict with which the bench's frames come; reasons


def beats(length: int) -> int:
    return 1 if length <= BEAT + TAIL else -(-length // BEAT)


@dataclass
class Frame:
    data: bytes
    tenant: int
    mark: int
    results: list[Result]  # one of which it must be; of a frame of which copies are made only one
    taken: int = -1  # cycle in which its first beat was taken
    left: int = -1
    result: Result | None = None  # that it was
    copied: int = 0  # copies that have left, those to the controller not among them
    injected: bool = False  # it is a controller's
    is_clone: bool = False


@dataclass
class Access:
    write: bool
    addr: int
    data: int
    done: Callable[[int, bool], None] | None


@dataclass
class Port:
    waiting: deque[Frame] = field(default_factory=deque)
    inside: deque[Frame] = field(default_factory=deque)
    at: int = 0
    offered: bool = False
    # By queue, frames whose copies have not all left; from queue CLONES on, those of clones
    kept: dict[int, deque[Frame]] = field(default_factory=dict)
    lost: int = 0  # of those that found no room
    clones_lost: int = 0  # frames whose clones did not come though later ones of the queue did
    partial: bytes = b""
    length: int = 0  # of the frame that is leaving
    tenant: int = 0
    began: int = 0
    packets: dict[int, deque[Frame]] = field(default_factory=dict)  # by queue, frames that go to the controller
    unseen: int = 0  # of those, that did not come though later ones of the queue did
    injected: deque[Frame] = field(default_factory=deque)  # frames of controllers that leave at a port
    partial_packet: list[bytes] = field(default_factory=list)  # records of a frame to the controller
    gone: list[Frame] = field(default_factory=list)
    came: list[Frame] = field(default_factory=list)  # since the records were last compared


class Bench:
    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.stages = int(dut.Stages.value)
        self.rows = 1 << int(dut.TernaryW.value)
        # Stages with ternary tables, prefixes, meters: bit s for stage s
        self.masks = (int(dut.Ternary.value), int(dut.Prefixes.value), int(dut.Meters.value))
        self.lacks = {
            (memory, stage)
            for mask, memories in zip(
                self.masks, ((TERNARY, TARGET), (LEAF, *range(LPM, LPM + LEVELS)), (METER,)), strict=True
            )
            for memory in memories
            for stage in range(self.stages)
            if not mask >> stage & 1
        }
        self.ports = [Port() for _ in range(int(dut.Ports.value))]
        self.accesses: deque[Access] = deque()
        self.under_way = False
        self.cycle = 0
        self.into = self.out = (1.0, 1.0)  # how often each port brings a beat, and takes one
        self.values: dict[str, int] = {}
        self.ticks = False  # the card's time goes on, else it stands
        self.next_req = 0
        self.records: deque[bytes] = deque()  # for the host, that came and were not compared
        self.told = 0  # that were compared
        self.compares = True
        self.record_cycles: list[int] = []  # in which records came
        self.from_host: deque[bytes] = deque()  # records for the block
        self.packets = 0  # frames that came to the controller
        self.host_takes = 1.0  # how often it is ready for a record
        self.heads: dict[
            int, tuple[int, int, int, int]
        ] = {}  # of each port's frame that is leaving: mark, kind, target, word

    def drive(self, name: str, value: int) -> None:
        if self.values.get(name) != value:
            self.values[name] = value
            getattr(self.dut, name).value = value

    async def start(self) -> None:
        dut = self.dut
        for name in ("valid", "data", "last", "len", "tail", "tenant", "mark"):
            self.drive(f"in_{name}", 0)
        for name in ("out_ready", "req", "we", "addr", "wdata", "now", "record_ready", "from_valid", "from_record"):
            self.drive(name, 0)
        dut.rst.value = 1
        Clock(dut.clk, CLOCK_NS, unit="ns").start()
        for _ in range(4):
            await FallingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk)

    # ---- the host
    def access(self, write: bool, addr: int, data: int = 0, done: Callable[[int, bool], None] | None = None) -> None:
        self.accesses.append(Access(write, addr, data, done))

    async def count(self, register: int) -> int:
        """A counter of 64 bits, since the reset."""
        words: list[int] = []

        def note(value: int, err: bool) -> None:
            assert not err
            words.append(value)

        self.access(False, register, 0, note)
        self.access(False, regs.RMT_BLOCK_COUNT_H, 0, note)
        await self.settle()
        return (words[0] | words[1] << 32) - FIRST_COUNT

    def select(self, memory: int, stage: int, row: int) -> None:
        self.access(True, regs.RMT_BLOCK_SELECT, memory << 24 | stage << 16 | row)

    def write(self, writes: Iterable[Write], done: Callable[[], None] | None = None) -> None:
        """Queues writes of rows; `done` is called when all are acknowledged."""
        for memory, stage, row, words in writes:
            self.select(memory, stage, row)
            for n, word in enumerate(words):
                self.access(True, regs.RMT_BLOCK_DATA + 4 * n, word)
            self.access(True, regs.RMT_BLOCK_COMMIT, 0, no_error)
        if done:
            self.access(False, regs.RMT_BLOCK_SHAPE, 0, lambda _, __: done())

    def host(self) -> None:
        """Drives the next access, or takes the answer of the one under way."""
        dut = self.dut
        if self.under_way:
            if int(dut.ack.value):
                access = self.accesses.popleft()
                if access.done:
                    access.done(int(dut.rdata.value), bool(int(dut.err.value)))
                else:
                    assert not int(dut.err.value), hex(access.addr)
                self.under_way = False
                self.next_req = 0
        elif self.accesses:
            self.under_way = True
            self.next_req = 1

    # ---- frames
    def send(self, port: int, data: bytes, tenant: int, mark: int, results: list[Result]) -> Frame:
        frame = Frame(data, tenant, mark, results)
        self.ports[port].waiting.append(frame)
        return frame

    def inject(self, data: bytes, tenant: int, model: Machine, result: Result | None = None) -> Frame:
        """Sends a controller's frame."""
        result = result or model.carry(CONTROLLER, data, tenant, 0)
        frame = Frame(data, tenant, 0, [result], injected=True)
        for at in range(0, len(data), PIECE):
            head = bytes([0, 2, tenant, 0, 2 * (at == 0), 0]).ljust(24, b"\0")
            piece = data[at : at + PIECE].ljust(PIECE, b"\x69") + len(data).to_bytes(2, "little")
            self.from_host.append((head + piece).ljust(64, b"\0"))
        port = self.ports[0]
        port.came.append(frame)
        self.expect_clones(port, frame)
        if result.kind == "copies":
            self.expect(port, frame)
        else:
            port.injected.append(frame)
        return frame

    @staticmethod
    def expect(port: Port, frame: Frame) -> None:
        """Notes a frame whose copies are to leave."""
        result = frame.results[0]
        if any(to >= 512 for to in result.copies):
            port.packets.setdefault(result.queue, deque()).append(frame)
        if any(to < 512 for to in result.copies):
            port.kept.setdefault(result.queue, deque()).append(frame)

    def expect_clones(self, port: Port, frame: Frame) -> None:
        """Notes the clones that leave beside a frame."""
        for result in frame.results[:1]:
            if result.clones:
                mark = frame.mark if result.raw else result.mark
                copies = Result("copies", result.clone, mark, copies=result.clones, queue=CLONES + result.queue)
                self.expect(port, Frame(frame.data, frame.tenant, frame.mark, [copies], is_clone=True))

    async def drain(self, timeout: int = 100_000) -> None:
        start = self.cycle

        def works() -> bool:
            some = any(port.waiting or port.inside or port.injected for port in self.ports)
            return bool(self.accesses or self.from_host or some or int(self.dut.busy.value))

        while works():
            assert self.cycle - start < timeout, "frames or accesses stay in the block"
            await self.step()
            await self.answer()
        for _ in range(20):
            await self.step()
        assert not int(self.dut.busy.value)
        if self.compares:
            await self.compare_records()

    async def compare_records(self) -> None:
        """Each port's frames have sent the records that they should, in their order. Of a frame whose copies are lost
        nothing else is known than its results, of which there is one.
        """
        wanted = [[(f.result or f.results[0]).record for f in port.came] for port in self.ports]
        for _ in range(100_000):
            if not any(frames for port in self.ports for frames in port.packets.values()):
                break
            await self.step()
        for _ in range(20 * sum(len(some) for some in wanted) + 20):
            if len(self.records) == sum(record is not None for some in wanted for record in some):
                break
            await self.step()
        assert not any(frames for port in self.ports for frames in port.packets.values()), "frames for controllers"
        for p, some in enumerate(wanted):
            came = [record[:8] + bytes(8) + record[16:] for record in self.records if record[3] == p]
            assert came == [record for record in some if record is not None], f"records of port {p}"
            self.ports[p].came.clear()
        self.told += len(self.records)
        self.records.clear()

    async def settle(self) -> None:
        """Until all host accesses are done."""
        while self.accesses:
            await self.step()
            await self.answer()

    async def answer(self) -> None:
        """Without frames nothing happens before the host's answer, so no step is taken for each cycle until then. A
        frame from nowhere and a record end the wait.
        """
        dut = self.dut
        busy = any(port.waiting or port.inside for port in self.ports)
        if busy or self.ticks or not self.values["req"] or not self.under_way:
            return
        if any(int(signal.value) for signal in (dut.ack, dut.out_valid, dut.dropped, dut.record_valid)):
            return
        start = get_sim_time("ns")
        changes = (signal.value_change for signal in (dut.out_valid, dut.dropped, dut.record_valid))
        answer = RisingEdge(dut.ack), *changes
        await First(*answer, Timer(1000 * CLOCK_NS, unit="ns"))
        await FallingEdge(dut.clk)
        self.cycle += round((get_sim_time("ns") - start) / CLOCK_NS)

    async def step(self) -> None:
        dut, rng = self.dut, self.rng
        values = [0] * 6
        valid = ready = 0
        for p, port in enumerate(self.ports):
            if not port.offered and port.waiting and (self.into[p] == 1.0 or rng.random() < self.into[p]):
                port.offered = True
            if port.offered:
                valid |= 1 << p
                for i, (value, width) in enumerate(
                    zip(self.beat(port), (8 * BEAT, 1, 16, 8 * TAIL + 1, 6, 32), strict=True)
                ):
                    values[i] |= value << width * p
            ready |= (self.out[p] == 1.0 or rng.random() < self.out[p]) << p
        self.drive("in_valid", valid)
        if valid:
            for name, value in zip(("data", "last", "len", "tail", "tenant", "mark"), values, strict=True):
                self.drive(f"in_{name}", value)
        self.drive("out_ready", ready)
        self.drive("record_ready", int(self.host_takes == 1.0 or rng.random() < self.host_takes))
        self.drive("from_valid", int(bool(self.from_host)))
        if self.from_host:
            self.drive("from_record", int.from_bytes(self.from_host[0], "little"))
        if self.ticks:
            self.drive("now", self.values["now"] + CLOCK_NS)
        self.drive("req", self.next_req)
        if self.next_req:
            access = self.accesses[0]
            self.drive("we", access.write)
            self.drive("addr", access.addr)
            self.drive("wdata", access.data)
        await ReadOnly()
        taken = int(dut.in_ready.value) & valid
        leaving = int(dut.out_valid.value) & ready
        dropped = int(dut.dropped.value)
        if self.values["record_ready"] and int(dut.record_valid.value):
            self.record_cycles.append(self.cycle)
            record = int(dut.record.value).to_bytes(64, "little")
            if record[1] == 2:
                self.packet(record)
            else:
                self.records.append(record)
        if self.from_host and int(dut.from_ready.value):
            self.from_host.popleft()
        for p, port in enumerate(self.ports):
            if dropped >> p & 1:
                self.drop(p, port)
            if leaving >> p & 1:
                self.take(p, port)
            if taken >> p & 1:
                port.offered = False
                frame = port.waiting[0]
                if port.at == 0:
                    frame.taken = self.cycle
                    port.came.append(frame)
                    self.expect_clones(port, frame)
                    copies = frame.results and frame.results[0].kind == "copies"
                    if copies:
                        self.expect(port, frame)
                    else:
                        port.inside.append(frame)
                port.at += 1
                if port.at == beats(len(frame.data)):
                    port.waiting.popleft()
                    port.at = 0
        self.host()
        await FallingEdge(dut.clk)
        self.cycle += 1

    def beat(self, port: Port) -> tuple[int, int, int, int, int, int]:
        frame = port.waiting[0]
        length = len(frame.data)
        folded = BEAT < length <= BEAT + TAIL
        # The bytes after a frame's end belong to another frame, and no program may see them.
        some = frame.data[BEAT * port.at : BEAT * (port.at + 1)].ljust(BEAT, b"\x5a")
        tail = (frame.data[BEAT:] if folded else b"").ljust(TAIL, b"\xa5")
        return (
            int.from_bytes(some, "little"),
            int(port.at + 1 == beats(length)),
            length,
            folded << 8 * TAIL | int.from_bytes(tail, "little"),
            frame.tenant,
            frame.mark,
        )

    def drop(self, p: int, port: Port) -> None:
        refused = int(self.dut.reason.value) >> 2 * p & 3 == REFUSED
        # The frame ahead of it may still wait to be taken.
        at = int(self.dut.out_valid.value & ~self.dut.out_made.value) >> p & 1
        program_refuses = len(port.inside) > at and any(r.refused for r in port.inside[at].results)
        if refused and not program_refuses and any(port.kept.values()):
            port.lost += 1
            return
        assert len(port.inside) > at, "a frame from nowhere is dropped"
        frame = port.inside[at]
        del port.inside[at]
        self.finish(port, frame, [r for r in frame.results if r.kind == "drop" and r.refused == refused])

    def take(self, p: int, port: Port) -> None:
        dut = self.dut
        made = int(dut.out_made.value) >> p & 1
        assert made or port.inside, "a frame from nowhere"
        if not port.partial:
            self.heads[p] = (
                int(dut.out_mark.value) >> 32 * p & 0xFFFFFFFF,
                int(dut.out_kind.value) >> 3 * p & 7,
                int(dut.out_target.value) >> 8 * p & 0xFF,
                int(dut.out_word.value) >> 32 * p & 0xFFFFFFFF,
            )
            port.began = self.cycle
            port.tenant = int(dut.out_tenant.value) >> 6 * p & 0x3F
            port.length = int(dut.out_len.value) >> 16 * p & 0xFFFF
        port.partial += (int(dut.out_data.value) >> 8 * BEAT * p & (1 << 8 * BEAT) - 1).to_bytes(BEAT, "little")
        if not int(dut.out_last.value) >> p & 1:
            return
        tail = int(dut.out_tail.value) >> (8 * TAIL + 1) * p
        if tail >> 8 * TAIL & 1:
            port.partial += (tail & (1 << 8 * TAIL) - 1).to_bytes(TAIL, "little")
        data, port.partial = port.partial[: port.length], b""
        mark, kind, target, word = self.heads[p]
        frame = port.injected[0] if made and port.injected else None
        if made and not (frame and frame.results[0].frame == data):
            self.copy(p, port, data)
            return
        frame = port.injected.popleft() if frame else port.inside.popleft()
        frame.left = port.began
        assert port.tenant == frame.tenant

        def fits(result: Result) -> bool:
            if result.frame != data or result.mark != mark:
                return False
            if result.kind == "onward":
                if frame.injected:
                    return (kind, word) == (0, 0)
                return (kind, word) == (DISPATCH, ~len(frame.data) & 0xFFFF)
            return KINDS.get(result.kind) == kind and word == 0 and (result.kind == "host" or target == result.target)

        assert any(map(fits, frame.results)), (
            f"port {p}, tenant {frame.tenant}: {frame.data.hex()} left as {data.hex()}, mark {mark:#x}, verdict "
            f"{kind} {target};"
            f" expected {[(r.kind, r.frame.hex(), hex(r.mark), r.target) for r in frame.results]}"
        )
        self.finish(port, frame, [r for r in frame.results if fits(r)])

    def copy(self, p: int, port: Port, data: bytes) -> None:
        """A copy is the next one of a frame that has copies, or the first one of a frame behind those that are lost."""
        mark, kind, target, word = self.heads[p]
        where = 256 if kind == KINDS["host"] else target
        assert kind in KINDS.values() and word == 0
        copy = (data, port.tenant, mark, where)

        def is_next(frames: deque[Frame]) -> bool:
            if not frames:
                return False
            frame, result = frames[0], frames[0].results[0]
            copies = [to for to in result.copies if to < 512]
            return (result.frame, frame.tenant, result.mark, copies[frame.copied]) == copy

        if not any(map(is_next, port.kept.values())):
            for frames in port.kept.values():
                if any(frame.results[0].frame == data for frame in frames):
                    while not frames[0].copied and frames[0].results[0].frame != data:
                        port.clones_lost += frames.popleft().is_clone
        for frames in port.kept.values():
            if is_next(frames):
                frame = frames[0]
                frame.copied += 1
                if frame.copied == sum(to < 512 for to in frame.results[0].copies):
                    frame.left = self.cycle
                    self.finish(port, frames.popleft(), frame.results)
                return
        raise AssertionError(f"a copy from nowhere: {data.hex()} at {where}")

    def packet(self, record: bytes) -> None:
        """A piece of a frame for the controller. Frames of a queue come in their order, but those that are lost."""
        port = self.ports[record[3]]
        some = port.partial_packet
        first, bank = record[4] >> 1 & 1, record[4] & 1
        assert first == (not some) and not any(other.partial_packet for other in self.ports if other is not port)
        assert not some or some[0][1:8] == record[1:4] + bytes([record[4] | 2]) + record[5:8]
        some.append(record)
        length = int.from_bytes(record[24 + PIECE : 26 + PIECE], "little")
        if PIECE * len(some) < length:
            return
        data = b"".join(piece[24 : 24 + PIECE] for piece in some)[:length]
        port.partial_packet = []
        for frames in port.packets.values():
            at = next((n for n, frame in enumerate(frames) if frame.results[0].frame == data), None)
            if at is None:
                continue
            port.unseen += at
            for _ in range(at):
                frames.popleft()
            frame = frames.popleft()
            assert (frame.tenant, frame.results[0].mark) == (record[2], int.from_bytes(record[16:20], "little"))
            assert 512 + bank in frame.results[0].copies
            self.packets += 1
            if all(to >= 512 for to in frame.results[0].copies):
                self.finish(port, frame, frame.results)
            return
        raise AssertionError(f"a frame for the controller from nowhere: {data.hex()}")

    def finish(self, port: Port, frame: Frame, fitting: list[Result]) -> None:
        assert fitting, f"tenant {frame.tenant}: {frame.data.hex()} was dropped; expected {frame.results}"
        frame.result = fitting[0]
        if frame.left < 0:
            frame.left = self.cycle
        if not frame.is_clone:
            port.gone.append(frame)


def no_error(_: int, err: bool) -> None:
    assert not err
