# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs for the core: mixed instructions, hazards of every distance, loops, calls, traps. They always end."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import isa

CORNERS = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF, 0x10000, 0xFFFF0000, 0x55555555]
END, ACK = 0xFFC, 0x3C  # stores that the bench understands

# x28 and x29 point into data memory, x24 to x27 count loops, x30 and x31 belong to the trap handler, x1 and x5 to
# calls.
FREE = [r for r in range(2, 24) if r != 5]
LOOPS = [24, 25, 26, 27]
LINKS = {3: 1, 2: 5}  # by depth of the block


def word(rng: random.Random) -> int:
    """A random word: corner cases, small numbers, sparse and dense ones."""
    match rng.randrange(4):
        case 0:
            return rng.choice(CORNERS)
        case 1:
            return rng.randrange(-40, 40) & isa.MASK
        case 2:
            return (1 << rng.randrange(32)) ^ rng.choice([0, isa.MASK])
        case _:
            return rng.getrandbits(32)


def finish() -> list[int]:
    """Ends the program, then stays."""
    return [isa.lui(24, 1), isa.store("sw", 0, 24, END - 0x1000), isa.jal(0, 0)]


def handler() -> list[int]:
    """Acknowledges an interrupt; steps over an instruction that raised an exception. Mixes the CSRs into x31."""
    exception = [
        isa.csr("csrrs", 31, isa.CSRS["mtval"], 0),
        isa.reg("xor", 31, 31, 30),
        isa.csr("csrrs", 30, isa.CSRS["mepc"], 0),
        isa.imm("addi", 30, 30, 4),
        isa.csr("csrrw", 0, isa.CSRS["mepc"], 30),
        isa.MRET,
    ]
    interrupt = [isa.store("sw", 0, 0, ACK), isa.csr("csrrs", 31, isa.CSRS["mepc"], 0), isa.MRET]
    return [
        isa.csr("csrrs", 30, isa.CSRS["mcause"], 0),
        isa.branch("blt", 30, 0, 4 * (len(exception) + 1)),
        *exception,
        *interrupt,
    ]


@dataclass
class Generator:
    """Writes one program. `zbb` and `system` (CSRs, traps, interrupts) may be left out for a reference without them."""

    rng: random.Random
    zbb: bool = True
    system: bool = True
    recent: list[int] = field(default_factory=lambda: [2, 3, 4])

    def source(self) -> int:
        """A register to read: often the one that was written last."""
        return self.rng.choice(self.recent[-4:]) if self.rng.random() < 0.6 else self.rng.randrange(30)

    def target(self) -> int:
        """A register to write; seldom x0."""
        rd = 0 if self.rng.random() < 0.04 else self.rng.choice(FREE)
        self.recent.append(rd)
        return rd

    def plain(self) -> list[int]:
        """One instruction that goes on to the next."""
        rng = self.rng
        kind = rng.choices(range(8), [10, 10, 4, 4, 3, 9, 7, 2 if self.system else 0])[0]
        a, b = self.source(), self.source()
        match kind:
            case 0:
                names = [
                    n for n in isa.REG if (self.zbb or n not in isa.ZBB) and (isa.REG[n][0] != 1 or rng.random() < 0.5)
                ]
                return [isa.reg(rng.choice(names), self.target(), a, b)]
            case 1:
                return [isa.imm(rng.choice(list(isa.IMM)), self.target(), a, rng.randrange(-2048, 2048))]
            case 2:
                names = [n for n in isa.SHIFT if self.zbb or n not in isa.ZBB]
                return [isa.shift(rng.choice(names), self.target(), a, rng.randrange(32))]
            case 3 if self.zbb:
                return [isa.unary(rng.choice(list(isa.UNARY)), self.target(), a)]
            case 3 | 4:
                upper = rng.getrandbits(20)
                return [rng.choice([isa.lui, isa.auipc])(self.target(), upper)]
            case 5 | 6:
                return self.access(kind == 5)
            case _:
                return self.privileged()

    def access(self, load: bool) -> list[int]:
        """A load or a store within 4 KiB; in a program with traps some are misaligned."""
        rng = self.rng
        name = rng.choice(list(isa.LOAD if load else isa.STORE))
        size = isa.LOAD[name][1] if load else isa.STORE[name][1]
        offset = rng.choice([rng.randrange(-32, 32), rng.randrange(-2048, 2045)])
        if not self.system or rng.random() < 0.95:
            offset -= offset % size
        pointer = rng.choice([28, 29])
        return [
            isa.load(name, self.target(), pointer, offset) if load else isa.store(name, self.source(), pointer, offset)
        ]

    def privileged(self) -> list[int]:
        """CSR accesses, calls of the environment, and illegal instructions."""
        rng = self.rng
        match rng.randrange(7):
            case 3:  # to the middle of a word
                odd = [isa.jal(self.target(), 6), isa.jalr(self.target(), 0, 6)]
                return [rng.choice([*odd, isa.branch(rng.choice(list(isa.BRANCH)), self.source(), self.source(), -6)])]
            case 0:
                return [rng.choice([isa.ECALL, isa.EBREAK, isa.WFI, isa.FENCE])]
            case 1:
                illegal = [0, isa.MASK, 0x0000007F, 0x02000013 | 1 << 12, 0x0A001033, isa.csr("csrrw", 3, 0xF14, 4)]
                return [
                    rng.choice([*illegal, rng.getrandbits(25) << 7 | 0x0B, isa.csr("csrrs", 3, 0x7C0, 0), 0x00003003])
                ]
            case 2:  # interrupts off and on again
                return [isa.csr(rng.choice(["csrrci", "csrrsi"]), self.target(), isa.CSRS["mstatus"], 8)]
            case _:
                names = ["mscratch", "mtval", "mcause", "mepc", "minstret", "minstreth", "mcycle", "mtvec", "mhartid"]
                number = isa.CSRS[rng.choice(names)]
                name = rng.choice(list(isa.CSR_OPS))
                source = rng.choice([0, 0, self.source()])
                if number == isa.CSRS["mcycle"]:
                    source, name = 0, "csrrs"
                return [isa.csr(name, self.target(), number, source)]

    def block(self, depth: int, length: int) -> list[int]:
        """`length` items, some of which contain blocks."""
        rng = self.rng
        code: list[int] = []
        for _ in range(length):
            kind = rng.random()
            if depth == 0 or kind < 0.75:
                code += self.plain()
                continue
            inner = self.block(depth - 1, rng.randrange(1, 7))
            skip = 4 * (len(inner) + 1)
            if kind < 0.84:  # forward branch
                code += [isa.branch(rng.choice(list(isa.BRANCH)), self.source(), self.source(), skip), *inner]
            elif kind < 0.92:  # loop with its test at the end
                counter = LOOPS[depth - 1]
                code += [
                    isa.imm("addi", counter, 0, rng.randrange(1, 7)),
                    *inner,
                    isa.imm("addi", counter, counter, -1),
                ]
                test = rng.choice([isa.branch("bne", counter, 0, -skip), isa.branch("blt", 0, counter, -skip)])
                code += [test]
            elif kind < 0.96 and depth in LINKS:  # a function that two places call, so that it returns to two
                link = LINKS[depth]
                code += [isa.jal(link, 12), isa.jal(link, 8), isa.jal(0, 4 * (len(inner) + 2))]
                code += [*inner, isa.jalr(0, link, rng.choice([0, 1]))]
            else:  # computed jump
                pointer = rng.choice(FREE)
                code += [isa.auipc(pointer, 0), isa.jalr(self.target(), pointer, skip + 4), *inner]
        return code

    def program(self, length: int) -> list[int]:
        """A whole program of about `length` items."""
        rng = self.rng
        start = [instr for r in FREE for instr in isa.li(r, word(rng))]
        for pointer in (28, 29):
            start += isa.li(pointer, isa.DATA_BASE + 0x1000 + 4 * rng.randrange(256))
        if self.system:
            start += [isa.csr("csrrsi", 0, isa.CSRS["mstatus"], 8)]
        trap = handler()
        body = [*start, *self.block(3, length), *finish()]
        return [isa.jal(0, 4 * (len(trap) + 1)), *trap, *body]
