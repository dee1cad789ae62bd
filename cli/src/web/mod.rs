// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The page of a card that is up: `up --web`.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | the page; nothing in it comes from elsewhere |
//! | `GET /card` | the card's state as JSON ([`Snapshot`]), at most [`FRESH`] old |
//! | `POST /do` | the body is a request of the control socket |
//! | `POST /ctl` | the body is a list of words, a request to a service as behind `penstock ctl` |
//!
//! Everybody who reaches the address can look. The two that act need the token, and exist only if the card was given one.

mod snapshot;
mod token;

use std::io;
use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use penstock_engine::say::plain;
use penstock_live::http::{Asked, Asker, Server, Told};
use penstock_live::protocol::Request;
use penstock_live::{Client, ControlError};
use serde_json::Value as Json;

use crate::cmd::service;
use snapshot::Snapshot;
pub(crate) use token::{Token, TokenError};

/// Time in which a client must send its request and take the answer. A program is compiled meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time in which the card must answer about its state.
const CARD: Duration = Duration::from_secs(3);
/// Age up to which the same state is given again: the number of pages does not matter to the card.
const FRESH: Duration = Duration::from_millis(500);
/// The page loads from its own server alone. The drawing of the card has styles in its elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page's source of data.
struct Page {
    socket: PathBuf,
    token: Option<Token>,
    state: Mutex<State>,
}

/// The last state, and when it was asked for.
struct State {
    card: Asker,
    last: Option<(Instant, String)>,
}

/// Serves the page of the card at a control socket, as long as the process lives.
///
/// # Errors
/// The server's thread cannot be started.
pub(crate) fn serve(listener: TcpListener, socket: &Path, token: Option<Token>) -> io::Result<()> {
    let state = Mutex::new(State { card: Asker::new(socket, CARD), last: None });
    let page = Page { socket: socket.to_owned(), token, state };
    let server = Server { name: "web", posts: true, patience: PATIENCE, tell: Arc::new(move |asked| page.tell(asked)) };
    server.start(listener)
}

impl Page {
    fn tell(&self, asked: &Asked) -> Told {
        if !is_address(&asked.host) {
            // A foreign page whose name was made to lead here would be told everything.
            return Told::plain(421, "ask for this page by the address of the card's machine, or as localhost");
        }
        match (asked.post, asked.path.as_str()) {
            (false, "/") => html(),
            (false, "/page.js") => Told::ok("text/javascript; charset=utf-8", include_str!("page.js")),
            (false, "/page.css") => Told::ok("text/css; charset=utf-8", style()),
            (false, "/card") => match self.card() {
                Ok(text) => Told::ok("application/json", text),
                Err(why) => Told::plain(503, &plain(&why)),
            },
            (true, path @ ("/do" | "/ctl")) => self.act(path, asked),
            _ => Told::plain(404, "there is only /"),
        }
    }

    fn card(&self) -> Result<String, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, text)) = &state.last
            && when.elapsed() < FRESH
        {
            return Ok(text.clone());
        }
        let snapshot = Snapshot::ask(&mut state.card, self.token.is_some()).map_err(|error| error.to_string())?;
        let text = serde_json::to_string(&snapshot).map_err(|error| error.to_string())?;
        state.last = Some((Instant::now(), text.clone()));
        Ok(text)
    }

    fn act(&self, path: &str, asked: &Asked) -> Told {
        let Some(token) = &self.token else {
            return Told::plain(
                403,
                "this page only shows: start the card with --web-token FILE to change it from here",
            );
        };
        if !asked.token.as_ref().is_some_and(|given| token.is(given)) {
            return Told::plain(401, "the token is not the card's");
        }
        let done = if path == "/do" { self.carry_out(&asked.body) } else { self.call(&asked.body) };
        match done {
            Ok(text) => Told::ok("text/plain; charset=utf-8", plain(&text)),
            Err(why) => Told::plain(400, &plain(&why)),
        }
    }

    /// A request of the control socket.
    fn carry_out(&self, body: &[u8]) -> Result<String, String> {
        let request: Request = serde_json::from_slice(body).map_err(|error| format!("no request: {error}"))?;
        if matches!(request, Request::Capture { .. }) {
            return Err("captures go over the control socket: penstock ctl capture".to_owned());
        }
        let reply = self.connect().and_then(|mut card| card.ask(&request)).map_err(|error| error.to_string())?;
        serde_json::to_string_pretty(&reply).map_err(|error| error.to_string())
    }

    /// A request to a service.
    fn call(&self, body: &[u8]) -> Result<String, String> {
        let words: Vec<String> = serde_json::from_slice(body).map_err(|error| format!("no list of words: {error}"))?;
        let mut card = self.connect().map_err(|error| error.to_string())?;
        service::call(&words, |request| Ok(card.ask(request)?.answer.unwrap_or(Json::Null)))
    }

    /// A connection without a limit in time, since loading a program takes some.
    fn connect(&self) -> Result<Client, ControlError> {
        Client::connect(&self.socket)
    }
}

/// Whether the server was meant by an address or as localhost, with or without a port.
fn is_address(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn html() -> Told {
    Told { policy: Some(POLICY), ..Told::ok("text/html; charset=utf-8", include_str!("page.html")) }
}

fn style() -> String {
    concat!(include_str!("../report/page.css"), include_str!("page.css")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_meant() {
        for host in ["127.0.0.1:8080", "192.0.2.1", "[::1]:8080", "[2001:db8::1]", "localhost", "LocalHost:80"] {
            assert!(is_address(host), "{host}");
        }
        for host in ["", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil", "[evil]", "::1x"] {
            assert!(!is_address(host), "{host}");
        }
    }
}
