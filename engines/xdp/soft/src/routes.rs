// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The routes that `bpf_fib_lookup` asks: one table, with neighbours and interfaces, that the host loads.
//!
//! Supported: IPv4 and IPv6, the longest prefix and among equal ones the smallest metric, gateways, the route kinds
//! that refuse, the addresses of neighbours, MTU and forwarding by interface. Not supported: rules and several tables,
//! several next hops on a route, source addresses (`BPF_FIB_LOOKUP_SRC`), marks.

use std::collections::HashMap;
use std::net::IpAddr;

/// The action for packets on a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    Unicast,
    /// To this machine: not forwarded.
    Local,
    Blackhole,
    Unreachable,
    Prohibit,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub prefix: IpAddr,
    /// Its length in bits.
    pub bits: u8,
    pub kind: RouteKind,
    /// The interface that leads there.
    pub ifindex: u32,
    /// None: the destination is a neighbour.
    pub gateway: Option<IpAddr>,
    pub metric: u32,
}

/// An interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    pub mac: [u8; 6],
    pub mtu: u32,
    /// Whether packets that arrive on it are forwarded.
    pub forwards: bool,
}

/// A neighbour's address on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Neighbour {
    pub ifindex: u32,
    pub address: IpAddr,
}

/// A table of routes.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    pub routes: Vec<Route>,
    pub neighbours: HashMap<Neighbour, [u8; 6]>,
    pub interfaces: HashMap<u32, Interface>,
}

impl Routes {
    /// The route of an address: the longest prefix, and of several the one with the smallest metric.
    pub fn find(&self, address: IpAddr) -> Option<&Route> {
        let matching = self.routes.iter().filter(|route| route.holds(address));
        matching.min_by_key(|route| (std::cmp::Reverse(route.bits), route.metric))
    }
}

impl Route {
    /// Whether an address is in its prefix.
    fn holds(&self, address: IpAddr) -> bool {
        let high = |bits: u32, width: u32| width.saturating_sub(bits);
        match (self.prefix, address) {
            (IpAddr::V4(prefix), IpAddr::V4(address)) => {
                let differ = prefix.to_bits() ^ address.to_bits();
                differ.checked_shr(high(self.bits.into(), 32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(prefix), IpAddr::V6(address)) => {
                let differ = prefix.to_bits() ^ address.to_bits();
                differ.checked_shr(high(self.bits.into(), 128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}
