// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Faults in rules.

use std::fmt;

/// Something wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line where the rule begins, from 1.
    pub line: usize,
    /// The fault, and the way out.
    pub message: String,
    /// The rule is right, but uses this keyword, which the engine does not know.
    pub unsupported: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Something wrong with a file that stands beside rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// A line has another form.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The fault, and the way out.
        message: String,
    },
    /// A file that should have variables does not have any.
    #[error("there are no variables under vars, address-groups or port-groups")]
    NoVariables,
}

impl ConfigFault {
    /// A fault of a line.
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        Self::Line { line, message: message.into() }
    }
}

/// All that is wrong with a set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

/// Faults that a message lists.
const SHOWN: usize = 20;

impl fmt::Display for Faults {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().take(SHOWN).enumerate() {
            write!(to, "{}{fault}", if at > 0 { "\n" } else { "" })?;
        }
        if self.0.len() > SHOWN {
            write!(to, "\n… and {} more", self.0.len() - SHOWN)?;
        }
        let unsupported = self.0.iter().filter(|fault| fault.unsupported.is_some()).count();
        if unsupported > 0 {
            write!(
                to,
                "\n{unsupported} of these rules use what the engine does not support (engines/ids/language.md); \
                to load the others, give --skip-unsupported or set skip_unsupported = true in [inline.ids]"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
