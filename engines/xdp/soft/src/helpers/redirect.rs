// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers that name where a frame goes.

use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_maps::MapId;

use crate::frame::{Action, Port, Target};
use crate::state::State;

/// Flags of `bpf_redirect_map`: the mask of the result for a missing entry, broadcast, exclude the input interface.
const RESULT: u64 = 3;
const BROADCAST: u64 = 8;
const NOT_BACK: u64 = 16;

pub(super) extern "C" fn redirect(state: &mut State, ifindex: u64, flags: u64, _: u64, _: u64, _: u64) -> u64 {
    if flags != 0 {
        return Action::Aborted as u64;
    }
    state.target = Some(Target::Port(Port { ifindex: ifindex as u32, program: None }));
    Action::Redirect as u64
}

pub(super) extern "C" fn redirect_map(state: &mut State, map: u64, key: u64, flags: u64, _: u64, _: u64) -> u64 {
    let Some(map) = state.maps.by_handle(map) else { return Action::Aborted as u64 };
    let kind = state.maps.map(map).kind;
    let devices = matches!(kind, MapKind::Devmap | MapKind::DevmapHash);
    let allowed = RESULT | if devices { BROADCAST | NOT_BACK } else { 0 };
    if flags & !allowed != 0 {
        return Action::Aborted as u64;
    }
    let target = if flags & BROADCAST != 0 {
        Some(Target::Ports(all(state, map, flags & NOT_BACK != 0)))
    } else {
        one(state, map, kind, key as u32)
    };
    let given = if target.is_some() { Action::Redirect as u64 } else { flags & RESULT };
    state.target = target;
    given
}

/// The target that an entry is.
fn one(state: &mut State, map: MapId, kind: MapKind, key: u32) -> Option<Target> {
    match kind {
        MapKind::Devmap | MapKind::DevmapHash => port(state, map, key).map(Target::Port),
        MapKind::Cpumap => {
            state.maps.entry(map, key)?;
            Some(Target::Cpu { cpu: key, program: second(state, map, key) })
        }
        MapKind::Xskmap => state.maps.entry(map, key).map(Target::Socket),
        _ => None,
    }
}

fn port(state: &mut State, map: MapId, key: u32) -> Option<Port> {
    let ifindex = state.maps.entry(map, key)?;
    Some(Port { ifindex, program: second(state, map, key) })
}

/// The program of an entry that has one.
fn second(state: &mut State, map: MapId, key: u32) -> Option<crate::ProgramId> {
    let value = state.maps.get(map, &key.to_ne_bytes()).ok()?;
    let handle = value.get(4..)?.first_chunk().map(|handle| u32::from_ne_bytes(*handle))?;
    state.program(handle)
}

/// All ports of a map of devices.
fn all(state: &mut State, map: MapId, not_back: bool) -> Vec<Port> {
    let keys = state.maps.keys(map);
    let keys = keys.iter().filter_map(|key| key.first_chunk().map(|key| u32::from_ne_bytes(*key)));
    let ports: Vec<_> = keys.filter_map(|key| port(state, map, key)).collect();
    ports.into_iter().filter(|port| !not_back || port.ifindex != state.input.ifindex).collect()
}
