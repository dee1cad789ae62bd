// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An rmt block of a card in hardware, with the programs of its tenants.

use std::collections::BTreeMap;
use std::ops::Range;

use penstock_engine::Bus;
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match, Program, TableId};
use penstock_rmt_p4runtime::Change;

use crate::card::lowered::{Kind, Lower, Lowered, words};
use crate::card::stage::{ExactTable, PrefixTable, Rooms, Target};
use crate::card::window::{Memory, Row, Shape, Window};
use crate::error::RmtError;
use crate::image::Source;
use crate::shadow::{Shadow, key};

/// Banks of a tenant.
const BANKS: u32 = 2;
/// Tenants of a bank.
const TENANTS: u32 = 64;

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

    /// A program for the pipeline of the block.
    ///
    /// # Errors
    /// It does not fit; a text that says what is missing.
    fn lower(&self, source: &Source) -> Result<Lowered, RmtError> {
        Lowered::of(source, &Lower { stages: self.shape.stages, depths: self.shape.depths })
    }

    /// Checks that a program fits the pipeline.
    ///
    /// # Errors
    /// It does not.
    pub fn fits(&self, source: &Source) -> Result<(), RmtError> {
        self.lower(source).map(|_| ())
    }

    /// Gives a tenant a program with its first entries, between two frames. The one before goes on until then.
    ///
    /// # Errors
    /// It does not fit, an entry is refused, or the card breaks; then the program before goes on.
    pub fn load(&mut self, bus: &mut dyn Bus, tenant: u8, source: &Source, changes: &[Change]) -> Result<(), RmtError> {
        let lowered = self.lower(source)?;
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
        let word = 1 | bank << 1 | u32::from(new.lowered.is_stateful()) << 2;
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
        write_key(&mut Window { bus, block: self.block }, at, tenant, at.lowered.tables[table].stage)
    }

    /// The row of a register's cell.
    fn cell(&self, tenant: u8, register: usize, index: u32) -> Result<Row, RmtError> {
        let at = self.tenants.get(&tenant).ok_or(RmtError::NotLoaded(self.block))?;
        let about = at.lowered.registers[register];
        let base = at.segments[about.stage].as_ref().map_or(0, |segment| segment.start);
        Ok(Row::of(Memory::Register, about.stage, base + about.offset + index))
    }

    /// Cells of a register.
    ///
    /// # Errors
    /// The card refuses.
    pub fn register(&mut self, bus: &mut dyn Bus, tenant: u8, register: usize) -> Result<Vec<u128>, RmtError> {
        let size = self.at_work(tenant)?.shadow.program.registers[register].size;
        let mut all = Vec::new();
        for index in 0..size {
            let row = self.cell(tenant, register, index)?;
            let cell = Window { bus, block: self.block }.read(row, 1)?;
            all.extend(cell.into_iter().map(u128::from));
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
        let row = self.cell(tenant, register, index)?;
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
    for stage in 0..shape.stages {
        let registers = new.lowered.stages[stage].registers;
        if registers > 0 {
            let segment = rooms[stage].registers.take(registers, 1).ok_or_else(|| {
                let free = rooms[stage].registers.free();
                RmtError::Fit(format!("stage {stage} has no room for {registers} registers: {free} are free in all"))
            })?;
            window.clear(segment.clone().map(|row| Row::of(Memory::Register, stage, row)), 1)?;
            new.segments[stage] = Some(segment);
        }
        let Some(table) = new.lowered.stages[stage].table else { continue };
        let entries = new.shadow.tables[table].len() as u32;
        new.tables[stage] = Some(match new.lowered.tables[table].kind {
            Kind::Exact => {
                let about = &new.shadow.program.tables[table];
                let most = if about.const_entries { entries } else { about.size.max(entries) };
                Table::Exact(ExactTable::begin(window, stage, &mut rooms[stage], most)?)
            }
            Kind::Prefix => Table::Prefix(PrefixTable::build(
                window,
                stage,
                &mut rooms[stage],
                tenant,
                shape.levels,
                &routes(new, table),
            )?),
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
        for (action, row) in (0..).zip(&new.lowered.stages[stage].actions) {
            window.write_and_check(Row::of(Memory::Action, stage, 8 * bt + action), row)?;
        }
        let segment = new.segments[stage].clone().unwrap_or(0..0);
        let word = segment.start | (segment.end - segment.start) << 16;
        window.write_and_check(Row::of(Memory::Segment, stage, bt), &[word])?;
        write_key(window, new, tenant, stage)?;
        if let (Some(table), Some(Table::Exact(_))) = (new.lowered.stages[stage].table, &new.tables[stage]) {
            let entries: Vec<Entry> = new.shadow.tables[table].values().cloned().collect();
            for entry in entries {
                bring(window, shape, rooms, new, tenant, table, &entry)?;
            }
        }
    }
    Ok(())
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
        Change::Register(..) | Change::Counter(..) => {}
    }
}

/// Writes the row of KEY of a stage: partition and default action.
fn write_key(window: &mut Window<'_>, at: &AtWork, tenant: u8, stage: usize) -> Result<(), RmtError> {
    let mut row = at.lowered.stages[stage].key;
    if let Some(table) = at.lowered.stages[stage].table {
        let (base, size) = match &at.tables[stage] {
            Some(Table::Exact(table)) => (table.range.start, table.size()),
            Some(Table::Prefix(table)) => (table.range.start, table.size()),
            None => (0, 0),
        };
        row[1] |= base << 8 | size << 24;
        let (action, params) = at.target(table, &at.shadow.defaults[table])?;
        row[0] = row[0] & !(7 << 2) | action << 2;
        row[8..12].copy_from_slice(&params);
    }
    window.write_and_check(Row::of(Memory::Key, stage, at.bt(tenant)), &row)
}

impl AtWork {
    /// The action of a stage and its parameters.
    fn target(&self, table: TableId, call: &ActionCall) -> Result<Target, RmtError> {
        let about = &self.lowered.tables[table];
        let found = about.actions.iter().find(|(action, ..)| *action == call.action);
        let (_, number, pieces) = found.ok_or_else(|| {
            let program: &Program = &self.shadow.program;
            RmtError::Fit(format!("{} is no action of the card's table", program.actions[call.action].name))
        })?;
        Ok((*number, words(pieces, &call.args)))
    }
}

/// The prefixes of a table.
fn routes(at: &AtWork, table: TableId) -> Vec<(u32, u32, Target)> {
    let route = |entry: &Entry| {
        let (value, length) = match entry.keys.first() {
            Some(Match::Lpm(value, length)) => (*value, *length),
            _ => return None,
        };
        // A key of fewer bits is at the lower end of the word.
        let width = at.shadow.program.tables[table].keys.first().map_or(32, |key| key.width.min(32));
        Some((value as u32, length + (32 - width), at.target(table, &entry.call).ok()?))
    };
    at.shadow.tables[table].values().filter_map(route).collect()
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
    let stage = at.lowered.tables[table].stage;
    let there = at.shadow.find(table, entry).cloned();
    match at.lowered.tables[table].kind {
        Kind::Exact => {
            let values: Vec<u128> =
                entry.keys.iter().map(|one| if let Match::Exact(value) = one { *value } else { 0 }).collect();
            let key = words(&at.lowered.tables[table].key, &values);
            let target = there.map(|there| at.target(table, &there.call)).transpose()?;
            let Some(Table::Exact(placed)) = &mut at.tables[stage] else { return Ok(()) };
            match target {
                Some(target) => placed.put(window, stage, tenant, key, target),
                None => placed.remove(window, stage, tenant, &key),
            }
        }
        Kind::Prefix => {
            let routes = routes(at, table);
            let new = PrefixTable::build(window, stage, &mut rooms[stage], tenant, shape.levels, &routes)?;
            let before = at.tables[stage].replace(Table::Prefix(new));
            write_key(window, at, tenant, stage)?;
            if let Some(Table::Prefix(before)) = before {
                before.give(&mut rooms[stage]);
            }
            Ok(())
        }
    }
}
