// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a manifest to a card at work: what `run`, `demo` and the benches have in common.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_device::maps::json::{self, EntriesError};
use penstock_device::maps::{self, Map, MapError, Records};
use penstock_device::rtl::{RtlDevice, Wave};
use penstock_device::{
    Design, DesignError, Device, DeviceError, Group, Image, ImageError, Override, Progress, Rate, Root, Run, Target,
    Traffic, open,
};

use penstock_xdp_compiler::maps::MapKind;

use crate::files::{self, FileError};
use crate::gdb::{self, Debugged, DebuggerError};
use crate::show::Bar;
use serde_json::Value as Json;

/// Why there is no card at work.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Debugger(#[from] DebuggerError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "{map} has {values} values, and --dump-maps writes {} of an array at most; give it fewer entries in [units.xdp.entries] of the design, or leave --dump-maps out and look at single ones: `penstock up`, `ctl map get`",
        LARGEST
    )]
    Large { map: String, values: u64 },
}

/// What a card is made of, and what its units run.
pub struct Card {
    pub design: Design,
    pub image: Image,
}

/// What to record of a run; on `rtl` only.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    pub wave: Option<Wave>,
    /// Where frames come by.
    pub hops: bool,
}

/// What is put into maps before a run, and written out of them behind it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Maps<'a> {
    /// Names of maps, each with a file of entries.
    pub filled: &'a [(String, PathBuf)],
    /// Folder for what all maps hold then.
    pub dump: Option<&'a Path>,
}

/// Entries of the largest array that is written out: all of them are there, so they fill memory and file whatever the frames do.
const LARGEST: u64 = 1 << 22;

impl Maps<'_> {
    /// Refuses before the frames what cannot be written behind them.
    fn check(&self, device: &mut dyn Device) -> Result<(), CardError> {
        let values = |map: &Map| u64::from(map.max_entries) * map.processors.as_ref().map_or(1, |of| of.len() as u64);
        let is_large = |map: &&Map| matches!(map.kind, MapKind::Array | MapKind::PercpuArray) && values(map) > LARGEST;
        match self.dump.and_then(|_| device.maps().into_iter().find(|map| is_large(&map))) {
            Some(map) => Err(CardError::Large { values: values(&map), map: map.name }),
            None => Ok(()),
        }
    }

    fn fill(&self, device: &mut dyn Device) -> Result<(), CardError> {
        self.check(device)?;
        for (name, path) in self.filled {
            let map = maps::find(device, name)?;
            json::fill(device, &map, path)?;
        }
        Ok(())
    }

    fn write(&self, device: &mut dyn Device) -> Result<(), CardError> {
        let Some(folder) = self.dump else { return Ok(()) };
        let mut texts = BTreeMap::new();
        for map in device.maps() {
            let text = match written(&map, device) {
                // No unit uses it.
                Err(MapError::Nowhere { .. }) => continue,
                text => text?,
            };
            let mut name = file_of(&map.name);
            while texts.contains_key(&name) {
                name.insert(0, '_');
            }
            texts.insert(name, text);
        }
        files::make_folder(folder)?;
        // What an earlier dump has written goes, and nothing else.
        let list = folder.join(DUMPED);
        if list.exists() {
            let earlier = files::read(&list, "remove it, or choose another folder")?;
            for name in earlier.lines().filter(|name| is_dump(name)) {
                files::remove(&folder.join(name))?;
            }
        }
        files::write(&list, texts.keys().map(|name| format!("{name}\n")).collect::<String>())?;
        texts.iter().try_for_each(|(name, text)| files::write(&folder.join(name), text))?;
        Ok(())
    }
}

/// The file in a folder of maps that lists those which are written there; theirs end in .json.
const DUMPED: &str = "maps.txt";

/// The file of a map: an object may call it as it likes, and global data begins with a dot, which would hide it.
fn file_of(map: &str) -> String {
    let hidden = if map.is_empty() || map.starts_with('.') { "globals" } else { "" };
    format!("{hidden}{}.json", map.replace(['/', '\n'], "_"))
}

/// Whether a line of the list can be one of [`file_of`]: a file in that folder.
fn is_dump(name: &str) -> bool {
    name.ends_with(".json") && !name.contains('/')
}

/// What a map holds, or has for the host, as JSON: an entry a line, so that what changed from run to run can be seen.
fn written(map: &Map, device: &mut dyn Device) -> Result<String, MapError> {
    let lines = |list: Json| list.as_array().into_iter().flatten().map(Json::to_string).collect::<Vec<_>>().join(",\n");
    if map.has_records() {
        let Records { records, lost } = map.take(device)?;
        return Ok(format!("{{\"lost\": {lost}, \"records\": [\n{}\n]}}\n", lines(json::records(&records))));
    }
    Ok(format!("[\n{}\n]\n", lines(json::entries(map, &map.entries(device)?))))
}

impl Card {
    /// Reads the manifest, changed by `change`, its program and its tables.
    pub fn read(root: &Root, manifest: &Path, change: Override) -> Result<Self, CardError> {
        let own = Design::read(manifest)?;
        let design = own.clone().with(change)?;
        let is_own =
            |group: &Group| own.groups.iter().any(|of| (&of.name, &of.program) == (&group.name, &group.program));
        let image = Image::with_given(root, &design, |group| !is_own(group))?;
        eprint!("{}", image.messages());
        Ok(Self { design, image })
    }

    /// Sends traffic through the card on a target.
    pub fn carry(
        &self,
        root: &Root,
        target: Target,
        recording: Recording,
        traffic: &Traffic,
        rate: Rate,
    ) -> Result<Run, CardError> {
        self.carry_debugged(root, target, recording, traffic, rate, None, Maps::default())
    }

    /// The same with a unit that is halted at its first instruction and waits for gdb, while the others go on, and with maps.
    #[allow(clippy::too_many_arguments)]
    pub fn carry_debugged(
        &self,
        root: &Root,
        target: Target,
        recording: Recording,
        traffic: &Traffic,
        rate: Rate,
        debugged: Option<Debugged>,
        maps: Maps<'_>,
    ) -> Result<Run, CardError> {
        if target == Target::Rtl {
            // Before minutes are spent on the model.
            self.image.fits_rtl()?;
        }
        let mut bar = Bar::new(self.design.units());
        let mut shown = |progress: Progress| bar.show(progress);
        let mut device: Box<dyn Device> = if recording.wave.is_some() || recording.hops {
            let mut device = RtlDevice::open(root, &self.design, recording.wave, &mut shown)?;
            if recording.hops {
                device.record_hops();
            }
            Box::new(device)
        } else {
            open(root, &self.design, target, &mut shown)?
        };
        shown(Progress::Loading);
        if let Some(debugged) = debugged {
            gdb::halt_first(&mut *device, debugged, self.design.units())?;
        }
        device.load(&self.image)?;
        maps.fill(&mut *device)?;
        device.send(traffic, rate)?;
        if let Some(debugged) = debugged {
            gdb::debug_run(&mut *device, debugged, &debugged.listen()?, &mut shown)?;
        }
        let run = device.run(&mut shown)?;
        maps.write(&mut *device)?;
        bar.finish();
        Ok(run)
    }

    /// The card's RTL, up and loaded.
    pub fn rtl(&self, root: &Root) -> Result<RtlDevice, CardError> {
        let mut bar = Bar::new(self.design.units());
        let mut device = RtlDevice::open(root, &self.design, None, &mut |progress| bar.show(progress))?;
        device.load(&self.image)?;
        bar.finish();
        Ok(device)
    }
}
