// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design on a real card, or on a simulated one that is reached in the same way: over a BAR
//! (shell/cards/regs/bar.rdl).
//!
//! The card reports its identity, and the driver refuses a card that does not match the design. Programs, tables and
//! counters then go over the card's registers as on `rtl`, by [`Host`] and the drivers of the engines. Frames enter
//! and leave at the card's ports, which the host does not see; [`FpgaCard::wires`] reaches the cables of a simulated
//! card.

mod bar;
mod hardware;
mod project;
/// Offsets of the registers in a card's BAR, written by tools/regs.py.
#[path = "../../../shell/cards/regs/regs.rs"]
pub mod registers;

use std::fmt;
use std::path::Path;

use penstock_engine::{Access, AccessError, Bus, CardError, Native, Request, Root};
use serde_json::Value as Json;

pub use bar::{Bar, NoPlace, Place, SimBar, SysfsBar, Wires};
pub use hardware::Hardware;
pub use project::{ProjectError, write as write_project};

use crate::design::Design;
use crate::device::DeviceError;
use crate::host::Host;
use crate::image::Image;
use crate::outcome::Counters;

const MAGIC: u32 = 0x504E_4650;
/// Major version of the BAR's registers that this driver knows.
const MAJOR: u32 = 1;
/// Where Linux shows PCI devices.
const DEVICES: &str = "/sys/bus/pci/devices";
/// OpenNIC's BAR with its registers, and where box_322mhz begins in it.
const OPENNIC_BAR: u32 = 2;
const OPENNIC_BOX: usize = 0x20_0000;
/// Offset of the window into the card's address space.
const WINDOW: u32 = 0x1_0000;
/// Cycles that a reset takes at most, and between two looks whether it is over.
const RESET_LIMIT: u64 = 100_000;
const RESET_LOOK: u64 = 1_000;

/// The identity that a card reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Version of the BAR's registers: major and minor.
    pub version: (u16, u16),
    /// Hash of the hardware ([`Hardware::hash`]).
    pub hash: [u32; 4],
    /// Four letters of the card's shell.
    pub shell: [u8; 4],
    /// Ethernet ports, units and inline blocks.
    pub shape: (u8, u8, u8),
}

/// Why a card cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum FpgaError {
    /// The card cannot be reached.
    #[error("{place}: {source}; {help}")]
    Unreachable {
        /// Where it should be.
        place: Place,
        /// Why.
        source: std::io::Error,
        /// What to do.
        help: &'static str,
    },
    /// Every read gives all ones.
    #[error(
        "{0}: reads give all ones: the card is not there any more, or its memory space is off; see `lspci`, and reset or program the card anew"
    )]
    AllOnes(Place),
    /// Something else is behind the BAR.
    #[error(
        "{place}: no Penstock card is there: its first word is 0x{found:08x} and not 0x504e4650; program the card with the project of `penstock fpga init`"
    )]
    NoCard {
        /// Where.
        place: Place,
        /// What was read.
        found: u32,
    },
    /// The BAR's registers are of another version.
    #[error(
        "{place}: the card's registers are of version {major}.{minor}, and this Penstock knows {}.x; write and build its project anew",
        MAJOR
    )]
    Version {
        /// Where.
        place: Place,
        /// The card's.
        major: u16,
        /// The card's.
        minor: u16,
    },
    /// The card was built for another design.
    #[error(
        "{place}: the card has {found}, and the design {design} asks for {wanted}; build the card for this design (`penstock fpga init`), or open the design that it was built for"
    )]
    OtherDesign {
        /// Where.
        place: Place,
        /// The card's.
        found: String,
        /// Name of the design.
        design: String,
        /// Its hardware.
        wanted: String,
    },
    /// The card does not leave its reset.
    #[error(
        "{0}: the card does not leave its reset: its clock does not run; look at the shell's clocks, or program the card anew"
    )]
    InReset(Place),
    /// The device cannot go on.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl From<CardError> for FpgaError {
    fn from(error: CardError) -> Self {
        Self::Device(error.into())
    }
}

impl Identity {
    /// Asks a card who it is.
    ///
    /// # Errors
    /// No Penstock card of a version that we know is there.
    pub fn read(place: &Place, bar: &mut dyn Bar) -> Result<Self, FpgaError> {
        let lost = |source| FpgaError::Unreachable { place: place.clone(), source, help: "is the card still there?" };
        let mut read = |offset| bar.read(offset).map_err(lost);
        match read(registers::BAR_MAGIC)? {
            MAGIC => {}
            u32::MAX => return Err(FpgaError::AllOnes(place.clone())),
            found => return Err(FpgaError::NoCard { place: place.clone(), found }),
        }
        let version = read(registers::BAR_VERSION)?;
        let (major, minor) = ((version >> 16) as u16, version as u16);
        if u32::from(major) != MAJOR {
            return Err(FpgaError::Version { place: place.clone(), major, minor });
        }
        let mut hash = [0; 4];
        for (offset, word) in (0..).step_by(4).zip(&mut hash) {
            *word = read(registers::BAR_DESIGN + offset)?;
        }
        let [_, blocks, units, ports] = read(registers::BAR_SHAPE)?.to_be_bytes();
        let shell = read(registers::BAR_SHELL)?.to_be_bytes();
        Ok(Self { version: (major, minor), hash, shell, shape: (ports, units, blocks) })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ports, units, blocks) = self.shape;
        let shell: String = self.shell.iter().map(|byte| char::from(*byte)).filter(char::is_ascii_graphic).collect();
        let hash: String = self.hash.iter().map(|word| format!("{word:08x}")).collect();
        write!(f, "{ports} ports, {units} units, {blocks} inline blocks, hardware {hash}, in the shell {shell}")
    }
}

/// The card's address space through the BAR's window. Each access is followed by a look at the count of errors, since
/// PCIe reports none.
struct Window {
    bar: Box<dyn Bar>,
    page: Option<u32>,
    errors: u32,
    timeouts: u32,
}

impl Window {
    fn new(mut bar: Box<dyn Bar>) -> Result<Self, CardError> {
        let errors = bar.read(registers::BAR_ERRORS).map_err(gone)?;
        let timeouts = bar.read(registers::BAR_TIMEOUTS).map_err(gone)?;
        Ok(Self { bar, page: None, errors, timeouts })
    }

    /// Offset of an address in the BAR, once the window shows it.
    fn show(&mut self, address: u32) -> Result<u32, CardError> {
        let page = address >> 16;
        if self.page != Some(page) {
            self.bar.write(registers::BAR_PAGE, page).map_err(gone)?;
            self.page = Some(page);
        }
        Ok(WINDOW | (address & 0xFFFF))
    }

    /// Fails when the last access was refused.
    fn check(&mut self, access: Access, address: u32) -> Result<(), CardError> {
        let errors = self.bar.read(registers::BAR_ERRORS).map_err(gone)?;
        if errors == self.errors {
            return Ok(());
        }
        self.errors = errors;
        let timeouts = self.bar.read(registers::BAR_TIMEOUTS).map_err(gone)?;
        if errors == u32::MAX && timeouts == u32::MAX {
            return Err(CardError::Broken("the card is gone: its BAR reads all ones".into()));
        }
        if timeouts == self.timeouts {
            return Err(AccessError { access, address }.into());
        }
        self.timeouts = timeouts;
        Err(CardError::Broken(format!("the card did not answer a {access} of register 0x{address:08x}")))
    }
}

fn gone(error: std::io::Error) -> CardError {
    CardError::Broken(format!("the card is gone: {error}"))
}

impl Bus for Window {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        let offset = self.show(address)?;
        let value = self.bar.read(offset).map_err(gone)?;
        // Only an access that was refused gives all ones for sure.
        if value == u32::MAX {
            self.check(Access::Read, address)?;
        }
        Ok(value)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        let offset = self.show(address)?;
        self.bar.write(offset, value).map_err(gone)?;
        self.check(Access::Write, address)
    }

    fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
        self.bar.pass(cycles).map_err(gone)
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}

/// Opens the BAR of a card.
///
/// # Errors
/// It is not there, may not be opened, or another process drives it.
pub fn open_bar(place: &Place) -> Result<Box<dyn Bar>, FpgaError> {
    let unreachable = |source, help| FpgaError::Unreachable { place: place.clone(), source, help };
    Ok(match place {
        Place::Sim(path) => {
            Box::new(SimBar::open(path).map_err(|e| unreachable(e, "start the simulated card first (docs/cards.md)"))?)
        }
        Place::Pci(address) => Box::new(
            SysfsBar::open(Path::new(DEVICES), address, OPENNIC_BAR, OPENNIC_BOX)
                .map_err(|e| unreachable(e, "see `lspci -D` for the address; the BAR's file needs root"))?,
        ),
    })
}

/// A design on a card that is reached over its BAR.
pub struct FpgaCard {
    window: Window,
    host: Host,
    identity: Identity,
}

impl FpgaCard {
    /// Opens a card, refuses it when it was not built for this design, and resets it.
    ///
    /// # Errors
    /// The card is not there, is another one, or does not leave its reset.
    pub fn open(root: &Root, design: &Design, place: &Place) -> Result<Self, FpgaError> {
        let bar = open_bar(place)?;
        Self::on(root, design, place, bar)
    }

    /// As [`FpgaCard::open`], over a BAR that is open already.
    ///
    /// # Errors
    /// The card is another one, or does not leave its reset.
    pub fn on(root: &Root, design: &Design, place: &Place, mut bar: Box<dyn Bar>) -> Result<Self, FpgaError> {
        let hardware = Hardware::of(root, design)?;
        let identity = Identity::read(place, &mut *bar)?;
        if identity.hash != hardware.hash() {
            let wanted = hardware.hash().iter().map(|word| format!("{word:08x}")).collect::<String>();
            return Err(FpgaError::OtherDesign {
                place: place.clone(),
                found: identity.to_string(),
                design: design.name.clone(),
                wanted: format!("{hardware}, hardware {wanted}"),
            });
        }
        bar.write(registers::BAR_RESET, 1).map_err(gone)?;
        let mut window = Window::new(bar)?;
        let mut waited = 0;
        loop {
            window.pass(RESET_LOOK)?;
            if window.bar.read(registers::BAR_STATUS).map_err(gone)? & 1 == 1 {
                break;
            }
            waited += RESET_LOOK;
            if waited >= RESET_LIMIT {
                return Err(FpgaError::InReset(place.clone()));
            }
        }
        let mut host = Host::new(design);
        host.begin(&mut window).map_err(DeviceError::from)?;
        Ok(Self { window, host, identity })
    }

    /// The identity that the card reports.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Resets the units, writes programs and tables, and opens the ports, as [`crate::Device::load`] does.
    ///
    /// # Errors
    /// The card refused an access, or a unit does not come up.
    pub fn load(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.host.check(image, false)?;
        self.host.load(&mut self.window, image)
    }

    /// The counters of ports, host, units and loopback. Those of inline blocks are not read yet.
    ///
    /// # Errors
    /// The card refused an access.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.host.counters(&mut self.window)
    }

    /// Frames that the converters between card and MACs lost, from and to each port.
    ///
    /// # Errors
    /// The card is gone.
    pub fn lost(&mut self) -> Result<Vec<(u32, u32)>, DeviceError> {
        (0..self.host.ports)
            .map(|port| {
                let base = registers::BAR_PORT_BASE + port * registers::BAR_PORT_STRIDE;
                let mut read = |register| self.window.bar.read(base + register).map_err(gone);
                Ok((read(registers::BAR_PORT_RX_LOST)?, read(registers::BAR_PORT_TX_LOST)?))
            })
            .collect()
    }

    /// Carries out a request of a service of one of the design's engines.
    ///
    /// # Errors
    /// As for [`crate::Device::call`].
    pub fn call(&mut self, request: &Request) -> Result<Json, DeviceError> {
        Ok(self.host.call(&mut self.window, request)?)
    }

    /// Reads a register of the host address space (shell/regs/card.rdl).
    ///
    /// # Errors
    /// There is no such register, or the card is gone.
    pub fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        Ok(self.window.read(address)?)
    }

    /// Writes a register of the host address space.
    ///
    /// # Errors
    /// As for [`FpgaCard::read`].
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        Ok(self.window.write(address, value)?)
    }

    /// Lets about so many cycles go by.
    ///
    /// # Errors
    /// The card is gone.
    pub fn pass(&mut self, cycles: u64) -> Result<(), DeviceError> {
        Ok(self.window.pass(cycles)?)
    }

    /// The cables of a simulated card.
    pub fn wires(&mut self) -> Option<&mut dyn Wires> {
        self.window.bar.wires()
    }
}
