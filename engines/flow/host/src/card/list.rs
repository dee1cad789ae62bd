// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Contexts of a table in hardware, as a walk over its places finds them.

use std::collections::HashMap;

use penstock_flow::Context;

/// Contexts, each key once.
#[derive(Default)]
pub(super) struct Found {
    pub all: Vec<Context>,
    places: HashMap<Vec<u128>, usize>,
}

impl Found {
    pub(super) fn add(&mut self, context: Context) {
        match self.places.get(&context.key) {
            Some(place) => self.all[*place] = context,
            None => {
                self.places.insert(context.key.clone(), self.all.len());
                self.all.push(context);
            }
        }
    }
}
