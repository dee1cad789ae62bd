# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Cards with an inline chain on either target, with a clock that the test advances: each frame sees its given time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from penstock import Device, regs

CHAIN = 0x4400_1000  # registers of the inline chain
BLOCK = 0x4500_0000  # those of its first block
TARGETS = ("soft", "rtl")
# The port where a frame has left (None: it was dropped), and its bytes.
Left = tuple[int | str, bytes] | None
# Time, Ethernet port, and frame.
Arrival = tuple[int, int, bytes]
S = 1_000_000
# The walker may be this late: a time that passed 268 s ago looks like a future time.
LATE = 250 * S
# Cycles of the walker from one place of a table to the next, and a reserve for its waits.
WALK = 130
# Cycles in which a frame gets through a chain of four elements, when it is alone.
ALONE = 120


def exit_of(verdict: tuple, came: int, ports: int) -> int | str | None:
    """The port where a frame leaves a card whose units send to the neighbour of its port; None: it is dropped."""
    if verdict[0] == "drop":
        return None
    if verdict[0] == "pass":
        return came ^ 1
    if verdict[0] == "host":
        return "host"
    return verdict[1] if verdict[1] < ports else None


class TimedCard:
    """A card, opened; `at` sets its clock."""

    def __init__(self, design: Path, target: str, **options: Any) -> None:
        self.card = Device.open(design, target, **options)
        self.flow = self.card.flow
        self.rtl = target == "rtl"
        self.walked: int | None = None
        if self.rtl:
            self.card.write(CHAIN + regs.INLINE_HOLD, 1)
            self.round = WALK * (self.card.read(BLOCK + regs.FLOW_BLOCK_CONTEXTS) + 4)

    def __enter__(self) -> TimedCard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.card.close()

    def at(self, time: int) -> None:
        """It is so late, in µs."""
        if self.rtl:
            self.card.write(CHAIN + regs.INLINE_TIME_H, 1000 * time >> 32)
            self.card.write(CHAIN + regs.INLINE_TIME_L, 1000 * time & 0xFFFFFFFF)
        else:
            self.flow.time = time

    def walk(self) -> None:
        """Until the walker has been everywhere. On soft it goes on as the clock does, a place of each table in a
        microsecond.
        """
        if self.rtl:
            self.card.step(self.round)

    def reach(self, time: int) -> None:
        """The same as `at`, with the walker coming by as often as it must."""
        self.walked = time if self.walked is None else self.walked
        while self.rtl and time - self.walked > LATE:
            self.walked += LATE
            self.at(self.walked)
            self.walk()
        self.at(time)

    def send(self, port: int, frames: Iterable[bytes]) -> list[Left]:
        """Sends frames of one port at full speed; returns the destination of each."""
        count = self.card.send(frames, port)
        result = self.card.run()
        return self.left(result.frames, count)

    def play(self, arrivals: list[Arrival]) -> list[Left]:
        """Sends frames, each at its time and after the one before; returns the destination of each."""
        left: list[Left] = []
        waiting, now = 0, None
        for time, port, frame in arrivals:
            if time != now:
                if not self.rtl:
                    left += self.left(self.card.run().frames, waiting)
                    waiting = 0
                self.reach(time)
                now = time
            waiting += self.card.send(frame, port)
            if self.rtl:
                self.card.step(ALONE + len(frame) // 16)
        return left + self.left(self.card.run().frames, waiting)

    def left(self, frames: Iterable[Any], count: int) -> list[Left]:
        left: list[Left] = [None] * count
        for frame in frames:
            assert frame.source is not None and left[frame.source] is None
            left[frame.source] = (frame.port, frame.data)
        return left
