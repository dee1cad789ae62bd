// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions of v1model that act on the whole frame, hash, or tell something to a controller.

use penstock_rmt_compiler::ir::{DigestId, HashAlgorithm};
use penstock_rmt_compiler::mask;

use crate::code::{Place, Slot};
use crate::compile::Part;
use crate::hash;
use crate::run::{Flow, Frame};
use crate::tenant::{State, load, store};

/// Messages that wait for a controller; older ones are lost.
const MESSAGES: usize = 4096;

/// A function with its arguments.
#[derive(Debug, Clone)]
pub enum Operation {
    Hash {
        to: Place,
        algorithm: HashAlgorithm,
        base: Place,
        parts: Vec<Part>,
        max: Place,
    },
    Random {
        to: Place,
        low: Place,
        high: Place,
    },
    Digest {
        digest: DigestId,
        data: Vec<Place>,
    },
    Clone {
        from_egress: bool,
        session: Slot,
        keep: usize,
    },
    Resubmit(usize),
    Recirculate(usize),
    Truncate(Slot),
    Assert(Slot),
    Meter {
        meter: usize,
        index: Slot,
        to: Place,
    },
    /// The color that the direct meter gave the frame when its table found an entry; green without one.
    EntryColor(Place),
}

/// A message for controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its kind.
    pub digest: DigestId,
    /// Its fields.
    pub values: Vec<u128>,
}

/// The fate of a frame at the end of ingress or egress. If fields keep their values, the number of the list of fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pending {
    /// A clone by this session, of ingress and of egress.
    pub clones: [Option<(u16, usize)>; 2],
    pub resubmit: Option<usize>,
    pub recirculate: Option<usize>,
    /// Most bytes.
    pub truncate: Option<u64>,
    /// An `assert` did not hold.
    pub failed: bool,
}

impl Frame {
    /// Carries out a function.
    #[cold]
    pub fn operation(&mut self, state: &mut State, operation: &Operation, bytes: &[u8]) -> Flow {
        let get = |slot: Slot| self.slots[slot as usize];
        match operation {
            Operation::Hash { to, algorithm, base, parts, max } => {
                let (base, max) = (load(&self.slots, *base), load(&self.slots, *max));
                let hash = match algorithm {
                    HashAlgorithm::Random => hash::random(&mut state.random),
                    _ => hash::hash(*algorithm, &self.gather(parts, bytes, false)),
                };
                let value = base.wrapping_add(u128::from(hash).checked_rem(max).unwrap_or(0));
                store(&mut self.slots, *to, value & mask(to.width));
            }
            Operation::Random { to, low, high } => {
                let (low, high) = (load(&self.slots, *low), load(&self.slots, *high));
                let upper = hash::random(&mut state.random);
                let number = u128::from(upper) << 64 | u128::from(hash::random(&mut state.random));
                let count = high.wrapping_sub(low).wrapping_add(1);
                let value = if high < low { low } else { low + number.checked_rem(count).unwrap_or(number) };
                store(&mut self.slots, *to, value & mask(to.width));
            }
            Operation::Digest { digest, data } => {
                let values = data.iter().map(|place| load(&self.slots, *place)).collect();
                if state.messages.len() == MESSAGES {
                    state.messages.pop_front();
                }
                state.messages.push_back(Message { digest: *digest, values });
                state.sent += 1;
            }
            Operation::Clone { from_egress, session, keep } => {
                // Sessions have 16 bits; one above is not there.
                let session = u16::try_from(get(*session)).ok();
                self.pending.clones[usize::from(*from_egress)] = session.map(|session| (session, *keep));
            }
            Operation::Resubmit(keep) => self.pending.resubmit = Some(*keep),
            Operation::Recirculate(keep) => self.pending.recirculate = Some(*keep),
            Operation::Truncate(length) => self.pending.truncate = Some(get(*length)),
            Operation::Assert(condition) => {
                if get(*condition) == 0 {
                    self.pending.failed = true;
                    state.asserted += 1;
                    return Flow::Exit;
                }
            }
            Operation::Meter { meter, index, to } => {
                let index = usize::try_from(get(*index)).unwrap_or(usize::MAX);
                let tokens = if state.metered_in_bytes[*meter] { self.length as u64 } else { 1 };
                let time = state.time;
                let color = state.meters[*meter].get_mut(index).map_or(0, |cell| cell.color(tokens, time));
                store(&mut self.slots, *to, u128::from(color) & mask(to.width));
            }
            Operation::EntryColor(to) => store(&mut self.slots, *to, u128::from(state.color) & mask(to.width)),
        }
        Flow::On
    }
}
