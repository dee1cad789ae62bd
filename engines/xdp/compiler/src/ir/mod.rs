// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program in static single assignment: blocks with parameters, instructions that each give at most one value.
//!
//! Functions are inlined, the context is gone (its fields are [`Special`]s), pointers are numbers (engines/xdp/core.md,
//! "Addresses"). Passes change a [`Program`] in place; `verify` says whether it is still well formed.

mod build;
mod interp;
mod layout;
mod order;
mod print;
mod stale;
mod verify;
mod walk;

pub use build::{BuildError, MAX_INSTS, build};
pub use interp::{Memory, Next, Outcome, Stop, World, run};
pub use layout::{Array, Banks, CONTEXTS, Layout, Ring, Routes};
pub use order::Order;
pub use stale::Stale;
pub use verify::{Broken, verify};

use crate::check::Helper;
use crate::insn::{AtomicOp, Cond, Width};

/// A value, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A block, by number. Block 0 is where the program begins; it has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arg {
    /// The result of an instruction, or a parameter of the block.
    Value(ValueId),
    /// A constant.
    Const(u64),
    /// A special source of the core.
    Special(Special),
}

/// The core's special sources: the packet and its metadata. Reading one is free. [`Special::Data`], `DataEnd`,
/// `DataMeta` and `Len` change with [`Op::Adjust`], `Time` and `Random` at each read: an [`Op::Read`] says when those
/// are read, no other instruction may name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// Address of the packet's first byte.
    Data,
    /// Address after the packet's last byte.
    DataEnd,
    /// Address of the packet's metadata.
    DataMeta,
    /// `DataEnd` − `Data`.
    Len,
    /// The address after the stack.
    Stack,
    /// The interface on which the packet arrived.
    Ifindex,
    /// The queue on which it arrived: always 0.
    Queue,
    /// The interface to which it goes, in a program of a device map; else 0.
    Egress,
    /// Nanoseconds since the card's reset.
    Time,
    /// Number of the processor: unit · 16 + context.
    Cpu,
    /// A random number of 32 bits.
    Random,
}

/// Operations of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// Sum, modulo the width.
    Add,
    /// Difference, modulo the width.
    Sub,
    /// Product, modulo the width.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shifts by the right operand modulo the width.
    Lsh,
    /// The same to the right, with zeros.
    Rsh,
    /// The same to the right, with copies of the sign.
    Arsh,
    /// By zero 0.
    Div,
    /// The same, signed.
    Sdiv,
    /// By zero the left operand.
    Mod,
    /// The same, signed.
    Smod,
}

/// Memory that an access goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The packet and its metadata.
    Packet,
    /// The program's stack.
    Stack,
    /// Values of the object's map of that index, or of a map inside it, for alias analysis.
    Map(u32),
    /// A record of a ring buffer.
    Record,
    /// Values of several maps, or records: neither packet nor stack.
    Shared,
    /// Not known before the program runs.
    Any,
}

/// A place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The address that `offset` is added to.
    pub base: Arg,
    /// Bytes from the base on.
    pub offset: i32,
    /// 1 to 8 for loads and stores. An upper bound for the reads and writes of a call.
    pub bytes: u32,
}

/// The number that stands for a pointer to the map that the target knows by that number ([`Layout::number`]): 0 is
/// null. Entries of maps of maps hold it, in four bytes.
pub fn map_pointer(map: u32) -> u64 {
    u64::from(1 << 16 | map)
}

/// An operation. Widths: a 32-bit operation takes the lower halves and clears the upper half of its result; the upper
/// half of its constants is 0. There is no move: a copy is the same value, and a move of 32 bits is a [`Op::Field`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Op {
    /// The special's value at this moment.
    Read(Special),
    /// `a op b`.
    Bin { op: BinOp, width: Width, a: Arg, b: Arg },
    /// The lower `bits` (8, 16, 32) with their sign, to `width`.
    SignExtend { bits: u8, width: Width, a: Arg },
    /// Order of the lower `bytes` (2, 4, 8) turned round, the upper ones 0.
    Swap { bytes: u8, a: Arg },
    /// `(a >> shift) & mask of `bits`` moved left by `left`.
    Field { shift: u8, bits: u8, left: u8, a: Arg },
    /// 1 or 0.
    Set { cond: Cond, width: Width, a: Arg, b: Arg },
    /// `swap`: order of the bytes turned round. `signed`: the upper bits are the sign, else 0.
    Load { place: Place, signed: bool, swap: bool },
    /// `value` into the place, in as many bytes as the place has; `swap` turns their order round.
    Store { place: Place, swap: bool, value: Arg },
    /// The place has 4 or 8 bytes. Returns the old value. Compare-and-exchange compares with `expected`.
    Atomic { op: AtomicOp, place: Place, value: Arg, expected: Option<Arg> },
    /// A helper that moves an end of the packet: 0, or −22 when it cannot. Of `by` the lower 32 bits count. `bare`: as
    /// the core does it, which leaves what it adds at the tail as it is, and the metadata's bytes where they were.
    Adjust { what: Adjust, by: Arg, bare: bool },
    /// A helper outside of the core. `reads` and `writes` is the memory that it reaches through its arguments.
    Call {
        helper: Helper,
        /// The object's map that it works on. None: the pointer among the arguments selects it.
        map: Option<u32>,
        /// As in eBPF. Maps are [`map_pointer`]s, the context is 0.
        args: Vec<Arg>,
        reads: Vec<Place>,
        writes: Vec<Place>,
    },
}

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adjust {
    /// The packet's first byte, by `bpf_xdp_adjust_head`.
    Head,
    /// The first byte of the metadata, by `bpf_xdp_adjust_meta`.
    Meta,
    /// The packet's end, by `bpf_xdp_adjust_tail`.
    Tail,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// None: it has no result, or the result is unused.
    pub result: Option<ValueId>,
    /// Its place in the checked program, for messages.
    pub slot: usize,
}

/// A way to another block, with the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The block that follows.
    pub to: BlockId,
    /// The values of its parameters, in their order.
    pub args: Vec<Arg>,
}

/// How a block ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum End {
    /// The edge is always taken.
    Jump(Edge),
    /// `then` is taken if `a cond b`, else `otherwise`.
    Branch {
        cond: Cond,
        width: Width,
        a: Arg,
        b: Arg,
        then: Edge,
        otherwise: Edge,
        /// The branch tests for this many bytes of the packet, from its beginning on; `true`: they exist if the branch
        /// is taken.
        packet_check: Option<(u32, bool)>,
    },
    /// The program ends with this verdict, in the lower 32 bits.
    Exit(Arg),
    /// `bpf_tail_call` into the program array of this index; continues if there is no program.
    TailCall { map: u32, index: Arg, otherwise: Edge },
    /// The program that begins with that row takes over, with the stack cleared; goes on when too many have followed
    /// each other already.
    Begin { row: Arg, otherwise: Edge },
}

/// A straight run of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Values that each edge to the block gives.
    pub params: Vec<ValueId>,
    /// In their order.
    pub insts: Vec<Inst>,
    /// The end of the block.
    pub end: End,
    /// Slot of the checked program at its end.
    pub end_slot: usize,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// By [`BlockId`]; the program begins with the first.
    pub blocks: Vec<Block>,
    /// How many values have been numbered.
    pub values: u32,
}
