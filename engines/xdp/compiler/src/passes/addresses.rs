// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places: constants that were added to a pointer move into the offset, and a place with a visible origin gets its
//! space.

use super::dead;
use super::peephole::Context;
use crate::insn::Width;
use crate::ir::{Arg, BinOp, Op, Order, Place, Program, Space, Special};

/// No offset is further from its base.
const FAR: i64 = 1 << 15;

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let context = Context::of(program, &order);
    let mut changed = false;
    for block in &mut program.blocks {
        for place in block.insts.iter_mut().flat_map(|inst| inst.op.places_mut()) {
            while let Some(new) = nearer(&context, place) {
                *place = new;
                changed = true;
            }
        }
    }
    dead::run(program) | changed
}

/// The same place, one step nearer to its origin.
fn nearer(context: &Context, place: &Place) -> Option<Place> {
    let unknown = place.space == Space::Any;
    match (place.base, context.definition(place.base)) {
        (Arg::Special(Special::Stack), _) if unknown => Some(Place { space: Space::Stack, ..*place }),
        (_, Some(Op::Read(Special::Data | Special::DataMeta))) if unknown => {
            Some(Place { space: Space::Packet, ..*place })
        }
        (_, Some(Op::Bin { op: BinOp::Add, width: Width::W64, a, b: Arg::Const(more) })) => {
            let offset = i64::from(place.offset).checked_add(more.cast_signed())?;
            let offset = i32::try_from(offset).ok().filter(|_| (-FAR..FAR).contains(&offset))?;
            Some(Place { base: *a, offset, ..*place })
        }
        _ => None,
    }
}
