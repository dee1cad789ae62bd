// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame's way through a program.

use penstock_rmt_compiler::ir::{PORT_DROP, PORT_HOST, PORT_ONWARD, Standard};
use penstock_unit::{Entering, Made, Verdict};

use crate::bits;
use crate::machine::Machine;
use crate::tenant::{State, Tenant};
use crate::work::Frame;

impl Tenant {
    /// Carries a frame through the program; `time` is in ns.
    pub(crate) fn carry(
        &mut self,
        bytes: &mut Vec<u8>,
        entering: Entering,
        time: u64,
        made: &mut Vec<Made>,
    ) -> Verdict {
        self.carry_from(u16::from(entering.port), bytes, entering, time, made)
    }

    /// As [`Self::carry`], with the value of `ingress_port`.
    #[inline]
    pub(crate) fn carry_from(
        &mut self,
        port: u16,
        bytes: &mut Vec<u8>,
        entering: Entering,
        time: u64,
        made: &mut Vec<Made>,
    ) -> Verdict {
        self.state.time = time;
        let time = time / 1000;
        self.frames += 1;
        let machine = &self.machine;
        if machine.replicates {
            return self.carry_copies(bytes, entering, (port, time), made);
        }
        let (state, frame) = (&mut self.state, &mut self.frame);
        let entered = bytes.len();
        let verdict = frame.carry(machine, state, bytes, port, time);
        if verdict == Verdict::Drop {
            self.dropped += 1;
            return verdict;
        }
        frame.deparse(machine, bytes);
        if verdict == Verdict::Host && self.has_controller {
            self.send_to_controller(std::mem::take(bytes));
            return Verdict::Absorb;
        }
        if bytes.len() < MIN_FRAME.min(entered) && !self.machine.keeps_short {
            self.dropped += 1;
            return Verdict::Drop;
        }
        verdict
    }

    /// Keeps a frame for the controller. If too many wait, the oldest is lost.
    #[cold]
    pub(crate) fn send_to_controller(&mut self, frame: Vec<u8>) {
        if self.packets.len() == PACKETS {
            self.packets.pop_front();
            self.lost_packets += 1;
        }
        self.packets.push_back(frame);
    }
}

/// Bytes of an Ethernet header. A frame that headers are removed from until it is shorter is dropped.
pub(crate) const MIN_FRAME: usize = 14;
/// Frames that wait for a controller.
const PACKETS: usize = 1024;

impl Frame {
    /// A field of the standard metadata.
    pub(crate) fn standard(&mut self, machine: &Machine, field: Standard) -> &mut u64 {
        &mut self.slots[machine.slots.fields[field.field()].slot as usize]
    }

    /// Parses a frame and verifies its checksums. `set` gives fields their values before.
    pub(crate) fn enter(
        &mut self,
        machine: &Machine,
        state: &mut State,
        bytes: &[u8],
        (port, time): (u16, u64),
        set: impl FnOnce(&mut Self),
    ) {
        self.begin(machine);
        set(self);
        *self.standard(machine, Standard::IngressPort) = port.into();
        *self.standard(machine, Standard::PacketLength) = bytes.len() as u64;
        for field in [Standard::IngressGlobalTimestamp, Standard::EgressGlobalTimestamp] {
            *self.standard(machine, field) = time & bits::mask(48);
        }
        self.run(machine, state, machine.native.enter, bytes);
    }

    fn carry(&mut self, machine: &Machine, state: &mut State, bytes: &[u8], port: u16, time: u64) -> Verdict {
        self.enter(machine, state, bytes, (port, time), |_| {});
        self.run(machine, state, machine.native.ingress, bytes);
        let spec = *self.standard(machine, Standard::EgressSpec);
        if u128::from(spec) == PORT_DROP {
            return Verdict::Drop;
        }
        *self.standard(machine, Standard::EgressPort) = spec;
        self.run(machine, state, machine.native.egress, bytes);
        if u128::from(*self.standard(machine, Standard::EgressSpec)) == PORT_DROP {
            return Verdict::Drop;
        }
        self.run(machine, state, machine.native.update, bytes);
        verdict(spec)
    }

    /// Writes the headers into the frame.
    pub(crate) fn deparse(&mut self, machine: &Machine, bytes: &mut Vec<u8>) {
        if self.patch(machine, bytes) {
            return;
        }
        let mut made = std::mem::take(&mut self.scratch);
        made.clear();
        for instance in &machine.emits {
            let header = &machine.instances[*instance];
            if self.slots[header.valid as usize] != 0 {
                header.put(&self.slots, bytes, &mut made);
            }
        }
        made.extend_from_slice(&bytes[self.slots[machine.slots.cursor as usize] as usize..]);
        self.scratch = std::mem::replace(bytes, made);
    }
}

/// Where a port sends a frame.
pub(crate) fn verdict(port: u64) -> Verdict {
    match u128::from(port) {
        PORT_HOST => Verdict::Host,
        PORT_ONWARD => Verdict::Onward,
        _ => Verdict::Port(port as u32),
    }
}
