// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The slots of a program: all state of a frame on its way through the program. A slot holds 64 bits. A value of more
//! bits has two slots, the lower half first.

use std::collections::HashSet;

use penstock_rmt_compiler::ir::{Extern, FieldId, FieldKind, InstanceId, MAX_BITS, ParserOp, Program, Stmt, StmtKind};

/// Index of a slot.
pub(crate) type Slot = u32;

/// A value in one or two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The slot, of its lower half if there are two.
    pub slot: Slot,
    /// Bits.
    pub width: u32,
}

impl Place {
    /// It has two slots.
    pub(crate) fn is_wide(self) -> bool {
        self.width > 64
    }

    /// Its value.
    #[inline]
    pub(crate) fn load(self, slots: &[u64]) -> u128 {
        let low = u128::from(slots[self.slot as usize]);
        if self.is_wide() { low | u128::from(slots[self.slot as usize + 1]) << 64 } else { low }
    }

    /// Writes its value.
    #[inline]
    pub(crate) fn store(self, slots: &mut [u64], value: u128) {
        slots[self.slot as usize] = value as u64;
        if self.is_wide() {
            slots[self.slot as usize + 1] = (value >> 64) as u64;
        }
    }
}

/// Which slot holds what.
#[derive(Debug)]
pub(crate) struct Slots {
    /// The place of each field, but varbits.
    pub fields: Vec<Place>,
    /// Bytes that the parser has taken.
    pub cursor: Slot,
    /// For each header two slots: one more than the first byte from which it was extracted last, 0 if it never was; and
    /// the bytes that its varbit had there.
    instances: Slot,
    /// For each varbit field two slots: its first byte in the frame, and its length in bytes.
    varbits: Vec<Option<Slot>>,
    /// The number of slots that are 0 when a frame enters. Those behind them hold arguments of calls from native code to
    /// Rust, which are written before they are read.
    pub changing: usize,
    /// All slots.
    pub count: usize,
}

impl Slots {
    /// The slots of a program's fields and headers.
    pub(crate) fn new(program: &Program) -> Self {
        let mut this = Self { fields: Vec::new(), cursor: 0, instances: 0, varbits: Vec::new(), changing: 0, count: 0 };
        let copied = copied_varbits(program);
        for (number, field) in program.fields.iter().enumerate() {
            let varbit = matches!(field.kind, FieldKind::Header { varbit: true, .. }) || copied.contains(&number);
            let varbit = varbit.then(|| this.take(2));
            this.varbits.push(varbit);
            let place = match varbit {
                Some(slot) => Place { slot, width: 0 },
                None => this.place(field.width.min(MAX_BITS)),
            };
            this.fields.push(place);
        }
        this.cursor = this.take(1);
        this.instances = this.take(2 * program.instances.len());
        this.changing = this.count;
        this
    }

    /// New slots, one behind the other.
    pub(crate) fn take(&mut self, count: usize) -> Slot {
        let slot = self.count as Slot;
        self.count += count;
        slot
    }

    /// New slots for a value.
    pub(crate) fn place(&mut self, width: u32) -> Place {
        Place { slot: self.take(if width > 64 { 2 } else { 1 }), width }
    }

    /// The slots that say where a header was extracted.
    pub(crate) fn instance(&self, instance: InstanceId) -> Slot {
        self.instances + 2 * instance as Slot
    }

    /// The slots of a varbit's place in the frame.
    pub(crate) fn varbit(&self, field: FieldId) -> Slot {
        self.varbits[field].unwrap_or(self.fields[field].slot)
    }
}

/// Fields that varbits are copied to or from, or compared with: variables are among them.
fn copied_varbits(program: &Program) -> HashSet<FieldId> {
    let mut found = HashSet::new();
    let mut note = |stmt: &Stmt| match &stmt.kind {
        StmtKind::CopyVarbit(to, from) => found.extend([*to, *from]),
        StmtKind::Extern(of) => {
            if let Extern::SameVarbit { a, b, .. } = **of {
                found.extend([a, b]);
            }
        }
        _ => {}
    };
    program.walk(&mut note);
    for op in program.parser.states.iter().flat_map(|state| &state.ops) {
        if let ParserOp::Run(stmt) = op {
            note(stmt);
        }
    }
    found
}
