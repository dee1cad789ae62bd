// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Other variables in a node.

use super::code::{At, Node, Src, Touch, When};
use crate::rows::{Second, Test};

/// Gives all that a node reads and writes other names.
pub(super) fn node(node: &mut Node, rename: &impl Fn(Src) -> Src) {
    reads(node, rename);
    if let Some(dst) = &mut node.dst
        && let Src::Var(new) = rename(Src::Var(*dst))
    {
        *dst = new;
    }
}

/// Gives all that a node reads other names.
pub(super) fn reads(node: &mut Node, rename: &impl Fn(Src) -> Src) {
    let at = |at: At| At { base: rename(at.base), ..at };
    node.op = node.op.map(rename, |_, place| at(place), |to| to);
    for Touch { at: known, .. } in &mut node.reach {
        *known = known.map(|(place, bytes)| (at(place), bytes));
    }
    if let Some(When { test, .. }) = &mut node.guard {
        let b = match test.b {
            Second::Source(b) => Second::Source(rename(b)),
            imm @ Second::Imm(_) => imm,
        };
        *test = Test { a: rename(test.a), b, ..*test };
    }
}
