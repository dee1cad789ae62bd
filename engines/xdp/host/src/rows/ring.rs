// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Empties rings of records in the banks of a card in hardware ([`penstock_xdp_compiler::card::ring`]).

use penstock_engine::{HELD_LIMIT, regs};
use penstock_xdp_compiler::card::ring::{DATA, DISCARDED, DONE, HEADER, LOST, TAKEN, WRITTEN, mark};
use penstock_xdp_compiler::ir::Ring;

use super::banks::{CardBanks, ROW};
use super::error::RowsError;

/// A ring, and the units that write to it.
pub(super) struct CardRing<'a> {
    pub banks: CardBanks<'a>,
    pub ring: Ring,
    /// The units, a bit each.
    pub units: u32,
}

/// State of a record whose place a program has reserved.
enum Head {
    /// The program has submitted or discarded it.
    Done { bytes: u32, discarded: bool },
    /// The program has written its length.
    Reserved { bytes: u32 },
    /// The program has not yet written its length.
    Nothing,
}

impl CardRing<'_> {
    /// Takes all records up to the first that a program works on. Gives them, and how many were lost since the load.
    pub(super) fn take(&mut self) -> Result<(Vec<Vec<u8>>, u64), RowsError> {
        let counters = self.banks.read(self.ring.address, DATA as usize)?;
        let counter = |at: u32| counters[at as usize..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (written, mut taken) = (counter(WRITTEN), counter(TAKEN));
        let (mut records, mut left, mut is_over) = (Vec::new(), 0, false);
        while taken < written {
            match self.head(taken)? {
                Head::Done { bytes, discarded } => {
                    if !discarded {
                        records.push(self.bytes(taken, HEADER, bytes)?);
                    }
                    taken += whole(bytes);
                }
                // The program may submit the record while this is asked, so its head is read once more.
                _ if !is_over => {
                    is_over = self.is_over()?;
                    if !is_over {
                        break;
                    }
                }
                Head::Reserved { bytes } => {
                    left += 1;
                    taken += whole(bytes);
                }
                // Without its length the records after it cannot be found.
                Head::Nothing => {
                    left += 1;
                    taken = written;
                }
            }
        }
        self.banks.write(self.ring.address + TAKEN, &taken.to_le_bytes())?;
        if left > 0 {
            self.banks.add(self.ring.address + LOST, left)?;
        }
        Ok((records, counter(LOST) + left))
    }

    /// Whether all programs have ended that may have reserved a record so far. A program that was stopped leaves its
    /// record reserved.
    fn is_over(&mut self) -> Result<bool, RowsError> {
        let is_over = self.banks.bus.read(regs::CARD_UNITS_IDLE)? & self.units == self.units;
        if is_over {
            // Requests of a program's last row may still be under way.
            self.banks.bus.pass(HELD_LIMIT)?;
        }
        Ok(is_over)
    }

    fn head(&mut self, position: u64) -> Result<Head, RowsError> {
        let header = self.bytes(position, 0, HEADER)?;
        let header = header.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (state, bytes) = (header as u32, header as u32 & !(DONE | DISCARDED));
        Ok(match state & DONE {
            _ if (header >> 32) as u32 != mark(position) => Head::Nothing,
            0 => Head::Reserved { bytes },
            _ => Head::Done { bytes, discarded: state & DISCARDED != 0 },
        })
    }

    /// Reads bytes that begin `behind` bytes after a position.
    fn bytes(&mut self, position: u64, behind: u32, count: u32) -> Result<Vec<u8>, RowsError> {
        let at = (position & u64::from(self.ring.bytes - 1)) as u32;
        let address = self.ring.address + DATA + at + behind;
        let skip = address % ROW as u32;
        let mut bytes = self.banks.read(address - skip, (skip + count) as usize)?;
        bytes.drain(..skip as usize);
        Ok(bytes)
    }
}

/// Bytes that a record takes in the ring, with its header.
fn whole(bytes: u32) -> u64 {
    u64::from(bytes).next_multiple_of(8) + u64::from(HEADER)
}

#[cfg(test)]
mod tests {
    use penstock_engine::{Bus, CardError, Native};
    use penstock_xdp_compiler::card::CARD;

    use super::super::make::ANSWERS;
    use super::*;
    use crate::window::MAPS_WINDOW;

    const RING: Ring = Ring { address: CARD + 64, bytes: 4096 };

    /// A bank that answers the host.
    struct Bank {
        memory: Vec<u8>,
        data: [u8; 512],
        info: usize,
        idle: u32,
        passed: u64,
    }

    impl Bank {
        fn new() -> Self {
            Self { memory: vec![0; 64 + 32 + 2 * 4096], data: [0; 512], info: 0, idle: 0, passed: 0 }
        }

        fn put(&mut self, at: u32, number: u64) {
            let at = (RING.address - CARD + at) as usize;
            self.memory[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }

        fn counter(&self, at: u32) -> u64 {
            u64::from_le_bytes(self.memory[(RING.address - CARD + at) as usize..][..8].try_into().unwrap())
        }

        /// A header, and the bytes after it.
        fn record(&mut self, position: u64, state: u32, bytes: &[u8]) {
            let at = DATA + (position as u32 & (RING.bytes - 1));
            self.put(at, u64::from(mark(position)) << 32 | u64::from(state | bytes.len() as u32));
            let at = (RING.address - CARD + at + HEADER) as usize;
            self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        }

        fn take(&mut self) -> (Vec<Vec<u8>>, u64) {
            CardRing { banks: CardBanks { bus: self }, ring: RING, units: 0b110 }.take().unwrap()
        }
    }

    impl Bus for Bank {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            Ok(match address {
                regs::CARD_UNITS_IDLE => self.idle,
                address if address >= ANSWERS => {
                    u32::from_le_bytes(self.data[(address - ANSWERS) as usize..][..4].try_into().unwrap())
                }
                _ => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            let at = self.info & 0x1FF_FFFF;
            let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
            match (address - MAPS_WINDOW, value & 7) {
                (penstock_xdp_soft::regs::MAPS_HOST_INFO, _) => self.info = value as usize,
                (penstock_xdp_soft::regs::MAPS_HOST_COMMAND, 6) => {
                    let bytes = ((self.info >> 25) + 1) * ROW;
                    self.data[..bytes].copy_from_slice(&self.memory[at..at + bytes]);
                }
                (penstock_xdp_soft::regs::MAPS_HOST_COMMAND, 1) => {
                    self.memory[at..at + 8].copy_from_slice(&self.data[..8])
                }
                (penstock_xdp_soft::regs::MAPS_HOST_COMMAND, 2) => {
                    let sum = number(&self.memory[at..]) + number(&self.data);
                    self.memory[at..at + 8].copy_from_slice(&sum.to_le_bytes());
                }
                _ => {
                    let at = (address - ANSWERS) as usize;
                    self.data[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
            }
            Ok(())
        }

        fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
            self.passed += cycles;
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    #[test]
    fn records_are_taken_up_to_the_first_that_is_not_done() {
        let mut bank = Bank::new();
        // The first record goes past the end of the ring.
        let first = 3 * 4096 - 16;
        bank.record(first, DONE, &[7; 20]);
        bank.record(first + 32, DONE | DISCARDED, &[8; 3]);
        bank.record(first + 48, DONE, &[]);
        bank.record(first + 56, 0, &[9; 8]);
        bank.record(first + 72, DONE, &[10]);
        bank.put(WRITTEN, first + 88);
        bank.put(TAKEN, first);
        bank.put(LOST, 5);
        assert_eq!(bank.take(), (vec![vec![7; 20], vec![]], 5));
        assert_eq!((bank.counter(TAKEN), bank.counter(LOST)), (first + 56, 5));
        assert_eq!(bank.take(), (vec![], 5));
        bank.record(first + 56, DONE, &[9; 8]);
        assert_eq!(bank.take(), (vec![vec![9; 8], vec![10]], 5));
        assert_eq!(bank.counter(TAKEN), first + 88);
    }

    #[test]
    fn records_of_a_stopped_program_are_passed_over_when_no_frame_is_there() {
        let mut bank = Bank::new();
        bank.record(0, 0, &[1; 9]);
        bank.record(24, DONE, &[2]);
        // The header is that of the lap before.
        bank.record(40, DONE, &[3]);
        let stale = u64::from(mark(40 + 4096)) << 32 | u64::from(DONE | 1);
        bank.put(DATA + 40, stale);
        bank.record(56, DONE, &[4]);
        bank.put(WRITTEN, 72);
        bank.idle = 0b100;
        assert_eq!(bank.take(), (vec![], 0));
        bank.idle = 0b111;
        assert_eq!(bank.take(), (vec![vec![2]], 2));
        assert!(bank.passed > 0, "requests may still be under way");
        assert_eq!((bank.counter(TAKEN), bank.counter(LOST)), (72, 2));
        assert_eq!(bank.take(), (vec![], 2));
    }
}
