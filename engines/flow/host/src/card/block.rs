// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program in the elements of a hardware block.

use crate::regs as own;
use std::collections::VecDeque;

use penstock_engine::Bus;
use penstock_flow::{Context, Event, EventKind, HostError, Slice};
use penstock_flow_compiler::hardware::{Contexts, Hardware, KEY_WORDS};
use penstock_flow_compiler::limits::{GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{Element, Program, Timeout};

use super::clock::Clock;
use super::list::Found;
use super::load::{bring, change, compile, secret};
use super::window::{
    BEGIN_GLOBALS, CHANGES, CLEAR, COMMIT, DELETE, FIND, IN_STASH, PUT, READ, SWEEP, Shape, WAY_AT, Window, base,
};
use crate::answers::TableUse;
use crate::counters::{BlockCounters, ElementCounters, rows};
use crate::elements::Elements;
use crate::error::FlowError;
use crate::image::FlowImage;

/// Walks over a table for one list of its contexts, at most. A context may move from a place ahead of the walk to one
/// behind it.
const ROUNDS: u32 = 4;

/// A block and the host's knowledge of it.
#[derive(Debug)]
pub(crate) struct CardBlock {
    /// Its place in the design.
    block: usize,
    program: Program,
    /// Contexts of each element; None without a key.
    contexts: Vec<Option<Contexts>>,
    /// For each row of hardware the row of the program.
    rows: Vec<Vec<usize>>,
    /// Events that were read and not taken yet.
    waiting: VecDeque<Event>,
    /// Number of times that the rows were changed.
    changes: u64,
}

impl CardBlock {
    /// Loads the elements. No flow has a context then. `prefix` comes before the elements' names.
    ///
    /// # Errors
    /// The card's elements are not as many, or their tables are too small; nothing has changed then.
    pub(crate) fn load(bus: &mut dyn Bus, block: usize, image: &FlowImage, prefix: &str) -> Result<Self, FlowError> {
        let program = image.sized(prefix);
        let (elements, card) = (program.elements.len(), bus.read(base(block) + own::FLOW_BLOCK_ELEMENTS)?);
        if elements != card as usize {
            return Err(FlowError::Elements { block, program: elements, card });
        }
        let shape = Window { bus, block, element: 0 }.shape()?;
        let Hardware { words, rows, contexts } = compile(image, shape.room, &[])?;
        bring(bus, block, &words)?;
        for element in 0..elements {
            let mut window = Window { bus, block, element };
            for word in secret(shape.secret) {
                window.write(own::FLOW_HOST_SECRET, word)?;
            }
        }
        // The commit also removes contexts that a frame made under half a secret.
        change(bus, block, elements, COMMIT | CLEAR | BEGIN_GLOBALS)?;
        for element in 0..elements {
            let mut window = Window { bus, block, element };
            while window.read(own::FLOW_HOST_EVENT)? != 0 {
                window.write(own::FLOW_HOST_EVENT, 0)?;
            }
            window.write(own::FLOW_HOST_TELL, u32::MAX)?;
        }
        Ok(Self { block, program, contexts, rows, waiting: VecDeque::new(), changes: 0 })
    }

    /// Gives the elements other rows, all of them between the same two frames. Contexts and registers stay.
    ///
    /// # Errors
    /// The programs differ in more than rows; then nothing has changed.
    pub(crate) fn change(&mut self, bus: &mut dyn Bus, image: &FlowImage, prefix: &str) -> Result<(), FlowError> {
        let program = image.sized(prefix);
        if let Some((element, what)) = self.program.difference(&program) {
            return Err(HostError::Differs { element, what }.into());
        }
        let shape = Window { bus, block: self.block, element: 0 }.shape()?;
        let Hardware { words, rows, contexts } = compile(image, shape.room, &self.contexts)?;
        bring(bus, self.block, &words)?;
        change(bus, self.block, words.len(), COMMIT)?;
        (self.program, self.rows, self.contexts) = (program, rows, contexts);
        self.changes += 1;
        Ok(())
    }

    /// Frames that have entered the block.
    pub(crate) fn entered(&self, bus: &mut dyn Bus) -> Result<u64, FlowError> {
        Ok(Window { bus, block: self.block, element: 0 }.count(own::FLOW_HOST_FRAMES)?)
    }

    /// Whether the table of an element has no room.
    pub(crate) fn is_full(&self, bus: &mut dyn Bus) -> Result<bool, FlowError> {
        for (element, source) in self.program.elements.iter().enumerate() {
            if source.key.is_some() && self.count(bus, element)? >= self.capacity(bus, element)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Expires all contexts whose deadline has passed, and reads the events while their times of 32 bits have one
    /// meaning.
    pub(crate) fn sweep(&mut self, bus: &mut dyn Bus, clock: &mut Clock) -> Result<(), FlowError> {
        for element in 0..self.program.elements.len() {
            if self.count(bus, element)? > 0 {
                self.window(bus, element).change(SWEEP)?;
            }
        }
        while self.take_oldest(bus, clock)? {}
        Ok(())
    }

    fn window<'a>(&self, bus: &'a mut dyn Bus, element: usize) -> Window<'a> {
        Window { bus, block: self.block, element }
    }

    /// Contexts for which the table of an element has room.
    fn capacity(&self, bus: &mut dyn Bus, element: usize) -> Result<usize, FlowError> {
        let room = self.window(bus, element).read(own::FLOW_HOST_ROOM)?;
        Ok(self.element(element)?.capacity.map_or(room, |most| most.min(room)) as usize)
    }

    fn count(&self, bus: &mut dyn Bus, element: usize) -> Result<usize, FlowError> {
        match self.element(element)?.key {
            Some(_) => Ok(self.window(bus, element).read(own::FLOW_HOST_CONTEXTS)? as usize),
            None => Ok(0),
        }
    }

    /// Reads the events of the oldest frame that left any; false if no event waits. At equal times the first element
    /// comes first.
    fn take_oldest(&mut self, bus: &mut dyn Bus, clock: &mut Clock) -> Result<bool, FlowError> {
        let mut found = Vec::new();
        for element in 0..self.program.elements.len() {
            let mut window = self.window(bus, element);
            let kinds = window.read(own::FLOW_HOST_EVENT)?;
            if kinds != 0 {
                found.push((window.read(own::FLOW_HOST_EVENT_TIME)?, element, kinds));
            }
        }
        // The clock is read after the events, so that no event is later.
        let now = clock.now(bus)?;
        let aged = found.into_iter().map(|(at, element, kinds)| ((now as u32).wrapping_sub(at), element, kinds));
        let Some((age, element, kinds)) = aged.rev().max_by_key(|(age, _, _)| *age) else { return Ok(false) };
        self.take(bus, element, kinds, now.saturating_sub(age.into()))?;
        Ok(true)
    }

    /// Reads the events of one frame from an element's queue.
    fn take(&mut self, bus: &mut dyn Bus, element: usize, kinds: u32, time: u64) -> Result<(), FlowError> {
        let mut window = self.window(bus, element);
        for (_, kind) in EventKind::ALL.into_iter().enumerate().filter(|(bit, _)| kinds >> bit & 1 == 1) {
            let gone = matches!(kind, EventKind::Expired | EventKind::Evicted);
            let first = if gone { own::FLOW_HOST_EVENT_GONE } else { own::FLOW_HOST_EVENT_FLOW };
            let key: [u32; KEY_WORDS] = window.read_all(first)?;
            let state = window.read(first + 4 * KEY_WORDS as u32)? as u8;
            let registers: [u32; REGISTERS] = window.read_all(first + 4 * (KEY_WORDS as u32 + 1))?;
            let key = self.contexts[element].as_ref().map(|known| known.unpack(&key)).unwrap_or_default();
            self.waiting.push_back(Event { kind, element, time, key, state, registers });
        }
        Ok(window.write(own::FLOW_HOST_EVENT, 0)?)
    }

    fn element(&self, number: usize) -> Result<&Element, FlowError> {
        let elements = self.program.elements.len();
        Ok(self.program.elements.get(number).ok_or(HostError::Element { number, elements })?)
    }

    fn known(&self, element: usize) -> Result<&Contexts, FlowError> {
        let name = self.element(element)?.name.clone();
        Ok(self.contexts[element].as_ref().ok_or(HostError::NoContexts { element: name })?)
    }

    /// Contexts of an element whose key has these values.
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

/// A block with its card.
pub(crate) struct OnCard<'a> {
    pub on: &'a mut CardBlock,
    pub clock: &'a mut Clock,
    pub bus: &'a mut dyn Bus,
}

impl OnCard<'_> {
    fn window(&mut self, element: usize) -> Window<'_> {
        self.on.window(self.bus, element)
    }
}

impl Elements for OnCard<'_> {
    fn program(&self) -> &Program {
        &self.on.program
    }

    fn time(&mut self) -> Result<u64, FlowError> {
        self.clock.now(self.bus)
    }

    fn globals(&mut self, element: usize) -> Result<[u32; GLOBALS], FlowError> {
        self.on.element(element)?;
        Ok(self.window(element).read_all(own::FLOW_HOST_GLOBALS)?)
    }

    fn set_global(&mut self, element: usize, register: usize, to: u32) -> Result<(), FlowError> {
        self.on.element(element)?;
        let offset = (0..GLOBALS as u32).nth(register).ok_or(FlowError::Register { number: register })?;
        let mut window = self.window(element);
        window.write(own::FLOW_HOST_GLOBALS + 4 * offset, to)?;
        window.until_not(CHANGES).map(|_| ())
    }

    fn count(&mut self, element: usize) -> Result<usize, FlowError> {
        self.on.count(self.bus, element)
    }

    /// Contexts move while the table is read, so the walk may find one context twice and another only in a later round.
    fn slice(&mut self, element: usize, from: usize) -> Result<Slice, FlowError> {
        let now = self.time()?;
        // An element without a key has a list without contexts, and there is nothing behind the first slice.
        if self.on.element(element)?.key.is_none() || from > 0 {
            return Ok(Slice::default());
        }
        let known = self.on.known(element)?;
        let Shape { places, ways, stash, .. } = self.on.window(self.bus, element).shape()?;
        let mut found = Found::default();
        for _ in 0..ROUNDS {
            let count = self.on.count(self.bus, element)?;
            let mut window = self.on.window(self.bus, element);
            let of_ways = (0..places).map(|place| (place / ways) | ((place % ways) << WAY_AT));
            for place in (0..stash).map(|slot| IN_STASH | slot << WAY_AT).chain(of_ways) {
                if found.all.len() >= count {
                    return Ok(Slice { contexts: found.all, next: None });
                }
                window.write(own::FLOW_HOST_PLACE, place)?;
                if window.command(READ)? {
                    found.add(window.context(known, now)?);
                }
            }
        }
        let contexts = self.on.count(self.bus, element)?;
        if found.all.len() >= contexts {
            return Ok(Slice { contexts: found.all, next: None });
        }
        let element = self.on.element(element)?.name.clone();
        Err(FlowError::Moving { element, contexts, found: found.all.len() })
    }

    fn context(&mut self, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError> {
        let now = self.time()?;
        let known = self.on.known_key(element, key)?;
        let mut window = self.on.window(self.bus, element);
        window.write_all(own::FLOW_HOST_KEY, &known.pack(key))?;
        if window.command(FIND)? { window.context(known, now).map(Some) } else { Ok(None) }
    }

    fn insert(&mut self, element: usize, context: &Context) -> Result<(), FlowError> {
        let now = self.time()?;
        let known = self.on.known_key(element, &context.key)?;
        let source = self.on.element(element)?;
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
            let number = number.ok_or_else(|| FlowError::Timeout(source.name.clone()))?;
            timeouts[at] = (number as u32) << 1 | 1;
            if deadline.at.saturating_sub(now) > Timeout::LONGEST.into() {
                return Err(FlowError::TooLate);
            }
            deadlines[at] = deadline.at.max(now) as u32;
        }
        let mut window = self.on.window(self.bus, element);
        window.write_all(own::FLOW_HOST_KEY, &known.pack(&context.key))?;
        window.write(own::FLOW_HOST_STATE, context.state.into())?;
        window.write_all(own::FLOW_HOST_REGISTERS, &context.registers)?;
        window.write_all(own::FLOW_HOST_TIMEOUT, &timeouts)?;
        window.write_all(own::FLOW_HOST_DEADLINE, &deadlines)?;
        if window.command(PUT)? {
            return Ok(());
        }
        let contexts = self.on.count(self.bus, element)?;
        let is_full = contexts >= self.on.capacity(self.bus, element)?;
        let element = source.name.clone();
        Err(if is_full { HostError::Full { element, contexts } } else { HostError::NoPlace { element, contexts } }
            .into())
    }

    fn remove(&mut self, element: usize, key: &[u128]) -> Result<bool, FlowError> {
        let known = self.on.known_key(element, key)?;
        let mut window = self.on.window(self.bus, element);
        window.write_all(own::FLOW_HOST_KEY, &known.pack(key))?;
        window.command(DELETE)
    }

    fn clear(&mut self, element: usize) -> Result<(), FlowError> {
        self.on.element(element)?;
        self.window(element).change(CLEAR)
    }

    fn event(&mut self) -> Result<Option<Event>, FlowError> {
        if self.on.waiting.is_empty() {
            self.on.take_oldest(self.bus, self.clock)?;
        }
        Ok(self.on.waiting.pop_front())
    }

    fn tell(&mut self, element: usize, kinds: &[EventKind]) -> Result<(), FlowError> {
        self.on.element(element)?;
        let bits = EventKind::ALL.iter().enumerate().filter(|(_, kind)| kinds.contains(kind));
        let bits = bits.fold(0, |bits, (bit, _)| bits | 1 << bit);
        Ok(self.window(element).write(own::FLOW_HOST_TELL, bits)?)
    }

    fn counters(&mut self) -> Result<BlockCounters, FlowError> {
        let mut counters = BlockCounters { changes: self.on.changes, ..BlockCounters::default() };
        for (number, element) in self.on.program.elements.iter().enumerate() {
            let mut window = self.on.window(self.bus, number);
            counters.events_lost += window.count(own::FLOW_HOST_EVENTS_LOST)?;
            let mut frames = vec![0; element.rows.len()];
            for (at, row) in (0..).zip(&self.on.rows[number]) {
                frames[*row] += window.count(own::FLOW_HOST_ROWS + 4 * at)?;
            }
            counters.elements.push(ElementCounters {
                name: element.name.clone(),
                frames: window.count(own::FLOW_HOST_FRAMES)?,
                keyless: window.count(own::FLOW_HOST_KEYLESS)?,
                unmatched: window.count(own::FLOW_HOST_UNMATCHED)?,
                unkept: window.count(own::FLOW_HOST_UNKEPT)?,
                expired: window.count(own::FLOW_HOST_EXPIRED)?,
                evicted: window.count(own::FLOW_HOST_EVICTED)?,
                contexts: window.read(own::FLOW_HOST_CONTEXTS)?.into(),
                rows: rows(element, &frames),
            });
        }
        Ok(counters)
    }

    fn table(&mut self, element: usize, forget: bool) -> Result<TableUse, FlowError> {
        self.on.known(element)?;
        let mut window = self.window(element);
        let stash = window.read(own::FLOW_HOST_STASH)?;
        let table = TableUse {
            places: window.shape()?.places,
            contexts: window.read(own::FLOW_HOST_CONTEXTS)?,
            moved: window.count(own::FLOW_HOST_MOVED)?,
            stash: stash & 0xFF,
            most: stash >> 8 & 0xFF,
        };
        if forget {
            window.write(own::FLOW_HOST_STASH, 0)?;
        }
        Ok(table)
    }
}

#[cfg(test)]
impl CardBlock {
    /// The first block of a design, with one element whose key is 16 bits.
    pub(crate) fn one() -> Self {
        let text = "element one { key eth.type else => keep }";
        let program = penstock_flow_compiler::compile("one.efsm", text).unwrap().program;
        let contexts = program.elements.iter().map(Contexts::of).collect();
        Self { block: 0, program, contexts, rows: vec![], waiting: VecDeque::new(), changes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::{CardError, Native};
    use penstock_flow_compiler::hardware;

    use super::super::clock::{TIME_H, TIME_L};
    use super::super::window::{ALL, COMPLETE, ELEMENT, ELEMENTS, FOUND};
    use super::*;

    /// A block of one element whose table is never the same: what its places hold each time that they are read. Its
    /// clock advances with each access.
    #[derive(Default)]
    struct Restless {
        /// Place, and the key that is found there in each round.
        holds: Vec<(u32, [Option<u32>; 2])>,
        round: usize,
        place: u32,
        found: Option<u32>,
        contexts: u32,
        /// µs; each access takes one.
        time: u64,
        event_at: Option<u64>,
    }

    impl Bus for Restless {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            self.time += 1;
            Ok(match address.checked_sub(base(0) + ELEMENTS) {
                None if address == TIME_L => (1000 * self.time) as u32,
                None if address == TIME_H => ((1000 * (self.time - 1)) >> 32) as u32,
                None => 0,
                Some(own::FLOW_HOST_SHAPE) => 6,
                Some(own::FLOW_HOST_TABLE) => 16 << 8 | 4,
                Some(own::FLOW_HOST_CONTEXTS) => self.contexts,
                Some(own::FLOW_HOST_ROOM) => 62,
                Some(own::FLOW_HOST_STATUS) => u32::from(self.found.is_some()) * FOUND,
                Some(own::FLOW_HOST_EVENT) => {
                    // The event arrives in this very cycle.
                    self.event_at = self.event_at.or(Some(self.time));
                    4
                }
                Some(own::FLOW_HOST_EVENT_TIME) => self.event_at.unwrap_or_default() as u32,
                // The key has one field of 16 bits, at any place.
                Some(at) if (own::FLOW_HOST_KEY..own::FLOW_HOST_STATE).contains(&at) => {
                    self.found.unwrap_or_default() * 0x1_0001
                }
                Some(_) => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            self.time += 1;
            if address == base(0) + ELEMENTS + own::FLOW_HOST_PLACE {
                // A walk begins with the stash.
                self.round += usize::from(value == IN_STASH);
                self.place = value;
            } else if address == base(0) + ELEMENTS + own::FLOW_HOST_COMMAND {
                let held = self.holds.iter().find(|(place, _)| *place == self.place);
                self.found = held.and_then(|(_, keys)| keys[(self.round - 1).min(1)]);
            }
            Ok(())
        }

        fn pass(&mut self, _: u64) -> Result<(), CardError> {
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    /// Two elements of the design's second block, which take programs of `words` words, and the changes made in them.
    #[derive(Default)]
    struct Two {
        words: usize,
        /// Words that each has received.
        got: [usize; 2],
        /// The second element loses this word.
        loses: Option<usize>,
        changes: Vec<(u32, u32)>,
    }

    impl Bus for Two {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            assert_eq!(address >> 24, 0x46);
            let Some(at) = address.checked_sub(base(1) + ELEMENTS) else { return Ok(2) };
            let number = at / ELEMENT;
            Ok(match at % ELEMENT {
                own::FLOW_HOST_SHAPE => (self.words as u32) << 16 | number << 8 | 6,
                own::FLOW_HOST_ROOM => 62,
                own::FLOW_HOST_STATUS => u32::from(self.got[number as usize] == self.words) * COMPLETE,
                _ => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            assert_eq!(address >> 24, 0x46);
            let number = (address.saturating_sub(base(1) + ELEMENTS) / ELEMENT) as usize;
            match (address % ELEMENT) & !ALL {
                own::FLOW_HOST_CHANGE => self.changes.push((address, value)),
                own::FLOW_HOST_BEGIN => self.got[number] = 0,
                own::FLOW_HOST_PROGRAM if number == 1 && self.loses.take_if(|word| *word == self.got[1]).is_some() => {}
                own::FLOW_HOST_PROGRAM => self.got[number] += 1,
                _ => {}
            }
            Ok(())
        }

        fn pass(&mut self, _: u64) -> Result<(), CardError> {
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    #[test]
    fn elements_change_at_once_and_to_whole_programs() {
        let program =
            penstock_flow_compiler::compile("two.efsm", "element one { ip => drop } element two { ip => drop }");
        let program = program.unwrap().program;
        let words = hardware::compile(&program, 62, &[]).unwrap().words[0].len();
        let image = FlowImage { path: "two.efsm".into(), program, contexts: 62 };
        let mut card = Two { words, ..Two::default() };
        let mut block = CardBlock::load(&mut card, 1, &image, "").unwrap();
        block.change(&mut card, &image, "").unwrap();
        let all = base(1) + ALL + own::FLOW_HOST_CHANGE;
        let changes = [(all, COMMIT | CLEAR | BEGIN_GLOBALS), (all, COMMIT)];
        assert_eq!(card.changes, changes);
        card.loses = Some(words / 2);
        let error = block.change(&mut card, &image, "").unwrap_err();
        assert_eq!(error, FlowError::Incomplete { block: 1, element: 1 });
        card.words += 1;
        let error = CardBlock::load(&mut card, 1, &image, "").unwrap_err();
        let foreign = FlowError::Foreign { block: 1, element: 0, number: 0, words: words + 1, program: words };
        assert_eq!(error, foreign);
        assert_eq!(card.changes, changes);
        let mut three = image.clone();
        three.program.elements.push(three.program.elements[0].clone());
        let error = CardBlock::load(&mut card, 1, &three, "").unwrap_err();
        assert_eq!(error, FlowError::Elements { block: 1, program: 3, card: 2 });
    }

    #[test]
    fn contexts_that_move_are_found_once_and_all() {
        // The first goes to a way that is read later; the second goes to the stash, which has been read.
        let holds = vec![(0, [Some(1), None]), (1 << WAY_AT, [Some(1), None]), (IN_STASH, [None, Some(2)])];
        let mut card = Restless { holds, contexts: 2, ..Restless::default() };
        let found =
            OnCard { on: &mut CardBlock::one(), clock: &mut Clock::default(), bus: &mut card }.slice(0, 0).unwrap();
        let keys: Vec<_> = found.contexts.into_iter().map(|context| context.key).collect();
        assert_eq!((keys, card.round), (vec![vec![1], vec![2]], 2));
    }

    #[test]
    fn a_list_that_is_not_whole_is_an_error() {
        let mut card = Restless { holds: vec![(0, [Some(1); 2])], contexts: 2, ..Restless::default() };
        let found = OnCard { on: &mut CardBlock::one(), clock: &mut Clock::default(), bus: &mut card }.slice(0, 0);
        assert_eq!(found, Err(FlowError::Moving { element: "one".into(), contexts: 2, found: 1 }));
        assert_eq!(card.round, ROUNDS as usize);
    }

    #[test]
    fn an_event_is_not_later_than_now() {
        let mut card = Restless { time: 1000, ..Restless::default() };
        let mut clock = Clock::default();
        let event = OnCard { on: &mut CardBlock::one(), clock: &mut clock, bus: &mut card }.event().unwrap().unwrap();
        assert_eq!((event.kind, event.time), (EventKind::New, 1001));
        // Its time has 32 bits, and they wrap between the event and the read of the clock.
        let mut card = Restless { time: (7 << 32) - 2, ..Restless::default() };
        let event = OnCard { on: &mut CardBlock::one(), clock: &mut clock, bus: &mut card }.event().unwrap().unwrap();
        assert_eq!(event.time, (7 << 32) - 1);
        assert!(clock.now(&mut card).unwrap() >= 7 << 32);
    }

    #[test]
    fn a_full_table_is_told_from_a_key_without_a_place() {
        let context = Context { key: vec![1], state: 0, registers: [0; 4], hard: None, idle: None };
        let refused = |contexts| {
            let mut card = Restless { contexts, ..Restless::default() };
            let mut on = CardBlock::one();
            let mut block = OnCard { on: &mut on, clock: &mut Clock::default(), bus: &mut card };
            block.insert(0, &context).unwrap_err()
        };
        let element = || "one".to_owned();
        assert_eq!(refused(62), HostError::Full { element: element(), contexts: 62 }.into());
        assert_eq!(refused(61), HostError::NoPlace { element: element(), contexts: 61 }.into());
    }
}
