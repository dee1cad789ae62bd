// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a manifest to a card at work: the code that `run` and `demo` share.

use std::path::{Path, PathBuf};

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
pub enum CardError {
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
pub struct Card {
    pub design: Design,
    pub image: Image,
}

/// The carrier of a run's frames.
#[derive(Debug, Clone)]
pub enum On {
    /// A target, with what `rtl` records.
    Target(Target, Recording),
    /// A card behind a BAR.
    Card(Place),
}

/// Recordings of a run; on `rtl` only.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    pub wave: Option<Wave>,
    /// The places that frames pass.
    pub hops: bool,
}

impl Card {
    /// Reads the manifest, changed by `change`, its program and its tables.
    pub fn read(root: &Root, manifest: &Path, change: Override) -> Result<Self, CardError> {
        let own = Design::read(manifest)?;
        let design = own.clone().with(change)?;
        let is_given = |part| own.program(part) != design.program(part);
        let image = Image::with_given(root, &design, is_given)?;
        show::warn(&image.messages());
        show::step(format_args!("{} and its programs are compiled", design.path.display()));
        Ok(Self { design, image })
    }

    /// Sends traffic through the card on a target.
    pub fn carry(&self, root: &Root, target: Target, traffic: &Traffic, rate: Rate) -> Result<Run, CardError> {
        self.carry_debugged(root, On::Target(target, Recording::default()), traffic, rate, None, &[])
    }

    /// The same with a unit that is halted at its first instruction and waits for gdb while the others go on, and with
    /// tables that are written afterwards: names of services, and folders.
    pub fn carry_debugged(
        &self,
        root: &Root,
        on: On,
        traffic: &Traffic,
        rate: Rate,
        debugged: Option<Debugged>,
        dumps: &[(String, PathBuf)],
    ) -> Result<Run, CardError> {
        let mut bar = Bar::new(self.design.units());
        let mut shown = |progress: Progress| bar.show(progress);
        let mut device: Box<dyn Device> = match on {
            On::Target(_, recording) if recording.wave.is_some() || recording.hops => {
                let mut device = RtlDevice::open(root, &self.design, recording.wave, &mut shown)?;
                if recording.hops {
                    device.record_hops();
                }
                Box::new(device)
            }
            On::Target(target, _) => open(root, &self.design, target, &mut shown)?,
            On::Card(place) => Box::new(FpgaDevice::open(root, &self.design, &place, &mut shown)?),
        };
        shown(Progress::Loading);
        show::step(format_args!("the card is open"));
        if let Some(debugged) = debugged {
            gdb::halt_first(&mut *device, debugged, self.design.units())?;
        }
        device.load(&self.image)?;
        device.send(traffic, rate)?;
        show::step(format_args!("programs and tables are loaded, {} frames wait", traffic.frames.len()));
        if let Some(debugged) = debugged {
            gdb::debug_run(&mut *device, debugged, &debugged.listen()?, &mut shown)?;
        }
        let run = device.run(&mut shown)?;
        show::step(format_args!("{} frames have left", run.departures.len()));
        dumps.iter().try_for_each(|(service, folder)| dump::write(&mut *device, service, folder))?;
        bar.finish();
        Ok(run)
    }
}
