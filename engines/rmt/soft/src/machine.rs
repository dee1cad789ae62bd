// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program that can run: native code, and what Rust code beside it has to know.

use penstock_rmt_compiler::ir::{FieldKind, HashAlgorithm, MAX_BITS, Match, Program, StmtKind};
use penstock_rmt_compiler::mask;

use crate::header::{self, Header};
use crate::native::{Made, Native, NativeError};
use crate::operation::Operation;
use crate::slots::{Place, Slot, Slots};
use crate::uses::Uses;

/// A program that can run.
#[derive(Debug)]
pub(crate) struct Machine {
    pub slots: Slots,
    pub instances: Vec<Header>,
    /// Functions of v1model, by the number that native code calls them by.
    pub operations: Vec<Operation>,
    /// Checksums that native code leaves to Rust code, by the same kind of number.
    pub sums: Vec<Sum>,
    /// Keys of each `select` with value sets.
    pub selects: Vec<Vec<Place>>,
    pub tables: Vec<TableCode>,
    /// Instances in the order of the deparser.
    pub emits: Vec<usize>,
    /// Frames may be copied, cut or begin anew.
    pub replicates: bool,
    /// Frames may leave with less than an Ethernet header.
    pub keeps_short: bool,
    /// Fields that keep their values in copies, by the number that operations name.
    pub kept: Vec<Vec<Place>>,
    /// Fields of metadata, which copies begin with as 0.
    pub metadata: Vec<Place>,
    pub native: Native,
}

/// A checksum.
#[derive(Debug)]
pub(crate) struct Sum {
    pub parts: Vec<Part>,
    /// Bits of the result.
    pub width: u32,
    pub algorithm: HashAlgorithm,
    pub payload: bool,
}

/// Part of the data of a checksum or hash.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Value(Place),
    /// The slots of a varbit's place in the frame, and the validity of its header.
    Varbit(Slot, Slot),
}

/// A table's selector, and what its entries note.
#[derive(Debug)]
pub(crate) struct TableCode {
    /// Its entries note their frames: it has a direct counter or meter, or idle timeouts.
    pub counted: bool,
    /// How a frame chooses among the actions of a group: algorithm, hashed values, and bits of the hash.
    pub selector: Option<(HashAlgorithm, Vec<Part>, u32)>,
}

impl Machine {
    /// Compiles a program.
    ///
    /// # Errors
    /// There is no native code for it.
    pub(crate) fn new(program: &Program) -> Result<Self, NativeError> {
        let slots = Slots::new(program);
        let uses = Uses::of(program);
        let instances: Vec<Header> =
            (0..program.instances.len()).map(|index| header::header(program, &slots, &uses, index)).collect();
        let tables = program.tables.iter().map(|table| TableCode {
            counted: table.counter.is_some() || table.meter.is_some() || table.idle_timeouts,
            selector: table.profile.and_then(|profile| program.profiles[profile].selector).map(|selector| {
                let parts = table.selector.iter().map(|field| Part::Value(slots.fields[*field])).collect();
                (selector.algorithm, parts, selector.width)
            }),
        });
        let tables = tables.collect();
        let (mut replicates, mut keeps_short) = (false, false);
        program.walk(&mut |stmt| {
            let acts = matches!(&stmt.kind, StmtKind::Extern(of) if of.acts_on_frame());
            replicates |= acts || stmt.chooses_group();
            keeps_short |= acts;
        });
        replicates |= program.parser.states.iter().flat_map(|state| &state.ops).any(|op| op.chooses_group());
        let metadata = program.fields.iter().zip(&slots.fields);
        let metadata = metadata.filter(|(field, _)| {
            matches!(field.kind, FieldKind::Metadata | FieldKind::Standard(_) | FieldKind::Local)
                && field.width <= MAX_BITS
        });
        let metadata = metadata.map(|(_, place)| *place).collect();
        let emits = program.deparser.iter().map(|emit| emit.instance).collect();
        let made = Made::new(program, &instances, slots)?;
        Ok(Self {
            slots: made.slots,
            instances,
            operations: made.operations,
            sums: made.sums,
            selects: made.selects,
            tables,
            emits,
            replicates,
            keeps_short,
            kept: made.kept,
            metadata,
            native: made.native,
        })
    }
}

/// Whether a value is what a keyset says.
pub(crate) fn matches(keyset: &Match, value: u128, width: u32) -> bool {
    match *keyset {
        Match::Exact(of) => value == of,
        Match::Lpm(of, length) => (value ^ of) & mask(width) & !mask(width).checked_shr(length).unwrap_or(0) == 0,
        Match::Ternary(of, mask) => value & mask == of,
        Match::Range(low, high) => (low..=high).contains(&value),
    }
}
