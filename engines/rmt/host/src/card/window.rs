// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The window of an rmt block in the host address space: rows of the machine's memories (engines/rmt/machine.md).

use penstock_engine::window::read_count;
use penstock_engine::{Bus, CardError};
use penstock_rmt_compiler::backend::Pipeline;

use crate::error::RmtError;
use crate::regs as own;

/// Host address of the first block's window, and the distance to the next block's.
const BLOCKS: u32 = 0x4500_0000;
const BLOCK: u32 = 0x0100_0000;

/// A memory of the machine; the value is its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Whether a tenant is loaded, its bank, and whether it has registers.
    Tenant = 0,
    /// Checksum behind the parser.
    Check = 1,
    /// Words that are written back.
    Exit = 2,
    /// States of the parser.
    Parser = 3,
    /// Key and table of a stage.
    Key = 4,
    /// Actions of a stage.
    Action = 5,
    /// A tenant's parts of the registers, the counters and the meters.
    Segment = 6,
    /// Registers.
    Register = 7,
    /// First way of the exact table; the others follow.
    Way = 8,
    /// Leaves of the tree of prefixes.
    Leaf = 12,
    /// Ternary rows.
    Ternary = 13,
    /// Results of ternary rows.
    Target = 14,
    /// Counters.
    Counter = 15,
    /// First level of the tree of prefixes; the others follow.
    Lpm = 16,
    /// Multicast groups.
    Group = 19,
    /// Rates of meters.
    Meter = 20,
    /// Clone sessions.
    Clone = 21,
}

/// A row of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// Number of the memory.
    memory: u32,
    /// Stage, or depth of the parser.
    stage: u32,
    row: u32,
}

impl Row {
    /// A row of a memory. `stage` is 0 for memories that are no stage's.
    pub(super) fn of(memory: Memory, stage: usize, row: u32) -> Self {
        Self { memory: memory as u32, stage: stage as u32, row }
    }

    /// A bucket of a way of the exact table.
    pub(super) fn way(way: usize, stage: usize, row: u32) -> Self {
        Self { memory: Memory::Way as u32 + way as u32, stage: stage as u32, row }
    }

    /// A node of the tree of prefixes.
    pub(super) fn level(level: u32, stage: usize, row: u32) -> Self {
        Self { memory: Memory::Lpm as u32 + level, stage: stage as u32, row }
    }

    fn select(self) -> u32 {
        self.memory << 24 | self.stage << 16 | self.row
    }
}

/// Sizes of a block in hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The stages, and which tables they have.
    pub pipeline: Pipeline,
    /// Depths of the parser.
    pub depths: usize,
    /// Ways of the exact table.
    pub ways: usize,
    /// Leaves of the tree of prefixes.
    pub leaves: u32,
    /// Buckets of a way.
    pub buckets: u32,
    /// Registers of a stage.
    pub registers: u32,
    /// Counters of a stage.
    pub counters: u32,
    /// Meters of a stage.
    pub meters: u32,
}

/// Words that a block stages for a row.
const STAGED: usize = own::RMT_BLOCK_DATA_COUNT as usize;

/// The window of a block.
pub(super) struct Window<'a> {
    bus: &'a mut dyn Bus,
    block: usize,
    /// The row that this window has selected, and the words that it has staged: it does not write them again.
    selected: Option<Row>,
    staged: [Option<u32>; STAGED],
}

impl<'a> Window<'a> {
    /// The window of a block.
    pub(super) fn new(bus: &'a mut dyn Bus, block: usize) -> Self {
        Self { bus, block, selected: None, staged: [None; STAGED] }
    }

    fn address(&self, register: u32) -> u32 {
        BLOCKS + BLOCK * self.block as u32 + register
    }

    fn put(&mut self, register: u32, value: u32) -> Result<(), CardError> {
        let address = self.address(register);
        self.bus.write(address, value)
    }

    fn get(&mut self, register: u32) -> Result<u32, CardError> {
        let address = self.address(register);
        self.bus.read(address)
    }

    /// A counter of 64 bits, by the register of its low word.
    fn count(&mut self, low: u32) -> Result<u64, CardError> {
        let (low, high) = (self.address(low), self.address(own::RMT_BLOCK_COUNT_H));
        read_count(self.bus, low, high)
    }

    /// Sizes of the block.
    pub(super) fn shape(&mut self) -> Result<Shape, CardError> {
        let shape = self.get(own::RMT_BLOCK_SHAPE)?;
        let sizes = self.get(own::RMT_BLOCK_SIZES)?;
        let more = self.get(own::RMT_BLOCK_MORE)?;
        let tables = self.get(own::RMT_BLOCK_TABLES)?;
        let meters = self.get(own::RMT_BLOCK_METERS)?;
        let byte = |word: u32, at: u32| word >> at & 0xFF;
        Ok(Shape {
            pipeline: Pipeline {
                stages: byte(shape, 0) as usize,
                ternary: tables as u16,
                prefixes: (tables >> 16) as u16,
                meters: meters as u16,
                rows_log2: byte(more, 0),
            },
            depths: byte(shape, 8) as usize,
            ways: byte(shape, 16) as usize,
            leaves: 1 << byte(sizes, 16),
            buckets: 1 << byte(sizes, 0),
            registers: 1 << byte(sizes, 8),
            counters: 1 << byte(more, 8),
            meters: 1 << byte(more, 16),
        })
    }

    /// Frames whose digests found no room, since the card's reset.
    pub(super) fn lost(&mut self) -> Result<u64, CardError> {
        self.count(own::RMT_BLOCK_LOST)
    }

    /// Frames to controllers that found no room, since the card's reset.
    pub(super) fn lost_packets(&mut self) -> Result<u64, CardError> {
        self.count(own::RMT_BLOCK_LOST_PACKETS)
    }

    /// Frames whose clones found no room, since the card's reset.
    pub(super) fn lost_clones(&mut self) -> Result<u64, CardError> {
        self.count(own::RMT_BLOCK_LOST_CLONES)
    }

    fn select(&mut self, row: Row) -> Result<(), CardError> {
        if self.selected != Some(row) {
            self.put(own::RMT_BLOCK_SELECT, row.select())?;
            self.selected = Some(row);
        }
        Ok(())
    }

    /// Words of a row.
    pub(super) fn read(&mut self, row: Row, words: usize) -> Result<Vec<u32>, CardError> {
        self.select(row)?;
        (0..words as u32).map(|word| self.get(own::RMT_BLOCK_DATA + 4 * word)).collect()
    }

    /// Writes a row, all words at once, between two frames.
    pub(super) fn write(&mut self, row: Row, words: &[u32]) -> Result<(), CardError> {
        self.select(row)?;
        for (at, word) in words.iter().enumerate() {
            if self.staged[at] != Some(*word) {
                self.put(own::RMT_BLOCK_DATA + 4 * at as u32, *word)?;
                self.staged[at] = Some(*word);
            }
        }
        self.put(own::RMT_BLOCK_COMMIT, 0)
    }

    /// Clears rows of this many words.
    pub(super) fn clear(&mut self, mut rows: impl Iterator<Item = Row>, words: usize) -> Result<(), CardError> {
        rows.try_for_each(|row| self.write(row, &[0; STAGED][..words]))
    }

    /// As [`Window::write`], and reads the row back.
    pub(super) fn write_and_check(&mut self, row: Row, words: &[u32]) -> Result<(), RmtError> {
        self.write(row, words)?;
        let found = self.read(row, words.len())?;
        match found == words {
            true => Ok(()),
            false => {
                let what = format!("memory {} of stage {}, row {}", row.memory, row.stage, row.row);
                Err(RmtError::Differs { what, found, given: words.to_vec() })
            }
        }
    }
}
