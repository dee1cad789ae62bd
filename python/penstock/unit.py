# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Units and memories of a card at work, over the host address space (shell/regs/unit.rdl and the
engine's documentation)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Self, overload

from penstock import _native, regs

if TYPE_CHECKING:
    from penstock.variables import UnitVariables


class Memory:
    """A memory, by byte addresses from its own start: `memory[0x10]`, `memory[0x10:0x20]`, and assignments to both.

    Slices work like those of a `bytearray` that cannot grow: an assigned slice must have the same length.
    """

    def __init__(
        self, name: str, size: int, read: Callable[[int, int], bytes], write: Callable[[int, bytes], None]
    ) -> None:
        self._name = name
        self._size = size
        self._read = read
        self._write = write

    def __len__(self) -> int:
        """Bytes."""
        return self._size

    def __repr__(self) -> str:
        return f"<{self._name}, {self._size} bytes>"

    @overload
    def __getitem__(self, key: int) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> bytes: ...

    def __getitem__(self, key: int | slice) -> int | bytes:
        start, stop = self._range(key)
        data = self._read(start, stop - start)
        return data if isinstance(key, slice) else data[0]

    @overload
    def __setitem__(self, key: int, value: int) -> None: ...

    @overload
    def __setitem__(self, key: slice, value: bytes | bytearray) -> None: ...

    def __setitem__(self, key: int | slice, value: int | bytes | bytearray) -> None:
        start, stop = self._range(key)
        data = bytes([value]) if isinstance(value, int) else bytes(value)
        if len(data) != stop - start:
            raise ValueError(f"{len(data)} bytes for {stop - start} bytes of {self._name}")
        self._write(start, data)

    def read(self, address: int, count: int) -> bytes:
        """`count` bytes from `address` on; IndexError when the memory ends before."""
        self._check(address, count)
        return self._read(address, count)

    def write(self, address: int, data: bytes) -> None:
        """Writes bytes from `address` on; IndexError when the memory ends before."""
        self._check(address, len(data))
        self._write(address, bytes(data))

    def word(self, address: int) -> int:
        """The word of 32 bits at `address`, as the core reads it (least significant byte first)."""
        return int.from_bytes(self.read(address, 4), "little")

    def set_word(self, address: int, value: int) -> None:
        """Writes the word of 32 bits at `address`, as the core does."""
        self.write(address, value.to_bytes(4, "little"))

    def _check(self, address: int, count: int) -> None:
        if not 0 <= address <= self._size or count < 0 or address + count > self._size:
            raise IndexError(f"{self._name} has {self._size} bytes: there are no {count} from 0x{address:x} on")

    def _range(self, key: int | slice) -> tuple[int, int]:
        if isinstance(key, slice):
            start, stop, step = key.indices(self._size)
            if step != 1:
                raise ValueError(f"{self._name} is read and written in one piece: no step {step}")
            return start, max(start, stop)
        start = key + self._size if key < 0 else key
        self._check(start, 1)
        return start, start + 1


class Registers(dict[str, int]):
    """Registers of a core that is halted, as they are now: `registers["a0"]`, `registers["x10"]`, `registers["pc"]`.

    The registers have their names in the calling convention. An assignment writes the core's register.
    """

    NAMES = (
        *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
        *(f"a{n}" for n in range(8)),
        *(f"s{n}" for n in range(2, 12)),
        *(f"t{n}" for n in range(3, 7)),
        "pc",
    )
    _NUMBERS = {name: n for n, name in enumerate(NAMES)} | {f"x{n}": n for n in range(32)} | {"fp": 8}

    def __init__(self, card: _native.Card, unit: int) -> None:
        super().__init__(zip(self.NAMES, card.unit_registers(unit), strict=True))
        self._card = card
        self._unit = unit

    def __missing__(self, name: str) -> int:
        return self[self.NAMES[self._NUMBERS[name]]]

    def __setitem__(self, name: str, value: int) -> None:
        number = self._NUMBERS[name]
        self._card.unit_set_register(self._unit, number, value & 0xFFFFFFFF)
        super().__setitem__(self.NAMES[number], value & 0xFFFFFFFF if number else 0)

    def update(self, *registers: Mapping[str, int] | Iterable[tuple[str, int]], **named: int) -> None:  # type: ignore[override]
        """Writes several registers of the core, one after the other."""
        for name, value in dict(*registers, **named).items():
            self[name] = value

    def __ior__(self, registers: Mapping[str, int] | Iterable[tuple[str, int]]) -> Self:  # type: ignore[override,misc]
        self.update(registers)
        return self


class Unit:
    """One unit: its memories, its registers, its interrupts and its debug words."""

    def __init__(
        self, card: _native.Card, number: int, engine: str, memories: Iterable[tuple[str, str, int, int]]
    ) -> None:
        self._card = card
        self.number = number
        """Number of the unit, from 0."""
        self.engine = engine
        """The engine that its programs are for."""
        self.memories = {name: self._memory(about, base, size) for name, about, base, size in memories}
        """Its memories, by the names of the attributes below; none for engines whose memories only the card fills."""

    @property
    def imem(self) -> Memory:
        """Instruction memory: 64 KiB, address 0 on is what the core executes. This and the following memories raise
        UnsupportedError if the engine's units have no such memory.
        """
        return self._named("imem")

    @property
    def dmem(self) -> Memory:
        """Data memory: 32 KiB; the core sees it from 0x800000 on."""
        return self._named("dmem")

    @property
    def pmem(self) -> Memory:
        """Packet memory: 1 MiB; the core sees it from 0x1000000 on."""
        return self._named("pmem")

    @property
    def table(self) -> Memory:
        """The tables of its accelerator as it has them, word by word. To fill one from a list, use `Device.tables`."""
        return self._named("table")

    def __repr__(self) -> str:
        return f"<unit {self.number}>"

    def read(self, register: int) -> int:
        """A register of the unit as the host sees it: `regs.UNIT_...`. Raises AccessError if the register does not
        exist.
        """
        return int.from_bytes(self._card.unit_read(self.number, register, 4), "little")

    def write(self, register: int, value: int) -> None:
        """Writes a register of the unit. Raises AccessError where none can be written."""
        self._card.unit_write(self.number, register, value.to_bytes(4, "little"))

    def set_host_range(self, base: int, size: int) -> None:
        """Lets the unit reach `size` bytes of host memory from address `base` on and no others; with 0 it reaches none.
        Until then it reaches all.

        The card denies requests with a byte outside: the program gets the error of a request that the host refuses,
        neither memory changes, and `Counters.host_memory.denied` counts it. Raises ValueError if the range does not lie
        in the 2**64 bytes of the address space.
        """
        if base < 0 or size < 0 or base + size > 1 << 64:
            raise ValueError(f"{size} bytes from {base:#x} on do not lie in the address space of the host")
        # A base above the limit gives no range.
        base, limit = (base, base + size - 1) if size else (1, 0)
        self._card.set_host_range(self.number, base, limit)

    def halt(self) -> None:
        """Halts the core before its next instruction, also in a load that waits; the other units go on, and so does the
        card's time.

        The unit keeps its frames: a run that ends without them reports this, and a later one, after `resume`, has them.
        While the core is halted, and after a `step`, its `ebreak` instructions also halt it.
        """
        self._card.unit_halt(self.number)

    def resume(self) -> None:
        """Lets the core go on."""
        self._card.unit_resume(self.number)

    def step(self) -> bool:
        """Has a core that is halted carry out one instruction.

        False if the instruction waits for a frame: the step ends when a frame arrives, or with another `halt`.
        """
        return self._card.unit_step(self.number)

    @property
    def variables(self) -> UnitVariables:
        """Variables of the unit's C program by name: `variables["table"]`, and assignments. VariableError if there is
        no such variable.
        """
        from penstock.variables import Variables

        return Variables(self._card)[self.number]

    @property
    def halted(self) -> bool:
        """Whether the core is halted."""
        return bool(self.read(regs.UNIT_HALTED))

    @property
    def registers(self) -> Registers:
        """Registers of the core as they are now, to be read and assigned to; UnsupportedError while it runs."""
        return Registers(self._card, self.number)

    def poke(self) -> None:
        """Raises the poke interrupt. On soft the program meets it in the next `Device.run`."""
        self.write(regs.UNIT_POKE, 1)

    def evict(self) -> None:
        """Raises the evict interrupt: the program should save its state and report that it is ready
        (`ready_to_evict`).
        """
        self.write(regs.UNIT_EVICT, 1)

    @property
    def ready_to_evict(self) -> bool:
        """Whether the program has said that it may be replaced."""
        return bool(self.read(regs.UNIT_STATUS) & 2)

    @property
    def debug_out(self) -> int:
        """The 64-bit debug word that the program wrote last (`pn_debug`)."""
        return self.read(regs.UNIT_DEBUG_OUT_H) << 32 | self.read(regs.UNIT_DEBUG_OUT_L)

    @property
    def debug_in(self) -> int:
        """The 64-bit debug word for the program (`pn_debug_in`); can be assigned."""
        return self.read(regs.UNIT_DEBUG_IN_H) << 32 | self.read(regs.UNIT_DEBUG_IN_L)

    @debug_in.setter
    def debug_in(self, value: int) -> None:
        data = value.to_bytes(8, "little")
        self._card.unit_write(self.number, regs.UNIT_DEBUG_IN_L, data[:4])
        self._card.unit_write(self.number, regs.UNIT_DEBUG_IN_H, data[4:])

    @property
    def pc(self) -> int:
        """Address of the instruction that the core is at."""
        return self.read(regs.UNIT_PC)

    @property
    def place(self) -> str | None:
        """Its place in the source: `file.c:12 (function)`; None if the program does not have it."""
        return self._card.place(self.number, self.pc)

    @property
    def elf(self) -> bytes | None:
        """The program that it was loaded with, as an ELF file; None before."""
        return self._card.elf(self.number)

    @property
    def active_slots(self) -> int:
        """Slots that hold a frame: bit n - 1 is slot n."""
        return self.read(regs.UNIT_ACTIVE_SLOTS)

    def _named(self, name: str) -> Memory:
        if name not in self.memories:
            there = ", ".join(self.memories) or "none"
            raise _native.UnsupportedError(
                f"unit {self.number} is of the engine {self.engine}, whose units have no `{name}` (memories: {there})"
            )
        return self.memories[name]

    def _memory(self, name: str, base: int, size: int) -> Memory:
        def read(address: int, count: int) -> bytes:
            return self._card.unit_read(self.number, base + address, count)

        def write(address: int, data: bytes) -> None:
            self._card.unit_write(self.number, base + address, data)

        return Memory(f"{name} of unit {self.number}", size, read, write)
