// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What `penstock ctl routes` asks, and how it prints routes: with the words of `ip`, a line each.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Subcommand;
use penstock_device::routes::{self, Neighbour, Route, RouteKind};
use penstock_live::protocol::Request;
use serde_json::Value;

use crate::files::FileError;

/// What to do with routes.
#[derive(Debug, Subcommand)]
pub enum Routes {
    /// Interfaces, routes and neighbours; `routes` of what --json prints is what `load` reads.
    Show,
    /// Gives the card those of a file in place of all that it has.
    Load {
        /// JSON (docs/designs.md, "Routes").
        file: PathBuf,
    },
}

impl Routes {
    /// What the card is asked; `whole` makes a path absolute.
    pub fn request(&self, whole: impl Fn(&PathBuf) -> Result<PathBuf, FileError>) -> Result<Request, FileError> {
        Ok(match self {
            Self::Show => Request::Routes,
            Self::Load { file } => Request::LoadRoutes { file: whole(file)? },
        })
    }
}

/// Interfaces, routes and neighbours, a line each.
pub fn text(answer: &Value) -> Result<String, serde_json::Error> {
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn routes_are_lines() {
        let answer = json!({
            "interfaces": {"10": {"mac": "02:00:00:00:00:0a", "mtu": 1500, "forwards": true},
                "2": {"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false}},
            "routes": [{"dst": "0.0.0.0/0", "gateway": "192.0.2.1", "dev": 2, "metric": 7}, {"dst": "2001:db8::/32", "type": "prohibit"}],
            "neighbours": [{"dst": "192.0.2.7", "dev": 2, "lladdr": "02:00:00:00:00:ff"}, {"dst": "192.0.2.1", "dev": 2, "lladdr": "02:00:00:00:00:01"}]
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
