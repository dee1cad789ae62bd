// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The parser: a block of code for each state. It ends with an error of core.p4, 0 for none.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use penstock_rmt_compiler::ir::{
    Expr, InstanceId, Match, Next, Parser, ParserOp, SelectRow, SetKeys, Standard, State, Transition, error,
};
use penstock_rmt_compiler::mask;

use super::function::{Function, type_of};
use crate::calls;
use crate::header::Wire;

/// States that a frame goes through before its parser counts as one without end.
const STEPS: i64 = 4096;

/// The parser at work.
pub(super) struct Position {
    /// Bytes that it has taken.
    cursor: Variable,
    /// Bytes of the frame.
    length: Value,
    /// Ends the parser with an error, its parameter.
    done: Block,
}

impl Function<'_, '_> {
    /// Parses the frame.
    pub(super) fn parser(&mut self, parser: &Parser) {
        let [cursor, steps] = [(); 2].map(|()| self.builder.declare_var(I64));
        let zero = self.number(0);
        for variable in [cursor, steps] {
            self.builder.def_var(variable, zero);
        }
        let done = self.builder.create_block();
        let result = self.builder.append_block_param(done, I64);
        let length = self.length();
        self.parser = Some(Position { cursor, length, done });
        let states: Vec<Block> = parser.states.iter().map(|_| self.builder.create_block()).collect();
        self.go_to(&states, Next::State(0));
        for (state, block) in parser.states.iter().zip(&states) {
            self.builder.switch_to_block(*block);
            let count = self.builder.use_var(steps);
            let count = self.builder.ins().iadd_imm(count, 1);
            self.builder.def_var(steps, count);
            let endless = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, count, STEPS);
            self.fail_if(endless, error::PARSER_TIMEOUT);
            self.state(&states, state);
        }
        self.builder.switch_to_block(done);
        let taken = self.builder.use_var(cursor);
        self.set_slot(self.maker.slots.cursor, taken);
        self.set(self.maker.slots.fields[Standard::ParserError.field()], result);
        self.parser = None;
    }

    fn state(&mut self, states: &[Block], state: &State) {
        for op in &state.ops {
            match op {
                ParserOp::Extract { instance, varbit, .. } => self.extract(*instance, varbit.as_ref()),
                ParserOp::Advance { bits, .. } => self.advance(bits),
                ParserOp::Assign { to, value, .. } => {
                    let value = self.value(value);
                    self.set(self.maker.slots.fields[*to], value);
                }
                ParserOp::Run(stmt) => self.block(std::slice::from_ref(stmt)),
                ParserOp::Verify { condition, error, .. } => {
                    let condition = self.value(condition);
                    let fails = self.builder.ins().icmp_imm(IntCC::Equal, condition, 0);
                    self.fail_if(fails, *error);
                }
            }
        }
        match &state.next {
            Transition::Direct(next) => self.go_to(states, *next),
            Transition::Select { keys, rows, .. } => self.transition(states, keys, rows),
        }
    }

    fn go_to(&mut self, states: &[Block], next: Next) {
        match next {
            Next::State(state) => {
                self.builder.ins().jump(states[state], &[]);
            }
            Next::Accept | Next::Reject => self.fail(error::NONE),
        }
    }

    /// Ends the parser with an error.
    fn fail(&mut self, error: u128) {
        let error = self.number(error as u64);
        if let Some(Position { done, .. }) = self.parser {
            self.builder.ins().jump(done, &[error.into()]);
        }
    }

    /// Ends the parser with an error if a condition holds.
    fn fail_if(&mut self, condition: Value, error: u128) {
        let error = self.number(error as u64);
        let next = self.builder.create_block();
        if let Some(Position { done, .. }) = self.parser {
            self.builder.ins().brif(condition, done, &[error.into()], next, &[]);
        }
        self.builder.switch_to_block(next);
    }

    fn transition(&mut self, states: &[Block], keys: &[Expr], rows: &[SelectRow]) {
        let values: Vec<Value> = keys.iter().map(|key| self.value(key)).collect();
        for row in rows {
            let next = self.builder.create_block();
            for ((key, value), of) in keys.iter().zip(&values).zip(&row.keys) {
                if let Some(fits) = self.fits(*value, key.width, of) {
                    let then = self.builder.create_block();
                    self.builder.ins().brif(fits, then, &[], next, &[]);
                    self.builder.switch_to_block(then);
                }
            }
            for SetKeys { set, first, count } in &row.sets {
                let fits = self.member(*set, &keys[*first..first + count]);
                let then = self.builder.create_block();
                self.builder.ins().brif(fits, then, &[], next, &[]);
                self.builder.switch_to_block(then);
            }
            self.go_to(states, row.next);
            self.builder.switch_to_block(next);
        }
        self.fail(error::NO_MATCH);
    }

    /// Whether a key is what a keyset says; None: it is in any case.
    fn fits(&mut self, value: Value, width: u32, of: &Match) -> Option<Value> {
        let (bits, wanted) = match *of {
            Match::Exact(wanted) => (mask(width), wanted),
            Match::Ternary(wanted, bits) => (bits, wanted),
            Match::Lpm(wanted, length) => {
                let bits = mask(width) & !mask(width).checked_shr(length).unwrap_or(0);
                (bits, wanted & bits)
            }
            Match::Range(low, high) if low > high => return Some(self.number(0)),
            Match::Range(low, high) => {
                // No distance from the lowest value is more than that of the highest one.
                let (low, distance) = (self.constant(low, width), self.constant(high.wrapping_sub(low), width));
                let from_low = self.builder.ins().isub(value, low);
                return Some(self.compare(IntCC::UnsignedLessThanOrEqual, from_low, distance));
            }
        };
        if bits == 0 && wanted == 0 {
            return None;
        }
        let value = if bits & mask(width) == mask(width) {
            value
        } else {
            let bits = self.constant(bits, width);
            self.builder.ins().band(value, bits)
        };
        let wanted = self.constant(wanted, width);
        Some(self.compare(IntCC::Equal, value, wanted))
    }

    /// Whether keys are in a value set.
    fn member(&mut self, set: usize, keys: &[Expr]) -> Value {
        let places = keys.iter().map(|key| self.keep(key)).collect();
        self.maker.selects.push(places);
        let (set, select) = (self.number(set as u64), self.number(self.maker.selects.len() as u64 - 1));
        self.call(calls::member as *const u8, &[set, select])
    }

    fn advance(&mut self, bits: &Expr) {
        let value = self.value(bits);
        let Some(Position { cursor, length, .. }) = self.parser else { return };
        let (low, _) = self.halves(value);
        let part = self.builder.ins().band_imm(low, 7);
        self.fail_if(part, error::PARSER_INVALID_ARGUMENT);
        let at = self.builder.use_var(cursor);
        let left = self.builder.ins().isub(length, at);
        let left = self.builder.ins().ishl_imm(left, 3);
        let left = if type_of(bits.width) == I64 {
            left
        } else {
            let zero = self.number(0);
            self.builder.ins().iconcat(left, zero)
        };
        let beyond = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, value, left);
        self.fail_if(beyond, error::PACKET_TOO_SHORT);
        let bytes = self.builder.ins().ushr_imm(low, 3);
        let at = self.builder.ins().iadd(at, bytes);
        self.builder.def_var(cursor, at);
    }

    /// Bits of the frame, at an offset from the cursor.
    pub(super) fn lookahead(&mut self, offset: u32, width: u32) -> Value {
        let Some(Position { cursor, length, .. }) = self.parser else { return self.constant(0, width) };
        let end = (offset as usize + width as usize).div_ceil(8);
        let at = self.builder.use_var(cursor);
        let behind = self.builder.ins().iadd_imm(at, end as i64);
        let beyond = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, behind, length);
        self.fail_if(beyond, error::PACKET_TOO_SHORT);
        let base = self.builder.ins().iadd(self.data, at);
        self.read_wide(base, end, offset as usize, width)
    }

    fn extract(&mut self, instance: InstanceId, varbit: Option<&Expr>) {
        let bits = varbit.map(|bits| (self.value(bits), bits.width));
        let header = &self.maker.instances[instance];
        let Some(Position { cursor, length, .. }) = self.parser else { return };
        let start = self.builder.use_var(cursor);
        let mut end = self.builder.ins().iadd_imm(start, header.bytes as i64);
        let moved = header.varbit.as_ref().map(|of| {
            let bytes = self.varbit_bytes(bits, of.most);
            end = self.builder.ins().iadd(end, bytes);
            (of, bytes)
        });
        let beyond = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, length);
        self.fail_if(beyond, error::PACKET_TOO_SHORT);
        let base = self.builder.ins().iadd(self.data, start);
        self.load_wires(base, header.bytes, &header.loads[0]);
        if let Some((of, bytes)) = moved {
            let first = self.builder.ins().iadd_imm(start, of.at as i64);
            self.set_slot(of.slot, first);
            self.set_slot(of.slot + 1, bytes);
            self.set_slot(header.origin + 1, bytes);
            let base = self.builder.ins().iadd(base, bytes);
            self.load_wires(base, header.bytes, &header.loads[1]);
        }
        let one = self.number(1);
        self.set_slot(header.valid, one);
        let origin = self.builder.ins().iadd_imm(start, 1);
        self.set_slot(header.origin, origin);
        self.builder.def_var(cursor, end);
    }

    /// The bytes of a varbit.
    fn varbit_bytes(&mut self, bits: Option<(Value, u32)>, most: usize) -> Value {
        let Some((value, width)) = bits else { return self.number(0) };
        let largest = self.constant(most as u128 * 8, type_of(width).bits());
        let beyond = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, value, largest);
        self.fail_if(beyond, error::HEADER_TOO_SHORT);
        let (low, _) = self.halves(value);
        let part = self.builder.ins().band_imm(low, 7);
        self.fail_if(part, error::PARSER_INVALID_ARGUMENT);
        self.builder.ins().ushr_imm(low, 3)
    }

    /// Loads fields from a piece of the frame that begins at an address.
    fn load_wires(&mut self, base: Value, length: usize, wires: &[Wire]) {
        for wire in wires {
            let value = self.read_bits(base, length, wire.offset, wire.width);
            self.set_slot(wire.slot, value);
        }
    }
}
