// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline blocks of a card: frames of Ethernet ports go through them in their order, before the dispatcher.

use std::collections::{BTreeMap, VecDeque};

use penstock_unit::{Arrival, Block, Entering, Made, Record, Source, Verdict};

use crate::{
    card::{Exit, MAX_FRAME, to_tag},
    dispatch::Target,
};

/// Tags of frames that block n made have this stream + n.
pub(crate) const BLOCKS: usize = 8;

/// In place of the tag of a frame that entered: a record has caused what waits.
pub(crate) const OF_RECORDS: u64 = u64::MAX;

/// Frames whose memory is kept to be used again.
const SPARE: usize = 16;

/// The counters of a block: `frames + made` have left it, or are in one of the other counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Frames that entered it.
    pub frames: u64,
    /// Frames that it made.
    pub made: u64,
    /// Frames that ended in it, as they were meant to.
    pub absorbed: u64,
    /// Frames that its program dropped.
    pub blocked: u64,
    /// Frames that it dropped because they became longer than the card accepts. They also count for their port.
    pub oversize: u64,
}

/// Where a frame goes behind the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Dispatcher(Target),
    Exit(Exit),
}

/// A frame on its way through the blocks, or behind them.
#[derive(Debug, Clone)]
pub(crate) struct Travel {
    /// Ethernet port on whose stream it is.
    pub port: u8,
    /// The arrival that a unit sees.
    pub arrival: Arrival,
    pub bytes: Vec<u8>,
    tenant: u8,
    /// The word that the blocks have left for later blocks and the host.
    pub mark: u32,
    verdict: Verdict,
}

/// The ports and units of the card, which verdicts name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub ports: u8,
    pub units: u8,
}

/// The blocks of a card.
#[derive(Default)]
pub(crate) struct Inline {
    pub blocks: Vec<Box<dyn Block>>,
    pub counters: Vec<BlockCounters>,
    /// Frames whose verdict names a port or unit that the card does not have.
    pub refused: u64,
    /// Frames that have become too long in a block since they were taken, by port.
    pub oversize: [u64; 4],
    /// Frames that left each block.
    left: Vec<u64>,
    /// Frames behind the last block, in their order.
    behind: VecDeque<Travel>,
    /// Frames for which the dispatcher had no place, and those behind them, by the tag of the frame that entered: they are offered again
    /// and must not go through the blocks twice.
    kept: BTreeMap<u64, VecDeque<Travel>>,
    /// Memory of frames, to be used again.
    spare: Vec<Vec<u8>>,
    made: Vec<Made>,
}

impl Inline {
    pub(crate) fn new(blocks: Vec<Box<dyn Block>>) -> Self {
        let counters = vec![BlockCounters::default(); blocks.len()];
        Self { left: vec![0; blocks.len()], blocks, counters, ..Self::default() }
    }

    /// Carries a frame of an Ethernet port and a tenant through all blocks; [`Inline::next`] has what came of it. If the frame is offered again, it
    /// goes on where it was.
    pub(crate) fn carry(&mut self, arrival: Arrival, port: u8, tenant: u8, bytes: &[u8]) {
        if let Some(kept) = self.kept.remove(&arrival.tag) {
            self.behind = kept;
            return;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        self.go_on(0, Travel { port, arrival, bytes: copy, tenant, mark: 0, verdict: Verdict::Onward });
    }

    /// Carries a frame through the blocks from this one on. Frames that a block makes go first.
    fn go_on(&mut self, from: usize, mut frame: Travel) {
        for block in from..self.blocks.len() {
            self.counters[block].frames += 1;
            let entering = Entering { port: frame.port, hash: frame.arrival.hash, tenant: frame.tenant };
            let mut made = std::mem::take(&mut self.made);
            let verdict = self.blocks[block].carry(&mut frame.bytes, &mut frame.mark, entering, &mut made);
            for one in made.drain(..) {
                self.make(block, one);
            }
            self.made = made;
            if !self.leaves(block, verdict, &mut frame) {
                self.reuse(frame);
                return;
            }
        }
        self.behind.push_back(frame);
    }

    /// Gives a block a record; [`Inline::next`] has the frames that it made.
    pub(crate) fn give_record(&mut self, block: usize, record: &Record) {
        let Some(to) = self.blocks.get_mut(block) else { return };
        let mut made = std::mem::take(&mut self.made);
        to.give_record(record, &mut made);
        for one in made.drain(..) {
            self.make(block, one);
        }
        self.made = made;
    }

    /// Resumes the frames that a record caused and that had no place; false if no such frame waits.
    pub(crate) fn resume(&mut self) -> bool {
        match self.kept.remove(&OF_RECORDS) {
            Some(kept) => {
                self.behind = kept;
                true
            }
            None => false,
        }
    }

    /// Sends a frame that a block has made on its way.
    fn make(&mut self, block: usize, made: Made) {
        let Made { port, frame: bytes, hash, tenant, mark, verdict } = made;
        let tag = to_tag(BLOCKS + block, self.counters[block].made);
        self.counters[block].made += 1;
        let arrival = Arrival { port: Source::Block(block as u8).byte(), hash, time: 0, tag };
        let mut frame = Travel { port, arrival, bytes, tenant, mark, verdict: Verdict::Onward };
        if self.leaves(block, verdict, &mut frame) {
            self.go_on(block + 1, frame);
        }
    }

    /// Whether a frame leaves the block, with this verdict; if not, it is counted. A later block may send a frame elsewhere; a drop is final.
    fn leaves(&mut self, block: usize, verdict: Verdict, frame: &mut Travel) -> bool {
        let counters = &mut self.counters[block];
        match verdict {
            Verdict::Drop => counters.blocked += 1,
            Verdict::Absorb => counters.absorbed += 1,
            _ if frame.bytes.len() > MAX_FRAME => {
                counters.oversize += 1;
                self.oversize[usize::from(frame.port) % 4] += 1;
            }
            _ => {
                if verdict != Verdict::Onward {
                    frame.verdict = verdict;
                }
                self.left[block] += 1;
                return true;
            }
        }
        false
    }

    /// Takes the next frame that has come out of the last block, and where it goes. Frames whose destination does not exist are counted.
    pub(crate) fn next(&mut self, shape: Shape) -> Option<(Travel, Way)> {
        while let Some(frame) = self.behind.pop_front() {
            if let Some(way) = way(frame.verdict, shape) {
                return Some((frame, way));
            }
            self.refused += 1;
            self.reuse(frame);
        }
        self.check();
        None
    }

    /// Every frame that entered a block or that it made has left it or is counted: as block_check.sv holds it on the card in RTL.
    fn check(&self) {
        for (block, (counters, left)) in self.counters.iter().zip(&self.left).enumerate() {
            let BlockCounters { frames, made, absorbed, blocked, oversize } = counters;
            debug_assert_eq!(frames + made, left + absorbed + blocked + oversize, "frames of block {block}");
        }
    }

    /// The frame is done with: its memory can be used again.
    pub(crate) fn reuse(&mut self, frame: Travel) {
        if self.spare.len() < SPARE {
            self.spare.push(frame.bytes);
        }
    }

    /// The frame which [`Inline::next`] gave has no place; it and those behind it wait until the frame that entered with this tag is
    /// offered again.
    pub(crate) fn keep(&mut self, tag: u64, frame: Travel) {
        self.behind.push_front(frame);
        self.kept.entry(tag).or_default().append(&mut self.behind);
    }

    /// A frame that was to be offered again will not be; gives the number of frames that are lost with it, itself included.
    pub(crate) fn forget(&mut self, tag: u64) -> u64 {
        self.kept.remove(&tag).map_or(1, |kept| kept.len() as u64)
    }

    /// Forgets the frames that records have caused and that have no place; gives their number.
    pub(crate) fn forget_made(&mut self) -> u64 {
        self.kept.remove(&OF_RECORDS).map_or(0, |kept| kept.len() as u64)
    }
}

/// Where a verdict sends a frame; None: the destination does not exist.
fn way(verdict: Verdict, shape: Shape) -> Option<Way> {
    let below = |number: u32, count: u8| u8::try_from(number).ok().filter(|number| *number < count);
    Some(match verdict {
        // No frame leaves a block with the last two.
        Verdict::Onward | Verdict::Drop | Verdict::Absorb => Way::Dispatcher(Target::Policy),
        Verdict::Host => Way::Exit(Exit::Host),
        Verdict::Port(port) => Way::Exit(Exit::Ethernet(below(port, shape.ports)?)),
        Verdict::Unit(unit) => Way::Dispatcher(Target::Told(below(unit, shape.units)?)),
        Verdict::Dispatch(key) => Way::Dispatcher(Target::Key(key)),
    })
}
