// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_fib_lookup`: where a packet goes next. It answers in the struct that asks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use penstock_xdp_maps::Errno;

use crate::routes::{Interface, Neighbour, RouteKind, Routes};
use crate::state::State;

/// Bytes of `struct bpf_fib_lookup`, and places of its fields.
const BYTES: usize = 64;
const LENGTH_AT: usize = 6;
const IFINDEX_AT: usize = 8;
const METRIC_AT: usize = 12;
const DEST_AT: usize = 32;
const VLAN_AT: usize = 48;
const SOURCE_MAC_AT: usize = 52;
const DEST_MAC_AT: usize = 58;

/// Families, as Linux numbers them.
const IPV4: u8 = 2;
const IPV6: u8 = 10;

/// Flags: not by rules, from outside, without neighbours.
const DIRECT: u32 = 1;
const OUTPUT: u32 = 2;
const SKIP_NEIGHBOUR: u32 = 4;

/// The result of the helper if there is no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Answer {
    Found = 0,
    Blackhole = 1,
    Unreachable = 2,
    Prohibit = 3,
    NotForwarded = 4,
    ForwardingOff = 5,
    NoNeighbour = 7,
    TooLong = 8,
}

pub(super) extern "C" fn lookup(state: &mut State, _: u64, query: u64, bytes: u64, flags: u64, _: u64) -> u64 {
    if (bytes as u32 as usize) < BYTES || flags as u32 & !(DIRECT | OUTPUT | SKIP_NEIGHBOUR) != 0 {
        return Errno::Invalid.result();
    }
    let fields = state.maps.memory.bytes_mut(query, BYTES).ok().and_then(|bytes| bytes.first_chunk_mut());
    let Some(fields) = fields else { return Errno::Fault.result() };
    answer(&state.routes, fields, flags as u32).map_or_else(Errno::result, |answer| answer as u64)
}

fn answer(routes: &Routes, query: &mut [u8; BYTES], flags: u32) -> Result<Answer, Errno> {
    let word = |query: &[u8; BYTES], at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| query[at + byte]));
    let dest = match query[0] {
        IPV4 => IpAddr::V4(Ipv4Addr::from([0, 1, 2, 3].map(|byte| query[DEST_AT + byte]))),
        IPV6 => IpAddr::V6(Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|byte| query[DEST_AT + byte]))),
        _ => return Err(Errno::Family),
    };
    let incoming = routes.interfaces.get(&word(query, IFINDEX_AT)).ok_or(Errno::NoDevice)?;
    if !incoming.forwards && flags & OUTPUT == 0 {
        return Ok(Answer::ForwardingOff);
    }
    let Some(route) = routes.find(dest) else { return Ok(Answer::NotForwarded) };
    match route.kind {
        RouteKind::Unicast => {}
        RouteKind::Local => return Ok(Answer::NotForwarded),
        RouteKind::Blackhole => return Ok(Answer::Blackhole),
        RouteKind::Unreachable => return Ok(Answer::Unreachable),
        RouteKind::Prohibit => return Ok(Answer::Prohibit),
    }
    let Some(Interface { mac, mtu, .. }) = routes.interfaces.get(&route.ifindex) else {
        return Ok(Answer::NotForwarded);
    };
    let length = u32::from(u16::from_ne_bytes([query[LENGTH_AT], query[LENGTH_AT + 1]]));
    if length > *mtu {
        query[LENGTH_AT..][..2].copy_from_slice(&(*mtu as u16).to_ne_bytes());
        return Ok(Answer::TooLong);
    }
    query[IFINDEX_AT..][..4].copy_from_slice(&route.ifindex.to_ne_bytes());
    query[METRIC_AT..][..4].copy_from_slice(&route.metric.to_ne_bytes());
    match route.gateway {
        Some(IpAddr::V4(gateway)) => {
            query[0] = IPV4;
            query[DEST_AT..][..4].copy_from_slice(&gateway.octets());
        }
        Some(IpAddr::V6(gateway)) => {
            query[0] = IPV6;
            query[DEST_AT..][..16].copy_from_slice(&gateway.octets());
        }
        None => {}
    }
    if flags & SKIP_NEIGHBOUR == 0 {
        let hop = Neighbour { ifindex: route.ifindex, address: route.gateway.unwrap_or(dest) };
        let Some(neighbour) = routes.neighbours.get(&hop) else { return Ok(Answer::NoNeighbour) };
        query[DEST_MAC_AT..][..6].copy_from_slice(neighbour);
        query[SOURCE_MAC_AT..][..6].copy_from_slice(mac);
    }
    // Linux' result for the length: the MTU, if it has checked the length.
    if length != 0 {
        query[LENGTH_AT..][..2].copy_from_slice(&(*mtu as u16).to_ne_bytes());
    }
    query[VLAN_AT..][..4].fill(0);
    Ok(Answer::Found)
}
