// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Carries out code.

use penstock_rmt_compiler::ir::HashAlgorithm;
use penstock_rmt_compiler::{binary, mask, signed, unary};

use crate::code::{Instr, Place, WideOp};
use crate::compile::{Machine, TableCode};
use crate::operation::Pending;
use crate::tenant::{State, load, store};
use crate::{bits, hash};

/// How code ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// At its end.
    On,
    /// By `exit`.
    Exit,
    /// A lookahead met the end of the frame.
    TooShort,
}

/// A header that was extracted.
#[derive(Debug, Clone, Copy)]
pub struct Extracted {
    pub instance: usize,
    /// Its first byte.
    pub start: usize,
    /// Bytes of its varbit.
    pub varbit: usize,
}

/// The program's state of the present frame. It is reused from frame to frame, so that no frame needs an allocation.
#[derive(Debug)]
pub struct Frame {
    pub slots: Vec<u64>,
    /// For each varbit, its first byte in the frame and its length in bytes.
    pub varbits: Vec<(usize, usize)>,
    pub extracted: Vec<Extracted>,
    /// Bits that the parser has taken.
    pub cursor: usize,
    /// Bytes of the frame as it entered.
    pub length: usize,
    /// The words of a key.
    words: Vec<u64>,
    /// The frame that is being put together.
    pub scratch: Vec<u8>,
    /// The fate of the frame at the end of ingress or egress.
    pub pending: Pending,
}

impl Frame {
    pub fn new(machine: &Machine) -> Self {
        Self {
            slots: machine.slots.clone(),
            varbits: vec![(0, 0); machine.varbits],
            extracted: Vec::new(),
            cursor: 0,
            length: 0,
            words: Vec::new(),
            scratch: Vec::new(),
            pending: Pending::default(),
        }
    }

    /// Begins with a frame of so many bytes.
    pub fn begin(&mut self, machine: &Machine, length: usize) {
        // Behind the fields are constants, which stay, and temporaries, which are written before they are read.
        self.slots[..machine.changing].fill(0);
        self.varbits.fill((0, 0));
        self.extracted.clear();
        self.pending = Pending::default();
        (self.cursor, self.length) = (0, length);
    }

    /// Runs code. `bytes` are the frame's, for lookaheads of the parser.
    pub fn run(&mut self, machine: &Machine, state: &mut State, code: &[Instr], bytes: &[u8]) -> Flow {
        let mut at = 0;
        while let Some(instr) = code.get(at) {
            at += 1;
            let slots = &mut self.slots[..];
            let get = |slot: u32| slots[slot as usize];
            let (to, value) = match *instr {
                Instr::Move { to, from } => (to, get(from)),
                Instr::Add { to, a, b, mask } => (to, get(a).wrapping_add(get(b)) & mask),
                Instr::Sub { to, a, b, mask } => (to, get(a).wrapping_sub(get(b)) & mask),
                Instr::And { to, a, b } => (to, get(a) & get(b)),
                Instr::Or { to, a, b } => (to, get(a) | get(b)),
                Instr::Xor { to, a, b } => (to, get(a) ^ get(b)),
                Instr::Eq { to, a, b } => (to, u64::from(get(a) == get(b))),
                Instr::Ne { to, a, b } => (to, u64::from(get(a) != get(b))),
                Instr::Lt { to, a, b } => (to, u64::from(get(a) < get(b))),
                Instr::Le { to, a, b } => (to, u64::from(get(a) <= get(b))),
                Instr::Not { to, a, mask } => (to, !get(a) & mask),
                Instr::Slice { to, a, shift, mask } => (to, get(a) >> shift & mask),
                Instr::Concat { to, a, b, shift } => (to, get(a) << shift | get(b)),
                Instr::Mux { to, condition, yes, no } => (to, if get(condition) != 0 { get(yes) } else { get(no) }),
                Instr::Jump(to) => {
                    at = to;
                    continue;
                }
                Instr::JumpUnless(slot, to) => {
                    if get(slot) == 0 {
                        at = to;
                    }
                    continue;
                }
                Instr::Apply { table, hit, action } => {
                    if self.apply(machine, state, table, hit, action, bytes) == Flow::Exit {
                        return Flow::Exit;
                    }
                    continue;
                }
                Instr::RegisterRead { register, index, to } => {
                    let value = state.cell(register, get(index));
                    store(slots, to, value);
                    continue;
                }
                Instr::RegisterWrite { register, index, value } => {
                    let (index, value) = (get(index), load(slots, value));
                    if let Some(cell) =
                        usize::try_from(index).ok().and_then(|index| state.registers[register].get_mut(index))
                    {
                        *cell = value;
                    }
                    continue;
                }
                Instr::Count { counter, index } => {
                    let index = get(index);
                    if let Some(cell) =
                        usize::try_from(index).ok().and_then(|index| state.counters[counter].get_mut(index))
                    {
                        cell.packets += 1;
                        cell.bytes += self.length as u64;
                    }
                    continue;
                }
                Instr::CopyVarbit { to, from } => {
                    self.varbits[to] = self.varbits[from];
                    continue;
                }
                Instr::Operation(ref operation) => {
                    if self.operation(state, operation, bytes) == Flow::Exit {
                        return Flow::Exit;
                    }
                    continue;
                }
                Instr::Exit => return Flow::Exit,
                Instr::Wide(ref wide) => {
                    let Some(value) = self.wide(&wide.op, wide.to, bytes) else { return Flow::TooShort };
                    store(&mut self.slots, wide.to, value & mask(wide.to.width));
                    continue;
                }
            };
            self.slots[to as usize] = value;
        }
        Flow::On
    }

    /// An operation of any width; None for a lookahead that meets the frame's end.
    #[cold]
    fn wide(&self, op: &WideOp, to: Place, bytes: &[u8]) -> Option<u128> {
        let get = |place: Place| load(&self.slots, place);
        Some(match *op {
            WideOp::Move(a) => get(a),
            WideOp::Unary(op, a) => unary(op, get(a), a.width),
            WideOp::Binary(op, a, b) => binary(op, get(a), get(b), a.width),
            WideOp::Slice(a, low) => get(a) >> low,
            WideOp::Concat(a, b) => get(a).checked_shl(b.width).unwrap_or(0) | get(b),
            WideOp::SignExtend(a) => signed(get(a), a.width).cast_unsigned(),
            WideOp::Mux(condition, yes, no) => {
                if get(condition) != 0 {
                    get(yes)
                } else {
                    get(no)
                }
            }
            WideOp::Lookahead(offset) => {
                let from = self.cursor + offset as usize;
                if from + to.width as usize > bytes.len() * 8 {
                    return None;
                }
                let upper = to.width.saturating_sub(64);
                let high = if upper > 0 { crate::bits::read(bytes, from, upper) } else { 0 };
                let low = crate::bits::read(bytes, from + upper as usize, to.width - upper);
                u128::from(high) << 64 | u128::from(low)
            }
        })
    }

    fn apply(
        &mut self,
        machine: &Machine,
        state: &mut State,
        table: usize,
        hit: u32,
        action: u32,
        bytes: &[u8],
    ) -> Flow {
        let about = &machine.tables[table];
        self.words.clear();
        for key in &about.keys {
            self.words.push(self.slots[key.slot as usize]);
            if key.is_wide() {
                self.words.push(self.slots[key.slot as usize + 1]);
            }
        }
        let found = state.tables[table].find(&self.words);
        if about.counted {
            state.hit(table, found, self.length as u64);
        }
        let chosen = match found.and_then(|found| state.tables[table].choice(found)) {
            Some(choice) => {
                let hash = self.selected(about, &mut state.random, bytes);
                choice.get(usize::try_from(hash % choice.len() as u64).unwrap_or(0))
            }
            None => None,
        };
        let call = chosen.unwrap_or_else(|| state.tables[table].call(found));
        let number = call.action;
        let code = &machine.actions[number];
        let first = code.args.0 as usize;
        self.slots[first..first + code.args.1].copy_from_slice(&call.args);
        self.slots[hit as usize] = u64::from(found.is_some());
        self.slots[action as usize] = number as u64;
        self.run(machine, state, &code.code, bytes)
    }

    /// The hash that chooses a frame's action among those of a group.
    #[cold]
    fn selected(&self, about: &TableCode, random: &mut u64, bytes: &[u8]) -> u64 {
        let Some((algorithm, parts, width)) = &about.selector else { return 0 };
        let hash = match algorithm {
            HashAlgorithm::Random => hash::random(random),
            algorithm => hash::hash(*algorithm, &self.gather(parts, bytes, false)),
        };
        hash & bits::mask(*width)
    }
}
