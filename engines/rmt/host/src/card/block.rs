// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An rmt block of a card in hardware, with the programs of its tenants.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use penstock_engine::Bus;
use penstock_rmt::{METER_ROW, meter_row};
use penstock_rmt_compiler::backend::{ACTION_WORDS, EntryError, Kind, Lowered, RegisterPlace, TableCode};
use penstock_rmt_compiler::ir::{CounterId, CounterUnit, Entry, MeterId, Rates, Replica, Session, TableId};
use penstock_rmt_p4runtime::{Act, Change, Count, Object, Reason, Refusal};
use penstock_unit::Record;

use crate::card::digests::{self, Messages};
use crate::card::groups;
use crate::card::packets::{self, Packets};
use crate::card::stage::{ExactTable, PrefixTable, Rooms, Target, TernaryTable};
use crate::card::window::{Memory, Row, Shape, Window};
use crate::error::RmtError;
use crate::image::Source;
use crate::shadow::{EntryKey, Shadow, key};

/// Banks of a tenant.
const BANKS: u32 = 2;
/// Tenants of a bank.
const TENANTS: u32 = 64;
/// Words of a counter.
const COUNTER_ROW: usize = 4;
/// The action of a stage that a program does not use.
const NO_ACTIONS: &[[u32; ACTION_WORDS]] = &[[0; ACTION_WORDS]];

/// An rmt block in hardware.
pub(crate) struct CardBlock {
    pub(super) block: usize,
    shape: Shape,
    rooms: Vec<Rooms>,
    tenants: BTreeMap<u8, AtWork>,
    /// Queues for copies. A tenant keeps its queue, in which frames may still be when its program changes.
    queues: BTreeMap<u8, u32>,
    /// A program that was loaded sends digests or frames to a controller, so there may be records.
    pub(super) has_records: bool,
}

/// The table of a stage.
pub(super) enum Table {
    /// Its entries are found by a hash.
    Exact(ExactTable),
    /// Its entries are prefixes.
    Prefix(PrefixTable),
    /// Its entries are values under masks.
    Ternary(TernaryTable),
}

/// A program on the card.
pub(crate) struct AtWork {
    pub shadow: Shadow,
    pub lowered: Lowered,
    pub messages: Messages,
    pub packets: Packets,
    bank: u32,
    /// Frames whose clones were lost before the program was loaded.
    pub clones_lost_before: u64,
    /// The queue for copies, if the program makes some.
    queue: Option<u32>,
    /// Tables by stage.
    tables: Vec<Option<Table>>,
    /// Registers by stage.
    segments: Vec<Option<Range<u32>>>,
    /// Counters by stage.
    counters: Vec<Option<Range<u32>>>,
    /// Meters by stage.
    meters: Vec<Option<Range<u32>>>,
    /// Rates that were written since the card's clock was last set, by meter and cell.
    filled: BTreeMap<(MeterId, u32), Rates>,
    /// By table, the cells of its direct counter and meter that entries have.
    cells: Vec<BTreeMap<EntryKey, u32>>,
}

impl AtWork {
    fn bt(&self, tenant: u8) -> u32 {
        TENANTS * self.bank + u32::from(tenant)
    }

    /// Clears what programs of the same bank would find, when no frame takes this program any more.
    fn leave(&self, window: &mut Window<'_>) -> Result<(), RmtError> {
        self.tables.iter().enumerate().try_for_each(|(stage, table)| match table {
            Some(Table::Ternary(table)) => table.leave(window, stage),
            _ => Ok(()),
        })
    }

    /// Gives all room back.
    fn give(&self, rooms: &mut [Rooms]) {
        for (stage, rooms) in rooms.iter_mut().enumerate() {
            let (segment, counters, meters) = (&self.segments[stage], &self.counters[stage], &self.meters[stage]);
            match &self.tables[stage] {
                Some(Table::Exact(table)) => rooms.buckets.give(&table.range),
                Some(Table::Prefix(table)) => table.give(rooms),
                Some(Table::Ternary(table)) => rooms.rows.give(&table.range),
                None => {}
            }
            segment.iter().for_each(|segment| rooms.registers.give(segment));
            counters.iter().for_each(|counters| rooms.counters.give(counters));
            meters.iter().for_each(|meters| rooms.meters.give(meters));
        }
    }

    /// The row of a cell of a counter; None if no frame reaches the counter.
    fn count_row(&self, counter: CounterId, cell: u32) -> Option<Row> {
        let place = self.lowered.counters[counter]?;
        let base = self.counters[place.stage].as_ref().map_or(0, |counters| counters.start);
        Some(Row::of(Memory::Counter, place.stage, base + place.offset + cell))
    }

    /// The count in a cell of a counter.
    fn count(&self, window: &mut Window<'_>, counter: CounterId, cell: u32) -> Result<Count, RmtError> {
        let Some(row) = self.count_row(counter, cell) else { return Ok(Count::default()) };
        let words = window.read(row, COUNTER_ROW)?;
        let number = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        Ok(match self.shadow.program.counters[counter].unit {
            CounterUnit::Packets => Count { packets: number(0), bytes: 0 },
            CounterUnit::Bytes => Count { packets: 0, bytes: number(2) },
            CounterUnit::PacketsAndBytes => Count { packets: number(0), bytes: number(2) },
        })
    }

    /// Writes the rates of a meter's cell. Its buckets are full then.
    fn meter(
        &mut self,
        window: &mut Window<'_>,
        meter: MeterId,
        cell: u32,
        rates: Option<&Rates>,
    ) -> Result<(), RmtError> {
        let Some(place) = self.lowered.meters[meter] else { return Ok(()) };
        match rates {
            Some(rates) => self.filled.insert((meter, cell), *rates),
            None => self.filled.remove(&(meter, cell)),
        };
        let base = self.meters[place.stage].as_ref().map_or(0, |meters| meters.start);
        let row = Row::of(Memory::Meter, place.stage, base + place.offset + cell);
        window.write_and_check(row, &meter_row(rates))
    }

    /// Writes the rates of indirect meters.
    fn fill_meters(&mut self, window: &mut Window<'_>) -> Result<(), RmtError> {
        for (meter, cells) in self.shadow.meters.clone().iter().enumerate() {
            for (cell, rates) in (0..).zip(cells).filter(|(_, rates)| rates.is_some()) {
                self.meter(window, meter, cell, rates.as_ref())?;
            }
        }
        Ok(())
    }

    /// Writes the rates of entries.
    fn fill_entry_meters(&mut self, window: &mut Window<'_>) -> Result<(), RmtError> {
        for (table, all) in self.shadow.entry_rates.clone().iter().enumerate() {
            let Some(meter) = self.shadow.program.tables[table].meter else { continue };
            for (entry, rates) in all {
                if let Some(cell) = self.cells[table].get(entry).copied() {
                    self.meter(window, meter, cell, Some(rates))?;
                }
            }
        }
        Ok(())
    }

    /// The cell of an entry's own counter and meter: a new entry gets a free one, which counts from 0 and has no rates.
    /// None if the table has neither.
    fn cell(&mut self, window: &mut Window<'_>, table: TableId, entry: &EntryKey) -> Result<Option<u32>, RmtError> {
        let about = &self.shadow.program.tables[table];
        let (counter, meter) = (about.counter, about.meter);
        if counter.or(meter).is_none() {
            return Ok(None);
        }
        if let Some(cell) = self.cells[table].get(entry) {
            return Ok(Some(*cell));
        }
        let taken: BTreeSet<u32> = self.cells[table].values().copied().collect();
        let cells = about.size.max(about.entries.len() as u32);
        let Some(cell) = (0..cells).find(|cell| !taken.contains(cell)) else {
            let text = format!(
                "{} has a counter or meter for each of {cells} entries, and no more: give it a larger `size`",
                about.name
            );
            return Err(Refusal::new(Reason::Full, text).into());
        };
        if let Some(row) = counter.and_then(|counter| self.count_row(counter, cell)) {
            window.write(row, &[0; COUNTER_ROW])?;
        }
        if let Some(meter) = meter {
            let rates = self.shadow.entry_rates[table].get(entry).copied();
            self.meter(window, meter, cell, rates.as_ref())?;
        }
        self.cells[table].insert(entry.clone(), cell);
        Ok(Some(cell))
    }
}

impl CardBlock {
    /// Finds out what the block is made of. No tenant has a program, and no record of an earlier one waits.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn begin(bus: &mut dyn Bus, block: usize) -> Result<Self, RmtError> {
        let mut window = Window::new(bus, block);
        let shape = window.shape()?;
        for tenant in 0..TENANTS {
            window.write(Row::of(Memory::Tenant, 0, tenant), &[0])?;
        }
        let rooms = (0..shape.pipeline.stages).map(|_| Rooms::new(&shape)).collect();
        let (tenants, queues) = (BTreeMap::new(), BTreeMap::new());
        let mut card = Self { block, shape, rooms, tenants, queues, has_records: false };
        // The card may have run other programs. No frame meets them any more, so these are their last records.
        card.take_records(bus, digests::ALL)?;
        Ok(card)
    }

    /// Checks that a program fits the pipeline.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn fits(&self, source: &Source) -> Result<(), RmtError> {
        source.lower(&self.shape.pipeline).map(|_| ())
    }

    /// Gives a tenant a program with its first entries, between two frames. The one before goes on until then.
    ///
    /// # Errors
    /// It does not fit, an entry is refused, or the card breaks; then the program before goes on.
    pub(crate) fn load(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        source: &Source,
        changes: &[Change],
    ) -> Result<(), RmtError> {
        let lowered = source.lower(&self.shape.pipeline)?;
        // A record of the program that had the bank before would be taken for one of the new program.
        self.drain(bus)?;
        self.has_records |= !lowered.digests.is_empty() || lowered.has_controller;
        let bank = self.tenants.get(&tenant).map_or(0, |before| (before.bank + 1) % BANKS);
        let had_queue = self.queues.contains_key(&tenant);
        let queue = if lowered.has_copies() { Some(self.queue(tenant)?) } else { None };
        let none = || (0..self.shape.pipeline.stages).map(|_| None).collect();
        let mut new = AtWork {
            counters: (0..self.shape.pipeline.stages).map(|_| None).collect(),
            meters: (0..self.shape.pipeline.stages).map(|_| None).collect(),
            filled: BTreeMap::new(),
            cells: vec![BTreeMap::new(); source.program.tables.len()],
            shadow: Shadow::new(source.program.clone()),
            lowered,
            messages: Messages { lost_before: self.lost(bus)?, ..Messages::default() },
            packets: Packets { lost_before: self.lost_packets(bus)?, ..Packets::default() },
            clones_lost_before: self.lost_clones(bus)?,
            bank,
            queue,
            tables: none(),
            segments: (0..self.shape.pipeline.stages).map(|_| None).collect(),
        };
        let mut window = Window::new(bus, self.block);
        let done = fill(&mut window, &self.shape, &mut self.rooms, &mut new, tenant, changes);
        if let Err(error) = done {
            new.leave(&mut window)?;
            new.give(&mut self.rooms);
            if !had_queue {
                self.queues.remove(&tenant);
            }
            return Err(error);
        }
        let word = 1 | bank << 1 | u32::from(new.lowered.stateful()) << 2;
        window.write_and_check(Row::of(Memory::Tenant, 0, tenant.into()), &[word])?;
        if let Some(before) = self.tenants.insert(tenant, new) {
            before.leave(&mut window)?;
            before.give(&mut self.rooms);
        }
        Ok(())
    }

    /// The queue for copies of a tenant's frames.
    fn queue(&mut self, tenant: u8) -> Result<u32, RmtError> {
        if let Some(queue) = self.queues.get(&tenant) {
            return Ok(*queue);
        }
        let is_free = |queue: &u32| self.queues.values().all(|taken| taken != queue);
        let free = (0..groups::QUEUES).find(is_free).ok_or_else(|| {
            RmtError::Fit(format!(
                "{} tenants have multicast groups, clones or frames for controllers, and the card has no room for more",
                groups::QUEUES
            ))
        })?;
        self.queues.insert(tenant, free);
        Ok(free)
    }

    /// Gives a multicast group its copies; none: frames of the group are dropped.
    ///
    /// # Errors
    /// The card has no such group, no room for its copies, or refuses. Then the group is as before.
    pub(crate) fn bring_group(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        group: u16,
        copies: &[Replica],
    ) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        write_group(&mut Window::new(bus, self.block), at, group, copies)
    }

    /// Gives a clone session its copies; none: there are no clones.
    ///
    /// # Errors
    /// The card has no such session, cannot do what it asks for, or refuses. Then the session is as before.
    pub(crate) fn bring_session(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        number: u16,
        session: &Session,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        write_session(&mut Window::new(bus, self.block), at, number, session)
    }

    /// The program of a tenant.
    ///
    /// # Errors
    /// It does not have one.
    pub(crate) fn at_work(&mut self, tenant: u8) -> Result<&mut AtWork, RmtError> {
        self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))
    }

    /// Gives what is in a record to the program that sent it. Records of a program that was replaced are gone with it.
    pub(super) fn give(&mut self, record: &Record) {
        if let Some(at) = self.tenants.get_mut(&record.tenant).filter(|at| at.bank == digests::bank(record)) {
            match record.reason {
                packets::REASON => at.packets.take(record),
                _ => at.messages.take(&at.lowered.digests, record),
            }
        }
    }

    /// Frames to controllers that found no room on their way to the host, of all tenants.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn lost_packets(&self, bus: &mut dyn Bus) -> Result<u64, RmtError> {
        Ok(Window::new(bus, self.block).lost_packets()?)
    }

    /// Frames whose clones found no room, of all tenants.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn lost_clones(&self, bus: &mut dyn Bus) -> Result<u64, RmtError> {
        Ok(Window::new(bus, self.block).lost_clones()?)
    }

    /// Frames whose digests found no room on their way to the host, of all tenants.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn lost(&self, bus: &mut dyn Bus) -> Result<u64, RmtError> {
        Ok(Window::new(bus, self.block).lost()?)
    }

    /// Brings an entry of the shadow, or its absence, to the card.
    ///
    /// # Errors
    /// There is no room, or the card refuses. Then the card is as before.
    pub(crate) fn bring(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        table: TableId,
        entry: &Entry,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        bring(&mut Window::new(bus, self.block), &mut self.rooms, at, tenant, table, entry)
    }

    /// Writes the row that has a table's partition and default action.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn bring_default(&mut self, bus: &mut dyn Bus, tenant: u8, table: TableId) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        match &at.lowered.tables[table] {
            Some(code) => write_key(&mut Window::new(bus, self.block), at, tenant, code.stage),
            None => Ok(()),
        }
    }

    /// The row of a register's cell; None if no frame reaches the register.
    fn cell(&self, tenant: u8, register: usize, index: u32) -> Result<Option<Row>, RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        let row = |place: RegisterPlace| {
            let base = at.segments[place.stage].as_ref().map_or(0, |segment| segment.start);
            Row::of(Memory::Register, place.stage, base + place.offset + index)
        };
        Ok(at.lowered.registers[register].map(row))
    }

    /// Cells of a register.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn register(&mut self, bus: &mut dyn Bus, tenant: u8, register: usize) -> Result<Vec<u128>, RmtError> {
        let size = self.at_work(tenant)?.shadow.program.registers[register].size;
        let mut window = Window::new(bus, self.block);
        let mut all = Vec::new();
        for index in 0..size {
            let word = match self.cell(tenant, register, index)? {
                Some(row) => window.read(row, 1)?.first().copied(),
                None => None,
            };
            all.push(word.unwrap_or_default().into());
        }
        Ok(all)
    }

    /// Writes a cell of a register.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn set_register(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        register: usize,
        index: u32,
        value: u128,
    ) -> Result<(), RmtError> {
        let Some(row) = self.cell(tenant, register, index)? else { return Ok(()) };
        // A frame may change it at once, so it is not read back.
        Ok(Window::new(bus, self.block).write(row, &[value as u32])?)
    }

    /// Cells of an indirect counter.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn counter(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        counter: CounterId,
    ) -> Result<Vec<Count>, RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        let mut window = Window::new(bus, self.block);
        let size = at.shadow.program.counters[counter].size.unwrap_or(0);
        (0..size).map(|cell| at.count(&mut window, counter, cell)).collect()
    }

    /// Sets a cell of an indirect counter.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn set_counter(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        counter: CounterId,
        cell: u32,
        value: Count,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        let Some(row) = at.count_row(counter, cell) else { return Ok(()) };
        let (packets, bytes) = (value.packets, value.bytes);
        let words = [packets as u32, (packets >> 32) as u32, bytes as u32, (bytes >> 32) as u32];
        // A frame may change it at once, so it is not read back.
        Ok(Window::new(bus, self.block).write(row, &words)?)
    }

    /// Sets the rates of a cell of an indirect meter; None: every frame is green.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn set_meter(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        meter: MeterId,
        cell: u32,
        rates: Option<&Rates>,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        at.meter(&mut Window::new(bus, self.block), meter, cell, rates)
    }

    /// Whether a program has meters.
    pub(crate) fn has_meters(&self) -> bool {
        self.tenants.values().any(|at| at.meters.iter().any(Option::is_some))
    }

    /// Notes that the card's clock was set: the buckets of rates that were written since the last time are filled again,
    /// or with `all` those of all rates.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn settle_meters(&mut self, bus: &mut dyn Bus, all: bool) -> Result<(), RmtError> {
        let mut window = Window::new(bus, self.block);
        for at in self.tenants.values_mut() {
            if all {
                at.fill_meters(&mut window)?;
                at.fill_entry_meters(&mut window)?;
            }
            for ((meter, cell), rates) in at.filled.clone() {
                at.meter(&mut window, meter, cell, Some(&rates))?;
            }
            at.filled.clear();
        }
        Ok(())
    }

    /// Sets the rates of an entry's own meter, if the entry is there; None: every frame is green.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn set_entry_meter(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        table: TableId,
        entry: &Entry,
        rates: Option<&Rates>,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        match (at.shadow.program.tables[table].meter, at.cells[table].get(&key(entry)).copied()) {
            (Some(meter), Some(cell)) => at.meter(&mut Window::new(bus, self.block), meter, cell, rates),
            _ => Ok(()),
        }
    }

    /// The count of the entry's own counter; zero if the table has no counters.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn hits(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        table: TableId,
        entry: &Entry,
    ) -> Result<Count, RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        match (at.shadow.program.tables[table].counter, at.cells[table].get(&key(entry))) {
            (Some(counter), Some(cell)) => at.count(&mut Window::new(bus, self.block), counter, *cell),
            _ => Ok(Count::default()),
        }
    }

    /// Sets the entry's own counter, if the table has counters.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn set_hits(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        table: TableId,
        entry: &Entry,
        value: Count,
    ) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        match (at.shadow.program.tables[table].counter, at.cells[table].get(&key(entry)).copied()) {
            (Some(counter), Some(cell)) => self.set_counter(bus, tenant, counter, cell, value),
            _ => Ok(()),
        }
    }
}

/// Takes room for a program, and writes everything but the row that makes frames meet it.
fn fill(
    window: &mut Window<'_>,
    shape: &Shape,
    rooms: &mut [Rooms],
    new: &mut AtWork,
    tenant: u8,
    changes: &[Change],
) -> Result<(), RmtError> {
    let bt = new.bt(tenant);
    for change in changes {
        apply(&mut new.shadow, change);
    }
    for (stage, rooms) in rooms.iter_mut().enumerate() {
        let cells = new.lowered.stages.get(stage).map(|code| code.cells).unwrap_or_default();
        let registers = cells.registers;
        if registers > 0 {
            let segment = rooms.registers.take(registers, 1).ok_or_else(|| {
                let free = rooms.registers.free();
                RmtError::Fit(format!("stage {stage} has no room for {registers} registers: {free} are free in all"))
            })?;
            window.clear(segment.clone().map(|row| Row::of(Memory::Register, stage, row)), 1)?;
            new.segments[stage] = Some(segment);
        }
        if cells.meters > 0 {
            let segment = rooms.meters.take(cells.meters, 1).ok_or_else(|| {
                let free = rooms.meters.free();
                RmtError::Fit(format!("stage {stage} has no room for {} meters: {free} are free in all", cells.meters))
            })?;
            window.clear(segment.clone().map(|row| Row::of(Memory::Meter, stage, row)), METER_ROW)?;
            new.meters[stage] = Some(segment);
        }
        let counters = cells.counters;
        if counters > 0 {
            let segment = rooms.counters.take(counters, 1).ok_or_else(|| {
                let free = rooms.counters.free();
                RmtError::Fit(format!("stage {stage} has no room for {counters} counters: {free} are free in all"))
            })?;
            window.clear(segment.clone().map(|row| Row::of(Memory::Counter, stage, row)), COUNTER_ROW)?;
            new.counters[stage] = Some(segment);
        }
        let Some(code) = new.lowered.tables.iter().flatten().find(|code| code.stage == stage).cloned() else {
            continue;
        };
        let about = &new.shadow.program.tables[code.table];
        let (size, const_entries) = (about.size, about.const_entries);
        let entries = new.shadow.tables[code.table].len() as u32;
        new.tables[stage] = Some(match code.kind {
            Kind::Exact => {
                let most = if const_entries { entries } else { size.max(entries) };
                Table::Exact(ExactTable::begin(window, stage, rooms, most)?)
            }
            Kind::Prefix => {
                let routes = routes(window, new, &code)?;
                Table::Prefix(PrefixTable::build(window, stage, rooms, tenant, &routes)?)
            }
            Kind::Ternary => {
                let mut rows = if const_entries { 0 } else { size };
                let mut needed = 0;
                for entry in new.shadow.tables[code.table].values() {
                    needed += code.lines(entry).map_err(refused)?.len() as u32;
                }
                rows = rows.max(needed);
                Table::Ternary(TernaryTable::begin(window, stage, rooms, rows)?)
            }
        });
    }
    for (depth, states) in new.lowered.parser.iter().enumerate() {
        for (state, row) in (0..).zip(states) {
            window.write_and_check(Row::of(Memory::Parser, depth, 8 * bt + state), row)?;
        }
    }
    window.write_and_check(Row::of(Memory::Check, 0, bt), &new.lowered.check)?;
    window.write_and_check(Row::of(Memory::Exit, 0, bt), &new.lowered.exit(new.queue.unwrap_or(0)))?;
    new.fill_meters(window)?;
    if let Some(queue) = new.queue {
        for memory in [Memory::Group, Memory::Clone] {
            window.clear(groups::rows(memory, queue, new.bank), groups::GROUP_ROW)?;
        }
    }
    for (group, copies) in &new.shadow.groups {
        write_group(window, new, *group, copies)?;
    }
    for (number, session) in &new.shadow.sessions {
        write_session(window, new, *number, session)?;
    }
    for stage in 0..shape.pipeline.stages {
        // No row of a table and no key leads to the other rows, so what stands there does not matter.
        let actions = new.lowered.stages.get(stage).map_or(NO_ACTIONS, |code| &code.actions);
        for (action, row) in (0..).zip(actions) {
            window.write_and_check(Row::of(Memory::Action, stage, 8 * bt + action), row)?;
        }
        let segment = new.segments[stage].clone().unwrap_or(0..0);
        let counters = new.counters[stage].clone().unwrap_or(0..0);
        let meters = new.meters[stage].clone().unwrap_or(0..0);
        let words = [segment, counters, meters].map(|range| range.start | (range.end - range.start) << 16);
        window.write_and_check(Row::of(Memory::Segment, stage, bt), &words)?;
        write_key(window, new, tenant, stage)?;
    }
    let codes: Vec<TableCode> = new.lowered.tables.iter().flatten().cloned().collect();
    for code in codes.iter().filter(|code| code.kind != Kind::Prefix) {
        let entries: Vec<Entry> = new.shadow.tables[code.table].values().cloned().collect();
        for entry in &entries {
            place(window, new, code, tenant, entry)?;
        }
    }
    Ok(())
}

/// Writes a group's row, if the program has a queue for copies.
fn write_group(window: &mut Window<'_>, at: &AtWork, group: u16, copies: &[Replica]) -> Result<(), RmtError> {
    let words = groups::words("multicast group", group, copies, at.lowered.has_controller.then_some(at.bank))?;
    match at.queue {
        Some(queue) => window.write_and_check(groups::row(Memory::Group, queue, at.bank, group), &words),
        None => Ok(()),
    }
}

/// Writes a session's row, if the program has a queue for copies.
fn write_session(window: &mut Window<'_>, at: &AtWork, number: u16, session: &Session) -> Result<(), RmtError> {
    let words = groups::session_words(number, session, at.lowered.has_controller.then_some(at.bank))?;
    match at.queue {
        Some(queue) => window.write_and_check(groups::row(Memory::Clone, queue, at.bank, number), &words),
        None => Ok(()),
    }
}

/// Brings an entry that the shadow has to an exact or ternary table.
fn place(
    window: &mut Window<'_>,
    at: &mut AtWork,
    code: &TableCode,
    tenant: u8,
    entry: &Entry,
) -> Result<(), RmtError> {
    let name = key(entry);
    let cell = at.cell(window, code.table, &name)?;
    let target = code.call(&entry.call, cell).map_err(refused)?;
    let bt = at.bt(tenant);
    match &mut at.tables[code.stage] {
        Some(Table::Exact(table)) => table.put(window, code.stage, tenant, code.key(entry), target),
        Some(Table::Ternary(table)) => {
            let lines = code.lines(entry).map_err(refused)?;
            table.put(window, code.stage, bt, (&name, code.rank(entry)), &lines, target)
        }
        Some(Table::Prefix(_)) | None => Ok(()),
    }
}

fn refused(error: EntryError) -> RmtError {
    Refusal::unsupported(error.to_string()).into()
}

/// Carries out a change of the entries that a program begins with.
fn apply(shadow: &mut Shadow, change: &Change) {
    match change {
        Change::Insert(table, entry) | Change::Modify(table, entry) => {
            shadow.tables[*table].insert(key(entry), entry.clone());
        }
        Change::Delete(table, entry) => {
            shadow.tables[*table].remove(&key(entry));
        }
        Change::Default(table, call) => {
            let own = &shadow.program.tables[*table].default;
            shadow.defaults[*table] = call.clone().unwrap_or_else(|| own.clone());
        }
        Change::Object(act, Object::Group(group, copies)) => {
            match act {
                Act::Delete => shadow.groups.remove(group),
                Act::Insert | Act::Modify => shadow.groups.insert(*group, copies.clone()),
            };
        }
        Change::Object(act, Object::Session(number, session)) => {
            match act {
                Act::Delete => shadow.sessions.remove(number),
                Act::Insert | Act::Modify => shadow.sessions.insert(*number, session.clone()),
            };
        }
        Change::Object(act, Object::Digest(digest, config)) => {
            match act {
                Act::Delete => shadow.digests.remove(digest),
                Act::Insert | Act::Modify => shadow.digests.insert(*digest, *config),
            };
        }
        Change::All(all) => all.iter().for_each(|one| apply(shadow, one)),
        Change::Meter(meter, index, rates) => {
            let cells = shadow.meters[*meter].iter_mut().enumerate();
            cells
                .filter(|(at, _)| index.is_none_or(|index| index as usize == *at))
                .for_each(|(_, cell)| *cell = *rates);
        }
        Change::EntryMeter(table, entry, rates) => {
            let all = &mut shadow.entry_rates[*table];
            match rates {
                Some(rates) => all.insert(key(entry), *rates),
                None => all.remove(&key(entry)),
            };
        }
        // A file of entries has no such items. The driver refuses programs and entries that need more.
        _ => {}
    }
}

/// Writes the row of KEY of a stage: partition and default action.
fn write_key(window: &mut Window<'_>, at: &AtWork, tenant: u8, stage: usize) -> Result<(), RmtError> {
    let (base, size) = match &at.tables[stage] {
        Some(Table::Exact(table)) => (table.range.start, table.size()),
        Some(Table::Prefix(table)) => (table.range.start, table.size()),
        Some(Table::Ternary(_)) | None => (0, 0),
    };
    let table = at.lowered.tables.iter().flatten().find(|code| code.stage == stage);
    let miss =
        table.map_or(Ok((0, [0; 4])), |code| code.call(&at.shadow.defaults[code.table], None).map_err(refused))?;
    let row = at.lowered.stages.get(stage).map_or([0; 12], |code| code.key(base, size, miss));
    window.write_and_check(Row::of(Memory::Key, stage, at.bt(tenant)), &row)
}

/// The prefixes of a table.
fn routes(window: &mut Window<'_>, at: &mut AtWork, code: &TableCode) -> Result<Vec<(u32, u32, Target)>, RmtError> {
    let entries: Vec<Entry> = at.shadow.tables[code.table].values().cloned().collect();
    let mut routes = Vec::new();
    for entry in &entries {
        let cell = at.cell(window, code.table, &key(entry))?;
        let (value, length) = code.prefix(entry);
        routes.push((value, length, code.call(&entry.call, cell).map_err(refused)?));
    }
    Ok(routes)
}

/// Brings an entry of the shadow, or its absence, to the card.
fn bring(
    window: &mut Window<'_>,
    rooms: &mut [Rooms],
    at: &mut AtWork,
    tenant: u8,
    table: TableId,
    entry: &Entry,
) -> Result<(), RmtError> {
    let Some(code) = at.lowered.tables[table].clone() else { return Ok(()) };
    let name = key(entry);
    let known = at.cells[table].contains_key(&name);
    let there = at.shadow.find(table, entry).cloned();
    let done = change(window, rooms, at, tenant, &code, (entry, there.as_ref()));
    // The cell of an entry that is gone, or that never came, is free.
    if (done.is_ok() && there.is_none()) || (done.is_err() && !known) {
        at.cells[table].remove(&name);
    }
    done
}

/// As [`bring`]; `there` is the entry as the shadow has it.
fn change(
    window: &mut Window<'_>,
    rooms: &mut [Rooms],
    at: &mut AtWork,
    tenant: u8,
    code: &TableCode,
    (entry, there): (&Entry, Option<&Entry>),
) -> Result<(), RmtError> {
    let stage = code.stage;
    match (&mut at.tables[stage], there) {
        (Some(Table::Exact(_) | Table::Ternary(_)), Some(there)) => place(window, at, code, tenant, there),
        (Some(Table::Exact(placed)), None) => placed.remove(window, stage, tenant, &code.key(entry)),
        (Some(Table::Ternary(placed)), None) => placed.remove(window, stage, &key(entry)),
        (Some(Table::Prefix(_)), _) => {
            let routes = routes(window, at, code)?;
            let new = PrefixTable::build(window, stage, &mut rooms[stage], tenant, &routes)?;
            let before = at.tables[stage].replace(Table::Prefix(new));
            write_key(window, at, tenant, stage)?;
            if let Some(Table::Prefix(before)) = before {
                before.give(&mut rooms[stage]);
            }
            Ok(())
        }
        (None, _) => Ok(()),
    }
}
