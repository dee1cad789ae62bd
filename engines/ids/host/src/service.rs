// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `ids` on the command line.

use std::path::PathBuf;

use clap::{Command, FromArgMatches, Subcommand};
use penstock_engine::{Ask as Asker, EngineError, Service, View, files};
use serde_json::Value as Json;

use crate::ask::{Ask, NAME, RuleText};
use crate::image::RULES;

/// The services of the engine.
pub(crate) const SERVICES: &[Service] = &[Service {
    name: NAME,
    command,
    ask,
    show,
    dump: Some(dump),
    views: &[
        View { title: "Inspection", words: &["stats"] },
        View { title: "Rules that have reported", words: &["rules", "list", "--hits"] },
    ],
}];

/// A request.
#[derive(Debug, Subcommand)]
enum Line {
    /// Shows the counters, and the share of the frames that the host inspected.
    Stats,
    /// Lists or exchanges rules.
    Rules {
        #[command(subcommand)]
        what: Rules,
    },
    /// Takes the alerts that wait, as EVE records.
    Alerts,
}

#[derive(Debug, Subcommand)]
enum Rules {
    /// Lists the rules.
    List {
        /// Only rules that have reported, with the number of their alerts.
        #[arg(long)]
        hits: bool,
    },
    /// Exchanges all rules between two frames; flows and streams stay.
    Reload {
        /// Files of rules.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

fn command() -> Command {
    let about = "Shows alerts and counters of ids blocks, lists and exchanges their rules";
    Line::augment_subcommands(Command::new(NAME).about(about).subcommand_required(true).arg_required_else_help(true))
}

fn ask(arguments: &clap::ArgMatches) -> Result<Vec<Json>, String> {
    let line = Line::from_arg_matches(arguments).map_err(|error| error.to_string())?;
    let ask = match line {
        Line::Stats => Ask::Stats,
        Line::Alerts => Ask::Alerts,
        Line::Rules { what: Rules::List { hits } } => Ask::Rules { hits },
        Line::Rules { what: Rules::Reload { files: paths } } => {
            let read = |path: PathBuf| {
                let text = files::read(&path, RULES).map_err(|error| error.to_string())?;
                Ok(RuleText { name: path.display().to_string(), text })
            };
            Ask::Reload { files: paths.into_iter().map(read).collect::<Result<_, String>>()? }
        }
    };
    Ok(vec![ask.json()])
}

fn show(asked: &Json, answer: &Json) -> String {
    let mut text = String::new();
    let list = || answer.as_array().into_iter().flatten();
    let word = |of: &Json, key: &str| match &of[key] {
        Json::String(word) => word.clone(),
        other => other.to_string(),
    };
    match Ask::read(asked) {
        Ok(Ask::Alerts) => list().for_each(|alert| text += &format!("{alert}\n")),
        Ok(Ask::Rules { .. }) => {
            for rule in list() {
                let of = |key| word(rule, key);
                let number = format!("{}:{}:{}", of("gid"), of("sid"), of("rev"));
                let (hits, action, msg, place) = (of("hits"), of("action"), of("msg"), of("place"));
                text += &format!("{hits:>8} {number:<16} {action:<6} {msg}  {place}\n");
            }
        }
        Ok(Ask::Reload { .. }) => {
            list().for_each(|line| text += &format!("{}\n", line.as_str().unwrap_or_default()));
            text += "the rules are exchanged\n";
        }
        Ok(Ask::Stats) => {
            for (group, counters) in answer.as_object().into_iter().flatten() {
                for (name, value) in counters.as_object().into_iter().flatten() {
                    text += &format!("{:<32}{value:>16}\n", format!("{group}.{name}"));
                }
            }
        }
        Err(_) => {}
    }
    text
}

/// Alerts, rules with their hits, and counters.
fn dump(asker: &mut Asker<'_>) -> Result<Vec<(String, String)>, EngineError> {
    let file = |name: &str, content: Json| (format!("{name}.json"), format!("{content:#}\n"));
    Ok(vec![
        file("alerts", asker(Ask::Alerts.json())?),
        file("rules", asker(Ask::Rules { hits: false }.json())?),
        file("stats", asker(Ask::Stats.json())?),
    ])
}
