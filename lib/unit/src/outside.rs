// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests of a unit to the card.

use crate::{
    frame::{Answer, Departure},
    port::Destination,
    word::Word,
};

/// The card around a unit, as the unit sees it.
pub trait Outside {
    /// The unit sends a frame. Only a loopback frame may meet a full destination.
    fn send(&mut self, departure: Departure, bytes: &[u8]) -> Answer;
    /// The unit sends a frame that its program made. It never goes over loopback.
    fn generate(&mut self, destination: Destination, bytes: &[u8]);
    /// A slot is free again.
    fn free(&mut self, slot: u8);
    /// The program has declared slots 1..=`count`, for frames of up to `bytes` bytes.
    fn declare(&mut self, count: u8, bytes: u16);
    /// The program has stored a word for all other units.
    fn broadcast(&mut self, _word: Word) {}
    /// The unit writes host memory; false when the host refuses some of it, as one without such memory does, or the card
    /// denies it.
    fn host_write(&mut self, _address: u64, _bytes: &[u8]) -> bool {
        false
    }
    /// The unit reads host memory; false when the host refuses some of it, which then is zero, or the card denies it and
    /// leaves `bytes` as they are.
    fn host_read(&mut self, _address: u64, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        false
    }
}
