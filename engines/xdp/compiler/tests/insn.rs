// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The instruction set: every opcode there and back, the kernel's notation, every encoding that is none.

#![allow(clippy::expect_used)]

use penstock_xdp_compiler::insn::{Code, CodeError, DecodeError, decode};

/// A slot from its fields.
fn slot(opcode: u8, dst: u8, src: u8, offset: i16, imm: i32) -> [u8; 8] {
    let (o, i) = (offset.to_le_bytes(), imm.to_le_bytes());
    [opcode, dst | src << 4, o[0], o[1], i[0], i[1], i[2], i[3]]
}

const EMPTY: [u8; 8] = [0; 8];

fn printed(raw: [u8; 8]) -> String {
    decode(raw, Some(EMPTY)).expect("an instruction").to_string()
}

fn refused(raw: [u8; 8]) -> DecodeError {
    decode(raw, Some(EMPTY)).expect_err("no instruction")
}

/// Every instruction that decodes encodes to the same bytes: over all opcodes and the interesting values of all fields.
#[test]
fn there_and_back() {
    let mut decoded = std::collections::HashSet::new();
    for opcode in 0..=255 {
        for dst in [0, 3, 9, 10, 11] {
            for src in 0..=11 {
                for offset in [0, 1, 2, 8, 16, 32, -1] {
                    for imm in [0, 1, 16, 32, 64, 0x40, 0x41, 0x51, 0xa1, 0xe0, 0xe1, 0xf1, -1] {
                        let raw = slot(opcode, dst, src, offset, imm);
                        let second = slot(0, 0, 0, 0, if src == 2 { 7 } else { 0 });
                        if let Ok(insn) = decode(raw, Some(second)) {
                            let (first, rest) = insn.encode();
                            assert_eq!(first, raw, "{insn}");
                            assert!(rest.is_none_or(|rest| rest == second), "{insn}");
                            decoded.insert(opcode);
                        }
                    }
                }
            }
        }
    }
    // RFC 9669: 2 × 13 operations with two kinds of operand less NEG's register form, 3 byte swaps, 2 × 11 × 2 jumps,
    // ja, gotol, call, exit, lddw, 4 + 3 loads, 8 stores, 2 atomics.
    assert_eq!(decoded.len(), 2 * (12 * 2 + 1) + 3 + 2 * 11 * 2 + 4 + 1 + 7 + 8 + 2);
}

#[test]
fn notation() {
    assert_eq!(printed(slot(0xbf, 1, 6, 0, 0)), "r1 = r6");
    assert_eq!(printed(slot(0xb4, 0, 0, 0, 2)), "w0 = 2");
    assert_eq!(printed(slot(0x3f, 0, 1, 1, 0)), "r0 s/= r1");
    assert_eq!(printed(slot(0x94, 0, 0, 1, 7)), "w0 s%= 7");
    assert_eq!(printed(slot(0xbf, 0, 1, 16, 0)), "r0 = (s16)r1");
    assert_eq!(printed(slot(0xdc, 2, 0, 0, 16)), "r2 = be16 r2");
    assert_eq!(printed(slot(0xd7, 2, 0, 0, 64)), "r2 = bswap64 r2");
    assert_eq!(printed(slot(0x87, 2, 0, 0, 0)), "r2 = -r2");
    assert_eq!(printed(slot(0x61, 2, 1, 4, 0)), "r2 = *(u32 *)(r1 +4)");
    assert_eq!(printed(slot(0x91, 2, 1, -4, 0)), "r2 = *(s8 *)(r1 -4)");
    assert_eq!(printed(slot(0x7a, 10, 0, -8, 5)), "*(u64 *)(r10 -8) = 5");
    assert_eq!(printed(slot(0xdb, 1, 2, 8, 0)), "lock *(u64 *)(r1 +8) += r2");
    assert_eq!(printed(slot(0xc3, 1, 2, 8, 0xf1)), "w0 = cmpxchg32_32((u32 *)(r1 +8), w0, w2)");
    assert_eq!(printed(slot(0x6d, 1, 2, 3, 0)), "if r1 s> r2 goto pc+3");
    assert_eq!(printed(slot(0x46, 1, 0, -3, 8)), "if w1 & 8 goto pc-3");
    assert_eq!(printed(slot(0x06, 0, 0, 0, -70_000)), "gotol pc-70000");
    assert_eq!(printed(slot(0x18, 1, 5, 0, 3)), "r1 = map(3)");
    assert_eq!(printed(slot(0x85, 0, 0, 0, 44)), "call 44");
}

#[test]
fn no_instructions() {
    assert_eq!(refused(slot(0xff, 0, 0, 0, 0)), DecodeError::Opcode(0xff));
    assert_eq!(refused(slot(0xe5, 0, 0, 0, 0)), DecodeError::Opcode(0xe5));
    assert_eq!(refused(slot(0x8d, 0, 0, 0, 0)), DecodeError::CallRegister);
    assert_eq!(refused(slot(0x8e, 0, 0, 0, 0)), DecodeError::Opcode(0x8e));
    assert_eq!(refused(slot(0xbf, 0, 12, 0, 0)), DecodeError::Register(12));
    assert_eq!(refused(slot(0xb7, 15, 0, 0, 0)), DecodeError::Register(15));
    assert_eq!(refused(slot(0xb7, 10, 0, 0, 0)), DecodeError::FramePointer);
    assert_eq!(refused(slot(0x79, 10, 1, 0, 0)), DecodeError::FramePointer);
    assert_eq!(refused(slot(0xdb, 1, 10, 0, 1)), DecodeError::FramePointer);
    let reserved = |opcode, field, value| DecodeError::Reserved { opcode, field, value };
    assert_eq!(refused(slot(0x07, 0, 1, 0, 4)), reserved(0x07, "source register", 1));
    assert_eq!(refused(slot(0x0f, 0, 1, 0, 4)), reserved(0x0f, "immediate", 4));
    assert_eq!(refused(slot(0x0f, 0, 1, 2, 0)), reserved(0x0f, "offset", 2));
    assert_eq!(refused(slot(0x95, 0, 0, 0, 1)), reserved(0x95, "immediate", 1));
    assert_eq!(refused(slot(0x05, 1, 0, 0, 0)), reserved(0x05, "destination register", 1));
    assert_eq!(refused(slot(0x61, 0, 1, 0, 1)), reserved(0x61, "immediate", 1));
    assert_eq!(refused(slot(0x37, 0, 0, 2, 1)), DecodeError::Offset { opcode: 0x37, offset: 2 });
    assert_eq!(refused(slot(0xbc, 0, 1, 32, 0)), DecodeError::Offset { opcode: 0xbc, offset: 32 });
    assert_eq!(refused(slot(0xd4, 0, 0, 0, 8)), DecodeError::SwapBits(8));
    assert_eq!(refused(slot(0xdb, 0, 1, 0, 0xe0)), DecodeError::Atomic(0xe0));
    assert_eq!(refused(slot(0xd3, 0, 1, 0, 0)), DecodeError::AtomicSize);
    assert_eq!(refused(slot(0x18, 0, 7, 0, 0)), DecodeError::ImmSource(7));
    assert_eq!(refused(slot(0x85, 0, 2, 0, 9)), DecodeError::Kfunc);
    assert_eq!(refused(slot(0x85, 0, 3, 0, 9)), DecodeError::CallSource(3));
    assert_eq!(refused(slot(0x30, 0, 0, 0, 0)), DecodeError::LegacyPacket);
    let half = decode(slot(0x18, 0, 0, 0, 0), None).expect_err("half an instruction");
    assert_eq!(half, DecodeError::SecondSlot);
    let filled = decode(slot(0x18, 0, 0, 0, 0), Some(slot(0xb7, 0, 0, 0, 0))).expect_err("a filled second half");
    assert_eq!(filled, DecodeError::SecondSlot);
}

#[test]
fn jumps_stay_inside() {
    let code = |slots: &[[u8; 8]]| Code::decode(&slots.concat());
    let wide = slot(0x18, 1, 0, 0, 5);
    let exit = slot(0x95, 0, 0, 0, 0);
    assert!(matches!(code(&[slot(0x05, 0, 0, 1, 0), exit]), Err(CodeError::Outside { slot: 0, target: 2, .. })));
    assert!(matches!(code(&[slot(0x05, 0, 0, -2, 0), exit]), Err(CodeError::Outside { slot: 0, target: -1, .. })));
    let halfway = code(&[slot(0x15, 0, 0, 1, 0), wide, EMPTY, exit]).expect_err("a jump into a second half");
    assert_eq!(
        halfway.to_string(),
        "instruction 0 (`if r0 == 0 goto pc+1`) leads to 2, the second half of a 64-bit immediate load"
    );
    assert!(matches!(code(&[slot(0x85, 0, 1, 0, 5), exit]), Err(CodeError::Outside { slot: 0, target: 6, .. })));
    assert!(matches!(Code::decode(&[0; 12]), Err(CodeError::Length(12))));
    let fine = code(&[slot(0x05, 0, 0, 2, 0), wide, EMPTY, exit]).expect("a program");
    assert_eq!((fine.len(), fine.iter().count(), fine.target(0)), (4, 3, Some(3)));
    assert_eq!(fine.encode(), [slot(0x05, 0, 0, 2, 0), wide, EMPTY, exit].concat());
}
