// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_map_update_elem` and `bpf_map_delete_elem` on an array of which each context has its own: its values lie in the
//! unit, where no request for a map finds them.

use super::Code;
use super::copy::copy;
use crate::insn::Cond;
use crate::ir::{Arg, Array, Place, Space};

/// The flag that asks for a new entry, and the highest that there is.
const NO_EXIST: u64 = 1;
const EXIST: u64 = 2;

/// An error of Linux.
const fn error(number: i64) -> Arg {
    Arg::Const((-number).cast_unsigned())
}

/// Stores a value of this many bytes.
pub(super) fn update(map: u32, array: Array, key: Place, value: Place, bytes: u32, flags: Arg) -> Code<'static> {
    Box::new(move |w| {
        let unknown = w.when(Cond::Le, flags, Arg::Const(EXIST));
        let number = w.load(key.space, key.base, key.offset, 4);
        let beyond = w.when(Cond::Lt, number, Arg::Const(array.entries.into()));
        let there = w.when(Cond::Ne, flags, Arg::Const(NO_EXIST));
        let address = array.address_of(number, &mut |op| w.value(op));
        copy(w, (value.space, value.base), (Space::Map(map), address), Arg::Const(bytes.into()));
        w.done(Arg::Const(0));
        for (block, number) in [(unknown, 22), (beyond, 7), (there, 17)] {
            w.go(block);
            w.done(error(number));
        }
    })
}

/// Its entries are always there.
pub(super) fn delete() -> Code<'static> {
    Box::new(|w| w.done(error(22)))
}
