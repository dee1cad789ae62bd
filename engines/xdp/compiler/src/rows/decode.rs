// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bits as rows. Decoding accepts exactly the output of `encode`: each row has one encoding.

use super::op::{Asks, Bytes, Do, Key, Test, Window};
use super::tables::{ADJUSTS, ALU, ATOMICS, CONDITIONS, SOURCES, numbered};
use super::{Guard, InWindow, Lane, Lanes, PacketWindow, Register, Row, Second, Source, Target, encode, isa};
use crate::insn::Width;

/// Bits that are no row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum DecodeError {
    #[error("a row of {lanes} lanes has {wanted} words, not {words}")]
    Words { lanes: usize, wanted: usize, words: usize },
    #[error("lane {lane}: there is no operation {op}")]
    Operation { lane: usize, op: u32 },
    #[error("lane {lane}: there is no source {source_number}")]
    Source { lane: usize, source_number: u32 },
    #[error("lane {lane}: there is no request {kind}, or not so")]
    Request { lane: usize, kind: u32 },
    #[error("bits are set that mean nothing in this row; clear them")]
    Unused,
}

/// A row of that many lanes.
///
/// # Errors
/// It is none.
pub fn decode(words: &[u32], lanes: Lanes) -> Result<Row, DecodeError> {
    let wanted = super::words_of_row(lanes);
    let Some((control, rest)) = words.split_first().filter(|_| words.len() == wanted) else {
        return Err(DecodeError::Words { lanes: lanes.count(), wanted, words: words.len() });
    };
    let control = u64::from(*control);
    let mut row = Row::default();
    if bit(control, isa::CONTROL_PACKET_AT) {
        let base = source(get(control, (isa::CONTROL_PACKET_BASE_AT, isa::CONTROL_PACKET_BASE_BITS)), 0, lanes)?;
        let unused = 32 - isa::CONTROL_PACKET_OFFSET_BITS;
        let offset = get(control, (isa::CONTROL_PACKET_OFFSET_AT, isa::CONTROL_PACKET_OFFSET_BITS));
        row.packet = Some(PacketWindow { base, offset: ((offset << unused).cast_signed() >> unused) as i16 });
    }
    if bit(control, isa::CONTROL_STACK_AT) {
        row.stack = Some(get(control, (isa::CONTROL_STACK_WORD_AT, isa::CONTROL_STACK_WORD_BITS)) as u8);
    }
    for (index, word) in rest.chunks_exact(2).enumerate() {
        let bits = u64::from(word[0]) | u64::from(word[1]) << 32;
        row.lanes.push(if get(bits, (isa::LANE_OP_AT, isa::LANE_OP_BITS)) == isa::OP_NOP {
            None
        } else {
            Some(lane(bits, index, lanes)?)
        });
    }
    if encode(&row, lanes).as_deref() != Ok(words) {
        return Err(DecodeError::Unused);
    }
    Ok(row)
}

fn get(bits: u64, (at, count): (u32, u32)) -> u32 {
    (bits >> at & ((1 << count) - 1)) as u32
}

fn bit(bits: u64, at: u32) -> bool {
    bits >> at & 1 == 1
}

fn source(number: u32, lane: usize, lanes: Lanes) -> Result<Source, DecodeError> {
    let per_lane = lanes.registers() as u32;
    if number < lanes.count() as u32 * per_lane {
        return Ok(Source::Register(Register { lane: (number / per_lane) as u8, index: (number % per_lane) as u8 }));
    }
    numbered(&SOURCES, number).ok_or(DecodeError::Source { lane, source_number: number })
}

fn lane(bits: u64, index: usize, lanes: Lanes) -> Result<Lane, DecodeError> {
    let op = get(bits, (isa::LANE_OP_AT, isa::LANE_OP_BITS));
    let a = source(get(bits, (isa::LANE_A_AT, isa::LANE_A_BITS)), index, lanes);
    let (b_bits, dst) =
        (get(bits, (isa::LANE_B_AT, isa::LANE_B_BITS)), get(bits, (isa::LANE_DST_AT, isa::LANE_DST_BITS)));
    let imm = get(bits, (isa::LANE_IMM_AT, isa::LANE_IMM_BITS));
    let immediate = bit(bits, isa::LANE_IMMEDIATE_AT);
    let b =
        if immediate { Ok(Second::Imm(imm.cast_signed())) } else { source(b_bits, index, lanes).map(Second::Source) };
    // A store's place is in {b, dst}, and so is a branch's target if there is an immediate operand.
    let beside = b_bits << isa::LANE_DST_BITS | dst;
    let test = |width, cond| Ok(Test { cond, width, a: a.clone()?, b: b.clone()? });
    let width = if op & isa::OP_WIDE == 0 { Width::W32 } else { Width::W64 };
    let narrow = op & !isa::OP_WIDE;
    let condition = numbered(&CONDITIONS, narrow & 15);
    let operation = || Err(DecodeError::Operation { lane: index, op });

    let what = match (op, narrow) {
        (_, n) if numbered(&ALU, n).is_some() => {
            Do::Alu { op: numbered(&ALU, n).unwrap_or(super::Alu::Add), width, a: a?, b: b? }
        }
        (_, isa::OP_MOV) => Do::Move { width, from: b? },
        (isa::OP_MOVHI, _) => Do::MoveHigh { a: a?, imm },
        (_, isa::OP_SEXT8) => Do::Extend { bits: 8, width, a: a? },
        (_, isa::OP_SEXT16) => Do::Extend { bits: 16, width, a: a? },
        (isa::OP_SEXT32, _) => Do::Extend { bits: 32, width, a: a? },
        (isa::OP_SWAP16, _) => Do::Swap { bytes: 2, a: a? },
        (isa::OP_SWAP32, _) => Do::Swap { bytes: 4, a: a? },
        (isa::OP_SWAP64, _) => Do::Swap { bytes: 8, a: a? },
        (isa::OP_FIELD, _) => Do::Field {
            shift: get(imm.into(), (isa::FIELD_SHIFT_AT, isa::FIELD_SHIFT_BITS)) as u8,
            bits: get(imm.into(), (isa::FIELD_BITS_AT, isa::FIELD_BITS_BITS)) as u8 + 1,
            left: get(imm.into(), (isa::FIELD_LEFT_AT, isa::FIELD_LEFT_BITS)) as u8,
            a: a?,
        },
        (isa::OP_JMP, _) => Do::Jump(target(imm)),
        (isa::OP_EXIT, _) => Do::Exit(a?),
        (isa::OP_LDP | isa::OP_LDS, _) => {
            let (place, bytes) = in_window(imm);
            let window = if op == isa::OP_LDP { Window::Packet } else { Window::Stack };
            Do::Load { window, place, bytes, signed: bit(imm.into(), isa::BYTES_SIGNED_AT) }
        }
        (isa::OP_STP | isa::OP_STS, _) => {
            let (place, bytes) = in_window(beside);
            let window = if op == isa::OP_STP { Window::Packet } else { Window::Stack };
            let value = if immediate { b? } else { Second::Source(a?) };
            Do::Store { window, place, bytes, value }
        }
        (isa::OP_REDIR, _) => Do::Redirect { to: a? },
        (isa::OP_EXT, _) => {
            let asks = request(imm, index)?;
            let b = source(b_bits, index, lanes)?;
            Do::Request { asks, answer: !bit(imm.into(), isa::REQUEST_SILENT_AT), a: a?, b }
        }
        (isa::OP_ARG, _) => Do::Args { k: dst as u8, a: a?, b: b? },
        _ if numbered(&ADJUSTS, op).is_some() => {
            Do::Adjust { what: numbered(&ADJUSTS, op).unwrap_or(crate::ir::Adjust::Head), by: a? }
        }
        _ => {
            let Some(cond) = condition else { return operation() };
            match op & !(isa::OP_WIDE | 15) {
                isa::OP_SET => Do::Set(test(width, cond)?),
                isa::OP_CMP => Do::Compare(test(width, cond)?),
                isa::OP_BR => Do::Branch(test(width, cond)?, target(if immediate { beside } else { imm })),
                _ => return operation(),
            }
        }
    };
    let guard = bit(bits, isa::LANE_GUARDED_AT).then(|| Guard {
        lane: get(bits, (isa::LANE_GUARD_LANE_AT, isa::LANE_GUARD_LANE_BITS)) as u8,
        wanted: bit(bits, isa::LANE_GUARD_WANTED_AT),
    });
    // Without a result `dst` is part of the bits beside an immediate operand, or 0.
    let dst = if what.has_result() { dst as u8 } else { 0 };
    Ok(Lane { op: what, dst, guard })
}

fn target(bits: u32) -> Target {
    if bit(bits.into(), isa::TARGET_EXIT_AT) {
        Target::Exit(get(bits.into(), (isa::TARGET_VERDICT_AT, isa::TARGET_VERDICT_BITS)) as u8)
    } else {
        Target::Row(get(bits.into(), (isa::TARGET_ROW_AT, isa::TARGET_ROW_BITS)) as u16)
    }
}

fn in_window(bits: u32) -> (InWindow, Bytes) {
    let first = get(bits.into(), (isa::BYTES_FIRST_AT, isa::BYTES_FIRST_BITS)) as u8;
    let count = get(bits.into(), (isa::BYTES_COUNT_AT, isa::BYTES_COUNT_BITS)) as u8;
    (InWindow(first), Bytes { count, swap: bit(bits.into(), isa::BYTES_SWAP_AT) })
}

fn request(imm: u32, lane: usize) -> Result<Asks<InWindow>, DecodeError> {
    let imm = u64::from(imm);
    let kind = get(imm, (isa::REQUEST_KIND_AT, isa::REQUEST_KIND_BITS));
    let error = DecodeError::Request { lane, kind };
    let number = get(imm, (isa::REQUEST_NUMBER_AT, isa::REQUEST_NUMBER_BITS)) as u16;
    let map = (!bit(imm, isa::REQUEST_POINTER_AT)).then_some(number);
    let count = get(imm, (isa::REQUEST_COUNT_AT, isa::REQUEST_COUNT_BITS)) as u8;
    let bytes = Bytes { count, swap: bit(imm, isa::REQUEST_SWAP_AT) };
    let window = match (bit(imm, isa::REQUEST_KEY_STACK_AT), bit(imm, isa::REQUEST_KEY_PACKET_AT)) {
        (true, false) => Some(Window::Stack),
        (false, true) => Some(Window::Packet),
        _ => None,
    };
    let first = get(imm, (isa::REQUEST_KEY_FIRST_AT, isa::REQUEST_KEY_FIRST_BITS)) as u8;
    let key = window.map(|window| Key { window, place: InWindow(first) });
    Ok(match kind {
        isa::KIND_LOAD => Asks::Load { bytes, signed: bit(imm, isa::REQUEST_SIGNED_AT) },
        isa::KIND_STORE => Asks::Store { bytes },
        isa::KIND_ATOMIC => {
            let op = get(imm, (isa::REQUEST_ATOMIC_AT, isa::REQUEST_ATOMIC_BITS));
            Asks::Atomic { op: numbered(&ATOMICS, op).ok_or(error)?, count }
        }
        isa::KIND_DIV => Asks::Divide {
            signed: bit(imm, isa::REQUEST_DIV_SIGNED_AT),
            remainder: bit(imm, isa::REQUEST_DIV_REMAINDER_AT),
            width: if bit(imm, isa::REQUEST_DIV_NARROW_AT) { Width::W32 } else { Width::W64 },
        },
        isa::KIND_HELPER => Asks::Helper { number },
        isa::KIND_LOOKUP => Asks::Lookup { map, key },
        isa::KIND_UPDATE => Asks::Update { map, key },
        isa::KIND_DELETE => Asks::Delete { map, key },
        isa::KIND_TAIL_CALL => Asks::TailCall,
        _ => return Err(error),
    })
}
