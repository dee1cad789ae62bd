// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver's requests to a block, in hardware or in native code.

use penstock_l7_compiler::Compiled;

use crate::counters::AppCounters;
use crate::error::L7Error;

/// A block at work. Applications are named by their index.
pub(crate) trait Machine {
    /// The counters of an application, and its messages by their decision. The caller fills in names.
    ///
    /// # Errors
    /// The card refuses.
    fn count(&mut self, app: usize) -> Result<(AppCounters, Vec<u64>), L7Error>;

    /// Gives an application the rules of the application of the same index in this program, between two messages.
    ///
    /// # Errors
    /// If the card refuses, or has no room for them; then the old rules go on.
    fn set_rules(&mut self, app: usize, compiled: &Compiled) -> Result<(), L7Error>;
}
