// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames on their way into a card and out of it.

use std::fmt;
use std::ops::Range;

use penstock_shell::Source;
use serde::{Serialize, Serializer};

use crate::capture::Capture;

/// An edge of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    /// Ethernet port, from 0.
    Ethernet(u8),
    /// Host queue.
    Host,
}

/// Frames are for a port that the card does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are frames for port {port}, and the card has ports 0..{last}: choose one of these")]
pub struct NoPort {
    /// The frames' port.
    pub port: u8,
    /// The card's last Ethernet port.
    pub last: u32,
}

impl Port {
    /// Number of the stream in the register map and in the model, on a card of `ports` Ethernet ports.
    pub(crate) fn model_stream(self, ports: u32) -> u8 {
        match self {
            Self::Ethernet(n) => n,
            Self::Host => ports as u8,
        }
    }

    pub(crate) fn from_model_stream(stream: u8, ports: u32) -> Self {
        if u32::from(stream) == ports { Self::Host } else { Self::Ethernet(stream) }
    }

    /// Whether a card of `ports` Ethernet ports has this port.
    ///
    /// # Errors
    /// The card does not have it.
    pub fn check(self, ports: u32) -> Result<(), NoPort> {
        match self {
            Self::Ethernet(port) if u32::from(port) >= ports => Err(NoPort { port, last: ports - 1 }),
            _ => Ok(()),
        }
    }

    /// Parses `0`, `1`, ... or `host`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "host" => Some(Self::Host),
            _ => word.parse().ok().map(Self::Ethernet),
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ethernet(n) => write!(f, "port{n}"),
            Self::Host => write!(f, "host"),
        }
    }
}

impl Serialize for Port {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A frame that enters the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its port of entry.
    pub port: Port,
    /// Its bytes in [`Traffic::bytes`].
    pub range: Range<usize>,
    /// When it was captured, ns; 0 when it was not.
    pub time_ns: u64,
}

/// Frames in the order in which they enter, port by port, their bytes in one buffer.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The frames.
    pub frames: Vec<Frame>,
    /// Their bytes, without FCS.
    pub bytes: Vec<u8>,
}

impl Traffic {
    /// All frames of a capture, entering at `port`.
    pub fn from_capture(capture: &Capture, port: Port) -> Self {
        let mut traffic = Self::default();
        traffic.extend(capture, port);
        traffic
    }

    /// Adds all frames of a capture, entering at `port`.
    pub fn extend(&mut self, capture: &Capture, port: Port) {
        for (time_ns, bytes) in capture.frames() {
            self.push(port, bytes, time_ns);
        }
    }

    /// Adds all frames of other traffic after these.
    pub fn append(&mut self, other: &Self) {
        let base = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.frames.extend(other.frames.iter().cloned().map(|mut frame| {
            frame.range = frame.range.start + base..frame.range.end + base;
            frame
        }));
    }

    /// Adds one frame.
    pub fn push(&mut self, port: Port, bytes: &[u8], time_ns: u64) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.frames.push(Frame { port, range: start..self.bytes.len(), time_ns });
    }

    /// The ports at which they enter, each once.
    pub fn ports(&self) -> Vec<Port> {
        let mut ports = Vec::new();
        for frame in &self.frames {
            // There are few ports.
            if !ports.contains(&frame.port) {
                ports.push(frame.port);
            }
        }
        ports
    }

    /// Whether a card of `ports` Ethernet ports has the ports of all frames.
    ///
    /// # Errors
    /// The card does not have one of them.
    pub fn check_ports(&self, ports: u32) -> Result<(), NoPort> {
        self.frames.iter().try_for_each(|frame| frame.port.check(ports))
    }

    /// Bytes of one frame.
    pub fn frame(&self, index: usize) -> &[u8] {
        &self.bytes[self.frames[index].range.clone()]
    }

    /// Bytes of all frames.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// The maker of a frame that did not enter the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maker {
    /// The program of this unit.
    Unit(u8),
    /// This inline block, by its place in the design.
    Block(u8),
}

impl Maker {
    /// The maker in the source byte of a frame (`port_t` in lib/rtl/penstock_pkg.sv); None if the frame entered the
    /// card.
    pub fn of_source(byte: u8) -> Option<Self> {
        match byte {
            0x80.. => Some(Self::Block(byte - 0x80)),
            0x40.. => Some(Self::Unit(byte - 0x40)),
            _ => None,
        }
    }

    /// The source byte.
    pub fn source(self) -> u8 {
        match self {
            Self::Unit(unit) => Source::Unit(unit),
            Self::Block(block) => Source::Block(block),
        }
        .byte()
    }

    /// The unit, if it is one.
    pub fn unit(self) -> Option<u8> {
        match self {
            Self::Unit(unit) => Some(unit),
            Self::Block(_) => None,
        }
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(unit) => write!(f, "unit {unit}"),
            Self::Block(block) => write!(f, "block {block}"),
        }
    }
}

/// A frame that left the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Its exit.
    pub to: Port,
    /// Its port of entry; none when it was made in the card or the match is not clear.
    pub from: Option<Port>,
    /// Which frame of those that were sent it was ([`Arrival::index`](crate::Arrival::index)); none when it was made in
    /// the card or the match is not clear.
    pub input: Option<usize>,
    /// Its time in a capture, ns. On `soft` it is the time at which the frame that entered was captured. On `rtl` in
    /// turns the card's latency comes on top of it; at other rates, and for frames that were made in the card, it is
    /// the earliest time among the first frames of all ports and the cycles from the one in which the first frame could
    /// enter to the departure's last beat.
    pub time_ns: u64,
    /// The maker of the frame; None if it entered the card.
    pub made_by: Option<Maker>,
    /// The mark that the inline blocks left, if the frame came to the host past the units; otherwise 0.
    pub mark: u32,
    /// Cycle in which its first beat entered, or in which the unit or block began to send what it made; on `soft` 0.
    pub entered: u64,
    /// Cycle in which its first beat left; on `soft` 0.
    pub first: u64,
    /// Cycle in which its last beat left; on `soft` 0.
    pub last: u64,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
}

impl Departure {
    /// A unit's program made it.
    pub fn is_generated(&self) -> bool {
        matches!(self.made_by, Some(Maker::Unit(_)))
    }

    /// Cycles from its first beat in to its last beat out.
    pub fn latency(&self) -> u64 {
        self.last - self.entered
    }
}
