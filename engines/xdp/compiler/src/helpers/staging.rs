// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Copies keys and values in the memory of a map (globals, constants, another map's value, a record) to the stack: a
//! request reads only the stack and the packet of its context.

use super::Code;
use super::copy::all;
use crate::check::Helper;
use crate::ir::{Arg, Op, Place, Space, Special};

/// An operand that is copied for a call.
pub(super) struct Staged {
    /// Index among the arguments.
    pub arg: usize,
    /// Index among the call's inputs.
    pub read: usize,
    /// The place of the copy: its distance from the stack's end.
    pub at: i64,
}

/// Index among the arguments, and among the reads, of the data that a request reads by itself.
pub(super) fn read_by_request(helper: &Helper) -> &'static [(usize, usize)] {
    match helper.name {
        "map_lookup_elem" | "map_delete_elem" => &[(1, 0)],
        "map_update_elem" => &[(1, 0), (2, 1)],
        _ => &[],
    }
}

/// Whether a request reaches a place by itself. Where a pointer leads that the checker does not know, it is as if it
/// did not.
pub(super) fn reached(place: &Place) -> bool {
    matches!(place.space, Space::Stack | Space::Packet)
}

/// The call with copies of the data that it cannot reach.
pub(super) fn call(op: Op, staged: Vec<Staged>) -> Code<'static> {
    Box::new(move |w| {
        let Op::Call { helper, map, mut args, mut reads, writes } = op else { return };
        for Staged { arg, read, at } in staged {
            let Place { space, bytes, .. } = reads[read];
            let base = w.value(Op::sum(Arg::Special(Special::Stack), at));
            all(w, (space, args[arg]), (Space::Stack, base), bytes.into());
            args[arg] = base;
            reads[read] = Place { space: Space::Stack, base, offset: 0, bytes };
        }
        let result = w.value(Op::Call { helper, map, args, reads, writes });
        w.done(result);
    })
}
