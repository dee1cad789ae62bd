// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The unit window of the host address space: registers, memories and tables of the units. shell/regs/unit.rdl has the
//! registers; the engine defines all above them. The card moves words of 4 bytes; these functions move any bytes, least
//! significant first.

use penstock_engine::window::UNIT_WINDOW;

use crate::device::Device;
use crate::error::DeviceError;
use crate::regs;

/// Fills `bytes` from `address` on in the window of a unit.
///
/// # Errors
/// When the card has no such unit, or nothing can be read there.
pub fn read(device: &mut dyn Device, unit: u32, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
    device.write(regs::CARD_UNIT_READ, unit)?;
    let mut address = address;
    let mut rest = bytes;
    while !rest.is_empty() {
        let skip = (address % 4) as usize;
        let (part, after) = rest.split_at_mut(rest.len().min(4 - skip));
        let word = device.read(UNIT_WINDOW.wrapping_add(address & !3))?.to_le_bytes();
        part.copy_from_slice(&word[skip..skip + part.len()]);
        address = address.wrapping_add(part.len() as u32);
        rest = after;
    }
    Ok(())
}

/// Writes `bytes` from `address` on in the window of a unit. A word of which only a part changes is read before.
///
/// # Errors
/// If the card has no such unit, or the address cannot be written; earlier words are written then.
pub fn write(device: &mut dyn Device, unit: u32, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
    device.write(regs::CARD_UNIT_WRITE_MASK, 1u32.checked_shl(unit).unwrap_or(0))?;
    let mut address = address;
    let mut rest = bytes;
    while !rest.is_empty() {
        let skip = (address % 4) as usize;
        let (part, after) = rest.split_at(rest.len().min(4 - skip));
        let mut word = [0; 4];
        if part.len() < 4 {
            read(device, unit, address & !3, &mut word)?;
        }
        word[skip..skip + part.len()].copy_from_slice(part);
        device.write(UNIT_WINDOW.wrapping_add(address & !3), u32::from_le_bytes(word))?;
        address = address.wrapping_add(part.len() as u32);
        rest = after;
    }
    Ok(())
}
