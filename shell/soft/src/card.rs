// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card: takes frames, gives them to units, lets the units run, and hands out what they send.

use std::{collections::VecDeque, fmt};

use penstock_unit::{
    Answer, Arrival, Block, Departure, Destination, HELD_LIMIT, Outside, Pause, Record, Source, Unit, Word,
};

use crate::{
    dispatch::{Decision, Dispatcher, Policy, Request, Target},
    flow_hash::flow_hash,
    host_memory::{HostMemory, HostRange},
    inline::{BLOCKS, BlockCounters, Inline, OF_RECORDS, Shape, Travel, Way},
    output::{Frame, Frames},
    tenants::Tenants,
};

/// Shortest and longest frame, bytes without FCS.
const MIN_FRAME: usize = 14;
pub(crate) const MAX_FRAME: usize = 16_384;

/// Streams of the register map: Ethernet 0..=3, host, loopback.
pub(crate) const STREAMS: usize = 6;
const HOST: usize = 4;
pub(crate) const LOOPBACK: usize = 5;
/// In place of a stream: the frame has entered at none, a unit's program made it.
const GENERATED: usize = 6;

/// Frames that go over loopback in one [`Card::poll`], so that it ends even if they circle.
const LOOPBACK_LIMIT: usize = 100_000;
/// The same for one [`Card::push`]: enough for each frame in the card to go from unit to unit a few times.
const PUSH_LOOPBACK_LIMIT: usize = 4_096;

/// Times in one [`Card::poll`] or [`Card::push`] that units wake each other by broadcast, so that it ends even if they never stop.
const WAKE_LIMIT: usize = 10_000;

/// Instructions that a unit with frames executes before others have their turn, if it listens to them.
const SLICE: u64 = HELD_LIMIT / 10;

/// Where a frame leaves the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exit {
    /// Ethernet port, from 0.
    Ethernet(u8),
    /// The host's queue.
    Host,
}

/// The counters of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamCounters {
    /// Frames that entered whole.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Longer than the card or the slot takes.
    pub oversize: u64,
    /// Shorter than an Ethernet header.
    pub runt: u64,
    /// At a disabled port.
    pub disabled: u64,
    /// By the policy flow hash that drops, or because the unit that it is for is not enabled or has no slots.
    pub policy: u64,
    /// Frames that left.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
}

impl StreamCounters {
    #[inline(always)]
    fn count_out(&mut self, bytes: &[u8]) {
        self.tx_frames += 1;
        self.tx_bytes += bytes.len() as u64;
    }
}

/// The counters of the units' requests to host memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostMemoryCounters {
    /// Reads.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Their bytes.
    pub write_bytes: u64,
    /// Reads and writes that the host refused, wholly or in part.
    pub errors: u64,
    /// Reads and writes outside the range of their unit. They count as nothing else.
    pub denied: u64,
}

/// A unit that holds frames and does not go on. Everything else is still delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The unit.
    pub unit: u8,
    /// Address of the instruction it is at.
    pub pc: u32,
    /// Slots that it holds: bit n - 1 is slot n.
    pub slots: u32,
    /// Its fault.
    pub cause: Cause,
}

/// The fault of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It executes, but has disposed of no frame for [`HELD_LIMIT`] instructions.
    Hangs,
    /// It waits for another frame.
    Waits,
    /// Frames over loopback wait for a place in it, and its own wait for places elsewhere: the units send in a circle.
    Full,
    /// A debugger has halted it. It is not given up: it goes on when it may.
    Halted,
}

impl fmt::Display for Fault {
    /// All but where it is, which who has the program can say better.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unit, slots, .. } = self;
        let frames = slots.count_ones();
        match self.cause {
            Cause::Hangs => {
                write!(f, "unit {unit} has not released a slot for {},000 instructions", HELD_LIMIT / 1000)
            }
            Cause::Waits => write!(f, "unit {unit} waits for frames and has not released {frames} that it holds"),
            Cause::Full => {
                write!(f, "unit {unit} stays full: its frames and those for it wait for each other over loopback")
            }
            Cause::Halted => write!(f, "unit {unit} is halted and has not released {frames} that it holds"),
        }
    }
}

/// A frame that the card does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "frames cannot enter from {entry:?}: the card has {ports} Ethernet ports, numbered from 0, and the host's queue"
)]
pub struct PushError {
    entry: Source,
    ports: u8,
}

/// A frame on its way from one unit to another, where it has a slot.
struct Looped {
    unit: u8,
    slot: u8,
    arrival: Arrival,
    bytes: Vec<u8>,
}

/// A card at work.
pub struct Card {
    pub(crate) ports: u8,
    pub(crate) units: Vec<Box<dyn Unit>>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) streams: [StreamCounters; STREAMS],
    pub(crate) host: crate::registers::HostState,
    outside: Yard,
    /// None on a card without inline blocks.
    inline: Option<Box<Inline>>,
    pub(crate) tenants: Tenants,
    taken: Frames,
    pushed: [u64; STREAMS],
    /// Units that may have something to do.
    ready: u32,
    /// Units that execute without a frame: they go on at the next poll.
    spinning: u32,
    /// Units that hold frames and may wait for a word of others: they go on when the others have done what they can.
    listening: u32,
    /// Times that units have woken each other by broadcast since the last call from outside.
    wakes: usize,
    /// Units given up.
    dead: u32,
    faults: Vec<Fault>,
    lost: u64,
}

/// The frames that units send, until the card handles them.
#[derive(Default)]
struct Yard {
    left: Frames,
    looped: VecDeque<Looped>,
    /// Units with frames that wait to go over loopback.
    blocked: u32,
    /// Units that were full when such a frame was offered.
    full: u32,
    /// Frames that the units' programs made.
    generated: u64,
    host_memory: HostMemory,
    host_counters: HostMemoryCounters,
    /// Host memory that each unit reaches.
    host_ranges: [HostRange; 32],
    /// Words that the unit which runs has stored for all others.
    words: Vec<Word>,
    /// Memory of frames that have been over loopback.
    spare: Vec<Vec<u8>>,
}

/// The card as one of its units sees it while it runs.
struct View<'a> {
    unit: u8,
    dispatcher: &'a mut Dispatcher,
    streams: &'a mut [StreamCounters; STREAMS],
    yard: &'a mut Yard,
    /// All units have done all they can: a full unit stays full.
    settled: bool,
}

impl View<'_> {
    #[inline(always)]
    fn leave(&mut self, stream: usize, destination: Exit, tag: u64, bytes: &[u8]) {
        self.streams[stream].count_out(bytes);
        let (source, index) = from_tag(tag, self.unit);
        self.yard.left.push(Frame { destination, source, index, unit: Some(self.unit), mark: 0, bytes });
    }

    /// Whether the unit may reach so many bytes of host memory. Counts the request as denied if it may not.
    fn may_reach(&mut self, address: u64, count: usize) -> bool {
        let may = self.yard.host_ranges[usize::from(self.unit)].holds(address, count);
        self.yard.host_counters.denied += u64::from(!may);
        may
    }

    #[inline(never)]
    fn loop_back(&mut self, to: Option<u8>, arrival: Arrival, bytes: &[u8]) -> Answer {
        let counters = &mut self.streams[LOOPBACK];
        let target = to.map_or(Target::Policy, Target::Named);
        match self.dispatcher.decide(Request { to: target, hash: arrival.hash, len: bytes.len(), loopback: true }) {
            Decision::Place { unit, slot } => {
                counters.tx_frames += 1;
                counters.tx_bytes += bytes.len() as u64;
                counters.rx_frames += 1;
                counters.rx_bytes += bytes.len() as u64;
                let mut copy = self.yard.spare.pop().unwrap_or_default();
                copy.clear();
                copy.extend_from_slice(bytes);
                self.yard.looped.push_back(Looped { unit, slot, arrival, bytes: copy });
                return Answer::Taken;
            }
            Decision::Oversize => counters.oversize += 1,
            Decision::Closed => counters.policy += 1,
            Decision::Full(_) if to.is_none() && self.settled && self.dispatcher.policy == Policy::FlowHashDrop => {
                counters.policy += 1;
            }
            Decision::Full(named) => {
                self.yard.blocked |= 1 << self.unit;
                self.yard.full |= named.map_or_else(|| self.dispatcher.open(), |unit| 1 << unit);
                return Answer::Full;
            }
        }
        Answer::Dropped
    }
}

impl Outside for View<'_> {
    #[inline]
    fn send(&mut self, departure: Departure, bytes: &[u8]) -> Answer {
        let Departure { destination, arrival } = departure;
        match destination {
            Destination::Ethernet(port) => self.leave(usize::from(port), Exit::Ethernet(port), arrival.tag, bytes),
            Destination::Host => self.leave(HOST, Exit::Host, arrival.tag, bytes),
            Destination::Loopback => return self.loop_back(None, arrival, bytes),
            Destination::Unit(unit) => return self.loop_back(Some(unit), arrival, bytes),
        }
        Answer::Taken
    }

    #[inline(never)]
    fn generate(&mut self, destination: Destination, bytes: &[u8]) {
        let tag = to_tag(GENERATED, self.yard.generated);
        match destination {
            Destination::Ethernet(port) => self.leave(usize::from(port), Exit::Ethernet(port), tag, bytes),
            Destination::Host => self.leave(HOST, Exit::Host, tag, bytes),
            // Not for frames that a program made.
            Destination::Loopback | Destination::Unit(_) => return,
        }
        self.yard.generated += 1;
    }

    fn free(&mut self, slot: u8) {
        self.dispatcher.free(self.unit, slot);
    }

    fn declare(&mut self, count: u8, bytes: u16) {
        self.dispatcher.declare(self.unit, count, bytes);
    }

    fn broadcast(&mut self, word: Word) {
        self.yard.words.push(word);
    }

    fn host_write(&mut self, address: u64, bytes: &[u8]) -> bool {
        if !self.may_reach(address, bytes.len()) {
            return false;
        }
        let whole = self.yard.host_memory.write(address, bytes);
        let counters = &mut self.yard.host_counters;
        counters.writes += 1;
        counters.write_bytes += bytes.len() as u64;
        counters.errors += u64::from(!whole);
        whole
    }

    fn host_read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        if !self.may_reach(address, bytes.len()) {
            return false;
        }
        let whole = self.yard.host_memory.read(address, bytes);
        let counters = &mut self.yard.host_counters;
        counters.reads += 1;
        counters.read_bytes += bytes.len() as u64;
        counters.errors += u64::from(!whole);
        whole
    }
}

/// A frame's origin and number in one word, to travel with it.
pub(crate) fn to_tag(stream: usize, index: u64) -> u64 {
    (stream as u64) << 56 | index
}

/// The same back; `unit` sends the frame.
fn from_tag(tag: u64, unit: u8) -> (Source, u64) {
    let source = match (tag >> 56) as usize {
        HOST => Source::Host,
        LOOPBACK => Source::Loopback,
        GENERATED => Source::Unit(unit),
        block @ BLOCKS.. => Source::Block((block - BLOCKS) as u8),
        port => Source::Ethernet(port as u8),
    };
    (source, tag & (u64::MAX >> 8))
}

impl Card {
    /// A card of so many Ethernet ports (1..=4) and with these units (1..=32) after power-up: ports off, units in reset.
    ///
    /// # Panics
    /// When the card would have no port or unit, or more than it can have.
    #[must_use]
    pub fn new(ports: u8, units: Vec<Box<dyn Unit>>) -> Self {
        assert!((1..=4).contains(&ports), "a card has 1 to 4 ports, not {ports}");
        assert!((1..=32).contains(&units.len()), "a card has 1 to 32 units, not {}", units.len());
        Self {
            ports,
            dispatcher: Dispatcher::new(units.len()),
            units,
            streams: Default::default(),
            host: Default::default(),
            outside: Yard::default(),
            inline: None,
            tenants: Tenants::default(),
            taken: Frames::default(),
            pushed: [0; STREAMS],
            ready: 0,
            spinning: 0,
            listening: 0,
            wakes: 0,
            dead: 0,
            faults: Vec::new(),
            lost: 0,
        }
    }

    /// Gives a frame (without FCS) to an Ethernet port or to the host's queue. It goes on until units are full;
    /// [`Card::poll`] carries it further. A frame that does not fit the card is dropped and counted.
    ///
    /// # Errors
    /// When the card has no such port, or the source is the loopback, which only units use.
    pub fn push(&mut self, source: Source, bytes: &[u8]) -> Result<(), PushError> {
        if !self.offer(source, bytes)? {
            let stream = self.stream_at(source)?;
            let tag = to_tag(stream, self.pushed[stream]);
            self.lost += self.inline.as_mut().map_or(1, |inline| inline.forget(tag));
            self.pushed[stream] += 1;
            self.streams[stream].rx_frames += 1;
            self.streams[stream].rx_bytes += bytes.len() as u64;
        }
        Ok(())
    }

    fn stream_at(&self, source: Source) -> Result<usize, PushError> {
        match source {
            Source::Ethernet(port) if port < self.ports => Ok(usize::from(port)),
            Source::Host => Ok(HOST),
            entry => Err(PushError { entry, ports: self.ports }),
        }
    }

    /// The same, but a frame that has no place because units are debugged is not taken: false, and nothing has happened.
    ///
    /// # Errors
    /// As [`Card::push`].
    pub fn offer(&mut self, source: Source, bytes: &[u8]) -> Result<bool, PushError> {
        let stream = self.stream_at(source)?;
        let index = self.pushed[stream];
        self.pushed[stream] += 1;
        let counters = &mut self.streams[stream];
        if let Source::Ethernet(port) = source
            && self.host.port_enable >> port & 1 == 0
        {
            counters.disabled += 1;
        } else if bytes.len() > MAX_FRAME {
            counters.oversize += 1;
        } else if bytes.len() < MIN_FRAME {
            counters.runt += 1;
        } else {
            counters.rx_frames += 1;
            counters.rx_bytes += bytes.len() as u64;
            let arrival = Arrival { port: source.byte(), hash: flow_hash(bytes), time: 0, tag: to_tag(stream, index) };
            let taken = match source {
                Source::Ethernet(_) if self.inline.is_some() => self.go_inline(stream, arrival, bytes),
                _ => self.dispatch(stream, Target::Policy, arrival, bytes),
            };
            if !taken {
                self.pushed[stream] -= 1;
                let counters = &mut self.streams[stream];
                counters.rx_frames -= 1;
                counters.rx_bytes -= bytes.len() as u64;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells the card that `cycles` have passed since the last call. Programs see them: their clocks go on, and timers
    /// fire at the next [`Card::poll`]. If this is never called, the units' instructions are the only time.
    pub fn pass(&mut self, cycles: u64) {
        for (number, unit) in (0..).zip(&mut self.units) {
            unit.pass(cycles);
            if unit.until_timer() == 0 {
                self.ready |= 1 << number;
            }
        }
    }

    /// Cycles until the next timer rings. Those of units that were given up never do.
    #[must_use]
    pub fn until_timer(&self) -> Option<u64> {
        let alive = each_bit(self.all_units() & !self.dead).map(|number| &self.units[usize::from(number)]);
        alive.map(|unit| unit.until_timer()).min().filter(|cycles| *cycles != u64::MAX)
    }

    /// Lets all units run until none has anything to do, and hands out what has left since the last call.
    pub fn poll(&mut self) -> &Frames {
        self.settle();
        self.taken.clear();
        std::mem::swap(&mut self.taken, &mut self.outside.left);
        &self.taken
    }

    /// Lets all units run until none has anything to do; frames that leave wait for the next [`Card::poll`].
    pub fn settle(&mut self) {
        self.ready |= std::mem::take(&mut self.spinning);
        self.resume_inline();
        self.work(LOOPBACK_LIMIT);
    }

    /// Frames go on circling over loopback: [`Card::poll`] again.
    #[must_use]
    pub fn busy(&self) -> bool {
        !self.outside.looped.is_empty()
    }

    /// Some unit executes without a frame: it goes on at the next [`Card::poll`].
    #[must_use]
    pub fn spins(&self) -> bool {
        self.spinning != 0
    }

    /// Gives up units that wait for a frame and hold so many that they can get none: between two polls nothing else can free them.
    pub fn give_up_full(&mut self) {
        let full = self.dispatcher.full() & !self.dead & !self.debugged();
        if full == 0 || self.busy() {
            return;
        }
        for number in each_bit(full) {
            if self.units[usize::from(number)].held_slots() != 0 {
                self.give_up(number, Cause::Waits);
            }
        }
    }

    /// Tells the card that no more frames will come: units that still hold frames are faults, and their frames are
    /// lost, with those that wait for a place in them. Frames that still circle over loopback are also lost; returns
    /// their number. Halted units keep theirs.
    pub fn finish(&mut self) -> u64 {
        self.work(LOOPBACK_LIMIT);
        self.outside.full = 0;
        self.resume(true);
        let circling = self.outside.looped.len() as u64;
        self.lost += circling + self.inline.as_mut().map_or(0, |inline| inline.forget_made());
        for Looped { unit, slot, .. } in self.outside.looped.drain(..) {
            self.dispatcher.free(unit, slot);
        }
        for number in each_bit(self.all_units() & !self.dead) {
            let unit = &self.units[usize::from(number)];
            if unit.held_slots() != 0 && unit.is_halted() {
                let (pc, slots) = (unit.pc(), unit.held_slots());
                self.faults.push(Fault { unit: number, pc, slots, cause: Cause::Halted });
            } else if unit.held_slots() != 0 {
                self.give_up(number, Cause::Waits);
            } else if circling == 0 && self.outside.full >> number & 1 != 0 {
                let (pc, slots) = (unit.pc(), unit.active_slots());
                self.faults.push(Fault { unit: number, pc, slots, cause: Cause::Full });
            }
        }
        for number in each_bit(std::mem::take(&mut self.outside.blocked)) {
            let unit = &mut self.units[usize::from(number)];
            let waiting = unit.active_slots() & !unit.held_slots();
            unit.forget_waiting();
            self.lost += u64::from(waiting.count_ones());
            each_bit(waiting).for_each(|slot| self.dispatcher.free(number, slot + 1));
        }
        circling
    }

    /// Units that hold frames and do not go on, or have not gone on since power-up.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Units that a debugger has halted: bit n is unit n.
    #[must_use]
    pub fn halted(&self) -> u32 {
        (0..).zip(&self.units).filter(|(_, unit)| unit.is_halted()).fold(0, |mask, (number, _)| mask | 1 << number)
    }

    /// Units at which a debugger is at work, halted or not: bit n is unit n.
    #[must_use]
    pub fn debugged(&self) -> u32 {
        (0..).zip(&self.units).filter(|(_, unit)| unit.is_debugged()).fold(0, |mask, (number, _)| mask | 1 << number)
    }

    /// Units that were given up and not started anew since: bit n is unit n.
    #[must_use]
    pub fn dead(&self) -> u32 {
        self.dead
    }

    /// Frames that no counter of a port or unit has: held by units that died, or without a unit that could take them.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Counters of an Ethernet port (0..=3), the host (4) or the loopback (5).
    #[must_use]
    pub fn stream(&self, stream: usize) -> StreamCounters {
        self.streams[stream]
    }

    /// Counters of host memory.
    #[must_use]
    pub fn host_memory_counters(&self) -> HostMemoryCounters {
        self.outside.host_counters
    }

    /// The range of host memory of a unit.
    pub(crate) fn host_range(&self, unit: u32) -> HostRange {
        self.outside.host_ranges[unit as usize % 32]
    }

    /// The same, to set it.
    pub(crate) fn host_range_mut(&mut self, unit: u32) -> &mut HostRange {
        &mut self.outside.host_ranges[unit as usize % 32]
    }

    /// The memory of the host.
    #[must_use]
    pub fn host_memory(&self) -> &HostMemory {
        &self.outside.host_memory
    }

    /// The same, to write it.
    pub fn host_memory_mut(&mut self) -> &mut HostMemory {
        &mut self.outside.host_memory
    }

    /// Counters of a unit.
    #[must_use]
    pub fn unit(&self, unit: u8) -> penstock_unit::Counters {
        self.units[usize::from(unit)].counters()
    }

    /// Slots of a unit: how many it has declared, and how many of them have a frame in them or on its way to them.
    #[must_use]
    pub fn slots(&self, unit: u8) -> (u64, u64) {
        let slots = &self.dispatcher.slots[usize::from(unit)];
        (slots.total.into(), slots.held())
    }

    /// Steps of all units since their reset ([`Unit::steps`]).
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.units.iter().map(|unit| unit.steps()).sum()
    }

    /// Units that wait for a place in another one.
    pub(crate) fn waiting_units(&self) -> u64 {
        self.units.iter().filter(|unit| unit.active_slots() != unit.held_slots()).count() as u64
    }

    /// A unit, for the driver of its engine.
    pub fn unit_mut(&mut self, unit: u8) -> Option<&mut dyn Unit> {
        self.units.get_mut(usize::from(unit)).map(Box::as_mut)
    }

    /// The host has done something to a unit: let it run.
    pub(crate) fn wake(&mut self, unit: u8) {
        self.run(unit);
    }

    /// The host has started a unit anew.
    pub(crate) fn revive(&mut self, unit: u8) {
        self.dead &= !(1 << unit);
    }

    /// The host flushes a unit's slots.
    pub(crate) fn forget_slots(&mut self, unit: u8) {
        let all = self.outside.looped.len();
        self.outside.looped.retain(|frame| frame.unit != unit);
        let on_the_way = (all - self.outside.looped.len()) as u64;
        let held = self.dispatcher.forget(unit);
        self.lost += if self.dead >> unit & 1 == 0 { held } else { on_the_way };
    }

    /// All units of the card: bit n is unit n.
    #[must_use]
    pub fn all_units(&self) -> u32 {
        u32::MAX >> (32 - self.units.len())
    }

    /// Gives the card inline blocks, or others, or none: frames of Ethernet ports go through them before the dispatcher.
    pub fn set_blocks(&mut self, blocks: Vec<Box<dyn Block>>) {
        self.inline = (!blocks.is_empty()).then(|| Box::new(Inline::new(blocks)));
    }

    /// The card has inline blocks.
    pub(crate) fn has_blocks(&self) -> bool {
        self.inline.is_some()
    }

    /// An inline block, for the driver of its engine.
    pub fn block_mut(&mut self, block: usize) -> Option<&mut dyn Block> {
        self.inline.as_mut()?.blocks.get_mut(block).map(Box::as_mut)
    }

    /// Puts a block into the place of another one, whose counters go on.
    pub fn set_block(&mut self, block: usize, to: Box<dyn Block>) {
        if let Some(place) = self.inline.as_mut().and_then(|inline| inline.blocks.get_mut(block)) {
            *place = to;
        }
    }

    /// Counters of the inline blocks, in their order.
    #[must_use]
    pub fn block_counters(&self) -> &[BlockCounters] {
        self.inline.as_ref().map_or(&[], |inline| &inline.counters)
    }

    /// Frames that inline blocks sent to ports or units that the card does not have.
    #[must_use]
    pub fn inline_refused(&self) -> u64 {
        self.inline.as_ref().map_or(0, |inline| inline.refused)
    }

    /// Sets the time that the programs of inline blocks see, in ns ([`Block::set_time`]).
    pub fn set_time(&mut self, ns: u64) {
        self.inline.iter_mut().flat_map(|inline| &mut inline.blocks).for_each(|block| block.set_time(ns));
    }

    /// As [`Card::set_time`] when frames enter one at a time ([`Block::settle_time`]).
    pub fn settle_time(&mut self, ns: u64) {
        self.inline.iter_mut().flat_map(|inline| &mut inline.blocks).for_each(|block| block.settle_time(ns));
    }

    /// Takes a frame of a port through the inline blocks, and what comes of it on to where they say; false as for [`Card::dispatch`].
    fn go_inline(&mut self, stream: usize, arrival: Arrival, bytes: &[u8]) -> bool {
        // Out of the card for so long, since what follows needs all of it.
        let Some(mut inline) = self.inline.take() else { return true };
        let port = stream as u8;
        inline.carry(arrival, port, self.tenants.of(port, bytes), bytes);
        let taken = self.leave_inline(&mut inline, arrival.tag);
        self.inline = Some(inline);
        taken
    }

    /// Takes the oldest record that a block has for its driver.
    pub fn take_record(&mut self, block: usize) -> Option<Record> {
        let mut record = self.inline.as_mut()?.blocks.get_mut(block)?.take_record()?;
        record.block = block as u8;
        Some(record)
    }

    /// Gives a block a record of its driver, and sends the frames on that it makes. Those without a place wait for the next [`Card::poll`].
    pub fn give_record(&mut self, block: usize, record: &Record) {
        self.resume_inline();
        let Some(mut inline) = self.inline.take() else { return };
        inline.give_record(block, record);
        self.leave_inline(&mut inline, OF_RECORDS);
        self.inline = Some(inline);
    }

    /// Sends frames on that records had caused, as far as there is room now.
    fn resume_inline(&mut self) {
        let Some(mut inline) = self.inline.take_if(|inline| inline.resume()) else { return };
        self.leave_inline(&mut inline, OF_RECORDS);
        self.inline = Some(inline);
    }

    /// Sends the frames that have left the last block to their destinations. False as for [`Card::dispatch`]: remaining
    /// frames are kept for `tag`.
    fn leave_inline(&mut self, inline: &mut Inline, tag: u64) -> bool {
        for (counters, oversize) in self.streams.iter_mut().zip(&mut inline.oversize) {
            counters.oversize += std::mem::take(oversize);
        }
        let shape = Shape { ports: self.ports, units: self.units.len() as u8 };
        while let Some((frame, way)) = inline.next(shape) {
            match way {
                Way::Dispatcher(to) => {
                    if !self.dispatch(usize::from(frame.port), to, frame.arrival, &frame.bytes) {
                        inline.keep(tag, frame);
                        return false;
                    }
                }
                Way::Exit(destination) => self.pass_units(destination, &frame),
            }
            inline.reuse(frame);
        }
        true
    }

    /// Sends a frame out past the units.
    fn pass_units(&mut self, destination: Exit, frame: &Travel) {
        let Travel { bytes, arrival, .. } = frame;
        let (to, mark) = match destination {
            Exit::Ethernet(port) => (usize::from(port), 0),
            Exit::Host => (HOST, frame.mark),
        };
        self.streams[to].count_out(bytes);
        let (source, index) = from_tag(arrival.tag, 0);
        self.outside.left.push(Frame { destination, source, index, unit: None, mark, bytes });
    }

    /// Puts a frame of a port or the host into a unit's slot, or counts why not; false when it would have to wait for a unit that is debugged.
    fn dispatch(&mut self, stream: usize, to: Target, arrival: Arrival, bytes: &[u8]) -> bool {
        let request = Request { to, hash: arrival.hash, len: bytes.len(), loopback: false };
        let mut decision = self.dispatcher.decide(request);
        if let Decision::Full(named) = decision {
            decision = self.decide_after_work(named, request);
        }
        match decision {
            Decision::Place { unit, slot } => self.receive(unit, slot, arrival, bytes),
            Decision::Oversize => self.streams[stream].oversize += 1,
            Decision::Closed => self.streams[stream].policy += 1,
            Decision::Full(_) if self.dispatcher.policy == Policy::FlowHashDrop && !to.is_told() => {
                self.streams[stream].policy += 1;
            }
            // Units that are full may be so because others are debugged, which their frames wait for.
            Decision::Full(named)
                if self.debugged()
                    & (self.outside.full | named.map_or_else(|| self.dispatcher.open(), |unit| 1 << unit))
                    != 0 =>
            {
                return false;
            }
            Decision::Full(_) => self.lost += 1,
        }
        true
    }

    /// Lets units that were full go on, first those that a frame is for, and decides then.
    #[cold]
    fn decide_after_work(&mut self, named: Option<u8>, request: Request) -> Decision {
        match named {
            Some(unit) => self.run(unit),
            None => self.run_ready(),
        }
        let decision = self.dispatcher.decide(request);
        if !matches!(decision, Decision::Full(_)) {
            return decision;
        }
        self.work(PUSH_LOOPBACK_LIMIT);
        self.dispatcher.decide(request)
    }

    /// Puts a frame into its slot. It came just now, by the unit's clock.
    #[inline]
    fn receive(&mut self, unit: u8, slot: u8, arrival: Arrival, bytes: &[u8]) {
        let to = &mut self.units[usize::from(unit)];
        let time = to.clock() as u32;
        to.receive(slot, Arrival { time, ..arrival }, bytes);
        self.ready |= 1 << unit;
    }

    /// Runs all units until none has anything to do, with at most about `limit` frames over loopback.
    fn work(&mut self, limit: usize) {
        let mut hops = 0;
        self.wakes = 0;
        loop {
            self.run_ready();
            let moved = self.resume(false);
            if self.outside.looped.is_empty() && !moved && !self.resume(true) {
                self.ready = std::mem::take(&mut self.listening);
                if self.ready == 0 {
                    return;
                }
            }
            hops += self.outside.looped.len();
            if hops > limit {
                return;
            }
            while let Some(Looped { unit, slot, arrival, bytes }) = self.outside.looped.pop_front() {
                if self.dead >> unit & 1 == 0 {
                    let port = Source::Loopback.byte();
                    self.receive(unit, slot, Arrival { port, ..arrival }, &bytes);
                } else {
                    self.lost += 1;
                }
                self.outside.spare.push(bytes);
            }
        }
    }

    /// Offers again what waits to go over loopback; false when nothing could move.
    fn resume(&mut self, settled: bool) -> bool {
        let mut moved = false;
        for number in each_bit(std::mem::take(&mut self.outside.blocked)) {
            let (unit, mut view) = self.unit_and_view(number, settled);
            moved |= unit.resume(&mut view);
        }
        moved
    }

    fn unit_and_view(&mut self, number: u8, settled: bool) -> (&mut dyn Unit, View<'_>) {
        let view = View {
            unit: number,
            dispatcher: &mut self.dispatcher,
            streams: &mut self.streams,
            yard: &mut self.outside,
            settled,
        };
        (self.units[usize::from(number)].as_mut(), view)
    }

    fn run_ready(&mut self) {
        while self.ready != 0 {
            self.run(self.ready.trailing_zeros() as u8);
        }
    }

    /// Runs a unit until it waits for a frame; gives it up when it holds frames and does not go on.
    fn run(&mut self, number: u8) {
        self.ready &= !(1 << number);
        if self.dead >> number & 1 != 0 && !self.units[usize::from(number)].is_in_step() {
            return;
        }
        let (unit, mut view) = self.unit_and_view(number, false);
        let turn = unit.steps() + HELD_LIMIT;
        loop {
            let slice = if unit.listens() { SLICE } else { HELD_LIMIT };
            let pause = unit.run(&mut view, slice);
            if unit.held() >= HELD_LIMIT && !unit.is_debugged() {
                self.give_up(number, Cause::Hangs);
                break;
            }
            match pause {
                Pause::Waiting | Pause::Halted => break,
                // One that makes frames has time of its own, whatever it asks for in between.
                Pause::Polling | Pause::Listening
                    if unit.held_slots() == 0 && unit.generates() && unit.steps() < turn => {}
                Pause::Polling if unit.held_slots() == 0 && unit.generates() => {
                    self.spinning |= 1 << number;
                    break;
                }
                Pause::Polling if unit.held_slots() == 0 => break,
                // One that is debugged may take as long as it likes.
                Pause::Limit | Pause::Listening | Pause::Polling if unit.held_slots() == 0 || unit.is_debugged() => {
                    self.spinning |= 1 << number;
                    break;
                }
                Pause::Polling | Pause::Limit if !unit.listens() && view.yard.words.is_empty() => {}
                // The other units may deliver what it waits for.
                Pause::Listening | Pause::Polling | Pause::Limit => {
                    self.listening |= 1 << number;
                    break;
                }
            }
        }
        if !self.outside.words.is_empty() {
            self.spread(number);
        }
    }

    /// Brings what a unit has stored in its broadcast region to all others, and lets them run, or at the next poll when that goes on and on.
    #[cold]
    fn spread(&mut self, from: u8) {
        for number in each_bit(self.all_units() & !(1 << from)) {
            let unit = &mut self.units[usize::from(number)];
            self.outside.words.iter().for_each(|word| unit.hear(*word));
        }
        self.outside.words.clear();
        // Those that listen have their turn anyway.
        let others = self.all_units() & !(1 << from) & !self.listening;
        self.wakes += 1;
        if self.wakes < WAKE_LIMIT {
            self.ready |= others;
        } else {
            self.spinning |= others;
        }
    }

    fn give_up(&mut self, number: u8, cause: Cause) {
        let unit = &mut self.units[usize::from(number)];
        self.faults.push(Fault { unit: number, pc: unit.pc(), slots: unit.held_slots(), cause });
        self.lost += u64::from(unit.active_slots().count_ones());
        unit.forget_waiting();
        self.outside.blocked &= !(1 << number);
        self.dead |= 1 << number;
        self.dispatcher.close(number);
    }
}

/// Numbers of the bits that are set, lowest first.
pub(crate) fn each_bit(mask: u32) -> impl Iterator<Item = u8> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < 32).then_some(bit as u8)
    })
}
