// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A carrier that loses, duplicates and reorders datagrams, for tests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::carrier::Carrier;

/// How often a datagram meets with what, in one of a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// It is lost.
    pub lost: u32,
    /// It is sent twice.
    pub twice: u32,
    /// It is held, and sent behind one of the next eight datagrams. If none follows, it is lost.
    pub late: u32,
}

/// A carrier that loses, duplicates and reorders the datagrams that it sends. The choice depends on the seed and the
/// order of datagrams alone.
#[derive(Debug)]
pub struct Impaired<C> {
    carrier: C,
    faults: Faults,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: u64,
    /// Datagrams that are held, and how many are sent before them.
    held: Vec<(u64, SocketAddr, Vec<u8>)>,
}

impl<C> Impaired<C> {
    /// A carrier with these faults over another one.
    pub fn new(carrier: C, faults: Faults, seed: u64) -> Self {
        // Xorshift stays at 0 for ever, and seeds that differ in a bit begin alike.
        let random = (seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD134_2543_DE82_EF95) | 1;
        Self { carrier, faults, state: Mutex::new(State { random, held: Vec::new() }) }
    }

    /// The carrier below.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }
}

impl State {
    fn number(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below
    }

    fn happens(&mut self, of_thousand: u32) -> bool {
        self.number(1000) < u64::from(of_thousand)
    }
}

impl<C: Carrier> Carrier for Impaired<C> {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (wait, _, _) in &mut state.held {
            *wait -= 1;
        }
        if state.happens(self.faults.late) {
            let wait = 1 + state.number(8);
            state.held.push((wait, to, datagram.to_vec()));
        } else if !state.happens(self.faults.lost) {
            self.carrier.send(to, datagram)?;
            if state.happens(self.faults.twice) {
                self.carrier.send(to, datagram)?;
            }
        }
        while let Some(at) = state.held.iter().position(|(wait, ..)| *wait == 0) {
            let (_, to, datagram) = state.held.swap_remove(at);
            self.carrier.send(to, &datagram)?;
        }
        Ok(())
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        self.carrier.receive(buffer, within)
    }
}
