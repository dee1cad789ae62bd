// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What an accelerator is to its unit.

use crate::ip_prefix::IpPrefix;

/// Registers that firmware reads and writes, and tables that the host does. A read that waits in hardware answers at once here.
pub trait Accelerator: Send {
    /// Number in the unit's ACCEL register.
    fn id(&self) -> u32;
    /// Firmware reads the register at `offset`, a multiple of 4; None when that is an error of the firmware.
    fn read(&mut self, offset: u32) -> Option<u32>;
    /// Firmware writes it; false when that is an error.
    fn write(&mut self, offset: u32, value: u32) -> bool;
    /// The host reads the table word at `offset`, a multiple of 4.
    fn table(&self, offset: u32) -> u32;
    /// The host writes it.
    fn load(&mut self, offset: u32, value: u32);
}

/// No accelerator: no registers.
struct Absent;

impl Accelerator for Absent {
    fn id(&self) -> u32 {
        0
    }
    fn read(&mut self, _offset: u32) -> Option<u32> {
        None
    }
    fn write(&mut self, _offset: u32, _value: u32) -> bool {
        false
    }
    fn table(&self, _offset: u32) -> u32 {
        0
    }
    fn load(&mut self, _offset: u32, _value: u32) {}
}

/// The accelerators that a design can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Units without an accelerator.
    #[default]
    None,
    /// Longest prefix match (engines/rpu/accelerators/ip_prefix).
    IpPrefix,
}

impl Kind {
    /// A fresh one.
    #[must_use]
    pub fn build(self) -> Box<dyn Accelerator> {
        match self {
            Self::None => Box::new(Absent),
            Self::IpPrefix => Box::new(IpPrefix::new()),
        }
    }
}
