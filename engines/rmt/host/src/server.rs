// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Runtime for a card that is up, over the service `rmt`.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use penstock_engine::{Call, Server};
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Match, MeterId, Rates, RegisterId, TableId, ValueSetId};
use penstock_rmt_p4runtime::{
    Act, Atomic, Change, Count, EntryState, Load, Loaded, Object, ObjectKind, Reason, Refusal, Streamed, Switch, serve,
};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::answers::{
    CopiesAbout, CounterAbout, MeterAbout, ProfileAbout, ProgramAbout, RegisterAbout, StreamAbout, TenantAbout,
    ValueSetAbout,
};
use crate::ask::Ask;
use crate::entry::{Meant, NamedEntry, hex, unhex};
use crate::image::Source;
use crate::item::{NamedItem, NamedValueSet};
use crate::requests::{self, other_program};
use crate::value;

/// Changes that one request carries to the card.
const PART: usize = 2048;
/// Bytes of a request: the control socket takes 4 MiB.
const MAX_REQUEST: usize = 4_000_000;

/// The servers of the engine.
pub(crate) const SERVERS: &[Server] = &[Server {
    name: "p4runtime",
    about: "Serve P4Runtime to controllers at this address, for example 127.0.0.1:9559: device N is tenant N",
    start,
}];

fn start(listener: TcpListener, call: Box<Call>) -> io::Result<Box<dyn Any + Send>> {
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

    fn load(&self, device: u64, source: &str, cookie: u64, how: Load) -> Result<Arc<Loaded>, Refusal> {
        let tenant = self.tenant(device)?;
        let file = format!("{tenant}.p4");
        let loaded = Arc::new(loaded(&file, source.to_owned(), cookie)?);
        let source = source.to_owned();
        let (check, keep) = (how == Load::Check, how == Load::Reconcile);
        let done = (self.call)(Ask::Swap { tenant: Some(tenant), file, source, cookie, check, keep }.request());
        // The program compiles, so it, or what it is to keep, does not fit.
        let reason = if keep { Reason::Precondition } else { Reason::Full };
        done.map_err(|text| Refusal::new(reason, text))?;
        Ok(loaded)
    }

    fn write(&self, device: u64, changes: &[Change], atomic: Atomic) -> Result<Vec<Result<(), Refusal>>, Refusal> {
        let (tenant, number, loaded) = self.now(device)?;
        // A batch that is not atomic may come to the card in parts.
        let parts = if atomic == Atomic::No { changes.chunks(PART) } else { changes.chunks(changes.len().max(1)) };
        let mut results = Vec::new();
        for part in parts {
            let changes = part.iter().map(|change| requests::named(&loaded.program, change)).collect();
            let ask = Ask::Write { tenant: Some(tenant.clone()), program: Some(number), changes, atomic };
            if ask.json().to_string().len() > MAX_REQUEST {
                let text = format!("{} updates are too many for an atomic batch: send fewer at once", part.len());
                return Err(Refusal::new(Reason::Full, text));
            }
            let refused: Vec<Option<Refusal>> = self.ask(&ask)?;
            results.extend(refused.into_iter().map(|one| one.map_or(Ok(()), Err)));
        }
        Ok(results)
    }

    fn entries(&self, device: u64, table: TableId) -> Result<(Vec<(Entry, EntryState)>, ActionCall), Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let program = &loaded.program;
        let about = program.tables.get(table).ok_or_else(other_program)?;
        let named: Vec<NamedEntry> = self.ask(&Ask::Entries { tenant: Some(tenant), table: about.name.clone() })?;
        let (mut entries, mut default) = (Vec::new(), about.default.clone());
        for one in named {
            let (count, rates, idle_ns) = (one.count, one.rates.flatten(), one.idle_ns.unwrap_or(0));
            match one.read(program, true)? {
                Meant::Entry(_, entry) => {
                    entries.push((entry, EntryState { count: count.unwrap_or_default(), rates, idle_ns }));
                }
                Meant::Default(_, call) => default = call.unwrap_or(default),
            }
        }
        Ok((entries, default))
    }

    fn objects(&self, device: u64, kind: ObjectKind) -> Result<Vec<Object>, Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let (program, tenant) = (&loaded.program, Some(tenant));
        let of_profile = |profile: usize, profiles: Vec<ProfileAbout>| {
            let name = program.profiles.get(profile).map(|profile| profile.name.clone());
            profiles.into_iter().find(|one| Some(&one.name) == name.as_ref()).ok_or_else(other_program)
        };
        let items: Vec<NamedItem> = match kind {
            ObjectKind::Groups => {
                let copies: CopiesAbout = self.ask(&Ask::Copies { tenant })?;
                copies.groups.into_iter().map(NamedItem::Group).collect()
            }
            ObjectKind::Sessions => {
                let copies: CopiesAbout = self.ask(&Ask::Copies { tenant })?;
                copies.sessions.into_iter().map(NamedItem::Session).collect()
            }
            ObjectKind::Members(profile) => {
                let about = of_profile(profile, self.ask(&Ask::Profiles { tenant })?)?;
                about.members.into_iter().map(NamedItem::Member).collect()
            }
            ObjectKind::MemberGroups(profile) => {
                let about = of_profile(profile, self.ask(&Ask::Profiles { tenant })?)?;
                about.groups.into_iter().map(NamedItem::MemberGroup).collect()
            }
            ObjectKind::Digests => self.ask(&Ask::Digests { tenant })?,
        };
        let mut objects = Vec::new();
        for item in items {
            if let Change::Object(_, object) = item.read(program, Act::Insert)? {
                objects.push(object);
            }
        }
        Ok(objects)
    }

    fn meter(&self, device: u64, meter: MeterId) -> Result<Vec<Option<Rates>>, Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let about = loaded.program.meters.get(meter).ok_or_else(other_program)?;
        let ask = Ask::Meters { tenant: Some(tenant), meter: Some(about.name.clone()) };
        let answer: Vec<MeterAbout> = self.ask(&ask)?;
        Ok(answer.into_iter().filter_map(|one| one.cells).flatten().collect())
    }

    fn value_set(&self, device: u64, set: ValueSetId) -> Result<Vec<Vec<Match>>, Refusal> {
        let (tenant, _, loaded) = self.now(device)?;
        let about = loaded.program.value_sets.get(set).ok_or_else(other_program)?;
        let answer: Vec<ValueSetAbout> = self.ask(&Ask::ValueSets { tenant: Some(tenant) })?;
        let found = answer.into_iter().find(|one| one.name == about.name).ok_or_else(other_program)?;
        let item = NamedItem::ValueSet(NamedValueSet { value_set: found.name, members: found.members });
        match item.read(&loaded.program, Act::Modify)? {
            Change::ValueSet(_, members) => Ok(members),
            _ => Err(other_program()),
        }
    }

    fn stream(&self, device: u64) -> Result<Streamed, Refusal> {
        let (tenant, number, loaded) = self.now(device)?;
        let program = &loaded.program;
        let answer: StreamAbout = self.ask(&Ask::Stream { tenant: Some(tenant) })?;
        if answer.program != number {
            return Err(other_program());
        }
        let mut digests = Vec::new();
        for (named, messages) in answer.digests {
            let Change::Object(_, Object::Digest(digest, config)) =
                NamedItem::Digest(named).read(program, Act::Insert)?
            else {
                continue;
            };
            let fields = &program.digests[digest].fields;
            let values = |message: Vec<Json>| {
                let values = message.iter().zip(fields).map(|(value, (_, width))| value::read(value, *width));
                values.collect::<Result<Vec<u128>, String>>().map_err(Refusal::range)
            };
            digests.push((digest, config, messages.into_iter().map(values).collect::<Result<_, _>>()?));
        }
        let mut idle = Vec::new();
        for entry in answer.idle {
            if let Meant::Entry(table, entry) = entry.read(program, true)? {
                idle.push((table, entry));
            }
        }
        let packets = answer.packets.iter().filter_map(|frame| unhex(frame)).collect();
        Ok(Streamed { packets, digests, idle })
    }

    fn send(&self, device: u64, frame: &[u8]) -> Result<(), Refusal> {
        let tenant = Some(self.tenant(device)?);
        self.ask(&Ask::Send { tenant, frame: hex(frame) })
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
