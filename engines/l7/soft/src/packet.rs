// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Packets of messages: Ethernet, at most one VLAN tag, IPv4 or IPv6, UDP, and the header of QNP.

use std::net::IpAddr;

/// Bytes of the header of QNP.
pub(crate) const QNP: usize = 22;
/// Bytes of a UDP header.
const UDP: usize = 8;
/// Most packets of a message.
pub(crate) const MOST_PACKETS: u8 = 32;

/// A UDP datagram in a frame. Its lengths may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Address of the sender.
    pub source: IpAddr,
    /// UDP port of the sender.
    pub source_port: u16,
    /// UDP port to which it goes.
    pub port: u16,
    /// Where the IP header begins.
    pub ip: usize,
    /// Where the UDP header begins.
    pub udp: usize,
    /// Where the datagram ends; None: its lengths contradict each other or the frame.
    pub end: Option<usize>,
}

/// A packet whose headers are those of a message of QNP. Its lengths may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed {
    /// Number of the application.
    pub application: u8,
    /// Type of the message.
    pub of_type: u8,
    /// Number of the message.
    pub id: u32,
    /// Whether the packet carries a part of a message; otherwise it is an acknowledgement.
    pub is_data: bool,
    /// The parts of the frame; None: a length is wrong.
    pub packet: Option<Packet>,
}

/// A packet of a message, by its place in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Where the IP header begins.
    pub ip: usize,
    /// Where the UDP header begins.
    pub udp: usize,
    /// Where the payload begins, which is behind the header of QNP if there is one.
    pub payload: usize,
    /// Where the payload ends.
    pub end: usize,
    /// Packets of the message.
    pub count: u8,
    /// Which of them this one is, from 0.
    pub number: u8,
    /// Bytes at the begin of the payload that hold the dispatch fields; None: not said.
    pub dispatch: Option<usize>,
}

impl Packet {
    /// Bytes of its payload.
    #[must_use]
    pub fn length(&self) -> usize {
        self.end - self.payload
    }
}

/// Finds the UDP datagram of a frame; None if the frame is of another kind.
#[must_use]
pub fn datagram(frame: &[u8]) -> Option<Datagram> {
    let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let ip = if word(12)? == 0x8100 { 18 } else { 14 };
    let (source, udp, length) = match (word(ip - 2)?, frame.get(ip)?) {
        (0x0800, 0x45) => {
            let address: [u8; 4] = frame.get(ip + 12..ip + 16)?.try_into().ok()?;
            let whole = word(ip + 6)? & 0x3FFF == 0;
            (whole && frame[ip + 9] == 17).then(|| (IpAddr::from(address), ip + 20, word(ip + 2)))?
        }
        (0x86DD, first) if first >> 4 == 6 => {
            let address: [u8; 16] = frame.get(ip + 8..ip + 24)?.try_into().ok()?;
            let whole = word(ip + 4)?.checked_add(20);
            (frame[ip + 6] == 17).then(|| (IpAddr::from(address), ip + 40, whole))?
        }
        _ => return None,
    };
    let header = frame.get(udp..udp + UDP)?;
    let udp_length = u16::from_be_bytes([header[4], header[5]]);
    let end = udp + usize::from(udp_length);
    let fits = end <= frame.len() && length == udp_length.checked_add(20);
    Some(Datagram { source, source_port: word(udp)?, port: word(udp + 2)?, ip, udp, end: fits.then_some(end) })
}

impl Datagram {
    /// The message of a protocol without packets; None: a length is wrong, or there is no payload.
    #[must_use]
    pub fn plain(&self) -> Option<Packet> {
        let Self { ip, udp, end, .. } = *self;
        let payload = udp + UDP;
        let end = end.filter(|end| *end > payload)?;
        Some(Packet { ip, udp, payload, end, count: 1, number: 0, dispatch: None })
    }

    /// The packet of a message of QNP; None if the frame is too short for its header.
    #[must_use]
    pub fn qnp(&self, frame: &[u8]) -> Option<Parsed> {
        let Self { ip, udp, end, .. } = *self;
        let payload = udp + UDP + QNP;
        let header = frame.get(udp + UDP..payload)?;
        let [count, number, flag, segments] = [header[10], header[11], header[12], header[13]];
        let counts = (1..=MOST_PACKETS).contains(&count) && number < count;
        let end = end.filter(|end| *end > payload && counts);
        let dispatch = Some(64 * usize::from(segments)).filter(|bytes| *bytes > 0);
        Some(Parsed {
            application: header[0],
            of_type: header[1],
            id: u32::from_be_bytes([header[2], header[3], header[4], header[5]]),
            is_data: flag == 0,
            packet: end.map(|end| Packet { ip, udp, payload, end, count, number, dispatch }),
        })
    }
}
