// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Passes that make a program smaller and keep its behaviour: each has its own file, and all run in turn until none of
//! them changes anything.
//!
//! The back end keeps these tasks: to carry out operations and loads before the branches that guard them (loads of the
//! packet and the stack never fault, and it knows the free lanes), to guard short sides instead of branching, and to
//! assign registers.

mod addresses;
mod checks;
mod conditions;
mod counts;
mod dead;
mod endian;
mod fields;
mod flow;
mod fold;
mod joins;
mod known;
mod length;
mod loads;
mod packet;
mod params;
mod peephole;
mod replace;
mod same;
mod stack;
mod stores;
mod thread;
mod wide;

use crate::ir::Program;

/// A pass.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The name, for reports and messages.
    pub name: &'static str,
    /// Changes a program and returns whether it did.
    pub run: fn(&mut Program) -> bool,
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 18] = [
    Pass { name: "flow", run: flow::run },
    Pass { name: "parameters", run: params::run },
    Pass { name: "dead values", run: dead::run },
    Pass { name: "folding", run: |program| peephole::run(program, fold::rule) },
    Pass { name: "fields", run: |program| peephole::run(program, fields::rule) },
    Pass { name: "addresses", run: addresses::run },
    Pass { name: "packet checks", run: checks::run },
    Pass { name: "conditions", run: conditions::run },
    Pass { name: "threading", run: thread::run },
    Pass { name: "same values", run: same::run },
    Pass { name: "stack", run: stack::run },
    Pass { name: "stack at joins", run: joins::run },
    Pass { name: "packet", run: packet::run },
    Pass { name: "byte order", run: endian::run },
    Pass { name: "wide loads", run: loads::run },
    Pass { name: "wide stores", run: wide::run },
    Pass { name: "dead stores", run: stores::run },
    Pass { name: "counters", run: counts::run },
];

/// The result of the passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Instructions before and after, branches and exits among them.
    pub before: usize,
    /// The same after the passes.
    pub after: usize,
    /// By pass, the number of instructions that it has removed, including those that became unused.
    pub removed: Vec<(&'static str, isize)>,
}

/// More rounds than any program takes; each pass leaves a valid program, so any pass can be the last.
const MAX_ROUNDS: usize = 16;

/// Runs all passes in turn until none changes anything.
pub fn optimize(program: &mut Program) -> Report {
    let mut report =
        Report { before: program.size(), after: 0, removed: PASSES.iter().map(|pass| (pass.name, 0)).collect() };
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for (pass, (_, removed)) in PASSES.iter().zip(&mut report.removed) {
            let before = program.size();
            changed |= (pass.run)(program);
            *removed += before as isize - program.size() as isize;
        }
        if !changed {
            break;
        }
    }
    report.after = program.size();
    report
}
