// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit: core, memories and accelerators, with the window through which the host sees them.

use penstock_unit::{Arrival, Counters, HELD_LIMIT, Identity, Outside, Pause, Word};

use crate::{
    accelerator::Kinds,
    broadcast::REGION_BYTES,
    core::{Core, IMEM_BYTES},
    regs,
    system::{DMEM_BASE, PMEM_BASE, REGION_BASE, System, flag},
};

/// "rpu", first letter in the lowest byte.
const ENGINE: u32 = 0x0075_7072;
const IMEM_BASE: u32 = 0x0200_0000;
const TABLE_BASE: u32 = 0x0300_0000;
const WINDOW_END: u32 = 0x0400_0000;
/// The host's registers of a unit end here.
const REGISTER_BYTES: u32 = 0x100;

/// One unit. It starts with its core in reset, as the card does.
pub struct Unit {
    identity: Identity,
    core: Core,
    system: System,
    imem: Vec<u8>,
    reset: bool,
    debug: Debug,
}

/// The state of a core under a debugger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    /// It carries out one instruction.
    Steps,
    /// It is halted; HALTED has the reason.
    Halted(u32),
}

/// Values of HALTED.
mod halted {
    pub(super) const BY_REQUEST: u32 = 1;
    pub(super) const BY_EBREAK: u32 = 2;
    pub(super) const BY_STEP: u32 = 3;
}

struct Debug {
    /// HALT was set last: a core that leaves reset halts.
    halt: bool,
    state: State,
}

impl Unit {
    /// A unit with empty memories.
    #[must_use]
    pub fn new(identity: Identity, accelerators: Kinds) -> Self {
        Self {
            identity,
            core: Core::new(identity.unit),
            imem: vec![0; IMEM_BYTES],
            reset: true,
            system: System::new(identity, accelerators),
            debug: Debug { halt: false, state: State::Runs },
        }
    }

    /// The core is held in reset.
    #[must_use]
    pub fn in_reset(&self) -> bool {
        self.reset
    }

    /// The same for a core that is halted, or carries out a step.
    #[cold]
    fn run_debugged(&mut self, outside: &mut dyn Outside) -> Pause {
        if self.debug.state == State::Steps {
            let cause = match self.core.step(&mut self.system, outside) {
                Some(Pause::Waiting) => return Pause::Waiting,
                Some(_) => halted::BY_EBREAK,
                None => halted::BY_STEP,
            };
            self.debug.state = State::Halted(cause);
        }
        Pause::Halted
    }

    /// HALT is written.
    fn set_halt(&mut self, value: u32) {
        self.debug.halt = value & 1 != 0;
        self.core.ebreak_halts = value & 2 != 0;
        self.debug.state = match (self.debug.state, self.debug.halt) {
            (State::Runs | State::Steps, true) if !self.reset => {
                self.core.leave_load();
                State::Halted(halted::BY_REQUEST)
            }
            (State::Halted(_) | State::Steps, false) => State::Runs,
            (state, _) => state,
        };
    }

    /// RESET is written.
    fn set_reset(&mut self, reset: bool) {
        if reset && !self.reset {
            self.core.reset();
            self.system.reset();
            self.debug.state = State::Runs;
        } else if !reset && self.reset && self.debug.halt {
            self.debug.state = State::Halted(halted::BY_REQUEST);
        }
        self.reset = reset;
    }

    fn host_register(&self, offset: u32) -> u32 {
        let system = &self.system;
        match offset {
            regs::UNIT_RESET => u32::from(self.reset),
            regs::UNIT_DEBUG_IN_L => system.debug_in[0],
            regs::UNIT_DEBUG_IN_H => system.debug_in[1],
            regs::UNIT_TIME_L => system.time.now(system.ns()) as u32,
            regs::UNIT_TIME_H => (system.time.now(system.ns()) >> 32) as u32,
            regs::UNIT_ENGINE => ENGINE,
            regs::UNIT_ID => u32::from(self.identity.unit),
            regs::UNIT_STATUS => {
                u32::from(self.reset) | u32::from(system.ready_to_evict) << 1 | u32::from(self.core.in_trap) << 2
            }
            regs::UNIT_ERRORS => u32::from(system.errors),
            regs::UNIT_ERROR_ADDR => system.error_addr,
            regs::UNIT_PC => self.core.pc,
            regs::UNIT_ACTIVE_SLOTS => system.active,
            regs::UNIT_HELD_CYCLES => system.held() as u32,
            regs::UNIT_DEBUG_OUT_L => system.debug_out[0],
            regs::UNIT_DEBUG_OUT_H => system.debug_out[1],
            regs::RPU_HOST_ACCEL => system.accelerators.mask(),
            regs::UNIT_HALT => u32::from(self.debug.halt) | u32::from(self.core.ebreak_halts) << 1,
            regs::UNIT_HALTED => match self.debug.state {
                State::Runs | State::Steps => 0,
                State::Halted(cause) => cause,
            },
            regs::UNIT_DATA => system.data,
            regs::RPU_HOST_WILD_PC => system.error_pcs[0],
            regs::RPU_HOST_DESCRIPTOR_PC => system.error_pcs[1],
            regs::RPU_HOST_DESTINATION_PC => system.error_pcs[2],
            regs::RPU_HOST_SLOT_PC => system.error_pcs[3],
            // Places without a register read as 0.
            _ => 0,
        }
    }
}

impl penstock_unit::Unit for Unit {
    fn is_halted(&self) -> bool {
        self.debug.state != State::Runs
    }

    fn is_debugged(&self) -> bool {
        self.is_halted() || self.core.ebreak_halts
    }

    fn is_in_step(&self) -> bool {
        self.debug.state == State::Steps
    }

    fn pc(&self) -> u32 {
        self.core.pc
    }

    fn active_slots(&self) -> u32 {
        self.system.active
    }

    fn held_slots(&self) -> u32 {
        self.system.held_slots()
    }

    fn resume(&mut self, outside: &mut dyn Outside) -> bool {
        self.system.resume(outside)
    }

    fn forget_waiting(&mut self) {
        self.system.active &= !self.system.waiting_slots;
        self.system.forget_waiting();
    }

    fn held(&self) -> u64 {
        self.system.held()
    }

    fn generates(&self) -> bool {
        self.system.since_generated().is_some_and(|instructions| instructions < HELD_LIMIT)
    }

    fn counters(&self) -> Counters {
        self.system.counters
    }

    fn steps(&self) -> u64 {
        self.system.now
    }

    fn clock(&self) -> u64 {
        self.system.clock()
    }

    fn pass(&mut self, cycles: u64) {
        self.system.pass(cycles);
    }

    fn until_timer(&self) -> u64 {
        if self.reset || self.is_halted() { u64::MAX } else { self.system.until_timer() }
    }

    #[inline]
    fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]) {
        self.system.receive(slot, arrival, bytes);
    }

    fn listens(&self) -> bool {
        self.system.broadcast.listens()
    }

    fn hear(&mut self, word: Word) {
        self.system.hear(word);
    }

    fn run(&mut self, outside: &mut dyn Outside, limit: u64) -> Pause {
        if self.reset {
            return Pause::Waiting;
        }
        if self.debug.state != State::Runs {
            return self.run_debugged(outside);
        }
        let before = self.system.now;
        let pause = self.core.run(&mut self.system, outside, limit);
        if self.core.ebreak_halts {
            self.system.pardon(self.system.now - before);
        }
        if pause == Pause::Halted {
            self.debug.state = State::Halted(halted::BY_EBREAK);
        }
        pause
    }

    fn host_read(&self, offset: u32) -> Option<u32> {
        let offset = offset & !3;
        let word = |memory: &[[u8; 4]], at: u32| memory.get((at >> 2) as usize).map(|word| u32::from_le_bytes(*word));
        match offset {
            TABLE_BASE..WINDOW_END => Some(self.system.accelerators.table(offset - TABLE_BASE)),
            WINDOW_END.. => None,
            IMEM_BASE.. => {
                let bytes = self.imem.get((offset - IMEM_BASE) as usize..).and_then(|rest| rest.first_chunk());
                bytes.map(|bytes| u32::from_le_bytes(*bytes))
            }
            PMEM_BASE.. => word(&self.system.pmem, offset - PMEM_BASE),
            REGION_BASE.. if offset - REGION_BASE < REGION_BYTES => {
                Some(self.system.broadcast.word(offset - REGION_BASE))
            }
            DMEM_BASE.. => word(&self.system.dmem, offset - DMEM_BASE),
            0..REGISTER_BYTES => Some(self.host_register(offset)),
            _ => None,
        }
    }

    fn host_write(&mut self, offset: u32, value: u32) -> bool {
        let offset = offset & !3;
        match offset {
            TABLE_BASE..WINDOW_END => self.system.accelerators.load(offset - TABLE_BASE, value),
            WINDOW_END.. => return false,
            IMEM_BASE.. => {
                let at = (offset - IMEM_BASE) as usize;
                let Some(word) = self.imem.get_mut(at..at + 4) else {
                    return false;
                };
                word.copy_from_slice(&value.to_le_bytes());
                self.core.load(offset - IMEM_BASE, value);
            }
            REGION_BASE.. if offset - REGION_BASE < REGION_BYTES => {
                self.system.broadcast.write(offset - REGION_BASE, value);
            }
            DMEM_BASE.. => match self.system.memory(offset) {
                Some(word) => *word = value.to_le_bytes(),
                None => return false,
            },
            regs::UNIT_RESET => self.set_reset(value & 1 != 0),
            regs::UNIT_HALT => self.set_halt(value),
            regs::UNIT_STEP if matches!(self.debug.state, State::Halted(_)) => self.debug.state = State::Steps,
            regs::UNIT_PC if matches!(self.debug.state, State::Halted(_)) => self.core.go_to(value),
            regs::UNIT_DATA => self.system.data = value,
            regs::UNIT_POKE => self.system.raise(flag::POKE),
            regs::UNIT_EVICT => self.system.raise(flag::EVICT),
            regs::UNIT_TIME_H => self.system.time.set_high(value),
            regs::UNIT_TIME_L => self.system.time.set_low(value),
            regs::UNIT_TIME_RUN => self.system.time.run(self.system.ns()),
            regs::UNIT_DEBUG_IN_L => self.system.debug_in[0] = value,
            regs::UNIT_DEBUG_IN_H => self.system.debug_in[1] = value,
            // Read-only registers keep their values.
            _ => return offset < REGISTER_BYTES,
        }
        true
    }
}
