// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One element: from a frame's key to its row, and what the row does to the context.

use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{self, Evict, Next, Timeout};

use crate::code::{Code, Decision, Flow, Registers, Rows};
use crate::event::{EventKind, Events, Raw};
use crate::frame::Frame;
use crate::key::{LONGEST, Packing};
use crate::table::{Due, GONE, NEVER, State, Table, Words};

/// What an element has counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that came.
    pub frames: u64,
    /// Those that lack a field of the key.
    pub keyless: u64,
    /// Those that no row fits.
    pub unmatched: u64,
    /// Those whose row would have made a context when there was no room.
    pub unkept: u64,
    /// Contexts whose time was over.
    pub expired: u64,
    /// Contexts that gave way to others.
    pub evicted: u64,
    /// Frames by the row that they took.
    pub rows: Vec<u64>,
}

/// Contexts, by the length of their keys.
pub enum Contexts {
    /// No key, no contexts.
    None,
    /// Up to 16 bytes.
    Short(Packing, Table<2>),
    /// Up to 40.
    Long(Packing, Table<5>),
}

pub struct Element {
    pub number: usize,
    pub contexts: Contexts,
    pub parts: Parts,
}

/// What is the same for keys of all lengths.
pub struct Parts {
    pub rows: Rows,
    pub evict: Option<Evict>,
    /// What a flow without a context has.
    pub initial: [u32; REGISTERS],
    pub globals: [u32; GLOBALS],
    pub counters: Counters,
}

impl Element {
    pub fn new(number: usize, source: &program::Element, contexts: u32, seed: u64) -> Element {
        let capacity = source.capacity.unwrap_or(contexts) as usize;
        let contexts = match &source.key {
            None => Contexts::None,
            Some(key) if key.bytes() <= 16 => Contexts::Short(Packing::new(key), Table::new(capacity, seed)),
            Some(key) => Contexts::Long(Packing::new(key), Table::new(capacity, seed)),
        };
        let mut parts = Parts {
            rows: Rows::new(source),
            evict: source.evict,
            initial: [0; REGISTERS],
            globals: [0; GLOBALS],
            counters: Counters { rows: vec![0; source.rows.len()], ..Counters::default() },
        };
        parts.initial.iter_mut().zip(&source.registers).for_each(|(to, from)| *to = from.initial);
        parts.globals.iter_mut().zip(&source.globals).for_each(|(to, from)| *to = from.initial);
        Element { number, contexts, parts }
    }

    /// Takes a frame through the element; the key, if it is known already.
    #[inline]
    pub fn run(&mut self, frame: &mut Frame, key: Option<Words<2>>, events: &mut Events) -> Decision {
        self.parts.counters.frames += 1;
        let number = self.number;
        match &mut self.contexts {
            Contexts::None => self.parts.stateless(number, frame, events),
            Contexts::Short(packing, table) => {
                let key = key.or_else(|| packing.of_frame(frame));
                self.parts.stateful(number, table, key, frame, events)
            }
            Contexts::Long(packing, table) => {
                let key = packing.of_frame(frame);
                self.parts.stateful(number, table, key, frame, events)
            }
        }
    }

    /// Has the context of a frame that comes soon fetched; its key, if that is short.
    #[inline]
    pub fn look(&self, frame: &Frame) -> Option<Words<2>> {
        match &self.contexts {
            Contexts::None => None,
            Contexts::Short(packing, table) => {
                let key = packing.of_frame(frame)?;
                table.fetch(table.home(&key));
                Some(key)
            }
            Contexts::Long(packing, table) => {
                table.fetch(table.home(&packing.of_frame(frame)?));
                None
            }
        }
    }

    /// Ends contexts whose time is over, over so many places of the table, or all.
    pub fn walk(&mut self, time: u64, places: usize, events: &mut Events) {
        match &mut self.contexts {
            Contexts::None => (),
            Contexts::Short(_, table) => self.parts.walk(self.number, table, time, places, events),
            Contexts::Long(_, table) => self.parts.walk(self.number, table, time, places, events),
        }
    }
}

/// An event about a context.
fn event<const K: usize>(kind: EventKind, element: usize, time: u64, key: &Words<K>, state: &State) -> Raw {
    let mut words = [0; 5];
    words[..K].copy_from_slice(key);
    Raw { kind, element, time, key: words, state: state.state, registers: state.registers }
}

impl Parts {
    fn registers(&self, flow: &[u32; REGISTERS]) -> Registers {
        let mut all = [0; REGISTERS + GLOBALS];
        all[..REGISTERS].copy_from_slice(flow);
        all[REGISTERS..].copy_from_slice(&self.globals);
        all
    }

    fn stateless(&mut self, number: usize, frame: &mut Frame, events: &mut Events) -> Decision {
        let flow = Flow { registers: self.registers(&self.initial), new: true, full: false };
        let Some(at) = self.rows.find(0, frame, &flow) else {
            self.counters.unmatched += 1;
            return Decision::Next(number + 1);
        };
        let row = &self.rows.rows[at];
        self.counters.rows[at] += 1;
        let after = row.update(frame, &flow.registers);
        self.globals.copy_from_slice(&after[REGISTERS..]);
        let decision = row.decide(frame, &after);
        row.edit(frame, &flow.registers, &after);
        if row.notify {
            let time = frame.arrival.time;
            events.push(event::<0>(EventKind::Notified, number, time, &[], &State::new(self.initial)));
        }
        decision
    }

    fn stateful<const K: usize>(
        &mut self,
        number: usize,
        table: &mut Table<K>,
        key: Option<Words<K>>,
        frame: &mut Frame,
        events: &mut Events,
    ) -> Decision {
        let Some(key) = key else {
            self.counters.keyless += 1;
            return Decision::Next(number + 1);
        };
        let time = frame.arrival.time;
        let home = table.home(&key);
        let mut place = table.find(&key, home);
        if let Some(at) = place {
            let before = *table.state(at);
            let due = table.state(at).expire(time);
            if due != Due::No {
                self.counters.expired += 1;
                events.push(event(EventKind::Expired, number, time, &key, &before));
            }
            if due == Due::Gone {
                table.remove(at);
                place = None;
            }
        }
        let mut context = place.map_or(State::new(self.initial), |at| *table.state(at));
        let flow = Flow {
            registers: self.registers(&context.registers),
            new: place.is_none(),
            full: self.evict.is_none() && table.count() == table.capacity(),
        };
        let Some(at) = self.rows.find(context.state, frame, &flow) else {
            self.counters.unmatched += 1;
            return Decision::Next(number + 1);
        };
        let row = &self.rows.rows[at];
        self.counters.rows[at] += 1;
        let after = row.update(frame, &flow.registers);
        self.globals.copy_from_slice(&after[REGISTERS..]);
        context.registers.copy_from_slice(&after[..REGISTERS]);
        row.keep(&mut context, time);
        match place {
            Some(at) if row.next == Next::Forget => table.remove(at),
            Some(at) => *table.state(at) = context,
            None if row.makes_context => {
                if let Some(evict) = self.evict
                    && table.count() == table.capacity()
                    && let Some(at) = table.candidate(home, evict)
                    && let Some((key, state)) = table.get(at)
                {
                    self.counters.evicted += 1;
                    events.push(event(EventKind::Evicted, number, time, key, state));
                    table.remove(at);
                }
                if table.insert(key, home, context).is_some() {
                    events.push(event(EventKind::New, number, time, &key, &context));
                    if self.evict.is_none() && table.count() == table.capacity() {
                        events.push(event(EventKind::Full, number, time, &key, &context));
                    }
                } else {
                    self.counters.unkept += 1;
                }
            }
            None => (),
        }
        if row.notify {
            events.push(event(EventKind::Notified, number, time, &key, &context));
        }
        let decision = row.decide(frame, &after);
        row.edit(frame, &flow.registers, &after);
        decision
    }

    fn walk<const K: usize>(
        &mut self,
        number: usize,
        table: &mut Table<K>,
        time: u64,
        places: usize,
        events: &mut Events,
    ) {
        // Twice round is all: a removal can bring a context from the table's beginning to the end that was walked before it.
        let mut places = places.min(2 * table.places());
        while let Some(at) = table.walk(&mut places, time) {
            let Some((key, before)) = table.get(at) else { continue };
            self.counters.expired += 1;
            events.push(event(EventKind::Expired, number, time, key, before));
            if table.state(at).expire(time) == Due::Gone {
                table.remove(at);
            }
        }
    }
}

impl Packing {
    /// The key of a frame; none when it lacks a field.
    #[inline]
    pub fn of_frame<const K: usize>(&self, frame: &Frame) -> Option<Words<K>> {
        // A key has no more fields than bytes, and room that is not used takes time, too.
        if K == 2 { self.of_fields::<K, 16>(frame) } else { self.of_fields::<K, LONGEST>(frame) }
    }

    #[inline]
    fn of_fields<const K: usize, const N: usize>(&self, frame: &Frame) -> Option<Words<K>> {
        let mut values = [0; N];
        let values = &mut values[..self.fields()];
        for (value, field) in values.iter_mut().zip(&self.key.fields) {
            *value = frame.get(*field)?;
        }
        self.order(values);
        Some(self.pack(values))
    }
}

impl Code {
    /// What the row says of state and timeouts.
    #[inline]
    fn keep(&self, context: &mut State, time: u64) {
        if let Next::State { state, hard, idle } = self.next {
            let then = |timeout: Option<Timeout>| timeout.and_then(|one| one.then).map_or(GONE, u16::from);
            let state = state.unwrap_or(context.state);
            *context = State {
                state,
                registers: context.registers,
                hard: hard.map_or(NEVER, |one| time.saturating_add(one.micros.into())),
                idle: NEVER,
                period: idle.map_or(0, |one| one.micros),
                hard_then: then(hard),
                idle_then: then(idle),
            };
        }
        if context.period != 0 {
            context.idle = time.saturating_add(context.period.into());
        }
    }
}
