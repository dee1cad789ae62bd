// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values of headers by which a card tells the host a frame (engines/ids/machine.md, section 2): flags of TCP with
//! destination ports, and types of ICMP.

use crate::rule::{Check, FlagTest, Protocol, Rule};

/// Entries of the bitmap of ports.
const PORTS: usize = 1 << 16;
/// Words of one set of flags, of which each value has a bit.
const FLAGS: usize = 8;
/// FIN, SYN and RST as bits of TCP's header.
const ENDS: u8 = 7;

/// Values of headers for which the host looks at every frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picks {
    /// A bit for each value of the flags of TCP: first with the destination ports of `ports`, then with any port.
    pub flags: [u32; 2 * FLAGS],
    /// An entry for each port: 1 if segments to it with flags of the first set are told.
    pub ports: Vec<u8>,
    /// A bit for each type of ICMP.
    pub types: [u32; 8],
}

impl Default for Picks {
    fn default() -> Self {
        Self { flags: [0; 2 * FLAGS], ports: vec![0; PORTS], types: [0; 8] }
    }
}

impl Picks {
    /// Adds the segments that a rule about ends of connections can match.
    pub(crate) fn add_ends(&mut self, rule: &Rule) {
        let ports = &rule.destination_ports;
        let any = rule.both || ports.has_all_ports();
        for flags in (0..=u8::MAX).filter(|flags| has_flags(rule, *flags)) {
            self.flags[usize::from(flags) / 32 + if any { FLAGS } else { 0 }] |= 1 << (flags % 32);
        }
        for (first, last) in ports.list().iter().filter(|_| !any) {
            let place = |port: u128| usize::try_from(port).unwrap_or(usize::MAX).min(PORTS - 1);
            self.ports[place(*first)..=place(*last)].fill(1);
        }
    }

    /// Adds the types of ICMP that a rule asks for.
    pub(crate) fn add_types(&mut self, rule: &Rule) {
        let holds = |kind: u32| {
            rule.checks.iter().all(|check| if let Check::IcmpType(within) = check { within.holds(kind) } else { true })
        };
        for kind in (0..=255).filter(|kind| holds(*kind)) {
            self.types[kind as usize / 32] |= 1 << (kind % 32);
        }
    }

    /// What either of two names.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            flags: std::array::from_fn(|at| self.flags[at] | other.flags[at]),
            ports: self.ports.iter().zip(&other.ports).map(|(one, other)| one | other).collect(),
            types: std::array::from_fn(|at| self.types[at] | other.types[at]),
        }
    }
}

/// Whether a rule can match a segment with these flags.
fn has_flags(rule: &Rule, set: u8) -> bool {
    let holds = |check: &Check| match check {
        Check::Flags(test, flags, ignored) => test.holds(set & !ignored, *flags),
        _ => true,
    };
    rule.checks.iter().all(holds)
}

/// Whether a rule can match segments with SYN, FIN or RST only, and needs no others to know the flow. The card has the
/// flow's line for these segments, so the host knows which end opened the connection.
pub(crate) fn is_about_ends(rule: &Rule) -> bool {
    let asks = |check: &Check| match check {
        Check::Flags(FlagTest::Exactly | FlagTest::All, flags, _) => flags & ENDS != 0,
        Check::Flags(FlagTest::Any, flags, _) => *flags != 0 && flags & !ENDS == 0,
        _ => false,
    };
    rule.protocol == Protocol::Tcp
        && !rule.looks.stream
        && rule.flow.is_empty()
        && rule.layers.is_empty()
        && rule.checks.iter().any(asks)
}

/// Whether a rule can match packets of ICMP with certain types only, and remembers nothing of their flow.
pub(crate) fn is_about_types(rule: &Rule) -> bool {
    rule.protocol == Protocol::Icmp
        && rule.flow.is_empty()
        && !rule.tests_memory()
        && !rule.changes_memory()
        && rule.checks.iter().any(|check| matches!(check, Check::IcmpType(_)))
}
