// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Waves of a run.

use std::path::PathBuf;

/// Cycles of a run to record.
#[derive(Debug, Clone)]
pub struct Wave {
    /// FST file to write.
    pub file: PathBuf,
    /// How many cycles after the card has begun to take the frames of the first [`Device::send`](crate::Device::send).
    pub from: u64,
    /// How many.
    pub cycles: u64,
}
