// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Edits one by one, as the language defines them, and in their normal form change random frames in the same way.
#![allow(clippy::unwrap_used)]

use penstock_flow_compiler::edits::{EditSource, Edits, Write};
use penstock_flow_compiler::image::{ElementImage, Source, Word};
use penstock_flow_compiler::limits::WRITES;
use penstock_flow_compiler::program::{Edit, Operand, Operation, Pair, Place, Tag, Value};
use penstock_flow_compiler::{Compiled, compile};
use penstock_headers::{EditError, Field, Headers};

/// Marsaglia's xorshift, so that failures are repeatable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 8) as usize % limit
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// A number of `bits` bits, as the language writes it.
    fn number(&mut self, bits: u32) -> String {
        let number = u128::from(self.next()) << 64 | u128::from(self.next());
        format!("{:#x}", number >> (128 - bits))
    }

    /// A value that a field may be set to.
    fn value(&mut self, field: Field) -> String {
        let fields: Vec<Field> = Field::ALL
            .into_iter()
            .filter(|from| if field.bits() > 32 { from.bits() == field.bits() } else { from.bits() <= 32 })
            .collect();
        match self.below(if field.bits() > 32 { 2 } else { 5 }) {
            0 => self.number(field.bits()),
            1 => self.of(&fields).name().to_owned(),
            2 => self.of(&["r", "s", "g", "h"]).to_owned(),
            3 => format!("{} + {}", self.of(&["r", "s", "g"]), self.of(&["s", "h", "hash", "len", "7"])),
            _ => format!("{} ^ {}", self.of(&["eth.type", "r", "meta0"]), self.of(&["ip.src", "g", "ip6.label"])),
        }
    }

    fn edit(&mut self) -> String {
        let settable: Vec<Field> = Field::ALL.into_iter().filter(|field| field.can_be_set()).collect();
        let of_tags: Vec<Field> = settable.iter().copied().filter(|field| field.name().contains("vlan")).collect();
        let of_label: Vec<Field> = settable.iter().copied().filter(|field| field.name().contains("mpls")).collect();
        match self.below(10) {
            0 | 1 => self.of(&["pop vlan", "pop mpls"]).to_owned(),
            2 => format!("push vlan {}", self.value(Field::VlanTci)).replace(" + ", " ").replace(" ^ ", " "),
            3 => format!("push mpls {}", self.value(Field::MplsLabel)).replace(" + ", " ").replace(" ^ ", " "),
            4 => format!("swap {}", self.of(&["eth", "ip", "ip6", "l4"])),
            kind => {
                let field = match kind {
                    5 | 6 => self.of(&of_tags),
                    7 => self.of(&of_label),
                    _ => self.of(&settable),
                };
                format!("{} = {}", field.name(), self.value(field))
            }
        }
    }

    /// A frame with tags, labels, IPv4, IPv6 or another type, and a payload.
    fn frame(&mut self) -> Vec<u8> {
        let mut frame = self.bytes(12);
        for _ in 0..self.of(&[0, 0, 1, 1, 2, 2, 3]) {
            let kind = self.of(&[[0x81, 0], [0x88, 0xA8]]);
            frame.extend(kind);
            frame.extend(self.bytes(2));
        }
        let mut packet = self.packet();
        let labels = self.of(&[0, 0, 0, 1, 1, 2]);
        frame.extend(match (labels, packet[0] >> 4) {
            (1.., _) => [0x88, 0x47],
            (_, 4) => [8, 0],
            (_, 6) => [0x86, 0xDD],
            _ => [0x12, 0x34],
        });
        for left in (0..labels).rev() {
            let entry = self.bytes(4);
            frame.extend([entry[0], entry[1], entry[2] & 0xFE | u8::from(left == 0), entry[3]]);
        }
        frame.append(&mut packet);
        let padding = self.of(&[0, 0, 7]);
        frame.extend(self.bytes(padding));
        frame
    }

    fn packet(&mut self) -> Vec<u8> {
        let version = self.of(&[4, 4, 4, 6, 6, 6, 1]);
        let (proto, mut inner) = self.transport(version);
        let mut packet = self.bytes(if version == 4 { 20 } else { 40 });
        packet[0] = version << 4 | if version == 4 { 5 } else { packet[0] & 15 };
        if version == 4 {
            packet[2..4].copy_from_slice(&(20 + inner.len() as u16).to_be_bytes());
            packet[6] = self.of(&[0, 0, 0x40, 0x20]);
            packet[7] = self.of(&[0, 0, 0, 1]);
            packet[9] = proto;
        } else {
            packet[6] = proto;
            if self.below(4) == 0 {
                // A routing header, with or without segments left.
                packet[6] = 43;
                inner.splice(0..0, [proto, 0, 0, self.below(2) as u8, 0, 0, 0, 0]);
            }
            packet[4..6].copy_from_slice(&(inner.len() as u16).to_be_bytes());
        }
        packet.append(&mut inner);
        packet
    }

    fn transport(&mut self, version: u8) -> (u8, Vec<u8>) {
        let payload = self.of(&[0, 1, 4, 7, 11, 32, 40]);
        let icmp = if version == 4 { 1 } else { 58 };
        let proto = self.of(&[6, 6, 6, 17, 17, icmp, 99]);
        let mut inner = self.bytes(if proto == 6 { 20 } else { 8 } + payload);
        match proto {
            6 => inner[12] = 5 << 4,
            17 => {
                inner[4..6].copy_from_slice(&(8 + payload as u16).to_be_bytes());
                if self.below(4) == 0 {
                    inner[6..8].fill(0);
                }
            }
            _ => (),
        }
        (proto, inner)
    }
}

/// A frame, its metadata and the registers, before the row and after it.
#[derive(Clone, PartialEq, Debug)]
struct Flow {
    frame: Vec<u8>,
    meta: [u32; 2],
    port: u8,
    hash: u32,
    time: u32,
    before: [u32; 4],
    after: [u32; 4],
}

impl Flow {
    fn random(random: &mut Random) -> Flow {
        let mut words = || [(); 4].map(|()| random.next() as u32);
        let [port, hash, time, meta0] = words();
        let (before, after) = (words(), words());
        let meta = [meta0, words()[0]];
        Flow { frame: random.frame(), meta, port: port as u8, hash, time, before, after }
    }

    fn get(&self, field: Field) -> Option<u128> {
        match field {
            Field::Port => Some(self.port.into()),
            Field::Len => Some(self.frame.len() as u128),
            Field::Time => Some(self.time.into()),
            Field::Hash => Some(self.hash.into()),
            Field::Meta0 => Some(self.meta[0].into()),
            Field::Meta1 => Some(self.meta[1].into()),
            _ => Headers::parse(&self.frame).get(&self.frame, field),
        }
    }

    fn set(&mut self, headers: &mut Headers, field: Field, value: u128) -> Result<(), EditError> {
        match field {
            Field::Meta0 => self.meta[0] = value as u32,
            Field::Meta1 => self.meta[1] = value as u32,
            _ => return headers.set(&mut self.frame, field, value),
        }
        Ok(())
    }

    fn operand(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Field(field) => self.get(field).map(|value| value as u32),
            Operand::Register(place) => Some(register(&self.before, place)),
            Operand::Constant(value) => Some(value),
        }
    }

    /// The frame after its edits, one after the other; None if the frame does not allow them.
    fn one_by_one(&self, edits: &[Edit]) -> Option<Flow> {
        let mut left = self.clone();
        let mut headers = Headers::parse(&self.frame);
        for edit in edits {
            let value = match *edit {
                Edit::Set(_, value) | Edit::Push(_, value) => match value {
                    Value::Constant(number) => number,
                    Value::Field(field) => self.get(field)?,
                    Value::Register(place) => register(&self.after, place).into(),
                    Value::Result(one) => one.operation.apply(self.operand(one.a)?, self.operand(one.b)?).into(),
                },
                Edit::Pop(_) | Edit::Swap(_) => 0,
            };
            let frame = &mut left.frame;
            match *edit {
                Edit::Set(field, _) => left.set(&mut headers, field, value),
                Edit::Push(Tag::Vlan, _) => headers.push_vlan(frame, value as u16),
                Edit::Push(Tag::Mpls, _) => headers.push_mpls(frame, value as u32 & 0xF_FFFF),
                Edit::Pop(Tag::Vlan) => headers.pop_vlan(frame),
                Edit::Pop(Tag::Mpls) => headers.pop_mpls(frame),
                Edit::Swap(pair) => headers.swap(frame, pair.fields().0, pair.fields().1),
            }
            .ok()?;
        }
        headers.repair(&mut left.frame);
        Some(left)
    }

    /// The same by the normal form: tags, swaps, and words of fields.
    fn at_once(&self, image: &ElementImage, edits: &Edits) -> Flow {
        let word = |Word { field, word }: Word| self.get(field).map(|value| (value >> (32 * word)) as u32);
        let operand = |at: u8| word(image.operands[usize::from(at)]).unwrap();
        let source = |source| match source {
            Source::Operand(at) => operand(at),
            Source::Register(place) => register(&self.before, place),
            Source::Constant(value) => value,
        };
        let value = |from| match from {
            EditSource::Operand(at) => operand(at),
            EditSource::Register(place) => register(&self.after, place),
            EditSource::Constant(value) => value,
            EditSource::Function(at) => {
                let work = image.functions[usize::from(at)];
                work.operation.apply(source(work.a), source(work.b))
            }
        };
        let mut left = self.clone();
        let mut headers = Headers::parse(&self.frame);
        let frame = &mut left.frame;
        (0..edits.popped).for_each(|_| headers.pop_vlan(frame).unwrap());
        (0..edits.pushed).for_each(|_| headers.push_vlan(frame, 0).unwrap());
        if edits.label_out {
            headers.pop_mpls(frame).unwrap();
        }
        if edits.label_in {
            headers.push_mpls(frame, 0).unwrap();
        }
        for pair in &edits.swaps {
            let (source, destination) = pair.fields();
            headers.swap(frame, source, destination).unwrap();
        }
        for Write { to, from } in &edits.writes {
            let old = headers.get(&left.frame, to.field).unwrap_or_default();
            let (ones, shift) = (u128::from(u32::MAX), 32 * u32::from(to.word));
            let new = old & !(ones << shift) | u128::from(value(*from)) << shift;
            left.set(&mut headers, to.field, new).unwrap();
        }
        headers.repair(&mut left.frame);
        left
    }
}

fn register(registers: &[u32; 4], place: Place) -> u32 {
    match place {
        Place::Flow(at) => registers[usize::from(at)],
        Place::Global(at) => registers[2 + usize::from(at)],
    }
}

/// The program before the row.
const BEGIN: &str = "element e { key meta0 flow r, s global g, h ";

fn row(edits: &str) -> Result<Compiled, String> {
    let text = format!("{BEGIN}else => {edits} }}");
    compile("x.efsm", &text).map_err(|faults| faults.to_string())
}

fn normal(edits: &str) -> Edits {
    row(edits).unwrap().image.elements[0].rows[0].edits.clone()
}

#[test]
fn all_at_once_is_one_by_one() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    // Rows by the normal forms of their edits, as far as frames matched them.
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    let (mut rows, mut longest) = (0, 0);
    while rows < 1500 {
        let mut edits = vec![];
        if random.below(8) == 0 {
            // All tags are removed and others added.
            edits.resize(random.below(3), "pop vlan".to_owned());
            edits.resize(edits.len() + random.below(3), "push vlan r".to_owned());
        }
        let count = 1 + random.below(6 - edits.len());
        edits.extend((0..count).map(|_| random.edit()));
        let edits = edits.join(", ");
        let Ok(compiled) = row(&edits) else { continue };
        let image = &compiled.image.elements[0];
        let normal = &image.rows[0].edits;
        let mut fitted = 0;
        for _ in 0..40 {
            let flow = Flow::random(&mut random);
            if let Some(wanted) = flow.one_by_one(&compiled.program.elements[0].rows[0].edits) {
                assert_eq!(flow.at_once(image, normal), wanted, "{edits}: {normal:?}");
                fitted += 1;
            }
        }
        if fitted > 0 {
            rows += 1;
            longest = longest.max(normal.writes.len());
            *seen.entry((normal.popped, normal.pushed, normal.label_out, normal.label_in)).or_default() += 1;
        }
    }
    // All possible changes of a frame's tags, and the largest number of writes.
    assert_eq!(longest, WRITES);
    for popped in 0..3 {
        for pushed in 0..3 {
            assert!(seen.keys().any(|one| (one.0, one.1) == (popped, pushed)), "{popped} {pushed}: {seen:?}");
        }
    }
    for label in [(false, false), (false, true), (true, false), (true, true)] {
        assert!(seen.keys().any(|one| (one.2, one.3) == label), "{label:?}: {seen:?}");
    }
}

#[test]
fn what_is_void_is_not_written() {
    assert_eq!(normal("push vlan 7, pop vlan"), Edits::default());
    assert_eq!(normal("push mpls 7, mpls.tc = 3, pop mpls"), Edits::default());
    assert_eq!(normal("vlan.id = 5, pop vlan"), Edits { popped: 1, ..Edits::default() });
    // The second tag becomes the first when that is removed.
    let write = |field, value| Write { to: Word { field, word: 0 }, from: EditSource::Constant(value) };
    let edits = Edits { popped: 1, writes: vec![write(Field::VlanId, 5)], ..Edits::default() };
    assert_eq!(normal("vlan2.id = 5, pop vlan"), edits);
    // A push sets all fields of its tag; later writes overwrite them.
    let writes = vec![write(Field::VlanTci, 7), write(Field::VlanPcp, 1)];
    assert_eq!(normal("push vlan 7, vlan.pcp = 1"), Edits { pushed: 1, writes, ..Edits::default() });
    let edits = Edits { pushed: 1, writes: vec![write(Field::VlanTci, 9)], ..Edits::default() };
    assert_eq!(normal("push vlan 7, vlan.tci = 9"), edits);
    assert_eq!(normal("swap l4, swap eth").swaps, [Pair::L4, Pair::Eth]);
}

/// A label's time to live is the packet's at that moment (RFC 3443: a router takes one off before it pushes).
#[test]
fn a_label_takes_the_time_to_live_along() {
    let ttl = |edits: &str| normal(edits).writes.iter().any(|write| write.to.field == Field::MplsTtl);
    assert!(ttl("ip.ttl = 9, push mpls 7"));
    assert!(ttl("ip6.hops = 9, push mpls 7"));
    assert!(!ttl("push mpls 7, ip.ttl = 9"));
    assert!(!ttl("push mpls 7"));
    let sub = row("ip.ttl = ip.ttl - 1, push mpls 7").unwrap();
    assert_eq!(sub.image.elements[0].functions[0].operation, Operation::Sub);
    let writes = &sub.image.elements[0].rows[0].edits.writes;
    let of = |field| writes.iter().find(|write| write.to.field == field).unwrap().from;
    assert_eq!(of(Field::MplsTtl), of(Field::IpTtl));
}

#[test]
fn too_many_writes() {
    let fault = row("ip6.src = ip6.dst, ip6.dst = ip6.src, ip6.hops = 3").unwrap_err();
    let message = format!("x.efsm:1:{}: the row writes 9 words of fields, 8 at most", BEGIN.len() + 1);
    assert!(fault.starts_with(&message), "{fault}");
    assert!(row("ip6.src = ip6.dst, ip6.dst = ip6.src").is_ok());
}
