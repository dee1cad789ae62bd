// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers as code. The core has sixteen contexts, so a helper that is ordinary rows holds none of the others up, and
//! the hardware needs nothing for it: a call becomes what its file here writes in its place, in the intermediate form,
//! and the passes then see through it.
//!
//! The card itself executes the remaining calls: lookups, updates, deletions. Each file defines the results of a
//! helper; tests compare them with Linux (tests/ir.rs, on tests/objects/helpers.c).

pub mod atomic;
mod bytes;
mod checksum;
mod copy;
mod ends;
mod fib;
mod own;
mod print;
mod records;
mod redirect;
mod ring;
mod staging;
mod tail_call;
mod writer;

use crate::card::ring::{HEADER, LONGEST};
use crate::check::{Facts, MapRef};
use crate::insn::Width;
use crate::ir::{Adjust, Arg, BinOp, End, Inst, Layout, Op, Place, Program, Ring, Space};
use crate::maps::MapKind;
use crate::object::Object;
use crate::rows::isa;
use redirect::Targets;
use staging::Staged;
use writer::Writer;

pub use redirect::SOCKET_AT;
pub use tail_call::PROGRAM;

/// The context of a program.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The object that the program is from.
    pub object: &'a Object,
    /// The program as the object has it.
    pub source: &'a crate::object::Program,
    /// The facts that the check found out about it.
    pub facts: &'a Facts,
    /// The places of its maps.
    pub layout: &'a Layout,
    /// The packet may have metadata: this program makes it, or one whose place it takes.
    pub metadata: bool,
}

/// The result of the expansion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expanded {
    /// Bytes of the stack that it uses, from its end down.
    pub stack: u32,
    /// Requests that no card supports, for messages: "it calls …".
    pub beyond: Vec<String>,
}

/// The code in place of a call. It ends by passing the call's result to the writer.
type Code<'a> = Box<dyn FnOnce(&mut Writer) + 'a>;

/// Writes the code of all helpers in place of their calls. `stack`: bytes of the stack that the program uses, a
/// multiple of 8.
pub fn expand(program: &mut Program, around: &Around, stack: u32) -> Expanded {
    let mut expander = Expander { around, own_stack: stack, expanded: Expanded { stack, beyond: vec![] } };
    // The instructions after a call become a new block, which the loop visits later.
    let mut block = 0;
    while block < program.blocks.len() {
        for at in 0..program.blocks[block].insts.len() {
            if let Some(code) = expander.code(program, &program.blocks[block].insts[at]) {
                code(&mut Writer::cut(program, block, at));
                break;
            }
        }
        if let End::TailCall { map, .. } = program.blocks[block].end {
            match around.layout.array(map) {
                Some(array) => tail_call::write(program, block, array),
                None => expander.beyond("bpf_tail_call(), and there is no memory for its program array".into()),
            }
        }
        block += 1;
    }
    expander.expanded
}

struct Expander<'a> {
    around: &'a Around<'a>,
    /// Bytes of the stack that the program itself uses.
    own_stack: u32,
    expanded: Expanded,
}

impl Expander<'_> {
    fn beyond(&mut self, what: String) {
        self.expanded.beyond.push(format!("it calls {what}"));
    }

    /// The code that replaces an instruction; None: the instruction stays.
    fn code(&mut self, program: &Program, inst: &Inst) -> Option<Code<'static>> {
        match &inst.op {
            Op::Adjust { what: Adjust::Tail, by, bare: false } => ends::tail(*by),
            Op::Adjust { what: Adjust::Head, by, bare: false } if self.around.metadata => Some(ends::head(*by)),
            op @ Op::Atomic { .. } => atomic::code(op),
            Op::Call { helper, map, args, reads, .. } => match helper.name {
                "redirect" if args[1] != Arg::Const(0) => Some(redirect::port(args[0], args[1])),
                "redirect_map" => self.redirect_map(*map, args),
                "map_lookup_elem" if matches!(self.kind(*map), Some(MapKind::Devmap | MapKind::Xskmap)) => {
                    Some(redirect::lookup(self.targets(*map)?, place(program, reads, args[1])))
                }
                "fib_lookup" => {
                    let (routes, query) = (self.around.layout.routes?, place(program, reads, args[1]));
                    let key_at = self.stack_at(fib::KEY_BYTES, "bpf_fib_lookup(), whose key")?;
                    Some(fib::lookup(routes, key_at, query, args[2], args[3]))
                }
                "map_update_elem" if self.kind(*map) == Some(MapKind::PercpuArray) => {
                    let (map, array) = ((*map)?, self.around.layout.array((*map)?)?);
                    let bytes = self.around.object.maps.get(map as usize)?.shape.value_bytes;
                    let (key, value) = (place(program, reads, args[1]), place(program, reads, args[2]));
                    Some(own::update(map, array, key, value, bytes, args[3]))
                }
                "map_delete_elem" if self.kind(*map) == Some(MapKind::PercpuArray) => Some(own::delete()),
                "xdp_load_bytes" => Some(bytes::load(args[1], place(program, reads, args[2]), args[3])),
                "xdp_store_bytes" => Some(bytes::store(args[1], place(program, reads, args[2]), args[3])),
                "csum_diff" => {
                    let (from, to) = (place(program, reads, args[0]), place(program, reads, args[2]));
                    Some(checksum::difference([(from, args[1]), (to, args[3])], args[4]))
                }
                "map_lookup_elem" | "map_update_elem" | "map_delete_elem" => {
                    if map.is_none() {
                        self.by_pointer(inst.slot, helper.name);
                    }
                    self.staged(inst)
                }
                _ => self.records(program, inst),
            },
            _ => None,
        }
    }

    /// A call on a map that a pointer names: all that it may name must be maps that the card looks up in by number.
    fn by_pointer(&mut self, slot: usize, helper: &str) {
        use MapKind::{Array, Hash, LpmTrie, LruHash, LruPercpuHash, PercpuHash};
        let maps = self.around.facts.insns.get(slot).map(|facts| &facts.maps);
        for map in maps.into_iter().flatten() {
            let (MapRef::Of(index) | MapRef::In(index)) = *map;
            let Some(named) = self.around.object.maps.get(index as usize) else { continue };
            let inner = if let MapRef::In(_) = map { named.inner.as_ref() } else { Some(&named.shape) };
            let Some(kind) = inner.and_then(|shape| shape.kind().ok()) else { continue };
            if !matches!(kind, Array | Hash | LruHash | LpmTrie | PercpuHash | LruPercpuHash) {
                let which = if let MapRef::In(_) = map { "a map in" } else { "one of several maps," };
                self.beyond(format!("bpf_{helper}() with {which} {}, of the type {kind}", named.name));
                return;
            }
        }
    }

    /// A request for a map, with copies of the data that it cannot reach.
    fn staged(&mut self, inst: &Inst) -> Option<Code<'static>> {
        let Op::Call { helper, reads, .. } = &inst.op else { return None };
        let (mut bytes, mut staged) = (0, Vec::new());
        for (arg, read) in staging::read_by_request(helper) {
            let place = reads.get(*read).filter(|place| !staging::reached(place));
            if let Some(place) = place {
                staged.push((*arg, *read, bytes));
                bytes += place.bytes.next_multiple_of(8);
            }
        }
        if staged.is_empty() {
            return None;
        }
        let place = self.around.source.place(inst.slot);
        let whose = format!("bpf_{}() ({place}) with a key or value in a map's memory", helper.name);
        let first = self.stack_at(bytes, &format!("{whose}, a copy of which"))?;
        let staged = staged.into_iter().map(|(arg, read, at)| Staged { arg, read, at: first + i64::from(at) });
        Some(staging::call(inst.op.clone(), staged.collect()))
    }

    /// The code of a helper that sends records to the host.
    fn records(&mut self, program: &Program, inst: &Inst) -> Option<Code<'static>> {
        let Op::Call { helper, map, args, reads, .. } = &inst.op else { return None };
        match helper.name {
            "ringbuf_output" => {
                let (ring, data) = (self.ring(*map)?, place(program, reads, args[1]));
                Some(records::output(ring, data, args[2], args[3]))
            }
            "ringbuf_reserve" => {
                let (ring, bytes) = (self.ring(*map)?, args[1]);
                if let Arg::Const(bytes) = bytes
                    && bytes + u64::from(HEADER) > LONGEST.into()
                {
                    let longest = LONGEST - HEADER;
                    self.beyond(format!("bpf_ringbuf_reserve() for {bytes} bytes, and records have up to {longest}"));
                    return None;
                }
                Some(records::begin(ring, bytes, args[2]))
            }
            "ringbuf_submit" | "ringbuf_discard" if !self.around.layout.rings.is_empty() => {
                Some(records::end(args[0], helper.name == "ringbuf_discard"))
            }
            "ringbuf_query" => Some(records::query(self.ring(*map)?, args[1])),
            "trace_printk" => {
                let (log, format) = (self.log(args)?, place(program, reads, args[0]));
                Some(print::values(log, format, args[1], [args[2], args[3], args[4]]))
            }
            "trace_vprintk" => {
                let (log, format, data) =
                    (self.log(args)?, place(program, reads, args[0]), place(program, reads, args[2]));
                Some(print::array(log, format, args[1], data, args[3]))
            }
            "perf_event_output" => {
                let (ring, data) = (self.ring(*map)?, place(program, reads, args[3]));
                let queues = self.around.object.maps.get((*map)? as usize)?.shape.max_entries;
                Some(records::event(ring, queues, args[2], data, args[4]))
            }
            _ => None,
        }
    }

    /// The ring of lines, unless a known format needs data that only the program's memory has.
    fn log(&mut self, args: &[Arg]) -> Option<Ring> {
        let log = self.around.layout.log?;
        if self.format(args).is_some_and(print::names_text) {
            self.beyond("bpf_trace_printk() with %s".into());
            return None;
        }
        Some(log)
    }

    /// A format among the object's constants.
    fn format(&self, args: &[Arg]) -> Option<&[u8]> {
        let [Arg::Const(address), Arg::Const(bytes), ..] = args else { return None };
        let Around { object, layout, .. } = self.around;
        object.maps.iter().zip(0..).find_map(|(map, index)| {
            let at = usize::try_from(address.checked_sub(layout.array(index)?.address.into())?).ok()?;
            map.constants()?.get(at..)?.get(..*bytes as usize)
        })
    }

    /// The ring of a map's records.
    fn ring(&self, map: Option<u32>) -> Option<Ring> {
        self.around.layout.rings.get(&map?).copied()
    }

    fn kind(&self, map: Option<u32>) -> Option<MapKind> {
        self.around.object.maps.get(map? as usize)?.shape.kind().ok()
    }

    fn redirect_map(&mut self, map: Option<u32>, args: &[Arg]) -> Option<Code<'static>> {
        let Arg::Const(flags) = args[2] else {
            self.beyond("bpf_redirect_map() with flags that are not known before".into());
            return None;
        };
        let kind = self.kind(map);
        if flags & !redirect::flags_of(kind) != 0 {
            return Some(Box::new(|w| w.done(Arg::Const(0))));
        }
        if flags & redirect::BROADCAST != 0 {
            self.beyond("bpf_redirect_map() for copies to several ports (BPF_F_BROADCAST)".into());
            return None;
        }
        let (key, given) = (args[1], flags & redirect::RESULT);
        match (kind, map) {
            (Some(MapKind::DevmapHash), Some(map)) => {
                let key_at = self.stack_at(8, "bpf_redirect_map() with a devmap_hash, whose key")?;
                Some(redirect::by_hash(map, key_at, key, given))
            }
            (Some(_), _) => {
                let targets = self.targets(map);
                if targets.is_none() {
                    self.beyond("bpf_redirect_map(), and there is no memory for its map".into());
                }
                Some(redirect::by_number(targets?, key, given))
            }
            (None, _) => {
                self.beyond("bpf_redirect_map() with one of several maps".into());
                None
            }
        }
    }

    /// A map by whose entries frames are redirected.
    fn targets(&self, map: Option<u32>) -> Option<Targets> {
        Some(Targets { map: map?, array: self.around.layout.array(map?)?, kind: self.kind(map)? })
    }

    /// Reserves a number of bytes, a multiple of 8, for a helper's code or a request, below the program's stack.
    /// Returns their distance from the stack's end. `what` is for the message.
    fn stack_at(&mut self, bytes: u32, what: &str) -> Option<i64> {
        let below = self.own_stack + bytes;
        if below > isa::SIZE_STACK {
            let left = isa::SIZE_STACK - bytes;
            self.beyond(format!("{what} needs {bytes} bytes of the stack: the program itself may use {left}"));
            return None;
        }
        self.expanded.stack = self.expanded.stack.max(below);
        Some(-i64::from(below))
    }
}

/// The place where a pointer leads that a helper was given: its space is said by one of those that the call reads.
fn place(program: &Program, reads: &[Place], pointer: Arg) -> Place {
    let origin = origin(program, pointer, 0);
    let same = |place: &&Place| self::origin(program, place.base, place.offset.into()) == origin;
    let space = reads.iter().find(same).map_or(Space::Any, |place| place.space);
    Place { space, base: pointer, offset: 0, bytes: 0 }
}

/// The variable part of a sum, and its constant part.
fn origin(program: &Program, mut arg: Arg, mut offset: i64) -> (Arg, i64) {
    let insts = || program.blocks.iter().flat_map(|block| &block.insts);
    while let Arg::Value(value) = arg
        && let Some(Op::Bin { op: BinOp::Add, width: Width::W64, a, b: Arg::Const(more) }) =
            insts().find(|inst| inst.result == Some(value)).map(|inst| &inst.op)
    {
        (arg, offset) = (*a, offset.wrapping_add(more.cast_signed()));
    }
    (arg, offset)
}
