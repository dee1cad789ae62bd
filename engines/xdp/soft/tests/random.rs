// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random programs, here and in the kernel: arithmetic, branches, memory of all kinds, atomics, functions.
#![allow(clippy::unwrap_used)]

mod common;

use common::own;
use common::twins::Twins;
use penstock_testing::Numbers;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::insn::{AluOp, AtomicOp, Callee, Code, Cond, Imm64, Insn, Operand, Reg, Size, Swap, Width};
use penstock_xdp_compiler::object::{Function, Program};

/// Registers that hold numbers: r0 to r7. r8 points to a value of the map, r9 to the packet.
const NUMBERS: usize = 8;
/// Bytes of the packet that programs use.
const PACKET: i16 = 96;
/// Words of the stack that they use.
const STACK: i16 = 8;

fn reg(number: usize) -> Reg {
    Reg::new(number as u8).unwrap()
}

fn mov(dst: Reg, src: Operand) -> Insn {
    Insn::Alu { op: AluOp::Mov, width: Width::W64, dst, src }
}

/// Writes programs. A unit is a few instructions that belong together; branches skip whole ones.
struct Writer<'a> {
    numbers: &'a mut Numbers,
    code: Vec<Insn>,
    /// The places of calls of the function.
    calls: Vec<usize>,
}

impl Writer<'_> {
    fn data(&mut self) -> Reg {
        reg(self.numbers.below(NUMBERS))
    }

    fn width(&mut self) -> Width {
        [Width::W32, Width::W64][self.numbers.below(2)]
    }

    fn imm(&mut self) -> i32 {
        [0, 1, -1, 2, 31, 255, -128, i32::MAX, i32::MIN, self.numbers.next() as i32][self.numbers.below(10)]
    }

    fn alu(&mut self, regs: usize) -> Insn {
        use AluOp::{Add, And, Arsh, Div, Lsh, Mod, Mov, Mul, Or, Rsh, Sdiv, Smod, Sub, Xor};
        const ALL: [AluOp; 14] = [Add, Sub, Mul, Div, Sdiv, Or, And, Lsh, Rsh, Mod, Smod, Xor, Mov, Arsh];
        let (op, width, dst) = (ALL[self.numbers.below(14)], self.width(), reg(self.numbers.below(regs)));
        let src = match self.numbers.below(2) {
            0 => Operand::Reg(reg(self.numbers.below(regs))),
            // By these the kernel takes no constants that make no sense.
            _ if matches!(op, Div | Sdiv | Mod | Smod) => Operand::Imm(self.imm() | 1),
            _ if matches!(op, Lsh | Rsh | Arsh) => Operand::Imm(self.numbers.below(32) as i32),
            _ => Operand::Imm(self.imm()),
        };
        Insn::Alu { op, width, dst, src }
    }

    /// A place in memory: base, offset, size.
    fn place(&mut self) -> (Reg, i16, Size) {
        let size = [Size::B1, Size::B2, Size::B4, Size::B8][self.numbers.below(4)];
        let bytes = size.bytes() as i16;
        match self.numbers.below(3) {
            0 => (Reg::FP, -8 * STACK + bytes * self.numbers.below((8 * STACK / bytes) as usize) as i16, size),
            1 => (reg(8), self.numbers.below((65 - bytes) as usize) as i16, size),
            _ => (reg(9), self.numbers.below((PACKET + 1 - bytes) as usize) as i16, size),
        }
    }

    fn unit(&mut self) -> Vec<Insn> {
        let dst = self.data();
        vec![match self.numbers.below(14) {
            0..=4 => self.alu(NUMBERS),
            5 => Insn::Neg { width: self.width(), dst },
            6 => {
                let (width, from) = [
                    (Width::W32, Size::B1),
                    (Width::W32, Size::B2),
                    (Width::W64, Size::B1),
                    (Width::W64, Size::B2),
                    (Width::W64, Size::B4),
                ][self.numbers.below(5)];
                Insn::MovSx { width, from, dst, src: self.data() }
            }
            7 => Insn::Swap {
                kind: [Swap::ToLe, Swap::ToBe, Swap::Always][self.numbers.below(3)],
                size: [Size::B2, Size::B4, Size::B8][self.numbers.below(3)],
                dst,
            },
            8 => Insn::LoadImm64 { dst, imm: Imm64::Value(self.numbers.next()) },
            9 => {
                let (base, offset, size) = self.place();
                Insn::Load { size, signed: size != Size::B8 && self.numbers.below(3) == 0, dst, base, offset }
            }
            10 => {
                let (base, offset, size) = self.place();
                let src = if self.numbers.below(3) == 0 { Operand::Imm(self.imm()) } else { Operand::Reg(dst) };
                Insn::Store { size, base, offset, src }
            }
            11 => {
                use AtomicOp::{Add, And, Cmpxchg, Or, Xchg, Xor};
                let op = [Add, Or, And, Xor, Xchg, Cmpxchg][self.numbers.below(6)];
                let fetch = matches!(op, Xchg | Cmpxchg) || self.numbers.below(2) == 0;
                let width = self.width();
                let bytes = if width == Width::W64 { 8 } else { 4 };
                let (base, offset) = match self.numbers.below(2) {
                    0 => (Reg::FP, -8 * STACK + bytes * self.numbers.below((8 * STACK / bytes) as usize) as i16),
                    _ => (reg(8), bytes * self.numbers.below((64 / bytes) as usize) as i16),
                };
                Insn::Atomic { op, width, fetch, base, offset, src: dst }
            }
            _ => return self.call(),
        }]
    }

    /// A call of the function, or a lookup; then numbers for the registers that it has taken.
    fn call(&mut self) -> Vec<Insn> {
        let mut unit = vec![Insn::Call(Callee::Local(0))];
        for number in 1..6 {
            let offset = -8 * (1 + self.numbers.below(STACK as usize) as i16);
            unit.push(Insn::Load { size: Size::B8, signed: false, dst: reg(number), base: Reg::FP, offset });
        }
        unit
    }

    fn branch(&mut self, offset: usize) -> Insn {
        use Cond::{Eq, Ge, Gt, Le, Lt, Ne, Set, Sge, Sgt, Sle, Slt};
        let cond = [Eq, Ne, Set, Gt, Ge, Lt, Le, Sgt, Sge, Slt, Sle][self.numbers.below(11)];
        let right = if self.numbers.below(2) == 0 { Operand::Reg(self.data()) } else { Operand::Imm(self.imm()) };
        let (width, left) = (self.width(), self.data());
        Insn::Branch { cond, width, left, right, offset: offset as i16 }
    }

    /// All of a program.
    fn program(&mut self) {
        let load = |size, dst, base, offset| Insn::Load { size, signed: false, dst, base, offset };
        let alu = |op, dst, src| Insn::Alu { op, width: Width::W64, dst, src };
        let test = |cond, left, right, offset| Insn::Branch { cond, width: Width::W64, left, right, offset };
        let give_up = [mov(Reg::R0, Operand::Imm(1)), Insn::Exit];
        self.code.extend([
            load(Size::B4, reg(9), Reg::R1, 0),
            load(Size::B4, Reg::R3, Reg::R1, 4),
            mov(Reg::R4, Operand::Reg(reg(9))),
            alu(AluOp::Add, Reg::R4, Operand::Imm(PACKET.into())),
            test(Cond::Le, Reg::R4, Operand::Reg(Reg::R3), 2),
        ]);
        self.code.extend(give_up);
        self.code.extend([
            Insn::Store { size: Size::B4, base: Reg::FP, offset: -72, src: Operand::Imm(self.numbers.below(5) as i32) },
            mov(Reg::R2, Operand::Reg(Reg::FP)),
            alu(AluOp::Add, Reg::R2, Operand::Imm(-72)),
            Insn::LoadImm64 { dst: Reg::R1, imm: Imm64::Map(0) },
            Insn::Call(Callee::Helper(1)),
            test(Cond::Ne, Reg::R0, Operand::Imm(0), 2),
        ]);
        self.code.extend(give_up);
        self.code.push(mov(reg(8), Operand::Reg(Reg::R0)));
        for number in 0..NUMBERS {
            self.code.push(load(Size::B8, reg(number), reg(9), 8 * number as i16));
        }
        for word in 1..=STACK {
            let src = Operand::Reg(reg(word as usize - 1));
            self.code.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8 * word, src });
        }
        let mut units: Vec<Vec<Insn>> = (0..10 + self.numbers.below(40)).map(|_| self.unit()).collect();
        for _ in 0..self.numbers.below(8) {
            let at = self.numbers.below(units.len());
            let skipped = 1 + self.numbers.below((units.len() - at).min(6));
            let slots = |unit: &Vec<Insn>| unit.iter().map(|insn| insn.slots()).sum::<usize>();
            let offset = units[at..(at + skipped).min(units.len())].iter().map(slots).sum();
            // A branch inside the code that another one skips would make that one skip too little.
            if units[at.saturating_sub(7)..(at + skipped).min(units.len())]
                .iter()
                .all(|unit| !matches!(unit[0], Insn::Branch { .. }))
            {
                units.insert(at, vec![self.branch(offset)]);
            }
        }
        for unit in units {
            if matches!(unit[0], Insn::Call(_)) {
                self.calls.push(self.code.len());
            }
            self.code.extend(unit);
        }
        for number in 0..NUMBERS {
            let src = Operand::Reg(reg(number));
            self.code.push(Insn::Store { size: Size::B8, base: reg(9), offset: 8 * number as i16, src });
        }
        self.code.extend([alu(AluOp::And, Reg::R0, Operand::Imm(3)), Insn::Exit]);
    }

    /// The function: arithmetic on its arguments and on its own stack.
    fn function(&mut self) {
        self.code.push(mov(Reg::R0, Operand::Reg(Reg::R1)));
        self.code.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8, src: Operand::Reg(Reg::R2) });
        for _ in 0..self.numbers.below(12) {
            let insn = self.alu(6);
            self.code.push(insn);
        }
        let dst = reg(self.numbers.below(6));
        self.code.push(Insn::Load { size: Size::B8, signed: false, dst, base: Reg::FP, offset: -8 });
        self.code.push(Insn::Exit);
    }
}

/// A random program of the template's object.
fn program(template: &Program, numbers: &mut Numbers) -> Program {
    let mut writer = Writer { numbers, code: Vec::new(), calls: Vec::new() };
    writer.program();
    let main = writer.code.len();
    writer.function();
    let Writer { mut code, calls, .. } = writer;
    // Slots from indices.
    let slots: Vec<usize> = code
        .iter()
        .scan(0, |slot, insn| {
            let at = *slot;
            *slot += insn.slots();
            Some(at)
        })
        .collect();
    let callee = slots[main];
    let called = !calls.is_empty();
    for at in calls {
        code[at] = Insn::Call(Callee::Local((callee - slots[at] - 1) as i32));
    }
    if !called {
        code.truncate(main);
    }
    let mut bytes = Vec::new();
    for insn in &code {
        let (first, second) = insn.encode();
        bytes.extend(first);
        bytes.extend(second.into_iter().flatten());
    }
    let code = Code::decode(&bytes).unwrap();
    let part = |name: &str, slots| Function { name: name.into(), section: "xdp".into(), slots };
    let mut functions = vec![part("random", 0..callee)];
    if called {
        functions.push(part("function", callee..code.len()));
    }
    Program { name: "random".into(), lines: vec![None; code.len()], functions, code, ..template.clone() }
}

#[test]
fn random_programs() {
    let rounds = std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    let object = own("random");
    let template = object.program(&object.entries[0]).unwrap();
    let mut numbers = Numbers(0x0BAD_CAFE_1234_5678);
    let (mut run, mut refused) = (0, 0);
    let mut twins = Twins::new(object);
    for round in 0..rounds {
        let program = program(&template, &mut numbers);
        if let Err(error) = check(&twins.object, &program) {
            refused += 1;
            assert!(refused * 4 < 40 + round, "{error}");
            continue;
        }
        let pair = twins.add(&program);
        for key in 0..4u32 {
            let value = numbers.bytes(64);
            twins.set("values", &key.to_ne_bytes(), &value);
        }
        let listing = || program.code.iter().map(|(slot, insn)| format!("{slot}: {insn}\n")).collect::<String>();
        for _ in 0..10 {
            // Now and then too short for the program.
            let length = [PACKET as usize, PACKET as usize - 1, 700][numbers.below(3)];
            let frame = numbers.bytes(length);
            let ours = twins.ours(&pair, &[], &frame);
            if let Some(theirs) = &pair.theirs {
                assert_eq!(ours, common::linux::run(theirs, &[], &frame), "round {round}\n{}", listing());
            }
        }
        twins.same_maps();
        run += 1;
    }
    println!("{run} programs, {refused} refused");
}
