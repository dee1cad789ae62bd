// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame on its way through the chain.

use penstock_headers::{EditError, Field, Headers};

/// How a frame came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Port, numbered as in descriptors.
    pub port: u8,
    /// Flow hash with which it entered the card.
    pub hash: u32,
    /// In µs. Programs see it modulo 2^32.
    pub time: u64,
}

pub struct Frame<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub headers: Headers,
    pub arrival: Arrival,
    pub meta: [u32; 2],
}

impl Frame<'_> {
    /// A field; none if the frame has not got it.
    #[inline]
    pub fn get(&self, field: Field) -> Option<u128> {
        match field {
            Field::Port => Some(self.arrival.port.into()),
            Field::Len => Some(self.bytes.len() as u128 & 0xFFFF),
            Field::Time => Some((self.arrival.time as u32).into()),
            Field::Hash => Some(self.arrival.hash.into()),
            Field::Meta0 => Some(self.meta[0].into()),
            Field::Meta1 => Some(self.meta[1].into()),
            _ => self.headers.get(self.bytes, field),
        }
    }

    pub fn set(&mut self, field: Field, value: u128) -> Result<(), EditError> {
        match field {
            Field::Meta0 => self.meta[0] = value as u32,
            Field::Meta1 => self.meta[1] = value as u32,
            _ => return self.headers.set(self.bytes, field, value),
        }
        Ok(())
    }
}
