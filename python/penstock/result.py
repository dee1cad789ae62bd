# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The results of the frames that were sent."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from penstock import _native
from penstock._native import PenstockError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Departure = tuple[str, int | None, int | None, int, tuple[int, int, int], int, bytes]
"""A frame that left, as the extension gives it: the place at which it left, its number among those sent, the unit that
made it, mark, cycles (entered, first beat, last beat), time in ns, and bytes.
"""

PortName = int | Literal["host"]
"""A port: the number of an Ethernet port, or the host's queue."""


class _Counts:
    """Counters whose repr shows those that are not zero."""

    __slots__ = ()

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={value!r}" for name, value in values if value)
        return f"{type(self).__name__}({shown})"


@dataclass(frozen=True, slots=True, repr=False)
class Frame:
    """A frame that left the card. `bytes(frame)` gives its bytes, so you can send it again or pass it to Scapy."""

    data: bytes
    """Its bytes, without FCS."""
    port: PortName
    """Where it left: number of the Ethernet port, or "host"."""
    source: int | None
    """Which of the frames sent since the end of the run before it was, from 0; None when a program
    made it or that is not clear.
    """
    unit: int | None
    """Number of the unit whose program made it; None when it has entered the card."""
    mark: int
    """The mark that the inline blocks left, if the frame came to the host past the units; otherwise 0."""
    entered: int | None
    """Cycle since reset in which its first beat entered the card, or its unit began to send what
    the program made; None on soft.
    """
    first: int | None
    """Cycle in which its first beat left; None on soft."""
    last: int | None
    """Cycle in which its last beat left; None on soft."""
    latency_ns: float | None
    """Nanoseconds from its first beat in, or from when its unit began to send it, to its last beat out; None on soft,
    and for a frame whose source is not known.
    """
    time_ns: int
    """Its time in a capture, ns: on rtl when its last beat left, from the start of the run on; on
    soft when it was captured on its way in.
    """

    def __bytes__(self) -> bytes:
        return self.data

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        source = "" if self.source is None else f", sent as {self.source}"
        made = "" if self.unit is None else f", made by unit {self.unit}"
        latency = "" if self.latency_ns is None else f", {self.latency_ns:.0f} ns"
        place = self.port if self.port == "host" else f"port {self.port}"
        return f"<Frame of {len(self.data)} B at {place}{source}{made}{latency}>"


@dataclass(frozen=True, slots=True, repr=False)
class PortCounters(_Counts):
    """Counters of a stream: an Ethernet port, the host, or the loopback between units."""

    rx_frames: int
    """Frames that entered whole."""
    rx_bytes: int
    rx_stalls: int
    """Cycles in which a frame waited for a slot; 0 on soft."""
    tx_frames: int
    """Frames that left."""
    tx_bytes: int
    tx_stalls: int
    """Cycles in which the receiver was not ready; 0 on soft."""
    drop_overflow: int
    """Frames dropped: the ingress buffer was full."""
    drop_oversize: int
    """Frames dropped: longer than the card or the slot holds."""
    drop_runt: int
    """Frames dropped: shorter than an Ethernet header."""
    drop_damaged: int
    drop_disabled: int
    drop_policy: int
    drop_unsent: int
    """Frames dropped at this exit: its receiver took nothing for too long; 0 on soft."""


@dataclass(frozen=True, slots=True, repr=False)
class UnitCounters(_Counts):
    """Counters of a unit."""

    rx_frames: int
    rx_bytes: int
    rx_stalls: int
    tx_frames: int
    tx_bytes: int
    tx_stalls: int
    blocked: int
    """Frames that the program dropped."""
    refused: int
    """Frames dropped because the program's descriptor was refused, or the interface they were
    redirected to does not exist.
    """
    aborted: int
    """Frames that ended with XDP_ABORTED."""
    wild: int
    """Requests of XDP programs that led nowhere, and so failed: of what the compiler makes there is none; 0 on soft."""
    generated: int
    """Frames that the program made; tx_frames counts them, too, when they leave."""
    errors: int
    """Error flags, bits as in INTERRUPT_FLAGS of the unit's engine."""


@dataclass(frozen=True, slots=True, repr=False)
class HostMemoryCounters(_Counts):
    """The units' requests to host memory."""

    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    errors: int
    """Reads and writes that the host refused."""
    denied: int
    """Reads and writes outside the range of host memory of their unit, which count as nothing else."""


@dataclass(frozen=True, slots=True, repr=False)
class BlockCounters(_Counts):
    """Counters of an inline block."""

    name: str
    """Empty when the block is the only one and has none."""
    engine: str
    frames: int
    """Frames that entered it."""
    made: int
    """Frames that it made."""
    absorbed: int
    """Frames that ended in it, as they were meant to."""
    blocked: int
    """Frames that its program dropped."""
    own: dict[str, Any]
    """What its engine counts beside."""


@dataclass(frozen=True, slots=True)
class InlineCounters:
    """Counters of the inline blocks."""

    refused: int
    """Frames that the blocks sent to ports or units that the card does not have."""
    blocks: tuple[BlockCounters, ...]
    """The blocks, in their order."""

    @classmethod
    def of(cls, tree: dict[str, Any]) -> InlineCounters:
        """From the object `counters.inline` of result.json."""
        return cls(tree["refused"], tuple(BlockCounters(**{"own": {}, **block}) for block in tree["blocks"]))


@dataclass(frozen=True, slots=True)
class Counters:
    """All counters of a card."""

    ports: tuple[PortCounters, ...]
    """By number of the Ethernet port."""
    host: PortCounters
    loopback: PortCounters
    units: tuple[UnitCounters, ...]
    """By number of the unit."""
    host_memory: HostMemoryCounters
    inline: InlineCounters | None
    """None when the card has no inline blocks."""

    @classmethod
    def of(cls, tree: dict[str, Any]) -> Counters:
        """From the object `counters` of result.json."""
        return cls(
            ports=tuple(PortCounters(**port) for port in tree["ports"]),
            host=PortCounters(**tree["host"]),
            loopback=PortCounters(**tree["loopback"]),
            units=tuple(UnitCounters(**unit) for unit in tree["units"]),
            host_memory=HostMemoryCounters(**tree["host_memory"]),
            inline=InlineCounters.of(tree["inline"]) if "inline" in tree else None,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a run. Every frame that was sent, or that a program made, is in `frames` or counted in `drops`."""

    frames: tuple[Frame, ...]
    """Frames that left, in the order in which their last beats did."""
    generated: int
    """Frames that programs and inline blocks made: with those sent as many as left, were dropped and were absorbed."""
    absorbed: int
    """Frames that ended in inline blocks, as they were meant to."""
    drops: dict[str, int]
    """Frames that did not, by reason: runt, oversize, overflow, damaged, disabled, policy, blocked, refused, aborted,
    lost."""
    counters: Counters
    """What the card counted in this run."""
    faults: tuple[str, ...]
    """What went wrong, in sentences, while all else was delivered."""
    log: tuple[str, ...]
    """Lines that XDP programs have printed."""
    cycles: int | None
    """Cycles from the first beat in to the last that moved, 4 ns each; None on soft."""
    seconds: float
    """Seconds of this machine that the frames took."""
    json: dict[str, Any]
    """The same as `penstock run --json` writes it."""

    def __repr__(self) -> str:
        drops = ", ".join(f"{count} {reason}" for reason, count in self.drops.items() if count)
        return (
            f"<penstock.Result: {len(self.frames)} frames left, dropped: {drops or 'none'}, {len(self.faults)} faults>"
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        left: dict[PortName, int] = {}
        for frame in self.frames:
            left[frame.port] = left.get(frame.port, 0) + 1
        rows = [(f"left at {port}", str(count)) for port, count in sorted(left.items(), key=lambda item: str(item[0]))]
        rows += [(f"dropped: {reason}", str(count)) for reason, count in self.drops.items() if count]
        if self.cycles is not None:
            rows.append(("cycles", str(self.cycles)))
        known = sorted(frame.latency_ns for frame in self.frames if frame.latency_ns is not None)
        if known:
            median, late = (known[min(len(known) - 1, int(len(known) * part))] for part in (0.5, 0.99))
            rows.append(("latency, p50 / p99 / most", f"{median:.0f} / {late:.0f} / {known[-1]:.0f} ns"))
        rows += [("fault", fault) for fault in self.faults[:20]]
        cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
        return f"<table>{''.join(cells)}</table>"

    @property
    def latencies(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Latencies in ns of the frames whose latency is known, in their order, as a NumPy array; empty on soft."""
        import numpy as np

        return np.array([frame.latency_ns for frame in self.frames if frame.latency_ns is not None], np.float64)

    def to_pandas(self) -> pd.DataFrame:
        """The frames as a table of pandas, a row each: the fields of `Frame`, and `length` in bytes.

        Columns of numbers that may be missing have pandas' type Int64. Needs pandas (pip install pandas).
        """
        import pandas as pd

        names = [field.name for field in fields(Frame)]
        table = pd.DataFrame([[getattr(frame, name) for name in names] for frame in self.frames], columns=names)
        table.insert(1, "length", [len(frame.data) for frame in self.frames])
        types = {name: "Int64" for name in ("source", "unit", "entered", "first", "last")}
        return table.astype({**types, "length": "int64", "mark": "int64", "time_ns": "int64", "latency_ns": "float64"})

    def at(self, port: PortName) -> list[bytes]:
        """The bytes of all frames that left at a port (a number, or "host"), in their order."""
        return [frame.data for frame in self.frames if frame.port == port]

    def write_capture(self, path: str | PathLike[str], port: PortName) -> None:
        """Writes the frames that left at a port as a pcap file with times in ns, as `penstock run --out` does.

        Raises CaptureError when the file cannot be written.
        """
        _native.write_capture(path, [(frame.time_ns, frame.data) for frame in self.frames if frame.port == port])


class FaultError(PenstockError):
    """A run had a fault, while all else was delivered: `result` has the frames, and the message the fault."""

    def __init__(self, result: Result) -> None:
        super().__init__("\n".join(result.faults))
        self.result = result


def frame_of(departure: Departure, *, clock_mhz: int | None) -> Frame:
    """A frame as the extension gives it; `clock_mhz` is None on soft."""
    to, source, unit, mark, (entered, first, last), time_ns, data = departure
    port: PortName = "host" if to == "host" else int(to.removeprefix("port"))
    if clock_mhz is None:
        return Frame(data, port, source, unit, mark, None, None, None, None, time_ns)
    latency = None if source is None and unit is None else (last - entered) * 1000 / clock_mhz
    return Frame(data, port, source, unit, mark, entered, first, last, latency, time_ns)


def result_of(frames: tuple[Frame, ...], drops: list[tuple[str, int]], seconds: float, text: str) -> Result:
    """A result as the extension gives it; `text` is result.json."""
    tree = json.loads(text)
    return Result(
        frames=frames,
        generated=tree["generated"],
        absorbed=tree["absorbed"],
        drops=dict(drops),
        counters=Counters.of(tree["counters"]),
        faults=tuple(tree["faults"]),
        log=tuple(tree["log"]),
        cycles=tree.get("cycles"),
        seconds=seconds,
        json=tree,
    )
