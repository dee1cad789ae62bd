// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The tables that `bpf_fib_lookup` asks on a card in RTL: what their entries hold, for the helper's code
//! ([`crate::helpers`]) and the host that fills them.
//!
//! The host works out beforehand all that follows from a destination alone, so that a lookup is one longest prefix and
//! one interface. Each prefix has its route's answer; a neighbour of a route without a gateway is a prefix of its full
//! length. The fields that decide where a packet goes share one word of eight bytes, so a lookup never sees half of an
//! old entry and half of a new one.

use std::net::IpAddr;

use super::bank::Bank;
use crate::ir::{Array, Routes};
use crate::maps::{MapKind, MapShape};

/// Prefixes that each of the two tables takes.
pub const MAX_PREFIXES: u32 = 2048;
/// Numbers of interfaces end here: those of ports, the host and loopback are below.
pub const INTERFACES: u32 = 32;

/// Bytes of a prefix's entry: answer, interface, MAC; metric, family of the gateway; the gateway.
pub const HOP_BYTES: u32 = 32;
pub(crate) const METRIC_AT: i32 = 8;
pub(crate) const FAMILY_AT: i32 = 12;
pub(crate) const GATEWAY_AT: i32 = 16;
/// Bytes of an interface: state and MAC; MTU.
pub const INTERFACE_BYTES: u32 = 16;
pub(crate) const MTU_AT: i32 = 8;
/// States of an interface: it exists, and packets that arrive on it are forwarded.
pub(crate) const THERE: u16 = 1;
pub(crate) const FORWARDS: u16 = 2;

/// Families, as Linux numbers them.
pub(crate) const IPV4: u8 = 2;
pub(crate) const IPV6: u8 = 10;

/// Answers of the helper, as Linux numbers them, that a destination alone decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    /// The neighbour's MAC is in the entry.
    Found = 0,
    /// A route of the kind `blackhole`.
    Blackhole = 1,
    /// A route of the kind `unreachable`.
    Unreachable = 2,
    /// A route of the kind `prohibit`.
    Prohibit = 3,
    /// No route leads to another machine.
    NotForwarded = 4,
    /// All but the neighbour is known.
    NoNeighbour = 7,
}

/// The destination of packets for a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The helper's return value.
    pub answer: Answer,
    /// The interface that leads there.
    pub ifindex: u8,
    /// The neighbour's address; zeros without a neighbour.
    pub mac: [u8; 6],
    /// The route's metric, which the helper writes for the program.
    pub metric: u32,
    /// The next router; None if the destination is a neighbour.
    pub gateway: Option<IpAddr>,
}

impl Hop {
    /// The entry of a table.
    pub fn bytes(&self) -> [u8; HOP_BYTES as usize] {
        let mut bytes = [0; HOP_BYTES as usize];
        bytes[0] = self.answer as u8;
        bytes[1] = self.ifindex;
        bytes[2..8].copy_from_slice(&self.mac);
        bytes[METRIC_AT as usize..][..4].copy_from_slice(&self.metric.to_le_bytes());
        let gateway = &mut bytes[GATEWAY_AT as usize..];
        let family = match self.gateway {
            Some(IpAddr::V4(address)) => {
                gateway[..4].copy_from_slice(&address.octets());
                IPV4
            }
            Some(IpAddr::V6(address)) => {
                gateway.copy_from_slice(&address.octets());
                IPV6
            }
            None => 0,
        };
        bytes[FAMILY_AT as usize] = family;
        bytes
    }
}

/// The entry of an existing interface.
pub fn interface(mac: [u8; 6], mtu: u32, forwards: bool) -> [u8; INTERFACE_BYTES as usize] {
    let mut bytes = [0; INTERFACE_BYTES as usize];
    let state = if forwards { THERE | FORWARDS } else { THERE };
    bytes[..2].copy_from_slice(&state.to_le_bytes());
    bytes[2..8].copy_from_slice(&mac);
    bytes[MTU_AT as usize..][..4].copy_from_slice(&mtu.to_le_bytes());
    bytes
}

/// Takes memory for the tables, whose maps have numbers from the first on: their descriptors.
pub(super) fn place(bank: &mut Bank, first: u32) -> Result<(Routes, [[u32; 5]; 3]), String> {
    let shape = |key_bytes| MapShape {
        number: MapKind::LpmTrie.number(),
        key_bytes,
        value_bytes: HOP_BYTES,
        max_entries: MAX_PREFIXES,
        flags: 0,
    };
    let v4 = bank.keys(MapKind::LpmTrie, &shape(8), 0)?;
    let v6 = bank.keys(MapKind::LpmTrie, &shape(20), 0)?;
    let (descriptor, interfaces): ([u32; 5], Array) = bank.array(INTERFACES, INTERFACE_BYTES)?;
    Ok((Routes { v4: first, v6: first + 1, of_interfaces: first + 2, interfaces }, [v4, v6, descriptor]))
}
