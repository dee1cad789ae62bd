// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The captures that enter a card in a run. The card reads them as it takes their frames, so a capture may be longer
//! than the memory, or a pipe without an end.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_device::capture::{self, CaptureError, Reader};
use penstock_device::{Arrival, Arrivals, Device, DeviceError, Part, Port, Rate};

use crate::files::{self, FileError};

/// Bits of [`Arrival::index`] below the number of the capture: frames of a capture at most.
const FRAME_BITS: u32 = 40;

/// Why a capture does not enter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("--in {input}: `{port}` is no port, and there is no such file; give FILE@0, FILE@1, ... or FILE@host")]
    Port { input: String, port: String },
}

/// The captures of a run, in the order of the command line.
pub(crate) struct Inputs {
    captures: Vec<(Port, Input)>,
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Vec<Told>>>,
}

/// The frames and faults of a capture so far.
#[derive(Debug, Clone, Default)]
struct Told {
    /// Frames of it that entered.
    frames: usize,
    /// Its faults, at its end.
    faults: Vec<String>,
}

/// A capture that is being read.
struct Input {
    number: usize,
    reader: Reader,
    part: Option<Part>,
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Vec<Told>>>,
}

fn locked(told: &Mutex<Vec<Told>>) -> MutexGuard<'_, Vec<Told>> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inputs {
    /// Opens captures, each given as `FILE` or `FILE@PORT`; only frames of `part` enter. All of them end when `stop` is
    /// set.
    pub(crate) fn open(inputs: &[String], part: Option<Part>, stop: &Arc<AtomicBool>) -> Result<Self, InputError> {
        let told = Arc::new(Mutex::new(vec![Told::default(); inputs.len()]));
        let mut captures = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            let (path, port) = match input.rsplit_once('@').map(|(path, port)| (path, port, Port::parse(port))) {
                Some((path, _, Some(port))) => (path, port),
                Some((_, port, None)) if !Path::new(input).exists() => {
                    return Err(InputError::Port { input: input.clone(), port: port.to_string() });
                }
                _ => (input.as_str(), Port::Ethernet(0)),
            };
            if path != capture::STDIN {
                files::readable(Path::new(path), files::CAPTURE)?;
            }
            let reader = Reader::open(Path::new(path), stop.clone())?;
            captures.push((port, Input { number, reader, part, stop: stop.clone(), told: told.clone() }));
        }
        Ok(Self { captures, stop: stop.clone(), told })
    }

    /// Lets a card read the captures.
    pub(crate) fn stream(&mut self, device: &mut dyn Device, rate: Rate) -> Result<(), DeviceError> {
        self.captures.drain(..).try_for_each(|(port, input)| device.stream(port, Box::new(input), rate))
    }

    /// Faults of the captures that were read to their ends.
    pub(crate) fn faults(&self) -> Vec<String> {
        locked(&self.told).iter().flat_map(|told| told.faults.clone()).collect()
    }

    /// Whether the captures were ended before their ends.
    pub(crate) fn are_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The number of a frame among those of all captures, in the order of the command line, by its
    /// [`Arrival::index`]. It is known when the captures are read.
    pub(crate) fn number(&self, index: usize) -> usize {
        let (capture, frame) = (index >> FRAME_BITS, index & ((1 << FRAME_BITS) - 1));
        locked(&self.told)[..capture].iter().map(|told| told.frames).sum::<usize>() + frame
    }
}

impl Arrivals for Input {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Option<Arrival> {
        while !self.stop.load(Ordering::Relaxed) {
            let time_ns = self.reader.next(bytes);
            let told = &mut locked(&self.told)[self.number];
            let Some(time_ns) = time_ns else {
                told.faults.append(&mut self.reader.faults);
                break;
            };
            if self.part.is_none_or(|part| part.holds(bytes)) {
                let index = self.number << FRAME_BITS | told.frames;
                told.frames += 1;
                return Some(Arrival { index, time_ns });
            }
        }
        None
    }
}
