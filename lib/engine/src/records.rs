// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records between an inline block and its driver, the same on every target.

use penstock_unit::{RECORD_BYTES, Record};

use crate::bus::{Bus, CardError};
use crate::regs;
use crate::window::INLINE_WINDOW;

/// Host address of the registers for the records of a block.
fn registers(block: usize) -> u32 {
    INLINE_WINDOW + regs::INLINE_RECORDS_BASE + regs::INLINE_RECORDS_STRIDE * block as u32
}

/// Takes the oldest record that a block has for its driver. A card in hardware takes about 100 cycles for one.
///
/// # Errors
/// The card refuses, or has no such block.
pub fn take(bus: &mut dyn Bus, block: usize) -> Result<Option<Record>, CardError> {
    if let Some(native) = bus.native() {
        return Ok(native.take_record(block));
    }
    let base = registers(block);
    if bus.read(base + regs::INLINE_RECORDS_LEVEL)? == 0 {
        return Ok(None);
    }
    let mut bytes = [0; RECORD_BYTES];
    for (word, offset) in bytes.chunks_exact_mut(4).zip((0..).step_by(4)) {
        word.copy_from_slice(&bus.read(base + regs::INLINE_RECORDS_HEAD + offset)?.to_le_bytes());
    }
    bus.write(base + regs::INLINE_RECORDS_POP, 1)?;
    Ok(Some(Record::from_bytes(&bytes)))
}

/// Gives a block a record of its driver; false when there is no room yet, and nothing has happened.
///
/// # Errors
/// The card refuses, or has no such block.
pub fn give(bus: &mut dyn Bus, block: usize, record: &Record) -> Result<bool, CardError> {
    if let Some(native) = bus.native() {
        native.give_record(block, record);
        return Ok(true);
    }
    let base = registers(block);
    if bus.read(base + regs::INLINE_RECORDS_ROOM)? == 0 {
        return Ok(false);
    }
    for (word, offset) in record.to_bytes().chunks_exact(4).zip((0..).step_by(4)) {
        let word = word.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        bus.write(base + regs::INLINE_RECORDS_SEND + offset, word)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::bus::Native;

    /// The registers of block 2, as shell/rtl/record_port.sv has them.
    struct Registers {
        waiting: VecDeque<[u8; RECORD_BYTES]>,
        sent: [u8; RECORD_BYTES],
        full: bool,
    }

    const BASE: u32 = 0x4400_1000 + 0x800 + 2 * 0x100;

    impl Bus for Registers {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            let head = self.waiting.front();
            Ok(match address - BASE {
                at @ 0..0x40 => head.map_or(0, |head| crate::window::word_of(&head[at as usize..][..4])),
                0x80 => self.waiting.len() as u32,
                0x88 => (!self.full).into(),
                at => panic!("{at:#x}"),
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            match address - BASE {
                at @ 0x40..0x80 => {
                    self.sent[at as usize - 0x40..][..4].copy_from_slice(&value.to_le_bytes());
                    self.full = at == 0x7C;
                }
                0x84 => drop(self.waiting.pop_front().unwrap()),
                at => panic!("{at:#x}"),
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
    fn records_go_through_the_registers() {
        let record =
            |seed: u8| Record::from_bytes(&std::array::from_fn(|at| if at / 2 == 3 { 0 } else { at as u8 ^ seed }));
        let waiting = [1, 2].map(|seed| record(seed).to_bytes()).into();
        let mut card = Registers { waiting, sent: [0; RECORD_BYTES], full: false };
        assert_eq!([(); 3].map(|()| take(&mut card, 2).unwrap()), [Some(record(1)), Some(record(2)), None]);
        assert!(give(&mut card, 2, &record(9)).unwrap());
        assert_eq!(card.sent, record(9).to_bytes());
        assert!(!give(&mut card, 2, &record(8)).unwrap());
        assert_eq!(card.sent, record(9).to_bytes());
    }
}
