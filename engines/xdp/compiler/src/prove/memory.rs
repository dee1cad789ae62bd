// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The stores so far: the order of writes matters only where they may overlap (traces: Mazurkiewicz, 1977).

use super::value::{Place, Term, Val, Values};

/// Bytes from a place on; None: anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent(pub Option<(Place, u32)>);

impl Extent {
    /// Whether two may have a byte in common: not when they are at distances from one address that keep them apart.
    pub(super) fn meets(self, other: Extent) -> bool {
        let (Some((a, a_bytes)), Some((b, b_bytes))) = (self.0, other.0) else { return true };
        a.base != b.base || a.offset < b.offset + i64::from(b_bytes) && b.offset < a.offset + i64::from(a_bytes)
    }
}

/// Something that writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    pub id: Val,
    pub extent: Extent,
}

/// A memory since the block's beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(Vec<Write>);

impl Memory {
    pub(super) fn write(&mut self, id: Val, extent: Extent) {
        self.0.push(Write { id, extent });
    }

    /// From now on all that counts is this.
    pub(super) fn replace(&mut self, id: Val) {
        self.0 = vec![Write { id, extent: Extent(None) }];
    }

    /// The writes that determine the bytes of an extent: the same stores give the same value.
    pub(super) fn seen(&self, extent: Extent, values: &mut Values) -> Val {
        let mut left: Vec<Write> = self.0.iter().filter(|write| write.extent.meets(extent)).copied().collect();
        let mut order = Vec::with_capacity(left.len());
        // The smallest candidate comes first, so every order of the same trace gives the same list.
        while !left.is_empty() {
            let free = |at: &usize| left[..*at].iter().all(|before| !before.extent.meets(left[*at].extent));
            let Some(first) = (0..left.len()).filter(free).min_by_key(|at| left[*at].id) else { break };
            order.push(left.remove(first).id);
        }
        values.of(Term::Trace(order))
    }
}
