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
    /// Forwarded to the route's interface.
    Unicast,
    /// To this machine: not forwarded.
    Local,
    /// Dropped; `bpf_fib_lookup` answers `BPF_FIB_LKUP_RET_BLACKHOLE`.
    Blackhole,
    /// Dropped; `bpf_fib_lookup` answers `BPF_FIB_LKUP_RET_UNREACHABLE`.
    Unreachable,
    /// Dropped; `bpf_fib_lookup` answers `BPF_FIB_LKUP_RET_PROHIBIT`.
    Prohibit,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// An address, of which the first `bits` bits count.
    pub prefix: IpAddr,
    /// Its length in bits.
    pub bits: u8,
    /// The action.
    pub kind: RouteKind,
    /// The interface that leads there.
    pub ifindex: u32,
    /// None: the destination is a neighbour.
    pub gateway: Option<IpAddr>,
    /// If two routes have the same prefix, the one with the smaller metric is used.
    pub metric: u32,
}

/// An interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The interface's own MAC address.
    pub mac: [u8; 6],
    /// The longest packet that it sends, in bytes of IP.
    pub mtu: u32,
    /// Whether packets that arrive on it are forwarded.
    pub forwards: bool,
}

/// A neighbour's address on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The interface that the neighbour is on.
    pub ifindex: u32,
    /// The neighbour's IP address.
    pub address: IpAddr,
}

/// A table of routes.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    /// In any order.
    pub routes: Vec<Route>,
    /// The MAC addresses of neighbours.
    pub neighbours: HashMap<Neighbour, [u8; 6]>,
    /// By Linux's number of the interface.
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
