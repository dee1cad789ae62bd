// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_redirect`, `bpf_redirect_map` and lookups in maps by which frames are redirected.
//!
//! The first four bytes of an entry are an interface, of processors the length of a queue, of sockets the queue that a
//! socket is bound to. 0 is no interface and no processor; whether there is a socket the word behind says. Behind
//! interfaces and processors may stand a program, which cards do not run. A card has no processors and no sockets: a
//! redirection to them names no interface and is refused, as on native code.
//!
//! The calls of `bpf_redirect` without flags remain: the core carries them out.

use super::Code;
use super::writer::Writer;
use crate::check::{LOOKUP, REDIRECT};
use crate::insn::Cond;
use crate::ir::{Arg, Array, Op, Place, Space, Special, map_pointer};
use crate::maps::MapKind;
use crate::rows;

/// Flags of `bpf_redirect_map`: the mask of the result for a missing entry; broadcast; all flags that maps of devices
/// take.
pub(super) const RESULT: u64 = 3;
pub(super) const BROADCAST: u64 = 8;
const DEVICE_FLAGS: u64 = RESULT | BROADCAST | 16;

/// The place where an entry of sockets has its presence flag, four bytes.
pub const SOCKET_AT: u32 = 4;

/// The flags that `bpf_redirect_map` takes with maps of a kind.
pub(super) fn flags_of(kind: Option<MapKind>) -> u64 {
    match kind {
        Some(MapKind::Cpumap | MapKind::Xskmap) => RESULT,
        _ => DEVICE_FLAGS,
    }
}

/// A map whose keys are numbers of entries.
#[derive(Clone, Copy)]
pub(super) struct Targets {
    pub map: u32,
    pub array: Array,
    pub kind: MapKind,
}

impl Targets {
    /// The place of the word that is not 0 if the entry exists.
    fn there_at(&self) -> i32 {
        if self.kind == MapKind::Xskmap { SOCKET_AT.cast_signed() } else { 0 }
    }

    /// The address of an entry, and its presence word.
    fn entry(&self, w: &mut Writer, number: Arg) -> (Arg, Arg) {
        let address = self.array.address_of(number, &mut |op| w.value(op));
        let there = w.load(Space::Map(self.map), address, self.there_at(), 4);
        (address, there)
    }
}

/// `bpf_redirect` with flags: only 0 is taken, others give XDP_ABORTED.
pub(super) fn port(ifindex: Arg, flags: Arg) -> Code<'static> {
    Box::new(move |w| {
        let bad = w.when(Cond::Eq, flags, Arg::Const(0));
        name(w, ifindex);
        w.done(Arg::Const(rows::REDIRECT.into()));
        w.go(bad);
        w.done(Arg::Const(0));
    })
}

/// `bpf_redirect_map` where the key is the number of an entry. `given`: the result for a missing entry.
pub(super) fn by_number(targets: Targets, key: Arg, given: u64) -> Code<'static> {
    Box::new(move |w| {
        let (to, [there]) = w.block();
        let number = w.low(key);
        let outside = w.when(Cond::Lt, number, Arg::Const(targets.array.entries.into()));
        let (_, found) = targets.entry(w, number);
        w.jump(to, &[found]);
        w.go(outside);
        w.jump(to, &[Arg::Const(0)]);
        w.go(to);
        let ifindex = if targets.kind == MapKind::Devmap { there } else { Arg::Const(0) };
        redirect(w, there, ifindex, given);
    })
}

/// The same for a searched map. The key is on the stack meanwhile, at that distance from its end.
pub(super) fn by_hash(map: u32, key_at: i64, key: Arg, given: u64) -> Code<'static> {
    Box::new(move |w| {
        let (to, [ifindex]) = w.block();
        let base = w.value(Op::sum(Arg::Special(Special::Stack), key_at));
        w.store(Space::Stack, base, 0, 4, key);
        let reads = vec![Place { space: Space::Stack, base, offset: 0, bytes: 4 }];
        let args = vec![Arg::Const(map_pointer(map)), base];
        let value = w.value(Op::Call { helper: LOOKUP, map: Some(map), args, reads, writes: vec![] });
        let none = w.when(Cond::Ne, value, Arg::Const(0));
        let found = w.load(Space::Map(map), value, 0, 4);
        w.jump(to, &[found]);
        w.go(none);
        w.jump(to, &[Arg::Const(0)]);
        w.go(to);
        redirect(w, ifindex, ifindex, given);
    })
}

/// `bpf_map_lookup_elem` in a map whose keys are numbers: the value's address, when there is an entry.
pub(super) fn lookup(targets: Targets, key: Place) -> Code<'static> {
    Box::new(move |w| {
        let number = w.load(key.space, key.base, key.offset, 4);
        let outside = w.when(Cond::Lt, number, Arg::Const(targets.array.entries.into()));
        let (address, there) = targets.entry(w, number);
        let empty = w.when(Cond::Ne, there, Arg::Const(0));
        w.done(address);
        for none in [outside, empty] {
            w.go(none);
            w.done(Arg::Const(0));
        }
    })
}

/// To an interface if there is an entry. "No target" is set as well: it replaces the target of an earlier call.
fn redirect(w: &mut Writer, there: Arg, ifindex: Arg, given: u64) {
    name(w, ifindex);
    let none = w.when(Cond::Ne, there, Arg::Const(0));
    w.done(Arg::Const(rows::REDIRECT.into()));
    w.go(none);
    w.done(Arg::Const(given));
}

/// Says where the packet goes.
fn name(w: &mut Writer, ifindex: Arg) {
    let args = vec![ifindex, Arg::Const(0)];
    w.effect(Op::Call { helper: REDIRECT, map: None, args, reads: vec![], writes: vec![] });
}
