// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Longest prefixes: a table of the prefixes that there are, asked once for each length that occurs, the longest first.
//!
//! A key is the prefix's length in bits (four bytes in the machine's order), then the bits, the highest of the first
//! byte first.

use std::cmp::Ordering;

use crate::{Errno, Hash};

/// Bytes of the length before the bits.
const LEN_BYTES: usize = 4;
/// The longest key that a map can have, in bytes.
const MAX_KEY: usize = penstock_xdp_compiler::maps::MAX_KEY_BYTES as usize;

/// Prefixes, each with a place.
#[derive(Debug, Clone)]
pub struct Prefixes {
    /// By length and bits; bits after the prefix are 0.
    table: Hash,
    key_bytes: usize,
    /// By place, the original key: bits after the prefix may be set, and are kept for the host.
    given: Vec<u8>,
    /// How many prefixes of each length there are.
    counts: Vec<u32>,
}

impl Prefixes {
    /// None yet.
    pub fn new(key_bytes: u32, capacity: u32) -> Prefixes {
        let bits = (key_bytes as usize - LEN_BYTES) * 8;
        Prefixes {
            table: Hash::new(key_bytes, capacity, false),
            key_bytes: key_bytes as usize,
            given: vec![0; capacity as usize * key_bytes as usize],
            counts: vec![0; bits + 1],
        }
    }

    /// The longest prefix of a key that is not longer than the key's length.
    pub fn longest(&self, key: &[u8]) -> Option<u32> {
        let most = self.len_of(key).ok()?;
        let mut cut = [0; MAX_KEY];
        let cut = &mut cut[..self.key_bytes];
        cut.copy_from_slice(key);
        for len in (0..=most).rev().filter(|len| self.counts[*len] > 0) {
            cut_to(cut, len);
            if let Some(place) = self.table.find(cut) {
                return Some(place);
            }
        }
        None
    }

    /// The place of exactly this prefix.
    ///
    /// # Errors
    /// EINVAL: its length is above that of keys.
    pub fn find(&self, key: &[u8]) -> Result<Option<u32>, Errno> {
        let (cut, _) = self.cut(key)?;
        Ok(self.table.find(&cut[..self.key_bytes]))
    }

    /// Gives a prefix that is not there a place.
    ///
    /// # Errors
    /// ENOSPC: the map is full.
    pub fn insert(&mut self, key: &[u8]) -> Result<u32, Errno> {
        let (cut, len) = self.cut(key)?;
        let place = self.table.insert(&cut[..self.key_bytes]).ok_or(Errno::NoSpace)?;
        self.counts[len] += 1;
        self.write_down(place, key);
        Ok(place)
    }

    /// Keeps the present key of a place in its given form.
    pub fn write_down(&mut self, place: u32, key: &[u8]) {
        self.given[place as usize * self.key_bytes..][..self.key_bytes].copy_from_slice(key);
    }

    /// Takes a prefix out.
    ///
    /// # Errors
    /// ENOENT, or EINVAL as [`Prefixes::find`].
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Errno> {
        let (cut, len) = self.cut(key)?;
        self.table.remove(&cut[..self.key_bytes]).ok_or(Errno::NoEntry)?;
        self.counts[len] -= 1;
        Ok(())
    }

    /// All original keys, in Linux' order: each prefix after those that are part of it.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..self.places()).filter_map(|place| self.key_at(place)).map(<[u8]>::to_vec).collect();
        self.sort(&mut keys);
        keys
    }

    /// Sorts keys in this order.
    pub fn sort(&self, keys: &mut [Vec<u8>]) {
        keys.sort_by(|a, b| self.order(a, b));
    }

    /// How many places there are.
    pub fn places(&self) -> u32 {
        self.table.places()
    }

    /// The original key at a place that is used.
    pub fn key_at(&self, place: u32) -> Option<&[u8]> {
        self.table.key_at(place)?;
        Some(&self.given[place as usize * self.key_bytes..][..self.key_bytes])
    }

    fn len_of(&self, key: &[u8]) -> Result<usize, Errno> {
        let len = key.first_chunk().map_or(0, |len| u32::from_ne_bytes(*len)) as usize;
        if len < self.counts.len() { Ok(len) } else { Err(Errno::Invalid) }
    }

    /// The key without the bits after its prefix.
    fn cut(&self, key: &[u8]) -> Result<([u8; MAX_KEY], usize), Errno> {
        let len = self.len_of(key)?;
        let mut cut = [0; MAX_KEY];
        cut[..self.key_bytes].copy_from_slice(key);
        cut_to(&mut cut[..self.key_bytes], len);
        Ok((cut, len))
    }

    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        let (a_len, b_len) = (self.len_of(a).unwrap_or(0), self.len_of(b).unwrap_or(0));
        let bit = |key: &[u8], at: usize| key[LEN_BYTES + at / 8] >> (7 - at % 8) & 1;
        let differs = (0..a_len.min(b_len)).find(|at| bit(a, *at) != bit(b, *at));
        differs.map_or(b_len.cmp(&a_len), |at| bit(a, at).cmp(&bit(b, at)))
    }
}

/// Makes a key one of that many bits.
fn cut_to(key: &mut [u8], len: usize) {
    key[..LEN_BYTES].copy_from_slice(&(len as u32).to_ne_bytes());
    let (whole, part) = (LEN_BYTES + len / 8, len % 8);
    if whole < key.len() {
        key[whole] &= !(0xFF >> part);
        key[whole + 1..].fill(0);
    }
}
