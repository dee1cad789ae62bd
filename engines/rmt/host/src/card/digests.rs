// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Digests of programs on a card in hardware: records of the block, each with the digests of a frame.

use std::collections::VecDeque;

use penstock_engine::{Bus, records};
use penstock_rmt::{MESSAGES, Message};
use penstock_rmt_compiler::backend::{DigestCode, RECORD_WORDS};
use penstock_unit::Record;

use crate::card::block::CardBlock;
use crate::error::RmtError;

/// Records that wait for the host in the shell.
const IN_SHELL: usize = 512;
/// Records that wait in the block, those of both lanes.
const IN_BLOCK: usize = 2 * 512;
/// All records that wait.
pub(super) const ALL: usize = IN_SHELL + IN_BLOCK;
/// The first of a record's bits for calls of `digest`. Bit 0 is the program's bank.
const FIRST_BIT: u32 = 4;

/// The messages of a program.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// How many came.
    pub sent: u64,
    /// Those that nobody has taken yet, the oldest first.
    pub waiting: VecDeque<Message>,
    /// Frames whose digests were lost before the program was loaded, as the card counts them.
    pub lost_before: u64,
}

impl Messages {
    /// Takes the messages of a record.
    pub(crate) fn take(&mut self, codes: &[DigestCode], record: &Record) {
        let mut words = [0; RECORD_WORDS];
        for (word, bytes) in words.iter_mut().zip(record.own.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        }
        for code in codes.iter().filter(|code| record.queue >> (FIRST_BIT + code.bit) & 1 == 1) {
            if self.waiting.len() == MESSAGES {
                self.waiting.pop_front();
            }
            self.waiting.push_back(Message { digest: code.digest, values: code.values(&words) });
            self.sent += 1;
        }
    }
}

/// The bank of the program that a record is of.
pub(super) fn bank(record: &Record) -> u32 {
    u32::from(record.queue & 1)
}

impl CardBlock {
    /// Takes the records that wait in the shell; whether there were any.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn serve(&mut self, bus: &mut dyn Bus) -> Result<bool, RmtError> {
        Ok(self.has_records && self.take_records(bus, IN_SHELL)? > 0)
    }

    /// Takes all records that have been made so far.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn drain(&mut self, bus: &mut dyn Bus) -> Result<(), RmtError> {
        if self.has_records {
            self.take_records(bus, ALL)?;
        }
        Ok(())
    }

    /// Takes records, and gives them to the programs that sent them; how many there were.
    pub(super) fn take_records(&mut self, bus: &mut dyn Bus, most: usize) -> Result<usize, RmtError> {
        for taken in 0..most {
            let Some(record) = records::take(bus, self.block)? else { return Ok(taken) };
            self.give(&record);
        }
        Ok(most)
    }
}
