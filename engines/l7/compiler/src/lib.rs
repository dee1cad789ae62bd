// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads, checks and explains what a block of the l7 engine is given: message types and the rules that dispatch
//! messages, in the language of engines/l7/language.md.
//!
//! ```
//! let text = r#"
//!     message Review { option (type) = 1; string student = 1 [(dispatch) = true]; string review = 2; }
//!     application reviews = 7 {
//!         udp port 7000;
//!         on Review { rule math { student = "/" until "/" "2024" ..; } => queue 1; default => queue 0; }
//!     }"#;
//! let compiled = penstock_l7_compiler::compile("reviews.l7", text)?;
//! assert!(compiled.explain().contains("2 steps, 13 cycles"));
//!
//! let faults = penstock_l7_compiler::compile("reviews.l7", &text.replace("{ student", "{ studnet")).unwrap_err();
//! assert!(faults.to_string().starts_with("reviews.l7:5:33: `Review` has no field `studnet`; the nearest is `student`"));
//! # Ok::<(), penstock_l7_compiler::Faults>(())
//! ```

pub mod bindings;
mod check;
mod conflict;
mod explain;
mod fault;
pub mod hash;
pub mod image;
mod index;
mod lex;
pub mod limits;
mod parse;
pub mod pattern;
pub mod program;
pub mod rows;
mod syntax;

pub use explain::shown;
pub use fault::{Fault, Faults, Span};
use image::AppImage;
use program::Program;

/// A program, and its form for a block in hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// The image of each application.
    pub images: Vec<AppImage>,
}

/// Reads and checks a source. `file` is the name that faults give.
///
/// # Errors
/// The faults of the source. If the text cannot be parsed, only the first one; rules that contradict each other are
/// looked for only in sources without other faults.
pub fn compile(file: &str, text: &str) -> Result<Compiled, Faults> {
    let faults = |faults| Faults::new(file, text, faults);
    let source = parse::parse(text).map_err(|fault| faults(vec![fault]))?;
    let program = check::check(&source).map_err(faults)?;
    let contradictions = conflict::check(&source, &program);
    if !contradictions.is_empty() {
        return Err(faults(contradictions));
    }
    let images: Result<Vec<AppImage>, _> =
        (0..program.applications.len()).map(|index| AppImage::new(&source, &program, index)).collect();
    Ok(Compiled { images: images.map_err(faults)?, program })
}

impl Compiled {
    /// Fields, rules by application, rows and cycles, as text.
    #[must_use]
    pub fn explain(&self) -> String {
        explain::text(&self.program, &self.images)
    }

    /// The same as JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        explain::json(&self.program, &self.images)
    }
}
