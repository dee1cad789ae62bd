// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads, checks and explains programs of the flow engine: state machines of flows, in the language of engines/flow/language.md.
//!
//! ```
//! let text = "element count { key ip.src flow frames tcp => frames = frames + 1 }";
//! let compiled = penstock_flow_compiler::compile("count.efsm", text)?;
//! assert_eq!(compiled.program.elements[0].registers[0].name, "frames");
//! assert_eq!(compiled.image.elements[0].functions.len(), 1);
//!
//! let faults = penstock_flow_compiler::compile("count.efsm", "element count { tcq => drop }").unwrap_err();
//! assert!(faults.to_string().starts_with("count.efsm:1:17: there is no header, field or register `tcq`; the nearest is `tcp`"));
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

/// A program, and what elements of hardware hold for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// What it means.
    pub program: Program,
    /// What the elements hold.
    pub image: Image,
    /// Name and text, for faults.
    source: (String, String),
}

/// Reads and checks a program, and gives its elements their parts, so that one that is taken runs on every target whose tables are as large as it says.
///
/// `file` is the name that faults say.
///
/// # Errors
/// Everything that is wrong with it, as far as it can be told: when the text cannot be read, the first thing; what never happens is looked for in programs
/// without other faults.
pub fn compile(file: &str, text: &str) -> Result<Compiled, Faults> {
    let faults = |faults| Faults::new(file, text, faults);
    let parsed = parse::parse(text).map_err(|fault| faults(vec![fault]))?;
    let program = check::check(&parsed).map_err(faults)?;
    let image = Image::new(&program).map_err(faults)?;
    // Last, as it takes long where there are many rows.
    reach::check(&parsed, &program).map_err(faults)?;
    Ok(Compiled { program, image, source: (file.to_owned(), text.to_owned()) })
}

impl Compiled {
    /// What the host shifts into each element of hardware, in this order: the words of what each row does, then the bits of `program_t`
    /// (engines/flow/rtl/flow_pkg.sv), lowest first. `contexts`: how many the table of each element holds, 97 % of its places.
    ///
    /// ```
    /// let text = "element count { key ip.src flow frames tcp => frames = frames + 1 }";
    /// let words = penstock_flow_compiler::compile("count.efsm", text)?.words(15_892)?;
    /// assert_eq!(words.len(), 1);
    /// # Ok::<(), penstock_flow_compiler::Faults>(())
    /// ```
    ///
    /// # Errors
    /// Tables that are larger than the hardware's.
    pub fn words(&self, contexts: u32) -> Result<Vec<Vec<u32>>, Faults> {
        let (file, text) = &self.source;
        let timeouts: Vec<_> = self.program.elements.iter().map(|element| words::timeouts(element, &[])).collect();
        words::words(&self.program, &self.image, contexts, &timeouts).map_err(|faults| Faults::new(file, text, faults))
    }

    /// That the program sends to no port which a card of so many has not.
    ///
    /// # Errors
    /// Rows that name one.
    pub fn check_ports(&self, ports: u32) -> Result<(), Faults> {
        let (file, text) = &self.source;
        let rows = self.program.elements.iter().flat_map(|element| &element.rows);
        let faults = rows.filter_map(|row| match row.verdict {
            Verdict::Port(Operand::Constant(port)) if port >= ports => {
                let message = format!(
                    "this row sends to port {port}, and the card has {ports}, from 0: give it more, or name another"
                );
                Some(Fault::new(row.span, message))
            }
            _ => None,
        });
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() { Ok(()) } else { Err(Faults::new(file, text, faults)) }
    }

    /// What the program takes of each element, for people.
    pub fn explain(&self) -> String {
        explain::text(&self.program, &self.image)
    }

    /// The same for programs.
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
