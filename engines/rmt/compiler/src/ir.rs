// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The typed program: what the front end makes of P4 source, and what `soft`, P4Info and the card's back end work from.
//!
//! All scopes are resolved: sub-parsers, sub-controls, functions and direct calls of actions are inlined; structs are split into [`Field`]s; constants are
//! folded; `mark_to_drop` is the assignments that it stands for. All values are unsigned numbers of at most [`MAX_BITS`] bits, signed ones in two's
//! complement; a `bool` is one bit. Fields of type varbit are longer, and only extract, emit, header assignment and checksums touch them.
//!
//! Every field is 0 when a frame enters, headers are invalid.

mod control;
pub(crate) mod operation;

use serde::Serialize;

use crate::source::Span;

pub use control::{
    ControllerField, ControllerHeader, GroupMember, MemberGroup, Profile, Rates, Replica, Selector, Session, ValueKey,
    ValueSet, Via, Weighted,
};
pub(crate) use operation::walk;
pub use operation::{Digest, Extern, HashAlgorithm, Meter};

/// Bits of the longest value.
pub const MAX_BITS: u32 = 128;

/// `egress_spec` that drops a frame.
pub const PORT_DROP: u128 = 511;
/// `egress_spec` that sends a frame to the host; `ingress_port` of frames that the host made.
pub const PORT_HOST: u128 = 510;
/// `egress_spec` that sends a frame onward: to the next block of the design, and behind the last one to the dispatcher.
pub const PORT_ONWARD: u128 = 509;

/// Index in [`Program::fields`].
pub type FieldId = usize;
/// Index in [`Program::instances`].
pub type InstanceId = usize;
/// Index in [`Program::actions`].
pub type ActionId = usize;
/// Index in [`Program::tables`].
pub type TableId = usize;
/// Index in [`Program::registers`].
pub type RegisterId = usize;
/// Index in [`Program::counters`].
pub type CounterId = usize;
/// Index in [`Program::digests`].
pub type DigestId = usize;
/// Index in [`Program::meters`].
pub type MeterId = usize;
/// Index in [`Program::profiles`].
pub type ProfileId = usize;
/// Index in [`Program::value_sets`].
pub type ValueSetId = usize;
/// Index in [`Parser::states`].
pub type StateId = usize;

/// A program for v1model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// Name of the source file without folder and ending.
    pub name: String,
    /// Header types.
    pub headers: Vec<HeaderType>,
    /// Instances of headers, in the order of the program's struct of headers, then those of local variables.
    pub instances: Vec<Instance>,
    /// Everything that holds a value while a frame is worked on. The first ones are [`Standard::ALL`], in that order.
    pub fields: Vec<Field>,
    /// Names of the `error` constants; a field that holds an error holds an index of them. The first ones are those of core.p4: see [`error`].
    pub errors: Vec<String>,
    /// The parser.
    pub parser: Parser,
    /// `verify_checksum` calls, in their order.
    pub verify: Vec<Checksum>,
    /// Ingress.
    pub ingress: Vec<Stmt>,
    /// Egress.
    pub egress: Vec<Stmt>,
    /// `update_checksum` calls, in their order.
    pub update: Vec<Checksum>,
    /// Statements of the deparser, in front of all its `emit`. Headers that it does not emit become invalid here.
    pub deparse: Vec<Stmt>,
    /// Headers in the order of the deparser's `emit`. A header that is not valid is left out.
    pub deparser: Vec<Emit>,
    /// Tables in the order of their declaration.
    pub tables: Vec<Table>,
    /// Actions that tables refer to. Actions that are only called directly are not here.
    pub actions: Vec<Action>,
    /// Registers.
    pub registers: Vec<Register>,
    /// Counters, direct and indirect.
    pub counters: Vec<Counter>,
    /// Meters, direct and indirect.
    pub meters: Vec<Meter>,
    /// Messages that programs send to controllers.
    pub digests: Vec<Digest>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    /// Value sets of the parser.
    pub value_sets: Vec<ValueSet>,
    /// Headers of frames from and to controllers.
    pub controller_headers: Vec<ControllerHeader>,
}

/// Indices in [`Program::errors`] that the parser itself sets.
pub mod error {
    /// No error.
    pub const NONE: u128 = 0;
    /// The frame ended before the header.
    pub const PACKET_TOO_SHORT: u128 = 1;
    /// No row of a `select` matches.
    pub const NO_MATCH: u128 = 2;
    /// A stack is full or empty.
    pub const STACK_OUT_OF_BOUNDS: u128 = 3;
    /// The length of a varbit is more than its maximum.
    pub const HEADER_TOO_SHORT: u128 = 4;
    /// A parser ran too long.
    pub const PARSER_TIMEOUT: u128 = 5;
    /// The length of a varbit is not a multiple of 8.
    pub const PARSER_INVALID_ARGUMENT: u128 = 6;
}

/// A header type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeaderType {
    /// Its name.
    pub name: String,
    /// Its fields from the first bit on the wire on: name, bits, and whether it is a varbit, whose bits are the maximum.
    pub fields: Vec<(String, u32, bool)>,
    /// Bits of all fields but varbits; a multiple of 8.
    pub bits: u32,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// A header that a frame can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// Path in the program, for example `hdr.ipv4`, or `hdr.vlan[0]` for an element of a stack.
    pub name: String,
    /// Index in [`Program::headers`].
    pub header: usize,
    /// Its fields, in the order of the type.
    pub fields: Vec<FieldId>,
    /// The field, 1 bit, that says whether it is valid.
    pub valid: FieldId,
    /// Where it is declared.
    pub span: Span,
}

/// Something that holds a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Path in the program, for example `hdr.ipv4.ttl`; `hdr.ipv4.$valid$` for validity.
    pub name: String,
    /// Bits; of a varbit at most so many.
    pub width: u32,
    /// What it is.
    pub kind: FieldKind,
    /// Where it is declared.
    pub span: Span,
}

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum FieldKind {
    /// Part of a header.
    Header {
        /// The header.
        instance: InstanceId,
        /// Bits in front of it in the header. Behind a varbit, the bits of the varbit do not count.
        offset: u32,
        /// Its length differs from frame to frame.
        varbit: bool,
    },
    /// Whether a header is valid.
    Valid(InstanceId),
    /// User metadata.
    Metadata,
    /// Standard metadata of v1model.
    Standard(Standard),
    /// A local variable, or a value that the compiler keeps between two statements.
    Local,
}

/// Standard metadata of v1model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Standard {
    /// Port at which the frame entered, [`PORT_HOST`] if the host made it; 9 bits.
    IngressPort,
    /// Where the frame is to leave: a port, [`PORT_ONWARD`], [`PORT_HOST`] or [`PORT_DROP`]; 9 bits.
    EgressSpec,
    /// The port that the frame leaves at, set between ingress and egress; 9 bits.
    EgressPort,
    /// 0, a frame from outside; 32 bits.
    InstanceType,
    /// Bytes of the frame as it entered; 32 bits.
    PacketLength,
    /// 0; 32 bits.
    EnqTimestamp,
    /// 0; 19 bits.
    EnqQdepth,
    /// 0; 32 bits.
    DeqTimedelta,
    /// 0; 19 bits.
    DeqQdepth,
    /// Time at which ingress began, in µs; 48 bits.
    IngressGlobalTimestamp,
    /// Time at which egress began, in µs; 48 bits.
    EgressGlobalTimestamp,
    /// Multicast group; 16 bits.
    McastGrp,
    /// Number of the copy within its multicast group; 16 bits.
    EgressRid,
    /// 1 if a checksum was wrong; 1 bit.
    ChecksumError,
    /// Error of the parser; 32 bits, index in [`Program::errors`].
    ParserError,
    /// Priority; 3 bits.
    Priority,
}

impl Standard {
    /// All of them, in the order of the struct. The index of each is its [`FieldId`].
    pub const ALL: [(Self, &'static str, u32); 16] = [
        (Self::IngressPort, "ingress_port", 9),
        (Self::EgressSpec, "egress_spec", 9),
        (Self::EgressPort, "egress_port", 9),
        (Self::InstanceType, "instance_type", 32),
        (Self::PacketLength, "packet_length", 32),
        (Self::EnqTimestamp, "enq_timestamp", 32),
        (Self::EnqQdepth, "enq_qdepth", 19),
        (Self::DeqTimedelta, "deq_timedelta", 32),
        (Self::DeqQdepth, "deq_qdepth", 19),
        (Self::IngressGlobalTimestamp, "ingress_global_timestamp", 48),
        (Self::EgressGlobalTimestamp, "egress_global_timestamp", 48),
        (Self::McastGrp, "mcast_grp", 16),
        (Self::EgressRid, "egress_rid", 16),
        (Self::ChecksumError, "checksum_error", 1),
        (Self::ParserError, "parser_error", 32),
        (Self::Priority, "priority", 3),
    ];

    /// Its index in [`Program::fields`].
    #[must_use]
    pub fn field(self) -> FieldId {
        self as FieldId
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expr {
    /// How it is computed.
    pub kind: ExprKind,
    /// Bits of the value; 1 for a bool. All bits above are 0.
    pub width: u32,
    /// Where it is written.
    pub span: Span,
}

/// How a value is computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ExprKind {
    /// A constant.
    Const(u128),
    /// A field. A field of a header that is not valid reads as what was last written there, or 0.
    Field(FieldId),
    /// A parameter of the action, by its index. Only in [`Action::body`].
    Param(usize),
    /// Bits of the frame that the parser has not extracted: `bits` further on from where it stands. Only in the parser.
    Lookahead {
        /// Bits to skip.
        offset: u32,
    },
    /// Of one value.
    Unary(UnaryOp, Box<Expr>),
    /// Of two values. Both have the same width, which is the result's too, but: shifts have any width on the right, comparisons give 1 bit.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Bits `low` and above, as many as the expression has.
    Slice(Box<Expr>, u32),
    /// The first value above the second one.
    Concat(Box<Expr>, Box<Expr>),
    /// The value with more or fewer bits: zeros or upper bits are added or taken away.
    Resize(Box<Expr>),
    /// As [`Self::Resize`] to more bits: adds copies of the sign.
    SignExtend(Box<Expr>),
    /// The second value if the first one is 1, else the third one.
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Operators of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum UnaryOp {
    /// All bits inverted.
    Not,
    /// Two's complement.
    Neg,
}

/// Operators of two values. Arithmetic wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Bitwise and; of bools, too, where the right side has no effects.
    And,
    /// Bitwise or, also of bools.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift to the left. By the width or more: 0.
    Shl,
    /// Shift to the right with zeros.
    Shr,
    /// Shift to the right with copies of the sign.
    ShrSigned,
    /// Unsigned sum that stays at the largest value.
    AddSat,
    /// Unsigned difference that stays at 0.
    SubSat,
    /// Signed sum that stays in its range.
    AddSatSigned,
    /// Signed difference that stays in its range.
    SubSatSigned,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less, unsigned.
    Lt,
    /// Less or equal, unsigned.
    Le,
    /// Less, signed.
    LtSigned,
    /// Less or equal, signed.
    LeSigned,
}

/// A statement of a control or action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it is written.
    pub span: Span,
}

/// The effect of a statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum StmtKind {
    /// Writes a field, which may be a header's validity. The widths are equal.
    Assign(FieldId, Expr),
    /// Copies a varbit, with its length, from the second field to the first one.
    CopyVarbit(FieldId, FieldId),
    /// Reads a register. Behind its end: 0.
    RegisterRead {
        /// The register.
        register: RegisterId,
        /// Cell.
        index: Expr,
        /// Where the value goes.
        to: FieldId,
    },
    /// Writes a register. Behind its end nothing is written.
    RegisterWrite {
        /// The register.
        register: RegisterId,
        /// Cell.
        index: Expr,
        /// New value.
        value: Expr,
    },
    /// Counts the frame. Behind the counter's end nothing is counted.
    Count {
        /// An indirect counter.
        counter: CounterId,
        /// Cell.
        index: Expr,
    },
    /// Calls a function of v1model that has state of its own or acts on the whole frame.
    Extern(Box<Extern>),
    /// Looks up a table and runs the action of the entry, or the default action; then one of the blocks. Only in controls.
    Apply(Box<Apply>),
    /// One of two blocks.
    If {
        /// 1 bit.
        condition: Expr,
        /// If it is 1.
        then: Vec<Stmt>,
        /// If it is 0.
        otherwise: Vec<Stmt>,
    },
    /// Statements again and again, as long as a condition holds. Not in parsers.
    Loop {
        /// 1 bit.
        condition: Expr,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// Ends ingress or egress.
    Exit,
}

/// Turns of all loops together that a frame has in ingress or egress.
pub const LOOP_TURNS: u32 = 1 << 16;

/// Application of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Apply {
    /// The table.
    pub table: TableId,
    /// After an entry's action.
    pub hit: Vec<Stmt>,
    /// After the default action.
    pub miss: Vec<Stmt>,
    /// `switch (….action_run)`: after one of these actions, entry's or default.
    pub cases: Vec<(Vec<ActionId>, Vec<Stmt>)>,
    /// After an action of no case.
    pub otherwise: Vec<Stmt>,
}

/// The parser. It begins in state 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parser {
    /// Its states, but accept and reject.
    pub states: Vec<State>,
}

/// A state of the parser.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Its statements, in this order.
    pub ops: Vec<ParserOp>,
    /// Where it goes.
    pub next: Transition,
    /// Where it is declared.
    pub span: Span,
}

/// A statement of a parser state. When one fails, the parser sets `parser_error` and ends; ingress runs with the headers that are valid by then.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ParserOp {
    /// Takes a header from the frame and makes it valid.
    Extract {
        /// The header.
        instance: InstanceId,
        /// Bits of its varbit.
        varbit: Option<Expr>,
        /// Where it is written.
        span: Span,
    },
    /// Skips bits; at the thin path's stage a multiple of 8.
    Advance {
        /// How many.
        bits: Expr,
        /// Where it is written.
        span: Span,
    },
    /// Writes a field.
    Assign {
        /// The field.
        to: FieldId,
        /// The value.
        value: Expr,
        /// Where it is written.
        span: Span,
    },
    /// Copies a varbit, reads, writes or counts a cell, or calls a function of v1model: no other statements.
    Run(Stmt),
    /// Ends with an error unless the condition holds.
    Verify {
        /// 1 bit.
        condition: Expr,
        /// Index in [`Program::errors`].
        error: u128,
        /// Where it is written.
        span: Span,
    },
}

/// Where a state goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Transition {
    /// Always there.
    Direct(Next),
    /// To the first row that matches. If none does, the parser ends with [`error::NO_MATCH`].
    Select {
        /// What is compared.
        keys: Vec<Expr>,
        /// The rows.
        rows: Vec<SelectRow>,
        /// Where it is written.
        span: Span,
    },
}

/// A row of a `select`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SelectRow {
    /// For each key, what matches: [`Match::Exact`], [`Match::Ternary`] or [`Match::Range`]. `default` and `_` have mask 0.
    pub keys: Vec<Match>,
    /// Value sets, of each of which a member must match as well.
    pub sets: Vec<SetKeys>,
    /// Where it leads.
    pub next: Next,
    /// Where it is written.
    pub span: Span,
}

/// The keys of a `select` that a value set is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SetKeys {
    /// The value set.
    pub set: ValueSetId,
    /// The first key.
    pub first: usize,
    /// The number of keys.
    pub count: usize,
}

/// The successor of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Next {
    /// Another state.
    State(StateId),
    /// The parser is done.
    Accept,
    /// The parser ends with the error that was set, else with no error. As in bmv2, ingress runs all the same.
    Reject,
}

/// The values of one key that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Match {
    /// This value.
    Exact(u128),
    /// Upper bits are those of the value; so many.
    Lpm(u128, u32),
    /// Bits of the mask are those of the value. Value bits outside of the mask are 0.
    Ternary(u128, u128),
    /// From the first to the second value, both included.
    Range(u128, u128),
}

/// How a key of a table matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix; at most one key of a table.
    Lpm,
    /// Value and mask.
    Ternary,
    /// Lowest and highest value.
    Range,
    /// Equal, or anything.
    Optional,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Full name, for example `MyIngress.ipv4_lpm`.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// The value that is looked up. None: the default action always runs.
    pub keys: Vec<Key>,
    /// Actions that it may run, default action included.
    pub actions: Vec<ActionRef>,
    /// Action of a miss.
    pub default: ActionCall,
    /// The default action cannot be changed.
    pub const_default: bool,
    /// Entries of the source.
    pub entries: Vec<Entry>,
    /// The entries cannot be changed, and none can be added.
    pub const_entries: bool,
    /// Entries that it must hold; 1024 if the source does not say.
    pub size: u32,
    /// Its direct counter.
    pub counter: Option<CounterId>,
    /// Its direct meter.
    pub meter: Option<MeterId>,
    /// Its `implementation`, an action profile or selector.
    pub profile: Option<ProfileId>,
    /// Fields that choose the member of a group: its keys of kind selector.
    pub selector: Vec<FieldId>,
    /// Entries may have idle timeouts: `support_timeout`.
    pub idle_timeouts: bool,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

impl Table {
    /// Whether entries have priorities: a key is ternary, range or optional.
    #[must_use]
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| !matches!(key.kind, MatchKind::Exact | MatchKind::Lpm))
    }
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Name, for P4Info: `@name`, or the expression as written.
    pub name: String,
    /// What is compared. The compiler assigns other expressions to a local field before the table is applied.
    pub field: FieldId,
    /// Its bits.
    pub width: u32,
    /// How it matches.
    pub kind: MatchKind,
    /// Annotations but `@name`, as written.
    pub annotations: Vec<String>,
    /// Where it is written.
    pub span: Span,
}

/// An action of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionRef {
    /// The action.
    pub action: ActionId,
    /// `@defaultonly`: not for entries.
    pub default_only: bool,
    /// `@tableonly`: not for the default action.
    pub table_only: bool,
    /// Where it is written.
    pub span: Span,
}

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ActionCall {
    /// The action.
    pub action: ActionId,
    /// A value for each parameter.
    pub args: Vec<u128>,
}

/// An entry of a table, of the source or of the control plane.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Entry {
    /// For each key what matches, of the key's kind. An optional key is [`Match::Exact`], or [`Match::Ternary`] with mask 0; a range that takes all, or a prefix of no
    /// bits, is written as such.
    pub keys: Vec<Match>,
    /// If two entries match, the one with the larger number wins; 0 in tables without priorities.
    pub priority: i32,
    /// The action. With `via`, the action that runs if `via` leads to none.
    pub call: ActionCall,
    /// Where the action comes from, in tables with an action profile.
    pub via: Option<Via>,
    /// Nanoseconds without a frame after which the controller is told; 0: never.
    pub idle_timeout: u64,
    /// Bytes that the controller keeps with the entry.
    pub metadata: Vec<u8>,
}

impl Entry {
    /// An entry that has an action of its own and nothing else.
    #[must_use]
    pub fn new(keys: Vec<Match>, priority: i32, call: ActionCall) -> Self {
        Self { keys, priority, call, via: None, idle_timeout: 0, metadata: Vec::new() }
    }
}

/// An action that tables refer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// Full name, for example `MyIngress.forward`, or `NoAction`.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Parameters that entries give.
    pub params: Vec<Param>,
    /// What it does. No [`StmtKind::Apply`].
    pub body: Vec<Stmt>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// A parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its bits.
    pub width: u32,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// An array of cells that programs read and write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Full name.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Bits of a cell.
    pub width: u32,
    /// Cells.
    pub size: u32,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// The unit in which a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CounterUnit {
    /// Frames.
    Packets,
    /// Their bytes, as they entered.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

/// A counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// Full name.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// What it counts.
    pub unit: CounterUnit,
    /// Cells of an indirect counter; None for a direct one, which has a cell for each entry of its table.
    pub size: Option<u32>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// A checksum of v1model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checksum {
    /// 1 bit: whether it is computed.
    pub condition: Expr,
    /// The summands, one behind the other.
    pub data: Vec<ChecksumData>,
    /// The field that holds it.
    pub field: FieldId,
    /// How.
    pub algorithm: HashAlgorithm,
    /// The payload follows the data.
    pub payload: bool,
    /// Where it is written.
    pub span: Span,
}

/// The data of a checksum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ChecksumData {
    /// A value.
    Value(Expr),
    /// A varbit, as long as it is. If its header is not valid, nothing.
    Varbit(FieldId),
}

/// A header that the deparser writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Emit {
    /// The header.
    pub instance: InstanceId,
    /// Where it is written.
    pub span: Span,
}
