// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames from and to controllers on a card in hardware: records of the block, each with a piece of a frame.

use std::collections::VecDeque;

use penstock_engine::{Bus, CardError, records};
use penstock_rmt_p4runtime::Refusal;
use penstock_unit::Record;

use crate::error::RmtError;

/// The kind of a record with a piece of a frame.
pub(super) const REASON: u8 = 2;
/// Bytes of a frame in a record. Two bytes with the frame's length follow them.
const PIECE: usize = 32;
/// Bit of a record's queue: the piece is the first one of a frame. Bit 0 is the program's bank.
const FIRST: u16 = 1 << 1;
/// Bytes of a controller's frame that the card takes.
const LENGTHS: std::ops::RangeInclusive<usize> = 14..=4096;
/// Frames that wait for a controller, as many as on `soft`.
const PACKETS: usize = 1024;
/// Cycles after which the card is asked again for room, and how often it is.
const WAIT: u64 = 64;
const TRIES: usize = 10_000;

/// The frames of a program for its controller.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    /// Those that nobody has taken yet, the oldest first.
    pub waiting: VecDeque<Vec<u8>>,
    /// The pieces of a frame that is not whole yet.
    pub partial: Vec<u8>,
    /// Frames that were lost here, as too many waited.
    pub lost: u64,
    /// Frames that were lost before the program was loaded, as the card counts them.
    pub lost_before: u64,
}

impl Packets {
    /// Takes a piece.
    pub(crate) fn take(&mut self, record: &Record) {
        if record.queue & FIRST != 0 {
            self.partial.clear();
        }
        let length = usize::from(u16::from_le_bytes([record.own[PIECE], record.own[PIECE + 1]]));
        self.partial.extend(&record.own[..PIECE]);
        if self.partial.len() < length {
            return;
        }
        let mut frame = std::mem::take(&mut self.partial);
        frame.truncate(length);
        if self.waiting.len() == PACKETS {
            self.waiting.pop_front();
            self.lost += 1;
        }
        self.waiting.push_back(frame);
    }
}

/// Gives a controller's frame to a block, in which it enters a tenant's program.
///
/// # Errors
/// The frame is too short or too long, or the card takes no records.
pub(super) fn send(bus: &mut dyn Bus, block: usize, tenant: u8, frame: &[u8]) -> Result<(), RmtError> {
    if !LENGTHS.contains(&frame.len()) {
        let (count, least, most) = (frame.len(), LENGTHS.start(), LENGTHS.end());
        let text = format!(
            "the frame has {count} bytes with the fields of packet_out, and the card in hardware takes {least} to {most}"
        );
        return Err(Refusal::argument(text).into());
    }
    for (at, piece) in frame.chunks(PIECE).enumerate() {
        let mut record = Record { reason: REASON, tenant, ..Record::default() };
        record.queue = if at == 0 { FIRST } else { 0 };
        record.own[..piece.len()].copy_from_slice(piece);
        record.own[PIECE..PIECE + 2].copy_from_slice(&(frame.len() as u16).to_le_bytes());
        give(bus, block, &record)?;
    }
    Ok(())
}

/// Gives a block a record as soon as there is room.
fn give(bus: &mut dyn Bus, block: usize, record: &Record) -> Result<(), CardError> {
    for _ in 0..TRIES {
        if records::give(bus, block, record)? {
            return Ok(());
        }
        bus.pass(WAIT)?;
    }
    Err(CardError::Broken(format!("block {block} takes no frames of controllers")))
}
