// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `rmt`.

use clap::{Command, FromArgMatches, Subcommand};
use penstock_engine::{Service, View};
use serde_json::Value as Json;

use crate::ask::{Ask, NAME};
use crate::command::Rmt;
use crate::text;

/// The services of the engine.
pub(crate) const SERVICES: &[Service] =
    &[Service { name: NAME, command, ask, show, dump: None, views: &[View { title: "Tenants", words: &["tenants"] }] }];

fn command() -> Command {
    let about = "Reads and changes the programs of rmt blocks and their tables between two frames";
    Rmt::augment_subcommands(Command::new(NAME).about(about).subcommand_required(true).arg_required_else_help(true))
}

fn ask(arguments: &clap::ArgMatches) -> Result<Vec<Json>, String> {
    let rmt = Rmt::from_arg_matches(arguments).map_err(|error| error.to_string())?;
    Ok(vec![rmt.ask()?.json()])
}

fn show(asked: &Json, answer: &Json) -> String {
    Ask::read(asked).map_or_else(|_| String::new(), |asked| text::text(&asked, answer))
}
