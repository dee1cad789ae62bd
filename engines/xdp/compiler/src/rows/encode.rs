// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows as bits.

use super::op::{Asks, Bytes, Do, Test, Window};
use super::tables::{ADJUSTS, ALU, ATOMICS, CONDITIONS, SOURCES, entry};
use super::{InWindow, Lane, Lanes, Row, Second, Source, Target, isa};
use crate::insn::Width;

/// Words of 32 bits in a row: the control word and two for each lane.
pub fn words_of_row(lanes: Lanes) -> usize {
    1 + 2 * lanes.count()
}

/// A row that has no encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum EncodeError {
    #[error("{what} is {value}; the row has room for {least} to {most}")]
    Range { what: &'static str, value: i64, least: i64, most: i64 },
}

/// Bits of a row that are being put together.
#[derive(Default, Clone, Copy)]
struct Bits(u64);

impl Bits {
    fn put(&mut self, (at, bits): (u32, u32), what: &'static str, value: impl Into<i64>) -> Result<(), EncodeError> {
        let (value, most) = (value.into(), (1i64 << bits) - 1);
        if !(0..=most).contains(&value) {
            return Err(EncodeError::Range { what, value, least: 0, most });
        }
        self.0 |= value.cast_unsigned() << at;
        Ok(())
    }
}

/// A row of that many lanes: the control word, then the lower and the upper half of each lane.
///
/// # Errors
/// A number does not fit into its field.
pub fn encode(row: &Row, lanes: Lanes) -> Result<Vec<u32>, EncodeError> {
    let mut control = Bits::default();
    if let Some(window) = row.packet {
        control.put((isa::CONTROL_PACKET_AT, 1), "the packet window", 1)?;
        let base = source(window.base, lanes)?;
        control.put((isa::CONTROL_PACKET_BASE_AT, isa::CONTROL_PACKET_BASE_BITS), "the window's base", base)?;
        let (least, most) =
            (-(1i64 << (isa::CONTROL_PACKET_OFFSET_BITS - 1)), (1i64 << (isa::CONTROL_PACKET_OFFSET_BITS - 1)) - 1);
        let value = i64::from(window.offset);
        if !(least..=most).contains(&value) {
            return Err(EncodeError::Range { what: "the window's offset", value, least, most });
        }
        let mask = (1 << isa::CONTROL_PACKET_OFFSET_BITS) - 1;
        control.0 |= (value.cast_unsigned() & mask) << isa::CONTROL_PACKET_OFFSET_AT;
    }
    if let Some(word) = row.stack {
        control.put((isa::CONTROL_STACK_AT, 1), "the stack window", 1)?;
        control.put((isa::CONTROL_STACK_WORD_AT, isa::CONTROL_STACK_WORD_BITS), "the stack window", word)?;
    }
    let mut words = vec![control.0 as u32];
    for index in 0..lanes.count() {
        let bits = match row.lanes.get(index) {
            Some(Some(it)) => lane(it, lanes)?.0,
            _ => 0,
        };
        words.extend([bits as u32, (bits >> 32) as u32]);
    }
    Ok(words)
}

fn source(source: Source, lanes: Lanes) -> Result<u32, EncodeError> {
    let Source::Register(register) = source else { return Ok(entry(&SOURCES, source).0) };
    let (lane, index) = (u32::from(register.lane), u32::from(register.index));
    for (what, value, count) in [("a register's lane", lane, lanes.count()), ("a register", index, lanes.registers())] {
        if value as usize >= count {
            return Err(EncodeError::Range { what, value: value.into(), least: 0, most: count as i64 - 1 });
        }
    }
    Ok(lane * lanes.registers() as u32 + index)
}

/// The number of an operation and the fields it uses.
struct Fields {
    op: u32,
    a: Source,
    b: Option<Second<Source>>,
    /// Without an immediate operand.
    imm: u64,
    /// What `dst` and `b` hold together, 12 bits, where `b` is no source. None: a register and nothing.
    beside: Option<u64>,
}

fn lane(lane: &Lane, lanes: Lanes) -> Result<Bits, EncodeError> {
    let fields = fields(&lane.op)?;
    let mut bits = Bits::default();
    bits.put((isa::LANE_OP_AT, isa::LANE_OP_BITS), "the operation", fields.op)?;
    bits.put((isa::LANE_A_AT, isa::LANE_A_BITS), "a", source(fields.a, lanes)?)?;
    if let Some(guard) = lane.guard {
        bits.put((isa::LANE_GUARDED_AT, 1), "the guard", 1)?;
        bits.put((isa::LANE_GUARD_WANTED_AT, 1), "the guard", guard.wanted)?;
        bits.put((isa::LANE_GUARD_LANE_AT, isa::LANE_GUARD_LANE_BITS), "the guard's lane", guard.lane)?;
    }
    if usize::from(lane.dst) >= lanes.registers() {
        let most = lanes.registers() as i64 - 1;
        return Err(EncodeError::Range { what: "the result's register", value: lane.dst.into(), least: 0, most });
    }
    // The pair of arguments takes the place of the result's register.
    let mut dst = if let Do::Args { k, .. } = lane.op { k.into() } else { u64::from(lane.dst) };
    match fields.b {
        Some(Second::Imm(imm)) => {
            bits.0 |= 1 << isa::LANE_IMMEDIATE_AT | u64::from(imm.cast_unsigned()) << isa::LANE_IMM_AT;
        }
        Some(Second::Source(_)) | None => bits.0 |= fields.imm << isa::LANE_IMM_AT,
    }
    match (fields.b, fields.beside) {
        (Some(Second::Source(b)), _) => bits.put((isa::LANE_B_AT, isa::LANE_B_BITS), "b", source(b, lanes)?)?,
        (_, Some(beside)) => {
            dst = beside & ((1 << isa::LANE_DST_BITS) - 1);
            bits.0 |= (beside >> isa::LANE_DST_BITS) << isa::LANE_B_AT;
        }
        (_, None) => {}
    }
    bits.0 |= dst << isa::LANE_DST_AT;
    Ok(bits)
}

fn wide(width: Width) -> u32 {
    if width == Width::W64 { isa::OP_WIDE } else { 0 }
}

fn condition(test: &Test<Source>) -> u32 {
    wide(test.width) + entry(&CONDITIONS, test.cond).0
}

fn fields(op: &Do<Source, InWindow, Target>) -> Result<Fields, EncodeError> {
    let plain = |op, a| Fields { op, a, b: None, imm: 0, beside: None };
    let pair = |op, a, b| Fields { op, a, b: Some(b), imm: 0, beside: None };
    Ok(match *op {
        Do::Alu { op, width, a, b } => pair(entry(&ALU, op).0 + wide(width), a, b),
        Do::Move { width, from } => pair(isa::OP_MOV + wide(width), Source::Zero, from),
        Do::MoveHigh { a, imm } => Fields { imm: imm.into(), ..plain(isa::OP_MOVHI, a) },
        Do::Extend { bits, width, a } => {
            let op = match bits {
                8 => isa::OP_SEXT8 + wide(width),
                16 => isa::OP_SEXT16 + wide(width),
                _ => isa::OP_SEXT32,
            };
            plain(op, a)
        }
        Do::Swap { bytes, a } => {
            let op = match bytes {
                2 => isa::OP_SWAP16,
                4 => isa::OP_SWAP32,
                _ => isa::OP_SWAP64,
            };
            plain(op, a)
        }
        Do::Field { shift, bits, left, a } => {
            let mut imm = Bits::default();
            imm.put((isa::FIELD_SHIFT_AT, isa::FIELD_SHIFT_BITS), "a field's first bit", shift)?;
            imm.put((isa::FIELD_BITS_AT, isa::FIELD_BITS_BITS), "a field's bits less one", i64::from(bits) - 1)?;
            imm.put((isa::FIELD_LEFT_AT, isa::FIELD_LEFT_BITS), "how far a field moves", left)?;
            Fields { imm: imm.0, ..plain(isa::OP_FIELD, a) }
        }
        Do::Set(test) => pair(isa::OP_SET + condition(&test), test.a, test.b),
        Do::Compare(test) => pair(isa::OP_CMP + condition(&test), test.a, test.b),
        Do::Branch(test, to) => {
            let to = target(to)?;
            Fields { imm: to, beside: Some(to), ..pair(isa::OP_BR + condition(&test), test.a, test.b) }
        }
        Do::Jump(to) => Fields { imm: target(to)?, ..plain(isa::OP_JMP, Source::Zero) },
        Do::Exit(a) => plain(isa::OP_EXIT, a),
        Do::Load { window, place, bytes, signed } => {
            let op = if window == Window::Packet { isa::OP_LDP } else { isa::OP_LDS };
            Fields { imm: in_window(window, place, bytes, signed)?, ..plain(op, Source::Zero) }
        }
        Do::Store { window, place, bytes, value } => {
            let op = if window == Window::Packet { isa::OP_STP } else { isa::OP_STS };
            let at = in_window(window, place, bytes, false)?;
            match value {
                Second::Source(a) => Fields { beside: Some(at), ..plain(op, a) },
                imm @ Second::Imm(_) => Fields { beside: Some(at), ..pair(op, Source::Zero, imm) },
            }
        }
        Do::Adjust { what, by } => plain(entry(&ADJUSTS, what).0, by),
        Do::Request { asks, answer, a, b } => {
            Fields { imm: request(&asks, answer)?, ..pair(isa::OP_EXT, a, Second::Source(b)) }
        }
        Do::Args { a, b, .. } => pair(isa::OP_ARG, a, b),
        Do::Redirect { to } => plain(isa::OP_REDIR, to),
    })
}

fn target(target: Target) -> Result<u64, EncodeError> {
    let mut bits = Bits::default();
    match target {
        Target::Row(row) => bits.put((isa::TARGET_ROW_AT, isa::TARGET_ROW_BITS), "a branch's row", row)?,
        Target::Exit(verdict) => {
            bits.put((isa::TARGET_EXIT_AT, 1), "the exit", 1)?;
            bits.put((isa::TARGET_VERDICT_AT, isa::TARGET_VERDICT_BITS), "a verdict", verdict)?;
        }
    }
    Ok(bits.0)
}

fn in_window(window: Window, place: InWindow, bytes: Bytes, signed: bool) -> Result<u64, EncodeError> {
    let mut bits = Bits::default();
    let (first, count) = (i64::from(place.0), i64::from(bytes.count));
    let most = i64::from(window.bytes()) - count;
    if !(1..=8).contains(&count) {
        return Err(EncodeError::Range { what: "a count of bytes", value: count, least: 1, most: 8 });
    }
    if first > most {
        return Err(EncodeError::Range { what: "an access's place in its window", value: first, least: 0, most });
    }
    bits.put((isa::BYTES_FIRST_AT, isa::BYTES_FIRST_BITS), "a place", first)?;
    bits.put((isa::BYTES_COUNT_AT, isa::BYTES_COUNT_BITS), "a count of bytes", count)?;
    bits.put((isa::BYTES_SIGNED_AT, 1), "the sign", signed)?;
    bits.put((isa::BYTES_SWAP_AT, 1), "the order", bytes.swap)?;
    Ok(bits.0)
}

fn request(asks: &Asks<InWindow>, answer: bool) -> Result<u64, EncodeError> {
    let mut bits = Bits::default();
    let kind = match asks {
        Asks::Load { .. } => isa::KIND_LOAD,
        Asks::Store { .. } => isa::KIND_STORE,
        Asks::Atomic { .. } => isa::KIND_ATOMIC,
        Asks::Divide { .. } => isa::KIND_DIV,
        Asks::Helper { .. } => isa::KIND_HELPER,
        Asks::Lookup { .. } => isa::KIND_LOOKUP,
        Asks::Update { .. } => isa::KIND_UPDATE,
        Asks::Delete { .. } => isa::KIND_DELETE,
        Asks::TailCall => isa::KIND_TAIL_CALL,
    };
    bits.put((isa::REQUEST_KIND_AT, isa::REQUEST_KIND_BITS), "a request", kind)?;
    bits.put((isa::REQUEST_SILENT_AT, 1), "a request", !answer)?;
    match *asks {
        Asks::Load { bytes: Bytes { count, swap }, signed } => {
            bits.put((isa::REQUEST_COUNT_AT, isa::REQUEST_COUNT_BITS), "a count of bytes", count)?;
            bits.put((isa::REQUEST_SIGNED_AT, 1), "the sign", signed)?;
            bits.put((isa::REQUEST_SWAP_AT, 1), "the order", swap)?;
        }
        Asks::Store { bytes: Bytes { count, swap } } => {
            bits.put((isa::REQUEST_COUNT_AT, isa::REQUEST_COUNT_BITS), "a count of bytes", count)?;
            bits.put((isa::REQUEST_SWAP_AT, 1), "the order", swap)?;
        }
        Asks::Atomic { op, count } => {
            bits.put((isa::REQUEST_COUNT_AT, isa::REQUEST_COUNT_BITS), "a count of bytes", count)?;
            bits.put((isa::REQUEST_ATOMIC_AT, isa::REQUEST_ATOMIC_BITS), "an atomic operation", entry(&ATOMICS, op).0)?;
        }
        Asks::Divide { signed, remainder, width } => {
            bits.put((isa::REQUEST_DIV_SIGNED_AT, 1), "the sign", signed)?;
            bits.put((isa::REQUEST_DIV_REMAINDER_AT, 1), "the remainder", remainder)?;
            bits.put((isa::REQUEST_DIV_NARROW_AT, 1), "the width", width == Width::W32)?;
        }
        Asks::Helper { number: of }
        | Asks::Lookup { map: Some(of), .. }
        | Asks::Update { map: Some(of), .. }
        | Asks::Delete { map: Some(of), .. } => {
            bits.put((isa::REQUEST_NUMBER_AT, isa::REQUEST_NUMBER_BITS), "a helper's or map's number", of)?;
        }
        Asks::Lookup { map: None, .. } | Asks::Update { map: None, .. } | Asks::Delete { map: None, .. } => {
            bits.put((isa::REQUEST_POINTER_AT, isa::REQUEST_POINTER_BITS), "a map's pointer", 1)?;
        }
        Asks::TailCall => {}
    }
    if let Some(key) = asks.key() {
        let at = if key.window == Window::Stack { isa::REQUEST_KEY_STACK_AT } else { isa::REQUEST_KEY_PACKET_AT };
        bits.put((at, 1), "the key", 1)?;
        bits.put((isa::REQUEST_KEY_FIRST_AT, isa::REQUEST_KEY_FIRST_BITS), "the key's first byte", key.place.0)?;
    }
    Ok(bits.0)
}
