# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A card at work."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Literal, SupportsBytes, TypeVar

from penstock import _native, regs
from penstock.engines import OfEngines
from penstock.result import Counters, Departure, FaultError, Frame, PortName, Result, frame_of, result_of
from penstock.unit import Memory, Unit

FrameLike = bytes | bytearray | memoryview | SupportsBytes
"""A frame without FCS: bytes, or what makes bytes of itself, as Scapy's packets and `Frame` do."""

Prefixes = Iterable[object] | Mapping[object, int]
"""IPv4 prefixes, each as text ("192.0.2.0/24") or as an `ipaddress` network, or a mapping from them
to classes 0..15.
"""

TableSource = str | PathLike[str] | Prefixes
"""What a table is filled from: the path of a list, or prefixes."""

Program = str | PathLike[str] | Mapping[str, str | PathLike[str]]
"""The path of a program: C source, an .elf, or what the inline block's engine compiles; or a mapping from names of
groups of units and inline blocks to paths of their programs."""

Target = Literal["soft", "rtl"]
"""Native code, or the card's SystemVerilog."""

Policy = Literal["round-robin", "least-loaded", "flow-hash", "flow-hash-drop"]
"""How the dispatcher chooses a unit for a frame (docs/designs.md)."""

Rate = Literal["lossless", "line", "captured", "turns"] | float
"""How frames enter; a number is Gb/s a port."""

T = TypeVar("T")

HOST_MEMORY_BYTES = 1 << 30


class RoutesError(_native.ServiceError):
    """Routes that no card has, or a file that is none of routes."""


class ProgramWarning(UserWarning):
    """The compiler's warnings about a program that it accepted."""


class Device(OfEngines):
    """A card at work: a design on a target. Open it with `Device.open`, use it in a `with` statement or `close` it.

    All that a device raises is a `PenstockError`, with the message of the command line. While a device works other
    threads of Python run; several threads may use one device, one call is carried out after the other. Ctrl-C in a long
    run ends the device.
    """

    def __init__(
        self, card: _native.Card, tables: Mapping[str, TableSource], folder: tempfile.TemporaryDirectory[str]
    ) -> None:
        super().__init__(card)
        self._card = card
        self._folder = folder
        self.name, self.target, self.ports, self._clock_mhz, groups = card.about()
        self.groups = {
            name: tuple(Unit(card, n, engine, memories) for n in range(first, end))
            for name, engine, first, end, memories in groups
        }
        """The units by the name of their group; of a design with one group without a name that is empty."""
        self.units: tuple[Unit, ...] = tuple(unit for units in self.groups.values() for unit in units)
        """The units, by number."""
        self.tables = Tables(card, tables, folder.name)
        """What the tables of the accelerators are filled from, by name; assign to fill one anew."""
        self.host_memory = Memory("host memory", HOST_MEMORY_BYTES, card.host_read, card.host_write)
        """The memory of the host that units read and write: 1 GiB, zero where nobody wrote."""
        self._inbox: list[Frame] = []
        # Frames of the run under way that `step` has given already.
        self._given = 0

    @classmethod
    def open(
        cls,
        design: str | PathLike[str],
        target: Target = "soft",
        *,
        card: str | None = None,
        program: Program | None = None,
        tables: Mapping[str, TableSource] | None = None,
        units: int | Mapping[str, int] | None = None,
        ports: int | None = None,
        policy: Policy | None = None,
        threads: int = 1,
        load: bool = True,
    ) -> Device:
        """Opens a design (a TOML file, docs/designs.md) and loads its program.

        `target`: "soft", native code, "rtl", the card's SystemVerilog cycle for cycle, or "fpga", a card behind a BAR.
        The first time a card of these ports, units and accelerators is opened on rtl, its model is built, which takes
        a minute or two. `card` says where the card is on fpga: "pci:0000:81:00.0", a real one, "sim:SOCKET", one that
        `penstock fpga sim` simulates, or "sim", the default, a simulated one of its own, or "sim-corundum", the same
        in Corundum's shell (docs/cards.md). `program` (see `Program`), `tables`, `units` (1..32), `ports` (1..4) and
        `policy` replace those of the design. `threads` (1..32) share the simulation on rtl; each needs an idle
        processor, and results stay the same.
        If the design has several groups of units, `program` and `units` are mappings from the names of groups, and a
        table that several groups have is called "GROUP.TABLE". `load=False` leaves the units in reset, for a later
        `load`.

        Raises DesignError, ProgramError, TableError, FileError, BuildError, CardError.
        """
        tables = dict(tables or {})
        # Lists without a file are written into a folder that lives as long as the device.
        folder = tempfile.TemporaryDirectory(prefix="penstock-")
        files = {name: listed(name, table, folder.name) for name, table in tables.items()}
        opened = _native.Card(
            __file__, design, target, card, by_group(program), files, by_group(units), ports, policy, threads
        )
        device = cls(opened, tables, folder)
        if load:
            try:
                device.load()
            except BaseException:
                device.close()
                raise
        return device

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<penstock.Device {self.name!r} on {self.target}: {self.ports} ports, {len(self.units)} units>"

    def close(self) -> None:
        """Ends the device. Any later use of it raises UnsupportedError."""
        self._card.close()
        self._folder.cleanup()

    def load(self, program: Program | None = None, tables: Mapping[str, TableSource] | None = None) -> None:
        """Resets the units and loads programs and tables, given as to `open`; arguments that are left out keep their
        values.

        A program that does not compile, or a list that is no table, raises ProgramError or TableError and changes
        nothing. Warnings of the compiler come as ProgramWarning. Frames that are queued wait for the new program.
        """
        tables = dict(tables or {})
        files = {name: listed(name, table, self._folder.name) for name, table in tables.items()}
        messages = self._card.load(by_group(program), files)
        self.tables._sources.update(tables)
        self._given = 0
        if messages:
            warnings.warn(messages.rstrip(), ProgramWarning, stacklevel=2)

    def swap(self, program: str | PathLike[str], group: str | None = None) -> dict[str, bool]:
        """Gives a group of units or an inline block another program between two frames. Frames that are on their way go
        on; none is lost.

        `group` is the name of the group or block; it is not needed when only one can run the program. Tables of the
        same name, types and sizes keep what they hold: returns for each table of the program, constants aside, whether
        it was kept. On rtl the other tables must find room beside those of the program before.

        Raises the exceptions of `load`, and UnsupportedError if the engine restarts with another program; the old
        program then goes on.
        """
        maps, messages = self._card.swap(group, program)
        if messages:
            warnings.warn(messages.rstrip(), ProgramWarning, stacklevel=2)
        return dict(maps)

    def set_routes(self, routes: Mapping[str, object]) -> None:
        """Gives the card other routes for `bpf_fib_lookup`, until the next `load`. Programs go on.

        A mapping with the keys "interfaces", "routes" and "neighbours", written as in a file of routes
        (docs/designs.md); addresses may be `ipaddress` objects. Raises RoutesError; the routes then stay as they were.
        """
        try:
            self._card.ask("routes", json.dumps({"do": "set", "routes": routes}, default=str))
        except _native.ServiceError as error:
            raise RoutesError(str(error)) from None

    def call(self, service: str, ask: object) -> object:
        """Sends a request to a service of one of the design's engines; the engine defines requests and answers.

        Raises ServiceError when the request is not understood or not possible, UnsupportedError when there is no such
        service.
        """
        return json.loads(self._card.ask(service, json.dumps(ask, default=str)))

    def serve(self, server: str, address: str) -> str:
        """Starts a server of one of the design's engines, such as "p4runtime", at an address of this machine, until the
        device is closed; gives the address. Port 0 is a free one. Its requests and the calls of Python take turns, so a
        request waits for the end of a run.

        Raises UnsupportedError when there is no such server, when the design has no part of its engine, when the server
        is at work already, when the address is not free, and when the device is closed.
        """
        return self._card.serve(server, address)

    def set_ingress(self, *groups: str) -> None:
        """Gives frames of ports and host to these groups of units from now on, instead of those of the design; no frame
        is lost.

        Raises DesignError for a group that the design does not have, UnsupportedError when none is named.
        """
        self._card.set_ingress(list(groups))

    def send(self, frames: FrameLike | Iterable[FrameLike], port: PortName = 0) -> int:
        """Queues one frame or many for an Ethernet port (a number) or for the host's queue ("host"); gives how many.

        Frames are bytes without FCS, Scapy packets, or `Frame`s. `run` carries them. Raises UnsupportedError for a port
        that the card does not have.
        """
        data = as_frames(frames)
        self._card.send(data, str(port))
        return len(data)

    def send_capture(self, path: str | PathLike[str], port: PortName = 0) -> int:
        """Queues all frames of a capture (pcap or pcapng); gives how many. Their times matter to `run` at the rates
        "turns" and "captured" only.

        Raises FileError or CaptureError. If a capture is cut short or damaged, the frames before the damage are queued,
        and the next `run` has a fault.
        """
        return self._card.send_capture(path, str(port))

    def run(self, *, rate: Rate | None = None, check: bool = True) -> Result:
        """Runs until every queued frame has left, was dropped and counted, or is lost.

        `rate` says how fast frames enter. On all targets: "turns", frames of all ports in the order and at the times of
        their captures, one at a time, so that stateful programs send the same frames on each target (docs/clocks.md).
        On rtl and fpga: "lossless" (line rate, but ports may pause: the default), "line", or Gb/s a port, 0.001 to 100;
        soft takes frames as fast as it can at these rates. On rtl: "captured", at the times of the frames.

        Raises FaultError, which has the result, if the run had a fault: a unit that hangs, a wild address, lost frames.
        With `check=False` faults are only in `Result.faults`.
        """
        departures, drops, seconds, text = self._card.run(None if rate is None else str(rate))
        frames = tuple(self._frame(departure) for departure in departures)
        self._inbox += frames[self._given :]
        self._given = 0
        result = result_of(frames, drops, seconds, text)
        if check and result.faults:
            raise FaultError(result)
        return result

    def step(self, cycles: int) -> list[Frame]:
        """On rtl: lets the card work for so many cycles of 4 ns, in which queued frames enter as they can; gives the
        frames that left.

        `run` carries on from there: its result is that of the whole. Reads of registers, counters and memories take
        some cycles of their own, as on a real card; so does the first step after a run. Raises UnsupportedError on
        soft, which has no cycles.
        """
        frames = [self._frame(departure) for departure in self._card.advance(cycles)]
        self._inbox += frames
        self._given += len(frames)
        return frames

    def receive(self, port: PortName) -> list[bytes]:
        """Takes the frames that have left at a port (a number, or "host"), each once. First runs all queued frames, and
        raises the exceptions of `run`.
        """
        if self._card.queued():
            self.run()
        taken = [frame.data for frame in self._inbox if frame.port == port]
        self._inbox = [frame for frame in self._inbox if frame.port != port]
        return taken

    @property
    def time(self) -> int:
        """The time that programs of units see, in ns: `pn_time()` or `bpf_ktime_get_ns()`, by their engine.

        A time that is set stands until another one is; None lets it go on. In turns, frames of a capture set it to
        their own. Programs of inline blocks have a clock of their own, for example `flow.time`.
        """
        low = self.units[0].read(regs.UNIT_TIME_L)
        return self.units[0].read(regs.UNIT_TIME_H) << 32 | low

    @time.setter
    def time(self, ns: int | None) -> None:
        self._card.set_time(ns)

    def counters(self) -> Counters:
        """All counters of the card, since it was opened."""
        return Counters.of(json.loads(self._card.counters()))

    def read(self, address: int) -> int:
        """A register of the host address space, `regs.CARD_...` (shell/regs/card.rdl). Raises AccessError if the
        register does not exist.
        """
        return self._card.read(address)

    def write(self, address: int, value: int) -> None:
        """Writes a register of the host address space, 32 bits. Raises AccessError where none can be written."""
        self._card.write(address, value)

    @property
    def elf(self) -> bytes | None:
        """The loaded program as an ELF file; None if no program is loaded. If the design has several groups of units,
        that of unit 0: `Unit.elf` has each.
        """
        return self.units[0].elf

    def _frame(self, departure: Departure) -> Frame:
        return frame_of(departure, clock_mhz=self._clock_mhz if self.target != "soft" else None)


class Tables(Mapping[str, TableSource]):
    """The sources of a device's tables. An assignment fills a table of all units at once, between runs; programs go on.

    Reading returns the last value that was assigned, or given to `open` or `load`; it does not include a design's own
    file.
    """

    def __init__(self, card: _native.Card, sources: Mapping[str, TableSource], folder: str) -> None:
        self._card = card
        self._sources = dict(sources)
        self._folder = folder

    def __getitem__(self, name: str) -> TableSource:
        return self._sources[name]

    def __setitem__(self, name: str, source: TableSource) -> None:
        """Raises TableError, FileError, or DesignError if the card has no such table; the table
        then stays unchanged.
        """
        self._card.set_table(name, listed(name, source, self._folder))
        self._sources[name] = source

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def by_group(value: T | Mapping[str, T] | None) -> list[tuple[str | None, T]]:
    """A value for the only group of units, or values for some, as the extension takes them."""
    if value is None:
        return []
    return list(value.items()) if isinstance(value, Mapping) else [(None, value)]


def listed(name: str, source: TableSource, folder: str) -> str:
    """The path of a list: `source` itself, or a file below the folder with its prefixes, which errors call by the
    table's name.
    """
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    lines = (
        (f"{prefix} {value}\n" for prefix, value in source.items())
        if isinstance(source, Mapping)
        else (f"{prefix}\n" for prefix in source)
    )
    path = Path(tempfile.mkdtemp(dir=folder), name if name.replace(".", "_").isidentifier() else "table")
    path.write_text("".join(lines))
    return str(path)


def as_frames(frames: FrameLike | Iterable[FrameLike]) -> list[bytes]:
    """The bytes of one frame, or of many."""
    # This comes first because Scapy's packets and bytes are also iterable.
    single = as_frame(frames)
    if single is not None:
        return [single]
    if isinstance(frames, str) or not isinstance(frames, Iterable):
        raise TypeError(f"a frame is bytes or a Scapy packet, not {type(frames).__name__}")
    many = []
    for frame in frames:
        data = as_frame(frame)
        if data is None:
            raise TypeError(f"a frame is bytes or a Scapy packet, not {type(frame).__name__}")
        many.append(data)
    return many


def as_frame(frame: object) -> bytes | None:
    """The bytes of a frame; None when it is none. Not `bytes(frame)` at once, which makes zeros of a number."""
    if isinstance(frame, bytes | bytearray | memoryview) or hasattr(frame, "__bytes__"):
        return bytes(frame)
    return None
