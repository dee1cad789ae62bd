// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program between [`crate::ir`] and rows: lane operations on variables, in long runs with exits on the way.
//!
//! It is not in static single assignment: a variable will have one register, and may be written in several places. A
//! guarded node leaves its variable unchanged if its guard does not hold.

use crate::insn::{Cond, Width};
use crate::ir::{Adjust, Special};
use crate::rows::{Do, Second, Test, Window};

/// A variable: it gets one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

impl Var {
    /// Its number, as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A source operand of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Src {
    /// The variable's value.
    Var(Var),
    /// The number 0, which no register has to hold.
    Zero,
    /// A source of the core that is no register.
    Special(Special),
}

/// A place in a memory with windows: of the stack `base` is zero and `offset` counts from its lowest byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    /// The address that `offset` is added to.
    pub base: Src,
    /// Bytes after `base`.
    pub offset: i32,
}

/// The target of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum To {
    /// The first row of the block with this number.
    Block(usize),
    /// The program ends with this verdict, 0 to 7.
    Exit(u8),
}

/// The operation of a node.
pub type NodeOp = Do<Src, At, To>;

/// When a node acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct When {
    /// The comparison that decides.
    pub test: Test<Src>,
    /// The outcome with which the node acts.
    pub wanted: bool,
}

impl When {
    /// The opposite.
    pub fn inverted(self) -> When {
        When { wanted: !self.wanted, ..self }
    }
}

/// Memory that a node reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The memory.
    pub window: Window,
    /// None: not known.
    pub at: Option<(At, u32)>,
    /// Whether the node writes there; else it reads.
    pub writes: bool,
}

/// An operation, with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The operation.
    pub op: NodeOp,
    /// The variable that takes the result; None if no variable takes it.
    pub dst: Option<Var>,
    /// The condition of the node; None if it always acts.
    pub guard: Option<When>,
    /// For a request: the packet and stack bytes that it accesses itself.
    pub reach: Vec<Touch>,
    /// Its place in the checked program.
    pub slot: usize,
}

impl Node {
    /// A node without guard.
    pub fn new(op: NodeOp, dst: Option<Var>, slot: usize) -> Node {
        Node { op, dst, guard: None, reach: vec![], slot }
    }

    /// All inputs: operands, addresses, the comparisons of its guard.
    pub fn reads(&self) -> Vec<Src> {
        let mut reads: Vec<Src> = self.op.sources().collect();
        match &self.op {
            Do::Load { place, .. } | Do::Store { place, .. } => reads.push(place.base),
            Do::Request { asks, .. } => reads.extend(asks.key().map(|key| key.place.base)),
            _ => {}
        }
        if let Some(when) = &self.guard {
            reads.push(when.test.a);
            reads.extend(source(when.test.b));
        }
        reads
    }

    /// The variables among them.
    pub fn uses(&self) -> impl Iterator<Item = Var> {
        self.reads().into_iter().filter_map(|src| match src {
            Src::Var(var) => Some(var),
            _ => None,
        })
    }

    /// Packet and stack bytes that the node reads or writes.
    pub fn touches(&self) -> Vec<Touch> {
        match &self.op {
            Do::Load { window, place, bytes, .. } => {
                vec![Touch { window: *window, at: Some((*place, bytes.count.into())), writes: false }]
            }
            Do::Store { window, place, bytes, .. } => {
                vec![Touch { window: *window, at: Some((*place, bytes.count.into())), writes: true }]
            }
            _ => self.reach.clone(),
        }
    }

    /// Whether nothing but its variable changes.
    pub fn is_pure(&self) -> bool {
        match self.op {
            Do::Move { from: Second::Source(Src::Special(Special::Time | Special::Random)), .. } => false,
            Do::Alu { .. }
            | Do::Move { .. }
            | Do::MoveHigh { .. }
            | Do::Extend { .. }
            | Do::Swap { .. }
            | Do::Field { .. }
            | Do::Set(_)
            | Do::Load { .. } => true,
            Do::Compare(_)
            | Do::Branch(..)
            | Do::Jump(_)
            | Do::Exit(_)
            | Do::Store { .. }
            | Do::Adjust { .. }
            | Do::Redirect { .. }
            | Do::Request { .. }
            | Do::Args { .. } => false,
        }
    }

    /// Whether a row may do it though the program, had it come here later, would not have: its variable is all that
    /// matters.
    pub fn harmless(&self) -> bool {
        self.is_pure() || self.reads_clock()
    }

    /// Whether it reads a value that changes by itself.
    pub fn reads_clock(&self) -> bool {
        matches!(self.op, Do::Move { from: Second::Source(Src::Special(Special::Time | Special::Random)), .. })
    }

    /// Its target, if it has one.
    pub fn target(&self) -> Option<To> {
        match self.op {
            Do::Branch(_, to) | Do::Jump(to) => Some(to),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn target_mut(&mut self) -> Option<&mut To> {
        match &mut self.op {
            Do::Branch(_, to) | Do::Jump(to) => Some(to),
            _ => None,
        }
    }

    /// The block where it leads, if it does.
    pub fn next(&self) -> Option<usize> {
        match self.target() {
            Some(To::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// Whether the next node is never reached.
    pub fn ends(&self) -> bool {
        self.guard.is_none() && matches!(self.op, Do::Jump(_) | Do::Exit(_))
    }

    /// When it leaves: of branches and guarded jumps and exits that hang on one comparison.
    pub fn leaves_when(&self) -> Option<When> {
        match (&self.op, self.guard) {
            (Do::Branch(test, _), None) => Some(When { test: *test, wanted: true }),
            (Do::Jump(_) | Do::Exit(_), guard) => guard,
            _ => None,
        }
    }

    /// Whether its input depends on the packet's place.
    pub fn reads_packet_place(&self) -> bool {
        let moves = |src: &Src| {
            matches!(src, Src::Special(Special::Data | Special::DataEnd | Special::DataMeta | Special::Len))
        };
        self.reads().iter().any(moves)
    }

    /// What it moves.
    pub fn adjusts(&self) -> Option<Adjust> {
        match self.op {
            Do::Adjust { what, .. } => Some(what),
            _ => None,
        }
    }
}

/// The variable or special in a second operand.
pub fn source(second: Second<Src>) -> Option<Src> {
    match second {
        Second::Source(src) => Some(src),
        Second::Imm(_) => None,
    }
}

/// The comparison that holds when this one does not; None of `set`.
pub fn inverse(cond: Cond) -> Option<Cond> {
    Some(match cond {
        Cond::Eq => Cond::Ne,
        Cond::Ne => Cond::Eq,
        Cond::Gt => Cond::Le,
        Cond::Ge => Cond::Lt,
        Cond::Lt => Cond::Ge,
        Cond::Le => Cond::Gt,
        Cond::Sgt => Cond::Sle,
        Cond::Sge => Cond::Slt,
        Cond::Slt => Cond::Sge,
        Cond::Sle => Cond::Sgt,
        Cond::Set => return None,
    })
}

/// The same comparison with its sides changed.
pub fn mirrored(cond: Cond) -> Cond {
    match cond {
        Cond::Gt => Cond::Lt,
        Cond::Ge => Cond::Le,
        Cond::Lt => Cond::Gt,
        Cond::Le => Cond::Ge,
        Cond::Sgt => Cond::Slt,
        Cond::Sge => Cond::Sle,
        Cond::Slt => Cond::Sgt,
        Cond::Sle => Cond::Sge,
        same => same,
    }
}

/// A run of nodes that is entered at its beginning and left at any branch; its last node, and no other, ends it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// In the order of the program.
    pub nodes: Vec<Node>,
}

impl Block {
    /// The blocks to which it leads.
    pub fn next(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().filter_map(Node::next)
    }
}

/// A program. It begins with block 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Code {
    /// By number.
    pub blocks: Vec<Block>,
    /// How many variables have been numbered.
    pub vars: u32,
}

impl Code {
    /// A new variable.
    pub fn fresh(&mut self) -> Var {
        self.vars += 1;
        Var(self.vars - 1)
    }

    /// How often each block is led to; the first counts as once more.
    pub fn entries(&self) -> Vec<usize> {
        let mut entries = vec![0; self.blocks.len()];
        if let Some(first) = entries.first_mut() {
            *first = 1;
        }
        for next in self.blocks.iter().flat_map(Block::next) {
            entries[next] += 1;
        }
        entries
    }
}

/// A plain copy.
pub fn copy(from: Src) -> NodeOp {
    Do::Move { width: Width::W64, from: Second::Source(from) }
}
