// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Calls of helpers and maps.

use super::Lower;
use crate::back::code::{At, Src};
use crate::check::Helper;
use crate::ir::{Arg, Place, ValueId};
use crate::rows::{Asks, Do, Key, Second, isa};

/// The argument of a request that is a map's pointer, where the map has no number.
const POINTER: usize = 3;

impl Lower<'_> {
    pub(super) fn call(
        &mut self,
        helper: &Helper,
        map: Option<u32>,
        args: &[Arg],
        (reads, writes): (&[Place], &[Place]),
        result: Option<ValueId>,
    ) {
        if redirects(helper, args) {
            let to = self.src(args[0]);
            self.give(Do::Redirect { to }, result);
            return;
        }
        let map = map.and_then(|map| u16::try_from(map).ok());
        let arg = |index: usize| args.get(index).copied().unwrap_or(Arg::Const(0));
        let (asks, mut given) = match helper.name {
            "map_lookup_elem" => {
                let (key, address) = self.key(arg(1), reads);
                (Asks::Lookup { map, key }, vec![address])
            }
            "map_update_elem" => {
                let (key, address) = self.key(arg(1), reads);
                (Asks::Update { map, key }, vec![address, arg(2), arg(3)])
            }
            "map_delete_elem" => {
                let (key, address) = self.key(arg(1), reads);
                (Asks::Delete { map, key }, vec![address])
            }
            _ => (Asks::Helper { number: helper.number as u16 }, args.to_vec()),
        };
        if !matches!(asks, Asks::Helper { .. }) && map.is_none() {
            given.resize(POINTER, Arg::Const(0));
            given.push(arg(0));
        }
        let mut sources: Vec<Src> = given.into_iter().map(|arg| self.src(arg)).collect();
        sources.resize(sources.len().next_multiple_of(2).max(2), Src::Zero);
        for (k, pair) in sources.chunks_exact(2).enumerate().skip(1) {
            self.push(Do::Args { k: k as u8, a: pair[0], b: Second::Source(pair[1]) }, None);
        }
        let mut reach = Vec::new();
        for (places, written) in [(reads, false), (writes, true)] {
            for place in places {
                reach.extend(self.touch(place, written));
            }
        }
        self.give(Do::Request { asks, answer: true, a: sources[0], b: sources[1] }, result);
        self.reaching(reach);
    }

    /// The place of a window that has a whole key, the first that a call reads; else its address.
    fn key(&mut self, address: Arg, reads: &[Place]) -> (Option<Key<At>>, Arg) {
        let Some(place) = reads.first() else { return (None, address) };
        let Some((window, at)) = self.window(place) else { return (None, address) };
        let first = at.offset.rem_euclid(isa::SIZE_WINDOW_WORD.cast_signed()).unsigned_abs();
        let whole = first + place.bytes <= window.bytes();
        if whole { (Some(Key { window, place: at }), Arg::Const(0)) } else { (None, address) }
    }
}

/// Whether a call only names the interface to which the packet goes: the core does that itself.
pub(super) fn redirects(helper: &Helper, args: &[Arg]) -> bool {
    helper.name == "redirect" && args.get(1) == Some(&Arg::Const(0))
}
