// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The system of each host, which chooses between bytes of segments that overlap.

use std::net::IpAddr;

use crate::overlap::Policy;

/// A range of addresses and its policy: version 4 or 6, the bits of the prefix, how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    is_v4: bool,
    prefix: u128,
    length: u32,
    policy: Policy,
}

/// Policies by address. Where ranges overlap, the narrowest one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Systems(Vec<Range>);

/// An address as a number, its bits, and whether it is of IPv4.
fn number(address: IpAddr) -> (u128, u32, bool) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32, true),
        IpAddr::V6(address) => (address.into(), 128, false),
    }
}

impl Systems {
    /// Gives `ADDRESS` or `ADDRESS/LENGTH` a policy; false if the text is neither.
    #[must_use]
    pub fn add(&mut self, text: &str, policy: Policy) -> bool {
        let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let Ok(address) = address.trim().parse() else { return false };
        let (address, bits, is_v4) = number(address);
        let Some(length) =
            length.map_or(Some(bits), |length| length.trim().parse().ok()).filter(|length| *length <= bits)
        else {
            return false;
        };
        let prefix = address.checked_shr(bits - length).unwrap_or_default();
        self.0.push(Range { is_v4, prefix, length, policy });
        self.0.sort_by_key(|range| std::cmp::Reverse(range.length));
        true
    }

    /// The policy of a host.
    #[must_use]
    pub fn of(&self, address: IpAddr) -> Policy {
        let (address, bits, is_v4) = number(address);
        let has = |range: &&Range| {
            range.is_v4 == is_v4 && address.checked_shr(bits - range.length).unwrap_or_default() == range.prefix
        };
        self.0.iter().find(has).map_or(Policy::default(), |range| range.policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_range_counts() {
        let mut systems = Systems::default();
        let all = [
            ("0.0.0.0/0", Policy::Last),
            ("10.1.0.0/16", Policy::Linux),
            ("10.0.0.0/8", Policy::First),
            ("10.1.2.3", Policy::Solaris),
            ("::/0", Policy::OldLinux),
            ("fd00::/8", Policy::First),
        ];
        assert!(all.iter().all(|(text, policy)| systems.add(text, *policy)));
        for (address, policy) in [
            ("10.1.2.3", Policy::Solaris),
            ("10.1.2.4", Policy::Linux),
            ("10.2.0.0", Policy::First),
            ("11.0.0.0", Policy::Last),
            ("fdff::1", Policy::First),
            ("fe80::1", Policy::OldLinux),
        ] {
            assert_eq!(systems.of(address.parse().unwrap()), policy, "{address}");
        }
        assert_eq!(Systems::default().of("1.2.3.4".parse().unwrap()), Policy::Bsd);
        for text in ["", "10.0.0.0/33", "10.0.0", "::/129", "a/b"] {
            assert!(!systems.add(text, Policy::Bsd), "{text}");
        }
    }
}
