// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An element: finds a frame's context and row, and applies the row to the context.

use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{self, Evict};

use crate::code::{After, Bits, Code, Decision, FULL, NEW, Registers, Results, Rows};
use crate::event::{EventKind, Events, Raw};
use crate::frame::{Frame, Known, LEFT, Verdict};
use crate::key::Packing;
use crate::table::{Due, NEVER, State, Table, Words};

/// Frames that go through an element together: while the last are parsed, memory fetches the contexts of the first.
pub(crate) const BATCH: usize = 32;

/// Counters of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that reached the element.
    pub frames: u64,
    /// Frames that lack a field of the key.
    pub keyless: u64,
    /// Frames that match no row.
    pub unmatched: u64,
    /// Frames whose row would have made a context when there was no room.
    pub unkept: u64,
    /// Contexts that expired.
    pub expired: u64,
    /// Contexts that were evicted in favour of others.
    pub evicted: u64,
    /// Frames by the row that they took.
    pub rows: Vec<u64>,
}

/// Contexts, by the length of their keys.
pub(crate) enum Contexts {
    /// The element has no key.
    None,
    /// Keys of up to 16 bytes.
    Short(Packing, Table<2>),
    /// Keys of up to 40 bytes.
    Long(Packing, Table<5>),
}

pub(crate) struct Element {
    pub number: usize,
    pub contexts: Contexts,
    pub parts: Parts,
}

/// Parts of an element that do not depend on the length of its key.
pub(crate) struct Parts {
    pub rows: Rows,
    pub evict: Option<Evict>,
    /// State of a flow without a context.
    pub initial: [u32; REGISTERS],
    pub globals: [u32; GLOBALS],
    pub counters: Counters,
    /// Results of the functions of the last row that was taken.
    results: Results,
}

impl Element {
    pub(crate) fn new(number: usize, source: &program::Element, contexts: u32, seed: u64) -> Element {
        let capacity = source.capacity.unwrap_or(contexts) as usize;
        let contexts = match &source.key {
            None => Contexts::None,
            Some(key) if key.bytes() <= 16 => Contexts::Short(Packing::new(key, 2), Table::new(capacity, seed)),
            Some(key) => Contexts::Long(Packing::new(key, 5), Table::new(capacity, seed)),
        };
        let mut parts = Parts {
            rows: Rows::new(source),
            evict: source.evict,
            initial: [0; REGISTERS],
            globals: [0; GLOBALS],
            counters: Counters { rows: vec![0; source.rows.len()], ..Counters::default() },
            results: [0; _],
        };
        parts.initial.iter_mut().zip(&source.registers).for_each(|(to, from)| *to = from.initial);
        parts.globals.iter_mut().zip(&source.globals).for_each(|(to, from)| *to = from.initial);
        Element { number, contexts, parts }
    }

    /// Sends the frames of a batch that have reached the element through it.
    pub(crate) fn run(&mut self, frames: &mut [Frame], known: &mut [Known], events: &mut Events) {
        match &mut self.contexts {
            Contexts::None => self.parts.stateless(self.number, frames, known, events),
            Contexts::Short(packing, table) => {
                self.parts.stateful(self.number, packing, table, frames, known, events);
            }
            Contexts::Long(packing, table) => {
                self.parts.stateful(self.number, packing, table, frames, known, events);
            }
        }
    }

    /// Expires contexts in `places` places of the table, or in all.
    pub(crate) fn walk(&mut self, time: u64, places: usize, events: &mut Events) {
        match &mut self.contexts {
            Contexts::None => (),
            Contexts::Short(_, table) => self.parts.walk(self.number, table, time, places, events),
            Contexts::Long(_, table) => self.parts.walk(self.number, table, time, places, events),
        }
    }
}

/// Facts about a frame that do not depend on its context.
#[derive(Clone, Copy)]
struct Seen<const K: usize> {
    key: Words<K>,
    home: usize,
    bits: Bits,
}

/// Applies a row's edits and verdict to a frame.
#[inline]
fn leave(row: &Code, frame: &mut Frame, known: &mut Known, results: &Results, after: Registers) {
    let verdict = match row.decide(frame, known, after) {
        Decision::Next(element) => {
            // A chain has at most 15 elements.
            known.next = element as u8;
            None
        }
        Decision::Port(port) => Some(Verdict::Port(port)),
        Decision::Host => Some(Verdict::Host),
        Decision::Drop => Some(Verdict::Drop),
    };
    if let Some(verdict) = verdict {
        frame.verdict = verdict;
        known.next = LEFT;
    }
    row.edit(frame, known, results, after);
}

/// An event about a context.
fn event<const K: usize>(kind: EventKind, element: usize, time: u64, key: &Words<K>, state: &State) -> Raw {
    let mut words = [0; 5];
    words[..K].copy_from_slice(key);
    Raw { kind, element, time, key: words, state: state.state, registers: state.registers }
}

impl Parts {
    fn stateless(&mut self, number: usize, frames: &mut [Frame], known: &mut [Known], events: &mut Events) {
        for (frame, known) in frames.iter_mut().zip(known) {
            if usize::from(known.next) != number {
                continue;
            }
            self.counters.frames += 1;
            let mut flow = self.initial;
            let mut bits = self.rows.bits(frame, known);
            bits.parts |= 1 << NEW;
            let Some(at) = self.take(0, bits, frame, known, &mut flow) else {
                known.next += 1;
                continue;
            };
            let row = &self.rows.rows[at];
            if row.notify {
                let time = frame.arrival.time;
                events.push(event::<0>(EventKind::Notified, number, time, &[], &State::new(self.initial)));
            }
            leave(row, frame, known, &self.results, Registers { flow: &flow, globals: &self.globals });
        }
    }

    /// The part without contexts comes first, for the whole batch, which gives memory time to fetch the contexts. The
    /// rest follows frame by frame, in their order.
    fn stateful<const K: usize>(
        &mut self,
        number: usize,
        packing: &Packing,
        table: &mut Table<K>,
        frames: &mut [Frame],
        known: &mut [Known],
        events: &mut Events,
    ) {
        let mut seen: [Option<Seen<K>>; BATCH] = [None; BATCH];
        for ((frame, known), seen) in frames.iter().zip(&mut *known).zip(&mut seen) {
            if usize::from(known.next) != number {
                continue;
            }
            self.counters.frames += 1;
            let Some(key) = packing.of_frame(frame, known) else {
                self.counters.keyless += 1;
                known.next += 1;
                continue;
            };
            let home = table.home(&key);
            table.fetch(home);
            *seen = Some(Seen { key, home, bits: self.rows.bits(frame, known) });
        }
        for ((frame, known), seen) in frames.iter_mut().zip(known).zip(seen) {
            if let Some(seen) = seen {
                self.one(number, table, seen, frame, known, events);
            }
        }
    }

    #[inline]
    fn one<const K: usize>(
        &mut self,
        number: usize,
        table: &mut Table<K>,
        Seen { key, home, mut bits }: Seen<K>,
        frame: &mut Frame,
        known: &mut Known,
        events: &mut Events,
    ) {
        let time = frame.arrival.time;
        let mut place = table.find(&key, home);
        if let Some(at) = place
            && table.state(at).is_over(time)
        {
            self.counters.expired += 1;
            events.push(event(EventKind::Expired, number, time, &key, table.state(at)));
            if table.state(at).expire(time) == Due::Gone {
                table.remove(at);
                place = None;
            }
        }
        let full = self.evict.is_none() && table.count() == table.capacity();
        bits.parts |= u32::from(place.is_none()) << NEW | u32::from(full) << FULL;
        let mut fresh;
        let context = match place {
            // The context is changed in place.
            Some(at) => table.state(at),
            None => {
                fresh = State::new(self.initial);
                &mut fresh
            }
        };
        let Some(at) = self.take(context.state, bits, frame, known, &mut context.registers) else {
            known.next += 1;
            return;
        };
        let row = &self.rows.rows[at];
        row.keep(context, time);
        leave(row, frame, known, &self.results, Registers { flow: &context.registers, globals: &self.globals });
        let notified = row.notify.then(|| event(EventKind::Notified, number, time, &key, context));
        match place {
            Some(at) if row.after == After::Forget => table.remove(at),
            None if row.makes_context => {
                let context = *context;
                self.add(number, table, Seen { key, home, bits }, context, time, events);
            }
            _ => (),
        }
        if let Some(notified) = notified {
            events.push(notified);
        }
    }

    /// Adds a context to the table, if there is room or another context is evicted.
    fn add<const K: usize>(
        &mut self,
        number: usize,
        table: &mut Table<K>,
        Seen { key, home, .. }: Seen<K>,
        context: State,
        time: u64,
        events: &mut Events,
    ) {
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

    /// Finds the row that a frame takes, counts it, computes its functions and sets registers.
    #[inline]
    fn take(
        &mut self,
        state: u8,
        bits: Bits,
        frame: &Frame,
        known: &Known,
        flow: &mut [u32; REGISTERS],
    ) -> Option<usize> {
        let before = Registers { flow, globals: &self.globals };
        let Some(at) = self.rows.find(state, bits, frame, known, before) else {
            self.counters.unmatched += 1;
            return None;
        };
        self.counters.rows[at] += 1;
        let row = &self.rows.rows[at];
        row.calculate(frame, known, before, &mut self.results);
        row.update(&self.results, flow, &mut self.globals);
        Some(at)
    }

    fn walk<const K: usize>(
        &mut self,
        number: usize,
        table: &mut Table<K>,
        time: u64,
        places: usize,
        events: &mut Events,
    ) {
        // Two rounds visit every context: a removal can move a context from the table's start to its end, which the
        // walk has passed.
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

impl Code {
    /// Applies the row's state and timeouts.
    #[inline]
    fn keep(&self, context: &mut State, time: u64) {
        if let After::Set(stay) = self.after {
            context.state = stay.state.unwrap_or(context.state);
            context.hard = time.saturating_add(stay.hard);
            context.idle = NEVER;
            context.period = stay.period;
            context.hard_then = stay.hard_then;
            context.idle_then = stay.idle_then;
        }
        if context.period != 0 {
            context.idle = time.saturating_add(context.period.into());
        }
    }
}
