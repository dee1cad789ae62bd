// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Taps of a live card: copies of the frames at a port, as pcapng over the control socket.
//!
//! The card's thread puts copies into a queue of bounded size and never waits for a reader. Frames that find the queue
//! full are counted as missed, and the last block of the capture tells their number.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::{DataLink, PcapError};
use penstock_device::Port;
use rustix::net::{RecvFlags, recv};

use crate::filter::Filter;
use crate::protocol::Way;

/// Taps of a card at the same time.
pub(crate) const MOST: usize = 16;
/// Frames that wait for a reader.
const WAITING: usize = 4096;
/// Time without a frame after which the reader is looked at: it may have gone.
const LOOK: Duration = Duration::from_millis(200);
/// Time for a reader to take something.
const PATIENCE: Duration = Duration::from_secs(10);
/// Flags of a frame in pcapng (draft-ietf-opsawg-pcapng, section 4.3.1).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// A copy of a frame.
pub(crate) struct Copied {
    time: Duration,
    way: Way,
    length: usize,
    bytes: Vec<u8>,
}

/// The end of a tap at the card.
pub(crate) struct Tap {
    /// Where it is.
    pub port: Port,
    /// None: both.
    way: Option<Way>,
    filter: Option<Filter>,
    /// Bytes of a frame that are kept.
    snap: usize,
    frames: SyncSender<Copied>,
    missed: Arc<AtomicU64>,
}

/// The end of a tap at its reader.
pub(crate) struct Frames {
    port: Port,
    snap: u32,
    frames: Receiver<Copied>,
    missed: Arc<AtomicU64>,
}

/// The end of a capture; none: when its reader closes its direction of the socket.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    pub count: Option<u64>,
    pub time: Option<Duration>,
}

impl Tap {
    pub(crate) fn new(port: Port, way: Option<Way>, filter: Option<Filter>, snap: u32) -> (Self, Frames) {
        let (sender, frames) = sync_channel(WAITING);
        let missed = Arc::new(AtomicU64::new(0));
        let tap = Self { port, way, filter, snap: snap as usize, frames: sender, missed: Arc::clone(&missed) };
        (tap, Frames { port, snap, frames, missed })
    }

    /// Copies a frame if the tap wants it.
    pub(crate) fn offer(&self, port: Port, way: Way, bytes: &[u8]) {
        let is_wanted = self.port == port && self.way.is_none_or(|own| own == way);
        if !is_wanted || self.filter.as_ref().is_some_and(|filter| !filter.passes(bytes)) {
            return;
        }
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let kept = &bytes[..bytes.len().min(self.snap)];
        let copied = Copied { time, way, length: bytes.len(), bytes: kept.to_vec() };
        if let Err(TrySendError::Full(_)) = self.frames.try_send(copied) {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the reader has gone.
    pub(crate) fn is_over(&self) -> bool {
        Arc::strong_count(&self.missed) == 1
    }
}

impl Frames {
    /// Writes the capture until a limit, the end of the card or of the reader.
    pub(crate) fn write(self, to: &UnixStream, design: &str, limits: Limits) -> Result<(), PcapError> {
        to.set_write_timeout(Some(PATIENCE)).map_err(PcapError::IoError)?;
        let mut out = PcapNgWriter::new(BufWriter::new(to))?;
        let options = vec![
            InterfaceDescriptionOption::IfName(self.port.to_string().into()),
            InterfaceDescriptionOption::IfDescription(format!("penstock: {design}").into()),
            InterfaceDescriptionOption::IfTsResol(9),
        ];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: self.snap, options };
        out.write_pcapng_block(interface)?;
        out.get_mut().flush().map_err(PcapError::IoError)?;
        let end = limits.time.map(|time| Instant::now() + time);
        let mut count = 0;
        while limits.count.is_none_or(|most| count < most) && !has_closed(to) {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                break;
            }
            match self.frames.recv_timeout(left.map_or(LOOK, |left| left.min(LOOK))) {
                Ok(first) => {
                    let more = limits.count.map_or(WAITING as u64, |most| most - count - 1);
                    for copied in std::iter::once(first).chain(self.frames.try_iter().take(more as usize)) {
                        out.write_pcapng_block(block(&copied))?;
                        count += 1;
                    }
                    out.get_mut().flush().map_err(PcapError::IoError)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let missed = self.missed.load(Ordering::Relaxed);
        out.write_pcapng_block(InterfaceStatisticsBlock {
            interface_id: 0,
            timestamp: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
            options: vec![InterfaceStatisticsOption::IsbIfDrop(missed)],
        })?;
        out.get_mut().flush().map_err(PcapError::IoError)?;
        Ok(())
    }
}

fn block(copied: &Copied) -> EnhancedPacketBlock<'_> {
    let flags = match copied.way {
        Way::In => INBOUND,
        Way::Out => OUTBOUND,
    };
    EnhancedPacketBlock {
        interface_id: 0,
        timestamp: copied.time,
        original_len: u32::try_from(copied.length).unwrap_or(u32::MAX),
        data: Cow::Borrowed(&copied.bytes),
        options: vec![EnhancedPacketOption::Flags(flags)],
    }
}

/// Whether the reader wants no more.
fn has_closed(stream: &UnixStream) -> bool {
    match recv(stream, &mut [0_u8], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((read, _)) => read == 0,
        Err(error) => error != rustix::io::Errno::AGAIN && error != rustix::io::Errno::INTR,
    }
}

/// Counts the frames and the missed ones of a capture while it is copied from a card to its file.
#[derive(Debug, Default)]
pub struct Copy {
    /// Bytes of a block that is not whole yet.
    rest: Vec<u8>,
    /// Frames so far.
    pub frames: u64,
    /// Frames that the card could not copy; known at the end.
    pub missed: u64,
}

impl Copy {
    /// Writes the whole blocks among the bytes that have arrived: the file is valid whenever the copy ends.
    ///
    /// # Errors
    /// The file takes nothing, or the bytes are no blocks.
    pub fn take(&mut self, bytes: &[u8], to: &mut dyn Write) -> io::Result<()> {
        const HEAD: usize = 8;
        const ENHANCED: u32 = 6;
        const STATISTICS: u32 = 5;
        self.rest.extend_from_slice(bytes);
        let word = |bytes: &[u8], at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_ne_bytes)
        };
        let mut done = 0;
        while self.rest.len() - done >= HEAD {
            let block = &self.rest[done..];
            let (kind, length) = (word(block, 0), word(block, 4) as usize);
            if !(12..=1 << 24).contains(&length) {
                return Err(io::Error::other("the card has sent what is no capture; are both of the same version?"));
            }
            let Some(block) = block.get(..length) else { break };
            match kind {
                ENHANCED => self.frames += 1,
                STATISTICS => {
                    // The number is behind the interface, the time, and the head of the option.
                    let number = block.get(24..32).and_then(|bytes| bytes.try_into().ok());
                    self.missed = number.map_or(0, u64::from_ne_bytes);
                }
                _ => {}
            }
            done += length;
        }
        to.write_all(&self.rest[..done])?;
        self.rest.drain(..done);
        to.flush()
    }
}
