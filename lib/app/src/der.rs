// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! As much of X.509 certificates (RFC 5280) as rules look at.

use std::fmt::Write;

/// Parts of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certificate {
    pub serial: String,
    pub issuer: Vec<u8>,
    pub subject: Vec<u8>,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const VERSION: u8 = 0xA0;

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
pub fn certificate(der: &[u8]) -> Option<Certificate> {
    let (outer, _) = tagged(der, SEQUENCE)?;
    let (mut body, _) = tagged(outer, SEQUENCE)?;
    if let Some((_, rest)) = tagged(body, VERSION) {
        body = rest;
    }
    let (number, body) = tagged(body, INTEGER)?;
    let (_, body) = tagged(body, SEQUENCE)?;
    let (issuer, body) = tagged(body, SEQUENCE)?;
    let (_, body) = tagged(body, SEQUENCE)?;
    let (subject, _) = tagged(body, SEQUENCE)?;
    let mut serial = String::new();
    for (at, byte) in number.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(serial, "{}{byte:02X}", if at > 0 { ":" } else { "" });
    }
    Some(Certificate { serial, issuer: name(issuer)?, subject: name(subject)? })
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
    fn lengths_are_not_trusted() {
        for bytes in
            [&[0x30][..], &[0x30, 5, 1], &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], &[0x30, 0x80], &[0x30, 0x82, 1]]
        {
            assert_eq!(element(bytes), None);
        }
    }
}
