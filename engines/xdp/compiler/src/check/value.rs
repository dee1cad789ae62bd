// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The possible contents of a register or a stack slot.

use super::scalar::Scalar;

/// A map that an instruction works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MapRef {
    /// The object's map of that index.
    Of(u32),
    /// A map that was looked up in the object's map of this index.
    In(u32),
}

/// Memory that a pointer leads into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Region {
    /// The packet's bytes.
    Packet,
    /// The metadata area, which bpf_xdp_adjust_meta() makes before the packet.
    PacketMeta,
    /// The stack of a function, by its depth in the chain of calls. Offsets count from its end, and are negative.
    Stack(u8),
    /// A value of the map.
    MapValue(MapRef),
    /// A record of a ring buffer, by its bytes.
    Record(u32),
    /// A socket of an xskmap, of which only the queue can be read.
    Socket,
}

/// The target of a pointer: `offset` + `variable` from the beginning of its region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer {
    pub region: Region,
    pub offset: i64,
    /// The variable part of the offset.
    pub variable: Scalar,
    /// Pointers with the same are the same: of packets, those with the same variable part; else, those from the same
    /// call. 0: the packet's beginning.
    pub id: u32,
    /// It may be null instead.
    pub nullable: bool,
    /// Proven bytes of the packet, from the variable part on.
    pub proven: u32,
    /// The slot of the conditional jump that showed it.
    pub proof: Option<usize>,
}

impl Pointer {
    /// To the beginning of a region.
    pub(super) fn to(region: Region) -> Pointer {
        Pointer { region, offset: 0, variable: Scalar::of(0), id: 0, nullable: false, proven: 0, proof: None }
    }

    /// Whether it leads into the packet or before it.
    pub(super) fn in_packet(&self) -> bool {
        matches!(self.region, Region::Packet | Region::PacketMeta)
    }

    /// The same place, whatever is known of it.
    fn same_origin(&self, other: &Pointer) -> bool {
        self.region == other.region && self.offset == other.offset && self.nullable == other.nullable
    }
}

/// Why a register holds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// Nothing was written to it.
    Unset,
    /// A call took it: r1 to r5 do not outlive one.
    Call,
    /// It pointed into the packet before this helper moved it.
    Moved(&'static str),
    /// It was a record of a ring buffer that was given back.
    Released,
}

/// The contents of a register or stack slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Gone(Gone),
    /// A number. Those with the same link, if not 0, are the same number.
    Scalar(Scalar, u32),
    Context,
    /// The end of the packet.
    PacketEnd,
    Pointer(Pointer),
    /// A map itself. An id means that it may be null, and identifies its lookup.
    Map(MapRef, u32),
}

impl Value {
    /// A number.
    pub(super) fn number(scalar: Scalar) -> Value {
        Value::Scalar(scalar, 0)
    }

    /// Its description, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Value::Gone(_) => "nothing".into(),
            Value::Scalar(scalar, _) => match scalar.constant() {
                Some(value) => format!("the number {}", value.cast_signed()),
                None => "a number".into(),
            },
            Value::Context => "the context".into(),
            Value::PacketEnd => "data_end".into(),
            Value::Map(_, 0) => "a map".into(),
            Value::Map(..) => "a map or null".into(),
            Value::Pointer(pointer) => {
                let what = match pointer.region {
                    Region::Packet => "a pointer into the packet",
                    Region::PacketMeta => "a pointer to the packet's metadata",
                    Region::Stack(_) => "a pointer to the stack",
                    Region::MapValue(_) => "a pointer to a map's value",
                    Region::Record(_) => "a record of a ring buffer",
                    Region::Socket => "a socket",
                };
                if pointer.nullable { format!("{what} or null") } else { what.into() }
            }
        }
    }
}

/// Which ids of one state correspond to which of another.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<(u32, u32)>);

impl Ids {
    /// Whether one value covers the other, given the facts so far.
    fn agree(&mut self, old: u32, new: u32) -> bool {
        if old == 0 {
            return new == 0;
        }
        match self.0.iter().find(|(known, _)| *known == old) {
            Some((_, known)) => *known == new,
            None if self.0.iter().any(|(_, known)| *known == new) => false,
            None => {
                self.0.push((old, new));
                true
            }
        }
    }

    /// The same of numbers: a number without a link is linked to nothing else.
    fn linked(&mut self, old: u32, new: u32, fresh: &mut u32) -> bool {
        if old == 0 {
            return true;
        }
        let new = if new == 0 {
            *fresh -= 1;
            *fresh
        } else {
            new
        };
        self.agree(old, new)
    }
}

/// Compares states: whether the result for one holds for another.
#[derive(Debug)]
pub(super) struct Covering {
    pointers: Ids,
    links: Ids,
    fresh: u32,
}

impl Default for Covering {
    fn default() -> Covering {
        Covering { pointers: Ids::default(), links: Ids::default(), fresh: u32::MAX }
    }
}

impl Covering {
    /// Whether one record covers the other.
    pub(super) fn same_record(&mut self, old: u32, new: u32) -> bool {
        self.pointers.agree(old, new)
    }

    /// Whether everything that `new` may be is something that `old` may be.
    pub(super) fn covers(&mut self, old: &Value, new: &Value) -> bool {
        match (old, new) {
            (Value::Gone(_), _) => true,
            (Value::Scalar(a, old), Value::Scalar(b, new)) => {
                a.includes(b) && self.links.linked(*old, *new, &mut self.fresh)
            }
            (Value::Pointer(a), Value::Pointer(b)) => {
                a.same_origin(b)
                    && a.variable.includes(&b.variable)
                    && a.proven <= b.proven
                    // Facts for later passes must not depend on the order of paths.
                    && a.proof == b.proof
                    && self.pointers.agree(a.id, b.id)
            }
            (Value::Map(a, old), Value::Map(b, new)) => a == b && self.pointers.agree(*old, *new),
            (a, b) => a == b,
        }
    }
}
