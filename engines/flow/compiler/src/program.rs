// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program that has been checked: what it means, not where hardware keeps it.

use penstock_headers::{Field, Header};

use crate::fault::Span;
pub use crate::syntax::{Evict, Tag};

/// Elements, in the order in which frames go through them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// At least one.
    pub elements: Vec<Element>,
}

impl Program {
    /// The first element that is not as in another program but for its rows and what gives way, and in what; then contexts of the one mean nothing in the
    /// other.
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

/// A state machine of which every flow has an instance, or, without a key, a table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name, of which there is one in a program.
    pub name: String,
    /// Where the name stands in the source.
    pub span: Span,
    /// What makes frames one flow; none: the element has no contexts.
    pub key: Option<Key>,
    /// Names of the states; the first is that of a flow without a context. One without a name if the program has none.
    pub states: Vec<String>,
    /// Registers of each flow.
    pub registers: Vec<Register>,
    /// Registers of the element.
    pub globals: Vec<Register>,
    /// How many contexts the table holds; none: whatever the element has room for.
    pub capacity: Option<u32>,
    /// What gives way when it is full.
    pub evict: Option<Evict>,
    /// The first that fits is taken.
    pub rows: Vec<Row>,
}

/// The fields by which flows are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// One after the other, in network order.
    pub fields: Vec<Field>,
    /// Which of them change places when the second of each pair comes first: both directions have one key. Source and destination, by their places
    /// in `fields`; the pairs' fields, one after the other, decide which side is the smaller.
    pub pairs: Vec<(usize, usize)>,
}

impl Key {
    /// Its length in bytes; each field begins with a byte.
    pub fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.bits().div_ceil(8) as usize).sum()
    }
}

/// A register of 32 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// What it holds before anything is written.
    pub initial: u32,
}

/// What to do with frames that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Where it stands in the source.
    pub span: Span,
    /// States that it is for, ascending; none: all.
    pub states: Vec<u8>,
    /// Fields of the frame that it names anywhere, all of which must be there. For a tag that is popped this is a field of the tag.
    pub needs: Vec<Field>,
    /// All must hold.
    pub tests: Vec<Test>,
    /// Registers and what they become, all at once.
    pub updates: Vec<(Place, Function)>,
    /// What becomes of the context.
    pub next: Next,
    /// What is changed in the frame: values as the frame came, registers as the row leaves them.
    pub edits: Vec<Edit>,
    /// Whether the host gets an event.
    pub notify: bool,
    /// Where the frame goes.
    pub verdict: Verdict,
}

impl Row {
    /// Whether it is for a state.
    pub fn is_for(&self, state: u8) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether a flow that has no context gets one.
    pub fn makes_context(&self) -> bool {
        matches!(self.next, Next::State { .. }) || self.updates.iter().any(|(to, _)| matches!(to, Place::Flow(_)))
    }
}

/// A register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Of the flow, by its number.
    Flow(u8),
    /// Of the element.
    Global(u8),
}

/// Something to calculate with: 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// A field of up to 32 bits.
    Field(Field),
    /// A register.
    Register(Place),
    /// A number.
    Constant(u32),
}

/// What must hold for a row to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Test {
    /// What is looked at.
    pub check: Check,
    /// How it must be.
    pub holds: bool,
}

/// A question about a frame and its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Check {
    /// The frame has a header.
    Has(Header),
    /// It has IPv4 or IPv6. Rows that push and pop labels want that; the language has no word for it.
    Packet,
    /// The parser has seen whatever checksum is over IPv6 addresses. Rows that set these want that; the language has no word for it.
    Checksums,
    /// The flow has no context.
    New,
    /// No context can be added.
    Full,
    /// A field, some of its bits, against a constant. Whether it holds does not depend on the context. It does not, either way, when there is no
    /// such field.
    Field {
        /// The field.
        field: Field,
        /// The bits that count; all of them but for `Equal`.
        mask: u128,
        /// How.
        compare: Compare,
        /// The constant.
        value: u128,
    },
    /// Two operands.
    Condition {
        /// Left of the comparison.
        a: Operand,
        /// How.
        compare: Compare,
        /// Right of it.
        b: Operand,
    },
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compare {
    /// =
    Equal,
    /// <, unsigned.
    Less,
    /// ≤, unsigned.
    LessEqual,
    /// <, two's complement. In conditions only.
    SignedLess,
    /// The difference modulo 2^32 is negative: of sequence numbers and times. In conditions only.
    Before,
}

/// What a register becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// What is done.
    pub operation: Operation,
    /// With this.
    pub a: Operand,
    /// And this; 0 where the operation takes one only.
    pub b: Operand,
}

/// What a function does with a and b, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// a
    Copy,
    /// a + b
    Add,
    /// a − b
    Sub,
    /// Both bits.
    And,
    /// Either bit.
    Or,
    /// One of both bits.
    Xor,
    /// a's bits the other way round.
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
    /// a + ((b − a) >> n), arithmetic: an average that moves to b by the 2^n-th part of the difference.
    Ewma(u8),
}

impl Operation {
    /// What it gives.
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
    /// Whether it holds for two numbers of 32 bits.
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

/// What becomes of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// State and timeouts stay.
    Same,
    /// A state, and timeouts set anew: one that is not named is none.
    State {
        /// The state; none: the same.
        state: Option<u8>,
        /// Ends so long after this frame.
        hard: Option<Timeout>,
        /// Ends so long after the last frame of the flow that a row took.
        idle: Option<Timeout>,
    },
    /// It is removed.
    Forget,
}

/// When a context ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// From 1 to [`Timeout::LONGEST`] µs.
    pub micros: u32,
    /// The state that it then goes to, without timeouts; none: it is removed.
    pub then: Option<u8>,
}

impl Timeout {
    /// 4,000 s in µs. What is left of 2^32 µs tells times that have passed from times to come.
    pub const LONGEST: u32 = 4_000_000_000;
}

/// A change of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// A field becomes the low bits of a value.
    Set(Field, Value),
    /// A tag in front: the control information of a VLAN tag (16 bits), the label of MPLS (20 bits).
    Push(Tag, Value),
    /// The foremost tag is taken out.
    Pop(Tag),
    /// Source and destination change places.
    Swap(Pair),
}

/// What a field becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(u128),
    /// A field as the frame came: of up to 32 bits, or as wide as the one that is set.
    Field(Field),
    /// A register as the row leaves it.
    Register(Place),
    /// A result, of registers as the row finds them.
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

/// Where a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// To the element with this number, which is behind this one; behind the last the frame goes on its way.
    Next(usize),
    /// Out of a port: the low 8 bits.
    Port(Operand),
    /// Out of the port beside the one that it came from: its number with the lowest bit inverted.
    Opposite,
    /// To the host.
    Host,
    /// Nowhere.
    Drop,
}
