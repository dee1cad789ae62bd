// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Links programs one after the other: the targets of tail calls are in the same row memory.

use super::{BackError, Compiled, words};
use crate::rows::{Lane, Lanes, Row, Target};

/// Programs in the row memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// Words of each row, as the core reads them.
    pub words: Vec<Vec<u32>>,
    /// By program, its first row.
    pub first: Vec<u32>,
}

/// Places programs one after the other.
///
/// # Errors
/// All of them together are too long.
pub fn link<'a>(programs: impl IntoIterator<Item = &'a Compiled>, lanes: Lanes) -> Result<Linked, BackError> {
    let (mut rows, mut first) = (Vec::new(), Vec::new());
    for program in programs {
        let begin = rows.len();
        first.push(begin as u32);
        rows.extend(program.rows.iter().map(|row| moved(row, begin)));
    }
    Ok(Linked { words: words(&rows, lanes)?, first })
}

/// A row of a program that begins there.
fn moved(row: &Row, begin: usize) -> Row {
    let target = |target| match target {
        Target::Row(row) => Target::Row(row + begin as u16),
        exit @ Target::Exit(_) => exit,
    };
    let lane = |lane: &Lane| Lane { op: lane.op.map(|source| source, |_, place| place, target), ..lane.clone() };
    Row { lanes: row.lanes.iter().map(|it| it.as_ref().map(lane)).collect(), ..row.clone() }
}
