// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Services of engines as subcommands of `penstock ctl`.

use clap::{ArgMatches, Command, FromArgMatches};
use penstock_device::Request;
use penstock_engine::{Service, say};
use penstock_live::protocol;
use penstock_registry::engines;

use crate::cmd::ctl::{CtlError, Which};

/// All services of all engines.
fn services() -> impl Iterator<Item = &'static Service> {
    engines().iter().flat_map(|engine| engine.services())
}

/// Adds them to the command.
pub fn add(ctl: Command) -> Command {
    services().fold(ctl, |ctl, service| ctl.subcommand((service.command)()))
}

/// The service that the arguments of `ctl` name, and its own arguments.
fn named(ctl: &ArgMatches) -> Option<(&'static Service, &ArgMatches)> {
    let (name, arguments) = ctl.subcommand()?;
    Some((services().find(|service| service.name == name)?, arguments))
}

/// Whether the arguments of `ctl` name a service.
pub fn is_meant(ctl: &ArgMatches) -> bool {
    named(ctl).is_some()
}

/// Asks the service of a card that is up, and prints the answer.
pub fn run(ctl: &ArgMatches) -> Result<(), CtlError> {
    let Some((service, arguments)) = named(ctl) else { return Ok(()) };
    let which = Which::from_arg_matches(ctl)?;
    let json = arguments.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(which.json);
    let ask = (service.ask)(arguments).map_err(CtlError::Arguments)?;
    let request = protocol::Request::Call(Request { service: service.name.to_owned(), ask: ask.clone() });
    let answer = which.connect()?.ask(&request)?.answer.unwrap_or_default();
    if json {
        say!("{}", serde_json::to_string(&answer)?);
    } else {
        say::text(&(service.show)(&ask, &answer));
    }
    Ok(())
}
