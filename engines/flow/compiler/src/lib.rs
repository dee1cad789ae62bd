// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads, checks and explains programs of the flow engine: state machines of flows, in the language of
//! engines/flow/language.md.
//!
//! ```
//! let text = "element count { key ip.src flow frames tcp => frames = frames + 1 }";
//! let compiled = penstock_flow_compiler::compile("count.efsm", text)?;
//! assert_eq!(compiled.program.elements[0].registers[0].name, "frames");
//! assert_eq!(compiled.image.elements[0].functions.len(), 1);
//!
//! let faults = penstock_flow_compiler::compile("count.efsm", "element count { tcq => drop }").unwrap_err();
//! let text = faults.to_string();
//! assert!(text.starts_with("count.efsm:1:17: there is no header, field or register `tcq`; the nearest is `tcp`"));
//! # Ok::<(), penstock_flow_compiler::Faults>(())
//! ```

mod check;
mod choices;
mod draw;
pub mod edits;
mod explain;
mod facts;
mod fault;
pub mod hardware;
pub mod image;
mod key;
mod lex;
pub mod limits;
mod matching;
mod needs;
mod parse;
mod places;
pub mod program;
mod reach;
mod show;
mod syntax;
mod words;

pub use fault::{Fault, Faults, Span};
use image::Image;
use program::{Operand, Program, Verdict};

/// A program, and the contents of its elements in hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// The contents of its elements.
    pub image: Image,
    /// Name and text, for faults.
    source: (String, String),
}

/// Reads and checks a program and assigns parts to its elements. A program without faults runs on every target whose
/// tables are as large as it says.
///
/// `file` is the name that faults give.
///
/// # Errors
/// All faults of the program. If the text cannot be parsed, only the first fault; rows that never match are looked for
/// only in programs without other faults.
pub fn compile(file: &str, text: &str) -> Result<Compiled, Faults> {
    let faults = |faults| Faults::new(file, text, faults);
    let parsed = parse::parse(text).map_err(|fault| faults(vec![fault]))?;
    let program = check::check(&parsed).map_err(faults)?;
    let image = Image::new(&program).map_err(faults)?;
    // This check comes last because it takes long for many rows.
    reach::check(&parsed, &program).map_err(faults)?;
    Ok(Compiled { program, image, source: (file.to_owned(), text.to_owned()) })
}

impl Compiled {
    /// The words that the host shifts into each element of hardware, in this order: the words of each row's effects,
    /// then the bits of `program_t` (engines/flow/rtl/flow_pkg.sv), lowest first. `contexts`: contexts that the table
    /// of each element holds, 97 % of its places.
    ///
    /// ```
    /// let text = "element count { key ip.src flow frames tcp => frames = frames + 1 }";
    /// let words = penstock_flow_compiler::compile("count.efsm", text)?.words(15_892)?;
    /// assert_eq!(words.len(), 1);
    /// # Ok::<(), penstock_flow_compiler::Faults>(())
    /// ```
    ///
    /// # Errors
    /// A table of the program is larger than the hardware's.
    pub fn words(&self, contexts: u32) -> Result<Vec<Vec<u32>>, Faults> {
        let (file, text) = &self.source;
        let timeouts: Vec<_> = self.program.elements.iter().map(|element| words::timeouts(element, &[])).collect();
        words::words(&self.program, &self.image, contexts, &timeouts).map_err(|faults| Faults::new(file, text, faults))
    }

    /// Checks that the program sends frames only to ports that a card with this number of ports has.
    ///
    /// # Errors
    /// The rows that name another port.
    pub fn check_ports(&self, ports: u32) -> Result<(), Faults> {
        let (file, text) = &self.source;
        let rows = self.program.elements.iter().flat_map(|element| &element.rows);
        let faults = rows.filter_map(|row| match row.verdict {
            Verdict::Port(Operand::Constant(port)) if port >= ports => {
                let message = format!(
                    "this row sends to port {port}, and the card has {ports}, counted from 0: name another port, or \
                     give the \
                     card more"
                );
                Some(Fault::new(row.span, message))
            }
            _ => None,
        });
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() { Ok(()) } else { Err(Faults::new(file, text, faults)) }
    }

    /// The parts of each element that the program uses, as text.
    pub fn explain(&self) -> String {
        explain::text(&self.program, &self.image)
    }

    /// The parts of each element that the program uses, as JSON.
    pub fn json(&self) -> serde_json::Value {
        explain::json(&self.program, &self.image)
    }

    /// The state machines as a graph for Graphviz.
    pub fn dot(&self) -> String {
        draw::dot(&self.program)
    }

    /// The state machines as a drawing.
    pub fn svg(&self) -> String {
        draw::svg(&self.program)
    }
}
