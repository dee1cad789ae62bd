# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The core against plain Python: each instruction's formula, and random programs in lockstep with a simulator.

PENSTOCK_CORE_PROGRAMS sets how many random programs run (default 60); the long form is 2,000.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
from unicorn.riscv_const import UC_RISCV_REG_X0

sys.path.insert(0, str(Path(__file__).resolve().parent))

import isa
import programs

import bench

PROGRAMS = int(os.environ.get("PENSTOCK_CORE_PROGRAMS", "60"))
MEMORY = 1 << 20
STALLS = [0, 0, 100, 500]
IRQS = [0, 5, 50]


def straight(code: list[int]) -> list[int]:
    """A program of `code` without a trap handler: an unexpected exception would stay in a loop at 4."""
    return [isa.jal(0, 8), isa.jal(0, 0), *code, *programs.finish()]


def operands(count: int) -> list[tuple[int, int]]:
    """Pairs of words: all pairs of corner cases, then random ones."""
    rng = random.Random(7)
    pairs = [(a, b) for a in programs.CORNERS for b in programs.CORNERS]
    return pairs + [(programs.word(rng), programs.word(rng)) for _ in range(count - len(pairs))]


def run_table(tmp_path: Path, ops: list[int], pairs: list[tuple[int, int]], stall: int = 0) -> list[list[int]]:
    """Runs each instruction of `ops` (x12 = f(x10, x11)) on each pair; a row of results per pair."""
    row = 4 * len(ops)
    table = b"".join(word.to_bytes(4, "little") for pair in pairs for word in pair)
    results = (len(table) + 3) & ~3
    loop = [isa.load("lw", 10, 8, 0), isa.load("lw", 11, 8, 4)]
    for n, op in enumerate(ops):
        loop += [op, isa.store("sw", 12, 9, 4 * n)]
    loop += [isa.imm("addi", 8, 8, 8), isa.imm("addi", 9, 9, row)]
    loop += [isa.branch("bne", 8, 7, -4 * len(loop))]
    start = [*isa.li(8, isa.DATA_BASE), *isa.li(9, isa.DATA_BASE + results), *isa.li(7, isa.DATA_BASE + len(table))]
    job = bench.Job(straight([*start, *loop]), table, stall=stall, cycles=10_000_000)
    memory = bench.run([job], tmp_path)[0].memory[results:]
    words = [int.from_bytes(memory[i : i + 4], "little") for i in range(0, row * len(pairs), 4)]
    return [words[i * len(ops) : (i + 1) * len(ops)] for i in range(len(pairs))]


def check_table(names: list[str], rows: list[list[int]], pairs: list[tuple[int, int]], expect: list) -> None:
    wrong = [
        f"{name} of {a:#x}, {b:#x}: {got:#x}, must be {f(a, b):#x}"
        for (a, b), row in zip(pairs, rows, strict=True)
        for name, got, f in zip(names, row, expect, strict=True)
        if got != f(a, b)
    ]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("stall", [0, 300])
def test_register_formulas(tmp_path: Path, stall: int) -> None:
    pairs = operands(2500)
    names = [*isa.REG, *isa.UNARY]
    ops = [isa.reg(n, 12, 10, 11) for n in isa.REG] + [isa.unary(n, 12, 10) for n in isa.UNARY]
    expect = [isa.REG[n][2] for n in isa.REG] + [lambda a, _, f=isa.UNARY[n][3]: f(a) for n in isa.UNARY]
    check_table(names, run_table(tmp_path, ops, pairs, stall), pairs, expect)


def test_same_register_twice(tmp_path: Path) -> None:
    pairs = [(a, a) for a, _ in operands(400)]
    ops = [isa.reg(n, 12, 10, 10) for n in isa.REG]
    check_table(list(isa.REG), run_table(tmp_path, ops, pairs), pairs, [isa.REG[n][2] for n in isa.REG])


def test_immediate_formulas(tmp_path: Path) -> None:
    rng = random.Random(8)
    names, ops, expect = [], [], []
    for _ in range(4):
        for name, (_, f) in isa.IMM.items():
            for value in [-2048, 2047, -1, rng.randrange(-2048, 2048)]:
                names.append(f"{name} {value}")
                ops.append(isa.imm(name, 12, 10, value))
                expect.append(lambda a, _, f=f, v=value & isa.MASK: f(a, v))
    for name, (_, _, f) in isa.SHIFT.items():
        for amount in range(32):
            names.append(f"{name} {amount}")
            ops.append(isa.shift(name, 12, 10, amount))
            expect.append(lambda a, _, f=f, n=amount: f(a, n))
    for value in [0, 1, 0x80000, 0xFFFFF, rng.getrandbits(20)]:
        names.append(f"lui {value:#x}")
        ops.append(isa.lui(12, value))
        expect.append(lambda _a, _b, v=value: v << 12)
    pairs = operands(400)
    check_table(names, run_table(tmp_path, ops, pairs), pairs, expect)


def test_branch_conditions(tmp_path: Path) -> None:
    """Each branch over an addition, forwards, with the flag in x12."""
    pairs = operands(2500)
    for name, (_, f) in isa.BRANCH.items():
        # x12 = 1; branch over "x12 = 0"; the store that run_table appends keeps it
        code = [isa.imm("addi", 12, 0, 1), isa.branch(name, 10, 11, 8), isa.imm("addi", 12, 0, 0)]
        rows = run_sequence(tmp_path, code, pairs)
        check_table([name], rows, pairs, [lambda a, b, f=f: int(f(a, b))])


def run_sequence(tmp_path: Path, code: list[int], pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Runs a piece of code on each pair in x10, x11; its result is x12."""
    table = b"".join(word.to_bytes(4, "little") for pair in pairs for word in pair)
    loop = [
        isa.load("lw", 10, 8, 0),
        isa.load("lw", 11, 8, 4),
        *code,
        isa.store("sw", 12, 8, 0),
        isa.imm("addi", 8, 8, 8),
    ]
    loop += [isa.branch("bne", 8, 7, -4 * len(loop))]
    start = [*isa.li(8, isa.DATA_BASE), *isa.li(7, isa.DATA_BASE + len(table))]
    memory = bench.run([bench.Job(straight([*start, *loop]), table)], tmp_path)[0].memory
    return [[int.from_bytes(memory[8 * i : 8 * i + 4], "little")] for i in range(len(pairs))]


def test_loads_and_stores(tmp_path: Path) -> None:
    """Every size at every offset, and the bytes beside it stay."""
    rng = random.Random(9)
    image = bytes(rng.randrange(256) for _ in range(64))
    code, expect, out = isa.li(8, isa.DATA_BASE), bytearray(image), bytearray()
    code += isa.li(9, isa.DATA_BASE + 0x1000)
    for name, (_, size, sign) in isa.LOAD.items():
        for offset in range(0, 64, size):
            code += [isa.load(name, 10, 8, offset), isa.store("sw", 10, 9, len(out))]
            value = int.from_bytes(image[offset : offset + size], "little", signed=sign)
            out += (value & isa.MASK).to_bytes(4, "little")
    for name, (_, size) in isa.STORE.items():
        for offset in rng.sample(range(0, 64, size), 64 // size // 2):
            value = rng.getrandbits(32)
            code += [*isa.li(10, value), isa.store(name, 10, 8, offset)]
            expect[offset : offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    memory = bench.run([bench.Job(straight(code), image)], tmp_path)[0].memory
    assert memory[0x1000 : 0x1000 + len(out)] == out
    assert memory[:64] == expect


def test_machine_mode(tmp_path: Path) -> None:
    """Cause, mtval and mepc of each exception; mstatus over trap and return; fixed CSRs; counters that count and take
    writes.
    """
    c = isa.CSRS
    record = [  # x9 walks over the records; x8 holds DATA_BASE
        isa.csr("csrrs", 10, c["mcause"], 0),
        isa.store("sw", 10, 9, 0),
        isa.csr("csrrs", 11, c["mtval"], 0),
        isa.store("sw", 11, 9, 4),
        isa.csr("csrrs", 11, c["mepc"], 0),
        isa.store("sw", 11, 9, 8),
        isa.csr("csrrs", 12, c["mstatus"], 0),
        isa.store("sw", 12, 9, 12),
        isa.imm("addi", 9, 9, 16),
        isa.imm("addi", 11, 11, 4),
        isa.csr("csrrw", 0, c["mepc"], 11),
        isa.MRET,
    ]
    start = [*isa.li(8, isa.DATA_BASE), *isa.li(9, isa.DATA_BASE + 0x1000), isa.csr("csrrsi", 0, c["mstatus"], 8)]
    base = isa.DATA_BASE
    cases = [  # instruction, cause, mtval
        (isa.ECALL, 11, 0),
        (isa.EBREAK, 3, 0),
        (0, 2, 0),
        (isa.MASK, 2, 0),
        (isa.csr("csrrw", 5, c["mhartid"], 0), 2, 0),
        (isa.csr("csrrs", 5, 0x7C0, 0), 2, 0),
        (isa.load("lw", 5, 8, 1), 4, base + 1),
        (isa.load("lw", 5, 8, 2), 4, base + 2),
        (isa.load("lhu", 5, 8, 3), 4, base + 3),
        (isa.store("sw", 5, 8, 3), 6, base + 3),
        (isa.store("sh", 5, 8, 1), 6, base + 1),
        (isa.jal(5, 6), 0, 0),
        (isa.jalr(5, 8, 2), 0, 0),
        (isa.branch("beq", 0, 0, 6), 0, 0),
    ]
    code = [isa.jal(0, 4 * (len(record) + 1)), *record, *start, isa.imm("addi", 5, 0, 77)]
    code += [isa.csr("csrrwi", 0, c["minstret"], 0)]
    first = 4 * len(code)
    code += [instr for instr, _, _ in cases]
    code += [isa.csr("csrrs", 7, c["minstret"], 0), isa.store("sw", 7, 8, 0x12C)]
    code += [isa.branch("bne", 0, 0, 6), isa.store("sw", 5, 8, 0)]  # not taken: no exception
    reads = ["mstatus", "mtvec", "mhartid", "mscratch"]
    code += [*isa.li(6, 0xDEADBEEF), isa.csr("csrrw", 0, c["mscratch"], 6), isa.csr("csrrw", 0, c["mtvec"], 6)]
    for n, name in enumerate(reads):
        code += [isa.csr("csrrs", 7, c[name], 0), isa.store("sw", 7, 8, 0x100 + 4 * n)]
    code += [isa.csr("csrrs", 6, c["mcycle"], 0), isa.csr("csrrs", 7, c["mcycle"], 0), isa.reg("sub", 7, 7, 6)]
    code += [isa.store("sw", 7, 8, 0x120), isa.csr("csrrwi", 0, c["minstret"], 9), isa.NOP, isa.NOP]
    code += [isa.csr("csrrs", 7, c["minstret"], 0), isa.store("sw", 7, 8, 0x124)]
    code += [isa.imm("addi", 6, 0, -1), isa.csr("csrrw", 0, c["mcycleh"], 0), isa.csr("csrrw", 0, c["mcycle"], 6)]
    code += [isa.NOP, isa.csr("csrrs", 7, c["mcycleh"], 0), isa.store("sw", 7, 8, 0x128)]
    outcome = bench.run([bench.Job([*code, *programs.finish()], bytes(4), seed=13)], tmp_path)[0]

    def at(offset: int) -> int:
        return int.from_bytes(outcome.memory[offset : offset + 4], "little")

    for n, (_, cause, tval) in enumerate(cases):
        got = [at(0x1000 + 16 * n + 4 * i) for i in range(4)]
        assert got == [cause, tval, first + 4 * n, 0x1880], f"case {n}: {[hex(v) for v in got]}"
    assert at(0) == 77, "an exception must not write rd, nor store"
    assert [at(0x100 + 4 * n) for n in range(4)] == [0x1888, 4, 13, 0xDEADBEEF]
    assert at(0x120) == 2
    assert at(0x12C) == len(cases) * len(record), "what fails is not counted, what handles it is"
    assert at(0x124) == 11
    assert at(0x128) == 1


def lockstep(job: bench.Job, outcome: bench.Outcome) -> dict[int, int]:
    """Compares a trace, event by event, with the simulator; returns how many events of each kind there were."""
    reading = 0
    simulator = isa.Simulator(job.program, bytearray(job.memory.ljust(MEMORY, b"\0")), hart_id=job.seed % 32)
    simulator.cycle = lambda: reading
    kinds = {isa.RETIRED: 0, isa.EXCEPTION: 0, isa.INTERRUPT: 0}
    for n, got in enumerate(outcome.trace):
        reading = got.value
        event = simulator.interrupt() if got.kind == isa.INTERRUPT else simulator.step()
        seen = isa.Event(got.pc, got.kind, got.rd, got.value if got.rd else 0, got.store)
        assert seen == event, f"seed {job.seed}, event {n}: {seen}, must be {event}"
        kinds[got.kind] += 1
    assert outcome.memory == bytes(simulator.memory), f"seed {job.seed}: data memory differs"
    return kinds


def random_job(seed: int, zbb: bool = True, system: bool = True) -> bench.Job:
    rng = random.Random(seed)
    program = programs.Generator(rng, zbb, system).program(rng.randrange(10, 90))
    memory = rng.randbytes(0x2800)
    irq = rng.choice(IRQS) if system else 0
    return bench.Job(program, memory, seed, rng.choice(STALLS), irq)


def test_lockstep(tmp_path: Path) -> None:
    total = {isa.RETIRED: 0, isa.EXCEPTION: 0, isa.INTERRUPT: 0}
    for first in range(0, PROGRAMS, 20):
        jobs = [random_job(seed) for seed in range(first, min(first + 20, PROGRAMS))]
        for job, outcome in zip(jobs, bench.run(jobs, tmp_path), strict=True):
            for kind, count in lockstep(job, outcome).items():
                total[kind] += count
    print(f"events by kind: {total}")
    assert min(total.values()) > PROGRAMS, "the programs did not do enough"


def test_interrupts_are_off_when_they_are_switched_off(tmp_path: Path) -> None:
    """No interrupt is taken after the instruction that disables them, and the handler returns with the values that it
    wrote last.
    """
    status, epc = isa.CSRS["mstatus"], isa.CSRS["mepc"]
    body = []
    for n in range(300):
        on, off = isa.csr("csrrsi", 5, status, 8), isa.csr("csrrci", 6, status, 8)
        body += [on, *[isa.imm("addi", 7, 7, n)] * (n % 4), off, isa.imm("addi", 8, 8, 1), isa.reg("add", 9, 8, 7)]
        if n % 3 == 0:
            body += [isa.csr("csrrw", 10, epc, 9)]
    trap = programs.handler()
    program = [isa.jal(0, 4 * (len(trap) + 1)), *trap, *body, *programs.finish()]
    jobs = [
        bench.Job(program, bytes(4), seed, stall, irq) for seed in range(6) for stall in (0, 200) for irq in (60, 400)
    ]
    taken = [
        lockstep(job, outcome)[isa.INTERRUPT] for job, outcome in zip(jobs, bench.run(jobs, tmp_path), strict=True)
    ]
    assert min(taken) > 20


def test_debugged_programs_are_the_same_programs(tmp_path: Path) -> None:
    """Halts, steps and writes of the PC in between change nothing that a program does, and neither do instructions that
    are put into it for a step, unless it looks at its counters; bench.cpp checks that a step is one instruction, and
    not an interrupt.
    """
    total, halts = {isa.RETIRED: 0, isa.EXCEPTION: 0, isa.INTERRUPT: 0}, 0
    for inject in (False, True):
        jobs = [random_job(2_000_000 + seed, system=not inject) for seed in range(PROGRAMS // 3)]
        jobs = [replace(job, halt=random.Random(job.seed).choice([5, 50, 500]), inject=inject) for job in jobs]
        for job, outcome in zip(jobs, bench.run(jobs, tmp_path), strict=True):
            halts += outcome.halts
            for kind, count in lockstep(job, outcome).items():
                total[kind] += count
    print(f"events by kind: {total}, halts: {halts}")
    assert min(total.values()) > PROGRAMS // 3 and halts > 20 * PROGRAMS, "the programs did not do enough"


def test_simulator_against_unicorn() -> None:
    """The oracle itself: the same programs, without Zbb and traps, end with the same registers and
    memory on Unicorn.
    """
    for seed in range(max(20, PROGRAMS // 5)):
        job = random_job(1_000_000 + seed, zbb=False, system=False)
        simulator = isa.Simulator(job.program, bytearray(job.memory.ljust(MEMORY, b"\0")))
        end = 4 * (len(job.program) - 1)
        while simulator.pc != end:
            assert simulator.step().kind == isa.RETIRED
        machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
        machine.mem_map(0, 0x10000)
        machine.mem_map(isa.DATA_BASE, MEMORY)
        machine.mem_write(0, b"".join(word.to_bytes(4, "little") for word in job.program))
        machine.mem_write(isa.DATA_BASE, job.memory)
        machine.emu_start(0, end)
        registers = [machine.reg_read(UC_RISCV_REG_X0 + n) & isa.MASK for n in range(32)]
        assert registers == simulator.x, f"seed {job.seed}"
        assert bytes(machine.mem_read(isa.DATA_BASE, MEMORY)) == bytes(simulator.memory), f"seed {job.seed}"


def cycles_per_round(tmp_path: Path, body: list[int], before: list[int] | None = None) -> float:
    """Cycles that one round of `body` takes, without the loop's own two instructions, measured over 100 rounds."""

    def run(code: list[int]) -> int:
        loop = [*code, isa.imm("addi", 5, 5, -1)]
        loop += [isa.branch("bne", 5, 0, -4 * len(loop))]
        start = [*isa.li(8, isa.DATA_BASE), *isa.li(5, 100), *isa.li(6, 7), *(before or [])]
        return bench.run([bench.Job(straight([*start, *loop]))], tmp_path)[0].cycles

    return round((run(body) - run([])) / 100, 1)


def test_cycles(tmp_path: Path) -> None:
    """The cost of each instruction: the table at the top of rpu_core.sv. A change of the pipeline that costs cycles
    must fail here.
    """
    use = isa.imm("addi", 11, 10, 1)
    expect = {
        "add, used at once": ([isa.reg("add", 10, 6, 6), use], 2),
        "shift, used at once": ([isa.shift("slli", 10, 6, 3), use], 2),
        "store": ([isa.store("sw", 6, 8, 0)], 1),
        "load": ([isa.load("lw", 10, 8, 0)], 1),
        "load, used at once": ([isa.load("lw", 10, 8, 0), use], 4),
        "load, used one later": ([isa.load("lw", 10, 8, 0), isa.NOP, use], 4),
        "byte load, used at once": ([isa.load("lbu", 10, 8, 0), use], 4),
        "cpop, used at once": ([isa.unary("cpop", 10, 6), use], 4),
        "min, used at once": ([isa.reg("min", 10, 6, 6), use], 3),
        "mul": ([isa.reg("mul", 10, 6, 6)], 1),
        "mul, used at once": ([isa.reg("mul", 10, 6, 6), use], 4),
        "jump": ([isa.jal(0, 4)], 1),
        "branch, not taken": ([isa.branch("bne", 0, 0, 8)], 1),
        "branch, taken": ([isa.branch("beq", 0, 0, 4)], 1),
        # every other time over the NOP: the counters predict it wrong each time, which costs 3
        "branch, alternating": ([isa.imm("andi", 12, 5, 1), isa.branch("beq", 12, 0, 8), isa.NOP], 5.5),
        "div of 7 by 7": ([isa.reg("div", 10, 6, 6)], 13),
        "div of -1 by 7": ([isa.reg("divu", 10, 9, 6)], 34),
        "div by 0": ([isa.reg("divu", 10, 6, 0)], 34),
    }
    before = [isa.imm("addi", 9, 0, -1)]
    got = {name: cycles_per_round(tmp_path, body, before) for name, (body, _) in expect.items()}
    assert got == {name: pytest.approx(cycles, abs=0.2) for name, (_, cycles) in expect.items()}


def test_forwarder_loop(tmp_path: Path) -> None:
    """`lw; xor; sw; j`: cycles a frame of the smallest forwarder, when no access waits."""
    loop = [isa.load("lw", 10, 8, 0), isa.reg("xor", 10, 10, 9), isa.store("sw", 10, 8, 4), isa.jal(0, -12)]
    trace = endless(tmp_path, [*isa.li(8, isa.DATA_BASE), *loop], 400)
    stores = [record.cycle for record in trace if record.store]
    steady = [b - a for a, b in pairwise(stores[5:])]
    assert steady and set(steady) == {6}


def endless(tmp_path: Path, code: list[int], cycles: int) -> list[bench.Record]:
    """The trace of the first `cycles` cycles of a program that never ends."""
    outcome = bench.run([bench.Job(straight(code), cycles=cycles)], tmp_path, may_time_out=True)[0]
    return outcome.trace
