// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All of the compiler behind the checker, in one call: intermediate form, passes, rows.

use crate::back::{self, BackError, Compiled};
use crate::check::Facts;
use crate::ir::{self, BuildError, Layout};
use crate::object::{Object, Program};
use crate::passes::optimize;
use crate::rows::Lanes;

/// A program that has no rows.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Back(#[from] BackError),
}

/// Makes rows of a program that the checker has accepted, with those facts; they expect its maps where `layout` has them.
///
/// # Errors
/// It is too long, or needs more room for its values than there is.
pub fn translate(
    object: &Object,
    program: &Program,
    facts: &Facts,
    lanes: Lanes,
    layout: &Layout,
) -> Result<Compiled, TranslateError> {
    let mut form = ir::build(object, program, facts, layout)?;
    optimize(&mut form);
    let stack = facts.stack_depth.next_multiple_of(8);
    Ok(back::compile(&form, &back::Options { lanes, stack })?)
}
