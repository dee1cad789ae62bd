// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a manifest to a card at work: the code that `run` and `demo` share.

use std::path::Path;

use penstock_device::fpga::{FpgaDevice, Place};
use penstock_device::rtl::{RtlDevice, Wave};
use penstock_device::{
    Design, DesignError, Device, DeviceError, EngineError, Image, Override, Progress, Rate, Root, Run, Target, Traffic,
    open,
};

use crate::dump;
use crate::gdb::{self, Debugged, DebuggerError};
use crate::show::{self, Bar};

/// Why there is no card at work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CardError {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Debugger(#[from] DebuggerError),
    #[error(transparent)]
    Dump(#[from] dump::DumpError),
}

/// The parts of a card, and the programs of its units.
pub(crate) struct Card {
    pub design: Design,
    pub image: Image,
}

/// The carrier of a run's frames.
#[derive(Debug, Clone)]
pub(crate) enum On {
    /// A target, with the way that `rtl` is simulated.
    Target(Target, Simulation),
    /// A card behind a BAR.
    Card(Place),
}

/// The simulation of a run on `rtl`.
#[derive(Debug, Clone)]
pub(crate) struct Simulation {
    /// Waves are recorded.
    pub wave: Option<Wave>,
    /// The places that frames pass are recorded.
    pub hops: bool,
    /// Threads that share it.
    pub threads: u32,
}

impl Default for Simulation {
    fn default() -> Self {
        Self { wave: None, hops: false, threads: 1 }
    }
}

impl Card {
    /// Reads the manifest, changed by `change`, its program and its tables.
    pub(crate) fn read(root: &Root, manifest: &Path, change: Override) -> Result<Self, CardError> {
        let own = Design::read(manifest)?;
        let design = own.clone().with(change)?;
        let is_given = |part| own.program(part) != design.program(part);
        let image = Image::with_given(root, &design, is_given)?;
        show::warn(&image.messages());
        show::step(format_args!("{} and its programs are compiled", design.path.display()));
        Ok(Self { design, image })
    }

    /// Sends traffic through the card on a target.
    pub(crate) fn carry(&self, root: &Root, target: Target, traffic: &Traffic, rate: Rate) -> Result<Run, CardError> {
        let mut bar = Bar::new(self.design.units());
        let mut shown = |progress: Progress| bar.show(progress);
        let mut device = self.open(root, On::Target(target, Simulation::default()), None, &mut shown)?;
        device.send(traffic, rate)?;
        let run = device.run(&mut shown)?;
        bar.finish();
        Ok(run)
    }

    /// Opens the card and loads its programs and tables; a unit that is to be debugged is halted at its first
    /// instruction.
    pub(crate) fn open(
        &self,
        root: &Root,
        on: On,
        debugged: Option<Debugged>,
        shown: &mut dyn FnMut(Progress),
    ) -> Result<Box<dyn Device>, CardError> {
        let mut device: Box<dyn Device> = match on {
            On::Target(Target::Rtl, simulation) => {
                let mut device = RtlDevice::open(root, &self.design, simulation.wave, shown)?;
                device.use_threads(simulation.threads);
                if simulation.hops {
                    device.record_hops();
                }
                Box::new(device)
            }
            On::Target(target, _) => open(root, &self.design, target, shown)?,
            On::Card(place) => Box::new(FpgaDevice::open(root, &self.design, &place, shown)?),
        };
        shown(Progress::Loading);
        show::step(format_args!("the card is open"));
        if let Some(debugged) = debugged {
            gdb::halt_first(&mut *device, debugged, self.design.units())?;
        }
        device.load(&self.image)?;
        Ok(device)
    }
}
