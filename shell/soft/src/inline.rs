// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline blocks of a card: frames of Ethernet ports go through them in their order, before the dispatcher.

use penstock_unit::{Arrival, Block, Entering, Verdict};

use crate::card::Exit;

/// What a block has done with frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Frames that entered it.
    pub frames: u64,
    /// Frames that its program dropped.
    pub blocked: u64,
}

/// Where a frame goes behind the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Onward {
    Dispatcher,
    Exit(Exit),
    /// Nowhere, and counted.
    Dropped,
}

/// The blocks of a card.
#[derive(Default)]
pub(crate) struct Inline {
    pub blocks: Vec<Box<dyn Block>>,
    pub counters: Vec<BlockCounters>,
    /// Frames whose verdict named a port that the card does not have.
    pub refused: u64,
    /// The frame that came out last.
    frame: Vec<u8>,
    /// Frames for which the dispatcher had no place, with their tags: they are offered again and must not go through the blocks twice.
    kept: Vec<(u64, Vec<u8>)>,
}

impl Inline {
    pub fn new(blocks: Vec<Box<dyn Block>>) -> Self {
        let counters = vec![BlockCounters::default(); blocks.len()];
        Self { blocks, counters, ..Self::default() }
    }

    /// Carries a frame of an Ethernet port through all blocks, on a card with so many ports; [`Inline::frame`] has it afterwards.
    pub fn carry(&mut self, arrival: Arrival, port: u8, bytes: &[u8], ports: u8) -> Onward {
        if let Some(at) = self.kept.iter().position(|(tag, _)| *tag == arrival.tag) {
            self.frame = self.kept.swap_remove(at).1;
            return Onward::Dispatcher;
        }
        self.frame.clear();
        self.frame.extend_from_slice(bytes);
        let entering = Entering { port, hash: arrival.hash };
        // A later block may send the frame elsewhere; a drop is final.
        let (mut verdict, mut mark) = (Verdict::Onward, 0);
        for (block, counters) in self.blocks.iter_mut().zip(&mut self.counters) {
            counters.frames += 1;
            match block.carry(&mut self.frame, &mut mark, entering) {
                Verdict::Onward => {}
                Verdict::Drop => {
                    counters.blocked += 1;
                    return Onward::Dropped;
                }
                exit => verdict = exit,
            }
        }
        match verdict {
            Verdict::Onward | Verdict::Drop => Onward::Dispatcher,
            Verdict::Host => Onward::Exit(Exit::Host),
            Verdict::Port(port) => match u8::try_from(port) {
                Ok(port) if port < ports => Onward::Exit(Exit::Ethernet(port)),
                _ => {
                    self.refused += 1;
                    Onward::Dropped
                }
            },
        }
    }

    /// The frame that was carried last.
    pub fn frame(&self) -> &[u8] {
        &self.frame
    }

    /// The frame that was carried last will be offered again.
    pub fn keep(&mut self, tag: u64) {
        self.kept.push((tag, std::mem::take(&mut self.frame)));
    }

    /// A frame that was to be offered again will not be.
    pub fn forget(&mut self, tag: u64) {
        self.kept.retain(|(other, _)| *other != tag);
    }
}
