// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the l7 engine, beside the figures of QingNiao (chapter 4 of the dissertation on Menshen).

mod card;
mod cycles;
mod dfa;
mod isolation;
mod load;
mod pair;
mod rate;
mod soft;
mod straw_man;
mod update;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench::new(
        "l7-soft",
        "Messages that native code decides on a core, beside a loop over the rules and a DFA",
        soft::run,
    ),
    Bench::new("l7-cycles", "Cycles from a message's first beat to its decision (QingNiao, Table 4.2)", cycles::run),
    Bench::new("l7-update", "Rules swapped while messages of two applications flow at line rate", update::run),
    Bench::new("l7-isolation", "An application beside one whose rules take long", isolation::run),
    Bench {
        has_cases: true,
        ..Bench::new("l7-rate", "Messages a second through one port (QingNiao, Figures 4.12, 4.16 to 4.23)", rate::run)
    },
];
