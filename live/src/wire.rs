// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An interface of Linux as the wire at a port of the card.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;

use penstock_device::Port;
use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::driver::{Driver, Ends, OpenError};
use crate::ethtool::{self, Merging};
use crate::offload::Left;
use crate::socket::{Missed, index_of};
use crate::xdp::XdpError;

/// How a wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Frames flow.
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
    /// Another card has it.
    #[error(
        "{port}: interface `{interface}` is at a port of another card; stop that card, or give this port another interface"
    )]
    Claimed {
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
    /// AF_XDP does not carry its frames, and nothing else shall.
    #[error("{port}: no AF_XDP on `{interface}`: {source}. Without `--driver xdp` AF_PACKET is used instead")]
    Xdp {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
        /// Why not.
        source: XdpError,
    },
    /// Anything else.
    #[error("{port}: interface `{interface}`: {source}")]
    Other {
        /// The port that it is for.
        port: Port,
        /// Its name.
        interface: String,
        /// The system's error.
        source: io::Error,
    },
}

/// The counts of a wire beside those of the card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WireCounters {
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
pub(crate) struct Wire {
    /// The port.
    pub port: Port,
    /// Name of the interface.
    pub interface: String,
    link: Result<Ends, Link>,
    claim: Claim,
    /// The chosen driver, and the present one in words.
    driver: Driver,
    words: &'static str,
    /// Why that is not AF_XDP, when it was to be tried.
    refusal: Option<XdpError>,
    /// Why an interface that is up could not be opened again, as it was reported.
    told: Option<String>,
    /// Frames missed by sockets that are closed.
    missed: Missed,
    unsent: u64,
    unfinished: Unfinished,
    /// Any socket, to ask interfaces through.
    ask: UnixDatagram,
    merging: Merging,
}

/// Finishes frames that arrive unfinished.
#[derive(Default)]
struct Unfinished {
    scratch: Vec<u8>,
    damaged: u64,
    /// The fault of the first of them, until it is reported.
    news: Option<String>,
}

impl Wire {
    /// Puts an interface to a port.
    pub(crate) fn open(port: Port, interface: &str, driver: Driver) -> Result<Self, WireError> {
        let name = || interface.to_string();
        let other = |source: io::Error| match source.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => WireError::Missing { port, interface: name() },
            Some(libc::EPERM | libc::EACCES) => WireError::Forbidden { port, interface: name() },
            _ => WireError::Other { port, interface: name(), source },
        };
        let ask = UnixDatagram::unbound().map_err(other)?;
        let index = index_of(interface).map_err(other)?;
        let claim = Claim::of(index).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => WireError::Claimed { port, interface: name() },
            _ => other(error),
        })?;
        if !ethtool::is_up(ask.as_fd(), interface).map_err(other)? {
            return Err(WireError::Down { port, interface: name() });
        }
        // Before it is opened: drivers that merge frames take no XDP program.
        let merging = Merging::switch_off(ask.as_fd(), interface);
        let (ends, refusal) = Ends::open(ask.as_fd(), interface, driver).map_err(|error| {
            // It was there a moment ago.
            let _ = merging.restore(ask.as_fd(), interface);
            match error {
                OpenError::System(source) => other(source),
                OpenError::Xdp(source) => WireError::Xdp { port, interface: name(), source },
            }
        })?;
        Ok(Self {
            port,
            interface: name(),
            words: ends.words(),
            link: Ok(ends),
            claim,
            driver,
            refusal,
            told: None,
            missed: Missed::default(),
            unsent: 0,
            unfinished: Unfinished::default(),
            ask,
            merging,
        })
    }

    /// How it is.
    pub(crate) fn link(&self) -> Link {
        match &self.link {
            Ok(_) => Link::Up,
            Err(link) => *link,
        }
    }

    /// The drivers of frames, in words.
    pub(crate) fn driver(&self) -> &'static str {
        self.words
    }

    /// Why that is not AF_XDP, when it was to be tried.
    pub(crate) fn refusal(&self) -> Option<&XdpError> {
        self.refusal.as_ref()
    }

    /// The features that were switched off on the interface, in words.
    pub(crate) fn switched_off(&self) -> impl Iterator<Item = &'static str> {
        let own = self.link.as_ref().ok().and_then(Ends::switched_off);
        self.merging.words().into_iter().chain(own)
    }

    /// It must be checked occasionally, because no error reports that the interface has changed.
    pub(crate) fn changes_silently(&self) -> bool {
        matches!(self.link, Ok(Ends::Xdp(_)))
    }

    /// The descriptors to poll; empty while the interface is not up.
    pub(crate) fn readable(&self) -> Vec<BorrowedFd<'_>> {
        self.link.as_ref().map_or_else(|_| Vec::new(), Ends::readable)
    }

    /// Gives about `limit` received frames to `take`, as they would be on a wire; returns their number.
    pub(crate) fn receive(&mut self, limit: usize, take: &mut impl FnMut(&[u8])) -> usize {
        let Ok(ends) = &mut self.link else { return 0 };
        let unfinished = &mut self.unfinished;
        ends.receive(limit, &mut self.unsent, &mut |bytes, left| {
            if left.is_nothing() { take(bytes) } else { unfinished.finish(bytes, left, take) }
        })
    }

    /// Sends frames.
    pub(crate) fn send(&mut self, frames: &[&[u8]]) {
        self.unsent += match &mut self.link {
            Ok(ends) => ends.send(frames),
            Err(_) => frames.len() as u64,
        };
    }

    /// Waits for frames that are on their way out, not for long.
    pub(crate) fn flush(&mut self) {
        if let Ok(ends) = &mut self.link {
            self.unsent += ends.flush();
        }
    }

    /// Finds the meaning of an error at the socket; reports a wire that is no longer up.
    pub(crate) fn check(&mut self) -> Option<String> {
        let Ok(ends) = &mut self.link else { return None };
        let error = ends.take_error();
        let is_outdated = ends.is_outdated(self.ask.as_fd(), &self.interface);
        let link = self.look();
        if link == Link::Up && error.is_none() && !is_outdated {
            return None;
        }
        self.flush();
        self.missed = self.missed();
        // `retry` opens an interface that was down for a moment, or has changed.
        let is_changed = link == Link::Up && error.is_none();
        let link = if link == Link::Up { Link::Down } else { link };
        self.link = Err(link);
        Some(if is_changed {
            format!("{} has another MTU or other queues, and is opened anew", self.name())
        } else {
            self.loss(link)
        })
    }

    /// The message about a wire that is no longer up.
    fn loss(&self, link: Link) -> String {
        match link {
            Link::Gone => {
                format!("{} is gone; the other ports go on, and so does this one when it is back", self.name())
            }
            _ => format!("{} is down; the other ports go on, and so does this one when it is up again", self.name()),
        }
    }

    /// Tries to open a wire that is not up. Reports when it is up again, why it is not although its interface is, and
    /// when an interface that was down is gone: interfaces are taken down before they are removed.
    pub(crate) fn retry(&mut self) -> Option<String> {
        let Err(before) = self.link else { return None };
        match self.look() {
            Link::Up => {
                if let Err(error) = self.claim_again() {
                    return match error.kind() {
                        io::ErrorKind::AddrInUse => {
                            self.tell(format!("{} is up again, but at a port of another card by now", self.name()))
                        }
                        // It is gone by now.
                        _ => None,
                    };
                }
                // An interface that was created again under this name has its own settings.
                let merging = Merging::switch_off(self.ask.as_fd(), &self.interface);
                if merging != Merging::default() {
                    self.merging = merging;
                }
                match Ends::open(self.ask.as_fd(), &self.interface, self.driver) {
                    Ok((ends, refusal)) => {
                        let why = refusal.as_ref().map_or_else(String::new, |why| format!(" (no AF_XDP: {why})"));
                        let has_changed = std::mem::replace(&mut self.words, ends.words()) != ends.words();
                        self.refusal = refusal;
                        self.link = Ok(ends);
                        self.told = None;
                        let driver = if has_changed { format!(", by {}{why}", self.words) } else { String::new() };
                        Some(format!("{} is up again{driver}", self.name()))
                    }
                    // It is gone or down by now.
                    Err(OpenError::System(error))
                        if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO | libc::ENETDOWN)) =>
                    {
                        None
                    }
                    Err(OpenError::System(error)) => self.tell(format!("{} does not open: {error}", self.name())),
                    Err(OpenError::Xdp(error)) => self.tell(format!("{}: no AF_XDP: {error}", self.name())),
                }
            }
            link => {
                self.link = Err(link);
                (link == Link::Gone && before == Link::Down).then(|| self.loss(link))
            }
        }
    }

    /// An interface that was created again under this name has another number.
    fn claim_again(&mut self) -> io::Result<()> {
        let index = index_of(&self.interface)?;
        if index != self.claim.index() {
            self.claim = Claim::of(index)?;
        }
        Ok(())
    }

    /// The sentence, when it was not the last one said.
    fn tell(&mut self, text: String) -> Option<String> {
        let is_news = self.told.as_ref() != Some(&text);
        self.told = Some(text.clone());
        is_news.then_some(text)
    }

    /// The news since the last call, beside the state of the link.
    pub(crate) fn take_news(&mut self) -> Option<String> {
        let news = self.unfinished.news.take()?;
        Some(format!(
            "{}: {news}; it is dropped as damaged, and so are others like it. Where the frames come from, \
             `ethtool -K INTERFACE tso off gso off tx off` makes them whole",
            self.name()
        ))
    }

    /// Its counters.
    pub(crate) fn counters(&mut self) -> WireCounters {
        let Missed { overflow, oversize } = self.missed();
        WireCounters { overflow, oversize, damaged: self.unfinished.damaged, unsent: self.unsent }
    }

    fn missed(&mut self) -> Missed {
        let now = self.link.as_mut().map_or_else(|_| Missed::default(), Ends::missed);
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
        // An interface that is gone has no settings to restore; one that was renamed has.
        if let Some(name) = self.claim.name() {
            let _ = self.merging.restore(self.ask.as_fd(), &name);
        }
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
