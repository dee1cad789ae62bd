// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The data of a packet beside its bytes that rules see: headers and flow.

use std::net::IpAddr;

use penstock_ids_compiler::rule::{Check, FlagTest, Protocol, Rule};
use penstock_streams::{FlowKey, Packet, Transport, Way};
use serde_json::json;

use crate::messages::Spoken;
use crate::report::{Alert, AlertFields, AppObject, Ends, Signature, base64, timestamp};

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
    /// The frame, if there is one.
    pub(crate) frame: &'a [u8],
}

impl Seen<'_> {
    pub(crate) fn alert(&self, rule: &Rule, blocked: bool, app: Option<&AppObject>, fields: AlertFields) -> Alert {
        let of = |name: &str| app.filter(|(known, _)| *known == name).map(|(_, object)| object.clone());
        let payload = self.packet.filter(|_| fields.payload).map(|packet| packet.payload);
        let flow = || {
            let [to_server, to_client] = self.frames;
            json!({"pkts_toserver": to_server, "pkts_toclient": to_client, "start": timestamp(self.begun)})
        };
        Alert {
            timestamp: timestamp(self.time),
            event_type: "alert".to_owned(),
            ends: self.ends(),
            app_proto: app
                .map(|(name, _)| (*name).to_owned())
                .or_else(|| Some(self.spoken.protocol?.name().to_owned())),
            alert: Signature::of(rule, blocked),
            http: of("http"),
            dns: of("dns"),
            tls: of("tls"),
            flow: (fields.flow && self.key.is_some()).then(flow),
            payload: payload.map(base64),
            packet: (fields.packet && !self.frame.is_empty()).then(|| base64(self.frame)),
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
            proto: match self.protocol {
                6 => "TCP".to_owned(),
                17 => "UDP".to_owned(),
                1 => "ICMP".to_owned(),
                58 => "IPv6-ICMP".to_owned(),
                other => format!("{other:03}"),
            },
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
    direction_matches(rule, seen) && (established.is_none() || established == seen.way.map(|_| seen.established))
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
    match check {
        Check::Streams(size) => tcp.is_some() && size.holds(streams),
        Check::Size(within) => within.holds(packet.payload.len() as u32),
        Check::Ttl(within) => within.holds(packet.ttl.into()),
        Check::Number(within) => within.holds(packet.protocol.into()),
        Check::IcmpType(within) => icmp.is_some_and(|(kind, _)| within.holds(kind.into())),
        Check::IcmpCode(within) => icmp.is_some_and(|(_, code)| within.holds(code.into())),
        Check::Sequence(number) => tcp.is_some_and(|tcp| tcp.sequence == *number),
        Check::Acknowledged(number) => tcp.is_some_and(|tcp| tcp.acknowledged == *number),
        Check::Window(within) => tcp.is_some_and(|tcp| within.holds(tcp.window.into())),
        Check::Flags(test, flags, ignored) => tcp.is_some_and(|tcp| {
            let set = tcp.flags & !ignored;
            match test {
                FlagTest::Exactly => set == *flags,
                FlagTest::All => set & flags == *flags,
                FlagTest::Any => set & flags != 0,
                FlagTest::None => set & flags == 0,
            }
        }),
    }
}
