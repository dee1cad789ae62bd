// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A plain reading of a block list. The demo judges the card by it, so it shares no code with the loader of the card.

use std::net::Ipv4Addr;

/// One line of a block list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub prefix: u32,
    /// Bits of the prefix, 0..=32.
    pub length: u32,
    /// 0 lets through, anything else blocks.
    pub class: u8,
}

impl Rule {
    fn mask(&self) -> u32 {
        u32::MAX.checked_shl(32 - self.length).unwrap_or(0)
    }

    /// Lowest address of the prefix.
    pub(super) fn first(&self) -> u32 {
        self.prefix & self.mask()
    }

    /// Highest address of the prefix.
    pub(super) fn last(&self) -> u32 {
        self.prefix | !self.mask()
    }
}

/// Reads a list (docs/architecture.md, "Block lists"); an error names the line, from 1.
pub(super) fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        let Some(prefix) = words.next() else { continue };
        let (address, length) = prefix.split_once('/').unwrap_or((prefix, "32"));
        let rule = (|| {
            let length = length.parse().ok().filter(|l| *l <= 32)?;
            let class = words.next().map_or(Some(1), |word| word.parse().ok())?;
            Some(Rule { prefix: address.parse::<Ipv4Addr>().ok()?.into(), length, class })
        })();
        rules.push(rule.ok_or_else(|| format!("{}: `{line}` is no prefix; write a.b.c.d/len", number + 1))?);
    }
    Ok(rules)
}

/// Bytes of an Ethernet and an IPv4 header.
const SHORTEST: usize = 34;

/// Whether the firewall lets a frame through: IPv4, and the longest prefix around its source, if any, has class 0.
pub(super) fn passes(rules: &[Rule], frame: &[u8]) -> bool {
    if frame.len() < SHORTEST || frame[12..14] != [0x08, 0x00] {
        return false;
    }
    let source = u32::from_be_bytes([frame[26], frame[27], frame[28], frame[29]]);
    let mut longest: Option<&Rule> = None;
    for rule in rules {
        let inside = (rule.first()..=rule.last()).contains(&source);
        if inside && longest.is_none_or(|best| rule.length > best.length) {
            longest = Some(rule);
        }
    }
    longest.is_none_or(|rule| rule.class == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(source: [u8; 4]) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12] = 8;
        frame[26..30].copy_from_slice(&source);
        frame
    }

    #[test]
    fn the_longest_prefix_decides_in_any_order() {
        let rules = parse("198.18.0.0/15 # benchmarks\n198.18.9.1\n198.18.8.0/22 0\n\n# end\n").unwrap();
        assert!(!passes(&rules, &from([198, 19, 255, 255])));
        assert!(passes(&rules, &from([198, 18, 9, 0])));
        assert!(!passes(&rules, &from([198, 18, 9, 1])));
        assert!(passes(&rules, &from([198, 20, 0, 0])));
        assert!(!passes(&parse("0.0.0.0/0").unwrap(), &from([255, 1, 2, 3])));
    }

    #[test]
    fn only_ipv4_passes() {
        let mut arp = from([1, 2, 3, 4]);
        arp[13] = 6;
        assert!(!passes(&[], &arp));
        assert!(!passes(&[], &from([1, 2, 3, 4])[..33]));
        assert!(passes(&[], &from([1, 2, 3, 4])));
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(parse("10.0.0.0/8\n10.0.0.0/33").unwrap_err(), "2: `10.0.0.0/33` is no prefix; write a.b.c.d/len");
    }
}
