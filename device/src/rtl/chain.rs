// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline chain of a card in RTL, over its registers (shell/regs/inline.rdl, engines/flow/regs/flow.rdl).

use std::collections::VecDeque;
use std::slice;

use penstock_flow_compiler::Fault;
use penstock_flow_compiler::hardware::{self, Contexts, Hardware, KEY_WORDS};
use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{Element, Program};
use penstock_shell::flow::{Context, Deadline, Event, EventKind, HostError};

use crate::device::DeviceError;
use crate::flow::{FlowError, FlowImage, joined};
use crate::host::{Bus, LOOK};
use crate::outcome::{ElementCounters, InlineCounters, RowCounter};
use crate::regs;

/// Host addresses of the chain's registers and of the first element's window, and from one of these to the next.
const CHAIN: u32 = 0x4500_0000;
const ELEMENTS: u32 = 0x4510_0000;
const STRIDE: u32 = 0x10_0000;
/// Contexts for which places are found, of a hundred places.
const LOAD: u64 = 97;
/// Fewest and most places of a table.
const PLACES: (u32, u32) = (64, 1 << 20);
/// Cycles after which an element must have done what it was told: a table is emptied in a cycle for each address of a way.
const PATIENCE: u64 = 1_000_000;
/// Bits of STATUS.
const CHANGES: u32 = 1 << 1;
const WAITS: u32 = 1 << 2;
const FOUND: u32 = 1 << 3;
/// Bits of CHANGE.
const COMMIT: u32 = 1;
const CLEAR: u32 = 2;
const BEGIN_GLOBALS: u32 = 4;
/// Values of COMMAND.
const READ: u32 = 0;
const FIND: u32 = 1;
const PUT: u32 = 2;
const DELETE: u32 = 3;
/// Slots of the stash, and the bits of PLACE that name one, and a way.
const STASH: u32 = 16;
const IN_STASH: u32 = 1 << 31;
const WAYS: u32 = 4;
const WAY_AT: u32 = 20;
/// Times up to so many µs ago are past, all others are still to come.
const PAST: u32 = 1 << 28;

/// Places of a table in which so many contexts find room.
pub fn places(contexts: u32) -> u32 {
    let places = (u64::from(contexts) * 100).div_ceil(LOAD).next_power_of_two();
    u32::try_from(places).unwrap_or(PLACES.1).clamp(PLACES.0, PLACES.1)
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

/// A program in the elements of a card.
pub struct CardChain {
    program: Program,
    /// Of each element; none for one without a key.
    contexts: Vec<Option<Contexts>>,
    /// For each row of hardware the row of the program.
    rows: Vec<Vec<usize>>,
    /// Events that were read together with others.
    waiting: VecDeque<Event>,
}

impl CardChain {
    /// Loads the elements; no flow has a context then, and the clock begins at 0.
    ///
    /// # Errors
    /// The card's elements are not as many, or their tables not as large as the programs want; nothing has changed then.
    pub fn load(bus: &mut impl Bus, blocks: &[FlowImage]) -> Result<Self, DeviceError> {
        let program = joined(blocks);
        let elements = bus.read(CHAIN + regs::INLINE_ELEMENTS)?;
        if program.elements.len() != elements as usize {
            let text = format!(
                "the programs of the inline blocks have {} elements, and this card was built for {elements}; open the design anew with them",
                program.elements.len()
            );
            return Err(DeviceError::Unsupported(text));
        }
        let places = bus.read(CHAIN + regs::INLINE_CONTEXTS)?;
        let compiled = compile(blocks, &program, places).map_err(DeviceError::Unsupported)?;
        for (element, words) in compiled.words.iter().enumerate() {
            let mut window = Window { bus, element };
            window.change(CLEAR)?;
            for word in secret(places) {
                window.write(regs::FLOW_HOST_SECRET, word)?;
            }
            window.program(words)?;
            window.change(COMMIT | BEGIN_GLOBALS)?;
        }
        bus.write(CHAIN + regs::INLINE_TIME, 0)?;
        let contexts = program.elements.iter().map(Contexts::of).collect();
        Ok(Self { program, contexts, rows: compiled.rows, waiting: VecDeque::new() })
    }

    /// Gives the elements other rows, between two frames each; contexts and registers stay.
    ///
    /// # Errors
    /// The programs differ in more than rows; then nothing has changed.
    pub fn change(&mut self, bus: &mut impl Bus, blocks: &[FlowImage]) -> Result<(), FlowError> {
        let program = joined(blocks);
        if let Some((element, what)) = self.program.difference(&program) {
            return Err(HostError::Differs { element, what }.into());
        }
        let places = bus.read(CHAIN + regs::INLINE_CONTEXTS)?;
        let compiled = compile(blocks, &program, places).map_err(FlowError::Given)?;
        for (element, words) in compiled.words.iter().enumerate() {
            let mut window = Window { bus, element };
            window.program(words)?;
            window.change(COMMIT)?;
        }
        self.contexts = program.elements.iter().map(Contexts::of).collect();
        (self.program, self.rows) = (program, compiled.rows);
        Ok(())
    }

    /// What it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// All counters.
    pub fn counters(&self, bus: &mut impl Bus) -> Result<InlineCounters, DeviceError> {
        let mut counters = InlineCounters {
            frames: bus.read(CHAIN + regs::INLINE_FRAMES)?.into(),
            blocked: bus.read(CHAIN + regs::INLINE_BLOCKED)?.into(),
            refused: bus.read(CHAIN + regs::INLINE_REFUSED)?.into(),
            ..InlineCounters::default()
        };
        for (number, element) in self.program.elements.iter().enumerate() {
            let mut window = Window { bus, element: number };
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

    /// The time that frames find, in µs.
    pub fn time(bus: &mut impl Bus) -> Result<u64, FlowError> {
        Ok(bus.read(CHAIN + regs::INLINE_TIME)?.into())
    }

    /// It is so late, if it is not later.
    pub fn set_time(bus: &mut impl Bus, time: u64) -> Result<(), FlowError> {
        if time > Self::time(bus)? {
            let wrong = || FlowError::Given(format!("{time} is too late for a card, whose clock has 32 bits"));
            bus.write(CHAIN + regs::INLINE_TIME, u32::try_from(time).map_err(|_| wrong())?)?;
        }
        Ok(())
    }

    /// Registers of an element.
    pub fn globals(&self, bus: &mut impl Bus, element: usize) -> Result<[u32; GLOBALS], FlowError> {
        self.element(element)?;
        Ok(Window { bus, element }.read_all(regs::FLOW_HOST_GLOBALS)?)
    }

    /// Sets them.
    pub fn set_globals(&self, bus: &mut impl Bus, element: usize, to: &[u32; GLOBALS]) -> Result<(), FlowError> {
        self.element(element)?;
        Ok(Window { bus, element }.write_all(regs::FLOW_HOST_GLOBALS, to)?)
    }

    /// Contexts that there are.
    pub fn count(&self, bus: &mut impl Bus, element: usize) -> Result<usize, FlowError> {
        match self.element(element)?.key {
            Some(_) => Ok(Window { bus, element }.read(regs::FLOW_HOST_CONTEXTS)? as usize),
            None => Ok(0),
        }
    }

    /// All contexts, place by place until as many are found as there are.
    pub fn all(&self, bus: &mut impl Bus, element: usize) -> Result<Vec<Context>, FlowError> {
        let count = self.count(bus, element)?;
        let now = Self::time(bus)?;
        let places = bus.read(CHAIN + regs::INLINE_CONTEXTS)?;
        let mut window = Window { bus, element };
        let of_ways = (0..places).map(|place| (place / WAYS) | ((place % WAYS) << WAY_AT));
        let mut all = Vec::new();
        for place in (0..STASH).map(|slot| IN_STASH | slot << WAY_AT).chain(of_ways) {
            if all.len() == count {
                break;
            }
            window.write(regs::FLOW_HOST_PLACE, place)?;
            if window.command(READ)? {
                all.push(window.context(self.known(element)?, now)?);
            }
        }
        Ok(all)
    }

    /// The context of a flow.
    pub fn context(&self, bus: &mut impl Bus, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError> {
        let known = self.known_key(element, key)?;
        let now = Self::time(bus)?;
        let mut window = Window { bus, element };
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(key))?;
        if window.command(FIND)? { window.context(known, now).map(Some) } else { Ok(None) }
    }

    /// Adds a context, or replaces that of the same flow.
    pub fn insert(&self, bus: &mut impl Bus, element: usize, context: &Context) -> Result<(), FlowError> {
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
            deadlines[at] = deadline.at as u32;
        }
        let mut window = Window { bus, element };
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(&context.key))?;
        window.write(regs::FLOW_HOST_STATE, context.state.into())?;
        window.write_all(regs::FLOW_HOST_REGISTERS, &context.registers)?;
        window.write_all(regs::FLOW_HOST_TIMEOUT, &timeouts)?;
        window.write_all(regs::FLOW_HOST_DEADLINE, &deadlines)?;
        if window.command(PUT)? {
            return Ok(());
        }
        let contexts = window.read(regs::FLOW_HOST_CONTEXTS)? as usize;
        Err(HostError::Full { element: source.name.clone(), contexts }.into())
    }

    /// Removes the context of a flow; whether there was one.
    pub fn remove(&self, bus: &mut impl Bus, element: usize, key: &[u128]) -> Result<bool, FlowError> {
        let known = self.known_key(element, key)?;
        let mut window = Window { bus, element };
        window.write_all(regs::FLOW_HOST_KEY, &known.pack(key))?;
        Ok(window.command(DELETE)?)
    }

    /// How the table of an element is doing.
    pub fn table(&self, bus: &mut impl Bus, element: usize) -> Result<FlowTable, FlowError> {
        self.known(element)?;
        let places = bus.read(CHAIN + regs::INLINE_CONTEXTS)?;
        let mut window = Window { bus, element };
        let stash = window.read(regs::FLOW_HOST_STASH)?;
        Ok(FlowTable {
            places,
            contexts: window.read(regs::FLOW_HOST_CONTEXTS)?,
            moved: window.read(regs::FLOW_HOST_MOVED)?,
            stash: stash & 0xFF,
            most: stash >> 8 & 0xFF,
        })
    }

    /// The most entries that the stash had count anew.
    pub fn forget_most(&self, bus: &mut impl Bus, element: usize) -> Result<(), FlowError> {
        self.known(element)?;
        Ok(Window { bus, element }.write(regs::FLOW_HOST_STASH, 0)?)
    }

    /// Removes all contexts.
    pub fn clear(&self, bus: &mut impl Bus, element: usize) -> Result<(), FlowError> {
        self.element(element)?;
        Ok(Window { bus, element }.change(CLEAR)?)
    }

    /// Takes the oldest event that waits; of those of several elements at one time, that of the first of them.
    pub fn event(&mut self, bus: &mut impl Bus) -> Result<Option<Event>, FlowError> {
        if self.waiting.is_empty() {
            let now = bus.read(CHAIN + regs::INLINE_TIME)?;
            let mut oldest = None;
            for element in 0..self.program.elements.len() {
                let mut window = Window { bus, element };
                let kinds = window.read(regs::FLOW_HOST_EVENT)?;
                if kinds != 0 {
                    let age = now.wrapping_sub(window.read(regs::FLOW_HOST_EVENT_TIME)?);
                    if oldest.is_none_or(|(other, _, _)| age > other) {
                        oldest = Some((age, element, kinds));
                    }
                }
            }
            if let Some((age, element, kinds)) = oldest {
                self.take(bus, element, kinds, u64::from(now).saturating_sub(age.into()))?;
            }
        }
        Ok(self.waiting.pop_front())
    }

    /// Takes the events of one frame out of an element's queue.
    fn take(&mut self, bus: &mut impl Bus, element: usize, kinds: u32, time: u64) -> Result<(), FlowError> {
        let mut window = Window { bus, element };
        let all = [EventKind::Expired, EventKind::Evicted, EventKind::New, EventKind::Full, EventKind::Notified];
        for (_, kind) in all.into_iter().enumerate().filter(|(bit, _)| kinds >> bit & 1 == 1) {
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

/// The window of an element.
struct Window<'a, B: Bus> {
    bus: &'a mut B,
    element: usize,
}

impl<B: Bus> Window<'_, B> {
    fn address(&self, register: u32) -> u32 {
        ELEMENTS + STRIDE * self.element as u32 + register
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

    /// Brings a program in, which runs when it is committed.
    fn program(&mut self, words: &[u32]) -> Result<(), DeviceError> {
        self.write(regs::FLOW_HOST_BEGIN, 0)?;
        words.iter().try_for_each(|word| self.write(regs::FLOW_HOST_PROGRAM, *word))
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
                let text = format!("element {} of the inline chain does not answer", self.element);
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

/// The words of a chain for tables of so many places; else what hardware has not, with the places in the blocks' programs.
fn compile(blocks: &[FlowImage], program: &Program, places: u32) -> Result<Hardware, String> {
    let contexts = (u64::from(places) * LOAD / 100) as u32;
    let told = |block: &FlowImage| {
        let faults = hardware::compile(&joined(slice::from_ref(block)), contexts).err().unwrap_or_default();
        let path = block.path.display().to_string();
        let one = move |Fault { span, message }| format!("{path}:{}:{}: {message}", span.line, span.column);
        faults.into_iter().map(one).collect::<Vec<_>>()
    };
    hardware::compile(program, contexts).map_err(|_| blocks.iter().flat_map(told).collect::<Vec<_>>().join("\n"))
}

/// What places of keys depend on: the same in each run, so that runs are repeatable.
fn secret(places: u32) -> impl Iterator<Item = u32> {
    let bits = 32 * KEY_WORDS as u32 + WAYS * (places / WAYS).ilog2();
    // SplitMix64
    (1..=u64::from(bits.div_ceil(32))).map(|step| {
        let mut mixed = step.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
