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
    if text.len() > limits::SOURCE {
        let most = limits::SOURCE >> 20;
        let message = format!("the file has more than {most} MiB, and rules for a card need less: leave rules out");
        return Err(Faults::new(file, "", vec![Fault::new(Span { line: 1, column: 1, length: 1 }, message)]));
    }
    let text = plain(text);
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

/// Whether a card with so many units and Ethernet ports has those that the actions of a source name, which compiles.
///
/// # Errors
/// Each action that names another one.
pub fn check_places(file: &str, text: &str, units: u32, ports: u32) -> Result<(), Faults> {
    let text = plain(text);
    let source = parse::parse(text).map_err(|fault| Faults::new(file, text, vec![fault]))?;
    let of_type = |on: &'_ syntax::On| -> Vec<syntax::Action> {
        on.rules.iter().map(|rule| &rule.action).chain(&on.default).map(|action| action.value.clone()).collect()
    };
    let of_application = |application: &syntax::Application| -> Vec<syntax::Action> {
        let others = application.others.iter().map(|action| action.value.clone());
        application.types.iter().flat_map(of_type).chain(others).collect()
    };
    let fault = |action: syntax::Action| {
        let (what, number, count) = match action {
            syntax::Action::Unit(number) => ("unit", number, units),
            syntax::Action::Port(number) => ("port", number, ports),
            _ => return None,
        };
        let there = match count {
            0 => format!("the card has no {what}"),
            _ => format!("the card's last {what} is {}", count - 1),
        };
        let text = format!("there is no {what} {}: {there}", number.value);
        (number.value >= u64::from(count)).then(|| Fault::new(number.span, text))
    };
    let faults: Vec<Fault> = source.applications.iter().flat_map(of_application).filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Faults::new(file, text, faults)) }
}

/// A source without the mark that some editors write in front of it.
fn plain(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
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
