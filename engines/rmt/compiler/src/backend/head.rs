// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The new head of a frame. If a program adds or removes headers, these and all headers in front of them are made of the
//! vector's words when the frame leaves. The rest of the frame follows as it came.

use super::uses::Uses;
use super::vector::{Vector, too_much};
use super::words::{Emit, EmitIf};
use crate::fault::Check;
use crate::ir::{InstanceId, Next, ParserOp, Program, StateId, Transition};

/// The headers of the head.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    /// In the order in which they leave; at last those that are only removed.
    pub instances: Vec<InstanceId>,
    /// The number of instances that leave.
    emitted: usize,
    /// Headers that the parser extracts first.
    first: Vec<InstanceId>,
    /// Headers that the program makes valid or invalid.
    changed: Vec<InstanceId>,
}

impl Head {
    /// The headers up to the last one that the program adds or removes.
    pub(super) fn of(program: &Program, uses: &Uses) -> Self {
        let extracts = |op: &ParserOp| match op {
            ParserOp::Extract { instance, .. } => Some(*instance),
            _ => None,
        };
        let mut extracted: Vec<InstanceId> = Vec::new();
        for instance in program.parser.states.iter().flat_map(|state| state.ops.iter().filter_map(extracts)) {
            if !extracted.contains(&instance) {
                extracted.push(instance);
            }
        }
        let order: Vec<InstanceId> = program.deparser.iter().map(|emit| emit.instance).collect();
        let changes = |instance: &InstanceId| uses.written[program.instances[*instance].valid] > 0;
        let changed: Vec<InstanceId> = order.iter().copied().filter(changes).collect();
        let removed: Vec<InstanceId> = extracted.into_iter().filter(|instance| !order.contains(instance)).collect();
        // A header that never leaves may stand behind any other one.
        let emitted = if removed.is_empty() {
            order.iter().rposition(|instance| changed.contains(instance)).map_or(0, |last| last + 1)
        } else {
            order.len()
        };
        let instances = order[..emitted].iter().copied().chain(removed).collect();
        Self { instances, emitted, first: first(program), changed }
    }

    /// Gives the headers their words, in the order in which they leave.
    pub(super) fn place(&self, program: &Program, vector: &mut Vector) -> Check<Vec<Emit>> {
        let mut head = Vec::new();
        for (number, instance) in self.instances.iter().enumerate() {
            let of = &program.instances[*instance];
            let bits = program.headers[of.header].bits;
            let lead = if self.first.contains(instance) { 16 } else { 0 };
            if !bits.is_multiple_of(16) {
                let what = format!(
                    "`{}`, which the program adds or removes, or which is in front of such a header, has {} bytes",
                    of.name,
                    bits / 8
                );
                return Err(too_much(of.span, &what).help("the card moves 16 bits at a time"));
            }
            let place = vector.header(*instance, lead, of.span)?;
            let when = if number >= self.emitted {
                EmitIf::Never
            } else if self.changed.contains(instance) {
                EmitIf::Flag(vector.flags[instance])
            } else {
                EmitIf::Extracted
            };
            for word in 0..place.count {
                let within = |half: u32| half * 16 >= lead && half * 16 < lead + bits;
                let (upper, lower) = (within(2 * word), within(2 * word + 1));
                head.push(Emit { word: place.word + word, upper, lower, when });
            }
            if let Some((first, most)) = place.varbit {
                if when != EmitIf::Extracted {
                    return Err(too_much(of.span, &format!("`{}`, whose length varies, is added or removed", of.name)));
                }
                head.extend((first..first + most).map(|word| Emit { word, upper: true, lower: true, when }));
            }
        }
        Ok(head)
    }
}

/// The headers that states extract to which the parser comes with nothing extracted.
fn first(program: &Program) -> Vec<InstanceId> {
    let (mut found, mut states, mut at) = (Vec::new(), vec![0], 0);
    while let Some(state) = states.get(at).map(|state: &StateId| &program.parser.states[*state]) {
        at += 1;
        let extracts = state.ops.iter().find_map(|op| match op {
            ParserOp::Extract { instance, .. } => Some(*instance),
            _ => None,
        });
        if let Some(instance) = extracts {
            found.push(instance);
            continue;
        }
        let next = match &state.next {
            Transition::Direct(next) => vec![*next],
            Transition::Select { rows, .. } => rows.iter().map(|row| row.next).collect(),
        };
        for next in next {
            if let Next::State(state) = next
                && !states.contains(&state)
            {
                states.push(state);
            }
        }
    }
    found
}
