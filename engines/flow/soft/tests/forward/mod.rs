// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit that sends each frame on, behind the blocks of a card.

use penstock_unit::{Arrival, Counters, Departure, Destination, Outside, Pause, Unit, regs};

/// The unit. The host starts and halts it by its registers RESET and HALT.
pub(crate) struct Forward {
    /// Slots, and bytes of each.
    slots: (u8, u16),
    /// The port to which a frame from a port goes.
    to: fn(u8) -> u8,
    in_reset: bool,
    is_halted: bool,
    waiting: Vec<(u8, Arrival, Vec<u8>)>,
    counters: Counters,
}

impl Forward {
    /// A unit in reset.
    pub(crate) fn new(slots: (u8, u16), to: fn(u8) -> u8) -> Self {
        Self { slots, to, in_reset: true, is_halted: false, waiting: Vec::new(), counters: Counters::default() }
    }
}

impl Unit for Forward {
    fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]) {
        self.counters.rx_frames += 1;
        self.waiting.push((slot, arrival, bytes.to_vec()));
    }

    fn run(&mut self, outside: &mut dyn Outside, _limit: u64) -> Pause {
        if self.is_halted {
            return Pause::Halted;
        }
        if !self.in_reset && self.slots.0 > 0 {
            outside.declare(self.slots.0, self.slots.1);
            self.slots.0 = 0;
        }
        for (slot, arrival, bytes) in self.waiting.drain(..) {
            self.counters.tx_frames += 1;
            outside.send(Departure { destination: Destination::Ethernet((self.to)(arrival.port)), arrival }, &bytes);
            outside.free(slot);
        }
        Pause::Waiting
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn active_slots(&self) -> u32 {
        self.waiting.iter().map(|(slot, ..)| 1 << (slot - 1)).sum()
    }

    fn host_read(&self, offset: u32) -> Option<u32> {
        Some(u32::from(offset == regs::UNIT_HALTED && self.is_halted))
    }

    fn host_write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            regs::UNIT_RESET => self.in_reset = value != 0,
            regs::UNIT_HALT => self.is_halted = value != 0,
            _ => {}
        }
        true
    }

    fn steps(&self) -> u64 {
        self.counters.tx_frames
    }

    fn is_halted(&self) -> bool {
        self.is_halted
    }

    fn is_debugged(&self) -> bool {
        self.is_halted
    }
}
