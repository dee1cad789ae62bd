// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Walkers of protocols: what rules see of a message of DNS or memcached, written as fields of a message of QNP
//! (engines/l7/machine.md).

use penstock_l7_compiler::limits::{LABELS, LONGEST_NAME, SEEN};
use penstock_l7_compiler::program::Protocol;

/// Bytes of a DNS header, and of the header of memcached over UDP.
const DNS_HEADER: usize = 12;
const DATAGRAM_HEADER: usize = 8;
/// Commands of memcached with the space behind them, and the message type of each.
const COMMANDS: [(&[u8], u8); 12] = [
    (b"get ", 1),
    (b"gets ", 1),
    (b"set ", 2),
    (b"add ", 2),
    (b"replace ", 2),
    (b"append ", 2),
    (b"prepend ", 2),
    (b"cas ", 2),
    (b"delete ", 3),
    (b"incr ", 3),
    (b"decr ", 3),
    (b"touch ", 3),
];

/// A window of fields.
#[derive(Debug)]
pub struct Window {
    bytes: [u8; SEEN],
    length: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { bytes: [0; SEEN], length: 0 }
    }
}

impl Window {
    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        // The walkers stop at LONGEST_NAME, so a window holds all that they write.
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Reads a payload; gives the type of the message, 0 if it is none that the protocol's rules know.
    pub fn read(&mut self, protocol: Protocol, payload: &[u8]) -> u8 {
        self.length = 0;
        let payload = &payload[..payload.len().min(SEEN)];
        match protocol {
            Protocol::Qnp => 0,
            Protocol::Dns => self.query(payload).map_or(0, |()| 1),
            Protocol::Memcached => self.command(payload),
        }
    }

    /// The name and type of the question of a DNS query.
    fn query(&mut self, payload: &[u8]) -> Option<()> {
        let header = payload.get(..DNS_HEADER)?;
        // Neither an answer nor another operation than a query, and one question.
        if header[2] >> 3 != 0 || header[4..6] != [0, 1] {
            return None;
        }
        let mut labels = [(0, 0); LABELS];
        let (mut count, mut length) = (0, 0);
        let (mut at, mut run) = (DNS_HEADER, DNS_HEADER);
        let mut behind = None;
        loop {
            match *payload.get(at)? {
                0 => break,
                size @ 1..=63 => {
                    let past = at + 1 + usize::from(size);
                    length += past - at;
                    if past > payload.len() || length > LONGEST_NAME || count == LABELS {
                        return None;
                    }
                    labels[count] = (at, past);
                    count += 1;
                    at = past;
                }
                high @ 0xC0.. => {
                    // A pointer leads to a place before the run of labels that it ends, so the walk has an end.
                    let target = usize::from(high & 0x3F) << 8 | usize::from(*payload.get(at + 1)?);
                    if target >= run {
                        return None;
                    }
                    behind = behind.or(Some(at + 2));
                    (at, run) = (target, target);
                }
                _ => return None,
            }
        }
        let behind = behind.unwrap_or(at + 1);
        let question = payload.get(behind..behind + 4)?;
        self.push(&[2, 2, question[0], question[1], 1, length as u8]);
        for (from, past) in labels[..count].iter().rev() {
            let begin = self.length;
            self.push(&payload[*from..*past]);
            self.bytes[begin..self.length].make_ascii_lowercase();
        }
        Some(())
    }

    /// The key of a command of memcached.
    fn command(&mut self, payload: &[u8]) -> u8 {
        let Some((header, text)) = payload.split_at_checked(DATAGRAM_HEADER) else { return 0 };
        // Requests have one datagram.
        if header[2..6] != [0, 0, 0, 1] {
            return 0;
        }
        let Some((command, of_type)) = COMMANDS.iter().find(|(command, _)| text.starts_with(command)) else {
            return 0;
        };
        let rest = &text[command.len()..];
        let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\r' | b'\n'));
        if let Some(end @ 1..=LONGEST_NAME) = end {
            self.push(&[1, end as u8]);
            self.push(&rest[..end]);
        }
        *of_type
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(question: &[u8]) -> Vec<u8> {
        [&[1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], question].concat()
    }

    #[test]
    fn names_are_read_from_their_end() {
        let mut window = Window::default();
        assert_eq!(window.read(Protocol::Dns, &query(b"\x03WwW\x02ex\x00\x00\x1c\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x1c\x01\x07\x02ex\x03www");
        assert_eq!(window.read(Protocol::Dns, &query(b"\x00\x00\x01\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x01\x01\x00");
    }

    #[test]
    fn pointers_lead_back() {
        let mut window = Window::default();
        // To byte 4 of the header, which is the end of a name.
        assert_eq!(window.read(Protocol::Dns, &query(b"\x01a\xC0\x04\x00\x01\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x01\x01\x02\x01a");
        // To itself, to the label before it, forward.
        for pointer in [b"\xC0\x0E", b"\xC0\x0C", b"\xC0\x10"] {
            assert_eq!(window.read(Protocol::Dns, &query(&[b"\x01a", &pointer[..], b"\x00\x01\x00\x01"].concat())), 0);
            assert!(window.fields().is_empty());
        }
    }

    #[test]
    fn keys_end_at_a_space_or_line() {
        let mut window = Window::default();
        for (text, of_type, fields) in [
            (&b"get user:1\r\n"[..], 1, &b"\x01\x06user:1"[..]),
            (b"gets a b\r\n", 1, b"\x01\x01a"),
            (b"prepend k 0 0 1\r\nx\r\n", 2, b"\x01\x01k"),
            (b"touch k\n", 3, b"\x01\x01k"),
            (b"get key", 1, b""),
            (b"get \r\n", 1, b""),
            (b"getx a\r\n", 0, b""),
            (b"", 0, b""),
        ] {
            let payload = [&[0, 9, 0, 0, 0, 1, 0, 0], text].concat();
            assert_eq!((window.read(Protocol::Memcached, &payload), window.fields()), (of_type, fields), "{text:?}");
        }
        assert_eq!(window.read(Protocol::Memcached, b"\0\x09\0\x01\0\x02\0\0get a\r\n"), 0);
    }
}
