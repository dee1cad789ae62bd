// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock check`: all mistakes of designs, their programs and their tables.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use penstock_device::{Checked, DesignError, Mistake, Root, check, schema};
use penstock_engine::say;
use serde_json::{Value as Json, json};

use crate::show;

/// Reads designs with their programs and tables, and prints all mistakes.
///
/// Each mistake comes with its file, its line and the way out. The exit status is 0 if no mistake was found.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Manifests of cards.
    #[arg(required_unless_present = "schema", value_name = "DESIGN")]
    pub designs: Vec<PathBuf>,
    /// Print the JSON Schema of designs instead, for editors.
    #[arg(long, conflicts_with_all = ["designs", "json"])]
    pub schema: bool,
    /// Print the mistakes as JSON: a list of objects with design, file, line and message.
    #[arg(long)]
    pub json: bool,
}

/// Why a check does not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// The mistakes are printed.
    #[error("{} in {}", several(*.mistakes, "mistake"), several(*.designs, "design"))]
    Mistakes {
        mistakes: usize,
        /// Designs that have some.
        designs: usize,
    },
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

fn several(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Checks designs; warnings of compilers are printed and are no mistakes.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), CheckError> {
    if args.schema {
        say!("{}", serde_json::to_string_pretty(&schema())?);
        return Ok(());
    }
    let mut wrong = Vec::new();
    let mut designs = 0;
    for path in &args.designs {
        let Checked { design, mistakes, messages } = check(root, path);
        show::warn(&messages);
        designs += usize::from(!mistakes.is_empty());
        if !args.json {
            mistakes.iter().for_each(|mistake| say!("{mistake}"));
            if let Some(design) = design.filter(|_| mistakes.is_empty()) {
                let blocks = several(design.inline.len(), "inline block");
                let units = several(design.units() as usize, "unit");
                if !show::is_quiet() {
                    say!("{}: no mistakes; {units}, {blocks}", path.display());
                }
            }
        }
        wrong.extend(mistakes.iter().map(|mistake| about(path.display().to_string(), mistake)));
    }
    if args.json {
        say!("{}", serde_json::to_string(&wrong)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(CheckError::Mistakes { mistakes: wrong.len(), designs }) }
}

fn about(design: String, mistake: &Mistake) -> Json {
    let (file, line, message) = match mistake {
        Mistake::Design(DesignError::Line { path, line, message, .. }) => {
            (Some(path.display().to_string()), Some(*line), message.clone())
        }
        other => (None, None, other.to_string()),
    };
    json!({"design": design, "file": file, "line": line, "message": message})
}
