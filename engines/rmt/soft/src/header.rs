// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A header's way between frame and slots.

use penstock_rmt_compiler::ir::{FieldKind, Program};

use crate::bits;
use crate::slots::{Slot, Slots};
use crate::uses::Uses;

/// A header's way between frame and slots.
#[derive(Debug)]
pub(crate) struct Header {
    /// Bytes without the varbit.
    pub bytes: usize,
    pub valid: Slot,
    /// The slots that say where it was extracted ([`Slots::instance`]).
    pub origin: Slot,
    /// Fields that the program reads or writes: those in front of the varbit, those behind it.
    pub loads: [Vec<Wire>; 2],
    /// Fields that the program writes.
    pub stores: [Vec<Wire>; 2],
    pub varbit: Option<Varbit>,
}

/// A varbit of a header.
#[derive(Debug)]
pub(crate) struct Varbit {
    /// The slots of its place in the frame.
    pub slot: Slot,
    /// Bytes of the header in front of it.
    pub at: usize,
    /// The most bytes.
    pub most: usize,
    /// The program copies another one to it.
    pub written: bool,
}

/// Part of a field on the wire: at most 64 bits, which have a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire {
    /// Bits in front of it in the header, without those of the varbit.
    pub offset: usize,
    pub width: u32,
    pub slot: Slot,
}

/// A header of a program.
pub(crate) fn header(program: &Program, slots: &Slots, uses: &Uses, index: usize) -> Header {
    let instance = &program.instances[index];
    let mut made = Header {
        bytes: program.headers[instance.header].bits as usize / 8,
        valid: slots.fields[instance.valid].slot,
        origin: slots.instance(index),
        loads: [Vec::new(), Vec::new()],
        stores: [Vec::new(), Vec::new()],
        varbit: None,
    };
    for field in &instance.fields {
        let FieldKind::Header { offset, varbit, .. } = program.fields[*field].kind else { continue };
        let (place, bits) = (slots.fields[*field], program.fields[*field].width);
        if varbit {
            let (at, most) = (offset as usize / 8, bits as usize / 8);
            made.varbit = Some(Varbit { slot: slots.varbit(*field), at, most, written: uses.written[*field] });
            continue;
        }
        let half = usize::from(made.varbit.is_some());
        let mut wires = vec![Wire { offset: offset as usize, width: bits, slot: place.slot }];
        if place.is_wide() {
            let upper = bits - 64;
            wires = vec![
                Wire { offset: offset as usize, width: upper, slot: place.slot + 1 },
                Wire { offset: (offset + upper) as usize, width: 64, slot: place.slot },
            ];
        }
        if uses.read[*field] || uses.written[*field] {
            made.loads[half].extend(&wires);
        }
        if uses.written[*field] {
            made.stores[half].extend(&wires);
        }
    }
    made
}

impl Header {
    /// Appends the header to a frame that is being put together from the slots and from the frame that entered.
    pub(crate) fn put(&self, slots: &[u64], bytes: &[u8], made: &mut Vec<u8>) {
        let start = made.len();
        let pair = |slot: Slot| (slots[slot as usize] as usize, slots[slot as usize + 1] as usize);
        let varbit = self.varbit.as_ref().map_or((0, 0), |varbit| pair(varbit.slot));
        let split = self.varbit.as_ref().map_or(self.bytes, |varbit| varbit.at);
        match pair(self.origin) {
            (0, _) => {
                made.resize(start + split, 0);
                made.extend_from_slice(&bytes[varbit.0..varbit.0 + varbit.1]);
                made.resize(start + self.bytes + varbit.1, 0);
            }
            (after, extracted) => {
                let before = after - 1;
                made.extend_from_slice(&bytes[before..before + split]);
                made.extend_from_slice(&bytes[varbit.0..varbit.0 + varbit.1]);
                let behind = before + split + extracted;
                made.extend_from_slice(&bytes[behind..behind + self.bytes - split]);
            }
        }
        for (wires, moved) in self.stores.iter().zip([0, varbit.1 * 8]) {
            for wire in wires {
                let value = slots[wire.slot as usize];
                bits::write(&mut made[start..], wire.offset + moved, wire.width, value);
            }
        }
    }
}
