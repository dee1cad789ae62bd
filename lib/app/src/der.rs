// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! As much of X.509 certificates (RFC 5280) as rules look at.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Parts of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Certificate {
    pub serial: String,
    pub issuer: Vec<u8>,
    pub subject: Vec<u8>,
    /// Alternative names: DNS names, addresses of mail, URIs and IP addresses.
    pub names: Vec<Vec<u8>>,
    /// Begin and end of its validity, in s since 1970.
    pub valid: Option<[i64; 2]>,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
const BOOLEAN: u8 = 0x01;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The extension of alternative names.
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1D, 17];

/// Attributes of names: DER of the object identifier, and the word for it.
const ATTRIBUTES: [(&[u8], &str); 11] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "T"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 25], "DC"),
];

/// The first element: its tag, its content, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// The content of the first element, which has this tag, and what follows it.
fn tagged(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|(tag, ..)| *tag == wanted).map(|(_, content, rest)| (content, rest))
}

/// An object identifier in dotted form.
fn dotted(oid: &[u8]) -> String {
    let (mut text, mut number, mut first) = (String::new(), 0_u64, true);
    for byte in oid {
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            if first {
                let root = (number / 40).min(2);
                text = format!("{root}.{}", number - 40 * root);
                first = false;
            } else {
                text += &format!(".{number}");
            }
            number = 0;
        }
    }
    text
}

/// A name as `C=…, O=…, CN=…`.
fn name(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let (mut set, rest) = tagged(bytes, SET)?;
        bytes = rest;
        while !set.is_empty() {
            let (attribute, rest) = tagged(set, SEQUENCE)?;
            set = rest;
            let (oid, rest) = tagged(attribute, OID)?;
            let (_, value, _) = element(rest)?;
            if !out.is_empty() {
                out.extend_from_slice(b", ");
            }
            match ATTRIBUTES.iter().find(|(known, _)| *known == oid) {
                Some((_, word)) => out.extend_from_slice(word.as_bytes()),
                None => out.extend_from_slice(dotted(oid).as_bytes()),
            }
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
    Some(out)
}

/// Reads a certificate in DER.
pub(crate) fn certificate(der: &[u8]) -> Option<Certificate> {
    let (outer, _) = tagged(der, SEQUENCE)?;
    let (mut body, _) = tagged(outer, SEQUENCE)?;
    if let Some((_, rest)) = tagged(body, VERSION) {
        body = rest;
    }
    let (number, body) = tagged(body, INTEGER)?;
    let (_, body) = tagged(body, SEQUENCE)?;
    let (issuer, body) = tagged(body, SEQUENCE)?;
    let (validity, body) = tagged(body, SEQUENCE)?;
    let (subject, body) = tagged(body, SEQUENCE)?;
    let mut serial = String::new();
    for (at, byte) in number.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(serial, "{}{byte:02X}", if at > 0 { ":" } else { "" });
    }
    let names = alternative_names(body).unwrap_or_default();
    Some(Certificate { serial, issuer: name(issuer)?, subject: name(subject)?, names, valid: times(validity) })
}

/// Begin and end of a validity.
fn times(bytes: &[u8]) -> Option<[i64; 2]> {
    let (kind, begin, rest) = element(bytes)?;
    let (other, end, _) = element(rest)?;
    Some([time(kind, begin)?, time(other, end)?])
}

/// A time in s since 1970: `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
fn time(kind: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    let number = |at: usize, count: usize| -> Option<i64> {
        let part = digits.get(at..at + count)?;
        part.iter().all(u8::is_ascii_digit).then(|| str::from_utf8(part).ok()?.parse().ok())?
    };
    let (year, at) = match kind {
        // RFC 5280, section 4.1.2.5.1.
        UTC_TIME => (number(0, 2).map(|year| if year < 50 { 2000 + year } else { 1900 + year })?, 2),
        GENERALIZED_TIME => (number(0, 4)?, 4),
        _ => return None,
    };
    let (month, day) = (number(at, 2)?, number(at + 2, 2)?);
    let clock = number(at + 4, 2)? * 3600 + number(at + 6, 2)? * 60 + number(at + 8, 2).unwrap_or(0);
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then(|| days(year, month, day) * 86_400 + clock)
}

/// Days from 1970 to a date of the Gregorian calendar.
#[must_use]
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin with March have their leap day at the end.
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leaps + (153 * month + 2) / 5 + day - 719_469
}

/// Names in the extension of a certificate that has them; `bytes` are behind the subject.
fn alternative_names(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (_, mut rest) = tagged(bytes, SEQUENCE)?;
    let extensions = loop {
        let (tag, content, behind) = element(rest)?;
        rest = behind;
        if tag == EXTENSIONS {
            break content;
        }
    };
    let (mut list, _) = tagged(extensions, SEQUENCE)?;
    while !list.is_empty() {
        let (extension, behind) = tagged(list, SEQUENCE)?;
        list = behind;
        let (oid, mut value) = tagged(extension, OID)?;
        if oid != ALTERNATIVE_NAME {
            continue;
        }
        if let Some((_, behind)) = tagged(value, BOOLEAN) {
            value = behind;
        }
        let (value, _) = tagged(value, OCTETS)?;
        let (mut names, _) = tagged(value, SEQUENCE)?;
        let mut out = Vec::new();
        while let Some((tag, content, behind)) = element(names) {
            names = behind;
            match (tag, content) {
                // Mail, DNS name, URI.
                (0x81 | 0x82 | 0x86, text) => out.push(text.to_vec()),
                (0x87, [a, b, c, d]) => out.push(Ipv4Addr::new(*a, *b, *c, *d).to_string().into_bytes()),
                (0x87, other) => {
                    let address = <[u8; 16]>::try_from(other).map(|bytes| Ipv6Addr::from(bytes).to_string());
                    out.extend(address.map(String::into_bytes));
                }
                _ => {}
            }
        }
        return Some(out);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_dotted() {
        assert_eq!(dotted(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1]), "1.2.840.113549.1.9.1");
        assert_eq!(dotted(&[0x88, 0x37, 3]), "2.999.3");
    }

    #[test]
    fn times_are_seconds() {
        assert_eq!(
            (days(1970, 1, 1), days(2000, 2, 29), days(2000, 3, 1), days(1969, 12, 31)),
            (0, 11_016, 11_017, -1)
        );
        assert_eq!(time(UTC_TIME, b"700101000001Z"), Some(1));
        assert_eq!(time(GENERALIZED_TIME, b"20500102030405Z"), Some(2_524_705_445));
        assert_eq!((time(UTC_TIME, b"7001010000"), time(UTC_TIME, b"701301000000Z"), time(2, b"")), (None, None, None));
    }

    #[test]
    fn lengths_are_not_trusted() {
        for bytes in
            [&[0x30][..], &[0x30, 5, 1], &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], &[0x30, 0x80], &[0x30, 0x82, 1]]
        {
            assert_eq!(element(bytes), None);
        }
    }
}
