// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame's way through a program.

use penstock_rmt_compiler::ir::{PORT_DROP, PORT_HOST, PORT_ONWARD, Standard};
use penstock_unit::{Entering, Made, Verdict};

use crate::bits;
use crate::compile::{Header, Machine};
use crate::run::{Extracted, Frame};
use crate::tenant::{State, Tenant};

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
        if self.machine.replicates {
            return self.carry_copies(bytes, entering, (port, time), made);
        }
        let (machine, state, frame) = (&self.machine, &mut self.state, &mut self.frame);
        self.frames += 1;
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
        if bytes.len() < MIN_FRAME.min(entered) {
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
const MIN_FRAME: usize = 14;
/// Frames that wait for a controller.
const PACKETS: usize = 1024;

impl Frame {
    /// A field of the standard metadata.
    pub fn standard(&mut self, machine: &Machine, field: Standard) -> &mut u64 {
        &mut self.slots[machine.fields[field.field()].slot as usize]
    }

    /// Parses a frame and verifies its checksums. `set` gives fields their values before.
    pub fn enter(
        &mut self,
        machine: &Machine,
        state: &mut State,
        bytes: &[u8],
        (port, time): (u16, u64),
        set: impl FnOnce(&mut Self),
    ) {
        self.begin(machine, bytes.len());
        set(self);
        *self.standard(machine, Standard::IngressPort) = port.into();
        *self.standard(machine, Standard::PacketLength) = bytes.len() as u64;
        for field in [Standard::IngressGlobalTimestamp, Standard::EgressGlobalTimestamp] {
            *self.standard(machine, field) = time & bits::mask(48);
        }
        let error = self.parse(machine, state, bytes);
        *self.standard(machine, Standard::ParserError) = error;
        for sum in &machine.verify {
            if self.checksum(machine, state, sum, bytes).is_some_and(|is| is != self.slots[sum.field.slot as usize]) {
                *self.standard(machine, Standard::ChecksumError) = 1;
            }
        }
    }

    fn carry(&mut self, machine: &Machine, state: &mut State, bytes: &[u8], port: u16, time: u64) -> Verdict {
        self.enter(machine, state, bytes, (port, time), |_| {});
        self.run(machine, state, &machine.ingress, bytes);
        let spec = *self.standard(machine, Standard::EgressSpec);
        if u128::from(spec) == PORT_DROP {
            return Verdict::Drop;
        }
        *self.standard(machine, Standard::EgressPort) = spec;
        self.run(machine, state, &machine.egress, bytes);
        if u128::from(*self.standard(machine, Standard::EgressSpec)) == PORT_DROP {
            return Verdict::Drop;
        }
        self.update(machine, state, bytes);
        verdict(spec)
    }

    /// Computes the checksums that the frame leaves with.
    pub fn update(&mut self, machine: &Machine, state: &mut State, bytes: &[u8]) {
        for sum in &machine.update {
            if let Some(is) = self.checksum(machine, state, sum, bytes) {
                self.slots[sum.field.slot as usize] = is;
            }
        }
    }

    /// Writes the headers into the frame.
    pub fn deparse(&mut self, machine: &Machine, bytes: &mut Vec<u8>) {
        let valid = |instance: &&usize| self.slots[machine.instances[**instance].valid as usize] != 0;
        let emitted = machine.emits.iter().filter(valid);
        if self.in_place(machine, emitted.clone()) {
            for extracted in &self.extracted {
                patch(
                    &machine.instances[extracted.instance],
                    &self.slots,
                    extracted.varbit,
                    &mut bytes[extracted.start..],
                );
            }
            return;
        }
        let mut made = std::mem::take(&mut self.scratch);
        made.clear();
        for instance in emitted {
            let header = &machine.instances[*instance];
            let before = self.extracted.iter().rfind(|of| of.instance == *instance);
            self.put(header, before, bytes, &mut made);
        }
        made.extend_from_slice(&bytes[self.cursor / 8..]);
        self.scratch = std::mem::replace(bytes, made);
    }

    /// Whether the headers leave as they stand in the frame: the same ones in the same order, with nothing between them.
    fn in_place<'i>(&self, machine: &Machine, emitted: impl Iterator<Item = &'i usize>) -> bool {
        let (mut extracted, mut end) = (self.extracted.iter(), 0);
        for instance in emitted {
            let header = &machine.instances[*instance];
            let next = extracted.next().filter(|of| of.instance == *instance && of.start == end);
            let Some(next) = next.filter(|_| header.varbit.as_ref().is_none_or(|varbit| !varbit.written)) else {
                return false;
            };
            end += header.bytes + next.varbit;
        }
        extracted.next().is_none() && end * 8 == self.cursor
    }

    /// Appends a header.
    fn put(&self, header: &Header, before: Option<&Extracted>, bytes: &[u8], made: &mut Vec<u8>) {
        let start = made.len();
        let varbit = header.varbit.as_ref().map_or((0, 0), |varbit| self.varbits[varbit.number]);
        let split = header.varbit.as_ref().map_or(header.bytes, |varbit| varbit.at);
        match before {
            Some(before) => {
                made.extend_from_slice(&bytes[before.start..before.start + split]);
                made.extend_from_slice(&bytes[varbit.0..varbit.0 + varbit.1]);
                let behind = before.start + split + before.varbit;
                made.extend_from_slice(&bytes[behind..behind + header.bytes - split]);
            }
            None => {
                made.resize(start + split, 0);
                made.extend_from_slice(&bytes[varbit.0..varbit.0 + varbit.1]);
                made.resize(start + header.bytes + varbit.1, 0);
            }
        }
        patch(header, &self.slots, varbit.1, &mut made[start..]);
    }
}

/// Where a port sends a frame.
pub fn verdict(port: u64) -> Verdict {
    match u128::from(port) {
        PORT_HOST => Verdict::Host,
        PORT_ONWARD => Verdict::Onward,
        _ => Verdict::Port(port as u32),
    }
}

/// Writes the fields that the program may have written.
fn patch(header: &Header, slots: &[u64], varbit: usize, bytes: &mut [u8]) {
    for wire in &header.stores[0] {
        bits::write(bytes, wire.offset, wire.width, slots[wire.slot as usize]);
    }
    for wire in &header.stores[1] {
        bits::write(bytes, wire.offset + varbit * 8, wire.width, slots[wire.slot as usize]);
    }
}
