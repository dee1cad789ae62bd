// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Unknown values: two are equal if they are built in the same way.

use std::collections::HashMap;

use crate::insn::Cond;
use crate::ir::Special;
use crate::rows::{Do, Register, Second, Test};

/// A value, by number: two are the same when their numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Val(u32);

impl Val {
    /// That of nothing.
    pub(super) const NONE: Val = Val(u32::MAX);
}

/// A place in packet or stack: an address, and a distance from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub base: Val,
    pub offset: i64,
}

/// An operation on values.
pub(super) type Operation = Do<Val, Place, ()>;

/// A comparison of values, and its required result. A comparison and its inverse share one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct When {
    pub test: Test<Val>,
    pub holds: bool,
}

/// The structure of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// A register's value at the start of the block.
    Register(Register),
    /// The value of a variable that is never read: it equals no other.
    Lost(usize),
    Zero,
    /// The external state at the start of the block: the n-th part of [`super::state::State`].
    Begin(u8),
    /// With the last move of the packet.
    Special(Special, Option<Val>),
    /// The n-th read of the clock, after that request.
    Clock(Special, u32, Val),
    /// A result: of a load with the earlier stores there, of requests and moves of the packet with the earlier ones.
    Result(Operation, Vec<Val>),
    /// An action that happens if a comparison has the result.
    Done(Operation, Option<When>, Vec<Val>),
    /// Stores, in an order that all equal ones have.
    Trace(Vec<Val>),
    /// The first if the comparison has the result, else the second.
    Either(When, Val, Val),
}

/// All values of a proof.
#[derive(Debug, Default)]
pub(super) struct Values {
    numbers: HashMap<Term, Val>,
    terms: Vec<Term>,
}

impl Values {
    /// The value of that make.
    pub(super) fn of(&mut self, term: Term) -> Val {
        if let Some(known) = self.numbers.get(&term) {
            return *known;
        }
        let new = Val(self.terms.len() as u32);
        self.terms.push(term.clone());
        self.numbers.insert(term, new);
        new
    }

    pub(super) fn zero(&mut self) -> Val {
        self.of(Term::Zero)
    }

    pub(super) fn register(&mut self, register: Register) -> Val {
        self.of(Term::Register(register))
    }

    pub(super) fn lost(&mut self, var: usize) -> Val {
        self.of(Term::Lost(var))
    }

    /// A value where the result of that comparison is known.
    pub(super) fn under(&self, when: Option<When>, value: Val) -> Val {
        let (Some(when), Term::Either(asked, yes, no)) = (when, &self.terms[value.0 as usize]) else { return value };
        match (asked.test == when.test, asked.holds == when.holds) {
            (false, _) => value,
            (true, true) => *yes,
            (true, false) => *no,
        }
    }

    /// A result that is kept only if a comparison has the result.
    pub(super) fn either(&mut self, when: Option<When>, yes: Val, no: Val) -> Val {
        match when {
            None => yes,
            Some(when) if when.holds => self.of(Term::Either(when, yes, no)),
            Some(when) => self.of(Term::Either(When { holds: true, ..when }, no, yes)),
        }
    }
}

/// A comparison in the form that it has here.
pub(super) fn when(test: Test<Val>, holds: bool) -> When {
    let (cond, turned) = match test.cond {
        Cond::Ne => (Cond::Eq, true),
        Cond::Le => (Cond::Gt, true),
        Cond::Lt => (Cond::Ge, true),
        Cond::Sle => (Cond::Sgt, true),
        Cond::Slt => (Cond::Sge, true),
        same => (same, false),
    };
    When { test: Test { cond, ..test }, holds: holds != turned }
}

/// A comparison with its operands as values.
pub(super) fn test_of<S: Copy>(test: &Test<S>, mut value: impl FnMut(S) -> Val) -> Test<Val> {
    let a = value(test.a);
    let b = match test.b {
        Second::Source(b) => Second::Source(value(b)),
        Second::Imm(imm) => Second::Imm(imm),
    };
    Test { cond: test.cond, width: test.width, a, b }
}

/// The results of comparisons on a way.
#[derive(Debug, Clone, Default)]
pub(super) struct Assumed(HashMap<Test<Val>, bool>);

impl Assumed {
    /// The same, with one more.
    pub(super) fn with(&self, test: Test<Val>, holds: bool) -> Assumed {
        let mut more = self.clone();
        more.0.insert(test, holds);
        more
    }

    /// The result of a comparison, if it is known.
    pub(super) fn decides(&self, when: When) -> Option<bool> {
        self.0.get(&when.test).map(|holds| *holds == when.holds)
    }
}
