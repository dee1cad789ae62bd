// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All rmt blocks of one card.

use std::collections::BTreeMap;

use penstock_engine::{Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request, records};
use penstock_rmt::{Block, Tenant};
use penstock_rmt_compiler::ir::{DigestId, Via};
use penstock_rmt_p4runtime::{Act, Atomic, Change, DigestConfig, Object, Reason, Refusal};
use penstock_unit::Record;
use serde_json::{Value as Json, json};

use crate::answers::{ProgramAbout, TenantAbout};
use crate::ask::Ask;
use crate::card::{CardBlock, OnCard};
use crate::clock::Clock;
use crate::counters::{BlockCounters, TenantCounters};
use crate::entry::unhex;
use crate::error::RmtError;
use crate::image::{Begin, RmtImage, SYSTEM, Source};
use crate::native::{self, OnSoft};
use crate::requests;
use crate::running::{self, Running};

/// A block of the design.
struct Place {
    /// Its place in the design.
    block: usize,
    /// Comes before the names of its tenants.
    prefix: String,
    /// The block in hardware; None for a native block, or before the first load.
    card: Option<CardBlock>,
}

/// A tenant with a program.
struct AtWork {
    block: usize,
    tenant: u8,
    /// Its name, with the block's before it if there are several.
    name: String,
    source: Source,
    cookie: u64,
    /// A number that no other program has.
    number: u64,
    loads: u64,
    /// Kinds of messages that are sent to controllers.
    digests: BTreeMap<DigestId, DigestConfig>,
}

/// The driver of all rmt blocks of a card.
pub struct RmtDriver {
    places: Vec<Place>,
    /// Names and numbers of the design's tenants.
    tenants: Vec<(String, u8)>,
    programs: Vec<AtWork>,
    /// Programs that were loaded so far.
    count: u64,
    /// The time of cards in hardware.
    clock: Clock,
}

impl RmtDriver {
    /// A driver for a card whose parts of this engine are `shape.parts`.
    pub fn new(shape: &CardShape) -> Self {
        let several = shape.parts.len() > 1;
        let place = |(block, name, _): &(usize, String, _)| Place {
            block: *block,
            prefix: if several { format!("{name}.") } else { String::new() },
            card: None,
        };
        let tenants = shape.tenants.iter().map(|tenant| (tenant.name.clone(), tenant.number));
        Self {
            places: shape.parts.iter().map(place).collect(),
            tenants: tenants.chain([(SYSTEM.to_owned(), 0)]).collect(),
            programs: Vec::new(),
            count: 0,
            clock: Clock::default(),
        }
    }

    /// The number of a tenant.
    fn number(&self, name: &str) -> Result<u8, RmtError> {
        let there = || self.tenants.iter().map(|(name, _)| name.clone()).filter(|name| name != SYSTEM).collect();
        let found = self.tenants.iter().find(|(tenant, _)| tenant == name);
        found.map(|(_, number)| *number).ok_or_else(|| RmtError::Unknown { name: name.to_owned(), there: there() })
    }

    /// Index of the program that a request means.
    fn meant(&self, tenant: Option<&str>) -> Result<usize, RmtError> {
        let there = || self.programs.iter().map(|one| one.name.clone()).collect();
        match (tenant, self.programs.len()) {
            (Some(name), _) => {
                let found = self.programs.iter().position(|one| one.name == name);
                found.ok_or_else(|| RmtError::NoTenant { name: name.to_owned(), there: there() })
            }
            (None, 1) => Ok(0),
            (None, 0) => Err(RmtError::NotLoaded(self.places.first().map_or(0, |place| place.block))),
            (None, _) => Err(RmtError::Several(there())),
        }
    }

    /// Hands a program at work to `job`.
    fn with<R>(
        &mut self,
        bus: &mut dyn Bus,
        at: usize,
        job: impl FnOnce(&mut dyn Running) -> Result<R, RmtError>,
    ) -> Result<R, RmtError> {
        let Self { places, programs, .. } = self;
        let one = &mut programs[at];
        let place = places.iter_mut().find(|place| place.block == one.block).ok_or(RmtError::NoBlock(one.block))?;
        match &mut place.card {
            Some(card) => job(&mut OnCard { card, bus, tenant: one.tenant }),
            None => {
                let tenant = native::find(bus, one.block)?.tenant_mut(one.tenant);
                job(&mut OnSoft { tenant: tenant.ok_or(RmtError::NotLoaded(one.block))?, digests: &mut one.digests })
            }
        }
    }

    /// Gives a tenant a program, between two frames, and its first entries.
    fn give(&mut self, bus: &mut dyn Bus, block: usize, begin: &Begin, cookie: u64) -> Result<(), RmtError> {
        let tenant = self.number(&begin.tenant)?;
        let place = self.places.iter_mut().find(|place| place.block == block).ok_or(RmtError::NoBlock(block))?;
        let name = format!("{}{}", place.prefix, begin.tenant);
        let mut digests = BTreeMap::new();
        match &mut place.card {
            Some(card) => {
                begin.changes.iter().try_for_each(on_card)?;
                card.load(bus, tenant, &begin.source, &begin.changes)?;
            }
            // The program is filled before frames meet it, so it is refused as a whole or not at all.
            None => {
                let mut filled = Tenant::new(begin.source.program.clone())?;
                fill(&mut OnSoft { tenant: &mut filled, digests: &mut digests }, &begin.changes)?;
                native::find(bus, block)?.put(tenant, filled);
            }
        }
        self.count += 1;
        let number = self.count;
        let source = begin.source.clone();
        match self.programs.iter().position(|one| (one.block, one.tenant) == (block, tenant)) {
            Some(at) => {
                let one = &mut self.programs[at];
                *one = AtWork { block, tenant, name, source, cookie, number, loads: one.loads + 1, digests };
            }
            None => self.programs.push(AtWork { block, tenant, name, source, cookie, number, loads: 1, digests }),
        }
        Ok(())
    }

    /// The block of a tenant, and its name in the design, by the name that requests have for it. It may have no program.
    fn place_of(&self, name: &str) -> Result<(usize, String), RmtError> {
        let found = self.places.iter().find_map(|place| Some((place.block, name.strip_prefix(&place.prefix)?)));
        let (block, tenant) = found.ok_or_else(|| RmtError::NoTenant {
            name: name.to_owned(),
            there: self.programs.iter().map(|one| one.name.clone()).collect(),
        })?;
        self.number(tenant)?;
        Ok((block, tenant.to_owned()))
    }

    /// The changes that give a new program everything that was set in the one before.
    fn kept(&mut self, bus: &mut dyn Bus, at: usize, source: &Source) -> Result<Vec<Change>, RmtError> {
        let all = self.with(bus, at, requests::everything)?;
        let read = |one| requests::read(&source.program, one);
        let changes = all.iter().map(read).collect::<Result<_, Refusal>>();
        let refused = |refusal: Refusal| {
            let text = format!("the new program has no place for what the one before holds: {}", refusal.message);
            Refusal::new(Reason::Precondition, text)
        };
        Ok(changes.map_err(refused)?)
    }

    /// Checks that a program fits a block.
    fn fits(&mut self, bus: &mut dyn Bus, block: usize, source: &Source) -> Result<(), RmtError> {
        let place = self.places.iter_mut().find(|place| place.block == block).ok_or(RmtError::NoBlock(block))?;
        match &mut place.card {
            Some(card) => card.fits(source),
            None => native::find(bus, block).map(|_| ()),
        }
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// It is not possible; then nothing has changed.
    pub fn ask(&mut self, bus: &mut dyn Bus, ask: &Ask) -> Result<Json, RmtError> {
        match ask {
            Ask::Tenants => {
                let mut all = Vec::new();
                for at in 0..self.programs.len() {
                    let entries = self.with(bus, at, |running| {
                        let tables = 0..running.program()?.tables.len();
                        tables.map(|table| running.size(table)).sum()
                    })?;
                    let AtWork { name, tenant, source, loads, .. } = &self.programs[at];
                    let (name, number, program) = (name.clone(), *tenant, source.file.clone());
                    all.push(TenantAbout { name, number, program, entries, loads: *loads });
                }
                Ok(json!(all))
            }
            Ask::Program { tenant, known } => {
                let AtWork { source, cookie, number, .. } = &self.programs[self.meant(tenant.as_deref())?];
                let text = (*known != Some(*number)).then(|| source.text.clone());
                Ok(json!(ProgramAbout { file: source.file.clone(), number: *number, cookie: *cookie, source: text }))
            }
            Ask::Swap { tenant, file, source, cookie, check, keep } => {
                let source = Source::compile_sent(file, source.clone())?;
                let at = self.meant(tenant.as_deref())?;
                let (block, tenant) = self.place_of(&self.programs[at].name)?;
                let changes = if *keep { self.kept(bus, at, &source)? } else { Vec::new() };
                match check {
                    true => self.fits(bus, block, &source)?,
                    false => self.give(bus, block, &Begin { tenant, source, changes }, *cookie)?,
                }
                Ok(Json::Null)
            }
            Ask::Add { tenant, file, source } => {
                let (block, name) = self.place_of(tenant)?;
                if self.programs.iter().any(|one| one.name == *tenant) {
                    let text = format!("{tenant} has a program: swap it");
                    return Err(Refusal::new(Reason::Exists, text).into());
                }
                let source = Source::compile_sent(file, source.clone())?;
                self.give(bus, block, &Begin { tenant: name, source, changes: Vec::new() }, 0)?;
                Ok(Json::Null)
            }
            Ask::Remove { tenant } => {
                let at = self.meant(Some(tenant))?;
                let one = &self.programs[at];
                if self.places.iter().any(|place| place.block == one.block && place.card.is_some()) {
                    let text = "a tenant's program cannot be taken away on the card in hardware yet; use target soft";
                    return Err(RmtError::Unsupported(text.to_owned()));
                }
                native::find(bus, one.block)?.remove(one.tenant);
                self.programs.remove(at);
                Ok(Json::Null)
            }
            Ask::Write { tenant, program, changes, atomic } => {
                let at = self.meant(tenant.as_deref())?;
                if program.is_some_and(|number| number != self.programs[at].number) {
                    return Err(requests::other_program().into());
                }
                self.with(bus, at, |running| requests::write(running, changes, *atomic))
            }
            Ask::Meters { tenant, meter } => {
                self.of(bus, tenant, |running| requests::meters(running, meter.as_deref()))
            }
            Ask::Copies { tenant } => self.of(bus, tenant, requests::copies),
            Ask::Profiles { tenant } => self.of(bus, tenant, requests::profiles),
            Ask::ValueSets { tenant } => self.of(bus, tenant, requests::value_sets),
            Ask::Digests { tenant } => self.of(bus, tenant, requests::digests),
            Ask::Stream { tenant } => {
                let at = self.meant(tenant.as_deref())?;
                let number = self.programs[at].number;
                self.with(bus, at, |running| requests::stream(running, number))
            }
            Ask::Send { tenant, frame } => {
                let frame =
                    unhex(frame).ok_or_else(|| Refusal::argument("`frame` is an even number of hexadecimal digits"))?;
                let at = self.meant(tenant.as_deref())?;
                self.with(bus, at, |running| running.send(frame))?;
                let one = &self.programs[at];
                // A block in native code has kept the frame until this record comes.
                if bus.native().is_some() {
                    records::give(bus, one.block, &Record { tenant: one.tenant, ..Record::default() })?;
                }
                Ok(Json::Null)
            }
            Ask::Tables { tenant } => self.of(bus, tenant, requests::tables),
            Ask::Entries { tenant, table } => self.of(bus, tenant, |running| requests::entries(running, table)),
            Ask::Insert { tenant, entry } => {
                self.of(bus, tenant, |running| requests::apply(running, Act::Insert, entry))
            }
            Ask::Modify { tenant, entry } => {
                self.of(bus, tenant, |running| requests::apply(running, Act::Modify, entry))
            }
            Ask::Delete { tenant, entry } => {
                self.of(bus, tenant, |running| requests::apply(running, Act::Delete, entry))
            }
            Ask::Registers { tenant, register } => {
                self.of(bus, tenant, |running| requests::registers(running, register.as_deref()))
            }
            Ask::Counters { tenant, counter } => {
                self.of(bus, tenant, |running| requests::counters(running, counter.as_deref()))
            }
            Ask::Events { tenant } => self.of(bus, tenant, |running| Ok(json!(running.events()?))),
        }
    }

    fn of(
        &mut self,
        bus: &mut dyn Bus,
        tenant: &Option<String>,
        job: impl FnOnce(&mut dyn Running) -> Result<Json, RmtError>,
    ) -> Result<Json, RmtError> {
        let at = self.meant(tenant.as_deref())?;
        self.with(bus, at, job)
    }
}

/// Carries out the changes that a program begins with.
fn fill(running: &mut dyn Running, changes: &[Change]) -> Result<(), RmtError> {
    let results = running::change(running, changes, Atomic::No)?;
    results.into_iter().collect::<Result<(), _>>().map_err(RmtError::from)
}

/// Checks that a card in hardware can begin with a change.
fn on_card(change: &Change) -> Result<(), RmtError> {
    let plain = |via: &Option<Via>, idle: u64| via.is_none() && idle == 0;
    match change {
        Change::Insert(_, entry) | Change::Modify(_, entry) if plain(&entry.via, entry.idle_timeout) => Ok(()),
        Change::Delete(..) | Change::Default(..) => Ok(()),
        Change::Object(_, Object::Group(..) | Object::Session(..) | Object::Digest(..)) => Ok(()),
        Change::Meter(..) | Change::EntryMeter(..) => Ok(()),
        Change::All(all) => all.iter().try_for_each(on_card),
        _ => Err(RmtError::Unsupported(
            "on the card in hardware programs begin with entries, default actions, multicast groups, clone \
             sessions, digests and meters alone; use target soft"
                .to_owned(),
        )),
    }
}

impl Driver for RmtDriver {
    fn load_units(&mut self, _bus: &mut dyn Bus, _load: LoadUnits, _image: &dyn Image) -> Result<(), EngineError> {
        Err(RmtError::NoUnits.into())
    }

    fn check(&self, images: &[(usize, &dyn Image)], _native: bool) -> Result<(), EngineError> {
        for (_, image) in images {
            for begin in &RmtImage::of(*image)?.tenants {
                self.number(&begin.tenant)?;
            }
        }
        Ok(())
    }

    fn load_block(&mut self, bus: &mut dyn Bus, block: usize, image: &dyn Image) -> Result<(), EngineError> {
        let image = RmtImage::of(image)?;
        let place = self.places.iter_mut().find(|place| place.block == block).ok_or(RmtError::NoBlock(block))?;
        match bus.native() {
            Some(native) => native.set_block(block, Box::new(Block::default())),
            None => place.card = Some(CardBlock::begin(bus, block)?),
        }
        self.programs.retain(|one| one.block != block);
        for begin in &image.tenants {
            self.give(bus, block, begin, 0)?;
        }
        Ok(())
    }

    /// Gives tenants whose source differs their new programs, which begin with the entries of the image.
    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError> {
        let image = RmtImage::of(image)?;
        let mut kept = Kept::new();
        for begin in &image.tenants {
            let tenant = self.number(&begin.tenant)?;
            let before = self.programs.iter().find(|one| (one.block, one.tenant) == (part, tenant));
            let stays = before.is_some_and(|one| one.source.text == begin.source.text);
            if !stays {
                self.give(bus, part, begin, 0)?;
            }
            let names = begin.source.program.tables.iter().map(|table| format!("{}.{}", begin.tenant, table.name));
            kept.extend(names.map(|name| (name, stays)));
        }
        Ok(kept)
    }

    fn count_block(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Json, EngineError> {
        let place = self.places.iter_mut().find(|place| place.block == block).ok_or(RmtError::NoBlock(block))?;
        if place.card.is_some() {
            // The machine counts nothing of its own yet.
            return Ok(Json::Null);
        }
        let native = native::find(bus, block)?;
        let mut tenants = Vec::new();
        for one in self.programs.iter().filter(|one| one.block == block) {
            let (frames, dropped) = native.tenant(one.tenant).map_or((0, 0), Tenant::frames);
            tenants.push(TenantCounters { name: one.name.clone(), frames, dropped });
        }
        Ok(json!(BlockCounters { tenants }))
    }

    fn serve(&mut self, bus: &mut dyn Bus) -> Result<bool, EngineError> {
        let mut any = false;
        for card in self.places.iter_mut().filter_map(|place| place.card.as_mut()) {
            any |= card.serve(bus)?;
        }
        Ok(any)
    }

    /// Only meters look at the time of a card in hardware. Buckets that were filled since the last frame are full now,
    /// even if the clock went on and is set back; all are, if the time jumps further than meters see.
    fn set_time(&mut self, bus: &mut dyn Bus, ns: u64) -> Result<(), EngineError> {
        let mut cards: Vec<_> = self.places.iter_mut().filter_map(|place| place.card.as_mut()).collect();
        if cards.iter().any(|card| card.has_meters()) {
            let jumps = self.clock.hold(bus, ns)?;
            cards.iter_mut().try_for_each(|card| card.settle_meters(bus, jumps))?;
        }
        Ok(())
    }

    fn release_time(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(self.clock.release(bus)?)
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        Ok(self.ask(bus, &Ask::read(&request.ask)?)?)
    }
}
