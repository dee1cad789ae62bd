# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Access to the inside of a card from Python: memories, registers, interrupts, debug words, programs, and refusals."""

from __future__ import annotations

import io
import ipaddress
import random
import subprocess
from pathlib import Path

import penstock
import pytest
from elftools.elf.elffile import ELFFile
from penstock import (
    AccessError,
    DesignError,
    Device,
    FaultError,
    FileError,
    Memory,
    PenstockError,
    ProgramError,
    ProgramWarning,
    TableError,
    UnsupportedError,
    regs,
)

FORWARD = "designs/one-unit.toml"
FIREWALL = "designs/firewall.toml"
FORWARD_PROGRAM = "engines/rpu/programs/forward.c"

# Answers pokes on the debug words, says that it is ready when it is asked to leave, and keeps a count in a variable.
EVENTS = """
#include <penstock.h>
volatile uint32_t pokes, frames = 100;
void int_handler(void) {
    uint32_t flags = pn_interrupts();
    pn_ack(flags);
    if (flags & PN_INT_POKE) {
        pokes++;
        uint64_t in = pn_debug_in();
        pn_debug((uint32_t)in + pokes, (uint32_t)(in >> 32) ^ 0xFFFFFFFFu);
    }
    if (flags & PN_INT_EVICT) PN_REG(RPU_CORE_READY_TO_EVICT) = 1;
}
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        frames++;
        pn_data()[0] = (uint8_t)frames;
        pn_send(desc ^ pn_port(1));
    }
}
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def variable(card: Device, name: str) -> tuple[int, int]:
    """Address in data memory, and size, of a variable of the program."""
    symbols = ELFFile(io.BytesIO(card.elf or b"")).get_section_by_name(".symtab")
    (symbol,) = symbols.get_symbol_by_name(name)
    return symbol["st_value"] - 0x80_0000, symbol["st_size"]


def test_memories_keep_what_is_written(target: str) -> None:
    rng = random.Random(1)
    with Device.open(FORWARD, target, units=4) as card:
        unit, other = card.units[2], card.units[3]
        places = [("imem", 64 << 10, 0x8000), ("dmem", 32 << 10, 0x7000), ("pmem", 1 << 20, 0x8_0000)]
        for name, size, base in places:
            memory, neighbour = getattr(unit, name), getattr(other, name)
            assert isinstance(memory, Memory) and len(memory) == size
            untouched = neighbour[base : base + 64]
            mirror = bytearray(memory[base : base + 64])
            for _ in range(12):
                start, count = rng.randrange(60), rng.randrange(5)
                mirror[start : start + count] = data = rng.randbytes(count)
                memory.write(base + start, data)
            assert memory[base : base + 64] == mirror == memory.read(base, 64)
            memory[base + 5] = mirror[5] = 0xA5
            memory[base + 8 : base + 11] = mirror[8:11] = b"abc"
            memory.set_word(base + 12, 0x0403_0201)
            mirror[12:16] = bytes([1, 2, 3, 4])
            assert memory[base : base + 64] == mirror and memory[base + 5] == 0xA5
            assert memory.word(base + 12) == 0x0403_0201 == int.from_bytes(mirror[12:16], "little")
            assert neighbour[base : base + 64] == untouched
            memory[-3:] = b"end"
            assert memory[size - 3 :] == b"end" and memory[-1] == ord("d") and memory[size:] == b""
            for start, count in ((size, 1), (size - 3, 4), (-1, 1), (0, -1), (size + 1, 0)):
                with pytest.raises(IndexError, match=f"of unit 2 has {size} bytes"):
                    memory.read(start, count)
            with pytest.raises(IndexError):
                memory.write(size - 1, b"xx")
            with pytest.raises(IndexError):
                memory[size]
            with pytest.raises(ValueError, match="3 bytes for 2 bytes"):
                memory[0:2] = b"xyz"
            with pytest.raises(ValueError, match="no step 2"):
                memory[0:8:2]


def test_host_memory_is_what_programs_use(target: str) -> None:
    frame = random.Random(2).randbytes(300)
    with Device.open(FORWARD, target, program="engines/rpu/programs/host_memory.c") as card:
        memory = card.host_memory
        assert len(memory) == 1 << 30 and memory[0x3FFF_FFF0 : 1 << 30] == bytes(16)
        memory[5:9] = b"host"
        assert memory[4:10] == b"\0host\0"
        card.send(frame)
        result = card.run()
        assert result.at(1) == [frame] and result.counters.host_memory.write_bytes == 300
        assert result.counters.host_memory.reads == 1 == card.counters().host_memory.writes
        # The program chose the place, so search for it.
        assert any(frame in memory.read(start, 1 << 20) for start in range(0, 1 << 24, 1 << 20))
        with pytest.raises(IndexError, match="has 1073741824 bytes"):
            memory.read((1 << 30) - 1, 2)


def test_a_unit_reaches_the_host_memory_that_it_is_given(target: str) -> None:
    frame = random.Random(2).randbytes(300)
    with Device.open(FORWARD, target, program="engines/rpu/programs/host_memory.c") as card:
        unit = card.units[0]
        for base, size in ((-1, 5), (0, -1), (1, 1 << 64)):
            with pytest.raises(ValueError, match="address space"):
                unit.set_host_range(base, size)
        unit.set_host_range(0, 0)
        card.send(frame)
        result = card.run(check=False)
        assert result.counters.host_memory.denied == 2 and result.counters.host_memory.writes == 0
        assert all(frame not in card.host_memory.read(start, 1 << 20) for start in range(0, 1 << 24, 1 << 20))
        unit.set_host_range(0, 1 << 64)
        card.send(frame)
        assert card.run(check=False).at(1) == [frame]
        counters = card.counters().host_memory
        assert (counters.denied, counters.writes, counters.reads, counters.errors) == (2, 1, 1, 0)


def test_a_unit_is_halted_looked_at_and_goes_on(target: str) -> None:
    """A unit that is halted keeps its frames while the other one sends its own, and a register that is changed is what
    the program has.
    """
    # The card of engines/rpu/tests/test_gdb.py.
    with Device.open(FIREWALL, target, program=FORWARD_PROGRAM, units=2, policy="round-robin") as card:
        unit, other = card.units
        assert not unit.halted
        with pytest.raises(UnsupportedError, match="halt it first"):
            dict(unit.registers)
        unit.halt()
        assert unit.halted and not other.halted
        pc, word = unit.pc, unit.imem.word(unit.pc)
        assert word & 0xFFFF_F07F == 0x7000_2003, "it waits in a load from RECV"
        register = f"x{word >> 7 & 31}"
        before = dict(unit.registers)
        assert list(before) == list(penstock.Registers.NAMES) and before["pc"] == pc and before["zero"] == 0
        # It waits for a frame, and then has it.
        assert not unit.step() and not unit.halted
        frames = [bytes([n]) * 60 for n in range(6)]
        card.send(frames)
        with pytest.raises(FaultError, match="unit 0 is halted and has not released") as fault:
            card.run()
        result = fault.value.result
        kept = [frame for frame in frames if frame not in result.at(1)]
        assert 0 < len(kept) < 6 and len(result.at(1)) == 6 - len(kept) and result.drops["lost"] == len(kept)
        assert unit.halted and unit.pc == pc + 4
        registers = unit.registers
        descriptor = registers[register]
        assert descriptor == 60 | 1 << 16 and {**registers, "pc": pc} == {
            **before,
            penstock.Registers.NAMES[word >> 7 & 31]: descriptor,
        }
        # A shorter frame to the other port; and the program is left to itself.
        registers[register] = descriptor - 20
        assert unit.registers[register] == registers[register] == 40 | 1 << 16
        # An update of several writes them, too, under any name.
        own = {name: registers[name] for name in ("t0", "t1", "t2")}
        registers.update({"x5": 7}, t1=8)
        registers |= {"t2": 9}
        assert [unit.registers[name] for name in own] == [7, 8, 9]
        registers.update(own)
        registers["zero"] = 5
        assert unit.registers["x0"] == registers["zero"] == 0
        assert unit.step() and unit.halted and unit.pc == pc + 8
        registers["pc"] = 0x40
        assert unit.pc == 0x40
        registers["pc"] = pc + 8
        unit.resume()
        assert not unit.halted
        assert sorted(card.run().at(1)) == sorted([kept[0][:40], *kept[1:]])
        card.send(frames)
        assert sorted(card.run().at(1)) == frames


def test_interrupts_debug_words_and_variables(target: str, tmp_path: Path) -> None:
    with Device.open(FORWARD, target, program=write(tmp_path / "events.c", EVENTS), units=4) as card:
        unit, other = card.units[1], card.units[2]
        unit.debug_in = 0x1122_3344_5566_7788
        assert unit.debug_in == 0x1122_3344_5566_7788 and other.debug_in == 0
        for pokes in (1, 2, 3):
            unit.poke()
            card.run()
            assert unit.debug_out == (0x1122_3344 ^ 0xFFFF_FFFF) << 32 | (0x5566_7788 + pokes)
        assert other.debug_out == 0
        address, size = variable(card, "pokes")
        assert size == 4 and unit.dmem.word(address) == 3 and other.dmem.word(address) == 0
        assert not unit.ready_to_evict
        unit.evict()
        card.run()
        assert unit.ready_to_evict and not other.ready_to_evict
        # The program goes on with a variable that the host has set.
        address, _ = variable(card, "frames")
        for each in card.units:
            each.dmem.set_word(address, 200)
        card.send([bytes(64)] * 4)
        assert [frame[0] for frame in card.receive(1)] == [201] * 4
        assert [each.dmem.word(address) for each in card.units] == [201] * 4
        assert [unit.number for unit in card.units] == [0, 1, 2, 3] and repr(unit) == "<unit 1>"


def test_registers(target: str) -> None:
    with Device.open(FIREWALL, target, units=4) as card:
        assert card.read(regs.CARD_MAGIC) == 0x5045_4E53 and card.read(regs.CARD_UNITS) == 4 == len(card.units)
        assert card.read(regs.CARD_PORTS) == 2 == card.ports and card.target == target and card.name == "firewall"
        card.write(regs.CARD_RETA, 3)
        assert card.read(regs.CARD_RETA) == 3
        assert [unit.read(regs.UNIT_ID) for unit in card.units] == [0, 1, 2, 3]
        unit = card.units[3]
        unit.write(regs.UNIT_DEBUG_IN_H, 7)
        assert unit.debug_in == 7 << 32 and card.units[0].debug_in == 0
        assert unit.active_slots == 0 and "firewall.c:" in unit.place and unit.pc % 2 == 0
        for address in (0x1C0, 0x8000_0000, 2):
            with pytest.raises(AccessError, match=f"refused a read of register 0x{address:08x}"):
                card.read(address)
        with pytest.raises(AccessError, match="refused a write of register 0x00000000"):
            card.write(regs.CARD_MAGIC, 1)
        with pytest.raises(OverflowError):
            card.write(regs.CARD_POLICY, 1 << 32)


def test_tables_through_the_window(target: str) -> None:
    # Leaf keys and classes as docs/architecture.md lays them out, for one prefix.
    with Device.open(FIREWALL, target, units=4, tables={"ip_prefix": []}) as card:
        start, end = int(ipaddress.ip_address("192.0.2.0")), int(ipaddress.ip_address("192.0.3.0"))
        for unit in card.units:
            for place, word in [(0, start), (4, end), (0x8000, 1), (0x8004, 0)]:
                unit.table.set_word(place, word)
        header = bytes(12) + b"\x08\x00" + b"\x45" + bytes(11)
        frames = [
            header + ipaddress.ip_address(ip).packed + bytes(30)
            for ip in ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0")
        ]
        card.send(frames)
        result = card.run()
        assert sorted(result.at(1)) == sorted([frames[0], frames[3]]) and result.drops["blocked"] == 2


def test_programs_follow_each_other(target: str, tmp_path: Path, command_line: list[str]) -> None:
    elf = tmp_path / "forward.elf"
    subprocess.run(
        [*command_line, "compile", "rpu", "engines/rpu/programs/forward.c", "-o", elf], check=True, capture_output=True
    )
    broken = write(tmp_path / "broken.c", "#include <penstock.h>\nint main(void) { return nothing; }\n")
    unused = write(tmp_path / "unused.c", EVENTS.replace("pn_init();", "int unused; pn_init();"))
    with Device.open(FORWARD, target, load=False) as card:
        assert card.elf is None
        card.load(elf)
        assert card.elf == elf.read_bytes()
        card.send(b"\x55" * 99)
        assert card.receive(1) == [b"\x55" * 99]
        with pytest.raises(ProgramError, match=r"broken\.c:2.*nothing"):
            card.load(broken)
        with pytest.raises(FileError, match=r"none\.c.*give a C source or a linked \.elf"):
            card.load(tmp_path / "none.c")
        with pytest.raises(ProgramError, match="not an ELF file"):
            card.load(write(tmp_path / "text.elf", "text"))
        with pytest.raises(DesignError, match="a table ip_prefix needs units"):
            card.load(tables={"ip_prefix": []})
        # None of it has changed anything.
        card.send(b"\x56" * 99)
        assert card.receive(1) == [b"\x56" * 99] and card.elf == elf.read_bytes()
        with pytest.warns(ProgramWarning, match="unused variable"):
            card.load(unused)
        card.send(b"\x57" * 99)
        assert card.receive(1) == [b"\x65" + b"\x57" * 98]
        card.load(write(tmp_path / "short.c", "#include <penstock.h>\nint main(void) { pn_init(); return 0; }\n"))
        card.send(b"\x57" * 99)
        with pytest.raises(FaultError, match="main returned"):
            card.run()
        card.load("engines/rpu/programs/forward.c")
        card.send(b"\x58" * 99)
        assert card.receive(1) == [b"\x58" * 99]


def test_what_is_refused(target: str, tmp_path: Path) -> None:
    for options, error, message in [
        ({"units": 33}, DesignError, r"^units: 33 is out of range: 1\.\.32$"),
        ({"ports": 0}, DesignError, r"^ports: 0 is out of range: 1\.\.4$"),
        ({"policy": "random"}, DesignError, "`random` is no policy: give round-robin"),
        ({"tables": {"acl": []}}, DesignError, "there is no table `acl`; there are: ip_prefix"),
        (
            {"tables": {"ip_prefix": ["192.0.2.0/24", "192.0.2.300"]}},
            TableError,
            r"ip_prefix:2: `192\.0\.2\.300` is no IPv4",
        ),
        (
            {"tables": {"ip_prefix": tmp_path / "none.txt"}},
            FileError,
            r"none\.txt.*give a block list, one prefix a line",
        ),
        ({"program": tmp_path / "none.c"}, FileError, r"none\.c.*give a C source"),
    ]:
        with pytest.raises(error, match=message) as caught:
            Device.open(FIREWALL, target, **{"units": 4, **options})
        assert isinstance(caught.value, PenstockError)
    with pytest.raises(DesignError, match=r"none\.toml.*give the path of a design, for example designs/forward\.toml"):
        Device.open(tmp_path / "none.toml", target)
    with pytest.raises(UnsupportedError, match="`fast` is no target: give soft, rtl or fpga"):
        Device.open(FORWARD, "fast")
    for threads in [0, 33] if target == "rtl" else [0, 2]:
        with pytest.raises(UnsupportedError, match=f"{threads} threads: give 1 to 32 of them on rtl"):
            Device.open(FORWARD, target, threads=threads)
    with Device.open(FIREWALL, target, units=4, tables={"ip_prefix": ["192.0.2.0/24"]}) as card:
        for wrong, error in [
            (["192.0.2.1/24"], TableError),
            (tmp_path / "none.txt", FileError),
            ({"10.0.0.0/8": 16}, TableError),
        ]:
            with pytest.raises(error):
                card.tables["ip_prefix"] = wrong
        with pytest.raises(DesignError, match="there is no table `acl`"):
            card.tables["acl"] = []
        assert card.tables == {"ip_prefix": ["192.0.2.0/24"]}
        frame = bytes(12) + b"\x08\x00" + b"\x45" + bytes(11) + bytes([192, 0, 2, 1]) + bytes(30)
        card.send(frame)
        assert card.run().drops["blocked"] == 1
    with pytest.raises(UnsupportedError, match="the device is closed"):
        card.send(frame)
    with pytest.raises(UnsupportedError, match="the device is closed"):
        card.units[0].dmem[0]
    card.close()


def test_the_package_tells_what_it_has() -> None:
    for name in penstock.__all__:
        assert getattr(penstock, name).__doc__, name
    assert sorted(penstock.__all__) == penstock.__all__
    assert dir(penstock) == sorted([*penstock.__all__, "__version__"]) and penstock.__version__
    with pytest.raises(AttributeError, match="no attribute 'Card'"):
        penstock.Card  # noqa: B018
    assert issubclass(penstock.FaultError, PenstockError)
