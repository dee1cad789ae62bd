// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card's address space through the window of its BAR (shell/cards/regs/bar.rdl).

use std::io::ErrorKind;

use penstock_engine::{Access, AccessError, Bus, CardError, Native};

use super::bar::Bar;
use super::registers;

/// Offset of the window into the card's address space.
const WINDOW: u32 = 0x1_0000;

/// Writes after which the count of errors is looked at.
const WRITES: usize = 256;

/// The card's address space through the BAR's window. PCIe reports no access that was refused, so the count of errors
/// is looked at: after a read of all ones, and for writes, which PCIe does not wait for either, after several of them
/// or when they are to be through.
pub(super) struct Window {
    pub bar: Box<dyn Bar>,
    page: Option<u32>,
    errors: u32,
    timeouts: u32,
    /// Addresses of the writes since the last look.
    written: Vec<u32>,
}

impl Window {
    /// A window of a card; where it is now is not known.
    pub(super) fn new(bar: Box<dyn Bar>) -> Result<Self, CardError> {
        let mut window = Self { bar, page: None, errors: 0, timeouts: 0, written: Vec::new() };
        window.forget()?;
        Ok(window)
    }

    /// Forgets what it knows of a card that was reset.
    pub(super) fn forget(&mut self) -> Result<(), CardError> {
        self.page = None;
        self.written.clear();
        self.errors = self.bar.read(registers::BAR_ERRORS).map_err(gone)?;
        self.timeouts = self.bar.read(registers::BAR_TIMEOUTS).map_err(gone)?;
        Ok(())
    }

    /// Offset of a register in the BAR, once the window shows it. The BAR has whole words only.
    fn show(&mut self, access: Access, address: u32) -> Result<u32, CardError> {
        if !address.is_multiple_of(4) {
            return Err(AccessError { access, address }.into());
        }
        let page = address >> 16;
        if self.page != Some(page) {
            self.bar.write(registers::BAR_PAGE, page).map_err(gone)?;
            self.page = Some(page);
        }
        Ok(WINDOW | (address & 0xFFFF))
    }

    /// Fails when a write since the last look was refused.
    pub(super) fn flush(&mut self) -> Result<(), CardError> {
        let written = std::mem::take(&mut self.written);
        match written[..] {
            [] => Ok(()),
            [address] => self.check(Access::Write, address),
            [first, .., last] => self.check(Access::Write, last).map_err(|error| match error {
                CardError::Access(_) => CardError::Broken(format!(
                    "the card refused one of {} writes of registers from 0x{first:08x} to 0x{last:08x}",
                    written.len()
                )),
                CardError::Broken(_) => error,
            }),
        }
    }

    /// Fails when an access since the last look was refused.
    fn check(&mut self, access: Access, address: u32) -> Result<(), CardError> {
        let errors = self.bar.read(registers::BAR_ERRORS).map_err(gone)?;
        if errors == self.errors {
            return Ok(());
        }
        let timeouts = self.bar.read(registers::BAR_TIMEOUTS).map_err(gone)?;
        if errors == u32::MAX && timeouts == u32::MAX {
            return Err(CardError::Broken("the card is gone: its BAR reads all ones".into()));
        }
        self.errors = errors;
        if timeouts == self.timeouts {
            return Err(AccessError { access, address }.into());
        }
        self.timeouts = timeouts;
        Err(CardError::Broken(format!("the card did not answer a {access} of register 0x{address:08x}")))
    }
}

/// The fault behind an error of the BAR: a simulated card reports its own faults as invalid data.
pub(super) fn gone(error: std::io::Error) -> CardError {
    CardError::Broken(match error.kind() {
        ErrorKind::InvalidData => format!("the card broke a contract: {error}"),
        _ => format!("the card is gone: {error}"),
    })
}

impl Bus for Window {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        self.flush()?;
        let offset = self.show(Access::Read, address)?;
        let value = self.bar.read(offset).map_err(gone)?;
        // Only an access that was refused gives all ones for sure.
        if value == u32::MAX {
            self.check(Access::Read, address)?;
        }
        Ok(value)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        let offset = self.show(Access::Write, address)?;
        self.bar.write(offset, value).map_err(gone)?;
        self.written.push(address);
        if self.written.len() < WRITES { Ok(()) } else { self.flush() }
    }

    fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
        self.flush()?;
        self.bar.pass(cycles).map_err(gone)
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}
