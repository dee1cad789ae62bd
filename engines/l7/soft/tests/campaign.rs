// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged and random packets to the walkers of messages: fields of QNP, names of DNS, requests of memcached, options
//! of CoAP, attributes of RADIUS, connection IDs of QUIC. Types, fields and decisions are those of a second reading of
//! engines/l7/machine.md in this file, every packet is counted once, and no case panics, takes long or takes much
//! memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the number of the first one.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use penstock_l7::{Block, Limits, Rules, Window};
use penstock_l7_compiler::compile;
use penstock_l7_compiler::program::{Action, Application, Program, Protocol, Rule};
use penstock_testing::{Campaign, Counting, Numbers, alone, damage};
use penstock_unit::{Block as _, Entering, Made, Verdict};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Packets of a case.
const PACKETS: usize = 64;

/// Rules for all kinds of patterns; messages of the generators below match many of them.
const SOURCES: [&str; 4] = [
    r#"
message Order {
    option (type) = 1;
    string path = 1 [(dispatch) = true];
    uint32 amount = 2 [(dispatch) = true];
    bytes items = 15 [(dispatch) = true];
}
message Note { option (type) = 15; bytes text = 1 [(dispatch) = true]; }
application orders = 1 {
    udp port 7000;
    on Order {
        rule large priority 4 { path = "/order/" ..; amount = 1000 ..= 4294967295; } => queue 9;
        rule items priority 3 { items = skip 3 "abc" ..; } => queue 4;
        rule pay priority 2 { path = "/cart/" until "/?" "pay" ..; } => unit 0;
        rule order priority 1 { path = "/order/" .. | "/cart/"; } => queues 16 ..= 19 by path;
        rule small { amount = 0 ..= 9; } => port 1;
        default => drop;
    }
    on Note {
        rule a priority 1 { text = until "/" until "/" "a" ..; } => queue 1;
        rule b { text = "/" ..; } => queue 2;
        default => queue 3;
    }
    default => port 1;
}
application names = 2 {
    udp port 53;
    protocol dns;
    on query {
        rule shop { name = zone "shop.example"; } => port 2;
        rule intern { name = zone "intern.shop.example"; } => port 3;
        rule nobody { name = "nobody.shop.example"; } => drop;
        default => port 1;
    }
    default => queue 7;
}
"#,
    r#"
application cache = 1 {
    udp port 11211;
    protocol memcached;
    on get {
        rule quiet priority 1 { key = "user:" ..; opcode = 9; } => unit 2;
        rule user { key = "user:" ..; } => port 1;
        rule item { key = "item:" until ":" "x"; } => port 2;
        default => port 3;
    }
    on set {
        rule user { key = "user:" ..; } => queues 0 ..= 3 by key;
        default => queue 4;
    }
    on change {
        rule count { opcode = 5 ..= 6; } => queue 6;
        default => drop;
    }
    default => queue 5;
}
application sensors = 2 {
    udp port 5683;
    protocol coap;
    on request {
        rule firmware priority 4 { path = "/fw/" ..; method = 1; } => port 2;
        rule readings priority 3 { path = "/sensors/" until "/" "temp"; method = 2 ..= 3; } => queue 0;
        rule json priority 2 { format = 50; host = "a" ..; } => queues 8 ..= 11 by path;
        rule root priority 1 { path = "/"; } => unit 1;
        rule host { host = "ab"; } => drop;
        default => port 1;
    }
    default => queue 6;
}
"#,
    r#"
application logins = 1 {
    udp port 1812;
    protocol radius;
    on access {
        rule campus { realm = zone "campus.example"; } => port 1;
        rule lab { realm = "lab.campus.example"; } => port 2;
        default => queue 1;
    }
    on accounting {
        rule door priority 2 { nas = "door-" ..; } => queue 2;
        rule guests priority 1 { user = "guest-" ..; } => drop;
        rule campus { realm = zone "campus.example"; } => port 2;
        default => queue 3;
    }
    on other {
        rule challenge priority 1 { code = 11; user = "guest-" ..; } => queue 4;
        rule answers { code = 2 ..= 3; } => port 0;
        default => queue 5;
    }
    default => queue 6;
}
application edge = 2 {
    udp port 443;
    protocol quic id 8;
    on long {
        rule first priority 1 { version = 1; id = "srv1" ..; } => unit 0;
        rule second { version = 1798521807; } => unit 1;
        default => unit 2;
    }
    on short {
        rule one { id = "srv1" ..; } => unit 0;
        rule two { id = skip 1 "rv2" until "s" ..; } => unit 1;
        default => drop;
    }
    default => queue 7;
}
"#,
    r#"
application none = 1 {
    udp port 443;
    protocol quic id 0;
    on long {
        rule one { id = "srv1srv1"; } => queue 0;
        rule none { id = ""; } => queue 1;
        default => port 0;
    }
    on short { default => port 1; }
    default => queue 2;
}
application most = 2 {
    udp port 4433;
    protocol quic id 20;
    on short {
        rule one { id = "srv1" ..; } => queues 16 ..= 19 by id;
        default => drop;
    }
    default => queue 3;
}
"#,
];

/// An application, and what native code has of it.
struct App {
    application: Application,
    program: Program,
    rules: Rules,
}

impl App {
    /// The number of a message's decision, and its action, with a loop over the rules.
    fn decide(&self, of_type: u8, fields: &BTreeMap<u8, Vec<u8>>) -> (usize, Action) {
        let mut index = 1;
        for rules in &self.application.types {
            let decisions = rules.decisions();
            let default = index + decisions.iter().max().map_or(0, |last| last + 1);
            if self.program.message(rules).number == of_type {
                let holds = |rule: &&Rule| {
                    rule.variants.iter().any(|variant| {
                        variant.iter().all(|(field, of)| fields.get(field).is_some_and(|field| of.matches(field)))
                    })
                };
                let found = rules.rules.iter().zip(decisions).find(|(rule, _)| holds(rule));
                return found.map_or((default, rules.default), |(rule, at)| (index + at, rule.action));
            }
            index = default + 1;
        }
        (0, self.application.others)
    }
}

/// Fields of QNP by number: `at` walks from one to the next, and the first of a number counts.
fn fields_of(seen: &[u8]) -> BTreeMap<u8, Vec<u8>> {
    let mut fields = BTreeMap::new();
    let mut at = 0;
    while at + 2 <= seen.len() && at + 2 + usize::from(seen[at + 1]) <= seen.len() {
        let end = at + 2 + usize::from(seen[at + 1]);
        if (1..16).contains(&seen[at]) {
            fields.entry(seen[at]).or_insert_with(|| seen[at + 2..end].to_vec());
        }
        at = end;
    }
    fields
}

/// The labels from a place on, the first one first, and where the question goes on; None: there is no such name. A
/// pointer must lead to a place before `before`.
fn labels_from(seen: &[u8], at: usize, before: usize) -> Option<(Vec<Vec<u8>>, usize)> {
    let size = *seen.get(at)?;
    if size == 0 {
        return Some((Vec::new(), at + 1));
    }
    if size >> 6 == 3 {
        let target = (usize::from(size) * 256 + usize::from(*seen.get(at + 1)?)) % 0x4000;
        let (labels, _) = if target < before { labels_from(seen, target, target)? } else { return None };
        return Some((labels, at + 2));
    }
    if size >> 6 != 0 {
        return None;
    }
    let behind = at + 1 + usize::from(size);
    let label = seen.get(at..behind)?.to_ascii_lowercase();
    let (mut labels, end) = labels_from(seen, behind, before)?;
    labels.insert(0, label);
    // A walk has an end, so a name has no more labels than bytes can be read; longer names are none of ours.
    (labels.len() <= 32 && labels.concat().len() <= 250).then_some((labels, end))
}

/// A message's type and its fields, in the order of the window.
type Reading = (u8, Vec<(u8, Vec<u8>)>);

/// The reading of a message that the walker cannot read.
const UNKNOWN: Reading = (0, Vec::new());

/// The window with these fields: a byte of number, a byte of length and the value of each. None: they take more than 256
/// bytes.
fn window_of(fields: &[(u8, Vec<u8>)]) -> Option<Vec<u8>> {
    let mut window = Vec::new();
    for (number, value) in fields {
        window.extend([*number, u8::try_from(value.len()).ok()?]);
        window.extend(value);
    }
    (window.len() <= 256).then_some(window)
}

/// A DNS query.
fn query_of(seen: &[u8]) -> Option<Reading> {
    let header = seen.get(..12)?;
    if header[2] & 0xF8 != 0 || (header[4], header[5]) != (0, 1) {
        return None;
    }
    let (mut labels, end) = labels_from(seen, 12, 12)?;
    let question = seen.get(end..end + 4)?;
    labels.reverse();
    Some((1, vec![(2, question[..2].to_vec()), (1, labels.concat())]))
}

/// A request of memcached.
fn command_of(seen: &[u8]) -> Option<Reading> {
    let text = seen.get(8..).filter(|_| seen[2..6] == [0, 0, 0, 1])?;
    if text.first() == Some(&0x80) {
        return opcode_of(text);
    }
    let space = text.iter().position(|byte| *byte == b' ')?;
    let of_type = match &text[..space] {
        b"get" | b"gets" => 1,
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => 2,
        b"delete" | b"incr" | b"decr" | b"touch" => 3,
        _ => return None,
    };
    let mut parts = text[space + 1..].split(|byte| b" \r\n".contains(byte));
    let key = parts.next().unwrap_or_default();
    let is_key = parts.next().is_some() && (1..=250).contains(&key.len());
    Some((of_type, is_key.then(|| (1, key.to_vec())).into_iter().collect()))
}

/// A request of memcached's binary protocol, from its first byte on.
fn opcode_of(request: &[u8]) -> Option<Reading> {
    let (header, rest) = request.split_at_checked(24)?;
    let of_type = match header[1] {
        0x00 | 0x09 | 0x0C | 0x0D => 1,
        0x01..=0x03 | 0x0E | 0x0F | 0x11..=0x13 | 0x19 | 0x1A => 2,
        0x04..=0x06 | 0x14..=0x16 | 0x1C => 3,
        _ => return None,
    };
    let (key, extras) = (usize::from(header[2]) << 8 | usize::from(header[3]), usize::from(header[4]));
    let body = header[8..12].iter().fold(0, |body, byte| body << 8 | usize::from(*byte));
    if extras + key > body {
        return None;
    }
    let key = rest.get(extras..extras + key).filter(|key| (1..=250).contains(&key.len()));
    Some((of_type, key.map_or(Vec::new(), |key| vec![(2, vec![header[1]]), (1, key.to_vec())])))
}

/// A request of CoAP (RFC 7252, figures 7 and 8).
fn coap_of(seen: &[u8]) -> Option<Reading> {
    let header = seen.get(..4)?;
    let token = usize::from(header[0] & 15);
    if header[0] >> 6 != 1 || header[0] >> 4 & 3 > 1 || token > 8 || !(1..32).contains(&header[1]) {
        return None;
    }
    let mut rest = seen.get(4 + token..)?;
    let (mut format, mut host, mut segments) = (None, None, Vec::new());
    let mut number = 0;
    while let Some((first, behind)) = rest.split_first() {
        let (delta, length) = (first >> 4, first & 15);
        if *first == 0xFF {
            behind.first()?;
            break;
        }
        if delta == 15 || length == 15 {
            return None;
        }
        // A delta with bytes of its own is 13 or more.
        number += delta;
        if number > 12 {
            break;
        }
        let (length, behind) = match length {
            13 => (13 + usize::from(*behind.first()?), &behind[1..]),
            14 => (269 + (usize::from(*behind.first()?) << 8 | usize::from(*behind.get(1)?)), &behind[2..]),
            _ => (usize::from(length), behind),
        };
        let value = behind.get(..length)?;
        rest = &behind[length..];
        if seen.len() - rest.len() > 255 {
            return None;
        }
        match number {
            3 if !value.is_empty() => drop(host.get_or_insert(value)),
            11 => segments.push(value),
            12 if value.len() <= 2 => drop(format.get_or_insert([&[0, 0][value.len()..], value].concat())),
            _ => {}
        }
    }
    let pieces: usize = segments.iter().map(|segment| (1 + segment.len()).div_ceil(64)).sum();
    if pieces > 32 || segments.iter().any(|segment| segment.contains(&b'/')) {
        return None;
    }
    let path = if segments.is_empty() { vec![b'/'] } else { segments.iter().fold(Vec::new(), slash) };
    let fields =
        [Some((2, vec![header[1]])), format.map(|of| (3, of)), host.map(|of| (4, of.to_vec())), Some((1, path))];
    Some((1, fields.into_iter().flatten().collect()))
}

/// Appends a slash and a segment to a path.
fn slash(mut path: Vec<u8>, segment: &&[u8]) -> Vec<u8> {
    path.push(b'/');
    path.extend(*segment);
    path
}

/// A message of RADIUS (RFC 2865, sections 3 and 5).
fn radius_of(seen: &[u8]) -> Option<Reading> {
    let header = seen.get(..20)?;
    let length = usize::from(header[2]) << 8 | usize::from(header[3]);
    if !(20..=4096).contains(&length) || (seen.len() < 256 && length > seen.len()) {
        return None;
    }
    let (mut user, mut nas, mut at) = (None, None, 20);
    while at < length {
        let size = seen.get(at + 1).map(|size| usize::from(*size));
        // If the length byte is not among the bytes seen, Length ends before it, or the walk ends here.
        let Some(end) = size.map(|size| at + size).filter(|end| *end <= 256) else {
            if length > 256 {
                break;
            }
            return None;
        };
        if end < at + 2 || end > length {
            return None;
        }
        match seen[at] {
            1 => drop(user.get_or_insert(&seen[at + 2..end])),
            32 => drop(nas.get_or_insert(&seen[at + 2..end])),
            _ => {}
        }
        at = end;
    }
    let of_type = match header[0] {
        1 => 1,
        4 => 2,
        _ => 3,
    };
    let fields = [
        Some((4, vec![header[0]])),
        user.map(|user| (1, user.to_vec())),
        nas.map(|nas| (2, nas.to_vec())),
        user.and_then(realm_of).map(|realm| (3, realm)),
    ];
    Some((of_type, fields.into_iter().flatten().collect()))
}

/// The domain name behind the last `@` of a user's name.
fn realm_of(user: &[u8]) -> Option<Vec<u8>> {
    let mut parts = user.rsplitn(2, |byte| *byte == b'@');
    let (realm, _) = (parts.next()?, parts.next()?);
    let mut labels: Vec<Vec<u8>> = realm.split(|byte| *byte == b'.').map(<[u8]>::to_ascii_lowercase).collect();
    if labels.len() > 32 || labels.iter().any(|label| !(1..=63).contains(&label.len())) {
        return None;
    }
    labels.reverse();
    let name: Vec<u8> = labels.iter().flat_map(|label| [&[label.len() as u8], &label[..]].concat()).collect();
    (name.len() <= 250).then_some(name)
}

/// The first packet of a datagram of QUIC (RFC 8999, section 5).
fn quic_of(id_bytes: u8, seen: &[u8]) -> Option<Reading> {
    let (first, rest) = seen.split_first()?;
    if *first < 0x80 {
        return Some((2, vec![(1, rest.get(..usize::from(id_bytes))?.to_vec())]));
    }
    let (version, rest) = rest.split_at_checked(4)?;
    let (length, rest) = rest.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(*length))?;
    let (source, rest) = rest.split_first()?;
    rest.get(..usize::from(*source))?;
    (id.len() <= 20).then(|| (1, vec![(2, version.to_vec()), (1, id.to_vec())]))
}

/// Type and fields of a message of another protocol than QNP.
fn reading(application: &Application, seen: &[u8]) -> Reading {
    let found = match application.protocol {
        Protocol::Qnp => panic!("the type of a message of QNP is in its header"),
        Protocol::Dns => query_of(seen),
        Protocol::Memcached => command_of(seen),
        Protocol::Coap => coap_of(seen),
        Protocol::Radius => radius_of(seen),
        Protocol::Quic => quic_of(application.id_bytes, seen),
    };
    found.filter(|(_, fields)| window_of(fields).is_some()).unwrap_or(UNKNOWN)
}

fn text(numbers: &mut Numbers, parts: &[&str], most: usize) -> Vec<u8> {
    (0..numbers.below(most + 1)).flat_map(|_| numbers.of(parts).bytes()).collect()
}

/// A payload of QNP: fields, of which the last may not be whole.
fn fields(numbers: &mut Numbers) -> Vec<u8> {
    let mut payload = Vec::new();
    for _ in 0..numbers.below(6) {
        let value = match numbers.below(4) {
            0 => numbers.bytes(4),
            1 => vec![0, 0, numbers.of(&[0, 3, 4]), numbers.next() as u8],
            _ => text(numbers, &["/order/", "/cart/", "/", "?pay", "a", "abc", "xyzabc", "\0"], 6),
        };
        payload.extend([numbers.of(&[1, 1, 1, 2, 2, 15, 0, 16, 200]), value.len() as u8]);
        payload.extend(value);
    }
    if numbers.below(3) == 0 {
        payload.extend([numbers.of(&[1, 2, 99]), numbers.next() as u8]);
        let rest = numbers.below(300);
        payload.extend(numbers.bytes(rest));
    }
    payload
}

/// A DNS query.
fn query(numbers: &mut Numbers) -> Vec<u8> {
    let mut payload =
        vec![numbers.next() as u8, 7, numbers.of(&[1, 1, 1, 1, 0, 0, 0, 2, 0x81, 0x10]), 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let count = numbers.of(&[0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 29, 30, 31, 32, 33]);
    for _ in 0..count {
        let label = match numbers.below(if count > 4 { 1000 } else { 5 }) {
            0 => numbers.of(&["Shop", "shop", "intern", "nobody", "example"]).as_bytes().to_vec(),
            1 => vec![b'A'; numbers.of(&[1, 10, 10, 20, 20, 62, 63, 63, 64])],
            5.. => numbers.of(&["a", "B", "cd"]).as_bytes().to_vec(),
            _ => text(numbers, &["a", "B", "-"], 3),
        };
        if label.is_empty() {
            break;
        }
        payload.push(label.len() as u8);
        payload.extend(label);
    }
    let suffix: &[u8] = numbers.of(&[b"", b"\x04shop\x07example", b"\x06intern\x04ShOp\x07example"]);
    payload.extend(suffix);
    match numbers.below(7) {
        0 => payload.extend([0xC0, numbers.below(payload.len() + 4) as u8]),
        1 => payload.extend([0xC0 | numbers.below(64) as u8, numbers.next() as u8]),
        _ => payload.push(0),
    }
    payload.extend([0, numbers.of(&[1, 28, 255]), 0, 1]);
    payload
}

/// A request of memcached.
fn request(numbers: &mut Numbers) -> Vec<u8> {
    let mut payload = vec![numbers.next() as u8, 9, 0, 0, 0, 1, 0, 0];
    let words = ["get", "gets", "set", "add", "cas", "prepend", "incr", "touch", "version", "GET", "get\r", ""];
    payload.extend(numbers.of(&words).bytes());
    payload.push(b' ');
    let most = numbers.of(&[2, 4, 40]);
    payload.extend(text(numbers, &["user:", "item:", "x", ":", "abcdefgh", "\0", "\u{FF}"], most));
    payload.extend(numbers.of(&["\r\n", " 0 0 1\r\nx\r\n", "\n", " ", ""]).bytes());
    payload
}

/// A request of memcached's binary protocol.
fn binary(numbers: &mut Numbers) -> Vec<u8> {
    let opcodes =
        [0, 1, 2, 3, 4, 5, 6, 9, 9, 9, 0x0C, 0x0D, 0x0E, 0x0F, 0x11, 0x13, 0x14, 0x16, 0x19, 0x1A, 0x1C, 7, 0x1D];
    let extras = numbers.of(&[0, 0, 4, 8, 20, 255]);
    let key = match numbers.below(6) {
        0 => Vec::new(),
        // Keys up to the end of what is seen, and around the longest one.
        1 => vec![b'k'; (222 + numbers.below(5)).saturating_sub(extras)],
        2 => vec![b'k'; 249 + numbers.below(3)],
        _ => text(numbers, &["user:", "item:", "x", ":", "\0"], 4),
    };
    let value = numbers.of(&[0, 1, 10, 300]);
    let body = match numbers.below(8) {
        0 => (extras + key.len()).saturating_sub(1),
        1 => extras + key.len(),
        _ => extras + key.len() + value,
    };
    let mut payload =
        vec![numbers.next() as u8, 9, 0, 0, 0, 1, 0, 0, numbers.of(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x81])];
    payload.push(numbers.of(&opcodes));
    payload.extend((key.len() as u16).to_be_bytes());
    payload.extend([extras as u8, 0, 0, 0]);
    payload.extend((body as u32).to_be_bytes());
    payload.extend([0; 12]);
    payload.extend(vec![0; extras]);
    payload.extend(key);
    payload.extend(vec![b'v'; value]);
    payload
}

/// Options of CoAP in the order of their numbers.
fn options(sorted: &[(u16, Vec<u8>)]) -> Vec<u8> {
    /// The four bits of a number, and the bytes behind them.
    fn nibble(number: usize) -> (u8, Vec<u8>) {
        match number {
            0..=12 => (number as u8, Vec::new()),
            13..=268 => (13, vec![(number - 13) as u8]),
            _ => (14, ((number - 269) as u16).to_be_bytes().to_vec()),
        }
    }
    let (mut all, mut last) = (Vec::new(), 0);
    for (number, value) in sorted {
        let ((delta, more), (length, longer)) = (nibble(usize::from(*number - last)), nibble(value.len()));
        all.push(delta << 4 | length);
        all.extend([more, longer, value.clone()].concat());
        last = *number;
    }
    all
}

/// A message of CoAP.
fn coap(numbers: &mut Numbers) -> Vec<u8> {
    let token = numbers.of(&[0, 0, 0, 0, 0, 0, 1, 2, 4, 4, 4, 8, 8, 8, 8, 9]);
    let of_type = numbers.of(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 3]);
    let code = numbers.of(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 31, 31, 0, 32, 69]);
    let mut payload = vec![0x40 | of_type << 4 | token, code, 1, 2];
    payload.extend(vec![0xFF; token.into()]);
    let mut all: Vec<(u16, Vec<u8>)> = Vec::new();
    match numbers.below(8) {
        0 => {}
        // Pieces around the most that there may be.
        1 => {
            all.extend((0..27 + numbers.below(7)).map(|_| (11, text(numbers, &["a", "bc"], 1))));
            let place = numbers.below(all.len());
            all[place].1 = vec![b'l'; numbers.of(&[0, 62, 63, 64, 126, 127, 128])];
        }
        // Lengths at which options have another form, and at which segments have a piece more.
        2 => all.extend(
            (0..1 + numbers.below(2)).map(|_| (11, vec![b'p'; numbers.of(&[0, 12, 13, 14, 62, 63, 64, 127, 128])])),
        ),
        3 => all.extend(["sensors", "x", "temp"].map(|segment| (11, segment.into()))),
        _ => {
            let parts = ["fw", "sensors", "a", "b", "temp", "", "", "x", "y", "a/b"];
            all.extend((0..1 + numbers.below(4)).map(|_| (11, numbers.of(&parts).into())));
        }
    }
    for _ in 0..numbers.below(3) {
        let value = match numbers.below(3) {
            0 => vec![50],
            1 => vec![0, 50],
            _ => numbers.bytes(numbers.clone().below(4)),
        };
        all.push((12, value));
    }
    for _ in 0..numbers.below(3) {
        let host = numbers.of(&["a", "ab", "abc", "", "b.example.org.x"]);
        all.push((3, host.into()));
    }
    for _ in 0..numbers.below(3) {
        let number = numbers.of(&[1, 4, 5, 7, 8, 10, 13, 14, 15, 17, 24, 25, 60, 268, 269, 280, 2048, 65000]);
        let length = numbers.of(&[0, 1, 2, 8, 12, 13]);
        all.push((number, numbers.bytes(length)));
    }
    all.sort_by_key(|(number, _)| *number);
    // An option that makes those that are read end at the end of what may be read, or close to it.
    if numbers.below(3) == 0 {
        let number = numbers.of(&[3, 3, 8, 11, 12]);
        let read: Vec<_> = all.iter().filter(|(number, _)| *number <= 12).cloned().collect();
        let room = (251 + numbers.below(8)).saturating_sub(payload.len() + options(&read).len() + 2);
        let place =
            all.partition_point(|(other, _)| if numbers.0 & 1 == 0 { *other < number } else { *other <= number });
        all.insert(place, (number, vec![b'a'; room]));
    }
    payload.extend(options(&all));
    match numbers.below(16) {
        8..=11 => payload.extend([0xFF, b'/', b'y']),
        0 => payload.push(0xFF),
        1 => payload.extend([numbers.of(&[0xF0, 0x0F, 0xDF, 0xEF, 0xFE]), 0, 0]),
        2 => payload.extend([numbers.of(&[0xD0, 0xE0, 0xDD, 0xDE]), 0]),
        3 => payload.extend([0x0E, 0, 0]),
        4 | 5 => {
            let length = numbers.below(300);
            payload.push(0xFF);
            payload.extend(numbers.bytes(length));
        }
        _ => {}
    }
    payload
}

/// A user's name, often with a realm.
fn user(numbers: &mut Numbers) -> Vec<u8> {
    let name = text(numbers, &["guest-", "al", "@", ".", "b"], 2);
    let realm = match numbers.below(10) {
        0 => Vec::new(),
        1 => b"@".to_vec(),
        // Labels around the most that there may be.
        2 => [b"@", &b"a.".repeat(29 + numbers.below(4))[..], b"a"].concat(),
        // Lengths of labels around the longest one.
        3 => {
            let (one, other) = (62 + numbers.below(3), numbers.of(&[0, 1, 20, 44, 45, 46, 63]));
            [b"@", &vec![b'L'; one][..], b".", &vec![b'm'; other]].concat()
        }
        4 => [b"@".to_vec(), text(numbers, &["a", ".", "Lab", "@", "campus.", "example", "\0"], 8)].concat(),
        5 | 6 => b"@Lab.campus.eXample".to_vec(),
        _ => [b"@", text(numbers, &["www.", "a."], 2).as_slice(), b"campus.example"].concat(),
    };
    [name, realm].concat()
}

/// A message of RADIUS.
fn radius(numbers: &mut Numbers) -> Vec<u8> {
    let mut payload = vec![numbers.of(&[1, 1, 1, 4, 4, 4, 2, 3, 11, 11, 0, 255]), 7, 0, 0];
    payload.extend(numbers.bytes(16));
    let mut places = Vec::new();
    for _ in 0..numbers.below(7) {
        let (number, value) = match numbers.below(8) {
            0..=2 => (1, user(numbers)),
            3 | 4 => (32, text(numbers, &["door-", "nas", "x"], 3)),
            // An attribute that ends at the end of what is seen, or close to it.
            5 => (
                numbers.of(&[26, 26, 1, 32]),
                vec![b'x'; (254 + numbers.below(6)).saturating_sub(payload.len() + 2).min(253)],
            ),
            6 => (1, vec![b'u'; numbers.of(&[0, 1, 119, 120, 121, 253])]),
            _ => (numbers.of(&[2, 4, 5, 0, 255]), numbers.bytes(numbers.clone().below(20))),
        };
        places.push(payload.len());
        payload.extend([number, value.len() as u8 + 2]);
        payload.extend(value);
    }
    // An attribute with another length, often one that no attribute may have.
    if numbers.below(6) == 0 && !places.is_empty() {
        let place = places[numbers.below(places.len())] + 1;
        payload[place] = numbers.of(&[0, 1, 2, 3, 255]);
    }
    let whole = payload.len();
    let length = match numbers.below(16) {
        0 => numbers.of(&[0, 19, 20, 21, 22]),
        1 => whole - 1,
        2 => whole + 1,
        3 => numbers.of(&[255, 256, 257, 4095, 4096, 4097]),
        _ => whole,
    };
    payload[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    let behind = numbers.of(&[0, 0, 0, 1, 2, 40, 300]);
    payload.extend(numbers.bytes(behind));
    payload
}

/// A packet of QUIC.
fn quic(numbers: &mut Numbers, id_bytes: u8) -> Vec<u8> {
    let id = |numbers: &mut Numbers, length: usize| {
        let mut id = numbers.of(&["srv1", "srv2", "Srv1"]).repeat(64).into_bytes();
        if numbers.below(2) == 0 {
            let from = numbers.below(8);
            id[from..].fill(numbers.next() as u8);
        }
        id[..length].to_vec()
    };
    let mut payload = Vec::new();
    if numbers.below(2) == 0 {
        payload.push(numbers.of(&[0x00, 0x40, 0x41, 0x7F]));
        payload.extend(id(numbers, id_bytes.into()));
    } else {
        payload.push(numbers.of(&[0x80, 0xC0, 0xC3, 0xFF]));
        payload.extend(numbers.of(&[1, 1, 0, 1_798_521_807, u32::MAX]).to_be_bytes());
        let length = numbers.of(&[0, 1, 8, 8, 8, 19, 20, 20, 21, 255]);
        payload.push(length as u8);
        payload.extend(id(numbers, length));
        // Source Connection IDs may be longer, and those of some lengths end at the end of what is seen.
        let rest = 253usize.saturating_sub(payload.len());
        let length = numbers.of(&[0, 0, 8, 20, 21, 255, rest, rest + 1, rest + 2, rest + 3]).min(255);
        payload.push(length as u8);
        payload.extend(id(numbers, length));
    }
    match numbers.below(6) {
        0 => {}
        1 => drop(payload.pop()),
        _ => {
            let length = numbers.of(&[1, 20, 300]);
            payload.extend(numbers.bytes(length));
        }
    }
    payload
}

/// The frame of a packet: IPv4 or IPv6, with a tag or without.
fn frame(numbers: &mut Numbers, port: u16, data: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    if numbers.below(4) == 0 {
        frame.extend([0x81, 0, 0, 5]);
    }
    let length = 8 + data.len() as u16;
    let source = numbers.below(3) as u8;
    if numbers.below(4) == 0 {
        frame.extend([0x86, 0xDD, 0x60, 0, 0, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend([17, 64]);
        frame.extend([source; 16]);
        frame.extend([9; 16]);
    } else {
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((20 + length).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, source, 192, 0, 2, 1]);
    }
    frame.extend([0x0F, source]);
    frame.extend(port.to_be_bytes());
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(data);
    frame
}

/// The header of a packet of QNP.
fn header(numbers: &mut Numbers, of_type: u8) -> Vec<u8> {
    let count = numbers.of(&[1, 1, 1, 2, 3, 32, 33, 0]);
    let number = if count == 0 { 0 } else { numbers.below(count as usize + 1) as u8 };
    let mut header = vec![numbers.of(&[1, 1, 1, 1, 2]), of_type];
    header.extend((numbers.below(12) as u32).to_be_bytes());
    header.extend([0, 0, 0, 0, count, number, numbers.of(&[0, 0, 0, 0, 1]), numbers.of(&[0, 0, 1, 3, 4, 5])]);
    header.extend([0; 8]);
    header
}

/// A payload, often damaged.
fn payload(numbers: &mut Numbers, application: &Application) -> Vec<u8> {
    let mut payload = match application.protocol {
        Protocol::Qnp => fields(numbers),
        Protocol::Dns => query(numbers),
        Protocol::Memcached if numbers.below(2) == 0 => binary(numbers),
        Protocol::Memcached => request(numbers),
        Protocol::Coap => coap(numbers),
        Protocol::Radius => radius(numbers),
        Protocol::Quic => quic(numbers, application.id_bytes),
    };
    match numbers.below(8) {
        0 => {
            let length = numbers.below(400);
            payload = numbers.bytes(length);
        }
        1 | 2 => damage::bytes(&mut payload, numbers),
        _ => {}
    }
    payload
}

/// Compares the walker's type and window, and the decision, with the second reading. Returns the decision's number and
/// action.
fn compare(app: &mut App, window: &mut Window, of_type: u8, payload: &[u8]) -> (usize, Action) {
    let seen = &payload[..payload.len().min(256)];
    let (of_type, expected, decision) = if app.application.protocol == Protocol::Qnp {
        (of_type, fields_of(seen), app.rules.decide(of_type, payload))
    } else {
        let (of_type, fields) = reading(&app.application, seen);
        let found = window.read(app.application.protocol, app.application.id_bytes, payload);
        let bytes = window_of(&fields).unwrap();
        assert_eq!((found, window.fields()), (of_type, &bytes[..]), "{:?} {payload:?}", app.application.protocol);
        (of_type, fields.into_iter().collect(), app.rules.decide(found, window.fields()))
    };
    assert_eq!((decision.index, decision.action), app.decide(of_type, &expected), "{of_type} {payload:?}");
    (decision.index, decision.action)
}

/// The result of the block for a whole datagram with a message in one packet.
fn check_made(made: &[Made], action: Action) {
    let verdict = match action {
        Action::Drop => None,
        Action::Queue(_) | Action::QueuesBy { .. } | Action::QueuesInTurn { .. } => Some(Verdict::Host),
        Action::Unit(unit) => Some(Verdict::Unit(unit.into())),
        Action::Port(port) => Some(Verdict::Port(port.into())),
        Action::UnitsBy(_) => panic!("no rule sends messages to a unit by a field"),
    };
    assert!(made.iter().map(|made| &made.verdict).eq(&verdict), "{made:?} {action:?}");
}

/// The outcome of a packet, from its verdict and the counters before and after.
fn check_counts(block: &Block, before: [u64; 4], verdict: &Verdict, made: &[Made]) {
    let [packets, dropped, ended, delivered] = counts(block);
    let (packets, dropped) = (packets - before[0], dropped - before[1]);
    let expected = match verdict {
        Verdict::Onward => (0, 0),
        Verdict::Absorb => (1, 0),
        Verdict::Drop => (0, 1),
        other => panic!("{other:?}"),
    };
    assert_eq!((packets, dropped), expected, "{verdict:?}");
    assert!(ended - before[2] <= packets, "a packet ends more than one message");
    assert_eq!(delivered - before[3], made.len() as u64);
}

/// Packets accepted, packets dropped, messages that left or were denied, messages that left.
fn counts(block: &Block) -> [u64; 4] {
    let all = (0..2).map(|app| block.counters(app)).map(|of| {
        let dropped = of.malformed + of.duplicates + of.oversize + of.refused;
        [of.packets, dropped, of.delivered + of.denied, of.delivered]
    });
    all.fold([0; 4], |sum, of| std::array::from_fn(|at| sum[at] + of[at]))
}

#[test]
fn damaged_messages() {
    let alone = alone();
    let programs =
        SOURCES.map(|source| compile("campaign.l7", source).unwrap_or_else(|faults| panic!("{faults}")).program);
    let limits = Limits { messages: 8, pages: 64, timeout: 50_000, in_card: false };
    let mut blocks: Vec<Block> = programs.iter().map(|program| Block::new(program, limits)).collect();
    // The block of each application, and the decisions that its messages got.
    let mut apps: Vec<(usize, App, BTreeSet<usize>)> = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        for application in &program.applications {
            let rules = Rules::new(application, program);
            let app = App { application: application.clone(), program: program.clone(), rules };
            apps.push((at, app, BTreeSet::new()));
        }
    }
    let mut window = Window::default();
    // Messages of each protocol, and those of a type with rules.
    let mut counted = BTreeMap::<&str, (u64, u64)>::new();
    let mut outcomes = BTreeMap::<&str, u64>::new();
    let mut time = 0;
    let campaign = Campaign { cases: 1500, most_bytes: 1 << 20, most_left: 1 << 20, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers| {
        for _ in 0..PACKETS {
            let at = numbers.below(apps.len());
            let (block, app, decisions) = &mut apps[at];
            let of_type = numbers.of(&[1, 1, 1, 15, 2, 0, 255]);
            let payload = payload(numbers, &app.application);
            let (decision, action) = compare(app, &mut window, of_type, &payload);
            decisions.insert(decision);
            let protocol = app.application.protocol;
            let name = Protocol::NAMED.iter().find(|(_, of, _)| *of == protocol).map_or("qnp", |(name, ..)| name);
            let (messages, known) = counted.entry(name).or_default();
            (*messages, *known) = (*messages + 1, *known + u64::from(decision != 0));
            let is_qnp = protocol == Protocol::Qnp;
            let mut data = if is_qnp { header(numbers, of_type) } else { Vec::new() };
            let is_whole = !is_qnp && !payload.is_empty();
            data.extend(payload);
            let mut whole = frame(numbers, app.application.port, &data);
            let is_damaged = numbers.below(4) == 0;
            if is_damaged {
                damage::bytes(&mut whole, numbers);
            }
            let block = &mut blocks[*block];
            let before = counts(block);
            let mut made = Vec::new();
            let verdict = block.carry(&mut whole, &mut 0, Entering::default(), &mut made);
            check_counts(block, before, &verdict, &made);
            if is_whole && !is_damaged {
                check_made(&made, action);
            }
            assert!(block.in_flight(0).0 <= 8 && block.in_flight(0).1 <= 64, "{:?}", block.in_flight(0));
            let outcome = match (&verdict, made.len()) {
                (Verdict::Onward, _) => "went on",
                (Verdict::Drop, _) => "dropped",
                (_, 0) => "waits or denied",
                _ => "delivered",
            };
            *outcomes.entry(outcome).or_default() += 1;
            time += 500;
            block.set_time(time);
        }
    });
    let messages: u64 = counted.values().map(|(messages, _)| messages).sum();
    println!("{tried}; {messages} messages; by protocol, and of a type with rules: {counted:?}; {outcomes:?}");
    // Enough of each kind for the comparison to mean something.
    assert!(counted.len() == 6 && counted.values().all(|(messages, known)| known * 3 > *messages), "{counted:?}");
    for (_, app, decisions) in &apps {
        assert!(decisions.iter().copied().eq(0..app.rules.decisions()), "{}: {decisions:?}", app.application.name);
    }
    assert!(outcomes.len() == 4 && outcomes.values().all(|count| count * 50 > messages), "{outcomes:?}");
}
