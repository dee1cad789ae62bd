// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A list of instructions whose jumps stay inside it.

use std::ops::Range;

use super::{Callee, DecodeError, Imm64, Insn, SLOT_BYTES, decode};

/// Instructions by slot. The second slot of a 64-bit immediate load holds none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Code {
    slots: Vec<Option<Insn>>,
}

/// An error in the instruction of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum CodeError {
    #[error("the code has {0} bytes; it must have some, and a multiple of 8")]
    Length(usize),
    #[error("instruction {slot}: {source}")]
    Decode { slot: usize, source: DecodeError },
    #[error("instruction {slot} (`{insn}`) leads to {target}, outside the program's {slots} instructions")]
    Outside { slot: usize, insn: Insn, target: i64, slots: usize },
    #[error("instruction {slot} (`{insn}`) leads to {target}, the second half of a 64-bit immediate load")]
    Halfway { slot: usize, insn: Insn, target: i64 },
}

impl CodeError {
    /// The slot it is about, when it is about one.
    pub fn slot(&self) -> Option<usize> {
        match *self {
            CodeError::Length(_) => None,
            CodeError::Decode { slot, .. } | CodeError::Outside { slot, .. } | CodeError::Halfway { slot, .. } => {
                Some(slot)
            }
        }
    }
}

impl Code {
    /// Decodes all instructions and checks where they lead.
    pub fn decode(bytes: &[u8]) -> Result<Code, CodeError> {
        let (raw, rest) = bytes.as_chunks::<SLOT_BYTES>();
        if raw.is_empty() || !rest.is_empty() {
            return Err(CodeError::Length(bytes.len()));
        }
        let mut slots = Vec::with_capacity(raw.len());
        while slots.len() < raw.len() {
            let slot = slots.len();
            let insn =
                decode(raw[slot], raw.get(slot + 1).copied()).map_err(|source| CodeError::Decode { slot, source })?;
            slots.push(Some(insn));
            slots.resize(slot + insn.slots(), None);
        }
        let code = Code { slots };
        for (slot, insn) in code.iter() {
            for target in code.leads(slot, insn) {
                code.check_target(slot, insn, target)?;
            }
        }
        Ok(code)
    }

    /// The other instruction that an instruction names: its jump, the function it calls or whose address it takes.
    fn leads(&self, slot: usize, insn: Insn) -> impl Iterator<Item = i64> + use<> {
        let named = match insn {
            Insn::Call(Callee::Local(offset)) => Some(offset.into()),
            Insn::LoadImm64 { imm: Imm64::Function(offset), .. } => Some(offset.into()),
            _ => insn.jump_offset(),
        };
        named.map(|offset| slot as i64 + 1 + offset).into_iter()
    }

    fn check_target(&self, slot: usize, insn: Insn, target: i64) -> Result<(), CodeError> {
        let found = usize::try_from(target).ok().and_then(|target| self.slots.get(target));
        match found {
            None => Err(CodeError::Outside { slot, insn, target, slots: self.len() }),
            Some(None) => Err(CodeError::Halfway { slot, insn, target }),
            Some(Some(_)) => Ok(()),
        }
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the program is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The instruction that begins in that slot.
    pub fn get(&self, slot: usize) -> Option<Insn> {
        self.slots.get(slot).copied().flatten()
    }

    /// All instructions with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Insn)> + '_ {
        self.slots.iter().enumerate().filter_map(|(slot, insn)| insn.map(|insn| (slot, insn)))
    }

    /// The instructions of a part.
    pub fn part(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Insn)> + '_ {
        range.filter_map(|slot| self.get(slot).map(|insn| (slot, insn)))
    }

    /// The target of an instruction's jump, or the beginning of the function that it calls or names.
    pub fn target(&self, slot: usize) -> Option<usize> {
        self.get(slot).and_then(|insn| self.leads(slot, insn).next()).map(|target| target as usize)
    }

    /// The bytes, as they were decoded.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len() * SLOT_BYTES);
        for (_, insn) in self.iter() {
            let (first, second) = insn.encode();
            bytes.extend(first);
            bytes.extend(second.into_iter().flatten());
        }
        bytes
    }
}
