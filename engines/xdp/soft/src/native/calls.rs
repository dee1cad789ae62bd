// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Calls: of the program's functions, of helpers, of other programs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function as Ir, InstBuilder, Signature, Value};
use penstock_xdp_compiler::insn::{Callee, Insn, Reg};
use penstock_xdp_maps::Index;

use super::function::{Fault, Function};
use super::memory::BARE_STACK;
use super::{Guard, NativeError};
use crate::helpers;
use crate::state::{CPU_AT, FUEL_AT, STACK_END, TIME_AT};

/// Frames begin above this, so that no access through r10 leaves the memory.
const STACK_START: u32 = 0x0001_2000;

impl<F: FnMut(usize, &mut Ir) -> Option<FuncRef>> Function<'_, F> {
    pub(super) fn call(&mut self, slot: usize, insn: Insn, callee: Callee) -> Result<(), NativeError> {
        match callee {
            Callee::Local(_) => {
                self.local(slot);
                Ok(())
            }
            Callee::Helper(number) => {
                let refused = NativeError::Insn { slot, insn, what: "calls a helper that is not there" };
                self.helper(slot, number).ok_or(refused)
            }
        }
    }

    /// A function of the program, whose frame is below this one's.
    fn local(&mut self, slot: usize) {
        let Some(target) = self.source.code.target(slot) else { return };
        let Some(function) = (self.called)(target, self.builder.func) else { return };
        let frame = self.source.frame(self.entry);
        let start = match self.source.guard {
            Guard::Masked => STACK_START,
            Guard::Bounded { .. } => STACK_END - BARE_STACK,
        };
        let end = self.get(Reg::FP);
        let end = self.builder.ins().iadd_imm(end, -i64::from(frame));
        let (room, none) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(none);
        let fits = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, end, i64::from(start));
        self.builder.ins().brif(fits, room, &[], none, &[]);
        self.builder.switch_to_block(none);
        self.fault(slot, Fault::Depth);
        self.builder.switch_to_block(room);
        self.spend();
        let mut arguments = vec![self.base, self.state];
        arguments.extend(self.arguments());
        arguments.push(end);
        let call = self.builder.ins().call(function, &arguments);
        let result = self.builder.inst_results(call)[0];
        let fuel = self.builder.ins().load(I64, Self::flags(), self.state, FUEL_AT);
        self.stop_if_spent(fuel);
        self.set(Reg::R0, result);
    }

    /// r1 to r5.
    fn arguments(&mut self) -> Vec<Value> {
        Reg::range(Reg::R1, Reg::R5).map(|reg| self.get(reg)).collect()
    }

    /// A helper. None: there is no such.
    fn helper(&mut self, slot: usize, number: u32) -> Option<()> {
        if let Guard::Bounded { .. } = self.source.guard {
            return None;
        }
        let state = |this: &mut Self, at: i32| this.builder.ins().load(I64, Self::flags(), this.state, at);
        let result = match number {
            helpers::TAIL_CALL => return self.tail_call(),
            helpers::PROCESSOR => state(self, CPU_AT),
            helpers::TIME | helpers::BOOT_TIME | helpers::COARSE_TIME => state(self, TIME_AT),
            helpers::LOOKUP => match self.array_lookup(slot) {
                Some(address) => address,
                None => self.outside(helpers::function(number)?),
            },
            _ => self.outside(helpers::function(number)?),
        };
        self.set(Reg::R0, result);
        Some(())
    }

    /// Calls a function of ours with the state and r1 to r5.
    fn outside(&mut self, function: helpers::Function) -> Value {
        let mut signature = Signature::new(self.builder.func.signature.call_conv);
        signature.params = vec![AbiParam::new(I64); 6];
        signature.returns.push(AbiParam::new(I64));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(I64, function as usize as i64);
        let mut arguments = vec![self.state];
        arguments.extend(self.arguments());
        let call = self.builder.ins().call_indirect(signature, address, &arguments);
        self.builder.inst_results(call)[0]
    }

    /// Goes on in another program, if the array has one; it takes the place of this function.
    fn tail_call(&mut self) -> Option<()> {
        let code = self.outside(helpers::tail_call);
        let (there, none) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(code, there, &[], none, &[]);
        self.builder.switch_to_block(there);
        let end = self.get(Reg::FP);
        let mut arguments = vec![self.base, self.state];
        arguments.extend(self.arguments());
        arguments.push(end);
        let call = self.builder.ins().call_indirect(self.signature, code, &arguments);
        let result = self.builder.inst_results(call)[0];
        self.builder.ins().return_(&[result]);
        self.builder.switch_to_block(none);
        // Linux' result depends on the reason; no program reads it, because falling through already signals the
        // failure.
        let failed = self.builder.ins().iconst(I64, -1);
        self.set(Reg::R0, failed);
        Some(())
    }

    /// The address of an array's element, without a call: most lookups are such. None: the map is another, or not
    /// known.
    fn array_lookup(&mut self, slot: usize) -> Option<Value> {
        let map = self.source.maps.map(self.source.only_map(slot)?);
        if !matches!(map.index, Index::Array) {
            return None;
        }
        let (values, entries) = (map.values, map.shape.max_entries);
        let key = self.get(Reg::R2);
        let key = self.native(key);
        let key = self.builder.ins().uload32(Self::flags(), key, 0);
        let address = self.builder.ins().imul_imm(key, i64::from(values.stride));
        let address = self.builder.ins().iadd_imm(address, i64::from(values.base));
        let address = if values.cpu_stride == 0 {
            address
        } else {
            let cpu = self.builder.ins().load(I64, Self::flags(), self.state, CPU_AT);
            let own = self.builder.ins().imul_imm(cpu, i64::from(values.cpu_stride));
            self.builder.ins().iadd(address, own)
        };
        let zero = self.builder.ins().iconst(I64, 0);
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, key, i64::from(entries));
        Some(self.builder.ins().select(inside, address, zero))
    }
}
