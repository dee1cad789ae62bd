// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How a debugger reaches a unit.

use penstock_device::{Device, DeviceError, regs};

use crate::unit::DebugError;

/// Host address of the unit window.
const UNIT_WINDOW: u32 = 0x4000_0000;

/// The host's window into one unit (shell/regs/unit.rdl), by words.
pub trait Window {
    /// Reads the word at `address`, a multiple of 4.
    fn read(&mut self, address: u32) -> Result<u32, DebugError>;
    /// Writes the word at `address`, a multiple of 4.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DebugError>;
}

/// A unit of a device.
pub struct DeviceWindow<'a> {
    /// The device.
    pub device: &'a mut dyn Device,
    /// Number of the unit.
    pub unit: u32,
}

impl Window for DeviceWindow<'_> {
    fn read(&mut self, address: u32) -> Result<u32, DebugError> {
        self.device.write(regs::CARD_UNIT_READ, self.unit)?;
        Ok(self.device.read(UNIT_WINDOW + address)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DebugError> {
        self.device.write(regs::CARD_UNIT_WRITE_MASK, 1u32.checked_shl(self.unit).unwrap_or(0))?;
        Ok(self.device.write(UNIT_WINDOW + address, value)?)
    }
}

impl From<DeviceError> for DebugError {
    fn from(error: DeviceError) -> Self {
        Self::Card(error.to_string())
    }
}
