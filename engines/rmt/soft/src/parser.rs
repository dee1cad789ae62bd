// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Carries out a parser.

use penstock_rmt_compiler::ir::{Match, Next, error};

use crate::bits;
use crate::compile::{Branch, Machine, Op, ParserState, matches};
use crate::run::{Extracted, Flow, Frame};
use crate::tenant::{State, load};

/// States that a frame goes through before its parser counts as one without end.
const STEPS: usize = 4096;

/// An error of core.p4.
type Stop = u64;

impl Frame {
    /// Parses a frame. Gives the error that the parser ended with, 0 for none.
    pub fn parse(&mut self, machine: &Machine, state: &mut State, bytes: &[u8]) -> u64 {
        let mut at = 0;
        for _ in 0..STEPS {
            match self.step(machine, state, &machine.states[at], bytes) {
                Ok(Next::State(next)) => at = next,
                Ok(Next::Accept | Next::Reject) => return error::NONE as u64,
                Err(error) => return error,
            }
        }
        error::PARSER_TIMEOUT as u64
    }

    fn step(&mut self, machine: &Machine, state: &mut State, of: &ParserState, bytes: &[u8]) -> Result<Next, Stop> {
        for op in &of.ops {
            match op {
                Op::Extract { instance, code, bits } => {
                    self.code(machine, state, code, bytes)?;
                    let bits = bits.map_or(0, |bits| load(&self.slots, bits));
                    self.extract(machine, *instance, bits, bytes)?;
                }
                Op::Advance { code, bits } => {
                    self.code(machine, state, code, bytes)?;
                    let bits = load(&self.slots, *bits);
                    if !bits.is_multiple_of(8) {
                        return Err(error::PARSER_INVALID_ARGUMENT as u64);
                    }
                    if bits > (bytes.len() * 8 - self.cursor) as u128 {
                        return Err(error::PACKET_TOO_SHORT as u64);
                    }
                    self.cursor += bits as usize;
                }
                Op::Code(code) => self.code(machine, state, code, bytes)?,
                Op::Verify { code, condition, error } => {
                    self.code(machine, state, code, bytes)?;
                    if self.slots[*condition as usize] == 0 {
                        return Err(*error);
                    }
                }
            }
        }
        self.code(machine, state, &of.code, bytes)?;
        match &of.next {
            Branch::Always(next) => Ok(*next),
            Branch::Masks(key, rows) => {
                let key = self.slots[*key as usize];
                let row = rows.iter().find(|(mask, value, _)| key & mask == *value);
                row.map(|(_, _, next)| *next).ok_or(error::NO_MATCH as u64)
            }
            Branch::Rows(keys, rows) => {
                let fits = |key: usize, keyset: &Match| matches(keyset, load(&self.slots, keys[key]), keys[key].width);
                let all = |sets: &[Match]| sets.iter().enumerate().all(|(key, keyset)| fits(key, keyset));
                let member =
                    |set: Option<usize>| set.is_none_or(|set| state.value_sets[set].iter().any(|sets| all(sets)));
                let row = rows.iter().find(|(sets, set, _)| all(sets) && member(*set));
                row.map(|(.., next)| *next).ok_or(error::NO_MATCH as u64)
            }
        }
    }

    fn code(
        &mut self,
        machine: &Machine,
        state: &mut State,
        code: &[crate::code::Instr],
        bytes: &[u8],
    ) -> Result<(), Stop> {
        match self.run(machine, state, code, bytes) {
            Flow::TooShort => Err(error::PACKET_TOO_SHORT as u64),
            Flow::On | Flow::Exit => Ok(()),
        }
    }

    fn extract(&mut self, machine: &Machine, instance: usize, bits: u128, bytes: &[u8]) -> Result<(), Stop> {
        let header = &machine.instances[instance];
        let start = self.cursor / 8;
        let mut varbit = 0;
        if let Some(of) = &header.varbit {
            if bits > of.most as u128 * 8 {
                return Err(error::HEADER_TOO_SHORT as u64);
            }
            if !bits.is_multiple_of(8) {
                return Err(error::PARSER_INVALID_ARGUMENT as u64);
            }
            varbit = bits as usize / 8;
        }
        if start + header.bytes + varbit > bytes.len() {
            return Err(error::PACKET_TOO_SHORT as u64);
        }
        for wire in &header.loads[0] {
            self.slots[wire.slot as usize] = bits::read(bytes, self.cursor + wire.offset, wire.width);
        }
        if let Some(of) = &header.varbit {
            self.varbits[of.number] = (start + of.at, varbit);
            for wire in &header.loads[1] {
                self.slots[wire.slot as usize] = bits::read(bytes, self.cursor + varbit * 8 + wire.offset, wire.width);
            }
        }
        self.slots[header.valid as usize] = 1;
        self.extracted.push(Extracted { instance, start, varbit });
        self.cursor += (header.bytes + varbit) * 8;
        Ok(())
    }
}
