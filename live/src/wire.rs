// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An interface of Linux as the wire at a port of the card.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;

use penstock_device::Port;
use serde::{Deserialize, Serialize};

use crate::ethtool::{self, Merging};
use crate::offload::Left;
use crate::socket::{Missed, Receiver, Sender, index_of};

/// How a wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Frames come and go.
    Up,
    /// The interface is down.
    Down,
    /// There is no such interface any more.
    Gone,
}

/// An interface that cannot be a wire.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It is not there.
    #[error(
        "{port}: there is no interface `{interface}` in this network namespace; `ip link` lists those that there are"
    )]
    Missing {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
    },
    /// It is down.
    #[error("{port}: interface `{interface}` is down; `ip link set {interface} up` starts it")]
    Down {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
    },
    /// This user may not.
    #[error("{port}: packet sockets on `{interface}` need the right CAP_NET_RAW; run as root, or give it with setcap")]
    Forbidden {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
    },
    /// Anything else.
    #[error("{port}: interface `{interface}`: {source}")]
    Other {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What a wire has counted beside the card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireCounters {
    /// Frames that there was no room for between the interface and the card.
    pub overflow: u64,
    /// Frames longer than that room.
    pub oversize: u64,
    /// Frames that could not be finished.
    pub damaged: u64,
    /// Frames that the interface did not take.
    pub unsent: u64,
}

/// An interface at a port. While it lives the interface is promiscuous and merges no frames.
pub struct Wire {
    /// The port.
    pub port: Port,
    /// Name of the interface.
    pub interface: String,
    link: Result<Ends, Link>,
    /// Of sockets that are closed.
    missed: Missed,
    unsent: u64,
    unfinished: Unfinished,
    /// Any socket, to ask interfaces through.
    ask: UnixDatagram,
    merging: Merging,
}

/// Both directions of a wire that is up.
struct Ends {
    receiver: Receiver,
    sender: Sender,
}

/// The finishing of frames that come unfinished.
#[derive(Default)]
struct Unfinished {
    scratch: Vec<u8>,
    damaged: u64,
    /// What was wrong with the first of them, until it is told.
    news: Option<String>,
}

impl Wire {
    /// Puts an interface to a port.
    pub fn open(port: Port, interface: &str) -> Result<Self, WireError> {
        let name = || interface.to_string();
        let other = |source: io::Error| match source.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => WireError::Missing { port, interface: name() },
            Some(libc::EPERM | libc::EACCES) => WireError::Forbidden { port, interface: name() },
            _ => WireError::Other { port, interface: name(), source },
        };
        let ask = UnixDatagram::unbound().map_err(other)?;
        index_of(interface).map_err(other)?;
        if !ethtool::is_up(ask.as_fd(), interface).map_err(other)? {
            return Err(WireError::Down { port, interface: name() });
        }
        let ends = Ends::open(interface).map_err(other)?;
        let merging = Merging::switch_off(ask.as_fd(), interface);
        Ok(Self {
            port,
            interface: name(),
            link: Ok(ends),
            missed: Missed::default(),
            unsent: 0,
            unfinished: Unfinished::default(),
            ask,
            merging,
        })
    }

    /// How it is.
    pub fn link(&self) -> Link {
        match &self.link {
            Ok(_) => Link::Up,
            Err(link) => *link,
        }
    }

    /// What was switched off on the interface, in words.
    pub fn switched_off(&self) -> Option<&'static str> {
        self.merging.words()
    }

    /// What to wait for, while it is up.
    pub fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.link.as_ref().ok().map(|ends| ends.receiver.as_fd())
    }

    /// Gives about `limit` frames that have come, as they would be on a wire; says how many came.
    pub fn receive(&mut self, limit: usize, take: &mut impl FnMut(&[u8])) -> usize {
        let Ok(ends) = &mut self.link else { return 0 };
        let unfinished = &mut self.unfinished;
        ends.receiver.receive(limit, &mut |bytes, left| {
            if left.is_nothing() { take(bytes) } else { unfinished.finish(bytes, left, take) }
        })
    }

    /// Sends frames.
    pub fn send(&mut self, frames: &[&[u8]]) {
        self.unsent += match &mut self.link {
            Ok(ends) => ends.sender.send(frames),
            Err(_) => frames.len() as u64,
        };
    }

    /// Looks what an error at the socket means; says so when the wire is not up any more.
    pub fn check(&mut self) -> Option<String> {
        let Ok(ends) = &mut self.link else { return None };
        let error = ends.receiver.take_error();
        let link = self.look();
        if link == Link::Up && error.is_none() {
            return None;
        }
        self.missed = self.missed();
        // An interface that was down for a moment is opened anew by `retry`.
        let link = if link == Link::Up { Link::Down } else { link };
        self.link = Err(link);
        Some(self.loss(link))
    }

    /// What is said of a wire that is not up any more.
    fn loss(&self, link: Link) -> String {
        match link {
            Link::Gone => {
                format!("{} is gone; the other ports go on, and so does this one when it is back", self.name())
            }
            _ => format!("{} is down; the other ports go on, and so does this one when it is up again", self.name()),
        }
    }

    /// Tries to open a wire that is not up; says so when it is again, and when one that was down is gone: interfaces are taken down before
    /// they are removed.
    pub fn retry(&mut self) -> Option<String> {
        let Err(before) = self.link else { return None };
        match self.look() {
            Link::Up => {
                self.link = Ok(Ends::open(&self.interface).ok()?);
                // An interface of that name made anew has its own settings.
                let merging = Merging::switch_off(self.ask.as_fd(), &self.interface);
                if merging != Merging::default() {
                    self.merging = merging;
                }
                Some(format!("{} is up again", self.name()))
            }
            link => {
                self.link = Err(link);
                (link == Link::Gone && before == Link::Down).then(|| self.loss(link))
            }
        }
    }

    /// What has come up since the last call, beside the state of the link.
    pub fn take_news(&mut self) -> Option<String> {
        let news = self.unfinished.news.take()?;
        Some(format!(
            "{}: {news}; it is dropped as damaged, and so are others like it. Where the frames come from, \
             `ethtool -K INTERFACE tso off gso off tx off` makes them whole",
            self.name()
        ))
    }

    /// What it has counted.
    pub fn counters(&mut self) -> WireCounters {
        let Missed { overflow, oversize } = self.missed();
        WireCounters { overflow, oversize, damaged: self.unfinished.damaged, unsent: self.unsent }
    }

    fn missed(&mut self) -> Missed {
        let now = self.link.as_mut().map_or_else(|_| Missed::default(), |ends| ends.receiver.missed());
        Missed { overflow: self.missed.overflow + now.overflow, oversize: self.missed.oversize + now.oversize }
    }

    /// Asks how the interface is.
    fn look(&self) -> Link {
        match ethtool::is_up(self.ask.as_fd(), &self.interface) {
            Ok(true) => Link::Up,
            Ok(false) => Link::Down,
            Err(_) => Link::Gone,
        }
    }

    fn name(&self) -> String {
        format!("{} ({})", self.port, self.interface)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // An interface that is gone has no settings to restore.
        let _ = self.merging.restore(self.ask.as_fd(), &self.interface);
    }
}

impl Ends {
    fn open(interface: &str) -> io::Result<Self> {
        let index = index_of(interface)?;
        Ok(Self { sender: Sender::open(index)?, receiver: Receiver::open(index)? })
    }
}

impl Unfinished {
    fn finish(&mut self, bytes: &[u8], left: Left, take: &mut impl FnMut(&[u8])) {
        if let Err(error) = left.finish(bytes, &mut self.scratch, take) {
            if self.damaged == 0 {
                self.news = Some(error.to_string());
            }
            self.damaged += 1;
        }
    }
}
