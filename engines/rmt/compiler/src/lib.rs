// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiler of the rmt engine: P4-16 for v1model to a typed program ([`ir`]) and from there to the pipeline of the card.

mod ast;
pub mod backend;
mod condition;
mod fault;
mod fold;
pub mod ir;
mod lower;
mod parse;
mod preprocess;
mod source;
mod token;
mod types;

use std::path::Path;

use preprocess::Includes;

pub use fault::{Fault, Faults};
pub use fold::{binary, mask, signed, unary};
pub use source::{SourceFile, Sources, Span};

/// A program that the front end has accepted.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: ir::Program,
    /// Its files, for messages about it.
    pub sources: Sources,
}

impl Compiled {
    /// Lowers the program to a block in hardware with this pipeline.
    ///
    /// # Errors
    /// If the machine cannot run it: the missing feature, and the place in the program that needs it.
    pub fn lower(&self, pipeline: &backend::Pipeline) -> Result<backend::Lowered, Faults> {
        if let Some(set) = self.program.value_sets.first() {
            let fault = Fault::new(set.span, "the program does not fit: the card has no value sets")
                .help("write the values into `select`, or run the program on `soft`");
            return Err(Faults::new(self.sources.clone(), vec![*fault]));
        }
        backend::lower(&self.program, pipeline).map_err(|fault| Faults::new(self.sources.clone(), vec![fault]))
    }
}

/// Compiles P4-16 source. `name` is the file's, for messages and for includes, which are relative to its folder.
///
/// # Errors
/// All faults that were found, with their places.
pub fn compile(name: &str, text: &str) -> Result<Compiled, Faults> {
    translate(name, text, Includes::Files)
}

/// Compiles P4-16 source that somebody else sent: it may include the library alone, no files of this computer.
///
/// # Errors
/// All faults that were found, with their places.
pub fn compile_sent(name: &str, text: &str) -> Result<Compiled, Faults> {
    translate(name, text, Includes::Nothing)
}

fn translate(name: &str, text: &str, includes: Includes) -> Result<Compiled, Faults> {
    let mut sources = Sources::default();
    sources.add(name, text);
    let parsed = preprocess::Preprocessor::run(&mut sources, includes).and_then(|tokens| parse::parse(&tokens));
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let lowered = parsed.map_err(|fault| vec![*fault]).and_then(|decls| lower::lower(&sources, &stem, &decls));
    match lowered {
        Ok(program) => Ok(Compiled { program, sources }),
        Err(faults) => Err(Faults::new(sources, faults)),
    }
}
