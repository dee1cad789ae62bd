// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The counters of rmt blocks, in the form of result.json.

use serde::{Deserialize, Serialize};

/// Counters of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCounters {
    /// The counters of each tenant with a program.
    pub tenants: Vec<TenantCounters>,
}

/// Counters of a tenant, since its program was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantCounters {
    /// Its name.
    pub name: String,
    /// Frames that entered its program.
    pub frames: u64,
    /// Frames that its program dropped.
    pub dropped: u64,
}

impl BlockCounters {
    /// The block's counts since `then` was read. A program that was loaded since has counted from 0.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        let since = |one: &TenantCounters| {
            let before = then.tenants.iter().find(|before| before.name == one.name && before.frames <= one.frames);
            let (frames, dropped) = before.map_or((0, 0), |before| (before.frames, before.dropped));
            TenantCounters {
                name: one.name.clone(),
                frames: one.frames - frames,
                dropped: one.dropped.saturating_sub(dropped),
            }
        };
        Self { tenants: self.tenants.iter().map(since).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_program_counts_from_0() {
        let counters = |frames, dropped| BlockCounters {
            tenants: vec![TenantCounters { name: "bob".to_owned(), frames, dropped }],
        };
        assert_eq!(counters(10, 4).since(&counters(7, 3)), counters(3, 1));
        assert_eq!(counters(5, 1).since(&counters(7, 3)), counters(5, 1));
    }
}
