// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An xdp unit of a card in native code: takes frames into its slots, runs the program, and carries out its verdict.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use penstock_unit::{Arrival, Clock, Counters, Departure, Destination, Identity, Outside, Pause};
use penstock_xdp_compiler::object::Object;

use crate::engine::{Engine, ProgramId};
use crate::frame::{Action, Frame, Input, Target};
use crate::regs;
use crate::state::{BUFFER_END, HEADROOM};

/// "xdp", first letter in the lowest byte.
const ENGINE: u32 = 0x0070_6478;
/// Contexts of a unit: each is a processor to programs.
pub const CONTEXTS: u8 = 16;
/// Frames that a unit holds at a time.
const SLOTS: u8 = 32;
/// Lowest bit of the flow hash that chooses a context; those below choose the unit.
const CONTEXT_BIT: u32 = 7;
/// The host as an interface. Ethernet port n is interface n + 1.
const IFINDEX_HOST: u32 = 16;
const IFINDEX_LOOPBACK: u32 = 17;
/// The host's registers of a unit end here.
const REGISTER_BYTES: u32 = 0x100;

/// A program with its maps, which units share.
#[derive(Clone)]
pub struct Loaded {
    /// The loader's name of it.
    pub number: u64,
    engine: Arc<Mutex<Engine>>,
    program: ProgramId,
    since: Instant,
}

impl Loaded {
    /// A program that this engine has loaded.
    #[must_use]
    pub fn new(number: u64, engine: Engine, program: ProgramId) -> Loaded {
        Loaded { number, engine: Arc::new(Mutex::new(engine)), program, since: Instant::now() }
    }

    /// Time since the program was loaded, or one before it whose clock it took over, in ns.
    fn ns(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }

    /// Takes over the clock of a program that no longer runs, and the contents of its maps ([`Engine::take_over`]).
    pub fn take_over(&mut self, object: &Object, other: &Loaded, theirs: &Object) -> Vec<(String, bool)> {
        self.since = other.since;
        self.with(|engine| other.with(|old| engine.take_over(object, old, theirs)))
    }

    /// Works with the engine, and so with its maps, between two frames.
    pub fn with<T>(&self, work: impl FnOnce(&mut Engine) -> T) -> T {
        // A panic in the middle of a frame leaves maps as a program that was stopped there would.
        work(&mut self.engine.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A frame in a slot.
struct Held {
    slot: u8,
    arrival: Arrival,
    bytes: Vec<u8>,
}

/// One unit. It starts in reset, as the card does.
pub struct Unit {
    identity: Identity,
    counters: Counters,
    aborted: u64,
    reset: bool,
    /// Since the reset it has declared its slots.
    declared: bool,
    by_flow: bool,
    loaded: Option<Loaded>,
    /// The time that programs see.
    time: Clock,
    held: Vec<Held>,
    /// The frame that the program works on; its memory is reused.
    frame: Frame,
    /// Memory of frames that are gone.
    spare: Vec<Vec<u8>>,
}

impl Unit {
    /// A unit after power-up.
    #[must_use]
    pub fn new(identity: Identity) -> Unit {
        Unit {
            identity,
            counters: Counters::default(),
            aborted: 0,
            reset: true,
            declared: false,
            by_flow: false,
            loaded: None,
            time: Clock::default(),
            held: Vec::new(),
            frame: Frame::default(),
            spare: Vec::new(),
        }
    }

    /// Gives it a program: frames that begin now are the program's.
    pub fn load(&mut self, loaded: Loaded) {
        self.loaded = Some(loaded);
    }

    /// The program that it runs.
    #[must_use]
    pub fn loaded(&self) -> Option<&Loaded> {
        self.loaded.as_ref()
    }

    /// Declares its slots if necessary, and works on all frames that it holds. Without a program it keeps them.
    fn work_all(&mut self, outside: &mut dyn Outside) {
        if !self.reset && !self.declared {
            self.declared = true;
            outside.declare(SLOTS, (BUFFER_END - HEADROOM) as u16);
        }
        let Some(loaded) = self.loaded.clone().filter(|_| !self.reset) else { return };
        loaded.with(|engine| {
            engine.set_time(self.time.now(loaded.ns()));
            for held in std::mem::take(&mut self.held) {
                let slot = held.slot;
                self.work(engine, loaded.program, held, outside);
                outside.free(slot);
            }
        });
    }

    fn work(&mut self, engine: &mut Engine, program: ProgramId, held: Held, outside: &mut dyn Outside) {
        let Held { arrival, bytes, .. } = held;
        self.spare.push(std::mem::replace(&mut self.frame.data, bytes));
        self.frame.meta.clear();
        let context = if self.by_flow { (arrival.hash >> CONTEXT_BIT) as u8 % CONTEXTS } else { 0 };
        let cpu = u32::from(self.identity.unit) * u32::from(CONTEXTS) + u32::from(context);
        let input = Input { cpu, ifindex: ifindex_of(arrival.port), ..Input::default() };
        // Slots are as long as the buffer, and the card has this many processors: a frame that cannot run has been
        // aborted.
        let verdict = engine.run(program, &mut self.frame, &input).ok();
        let destination = match verdict.as_ref().map(|verdict| (verdict.action(), &verdict.target)) {
            Some((Action::Drop, _)) => {
                self.counters.blocked += 1;
                return;
            }
            Some((Action::Pass, _)) => Some(Destination::Host),
            Some((Action::Tx, _)) => self.back(arrival.port),
            Some((Action::Redirect, target)) => self.redirected(target.as_ref()),
            Some((Action::Aborted, _)) | None => {
                self.aborted += 1;
                return;
            }
        };
        let Some(destination) = destination else {
            self.counters.refused += 1;
            return;
        };
        // Only loopback may be full, and nothing goes there.
        outside.send(Departure { destination, arrival }, &self.frame.data);
        self.counters.tx_frames += 1;
        self.counters.tx_bytes += self.frame.data.len() as u64;
    }

    /// The destination of XDP_TX for frames from there.
    fn back(&self, port: u8) -> Option<Destination> {
        Destination::from_byte(port, self.identity.ports, self.identity.units).filter(|to| !to.loops())
    }

    fn redirected(&self, target: Option<&Target>) -> Option<Destination> {
        match target? {
            Target::Port(port) if port.ifindex == IFINDEX_HOST => Some(Destination::Host),
            Target::Port(port) => {
                let number = u8::try_from(port.ifindex.checked_sub(1)?).ok()?;
                (number < self.identity.ports).then_some(Destination::Ethernet(number))
            }
            Target::Ports(_) | Target::Cpu { .. } | Target::Socket(_) => None,
        }
    }
}

impl penstock_unit::Unit for Unit {
    fn counters(&self) -> Counters {
        self.counters
    }

    fn active_slots(&self) -> u32 {
        self.held.iter().fold(0, |mask, held| mask | 1 << (held.slot - 1))
    }

    fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]) {
        self.counters.rx_frames += 1;
        self.counters.rx_bytes += bytes.len() as u64;
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        self.held.push(Held { slot, arrival, bytes: copy });
    }

    fn count_at(&self, offset: u32) -> Option<u64> {
        match offset {
            regs::XDP_HOST_ABORTED => Some(self.aborted),
            // Native code counts no rows, requests or stores.
            regs::XDP_HOST_ROWS | regs::XDP_HOST_WILD | regs::XDP_HOST_STRAY => Some(0),
            _ => self.counters.at(offset),
        }
    }

    fn host_read(&self, offset: u32) -> Option<u32> {
        (offset < REGISTER_BYTES).then(|| match offset & !3 {
            regs::UNIT_RESET | regs::UNIT_STATUS => u32::from(self.reset),
            regs::XDP_HOST_BY_FLOW => u32::from(self.by_flow),
            regs::UNIT_TIME_L => self.time.now(self.loaded.as_ref().map_or(0, Loaded::ns)) as u32,
            regs::UNIT_TIME_H => (self.time.now(self.loaded.as_ref().map_or(0, Loaded::ns)) >> 32) as u32,
            regs::UNIT_ENGINE => ENGINE,
            regs::UNIT_ID => self.identity.unit.into(),
            regs::UNIT_ACTIVE_SLOTS => self.active_slots(),
            // There are no banks, and no rows. Places without a register read as 0.
            _ => 0,
        })
    }

    fn host_write(&mut self, offset: u32, value: u32) -> bool {
        match offset & !3 {
            regs::UNIT_RESET => {
                self.reset = value & 1 != 0;
                if self.reset {
                    self.declared = false;
                    self.held.clear();
                }
            }
            regs::XDP_HOST_BY_FLOW => self.by_flow = value & 1 != 0,
            regs::UNIT_TIME_H => self.time.set_high(value),
            regs::UNIT_TIME_L => self.time.set_low(value),
            regs::UNIT_TIME_RUN => self.time.run(self.loaded.as_ref().map_or(0, Loaded::ns)),
            offset if offset < REGISTER_BYTES => {}
            _ => return false,
        }
        true
    }

    fn run(&mut self, outside: &mut dyn Outside, _limit: u64) -> Pause {
        self.work_all(outside);
        Pause::Waiting
    }

    fn steps(&self) -> u64 {
        self.counters.rx_frames
    }
}

/// The interface that a port byte means to programs.
fn ifindex_of(port: u8) -> u32 {
    match port {
        2 => IFINDEX_HOST,
        3 => IFINDEX_LOOPBACK,
        port => u32::from(port & !8) + 1,
    }
}
