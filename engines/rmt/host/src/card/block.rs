// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An rmt block of a card in hardware, with the programs of its tenants.

use std::collections::BTreeMap;
use std::ops::Range;

use penstock_engine::Bus;
use penstock_rmt_compiler::backend::{Kind, Lowered, RegisterPlace, TableCode};
use penstock_rmt_compiler::ir::{Entry, TableId};
use penstock_rmt_p4runtime::{Change, Refusal};

use crate::card::stage::{ExactTable, PrefixTable, Rooms, Target};
use crate::card::window::{Memory, Row, Shape, Window};
use crate::error::RmtError;
use crate::image::Source;
use crate::shadow::{Shadow, key};

/// Banks of a tenant.
const BANKS: u32 = 2;
/// Tenants of a bank.
const TENANTS: u32 = 64;
/// Actions of a stage that a program does not use.
const NO_ACTIONS: [[u32; 27]; 8] = [[0; 27]; 8];

/// An rmt block in hardware.
pub struct CardBlock {
    block: usize,
    shape: Shape,
    rooms: Vec<Rooms>,
    tenants: BTreeMap<u8, AtWork>,
}

/// The table of a stage.
pub enum Table {
    /// Its entries are found by a hash.
    Exact(ExactTable),
    /// Its entries are prefixes.
    Prefix(PrefixTable),
}

/// A program on the card.
pub struct AtWork {
    pub shadow: Shadow,
    pub lowered: Lowered,
    bank: u32,
    /// Tables by stage.
    tables: Vec<Option<Table>>,
    /// Registers by stage.
    segments: Vec<Option<Range<u32>>>,
}

impl AtWork {
    fn bt(&self, tenant: u8) -> u32 {
        TENANTS * self.bank + u32::from(tenant)
    }

    /// Gives all room back.
    fn give(&self, rooms: &mut [Rooms]) {
        for ((table, segment), rooms) in self.tables.iter().zip(&self.segments).zip(rooms) {
            match table {
                Some(Table::Exact(table)) => rooms.buckets.give(&table.range),
                Some(Table::Prefix(table)) => table.give(rooms),
                None => {}
            }
            segment.iter().for_each(|segment| rooms.registers.give(segment));
        }
    }
}

impl CardBlock {
    /// Finds out what the block is made of. No tenant has a program.
    ///
    /// # Errors
    /// The card refuses.
    pub fn begin(bus: &mut dyn Bus, block: usize) -> Result<Self, RmtError> {
        let mut window = Window { bus, block };
        let shape = window.shape()?;
        for tenant in 0..TENANTS {
            window.write(Row::of(Memory::Tenant, 0, tenant), &[0])?;
        }
        let rooms = (0..shape.stages).map(|_| Rooms::new(&shape)).collect();
        Ok(Self { block, shape, rooms, tenants: BTreeMap::new() })
    }

    /// Checks that a program fits the pipeline.
    ///
    /// # Errors
    /// It does not.
    pub fn fits(&self, source: &Source) -> Result<(), RmtError> {
        source.lower(self.shape.stages).map(|_| ())
    }

    /// Gives a tenant a program with its first entries, between two frames. The one before goes on until then.
    ///
    /// # Errors
    /// It does not fit, an entry is refused, or the card breaks; then the program before goes on.
    pub fn load(&mut self, bus: &mut dyn Bus, tenant: u8, source: &Source, changes: &[Change]) -> Result<(), RmtError> {
        let lowered = source.lower(self.shape.stages)?;
        let bank = self.tenants.get(&tenant).map_or(0, |before| (before.bank + 1) % BANKS);
        let none = || (0..self.shape.stages).map(|_| None).collect();
        let mut new = AtWork {
            shadow: Shadow::new(source.program.clone()),
            lowered,
            bank,
            tables: none(),
            segments: (0..self.shape.stages).map(|_| None).collect(),
        };
        let mut window = Window { bus, block: self.block };
        let done = fill(&mut window, &self.shape, &mut self.rooms, &mut new, tenant, changes);
        if let Err(error) = done {
            new.give(&mut self.rooms);
            return Err(error);
        }
        let word = 1 | bank << 1 | u32::from(new.lowered.stateful()) << 2;
        window.write_and_check(Row::of(Memory::Tenant, 0, tenant.into()), &[word])?;
        if let Some(before) = self.tenants.insert(tenant, new) {
            before.give(&mut self.rooms);
        }
        Ok(())
    }

    /// The program of a tenant.
    ///
    /// # Errors
    /// It has none.
    pub fn at_work(&mut self, tenant: u8) -> Result<&mut AtWork, RmtError> {
        self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))
    }

    /// Brings an entry of the shadow, or its absence, to the card.
    ///
    /// # Errors
    /// There is no room, or the card refuses. Then the card is as before.
    pub fn bring(&mut self, bus: &mut dyn Bus, tenant: u8, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        let at = self.tenants.get_mut(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        bring(&mut Window { bus, block: self.block }, &self.shape, &mut self.rooms, at, tenant, table, entry)
    }

    /// Writes the row that has a table's partition and default action.
    ///
    /// # Errors
    /// The card refuses.
    pub fn bring_default(&mut self, bus: &mut dyn Bus, tenant: u8, table: TableId) -> Result<(), RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        match &at.lowered.tables[table] {
            Some(code) => write_key(&mut Window { bus, block: self.block }, at, tenant, code.stage),
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
    pub fn register(&mut self, bus: &mut dyn Bus, tenant: u8, register: usize) -> Result<Vec<u128>, RmtError> {
        let size = self.at_work(tenant)?.shadow.program.registers[register].size;
        let mut window = Window { bus, block: self.block };
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
    pub fn set_register(
        &mut self,
        bus: &mut dyn Bus,
        tenant: u8,
        register: usize,
        index: u32,
        value: u128,
    ) -> Result<(), RmtError> {
        let Some(row) = self.cell(tenant, register, index)? else { return Ok(()) };
        // A frame may change it at once, so it is not read back.
        Ok(Window { bus, block: self.block }.write(row, &[value as u32])?)
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
        let registers = new.lowered.stages.get(stage).map_or(0, |code| code.registers);
        if registers > 0 {
            let segment = rooms.registers.take(registers, 1).ok_or_else(|| {
                let free = rooms.registers.free();
                RmtError::Fit(format!("stage {stage} has no room for {registers} registers: {free} are free in all"))
            })?;
            window.clear(segment.clone().map(|row| Row::of(Memory::Register, stage, row)), 1)?;
            new.segments[stage] = Some(segment);
        }
        let Some(code) = new.lowered.tables.iter().flatten().find(|code| code.stage == stage) else { continue };
        let about = &new.shadow.program.tables[code.table];
        let entries = new.shadow.tables[code.table].len() as u32;
        new.tables[stage] = Some(match code.kind {
            Kind::Exact => {
                let most = if about.const_entries { entries } else { about.size.max(entries) };
                Table::Exact(ExactTable::begin(window, stage, rooms, most)?)
            }
            Kind::Prefix => {
                let routes = routes(&new.shadow, code)?;
                Table::Prefix(PrefixTable::build(window, stage, rooms, tenant, shape.levels, &routes)?)
            }
        });
    }
    for (depth, states) in new.lowered.parser.iter().enumerate() {
        for (state, row) in (0..).zip(states) {
            window.write_and_check(Row::of(Memory::Parser, depth, 8 * bt + state), row)?;
        }
    }
    window.write_and_check(Row::of(Memory::Check, 0, bt), &new.lowered.check)?;
    window.write_and_check(Row::of(Memory::Exit, 0, bt), &new.lowered.exit)?;
    for stage in 0..shape.stages {
        let actions = new.lowered.stages.get(stage).map_or(NO_ACTIONS, |code| code.actions);
        for (action, row) in (0..).zip(&actions) {
            window.write_and_check(Row::of(Memory::Action, stage, 8 * bt + action), row)?;
        }
        let segment = new.segments[stage].clone().unwrap_or(0..0);
        let word = segment.start | (segment.end - segment.start) << 16;
        window.write_and_check(Row::of(Memory::Segment, stage, bt), &[word])?;
        write_key(window, new, tenant, stage)?;
    }
    let exact = new.lowered.tables.iter().flatten().filter(|code| code.kind == Kind::Exact);
    for code in exact {
        let Some(Table::Exact(table)) = &mut new.tables[code.stage] else { continue };
        for entry in new.shadow.tables[code.table].values() {
            let target = code.call(&entry.call).map_err(refused)?;
            table.put(window, code.stage, tenant, code.key(entry), target)?;
        }
    }
    Ok(())
}

fn refused(why: String) -> RmtError {
    Refusal::unsupported(why).into()
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
        // A file of entries has none.
        // The driver refuses programs and entries that need more.
        _ => {}
    }
}

/// Writes the row of KEY of a stage: partition and default action.
fn write_key(window: &mut Window<'_>, at: &AtWork, tenant: u8, stage: usize) -> Result<(), RmtError> {
    let (base, size) = match &at.tables[stage] {
        Some(Table::Exact(table)) => (table.range.start, table.size()),
        Some(Table::Prefix(table)) => (table.range.start, table.size()),
        None => (0, 0),
    };
    let table = at.lowered.tables.iter().flatten().find(|code| code.stage == stage);
    let miss = table.map_or(Ok((0, [0; 4])), |code| code.call(&at.shadow.defaults[code.table]).map_err(refused))?;
    let row = at.lowered.stages.get(stage).map_or([0; 12], |code| code.key(base, size, miss));
    window.write_and_check(Row::of(Memory::Key, stage, at.bt(tenant)), &row)
}

/// The prefixes of a table.
fn routes(shadow: &Shadow, code: &TableCode) -> Result<Vec<(u32, u32, Target)>, RmtError> {
    let route = |entry: &Entry| {
        let (value, length) = code.prefix(entry);
        Ok((value, length, code.call(&entry.call).map_err(refused)?))
    };
    shadow.tables[code.table].values().map(route).collect()
}

/// Brings an entry of the shadow, or its absence, to the card.
fn bring(
    window: &mut Window<'_>,
    shape: &Shape,
    rooms: &mut [Rooms],
    at: &mut AtWork,
    tenant: u8,
    table: TableId,
    entry: &Entry,
) -> Result<(), RmtError> {
    let Some(code) = &at.lowered.tables[table] else { return Ok(()) };
    let stage = code.stage;
    match &mut at.tables[stage] {
        Some(Table::Exact(placed)) => match at.shadow.find(table, entry) {
            Some(there) => {
                let target = code.call(&there.call).map_err(refused)?;
                placed.put(window, stage, tenant, code.key(entry), target)
            }
            None => placed.remove(window, stage, tenant, &code.key(entry)),
        },
        Some(Table::Prefix(_)) => {
            let routes = routes(&at.shadow, code)?;
            let new = PrefixTable::build(window, stage, &mut rooms[stage], tenant, shape.levels, &routes)?;
            let before = at.tables[stage].replace(Table::Prefix(new));
            write_key(window, at, tenant, stage)?;
            if let Some(Table::Prefix(before)) = before {
                before.give(&mut rooms[stage]);
            }
            Ok(())
        }
        None => Ok(()),
    }
}
