// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The data of a packet beside its bytes that rules see: headers and flow.

use std::borrow::Cow;
use std::net::IpAddr;

use penstock_app::base64;
use penstock_ids_compiler::rule::{Check, ChecksumOf, FlagTest, HeaderGroup, Part, Protocol, Rule};
use penstock_streams::{FlowKey, Packet, Transport, Way};
use serde_json::json;

use crate::matching::{Bytes, Limited, change, is_change};
use crate::messages::Spoken;
use crate::report::{Alert, AlertFields, AppObject, Ends, Signature, timestamp};

/// The data of a packet beside its bytes that rules see.
pub(crate) struct Seen<'a> {
    pub(crate) time: u64,
    pub(crate) source: (IpAddr, u16),
    pub(crate) destination: (IpAddr, u16),
    pub(crate) protocol: u8,
    pub(crate) key: Option<FlowKey>,
    pub(crate) start: u64,
    /// When the flow began, in ns since 1970.
    pub(crate) begun: u64,
    pub(crate) way: Option<Way>,
    pub(crate) established: bool,
    pub(crate) tenant: u8,
    pub(crate) vlans: [u16; 3],
    pub(crate) packet: Option<&'a Packet<'a>>,
    /// Bytes in order of client and server.
    pub(crate) streams: [u64; 2],
    /// The protocol of the direction or datagram.
    pub(crate) spoken: Spoken,
    /// Frames of the flow by direction.
    pub(crate) frames: [u64; 2],
    /// Their bytes.
    pub(crate) bytes: [u64; 2],
    /// Age of the flow in ns.
    pub(crate) age: u64,
    /// Events of the packet, as bits.
    pub(crate) events: u64,
    /// The frame, if there is one.
    pub(crate) frame: &'a [u8],
}

impl Seen<'_> {
    pub(crate) fn alert(&self, rule: &Rule, blocked: bool, app: Option<&AppObject>, fields: AlertFields) -> Alert {
        let of = |name: &str| app.filter(|(known, _)| *known == name).map(|(_, object)| object.clone());
        let payload = self.packet.filter(|_| fields.payload).map(|packet| packet.payload);
        let flow = || {
            let [to_server, to_client] = self.frames;
            let [bytes_to_server, bytes_to_client] = self.bytes;
            json!({
                "pkts_toserver": to_server,
                "pkts_toclient": to_client,
                "bytes_toserver": bytes_to_server,
                "bytes_toclient": bytes_to_client,
                "start": timestamp(self.begun),
            })
        };
        Alert {
            timestamp: timestamp(self.time),
            event_type: "alert".to_owned(),
            ends: self.ends(),
            metadata: None,
            app_proto: app
                .map(|(name, _)| (*name).to_owned())
                .or_else(|| Some(self.spoken.protocol?.name().to_owned())),
            alert: Signature::of(rule, blocked),
            http: of("http"),
            dns: of("dns"),
            tls: of("tls"),
            ssh: of("ssh"),
            smtp: of("smtp"),
            ftp: of("ftp"),
            flow: (fields.flow && self.key.is_some()).then(flow),
            payload: payload.map(base64::encoded),
            packet: (fields.packet && !self.frame.is_empty()).then(|| base64::encoded(self.frame)),
        }
    }

    /// The ends of the flow.
    pub(crate) fn ends(&self) -> Ends {
        let ports = matches!(self.protocol, 6 | 17) && self.key.is_some();
        let icmp = match self.packet.map(|packet| packet.transport) {
            Some(Transport::Icmp(kind, code)) => Some((kind, code)),
            _ => None,
        };
        Ends {
            flow_id: self.key.map_or(0, |key| flow_id(&key, self.start)),
            vlan: self.vlans.into_iter().take_while(|id| *id != 0).collect(),
            src_ip: self.source.0,
            src_port: ports.then_some(self.source.1),
            dest_ip: self.destination.0,
            dest_port: ports.then_some(self.destination.1),
            proto: protocol_name(self.protocol),
            icmp_type: icmp.map(|(kind, _)| kind),
            icmp_code: icmp.map(|(_, code)| code),
            direction: self.way.map(|way| match way {
                Way::ToServer => "to_server".to_owned(),
                Way::ToClient => "to_client".to_owned(),
            }),
            tenant: self.tenant,
        }
    }
}

/// Name of a protocol of IP in records.
pub(crate) fn protocol_name(number: u8) -> String {
    match number {
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        1 => "ICMP".to_owned(),
        58 => "IPv6-ICMP".to_owned(),
        other => format!("{other:03}"),
    }
}

/// Bits of a flow id: JSON readers with floating-point numbers keep them.
const ID_BITS: u32 = 51;

/// The number of a flow: FNV-1a over its key and, of TCP, the time at which it began. A card does not tell the host
/// when other flows begin.
pub(crate) fn flow_id(key: &FlowKey, start: u64) -> u64 {
    let mut bytes = Vec::with_capacity(64);
    for (address, port) in key.ends {
        match address {
            IpAddr::V4(address) => bytes.extend(address.octets()),
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
        bytes.extend(port.to_be_bytes());
    }
    bytes.extend([key.protocol, key.tenant, key.level]);
    bytes.extend(key.vlans.iter().flat_map(|id| id.to_be_bytes()));
    bytes.extend(if key.protocol == 6 { start } else { 0 }.to_be_bytes());
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix) >> (u64::BITS - ID_BITS)
}

/// Whether protocol, ends and flow are those of the rule.
pub(crate) fn header_matches(rule: &Rule, seen: &Seen<'_>) -> bool {
    let established = rule.flow.established;
    // Bytes that the host looks at when a flow ends have no packet: nothing was put together for them.
    let rebuilt = seen.packet.is_some_and(|packet| packet.rebuilt);
    direction_matches(rule, seen)
        && (established.is_none() || established == seen.way.map(|_| seen.established))
        && rule.flow.rebuilt.is_none_or(|wanted| wanted == rebuilt)
}

/// Whether the flow has the size that a condition asks for. Other conditions hold.
pub(crate) fn flow_holds(check: &Check, seen: &Seen<'_>) -> bool {
    match check {
        Check::Streams(size) => size.holds(seen.streams),
        Check::Flow(size) => seen.key.is_some() && size.holds(seen.age, seen.frames, seen.bytes),
        Check::Event(event) => seen.events & event.bit() != 0,
        _ => true,
    }
}

/// Whether protocol, ends and direction are those of the rule: all packets of a direction give the same answer.
pub(crate) fn direction_matches(rule: &Rule, seen: &Seen<'_>) -> bool {
    let with_ports = seen.key.is_some() && matches!(seen.protocol, 6 | 17);
    let protocol = match rule.protocol {
        Protocol::Ip => true,
        Protocol::Tcp => with_ports && seen.protocol == 6,
        Protocol::Udp => with_ports && seen.protocol == 17,
        Protocol::Icmp => matches!(seen.protocol, 1 | 58),
    };
    let ends = |(from, from_port): (IpAddr, u16), (to, to_port): (IpAddr, u16)| {
        (!with_ports || rule.source_ports.has(from_port.into()) && rule.destination_ports.has(to_port.into()))
            && rule.source.has(from)
            && rule.destination.has(to)
    };
    let to_server = rule.flow.to_server;
    protocol
        && (to_server.is_none() || to_server == seen.way.map(|way| way == Way::ToServer))
        && (ends(seen.source, seen.destination) || rule.both && ends(seen.destination, seen.source))
}

/// Whether a condition on headers holds.
pub(crate) fn check_holds(check: &Check, packet: &Packet<'_>, streams: [u64; 2]) -> bool {
    let tcp = match &packet.transport {
        Transport::Tcp(tcp) => Some(tcp),
        _ => None,
    };
    let icmp = match packet.transport {
        Transport::Icmp(kind, code) => Some((kind, code)),
        _ => None,
    };
    let compares = |test: &FlagTest, set: u8, flags: u8| match test {
        FlagTest::Exactly => set == flags,
        FlagTest::All => set & flags == flags,
        FlagTest::Any => set & flags != 0,
        FlagTest::None => set & flags == 0,
    };
    // Fields of IPv4.
    let word = |at: usize| u32::from(u16::from_be_bytes([packet.ip[at], packet.ip[at + 1]]));
    let v4 = packet.source.is_ipv4() && packet.ip.len() >= 20;
    match check {
        Check::Flow(_) | Check::Event(_) => true,
        Check::FragBits(test, bits) => v4 && compares(test, (word(6) >> 13) as u8, *bits),
        Check::FragOffset(within) => match packet.fragment {
            Some(fragment) => within.holds(u32::from(fragment.offset) / 8),
            None => v4 && within.holds(0),
        },
        Check::Id(within) => v4 && within.holds(word(4)),
        Check::IpOption(wanted) => v4 && ip_options(packet.ip).any(|kind| wanted.is_none_or(|wanted| wanted == kind)),
        Check::SameIp => packet.source == packet.destination,
        Check::Tos(within) => v4 && within.holds(packet.ip[1].into()),
        Check::Mss(within) => tcp.is_some() && largest_segment(packet.header()).is_some_and(|mss| within.holds(mss)),
        Check::IcmpId(within) => of_echo(packet, 4).is_some_and(|id| within.holds(id)),
        Check::IcmpSequence(within) => of_echo(packet, 6).is_some_and(|number| within.holds(number)),
        Check::Mtu(within) => {
            let mtu = packet.header().get(4..8).and_then(|four| Some(u32::from_be_bytes(four.try_into().ok()?)));
            packet.protocol == 58 && icmp.is_some_and(|(kind, _)| kind == 2) && mtu.is_some_and(|mtu| within.holds(mtu))
        }
        Check::Checksum(of, right) => {
            let found = match of {
                ChecksumOf::Ipv4 => packet.has_right_ip_checksum(),
                ChecksumOf::Transport(protocol, is_v4) => {
                    let fits = packet.protocol == *protocol && packet.source.is_ipv4() == *is_v4;
                    fits.then(|| packet.has_right_checksum()).flatten()
                }
            };
            found == Some(*right)
        }
        Check::Streams(size) => tcp.is_some() && size.holds(streams),
        Check::Size(within) => within.holds(packet.payload.len() as u32),
        Check::Ttl(within) => within.holds(packet.ttl.into()),
        Check::Number(within) => within.holds(packet.protocol.into()),
        Check::IcmpType(within) => icmp.is_some_and(|(kind, _)| within.holds(kind.into())),
        Check::IcmpCode(within) => icmp.is_some_and(|(_, code)| within.holds(code.into())),
        Check::Sequence(number) => tcp.is_some_and(|tcp| tcp.sequence == *number),
        Check::Acknowledged(number) => tcp.is_some_and(|tcp| tcp.acknowledged == *number),
        Check::Window(within) => tcp.is_some_and(|tcp| within.holds(tcp.window.into())),
        Check::Flags(test, flags, ignored) => tcp.is_some_and(|tcp| compares(test, tcp.flags & !ignored, *flags)),
    }
}

/// Kinds of the options in a header of IPv4.
fn ip_options(header: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = header.get(20..).unwrap_or_default();
    std::iter::from_fn(move || {
        let kind = *rest.first()?;
        let length = match kind {
            0 => rest.len(),
            1 => 1,
            // A length that leads nowhere ends the list.
            _ => rest.get(1).map_or(rest.len(), |length| usize::from(*length).max(2)),
        };
        rest = rest.get(length..).unwrap_or_default();
        Some(kind)
    })
}

/// Largest segment size among the options in a header of TCP.
fn largest_segment(header: &[u8]) -> Option<u32> {
    let mut rest = header.get(20..)?;
    loop {
        rest = match *rest {
            [1, ref behind @ ..] => behind,
            [2, 4, high, low, ..] => return Some(u16::from_be_bytes([high, low]).into()),
            [kind, length, ..] if kind != 0 && length >= 2 => rest.get(usize::from(length)..)?,
            _ => return None,
        };
    }
}

/// A word of those messages of ICMP that have an identifier and a sequence number.
fn of_echo(packet: &Packet<'_>, at: usize) -> Option<u32> {
    let Transport::Icmp(kind, _) = packet.transport else { return None };
    let has = if packet.protocol == 1 { matches!(kind, 0 | 8 | 13..=18) } else { matches!(kind, 128 | 129) };
    let bytes = packet.header().get(at..at + 2)?;
    has.then(|| u32::from(bytes[0]) << 8 | u32::from(bytes[1]))
}

/// The bytes of a header of a packet, if it has it.
fn part<'a>(packet: &Packet<'a>, part: Part) -> Option<&'a [u8]> {
    let (of_ip, bytes) = match part {
        Part::Ipv4 => (packet.source.is_ipv4(), packet.ip),
        Part::Ipv6 => (packet.source.is_ipv6(), packet.ip),
        Part::Tcp => (matches!(packet.transport, Transport::Tcp(_)), packet.header()),
        Part::Udp => (packet.transport == Transport::Udp, packet.header()),
        Part::Icmpv4 => (matches!(packet.transport, Transport::Icmp(..)) && packet.protocol == 1, packet.header()),
        Part::Source | Part::Destination => {
            let at = if part == Part::Source { 0 } else { 1 };
            let (first, length) = if packet.source.is_ipv4() { (12, 4) } else { (8, 16) };
            (true, packet.ip.get(first + at * length..).and_then(|rest| rest.get(..length)).unwrap_or_default())
        }
        Part::Icmpv6 => (matches!(packet.transport, Transport::Icmp(..)) && packet.protocol == 58, packet.header()),
    };
    of_ip.then_some(bytes)
}

/// The bytes of a header behind the transforms of a rule.
fn changed_part<'a>(group: &HeaderGroup, packet: &Packet<'a>) -> Option<Cow<'a, [u8]>> {
    let bytes = Cow::Borrowed(part(packet, group.part)?);
    Some(group.transforms.iter().fold(bytes, |bytes, transform| Cow::Owned(transform.apply(&bytes))))
}

/// Whether the header that some conditions are about meets them.
pub(crate) fn header_holds(group: &HeaderGroup, packet: &Packet<'_>, limited: &mut Limited) -> bool {
    let bytes = changed_part(group, packet);
    bytes.is_some_and(|bytes| Bytes { bytes: &bytes, base: 0, fresh: 0 }.matches(&group.steps, limited))
}

/// Changes the sets that conditions on a header name, after a match.
pub(crate) fn change_sets(group: &HeaderGroup, packet: &Packet<'_>) {
    if let Some(bytes) = group.steps.iter().any(is_change).then(|| changed_part(group, packet)).flatten() {
        change(&group.steps, &bytes);
    }
}
