// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Walkers of protocols: what rules see of a message of another protocol than QNP, written as fields of a message of QNP
//! (engines/l7/machine.md).

use penstock_l7_compiler::limits::{LABELS, LONGEST_ID, LONGEST_NAME, SEEN};
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

/// Bytes of the header of a request in memcached's binary protocol, behind that of the datagram.
const BINARY_HEADER: usize = 24;
/// Options of CoAP. The walk ends behind Content-Format.
const URI_HOST: u8 = 3;
const URI_PATH: u8 = 11;
const CONTENT_FORMAT: u8 = 12;
/// Bytes of a piece of a path, and the pieces of the longest one.
const PIECE: usize = 64;
const PIECES: usize = 32;
/// Attributes of RADIUS, the bytes of its header and of the longest packet.
const USER_NAME: u8 = 1;
const NAS_IDENTIFIER: u8 = 32;
const RADIUS_HEADER: usize = 20;
const LONGEST_RADIUS: usize = 4096;

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
        // The walkers compare the size of what they write with SEEN, or stop at LONGEST_NAME.
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Reads a payload; gives the type of the message, 0 if it is none that the protocol's rules know. `id_bytes` is the
    /// length of a connection ID in a short header of QUIC.
    pub fn read(&mut self, protocol: Protocol, id_bytes: u8, payload: &[u8]) -> u8 {
        self.length = 0;
        let payload = &payload[..payload.len().min(SEEN)];
        match protocol {
            Protocol::Qnp => 0,
            Protocol::Dns => self.query(payload).map_or(0, |()| 1),
            Protocol::Memcached => self.command(payload),
            Protocol::Coap => self.request(payload).map_or(0, |()| 1),
            Protocol::Radius => self.login(payload).unwrap_or(0),
            Protocol::Quic => self.connection(usize::from(id_bytes), payload).unwrap_or(0),
        }
    }

    /// Writes fields; None, and writes none, if they are too long together.
    fn push_fields(&mut self, fields: &[(u8, Option<&[u8]>)]) -> Option<()> {
        let present = || fields.iter().filter_map(|(number, value)| value.map(|value| (*number, value)));
        if present().map(|(_, value)| 2 + value.len()).sum::<usize>() > SEEN {
            return None;
        }
        for (number, value) in present() {
            self.push(&[number, value.len() as u8]);
            self.push(value);
        }
        Some(())
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
        if text.first() == Some(&0x80) {
            return self.binary(text).unwrap_or(0);
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

    /// The opcode and key of a request of memcached's binary protocol.
    fn binary(&mut self, request: &[u8]) -> Option<u8> {
        let header = request.get(..BINARY_HEADER)?;
        let opcode = header[1];
        let of_type = match opcode {
            0x00 | 0x09 | 0x0C | 0x0D => 1,
            0x01..=0x03 | 0x0E | 0x0F | 0x11..=0x13 | 0x19 | 0x1A => 2,
            0x04..=0x06 | 0x14..=0x16 | 0x1C => 3,
            _ => return None,
        };
        let key_bytes = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let extras = usize::from(header[4]);
        let body = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        if (key_bytes + extras) as u64 > u64::from(body) {
            return None;
        }
        if (1..=LONGEST_NAME).contains(&key_bytes)
            && let Some(key) = request[BINARY_HEADER..].get(extras..extras + key_bytes)
        {
            self.push(&[2, 1, opcode, 1, key_bytes as u8]);
            self.push(key);
        }
        Some(of_type)
    }

    /// The method, format, host and path of a request of CoAP.
    fn request(&mut self, payload: &[u8]) -> Option<()> {
        let header = payload.get(..4)?;
        let token = usize::from(header[0] & 15);
        // Version 1; Confirmable or Non-confirmable; a method.
        if header[0] >> 5 != 0b010 || token > 8 || !(1..=31).contains(&header[1]) || 4 + token > payload.len() {
            return None;
        }
        let (mut format, mut host) = (None, None);
        let (mut path, mut path_bytes, mut pieces) = ([0; SEEN], 0, 0);
        let (mut at, mut option) = (4 + token, 0);
        while let Some(first) = payload.get(at) {
            let (delta, short) = (first >> 4, first & 15);
            if *first == 0xFF {
                payload.get(at + 1)?;
                break;
            }
            if delta == 15 || short == 15 {
                return None;
            }
            // A longer delta leads to numbers from 13 on.
            if delta >= 13 || option + delta > CONTENT_FORMAT {
                break;
            }
            option += delta;
            let (begin, size) = match short {
                14 => return None,
                13 => (at + 2, 13 + usize::from(*payload.get(at + 1)?)),
                short => (at + 1, usize::from(short)),
            };
            let value = payload.get(begin..begin + size)?;
            at = begin + size;
            if at == SEEN {
                return None;
            }
            match option {
                URI_HOST if size > 0 => host = host.or(Some(value)),
                CONTENT_FORMAT if size <= 2 => {
                    let number = value.iter().fold(0, |number, byte| number << 8 | u16::from(*byte));
                    format = format.or(Some(number.to_be_bytes()));
                }
                URI_PATH => {
                    pieces += (1 + size).div_ceil(PIECE);
                    if value.contains(&b'/') || pieces > PIECES {
                        return None;
                    }
                    path[path_bytes] = b'/';
                    path[path_bytes + 1..path_bytes + 1 + size].copy_from_slice(value);
                    path_bytes += 1 + size;
                }
                _ => {}
            }
        }
        if path_bytes == 0 {
            path[0] = b'/';
            path_bytes = 1;
        }
        let format = format.as_ref().map(|format| &format[..]);
        self.push_fields(&[(2, Some(&header[1..2])), (3, format), (4, host), (1, Some(&path[..path_bytes]))])
    }

    /// The code, user, server and realm of a message of RADIUS.
    fn login(&mut self, payload: &[u8]) -> Option<u8> {
        let header = payload.get(..RADIUS_HEADER)?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if !(RADIUS_HEADER..=LONGEST_RADIUS).contains(&length) || (length > payload.len() && payload.len() < SEEN) {
            return None;
        }
        let is_cut = length > payload.len();
        let (mut rest, mut user, mut nas) = (&payload[RADIUS_HEADER..length.min(payload.len())], None, None);
        while let Some((head, _)) = rest.split_at_checked(2) {
            let size = usize::from(head[1]);
            if size < 2 {
                return None;
            }
            let Some((attribute, behind)) = rest.split_at_checked(size) else { break };
            match head[0] {
                USER_NAME => user = user.or(Some(&attribute[2..])),
                NAS_IDENTIFIER => nas = nas.or(Some(&attribute[2..])),
                _ => {}
            }
            rest = behind;
        }
        if !rest.is_empty() && !is_cut {
            return None;
        }
        let mut realm = [0; LONGEST_NAME];
        let realm = user.and_then(|user| realm_of(user, &mut realm)).map(|bytes| &realm[..bytes]);
        self.push_fields(&[(4, Some(&header[..1])), (1, user), (2, nas), (3, realm)])?;
        Some(match header[0] {
            1 => 1,
            4 => 2,
            _ => 3,
        })
    }

    /// The version and connection ID of a packet of QUIC.
    fn connection(&mut self, id_bytes: usize, payload: &[u8]) -> Option<u8> {
        let (first, rest) = payload.split_first()?;
        if first & 0x80 == 0 {
            self.push_fields(&[(1, Some(rest.get(..id_bytes)?))])?;
            return Some(2);
        }
        let (version, rest) = rest.split_at_checked(4)?;
        let (size, rest) = rest.split_first()?;
        let (id, rest) = rest.split_at_checked(usize::from(*size))?;
        let (source_size, rest) = rest.split_first()?;
        if id.len() > LONGEST_ID || rest.len() < usize::from(*source_size) {
            return None;
        }
        self.push_fields(&[(2, Some(version)), (1, Some(id))])?;
        Some(1)
    }
}

/// Writes the realm of a user's name as a name of DNS, its last label first; gives its bytes, or None without a realm.
fn realm_of(user: &[u8], name: &mut [u8; LONGEST_NAME]) -> Option<usize> {
    let at = user.iter().rposition(|byte| *byte == b'@')?;
    let mut labels = user[at + 1..].split(|byte| *byte == b'.');
    if !labels.all(|label| (1..=63).contains(&label.len())) {
        return None;
    }
    let labels = || user[at + 1..].rsplit(|byte| *byte == b'.');
    if labels().count() > LABELS || labels().map(|label| 1 + label.len()).sum::<usize>() > LONGEST_NAME {
        return None;
    }
    let mut bytes = 0;
    for label in labels() {
        name[bytes] = label.len() as u8;
        name[bytes + 1..bytes + 1 + label.len()].copy_from_slice(label);
        bytes += 1 + label.len();
    }
    name[..bytes].make_ascii_lowercase();
    Some(bytes)
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
        assert_eq!(window.read(Protocol::Dns, 0, &query(b"\x03WwW\x02ex\x00\x00\x1c\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x1c\x01\x07\x02ex\x03www");
        assert_eq!(window.read(Protocol::Dns, 0, &query(b"\x00\x00\x01\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x01\x01\x00");
    }

    #[test]
    fn pointers_lead_back() {
        let mut window = Window::default();
        // To byte 4 of the header, which is the end of a name.
        assert_eq!(window.read(Protocol::Dns, 0, &query(b"\x01a\xC0\x04\x00\x01\x00\x01")), 1);
        assert_eq!(window.fields(), b"\x02\x02\x00\x01\x01\x02\x01a");
        // To itself, to the label before it, forward.
        for pointer in [b"\xC0\x0E", b"\xC0\x0C", b"\xC0\x10"] {
            assert_eq!(
                window.read(Protocol::Dns, 0, &query(&[b"\x01a", &pointer[..], b"\x00\x01\x00\x01"].concat())),
                0
            );
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
            assert_eq!((window.read(Protocol::Memcached, 0, &payload), window.fields()), (of_type, fields), "{text:?}");
        }
        assert_eq!(window.read(Protocol::Memcached, 0, b"\0\x09\0\x01\0\x02\0\0get a\r\n"), 0);
    }

    /// Type and fields of messages of a protocol.
    fn all_read(protocol: Protocol, id_bytes: u8, messages: &[(Vec<u8>, u8, &[u8])]) {
        let mut window = Window::default();
        for (payload, of_type, fields) in messages {
            let found = window.read(protocol, id_bytes, payload);
            assert_eq!((found, window.fields()), (*of_type, *fields), "{}", payload.escape_ascii());
        }
    }

    /// A PUT with these options.
    fn put(options: &[&[u8]]) -> Vec<u8> {
        [b"\x42\x03\0\x07to", &options.concat()[..]].concat()
    }

    #[test]
    fn segments_of_a_path_are_joined() {
        let long = [b"\xBD\x80", &[b's'; 141][..]].concat();
        let joined = [b"\x02\x01\x03\x01\x8E/", &[b's'; 141][..]].concat();
        let many = |count: usize| put(&vec![&b"\0"[..]; count]);
        let all = |count: usize| {
            let mut options = many(count);
            options[6] = 0xB0;
            options
        };
        let slashes = [&b"\x02\x01\x03\x01\x20"[..], &[b'/'; 32]].concat();
        all_read(
            Protocol::Coap,
            0,
            &[
                (put(&[b"\xB1a", b"\x02bc", b"\xFF!"]), 1, b"\x02\x01\x03\x01\x05/a/bc"),
                (put(&[b"\x31h", b"\x82in", b"\x11\x32"]), 1, b"\x02\x01\x03\x03\x02\0\x32\x04\x01h\x01\x03/in"),
                (put(&[b"\xC2\x27\x10"]), 1, b"\x02\x01\x03\x03\x02\x27\x10\x01\x01/"),
                (put(&[b"\xC0", b"\x01\x07"]), 1, b"\x02\x01\x03\x03\x02\0\0\x01\x01/"),
                // Values that the options do not have: three bytes of a format, an empty host; then the second ones.
                (put(&[b"\xC3abc", b"\x01\x07"]), 1, b"\x02\x01\x03\x03\x02\0\x07\x01\x01/"),
                (put(&[b"\x30", b"\x01h", b"\x01i"]), 1, b"\x02\x01\x03\x04\x01h\x01\x01/"),
                // Bytes behind option 12 are not read.
                (put(&[b"\xB1a", b"\x4Equery that ends nowhere"]), 1, b"\x02\x01\x03\x01\x02/a"),
                (put(&[b"\xB1a", b"\xD1\x05a"]), 1, b"\x02\x01\x03\x01\x02/a"),
                (put(&[&long]), 1, &joined),
                (all(32), 1, &slashes),
                (all(33), 0, b""),
                (put(&[b"\xB3a/b"]), 0, b""),
                (put(&[b"\xB3ab"]), 0, b""),
                (put(&[b"\xB1a", b"\xFF"]), 0, b""),
                (put(&[b"\xF1a"]), 0, b""),
                (put(&[b"\xBFa"]), 0, b""),
                (put(&[b"\xBE\0\0"]), 0, b""),
                // Other versions, types, methods and tokens
                (b"\x80\x01\0\0".to_vec(), 0, b""),
                (b"\x60\x01\0\0".to_vec(), 0, b""),
                (b"\x40\x20\0\0".to_vec(), 0, b""),
                (b"\x40\x00\0\0".to_vec(), 0, b""),
                (b"\x49\x01\0\0nine more".to_vec(), 0, b""),
                (b"\x44\x01\0\0few".to_vec(), 0, b""),
                (b"\x50\x1F\0\0".to_vec(), 1, b"\x02\x01\x1F\x01\x01/"),
            ],
        );
    }

    #[test]
    fn options_end_within_the_bytes_that_are_seen() {
        let mut window = Window::default();
        // A path that ends with byte 254, 255, 256, and a message that ends there or goes on.
        for (size, of_type) in [(247, 1), (248, 1), (249, 0), (250, 0)] {
            for behind in [0, 40] {
                let path = [&[0xBD, size as u8 - 13 + 1], &vec![b'p'; size + 1][..]].concat();
                let mut payload = [&b"\x40\x01\0\0"[..], &path].concat();
                if behind > 0 {
                    payload.extend([b"\xD0", &vec![b'!'; behind][..]].concat());
                }
                assert_eq!(window.read(Protocol::Coap, 0, &payload), of_type, "{size} {behind}");
            }
        }
        // Fields that are too long for a window with the number and length of each.
        let host =
            |size: usize| [&b"\x40\x01\0\0\x3D"[..], &[size as u8 - 13], &vec![b'h'; size][..], b"\x90"].concat();
        assert_eq!(window.read(Protocol::Coap, 0, &host(244)), 1);
        assert_eq!(window.fields().len(), 256);
        assert_eq!(window.read(Protocol::Coap, 0, &host(245)), 0);
        assert!(window.fields().is_empty());
    }

    /// A packet of RADIUS with these attributes, and its length.
    fn packet(code: u8, length: u16, attributes: &[u8]) -> Vec<u8> {
        [&[code, 9], &length.to_be_bytes()[..], &[0; 16], attributes].concat()
    }

    #[test]
    fn realms_are_names() {
        let user = |code, user: &str| {
            let size = 2 + user.len() as u8;
            packet(code, 20 + u16::from(size), &[&[1, size], user.as_bytes()].concat())
        };
        let long = "l".repeat(64);
        let labels = |count: usize| format!("@{}", vec!["a"; count].join("."));
        let realm = |payload: Vec<u8>| {
            let mut window = Window::default();
            window.read(Protocol::Radius, 0, &payload);
            let fields = window.fields();
            let behind = &fields[usize::from(fields[4]) + 5..];
            (!behind.is_empty()).then(|| behind[2..].to_vec())
        };
        all_read(
            Protocol::Radius,
            0,
            &[
                (user(1, "b@Ab.c"), 1, b"\x04\x01\x01\x01\x06b@Ab.c\x03\x05\x01c\x02ab"),
                (user(4, "b.c"), 2, b"\x04\x01\x04\x01\x03b.c"),
                (user(12, ""), 3, b"\x04\x01\x0C\x01\x00"),
            ],
        );
        assert_eq!(realm(user(1, "a@b@c.d")).as_deref(), Some(&b"\x01d\x01c"[..]));
        assert_eq!(realm(user(1, &format!("@{}", &long[1..]))).map(|name| name.len()), Some(64));
        assert_eq!(realm(user(1, &labels(32))).map(|name| name.len()), Some(64));
        for wrong in
            ["@", "a@", "a@b.", "a@.b", "a@b..c", "a@b@", &format!("@{long}"), &format!("@{long}.a"), &labels(33)]
        {
            assert_eq!(realm(user(1, wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn attributes_end_within_their_packet() {
        let name = b"\x01\x03u\x20\x04ap";
        let fields = b"\x04\x01\x01\x01\x01u\x02\x02ap";
        // What is seen of a packet of 300 bytes ends in an attribute.
        let long = |length, last: &[u8]| {
            let filler = [26, 229 - last.len() as u8];
            let attributes = [&name[..], &filler, &vec![0; 227 - last.len()], last, &[0; 200]].concat();
            packet(1, length, &attributes)
        };
        all_read(
            Protocol::Radius,
            0,
            &[
                (packet(1, 27, name), 1, fields),
                (packet(1, 27, &[name, &b"\x01\x03v padding"[..]].concat()), 1, fields),
                (packet(1, 33, &[name, &b"\x01\x03v\x20\x03w"[..]].concat()), 1, fields),
                (packet(1, 28, name), 0, b""),
                (packet(1, 26, name), 0, b""),
                (packet(1, 24, name), 0, b""),
                (packet(1, 19, name), 0, b""),
                (packet(1, 22, b"\x01\x00"), 0, b""),
                (packet(1, 22, b"\x01\x01"), 0, b""),
                (packet(1, 20, b"")[..19].to_vec(), 0, b""),
                (long(300, b"\x01\x09"), 1, fields),
                (long(4096, b"\x01"), 1, fields),
                (long(4097, b"\x01"), 0, b""),
                (long(300, b"\x01\x01"), 0, b""),
                (long(256, b"\x01\x09"), 0, b""),
                (long(256, b"\x01\x02"), 1, fields),
            ],
        );
    }

    #[test]
    fn connections_are_told_apart_by_their_number() {
        let long =
            |size: usize, behind: &[u8]| [&b"\xC0\0\0\0\x01"[..], &[size as u8], &vec![7; size], behind].concat();
        let fields = |size: usize| [&b"\x02\x04\0\0\0\x01\x01"[..], &[size as u8], &vec![7; size]].concat();
        all_read(
            Protocol::Quic,
            4,
            &[
                (long(0, b"\0"), 1, &fields(0)),
                (long(20, b"\x02me"), 1, &fields(20)),
                (long(21, b"\x02me"), 0, b""),
                (long(20, b"\x03me"), 0, b""),
                (long(20, b""), 0, b""),
                (long(20, b"")[..25].to_vec(), 0, b""),
                (long(0, b"")[..5].to_vec(), 0, b""),
                (b"\x40abcdef".to_vec(), 2, b"\x01\x04abcd"),
                (b"\x00abcd".to_vec(), 2, b"\x01\x04abcd"),
                (b"\x40abc".to_vec(), 0, b""),
            ],
        );
        all_read(Protocol::Quic, 0, &[(b"\x40".to_vec(), 2, b"\x01\x00")]);
    }

    #[test]
    fn binary_keys_stand_behind_their_extras() {
        let request = |opcode: u8, key: &[u8], extras: u8, body: u32| {
            let [high, low] = (key.len() as u16).to_be_bytes();
            let head = [b"\0\x09\0\0\0\x01\0\0", &[0x80, opcode, high, low, extras, 0, 0, 0][..], &body.to_be_bytes()];
            [&head.concat(), &[0; 12][..], &vec![1; usize::from(extras)], key, b"value"].concat()
        };
        let most = [&b"\x02\x01\x01\x01\xD8"[..], &[b'k'; 216]].concat();
        all_read(
            Protocol::Memcached,
            0,
            &[
                (request(0x00, b"user", 0, 4), 1, b"\x02\x01\x00\x01\x04user"),
                (request(0x0D, b"user", 0, 4), 1, b"\x02\x01\x0D\x01\x04user"),
                (request(0x01, b"user", 8, 17), 2, b"\x02\x01\x01\x01\x04user"),
                (request(0x1A, b"user", 0, 9), 2, b"\x02\x01\x1A\x01\x04user"),
                (request(0x05, b"user", 20, 24), 3, b"\x02\x01\x05\x01\x04user"),
                (request(0x1C, b"user", 4, 8), 3, b"\x02\x01\x1C\x01\x04user"),
                (request(0x0A, b"", 0, 0), 0, b""),
                (request(0x1D, b"user", 4, 8), 0, b""),
                (request(0x00, b"", 0, 0), 1, b""),
                (request(0x00, b"user", 0, 3), 0, b""),
                (request(0x00, b"user", 1, 4), 0, b""),
                (request(0x00, b"user", 0, 4)[..35].to_vec(), 1, b""),
                (request(0x00, b"user", 0, 4)[..31].to_vec(), 0, b""),
                (request(0x01, &[b'k'; 216], 8, 224), 2, &most),
                (request(0x01, &[b'k'; 217], 8, 225), 2, b""),
                (request(0x01, &[b'k'; 300], 0, 300), 2, b""),
            ],
        );
    }
}
