// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline chain of a card in RTL, over its registers (shell/regs/inline.rdl, engines/flow/regs/flow.rdl).

use std::collections::{HashMap, VecDeque};
use std::slice;

use penstock_flow_compiler::Fault;
use penstock_flow_compiler::hardware::{self, Contexts, Hardware, KEY_WORDS};
use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{Element, Program, Timeout};
use penstock_shell::flow::{Context, Deadline, Event, EventKind, HostError};

use crate::device::DeviceError;
use crate::flow::{FlowError, FlowImage, joined, no_register};
use crate::host::{Bus, LOOK};
use crate::outcome::{ElementCounters, InlineCounters, RowCounter};
use crate::regs;

/// Host addresses of the chain's registers and of the first block's window, and from one block to the next.
const CHAIN: u32 = 0x4400_1000;
const BLOCKS: u32 = 0x4500_0000;
const BLOCK_STRIDE: u32 = 0x100_0000;
/// In a block's window those of all its elements and of the first element, and from one element to the next.
const ALL: u32 = 0x08_0000;
const ELEMENTS: u32 = 0x10_0000;
const STRIDE: u32 = 0x10_0000;
/// The card's time has ns.
const MICRO: u64 = 1000;
/// Contexts for which places are found, of a hundred places.
const LOAD: u64 = 97;
/// Fewest and most places of a table.
const PLACES: (u32, u32) = (64, 1 << 20);
/// Cycles after which an element must have done what it was told: to look at all places takes one for each.
const PATIENCE: u64 = 2_000_000;
/// Bits of STATUS.
const COMPLETE: u32 = 1;
const CHANGES: u32 = 1 << 1;
const WAITS: u32 = 1 << 2;
const FOUND: u32 = 1 << 3;
/// Bits of CHANGE.
const COMMIT: u32 = 1;
const CLEAR: u32 = 2;
const BEGIN_GLOBALS: u32 = 4;
const SWEEP: u32 = 8;
/// Values of COMMAND.
const READ: u32 = 0;
const FIND: u32 = 1;
const PUT: u32 = 2;
const DELETE: u32 = 3;
/// Bits of PLACE that name a slot of the stash, and a way.
const IN_STASH: u32 = 1 << 31;
const WAY_AT: u32 = 20;
/// Times up to so many µs ago are past, all others are still to come.
const PAST: u32 = 1 << 28;
/// So far the clock is set at once, in µs: what passes by then is past for long enough to be seen everywhere.
const LEAP: u64 = PAST as u64 / 2;
/// No deadline is further ahead, in µs.
const HORIZON: u64 = 1 << 32;
/// How often the places of a table are read at most, as long as entries move from one that is still to be read to one that was.
const ROUNDS: u32 = 4;

/// Places of a table in which so many contexts find room.
pub fn places(contexts: u32) -> u32 {
    let places = (u64::from(contexts) * 100).div_ceil(LOAD).next_power_of_two();
    u32::try_from(places).unwrap_or(PLACES.1).clamp(PLACES.0, PLACES.1)
}

/// The engine's number and parameter of a block of so many elements, as engines/inline_block.sv has them.
pub fn block(elements: usize, places: u32) -> (u8, u64) {
    const FLOW: u8 = 2;
    (FLOW, elements as u64 | u64::from(places.ilog2()) << 8)
}

/// How the table of an element is doing. A new context goes to one of its places when one of them is empty, else into the stash, from where a mover
/// takes it to one of them; what was there goes to the stash in exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowTable {
    /// Places, without those of the stash.
    pub places: u32,
    /// Contexts that there are.
    pub contexts: u32,
    /// Times that an entry went to another place, out of the stash, modulo 2^32.
    pub moved: u32,
    /// Entries of the stash.
    pub stash: u32,
    /// The most that there were.
    pub most: u32,
}

/// Where an element is: its block, and its number in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seat {
    block: u32,
    element: u32,
}

impl Seat {
    /// Those of all elements, in their order.
    fn all(blocks: &[FlowImage]) -> Vec<Seat> {
        let of_block = |(block, image): (u32, &FlowImage)| {
            (0..image.program.elements.len() as u32).map(move |element| Seat { block, element })
        };
        (0..).zip(blocks).flat_map(of_block).collect()
    }

    /// Address of its window.
    fn base(self) -> u32 {
        BLOCKS + self.block * BLOCK_STRIDE + ELEMENTS + self.element * STRIDE
    }
}

/// Address of a counter of a block.
fn counter(block: u32, register: u32) -> u32 {
    CHAIN + regs::INLINE_BLOCK_BASE + block * regs::INLINE_BLOCK_STRIDE + register
}

/// The card's time, in µs.
fn now(bus: &mut impl Bus) -> Result<u64, DeviceError> {
    let low = bus.read(CHAIN + regs::INLINE_TIME_L)?;
    Ok((u64::from(bus.read(CHAIN + regs::INLINE_TIME_H)?) << 32 | u64::from(low)) / MICRO)
}

/// Sets it.
fn set_now(bus: &mut impl Bus, time: u64) -> Result<(), DeviceError> {
    let nanoseconds = time.saturating_mul(MICRO);
    bus.write(CHAIN + regs::INLINE_TIME_H, (nanoseconds >> 32) as u32)?;
    bus.write(CHAIN + regs::INLINE_TIME_L, nanoseconds as u32)
}

/// A program in the elements of a card.
pub struct CardChain {
    program: Program,
    /// Of each element.
    seats: Vec<Seat>,
    /// Of each element; none for one without a key.
    contexts: Vec<Option<Contexts>>,
    /// For each row of hardware the row of the program.
    rows: Vec<Vec<usize>>,
    /// Events that were read and that nobody has taken.
    waiting: VecDeque<Event>,
    /// When the clock was read last, in µs.
    time: u64,
    /// It stands still, but for what [`Self::pass_time`] says.
    held: bool,
    /// Frames that had gone through the chain at the load, as long as nobody has said how late it is.
    unset: Option<u32>,
    /// Until when contexts that had ended were looked for, in µs.
    swept: u64,
    /// How often rows were changed.
    changes: u64,
}

impl CardChain {
    /// Loads the elements; no flow has a context then, and the clock begins at 0.
    ///
    /// # Errors
    /// The card's elements are not as many, or their tables not as large as the programs want; nothing has changed then.
    pub fn load(bus: &mut impl Bus, blocks: &[FlowImage]) -> Result<Self, DeviceError> {
        let program = joined(blocks);
        let there = bus.read(CHAIN + regs::INLINE_BLOCKS)?;
        if blocks.len() != there as usize {
            let text = format!(
                "the design has {} inline blocks, and this card was built for {there}; open the design anew",
                blocks.len()
            );
            return Err(DeviceError::Unsupported(text));
        }
        for (block, image) in (0..).zip(blocks) {
            let elements = bus.read(BLOCKS + block * BLOCK_STRIDE + regs::FLOW_BLOCK_ELEMENTS)?;
            if image.program.elements.len() != elements as usize {
                let text = format!(
                    "{}: the program has {} elements, and this card's block was built for {elements}; \
                     open the design anew with it",
                    image.path.display(),
                    image.program.elements.len()
                );
                return Err(DeviceError::Unsupported(text));
            }
        }
        let seats = Seat::all(blocks);
        let shape = Window { bus, seat: seats[0] }.shape()?;
        let Hardware { words, rows, contexts } = compile(blocks, shape.room, &[]).map_err(DeviceError::Unsupported)?;
        bring(bus, &seats, &words)?;
        for seat in &seats {
            let mut window = Window { bus, seat: *seat };
            for word in secret(shape.secret) {
                window.write(regs::FLOW_HOST_SECRET, word)?;
            }
        }
        // Whatever a frame has left behind under half a secret goes.
        change(bus, &seats, COMMIT | CLEAR | BEGIN_GLOBALS)?;
        for seat in &seats {
            let mut window = Window { bus, seat: *seat };
            while window.read(regs::FLOW_HOST_EVENT)? != 0 {
                window.write(regs::FLOW_HOST_EVENT, 0)?;
            }
            window.write(regs::FLOW_HOST_TELL, u32::MAX)?;
        }
        bus.write(CHAIN + regs::INLINE_HOLD, 0)?;
        set_now(bus, 0)?;
        let unset = Some(Self::frames(bus)?);
        let waiting = VecDeque::new();
        Ok(Self { program, seats, contexts, rows, waiting, time: 0, held: false, unset, swept: 0, changes: 0 })
    }

    /// Gives the elements other rows, all those of a block between the same two frames; contexts and registers stay.
    ///
    /// # Errors
    /// The programs differ in more than rows; then nothing has changed.
    pub fn change(&mut self, bus: &mut impl Bus, blocks: &[FlowImage]) -> Result<(), FlowError> {
        let program = joined(blocks);
        if let Some((element, what)) = self.program.difference(&program) {
            return Err(HostError::Differs { element, what }.into());
        }
        let shape = self.window(bus, 0).shape()?;
        let Hardware { words, rows, contexts } =
            compile(blocks, shape.room, &self.contexts).map_err(FlowError::Given)?;
        bring(bus, &self.seats, &words)?;
        change(bus, &self.seats, COMMIT)?;
        (self.program, self.rows, self.contexts) = (program, rows, contexts);
        self.changes += 1;
        Ok(())
    }

    /// What it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The window of an element that there is.
    fn window<'a, B: Bus>(&self, bus: &'a mut B, element: usize) -> Window<'a, B> {
        Window { bus, seat: self.seats[element] }
    }

    fn blocks(&self) -> u32 {
        self.seats.last().map_or(0, |seat| seat.block + 1)
    }

    /// All counters.
    pub fn counters(&self, bus: &mut impl Bus) -> Result<InlineCounters, DeviceError> {
        let mut counters = InlineCounters {
            frames: Self::frames(bus)?.into(),
            refused: bus.read(CHAIN + regs::INLINE_REFUSED)?.into(),
            changes: self.changes,
            ..InlineCounters::default()
        };
        for block in 0..self.blocks() {
            counters.blocked += u64::from(bus.read(counter(block, regs::INLINE_BLOCK_BLOCKED))?);
        }
        for (number, element) in self.program.elements.iter().enumerate() {
            let mut window = self.window(bus, number);
            counters.events_lost += u64::from(window.read(regs::FLOW_HOST_EVENTS_LOST)?);
            let mut rows: Vec<RowCounter> =
                element.rows.iter().map(|row| RowCounter { line: row.span.line, frames: 0 }).collect();
            for (at, row) in (0..).zip(&self.rows[number]) {
                rows[*row].frames += u64::from(window.read(regs::FLOW_HOST_ROWS + 4 * at)?);
            }
            counters.elements.push(ElementCounters {
                name: element.name.clone(),
                frames: window.read(regs::FLOW_HOST_FRAMES)?.into(),
                keyless: window.read(regs::FLOW_HOST_KEYLESS)?.into(),
                unmatched: window.read(regs::FLOW_HOST_UNMATCHED)?.into(),
                unkept: window.read(regs::FLOW_HOST_UNKEPT)?.into(),
                expired: window.read(regs::FLOW_HOST_EXPIRED)?.into(),
                evicted: window.read(regs::FLOW_HOST_EVICTED)?.into(),
                contexts: window.read(regs::FLOW_HOST_CONTEXTS)?.into(),
                rows,
            });
        }
        Ok(counters)
    }

    /// Frames that have come into the chain.
    pub fn frames(bus: &mut impl Bus) -> Result<u32, DeviceError> {
        bus.read(counter(0, regs::INLINE_BLOCK_FRAMES))
    }

    /// Blocks that have frames in them, a bit each.
    pub fn busy(bus: &mut impl Bus) -> Result<u32, DeviceError> {
        bus.read(CHAIN + regs::INLINE_BUSY)
    }

    /// The time that frames find, in µs.
    pub fn time(&mut self, bus: &mut impl Bus) -> Result<u64, FlowError> {
        self.time = now(bus)?;
        Ok(self.time)
    }

    /// It is so late, if it is not later. Contexts whose time is over then end.
    pub fn set_time(&mut self, bus: &mut impl Bus, time: u64) -> Result<(), FlowError> {
        self.unset = None;
        let time = time.min(u64::MAX / MICRO);
        // Who leaps over a deadline by more than what is past finds it ahead again; so the clock goes in steps, until there can be none any more.
        let mut steps = HORIZON / LEAP;
        while self.time(bus)? < time {
            let leap = if steps > 0 { LEAP } else { u64::MAX };
            steps = steps.saturating_sub(1);
            self.time = time.min(self.time.saturating_add(leap));
            set_now(bus, self.time)?;
            self.sweep(bus)?;
        }
        Ok(())
    }

    /// It is so late, as [`Self::set_time`] says, for the frames that come, and stays so until the next call or [`Self::release`]. What has ended by
    /// then may stay in the tables, as no frame finds it, until one of them is full.
    pub fn pass_time(&mut self, bus: &mut impl Bus, time: u64) -> Result<(), FlowError> {
        if !self.held {
            bus.write(CHAIN + regs::INLINE_HOLD, 1)?;
            self.held = true;
            if self.unset.take() == Some(Self::frames(bus)?) {
                // No frame has found what the clock did meanwhile.
                set_now(bus, 0)?;
                self.time = 0;
            }
        }
        if time >= self.swept.saturating_add(LEAP) {
            self.set_time(bus, time)?;
        } else if self.time(bus)? < time {
            self.time = time;
            set_now(bus, time)?;
        }
        if self.swept < self.time && self.is_full(bus)? {
            self.sweep(bus)?;
        }
        Ok(())
    }

    /// The clock goes on with the card's cycles.
    pub fn release(&mut self, bus: &mut impl Bus) -> Result<(), DeviceError> {
        if self.held {
            bus.write(CHAIN + regs::INLINE_HOLD, 0)?;
        }
        self.held = false;
        Ok(())
    }

    /// Ends all contexts whose time is over.
    fn sweep(&mut self, bus: &mut impl Bus) -> Result<(), FlowError> {
        for element in 0..self.program.elements.len() {
            if self.count(bus, element)? > 0 {
                self.window(bus, element).change(SWEEP)?;
            }
        }
        // Their times have 32 bits, too.
        while self.take_oldest(bus)? {}
        self.swept = self.time;
        Ok(())
    }

    /// Whether the table of an element has no room.
    fn is_full(&self, bus: &mut impl Bus) -> Result<bool, FlowError> {
        for (element, source) in self.program.elements.iter().enumerate() {
            if source.key.is_some() && self.count(bus, element)? >= self.capacity(bus, element)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Contexts for which the table of an element has room.
    fn capacity(&self, bus: &mut impl Bus, element: usize) -> Result<usize, FlowError> {
        let room = self.window(bus, element).read(regs::FLOW_HOST_ROOM)?;
        Ok(self.element(element)?.capacity.map_or(room, |most| most.min(room)) as usize)
    }

    /// Registers of an element.
    pub fn globals(&self, bus: &mut impl Bus, element: usize) -> Result<[u32; GLOBALS], FlowError> {
        self.element(element)?;
        Ok(self.window(bus, element).read_all(regs::FLOW_HOST_GLOBALS)?)
    }

    /// Sets one, between two frames.
    pub fn set_global(&self, bus: &mut impl Bus, element: usize, register: usize, to: u32) -> Result<(), FlowError> {
        self.element(element)?;
        let register = (0..GLOBALS as u32).nth(register).ok_or_else(|| no_register(register))?;
        let mut window = self.window(bus, element);
        window.write(regs::FLOW_HOST_GLOBALS + 4 * register, to)?;
        Ok(window.until_not(CHANGES).map(|_| ())?)
    }

    /// Contexts that there are.
    pub fn count(&self, bus: &mut impl Bus, element: usize) -> Result<usize, FlowError> {
        match self.element(element)?.key {
            Some(_) => Ok(self.window(bus, element).read(regs::FLOW_HOST_CONTEXTS)? as usize),
            None => Ok(0),
        }
    }

    /// All contexts, place by place until as many are found as there are. Entries move meanwhile, so one may be found twice, and another one not at once.
    ///
    /// # Errors
    /// Some are not found in any of [`ROUNDS`], as too many move.
    pub fn all(&mut self, bus: &mut impl Bus, element: usize) -> Result<Vec<Context>, FlowError> {
        let now = self.time(bus)?;
        let Shape { places, ways, stash, .. } = self.window(bus, element).shape()?;
        let mut found = Found::default();
        for _ in 0..ROUNDS {
            let count = self.count(bus, element)?;
            let mut window = self.window(bus, element);
            let of_ways = (0..places).map(|place| (place / ways) | ((place % ways) << WAY_AT));
            for place in (0..stash).map(|slot| IN_STASH | slot << WAY_AT).chain(of_ways) {
                if found.all.len() >= count {
                    return Ok(found.all);
                }
                window.write(regs::FLOW_HOST_PLACE, place)?;
                if window.command(READ)? {
                    found.add(window.context(self.known(element)?, now)?);
                }
            }
        }
        let contexts = self.count(bus, element)?;
        if found.all.len() >= contexts {
            return Ok(found.all);
        }
        let name = &self.element(element)?.name;
        Err(FlowError::Card(format!(
            "of {contexts} contexts of element {name} {} were found, as they move from place to place while frames come; list them again when fewer new flows do",
            found.all.len()
        )))
    }

    /// The context of a flow.
    pub fn context(&mut self, bus: &mut impl Bus, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError> {
        let now = self.time(bus)?;
        let known = self.known_key(element, key)?;
        let mut window = self.window(bus, element);
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(key))?;
        if window.command(FIND)? { window.context(known, now).map(Some) } else { Ok(None) }
    }

    /// Adds a context, or replaces that of the same flow.
    pub fn insert(&mut self, bus: &mut impl Bus, element: usize, context: &Context) -> Result<(), FlowError> {
        let now = self.time(bus)?;
        let known = self.known_key(element, &context.key)?;
        let source = self.element(element)?;
        let idle = context.idle.map(|(deadline, micros)| (deadline, Some(micros)));
        let times = [context.hard.map(|deadline| (deadline, None)), idle];
        for state in [Some(context.state)].into_iter().chain(times.map(|time| time?.0.then)).flatten() {
            if usize::from(state) >= source.states.len() {
                let (element, states) = (source.name.clone(), source.states.len());
                return Err(HostError::State { element, state, states }.into());
            }
        }
        let mut timeouts = [0; 2];
        let mut deadlines = [0; 2];
        for (at, time) in times.into_iter().enumerate() {
            let Some((deadline, micros)) = time else { continue };
            let number =
                known.number(|one| one.then == deadline.then && micros.is_none_or(|micros| micros == one.micros));
            let none = || {
                let text = format!(
                    "the hardware's element {} knows only the timeouts that its program names; take one of these, with the state that it leads to",
                    source.name
                );
                FlowError::Given(text)
            };
            timeouts[at] = (number.ok_or_else(none)? as u32) << 1 | 1;
            if deadline.at.saturating_sub(now) > Timeout::LONGEST.into() {
                return Err(FlowError::Given("a context ends after 4,000 s at the latest".to_owned()));
            }
            deadlines[at] = deadline.at.max(now) as u32;
        }
        let mut window = self.window(bus, element);
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(&context.key))?;
        window.write(regs::FLOW_HOST_STATE, context.state.into())?;
        window.write_all(regs::FLOW_HOST_REGISTERS, &context.registers)?;
        window.write_all(regs::FLOW_HOST_TIMEOUT, &timeouts)?;
        window.write_all(regs::FLOW_HOST_DEADLINE, &deadlines)?;
        if window.command(PUT)? {
            return Ok(());
        }
        let contexts = self.count(bus, element)?;
        let is_full = contexts >= self.capacity(bus, element)?;
        let element = source.name.clone();
        Err(if is_full { HostError::Full { element, contexts } } else { HostError::NoPlace { element, contexts } }
            .into())
    }

    /// Removes the context of a flow; whether there was one.
    pub fn remove(&self, bus: &mut impl Bus, element: usize, key: &[u128]) -> Result<bool, FlowError> {
        let known = self.known_key(element, key)?;
        let mut window = self.window(bus, element);
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(key))?;
        Ok(window.command(DELETE)?)
    }

    /// How the table of an element is doing.
    pub fn table(&self, bus: &mut impl Bus, element: usize) -> Result<FlowTable, FlowError> {
        self.known(element)?;
        let mut window = self.window(bus, element);
        let stash = window.read(regs::FLOW_HOST_STASH)?;
        Ok(FlowTable {
            places: window.shape()?.places,
            contexts: window.read(regs::FLOW_HOST_CONTEXTS)?,
            moved: window.read(regs::FLOW_HOST_MOVED)?,
            stash: stash & 0xFF,
            most: stash >> 8 & 0xFF,
        })
    }

    /// The most entries that the stash had count anew.
    pub fn forget_most(&self, bus: &mut impl Bus, element: usize) -> Result<(), FlowError> {
        self.known(element)?;
        Ok(self.window(bus, element).write(regs::FLOW_HOST_STASH, 0)?)
    }

    /// Removes all contexts.
    pub fn clear(&self, bus: &mut impl Bus, element: usize) -> Result<(), FlowError> {
        self.element(element)?;
        Ok(self.window(bus, element).change(CLEAR)?)
    }

    /// Takes the oldest event that waits; of those of several elements at one time, that of the first of them.
    pub fn event(&mut self, bus: &mut impl Bus) -> Result<Option<Event>, FlowError> {
        if self.waiting.is_empty() {
            self.take_oldest(bus)?;
        }
        Ok(self.waiting.pop_front())
    }

    /// Of an element's events only those of these kinds are kept from now on.
    pub fn tell(&self, bus: &mut impl Bus, element: usize, kinds: &[EventKind]) -> Result<(), FlowError> {
        self.element(element)?;
        let bits = EventKind::ALL.iter().enumerate().filter(|(_, kind)| kinds.contains(kind));
        let bits = bits.fold(0, |bits, (bit, _)| bits | 1 << bit);
        Ok(self.window(bus, element).write(regs::FLOW_HOST_TELL, bits)?)
    }

    /// Takes the events of the frame that comes first out of its element's queue; false when there are none.
    fn take_oldest(&mut self, bus: &mut impl Bus) -> Result<bool, FlowError> {
        let mut found = Vec::new();
        for element in 0..self.program.elements.len() {
            let mut window = self.window(bus, element);
            let kinds = window.read(regs::FLOW_HOST_EVENT)?;
            if kinds != 0 {
                found.push((window.read(regs::FLOW_HOST_EVENT_TIME)?, element, kinds));
            }
        }
        // Read behind them, so that none is later.
        let now = self.time(bus)?;
        let aged = found.into_iter().map(|(at, element, kinds)| ((now as u32).wrapping_sub(at), element, kinds));
        let Some((age, element, kinds)) = aged.rev().max_by_key(|(age, _, _)| *age) else { return Ok(false) };
        self.take(bus, element, kinds, now.saturating_sub(age.into()))?;
        Ok(true)
    }

    /// Takes the events of one frame out of an element's queue.
    fn take(&mut self, bus: &mut impl Bus, element: usize, kinds: u32, time: u64) -> Result<(), FlowError> {
        let mut window = self.window(bus, element);
        for (_, kind) in EventKind::ALL.into_iter().enumerate().filter(|(bit, _)| kinds >> bit & 1 == 1) {
            let gone = matches!(kind, EventKind::Expired | EventKind::Evicted);
            let base = if gone { regs::FLOW_HOST_EVENT_GONE } else { regs::FLOW_HOST_EVENT_FLOW };
            let key: [u32; KEY_WORDS] = window.read_all(base)?;
            let state = window.read(base + 4 * KEY_WORDS as u32)? as u8;
            let registers: [u32; REGISTERS] = window.read_all(base + 4 * (KEY_WORDS as u32 + 1))?;
            let key = self.contexts[element].as_ref().map(|known| known.unpack(&key)).unwrap_or_default();
            self.waiting.push_back(Event { kind, element, time, key, state, registers });
        }
        Ok(window.write(regs::FLOW_HOST_EVENT, 0)?)
    }

    fn element(&self, number: usize) -> Result<&Element, FlowError> {
        let elements = self.program.elements.len();
        Ok(self.program.elements.get(number).ok_or(HostError::Element { number, elements })?)
    }

    fn known(&self, element: usize) -> Result<&Contexts, FlowError> {
        let name = self.element(element)?.name.clone();
        Ok(self.contexts[element].as_ref().ok_or(HostError::NoContexts { element: name })?)
    }

    /// The same, for a key of as many values as the element's has.
    fn known_key(&self, element: usize, key: &[u128]) -> Result<&Contexts, FlowError> {
        let known = self.known(element)?;
        let source = self.element(element)?;
        let fields = source.key.as_ref().map_or(&[][..], |key| &key.fields);
        let fits =
            |(field, value): (&penstock_headers::Field, &u128)| value.checked_shr(field.bits()).unwrap_or(0) == 0;
        if fields.len() == key.len() && fields.iter().zip(key).all(fits) {
            return Ok(known);
        }
        let fields = fields.iter().map(|field| field.name()).collect();
        Err(HostError::Key { element: source.name.clone(), fields }.into())
    }
}

/// Contexts as they were found, each key once.
#[derive(Default)]
struct Found {
    all: Vec<Context>,
    places: HashMap<Vec<u128>, usize>,
}

impl Found {
    fn add(&mut self, context: Context) {
        match self.places.get(&context.key) {
            Some(place) => self.all[*place] = context,
            None => {
                self.places.insert(context.key.clone(), self.all.len());
                self.all.push(context);
            }
        }
    }
}

/// What an element of hardware is.
struct Shape {
    /// Of its table, without those of the stash.
    places: u32,
    /// Contexts for which there is room.
    room: u32,
    ways: u32,
    /// Slots.
    stash: u32,
    /// Bits.
    secret: u32,
    /// Of a program.
    words: usize,
    /// Its place in the block.
    number: usize,
}

/// Brings each element its program, which runs when it is committed.
///
/// # Errors
/// The elements are not those for which the programs were made, or do not have all of them; what ran still runs.
fn bring(bus: &mut impl Bus, seats: &[Seat], programs: &[Vec<u32>]) -> Result<(), DeviceError> {
    for (seat, words) in seats.iter().zip(programs) {
        let mut window = Window { bus, seat: *seat };
        let shape = window.shape()?;
        let Seat { block, element } = *seat;
        if (shape.number, shape.words) != (element as usize, words.len()) {
            let text = format!(
                "element {element} of inline block {block} is number {} and takes programs of {} words, not of {}: the card was built from other sources; \
                 build it from these",
                shape.number,
                shape.words,
                words.len()
            );
            return Err(DeviceError::Unsupported(text));
        }
        window.write(regs::FLOW_HOST_BEGIN, 0)?;
        words.iter().try_for_each(|word| window.write(regs::FLOW_HOST_PROGRAM, *word))?;
    }
    for seat in seats {
        if (Window { bus, seat: *seat }).read(regs::FLOW_HOST_STATUS)? & COMPLETE == 0 {
            let Seat { block, element } = *seat;
            let text = format!(
                "element {element} of inline block {block} has not got all words of its program, so what ran before still runs: load it again, and let nobody \
                 else do so meanwhile"
            );
            return Err(DeviceError::Card(text));
        }
    }
    Ok(())
}

/// Has something changed in all elements of a block between the same two frames, block by block, and waits until it is.
fn change(bus: &mut impl Bus, seats: &[Seat], what: u32) -> Result<(), DeviceError> {
    for first in seats.iter().filter(|seat| seat.element == 0) {
        bus.write(BLOCKS + first.block * BLOCK_STRIDE + ALL + regs::FLOW_HOST_CHANGE, what)?;
    }
    seats.iter().try_for_each(|seat| Window { bus, seat: *seat }.until_not(CHANGES).map(|_| ()))
}

/// The window of an element.
struct Window<'a, B: Bus> {
    bus: &'a mut B,
    seat: Seat,
}

impl<B: Bus> Window<'_, B> {
    fn address(&self, register: u32) -> u32 {
        self.seat.base() + register
    }

    fn read(&mut self, register: u32) -> Result<u32, DeviceError> {
        let address = self.address(register);
        self.bus.read(address)
    }

    fn write(&mut self, register: u32, value: u32) -> Result<(), DeviceError> {
        let address = self.address(register);
        self.bus.write(address, value)
    }

    fn read_all<const N: usize>(&mut self, first: u32) -> Result<[u32; N], DeviceError> {
        let mut all = [0; N];
        for (register, word) in (first..).step_by(4).zip(&mut all) {
            *word = self.read(register)?;
        }
        Ok(all)
    }

    fn write_all(&mut self, first: u32, all: &[u32]) -> Result<(), DeviceError> {
        (first..).step_by(4).zip(all).try_for_each(|(register, word)| self.write(register, *word))
    }

    fn shape(&mut self) -> Result<Shape, DeviceError> {
        let shape = self.read(regs::FLOW_HOST_SHAPE)?;
        let table = self.read(regs::FLOW_HOST_TABLE)?;
        Ok(Shape {
            places: 1 << (shape & 0x1F),
            room: self.read(regs::FLOW_HOST_ROOM)?,
            ways: (table & 0xFF).max(1),
            stash: table >> 8 & 0xFF,
            secret: table >> 16,
            words: (shape >> 16) as usize,
            number: (shape >> 8 & 0xFF) as usize,
        })
    }

    /// Has something changed between two frames, and waits until it is.
    fn change(&mut self, what: u32) -> Result<(), DeviceError> {
        self.write(regs::FLOW_HOST_CHANGE, what)?;
        self.until_not(CHANGES).map(|_| ())
    }

    /// Carries out an operation on contexts; whether there is one then.
    fn command(&mut self, command: u32) -> Result<bool, DeviceError> {
        self.write(regs::FLOW_HOST_COMMAND, command)?;
        Ok(self.until_not(WAITS)? & FOUND != 0)
    }

    /// Waits until a bit of STATUS has fallen; gives that.
    fn until_not(&mut self, bit: u32) -> Result<u32, DeviceError> {
        let mut waited = 0;
        loop {
            let status = self.read(regs::FLOW_HOST_STATUS)?;
            if status & bit == 0 {
                return Ok(status);
            }
            if waited > PATIENCE {
                let text = format!("element {} of inline block {} does not answer", self.seat.element, self.seat.block);
                return Err(DeviceError::Card(text));
            }
            self.bus.pass(LOOK)?;
            waited += LOOK;
        }
    }

    /// The context that the last operation has found.
    fn context(&mut self, known: &Contexts, now: u64) -> Result<Context, FlowError> {
        let key: [u32; KEY_WORDS] = self.read_all(regs::FLOW_HOST_KEY)?;
        let timeouts: [u32; 2] = self.read_all(regs::FLOW_HOST_TIMEOUT)?;
        let deadlines: [u32; 2] = self.read_all(regs::FLOW_HOST_DEADLINE)?;
        let mut times = timeouts.iter().zip(deadlines).map(|(timeout, at)| {
            let timeout = known.timeout((timeout >> 1) as usize).filter(|_| timeout & 1 == 1)?;
            Some((Deadline { at: unwrapped(at, now), then: timeout.then }, timeout.micros))
        });
        let hard = times.next().flatten().map(|(deadline, _)| deadline);
        let idle = times.next().flatten();
        Ok(Context {
            key: known.unpack(&key),
            state: self.read(regs::FLOW_HOST_STATE)? as u8,
            registers: self.read_all(regs::FLOW_HOST_REGISTERS)?,
            hard,
            idle,
        })
    }
}

/// A time of 32 bits beside the time that it is now.
fn unwrapped(at: u32, now: u64) -> u64 {
    let late = (now as u32).wrapping_sub(at);
    if late < PAST { now.saturating_sub(late.into()) } else { now + u64::from(at.wrapping_sub(now as u32)) }
}

/// The words of a chain's elements, block by block, for tables with room for so many contexts, whose elements have
/// contexts from before; else what hardware has not, with the places in the blocks' programs.
fn compile(blocks: &[FlowImage], contexts: u32, before: &[Option<Contexts>]) -> Result<Hardware, String> {
    // Where the program does not say how many, the design does.
    let by_design = |element: &Element| element.key.is_some() && element.capacity.is_none();
    let mut sized = blocks.iter().filter(|block| block.program.elements.iter().any(by_design));
    if let Some(FlowImage { contexts: wanted, .. }) = sized.find(|block| block.contexts > contexts) {
        return Err(format!("the design says contexts = {wanted}, and a table of this card holds {contexts}"));
    }
    let mut all = Hardware { words: vec![], rows: vec![], contexts: vec![] };
    let mut faults = Vec::new();
    for block in blocks {
        let of_block = before.get(all.words.len()..).unwrap_or_default();
        match hardware::compile(&joined(slice::from_ref(block)), contexts, of_block) {
            Ok(Hardware { words, rows, contexts }) => {
                all.words.extend(words);
                all.rows.extend(rows);
                all.contexts.extend(contexts);
            }
            Err(of_block) => {
                let path = block.path.display();
                let told = |Fault { span, message }| format!("{path}:{}:{}: {message}", span.line, span.column);
                faults.extend(of_block.into_iter().map(told));
                // Those of the blocks behind are for other elements.
                all.words.extend(block.program.elements.iter().map(|_| vec![]));
            }
        }
    }
    if faults.is_empty() { Ok(all) } else { Err(faults.join("\n")) }
}

/// What places of keys depend on: the same in each run, so that simulations are repeatable. A card that anybody can reach wants another one each time.
fn secret(bits: u32) -> impl Iterator<Item = u32> {
    // SplitMix64
    (1..=u64::from(bits.div_ceil(32))).map(|step| {
        let mut mixed = step.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::xdp::XdpProgram;

    const FIRST: Seat = Seat { block: 0, element: 0 };

    /// A chain of one element whose table is never the same: what its places hold each time they are read. Its clock goes on with each access.
    #[derive(Default)]
    struct Restless {
        /// Place, and the key that is found there in each round.
        holds: Vec<(u32, [Option<u32>; 2])>,
        round: usize,
        place: u32,
        found: Option<u32>,
        contexts: u32,
        time: u64,
        latched: u64,
        event_at: Option<u64>,
    }

    impl Bus for Restless {
        fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
            self.time += 1;
            Ok(match address.checked_sub(FIRST.base()) {
                None if address == CHAIN + regs::INLINE_TIME_L => {
                    self.latched = self.time * MICRO;
                    self.latched as u32
                }
                None if address == CHAIN + regs::INLINE_TIME_H => (self.latched >> 32) as u32,
                None => 0,
                Some(regs::FLOW_HOST_SHAPE) => 6,
                Some(regs::FLOW_HOST_TABLE) => 16 << 8 | 4,
                Some(regs::FLOW_HOST_CONTEXTS) => self.contexts,
                Some(regs::FLOW_HOST_ROOM) => 62,
                Some(regs::FLOW_HOST_STATUS) => u32::from(self.found.is_some()) * FOUND,
                Some(regs::FLOW_HOST_EVENT) => {
                    // It comes in this very cycle.
                    self.event_at = self.event_at.or(Some(self.time));
                    4
                }
                Some(regs::FLOW_HOST_EVENT_TIME) => self.event_at.unwrap_or_default() as u32,
                // Wherever the field of 16 bits stands.
                Some(at) if (regs::FLOW_HOST_KEY..regs::FLOW_HOST_STATE).contains(&at) => {
                    self.found.unwrap_or_default() * 0x1_0001
                }
                Some(_) => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
            self.time += 1;
            if address == FIRST.base() + regs::FLOW_HOST_PLACE {
                // The stash is read first.
                self.round += usize::from(value == IN_STASH);
                self.place = value;
            } else if address == FIRST.base() + regs::FLOW_HOST_COMMAND {
                let held = self.holds.iter().find(|(place, _)| *place == self.place);
                self.found = held.and_then(|(_, keys)| keys[(self.round - 1).min(1)]);
            }
            Ok(())
        }

        fn load_xdp(&mut self, _: u32, _: &XdpProgram, _: bool) -> Result<(), DeviceError> {
            Ok(())
        }

        fn pass(&mut self, _: u64) -> Result<(), DeviceError> {
            Ok(())
        }
    }

    /// Two blocks, of two elements and of one, that take programs of so many words, and what changes in them.
    #[derive(Default)]
    struct Elements {
        words: usize,
        /// Words that each has got, by block and element.
        got: [[usize; 2]; 2],
        /// The second element of the first block loses this one.
        loses: Option<usize>,
        changes: Vec<(u32, u32)>,
    }

    /// The element whose window an address is in, and where in it.
    fn seat_of(address: u32) -> Option<(Seat, u32)> {
        let at = address.checked_sub(BLOCKS)?;
        let of_element = (at % BLOCK_STRIDE).checked_sub(ELEMENTS)?;
        Some((Seat { block: at / BLOCK_STRIDE, element: of_element / STRIDE }, of_element % STRIDE))
    }

    impl Bus for Elements {
        fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
            let Some((Seat { block, element }, register)) = seat_of(address) else {
                let of_second = address == BLOCKS + BLOCK_STRIDE + regs::FLOW_BLOCK_ELEMENTS;
                return Ok(if of_second { 1 } else { 2 });
            };
            Ok(match register {
                regs::FLOW_HOST_SHAPE => (self.words as u32) << 16 | element << 8 | 6,
                regs::FLOW_HOST_ROOM => 62,
                regs::FLOW_HOST_STATUS => {
                    u32::from(self.got[block as usize][element as usize] == self.words) * COMPLETE
                }
                _ => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
            let Some((Seat { block, element }, register)) = seat_of(address) else {
                if address >= BLOCKS {
                    self.changes.push((address, value));
                }
                return Ok(());
            };
            let got = &mut self.got[block as usize][element as usize];
            match register {
                regs::FLOW_HOST_BEGIN => *got = 0,
                regs::FLOW_HOST_PROGRAM
                    if (block, element) == (0, 1) && self.loses.take_if(|word| *word == *got).is_some() => {}
                regs::FLOW_HOST_PROGRAM => *got += 1,
                _ => {}
            }
            Ok(())
        }

        fn load_xdp(&mut self, _: u32, _: &XdpProgram, _: bool) -> Result<(), DeviceError> {
            Ok(())
        }

        fn pass(&mut self, _: u64) -> Result<(), DeviceError> {
            Ok(())
        }
    }

    #[test]
    fn elements_of_a_block_change_at_once_and_to_whole_programs() {
        let image = |text: &str| {
            let program = penstock_flow_compiler::compile("some.efsm", text).unwrap().program;
            FlowImage { name: text[8..11].to_owned(), path: "some.efsm".into(), program, contexts: 62 }
        };
        let blocks =
            [image("element one { ip => next two } element two { ip => drop }"), image("element six { ip => drop }")];
        let words = hardware::compile(&blocks[0].program, 62, &[]).unwrap().words[0].len();
        let mut card = Elements { words, ..Elements::default() };
        let mut chain = CardChain::load(&mut card, &blocks).unwrap();
        chain.change(&mut card, &blocks).unwrap();
        let all = [0, 1].map(|block| BLOCKS + block * BLOCK_STRIDE + ALL + regs::FLOW_HOST_CHANGE);
        let changes = [COMMIT | CLEAR | BEGIN_GLOBALS, COMMIT].map(|what| all.map(|address| (address, what))).concat();
        assert_eq!((card.changes.clone(), card.got), (changes.clone(), [[words, words], [words, 0]]));
        card.loses = Some(words / 2);
        let error = chain.change(&mut card, &blocks).unwrap_err().to_string();
        assert!(error.starts_with("element 1 of inline block 0 has not got all words of its program"), "{error}");
        card.words += 1;
        let error = CardChain::load(&mut card, &blocks).err().unwrap().to_string();
        let number = words + 1;
        let expected =
            format!("element 0 of inline block 0 is number 0 and takes programs of {number} words, not of {words}: ");
        assert!(error.starts_with(&expected), "{error}");
        let error = CardChain::load(&mut card, &blocks[..1]).err().unwrap().to_string();
        assert!(error.starts_with("the design has 1 inline blocks, and this card was built for 2"), "{error}");
        assert_eq!(card.changes, changes);
    }

    fn chain() -> CardChain {
        let text = "element one { key eth.type else => keep }";
        let program = penstock_flow_compiler::compile("one.efsm", text).unwrap().program;
        let contexts = program.elements.iter().map(Contexts::of).collect();
        CardChain {
            program,
            seats: vec![FIRST],
            contexts,
            rows: vec![],
            waiting: VecDeque::new(),
            time: 0,
            held: false,
            unset: None,
            swept: 0,
            changes: 0,
        }
    }

    #[test]
    fn contexts_that_move_are_found_once_and_all() {
        // The first goes to a way that is read later; the other one into the stash, which has been read.
        let holds = vec![(0, [Some(1), None]), (1 << WAY_AT, [Some(1), None]), (IN_STASH, [None, Some(2)])];
        let mut card = Restless { holds, contexts: 2, ..Restless::default() };
        let mut chain = chain();
        let keys: Vec<_> = chain.all(&mut card, 0).unwrap().into_iter().map(|context| context.key).collect();
        assert_eq!((keys, card.round), (vec![vec![1], vec![2]], 2));
    }

    #[test]
    fn a_list_that_is_not_whole_is_none() {
        let mut card = Restless { holds: vec![(0, [Some(1); 2])], contexts: 2, ..Restless::default() };
        let error = chain().all(&mut card, 0).unwrap_err().to_string();
        assert!(error.starts_with("of 2 contexts of element one 1 were found, as they move"), "{error}");
        assert_eq!(card.round, ROUNDS as usize);
    }

    #[test]
    fn an_event_is_not_later_than_now() {
        let mut card = Restless { time: 1000, ..Restless::default() };
        let mut chain = chain();
        let event = chain.event(&mut card).unwrap().unwrap();
        assert_eq!((event.kind, event.time), (EventKind::New, 1001));
        // An event's time has 32 bits.
        let mut card = Restless { time: (7 << 32) - 2, ..Restless::default() };
        assert_eq!(chain.event(&mut card).unwrap().unwrap().time, (7 << 32) - 1);
        assert_eq!(chain.time(&mut card).unwrap() >> 32, 7);
    }

    #[test]
    fn tables_that_the_card_has_not_are_refused() {
        let refused = |table: &str, contexts| {
            let text = format!("element one {{ key eth.type {table} else => keep }}");
            let program = penstock_flow_compiler::compile("one.efsm", &text).unwrap().program;
            let blocks = [FlowImage { name: String::new(), path: "one.efsm".into(), program, contexts }];
            compile(&blocks, 62, &[]).err().unwrap_or_default()
        };
        assert_eq!([refused("", 62), refused("table 62", 1000)], ["", ""]);
        // Who has said so must be told.
        assert_eq!(refused("", 63), "the design says contexts = 63, and a table of this card holds 62");
        assert!(refused("table 63", 10).starts_with("one.efsm:1:9: the table of element `one` has 63 contexts"));
    }

    #[test]
    fn a_full_table_is_told_from_one_without_a_place_for_this_key() {
        let context = Context { key: vec![1], state: 0, registers: [0; 4], hard: None, idle: None };
        let refused = |contexts| {
            let mut card = Restless { contexts, ..Restless::default() };
            chain().insert(&mut card, 0, &context).unwrap_err().to_string()
        };
        assert_eq!(refused(62), "the table of element one is full with 62 contexts; remove one first");
        assert!(refused(61).starts_with("the places of element one that this key can have are others'"));
    }

    #[test]
    fn tables_have_room() {
        for (contexts, expected) in [(1, 64), (62, 64), (63, 128), (16_384, 32_768), (1 << 20, 1 << 20)] {
            assert_eq!(places(contexts), expected, "{contexts}");
        }
    }

    #[test]
    fn times_are_near_now() {
        let now = (5 << 32) + 10;
        for at in [now, now - 5, now - 20, now + 4_000_000_000] {
            assert_eq!(unwrapped(at as u32, now), at);
        }
    }
}
