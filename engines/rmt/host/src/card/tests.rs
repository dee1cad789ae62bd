// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver over memories of rows alone, which are searched according to engines/rmt/machine.md.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, CardError, Native, regs};
use penstock_rmt::meter_row;
use penstock_rmt_compiler::backend::{Kind, Pipeline};
use penstock_rmt_compiler::ir::{Entry, Match, Rates, Replica, Session, TableId};
use penstock_rmt_p4runtime::{Act, Change, Count, DigestConfig, Object};
use penstock_unit::Record;
use serde_json::json;

use crate::card::{CardBlock, OnCard};
use crate::entry::{Meant, NamedEntry};
use crate::image::Source;
use crate::running::{Running, one};

const STAGES: u32 = 4;
const TERNARY: u32 = 13;
const TARGET: u32 = 14;
const COUNTER: u32 = 15;
const EXIT: u32 = 2;
const GROUP: u32 = 19;
const CLONE: u32 = 21;
const METER: u32 = 20;

/// The window of a block whose memories are rows and nothing else.
#[derive(Default)]
struct Rows {
    select: u32,
    staged: [u32; 32],
    rows: BTreeMap<u32, [u32; 32]>,
    records: VecDeque<Record>,
    /// Records that the driver has given, and the one that it gives now.
    sent: Vec<Record>,
    sends: Vec<u8>,
    /// How often the block was asked for room; every third time the block has no room.
    asked: u32,
    lost: u64,
    lost_packets: u64,
    lost_clones: u64,
    /// High word of the one that was read last.
    count_high: u32,
    /// The block's pipeline, if its stages differ.
    pipeline: Option<Pipeline>,
}

/// Registers of the first block's records, with their level and what removes one.
const RECORDS: u32 = INLINE_WINDOW + regs::INLINE_RECORDS_BASE;
const RECORDS_LEVEL: u32 = RECORDS + regs::INLINE_RECORDS_LEVEL;
const RECORDS_POP: u32 = RECORDS + regs::INLINE_RECORDS_POP;
const RECORDS_SEND: u32 = RECORDS + regs::INLINE_RECORDS_SEND;
const RECORDS_ROOM: u32 = RECORDS + regs::INLINE_RECORDS_ROOM;

impl Rows {
    fn pipeline(&self) -> Pipeline {
        self.pipeline.unwrap_or(Pipeline::new(STAGES as usize))
    }

    /// The low word of a counter.
    fn count(&mut self, count: u64) -> u32 {
        self.count_high = (count >> 32) as u32;
        count as u32
    }

    fn row(&self, memory: u32, stage: u32, row: u32) -> [u32; 32] {
        self.rows.get(&(memory << 24 | stage << 16 | row)).copied().unwrap_or([0; 32])
    }

    /// The parameters and the action of the first ternary row that fits.
    fn ternary(&self, stage: u32, bt: u32, key: [u32; 4]) -> Option<[u32; 5]> {
        let fits = |row: &[u32; 32]| (0..4).all(|word| key[word] & row[5 + word] == row[1 + word]);
        let found = (0..128).find(|row| {
            let row = self.row(TERNARY, stage, *row);
            row[0] & 1 == 1 && row[0] >> 1 & 127 == bt && fits(&row)
        })?;
        let target = self.row(TARGET, stage, found);
        Some([target[0], target[1], target[2], target[3], target[4]])
    }
}

impl Bus for Rows {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        if address == RECORDS_LEVEL {
            return Ok(self.records.len() as u32);
        }
        if address == RECORDS_ROOM {
            self.asked += 1;
            return Ok((self.asked % 3 != 1).into());
        }
        if (RECORDS..RECORDS_LEVEL).contains(&address) {
            let bytes = self.records[0].to_bytes();
            let at = (address - RECORDS) as usize;
            return Ok(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
        }
        Ok(match address & 0xFF_FFFF {
            0x0 => STAGES | 8 << 8 | 4 << 16 | 3 << 24,
            0x4 => 10 | 12 << 8 | 12 << 16 | 2 << 24,
            0x10 => 7 | 10 << 8 | 10 << 16,
            0x20 => u32::from(self.pipeline().ternary) | u32::from(self.pipeline().prefixes) << 16,
            0x24 => self.pipeline().meters.into(),
            0x14 => self.count(self.lost),
            0x18 => self.count(self.lost_packets),
            0x1C => self.count(self.lost_clones),
            0x28 => self.count_high,
            at => self.rows.get(&self.select).map_or(0, |row| row[(at as usize - 0x100) / 4]),
        })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        match address & 0xFF_FFFF {
            _ if address == RECORDS_POP => drop(self.records.pop_front()),
            _ if (RECORDS_SEND..RECORDS_SEND + 64).contains(&address) => {
                assert_eq!(self.sends.len() as u32, address - RECORDS_SEND);
                self.sends.extend(value.to_le_bytes());
                if self.sends.len() == 64 {
                    let bytes = std::mem::take(&mut self.sends).try_into().unwrap();
                    self.sent.push(Record::from_bytes(&bytes));
                }
            }
            0x8 => self.select = value,
            0xC => {
                self.rows.insert(self.select, self.staged);
            }
            at => self.staged[(at as usize - 0x100) / 4] = value,
        }
        Ok(())
    }

    fn pass(&mut self, _: u64) -> Result<(), CardError> {
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}

struct Random(u32);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }
}

const TENANT: u8 = 5;

fn acl() -> (Rows, CardBlock, Source, TableId) {
    let text = include_str!("../../../programs/acl.p4").to_owned();
    let source = Source::compile("acl.p4", text).unwrap();
    let mut bus = Rows::default();
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    let table = source.program.tables.iter().position(|table| table.name.ends_with("lines")).unwrap();
    (bus, card, source, table)
}

#[test]
fn a_program_waits_for_the_tables_that_the_card_has() {
    let source = Source::compile("router.p4", include_str!("../../../programs/router.p4").to_owned()).unwrap();
    let pipeline = Pipeline { ternary: 0b1010, prefixes: 0b0100, meters: 0b0001, ..Pipeline::new(STAGES as usize) };
    let mut bus = Rows { pipeline: Some(pipeline), ..Rows::default() };
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    let tables = &card.at_work(TENANT).unwrap().lowered.tables;
    let prefixes: Vec<_> = tables.iter().flatten().filter(|code| code.kind == Kind::Prefix).collect();
    assert!(!prefixes.is_empty() && prefixes.iter().all(|code| code.stage == 2), "{prefixes:?}");
    let (_, _, acl, _) = acl();
    assert!(card.fits(&acl).is_ok());
    bus.pipeline = Some(Pipeline { ternary: 0b0100, ..pipeline });
    let error = CardBlock::begin(&mut bus, 0).unwrap().fits(&acl).unwrap_err().to_string();
    assert!(error.contains("of the 4 stages, stage 2 has them"), "{error}");
}

fn entry(source: &Source, named: serde_json::Value) -> Entry {
    let named: NamedEntry = serde_json::from_value(named).unwrap();
    match named.read(&source.program, true).unwrap() {
        Meant::Entry(_, entry) => entry,
        Meant::Default(..) => panic!("an entry"),
    }
}

fn takes(key: &Match, value: u128) -> bool {
    match *key {
        Match::Exact(wanted) => value == wanted,
        Match::Ternary(wanted, mask) => value & mask == wanted & mask,
        Match::Range(low, high) => (low..=high).contains(&value),
        Match::Lpm(..) => false,
    }
}

#[test]
fn the_entry_of_highest_priority_is_found_whatever_came_and_went() {
    let (mut bus, mut card, source, table) = acl();
    let mut rng = Random(7);
    let mut there: Vec<Entry> = Vec::new();
    let (mut met, mut full) = (0, 0);
    for turn in 0..300 {
        let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT };
        if !there.is_empty() && rng.below(10) < 4 {
            let gone = there.swap_remove(rng.below(there.len() as u32) as usize);
            one(&mut on, &Change::Delete(table, gone)).unwrap();
        } else {
            let low = rng.below(40);
            let mut of = json!({
                "table": "lines",
                "match": {"hdr.ipv4.src": format!("0x{:x}&&&0x{:x}", rng.below(4) << 8, 0x300), "hdr.ports.dst": format!("{low}..{}", low + rng.below(9))},
                "priority": turn + 1, "action": "redirect", "params": {"port": turn},
            });
            if rng.below(2) == 0 {
                of["match"]["hdr.ipv4.protocol"] = json!(6);
            }
            // The order of priorities is not that in which entries come.
            of["priority"] = json!(1 + (turn * 97) % 307);
            let new = entry(&source, of);
            match one(&mut on, &Change::Insert(table, new.clone())) {
                Ok(_) => there.push(new),
                Err(error) => {
                    assert!(error.to_string().contains("ternary rows"), "{error}");
                    full += 1;
                }
            }
        }
        let code = card.at_work(TENANT).unwrap().lowered.tables[table].clone().unwrap();
        for _ in 0..30 {
            let values =
                [rng.below(4) << 8 | rng.below(256), rng.below(9), [6, 17][rng.below(2) as usize], rng.below(50)];
            let like =
                Entry { keys: values.map(|value| Match::Exact(value.into())).to_vec(), ..there_or(&there, &source) };
            let key = code.key(&like);
            let fitting =
                there.iter().filter(|entry| entry.keys.iter().zip(values).all(|(key, value)| takes(key, value.into())));
            let best = fitting.max_by_key(|entry| entry.priority);
            let found = bus.ternary(code.stage as u32, TENANT.into(), key);
            let port = |target: [u32; 5]| u128::from(target[1] & 0x1FF);
            assert_eq!(found.map(port), best.map(|entry| entry.call.args[0]), "turn {turn}");
            met += usize::from(found.is_some());
        }
    }
    assert!(met > 1000 && full > 3, "{met} {full}");
}

/// Any entry, for its action.
fn there_or(there: &[Entry], source: &Source) -> Entry {
    let of = json!({"table": "lines", "priority": 1, "action": "permit"});
    there.first().cloned().unwrap_or_else(|| entry(source, of))
}

/// While a program is swapped, both have rows: those of one are not found by the other, and none stay behind.
#[test]
fn a_swapped_program_does_not_find_the_rows_of_the_one_before() {
    let (mut bus, mut card, source, table) = acl();
    let line = entry(&source, json!({"table": "lines", "priority": 1, "action": "redirect", "params": {"port": 7}}));
    let lines = |bus: &Rows| {
        let rows = bus.rows.iter().filter(|(at, row)| *at >> 24 == TERNARY && row[0] & 1 == 1);
        rows.map(|(_, row)| row[0] >> 1).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for _ in 0..3 {
        one(&mut OnCard { card: &mut card, bus: &mut bus, tenant: TENANT }, &Change::Insert(table, line.clone()))
            .unwrap();
        seen.push(lines(&bus));
        card.load(&mut bus, TENANT, &source, &[]).unwrap();
        assert!(lines(&bus).is_empty());
    }
    let (first, second) = (u32::from(TENANT), 64 + u32::from(TENANT));
    assert_eq!(seen, [[first], [second], [first]]);
}

#[test]
fn each_entry_has_a_counter_of_its_own_that_begins_at_0() {
    let (mut bus, mut card, source, table) = acl();
    let line = |number: u32| {
        let of = json!({"table": "lines", "match": {"hdr.ports.dst": format!("{number}..{number}")}, "priority": 1 + number,
            "action": "redirect", "params": {"port": number}});
        entry(&source, of)
    };
    for number in 0..5 {
        one(&mut OnCard { card: &mut card, bus: &mut bus, tenant: TENANT }, &Change::Insert(table, line(number)))
            .unwrap();
    }
    let at = card.at_work(TENANT).unwrap();
    let code = at.lowered.tables[table].clone().unwrap();
    let place = code.actions.iter().find(|action| action.name.ends_with("redirect")).unwrap().cell.unwrap();
    let counter = source.program.tables[table].counter.unwrap();
    let offset = at.lowered.counters[counter].unwrap().offset;
    let stage = code.stage as u32;
    let mut cells = BTreeSet::new();
    for number in 0..5 {
        let key = code.key(&Entry { keys: [0, 0, 0, u128::from(number)].map(Match::Exact).to_vec(), ..line(0) });
        let target = bus.ternary(stage, TENANT.into(), key).unwrap();
        let cell = target[1 + place.word as usize] >> place.low & 0x7FF;
        cells.insert(cell);
        // The frames that the entry met.
        bus.rows.insert(COUNTER << 24 | stage << 16 | (offset + cell), {
            let mut row = [0; 32];
            row[..4].copy_from_slice(&[number, 1, 100 * number, 0]);
            row
        });
    }
    assert_eq!(cells.len(), 5);
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT };
    for (shown, count) in on.entries(table).unwrap() {
        let number = shown.call.args[0] as u64;
        assert_eq!(count, Count { packets: 1 << 32 | number, bytes: 100 * number });
    }
    // The entry that comes next takes the free counter, and counts from 0; one that is changed goes on.
    one(&mut on, &Change::Delete(table, line(3))).unwrap();
    one(&mut on, &Change::Insert(table, line(9))).unwrap();
    one(&mut on, &Change::Modify(table, line(2))).unwrap();
    let count = |on: &mut OnCard<'_>, number: u32| {
        let all = on.entries(table).unwrap();
        all.into_iter().find(|(entry, _)| entry.priority == 1 + number.cast_signed()).unwrap().1
    };
    assert_eq!(count(&mut on, 9), Count::default());
    assert_eq!(count(&mut on, 2), Count { packets: 1 << 32 | 2, bytes: 200 });
    let value = Count { packets: 5, bytes: 6 << 32 };
    one(&mut on, &Change::EntryCounter(table, line(2), value)).unwrap();
    assert_eq!((count(&mut on, 2), count(&mut on, 9)), (value, Count::default()));
}

/// A group with copies to these ports.
fn group(number: u16, ports: &[u16]) -> Object {
    Object::Group(number, ports.iter().map(|port| Replica { port: *port, instance: 0 }).collect())
}

#[test]
fn groups_are_of_the_tenant_and_of_its_bank() {
    // All tenants' tables have room beside each other.
    let text = include_str!("../../../programs/multicast.p4").replace("size = 256", "size = 16");
    let source = Source::compile("multicast.p4", text).unwrap();
    let mut bus = Rows::default();
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    let row = |bus: &Rows, queue: u32, bank: u32, number: u32| bus.row(GROUP, 0, 128 * queue + 64 * bank + number);
    let queue_of = |bus: &Rows, bt: u32| bus.row(EXIT, 0, bt)[3] >> 21 & 7;
    let first = [Change::Object(Act::Insert, group(3, &[1, 510]))];
    for tenant in 0..8 {
        card.load(&mut bus, tenant, &source, &first).unwrap();
        assert_eq!(queue_of(&bus, tenant.into()), u32::from(tenant));
        assert_eq!(row(&bus, tenant.into(), 0, 3)[..2], [0x8001 | 0x8100 << 16, 0]);
    }
    let error = card.load(&mut bus, 8, &source, &[]).unwrap_err().to_string();
    assert!(error.contains("8 tenants have multicast groups"), "{error}");
    // The next program has the same queue, and groups of its own; those of the program before stay until then.
    bus.rows.insert(GROUP << 24 | (128 * 5 + 64 + 4), [7; 32]);
    card.load(&mut bus, 5, &source, &[]).unwrap();
    assert_eq!((queue_of(&bus, 64 + 5), row(&bus, 5, 0, 3)[0]), (5, 0x8001 | 0x8100 << 16));
    assert_eq!((row(&bus, 5, 1, 3), row(&bus, 5, 1, 4)[..4].to_vec()), ([0; 32], vec![0; 4]));
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: 5 };
    one(&mut on, &Change::Object(Act::Insert, group(63, &[2, 0, 255]))).unwrap();
    for (wrong, words) in [
        (group(64, &[]), "groups 1 to 63"),
        (group(1, &[0; 9]), "makes 8 at most"),
        (group(1, &[509]), "no copy to 509"),
    ] {
        let error = one(&mut on, &Change::Object(Act::Insert, wrong)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(on.object(&group(63, &[])).unwrap(), Some(group(63, &[2, 0, 255])));
    assert_eq!(row(&bus, 5, 1, 63)[..2], [0x8002 | 0x8000 << 16, 0x80FF]);
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: 5 };
    one(&mut on, &Change::Object(Act::Delete, group(63, &[]))).unwrap();
    assert_eq!(row(&bus, 5, 1, 63)[..4], [0; 4]);
}

/// A clone session with copies to these ports.
fn session(number: u16, ports: &[u16]) -> Object {
    let copies = ports.iter().map(|port| Replica { port: *port, instance: 0 }).collect();
    Object::Session(number, Session { copies, ..Session::default() })
}

#[test]
fn sessions_are_of_the_tenant_and_of_its_bank() {
    let source = Source::compile("clones.p4", include_str!("../../../tests/programs/clones.p4").to_owned()).unwrap();
    let mut bus = Rows::default();
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    let row = |bus: &Rows, queue: u32, bank: u32, number: u32| bus.row(CLONE, 0, 128 * queue + 64 * bank + number);
    for tenant in 3..5 {
        let first = [Change::Object(Act::Insert, session(3, &[1, 510]))];
        card.load(&mut bus, tenant, &source, &first).unwrap();
    }
    assert_eq!(row(&bus, 1, 0, 3)[..2], [0x8001 | 0x8100 << 16, 0]);
    // The next program has sessions of its own; those of the program before stay until then.
    bus.rows.insert(CLONE << 24 | (128 + 64 + 4), [7; 32]);
    bus.lost_clones = (1 << 32) - 1;
    card.load(&mut bus, 4, &source, &[]).unwrap();
    assert_eq!((row(&bus, 1, 1, 4)[..4].to_vec(), row(&bus, 1, 0, 3)[0]), (vec![0; 4], 0x8001 | 0x8100 << 16));
    bus.lost_clones = (5 << 32) + 1;
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: 4 };
    assert_eq!(on.events().unwrap().lost_clones, (4 << 32) + 2);
    one(&mut on, &Change::Object(Act::Insert, session(63, &[2, 0, 255]))).unwrap();
    let cut = Session { length: 64, ..Session::default() };
    let by_group = Session { group: Some(1), ..Session::default() };
    for (wrong, words) in [
        (session(64, &[]), "clone sessions 1 to 63"),
        (session(1, &[0; 9]), "makes 8 at most"),
        (session(1, &[509]), "no copy to 509"),
        (Object::Session(1, cut), "does not cut clones"),
        (Object::Session(1, by_group), "not to a multicast group"),
    ] {
        let error = one(&mut on, &Change::Object(Act::Insert, wrong)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(on.object(&session(63, &[])).unwrap(), Some(session(63, &[2, 0, 255])));
    assert_eq!(row(&bus, 1, 1, 63)[..2], [0x8002 | 0x8000 << 16, 0x80FF]);
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: 4 };
    one(&mut on, &Change::Object(Act::Delete, session(63, &[]))).unwrap();
    assert_eq!(row(&bus, 1, 1, 63)[..4], [0; 4]);
}

/// A program with a direct meter, and with an indirect one whose color goes into a header at the very end.
const POLICE: &str = "#include <v1model.p4>
header h_t { bit<48> to; bit<48> from; bit<16> key; }
header p_t { bit<8> own; bit<8> shared; bit<16> rest; }
struct H { h_t h; p_t p; }
struct M {}
parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {
    state start { b.extract(h.h); b.extract(h.p); transition accept; }
}
control V(inout H h, inout M m) { apply {} }
control I(inout H h, inout M m, inout standard_metadata_t s) {
    direct_meter<bit<8>>(MeterType.bytes) own;
    meter(4, MeterType.packets) shared;
    action police() { own.read(h.p.own); }
    table keys {
        key = { h.h.key: exact; }
        actions = { police; }
        default_action = police();
        size = 8;
        meters = own;
    }
    apply { s.egress_spec = 1; keys.apply(); shared.execute_meter(1, h.p.shared); }
}
control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
control C(inout H h, inout M m) { apply {} }
control D(packet_out b, in H h) { apply { b.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn each_entry_has_a_meter_of_its_own() {
    let source = Source::compile("police.p4", POLICE.to_owned()).unwrap();
    let rates = |number: u64| Some(Rates { cir: 1000 * number, cbs: number, pir: 2000 * number, pbs: 9 });
    let line = |number: u32| entry(&source, json!({"table": "keys", "match": {"h.h.key": number}, "action": "police"}));
    let mut bus = Rows::default();
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    let begin = [
        Change::Meter(1, Some(2), rates(7)),
        Change::All(vec![Change::Insert(0, line(1)), Change::EntryMeter(0, line(1), rates(1))]),
    ];
    // Programs before have left rows.
    for row in 0..16 {
        bus.rows.insert(METER << 24 | row, [1; 32]);
    }
    card.load(&mut bus, TENANT, &source, &begin).unwrap();
    let places: Vec<_> = card.at_work(TENANT).unwrap().lowered.meters.iter().map(|place| place.unwrap()).collect();
    let rows = |bus: &Rows, meter: usize, count: u32| {
        let place = places[meter];
        (0..count).map(|cell| bus.row(METER, place.stage as u32, place.offset + cell)[..6].to_vec()).collect::<Vec<_>>()
    };
    let wanted = |of: Option<Rates>| meter_row(of.as_ref()).to_vec();
    assert_eq!(rows(&bus, 1, 4), [None, None, rates(7), None].map(wanted));
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT };
    for number in 2..5 {
        one(&mut on, &Change::Insert(0, line(number))).unwrap();
        one(&mut on, &Change::EntryMeter(0, line(number), rates(number.into()))).unwrap();
    }
    assert_eq!(on.entry_state(0, &line(3)).unwrap().rates, rates(3));
    one(&mut on, &Change::Delete(0, line(2))).unwrap();
    one(&mut on, &Change::Insert(0, line(6))).unwrap();
    one(&mut on, &Change::Meter(1, None, rates(5))).unwrap();
    assert_eq!((on.entry_state(0, &line(6)).unwrap().rates, on.meter(1).unwrap()), (None, vec![rates(5); 4]));
    let none = std::iter::repeat_n(None, 4);
    let own: Vec<_> = [rates(1), None, rates(3), rates(4)].into_iter().chain(none).map(wanted).collect();
    assert_eq!(rows(&bus, 0, 8), own);
    assert_eq!(rows(&bus, 1, 4), vec![wanted(rates(5)); 4]);
    // When the clock is set, the driver writes again the rates that came since it was last set, and all if the time jumps.
    card.settle_meters(&mut bus, false).unwrap();
    one(&mut OnCard { card: &mut card, bus: &mut bus, tenant: TENANT }, &Change::Meter(1, Some(0), rates(8))).unwrap();
    bus.rows.retain(|at, _| at >> 24 != METER);
    card.settle_meters(&mut bus, false).unwrap();
    assert_eq!(rows(&bus, 0, 1), [vec![0; 6]]);
    assert_eq!(rows(&bus, 1, 2), [wanted(rates(8)), vec![0; 6]]);
    card.settle_meters(&mut bus, true).unwrap();
    assert_eq!(rows(&bus, 0, 1), [wanted(rates(1))]);
    assert_eq!(rows(&bus, 1, 2), [wanted(rates(8)), wanted(rates(5))]);
}

/// A color that is written in the last stage goes nowhere.
#[test]
fn a_meter_has_a_stage_behind_it() {
    let source = Source::compile("police.p4", POLICE.to_owned()).unwrap();
    let (stages, lowered) =
        (1..12).find_map(|stages| Some((stages, source.lower(&Pipeline::new(stages)).ok()?))).unwrap();
    let last = lowered.meters.iter().flatten().map(|place| place.stage).max().unwrap();
    assert_eq!((stages, last), (3, 1));
    assert!(lowered.stateful());
}

/// A program with two digests, one of them of constants and of what a later statement changes.
const TELLS: &str = "#include <v1model.p4>
header h_t { bit<48> to; bit<48> from; bit<16> key; }
struct H { h_t h; }
struct M {}
struct seen_t { bit<48> from; bit<9> port; }
struct odd_t { bit<8> kind; bit<16> key; }
parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {
    state start { b.extract(h.h); transition accept; }
}
control V(inout H h, inout M m) { apply {} }
control I(inout H h, inout M m, inout standard_metadata_t s) {
    apply {
        digest<odd_t>(1, { 7, h.h.key });
        digest<seen_t>(1, { h.h.from, s.ingress_port });
        h.h.key = 0;
    }
}
control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
control C(inout H h, inout M m) { apply {} }
control D(packet_out b, in H h) { apply { b.emit(h.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn records_are_messages_of_the_program_that_sent_them() {
    let source = Source::compile("tells.p4", TELLS.to_owned()).unwrap();
    let digest = |name: &str| source.program.digests.iter().position(|digest| digest.name == name).unwrap();
    // The count passes 32 bits while the program runs.
    let mut bus = Rows { lost: (1 << 32) - 2, ..Rows::default() };
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    bus.lost = (1 << 32) + 1;
    let row = bus.row(EXIT, 0, TENANT.into());
    assert_eq!(row[14] >> 20, 3);
    // The header is in words 0 to 3; word 28 says the port, and the copy of the key lies in a word of its own.
    let of_vector = |word: u32| -> u32 {
        match word {
            2 => 0x0200_0000,
            3 => 0x0005_0000,
            28 => 5 << 25 | 1 << 16 | 60,
            _ => 0x88B5,
        }
    };
    let record = |queue: u16| {
        let mut record = Record { reason: 1, tenant: TENANT, port: 1, queue, ..Record::default() };
        for n in 0..10 {
            let word = row[13 + n / 6] >> (5 * (n % 6)) & 31;
            record.own[4 * n..][..4].copy_from_slice(&of_vector(word).to_le_bytes());
        }
        record
    };
    let said = |card: &mut CardBlock, bus: &mut Rows| {
        let events = OnCard { card, bus, tenant: TENANT }.events().unwrap();
        assert_eq!(events.lost_digests, 3);
        let values = |(name, fields): (String, serde_json::Map<String, serde_json::Value>)| {
            (name, fields.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
        };
        events.messages.into_iter().map(values).collect::<Vec<_>>()
    };
    let odd = ("odd_t".to_owned(), vec![json!(7), json!(0x88B5)]);
    let seen = ("seen_t".to_owned(), vec![json!("02:00:00:00:00:05"), json!(1)]);
    // Both digests of a frame come in the order of their calls; records of others are not this program's.
    let other = Record { tenant: TENANT + 1, ..record(0x30) };
    bus.records = [record(0x30), record(0x20), record(0x31), other, record(0x10)].into();
    assert_eq!(said(&mut card, &mut bus), [odd.clone(), seen.clone(), seen.clone(), odd.clone()]);
    assert!(bus.records.is_empty());
    // A controller gets those that it asked for; the others stay.
    let config = DigestConfig { max_list: 4, ..DigestConfig::default() };
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT };
    one(&mut on, &Change::Object(Act::Insert, Object::Digest(digest("odd_t"), config))).unwrap();
    bus.records = [record(0x30)].into();
    assert!(card.serve(&mut bus).unwrap() && !card.serve(&mut bus).unwrap());
    let streamed = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT }.stream().unwrap();
    assert_eq!(streamed.digests, [(digest("odd_t"), config, vec![vec![7, 0x88B5]])]);
    assert_eq!(said(&mut card, &mut bus), std::slice::from_ref(&seen));
    // The second program has the other bank, and the third one that of the first, of which a record still waited.
    bus.records = [record(0x30)].into();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    // Losses of programs before are not this program's.
    bus.lost += 3;
    assert_eq!(said(&mut card, &mut bus), []);
    bus.records = [record(0x20)].into();
    assert_eq!(said(&mut card, &mut bus), [seen]);
    // A driver that begins anew on the card finds records of a program that it does not know.
    bus.records = [record(0x30), record(0x20)].into();
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    bus.lost += 3;
    assert_eq!(said(&mut card, &mut bus), []);
}

const CONTROLLED: &str = include_str!("../../../tests/programs/card_control.p4");

/// The records of a frame for the controller, or of one from it but for the head.
fn pieces(frame: &[u8], bank: u16) -> Vec<Record> {
    let piece = |(at, piece): (usize, &[u8])| {
        let queue = u16::from(at == 0) << 1 | bank;
        let mut record = Record { reason: 2, tenant: TENANT, queue, ..Record::default() };
        record.own[..piece.len()].copy_from_slice(piece);
        record.own[32..34].copy_from_slice(&(frame.len() as u16).to_le_bytes());
        record
    };
    frame.chunks(32).enumerate().map(piece).collect()
}

#[test]
fn records_are_frames_to_and_from_controllers() {
    let source = Source::compile("control.p4", CONTROLLED.to_owned()).unwrap();
    let mut bus = Rows { lost_packets: (1 << 32) - 1, ..Rows::default() };
    let mut card = CardBlock::begin(&mut bus, 0).unwrap();
    card.load(&mut bus, TENANT, &source, &[]).unwrap();
    assert_eq!(bus.row(EXIT, 0, TENANT.into())[3] >> 25 & 1, 1);
    let frame = |length: usize| -> Vec<u8> { (0..length).map(|at| (at * 7 + length) as u8).collect() };
    // The end of the second frame is missing, and the fourth one is of a program that is gone.
    bus.records.extend(pieces(&frame(32), 0));
    bus.records.extend(pieces(&frame(97), 0).into_iter().take(3));
    bus.records.extend(pieces(&frame(65), 0));
    bus.records.extend(pieces(&frame(40), 1));
    bus.lost_packets = (1 << 32) + 1;
    let mut on = OnCard { card: &mut card, bus: &mut bus, tenant: TENANT };
    assert_eq!(on.stream().unwrap().packets, [frame(32), frame(65)]);
    assert_eq!(on.events().unwrap().lost_packets, 2);
    // As many wait as on `soft`.
    for length in 0..1030 {
        on.card.at_work(TENANT).unwrap().packets.take(&pieces(&frame(1 + length % 32), 0)[0]);
    }
    assert_eq!(on.events().unwrap().lost_packets, 2 + 6);
    assert_eq!(on.stream().unwrap().packets.len(), 1024);
    // The block has no room at first.
    for length in [14, 32, 33, 4096] {
        on.send(frame(length)).unwrap();
    }
    for length in [0, 13, 4097] {
        assert!(on.send(frame(length)).unwrap_err().to_string().contains("takes 14 to 4096"), "{length}");
    }
    let sent: Vec<Record> = [14, 32, 33, 4096].iter().flat_map(|length| pieces(&frame(*length), 0)).collect();
    assert_eq!(bus.sent, sent);
    // Copies to the host go to the controller of the bank.
    let copy = |port| Replica { port, instance: 0 };
    for bank in [0, 1] {
        card.bring_group(&mut bus, TENANT, 3, &[copy(510), copy(1)]).unwrap();
        assert_eq!(bus.row(GROUP, 0, 64 * bank + 3)[0], 0x8001_8200 | bank);
        card.load(&mut bus, TENANT, &source, &[]).unwrap();
    }
}
