// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Packets in packets: IP in IP (RFC 2003, RFC 4213, RFC 2473), GRE (RFC 2784, RFC 2890, RFC 2637), VXLAN (RFC 7348),
//! Geneve (RFC 8926) and Teredo (RFC 4380).

use crate::decode::{MAX_TAGS, Packet, Transport, Undecoded, ethernet, ip, long, ppp, typed, word};

/// Protocols of IP that carry another packet, and have no payload of their own: IPv4, IPv6, GRE.
pub(crate) const PROTOCOLS: [u8; 3] = [4, 41, GRE];
const GRE: u8 = 47;
/// Tunnels around a packet that are undone.
pub(crate) const MOST: u8 = 8;
/// Protocol types of GRE beside EtherTypes.
const BRIDGED: u16 = 0x6558;
const PPP: u16 = 0x880B;
const ERSPAN: u16 = 0x88BE;
/// Port of Teredo.
pub const TEREDO: u16 = 3544;

/// UDP ports behind which datagrams carry packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunnels {
    /// Destination ports of VXLAN.
    pub vxlan: Vec<u16>,
    /// Destination ports of Geneve.
    pub geneve: Vec<u16>,
    /// Datagrams to and from port 3544 may carry IPv6.
    pub teredo: bool,
}

impl Default for Tunnels {
    fn default() -> Self {
        Self { vxlan: vec![4789], geneve: vec![6081], teredo: true }
    }
}

impl Tunnels {
    /// Whether no datagram carries packets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vxlan.is_empty() && self.geneve.is_empty() && !self.teredo
    }
}

impl<'a> Packet<'a> {
    /// The packet that this one carries; None: it carries none, or too many tunnels are around it.
    #[must_use]
    pub fn inner(&self, tunnels: &Tunnels) -> Option<Result<Packet<'a>, Undecoded>> {
        let (vlans, level) = (self.vlans, self.level + 1);
        if level > MOST || self.fragment.is_some() {
            return None;
        }
        match (self.protocol, self.transport) {
            (4, _) => Some(ip(self.body, 0, false, vlans, level)),
            (41, _) => Some(ip(self.body, 0, true, vlans, level)),
            (GRE, _) => Some(gre(self.body, vlans, level)),
            (_, Transport::Udp) if tunnels.vxlan.contains(&self.ports[1]) => {
                // Other datagrams to this port, without a valid network identifier, are no tunnel.
                let flags = *self.payload.first()?;
                (flags & 8 != 0).then(|| ethernet(self.payload, 8, vlans, level))
            }
            (_, Transport::Udp) if tunnels.geneve.contains(&self.ports[1]) => geneve(self.payload, vlans, level),
            (_, Transport::Udp) if tunnels.teredo && self.ports.contains(&TEREDO) => teredo(self.payload, vlans, level),
            _ => None,
        }
    }
}

/// The offset behind source routes of GRE: entries with family, offset and length, of which the last has neither family
/// nor length.
fn behind_routes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let (family, length) = (word(bytes, at)?, *bytes.get(at + 3)?);
        at += 4 + usize::from(length);
        if (family, length) == (0, 0) {
            return Some(at);
        }
    }
}

/// The packet behind a header of GRE, version 0 or 1.
fn gre(bytes: &[u8], vlans: [u16; MAX_TAGS], level: u8) -> Result<Packet<'_>, Undecoded> {
    let (Some(flags), Some(kind)) = (word(bytes, 0), word(bytes, 2)) else { return Err(Undecoded::Malformed) };
    let has = |bit: u16| flags & bit != 0;
    let [checksum, routing, key, sequence, acknowledged] = [0x8000, 0x4000, 0x2000, 0x1000, 0x0080].map(has);
    let mut at = 4 + 4 * (usize::from(key) + usize::from(sequence));
    match flags & 7 {
        0 => {
            at += 4 * usize::from(checksum || routing);
            if routing {
                at = behind_routes(bytes, at).ok_or(Undecoded::Malformed)?;
            }
        }
        1 if kind == PPP && key && !checksum && !routing => at += 4 * usize::from(acknowledged),
        _ => return Err(Undecoded::Malformed),
    }
    match kind {
        BRIDGED => ethernet(bytes, at, vlans, level),
        PPP => {
            // Address and control may be left out.
            let skip = if word(bytes, at) == Some(0xFF03) { 2 } else { 0 };
            ppp(bytes, at + skip, vlans, level)
        }
        // Version 2 has a sequence number and a header of 8 bytes; version 1 has neither.
        ERSPAN => ethernet(bytes, at + if sequence { 8 } else { 0 }, vlans, level),
        kind => typed(bytes, kind, at, vlans, level),
    }
}

fn geneve(bytes: &[u8], vlans: [u16; MAX_TAGS], level: u8) -> Option<Result<Packet<'_>, Undecoded>> {
    let first = *bytes.first()?;
    let kind = word(bytes, 2)?;
    let at = 8 + usize::from(first & 0x3F) * 4;
    if first >> 6 != 0 {
        return None;
    }
    Some(if kind == BRIDGED { ethernet(bytes, at, vlans, level) } else { typed(bytes, kind, at, vlans, level) })
}

/// Other programs also use this port, so only what decodes is a tunnel.
fn teredo(bytes: &[u8], vlans: [u16; MAX_TAGS], level: u8) -> Option<Result<Packet<'_>, Undecoded>> {
    let mut at = 0;
    if word(bytes, at)? == 1 {
        // An indication of authentication: lengths of two values, the values, a nonce and a byte.
        at += 13 + usize::from(*bytes.get(2)?) + usize::from(*bytes.get(3)?);
    }
    if word(bytes, at)? == 0 {
        // An indication of the origin: port and address.
        at += 8;
    }
    let version = long(bytes, at)? >> 28;
    ip(bytes, at, true, vlans, level).ok().filter(|_| version == 6).map(Ok)
}
