// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The numbers and the textual names of operations.

use super::Source;
use super::isa;
use super::op::Alu;
use crate::insn::{AtomicOp, Cond};
use crate::ir::{Adjust, Special};

/// What, its number, its name.
pub(super) type Table<T, const N: usize> = [(T, u32, &'static str); N];

/// The number and the name of something. Each table has all there is.
pub(super) fn entry<T: PartialEq + Copy, const N: usize>(table: &Table<T, N>, what: T) -> (u32, &'static str) {
    let found = table.iter().find(|(each, _, _)| *each == what);
    found.map_or((0, "?"), |(_, number, name)| (*number, name))
}

/// The entry with that number.
pub(super) fn numbered<T: Copy, const N: usize>(table: &Table<T, N>, number: u32) -> Option<T> {
    table.iter().find(|(_, each, _)| *each == number).map(|(what, _, _)| *what)
}

/// The entry with that name.
pub(super) fn named<T: Copy, const N: usize>(table: &Table<T, N>, name: &str) -> Option<T> {
    table.iter().find(|(_, _, each)| *each == name).map(|(what, _, _)| *what)
}

pub(super) const ALU: Table<Alu, 9> = [
    (Alu::Add, isa::OP_ADD, "add"),
    (Alu::Sub, isa::OP_SUB, "sub"),
    (Alu::And, isa::OP_AND, "and"),
    (Alu::Or, isa::OP_OR, "or"),
    (Alu::Xor, isa::OP_XOR, "xor"),
    (Alu::Lsh, isa::OP_LSH, "lsh"),
    (Alu::Rsh, isa::OP_RSH, "rsh"),
    (Alu::Arsh, isa::OP_ARSH, "arsh"),
    (Alu::Mul, isa::OP_MUL, "mul"),
];

pub(super) const CONDITIONS: Table<Cond, 11> = [
    (Cond::Eq, isa::CONDITION_EQ, "eq"),
    (Cond::Ne, isa::CONDITION_NE, "ne"),
    (Cond::Set, isa::CONDITION_SET, "set"),
    (Cond::Gt, isa::CONDITION_GT, "gt"),
    (Cond::Ge, isa::CONDITION_GE, "ge"),
    (Cond::Lt, isa::CONDITION_LT, "lt"),
    (Cond::Le, isa::CONDITION_LE, "le"),
    (Cond::Sgt, isa::CONDITION_SGT, "sgt"),
    (Cond::Sge, isa::CONDITION_SGE, "sge"),
    (Cond::Slt, isa::CONDITION_SLT, "slt"),
    (Cond::Sle, isa::CONDITION_SLE, "sle"),
];

pub(super) const SOURCES: Table<Source, 12> = [
    (Source::Zero, isa::SOURCE_ZERO, "zero"),
    (Source::Special(Special::Data), isa::SOURCE_DATA, "data"),
    (Source::Special(Special::DataEnd), isa::SOURCE_DATA_END, "data_end"),
    (Source::Special(Special::DataMeta), isa::SOURCE_DATA_META, "data_meta"),
    (Source::Special(Special::Len), isa::SOURCE_LEN, "len"),
    (Source::Special(Special::Stack), isa::SOURCE_STACK, "stack"),
    (Source::Special(Special::Ifindex), isa::SOURCE_IFINDEX, "ifindex"),
    (Source::Special(Special::Queue), isa::SOURCE_QUEUE, "queue"),
    (Source::Special(Special::Egress), isa::SOURCE_EGRESS, "egress"),
    (Source::Special(Special::Time), isa::SOURCE_TIME, "time"),
    (Source::Special(Special::Cpu), isa::SOURCE_CPU, "cpu"),
    (Source::Special(Special::Random), isa::SOURCE_RANDOM, "random"),
];

pub(super) const ADJUSTS: Table<Adjust, 3> =
    [(Adjust::Head, isa::OP_ADJH, "adjh"), (Adjust::Meta, isa::OP_ADJM, "adjm"), (Adjust::Tail, isa::OP_ADJT, "adjt")];

pub(super) const ATOMICS: Table<AtomicOp, 6> = [
    (AtomicOp::Add, isa::ATOMIC_ADD, "add"),
    (AtomicOp::Or, isa::ATOMIC_OR, "or"),
    (AtomicOp::And, isa::ATOMIC_AND, "and"),
    (AtomicOp::Xor, isa::ATOMIC_XOR, "xor"),
    (AtomicOp::Xchg, isa::ATOMIC_XCHG, "xchg"),
    (AtomicOp::Cmpxchg, isa::ATOMIC_CMPXCHG, "cmpxchg"),
];
