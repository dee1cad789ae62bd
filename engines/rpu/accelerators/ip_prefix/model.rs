// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Longest prefix match in native code: a binary search over the interval starts that the host has written.

use crate::{accelerator::Accelerator, regs};

/// Interval starts that the table holds.
pub const INTERVALS: usize = 8192;
/// Table words, from the accelerator's table base: start of interval i at 4i.
pub const KEYS: u32 = 0x00000;
/// Class of interval i at 4i from here.
pub const CLASSES: u32 = 0x08000;
/// Class of the addresses below the first start.
pub const BELOW: u32 = 0x10000;

/// An `ip_prefix` accelerator (docs/architecture.md, longest prefix table).
pub struct IpPrefix {
    keys: Box<[u32; INTERVALS]>,
    classes: Box<[u8; INTERVALS]>,
    below: u8,
    class: u8,
}

impl Default for IpPrefix {
    fn default() -> Self {
        Self::new()
    }
}

impl IpPrefix {
    /// With an empty table: no address matches.
    #[must_use]
    pub fn new() -> Self {
        Self { keys: Box::new([u32::MAX; INTERVALS]), classes: Box::new([0; INTERVALS]), below: 0, class: 0 }
    }

    /// Class of `address`, its first octet in the highest byte.
    #[must_use]
    pub fn class_of(&self, address: u32) -> u8 {
        match self.keys.partition_point(|&key| key <= address) {
            0 => self.below,
            intervals => self.classes[intervals - 1],
        }
    }
}

impl Accelerator for IpPrefix {
    fn read(&mut self, offset: u32) -> u32 {
        match offset {
            regs::IP_PREFIX_CLASS => u32::from(self.class),
            regs::IP_PREFIX_PASS_MASK if self.class == 0 => 0xFFFF_FFFF,
            regs::IP_PREFIX_PASS_MASK => 0xFFFF_0000,
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, _packets: &[u8]) -> bool {
        if offset == regs::IP_PREFIX_ADDR {
            self.class = self.class_of(value.swap_bytes());
        }
        true
    }

    fn table(&self, offset: u32) -> u32 {
        let index = (offset & 0x7FFF) as usize / 4;
        match offset & !0x7FFF {
            KEYS => self.keys[index],
            CLASSES => u32::from(self.classes[index]),
            _ if offset == BELOW => u32::from(self.below),
            _ => 0,
        }
    }

    fn load(&mut self, offset: u32, value: u32) {
        let index = (offset & 0x7FFF) as usize / 4;
        let class = (value & 0xF) as u8;
        match offset & !0x7FFF {
            KEYS => self.keys[index] = value,
            CLASSES => self.classes[index] = class,
            _ if offset == BELOW => self.below = class,
            _ => {}
        }
    }
}
