// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows of the machine's memories (engines/rmt/machine.md), each made of words of 32 bits.

/// Vector words that the parser may fill and programs may use.
pub(super) const WORDS: usize = 27;
/// Words of the window.
pub(super) const WINDOW: u32 = 32;
/// Depths of the parser.
pub(super) const DEPTHS: usize = 8;
/// States of a depth, and actions of a stage.
pub(super) const ROWS: usize = 8;
/// Units of a stage.
pub(super) const UNITS: usize = 8;
/// Words of length, port and tenant; of the verdict; of bits of programs; of flags and errors.
pub(super) const ABOUT: u32 = 28;
pub(super) const VERDICT: u32 = 29;
pub(super) const BITS: u32 = 30;
pub(super) const FLAGS: u32 = 31;
/// Where a row of the parser goes to end: behind it, the error.
pub(super) const END: u32 = 8;
/// Sources of operand B: 0, the key's CRCs, the word of length and port, parameters, words of the vector.
const ZERO: u32 = 0;
const HASHES: u32 = 1;
const SECOND_ABOUT: u32 = 3;
const PARAMS: u32 = 4;
const SECOND_WORDS: u32 = 8;
/// First of the vector words that operand B sees, up to the last one of programs.
pub(super) const FIRST_SECOND: u32 = 19;

/// Adjacent bits of a vector word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Number of the word in the vector.
    pub word: u32,
    /// The piece's lowest bit in the word.
    pub low: u32,
    /// The number of bits.
    pub width: u32,
}

impl Piece {
    /// Its bits in the word.
    pub fn mask(self) -> u32 {
        low_bits(self.width) << self.low
    }
}

/// This many bits set, at most 32.
pub(super) fn low_bits(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

/// A bit that decides whether an operation is done, and what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Predicate {
    /// The bit, of [`BITS`] or [`FLAGS`].
    pub bit: Piece,
    pub value: bool,
}

impl Predicate {
    /// Index in bits 5:0, mode in 7:6.
    fn fields(of: Option<Self>) -> (u32, u32) {
        of.map_or((0, 0), |of| {
            let index = of.bit.low + if of.bit.word == FLAGS { 32 } else { 0 };
            (index, if of.value { 1 } else { 2 })
        })
    }

    /// As CHECK and EXIT have it.
    pub(super) fn checksum(of: Option<Self>) -> u32 {
        let (index, mode) = Self::fields(of);
        index | mode << 6
    }
}

/// A row of PARSER.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ParserRow {
    pub dst: u32,
    pub count: u32,
    pub advance: u32,
    pub var: Option<Variable>,
    pub flags: u32,
    pub need: u32,
    /// Word of the key, relative to the offset.
    pub key: i32,
    pub default: u32,
    /// Mask, value, next.
    pub cases: Vec<(u32, u32, u32)>,
}

/// The variable part of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variable {
    pub dst: u32,
    pub most: u32,
    pub double: bool,
    pub extract: bool,
    /// Word of the length, relative to the offset.
    pub word: i32,
    pub shift: u32,
    pub mask: u32,
    pub min: u32,
    pub under: u32,
}

impl ParserRow {
    /// A row that ends parsing with an error.
    pub(super) fn end(error: u32) -> Self {
        Self { default: END + error, ..Self::default() }
    }

    /// Its words.
    pub(super) fn words(&self) -> [u32; 12] {
        let mut words = [0; 12];
        words[0] = self.dst | self.count << 5 | self.advance << 10;
        if let Some(var) = &self.var {
            words[0] |=
                1 << 15 | var.dst << 16 | var.most << 21 | u32::from(var.double) << 26 | u32::from(var.extract) << 27;
            words[1] = signed6(var.word) | var.shift << 6 | var.mask << 11 | var.min << 17 | var.under << 23;
        }
        words[2] = self.flags | self.need << 16;
        words[3] = signed6(self.key) | self.default << 6;
        for (index, (mask, value, next)) in self.cases.iter().enumerate() {
            words[3] |= next << (10 + 4 * index) | 1 << (26 + index);
            words[4 + index] = *mask;
            words[8 + index] = *value;
        }
        words
    }
}

fn signed6(value: i32) -> u32 {
    value.cast_unsigned() & 0x3F
}

/// Where operand B of a unit comes from, and the operands of registers, meters and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Second {
    source: u32,
    /// In bytes.
    rotation: u32,
    width: u32,
}

impl Second {
    pub(super) const ZERO: Self = Self { source: ZERO, rotation: 0, width: 1 };

    /// Bits of a vector word that operand B sees.
    pub(super) fn of(piece: Piece) -> Self {
        let source =
            if piece.word == ABOUT { SECOND_ABOUT } else { SECOND_WORDS + piece.word.wrapping_sub(FIRST_SECOND) };
        Self { source, rotation: piece.low / 8, width: piece.width }
    }

    /// Bits of a word of parameters.
    pub(super) fn of_param(piece: Piece) -> Self {
        Self { source: PARAMS + piece.word, rotation: piece.low / 8, width: piece.width }
    }

    /// A CRC of the stage's key.
    pub(super) fn of_hash(index: u32, width: u32) -> Self {
        Self { source: HASHES + index, rotation: 0, width }
    }

    fn bits(self) -> u32 {
        self.source | self.rotation << 4 | (self.width - 1) << 6
    }
}

/// Operations of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Op {
    /// A.
    Set = 1,
    /// B.
    SetB = 2,
    And = 3,
    Or = 4,
    Xor = 5,
    Add = 6,
    Sub = 7,
    /// B - A.
    From = 8,
    Eq = 10,
    Ne = 11,
    Lt = 12,
    Ge = 13,
    Gt = 14,
    Le = 15,
}

impl Op {
    /// The operation that has the same result if A and B change places.
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Set => Self::SetB,
            Self::SetB => Self::Set,
            Self::Sub => Self::From,
            Self::From => Self::Sub,
            Self::Lt => Self::Gt,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Le => Self::Ge,
            Self::And | Self::Or | Self::Xor | Self::Add | Self::Eq | Self::Ne => self,
        }
    }
}

/// A unit of an action's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub op: Op,
    pub to: Piece,
    pub predicate: Option<Predicate>,
    /// Operand A, if the operation reads it.
    pub a: Option<Piece>,
    pub b: Second,
    pub immediate: u32,
}

impl Unit {
    fn words(&self) -> [u32; 3] {
        let (index, mode) = Predicate::fields(self.predicate);
        let to = self.to;
        [
            self.op as u32 | to.word << 4 | to.low << 9 | (to.width - 1) << 14 | mode << 19 | index << 21,
            self.a.map_or(0, |a| a.word | a.low << 5 | (a.width - 1) << 10) | self.b.bits() << 16,
            self.immediate,
        ]
    }
}

/// Operations of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum RegisterOp {
    Read = 1,
    Write = 2,
    Add = 3,
    Sub = 4,
    And = 5,
    Or = 6,
    Xor = 7,
    /// A meter's: the result is the frame's color, and the operand its tokens.
    Meter = 10,
}

/// The operation of a register or a meter in an action's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegisterUnit {
    pub op: RegisterOp,
    /// Where the result goes; it is the new value, else the old one.
    pub result: Option<(Piece, bool)>,
    pub index: Second,
    pub operand: Second,
    /// Bit 0 of the operand is the other one.
    pub one: bool,
    /// Cell of the segment at which the array begins, and its cells.
    pub offset: u32,
    pub cells: u32,
}

/// The count of an action's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountUnit {
    pub index: Second,
    /// Counter of the segment at which the array begins, and its counters.
    pub offset: u32,
    pub cells: u32,
}

/// Words of a row of ACTION.
pub const ACTION_WORDS: usize = 29;

/// A row of ACTION.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ActionRow {
    pub units: [Option<Unit>; UNITS],
    pub register: Option<RegisterUnit>,
    pub count: Option<CountUnit>,
}

impl ActionRow {
    /// Its words.
    pub(super) fn words(&self) -> [u32; ACTION_WORDS] {
        let mut words = [0; ACTION_WORDS];
        for (unit, place) in self.units.iter().zip(words.chunks_exact_mut(3)) {
            place.copy_from_slice(&unit.map_or([0; 3], |unit| unit.words()));
        }
        if let Some(register) = &self.register {
            words[24] = register.op as u32;
            if let Some((to, new)) = register.result {
                words[24] |= to.word << 4 | to.low << 9 | (to.width - 1) << 14 | u32::from(new) << 27 | 1 << 28;
            }
            words[25] = register.index.bits() | register.operand.bits() << 16 | u32::from(register.one) << 27;
            words[26] = register.offset | register.cells << 16;
        }
        if let Some(count) = &self.count {
            words[27] = count.index.bits() | 1 << 16;
            words[28] = count.offset | count.cells << 16;
        }
        words
    }
}

/// A checksum of CHECK or EXIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChecksumRow {
    /// Halfwords that it covers.
    pub halves: u64,
    pub predicate: Option<Predicate>,
    /// Halfword that holds it.
    pub at: u32,
}

impl ChecksumRow {
    /// The words 1 to 3 of its row. Without a checksum the predicate never holds.
    pub(super) fn words(of: Option<&Self>) -> [u32; 3] {
        of.map_or([0, 0, 3 << 6], |of| {
            [of.halves as u32, (of.halves >> 32) as u32, Predicate::checksum(of.predicate) | of.at << 8]
        })
    }
}

/// Words of a row of EXIT that say which words of the vector are the new head.
pub(super) const HEAD_WORDS: usize = 9;

/// When a word of the new head is emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmitIf {
    Never,
    Extracted,
    /// This bit of [`FLAGS`] is 1.
    Flag(u32),
}

/// A word of the new head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Emit {
    pub word: u32,
    /// Its halves that are of the head.
    pub upper: bool,
    pub lower: bool,
    pub when: EmitIf,
}

impl Emit {
    /// The words of the new head in a row of EXIT.
    pub(super) fn words(head: &[Self]) -> [u32; HEAD_WORDS] {
        let mut words = [0; HEAD_WORDS];
        for emit in head {
            let when = match emit.when {
                EmitIf::Never => 0,
                EmitIf::Extracted => 1 << 6,
                EmitIf::Flag(flag) => 1 << 7 | (32 + flag),
            };
            let fields = when | u32::from(emit.upper) << 8 | u32::from(emit.lower) << 9;
            words[emit.word as usize / 3] |= fields << (10 * (emit.word % 3));
        }
        words
    }
}

/// Words of a row of KEY that do not depend on where the driver puts the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeyRow {
    /// 0 none, 1 exact, 2 longest prefix, 3 ternary.
    pub table: u32,
    /// Action if the gate is closed.
    pub closed: u32,
    /// Word, mask and value of the gate.
    pub gate: (u32, u32, u32),
    /// Word and mask of each word of the key.
    pub keys: Vec<(u32, u32)>,
}

impl KeyRow {
    /// Its words. `base` and `size` are those of the table's partition; `miss` is the action of a miss, with its
    /// parameters.
    pub(super) fn words(&self, base: u32, size: u32, miss: (u32, [u32; 4])) -> [u32; 12] {
        let mut words = [0; 12];
        let key = |index: usize| self.keys.get(index).copied().unwrap_or((0, 0));
        words[0] = self.table | miss.0 << 2 | self.closed << 5 | self.gate.0 << 8;
        words[0] |= key(0).0 << 13 | key(1).0 << 18 | key(2).0 << 23;
        words[1] = key(3).0 | base << 8 | size << 24;
        (words[2], words[3]) = (self.gate.1, self.gate.2);
        for index in 0..4 {
            words[4 + index] = key(index).1;
        }
        words[8..12].copy_from_slice(&miss.1);
        words
    }
}
