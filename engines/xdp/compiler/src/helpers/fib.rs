// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_fib_lookup`: the longest prefix of the destination, in tables that the host has worked out
//! ([`crate::card::routes`]). It answers in the struct that asks.

use super::Code;
use super::writer::Writer;
use crate::card::routes::{FAMILY_AT, FORWARDS, GATEWAY_AT, IPV4, IPV6, METRIC_AT, MTU_AT};
use crate::check::LOOKUP;
use crate::insn::Cond;
use crate::ir::{Arg, BinOp, Op, Place, Routes, Space, Special, map_pointer};

/// Bytes of `struct bpf_fib_lookup`, and places of its fields.
const BYTES: u64 = 64;
const LENGTH: i32 = 6;
const IFINDEX: i32 = 8;
const METRIC: i32 = 12;
const DEST: i32 = 32;
const VLAN: i32 = 48;
const SOURCE_MAC: i32 = 52;
const DEST_MAC: i32 = 58;

/// Flags: output lookup, no neighbours, and direct lookup, which changes nothing because there are no rules; all
/// supported flags.
const OUTPUT: u64 = 2;
const SKIP_NEIGHBOUR: u64 = 4;
const FLAGS: u64 = 7;

/// Errors: EINVAL, ENODEV, EAFNOSUPPORT.
const INVALID: Arg = Arg::Const((-22i64).cast_unsigned());
const NO_DEVICE: Arg = Arg::Const((-19i64).cast_unsigned());
const FAMILY: Arg = Arg::Const((-97i64).cast_unsigned());
/// Answers that are not in the tables.
const NOT_FORWARDED: Arg = Arg::Const(4);
const FORWARDING_OFF: Arg = Arg::Const(5);
const NO_NEIGHBOUR: u64 = 7;
const TOO_LONG: Arg = Arg::Const(8);

const ZERO: Arg = Arg::Const(0);

/// Bytes of the stack for the longest key.
pub(super) const KEY_BYTES: u32 = 24;

/// The struct that asks.
struct Query {
    space: Space,
    base: Arg,
}

impl Query {
    fn load(&self, w: &mut Writer, at: i32, bytes: u32) -> Arg {
        w.load(self.space, self.base, at, bytes)
    }

    fn store(&self, w: &mut Writer, at: i32, bytes: u32, value: Arg) {
        w.store(self.space, self.base, at, bytes, value);
    }
}

/// The key of a table is on the stack, at that distance from its end.
pub(super) fn lookup(routes: Routes, key_at: i64, query: Place, bytes: Arg, flags: Arg) -> Code<'static> {
    Box::new(move |w| {
        let query = Query { space: query.space, base: query.base };
        let bytes = w.low(bytes);
        let short = w.when(Cond::Ge, bytes, Arg::Const(BYTES));
        let unknown = w.bin(BinOp::And, flags, Arg::Const(0xFFFF_FFFF & !FLAGS));
        let unknown = w.when(Cond::Eq, unknown, ZERO);
        let family = query.load(w, 0, 1);
        let incoming = query.load(w, IFINDEX, 4);
        let (found, [hop]) = w.block();
        let not_v4 = w.when(Cond::Eq, family, Arg::Const(IPV4.into()));
        let mut refused = forwards(w, routes, incoming, flags).to_vec();
        let value = longest(w, routes.v4, key_at, &query, 4);
        w.jump(found, &[value]);
        w.go(not_v4);
        let foreign = w.when(Cond::Eq, family, Arg::Const(IPV6.into()));
        refused.extend(forwards(w, routes, incoming, flags));
        let value = longest(w, routes.v6, key_at, &query, 16);
        w.jump(found, &[value]);
        w.go(found);
        answer(w, routes, &query, hop, flags);
        let wrong = [(short, INVALID), (unknown, INVALID), (foreign, FAMILY)];
        for (block, result) in wrong.into_iter().chain(refused) {
            w.go(block);
            w.done(result);
        }
    })
}

/// Goes on if packets that arrive on that interface are forwarded; returns the blocks for the other case, and the
/// result there.
fn forwards(w: &mut Writer, routes: Routes, ifindex: Arg, flags: Arg) -> [(usize, Arg); 3] {
    let beyond = w.when(Cond::Lt, ifindex, Arg::Const(routes.interfaces.entries.into()));
    let address = routes.interfaces.address_of(ifindex, &mut |op| w.value(op));
    let state = w.load(Space::Map(routes.of_interfaces), address, 0, 2);
    let none = w.when(Cond::Ne, state, ZERO);
    // The flag for packets from outside is the forwarding bit of the interface.
    const { assert!(OUTPUT == FORWARDS as u64) };
    let either = w.bin(BinOp::Or, state, flags);
    let either = w.bin(BinOp::And, either, Arg::Const(OUTPUT));
    let off = w.when(Cond::Ne, either, ZERO);
    [(beyond, NO_DEVICE), (none, NO_DEVICE), (off, FORWARDING_OFF)]
}

/// The entry of the destination's longest prefix, or 0; addresses have this many bytes.
fn longest(w: &mut Writer, map: u32, key_at: i64, query: &Query, bytes: u32) -> Arg {
    let base = w.value(Op::sum(Arg::Special(Special::Stack), key_at));
    w.store(Space::Stack, base, 0, 4, Arg::Const((8 * bytes).into()));
    for at in (0..bytes.cast_signed()).step_by(4) {
        let word = query.load(w, DEST + at, 4);
        w.store(Space::Stack, base, 4 + at, 4, word);
    }
    let reads = vec![Place { space: Space::Stack, base, offset: 0, bytes: 4 + bytes }];
    let args = vec![Arg::Const(map_pointer(map)), base];
    w.value(Op::Call { helper: LOOKUP, map: Some(map), args, reads, writes: vec![] })
}

/// The rest of the lookup, from the destination's entry on.
fn answer(w: &mut Writer, routes: Routes, query: &Query, hop: Arg, flags: Arg) {
    let none = w.when(Cond::Ne, hop, ZERO);
    // Both tables' entries have the same format; one name for them shows this.
    let entry = Space::Map(routes.v4);
    let way = w.load(entry, hop, 0, 8);
    let answer = w.value(Op::low(way, 8));
    // 1 to 6: there is no way, and that is why.
    let ahead = w.sub(answer, Arg::Const(1));
    let refused = w.when(Cond::Ge, ahead, Arg::Const(NO_NEIGHBOUR - 1));
    let ifindex = w.value(Op::Field { shift: 8, bits: 8, left: 0, a: way });
    let interface = routes.interfaces.address_of(ifindex, &mut |op| w.value(op));
    let of_interfaces = Space::Map(routes.of_interfaces);
    let mtu = w.load(of_interfaces, interface, MTU_AT, 4);
    let length = query.load(w, LENGTH, 2);
    let long = w.when(Cond::Le, length, mtu);
    query.store(w, IFINDEX, 4, ifindex);
    let metric = w.load(entry, hop, METRIC_AT, 4);
    query.store(w, METRIC, 4, metric);
    gateway(w, entry, hop, query);
    // The MACs, unless they are unused.
    let (through, []) = w.block();
    let skip = w.bin(BinOp::And, flags, Arg::Const(SKIP_NEIGHBOUR));
    let skipped = w.when(Cond::Eq, skip, ZERO);
    let unknown = w.when(Cond::Eq, answer, ZERO);
    let own = w.load(of_interfaces, interface, 0, 8);
    for (at, mac) in [(DEST_MAC, way), (SOURCE_MAC, own)] {
        let (low, high) = (w.bin(BinOp::Rsh, mac, Arg::Const(16)), w.bin(BinOp::Rsh, mac, Arg::Const(48)));
        query.store(w, at, 4, low);
        query.store(w, at + 4, 2, high);
    }
    w.jump(through, &[]);
    w.go(skipped);
    w.jump(through, &[]);
    w.go(through);
    // Linux' result for the length: the MTU, if it has checked the length.
    let (end, []) = w.block();
    let unasked = w.when(Cond::Ne, length, ZERO);
    query.store(w, LENGTH, 2, mtu);
    w.jump(end, &[]);
    w.go(unasked);
    w.jump(end, &[]);
    w.go(end);
    query.store(w, VLAN, 4, ZERO);
    w.done(ZERO);

    w.go(long);
    query.store(w, LENGTH, 2, mtu);
    w.done(TOO_LONG);
    for (block, result) in [(none, NOT_FORWARDED), (refused, answer), (unknown, Arg::Const(NO_NEIGHBOUR))] {
        w.go(block);
        w.done(result);
    }
}

/// Replaces the destination by the gateway, if there is one.
fn gateway(w: &mut Writer, entry: Space, hop: Arg, query: &Query) {
    let (behind, []) = w.block();
    let family = w.load(entry, hop, FAMILY_AT, 1);
    let none = w.when(Cond::Ne, family, ZERO);
    query.store(w, 0, 1, family);
    let words = |w: &mut Writer, range: std::ops::Range<i32>| {
        for at in range.step_by(4) {
            let word = w.load(entry, hop, GATEWAY_AT + at, 4);
            query.store(w, DEST + at, 4, word);
        }
    };
    words(w, 0..4);
    let short = w.when(Cond::Eq, family, Arg::Const(IPV6.into()));
    words(w, 4..16);
    w.jump(behind, &[]);
    for other in [none, short] {
        w.go(other);
        w.jump(behind, &[]);
    }
    w.go(behind);
}
