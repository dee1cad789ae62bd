// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Services of engines as subcommands of `penstock ctl`.

use clap::{ArgMatches, ColorChoice, Command, FromArgMatches};
use penstock_device::Request;
use penstock_engine::{Service, say};
use penstock_live::{ControlError, protocol};
use penstock_registry::engines;
use serde_json::Value as Json;

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

/// Asks a service in the words of the command line, of which the first is its name. Returns the answer for people, or
/// why there is none.
pub fn call(
    words: &[String],
    ask: impl FnOnce(&protocol::Request) -> Result<Json, ControlError>,
) -> Result<String, String> {
    let ctl = add(Command::new("ctl").no_binary_name(true).subcommand_required(true).color(ColorChoice::Never));
    let matches = ctl.try_get_matches_from(words).map_err(|error| error.to_string())?;
    let (service, arguments) = named(&matches).ok_or("no service has this name")?;
    let asked = (service.ask)(arguments)?;
    let request = protocol::Request::Call(Request { service: service.name.to_owned(), ask: asked.clone() });
    let answer = ask(&request).map_err(|error| error.to_string())?;
    Ok((service.show)(&asked, &answer))
}
