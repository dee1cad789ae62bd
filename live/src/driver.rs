// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver between an interface and the card: AF_XDP if the kernel allows it and shows whole frames, else AF_PACKET.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::ethtool::{self, Kind};
use crate::offload::Left;
use crate::socket::{Missed, PACKET, Receiver, Sender, index_of};
use crate::xdp::{self, XdpError};

/// Drivers of paravirtual devices on PCI: frames of another machine on the same host have been on no wire.
const NO_WIRE: [&str; 2] = ["virtio_net", "vmxnet3"];

/// The choice of driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Driver {
    /// AF_XDP where it can be, else AF_PACKET.
    #[default]
    Auto,
    /// AF_XDP or nothing.
    Xdp,
    /// AF_PACKET.
    Packet,
}

impl Driver {
    /// Reads `auto`, `xdp` or `packet`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "xdp" => Some(Self::Xdp),
            "packet" => Some(Self::Packet),
            _ => None,
        }
    }
}

/// Why nothing carries frames.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// AF_XDP does not, and nothing else shall.
    Xdp(XdpError),
    /// The system.
    System(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Both directions of an interface.
pub(crate) enum Ends {
    /// Through packet sockets.
    Packet {
        /// Received frames.
        receiver: Receiver,
        /// What goes.
        sender: Sender,
    },
    /// Through AF_XDP sockets.
    Xdp(Box<xdp::Ends>),
}

impl Ends {
    /// Opens an interface; returns the reason if AF_XDP was to be tried and is not used.
    pub(crate) fn open(
        ask: BorrowedFd<'_>,
        interface: &str,
        driver: Driver,
    ) -> Result<(Self, Option<XdpError>), OpenError> {
        let index = index_of(interface)?;
        let kind = ethtool::kind(ask, interface);
        let is_from_wire = is_from_wire(&kind);
        let refusal = match driver {
            Driver::Packet => None,
            Driver::Auto if !is_from_wire => Some(XdpError::NoWire { from: name(kind) }),
            Driver::Auto | Driver::Xdp => match xdp::Ends::open(interface, index, is_from_wire) {
                Ok(ends) => return Ok((Self::Xdp(Box::new(ends)), None)),
                Err(refusal) if driver == Driver::Auto => Some(refusal),
                Err(refusal) => return Err(OpenError::Xdp(refusal)),
            },
        };
        Ok((Self::Packet { sender: Sender::open(index)?, receiver: Receiver::open(index)? }, refusal))
    }

    /// The drivers of frames, in words.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::Packet { .. } => PACKET,
            Self::Xdp(ends) => ends.words(),
        }
    }

    /// The features that were switched off on the interface, in words.
    pub(crate) fn switched_off(&self) -> Option<&'static str> {
        match self {
            Self::Packet { .. } => None,
            Self::Xdp(ends) => ends.switched_off(),
        }
    }

    /// The descriptors to poll.
    pub(crate) fn readable(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Packet { receiver, .. } => vec![receiver.as_fd()],
            Self::Xdp(ends) => ends.readable().collect(),
        }
    }

    /// Gives about `limit` received frames to `take`, each with the work that is left for it; returns their number.
    /// `unsent` counts earlier frames that turn out not to be taken.
    pub(crate) fn receive(&mut self, limit: usize, unsent: &mut u64, take: &mut impl FnMut(&[u8], Left)) -> usize {
        match self {
            Self::Packet { receiver, .. } => receiver.receive(limit, take),
            Self::Xdp(ends) => ends.receive(limit, unsent, take),
        }
    }

    /// Sends frames; returns the number that the interface did not take. The others are in flight.
    pub(crate) fn send(&mut self, frames: &[&[u8]]) -> u64 {
        match self {
            Self::Packet { sender, .. } => sender.send(frames),
            Self::Xdp(ends) => ends.send(frames),
        }
    }

    /// Waits briefly for frames that are on their way out; returns the number that the interface has not taken then.
    pub(crate) fn flush(&mut self) -> u64 {
        match self {
            // The kernel has taken them.
            Self::Packet { .. } => 0,
            Self::Xdp(ends) => ends.flush(),
        }
    }

    /// Frames that have been missed so far.
    pub(crate) fn missed(&mut self) -> Missed {
        match self {
            Self::Packet { receiver, .. } => receiver.missed(),
            Self::Xdp(ends) => ends.missed(),
        }
    }

    /// The error that was met, if any: the interface is down or gone.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        match self {
            Self::Packet { receiver, .. } => receiver.take_error(),
            Self::Xdp(ends) => ends.take_error(),
        }
    }

    /// The interface has changed so that it must be opened again.
    pub(crate) fn is_outdated(&self, ask: BorrowedFd<'_>, interface: &str) -> bool {
        match self {
            Self::Packet { .. } => false,
            Self::Xdp(ends) => ends.is_outdated(ask, interface),
        }
    }
}

/// Whether frames come from a wire, and so with their checksums: the device is on PCI, according to its address there
/// (`0000:01:00.0`).
fn is_from_wire(kind: &Kind) -> bool {
    let mut parts = kind.bus.split([':', '.']);
    let mut is_hex = |digits: usize| {
        parts.next().is_some_and(|part| part.len() == digits && part.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    is_hex(4) && is_hex(2) && is_hex(2) && is_hex(1) && !NO_WIRE.contains(&kind.driver.as_str())
}

/// A driver in words.
fn name(kind: Kind) -> String {
    if kind.driver.is_empty() { "a driver that does not say what it is".to_string() } else { kind.driver }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hardware_is_a_wire() {
        for (driver, bus, expected) in [
            ("ice", "0000:01:00.0", true),
            ("mlx5_core", "10ab:c1:1f.7", true),
            ("virtio_net", "0000:00:03.0", false),
            ("vmxnet3", "0000:0b:00.0", false),
            ("veth", "", false),
            ("tun", "tap", false),
            ("bridge", "N/A", false),
            ("hv_netvsc", "vmbus", false),
            ("", "", false),
        ] {
            let kind = Kind { driver: driver.to_string(), bus: bus.to_string() };
            assert_eq!(is_from_wire(&kind), expected, "{kind:?}");
        }
    }
}
