// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `l7`.

use clap::{Command, FromArgMatches, Subcommand};
use penstock_engine::{Service, View};
use serde_json::Value as Json;

use crate::ask::{Ask, NAME};
use crate::command::L7Command;
use crate::text;

/// The services of the engine.
pub(crate) const SERVICES: &[Service] = &[Service {
    name: NAME,
    command,
    ask,
    show,
    dump: None,
    views: &[
        View { title: "Applications", words: &["apps"] },
        View { title: "Messages by rule", words: &["rules"] },
        View { title: "Messages by queue", words: &["queues"] },
    ],
}];

fn command() -> Command {
    let about = "Reads what l7 blocks count, and swaps the rules of an application between two messages";
    L7Command::augment_subcommands(
        Command::new(NAME).about(about).subcommand_required(true).arg_required_else_help(true),
    )
}

fn ask(arguments: &clap::ArgMatches) -> Result<Vec<Json>, String> {
    let command = L7Command::from_arg_matches(arguments).map_err(|error| error.to_string())?;
    Ok(vec![command.ask()?.json()])
}

fn show(asked: &Json, answer: &Json) -> String {
    Ask::read(asked).map_or_else(|_| String::new(), |_| text::text(answer))
}
