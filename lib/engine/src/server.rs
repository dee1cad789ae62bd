// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Servers: other protocols over which programs reach the services of a card that is up.

use std::any::Any;
use std::io;
use std::net::TcpListener;

use serde_json::Value as Json;

use crate::service::Request;

/// A server of an engine. `up --NAME ADDRESS` starts it.
#[derive(Clone, Copy)]
pub struct Server {
    /// Its name: the option's.
    pub name: &'static str,
    /// The service it offers, for the help of the option.
    pub about: &'static str,
    /// Serves the requests of `call` to connections of the socket, on its own threads, until the returned value is
    /// dropped, which frees the address and ends connections.
    pub start: fn(TcpListener, Box<Call>) -> io::Result<Box<dyn Any + Send>>,
}

/// Asks a service of the card; an error is a sentence.
pub type Call = dyn Fn(Request) -> Result<Json, String> + Send + Sync;
