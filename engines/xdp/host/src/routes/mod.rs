// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Routes of a card: the table that `bpf_fib_lookup` searches, on both targets, with the card's interfaces and
//! neighbours.
//!
//! In JSON it is an object of up to three keys with the words of `ip -json`. `dev` is the number of an interface;
//! Ethernet port n is interface n + 1.
//!
//! ```json
//! {
//!   "interfaces": {"1": {"mac": "02:00:00:00:00:01"},
//!                  "2": {"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false}},
//!   "routes": [{"dst": "10.1.0.0/16", "dev": 1}, {"dst": "default", "gateway": "192.0.2.1", "dev": 2, "metric": 10},
//!              {"dst": "2001:db8::/32", "type": "unreachable"}],
//!   "neighbours": [{"dst": "192.0.2.1", "dev": 2, "lladdr": "02:00:00:00:00:99"}]
//! }
//! ```

mod json;

use std::net::IpAddr;

pub use json::{RoutesFileError, of_file, parse, print};
use penstock_engine::{EngineError, ErrorKind};
use penstock_xdp_compiler::card::routes::{INTERFACES, MAX_PREFIXES};
pub use penstock_xdp_soft::{Interface, Neighbour, Route, RouteKind, Routes};

use crate::rows::counts;
use crate::services::routes::SERVICE;

/// Routes that a card cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoutesError {
    /// There is no such interface.
    #[error(
        "{what}: there is no interface {ifindex}; Ethernet port n is interface n + 1, and the last number is {}",
        INTERFACES - 1
    )]
    Interface {
        /// The part of the routes that names it.
        what: String,
        /// Its number.
        ifindex: u32,
    },
    /// A prefix is longer than an address.
    #[error("route to {prefix}/{bits}: such addresses have {} bits", width(*prefix))]
    Prefix {
        /// The prefix.
        prefix: IpAddr,
        /// Its length.
        bits: u8,
    },
    /// There are too many prefixes.
    #[error(
        "{found} prefixes of {family}, neighbours of routes without a gateway among them; a card takes {MAX_PREFIXES}"
    )]
    Many {
        /// "IPv4" or "IPv6".
        family: &'static str,
        /// How many there are.
        found: usize,
    },
}

impl From<RoutesError> for EngineError {
    fn from(error: RoutesError) -> Self {
        Self::new(ErrorKind::Service(SERVICE), error)
    }
}

impl From<RoutesFileError> for EngineError {
    fn from(error: RoutesFileError) -> Self {
        match error {
            RoutesFileError::File(error) => error.into(),
            error => Self::new(ErrorKind::Service(SERVICE), error),
        }
    }
}

/// Checks routes, with the limits of a card in hardware on every target.
///
/// # Errors
/// No card can have them.
pub(crate) fn check(routes: &Routes) -> Result<(), RoutesError> {
    let there = |ifindex: u32, what: String| {
        if ifindex < INTERFACES { Ok(()) } else { Err(RoutesError::Interface { what, ifindex }) }
    };
    for ifindex in routes.interfaces.keys() {
        there(*ifindex, "interfaces".into())?;
    }
    for neighbour in routes.neighbours.keys() {
        there(neighbour.ifindex, format!("neighbour {}", neighbour.address))?;
    }
    for Route { prefix, bits, ifindex, .. } in &routes.routes {
        there(*ifindex, format!("route to {prefix}/{bits}"))?;
        if *bits > width(*prefix) {
            return Err(RoutesError::Prefix { prefix: *prefix, bits: *bits });
        }
    }
    for (found, family) in counts(routes) {
        if found > MAX_PREFIXES as usize {
            return Err(RoutesError::Many { family, found });
        }
    }
    Ok(())
}

/// Bits of an address.
pub(crate) fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
