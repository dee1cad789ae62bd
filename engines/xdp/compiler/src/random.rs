// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random programs that keep the rules, for tests of everything that carries programs out: arithmetic of all kinds,
//! branches, loops, calls, the stack, the packet with its checks, maps. The same seed gives the same program.
//!
//! Programs of [`program`] show their results in their return value. Programs of [`for_card`] show them in the packet,
//! because a card gives no return value; they leave out features that cards in RTL lack, and call helpers that the core
//! executes itself.

mod card;

pub use card::{LOOK, LOOK_BYTES, for_card};

use crate::insn::{AluOp, AtomicOp, Callee, Code, CodeError, Cond, Imm64, Insn, Operand, Reg, Size, Swap, Width};
use crate::maps::MapKind;
use crate::object::{Attach, Function, Object, Program};

/// The places of the context, the packet's beginning and its end; the counter of a loop.
const CONTEXT: u8 = 6;
const DATA: u8 = 7;
const END: u8 = 8;
const COUNTER: u8 = 9;
/// The instruction or place after the stack.
const FRAME: u8 = 10;
/// Bytes of the stack that hold numbers, followed by the key and the value of a map's entry.
const NUMBERS: i16 = 64;
const KEY: i16 = 80;
const VALUE: i16 = 112;
/// Helpers of maps.
const LOOKUP: u32 = 1;
const UPDATE: u32 = 2;
const DELETE: u32 = 3;
/// Longest key and value of maps that are used.
const MOST_KEY: u32 = 16;
const MOST_VALUE: u32 = 32;

/// A random program. It uses the object's arrays and those hash tables that have short keys and values.
///
/// # Errors
/// None that a program of this module has: its jumps stay inside it.
pub fn program(object: &Object, seed: u64) -> Result<Program, CodeError> {
    const KINDS: [MapKind; 4] = [MapKind::Array, MapKind::PercpuArray, MapKind::Hash, MapKind::PercpuHash];
    finished(Writer::new(seed, false, entries(object, &KINDS)))
}

/// The object's maps of these kinds with short keys and values.
fn entries(object: &Object, kinds: &[MapKind]) -> Vec<Entry> {
    let entry = |(map, index): (&crate::maps::Map, u32)| {
        let kind = map.shape.kind().ok()?;
        let fits = map.shape.key_bytes <= MOST_KEY && map.shape.value_bytes <= MOST_VALUE && map.section == ".maps";
        let searched = !matches!(kind, MapKind::Array | MapKind::PercpuArray);
        let entry = Entry { map: index, key: map.shape.key_bytes, value: map.shape.value_bytes, searched };
        (fits && kinds.contains(&kind)).then_some(entry)
    };
    object.maps.iter().zip(0..).filter_map(entry).collect()
}

/// The program of a writer that has written it.
fn finished(mut writer: Writer) -> Result<Program, CodeError> {
    writer.main();
    let main = writer.slots;
    let mut functions =
        vec![Function { name: "random".into(), section: "xdp".into(), slots: 0..writer.slots as usize }];
    if !writer.calls.is_empty() {
        writer.function();
        let slots = main as usize..writer.slots as usize;
        functions.push(Function { name: "called".into(), section: ".text".into(), slots });
    }
    let bytes = writer.insns.iter().flat_map(|(_, insn)| {
        let (first, second) = insn.encode();
        first.into_iter().chain(second.into_iter().flatten())
    });
    let code = Code::decode(&bytes.collect::<Vec<u8>>())?;
    let lines = vec![None; code.len()];
    Ok(Program { name: "random".into(), section: "xdp".into(), attach: Attach::Xdp, code, functions, lines })
}

/// A map that is used.
#[derive(Clone, Copy)]
struct Entry {
    map: u32,
    key: u32,
    value: u32,
    searched: bool,
}

struct Writer {
    random: u64,
    /// It is for cards in RTL.
    card: bool,
    /// With their slots.
    insns: Vec<(i64, Insn)>,
    slots: i64,
    maps: Vec<Entry>,
    /// Calls of the function, by index of the instruction.
    calls: Vec<usize>,
    /// The number of statements that may still follow.
    budget: usize,
}

/// The types allowed at a place.
#[derive(Clone, Copy)]
struct Scope {
    /// Registers that hold numbers.
    numbers: &'static [u8],
    /// Proven bytes of the packet.
    packet: i16,
    /// Blocks around it.
    depth: usize,
    in_loop: bool,
}

const ALL: &[u8] = &[0, 2, 3, 4, 5];
/// While r0 points to a value.
const WITHOUT_R0: &[u8] = &[2, 3, 4, 5];

fn reg(number: u8) -> Reg {
    Reg::new(number).unwrap_or(Reg::R0)
}

/// The part of a key that holds its number; the rest is 0.
fn key_size(bytes: u32) -> Size {
    match bytes {
        8.. => Size::B8,
        4.. => Size::B4,
        _ => Size::B1,
    }
}

fn mov(dst: u8, src: Operand) -> Insn {
    Insn::Alu { op: AluOp::Mov, width: Width::W64, dst: reg(dst), src }
}

impl Writer {
    fn new(seed: u64, card: bool, maps: Vec<Entry>) -> Writer {
        let mut writer = Writer { random: seed | 1, card, insns: vec![], slots: 0, maps, calls: vec![], budget: 60 };
        // The first numbers of small seeds are alike.
        for _ in 0..4 {
            writer.next();
        }
        writer
    }

    /// Pseudo-random numbers (xorshift).
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 8) as usize % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn push(&mut self, insn: Insn) -> usize {
        self.insns.push((self.slots, insn));
        self.slots += insn.slots() as i64;
        self.insns.len() - 1
    }

    /// Sets the target of a jump to the next instruction.
    fn here(&mut self, at: usize) {
        let distance = self.slots - self.insns[at].0 - 1;
        match &mut self.insns[at].1 {
            Insn::Branch { offset, .. } => *offset = distance as i16,
            Insn::Jump { offset, .. } | Insn::Call(Callee::Local(offset)) => *offset = distance as i32,
            _ => {}
        }
    }

    fn number(&mut self) -> i32 {
        match self.below(4) {
            0 => self.next() as i32,
            1 => self.one(&[-1, i32::MIN, i32::MAX, 0xff, 0xffff, 0x00ff_0000]),
            _ => self.below(70) as i32,
        }
    }

    fn width(&mut self) -> Width {
        self.one(&[Width::W32, Width::W64])
    }

    fn size(&mut self) -> Size {
        self.one(&[Size::B1, Size::B2, Size::B4, Size::B8])
    }

    fn operand(&mut self, scope: Scope) -> Operand {
        if self.below(2) == 0 { Operand::Reg(reg(self.one(scope.numbers))) } else { Operand::Imm(self.number()) }
    }

    fn main(&mut self) {
        self.push(mov(CONTEXT, Operand::Reg(Reg::R1)));
        self.ends();
        if self.card {
            self.look();
        }
        for slot in 1..=VALUE / 8 {
            let src = Operand::Imm(if self.below(3) == 0 { self.number() } else { 0 });
            self.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8 * slot, src });
        }
        let scope = Scope { numbers: ALL, packet: 0, depth: 0, in_loop: false };
        self.renew(scope.numbers);
        while self.budget > 0 {
            self.statement(scope);
        }
        self.result(scope);
    }

    /// The program's result: all numbers have a part in it.
    fn result(&mut self, scope: Scope) {
        for number in &scope.numbers[1..] {
            let src = Operand::Reg(reg(*number));
            self.push(Insn::Alu { op: AluOp::Xor, width: Width::W64, dst: Reg::R0, src });
        }
        if self.card && scope.depth == 0 {
            self.show(scope);
        }
        self.push(Insn::Exit);
    }

    /// Reads the packet's ends.
    fn ends(&mut self) {
        for (dst, offset) in [(DATA, 0), (END, 4)] {
            self.push(Insn::Load { size: Size::B4, signed: false, dst: reg(dst), base: reg(CONTEXT), offset });
        }
    }

    /// Puts numbers into registers whose contents a call has taken.
    fn renew(&mut self, numbers: &[u8]) {
        for &number in numbers {
            match self.below(3) {
                0 => {
                    let offset = -8 * (1 + self.below(NUMBERS as usize / 8) as i16);
                    self.push(Insn::Load { size: Size::B8, signed: false, dst: reg(number), base: Reg::FP, offset });
                }
                1 => {
                    let imm = Imm64::Value(self.next());
                    self.push(Insn::LoadImm64 { dst: reg(number), imm });
                }
                _ => {
                    let imm = self.number();
                    self.push(mov(number, Operand::Imm(imm)));
                }
            }
        }
    }

    fn statement(&mut self, scope: Scope) {
        self.budget = self.budget.saturating_sub(1);
        // Calls take r1 to r5 and give r0, so they are placed where all of these are numbers.
        let calls = scope.numbers.len() == ALL.len();
        match self.below(21) {
            0..6 => self.arithmetic(scope),
            6..9 => self.stack(scope),
            9..12 if scope.packet > 0 => self.packet(scope),
            9..11 => self.check(scope),
            12..14 if scope.depth < 3 => self.branch(scope),
            14 if scope.depth == 0 => self.repeat(scope),
            15 | 16 if calls && !self.maps.is_empty() => self.map(scope),
            17 if calls => self.call(scope),
            // An instruction that moves the packet invalidates all checks.
            18 if calls && scope.packet == 0 && !scope.in_loop => self.adjust(),
            19 if calls && self.card => self.ask(),
            20 if calls && !self.maps.is_empty() => self.requests(scope),
            _ => self.one_operand(scope),
        }
    }

    fn block(&mut self, scope: Scope) {
        for _ in 0..1 + self.below(4) {
            self.statement(scope);
        }
    }

    fn arithmetic(&mut self, scope: Scope) {
        use AluOp::{Add, And, Arsh, Div, Lsh, Mod, Mov, Mul, Or, Rsh, Sdiv, Smod, Sub, Xor};
        let op = self.one(&[Add, Sub, Mul, Div, Sdiv, Or, And, And, Lsh, Rsh, Mod, Smod, Xor, Mov, Arsh, Lsh, Rsh]);
        let (width, dst) = (self.width(), reg(self.one(scope.numbers)));
        let bits = if width == Width::W64 { 64 } else { 32 };
        let src = match (op, self.operand(scope)) {
            (Lsh | Rsh | Arsh, Operand::Imm(by)) => Operand::Imm(by.rem_euclid(bits)),
            (Div | Sdiv | Mod | Smod, Operand::Imm(0)) => Operand::Imm(8),
            (_, src) => src,
        };
        self.push(Insn::Alu { op, width, dst, src });
    }

    fn one_operand(&mut self, scope: Scope) {
        let (dst, src) = (reg(self.one(scope.numbers)), reg(self.one(scope.numbers)));
        let insn = match self.below(4) {
            0 => Insn::Neg { width: self.width(), dst },
            1 => {
                let width = self.width();
                let from =
                    self.one(if width == Width::W64 { &[Size::B1, Size::B2, Size::B4] } else { &[Size::B1, Size::B2] });
                Insn::MovSx { width, from, dst, src }
            }
            2 => {
                let kind = self.one(&[Swap::ToLe, Swap::ToBe, Swap::Always]);
                Insn::Swap { kind, size: self.one(&[Size::B2, Size::B4, Size::B8]), dst }
            }
            _ => Insn::Load { size: Size::B4, signed: false, dst, base: reg(CONTEXT), offset: self.one(&[12, 16]) },
        };
        self.push(insn);
    }

    /// A load or store at an offset that is a multiple of its size.
    fn access(&mut self, scope: Scope, base: Reg, first: i16, bytes: i16) {
        let size = self.one(&[Size::B1, Size::B2, Size::B4, Size::B8]);
        let size = if i16::try_from(size.bytes()).is_ok_and(|size| size <= bytes) { size } else { Size::B1 };
        let places = bytes / size.bytes() as i16;
        let offset = first + self.below(places as usize) as i16 * size.bytes() as i16;
        if self.below(2) == 0 {
            let signed = size != Size::B8 && self.below(4) == 0;
            let dst = reg(self.one(scope.numbers));
            self.push(Insn::Load { size, signed, dst, base, offset });
        } else {
            let src = self.operand(scope);
            self.push(Insn::Store { size, base, offset, src });
        }
    }

    fn stack(&mut self, scope: Scope) {
        if self.card || self.below(6) > 0 {
            return self.access(scope, Reg::FP, -NUMBERS, NUMBERS);
        }
        let offset = -8 * (1 + self.below(NUMBERS as usize / 8) as i16);
        self.atomic(scope, Reg::FP, offset);
    }

    fn atomic(&mut self, scope: Scope, base: Reg, offset: i16) {
        let op =
            self.one(&[AtomicOp::Add, AtomicOp::Or, AtomicOp::And, AtomicOp::Xor, AtomicOp::Xchg, AtomicOp::Cmpxchg]);
        // The last compares with r0.
        let op = if op == AtomicOp::Cmpxchg && scope.numbers.len() < ALL.len() { AtomicOp::Xchg } else { op };
        let fetch = matches!(op, AtomicOp::Xchg | AtomicOp::Cmpxchg) || self.below(2) == 0;
        let (width, src) = (self.width(), reg(self.one(scope.numbers)));
        self.push(Insn::Atomic { op, width, fetch, base, offset, src });
    }

    fn packet(&mut self, scope: Scope) {
        if self.below(4) == 0 {
            // A number that was put together of bytes, as headers are read.
            let size = self.size();
            let offset = self.below((scope.packet - 7) as usize) as i16;
            let dst = reg(self.one(scope.numbers));
            self.push(Insn::Load { size, signed: false, dst, base: reg(DATA), offset });
            return;
        }
        self.access(scope, reg(DATA), self.random as i16 & 1, scope.packet - 1);
    }

    /// A check of the packet's end, followed by a block.
    fn check(&mut self, scope: Scope) {
        let bytes = 14 + self.below(50) as i16;
        let short = self.unless(bytes);
        self.block(Scope { packet: bytes, depth: scope.depth + 1, ..scope });
        self.here(short);
    }

    fn branch(&mut self, scope: Scope) {
        use Cond::{Eq, Ge, Gt, Le, Lt, Ne, Set, Sge, Sgt, Sle, Slt};
        let inner = Scope { depth: scope.depth + 1, ..scope };
        let cond = self.one(&[Eq, Ne, Set, Gt, Ge, Lt, Le, Sgt, Sge, Slt, Sle]);
        let (width, left, right) = (self.width(), reg(self.one(scope.numbers)), self.operand(scope));
        let other = self.push(Insn::Branch { cond, width, left, right, offset: 0 });
        self.block(inner);
        if self.below(2) == 0 {
            return self.here(other);
        }
        let end = self.push(Insn::Jump { offset: 0, long: false });
        self.here(other);
        self.block(inner);
        self.here(end);
    }

    /// A loop of a few rounds.
    fn repeat(&mut self, scope: Scope) {
        self.push(mov(COUNTER, Operand::Imm(0)));
        let top = self.slots;
        self.block(Scope { depth: 3, in_loop: true, ..scope });
        self.push(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: reg(COUNTER), src: Operand::Imm(1) });
        let offset = (top - self.slots - 1) as i16;
        let right = Operand::Imm(1 + self.below(4) as i32);
        self.push(Insn::Branch { cond: Cond::Lt, width: Width::W64, left: reg(COUNTER), right, offset });
    }

    /// Puts the address of a place on the stack into a register.
    fn address(&mut self, dst: u8, offset: i16) {
        self.pointer(dst, (FRAME, -offset));
    }

    /// Writes the address of a place into a register, as an offset from the pointer in another one.
    fn pointer(&mut self, dst: u8, (base, offset): (u8, i16)) {
        self.push(mov(dst, Operand::Reg(reg(base))));
        let src = Operand::Imm(offset.into());
        self.push(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: reg(dst), src });
    }

    /// A lookup, an update or a removal.
    fn map(&mut self, scope: Scope) {
        let entry = self.one(&self.maps.clone());
        let helper = self.helper(entry);
        let absent = self.request(scope, entry, helper);
        if helper != LOOKUP {
            if let Some(absent) = absent {
                self.here(absent);
                self.renew(&[0]);
            }
            return self.renew(WITHOUT_R0);
        }
        self.renew(WITHOUT_R0);
        let null = self.when_null();
        let inner = Scope { numbers: WITHOUT_R0, ..scope };
        for _ in 0..1 + self.below(3) {
            if entry.value >= 8 && self.below(3) == 0 {
                self.atomic(inner, Reg::R0, 0);
            } else {
                self.access(inner, Reg::R0, 0, entry.value as i16);
            }
        }
        for skipped in [Some(null), absent].into_iter().flatten() {
            self.here(skipped);
        }
        self.renew(&[0]);
    }

    /// Requests in a row, each followed by an exit.
    fn requests(&mut self, scope: Scope) {
        for _ in 0..2 + self.below(2) {
            let entry = self.one(&self.maps.clone());
            let helper = self.helper(entry);
            let absent = self.request(scope, entry, helper);
            let cond = self.one(&[Cond::Eq, Cond::Ne]);
            let right = Operand::Imm(0);
            let on = self.push(Insn::Branch { cond, width: Width::W64, left: Reg::R0, right, offset: 0 });
            let verdict = self.one(&[2, 3]);
            self.push(mov(0, Operand::Imm(verdict)));
            self.push(Insn::Exit);
            for skipped in [Some(on), absent].into_iter().flatten() {
                self.here(skipped);
            }
            self.renew(WITHOUT_R0);
        }
        self.renew(&[0]);
    }

    /// A map operation.
    fn helper(&mut self, entry: Entry) -> u32 {
        match self.below(4) {
            0 if entry.searched => DELETE,
            1 => UPDATE,
            _ => LOOKUP,
        }
    }

    /// A branch over the following code, taken if r0 is null.
    fn when_null(&mut self) -> usize {
        let right = Operand::Imm(0);
        self.push(Insn::Branch { cond: Cond::Eq, width: Width::W64, left: Reg::R0, right, offset: 0 })
    }

    /// Asks a map; the keys are few. Key and value lie on the stack, or one of them in the packet or in a value of an
    /// array: gives the branch over it all that is taken when there is no such value, as far as the checker knows.
    fn request(&mut self, scope: Scope, entry: Entry, helper: u32) -> Option<usize> {
        let Entry { map, key, value, .. } = entry;
        let place = self.below(6);
        let room = match place {
            0 => Some(key),
            1 if helper == UPDATE => Some(value),
            _ => None,
        };
        let absent = room.and_then(|bytes| self.home(bytes));
        let (in_value, room) = ((0, 0), i32::from(scope.packet) - key.cast_signed());
        let key_at = match place {
            0 if absent.is_some() => in_value,
            2 if room > 0 => (DATA, self.below(room as usize) as i16),
            _ => (FRAME, -KEY),
        };
        let value_at = if place == 1 && absent.is_some() { in_value } else { (FRAME, -VALUE) };
        self.push(Insn::Alu { op: AluOp::And, width: Width::W64, dst: reg(4), src: Operand::Imm(3) });
        self.key(key, key_at);
        self.pointer(2, key_at);
        if helper == UPDATE {
            let (size, (base, offset)) = (if value >= 8 { Size::B8 } else { Size::B4 }, value_at);
            self.push(Insn::Store { size, base: reg(base), offset, src: Operand::Reg(reg(5)) });
            self.pointer(3, value_at);
            let flags = self.below(3) as i32;
            self.push(mov(4, Operand::Imm(flags)));
        }
        self.push(Insn::LoadImm64 { dst: Reg::R1, imm: Imm64::Map(map) });
        self.push(Insn::Call(Callee::Helper(helper)));
        absent
    }

    /// Writes a key, its number from r4. The bytes behind it are 0; on the stack they have been 0 since the program
    /// began.
    fn key(&mut self, bytes: u32, (base, first): (u8, i16)) {
        let behind = if base == FRAME { 0 } else { bytes as i16 / 4 };
        for offset in (0..behind).map(|word| first + 4 * word) {
            self.push(Insn::Store { size: Size::B4, base: reg(base), offset, src: Operand::Imm(0) });
        }
        self.push(Insn::Store { size: key_size(bytes), base: reg(base), offset: first, src: Operand::Reg(reg(4)) });
    }

    /// Looks up a value of an array that has room for so many bytes: r0 points to it. Returns the branch to take if the
    /// lookup fails.
    fn home(&mut self, bytes: u32) -> Option<usize> {
        let arrays: Vec<Entry> = self.maps.iter().filter(|it| !it.searched && it.value >= bytes).copied().collect();
        if arrays.is_empty() {
            return None;
        }
        let Entry { map, .. } = self.one(&arrays);
        let index = self.below(2) as i32;
        self.push(Insn::Store { size: Size::B4, base: Reg::FP, offset: -KEY, src: Operand::Imm(index) });
        self.push(Insn::LoadImm64 { dst: Reg::R1, imm: Imm64::Map(map) });
        self.address(2, KEY);
        self.push(Insn::Call(Callee::Helper(LOOKUP)));
        self.renew(WITHOUT_R0);
        Some(self.when_null())
    }

    fn adjust(&mut self) {
        let by = self.one(&[-20, -8, -2, 4, 14, 40, 200]);
        self.push(mov(1, Operand::Reg(reg(CONTEXT))));
        self.push(mov(2, Operand::Imm(by)));
        let helper = if self.card { 44 } else { self.one(&[44, 65]) };
        self.push(Insn::Call(Callee::Helper(helper)));
        self.ends();
        if self.card && by < 0 {
            // The bytes that the buffer held before are unspecified.
            let short = self.unless(-by as i16);
            for offset in (0..-by as i16).step_by(2) {
                self.push(Insn::Store { size: Size::B2, base: reg(DATA), offset, src: Operand::Imm(0) });
            }
            self.here(short);
        }
        self.renew(WITHOUT_R0);
    }

    /// A call of the function after the program.
    fn call(&mut self, scope: Scope) {
        let first = self.operand(scope);
        self.push(mov(1, first));
        let call = self.push(Insn::Call(Callee::Local(0)));
        self.calls.push(call);
        self.renew(WITHOUT_R0);
    }

    /// The function: arithmetic on its arguments, and its own stack.
    fn function(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.here(call);
        }
        self.push(mov(0, Operand::Reg(Reg::R1)));
        for slot in 1..=NUMBERS / 8 {
            let src = Operand::Reg(reg(self.one(ALL)));
            self.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8 * slot, src });
        }
        let scope = Scope { numbers: ALL, packet: 0, depth: 3, in_loop: true };
        for _ in 0..2 + self.below(6) {
            match self.below(3) {
                0 => self.stack(scope),
                _ => self.arithmetic(scope),
            }
        }
        self.result(scope);
    }
}
