// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card at work, as the thread that owns it sees it: the device, its design and image, and the frames that wait to be
//! sent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_device::fpga::{FpgaDevice, NoPlace, Place};
use penstock_device::rtl::RtlDevice;
use penstock_device::{
    Departure, Design, DesignError, Device, DeviceError, ForGroup, Image, Kept, Outcome, Override, PartId, PartImage,
    Policy, Port, Progress, Rate, Root, Run, Target, Traffic, capture, files, note, open,
};

use crate::error::Error;
use crate::worker::Stop;

/// Cycles between two checks whether to stop.
const STEP: u64 = 100_000;

/// The changes of the design at the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub programs: Vec<ForGroup<PathBuf>>,
    pub tables: BTreeMap<String, PathBuf>,
    pub units: Vec<ForGroup<u32>>,
    pub ports: Option<u32>,
    pub policy: Option<String>,
    /// Threads that share the simulation on rtl.
    pub threads: u32,
}

/// The results of a run.
pub(crate) struct Report {
    pub run: Run,
    /// result.json of `penstock run`.
    pub json: String,
}

/// A device with all that belongs to it.
pub(crate) struct Card {
    root: Root,
    pub design: Design,
    pub target: Target,
    pub device: Box<dyn Device>,
    image: Option<Image>,
    /// Frames that wait for the device.
    traffic: Traffic,
    /// Faults of captures that were sent.
    faults: Vec<String>,
    stop: Stop,
}

impl Card {
    /// Reads a design and opens it, without a program yet; `place` is that of a card on fpga.
    pub(crate) fn open(
        root: Root,
        manifest: &Path,
        target: &str,
        place: Option<&str>,
        changes: Changes,
        stop: Stop,
    ) -> Result<Self, Error> {
        let target = match target {
            "soft" => Target::Soft,
            "rtl" => Target::Rtl,
            "fpga" => Target::Fpga,
            word => return Err(Error::Word(format!("`{word}` is no target: give soft, rtl or fpga"))),
        };
        if place.is_some() && target != Target::Fpga {
            return Err(Error::Word(format!("a card needs target fpga, and not {target}")));
        }
        let place =
            place.map_or(Ok(Place::default()), str::parse).map_err(|error: NoPlace| Error::Word(error.to_string()))?;
        if !(1..=32).contains(&changes.threads) || (changes.threads > 1 && target != Target::Rtl) {
            let wrong = format!("{} threads: give 1 to 32 of them on rtl, and 1 elsewhere", changes.threads);
            return Err(Error::Word(wrong));
        }
        let policy = changes.policy.map(|word| {
            let wrong = format!("`{word}` is no policy: give round-robin, least-loaded, flow-hash or flow-hash-drop");
            Policy::parse(&word).ok_or(DesignError::Option(wrong))
        });
        let change = Override {
            programs: changes.programs,
            tables: changes.tables.into_iter().collect(),
            units: changes.units,
            ports: changes.ports,
            policy: policy.transpose()?,
        };
        let design = Design::read(manifest)?.with(change)?;
        // A program that is not there is said before a model is built.
        for part in design.parts().filter(|part| !design.program(*part).as_os_str().is_empty()) {
            files::readable(design.program(part), design.engine(part).way_out())?;
        }
        let device = match target {
            Target::Soft => open(&root, &design, target, &mut announce)?,
            Target::Rtl => {
                let mut device = RtlDevice::open(&root, &design, None, &mut announce)?;
                device.use_threads(changes.threads);
                Box::new(device)
            }
            Target::Fpga => Box::new(FpgaDevice::open(&root, &design, &place, &mut announce)?),
        };
        Ok(Self { root, design, target, device, image: None, traffic: Traffic::default(), faults: Vec::new(), stop })
    }

    /// Loads all parts with their programs and tables, after the given changes. Returns the compiler's warnings.
    pub(crate) fn load(
        &mut self,
        programs: Vec<ForGroup<PathBuf>>,
        tables: BTreeMap<String, PathBuf>,
    ) -> Result<String, Error> {
        let tables = tables.into_iter().collect();
        let design = self.design.clone().with(Override { programs, tables, ..Override::default() })?;
        let image = Image::of(&self.root, &design)?;
        self.device.load(&image)?;
        let messages = image.messages();
        (self.design, self.image) = (design, Some(image));
        Ok(messages)
    }

    /// Gives a part another program between two frames. Gives the names of the program's tables, whether they were
    /// kept, and the compiler's warnings.
    pub(crate) fn swap(&mut self, group: Option<String>, program: PathBuf) -> Result<(Kept, String), Error> {
        let part = self.design.part_for(group.as_deref(), &program)?;
        let mut design = self.design.clone();
        design.set_program(part, program);
        let new = PartImage::alone(&self.root, &design, part)?;
        let kept = self.device.swap(&new)?;
        let messages = new.image.messages().to_owned();
        self.runs(new);
        self.design = design;
        Ok((kept, messages))
    }

    /// Records the present program of a part.
    fn runs(&mut self, image: PartImage) {
        let Some(running) = &mut self.image else { return };
        match image.part {
            PartId::Units(group) => running.groups[group] = image,
            PartId::Inline(block) => running.inline[block] = image,
        }
    }

    /// Fills a table again while the programs go on.
    pub(crate) fn set_table(&mut self, name: &str, file: PathBuf) -> Result<(), Error> {
        let (part, _) = self.design.find_table(name)?;
        let tables = vec![(name.to_string(), file)];
        let design = self.design.clone().with(Override { tables, ..Override::default() })?;
        let image = PartImage::alone(&self.root, &design, part)?;
        self.device.refill(&image)?;
        self.runs(image);
        self.design = design;
        Ok(())
    }

    /// Gives frames of ports and host to these groups of units.
    pub(crate) fn set_ingress(&mut self, groups: &[String]) -> Result<(), Error> {
        Ok(self.device.set_ingress(&self.design.find_all("ingress", groups)?)?)
    }

    /// Queues the frames of a capture; gives their number. One that is damaged gives those before, and a fault to the
    /// next run.
    pub(crate) fn send_capture(&mut self, path: &Path, port: Port) -> Result<usize, Error> {
        files::readable(path, files::CAPTURE)?;
        let mut capture = capture::read(path)?;
        let traffic = Traffic::from_capture(&capture, port);
        let count = traffic.frames.len();
        self.send(traffic)?;
        self.faults.append(&mut capture.faults);
        Ok(count)
    }

    /// Queues frames.
    pub(crate) fn send(&mut self, traffic: Traffic) -> Result<(), Error> {
        traffic.check_ports(self.design.ports).map_err(DeviceError::from)?;
        append(&mut self.traffic, traffic);
        Ok(())
    }

    /// Frames that wait for the next run.
    pub(crate) fn queued(&self) -> usize {
        self.traffic.frames.len()
    }

    /// Carries the queued frames.
    pub(crate) fn run(&mut self, rate: Option<&str>) -> Result<Report, Error> {
        let rate = rate.map(str::parse::<Rate>).transpose().map_err(|error| Error::Word(error.to_string()))?;
        if self.target == Target::Soft && rate.is_some_and(|rate| rate != Rate::Turns) {
            let text = "a rate needs target rtl or fpga, but for `turns`: soft takes frames as fast as it can";
            return Err(Error::Word(text.to_string()));
        }
        let rate = rate.unwrap_or_else(|| self.design.default_rate(self.target));
        self.hand_over(rate)?;
        let mut run = self.device.run(&mut |_| self.stop.heed())?;
        run.faults.append(&mut self.faults);
        let outcome = Outcome::new(&self.design, self.target, &run);
        let json = serde_json::to_string(&outcome).map_err(|e| Error::Word(e.to_string()))?;
        Ok(Report { run, json })
    }

    /// Lets the card work for this many cycles; returns the frames that left.
    pub(crate) fn advance(&mut self, cycles: u64) -> Result<Vec<Departure>, Error> {
        if self.target == Target::Soft {
            // Refused, and with its frames where they were.
            return Ok(self.device.advance(cycles)?);
        }
        self.hand_over(Rate::Lossless)?;
        let mut left = Vec::new();
        for done in (0..cycles).step_by(STEP as usize) {
            self.stop.heed();
            left.append(&mut self.device.advance(STEP.min(cycles - done))?);
        }
        Ok(left)
    }

    fn hand_over(&mut self, rate: Rate) -> Result<(), Error> {
        self.device.send(&self.traffic, rate)?;
        self.traffic = Traffic::default();
        Ok(())
    }

    /// A program counter of a unit as file, line and function.
    pub(crate) fn place(&self, unit: u32, pc: u32) -> Option<String> {
        self.image.as_ref()?.of_unit(unit)?.image.locate(pc)
    }

    /// The linked program of a unit.
    pub(crate) fn elf(&self, unit: u32) -> Option<&[u8]> {
        Some(self.image.as_ref()?.of_unit(unit)?.image.elf())
    }
}

/// Adds traffic behind other traffic; if there is no other, without a copy.
fn append(to: &mut Traffic, more: Traffic) {
    if to.frames.is_empty() {
        *to = more;
    } else {
        to.append(&more);
    }
}

/// Reports steps that take minutes and happen once.
fn announce(progress: Progress) {
    match progress {
        Progress::Building { done: 0, .. } => {
            note!("penstock: building the model of the card (once, a minute or two) ...");
        }
        Progress::Waiting => {
            note!("penstock: waiting for the model of the card, which another process or thread builds ...")
        }
        _ => {}
    }
}
