// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Routes in the banks of a card in hardware: the next hop of each prefix, resolved by the host
//! ([`penstock_xdp_compiler::card::routes`] gives the reason).

use std::collections::BTreeMap;
use std::net::IpAddr;

use penstock_engine::Bus;
use penstock_xdp_compiler::card::routes::{Answer, Hop, INTERFACE_BYTES, INTERFACES, interface};
use penstock_xdp_compiler::ir;
use penstock_xdp_soft::{Neighbour, Route, RouteKind, Routes};

use super::banks::{CardBanks, DELETE, UPDATE};
use super::error::RowsError;
use crate::routes::width;

/// A prefix: its address, with zeros after the prefix, and its length in bits.
type Prefix = (IpAddr, u8);
/// Entries of the tables, by number of the map and key.
type Entries = BTreeMap<(u32, Vec<u8>), Vec<u8>>;

/// The tables of routes of a card, as the host has filled them.
#[derive(Debug, Default)]
pub(crate) struct CardRoutes {
    entries: Entries,
}

impl CardRoutes {
    /// Records that the tables were made again and are empty.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
    }

    /// Changes the tables to other routes. Entries that stay are not written again. A lookup meanwhile finds an old or
    /// a new entry, never a mix.
    pub(crate) fn put(&mut self, bus: &mut dyn Bus, tables: &ir::Routes, routes: &Routes) -> Result<(), RowsError> {
        let mut banks = CardBanks { bus };
        let wanted = entries(tables, routes);
        let mut ask =
            |operation, (map, key): &(u32, Vec<u8>), value: &[u8]| match banks.ask(operation, *map, key, value)? {
                0 => Ok(()),
                number => Err(RowsError::Route { errno: -number }),
            };
        // New entries first, so that meanwhile no lookup falls back to a shorter prefix.
        for (key, value) in wanted.iter().filter(|(key, value)| self.entries.get(*key) != Some(value)) {
            ask(UPDATE, key, value)?;
        }
        for key in self.entries.keys().filter(|key| !wanted.contains_key(*key)) {
            ask(DELETE, key, &[])?;
        }
        self.entries = wanted;
        Ok(())
    }
}

/// Numbers of prefixes that the tables need for routes, by family.
pub(crate) fn counts(routes: &Routes) -> [(usize, &'static str); 2] {
    let hops = hops(routes);
    let of_v4 = hops.keys().filter(|(prefix, _)| prefix.is_ipv4()).count();
    [(of_v4, "IPv4"), (hops.len() - of_v4, "IPv6")]
}

/// All entries of the tables for routes.
fn entries(tables: &ir::Routes, routes: &Routes) -> Entries {
    let prefix = |((address, bits), hop): (Prefix, Hop)| {
        let length = u32::from(bits).to_le_bytes();
        let (map, key) = match address {
            IpAddr::V4(address) => (tables.v4, [&length[..], &address.octets()].concat()),
            IpAddr::V6(address) => (tables.v6, [&length[..], &address.octets()].concat()),
        };
        ((map, key), hop.bytes().to_vec())
    };
    // Entries of an array cannot be deleted: zeros mean an interface that does not exist.
    let interface = |ifindex: u32| {
        let known = routes.interfaces.get(&ifindex);
        let entry =
            known.map_or([0; INTERFACE_BYTES as usize], |known| interface(known.mac, known.mtu, known.forwards));
        ((tables.of_interfaces, ifindex.to_le_bytes().to_vec()), entry.to_vec())
    };
    hops(routes).into_iter().map(prefix).chain((0..INTERFACES).map(interface)).collect()
}

/// The next hop of each prefix.
fn hops(routes: &Routes) -> BTreeMap<Prefix, Hop> {
    let mut best: BTreeMap<Prefix, &Route> = BTreeMap::new();
    for route in &routes.routes {
        let prefix = (cut(route.prefix, route.bits), route.bits);
        let known = best.entry(prefix).or_insert(route);
        if route.metric < known.metric {
            *known = route;
        }
    }
    let alone = |(address, bits): Prefix| Some(address).filter(|_| bits == width(address));
    let mut hops: BTreeMap<Prefix, Hop> =
        best.into_iter().map(|(prefix, route)| (prefix, hop(routes, route, alone(prefix)))).collect();
    for Neighbour { ifindex, address } in routes.neighbours.keys() {
        let near =
            |route: &&Route| route.kind == RouteKind::Unicast && route.gateway.is_none() && route.ifindex == *ifindex;
        if let Some(route) = routes.find(*address).filter(near) {
            hops.insert((*address, width(*address)), hop(routes, route, Some(*address)));
        }
    }
    hops
}

/// The next hop of a route; `address` is the destination if the route has only one.
fn hop(routes: &Routes, route: &Route, address: Option<IpAddr>) -> Hop {
    let refused = |answer| Hop { answer, ifindex: 0, mac: [0; 6], metric: 0, gateway: None };
    match route.kind {
        RouteKind::Blackhole => return refused(Answer::Blackhole),
        RouteKind::Unreachable => return refused(Answer::Unreachable),
        RouteKind::Prohibit => return refused(Answer::Prohibit),
        RouteKind::Local => return refused(Answer::NotForwarded),
        RouteKind::Unicast if !routes.interfaces.contains_key(&route.ifindex) => return refused(Answer::NotForwarded),
        RouteKind::Unicast => {}
    }
    let next = route.gateway.or(address).map(|address| Neighbour { ifindex: route.ifindex, address });
    let mac = next.and_then(|next| routes.neighbours.get(&next));
    Hop {
        answer: if mac.is_some() { Answer::Found } else { Answer::NoNeighbour },
        // `check` has refused higher numbers.
        ifindex: route.ifindex as u8,
        mac: mac.copied().unwrap_or_default(),
        metric: route.metric,
        gateway: route.gateway,
    }
}

/// An address with zeros after its first `bits` bits.
fn cut(address: IpAddr, bits: u8) -> IpAddr {
    let behind = u32::from(width(address) - bits);
    match address {
        IpAddr::V4(address) => IpAddr::V4((address.to_bits() & u32::MAX.checked_shl(behind).unwrap_or(0)).into()),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & u128::MAX.checked_shl(behind).unwrap_or(0)).into()),
    }
}
