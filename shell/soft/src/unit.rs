// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The registry of engines in native code: what a unit of the card is. Whoever adds an engine adds it here, and in engines/engines.toml.

use penstock_rpu::{Pause, accelerator::Kinds};
use penstock_unit::{Arrival, Counters, Identity, Outside, Word};

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A RISC-V packet unit with accelerators.
    Rpu(Kinds),
    /// A VLIW core for XDP programs.
    Xdp,
}

impl Default for Engine {
    fn default() -> Self {
        Self::Rpu(Kinds::default())
    }
}

/// A unit of the card.
pub(crate) enum Unit {
    Rpu(Box<penstock_rpu::Unit>),
    Xdp(Box<penstock_xdp_soft::Unit>),
}

impl Unit {
    pub fn new(identity: Identity, engine: Engine) -> Self {
        match engine {
            Engine::Rpu(accelerators) => Self::Rpu(Box::new(penstock_rpu::Unit::new(identity, accelerators))),
            Engine::Xdp => Self::Xdp(Box::new(penstock_xdp_soft::Unit::new(identity))),
        }
    }

    /// The unit as a packet unit, for what only those have: a debugger, broadcast, frames that programs make.
    fn rpu(&self) -> Option<&penstock_rpu::Unit> {
        match self {
            Self::Rpu(unit) => Some(unit),
            Self::Xdp(_) => None,
        }
    }

    #[inline]
    pub fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]) {
        match self {
            Self::Rpu(unit) => unit.receive(slot, arrival, bytes),
            Self::Xdp(unit) => unit.receive(slot, arrival, bytes),
        }
    }

    /// Lets the unit work for at most about `limit` instructions.
    #[inline]
    pub fn run(&mut self, outside: &mut impl Outside, limit: u64) -> Pause {
        match self {
            Self::Rpu(unit) => unit.run(outside, limit),
            Self::Xdp(unit) => {
                unit.run(outside);
                Pause::Waiting
            }
        }
    }

    /// Time as its program sees it: cycles since its reset. XDP programs have the clock of the machine, and are given no time with a frame.
    #[inline]
    pub fn clock(&self) -> u64 {
        self.rpu().map_or(0, penstock_rpu::Unit::clock)
    }

    /// So many cycles have passed since the last call.
    pub fn pass(&mut self, cycles: u64) {
        if let Self::Rpu(unit) = self {
            unit.pass(cycles);
        }
    }

    /// Cycles until its timer rings; `u64::MAX` when it has none, or it is not set.
    pub fn until_timer(&self) -> u64 {
        self.rpu().map_or(u64::MAX, penstock_rpu::Unit::until_timer)
    }

    /// What it has done: instructions, or frames.
    #[inline]
    pub fn instructions(&self) -> u64 {
        match self {
            Self::Rpu(unit) => unit.instructions(),
            Self::Xdp(unit) => unit.counters().rx_frames,
        }
    }

    pub fn counters(&self) -> Counters {
        match self {
            Self::Rpu(unit) => unit.counters(),
            Self::Xdp(unit) => unit.counters(),
        }
    }

    pub fn active_slots(&self) -> u32 {
        match self {
            Self::Rpu(unit) => unit.active_slots(),
            Self::Xdp(unit) => unit.active_slots(),
        }
    }

    pub fn held_slots(&self) -> u32 {
        match self {
            Self::Rpu(unit) => unit.held_slots(),
            Self::Xdp(unit) => unit.active_slots(),
        }
    }

    pub fn host_read(&self, offset: u32) -> Option<u32> {
        match self {
            Self::Rpu(unit) => unit.host_read(offset),
            Self::Xdp(unit) => unit.host_read(offset),
        }
    }

    pub fn host_write(&mut self, offset: u32, value: u32) -> bool {
        match self {
            Self::Rpu(unit) => unit.host_write(offset, value),
            Self::Xdp(unit) => unit.host_write(offset, value),
        }
    }

    /// Instructions since it has disposed of a frame.
    pub fn held(&self) -> u64 {
        self.rpu().map_or(0, penstock_rpu::Unit::held)
    }

    pub fn listens(&self) -> bool {
        self.rpu().is_some_and(penstock_rpu::Unit::listens)
    }

    pub fn generates(&self) -> bool {
        self.rpu().is_some_and(penstock_rpu::Unit::generates)
    }

    pub fn is_halted(&self) -> bool {
        self.rpu().is_some_and(penstock_rpu::Unit::is_halted)
    }

    pub fn is_debugged(&self) -> bool {
        self.rpu().is_some_and(penstock_rpu::Unit::is_debugged)
    }

    pub fn is_in_step(&self) -> bool {
        self.rpu().is_some_and(penstock_rpu::Unit::is_in_step)
    }

    pub fn pc(&self) -> u32 {
        self.rpu().map_or(0, penstock_rpu::Unit::pc)
    }

    /// A word comes from another unit.
    pub fn hear(&mut self, word: Word) {
        if let Self::Rpu(unit) = self {
            unit.hear(word);
        }
    }

    /// Offers again what waits to go over loopback; false when nothing could move.
    pub fn resume(&mut self, outside: &mut impl Outside) -> bool {
        match self {
            Self::Rpu(unit) => unit.resume(outside),
            Self::Xdp(_) => false,
        }
    }

    /// Forgets what waits to go over loopback.
    pub fn forget_waiting(&mut self) {
        if let Self::Rpu(unit) = self {
            unit.forget_waiting();
        }
    }
}
