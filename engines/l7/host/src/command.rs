// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The command line of the service `l7`.

use std::path::PathBuf;

use clap::Subcommand;
use penstock_engine::files;

use crate::ask::Ask;
use crate::image::PROGRAM;

/// A request. APP is a name in a program; with several l7 blocks it is BLOCK.APP.
#[derive(Debug, Subcommand)]
pub(crate) enum L7Command {
    /// Lists the applications.
    Apps,
    /// Shows or replaces rules.
    Rules {
        /// The command; without it, messages by rule are listed.
        #[command(subcommand)]
        what: Option<RulesCommand>,
    },
    /// Lists messages by host queue.
    Queues,
    /// Lists messages in flight.
    Messages,
    /// Lists the counters of all applications.
    Counters,
}

/// Operations on rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Gives an application other rules between two messages.
    Load {
        /// The application.
        app: String,
        /// Message types and rules; only those of the application are taken.
        file: PathBuf,
    },
}

impl L7Command {
    /// The request.
    ///
    /// # Errors
    /// A file cannot be read; a sentence.
    pub(crate) fn ask(self) -> Result<Ask, String> {
        Ok(match self {
            Self::Apps => Ask::Apps,
            Self::Rules { what: None } => Ask::Rules,
            Self::Rules { what: Some(RulesCommand::Load { app, file }) } => {
                let text = files::read(&file, PROGRAM).map_err(|error| error.to_string())?;
                Ask::Load { application: app, file: file.display().to_string(), text }
            }
            Self::Queues => Ask::Queues,
            Self::Messages => Ask::Messages,
            Self::Counters => Ask::Counters,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use penstock_engine::Engine;
    use serde_json::json;

    use crate::engine::L7;

    /// The requests of a command line, or its fault.
    fn asked(line: &[&str]) -> Result<Vec<serde_json::Value>, String> {
        let service = L7.services()[0];
        let words = [service.name].into_iter().chain(line.iter().copied());
        let matches = (service.command)().try_get_matches_from(words).map_err(|error| error.to_string())?;
        (service.ask)(&matches)
    }

    #[test]
    fn command_lines_are_requests() {
        for word in ["apps", "rules", "queues", "messages", "counters"] {
            assert_eq!(asked(&[word]), Ok(vec![json!(word)]));
        }
        let path = std::env::temp_dir().join(format!("penstock-l7-{}.l7", std::process::id()));
        let file = path.display().to_string();
        std::fs::write(&path, "rules").unwrap();
        let load = json!({"load": {"application": "reviews", "file": file, "text": "rules"}});
        assert_eq!(asked(&["rules", "load", "reviews", &file]), Ok(vec![load]));
        std::fs::remove_file(&path).unwrap();
        let error = asked(&["rules", "load", "reviews", &file]).unwrap_err();
        assert!(error.starts_with(&file) && error.ends_with(super::PROGRAM), "{error}");
        assert!(asked(&["rules", "load", "reviews"]).unwrap_err().contains("<FILE>"));
    }
}
