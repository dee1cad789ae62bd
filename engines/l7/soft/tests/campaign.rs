// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged and random packets to the walkers of messages: fields of QNP, names of DNS, commands of memcached. Types,
//! fields and decisions are those of a second reading of engines/l7/machine.md in this file, every packet is counted
//! once, and no case panics, takes long or takes much memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the number of the first one.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeMap;

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
const SOURCES: [&str; 2] = [
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
        rule user { key = "user:" ..; } => port 1;
        rule item { key = "item:" until ":" "x"; } => port 2;
        default => port 3;
    }
    on set {
        rule user { key = "user:" ..; } => queues 0 ..= 3 by key;
        default => queue 4;
    }
    on change { default => drop; }
    default => queue 5;
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

/// Type and fields of a DNS query.
fn query_of(seen: &[u8]) -> (u8, BTreeMap<u8, Vec<u8>>) {
    let none = (0, BTreeMap::new());
    let Some(header) = seen.get(..12) else { return none };
    if header[2] & 0xF8 != 0 || (header[4], header[5]) != (0, 1) {
        return none;
    }
    let Some((mut labels, end)) = labels_from(seen, 12, 12) else { return none };
    let Some(question) = seen.get(end..end + 4) else { return none };
    labels.reverse();
    (1, BTreeMap::from([(2, question[..2].to_vec()), (1, labels.concat())]))
}

/// Type and fields of a request of memcached.
fn command_of(seen: &[u8]) -> (u8, BTreeMap<u8, Vec<u8>>) {
    let none = (0, BTreeMap::new());
    let Some(text) = seen.get(8..).filter(|_| seen[2..6] == [0, 0, 0, 1]) else { return none };
    let Some(space) = text.iter().position(|byte| *byte == b' ') else { return none };
    let of_type = match &text[..space] {
        b"get" | b"gets" => 1,
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => 2,
        b"delete" | b"incr" | b"decr" | b"touch" => 3,
        _ => return none,
    };
    let mut parts = text[space + 1..].split(|byte| b" \r\n".contains(byte));
    let key = parts.next().unwrap_or_default();
    let is_key = parts.next().is_some() && (1..=250).contains(&key.len());
    (of_type, is_key.then(|| (1, key.to_vec())).into_iter().collect())
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
    let mut payload = vec![numbers.next() as u8, 7, numbers.of(&[1, 1, 1, 0, 0x81, 0x10]), 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for _ in 0..numbers.of(&[0, 1, 2, 3, 3, 4, 31, 32, 33]) {
        let label = match numbers.below(4) {
            0 => numbers.of(&["Shop", "shop", "intern", "nobody", "example"]).as_bytes().to_vec(),
            1 => vec![b'A'; 1 + numbers.below(63)],
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
    match numbers.below(5) {
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
fn payload(numbers: &mut Numbers, protocol: Protocol) -> Vec<u8> {
    let mut payload = match protocol {
        Protocol::Dns => query(numbers),
        Protocol::Memcached => request(numbers),
        _ => fields(numbers),
    };
    match numbers.below(8) {
        0 => {
            let length = numbers.below(400);
            payload = numbers.bytes(length);
        }
        1..=3 => damage::bytes(&mut payload, numbers),
        _ => {}
    }
    payload
}

/// Compares the walker's fields and the decision with the second reading.
fn compare(app: &mut App, window: &mut Window, of_type: u8, payload: &[u8]) -> bool {
    let seen = &payload[..payload.len().min(256)];
    let protocol = app.application.protocol;
    let (of_type, expected, decision) = match protocol {
        Protocol::Qnp => (of_type, fields_of(seen), app.rules.decide(of_type, payload)),
        _ => {
            let (expected_type, expected) = if protocol == Protocol::Dns { query_of(seen) } else { command_of(seen) };
            let found = window.read(protocol, app.application.id_bytes, payload);
            assert_eq!((found, fields_of(window.fields())), (expected_type, expected.clone()), "{payload:?}");
            (found, expected, app.rules.decide(found, window.fields()))
        }
    };
    assert_eq!((decision.index, decision.action), app.decide(of_type, &expected), "{of_type} {payload:?}");
    decision.index != 0
}

/// What became of a packet, from its verdict and the counters before and after.
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
    let mut apps: Vec<(usize, App)> = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        for application in &program.applications {
            let rules = Rules::new(application, program);
            apps.push((at, App { application: application.clone(), program: program.clone(), rules }));
        }
    }
    let mut window = Window::default();
    let (mut messages, mut known, mut outcomes) = (0u64, 0u64, BTreeMap::<&str, u64>::new());
    let mut time = 0;
    let campaign = Campaign { cases: 1500, most_bytes: 1 << 20, most_left: 1 << 20, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers| {
        for _ in 0..PACKETS {
            let (block, app) = {
                let at = numbers.below(apps.len());
                let (block, app) = &mut apps[at];
                (*block, app)
            };
            let of_type = numbers.of(&[1, 1, 1, 15, 2, 0, 255]);
            let payload = payload(numbers, app.application.protocol);
            known += u64::from(compare(app, &mut window, of_type, &payload));
            messages += 1;
            let is_qnp = app.application.protocol == Protocol::Qnp;
            let mut data = if is_qnp { header(numbers, of_type) } else { Vec::new() };
            data.extend(payload);
            let mut whole = frame(numbers, app.application.port, &data);
            if numbers.below(4) == 0 {
                damage::bytes(&mut whole, numbers);
            }
            let block = &mut blocks[block];
            let before = counts(block);
            let mut made = Vec::new();
            let verdict = block.carry(&mut whole, &mut 0, Entering::default(), &mut made);
            check_counts(block, before, &verdict, &made);
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
    println!("{tried}; {messages} messages, {known} of a type with rules; {outcomes:?}");
    // Enough of each kind for the comparison to mean something.
    assert!(known * 3 > messages, "{known} of {messages}");
    assert!(outcomes.len() == 4 && outcomes.values().all(|count| count * 50 > messages), "{outcomes:?}");
}
