// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The values of a map: one at each place, of per-CPU kinds one for each processor.

use crate::{Errno, Memory};

/// The place of a map's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    /// The address of the first.
    pub base: u32,
    /// Bytes of a value.
    pub bytes: u32,
    /// From one place to the next.
    pub stride: u32,
    /// From one processor's values to the next's; 0 when all share them.
    pub cpu_stride: u32,
    /// How many processors have values.
    pub cpus: u32,
}

impl Values {
    /// The address of a value.
    pub fn address(&self, place: u32, cpu: u32) -> u64 {
        (self.base + cpu * self.cpu_stride + place * self.stride).into()
    }

    /// The value at a place as the host sees it: of per-CPU kinds those of all, each rounded up to eight bytes.
    pub fn read(&self, memory: &Memory, place: u32) -> Result<Vec<u8>, Errno> {
        if self.cpu_stride == 0 {
            return Ok(memory.bytes(self.address(place, 0), self.bytes as usize)?.to_vec());
        }
        let mut all = Vec::with_capacity((self.stride * self.cpus) as usize);
        for cpu in 0..self.cpus {
            all.extend_from_slice(memory.bytes(self.address(place, cpu), self.stride as usize)?);
        }
        Ok(all)
    }

    /// How many bytes [`Values::read`] gives.
    pub fn host_bytes(&self) -> usize {
        if self.cpu_stride == 0 { self.bytes as usize } else { self.stride as usize * self.cpus as usize }
    }

    /// Writes what the host gives.
    pub fn write(&self, memory: &mut Memory, place: u32, value: &[u8]) -> Result<(), Errno> {
        if value.len() != self.host_bytes() {
            return Err(Errno::Invalid);
        }
        let each = if self.cpu_stride == 0 { self.bytes } else { self.stride } as usize;
        for (value, cpu) in value.chunks(each).zip(0..) {
            let bytes = self.bytes as usize;
            memory.bytes_mut(self.address(place, cpu), bytes)?.copy_from_slice(&value[..bytes]);
        }
        Ok(())
    }

    /// Puts a program's value, which lies at an address, to a place. A new entry is 0 for the other processors.
    pub fn store(&self, memory: &mut Memory, place: u32, cpu: u32, from: u64, new: bool) -> Result<(), Errno> {
        if new && self.cpu_stride != 0 {
            for cpu in 0..self.cpus {
                memory.bytes_mut(self.address(place, cpu), self.bytes as usize)?.fill(0);
            }
        }
        memory.copy(from, self.address(place, cpu), self.bytes as usize)
    }
}
