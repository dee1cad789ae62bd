// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions of v1model that act on the whole frame, hash, or tell something to a controller.

use penstock_rmt_compiler::ir::{DigestId, HashAlgorithm};
use penstock_rmt_compiler::mask;

use crate::hash;
use crate::machine::Part;
use crate::slots::{Place, Slot};
use crate::work::Work;

/// Messages that wait for a controller; older ones are lost.
pub const MESSAGES: usize = 4096;

/// A function with its arguments.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
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
    /// Whether two varbits have the same bytes.
    SameVarbit {
        to: Place,
        varbits: [Slot; 2],
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
pub(crate) struct Pending {
    /// A clone by this session, of ingress and of egress.
    pub clones: [Option<(u16, usize)>; 2],
    pub resubmit: Option<usize>,
    pub recirculate: Option<usize>,
    /// Most bytes.
    pub truncate: Option<u64>,
    /// An `assert` did not hold.
    pub failed: bool,
}

impl Operation {
    /// Carries out the function. Says whether ingress or egress ends with it.
    #[cold]
    pub(crate) fn carry_out(&self, work: &mut Work) -> bool {
        match self {
            Self::Hash { to, algorithm, base, parts, max } => {
                let (base, max) = (base.load(work.slots()), max.load(work.slots()));
                let hash = match algorithm {
                    HashAlgorithm::Random => hash::random(&mut work.state.random),
                    _ => {
                        let bytes = work.bytes;
                        hash::hash(*algorithm, &hash::gather(work.slots(), parts, bytes))
                    }
                };
                let value = base.wrapping_add(u128::from(hash).checked_rem(max).unwrap_or(0));
                to.store(work.slots(), value & mask(to.width));
            }
            Self::Random { to, low, high } => {
                let (low, high) = (low.load(work.slots()), high.load(work.slots()));
                let upper = hash::random(&mut work.state.random);
                let number = u128::from(upper) << 64 | u128::from(hash::random(&mut work.state.random));
                let count = high.wrapping_sub(low).wrapping_add(1);
                let value = if high < low { low } else { low + number.checked_rem(count).unwrap_or(number) };
                to.store(work.slots(), value & mask(to.width));
            }
            Self::Digest { digest, data } => {
                let values = data.iter().map(|place| place.load(work.slots())).collect();
                if work.state.messages.len() == MESSAGES {
                    work.state.messages.pop_front();
                }
                work.state.messages.push_back(Message { digest: *digest, values });
                work.state.sent += 1;
            }
            Self::Clone { from_egress, session, keep } => {
                // Sessions have 16 bits; one above is not there.
                let session = u16::try_from(work.slots()[*session as usize]).ok();
                work.pending.clones[usize::from(*from_egress)] = session.map(|session| (session, *keep));
            }
            Self::Resubmit(keep) => work.pending.resubmit = Some(*keep),
            Self::Recirculate(keep) => work.pending.recirculate = Some(*keep),
            Self::Truncate(length) => work.pending.truncate = Some(work.slots()[*length as usize]),
            Self::Assert(condition) => {
                if work.slots()[*condition as usize] == 0 {
                    work.pending.failed = true;
                    work.state.asserted += 1;
                    return true;
                }
            }
            Self::Meter { meter, index, to } => {
                let index = usize::try_from(work.slots()[*index as usize]).unwrap_or(usize::MAX);
                let tokens = if work.state.metered_in_bytes[*meter] { work.length } else { 1 };
                let time = work.state.time;
                let color = work.state.meters[*meter].get_mut(index).map_or(0, |cell| cell.color(tokens, time));
                to.store(work.slots(), u128::from(color) & mask(to.width));
            }
            Self::SameVarbit { to, varbits } => {
                let bytes = work.bytes;
                let [a, b] = varbits.map(|slot| hash::stretch(work.slots(), slot, bytes));
                let same = a == b;
                to.store(work.slots(), u128::from(same));
            }
            Self::EntryColor(to) => {
                let color = u128::from(work.state.color) & mask(to.width);
                to.store(work.slots(), color);
            }
        }
        false
    }
}
