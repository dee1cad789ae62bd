// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Runtime for a card that is up, over the service `rmt`.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use penstock_engine::{Call, Server};
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, RegisterId, TableId};
use penstock_rmt_p4runtime::{Change, Count, Loaded, Reason, Refusal, Switch, serve};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::answers::{CounterAbout, ProgramAbout, RegisterAbout, TenantAbout};
use crate::ask::{Ask, NamedChange};
use crate::entry::{Meant, NamedEntry};
use crate::image::Source;
use crate::requests::other_program;
use crate::value;

/// The servers of the engine.
pub const SERVERS: &[Server] = &[Server {
    name: "p4runtime",
    about: "Serve P4Runtime to controllers at this address, for example 127.0.0.1:9559: device N is tenant N",
    start,
}];

fn start(listener: TcpListener, call: Box<Call>) -> io::Result<Box<dyn Any>> {
    let card = Card { call, known: Mutex::default() };
    Ok(Box::new(serve(Arc::new(card), listener)?))
}

/// A program that was read from the card.
struct Known {
    /// Name of its tenant.
    tenant: String,
    /// Its number on the card.
    number: u64,
    loaded: Arc<Loaded>,
}

/// A card that is reached by requests to its service.
struct Card {
    call: Box<Call>,
    /// The programs as they were when they were read last, by device.
    known: Mutex<BTreeMap<u64, Known>>,
}

impl Card {
    fn ask<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, Refusal> {
        let answer: Json = (self.call)(ask.request()).map_err(|text| Refusal::new(Reason::Card, text))?;
        let other = |error| Refusal::new(Reason::Card, format!("the card answered what is not understood: {error}"));
        serde_json::from_value(answer).map_err(other)
    }

    /// The name of the tenant that a device is. In a design without tenants, whose only program is that of tenant 0, it is device 1.
    fn tenant(&self, device: u64) -> Result<String, Refusal> {
        let tenants: Vec<TenantAbout> = self.ask(&Ask::Tenants)?;
        let number = |one: &TenantAbout| match tenants.len() {
            1 => u64::from(one.number).max(1),
            _ => u64::from(one.number),
        };
        let there = || {
            let there: Vec<_> = tenants.iter().map(|one| format!("{} ({})", number(one), one.name)).collect();
            Refusal::not_found(format!("there is no device {device}; there are: {}", there.join(", ")))
        };
        tenants.iter().find(|one| number(one) == device).map(|one| one.name.clone()).ok_or_else(there)
    }

    /// The program of a device as the card has it now: tenant, number and program.
    fn now(&self, device: u64) -> Result<(String, u64, Arc<Loaded>), Refusal> {
        let tenant = self.tenant(device)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(&device).filter(|known| known.tenant == tenant);
        let ask = Ask::Program { tenant: Some(tenant.clone()), known: before.map(|known| known.number) };
        let about: ProgramAbout = self.ask(&ask)?;
        if let Some(text) = about.source {
            let loaded = Arc::new(loaded(&about.file, text, about.cookie)?);
            known.insert(device, Known { tenant: tenant.clone(), number: about.number, loaded });
        }
        let known = known.get(&device).ok_or_else(other_program)?;
        Ok((tenant, known.number, known.loaded.clone()))
    }
}

/// Compiles a program.
fn loaded(file: &str, text: String, cookie: u64) -> Result<Loaded, Refusal> {
    let Source { text, program, .. } = Source::compile_sent(file, text).map_err(crate::error::RmtError::refusal)?;
    Ok(Loaded { source: text, program: Arc::unwrap_or_clone(program), cookie })
}

impl Switch for Card {
    fn loaded(&self, device: u64) -> Result<Option<Arc<Loaded>>, Refusal> {
        self.now(device).map(|(_, _, loaded)| Some(loaded))
    }

    fn load(&self, device: u64, source: &str, cookie: u64, commit: bool) -> Result<Arc<Loaded>, Refusal> {
        let tenant = self.tenant(device)?;
        let file = format!("{tenant}.p4");
        let loaded = Arc::new(loaded(&file, source.to_owned(), cookie)?);
        let source = source.to_owned();
        let done = (self.call)(Ask::Swap { tenant: Some(tenant), file, source, cookie, check: !commit }.request());
        // The program compiles, so it does not fit.
        done.map_err(|text| Refusal::new(Reason::Full, text))?;
        Ok(loaded)
    }

    fn write(&self, device: u64, changes: &[Change], atomic: bool) -> Result<Vec<Result<(), Refusal>>, Refusal> {
        let (tenant, number, loaded) = self.now(device)?;
        let program = &loaded.program;
        let named = |change: &Change| match change {
            Change::Insert(table, entry) => NamedChange::Insert(NamedEntry::of_entry(program, *table, entry)),
            Change::Modify(table, entry) => NamedChange::Modify(NamedEntry::of_entry(program, *table, entry)),
            Change::Delete(table, entry) => {
                let named = NamedEntry::of_entry(program, *table, entry);
                NamedChange::Delete(NamedEntry { action: None, params: Map::new(), ..named })
            }
            Change::Default(table, Some(call)) => {
                NamedChange::Modify(NamedEntry::of_default(program, *table, Some(call)))
            }
            Change::Default(table, None) => NamedChange::Delete(NamedEntry::of_default(program, *table, None)),
            Change::Register(register, index, value) => NamedChange::Register {
                name: program.registers[*register].name.clone(),
                index: *index,
                value: value::Format::Number.json(*value),
            },
            Change::Counter(counter, index, value) => {
                let name = program.counters[*counter].name.clone();
                NamedChange::Counter { name, index: *index, value: *value }
            }
        };
        let changes = changes.iter().map(named).collect();
        let refused: Vec<Option<Refusal>> =
            self.ask(&Ask::Write { tenant: Some(tenant), program: Some(number), changes, atomic })?;
        Ok(refused.into_iter().map(|one| one.map_or(Ok(()), Err)).collect())
    }

    fn entries(&self, device: u64, table: TableId) -> Result<(Vec<(Entry, Count)>, ActionCall), Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let program = &loaded.program;
        let about = program.tables.get(table).ok_or_else(other_program)?;
        let named: Vec<NamedEntry> = self.ask(&Ask::Entries { tenant: Some(tenant), table: about.name.clone() })?;
        let (mut entries, mut default) = (Vec::new(), about.default.clone());
        for one in named {
            match one.read(program, true)? {
                Meant::Entry(_, entry) => entries.push((entry, one.count.unwrap_or_default())),
                Meant::Default(_, call) => default = call.unwrap_or(default),
            }
        }
        Ok((entries, default))
    }

    fn register(&self, device: u64, register: RegisterId) -> Result<Vec<u128>, Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let about = loaded.program.registers.get(register).ok_or_else(other_program)?;
        let ask = Ask::Registers { tenant: Some(tenant), register: Some(about.name.clone()) };
        let answer: Vec<RegisterAbout> = self.ask(&ask)?;
        let cells = answer.into_iter().filter_map(|one| one.cells).flatten();
        cells.map(|cell| value::read(&cell, about.width).map_err(Refusal::range)).collect()
    }

    fn counter(&self, device: u64, counter: CounterId) -> Result<Vec<Count>, Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let about = loaded.program.counters.get(counter).ok_or_else(other_program)?;
        let ask = Ask::Counters { tenant: Some(tenant), counter: Some(about.name.clone()) };
        let answer: Vec<CounterAbout> = self.ask(&ask)?;
        Ok(answer.into_iter().filter_map(|one| one.cells).flatten().collect())
    }
}
