// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules that every packet may match: those without a key. Most of them are about a few ports, and only packets to
//! these ports look at them.

use penstock_ids_compiler::rule::{Protocol, Rule};
use penstock_streams::{Packet, Transport};

use crate::plan::looks_at_packet;

/// The number of ports up to which a rule is kept by port.
const FEW: u128 = 64;

/// Rules of a kind of packets, by level.
#[derive(Debug, Default)]
struct Kind {
    /// Rules that packets to any port look at, by level.
    any: Vec<Vec<u32>>,
    /// Rules of level 0 by destination port, in the order of the ports. They change nothing that other rules ask for, so their order is free.
    by_port: Vec<(u16, Vec<u32>)>,
}

impl Kind {
    /// Adds a rule to those of a port.
    fn push(&mut self, port: u16, number: u32) {
        match self.by_port.binary_search_by_key(&port, |(port, _)| *port) {
            Ok(at) => self.by_port[at].1.push(number),
            Err(at) => self.by_port.insert(at, (port, vec![number])),
        }
    }

    /// The rules of a port.
    fn of_port(&self, port: u16) -> &[u32] {
        let at = self.by_port.binary_search_by_key(&port, |(port, _)| *port);
        at.map_or(&[], |at| &self.by_port[at].1)
    }
}

/// Rules without a key by kind of packet: TCP, UDP, others.
#[derive(Debug, Default)]
pub(crate) struct Always([Kind; 3]);

/// The ports that packets of a rule go to, if they are few.
fn ports(rule: &Rule) -> Option<Vec<u16>> {
    let list = rule.destination_ports.list();
    let count: u128 = list.iter().map(|(first, last)| last - first + 1).sum();
    let is_free = !rule.both && !rule.tests_memory() && !rule.changes_memory();
    (is_free && count <= FEW).then(|| {
        list.iter().flat_map(|(first, last)| *first..=*last).filter_map(|port| u16::try_from(port).ok()).collect()
    })
}

impl Always {
    /// These rules, with their numbers in order.
    pub(crate) fn new<'a>(rules: impl Iterator<Item = (u32, &'a Rule)>) -> Self {
        let mut all = Self::default();
        for (number, rule) in rules {
            for (kind, protocol) in all.0.iter_mut().zip([6, 17, 1]) {
                let fits = match rule.protocol {
                    Protocol::Ip => true,
                    Protocol::Tcp => protocol == 6,
                    Protocol::Udp => protocol == 17,
                    Protocol::Icmp => protocol == 1,
                };
                if !fits || !looks_at_packet(rule, protocol) {
                    continue;
                }
                if let Some(ports) = ports(rule).filter(|_| protocol != 1) {
                    ports.into_iter().for_each(|port| kind.push(port, number));
                } else {
                    let level = rule.level();
                    kind.any.resize(kind.any.len().max(level + 1), Vec::new());
                    kind.any[level].push(number);
                }
            }
        }
        all
    }

    fn kind(&self, packet: &Packet<'_>) -> &Kind {
        match packet.transport {
            Transport::Tcp(_) => &self.0[0],
            Transport::Udp => &self.0[1],
            _ => &self.0[2],
        }
    }

    /// Whether a packet can match none of the rules.
    pub(crate) fn is_none(&self, packet: &Packet<'_>) -> bool {
        let kind = self.kind(packet);
        kind.any.is_empty() && kind.of_port(packet.ports[1]).is_empty()
    }

    /// The rules of a level that a packet may match.
    pub(crate) fn of(&self, packet: &Packet<'_>, level: usize) -> impl Iterator<Item = u32> {
        let kind = self.kind(packet);
        let to_port = if level == 0 { kind.of_port(packet.ports[1]) } else { &[] };
        kind.any.get(level).into_iter().flatten().chain(to_port).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use penstock_ids_compiler::{Options, RuleFile, Ruleset};
    use penstock_streams::Tcp;

    use super::*;

    /// Packets look at all rules that they may match, and not at those for other ports.
    #[test]
    fn packets_look_at_rules_for_their_ports() {
        let text = [
            "tcp any any -> any 80 (flags:S; sid:1;)",
            "tcp any any -> any [81,90:91] (flags:S; sid:2;)",
            "tcp any any -> any !80 (flags:S; sid:3;)",
            "tcp any any <> any 80 (flags:S; sid:4;)",
            "tcp any any -> any 80 (flags:S; flowbits:set,b; sid:5;)",
            "udp any any -> any 80 (dsize:1; sid:6;)",
            "ip any any -> any 80 (ttl:1; sid:7;)",
            "icmp any any -> any any (itype:8; sid:8;)",
            "tcp any any -> any 80 (flags:S; flowbits:isset,b; sid:9;)",
        ]
        .map(|rule| format!("alert {rule}\n"))
        .concat();
        let file = RuleFile { name: "r".into(), text };
        let rules = Ruleset::read(&[file], &Options::default()).unwrap().rules;
        let always = Always::new((0..).zip(&rules));
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let tcp = Transport::Tcp(Tcp { sequence: 0, acknowledged: 0, flags: 2, window: 0 });
        let sids = |transport, port, level| {
            let packet = Packet {
                vlans: [0; 3],
                level: 0,
                source: address,
                destination: address,
                protocol: 0,
                ttl: 1,
                ports: [80, port],
                transport,
                fragment: None,
                rebuilt: false,
                ip: b"",
                body: b"",
                payload: b"",
                payload_at: 0,
            };
            assert_eq!(always.is_none(&packet), (0..3).all(|level| always.of(&packet, level).next().is_none()));
            let mut sids: Vec<u32> = always.of(&packet, level).map(|number| rules[number as usize].sid).collect();
            sids.sort_unstable();
            sids
        };
        assert_eq!((sids(tcp, 80, 0), sids(tcp, 80, 2)), (vec![1, 3, 4, 5, 7], vec![9]));
        assert_eq!((sids(tcp, 90, 0), sids(tcp, 92, 0)), (vec![2, 3, 4, 5], vec![3, 4, 5]));
        assert_eq!((sids(Transport::Udp, 80, 0), sids(Transport::Udp, 81, 0)), (vec![6, 7], vec![]));
        assert_eq!(sids(Transport::Icmp(8, 0), 0, 0), [7, 8]);
    }
}
