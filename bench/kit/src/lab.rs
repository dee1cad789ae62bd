// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The environment of a bench: the checkout, the cases to measure, cards, and a place for its figures.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_device::fpga::{FpgaDevice, Shell};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Design, Device, DeviceError, Image, Override, Policy, Root};
use serde_json::Value;

use crate::row::Row;
use crate::{BenchError, word};

/// Which cases to measure.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Frame sizes; all if empty.
    pub sizes: Vec<usize>,
    /// Numbers of units; all if empty.
    pub units: Vec<u32>,
    /// Parameters that a case must have, for benches whose cases can be selected.
    pub cases: Vec<(String, String)>,
}

impl Selection {
    /// The sizes of `from` that are selected.
    pub fn sizes<'a>(&'a self, from: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        from.iter().copied().filter(|size| self.sizes.is_empty() || self.sizes.contains(size))
    }

    /// Whether a case has all selected parameters.
    #[must_use]
    pub fn takes(&self, case: &BTreeMap<String, Value>) -> bool {
        self.cases.iter().all(|(name, value)| case.get(name).is_some_and(|is| word(is) == *value))
    }

    /// The unit counts of `from` that are selected.
    pub fn units<'a>(&'a self, from: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        from.iter().copied().filter(|units| self.units.is_empty() || self.units.contains(units))
    }
}

/// A design and what its parts run.
pub struct Card {
    /// The parts of the card.
    pub design: Design,
    /// The programs of its parts.
    pub image: Image,
}

impl Card {
    /// Reads a design, changed by `change`, with its programs and tables.
    ///
    /// # Errors
    /// If the design, a program or a table cannot be read.
    pub fn read(root: &Root, manifest: &Path, change: Override) -> Result<Self, BenchError> {
        let design = Design::read(manifest)?.with(change)?;
        let image = Image::of(root, &design)?;
        Ok(Self { design, image })
    }
}

/// Opens the RTL model of a card. The caller of a bench shows on its terminal how far a model's build has come.
type Open<'a> = &'a dyn Fn(&Design) -> Result<RtlDevice, DeviceError>;
/// Builds the model of a shell around a card, in the same way, and gives its program.
type Simulator<'a> = &'a dyn Fn(&Design, Shell) -> Result<PathBuf, DeviceError>;
/// Takes rows that belong together.
type Report<'a> = &'a mut dyn FnMut(&[Row]);

/// The environment of a bench.
pub struct Lab<'a> {
    /// The checkout.
    pub root: &'a Root,
    /// Which cases to measure.
    pub selection: &'a Selection,
    open: Open<'a>,
    simulator: Simulator<'a>,
    report: RefCell<Report<'a>>,
}

impl<'a> Lab<'a> {
    /// A lab that opens models with `open`, builds those of shells with `simulator`, and gives rows to `report`.
    pub fn new(
        root: &'a Root,
        selection: &'a Selection,
        open: Open<'a>,
        simulator: Simulator<'a>,
        report: Report<'a>,
    ) -> Self {
        Self { root, selection, open, simulator, report: RefCell::new(report) }
    }

    /// Reports the rows of a case.
    pub fn report(&self, rows: &[Row]) {
        (self.report.borrow_mut())(rows);
    }

    /// The RTL of a card, up and loaded.
    ///
    /// # Errors
    /// If the model does not build, or the card does not take its programs.
    pub fn rtl(&self, card: &Card) -> Result<RtlDevice, BenchError> {
        let mut device = (self.open)(&card.design)?;
        device.load(&card.image)?;
        Ok(device)
    }

    /// The card behind a simulated BAR, up and loaded, in the model of a shell whose MACs' clocks run faster than the
    /// card's by `drift` ppm.
    ///
    /// # Errors
    /// As [`Lab::rtl`].
    pub fn fpga(&self, card: &Card, shell: Shell, drift: f64) -> Result<FpgaDevice, BenchError> {
        let program = (self.simulator)(&card.design, shell)?;
        let mut device = FpgaDevice::simulated(self.root, &card.design, shell, &program, drift)?;
        device.load(&card.image)?;
        Ok(device)
    }

    /// The RTL of a shipped design, up and loaded, with units dispatched in turn as in the Rosebud paper.
    ///
    /// # Errors
    /// As [`Lab::rtl`], and if the design cannot be read.
    pub fn shipped(&self, manifest: &str, change: Override) -> Result<RtlDevice, BenchError> {
        self.in_turn(&self.root.join("designs").join(manifest), change)
    }

    /// The same of any design.
    ///
    /// # Errors
    /// As [`Lab::shipped`].
    pub fn in_turn(&self, manifest: &Path, change: Override) -> Result<RtlDevice, BenchError> {
        let change = Override { policy: Some(Policy::RoundRobin), ..change };
        self.rtl(&Card::read(self.root, manifest, change)?)
    }
}
