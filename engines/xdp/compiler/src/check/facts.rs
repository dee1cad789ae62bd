// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The checker's results for later passes: for each instruction, the facts that hold on all paths to it.

use std::collections::BTreeSet;

use super::scalar::Scalar;
use super::value::{MapRef, Pointer, Region, Value};
use crate::insn::Code;

/// Properties of an operand that hold on all paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A number within these bounds.
    Number(Scalar),
    /// The program's context, `struct xdp_md *`.
    Context,
    /// The packet's end, `ctx->data_end`.
    PacketEnd,
    /// A pointer into `region`.
    Pointer {
        /// The memory that it leads into.
        region: Region,
        /// Smallest and largest distance from the region's beginning.
        offset: (i64, i64),
        /// Whether it may be null on some path.
        nullable: bool,
    },
    /// A map, as helpers take it.
    Map(MapRef),
    /// On one path the one, on another the other.
    Mixed,
}

impl Operand {
    fn of(value: &Value) -> Operand {
        match value {
            Value::Scalar(scalar, _) => Operand::Number(*scalar),
            Value::Context => Operand::Context,
            Value::PacketEnd => Operand::PacketEnd,
            Value::Map(map, _) => Operand::Map(*map),
            Value::Pointer(pointer) => {
                Operand::Pointer { region: pointer.region, offset: reach(pointer, 0), nullable: pointer.nullable }
            }
            Value::Gone(_) => Operand::Mixed,
        }
    }

    fn join(self, other: Operand) -> Operand {
        match (self, other) {
            (Operand::Number(a), Operand::Number(b)) => Operand::Number(a.join(&b)),
            (
                Operand::Pointer { region, offset: a, nullable: x },
                Operand::Pointer { region: other, offset: b, nullable: y },
            ) if region == other => Operand::Pointer { region, offset: (a.0.min(b.0), a.1.max(b.1)), nullable: x || y },
            (a, b) if a == b => a,
            _ => Operand::Mixed,
        }
    }
}

/// Smallest and largest distance from the region's beginning, `more` bytes further.
fn reach(pointer: &Pointer, more: i64) -> (i64, i64) {
    let base = pointer.offset.saturating_add(more);
    (base.saturating_add(pointer.variable.wide.smin), base.saturating_add(pointer.variable.wide.smax))
}

/// The region that an instruction, or a helper through an argument, reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// None: on different paths in different regions.
    pub region: Option<Region>,
    /// On all paths in values of maps, or in records.
    pub outside: bool,
    /// Smallest and largest offset of the first byte from the region's beginning; equal when it is one place.
    pub offset: (i64, i64),
    /// How many bytes, at most.
    pub bytes: u32,
    /// Whether it writes; else it reads.
    pub writes: bool,
    /// The conditional jumps that show that bytes of the packet are there, one of them on each path. None: the size of
    /// the region bounds it.
    pub proofs: BTreeSet<usize>,
}

/// A comparison of a pointer into the packet with its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketCheck {
    /// The number of proven bytes, from the packet's beginning or, if the pointer has a variable part, from there.
    pub bytes: u32,
    /// Whether that is known when the jump is taken; else, when it is not.
    pub when_taken: bool,
    /// Whether the pointer has a variable part.
    pub variable: bool,
}

/// The operands of a conditional jump, and its possible outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Branch {
    /// On some path it is taken.
    pub taken: bool,
    /// On some path it is not.
    pub not_taken: bool,
    /// On all paths it is this check of the packet's end.
    pub packet: Option<PacketCheck>,
    /// On all paths it asks whether the result of a lookup or a reservation is null.
    pub null_check: bool,
    seen: bool,
}

/// Facts about one instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InsnFacts {
    /// Some path reaches this instruction.
    pub reached: bool,
    /// The destination (of arithmetic: before it), the base of an access, or the left side of a comparison.
    pub left: Option<Operand>,
    /// The second operand, if it is a register.
    pub right: Option<Operand>,
    /// Memory that it reads or writes; of a call, by argument (0 is r1).
    pub accesses: Vec<(usize, Access)>,
    /// The operands of a conditional jump, and its outcomes; None for other instructions.
    pub branch: Option<Branch>,
    /// The maps that a helper call works on.
    pub maps: BTreeSet<MapRef>,
}

/// The checker's findings about a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// By slot.
    pub insns: Vec<InsnFacts>,
    /// Bytes of stack that each function uses.
    pub stack: Vec<u32>,
    /// The same of the deepest chain of calls.
    pub stack_depth: u32,
    /// Helpers that are called, by number.
    pub helpers: BTreeSet<u32>,
    /// Maps that are used, by index.
    pub maps: BTreeSet<u32>,
    /// Highest byte of the packet, counted from its first one, that the program reads or writes, plus one; None: some
    /// places are not known in advance.
    pub packet_bytes: Option<u32>,
    /// The number of instructions checked, over all paths.
    pub visited: usize,
    /// How many the longest path has.
    pub longest: usize,
}

impl Facts {
    /// For a program of this many slots and functions.
    pub(super) fn new(slots: usize, functions: usize) -> Facts {
        Facts {
            insns: vec![InsnFacts::default(); slots],
            stack: vec![0; functions],
            packet_bytes: Some(0),
            ..Facts::default()
        }
    }

    pub(super) fn operands(&mut self, slot: usize, left: Option<&Value>, right: Option<&Value>) {
        let facts = &mut self.insns[slot];
        for (fact, value) in [(&mut facts.left, left), (&mut facts.right, right)] {
            if let Some(new) = value.map(Operand::of) {
                *fact = Some(fact.map_or(new, |known| known.join(new)));
            }
        }
    }

    pub(super) fn access(&mut self, slot: usize, arg: usize, pointer: &Pointer, more: i64, bytes: u32, writes: bool) {
        let offset = reach(pointer, more);
        let variable = offset.0 != offset.1;
        if pointer.region == Region::Packet {
            let end = u32::try_from(offset.1.saturating_add(bytes.into())).ok().filter(|_| !variable);
            self.packet_bytes = self.packet_bytes.zip(end).map(|(known, end)| known.max(end));
        }
        let accesses = &mut self.insns[slot].accesses;
        let proofs = pointer.proof.filter(|_| pointer.in_packet());
        let outside = matches!(pointer.region, Region::MapValue(_) | Region::Record(_));
        match accesses.iter_mut().find(|(known, _)| *known == arg) {
            None => {
                let proofs = proofs.into_iter().collect();
                accesses.push((arg, Access { region: Some(pointer.region), outside, offset, bytes, writes, proofs }));
            }
            Some((_, known)) => {
                known.region = known.region.filter(|region| *region == pointer.region);
                known.outside &= outside;
                known.offset = (known.offset.0.min(offset.0), known.offset.1.max(offset.1));
                known.bytes = known.bytes.max(bytes);
                known.writes |= writes;
                known.proofs.extend(proofs);
            }
        }
    }

    pub(super) fn branch(&mut self, slot: usize, ways: (bool, bool), packet: Option<PacketCheck>, null_check: bool) {
        let branch = self.insns[slot].branch.get_or_insert_default();
        branch.taken |= ways.0;
        branch.not_taken |= ways.1;
        branch.packet = if branch.seen { branch.packet.filter(|known| Some(*known) == packet) } else { packet };
        branch.null_check = null_check && (branch.null_check || !branch.seen);
        branch.seen = true;
    }

    /// Slots of unreachable instructions.
    pub fn unreached(&self, code: &Code) -> Vec<usize> {
        code.iter().map(|(slot, _)| slot).filter(|slot| !self.insns[*slot].reached).collect()
    }
}
