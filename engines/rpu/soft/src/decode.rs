// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From instruction words to what the simulator executes: RV32I, M, Zbb, Zicsr and machine mode
//! (RISC-V unprivileged specification 20240411, chapters 2, 7, 13, 28 and 34).

/// The operation of an instruction. Immediate forms are separate, so that executing an instruction needs no check for
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// rd = imm (lui, auipc).
    Constant,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Andn,
    Orn,
    Xnor,
    Clz,
    Ctz,
    Cpop,
    Max,
    Maxu,
    Min,
    Minu,
    SextB,
    SextH,
    ZextH,
    Rol,
    Ror,
    Rori,
    OrcB,
    Rev8,
    /// imm = CSR number, rs2 = register or immediate operand.
    Csrrw,
    Csrrs,
    Csrrc,
    Csrrwi,
    Csrrsi,
    Csrrci,
    Ecall,
    Ebreak,
    Mret,
    /// fence, wfi.
    Nop,
    Illegal,
}

/// A decoded instruction. Branches, jumps and auipc have their address worked in: `imm` is absolute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub code: Code,
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub imm: u32,
}

/// The target of results for x0: a register that nothing reads.
pub(crate) const NOWHERE: u8 = 32;

/// Decodes `word` at `pc`.
pub(crate) fn decode(word: u32, pc: u32) -> Op {
    let field = |low: u32, bits: u32| (word >> low) & ((1 << bits) - 1);
    let (rs1, rs2) = (field(15, 5) as u8, field(20, 5) as u8);
    let rd = match field(7, 5) as u8 {
        0 => NOWHERE,
        register => register,
    };
    let (funct3, funct7) = (field(12, 3), field(25, 7));
    let signed = word as i32;
    let imm_i = (signed >> 20) as u32;
    let imm_s = ((signed >> 25) << 5) as u32 | field(7, 5);
    let imm_b = ((signed >> 31) << 12) as u32 | field(7, 1) << 11 | field(25, 6) << 5 | field(8, 4) << 1;
    let imm_u = word & 0xFFFF_F000;
    let imm_j = ((signed >> 31) << 20) as u32 | field(12, 8) << 12 | field(20, 1) << 11 | field(21, 10) << 1;

    let op = |code: Code, imm: u32| Op { code, rd, rs1, rs2, imm };
    let illegal = op(Code::Illegal, word);
    match word & 0x7F {
        0x37 => op(Code::Constant, imm_u),
        0x17 => op(Code::Constant, pc.wrapping_add(imm_u)),
        0x6F => op(Code::Jal, pc.wrapping_add(imm_j)),
        0x67 if funct3 == 0 => op(Code::Jalr, imm_i),
        0x63 => {
            let codes = [
                Some(Code::Beq),
                Some(Code::Bne),
                None,
                None,
                Some(Code::Blt),
                Some(Code::Bge),
                Some(Code::Bltu),
                Some(Code::Bgeu),
            ];
            codes[funct3 as usize].map_or(illegal, |code| op(code, pc.wrapping_add(imm_b)))
        }
        0x03 => {
            let codes =
                [Some(Code::Lb), Some(Code::Lh), Some(Code::Lw), None, Some(Code::Lbu), Some(Code::Lhu), None, None];
            codes[funct3 as usize].map_or(illegal, |code| op(code, imm_i))
        }
        0x23 => match funct3 {
            0 => op(Code::Sb, imm_s),
            1 => op(Code::Sh, imm_s),
            2 => op(Code::Sw, imm_s),
            _ => illegal,
        },
        0x13 => immediate(funct3, funct7, rs2).map_or(illegal, |code| {
            let shift = matches!(funct3, 1 | 5);
            op(code, if shift { u32::from(rs2) } else { imm_i })
        }),
        0x33 => register(funct3, funct7, rs2).map_or(illegal, |code| op(code, 0)),
        0x0F if funct3 == 0 => op(Code::Nop, 0),
        0x73 => match (funct3, word) {
            (0, 0x0000_0073) => op(Code::Ecall, 0),
            (0, 0x0010_0073) => op(Code::Ebreak, 0),
            (0, 0x3020_0073) => op(Code::Mret, 0),
            (0, 0x1050_0073) => op(Code::Nop, 0),
            (0 | 4, _) => illegal,
            _ => {
                let codes = [Code::Csrrw, Code::Csrrs, Code::Csrrc];
                let codes_i = [Code::Csrrwi, Code::Csrrsi, Code::Csrrci];
                let which = (funct3 & 3) as usize - 1;
                op(if funct3 < 4 { codes[which] } else { codes_i[which] }, word >> 20)
            }
        },
        _ => illegal,
    }
}

/// Arithmetic with an immediate; shifts carry their operation in the upper seven bits.
fn immediate(funct3: u32, funct7: u32, rs2: u8) -> Option<Code> {
    Some(match (funct3, funct7, rs2) {
        (0, _, _) => Code::Addi,
        (2, _, _) => Code::Slti,
        (3, _, _) => Code::Sltiu,
        (4, _, _) => Code::Xori,
        (6, _, _) => Code::Ori,
        (7, _, _) => Code::Andi,
        (1, 0x00, _) => Code::Slli,
        (1, 0x30, 0) => Code::Clz,
        (1, 0x30, 1) => Code::Ctz,
        (1, 0x30, 2) => Code::Cpop,
        (1, 0x30, 4) => Code::SextB,
        (1, 0x30, 5) => Code::SextH,
        (5, 0x00, _) => Code::Srli,
        (5, 0x20, _) => Code::Srai,
        (5, 0x30, _) => Code::Rori,
        (5, 0x14, 7) => Code::OrcB,
        (5, 0x34, 24) => Code::Rev8,
        _ => return None,
    })
}

/// Arithmetic between registers.
fn register(funct3: u32, funct7: u32, rs2: u8) -> Option<Code> {
    Some(match (funct7, funct3) {
        (0x00, 0) => Code::Add,
        (0x00, 1) => Code::Sll,
        (0x00, 2) => Code::Slt,
        (0x00, 3) => Code::Sltu,
        (0x00, 4) => Code::Xor,
        (0x00, 5) => Code::Srl,
        (0x00, 6) => Code::Or,
        (0x00, 7) => Code::And,
        (0x01, 0) => Code::Mul,
        (0x01, 1) => Code::Mulh,
        (0x01, 2) => Code::Mulhsu,
        (0x01, 3) => Code::Mulhu,
        (0x01, 4) => Code::Div,
        (0x01, 5) => Code::Divu,
        (0x01, 6) => Code::Rem,
        (0x01, 7) => Code::Remu,
        (0x20, 0) => Code::Sub,
        (0x20, 5) => Code::Sra,
        (0x20, 4) => Code::Xnor,
        (0x20, 6) => Code::Orn,
        (0x20, 7) => Code::Andn,
        (0x05, 4) => Code::Min,
        (0x05, 5) => Code::Minu,
        (0x05, 6) => Code::Max,
        (0x05, 7) => Code::Maxu,
        (0x30, 1) => Code::Rol,
        (0x30, 5) => Code::Ror,
        (0x04, 4) if rs2 == 0 => Code::ZextH,
        _ => return None,
    })
}
