// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why a program is refused, and the way out.

use crate::insn::{Insn, Reg};
use crate::maps::MapError;
use crate::object::Place;

/// A rule that a program breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} (`{insn}`): {rule}{}", source_line(.place))]
pub struct CheckError {
    /// Where the program breaks it.
    pub place: Place,
    /// The instruction that breaks it.
    pub insn: Insn,
    /// The broken rule.
    pub rule: Rule,
}

fn source_line(place: &Place) -> String {
    place
        .line
        .as_ref()
        .filter(|line| !line.text.is_empty())
        .map_or_else(String::new, |line| format!("\n    {} | {}", line.line, line.text))
}

/// The rules. Each message ends with the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum Rule {
    #[error("{0} is read before anything was written to it; give the variable a value on every path that leads here")]
    Unset(Reg),
    #[error("{0} is read after a call, which leaves nothing in r1 to r5; keep the value in r6 to r9 or on the stack")]
    AfterCall(Reg),
    #[error(
        "{reg} points to where the packet was before bpf_{helper}() moved it; read ctx->data and ctx->data_end again \
         after the call, and check again"
    )]
    Moved { reg: Reg, helper: &'static str },
    #[error("{0} was a record of a ring buffer that was submitted or discarded; use it before")]
    Released(Reg),
    #[error("r0 is {0} when the program ends; return an action, such as XDP_DROP")]
    Result(String),
    #[error("r0 has no value when the program ends; return an action, such as XDP_DROP, on every path")]
    NoResult,
    #[error("a pointer to this function's stack is returned, which ends with it; let the caller give the memory")]
    ReturnsStack,
    #[error("a pointer to the stack is stored in the stack of a caller; return a value instead")]
    StackInCaller,

    #[error(
        "bytes {first} to {last} of the packet are used, and {known}; add `if ({pointer} + {needed} > data_end) return \
         XDP_DROP;` before this line"
    )]
    PacketBounds { first: i64, last: i64, known: Known, pointer: &'static str, needed: i64 },
    #[error(
        "this pointer may be up to {0} bytes into the packet, more than any packet has, and no check of the packet's \
         end counts there; bound the \
         loop that moves it (`for (int i = 0; i < 64; i++)`), or mask what is added"
    )]
    PacketFar(i64),
    #[error(
        "this may be before the packet's beginning, by an offset of {0} or less; check that the offset is not negative"
    )]
    PacketBefore(i64),
    #[error(
        "{bytes} bytes at offset {offset} of the stack are outside its 512 bytes (-512 to -1); check the index, or \
         make the \
         variable smaller"
    )]
    StackBounds { offset: String, bytes: i64 },
    #[error(
        "the map's {what} has {bytes} bytes, more than there are on the stack from this pointer on (offset {offset}); \
         give the address of a variable of that size"
    )]
    ShortArgument { what: &'static str, offset: String, bytes: i64 },
    #[error("{bytes} bytes at offset {offset} of the stack are not aligned; align the variable to its size")]
    StackAlign { offset: i64, bytes: u32 },
    #[error(
        "byte {0} of the stack is read before anything was written there; set the whole variable to zero first (`= \
         {{}}`, padding too)"
    )]
    StackUnset(i64),
    #[error(
        "the stacks of the functions that run at once have {0} bytes, the limit is 512; make local variables smaller"
    )]
    StackDepth(u32),
    #[error(
        "{bytes} bytes at offset {offset} of {what} are used, which has {size} bytes; check the index \
         (`if (index < …)`) or mask it before this line"
    )]
    ValueBounds { what: String, offset: String, bytes: i64, size: u32 },
    #[error("{0} may be null: the lookup may have found nothing; add `if (!value) return XDP_PASS;` before this line")]
    MayBeNull(Reg),
    #[error("{0} is for reading only; copy what is to be changed to the stack")]
    ReadOnly(String),
    #[error(
        "the context has no {bytes}-byte field at offset {offset}; its fields are 4 bytes each, at 0 to 16 (and \
         egress_ifindex at 20, in xdp/devmap programs)"
    )]
    ContextField { offset: i64, bytes: u32 },
    #[error("the context cannot be written; move the packet's ends by bpf_xdp_adjust_head() and bpf_xdp_adjust_tail()")]
    ContextWrite,
    #[error("{reg} is {found}, which leads to no memory; keep the pointer apart from arithmetic other than + and -")]
    NoPointer { reg: Reg, found: String },
    #[error("atomic operations work on the stack and on values of maps, not on {0}; copy it there first")]
    AtomicPlace(String),
    #[error(
        "an atomic operation on the stack is at a place that is known, and this one is computed; load, change and \
         store instead"
    )]
    AtomicComputed,

    #[error("{op} is not allowed on {found}; only + and - of 64 bits keep a pointer a pointer")]
    PointerArithmetic { op: String, found: String },
    #[error(
        "the number that is added to the pointer may be anything; bound it first (`if (n > LIMIT) return XDP_DROP;`, \
         or `n &= MASK`)"
    )]
    Unbounded,
    #[error("a pointer with an offset beyond 2^29 leads nowhere; bound the number that is added first")]
    FarPointer,
    #[error("this divides by the constant 0; take the division out")]
    DivisionByZero,
    #[error("this shifts by {0}, beyond the width of the number; shift by less")]
    Shift(i32),

    #[error("no path leads here; take the code out")]
    Unreachable,
    #[error("the function ends without exit; end it with a return on every path")]
    NoExit,
    #[error("this jumps out of its function; compile the program again")]
    JumpOut,
    #[error(
        "the function calls itself, directly or through others; there is no stack for that: use a loop with a limit"
    )]
    Recursion,
    #[error("more than 8 functions run at once; let the compiler inline some (`static __always_inline`)")]
    CallDepth,
    #[error(
        "bpf_tail_call() with {0} bytes of stack in use by callers, the limit is 255; call it from the program itself"
    )]
    TailCallStack(u32),
    #[error(
        "the loop does not end: after a round everything is as it was before; count the rounds and leave after a fixed \
         number of them"
    )]
    EndlessLoop,
    #[error(
        "the check has looked at {0} instructions and come to no end; give loops smaller limits, or split the program \
         by tail calls"
    )]
    TooComplex(usize),
    #[error("more than {0} ways are open at once; give loops smaller limits")]
    TooManyPaths(usize),

    #[error("the helper {0} is not supported by the xdp engine{1}")]
    Helper(String, &'static str),
    #[error(
        "bpf_{0}() is for programs under a free license; add `char _license[] SEC(\"license\") = \"GPL\";` if the \
         program is"
    )]
    License(&'static str),
    #[error("r{register} of bpf_{helper}() is {found}, and must be {expected}")]
    Argument { helper: &'static str, register: usize, expected: &'static str, found: String },
    #[error("bpf_{helper}() does not work on {map}, a map of the type {kind}{way}")]
    HelperMap { helper: &'static str, map: String, kind: String, way: &'static str },
    #[error("the size in r{register} of bpf_{helper}() may be {what}; bound it before this line")]
    Size { helper: &'static str, register: usize, what: &'static str },
    #[error("map {name}: {source}")]
    Map { name: String, source: MapError },
    #[error("this address is of {0}, which the engine does not have")]
    Address(&'static str),
    #[error("the variable is at byte {offset} of `{map}`, which has {size} bytes; compile the program again")]
    DataBounds { map: String, offset: u32, size: u32 },
    #[error(
        "the record that was reserved at instruction {0} is neither submitted nor discarded; call bpf_ringbuf_submit() \
         or bpf_ringbuf_discard() on every path"
    )]
    RecordKept(usize),
    #[error(
        "the record that was reserved at instruction {0} is open when bpf_tail_call() is called, which does not come \
         back; submit or discard it before"
    )]
    RecordTailCall(usize),
}

/// How much of the packet is known to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known(pub u32);

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("nothing says that they are there"),
            bytes => write!(f, "only {bytes} are known to be there"),
        }
    }
}
