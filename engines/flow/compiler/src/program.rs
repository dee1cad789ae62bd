// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A checked program: its meaning, without places in hardware.

use penstock_headers::{Field, Header};

use crate::fault::Span;
pub use crate::syntax::{Evict, Tag};

/// Elements, in the order in which frames go through them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The elements, at least one.
    pub elements: Vec<Element>,
}

impl Program {
    /// The first element that differs from its counterpart in another program in more than rows and `evict`, and the
    /// difference. Contexts of one program have no meaning in the other then.
    pub fn difference(&self, other: &Program) -> Option<(String, &'static str)> {
        let (old, new) = (&self.elements, &other.elements);
        if old.len() != new.len() {
            let longer = if new.len() > old.len() { new } else { old };
            return Some((longer.last().map(|one| one.name.clone()).unwrap_or_default(), "elements"));
        }
        old.iter().zip(new).find_map(|(old, new)| {
            let what = [
                ("names", old.name == new.name),
                ("keys", old.key == new.key),
                ("states", old.states == new.states),
                ("flow registers", old.registers == new.registers),
                ("global registers", old.globals == new.globals),
                ("contexts in its table", old.capacity == new.capacity),
            ];
            what.into_iter().find(|(_, same)| !same).map(|(what, _)| (old.name.clone(), what))
        })
    }
}

/// A state machine with an instance for every flow or, without a key, a table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name, which is unique in a program.
    pub name: String,
    /// The place of the name in the source.
    pub span: Span,
    /// The key of a flow; None: the element has no contexts.
    pub key: Option<Key>,
    /// Names of the states. A flow without a context is in the first. An element without states has one state without a
    /// name.
    pub states: Vec<String>,
    /// Registers of each flow.
    pub registers: Vec<Register>,
    /// Registers of the element.
    pub globals: Vec<Register>,
    /// Contexts that the table holds; None: the element's maximum.
    pub capacity: Option<u32>,
    /// The context that is evicted if the table is full.
    pub evict: Option<Evict>,
    /// The rows; the first that matches is taken.
    pub rows: Vec<Row>,
}

/// The fields that identify a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The fields, one after the other, in network order.
    pub fields: Vec<Field>,
    /// Pairs that are swapped if the second side is the smaller one, so that both directions have one key: source and
    /// destination, by their places in `fields`. The first pair whose fields differ decides which side is smaller.
    pub pairs: Vec<(usize, usize)>,
}

impl Key {
    /// Its length in bytes. Each field starts at a byte.
    pub fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.bits().div_ceil(8) as usize).sum()
    }
}

/// A register of 32 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its first value.
    pub initial: u32,
}

/// A row: tests, and actions for frames that match them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place in the source.
    pub span: Span,
    /// States in which it matches, ascending; empty: all.
    pub states: Vec<u8>,
    /// All fields of the frame that it names; the frame must have them. A tag that is popped is represented by a field
    /// of the tag.
    pub needs: Vec<Field>,
    /// Tests, which must all hold.
    pub tests: Vec<Test>,
    /// Registers and their new values, all written at once.
    pub updates: Vec<(Place, Function)>,
    /// Effect on the context.
    pub next: Next,
    /// Changes of the frame. They read the frame as it arrived, and registers as the row leaves them.
    pub edits: Vec<Edit>,
    /// Whether the host gets an event.
    pub notify: bool,
    /// The frame's destination.
    pub verdict: Verdict,
}

impl Row {
    /// Whether it matches in a state.
    pub fn is_for(&self, state: u8) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether a flow without a context gets a context.
    pub fn makes_context(&self) -> bool {
        matches!(self.next, Next::State { .. }) || self.updates.iter().any(|(to, _)| matches!(to, Place::Flow(_)))
    }
}

/// A register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A register of the flow, by its number.
    Flow(u8),
    /// A register of the element, by its number.
    Global(u8),
}

/// An operand of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// A field of up to 32 bits.
    Field(Field),
    /// A register.
    Register(Place),
    /// A number.
    Constant(u32),
}

/// A test of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Test {
    /// The check.
    pub check: Check,
    /// The result that it must have.
    pub holds: bool,
}

/// A check of a frame and its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Check {
    /// The frame has a header.
    Has(Header),
    /// The frame has IPv4 or IPv6. Rows that push and pop labels need that; the language has no word for it.
    Packet,
    /// The parser has seen the checksum that covers the IPv6 addresses, if there is one. Rows that set these addresses
    /// need that; the language has no word for it.
    Checksums,
    /// The flow has no context.
    New,
    /// No context can be added.
    Full,
    /// A comparison of a field or some of its bits with a constant, which does not depend on the context. If the frame
    /// does not have the field, neither the comparison nor its negation holds.
    Field {
        /// The field.
        field: Field,
        /// The bits that count; comparisons other than `Equal` need all.
        mask: u128,
        /// How.
        compare: Compare,
        /// The constant.
        value: u128,
    },
    /// A comparison of two operands.
    Condition {
        /// The left side.
        a: Operand,
        /// How.
        compare: Compare,
        /// The right side.
        b: Operand,
    },
}

/// A comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compare {
    /// =
    Equal,
    /// <, unsigned.
    Less,
    /// ≤, unsigned.
    LessEqual,
    /// <, two's complement; only in conditions.
    SignedLess,
    /// The difference modulo 2^32 is negative, for sequence numbers and times; only in conditions.
    Before,
}

/// The new value of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// The operation.
    pub operation: Operation,
    /// Its first operand.
    pub a: Operand,
    /// Its second operand; 0 if the operation has only one.
    pub b: Operand,
}

/// The result of a function of a and b, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// a
    Copy,
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a and b, bit by bit.
    And,
    /// a or b, bit by bit.
    Or,
    /// a exclusive or b, bit by bit.
    Xor,
    /// a with all bits inverted.
    Not,
    /// a shifted left by b mod 32.
    ShiftLeft,
    /// a shifted right by b mod 32.
    ShiftRight,
    /// a rotated right by b mod 32.
    RotateRight,
    /// The smaller, unsigned.
    Min,
    /// The larger, unsigned.
    Max,
    /// a · b
    Multiply,
    /// a + ((b − a) >> n), arithmetic: an average that moves towards b by the difference divided by 2^n.
    Ewma(u8),
}

impl Operation {
    /// The result for two numbers.
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Operation::Copy => a,
            Operation::Add => a.wrapping_add(b),
            Operation::Sub => a.wrapping_sub(b),
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
            Operation::Not => !a,
            Operation::ShiftLeft => a << (b % 32),
            Operation::ShiftRight => a >> (b % 32),
            Operation::RotateRight => a.rotate_right(b % 32),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Multiply => a.wrapping_mul(b),
            Operation::Ewma(shift) => a.wrapping_add((b.wrapping_sub(a) as i32 >> (shift % 32)) as u32),
        }
    }
}

impl Compare {
    /// The result for two numbers of 32 bits.
    pub fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Compare::Equal => a == b,
            Compare::Less => a < b,
            Compare::LessEqual => a <= b,
            Compare::SignedLess => (a as i32) < b as i32,
            Compare::Before => (a.wrapping_sub(b) as i32) < 0,
        }
    }
}

/// The effect on a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// State and timeouts stay.
    Same,
    /// A state, and new timeouts. A timeout that the row does not name ends.
    State {
        /// The state; None: the same.
        state: Option<u8>,
        /// Time from this frame to the end of the context.
        hard: Option<Timeout>,
        /// Time from the last frame of the flow that took a row to the end of the context.
        idle: Option<Timeout>,
    },
    /// The context is removed.
    Forget,
}

/// A time after which a context ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// The time in µs, from 1 to [`Timeout::LONGEST`].
    pub micros: u32,
    /// The state afterwards, without timeouts; None: the context is removed.
    pub then: Option<u8>,
}

impl Timeout {
    /// 4,000 s in µs. The rest of 2^32 µs distinguishes past times from future ones.
    pub const LONGEST: u32 = 4_000_000_000;
}

/// A change of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Sets a field to the low bits of a value.
    Set(Field, Value),
    /// Adds a tag in front, with this control information (VLAN, 16 bits) or label (MPLS, 20 bits).
    Push(Tag, Value),
    /// Removes the foremost tag.
    Pop(Tag),
    /// Swaps source and destination.
    Swap(Pair),
}

/// The new value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(u128),
    /// A field of the frame as it arrived, of up to 32 bits or of the width of the field that is set.
    Field(Field),
    /// A register as the row leaves it.
    Register(Place),
    /// The result of a function, of registers as the row finds them.
    Result(Function),
}

/// A source and a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pair {
    /// Ethernet addresses.
    Eth,
    /// IPv4 addresses.
    Ip,
    /// IPv6 addresses.
    Ip6,
    /// Ports of TCP or UDP.
    L4,
}

impl Pair {
    /// Source and destination.
    pub fn fields(self) -> (Field, Field) {
        match self {
            Pair::Eth => (Field::EthSrc, Field::EthDst),
            Pair::Ip => (Field::IpSrc, Field::IpDst),
            Pair::Ip6 => (Field::Ip6Src, Field::Ip6Dst),
            Pair::L4 => (Field::L4Sport, Field::L4Dport),
        }
    }
}

/// The destination of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// To the element with this number, which comes later in the chain. A number after the last element lets the frame
    /// leave the block.
    Next(usize),
    /// Out of the port of this number; a number that no port has is refused.
    Port(Operand),
    /// Out of the port beside its own: the number of its port with the lowest bit inverted.
    Opposite,
    /// To the host.
    Host,
    /// Nowhere.
    Drop,
}
