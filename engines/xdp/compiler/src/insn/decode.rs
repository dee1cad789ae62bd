// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From bytes to an instruction. Reserved fields must be zero: a future version of the RFC may give them a meaning.

use super::encode::{class, mode, op, pseudo};
use super::{AluOp, AtomicOp, Callee, Cond, Imm64, Insn, Operand, Reg, Size, Swap, Width};

/// Why eight or sixteen bytes are no instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum DecodeError {
    #[error("no instruction has the opcode {0:#04x}")]
    Opcode(u8),
    #[error(
        "this calls what a register points to (callx), which Linux does not have either; compile with -O1 or higher, \
         which calls \
         helpers by number, and functions by name"
    )]
    CallRegister,
    #[error("there is no register r{0}, the last is r10")]
    Register(u8),
    #[error("r10 is the frame pointer and cannot be written")]
    FramePointer,
    #[error("opcode {opcode:#04x} does not use its {field}, which must be 0 and is {value}")]
    Reserved { opcode: u8, field: &'static str, value: i32 },
    #[error("opcode {opcode:#04x} does not exist with offset {offset}")]
    Offset { opcode: u8, offset: i16 },
    #[error("a byte swap works on 16, 32 or 64 bits, not on {0}")]
    SwapBits(i32),
    #[error("no atomic operation has the number {0:#x}")]
    Atomic(i32),
    #[error("atomic operations work on 4 or 8 bytes")]
    AtomicSize,
    #[error("a 64-bit immediate load takes two slots, and the second is missing or not empty")]
    SecondSlot,
    #[error("no 64-bit immediate load has the source {0}")]
    ImmSource(u8),
    #[error("this calls a kernel function (kfunc); only helpers and the program's own functions can be called")]
    Kfunc,
    #[error("no call has the source {0}")]
    CallSource(u8),
    #[error("loads of packet bytes by ld_abs and ld_ind are for socket filters; read the packet through ctx->data")]
    LegacyPacket,
}

/// The fields of a slot.
#[derive(Debug, Clone, Copy)]
struct Fields {
    opcode: u8,
    dst: u8,
    src: u8,
    offset: i16,
    imm: i32,
}

impl Fields {
    fn new(slot: [u8; 8]) -> Fields {
        Fields {
            opcode: slot[0],
            dst: slot[1] & 0xf,
            src: slot[1] >> 4,
            offset: i16::from_le_bytes([slot[2], slot[3]]),
            imm: i32::from_le_bytes([slot[4], slot[5], slot[6], slot[7]]),
        }
    }

    fn reserved(&self, field: &'static str, value: i32) -> Result<(), DecodeError> {
        if value == 0 { Ok(()) } else { Err(DecodeError::Reserved { opcode: self.opcode, field, value }) }
    }

    fn no_dst(&self) -> Result<(), DecodeError> {
        self.reserved("destination register", self.dst.into())
    }

    fn no_src(&self) -> Result<(), DecodeError> {
        self.reserved("source register", self.src.into())
    }

    fn no_offset(&self) -> Result<(), DecodeError> {
        self.reserved("offset", self.offset.into())
    }

    fn no_imm(&self) -> Result<(), DecodeError> {
        self.reserved("immediate", self.imm)
    }

    /// The destination, as a register that is only read.
    fn dst(&self) -> Result<Reg, DecodeError> {
        Reg::new(self.dst).ok_or(DecodeError::Register(self.dst))
    }

    fn written(&self) -> Result<Reg, DecodeError> {
        match self.dst()? {
            Reg::FP => Err(DecodeError::FramePointer),
            reg => Ok(reg),
        }
    }

    fn src(&self) -> Result<Reg, DecodeError> {
        Reg::new(self.src).ok_or(DecodeError::Register(self.src))
    }

    /// The second operand of arithmetic and jumps: the opcode selects it, and the other must be empty.
    fn operand(&self) -> Result<Operand, DecodeError> {
        if self.opcode & op::X != 0 {
            self.no_imm()?;
            Ok(Operand::Reg(self.src()?))
        } else {
            self.no_src()?;
            Ok(Operand::Imm(self.imm))
        }
    }

    fn size(&self) -> Size {
        match self.opcode & 0x18 {
            mode::W => Size::B4,
            mode::H => Size::B2,
            mode::B => Size::B1,
            _ => Size::B8,
        }
    }
}

/// Decodes the instruction that begins with `slot`. `second` is the next slot, which only a 64-bit immediate load uses.
pub fn decode(slot: [u8; 8], second: Option<[u8; 8]>) -> Result<Insn, DecodeError> {
    let fields = Fields::new(slot);
    match fields.opcode & 7 {
        class::ALU => alu(&fields, Width::W32),
        class::ALU64 => alu(&fields, Width::W64),
        class::JMP => jump(&fields, Width::W64),
        class::JMP32 => jump(&fields, Width::W32),
        class::LD => load_imm(&fields, second),
        class::LDX => load(&fields),
        class::ST => {
            if fields.opcode & 0xe0 != mode::MEM {
                return Err(DecodeError::Opcode(fields.opcode));
            }
            fields.no_src()?;
            let src = Operand::Imm(fields.imm);
            Ok(Insn::Store { size: fields.size(), base: fields.dst()?, offset: fields.offset, src })
        }
        _ => match fields.opcode & 0xe0 {
            mode::MEM => {
                fields.no_imm()?;
                let src = Operand::Reg(fields.src()?);
                Ok(Insn::Store { size: fields.size(), base: fields.dst()?, offset: fields.offset, src })
            }
            mode::ATOMIC => atomic(&fields),
            _ => Err(DecodeError::Opcode(fields.opcode)),
        },
    }
}

fn alu(fields: &Fields, width: Width) -> Result<Insn, DecodeError> {
    let plain = |op: AluOp| {
        fields.no_offset()?;
        Ok(Insn::Alu { op, width, dst: fields.written()?, src: fields.operand()? })
    };
    let signed_by_offset = |unsigned: AluOp, signed: AluOp| {
        let op = match fields.offset {
            0 => unsigned,
            1 => signed,
            offset => return Err(DecodeError::Offset { opcode: fields.opcode, offset }),
        };
        Ok(Insn::Alu { op, width, dst: fields.written()?, src: fields.operand()? })
    };
    match fields.opcode & 0xf0 {
        op::ADD => plain(AluOp::Add),
        op::SUB => plain(AluOp::Sub),
        op::MUL => plain(AluOp::Mul),
        op::DIV => signed_by_offset(AluOp::Div, AluOp::Sdiv),
        op::OR => plain(AluOp::Or),
        op::AND => plain(AluOp::And),
        op::LSH => plain(AluOp::Lsh),
        op::RSH => plain(AluOp::Rsh),
        op::MOD => signed_by_offset(AluOp::Mod, AluOp::Smod),
        op::XOR => plain(AluOp::Xor),
        op::ARSH => plain(AluOp::Arsh),
        op::MOV if fields.offset != 0 => {
            let from = match (fields.offset, width) {
                (8, _) => Size::B1,
                (16, _) => Size::B2,
                (32, Width::W64) => Size::B4,
                (offset, _) => return Err(DecodeError::Offset { opcode: fields.opcode, offset }),
            };
            match fields.operand()? {
                Operand::Reg(src) => Ok(Insn::MovSx { width, from, dst: fields.written()?, src }),
                Operand::Imm(_) => Err(DecodeError::Offset { opcode: fields.opcode, offset: fields.offset }),
            }
        }
        op::MOV => plain(AluOp::Mov),
        op::NEG if fields.opcode & op::X == 0 => {
            fields.no_src()?;
            fields.no_offset()?;
            fields.no_imm()?;
            Ok(Insn::Neg { width, dst: fields.written()? })
        }
        op::END => {
            fields.no_src()?;
            fields.no_offset()?;
            let size = match fields.imm {
                16 => Size::B2,
                32 => Size::B4,
                64 => Size::B8,
                bits => return Err(DecodeError::SwapBits(bits)),
            };
            let kind = match (width, fields.opcode & op::X != 0) {
                (Width::W32, false) => Swap::ToLe,
                (Width::W32, true) => Swap::ToBe,
                (Width::W64, false) => Swap::Always,
                (Width::W64, true) => return Err(DecodeError::Opcode(fields.opcode)),
            };
            Ok(Insn::Swap { kind, size, dst: fields.written()? })
        }
        _ => Err(DecodeError::Opcode(fields.opcode)),
    }
}

fn jump(fields: &Fields, width: Width) -> Result<Insn, DecodeError> {
    let cond = match fields.opcode & 0xf0 {
        op::JA if fields.opcode & op::X == 0 => {
            fields.no_dst()?;
            fields.no_src()?;
            return match width {
                Width::W64 => {
                    fields.no_imm()?;
                    Ok(Insn::Jump { offset: fields.offset.into(), long: false })
                }
                Width::W32 => {
                    fields.no_offset()?;
                    Ok(Insn::Jump { offset: fields.imm, long: true })
                }
            };
        }
        op::CALL if width == Width::W64 && fields.opcode & op::X == 0 => return call(fields),
        op::CALL if width == Width::W64 => return Err(DecodeError::CallRegister),
        op::EXIT if width == Width::W64 && fields.opcode & op::X == 0 => {
            fields.no_dst()?;
            fields.no_src()?;
            fields.no_offset()?;
            fields.no_imm()?;
            return Ok(Insn::Exit);
        }
        op::JEQ => Cond::Eq,
        op::JNE => Cond::Ne,
        op::JSET => Cond::Set,
        op::JGT => Cond::Gt,
        op::JGE => Cond::Ge,
        op::JLT => Cond::Lt,
        op::JLE => Cond::Le,
        op::JSGT => Cond::Sgt,
        op::JSGE => Cond::Sge,
        op::JSLT => Cond::Slt,
        op::JSLE => Cond::Sle,
        _ => return Err(DecodeError::Opcode(fields.opcode)),
    };
    Ok(Insn::Branch { cond, width, left: fields.dst()?, right: fields.operand()?, offset: fields.offset })
}

fn call(fields: &Fields) -> Result<Insn, DecodeError> {
    fields.no_dst()?;
    match fields.src {
        pseudo::CALL_HELPER => {
            fields.no_offset()?;
            Ok(Insn::Call(Callee::Helper(fields.imm.cast_unsigned())))
        }
        pseudo::CALL_LOCAL => {
            fields.no_offset()?;
            Ok(Insn::Call(Callee::Local(fields.imm)))
        }
        pseudo::CALL_KFUNC => Err(DecodeError::Kfunc),
        source => Err(DecodeError::CallSource(source)),
    }
}

fn load_imm(fields: &Fields, second: Option<[u8; 8]>) -> Result<Insn, DecodeError> {
    match fields.opcode & 0xe0 {
        mode::IMM if fields.size() == Size::B8 => {}
        mode::ABS | mode::IND => return Err(DecodeError::LegacyPacket),
        _ => return Err(DecodeError::Opcode(fields.opcode)),
    }
    fields.no_offset()?;
    let dst = fields.written()?;
    let second = second.map(Fields::new).ok_or(DecodeError::SecondSlot)?;
    if (second.opcode, second.dst, second.src, second.offset) != (0, 0, 0, 0) {
        return Err(DecodeError::SecondSlot);
    }
    let (low, high) = (fields.imm, second.imm);
    let alone = |imm: Imm64| if high == 0 { Ok(imm) } else { Err(DecodeError::SecondSlot) };
    let imm = match fields.src {
        pseudo::IMM_VALUE => Imm64::Value(u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned())),
        pseudo::IMM_MAP_FD => alone(Imm64::MapFd(low))?,
        pseudo::IMM_MAP_FD_VALUE => Imm64::MapFdValue { fd: low, offset: high.cast_unsigned() },
        pseudo::IMM_VARIABLE => Imm64::Variable { id: low, object: high },
        pseudo::IMM_FUNCTION => alone(Imm64::Function(low))?,
        pseudo::IMM_MAP => alone(Imm64::Map(low.cast_unsigned()))?,
        pseudo::IMM_MAP_VALUE => Imm64::MapValue { map: low.cast_unsigned(), offset: high.cast_unsigned() },
        source => return Err(DecodeError::ImmSource(source)),
    };
    Ok(Insn::LoadImm64 { dst, imm })
}

fn load(fields: &Fields) -> Result<Insn, DecodeError> {
    let signed = match fields.opcode & 0xe0 {
        mode::MEM => false,
        mode::MEMSX if fields.size() != Size::B8 => true,
        _ => return Err(DecodeError::Opcode(fields.opcode)),
    };
    fields.no_imm()?;
    Ok(Insn::Load { size: fields.size(), signed, dst: fields.written()?, base: fields.src()?, offset: fields.offset })
}

fn atomic(fields: &Fields) -> Result<Insn, DecodeError> {
    let width = match fields.size() {
        Size::B4 => Width::W32,
        Size::B8 => Width::W64,
        _ => return Err(DecodeError::AtomicSize),
    };
    let fetch = fields.imm & op::FETCH != 0;
    let op = match (fields.imm & !op::FETCH, fetch) {
        (op::ATOMIC_ADD, _) => AtomicOp::Add,
        (op::ATOMIC_OR, _) => AtomicOp::Or,
        (op::ATOMIC_AND, _) => AtomicOp::And,
        (op::ATOMIC_XOR, _) => AtomicOp::Xor,
        (op::ATOMIC_XCHG, true) => AtomicOp::Xchg,
        (op::ATOMIC_CMPXCHG, true) => AtomicOp::Cmpxchg,
        _ => return Err(DecodeError::Atomic(fields.imm)),
    };
    let src = fields.src()?;
    if src == Reg::FP && fetch && op != AtomicOp::Cmpxchg {
        return Err(DecodeError::FramePointer);
    }
    Ok(Insn::Atomic { op, width, fetch, base: fields.dst()?, offset: fields.offset, src })
}
