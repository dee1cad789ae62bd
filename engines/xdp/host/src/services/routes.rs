// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `routes`: shows and replaces the routes that programs look up ([`crate::routes`]).

use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use penstock_engine::{Bus, EngineError, ErrorKind, Service, View};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::driver::XdpDriver;
use crate::routes::{self, Neighbour, Route, RouteKind};

/// Name of the service.
pub const SERVICE: &str = "routes";

/// The service.
pub const ROUTES: Service =
    Service { name: SERVICE, command, ask, show, dump: None, views: &[View { title: "Routes", words: &["show"] }] };

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// The routes, as a file of routes holds them. (In braces, since serde lets a unit variant have any fields.)
    Show {},
    /// Replaces all routes between two frames; the answer is `{}`.
    Set {
        /// As a file of routes holds them.
        routes: Json,
    },
}

/// A request that is none of [`Ask`], or has no routes.
#[derive(Debug, thiserror::Error)]
pub enum BadRequest {
    /// It is none.
    #[error("not a request to the service `routes`: {0}; it takes show and set")]
    Ask(serde_json::Error),
    /// Its routes are none.
    #[error("{0}; routes are {{\"interfaces\": {{...}}, \"routes\": [...], \"neighbours\": [...]}}")]
    Routes(serde_json::Error),
}

impl From<BadRequest> for EngineError {
    fn from(error: BadRequest) -> Self {
        Self::new(ErrorKind::Service(SERVICE), error)
    }
}

/// Carries out a request.
pub(crate) fn answer(driver: &mut XdpDriver, bus: &mut dyn Bus, ask: &Json) -> Result<Json, EngineError> {
    match Ask::deserialize(ask).map_err(BadRequest::Ask)? {
        Ask::Show {} => Ok(routes::print(driver.routes())),
        Ask::Set { routes } => {
            let routes = routes::parse(&routes.to_string()).map_err(BadRequest::Routes)?;
            driver.set_routes(bus, &routes)?;
            Ok(Json::Object(serde_json::Map::new()))
        }
    }
}

/// Shows and replaces the routes that XDP programs look up.
#[derive(Debug, Args)]
struct Words {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints interfaces, routes and neighbours. `load` accepts the output of --json.
    Show,
    /// Replaces all routes of the card by those of a file.
    Load {
        /// JSON (docs/designs.md, "Routes").
        file: PathBuf,
    },
}

fn command() -> Command {
    Words::augment_args(Command::new(SERVICE))
}

fn ask(matches: &ArgMatches) -> Result<Vec<Json>, String> {
    let words = Words::from_arg_matches(matches).map_err(|error| error.to_string())?;
    let ask = match words.action {
        Action::Show => Ask::Show {},
        Action::Load { file } => {
            let all = routes::of_file(&file).map_err(|error| error.to_string())?;
            Ask::Set { routes: routes::print(&all) }
        }
    };
    Ok(vec![serde_json::to_value(ask).map_err(|error| error.to_string())?])
}

fn show(ask: &Json, answer: &Json) -> String {
    match Ask::deserialize(ask) {
        // A card of another version may answer otherwise.
        Ok(Ask::Show {}) => text(answer).unwrap_or_else(|_| format!("{answer:#}\n")),
        _ => String::new(),
    }
}

/// Interfaces, routes and neighbours, a line each.
fn text(answer: &Json) -> Result<String, serde_json::Error> {
    let all = routes::parse(&answer.to_string())?;
    let mut text = String::new();
    let mut interfaces: Vec<_> = all.interfaces.into_iter().collect();
    interfaces.sort_by_key(|(ifindex, _)| *ifindex);
    for (ifindex, of) in interfaces {
        let end = if of.forwards { "" } else { ", does not forward" };
        // Writing into a String does not fail.
        let _ = writeln!(text, "interface {ifindex}: {}, mtu {}{end}", mac(of.mac), of.mtu);
    }
    for Route { prefix, bits, kind, ifindex, gateway, metric } in all.routes {
        let kind = match kind {
            RouteKind::Unicast => "",
            RouteKind::Local => "local ",
            RouteKind::Blackhole => "blackhole ",
            RouteKind::Unreachable => "unreachable ",
            RouteKind::Prohibit => "prohibit ",
        };
        let via = gateway.map_or(String::new(), |gateway: IpAddr| format!(" via {gateway}"));
        let number = |word: &str, number: u32| if number == 0 { String::new() } else { format!(" {word} {number}") };
        let (dev, metric) = (number("dev", ifindex), number("metric", metric));
        let _ = writeln!(text, "{kind}{prefix}/{bits}{via}{dev}{metric}");
    }
    let mut neighbours: Vec<_> = all.neighbours.into_iter().collect();
    neighbours.sort_by_key(|(Neighbour { ifindex, address }, _)| (*ifindex, *address));
    for (Neighbour { ifindex, address }, of) in neighbours {
        let _ = writeln!(text, "{address} dev {ifindex} lladdr {}", mac(of));
    }
    Ok(text)
}

fn mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_become_requests() {
        let file = std::env::temp_dir().join(format!("penstock-routes-{}.json", std::process::id()));
        std::fs::write(&file, r#"{"routes": [{"dst": "10.0.0.0/8", "dev": 1}]}"#).unwrap();
        let asked = |words: &[&str]| ask(&command().no_binary_name(true).try_get_matches_from(words).unwrap());
        assert_eq!(asked(&["show"]), Ok(vec![json!({"do": "show"})]));
        let loaded = asked(&["load", file.to_str().unwrap()]).unwrap().remove(0);
        std::fs::remove_file(&file).unwrap();
        assert_eq!((&loaded["do"], &loaded["routes"]["routes"][0]["dst"]), (&json!("set"), &json!("10.0.0.0/8")));
        assert_eq!(show(&loaded, &json!({})), "");
        let error = asked(&["load", "/none.json"]).unwrap_err();
        assert!(error.starts_with("/none.json: ") && error.contains("give a JSON file of routes"), "{error}");
    }

    #[test]
    fn routes_are_lines() {
        let answer = json!({
            "interfaces": {"10": {"mac": "02:00:00:00:00:0a", "mtu": 1500, "forwards": true},
                "2": {"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false}},
            "routes": [{"dst": "0.0.0.0/0", "gateway": "192.0.2.1", "dev": 2, "metric": 7},
                {"dst": "2001:db8::/32", "type": "prohibit"}],
            "neighbours": [{"dst": "192.0.2.7", "dev": 2, "lladdr": "02:00:00:00:00:ff"},
                {"dst": "192.0.2.1", "dev": 2, "lladdr": "02:00:00:00:00:01"}]
        });
        let lines = "interface 2: 02:00:00:00:00:02, mtu 9000, does not forward\n\
            interface 10: 02:00:00:00:00:0a, mtu 1500\n\
            0.0.0.0/0 via 192.0.2.1 dev 2 metric 7\n\
            prohibit 2001:db8::/32\n\
            192.0.2.1 dev 2 lladdr 02:00:00:00:00:01\n\
            192.0.2.7 dev 2 lladdr 02:00:00:00:00:ff\n";
        assert_eq!(text(&answer).unwrap(), lines);
        assert_eq!(text(&json!({"interfaces": {}, "routes": [], "neighbours": []})).unwrap(), "");
    }
}
