// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Servers of engines beside a card that is up: an option for each, whose value is the address.

use std::any::Any;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use penstock_engine::{Request, Server};
use penstock_live::{Client, ControlError, protocol};
use penstock_registry::engines;

/// Servers that are to be started, each with its address.
#[derive(Clone, Default)]
pub(crate) struct Servers(Vec<(&'static Server, String)>);

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(server, address)| (server.name, address))).finish()
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    #[error("--{name} {address}: {source}; give an address of this machine and a port, for example 127.0.0.1:9559")]
    Address { name: &'static str, address: String, source: io::Error },
    #[error(transparent)]
    Control(#[from] ControlError),
}

fn servers() -> impl Iterator<Item = &'static Server> {
    engines().iter().flat_map(|engine| engine.servers())
}

impl Servers {
    /// Starts the servers for the card at a control socket. Returns the handles that keep them at work, and a line for
    /// each.
    pub(crate) fn start(&self, socket: &Path) -> Result<(Vec<Box<dyn Any + Send>>, String), ServerError> {
        let mut lines = String::new();
        let mut all = Vec::new();
        for (server, address) in &self.0 {
            let wrong = |source| ServerError::Address { name: server.name, address: address.clone(), source };
            let listener = TcpListener::bind(address).map_err(wrong)?;
            let at = listener.local_addr().map_err(wrong)?;
            let client = Mutex::new(Client::connect(socket)?);
            let call = move |request: Request| {
                let mut client = client.lock().unwrap_or_else(PoisonError::into_inner);
                let reply = client.ask(&protocol::Request::Call(request)).map_err(|error| error.to_string())?;
                Ok(reply.answer.unwrap_or_default())
            };
            all.push((server.start)(listener, Box::new(call)).map_err(wrong)?);
            lines += &format!("{} at {at}\n", server.name);
        }
        Ok((all, lines))
    }
}

impl Args for Servers {
    fn augment_args(command: Command) -> Command {
        let option = |server: &Server| Arg::new(server.name).long(server.name).value_name("ADDRESS").help(server.about);
        servers().map(option).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Servers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |server: &'static Server| Some((server, matches.get_one::<String>(server.name)?.clone()));
        Ok(Self(servers().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
