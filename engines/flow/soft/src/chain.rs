// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Elements in sequence.

use std::fmt;

use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::Program;

use crate::code::Rows;
use crate::element::{BATCH, Contexts, Counters, Element};
use crate::event::{Event, EventKind, Events, Raw};
use crate::frame::{Arrival, Frame, Known, Verdict};
use crate::key::Packing;
use crate::table::{GONE, NEVER, State, Table};

/// Options of a chain.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Default number of contexts of a table.
    pub contexts: u32,
    /// Room for events that wait for the host.
    pub events: usize,
    /// Places of contexts in their tables depend on this number. If it is secret, nobody can choose flows that collide.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { contexts: 16_384, events: 4096, seed: 0 }
    }
}

/// Contexts of an element, as many as are read between two frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    /// The contexts.
    pub contexts: Vec<Context>,
    /// Where the next slice begins; None if this is the last one.
    pub next: Option<usize>,
}

/// A context, as the host sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The fields of the key; with `biflow` the smaller side comes first.
    pub key: Vec<u128>,
    /// Number of its state.
    pub state: u8,
    /// Flow registers; those that the program lacks are 0.
    pub registers: [u32; REGISTERS],
    /// Its hard deadline.
    pub hard: Option<Deadline>,
    /// Its idle deadline, and the idle time that it allows, in µs.
    pub idle: Option<(Deadline, u32)>,
}

/// A deadline of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Its time in µs.
    pub at: u64,
    /// The state afterwards; None: the context is removed.
    pub then: Option<u8>,
}

/// Errors of requests of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "Display's messages describe the fields")]
pub enum HostError {
    /// There is no such element.
    Element { number: usize, elements: usize },
    /// The element has no key.
    NoContexts { element: String },
    /// The values are not those of the key's fields.
    Key { element: String, fields: Vec<&'static str> },
    /// There is no such state.
    State { element: String, state: u8, states: usize },
    /// The table is full.
    Full { element: String, contexts: usize },
    /// Only in hardware: the table is not full, but other contexts have all places that this key can have.
    NoPlace { element: String, contexts: usize },
    /// The new program has other elements, keys, states, registers or tables.
    Differs { element: String, what: &'static str },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Element { number, elements } => {
                write!(f, "there is no element {number}; the chain has {elements}, counted from 0")
            }
            HostError::NoContexts { element } => write!(f, "element {element} has no key, so it has no contexts"),
            HostError::Key { element, fields } => {
                write!(f, "a key of element {element} has a value for each of {}, within its width", fields.join(", "))
            }
            HostError::State { element, state, states } => {
                write!(f, "element {element} has no state {state}; its {states} are counted from 0")
            }
            HostError::Full { element, contexts } => {
                write!(f, "the table of element {element} is full with {contexts} contexts; remove one first")
            }
            HostError::NoPlace { element, contexts } => write!(
                f,
                "other contexts of element {element} have all places for this key, though its table has only \
                 {contexts} contexts; try again, because contexts move, or remove some"
            ),
            HostError::Differs { element, what } => write!(
                f,
                "element {element} has other {what} in the new program, where its contexts would have no meaning; \
                 start the card anew with this program"
            ),
        }
    }
}

impl std::error::Error for HostError {}

/// A running program.
pub struct Chain {
    program: Program,
    elements: Vec<Element>,
    events: Events,
    /// Number of times that rows were changed.
    changes: u64,
    /// Facts about the frames of a batch.
    known: [Known; BATCH],
}

impl Chain {
    /// Starts a program: no flow has a context, all registers have their first values.
    pub fn new(program: &Program, options: &Options) -> Chain {
        let element = |(at, one)| Element::new(at, one, options.contexts, options.seed);
        let elements: Vec<_> = program.elements.iter().enumerate().map(element).collect();
        let events = Events::new(options.events, elements.len());
        Chain { program: program.clone(), elements, events, changes: 0, known: [Known::default(); BATCH] }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Sends a frame through its elements and gives the verdict. Edits change the frame even if a later element drops
    /// it.
    pub fn run(&mut self, bytes: &mut Vec<u8>, arrival: &Arrival) -> Verdict {
        let mut frame = Frame { bytes: std::mem::take(bytes), arrival: *arrival, verdict: Verdict::Pass, mark: 0 };
        self.run_all(std::slice::from_mut(&mut frame));
        *bytes = frame.bytes;
        frame.verdict
    }

    /// Sends many frames through, in their order. This is faster because memory fetches for many at once. Up to 32
    /// frames go through an element before the first of them reaches the next element, so events of different elements
    /// are not in the order of the frames.
    pub fn run_all(&mut self, frames: &mut [Frame]) {
        frames.iter().take(BATCH).for_each(Frame::fetch);
        let mut rest = frames;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at_mut(BATCH.min(rest.len()));
            self.run_batch(batch, later);
            rest = later;
        }
    }

    /// Sends frames through and prefetches later ones.
    fn run_batch(&mut self, frames: &mut [Frame], later: &[Frame]) {
        let known = &mut self.known[..frames.len()];
        let mut later = later.iter();
        for (frame, known) in frames.iter_mut().zip(&mut *known) {
            frame.verdict = Verdict::Pass;
            known.enter(frame);
            later.next().into_iter().for_each(Frame::fetch);
        }
        for element in &mut self.elements {
            if known.iter().any(|known| usize::from(known.next) == element.number) {
                element.run(frames, known, &mut self.events);
            }
        }
        for (frame, known) in frames.iter_mut().zip(known) {
            known.headers.repair(&mut frame.bytes);
            frame.mark = known.meta[0];
        }
    }

    /// Expires contexts in `places` places of each table, from where the last walk stopped, but in no place twice. A
    /// flow's next frame finds its context expired without a walk; but until a walk has removed it, an expired context
    /// takes up room.
    pub fn walk(&mut self, time: u64, places: usize) {
        for element in &mut self.elements {
            element.walk(time, places, &mut self.events);
        }
    }

    /// Expires all contexts whose deadline has passed.
    pub fn walk_all(&mut self, time: u64) {
        self.walk(time, usize::MAX);
    }

    /// Takes the oldest event.
    pub fn event(&mut self) -> Option<Event> {
        let Raw { kind, element, time, key, state, registers } = self.events.pop()?;
        let key = match &self.elements[element].contexts {
            Contexts::None => vec![],
            Contexts::Short(packing, _) => packing.unpack(&[key[0], key[1]]),
            Contexts::Long(packing, _) => packing.unpack(&key),
        };
        Some(Event { kind, element, time, key, state, registers })
    }

    /// Keeps only events of these kinds of an element from now on. A new chain keeps all.
    pub fn tell(&mut self, element: usize, kinds: &[EventKind]) -> Result<(), HostError> {
        self.element(element)?;
        self.events.tell(element, kinds);
        Ok(())
    }

    /// Events that were lost because too many waited.
    pub fn events_lost(&self) -> u64 {
        self.events.lost
    }

    /// Counters of an element.
    pub fn counters(&self, element: usize) -> Result<&Counters, HostError> {
        Ok(&self.element(element)?.parts.counters)
    }

    /// The element's registers; those that the program lacks are 0.
    pub fn globals(&mut self, element: usize) -> Result<&mut [u32; GLOBALS], HostError> {
        let elements = self.elements.len();
        let found = self.elements.get_mut(element).map(|element| &mut element.parts.globals);
        found.ok_or(HostError::Element { number: element, elements })
    }

    /// Whether the table of an element has no room.
    pub fn is_full(&self) -> bool {
        self.elements.iter().any(|element| match &element.contexts {
            Contexts::None => false,
            Contexts::Short(_, table) => table.count() == table.capacity(),
            Contexts::Long(_, table) => table.count() == table.capacity(),
        })
    }

    /// Number of contexts, including expired ones that no frame or walk has visited since.
    pub fn count(&self, element: usize) -> Result<usize, HostError> {
        Ok(match &self.element(element)?.contexts {
            Contexts::None => 0,
            Contexts::Short(_, table) => table.count(),
            Contexts::Long(_, table) => table.count(),
        })
    }

    /// A slice of the contexts of an element, from 0 or the [`Slice::next`] of the slice before. Frames may pass between
    /// two slices. A context that is there from the first slice to the last is in exactly one slice.
    pub fn slice(&self, element: usize, from: usize) -> Result<Slice, HostError> {
        fn some<const K: usize>(packing: &Packing, table: &Table<K>, from: usize) -> Slice {
            let (found, next) = table.slice(from);
            let contexts = found.into_iter().map(|(key, state)| seen(packing.unpack(key), state)).collect();
            Slice { contexts, next }
        }
        Ok(match &self.element(element)?.contexts {
            Contexts::None => Slice::default(),
            Contexts::Short(packing, table) => some(packing, table, from),
            Contexts::Long(packing, table) => some(packing, table, from),
        })
    }

    /// The context of a flow.
    pub fn context(&self, element: usize, key: &[u128]) -> Result<Option<Context>, HostError> {
        fn one<const K: usize>(packing: &Packing, table: &Table<K>, key: &[u128]) -> Option<Context> {
            let words = packing.pack(key);
            let (_, state) = table.get(table.find(&words, table.home(&words))?)?;
            Some(seen(key.to_vec(), state))
        }
        let key = self.ordered(element, key)?;
        Ok(match &self.element(element)?.contexts {
            Contexts::None => None,
            Contexts::Short(packing, table) => one(packing, table, &key),
            Contexts::Long(packing, table) => one(packing, table, &key),
        })
    }

    /// Adds a context, or replaces the one of the same flow.
    pub fn insert(&mut self, element: usize, context: &Context) -> Result<(), HostError> {
        fn put<const K: usize>(packing: &Packing, table: &mut Table<K>, key: &[u128], state: State) -> bool {
            let words = packing.pack(key);
            let home = table.home(&words);
            match table.find(&words, home) {
                Some(place) => {
                    *table.state(place) = state;
                    true
                }
                None => table.insert(words, home, state).is_some(),
            }
        }
        let key = self.ordered(element, &context.key)?;
        let source = &self.program.elements[element];
        let then = |deadline: Option<Deadline>| deadline.and_then(|one| one.then);
        let idle = context.idle.map(|(deadline, _)| deadline);
        for state in [Some(context.state), then(context.hard), then(idle)].into_iter().flatten() {
            if usize::from(state) >= source.states.len() {
                let (element, states) = (source.name.clone(), source.states.len());
                return Err(HostError::State { element, state, states });
            }
        }
        let state = State {
            registers: context.registers,
            hard: context.hard.map_or(NEVER, |deadline| deadline.at),
            idle: idle.map_or(NEVER, |deadline| deadline.at),
            period: context.idle.map_or(0, |(_, period)| period),
            hard_then: then(context.hard).map_or(GONE, u16::from),
            idle_then: then(idle).map_or(GONE, u16::from),
            state: context.state,
            used: true,
        };
        let (put, contexts) = match &mut self.elements[element].contexts {
            Contexts::None => (true, 0),
            Contexts::Short(packing, table) => (put(packing, table, &key, state), table.capacity()),
            Contexts::Long(packing, table) => (put(packing, table, &key, state), table.capacity()),
        };
        if put { Ok(()) } else { Err(HostError::Full { element: source.name.clone(), contexts }) }
    }

    /// Removes the context of a flow; false if the flow has no context.
    pub fn remove(&mut self, element: usize, key: &[u128]) -> Result<bool, HostError> {
        fn out<const K: usize>(packing: &Packing, table: &mut Table<K>, key: &[u128]) -> bool {
            let words = packing.pack(key);
            let place = table.find(&words, table.home(&words));
            place.map(|place| table.remove(place)).is_some()
        }
        let key = self.ordered(element, key)?;
        Ok(match &mut self.elements[element].contexts {
            Contexts::None => false,
            Contexts::Short(packing, table) => out(packing, table, &key),
            Contexts::Long(packing, table) => out(packing, table, &key),
        })
    }

    /// Removes all contexts of an element.
    pub fn clear(&mut self, element: usize) -> Result<(), HostError> {
        self.element(element)?;
        match &mut self.elements[element].contexts {
            Contexts::None => (),
            Contexts::Short(_, table) => table.clear(),
            Contexts::Long(_, table) => table.clear(),
        }
        Ok(())
    }

    /// Goes on with the rows of another program, between two frames. Contexts, registers and counters stay, except
    /// counters of rows, which start again. If the programs differ in more than rows, nothing changes.
    pub fn change(&mut self, program: &Program) -> Result<(), HostError> {
        if let Some((element, what)) = self.program.difference(program) {
            return Err(HostError::Differs { element, what });
        }
        for (element, new) in self.elements.iter_mut().zip(&program.elements) {
            element.parts.rows = Rows::new(new);
            element.parts.evict = new.evict;
            element.parts.counters.rows = vec![0; new.rows.len()];
        }
        self.program = program.clone();
        self.changes += 1;
        Ok(())
    }

    /// Number of times that rows were changed. Counters of rows start again each time.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn element(&self, number: usize) -> Result<&Element, HostError> {
        self.elements.get(number).ok_or(HostError::Element { number, elements: self.elements.len() })
    }

    /// A key's values in the order that both directions share.
    fn ordered(&self, element: usize, key: &[u128]) -> Result<Vec<u128>, HostError> {
        let name = || self.program.elements[element].name.clone();
        let packing = match &self.element(element)?.contexts {
            Contexts::None => return Err(HostError::NoContexts { element: name() }),
            Contexts::Short(packing, _) | Contexts::Long(packing, _) => packing,
        };
        let fields = &packing.key.fields;
        let fit = |(value, field): (&u128, &penstock_headers::Field)| value.checked_shr(field.bits()).unwrap_or(0) == 0;
        if key.len() != fields.len() || !key.iter().zip(fields).all(fit) {
            let fields = fields.iter().map(|field| field.name()).collect();
            return Err(HostError::Key { element: name(), fields });
        }
        let mut key = key.to_vec();
        packing.order(&mut key);
        Ok(key)
    }
}

/// A context as the host sees it.
fn seen(key: Vec<u128>, state: &State) -> Context {
    let then = |then: u16| (then != GONE).then_some(then as u8);
    let hard = (state.hard != NEVER).then_some(Deadline { at: state.hard, then: then(state.hard_then) });
    let idle = Deadline { at: state.idle, then: then(state.idle_then) };
    let idle = (state.idle != NEVER).then_some((idle, state.period));
    Context { key, state: state.state, registers: state.registers, hard, idle }
}
