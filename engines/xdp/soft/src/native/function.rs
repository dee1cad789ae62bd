// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One function: its blocks, and how they follow each other.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, FuncRef, Function as Ir, InstBuilder, MemFlags, SigRef, Signature, Value};
use cranelift_frontend::{FunctionBuilder, Variable};
use penstock_xdp_compiler::insn::{Code, Cond, Imm64, Insn, Operand, Reg, Width};

use super::{NativeError, Source};
use crate::state::{FAULT_AT, FUEL_AT};

/// Why a bare program is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Fault {
    Memory = 1,
    Depth = 2,
    End = 3,
}

/// All slots that are reached from one without calls.
pub(super) fn reachable(code: &Code, entry: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![entry];
    while let Some(slot) = waiting.pop() {
        let Some(insn) = code.get(slot).filter(|_| found.insert(slot)) else { continue };
        waiting.extend(code.target(slot).filter(|_| insn.jump_offset().is_some()));
        if insn.falls_through() {
            waiting.push(slot + insn.slots());
        }
    }
    found
}

/// A function that is being translated.
pub(super) struct Function<'a, F> {
    pub(super) builder: FunctionBuilder<'a>,
    pub(super) source: &'a Source<'a>,
    /// Gives the reference to a function by its first slot.
    pub(super) called: F,
    pub(super) registers: [Variable; Reg::COUNT],
    pub(super) base: Value,
    pub(super) state: Value,
    /// r10 in native code.
    pub(super) native_stack: Value,
    pub(super) signature: SigRef,
    pub(super) entry: usize,
    slots: BTreeSet<usize>,
    blocks: BTreeMap<usize, Block>,
    /// A block on the way back to another that is still to be written.
    toll: Option<(Block, Block)>,
    /// Gives 0: the program was stopped.
    pub(super) stop: Block,
}

impl<'a, F: FnMut(usize, &mut Ir) -> Option<FuncRef>> Function<'a, F> {
    pub(super) fn new(
        mut builder: FunctionBuilder<'a>,
        source: &'a Source<'a>,
        signature: &Signature,
        entry: usize,
        called: F,
    ) -> Self {
        let first = builder.create_block();
        builder.append_block_params_for_function_params(first);
        builder.switch_to_block(first);
        let arguments = builder.block_params(first).to_vec();
        let (base, state, frame_end) = (arguments[0], arguments[1], arguments[7]);
        let zero = builder.ins().iconst(I64, 0);
        let registers = std::array::from_fn(|register| {
            let variable = builder.declare_var(I64);
            let value = match register {
                1..=5 => arguments[register + 1],
                10 => frame_end,
                _ => zero,
            };
            builder.def_var(variable, value);
            variable
        });
        let native_stack = builder.ins().iadd(base, frame_end);
        let signature = builder.import_signature(signature.clone());
        let slots = reachable(source.code, entry);
        let mut blocks = BTreeMap::from([(entry, builder.create_block())]);
        for slot in &slots {
            let Some(insn) = source.code.get(*slot).filter(|insn| insn.jump_offset().is_some()) else { continue };
            let behind = insn.falls_through().then_some(slot + 1);
            for leader in source.code.target(*slot).into_iter().chain(behind) {
                blocks.entry(leader).or_insert_with(|| builder.create_block());
            }
        }
        let stop = builder.create_block();
        builder.set_cold_block(stop);
        builder.ins().jump(blocks[&entry], &[]);
        Function {
            builder,
            source,
            called,
            registers,
            base,
            state,
            native_stack,
            signature,
            entry,
            slots,
            blocks,
            toll: None,
            stop,
        }
    }

    pub(super) fn translate(mut self) -> Result<(), NativeError> {
        let slots = std::mem::take(&mut self.slots);
        // Whether the instruction before leads to the next slot, and which that is.
        let mut open = None;
        for slot in slots {
            let Some(insn) = self.source.code.get(slot) else { continue };
            if let Some(block) = self.blocks.get(&slot).copied() {
                if open == Some(slot) {
                    self.builder.ins().jump(block, &[]);
                }
                self.builder.switch_to_block(block);
            }
            self.insn(slot, insn)?;
            open = (insn.falls_through() && insn.jump_offset().is_none()).then(|| slot + insn.slots());
            if open.is_some_and(|next| self.source.code.get(next).is_none()) {
                self.fault(slot, Fault::End);
            }
        }
        let past: Vec<_> = self.blocks.range(self.source.code.len()..).map(|(slot, block)| (*slot, *block)).collect();
        for (slot, block) in past {
            self.builder.switch_to_block(block);
            self.fault(slot - 1, Fault::End);
        }
        self.builder.switch_to_block(self.stop);
        let zero = self.builder.ins().iconst(I64, 0);
        self.builder.ins().return_(&[zero]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
        Ok(())
    }

    /// The value of a register.
    pub(super) fn get(&mut self, reg: Reg) -> Value {
        self.builder.use_var(self.registers[reg.index()])
    }

    pub(super) fn set(&mut self, reg: Reg, value: Value) {
        self.builder.def_var(self.registers[reg.index()], value);
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.get(reg),
            Operand::Imm(imm) => self.builder.ins().iconst(I64, i64::from(imm)),
        }
    }

    /// A flag set for accesses that cannot fault.
    pub(super) fn flags() -> MemFlags {
        MemFlags::new().with_notrap()
    }

    fn insn(&mut self, slot: usize, insn: Insn) -> Result<(), NativeError> {
        let refused = |what| NativeError::Insn { slot, insn, what };
        match insn {
            Insn::Alu { op, width, dst, src } => self.alu(op, width, dst, src),
            Insn::Neg { width, dst } => self.negate(width, dst),
            Insn::MovSx { width, from, dst, src } => self.extend(width, from, dst, src),
            Insn::Swap { kind, size, dst } => self.swap(kind, size, dst),
            Insn::LoadImm64 { dst, imm } => {
                let value = self.constant(imm).ok_or_else(|| refused("names what is not there"))?;
                let value = self.builder.ins().iconst(I64, value.cast_signed());
                self.set(dst, value);
            }
            Insn::Load { size, signed, dst, base, offset } => self.load(slot, size, signed, dst, base, offset),
            Insn::Store { size, base, offset, src } => self.store(slot, size, base, offset, src),
            Insn::Atomic { op, width, fetch, base, offset, src } => {
                self.atomic(slot, op, width, fetch, (base, offset), src);
            }
            Insn::Jump { .. } => {
                let target = self.way(slot);
                self.builder.ins().jump(target, &[]);
                self.pay();
            }
            Insn::Branch { cond, width, left, right, .. } => self.branch(slot, cond, width, left, right),
            Insn::Call(callee) => self.call(slot, insn, callee)?,
            Insn::Exit => {
                let result = self.get(Reg::R0);
                self.builder.ins().return_(&[result]);
            }
        }
        Ok(())
    }

    fn constant(&self, imm: Imm64) -> Option<u64> {
        let map = |map: u32| self.source.ids.get(map as usize).copied().flatten();
        match imm {
            Imm64::Value(value) => Some(value),
            Imm64::Map(index) => map(index).map(|id| id.handle().into()),
            Imm64::MapValue { map: index, offset } => {
                map(index).map(|id| self.source.maps.map(id).values.address(0, 0) + u64::from(offset))
            }
            _ => None,
        }
    }

    /// The target block of a jump; for a back edge, a block that pays for it first.
    fn way(&mut self, slot: usize) -> Block {
        let target = self.source.code.target(slot).unwrap_or(slot);
        let block = self.blocks[&target];
        if target > slot {
            return block;
        }
        let toll = self.builder.create_block();
        self.toll = Some((toll, block));
        toll
    }

    fn branch(&mut self, slot: usize, cond: Cond, width: Width, left: Reg, right: Operand) {
        let (mut a, mut b) = (self.get(left), self.operand(right));
        if width == Width::W32 {
            (a, b) = (self.low(a), self.low(b));
        }
        let holds = match cond {
            Cond::Set => self.builder.ins().band(a, b),
            _ => self.builder.ins().icmp(condition(cond), a, b),
        };
        let target = self.way(slot);
        let behind = self.blocks[&(slot + 1)];
        self.builder.ins().brif(holds, target, &[], behind, &[]);
        self.pay();
    }

    /// Stops the program for good. The code after this point is unreachable.
    pub(super) fn fault(&mut self, slot: usize, fault: Fault) {
        let slot = self.builder.ins().iconst(I64, slot as i64);
        let kind = self.builder.ins().iconst(I64, fault as i64);
        let negative = self.builder.ins().iconst(I64, -1);
        for (value, at) in [(slot, FAULT_AT), (kind, FAULT_AT + 8), (negative, FUEL_AT)] {
            self.builder.ins().store(Self::flags(), value, self.state, at);
        }
        self.builder.ins().jump(self.stop, &[]);
    }

    /// Stops this function if the program was stopped.
    pub(super) fn stop_if_spent(&mut self, fuel: Value) {
        let next = self.builder.create_block();
        let spent = self.builder.ins().icmp_imm(IntCC::SignedLessThan, fuel, 0);
        self.builder.ins().brif(spent, self.stop, &[], next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Takes one from the program's budget; stops the program if that was the last.
    pub(super) fn spend(&mut self) {
        let fuel = self.builder.ins().load(I64, Self::flags(), self.state, FUEL_AT);
        let fuel = self.builder.ins().iadd_imm(fuel, -1);
        self.builder.ins().store(Self::flags(), fuel, self.state, FUEL_AT);
        self.stop_if_spent(fuel);
    }

    /// Writes the block on the way back, if the last jump has one.
    fn pay(&mut self) {
        if let Some((toll, target)) = self.toll.take() {
            self.builder.switch_to_block(toll);
            self.spend();
            self.builder.ins().jump(target, &[]);
        }
    }
}

fn condition(cond: Cond) -> IntCC {
    match cond {
        Cond::Eq => IntCC::Equal,
        Cond::Ne | Cond::Set => IntCC::NotEqual,
        Cond::Gt => IntCC::UnsignedGreaterThan,
        Cond::Ge => IntCC::UnsignedGreaterThanOrEqual,
        Cond::Lt => IntCC::UnsignedLessThan,
        Cond::Le => IntCC::UnsignedLessThanOrEqual,
        Cond::Sgt => IntCC::SignedGreaterThan,
        Cond::Sge => IntCC::SignedGreaterThanOrEqual,
        Cond::Slt => IntCC::SignedLessThan,
        Cond::Sle => IntCC::SignedLessThanOrEqual,
    }
}
