// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Whether a program is well formed: the properties that every pass may rely on and must preserve.

use super::{Arg, BlockId, Edge, End, Inst, Op, Order, Place, Program, Special, ValueId};
use crate::check::Gives;

/// A broken rule: the block, and the fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {}: {what}", block.0)]
pub struct Broken {
    /// The block that breaks the rule.
    pub block: BlockId,
    /// The fault, for messages.
    pub what: String,
}

/// Checks that
/// - there is a block 0 without parameters to which nothing leads, and all blocks can be reached;
/// - each value has one definition, which dominates its uses;
/// - edges hand on as many values as their block has parameters;
/// - numbers are in the ranges that the form names;
/// - only [`Op::Read`] names values that change while a program runs.
///
/// # Errors
/// The first of these that does not hold.
pub fn verify(program: &Program) -> Result<(), Broken> {
    let first = BlockId(0);
    let wrong = |what: &str| Err(Broken { block: first, what: what.into() });
    if program.blocks.first().is_none_or(|block| !block.params.is_empty()) {
        return wrong("there is no block 0 without parameters");
    }
    for (block, found) in program.iter() {
        for edge in found.end.edges() {
            if edge.to.0 as usize >= program.blocks.len() || edge.to == first {
                return Err(Broken { block, what: format!("no block {} to lead to", edge.to.0) });
            }
        }
    }
    let order = Order::of(program);
    let verifier = Verifier { program, order: &order, places: definitions(program)? };
    for (block, found) in program.iter() {
        let result = if order.reaches(block) { verifier.block(block) } else { Err("nothing leads to it".into()) };
        result.map_err(|what| Broken { block, what })?;
        for edge in found.end.edges() {
            verifier.edge(edge).map_err(|what| Broken { block, what })?;
        }
    }
    Ok(())
}

/// The place of each value's definition: its block, and the place in it. Parameters are at place 0, instructions from 1
/// on.
fn definitions(program: &Program) -> Result<Vec<Option<(BlockId, usize)>>, Broken> {
    let mut places = vec![None; program.values as usize];
    for (block, found) in program.iter() {
        let params = found.params.iter().map(|param| (*param, 0));
        let results = found.insts.iter().zip(1..).filter_map(|(inst, place)| Some((inst.result?, place)));
        for (ValueId(value), place) in params.chain(results) {
            let known = places.get_mut(value as usize);
            let known = known.ok_or_else(|| Broken { block, what: format!("v{value} was never numbered") })?;
            if known.replace((block, place)).is_some() {
                return Err(Broken { block, what: format!("v{value} is defined twice") });
            }
        }
    }
    Ok(places)
}

struct Verifier<'a> {
    program: &'a Program,
    order: &'a Order,
    places: Vec<Option<(BlockId, usize)>>,
}

impl Verifier<'_> {
    fn block(&self, id: BlockId) -> Result<(), String> {
        let block = self.program.block(id);
        for (inst, place) in block.insts.iter().zip(1..) {
            for arg in inst.op.operands() {
                self.argument(arg, id, place)?;
            }
            form(inst).map_err(|what| format!("instruction {place}: {what}"))?;
        }
        for arg in block.end.operands() {
            self.argument(arg, id, block.insts.len() + 1)?;
        }
        if let End::Branch { packet_check: Some((0, _)), .. } = block.end {
            return Err("a packet check of no bytes".into());
        }
        Ok(())
    }

    /// Whether a value is defined at a place of a block.
    fn argument(&self, arg: Arg, block: BlockId, place: usize) -> Result<(), String> {
        match arg {
            Arg::Const(_) => Ok(()),
            Arg::Special(special) if special.changes() => {
                Err(format!("{special:?} is named outside of a Read, and changes while the program runs"))
            }
            Arg::Special(_) => Ok(()),
            Arg::Value(ValueId(value)) => match self.places.get(value as usize).copied().flatten() {
                None => Err(format!("v{value} is not defined")),
                Some((there, at)) if there == block => {
                    if at < place {
                        Ok(())
                    } else {
                        Err(format!("v{value} is used before it is defined"))
                    }
                }
                Some((there, _)) if self.order.dominates(there, block) => Ok(()),
                Some((there, _)) => Err(format!("v{value} of block {} is not there on all ways", there.0)),
            },
        }
    }

    fn edge(&self, edge: &Edge) -> Result<(), String> {
        let (given, wanted) = (edge.args.len(), self.program.block(edge.to).params.len());
        if given == wanted { Ok(()) } else { Err(format!("block {} takes {wanted} values, not {given}", edge.to.0)) }
    }
}

/// Whether an instruction's numbers are in range, and it has a result where it must, or none.
fn form(inst: &Inst) -> Result<(), String> {
    let size = |place: &Place| {
        if (1..=8).contains(&place.bytes) { Ok(()) } else { Err(format!("{} bytes at once", place.bytes)) }
    };
    let one_of = |what: &str, number: u8, allowed: &[u8]| {
        if allowed.contains(&number) { Ok(()) } else { Err(format!("{number} {what}")) }
    };
    match &inst.op {
        Op::SignExtend { bits, .. } => one_of("bits to extend", *bits, &[8, 16, 32])?,
        Op::Swap { bytes, .. } => one_of("bytes to turn round", *bytes, &[2, 4, 8])?,
        Op::Field { shift, bits, left, .. } => {
            if *shift > 63 || !(1..=32).contains(bits) || *left > 7 {
                return Err(format!("no field of {bits} bits from bit {shift} on, moved by {left}"));
            }
        }
        Op::Load { place, .. } | Op::Store { place, .. } => size(place)?,
        Op::Atomic { place, .. } => one_of("bytes of an atomic operation", place.bytes as u8, &[4, 8])?,
        Op::Read(_) | Op::Bin { .. } | Op::Set { .. } | Op::Adjust { .. } | Op::Call { .. } => {}
    }
    let gives = !matches!(&inst.op, Op::Store { .. })
        && !matches!(&inst.op, Op::Call { helper, .. } if helper.gives == Gives::Nothing);
    if inst.result.is_some() && !gives { Err("it has no result to give".into()) } else { Ok(()) }
}

impl Special {
    /// Whether it changes while a program runs.
    pub fn changes(self) -> bool {
        use Special::{Data, DataEnd, DataMeta, Len, Random, Time};
        matches!(self, Data | DataEnd | DataMeta | Len | Time | Random)
    }
}
