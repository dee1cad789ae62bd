// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where a design runs.

use std::fmt;

use serde::Serialize;

/// The target that runs a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Native code.
    Soft,
    /// The card's SystemVerilog through Verilator, cycle for cycle.
    Rtl,
    /// A card behind a BAR: a real one, or the same with its shell in simulation.
    Fpga,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Soft => "soft",
            Self::Rtl => "rtl",
            Self::Fpga => "fpga",
        })
    }
}
