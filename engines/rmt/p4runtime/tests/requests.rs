// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Write and read requests against a card that is a few tables in memory.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use penstock_rmt_compiler::ir::{
    ActionCall, CounterId, Entry, Match, MeterId, Program, Rates, RegisterId, TableId, ValueSetId,
};
use penstock_rmt_p4runtime::proto::p4::v1 as p4;
use penstock_rmt_p4runtime::proto::p4::v1::entity::Entity;
use penstock_rmt_p4runtime::proto::p4::v1::field_match::{self, FieldMatchType};
use penstock_rmt_p4runtime::{
    Atomic, Change, Count, EntryState, Load, Loaded, Object, ObjectKind, Reason, Refusal, Streamed, Switch, read, write,
};

/// A card that notes what it is asked.
struct Card {
    loaded: Arc<Loaded>,
    entries: Mutex<BTreeMap<TableId, Vec<Entry>>>,
}

impl Switch for Card {
    fn loaded(&self, _: u64) -> Result<Option<Arc<Loaded>>, Refusal> {
        Ok(Some(self.loaded.clone()))
    }

    fn load(&self, _: u64, _: &str, _: u64, _: Load) -> Result<Arc<Loaded>, Refusal> {
        Err(Refusal::unsupported("not here"))
    }

    fn write(&self, _: u64, changes: &[Change], _: Atomic) -> Result<Vec<Result<(), Refusal>>, Refusal> {
        let mut entries = self.entries.lock().unwrap();
        let mut one = |change: &Change| {
            match change {
                Change::Insert(table, entry) => entries.entry(*table).or_default().push(entry.clone()),
                Change::Delete(table, entry) => {
                    entries.entry(*table).or_default().retain(|one| one.keys != entry.keys);
                }
                _ => {}
            }
            Ok(())
        };
        Ok(changes.iter().map(&mut one).collect())
    }

    fn entries(&self, _: u64, table: TableId) -> Result<(Vec<(Entry, EntryState)>, ActionCall), Refusal> {
        let entries = self.entries.lock().unwrap().get(&table).cloned().unwrap_or_default();
        let state = EntryState { count: Count { packets: 3, bytes: 180 }, ..EntryState::default() };
        let counted = entries.into_iter().map(|entry| (entry, state)).collect();
        Ok((counted, self.loaded.program.tables[table].default.clone()))
    }

    fn objects(&self, _: u64, _: ObjectKind) -> Result<Vec<Object>, Refusal> {
        Ok(Vec::new())
    }

    fn meter(&self, _: u64, _: MeterId) -> Result<Vec<Option<Rates>>, Refusal> {
        Ok(Vec::new())
    }

    fn value_set(&self, _: u64, _: ValueSetId) -> Result<Vec<Vec<Match>>, Refusal> {
        Ok(Vec::new())
    }

    fn stream(&self, _: u64) -> Result<Streamed, Refusal> {
        Ok(Streamed::default())
    }

    fn send(&self, _: u64, _: &[u8]) -> Result<(), Refusal> {
        Ok(())
    }

    fn register(&self, _: u64, _: RegisterId) -> Result<Vec<u128>, Refusal> {
        Ok(vec![1, 0x1_0000, 3, 4])
    }

    fn counter(&self, _: u64, _: CounterId) -> Result<Vec<Count>, Refusal> {
        Ok((0..8).map(|packets| Count { packets, bytes: 99 }).collect())
    }
}

fn card() -> Card {
    let source = include_str!("kinds.p4");
    let program =
        penstock_rmt_compiler::compile("kinds.p4", source).map_err(|faults| faults.to_string()).unwrap().program;
    let loaded = Arc::new(Loaded { source: source.to_owned(), program, cookie: 0 });
    Card { loaded, entries: Mutex::default() }
}

fn ids(program: &Program) -> (u32, u32, u32, u32) {
    let action = |name: &str| program.actions.iter().find(|one| one.name.ends_with(name)).unwrap().id;
    (program.tables[0].id, program.tables[1].id, action("to"), action("drop"))
}

fn field(field_id: u32, kind: FieldMatchType) -> p4::FieldMatch {
    p4::FieldMatch { field_id, field_match_type: Some(kind) }
}

fn exact(id: u32, value: &[u8]) -> p4::FieldMatch {
    field(id, FieldMatchType::Exact(field_match::Exact { value: value.to_vec() }))
}

fn ternary(id: u32, value: &[u8], mask: &[u8]) -> p4::FieldMatch {
    field(id, FieldMatchType::Ternary(field_match::Ternary { value: value.to_vec(), mask: mask.to_vec() }))
}

fn range(id: u32, low: &[u8], high: &[u8]) -> p4::FieldMatch {
    field(id, FieldMatchType::Range(field_match::Range { low: low.to_vec(), high: high.to_vec() }))
}

fn optional(id: u32, value: &[u8]) -> p4::FieldMatch {
    field(id, FieldMatchType::Optional(field_match::Optional { value: value.to_vec() }))
}

fn lpm(id: u32, value: &[u8], prefix_len: i32) -> p4::FieldMatch {
    field(id, FieldMatchType::Lpm(field_match::Lpm { value: value.to_vec(), prefix_len }))
}

fn call(action_id: u32, params: &[(u32, &[u8])]) -> Option<p4::TableAction> {
    let param = |(param_id, value): &(u32, &[u8])| p4::action::Param { param_id: *param_id, value: value.to_vec() };
    let action = p4::Action { action_id, params: params.iter().map(param).collect() };
    Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) })
}

fn update(kind: p4::update::Type, entity: Entity) -> p4::Update {
    p4::Update { r#type: kind as i32, entity: Some(p4::Entity { entity: Some(entity) }) }
}

fn insert(entry: p4::TableEntry) -> p4::Update {
    update(p4::update::Type::Insert, Entity::TableEntry(entry))
}

/// The results of updates in one request.
fn written(card: &Card, updates: Vec<p4::Update>) -> Vec<Option<(Reason, String)>> {
    let request = p4::WriteRequest { updates, ..p4::WriteRequest::default() };
    let results = write(card, &card.loaded.program, &request).unwrap();
    results.into_iter().map(|one| one.err().map(|refusal| (refusal.reason, refusal.message))).collect()
}

#[test]
fn entries_come_back_as_they_were_sent() {
    let card = card();
    let (all, routes, to, drop) = ids(&card.loaded.program);
    let keys = vec![exact(1, &[9]), ternary(2, &[1, 0], &[0xFF, 0]), range(3, &[5], &[1, 0]), optional(4, &[1, 0xFF])];
    let port = [(1, &[1, 0xFF][..]), (2, &[0][..])];
    let first =
        p4::TableEntry { table_id: all, r#match: keys, action: call(to, &port), priority: 5, ..Default::default() };
    let wide = p4::TableEntry { r#match: vec![exact(1, &[0])], action: call(drop, &[]), priority: 1, ..first.clone() };
    let route = p4::TableEntry {
        table_id: routes,
        r#match: vec![lpm(1, &[10, 0, 0, 0], 8)],
        action: call(drop, &[]),
        ..Default::default()
    };
    let default_route = p4::TableEntry { r#match: vec![], ..route.clone() };
    let sent = vec![first.clone(), wide.clone(), route.clone(), default_route.clone()];
    assert_eq!(written(&card, sent.iter().cloned().map(insert).collect()), vec![None; 4]);
    let tables = card.entries.lock().unwrap().clone();
    assert_eq!(
        tables[&0][0].keys,
        [Match::Exact(9), Match::Ternary(0x100, 0xFF00), Match::Range(5, 0x100), Match::Exact(0x1FF)]
    );
    assert_eq!(tables[&0][1].keys[1..], [Match::Ternary(0, 0), Match::Range(0, 0xFFFF), Match::Ternary(0, 0)]);
    assert_eq!(
        tables[&1].iter().map(|one| one.keys[0]).collect::<Vec<_>>(),
        [Match::Lpm(0x0A00_0000, 8), Match::Lpm(0, 0)]
    );
    let asked = |entry: p4::TableEntry| {
        let entity = p4::Entity { entity: Some(Entity::TableEntry(entry)) };
        let found = read(&card, 1, &card.loaded.program, &entity).map_err(|refusal| refusal.reason)?;
        let table_entry = |one: p4::Entity| match one.entity {
            Some(Entity::TableEntry(entry)) => entry,
            other => panic!("{other:?}"),
        };
        Ok(found.into_iter().map(table_entry).collect::<Vec<_>>())
    };
    assert_eq!(asked(p4::TableEntry::default()), Ok(sent));
    let of_routes = p4::TableEntry { table_id: routes, ..Default::default() };
    assert_eq!(asked(of_routes.clone()), Ok(vec![route.clone(), default_route]));
    assert_eq!(asked(p4::TableEntry { action: None, ..route.clone() }), Ok(vec![route]));
    let other = p4::TableEntry { r#match: vec![lpm(1, &[11, 0, 0, 0], 8)], ..of_routes.clone() };
    assert_eq!(asked(other), Err(Reason::NotFound));
    // Counters come if they are asked for, and if the table has them.
    let counted = Some(p4::CounterData { packet_count: 3, byte_count: 180 });
    let with_counters = p4::TableEntry { counter_data: Some(Default::default()), ..Default::default() };
    let counters: Vec<_> = asked(with_counters).unwrap().iter().map(|one| one.counter_data).collect();
    assert_eq!(counters, [counted, counted, None, None]);
    let default = p4::TableEntry { is_default_action: true, ..of_routes };
    let default = asked(default).unwrap().remove(0);
    assert!(default.is_const && default.action == call(to, &[(1, &[1]), (2, &[2])]));
}

#[test]
fn what_does_not_fit_the_program_is_refused() {
    let card = card();
    let (all, routes, to, drop) = ids(&card.loaded.program);
    let entry = |table_id, keys: Vec<p4::FieldMatch>, action, priority| {
        insert(p4::TableEntry { table_id, r#match: keys, action, priority, ..Default::default() })
    };
    let route = |keys, action| entry(routes, keys, action, 0);
    let any = || vec![exact(1, &[1])];
    let no_action = card.loaded.program.actions.iter().find(|one| one.name == "NoAction").unwrap().id;
    for (update, reason, words) in [
        (entry(99, any(), call(drop, &[]), 1), Reason::NotFound, "has no table 99"),
        (entry(all, vec![], call(drop, &[]), 1), Reason::Argument, "hdr.h.a of I.all is missing"),
        (entry(all, any(), call(drop, &[]), 0), Reason::Argument, "needs a priority above 0"),
        (entry(all, any(), call(drop, &[]), -1), Reason::Argument, "needs a priority above 0"),
        (entry(routes, vec![], call(drop, &[]), 1), Reason::Argument, "have no priority"),
        (entry(all, vec![exact(1, &[1, 0])], call(drop, &[]), 1), Reason::Range, "has 8 bits, and 0x0100 has more"),
        (entry(all, vec![exact(1, &[])], call(drop, &[]), 1), Reason::Argument, "has no bytes"),
        (entry(all, vec![exact(1, &[1]), exact(1, &[1])], call(drop, &[]), 1), Reason::Argument, "given twice"),
        (entry(all, vec![exact(1, &[1]), exact(7, &[1])], call(drop, &[]), 1), Reason::Argument, "no match field 7"),
        (entry(all, vec![optional(1, &[1])], call(drop, &[]), 1), Reason::Argument, "is no optional match"),
        (
            entry(all, [any(), vec![ternary(2, &[1], &[2])]].concat(), call(drop, &[]), 1),
            Reason::Argument,
            "not compared",
        ),
        (
            entry(all, [any(), vec![ternary(2, &[0], &[0])]].concat(), call(drop, &[]), 1),
            Reason::Argument,
            "leave the field out",
        ),
        (
            entry(all, [any(), vec![range(3, &[2], &[1])]].concat(), call(drop, &[]), 1),
            Reason::Argument,
            "has no values",
        ),
        (
            entry(all, [any(), vec![range(3, &[0], &[0xFF, 0xFF])]].concat(), call(drop, &[]), 1),
            Reason::Argument,
            "leave the field out",
        ),
        (entry(all, any(), call(no_action, &[]), 1), Reason::Argument, "NoAction is only the default action of I.all"),
        (route(vec![lpm(1, &[10, 0, 0, 1], 8)], call(drop, &[])), Reason::Argument, "not compared"),
        (route(vec![lpm(1, &[10, 0, 0, 0], 33)], call(drop, &[])), Reason::Range, "1 to 32 bits, not 33"),
        (route(vec![lpm(1, &[0], 0)], call(drop, &[])), Reason::Argument, "leave the field out"),
        (route(vec![], None), Reason::Argument, "needs an action"),
        (route(vec![], call(5, &[])), Reason::Argument, "I.routes has no action 5"),
        (route(vec![], call(to, &[(1, &[1])])), Reason::Argument, "I.to needs its parameter mark"),
        (route(vec![], call(to, &[(1, &[2, 0]), (2, &[1])])), Reason::Range, "port of I.to has 9 bits"),
        (route(vec![], call(to, &[(1, &[1]), (1, &[1])])), Reason::Argument, "port of I.to is given twice"),
        (route(vec![], call(to, &[(3, &[1])])), Reason::Argument, "I.to has no parameter 3"),
    ] {
        let result = written(&card, vec![update]).remove(0);
        let (found, message) = result.unwrap_or_else(|| panic!("nobody refused what `{words}` is about"));
        assert!(found == reason && message.contains(words), "{found:?}: {message}; expected {reason:?}: {words}");
    }
    assert!(card.entries.lock().unwrap().is_empty());
    let default = |kind, table_id, action| {
        let entry = p4::TableEntry { table_id, action, is_default_action: true, ..Default::default() };
        written(&card, vec![update(kind, Entity::TableEntry(entry))]).remove(0).map(|(reason, _)| reason)
    };
    use p4::update::Type::{Insert, Modify};
    assert_eq!(default(Modify, all, call(drop, &[])), None);
    assert_eq!(default(Modify, all, None), None);
    assert_eq!(default(Insert, all, call(drop, &[])), Some(Reason::Argument));
    assert_eq!(default(Modify, routes, call(to, &[(1, &[1]), (2, &[1])])), Some(Reason::Denied));
}

#[test]
fn cells_are_read_and_written() {
    let card = card();
    let program = &card.loaded.program;
    let (register, counter) =
        (program.registers[0].id, program.counters.iter().find(|one| one.size.is_some()).unwrap().id);
    let found = |entity| read(&card, 1, program, &p4::Entity { entity: Some(entity) });
    let cells = |index: Option<i64>| {
        let index = index.map(|index| p4::Index { index });
        let asked = p4::RegisterEntry { register_id: register, index, data: None };
        let cell = |one: p4::Entity| match one.entity {
            Some(Entity::RegisterEntry(entry)) => entry.data.and_then(|data| data.data),
            other => panic!("{other:?}"),
        };
        found(Entity::RegisterEntry(asked)).map(|all| all.into_iter().map(cell).collect::<Vec<_>>())
    };
    let bits = |bytes: &[u8]| Some(p4::p4_data::Data::Bitstring(bytes.to_vec()));
    assert_eq!(cells(Some(1)).unwrap(), [bits(&[1, 0, 0])]);
    assert_eq!(cells(None).unwrap().len(), 4);
    assert_eq!([cells(Some(4)), cells(Some(-1))].map(|one| one.unwrap_err().reason), [Reason::Range; 2]);
    // The counter is one of packets.
    let asked = p4::CounterEntry { counter_id: counter, index: Some(p4::Index { index: 5 }), data: None };
    let one = found(Entity::CounterEntry(asked)).unwrap().remove(0);
    let data = p4::CounterData { packet_count: 5, byte_count: 0 };
    assert_eq!(one.entity, Some(Entity::CounterEntry(p4::CounterEntry { data: Some(data), ..asked })));
    let modify =
        |entity| written(&card, vec![update(p4::update::Type::Modify, entity)]).remove(0).map(|(reason, _)| reason);
    let cell = |index, data| {
        let data = Some(p4::P4Data { data });
        Entity::RegisterEntry(p4::RegisterEntry { register_id: register, index: Some(p4::Index { index }), data })
    };
    assert_eq!(modify(cell(3, bits(&[1, 2, 3, 4, 5, 6]))), None);
    assert_eq!(modify(cell(3, bits(&[1, 2, 3, 4, 5, 6, 7]))), Some(Reason::Range));
    assert_eq!(modify(cell(4, bits(&[1]))), Some(Reason::Range));
    assert_eq!(modify(cell(1, Some(p4::p4_data::Data::Bool(true)))), Some(Reason::Argument));
    assert_eq!(modify(Entity::CounterEntry(p4::CounterEntry { data: Some(data), ..asked })), None);
    let no_meter = Entity::MeterEntry(p4::MeterEntry { meter_id: 9, ..Default::default() });
    assert_eq!(modify(no_meter), Some(Reason::NotFound));
    let no_digest = Entity::DigestEntry(p4::DigestEntry { digest_id: 9, config: None });
    assert_eq!(found(no_digest).unwrap_err().reason, Reason::NotFound);
    assert_eq!(found(Entity::ExternEntry(Default::default())).unwrap_err().reason, Reason::Unsupported);
    assert_eq!(found(Entity::PacketReplicationEngineEntry(Default::default())).unwrap(), []);
}

#[test]
fn an_atomic_batch_with_a_fault_changes_nothing() {
    let card = card();
    let (_, routes, _, drop) = ids(&card.loaded.program);
    let good = || insert(p4::TableEntry { table_id: routes, action: call(drop, &[]), ..Default::default() });
    let bad = || insert(p4::TableEntry { table_id: 9, ..Default::default() });
    use p4::write_request::Atomicity::{ContinueOnError, DataplaneAtomic, RollbackOnError};
    for (atomicity, expected, left) in [
        (DataplaneAtomic, [Some(Reason::Aborted), Some(Reason::NotFound)], 0),
        (RollbackOnError, [Some(Reason::Aborted), Some(Reason::NotFound)], 0),
        (ContinueOnError, [None, Some(Reason::NotFound)], 1),
    ] {
        let updates = vec![good(), bad()];
        let request = p4::WriteRequest { updates, atomicity: atomicity as i32, ..Default::default() };
        let results = write(&card, &card.loaded.program, &request).unwrap();
        assert_eq!(results.into_iter().map(|one| one.err().map(|error| error.reason)).collect::<Vec<_>>(), expected);
        assert_eq!(card.entries.lock().unwrap().values().map(Vec::len).sum::<usize>(), left);
    }
}
