// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The captures that a run writes: a frame is written when it leaves the card.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_device::capture::{CaptureError, Packing, Writer};
use penstock_device::{Departure, Port};

use crate::files::{self, FileError};

/// Ethernet ports that a card has at most.
const MAX_PORTS: u8 = 4;

/// The place of a run's captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Out {
    /// A folder, with a file for each port.
    Folder(PathBuf),
    /// Standard output, for the frames of this port.
    Stdout(Port),
}

impl Out {
    /// Parses `DIR` or `-@PORT`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('-') {
            Some(rest) if rest.is_empty() || rest.starts_with('@') => {
                let port = rest.strip_prefix('@').and_then(Port::parse);
                port.map(Self::Stdout).ok_or_else(|| {
                    "standard output takes the frames of one port: give -@0, -@1, ... or -@host".to_string()
                })
            }
            _ => Ok(Self::Folder(text.into())),
        }
    }

    /// The files for the ports of a card, none for standard output.
    fn files(&self, ports: u32, packing: Packing) -> Vec<(Port, PathBuf)> {
        let Self::Folder(folder) = self else { return Vec::new() };
        let name = |port: Port| (port, folder.join(format!("{port}.{}", packing.extension())));
        exits(ports as u8).map(name).collect()
    }

    /// Makes the folder and finds out whether its files can be written.
    pub(crate) fn check(&self, ports: u32, packing: Packing) -> Result<(), FileError> {
        if let Self::Folder(folder) = self {
            files::make_folder(folder)?;
        }
        self.files(ports, packing).iter().try_for_each(|(_, path)| files::writable(path))
    }
}

/// Exits of a card of `ports` Ethernet ports.
fn exits(ports: u8) -> impl Iterator<Item = Port> {
    (0..ports).map(Port::Ethernet).chain([Port::Host])
}

/// The captures that a run writes, one for each exit.
pub(crate) struct Outputs(BTreeMap<Port, Writer>);

impl Outputs {
    /// Creates the captures; they replace all those of an earlier run.
    pub(crate) fn create(out: &Out, ports: u32, packing: Packing) -> Result<Self, OutputError> {
        let mut writers = BTreeMap::new();
        match out {
            Out::Folder(folder) => remove_captures(folder)?,
            Out::Stdout(port) => drop(writers.insert(*port, Writer::stdout(packing)?)),
        }
        for (port, path) in out.files(ports, packing) {
            writers.insert(port, Writer::create(&path, packing)?);
        }
        Ok(Self(writers))
    }

    /// Writes frames that left.
    pub(crate) fn write(&mut self, departures: &[Departure]) -> Result<(), CaptureError> {
        for departure in departures {
            if let Some(writer) = self.0.get_mut(&departure.to) {
                writer.write(departure.time_ns, &departure.bytes)?;
            }
        }
        Ok(())
    }

    /// Completes the captures.
    pub(crate) fn finish(self) -> Result<(), CaptureError> {
        self.0.into_values().try_for_each(Writer::finish)
    }
}

/// Removes the captures of an earlier run.
fn remove_captures(folder: &Path) -> Result<(), FileError> {
    let packings = [Packing::Plain, Packing::Gzip, Packing::Zstandard];
    exits(MAX_PORTS)
        .flat_map(|port| packings.map(|packing| folder.join(format!("{port}.{}", packing.extension()))))
        .try_for_each(|path| files::remove(&path))
}

/// Why captures are not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] FileError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_port_of_standard_output() {
        assert_eq!(Out::parse("-@1"), Ok(Out::Stdout(Port::Ethernet(1))));
        assert_eq!(Out::parse("-@host"), Ok(Out::Stdout(Port::Host)));
        assert_eq!(Out::parse("out@1"), Ok(Out::Folder("out@1".into())));
        assert_eq!(Out::parse("-x"), Ok(Out::Folder("-x".into())));
        assert!(["-", "-@", "-@x"].iter().all(|text| Out::parse(text).is_err()));
    }
}
