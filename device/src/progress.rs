// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How far a device has come.

/// The progress of a device.
#[derive(Debug, Clone)]
pub enum Progress {
    /// The model is being compiled: `done` of `total` steps.
    Building {
        /// Steps done.
        done: u64,
        /// Steps there are.
        total: u64,
    },
    /// Another process or thread compiles the model's sources.
    Waiting,
    /// Programs and tables are being written.
    Loading,
    /// Frames are on their way.
    Running {
        /// Frames that entered.
        entered: u64,
        /// Frames that left.
        left: u64,
        /// Cycles so far; 0 on `soft`.
        cycles: u64,
    },
}
