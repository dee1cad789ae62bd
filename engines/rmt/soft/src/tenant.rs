// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program of a tenant at work: its tables, registers and counters.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use penstock_rmt_compiler::ir::{
    ActionCall, CounterId, DigestId, Entry, Match, MeterId, PORT_HOST, Program, Rates, RegisterId, Replica, Session,
    TableId, ValueSetId,
};

use penstock_unit::{Entering, Made, Verdict};

use crate::color::Bucket;
use crate::hash;
use crate::machine::Machine;
use crate::native::NativeError;
use crate::operation::Message;
use crate::profile::Members;
use crate::table::{Hits, Table, TableError};
use crate::work::Frame;

/// The value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Frames.
    pub packets: u64,
    /// Their bytes, as they entered.
    pub bytes: u64,
}

/// State that frames change: registers, counters, and what an entry's direct counter counted.
#[derive(Debug)]
pub(crate) struct State {
    pub tables: Vec<Table>,
    pub registers: Vec<Vec<u128>>,
    pub counters: Vec<Vec<Count>>,
    pub meters: Vec<Vec<Bucket>>,
    /// Whether each meter counts bytes.
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
    /// Members of value sets.
    pub value_sets: Vec<Vec<Vec<Match>>>,
    /// For each table with a direct meter, whether the meter counts bytes.
    pub entry_meters: Vec<Option<bool>>,
    /// Color that the direct meter of the table that was applied last gave the frame.
    pub color: u64,
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
    /// Members and groups of action profiles.
    pub(crate) profiles: Vec<Members>,
    /// Frames to the host are for the controller: the program has a header `packet_in`.
    pub(crate) has_controller: bool,
    /// Frames for the controller that nobody has taken yet.
    pub(crate) packets: VecDeque<Vec<u8>>,
    /// Frames for the controller that were lost, as too many waited.
    pub(crate) lost_packets: u64,
    /// Frames of the controller that are to enter.
    outgoing: VecDeque<Vec<u8>>,
    /// When idle entries are looked for next, in ns.
    next_look: u64,
}

/// Time between two looks at which entries are idle, in ns: each looks at all entries.
const IDLE_LOOK: u64 = 20_000_000;

impl Tenant {
    /// Lets frames leave with less than an Ethernet header, as a switch in software does. A card drops them.
    pub fn keep_short_frames(&mut self) {
        self.machine.keeps_short = true;
    }

    /// A program as it begins: with the entries of its source, all cells 0.
    ///
    /// # Errors
    /// There is no native code for it.
    pub fn new(program: Arc<Program>) -> Result<Self, NativeError> {
        let machine = Machine::new(&program)?;
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
            value_sets: vec![Vec::new(); program.value_sets.len()],
            entry_meters: program
                .tables
                .iter()
                .map(|table| table.meter.map(|meter| program.meters[meter].bytes))
                .collect(),
            color: 0,
            time: 0,
        };
        let frame = Frame::default();
        let profiles = program.profiles.iter().map(|_| Members::default()).collect();
        let has_controller = program.controller_headers.iter().any(|header| header.name == "packet_in");
        let (packets, outgoing) = (VecDeque::new(), VecDeque::new());
        Ok(Self {
            program,
            machine,
            state,
            frame,
            frames: 0,
            dropped: 0,
            overruns: 0,
            profiles,
            has_controller,
            packets,
            lost_packets: 0,
            outgoing,
            next_look: 0,
        })
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

    /// How many entries a table has.
    #[must_use]
    pub fn size(&self, table: TableId) -> usize {
        self.state.tables[table].len()
    }

    /// Adds an entry, which must fit the table: a match of the right kind for each key, an action of the table with all arguments.
    ///
    /// # Errors
    /// It is there already, or the table is full.
    pub fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), TableError> {
        let target = self.target(table, entry);
        self.state.tables[table].insert(entry, target, self.state.time)
    }

    /// Gives an entry another action.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), TableError> {
        let target = self.target(table, entry);
        self.state.tables[table].modify(entry, target, self.state.time)
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

    /// The rates of the cells of an indirect meter.
    #[must_use]
    pub fn meter(&self, meter: MeterId) -> Vec<Option<Rates>> {
        self.state.meters[meter].iter().map(Bucket::rates).collect()
    }

    /// The rates of an entry's direct meter, and ns since its last frame; None if the entry is not there.
    #[must_use]
    pub fn entry_state(&self, table: TableId, like: &Entry) -> Option<(Option<Rates>, u64)> {
        let (rates, last) = self.state.tables[table].state(like)?;
        Some((rates, self.state.time.saturating_sub(last)))
    }

    /// Value of an entry's direct counter; 0 if the entry has no counter.
    #[must_use]
    pub fn entry_count(&self, table: TableId, like: &Entry) -> Count {
        let unit = self.program.tables[table].counter.map(|counter| self.program.counters[counter].unit);
        match (unit, self.state.tables[table].hits(like)) {
            (Some(unit), Some(hits)) => masked(unit, hits.packets, hits.bytes),
            _ => Count::default(),
        }
    }

    /// Sets the rates of an entry's direct meter; None: every frame is green.
    pub fn set_entry_meter(&mut self, table: TableId, like: &Entry, rates: Option<Rates>) {
        self.state.tables[table].set_meter(like, rates, self.state.time);
    }

    /// Sets the value of an entry's direct counter.
    pub fn set_entry_counter(&mut self, table: TableId, like: &Entry, count: Count) {
        self.state.tables[table].set_hits(like, Hits { packets: count.packets, bytes: count.bytes });
    }

    /// The members of a value set: for each of its keys, what matches.
    #[must_use]
    pub fn value_set(&self, set: ValueSetId) -> &[Vec<Match>] {
        &self.state.value_sets[set]
    }

    /// Gives a value set other members.
    pub fn set_value_set(&mut self, set: ValueSetId, members: Vec<Vec<Match>>) {
        self.state.value_sets[set] = members;
    }

    /// Entries that have had no frame for longer than their idle timeouts, each once until its next frame.
    pub fn take_idle(&mut self) -> Vec<(TableId, Entry)> {
        let mut idle = Vec::new();
        if self.state.time < self.next_look {
            return idle;
        }
        self.next_look = self.state.time.saturating_add(IDLE_LOOK);
        for (at, table) in
            self.state.tables.iter_mut().enumerate().filter(|(at, _)| self.program.tables[*at].idle_timeouts)
        {
            idle.extend(table.take_idle(self.state.time).into_iter().map(|entry| (at, entry)));
        }
        idle
    }

    /// Takes the frames for the controller, those that came first in front.
    pub fn take_packets(&mut self) -> Vec<Vec<u8>> {
        self.packets.drain(..).collect()
    }

    /// Frames for the controller that were lost, as too many waited.
    #[must_use]
    pub fn lost_packets(&self) -> u64 {
        self.lost_packets
    }

    /// Keeps a frame of the controller, which enters at the block's next record.
    pub fn send(&mut self, frame: Vec<u8>) {
        self.outgoing.push_back(frame);
    }

    /// Carries the frames of the controller through the program.
    pub(crate) fn carry_outgoing(&mut self, tenant: u8, made: &mut Vec<Made>) {
        while let Some(mut frame) = self.outgoing.pop_front() {
            let entering = Entering { port: 0, hash: 0, tenant };
            let time = self.state.time;
            let verdict = self.carry_from(PORT_HOST as u16, &mut frame, entering, time, made);
            if !matches!(verdict, Verdict::Drop | Verdict::Absorb) {
                made.push(Made { port: 0, frame, hash: 0, tenant, mark: 0, verdict });
            }
        }
    }

    /// The copies of multicast groups, by their numbers.
    #[must_use]
    pub fn groups(&self) -> Vec<(u16, Vec<Replica>)> {
        let mut all: Vec<_> = self.state.groups.iter().map(|(group, copies)| (*group, copies.clone())).collect();
        all.sort();
        all
    }

    /// Takes a multicast group away.
    pub fn remove_group(&mut self, group: u16) {
        self.state.groups.remove(&group);
    }

    /// Clone sessions, by their numbers.
    #[must_use]
    pub fn sessions(&self) -> Vec<(u16, Session)> {
        let mut all: Vec<_> = self.state.sessions.iter().map(|(number, session)| (*number, session.clone())).collect();
        all.sort_by_key(|(number, _)| *number);
        all
    }

    /// Sets the time that the program sees, in ns.
    pub(crate) fn set_time(&mut self, time: u64) {
        self.state.time = time;
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

    /// Takes the messages of some kinds, the oldest first.
    pub fn take_messages(&mut self, wanted: impl Fn(DigestId) -> bool) -> Vec<Message> {
        let (taken, left) = std::mem::take(&mut self.state.messages).into_iter().partition(|one| wanted(one.digest));
        self.state.messages = left;
        Vec::from(taken)
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
    /// Notes that a table has found an entry for a frame, or none.
    pub(crate) fn hit(&mut self, table: TableId, found: Option<usize>, bytes: u64) {
        let tokens = if self.entry_meters[table] == Some(true) { bytes } else { 1 };
        let time = self.time;
        let color = found.map_or(0, |found| self.tables[table].hit(found, bytes, tokens, time));
        if self.entry_meters[table].is_some() {
            self.color = color;
        }
    }
}
