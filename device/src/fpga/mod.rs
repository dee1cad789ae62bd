// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design on a real card, or on a simulated one that is reached in the same way: over a BAR
//! (shell/cards/regs/bar.rdl).
//!
//! The card reports its identity, and the driver refuses a card that does not match the design. Programs, tables and
//! counters then go over the card's registers as on `rtl`, by the same drivers of the engines. Frames enter and leave
//! at the card's ports, which the host does not see; a simulated card has cables whose far ends it reaches.

mod area;
mod bar;
pub(crate) mod error;
mod hardware;
mod live;
mod machine;
pub(crate) mod memory;
mod project;
/// Offsets of the registers in a card's BAR, written by tools/regs.py.
#[path = "../../../shell/cards/regs/regs.rs"]
pub mod registers;
mod report;
pub(crate) mod shell;
mod window;

use std::fmt;
use std::path::{Path, PathBuf};

use penstock_engine::Root;

pub use area::{Area, Areas};
pub use bar::{Arrived, Bar, NoPlace, Place, SimBar, SysfsBar, Wires};
pub use error::FpgaError;
use error::MAJOR;
pub use hardware::Hardware;
pub use live::LiveCard;
use machine::Wanted;
pub use machine::{Behind, accept};
pub use project::{ProjectError, Written, write as write_project};
pub use report::{ClockTiming, ReportError, Reports, TimingSummary, Utilization};
pub use shell::{NoShell, Shell};

use crate::card::CardDevice;
use crate::design::Design;
use crate::error::DeviceError;
use crate::progress::Progress;
use crate::rtl::{self, build, build::Around};

const MAGIC: u32 = 0x504E_4650;
/// Memories of a simulated board, as of au250.
const SIMULATED_MEMORIES: u32 = 4;
/// Where Linux shows PCI devices.
const DEVICES: &str = "/sys/bus/pci/devices";

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

impl Identity {
    /// Asks a card who it is.
    ///
    /// # Errors
    /// No Penstock card of a version that we know is there.
    pub fn read(place: &Place, bar: &mut dyn Bar) -> Result<Self, FpgaError> {
        let lost = |source| unreachable(place, source, "is the card still there?");
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

/// Opens the BAR of a card.
///
/// # Errors
/// It is not there, may not be opened, or another process drives it.
pub fn open_bar(place: &Place) -> Result<Box<dyn Bar>, FpgaError> {
    let unreachable = |source, help| unreachable(place, source, help);
    Ok(match place {
        Place::Own(_) => return Err(FpgaError::NeedsDesign),
        Place::Sim(path) => Box::new(
            SimBar::open(path).map_err(|e| unreachable(e, "`penstock fpga sim DESIGN --at SOCKET` starts a card"))?,
        ),
        Place::Pci(address) => Box::new(
            SysfsBar::of_card(Path::new(DEVICES), address)
                .map_err(|e| unreachable(e, "see `lspci -D` for the address; the BAR's file needs root"))?,
        ),
    })
}

fn unreachable(place: &Place, source: std::io::Error, help: &'static str) -> FpgaError {
    FpgaError::Unreachable { place: place.clone(), source, help }
}

/// A design on a card that is reached over its BAR.
pub type FpgaDevice = CardDevice<Behind>;

impl FpgaDevice {
    /// Opens a card, refuses it when it was not built for this design, and resets it. A simulated card of one's own is
    /// built the first time, which `progress` shows.
    ///
    /// # Errors
    /// The card is not there, is another one, or does not leave its reset.
    pub fn open(
        root: &Root,
        design: &Design,
        place: &Place,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, DeviceError> {
        match place {
            Place::Own(shell) => {
                let program = simulator(root, design, *shell, progress)?;
                Self::simulated(root, design, *shell, &program, 0.0)
            }
            Place::Sim(_) | Place::Pci(_) => Self::on(root, design, place, open_bar(place)?),
        }
    }

    /// Starts the program of [`simulator`], whose MACs' clocks run faster than the card's by `drift` ppm, and opens its
    /// card.
    ///
    /// # Errors
    /// The program does not start or is of another design, or the card does not leave its reset.
    pub fn simulated(
        root: &Root,
        design: &Design,
        shell: Shell,
        program: &Path,
        drift: f64,
    ) -> Result<Self, DeviceError> {
        let place = Place::Own(shell);
        let bar =
            SimBar::start(program, drift).map_err(|source| unreachable(&place, source, "is the machine full?"))?;
        Self::on(root, design, &place, Box::new(bar))
    }

    /// As [`FpgaDevice::open`], over a BAR that is open already.
    ///
    /// # Errors
    /// The card is another one, or does not leave its reset.
    pub fn on(root: &Root, design: &Design, place: &Place, bar: Box<dyn Bar>) -> Result<Self, DeviceError> {
        let machine = Behind::open(Wanted::of(root, design)?, place.clone(), bar, design.ports)?;
        Self::begin(design, machine)
    }

    /// The identity that the card reports.
    pub fn identity(&self) -> Identity {
        self.machine.identity()
    }

    /// Frames that the converters between card and shell lost, from and to each port; then those of the host.
    ///
    /// # Errors
    /// The card is gone.
    pub fn lost(&mut self) -> Result<Vec<(u32, u32)>, DeviceError> {
        self.machine.lost()
    }
}

/// Builds the model of a shell around a design's card, or finds it in the cache; gives the path of the program
/// (shell/cards/sim).
///
/// # Errors
/// The design needs card memory, which the shell does not have, or the model cannot be built.
pub fn simulator(
    root: &Root,
    design: &Design,
    shell: Shell,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, DeviceError> {
    if let Some(refusal) = memory::refused(design, shell, None) {
        return Err(FpgaError::NoMemory(refusal.to_string()).into());
    }
    let memories = memory::ports(design, SIMULATED_MEMORIES);
    let around = Around::Shell { shell, hash: Hardware::of(root, design)?.hash(), memories };
    Ok(build::model(root, &rtl::parameters(root, design, around)?, progress)?)
}
