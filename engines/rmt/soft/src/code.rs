// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The code of a program, and its maker. A slot holds 64 bits; values of more have two slots, the lower half first.
//! Constants have slots that are filled in the slots that a frame begins with.

use std::collections::HashMap;

use penstock_rmt_compiler::ir::{BinaryOp, Expr, ExprKind, FieldId, MAX_BITS, Program, UnaryOp};
use penstock_rmt_compiler::mask;

use crate::operation::Operation;

/// Index of a slot.
pub type Slot = u32;

/// A value in one or two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The slot, of its lower half if there are two.
    pub slot: Slot,
    /// Bits.
    pub width: u32,
}

impl Place {
    /// It has two slots.
    pub fn is_wide(self) -> bool {
        self.width > 64
    }
}

/// An instruction.
#[derive(Debug, Clone)]
pub enum Instr {
    Move {
        to: Slot,
        from: Slot,
    },
    Add {
        to: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Sub {
        to: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    And {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Or {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Xor {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Eq {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Ne {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Lt {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Le {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    /// `~a`
    Not {
        to: Slot,
        a: Slot,
        mask: u64,
    },
    /// `a >> shift & mask`
    Slice {
        to: Slot,
        a: Slot,
        shift: u32,
        mask: u64,
    },
    /// `a << shift | b`
    Concat {
        to: Slot,
        a: Slot,
        b: Slot,
        shift: u32,
    },
    Mux {
        to: Slot,
        condition: Slot,
        yes: Slot,
        no: Slot,
    },
    /// All others, and all of values of more than 64 bits.
    Wide(Box<Wide>),
    Jump(usize),
    /// If the slot is 0.
    JumpUnless(Slot, usize),
    RegisterRead {
        register: usize,
        index: Slot,
        to: Place,
    },
    RegisterWrite {
        register: usize,
        index: Slot,
        value: Place,
    },
    Count {
        counter: usize,
        index: Slot,
    },
    CopyVarbit {
        to: usize,
        from: usize,
    },
    /// A function of v1model.
    Operation(Box<Operation>),
    /// Looks up a table and runs the action; slots record the result: 1 for a hit, and the action.
    Apply {
        table: usize,
        hit: Slot,
        action: Slot,
    },
    Exit,
}

/// An operation of any width.
#[derive(Debug, Clone)]
pub struct Wide {
    pub to: Place,
    pub op: WideOp,
}

/// Operations of any width.
#[derive(Debug, Clone)]
pub enum WideOp {
    Move(Place),
    Unary(UnaryOp, Place),
    Binary(BinaryOp, Place, Place),
    Slice(Place, u32),
    Concat(Place, Place),
    SignExtend(Place),
    Mux(Place, Place, Place),
    /// Bits of the frame, at an offset from the cursor.
    Lookahead(u32),
}

/// Makes code.
pub struct Coder {
    /// Slots that a frame begins with.
    pub slots: Vec<u64>,
    constants: HashMap<(u128, bool), Slot>,
    /// By field.
    pub fields: Vec<Place>,
    /// The places of the parameters of the action whose code is generated.
    pub params: Vec<Place>,
    /// The code so far.
    pub code: Vec<Instr>,
}

impl Coder {
    /// Gives all fields of a program slots.
    pub fn new(program: &Program) -> Self {
        let mut this = Self {
            slots: Vec::new(),
            constants: HashMap::new(),
            fields: Vec::new(),
            params: Vec::new(),
            code: Vec::new(),
        };
        for field in &program.fields {
            // A varbit has a separate place in the state of a frame.
            let place = this.place(field.width.min(MAX_BITS));
            this.fields.push(place);
        }
        this
    }

    /// New slots for a value.
    pub fn place(&mut self, width: u32) -> Place {
        let slot = self.slots.len() as Slot;
        self.slots.resize(self.slots.len() + if width > 64 { 2 } else { 1 }, 0);
        Place { slot, width }
    }

    /// The slots of a constant.
    pub fn constant(&mut self, value: u128, width: u32) -> Place {
        let wide = width > 64;
        if let Some(slot) = self.constants.get(&(value, wide)) {
            return Place { slot: *slot, width };
        }
        let place = self.place(width);
        self.slots[place.slot as usize] = value as u64;
        if wide {
            self.slots[place.slot as usize + 1] = (value >> 64) as u64;
        }
        self.constants.insert((value, wide), place.slot);
        place
    }

    /// Takes the code made since the last time.
    pub fn take(&mut self) -> Vec<Instr> {
        std::mem::take(&mut self.code)
    }

    /// The slots of a value: a field's own, or new ones that code fills.
    pub fn value(&mut self, expr: &Expr) -> Place {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value, expr.width),
            ExprKind::Field(field) => self.fields[*field],
            ExprKind::Param(param) => self.params[*param],
            _ => {
                let to = self.place(expr.width);
                self.compute(expr, to);
                to
            }
        }
    }

    /// Assigns a value to a field.
    pub fn assign(&mut self, to: FieldId, expr: &Expr) {
        let to = self.fields[to];
        self.compute(expr, to);
    }

    /// Only the outermost operation writes `to`: inner ones may read it.
    fn compute(&mut self, expr: &Expr, to: Place) {
        let instr = match &expr.kind {
            ExprKind::Const(_) | ExprKind::Field(_) | ExprKind::Param(_) => {
                let from = self.value(expr);
                if to.is_wide() { wide(to, WideOp::Move(from)) } else { Instr::Move { to: to.slot, from: from.slot } }
            }
            ExprKind::Lookahead { offset } => wide(to, WideOp::Lookahead(*offset)),
            ExprKind::Unary(op, a) => {
                let a = self.value(a);
                match op {
                    UnaryOp::Not if !to.is_wide() => Instr::Not { to: to.slot, a: a.slot, mask: mask(to.width) as u64 },
                    _ => wide(to, WideOp::Unary(*op, a)),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                if a.is_wide() || b.is_wide() { wide(to, WideOp::Binary(*op, a, b)) } else { binary(*op, to, a, b) }
            }
            ExprKind::Slice(a, low) => {
                let a = self.value(a);
                self.slice(to, a, *low)
            }
            ExprKind::Resize(a) => {
                let a = self.value(a);
                self.slice(to, a, 0)
            }
            ExprKind::Concat(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                if to.is_wide() {
                    wide(to, WideOp::Concat(a, b))
                } else {
                    Instr::Concat { to: to.slot, a: a.slot, b: b.slot, shift: b.width }
                }
            }
            ExprKind::SignExtend(a) => {
                let a = self.value(a);
                wide(to, WideOp::SignExtend(a))
            }
            ExprKind::Mux(condition, yes, no) => {
                let (condition, yes, no) = (self.value(condition), self.value(yes), self.value(no));
                if to.is_wide() {
                    wide(to, WideOp::Mux(condition, yes, no))
                } else {
                    Instr::Mux { to: to.slot, condition: condition.slot, yes: yes.slot, no: no.slot }
                }
            }
        };
        self.code.push(instr);
    }

    fn slice(&self, to: Place, a: Place, low: u32) -> Instr {
        if a.is_wide() || to.is_wide() {
            return wide(to, WideOp::Slice(a, low));
        }
        Instr::Slice { to: to.slot, a: a.slot, shift: low, mask: mask(to.width) as u64 }
    }
}

fn wide(to: Place, op: WideOp) -> Instr {
    Instr::Wide(Box::new(Wide { to, op }))
}

/// An operator of two values of at most 64 bits.
fn binary(op: BinaryOp, to: Place, a: Place, b: Place) -> Instr {
    let all = mask(to.width) as u64;
    let (left, right, to_slot) = (a.slot, b.slot, to.slot);
    match op {
        BinaryOp::Add => Instr::Add { to: to_slot, a: left, b: right, mask: all },
        BinaryOp::Sub => Instr::Sub { to: to_slot, a: left, b: right, mask: all },
        BinaryOp::And => Instr::And { to: to_slot, a: left, b: right },
        BinaryOp::Or => Instr::Or { to: to_slot, a: left, b: right },
        BinaryOp::Xor => Instr::Xor { to: to_slot, a: left, b: right },
        BinaryOp::Eq => Instr::Eq { to: to_slot, a: left, b: right },
        BinaryOp::Ne => Instr::Ne { to: to_slot, a: left, b: right },
        BinaryOp::Lt => Instr::Lt { to: to_slot, a: left, b: right },
        BinaryOp::Le => Instr::Le { to: to_slot, a: left, b: right },
        _ => wide(to, WideOp::Binary(op, a, b)),
    }
}
