// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values that turned out to be others.

use std::collections::HashMap;

use crate::ir::{Arg, Program, ValueId};

/// Replacements of values.
#[derive(Debug, Default)]
pub(super) struct Replace(HashMap<ValueId, Arg>);

impl Replace {
    /// From now on `arg` replaces `value`.
    pub(super) fn set(&mut self, value: ValueId, arg: Arg) {
        self.0.insert(value, arg);
    }

    /// The replacement of an operand.
    pub(super) fn get(&self, mut arg: Arg) -> Arg {
        while let Arg::Value(value) = arg {
            match self.0.get(&value) {
                Some(new) if *new != arg => arg = *new,
                _ => break,
            }
        }
        arg
    }

    /// Replaces it everywhere, and returns whether anything changed.
    pub(super) fn apply(&self, program: &mut Program) -> bool {
        if self.0.is_empty() {
            return false;
        }
        for block in &mut program.blocks {
            for arg in block.operands_mut() {
                *arg = self.get(*arg);
            }
        }
        true
    }
}
