# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Firmware under a debugger: over gdb's remote protocol with a client of our own, and with a gdb that knows RISC-V
where there is one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from remote import Debugged, Remote, Symbols
from scapy.utils import RawPcapReader
from system import ROOT, TARGETS, DesignMaker, call, write_capture
from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
from unicorn.riscv_const import UC_RISCV_REG_PC, UC_RISCV_REG_X0

MIXER = ROOT / "engines/rpu/tests/firmware/mixer.c"
KEY = 0x20
DMEM, PMEM, ACCEL, WINDOW, CORE = 0x800000, 0x1000000, 0x400000, 0x808000, 0x80000000
CORE_ID, RECV = 0x690, 0x700
SIGINT, SIGTRAP = 2, 5


def frames(count: int) -> list[bytes]:
    """Frames without an IP header: the flow hash of all of them is 0, which is unit 0's."""
    return [bytes([n, *range(n % 50, n % 50 + 70)]) for n in range(count)]


def left(folder: Path) -> list[bytes]:
    return [bytes(data) for data, _ in RawPcapReader(str(folder / "port1.pcap"))]


def mix(data: bytes) -> int:
    total = 5381
    for n, byte in enumerate(data):
        total = (total * 33 + byte) & 0xFFFFFFFF
        if total % 7 == 3:
            total ^= 0x5A5A0000 + n
    return total


def expected(frame: bytes, key: int, unit: int) -> bytes:
    total = mix(frame[:20])
    return frame[:20] + bytes([key, unit, total & 0xFF, total >> 8 & 0xFF]) + frame[24:]


def signal_of(answer: str) -> int:
    """The signal that stopped the unit."""
    assert answer[0] in "ST", answer
    return int(answer[1:3], 16)


def debug(tmp_path: Path, design: Path, target: str, count: int, unit: int) -> Debugged:
    capture = write_capture(tmp_path / "in.pcap", frames(count))
    options = ("--out", tmp_path / "out", "--target", target, "--gdb", f"{unit}:0")
    return Debugged("run", design, "--in", capture, *options)


@pytest.mark.parametrize("target", TARGETS)
def test_a_frame_is_met_at_a_line_and_changed(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """A breakpoint at a line of C is hit with a frame; registers and memory are what they must be; each step is what a
    simulator of others does; a variable is changed, and the unit's frames with it. Meanwhile the other unit sends its
    own.
    """
    count = 60
    design = make_design(MIXER, units=2, policy="round-robin", accelerators=["ip_prefix"])
    with debug(tmp_path, design, target, count, 1) as run:
        gdb = Remote(run.port())
        symbols = Symbols(tmp_path / "out" / "program.elf")
        assert gdb.ask("?")[0] in "ST" and gdb.pc() == 0

        # The frame, at a line of main.
        here = symbols.line(MIXER, "the frame is here")
        gdb.set_breakpoint(here)
        gdb.go()
        assert "swbreak" in gdb.receive()
        registers = gdb.registers()
        assert registers[Remote.PC] == here
        (at,) = {value for value in registers[1:32] if PMEM <= value < PMEM + (1 << 20) and value & 63 == 10}
        frame = gdb.read(at, 71)
        assert frame in frames(count) and frame[0] % 2 == 1, "unit 1 has every other frame"
        assert mix(frame[:20]) in registers
        assert gdb.word(symbols["count"]) == 1
        assert gdb.read(symbols["key"], 4) == KEY.to_bytes(4, "little")

        # The other unit has sent all of its frames before this one goes on.
        run.settle(60 if target == "soft" else 5)
        gdb.write(symbols["key"], (0x77).to_bytes(4, "little"))
        gdb.clear_breakpoint(here)

        # The next frame, at a line of a loop: steps beside a simulator.
        loop = symbols.line(MIXER, "in the loop")
        gdb.set_breakpoint(loop)
        gdb.go()
        assert "swbreak" in gdb.receive()
        gdb.clear_breakpoint(loop)
        simulate_steps(gdb, 150 if target == "soft" else 60)
        gdb.do("D")
        status, said = run.end()
    assert status == 0, said
    out = left(tmp_path / "out")
    wanted = [expected(frame, 0x77 if n % 2 else KEY, n % 2) for n, frame in enumerate(frames(count))]
    assert sorted(out) == sorted(wanted)
    assert [frame[21] for frame in out] == [0] * (count // 2) + [1] * (count // 2), "the other unit did not go on"


def simulate_steps(gdb: Remote, steps: int) -> None:
    """After each step all registers equal those of Unicorn, and at the end data memory does."""
    machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
    for base, size in ((0, 0x10000), (DMEM, 0x8000), (PMEM, 0x100000)):
        machine.mem_map(base, size)
    machine.mem_write(0, gdb.read(0, 0x800))
    machine.mem_write(DMEM, gdb.read(DMEM, 0x1000))
    registers = gdb.registers()
    machine.mem_write(DMEM + 0x3F00, gdb.read(DMEM + 0x3F00, 0x100))
    for value in registers[1:32]:
        if PMEM <= value < PMEM + 0x100000:
            machine.mem_write(value & ~63, gdb.read(value & ~63, 128))
    for number, value in enumerate(registers[:32]):
        machine.reg_write(UC_RISCV_REG_X0 + number, value)
    pc = registers[Remote.PC]
    trail = []
    for _ in range(steps):
        word = int.from_bytes(machine.mem_read(pc, 4), "little")
        if word & 0x7F in (0x03, 0x23) and word >> 15 & 31 == 0:
            break  # registers of the unit, which the simulator does not have
        machine.emu_start(pc, 0xFFFFFFFF, count=1)
        assert signal_of(gdb.step()) == SIGTRAP
        seen = gdb.registers()
        simulated = [machine.reg_read(UC_RISCV_REG_X0 + n) & 0xFFFFFFFF for n in range(32)]
        pc = machine.reg_read(UC_RISCV_REG_PC)
        assert seen == [*simulated, pc], f"after {word:08x} at {trail[-1] if trail else 0:#x}"
        trail.append(pc)
    assert len(trail) >= min(steps, 40) and len(set(trail)) < len(trail), "the loop was not gone through"
    assert gdb.read(DMEM, 0x1000) == bytes(machine.mem_read(DMEM, 0x1000))


@pytest.mark.parametrize("target", TARGETS)
def test_all_that_a_debugger_does(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Ctrl-C in a load that waits, memory of every region, registers written, a step that waits, ranges, a client that
    vanishes, and the end of the run.
    """
    count = 6
    table = tmp_path / "table.txt"
    table.write_text("10.0.0.0/8 5\n")
    design = make_design(MIXER, 2, policy="flow-hash", accelerators=["ip_prefix"], tables={"ip_prefix": table})
    with debug(tmp_path, design, target, count, 0) as run:
        gdb = Remote(run.port())
        symbols = Symbols(tmp_path / "out" / "program.elf")
        main, here = symbols["main"], symbols.line(MIXER, "the frame is here")

        # Steps from the first instruction; a breakpoint is not visible in memory, and a write to its address is not
        # lost.
        assert signal_of(gdb.step()) == SIGTRAP and gdb.pc() > 4
        own = gdb.read(main, 8)
        gdb.set_breakpoint(main)
        assert gdb.read(main, 8) == own
        gdb.write(main, own)
        gdb.go()
        assert "swbreak" in gdb.receive() and gdb.pc() == main
        gdb.clear_breakpoint(main)
        gdb.set_breakpoint(here)
        gdb.go()
        assert "swbreak" in gdb.receive() and gdb.pc() == here

        # Every region, aligned or not, including regions that only the core reaches.
        before = gdb.registers()
        for base in (DMEM + 0x3000, PMEM + 0xF0001, WINDOW + 0x81, 0x8001):
            data = bytes(range(7, 7 + 13))
            gdb.write(base, data)
            assert gdb.read(base, 13) == data and gdb.read(base + 2, 3) == data[2:5]
        assert gdb.read(WINDOW + 10, 20) == frames(count)[0][:20] == gdb.read(DMEM + 0x4000 + 10, 20)
        assert gdb.word(CORE + CORE_ID) == 0
        for address, kind in (([10, 1, 2, 3], 5), ([11, 1, 2, 3], 0)):
            gdb.write(ACCEL, bytes(address))
            assert gdb.word(ACCEL + 4) == kind, "a look-up of the accelerator"
        for nothing in (0x10000, 0x200000, 0x900000, 0x1100000, CORE + RECV, CORE + 0x5FC, CORE + 0x800):
            with pytest.raises(KeyError):
                gdb.read(nothing, 4)
        assert gdb.ask("Z0,20000,4") != "OK" and gdb.ask("Z0,2,4") != "OK"
        assert gdb.registers() == before
        # The core reaches them too: a step shows their values, and changes one at most.
        assert signal_of(gdb.step()) == SIGTRAP
        rd = gdb.word(here) >> 7 & 31
        after = gdb.registers()
        assert [n for n in range(32) if after[n] != before[n]] in ([], [rd])
        gdb.set_registers(before)
        changed = [0, *(n * 0x01010101 for n in range(1, 32)), 0x123 * 4]
        gdb.set_registers(changed)
        assert gdb.registers() == changed
        gdb.set_registers(before)
        assert gdb.registers() == before

        # A range of addresses is gone through, out of the range of the line.
        gdb.clear_breakpoint(here)
        assert signal_of(gdb.ask(f"vCont;r{here:x},{here + 16:x}")) == SIGTRAP
        assert not here <= gdb.pc() < here + 16

        # A client that vanishes leaves no breakpoint, and the run goes on to its end.
        gdb.set_breakpoint(here)
        gdb.close()
        status, said = run.end()
        assert (status, "gdb has gone" in said) == (0, True), said
    assert left(tmp_path / "out") == [expected(frame, KEY, 0) for frame in frames(count)]


@pytest.mark.parametrize("target", TARGETS)
def test_ctrl_c_and_the_end(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Ctrl-C stops a program in its loop; `kill` lets it go; a run that is over while the unit runs is the program's
    exit.
    """
    source = tmp_path / "spin.c"
    source.write_text(
        "#include <penstock.h>\nstatic volatile uint32_t stay = 1, rounds;\nint main(void) {\n  pn_init();\n"
        "  while (stay) rounds++;\n  for (;;) pn_send(pn_to(pn_recv(), 1));\n}\n"
    )
    design = make_design(source, units=2, policy="flow-hash", accelerators=["ip_prefix"])
    for how in ("exit", "k"):
        with debug(tmp_path, design, target, 3, 0) as run:
            gdb = Remote(run.port())
            symbols = Symbols(tmp_path / "out" / "program.elf")
            gdb.go()
            time.sleep(1)
            assert signal_of(gdb.interrupt()) == SIGINT
            rounds = gdb.word(symbols["rounds"])
            assert rounds > 0 and symbols["main"] <= gdb.pc() < symbols["main"] + 0x200
            time.sleep(0.2)
            assert gdb.word(symbols["rounds"]) == rounds, "a unit that is halted goes on"
            gdb.write(symbols["stay"], bytes(4))
            if how == "exit":
                gdb.go()
                assert gdb.receive() == "W00"
            else:
                gdb.send("k")
            status, said = run.end()
        assert status == 0, said
        assert left(tmp_path / "out") == frames(3)


def test_what_cannot_be_debugged_is_said(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "in.pcap", frames(1))
    design = make_design(MIXER, units=2)
    for word, says in (("2", "the card has units 0..1"), ("x", "is no unit"), ("0:70000", "is no unit")):
        done = call("run", design, "--in", capture, "--out", tmp_path / "out", "--gdb", word)
        assert done.returncode != 0 and says in done.stderr


def gdb_of_riscv() -> str | None:
    """A gdb that knows the core's instructions: PENSTOCK_GDB, or one of those on the path."""
    for name in (
        os.environ.get("PENSTOCK_GDB", ""),
        "gdb-multiarch",
        "riscv32-unknown-elf-gdb",
        "riscv64-unknown-elf-gdb",
        "gdb",
    ):
        path = shutil.which(name)
        if path:
            knows = [path, "-nx", "-batch", "-ex", "set architecture riscv:rv32"]
            done = subprocess.run(knows, check=False, capture_output=True, text=True)
            if "ndefined" not in done.stderr and done.returncode == 0:
                return path
    return None


@pytest.mark.parametrize("target", TARGETS)
def test_a_session_with_gdb(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """The session of docs/debugging.md."""
    gdb = gdb_of_riscv()
    if gdb is None:
        pytest.skip("no gdb here knows RISC-V; install gdb-multiarch, or name one in PENSTOCK_GDB")
    count = 10
    design = make_design(MIXER, units=2, policy="flow-hash", accelerators=["ip_prefix"])
    line = next(n for n, text in enumerate(MIXER.read_text().splitlines(), 1) if "the frame is here" in text)
    with debug(tmp_path, design, target, count, 0) as run:
        port = run.port()
        commands = [
            f"target remote localhost:{port}",
            f"break mixer.c:{line}",
            "continue",
            "backtrace",
            "info registers pc",
            "print/x key",
            "x/4xb frame",
            "stepi",
            "set var key = 0x77",
            "delete",
            "detach",
        ]
        script = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(
            [gdb, "-nx", "-batch", str(tmp_path / "out" / "program.elf"), *script],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        status, said = run.end()
    assert status == 0, said
    assert f"mixer.c:{line}" in done.stdout and "$1 = 0x20" in done.stdout and "#0" in done.stdout, (
        done.stdout + done.stderr
    )
    out = left(tmp_path / "out")
    assert [frame[20] for frame in out[1:]] == [0x77] * (count - 1)
