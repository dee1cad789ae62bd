// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers: those of the core, lookups that are arithmetic, and calls.

use super::live::{arguments, variable};
use super::{BuildError, Builder, UNSET};
use crate::check::{self, Gives, MapRef, find_helper};
use crate::insn::{Cond, Reg, Width};
use crate::ir::layout::Array;
use crate::ir::{Adjust, Arg, Block, BlockId, Edge, End, Op, Place, Space, Special};
use crate::maps::MapKind;

impl Builder<'_> {
    pub(super) fn helper(&mut self, depth: usize, number: u32) -> Result<(), BuildError> {
        // The checker lets no other helpers through.
        let Some(helper) = find_helper(number).copied() else { return Ok(()) };
        let args: Vec<Arg> =
            Reg::range(Reg::R1, Reg::R5).take(arguments(number)).map(|reg| self.state[variable(depth, reg)]).collect();
        let result = match helper.name {
            "ktime_get_ns" | "ktime_get_boot_ns" | "ktime_get_coarse_ns" => self.value(Op::Read(Special::Time)),
            "get_prandom_u32" => self.value(Op::Read(Special::Random)),
            "get_smp_processor_id" => Arg::Special(Special::Cpu),
            "xdp_get_buff_len" => self.value(Op::Read(Special::Len)),
            "xdp_adjust_head" => self.value(Op::Adjust { what: Adjust::Head, by: args[1], bare: false }),
            "xdp_adjust_meta" => self.value(Op::Adjust { what: Adjust::Meta, by: args[1], bare: false }),
            "xdp_adjust_tail" => self.value(Op::Adjust { what: Adjust::Tail, by: args[1], bare: false }),
            "map_lookup_elem" => {
                let found = match self.array() {
                    Some(array) => self.element(array, &args),
                    None => self.call(helper, args),
                };
                if self.holds_maps() { self.inner(found) } else { found }
            }
            _ => self.call(helper, args),
        };
        for reg in Reg::range(Reg::R1, Reg::R5) {
            self.set(depth, reg, UNSET);
        }
        self.set(depth, Reg::R0, result);
        Ok(())
    }

    /// The object's map that a call works on, if it is one.
    fn map(&self) -> Option<u32> {
        let maps = &self.facts.insns[self.slot].maps;
        match maps.first() {
            Some(MapRef::Of(map)) if maps.len() == 1 => Some(*map),
            _ => None,
        }
    }

    /// A call of a helper outside of the core.
    fn call(&mut self, helper: check::Helper, args: Vec<Arg>) -> Arg {
        let mut op = Op::Call { helper, map: self.map(), reads: vec![], writes: vec![], args };
        if let Op::Call { args, reads, writes, .. } = &mut op {
            for (index, access) in &self.facts.insns[self.slot].accesses {
                let Some(base) = args.get(*index).copied() else { continue };
                let place = Place { space: self.space(access), base, offset: 0, bytes: access.bytes };
                reads.push(place);
                if access.writes {
                    writes.push(place);
                }
            }
            let flags = args.get(2).copied();
            let anywhere = |space| Place { space, base: UNSET, offset: 0, bytes: u32::MAX };
            reads.extend(unsaid(&helper, flags).map(anywhere));
            if helper.name == "xdp_store_bytes" {
                writes.push(anywhere(Space::Packet));
            }
        }
        if helper.gives == Gives::Nothing {
            self.push(op, None);
            return UNSET;
        }
        self.value(op)
    }

    /// The place in the target of the values of the array that a lookup is in.
    fn array(&self) -> Option<Array> {
        let map = self.map()?;
        let kind = self.object.maps.get(map as usize)?.shape.kind().ok()?;
        matches!(kind, MapKind::Array | MapKind::PercpuArray | MapKind::ArrayOfMaps)
            .then(|| self.layout.array(map))
            .flatten()
    }

    /// Whether the result of a lookup is a map.
    fn holds_maps(&self) -> bool {
        let kind = |map: &u32| self.object.maps.get(*map as usize).and_then(|map| map.shape.kind().ok());
        let of_maps = |map: &MapRef| matches!(map, MapRef::Of(map) if kind(map).is_some_and(MapKind::of_maps));
        let maps = &self.facts.insns[self.slot].maps;
        !maps.is_empty() && maps.iter().all(of_maps)
    }

    /// The map in an entry at that address, if there is one: its pointer, or null.
    fn inner(&mut self, entry: Arg) -> Arg {
        let space = Space::Map(self.outer().unwrap_or_default());
        let place = Place { space, base: entry, offset: 0, bytes: 4 };
        self.when((Cond::Ne, Width::W64, entry, Arg::Const(0)), |builder| {
            builder.value(Op::Load { place, signed: false, swap: false })
        })
    }

    /// A lookup in an array: the address of the value when the index is in range, else null.
    fn element(&mut self, array: Array, args: &[Arg]) -> Arg {
        let space = self.facts.insns[self.slot].accesses.iter().find(|(index, _)| *index == 1);
        let space = space.map_or(Space::Any, |(_, access)| self.space(access));
        let key = Place { space, base: args[1], offset: 0, bytes: 4 };
        let index = self.value(Op::Load { place: key, signed: false, swap: false });
        self.when((Cond::Lt, Width::W32, index, Arg::Const(array.entries.into())), |builder| {
            array.address_of(index, &mut |op| builder.value(op))
        })
    }

    /// What `then` computes when a comparison holds, else 0.
    fn when(&mut self, (cond, width, a, b): (Cond, Width, Arg, Arg), then: impl FnOnce(&mut Self) -> Arg) -> Arg {
        let found = self.program.fresh();
        let inside = self.program.blocks.len();
        let (slot, to) = (self.slot, |block: usize, args| Edge { to: BlockId(block as u32), args });
        for params in [vec![], vec![found]] {
            self.program.blocks.push(Block { params, insts: vec![], end: End::Exit(UNSET), end_slot: slot });
        }
        let (then_to, otherwise) = (to(inside, vec![]), to(inside + 1, vec![Arg::Const(0)]));
        self.program.blocks[self.at].end_slot = slot;
        self.program.blocks[self.at].end =
            End::Branch { cond, width, a, b, then: then_to, otherwise, packet_check: None };
        self.at = inside;
        let result = then(self);
        self.program.blocks[inside].end = End::Jump(to(inside + 1, vec![result]));
        self.at = inside + 1;
        Arg::Value(found)
    }

    /// The end of a run with a tail call. If there is no program, r0 holds a value that no program reads.
    pub(super) fn tail_call(&mut self, depth: usize, slot: usize, otherwise: Edge) -> Result<End, BuildError> {
        if depth > 0 {
            return Err(BuildError::TailCallInFunction(self.source.place(slot)));
        }
        let map = self.map().ok_or_else(|| BuildError::UnknownPrograms(self.source.place(slot)))?;
        let index = self.state[variable(depth, Reg::R3)];
        for reg in Reg::range(Reg::R0, Reg::R5) {
            self.set(depth, reg, UNSET);
        }
        Ok(End::TailCall { map, index, otherwise })
    }
}

/// Memory that a helper reads though no argument is a pointer to it that the checker knows.
fn unsaid(helper: &check::Helper, flags: Option<Arg>) -> Option<Space> {
    /// Event flags: the number of packet bytes to append.
    const PACKET_BYTES: u64 = 0xF_FFFF << 32;
    match helper.name {
        "perf_event_output" => {
            let none = matches!(flags, Some(Arg::Const(flags)) if flags & PACKET_BYTES == 0);
            (!none).then_some(Space::Packet)
        }
        "xdp_load_bytes" => Some(Space::Packet),
        // The numbers that `%s` in the format takes for addresses.
        "trace_printk" | "trace_vprintk" => Some(Space::Any),
        _ => None,
    }
}
