// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads, checks and explains programs of the flow engine: state machines of flows, in the language of engines/flow/language.md.
//!
//! ```
//! let text = "element count { key ip.src flow frames tcp => frames = frames + 1 }";
//! let program = penstock_flow_compiler::compile("count.efsm", text)?;
//! assert_eq!(program.elements[0].registers[0].name, "frames");
//!
//! let faults = penstock_flow_compiler::compile("count.efsm", "element count { tpc => drop }").unwrap_err();
//! assert!(faults.to_string().starts_with("count.efsm:1:17: there is no header, field or register `tpc`; the nearest is `tcp`"));
//! # Ok::<(), penstock_flow_compiler::Faults>(())
//! ```

mod check;
mod facts;
mod fault;
mod lex;
pub mod limits;
mod needs;
mod parse;
pub mod program;
mod reach;
mod syntax;

pub use fault::{Fault, Faults, Span};
use program::Program;

/// Reads and checks a program.
///
/// `file` is the name that faults say.
///
/// # Errors
/// Everything that is wrong with it; when the text cannot be read, the first thing.
pub fn compile(file: &str, text: &str) -> Result<Program, Faults> {
    let parsed = parse::parse(text).map_err(|fault| Faults::new(file, text, vec![fault]))?;
    check::check(&parsed).map_err(|faults| Faults::new(file, text, faults))
}
