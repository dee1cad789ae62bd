// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Addresses, ports and variables of rule headers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::ranges::Ranges;

/// Variables that a rule may use in its header: a name without `$`, and a list as it would stand in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables(pub BTreeMap<String, String>);

/// Variables with the names that public rule sets use. Addresses are `any`, so that no rule is blind in a network
/// without a description; ports are those of the protocols.
const DEFAULTS: [(&str, &str); 30] = [
    ("HOME_NET", "any"),
    ("EXTERNAL_NET", "any"),
    ("HTTP_SERVERS", "any"),
    ("SMTP_SERVERS", "any"),
    ("SQL_SERVERS", "any"),
    ("DNS_SERVERS", "any"),
    ("TELNET_SERVERS", "any"),
    ("AIM_SERVERS", "any"),
    ("DC_SERVERS", "any"),
    ("SSH_SERVERS", "any"),
    ("FTP_SERVERS", "any"),
    ("DNP3_SERVER", "any"),
    ("DNP3_CLIENT", "any"),
    ("MODBUS_SERVER", "any"),
    ("MODBUS_CLIENT", "any"),
    ("ENIP_SERVER", "any"),
    ("ENIP_CLIENT", "any"),
    ("SIP_SERVERS", "any"),
    ("HTTP_PORTS", "80"),
    ("FTP_PORTS", "21"),
    ("SSH_PORTS", "22"),
    ("ORACLE_PORTS", "1521"),
    ("SHELLCODE_PORTS", "!80"),
    ("DNP3_PORTS", "20000"),
    ("MODBUS_PORTS", "502"),
    ("FILE_DATA_PORTS", "[$HTTP_PORTS,110,143]"),
    ("GENEVE_PORTS", "6081"),
    ("VXLAN_PORTS", "4789"),
    ("TEREDO_PORTS", "3544"),
    ("SIP_PORTS", "[5060,5061]"),
];

impl Default for Variables {
    fn default() -> Self {
        Self(DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }
}

/// A set of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// IPv4 addresses as numbers.
    pub v4: Ranges,
    /// IPv6 addresses as numbers.
    pub v6: Ranges,
    /// The header excludes addresses with `!`.
    pub has_exceptions: bool,
}

impl Addresses {
    /// Whether the set has this address.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.v4.has(u32::from(address).into()),
            IpAddr::V6(address) => self.v6.has(address.into()),
        }
    }
}

/// The kind of a list's entries.
trait Set: Default {
    /// The set of `any`.
    fn all() -> Self;
    /// Reads one entry; None if it is none.
    fn entry(text: &str) -> Option<Self>;
    fn add(&mut self, other: &Self);
    fn remove(&mut self, other: &Self);
    fn is_empty(&self) -> bool;
    /// The forms of an entry.
    const FORMS: &'static str;
}

impl Set for Addresses {
    fn all() -> Self {
        Self { v4: Ranges::of(0, u32::MAX.into()), v6: Ranges::of(0, u128::MAX), has_exceptions: false }
    }

    fn entry(text: &str) -> Option<Self> {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32, true),
            IpAddr::V6(address) => (u128::from(address), 128, false),
        };
        let (ranges, v4) = if let Some((first, last)) = text.split_once('-') {
            let (first, _, v4) = number(first.trim().parse().ok()?);
            let (last, _, same) = number(last.trim().parse().ok()?);
            (Ranges::of(first, last), (v4 == same && first <= last).then_some(v4)?)
        } else {
            let (address, length) =
                text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
            let (address, width, v4) = number(address.parse().ok()?);
            let length: u32 = length.map_or(Some(width), |length| length.parse().ok())?;
            let host = width.checked_sub(length)?;
            // All bits after the prefix.
            let mask = 1_u128.checked_shl(host).map_or(u128::MAX, |bit| bit - 1);
            (Ranges::of(address & !mask, address | mask), v4)
        };
        Some(if v4 { Self { v4: ranges, ..Self::default() } } else { Self { v6: ranges, ..Self::default() } })
    }

    fn add(&mut self, other: &Self) {
        self.v4.add(&other.v4);
        self.v6.add(&other.v6);
        self.has_exceptions |= other.has_exceptions;
    }

    fn remove(&mut self, other: &Self) {
        self.v4.remove(&other.v4);
        self.v6.remove(&other.v6);
        self.has_exceptions |= !other.is_empty();
    }

    fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    const FORMS: &'static str = "an address, ADDRESS/LENGTH, FIRST-LAST, a list in [], a $VARIABLE or any";
}

impl Set for Ranges {
    fn all() -> Self {
        Self::of(0, u16::MAX.into())
    }

    fn entry(text: &str) -> Option<Self> {
        let number = |text: &str, missing: u16| match text.trim() {
            "" => Some(missing),
            text => text.parse().ok(),
        };
        let (first, last) = match text.split_once(':') {
            Some((first, last)) if !(first.is_empty() && last.is_empty()) => {
                (number(first, 0)?, number(last, u16::MAX)?)
            }
            Some(_) => return None,
            None => (text.parse().ok()?, text.parse().ok()?),
        };
        (first <= last).then(|| Self::of(first.into(), last.into()))
    }

    fn add(&mut self, other: &Self) {
        Ranges::add(self, other);
    }

    fn remove(&mut self, other: &Self) {
        Ranges::remove(self, other);
    }

    fn is_empty(&self) -> bool {
        Ranges::is_empty(self)
    }

    const FORMS: &'static str = "a port, FIRST:LAST, a list in [], a $VARIABLE or any";
}

/// Why the ends of a header cannot be read: a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndFault {
    /// The header is wrong.
    Header(String),
    /// A variable is: all rules that use it are of no use until it is right.
    Variable(String),
}

impl EndFault {
    /// The same fault in the value of a variable.
    fn inside(self, name: &str) -> Self {
        match self {
            Self::Header(message) => Self::Variable(format!("the variable ${name}: {message}")),
            within => within,
        }
    }
}

/// Lists in lists that are followed; variables that name themselves end here.
const DEPTH: usize = 16;

/// The entries of a list, split at commas outside of brackets.
pub(crate) fn entries(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut all) = (0_usize, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(list[begin..].trim());
    all
}

/// A list: all entries without `!`, or everything if all entries have `!`, minus the entries with `!`.
fn read<S: Set>(text: &str, variables: &Variables, depth: usize) -> Result<S, EndFault> {
    let (mut with, mut without, mut any_with) = (S::default(), S::default(), false);
    let text = text.trim();
    // The list of a header may stand without brackets; so may one that only ends in a list.
    let parts = entries(text);
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).filter(|_| parts.len() == 1);
    for entry in inner.map_or(parts, entries) {
        let (negated, entry) = entry.strip_prefix('!').map_or((false, entry), |entry| (true, entry.trim()));
        let set = if depth == 0 {
            let message =
                format!("`{text}` has lists in lists more than {DEPTH} deep, or a variable that names itself");
            return Err(EndFault::Header(message));
        } else if entry == "any" {
            S::all()
        } else if let Some(name) = entry.strip_prefix('$') {
            let value = variables.0.get(name).ok_or_else(|| {
                let way = format!("set it in [inline.ids], variables.{name} = \"…\"");
                EndFault::Variable(format!("there is no variable ${name}: {way}"))
            })?;
            read(value, variables, depth - 1).map_err(|fault: EndFault| fault.inside(name))?
        } else if entry.starts_with('[') {
            read(entry, variables, depth - 1)?
        } else {
            S::entry(entry).ok_or_else(|| EndFault::Header(format!("`{entry}` is none of: {}", S::FORMS)))?
        };
        if negated {
            without.add(&set);
        } else {
            any_with = true;
            with.add(&set);
        }
    }
    let mut set = if any_with { with } else { S::all() };
    set.remove(&without);
    if set.is_empty() {
        let way =
            if text.contains("!$") { ": a variable behind `!` is `any`, so give it a value of your own" } else { "" };
        return Err(EndFault::Header(format!("`{text}` matches nothing{way}")));
    }
    Ok(set)
}

/// Reads the addresses of a header.
///
/// # Errors
/// They are wrong, or a variable is.
pub(crate) fn addresses(text: &str, variables: &Variables) -> Result<Addresses, EndFault> {
    read(text, variables, DEPTH)
}

/// Reads the ports of a header.
///
/// # Errors
/// They are wrong, or a variable is.
pub(crate) fn ports(text: &str, variables: &Variables) -> Result<Ranges, EndFault> {
    read(text, variables, DEPTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_lists_with_exceptions() {
        let variables = Variables::default();
        let has = |text: &str, address: &str| addresses(text, &variables).unwrap().has(address.parse().unwrap());
        assert!(has("any", "10.0.0.1") && has("any", "fd00::1") && has("$HOME_NET", "::"));
        assert!(has("10.0.0.0/8", "10.255.255.255") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(has("10.0.0.5/8", "10.1.1.1") && has("0.0.0.0/0", "1.2.3.4") && !has("0.0.0.0/0", "::1"));
        assert!(has("[10.0.0.0/8, fd00::/8]", "fd12::1") && has("1.1.1.1-1.1.1.9", "1.1.1.9"));
        assert!(!has("[10.0.0.0/8,!10.1.0.0/16]", "10.1.2.3") && has("[10.0.0.0/8,!10.1.0.0/16]", "10.2.2.3"));
        assert!(has("![10.0.0.0/8,[192.168.0.0/16]]", "11.0.0.1") && has("![10.0.0.0/8]", "fd00::1"));
        assert!(!has("![10.0.0.0/8,[192.168.0.0/16]]", "192.168.7.1"));
        let bare = "10.0.0.0/8,[192.168.0.0/16],![10.1.0.0/16,10.2.0.0/16]";
        assert!(has(bare, "192.168.1.1") && has(bare, "10.3.0.1") && !has(bare, "10.2.0.1"));
        assert!(has("[1.1.1.1],[2.2.2.2]", "2.2.2.2"));
        for (text, words) in [
            ("10.0.0", "`10.0.0` is none of"),
            ("10.0.0.0/33", "is none of"),
            ("!any", "matches nothing"),
            ("!$HOME_NET", "matches nothing"),
            ("$NOWHERE", "variables.NOWHERE"),
            ("9.9.9.9-1.1.1.1", "is none of"),
        ] {
            let (EndFault::Header(error) | EndFault::Variable(error)) = addresses(text, &variables).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let mut own = Variables::default();
        own.0.extend([("A".into(), "[$A]".into()), ("B".into(), "10.0.0".into()), ("C".into(), "[$B]".into())]);
        for (text, words) in [
            ("$A", "names itself"),
            ("[!$C]", "the variable $B: `10.0.0` is none of"),
            ("$NOWHERE", "there is no variable $NOWHERE"),
        ] {
            let fault = addresses(text, &own).unwrap_err();
            assert!(matches!(&fault, EndFault::Variable(error) if error.contains(words)), "{fault:?}");
        }
    }

    #[test]
    fn ports_are_lists_with_exceptions() {
        let variables = Variables::default();
        let has = |text: &str, port: u16| ports(text, &variables).unwrap().has(port.into());
        assert!(has("any", 0) && has("80", 80) && !has("!80", 80) && has("$SHELLCODE_PORTS", 81));
        assert!(has("1024:", 65535) && has(":1023", 0) && !has(":1023", 1024) && has("[80,443,8000:8100]", 8050));
        assert!(!has("[8000:8100,!8050]", 8050) && has("[$HTTP_PORTS,$SSH_PORTS]", 22));
        // All variables have a value that can be read, whatever they name.
        for (name, value) in DEFAULTS {
            let is_port = name.ends_with("_PORTS");
            assert!(if is_port { ports(value, &variables).is_ok() } else { addresses(value, &variables).is_ok() });
        }
        for text in ["65536", "-1", "90:80", "", ":", "[]"] {
            assert!(ports(text, &variables).is_err(), "{text}");
        }
    }
}
