// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile flow`: a state machine of flows, and what it takes of its elements.

use std::path::{Path, PathBuf};

use penstock_device::files::{self, FileError};
use penstock_flow_compiler::image::ElementImage;
use penstock_flow_compiler::program::Element;
use penstock_flow_compiler::{Faults, limits};

/// Why a program was refused.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "the flow engine takes one file at a time, with all elements of a chain; a design may have several, one behind the other"
    )]
    Several,
    #[error(transparent)]
    Refused(#[from] Faults),
}

/// What is asked.
pub struct Request<'a> {
    pub sources: &'a [PathBuf],
    pub explain: bool,
    pub json: Option<&'a Path>,
    /// Where the state machines are drawn, for Graphviz and as SVG.
    pub dot: Option<&'a Path>,
    pub svg: Option<&'a Path>,
}

/// Checks and reports.
pub fn run(request: &Request) -> Result<(), FlowError> {
    let [file] = request.sources else { return Err(FlowError::Several) };
    let text = files::read(file, penstock_flow_host::PROGRAM)?;
    let compiled = penstock_flow_compiler::compile(&file.display().to_string(), &text)?;
    if request.explain {
        print!("{}", compiled.explain());
    } else {
        for (element, image) in compiled.program.elements.iter().zip(&compiled.image.elements) {
            println!("{}: {}", file.display(), summary(element, image));
        }
    }
    if let Some(path) = request.json {
        files::write(path, format!("{:#}\n", compiled.json()))?;
    }
    if let Some(path) = request.dot {
        files::write(path, compiled.dot())?;
    }
    if let Some(path) = request.svg {
        files::write(path, compiled.svg())?;
    }
    Ok(())
}

/// One line about an element: how much it takes of what there is.
fn summary(element: &Element, image: &ElementImage) -> String {
    format!(
        "{}: {} of {} rows, {} of {} operands, {} of {} predicates, {} of {} conditions, {} of {} functions",
        element.name,
        image.rows.len(),
        limits::ROWS,
        image.operands.len(),
        limits::OPERANDS,
        image.predicates.len(),
        limits::PREDICATES,
        image.conditions.len(),
        limits::CONDITIONS,
        image.functions.len(),
        limits::FUNCTIONS,
    )
}
