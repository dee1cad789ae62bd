// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The stages of a pipeline in hardware. All have exact tables, registers and counters; some also have the kinds of
//! tables that take most of the chip.

use std::fmt;

/// Most stages of a pipeline.
pub const MOST_STAGES: usize = 12;
/// Stages of short pipelines have all kinds.
const SHORT: usize = 6;
/// The stages of longer pipelines that have all kinds, a bit each. Several sets of four were tried, and most random
/// programs fit this one.
const LONG: u16 = 0b0100_1001_0010;
/// log2 of the ternary rows that a stage has if the design does not say.
const ROWS_LOG2: u32 = 7;

/// A part that some stages have and others lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Ternary rows.
    Ternary,
    /// A tree of prefixes.
    Prefixes,
    /// Meters.
    Meters,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ternary => "ternary tables",
            Self::Prefixes => "trees of prefixes",
            Self::Meters => "meters",
        })
    }
}

impl Feature {
    /// The key of a design for the stages that have it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Ternary => "ternary_stages",
            Self::Prefixes => "prefix_stages",
            Self::Meters => "meter_stages",
        }
    }
}

/// A pipeline: its stages, and for each feature the stages that have it, bit `s` for stage `s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// Number of stages, 1 to [`MOST_STAGES`].
    pub stages: usize,
    /// Stages with ternary tables.
    pub ternary: u16,
    /// Stages with a tree of prefixes.
    pub prefixes: u16,
    /// Stages with meters.
    pub meters: u16,
    /// log2 of the rows of a stage with ternary tables.
    pub rows_log2: u32,
}

impl Pipeline {
    /// The pipeline of a design that gives the number of stages only. Up to six stages have all features each; in
    /// longer pipelines, stages 1, 4, 7 and 10 have them.
    #[must_use]
    pub fn new(stages: usize) -> Self {
        let all = (1 << stages) - 1;
        let some = if stages > SHORT { all & LONG } else { all };
        Self { stages, ternary: some, prefixes: some, meters: some, rows_log2: ROWS_LOG2 }
    }

    /// Whether a stage has a feature.
    #[must_use]
    pub fn has(&self, feature: Feature, stage: usize) -> bool {
        stage < self.stages && self.of(feature) >> stage & 1 == 1
    }

    /// Which stages have a feature, the beginning of a sentence.
    #[must_use]
    pub fn those_with(&self, feature: Feature) -> String {
        let numbers: Vec<_> =
            (0..self.stages).filter(|stage| self.has(feature, *stage)).map(|stage| stage.to_string()).collect();
        match &numbers[..] {
            [] => "no stage has".to_owned(),
            [one] => format!("stage {one} has"),
            _ => format!("stages {} have", numbers.join(", ")),
        }
    }

    /// Ternary rows of a stage that has some.
    #[must_use]
    pub fn rows(&self) -> u32 {
        1 << self.rows_log2
    }

    /// Says which stages have a feature.
    pub fn give(&mut self, feature: Feature, stages: u16) {
        match feature {
            Feature::Ternary => self.ternary = stages,
            Feature::Prefixes => self.prefixes = stages,
            Feature::Meters => self.meters = stages,
        }
    }

    fn of(&self, feature: Feature) -> u16 {
        match feature {
            Feature::Ternary => self.ternary,
            Feature::Prefixes => self.prefixes,
            Feature::Meters => self.meters,
        }
    }
}
