// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program of a tenant at work: its tables, registers and counters.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, MeterId, Program, RegisterId, TableId};

use crate::code::Place;
use crate::color::{Bucket, Rates};
use crate::compile::{self, Machine};
use crate::hash;
use crate::operation::Message;
use crate::replicate::{Replica, Session};
use crate::run::Frame;
use crate::table::{Hits, Table, TableError};

/// What a counter counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Frames.
    pub packets: u64,
    /// Their bytes, as they entered.
    pub bytes: u64,
}

/// State that frames change: registers, counters, and what an entry's direct counter counted.
#[derive(Debug)]
pub struct State {
    pub tables: Vec<Table>,
    pub registers: Vec<Vec<u128>>,
    pub counters: Vec<Vec<Count>>,
    pub meters: Vec<Vec<Bucket>>,
    /// Of each meter, whether it counts bytes.
    pub metered_in_bytes: Vec<bool>,
    /// Messages for controllers that nobody has taken yet.
    pub messages: VecDeque<Message>,
    /// Messages for controllers, those that were lost included.
    pub sent: u64,
    /// Frames that an `assert` dropped.
    pub asserted: u64,
    /// State of the random numbers.
    pub random: u64,
    /// Multicast groups: ports, and numbers of the copies.
    pub groups: HashMap<u16, Vec<Replica>>,
    /// Clone sessions.
    pub sessions: HashMap<u16, Session>,
    /// The time, in ns.
    pub time: u64,
}

/// A program at work.
#[derive(Debug)]
pub struct Tenant {
    program: Arc<Program>,
    pub(crate) machine: Machine,
    pub(crate) state: State,
    pub(crate) frame: Frame,
    /// Frames that entered.
    pub(crate) frames: u64,
    /// Frames that the program dropped.
    pub(crate) dropped: u64,
    /// Copies of frames that were dropped, as their frame had too many.
    pub(crate) overruns: u64,
}

impl Tenant {
    /// A program as it begins: with the entries of its source, all cells 0.
    #[must_use]
    pub fn new(program: Arc<Program>) -> Self {
        let machine = compile::compile(&program);
        let params: Arc<[Vec<u32>]> =
            program.actions.iter().map(|action| action.params.iter().map(|param| param.width).collect()).collect();
        let state = State {
            tables: program.tables.iter().map(|table| Table::new(table, params.clone())).collect(),
            registers: program.registers.iter().map(|register| vec![0; register.size as usize]).collect(),
            counters: program
                .counters
                .iter()
                .map(|counter| vec![Count::default(); counter.size.unwrap_or(0) as usize])
                .collect(),
            meters: program
                .meters
                .iter()
                .map(|meter| vec![Bucket::default(); meter.size.unwrap_or(0) as usize])
                .collect(),
            metered_in_bytes: program.meters.iter().map(|meter| meter.bytes).collect(),
            messages: VecDeque::new(),
            sent: 0,
            asserted: 0,
            random: hash::SEED,
            groups: HashMap::new(),
            sessions: HashMap::new(),
            time: 0,
        };
        let frame = Frame::new(&machine);
        Self { program, machine, state, frame, frames: 0, dropped: 0, overruns: 0 }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Frames that entered, and how many of them the program dropped.
    #[must_use]
    pub fn frames(&self) -> (u64, u64) {
        (self.frames, self.dropped)
    }

    /// The entry of a table with the keys and priority of `like`.
    ///
    /// # Panics
    /// The program has no such table; so the other methods that take the index of one, or of a register or counter.
    #[must_use]
    pub fn find(&self, table: TableId, like: &Entry) -> Option<Entry> {
        self.state.tables[table].like(like).cloned()
    }

    /// Entries of a table, those of the source included, each with what its direct counter counted.
    #[must_use]
    pub fn entries(&self, table: TableId) -> Vec<(Entry, Count)> {
        let counter = self.program.tables[table].counter.map(|counter| self.program.counters[counter].unit);
        let count = |hits: Hits| counter.map_or(Count::default(), |unit| masked(unit, hits.packets, hits.bytes));
        self.state.tables[table].entries().map(|(entry, hits)| (entry.clone(), count(hits))).collect()
    }

    /// Adds an entry, which must fit the table: a match of the right kind for each key, an action of the table with all arguments.
    ///
    /// # Errors
    /// It is there already, or the table is full.
    pub fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), TableError> {
        self.state.tables[table].insert(entry)
    }

    /// Gives an entry another action.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), TableError> {
        self.state.tables[table].modify(entry)
    }

    /// Removes the entry with the keys and priority of `entry`.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), TableError> {
        self.state.tables[table].delete(entry)
    }

    /// The default action of a table.
    #[must_use]
    pub fn default(&self, table: TableId) -> &ActionCall {
        self.state.tables[table].default()
    }

    /// Sets the default action of a table.
    pub fn set_default(&mut self, table: TableId, call: &ActionCall) {
        self.state.tables[table].set_default(call);
    }

    /// Cells of a register.
    #[must_use]
    pub fn register(&self, register: RegisterId) -> &[u128] {
        &self.state.registers[register]
    }

    /// Writes a cell of a register. Bits that the register does not have are left out; a cell behind its end is not there.
    pub fn set_register(&mut self, register: RegisterId, index: u32, value: u128) {
        let all = penstock_rmt_compiler::mask(self.program.registers[register].width);
        if let Some(cell) = self.state.registers[register].get_mut(index as usize) {
            *cell = value & all;
        }
    }

    /// Cells of an indirect counter.
    #[must_use]
    pub fn counter(&self, counter: CounterId) -> Vec<Count> {
        let unit = self.program.counters[counter].unit;
        self.state.counters[counter].iter().map(|count| masked(unit, count.packets, count.bytes)).collect()
    }

    /// Sets the rates of a cell of an indirect meter; None: every frame is green.
    pub fn set_meter(&mut self, meter: MeterId, index: u32, rates: Option<Rates>) {
        let time = self.state.time;
        if let Some(cell) = self.state.meters[meter].get_mut(index as usize) {
            *cell = Bucket::new(rates, time);
        }
    }

    /// Sets the copies of a multicast group; none: frames of the group are dropped.
    pub fn set_group(&mut self, group: u16, copies: Vec<Replica>) {
        self.state.groups.insert(group, copies);
    }

    /// Sets a clone session, or takes it away.
    pub fn set_session(&mut self, session: u16, to: Option<Session>) {
        match to {
            Some(to) => self.state.sessions.insert(session, to),
            None => self.state.sessions.remove(&session),
        };
    }

    /// Takes the oldest message for controllers.
    pub fn take_message(&mut self) -> Option<Message> {
        self.state.messages.pop_front()
    }

    /// Messages for controllers so far, frames that an `assert` dropped, and copies that were dropped as their frame had too many.
    #[must_use]
    pub fn events(&self) -> (u64, u64, u64) {
        (self.state.sent, self.state.asserted, self.overruns)
    }

    /// Sets a cell of an indirect counter.
    pub fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) {
        if let Some(cell) = self.state.counters[counter].get_mut(index as usize) {
            *cell = value;
        }
    }
}

/// Only what the counter's unit asks for.
fn masked(unit: penstock_rmt_compiler::ir::CounterUnit, packets: u64, bytes: u64) -> Count {
    use penstock_rmt_compiler::ir::CounterUnit;
    match unit {
        CounterUnit::Packets => Count { packets, bytes: 0 },
        CounterUnit::Bytes => Count { packets: 0, bytes },
        CounterUnit::PacketsAndBytes => Count { packets, bytes },
    }
}

impl State {
    /// The value of a register's cell; 0 behind its end.
    #[inline]
    pub fn cell(&self, register: usize, index: u64) -> u128 {
        usize::try_from(index).ok().and_then(|index| self.registers[register].get(index)).copied().unwrap_or(0)
    }
}

/// A value of a place, from slots.
#[inline]
pub fn load(slots: &[u64], place: Place) -> u128 {
    let low = u128::from(slots[place.slot as usize]);
    if place.is_wide() { low | u128::from(slots[place.slot as usize + 1]) << 64 } else { low }
}

/// Writes a value to a place in slots.
#[inline]
pub fn store(slots: &mut [u64], place: Place, value: u128) {
    slots[place.slot as usize] = value as u64;
    if place.is_wide() {
        slots[place.slot as usize + 1] = (value >> 64) as u64;
    }
}
