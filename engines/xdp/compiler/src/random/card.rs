// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random programs for cards in RTL.

use super::{
    CONTEXT, COUNTER, DATA, END, Entry, KEY, Scope, WITHOUT_R0, Writer, entries, finished, key_size, mov, reg,
};
use crate::insn::{AluOp, Callee, CodeError, Cond, Imm64, Insn, Operand, Reg, Size, Width};
use crate::maps::MapKind;
use crate::object::{Object, Program};

/// First byte of a packet with which a program shows its maps, and how long it has to be.
pub const LOOK: u8 = 0xD5;
/// Least number of bytes of a packet with which a program shows its maps.
pub const LOOK_BYTES: usize = 62;

/// A random program for cards in RTL. Its numbers stand in bytes 6 to 46 of a packet that is long enough; a packet that
/// begins with [`LOOK`] it leaves alone but for a digest of each map, 8 bytes each from byte 14 on. It uses up to two
/// of the object's maps.
///
/// # Errors
/// None that a program of this module has: its jumps stay inside it.
pub fn for_card(object: &Object, seed: u64) -> Result<Program, CodeError> {
    use MapKind::{Array, Hash, LpmTrie, LruHash, LruPercpuHash, PercpuArray, PercpuHash};
    let kinds = [Array, PercpuArray, Hash, PercpuHash, LruHash, LruPercpuHash, LpmTrie];
    let mut writer = Writer::new(seed, true, entries(object, &kinds));
    let used = writer.below(3);
    while writer.maps.len() > used {
        let one = writer.below(writer.maps.len());
        writer.maps.remove(one);
    }
    finished(writer)
}

impl Writer {
    /// A branch over the following code, taken unless the packet has this many bytes.
    pub(super) fn unless(&mut self, bytes: i16) -> usize {
        self.push(mov(1, Operand::Reg(reg(DATA))));
        self.push(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: Reg::R1, src: Operand::Imm(bytes.into()) });
        let right = Operand::Reg(reg(END));
        self.push(Insn::Branch { cond: Cond::Gt, width: Width::W64, left: Reg::R1, right, offset: 0 })
    }

    /// A number that the core has: what differs from run to run is made 0 in a way that only running it shows.
    pub(super) fn ask(&mut self) {
        // The clock, random numbers and, if all packets go to one context, its processor.
        let (helper, bits) =
            self.one(if self.maps.is_empty() { &[(5, 63), (7, 32)] } else { &[(5, 63), (7, 32), (8, 0)] });
        self.push(Insn::Call(Callee::Helper(helper)));
        self.push(Insn::Alu { op: AluOp::Rsh, width: Width::W64, dst: Reg::R0, src: Operand::Imm(bits) });
        self.renew(WITHOUT_R0);
    }

    /// Puts the result and all numbers into the packet, and ends with a verdict that lets it out most of the time.
    pub(super) fn show(&mut self, scope: Scope) {
        let short = self.unless(46);
        for (offset, number) in (6..).step_by(8).zip(scope.numbers) {
            let src = Operand::Reg(reg(*number));
            self.push(Insn::Store { size: Size::B8, base: reg(DATA), offset, src });
        }
        self.here(short);
        let and = |imm| Insn::Alu { op: AluOp::And, width: Width::W64, dst: Reg::R0, src: Operand::Imm(imm) };
        match self.below(8) {
            0 => {
                self.push(and(7));
            }
            1 => {
                // To port 0, port 1, the host, nowhere.
                let to = self.one(&[1, 2, 16, 9]);
                self.push(mov(1, Operand::Imm(to)));
                self.push(mov(2, Operand::Imm(0)));
                self.push(Insn::Call(Callee::Helper(23)));
            }
            2 | 3 => {
                self.push(and(1));
                self.push(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: Reg::R0, src: Operand::Imm(2) });
            }
            _ => {
                self.push(mov(0, Operand::Imm(3)));
            }
        }
    }

    /// If a packet asks for it, the program writes a digest of all map values under the keys that programs use, and
    /// ends with XDP_TX.
    pub(super) fn look(&mut self) {
        let short = self.unless(LOOK_BYTES as i16);
        let load = |size, dst, base, offset| Insn::Load { size, signed: false, dst: reg(dst), base: reg(base), offset };
        self.push(load(Size::B1, 1, DATA, 0));
        let right = Operand::Imm(LOOK.into());
        let other = self.push(Insn::Branch { cond: Cond::Ne, width: Width::W64, left: Reg::R1, right, offset: 0 });
        // The context is wanted no longer: its register holds the digest.
        for (offset, Entry { map, key, value, .. }) in (14..).step_by(8).zip(self.maps.clone()) {
            for slot in [KEY / 8, KEY / 8 - 1] {
                self.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8 * slot, src: Operand::Imm(0) });
            }
            self.push(mov(CONTEXT, Operand::Imm(1)));
            self.push(mov(COUNTER, Operand::Imm(0)));
            let top = self.slots;
            self.push(Insn::Store {
                size: key_size(key),
                base: Reg::FP,
                offset: -KEY,
                src: Operand::Reg(reg(COUNTER)),
            });
            self.push(Insn::LoadImm64 { dst: Reg::R1, imm: Imm64::Map(map) });
            self.address(2, KEY);
            self.push(Insn::Call(Callee::Helper(1)));
            let digest = |op, src| Insn::Alu { op, width: Width::W64, dst: reg(CONTEXT), src };
            self.push(digest(AluOp::Mul, Operand::Imm(0x0100_0193)));
            let right = Operand::Imm(0);
            let null = self.push(Insn::Branch { cond: Cond::Eq, width: Width::W64, left: Reg::R0, right, offset: 0 });
            for word in 0..value as i16 / 4 {
                self.push(load(Size::B4, 1, 0, 4 * word));
                self.push(digest(AluOp::Mul, Operand::Imm(0x0100_0193)));
                self.push(digest(AluOp::Add, Operand::Reg(Reg::R1)));
            }
            self.here(null);
            self.push(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: reg(COUNTER), src: Operand::Imm(1) });
            let back = (top - self.slots - 1) as i16;
            let right = Operand::Imm(4);
            self.push(Insn::Branch { cond: Cond::Lt, width: Width::W64, left: reg(COUNTER), right, offset: back });
            self.push(Insn::Store { size: Size::B8, base: reg(DATA), offset, src: Operand::Reg(reg(CONTEXT)) });
        }
        self.push(mov(0, Operand::Imm(3)));
        self.push(Insn::Exit);
        self.here(other);
        self.here(short);
    }
}
