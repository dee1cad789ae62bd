// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The whole compiler after the checker, in one call: intermediate form, passes, helpers, rows.

use crate::back::{self, BackError, Compiled};
use crate::check::Facts;
use crate::helpers::{Around, Expanded, expand};
use crate::ir::{self, BuildError, Layout, Op};
use crate::maps::MapKind;
use crate::object::{Object, Program};
use crate::passes::optimize;
use crate::rows::Lanes;

/// A program that has no rows.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum TranslateError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Back(#[from] BackError),
}

/// A program as rows, and the features it needs that no card has.
#[derive(Debug, Clone)]
pub struct Translated {
    /// The rows.
    pub compiled: Compiled,
    /// For messages: "it calls …".
    pub beyond: Vec<String>,
}

/// A program in the form in which rows are made of it: optimized, with its helpers' code.
///
/// # Errors
/// If the form cannot express the program, or it is too long.
pub fn form(
    object: &Object,
    program: &Program,
    facts: &Facts,
    layout: &Layout,
) -> Result<(ir::Program, Expanded), BuildError> {
    let mut form = ir::build(object, program, facts, layout)?;
    optimize(&mut form);
    let around = Around { object, source: program, facts, layout, metadata: metadata(object, facts) };
    let before = form.blocks.len();
    let expanded = expand(&mut form, &around, facts.stack_depth.next_multiple_of(8));
    if form.blocks.len() > before {
        optimize(&mut form);
    }
    Ok((form, expanded))
}

/// Whether a packet may have metadata before it: the program makes it, or may follow on another one.
fn metadata(object: &Object, facts: &Facts) -> bool {
    let calls = object.maps.iter().any(|map| map.shape.kind() == Ok(MapKind::ProgArray));
    calls || facts.helpers.contains(&META)
}

/// Number of `bpf_xdp_adjust_meta`.
const META: u32 = 54;

/// Makes rows of a program that the checker has accepted, with those facts; they expect its maps where `layout` has
/// them.
///
/// # Errors
/// It is too long, or needs more room for its values than there is.
pub fn translate(
    object: &Object,
    program: &Program,
    facts: &Facts,
    lanes: Lanes,
    layout: &Layout,
) -> Result<Translated, TranslateError> {
    let (mut form, Expanded { stack, beyond }) = form(object, program, facts, layout)?;
    let insts = form.blocks.iter_mut().flat_map(|block| &mut block.insts);
    for inst in insts {
        if let Op::Call { map: Some(map), .. } = &mut inst.op {
            *map = layout.number(*map);
        }
    }
    Ok(Translated { compiled: back::compile(&form, &back::Options { lanes, stack })?, beyond })
}
