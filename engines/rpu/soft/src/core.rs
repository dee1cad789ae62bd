// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The core: executes decoded instructions until it must wait.

use penstock_unit::{Outside, Pause};

use crate::{
    decode::{Code, NOWHERE, Op, decode},
    system::{Loaded, Stored, System},
};

/// Bytes of instruction memory.
pub(crate) const IMEM_BYTES: usize = 64 * 1024;
const WORDS: usize = IMEM_BYTES / 4;
/// Program counters have as many bits as instruction memory needs.
const PC_MASK: u32 = IMEM_BYTES as u32 - 1;
const TRAP: u32 = 4;

/// Causes of a trap (RISC-V privileged specification 20240411, table 14).
mod cause {
    pub(super) const FETCH_MISALIGNED: u32 = 0;
    pub(super) const ILLEGAL: u32 = 2;
    pub(super) const BREAKPOINT: u32 = 3;
    pub(super) const LOAD_MISALIGNED: u32 = 4;
    pub(super) const STORE_MISALIGNED: u32 = 6;
    pub(super) const ECALL: u32 = 11;
    pub(super) const INTERRUPT: u32 = 1 << 31 | 11;
}

/// Machine mode's registers, as far as the core has them.
#[derive(Debug, Clone, Default)]
struct Csrs {
    interrupts_on: bool,
    interrupts_were_on: bool,
    scratch: u32,
    epc: u32,
    cause: u32,
    tval: u32,
    /// Added to the steps executed to give mcycle.
    cycle_offset: u64,
    instret_offset: u64,
}

pub(crate) struct Core {
    program: Box<[Op; WORDS]>,
    /// x0..x31, and one register for writes to x0; an index of six bits addresses the array.
    registers: [u32; 64],
    pub pc: u32,
    csrs: Csrs,
    /// In a trap that has not returned.
    pub in_trap: bool,
    /// Stopped at a RECV, which gives way to interrupts while no frame is there.
    waiting: bool,
    /// Reads as mhartid.
    number: u32,
    /// ebreak halts, and is no exception. The host's setting: a reset leaves it.
    pub ebreak_halts: bool,
}

impl Core {
    pub(crate) fn new(number: u8) -> Self {
        let illegal = decode(0, 0);
        #[expect(clippy::unreachable, reason = "the vector has as many elements as the array")]
        let program: Box<[Op; WORDS]> = match vec![illegal; WORDS].into_boxed_slice().try_into() {
            Ok(program) => program,
            Err(_) => unreachable!(),
        };
        Self {
            program,
            registers: [0; 64],
            pc: 0,
            csrs: Csrs::default(),
            in_trap: false,
            waiting: false,
            number: u32::from(number),
            ebreak_halts: false,
        }
    }

    /// Takes a word into instruction memory.
    pub(crate) fn load(&mut self, address: u32, word: u32) {
        let pc = address & PC_MASK & !3;
        self.program[(pc >> 2) as usize] = decode(word, pc);
    }

    pub(crate) fn reset(&mut self) {
        self.pc = 0;
        self.csrs = Csrs::default();
        self.in_trap = false;
        self.waiting = false;
    }

    /// Stops waiting in a RECV: it will be executed again.
    pub(crate) fn leave_load(&mut self) {
        self.waiting = false;
    }

    /// Goes on at another address.
    pub(crate) fn go_to(&mut self, pc: u32) {
        self.pc = pc & PC_MASK & !3;
    }

    /// Executes one instruction, and takes no interrupt. None when it is done, else why it is not.
    pub(crate) fn step(&mut self, system: &mut System, outside: &mut dyn Outside) -> Option<Pause> {
        let before = system.now;
        let pause = self.steps(system, outside, 1);
        system.pardon(system.now - before);
        // A poll that found nothing is an instruction like others.
        pause.filter(|pause| matches!(pause, Pause::Waiting | Pause::Halted))
    }

    fn trap(&mut self, pc: u32, cause: u32, tval: u32) {
        self.csrs.interrupts_were_on = self.csrs.interrupts_on;
        self.csrs.interrupts_on = false;
        self.csrs.epc = pc;
        self.csrs.cause = cause;
        self.csrs.tval = tval;
        self.in_trap = true;
        self.csrs.instret_offset = self.csrs.instret_offset.wrapping_sub(1);
    }

    /// Reads CSR `number` and optionally replaces it. None: the register does not exist, or it cannot be written.
    fn csr(&mut self, number: u32, now: u64, new: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let csrs = &mut self.csrs;
        let low = |offset: u64| now.wrapping_add(offset) as u32;
        let high = |offset: u64| (now.wrapping_add(offset) >> 32) as u32;
        let old = match number {
            0x300 => 0x1800 | u32::from(csrs.interrupts_on) << 3 | u32::from(csrs.interrupts_were_on) << 7,
            0x305 => TRAP,
            0x340 => csrs.scratch,
            0x341 => csrs.epc,
            0x342 => csrs.cause,
            0x343 => csrs.tval,
            0xB00 => low(csrs.cycle_offset),
            0xB80 => high(csrs.cycle_offset),
            0xB02 => low(csrs.instret_offset),
            0xB82 => high(csrs.instret_offset),
            0xF14 => self.number,
            _ => return None,
        };
        let Some(new) = new(old) else {
            return Some(old);
        };
        // A counter reads as `now` + its offset, so writing one half moves the offset.
        let with_half = |offset: u64, shift: u32| {
            let value = now.wrapping_add(offset) & !(0xFFFF_FFFF << shift) | u64::from(new) << shift;
            value.wrapping_sub(now)
        };
        match number {
            0x300 => {
                csrs.interrupts_on = new & 8 != 0;
                csrs.interrupts_were_on = new & 0x80 != 0;
            }
            0x340 => csrs.scratch = new,
            0x341 => csrs.epc = new & PC_MASK & !3,
            0x342 => csrs.cause = new & 0x8000_000F,
            0x343 => csrs.tval = new,
            0xB00 => csrs.cycle_offset = with_half(csrs.cycle_offset, 0),
            0xB80 => csrs.cycle_offset = with_half(csrs.cycle_offset, 32),
            0xB02 => csrs.instret_offset = with_half(csrs.instret_offset, 0),
            0xB82 => csrs.instret_offset = with_half(csrs.instret_offset, 32),
            0xF14 => return None,
            _ => {}
        }
        Some(old)
    }

    /// Executes until the core would wait, at most `limit` instructions.
    pub(crate) fn run(&mut self, system: &mut System, outside: &mut dyn Outside, limit: u64) -> Pause {
        let mut left = limit;
        loop {
            system.tick_timer();
            if self.csrs.interrupts_on && system.interrupt() && !(self.waiting && system.has_frame()) {
                self.waiting = false;
                self.trap(self.pc, cause::INTERRUPT, 0);
                self.pc = TRAP;
            }
            if left == 0 {
                return Pause::Limit;
            }
            let before = system.now;
            // A RECV that got its frame is completed before an interrupt that was raised meanwhile.
            let steps = if self.waiting { 1 } else { left.min(system.until_timer()) };
            let paused = self.steps(system, outside, steps);
            left -= system.now - before;
            if let Some(pause) = paused {
                return pause;
            }
        }
    }

    /// Executes at most `limit` instructions; None when something happened that may have raised an interrupt, or at the
    /// limit.
    fn steps(&mut self, system: &mut System, outside: &mut dyn Outside, limit: u64) -> Option<Pause> {
        let start = system.now;
        let end = start + limit;
        let mut now = start;
        let mut pc = self.pc;
        let mut pause = None;
        let mut is_attention = false;

        macro_rules! reg {
            ($index:expr) => {
                self.registers[($index & 63) as usize]
            };
        }
        macro_rules! trap {
            ($cause:expr, $tval:expr) => {{
                self.trap(pc, $cause, $tval);
                pc = TRAP;
                continue;
            }};
        }
        macro_rules! jump {
            ($target:expr) => {{
                let target = $target;
                if target & 2 != 0 {
                    trap!(cause::FETCH_MISALIGNED, 0);
                }
                pc = target & PC_MASK;
                continue;
            }};
        }

        while now != end {
            let op = self.program[(pc >> 2) as usize & (WORDS - 1)];
            now += 1;
            let a = reg!(op.rs1);
            let b = reg!(op.rs2);
            let imm = op.imm;
            macro_rules! set {
                ($value:expr) => {
                    reg!(op.rd) = $value
                };
            }
            macro_rules! branch {
                ($taken:expr) => {
                    if $taken {
                        jump!(imm)
                    }
                };
            }
            // A load gives the word that holds the address; `shift` moves the requested bytes down.
            macro_rules! load {
                ($bytes:expr, $extend:expr) => {{
                    let address = a.wrapping_add(imm);
                    if is_misaligned(address, $bytes) {
                        trap!(cause::LOAD_MISALIGNED, address);
                    }
                    let word = match system.program_memory(address) {
                        Some(word) => u32::from_le_bytes(*word),
                        None => {
                            (system.now, system.pc) = (now, pc);
                            let loaded = system.load_swapped(address).map(Loaded::Value);
                            match loaded.unwrap_or_else(|| system.load_register(address)) {
                                Loaded::Value(word) => word,
                                Loaded::Interrupts(word) => {
                                    is_attention = true;
                                    word
                                }
                                Loaded::Nothing(word) => {
                                    pause = Some(Pause::Polling);
                                    word
                                }
                                Loaded::Silence(word) => {
                                    pause = Some(Pause::Listening);
                                    word
                                }
                                Loaded::Wait => {
                                    // Not executed now; it will be executed when a frame is there.
                                    now -= 1;
                                    pause = Some(Pause::Waiting);
                                    break;
                                }
                            }
                        }
                    };
                    set!($extend(word >> (8 * (address & 3))));
                    if is_attention || pause.is_some() {
                        pc += 4;
                        break;
                    }
                }};
            }
            macro_rules! store {
                ($type:ty) => {{
                    let address = a.wrapping_add(imm);
                    const BYTES: u32 = size_of::<$type>() as u32;
                    if is_misaligned(address, BYTES) {
                        trap!(cause::STORE_MISALIGNED, address);
                    }
                    if let Some(word) = system.program_memory(address) {
                        let at = (address & 3) as usize;
                        word[at..at + BYTES as usize].copy_from_slice(&(b as $type).to_le_bytes());
                    } else if !system.store_swapped(address, &(b as $type).to_le_bytes())
                        && !system.store_broadcast(address, &(b as $type).to_le_bytes(), outside)
                    {
                        (system.now, system.pc) = (now, pc);
                        // Registers see the value in every lane.
                        let value = u32::from(b as $type).wrapping_mul(u32::MAX / <$type>::MAX as u32);
                        if system.store_register(address, value, BYTES, outside) == Stored::Interrupts {
                            pc += 4;
                            break;
                        }
                    }
                }};
            }
            macro_rules! csr {
                ($new:expr) => {{
                    match self.csr(imm, now - 1, $new) {
                        Some(old) => set!(old),
                        None => trap!(cause::ILLEGAL, 0),
                    }
                    pc += 4;
                    break;
                }};
            }
            match op.code {
                Code::Constant => set!(imm),
                Code::Jal => {
                    if imm & 2 == 0 {
                        set!(pc.wrapping_add(4) & PC_MASK);
                    }
                    jump!(imm)
                }
                Code::Jalr => {
                    let target = a.wrapping_add(imm);
                    if target & 2 == 0 {
                        set!(pc.wrapping_add(4) & PC_MASK);
                    }
                    jump!(target & !1)
                }
                Code::Beq => branch!(a == b),
                Code::Bne => branch!(a != b),
                Code::Blt => branch!((a as i32) < b as i32),
                Code::Bge => branch!(a as i32 >= b as i32),
                Code::Bltu => branch!(a < b),
                Code::Bgeu => branch!(a >= b),
                Code::Lb => load!(1, |word| word as i8 as u32),
                Code::Lh => load!(2, |word| word as i16 as u32),
                Code::Lw => load!(4, |word| word),
                Code::Lbu => load!(1, |word| word & 0xFF),
                Code::Lhu => load!(2, |word| word & 0xFFFF),
                Code::Sb => store!(u8),
                Code::Sh => store!(u16),
                Code::Sw => store!(u32),
                Code::Addi => set!(a.wrapping_add(imm)),
                Code::Slti => set!(u32::from((a as i32) < imm as i32)),
                Code::Sltiu => set!(u32::from(a < imm)),
                Code::Xori => set!(a ^ imm),
                Code::Ori => set!(a | imm),
                Code::Andi => set!(a & imm),
                Code::Slli => set!(a << imm),
                Code::Srli => set!(a >> imm),
                Code::Srai => set!((a as i32 >> imm) as u32),
                Code::Add => set!(a.wrapping_add(b)),
                Code::Sub => set!(a.wrapping_sub(b)),
                Code::Sll => set!(a.wrapping_shl(b)),
                Code::Slt => set!(u32::from((a as i32) < b as i32)),
                Code::Sltu => set!(u32::from(a < b)),
                Code::Xor => set!(a ^ b),
                Code::Srl => set!(a.wrapping_shr(b)),
                Code::Sra => set!((a as i32).wrapping_shr(b) as u32),
                Code::Or => set!(a | b),
                Code::And => set!(a & b),
                Code::Mul => set!(a.wrapping_mul(b)),
                Code::Mulh => set!(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
                Code::Mulhsu => set!(((i64::from(a as i32) * i64::from(b)) >> 32) as u32),
                Code::Mulhu => set!(((u64::from(a) * u64::from(b)) >> 32) as u32),
                Code::Div => set!(if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 }),
                Code::Divu => set!(a.checked_div(b).unwrap_or(u32::MAX)),
                Code::Rem => set!(if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 }),
                Code::Remu => set!(a.checked_rem(b).unwrap_or(a)),
                Code::Andn => set!(a & !b),
                Code::Orn => set!(a | !b),
                Code::Xnor => set!(!(a ^ b)),
                Code::Clz => set!(a.leading_zeros()),
                Code::Ctz => set!(a.trailing_zeros()),
                Code::Cpop => set!(a.count_ones()),
                Code::Max => set!((a as i32).max(b as i32) as u32),
                Code::Maxu => set!(a.max(b)),
                Code::Min => set!((a as i32).min(b as i32) as u32),
                Code::Minu => set!(a.min(b)),
                Code::SextB => set!(a as i8 as u32),
                Code::SextH => set!(a as i16 as u32),
                Code::ZextH => set!(a & 0xFFFF),
                Code::Rol => set!(a.rotate_left(b & 31)),
                Code::Ror => set!(a.rotate_right(b & 31)),
                Code::Rori => set!(a.rotate_right(imm)),
                Code::OrcB => set!(u32::from_le_bytes(a.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xFF }))),
                Code::Rev8 => set!(a.swap_bytes()),
                Code::Csrrw => csr!(|_| Some(a)),
                Code::Csrrs => csr!(|old| (op.rs1 != 0).then_some(old | a)),
                Code::Csrrc => csr!(|old| (op.rs1 != 0).then_some(old & !a)),
                Code::Csrrwi => csr!(|_| Some(u32::from(op.rs1))),
                Code::Csrrsi => csr!(|old| (op.rs1 != 0).then_some(old | u32::from(op.rs1))),
                Code::Csrrci => csr!(|old| (op.rs1 != 0).then_some(old & !u32::from(op.rs1))),
                Code::Ecall => trap!(cause::ECALL, 0),
                Code::Ebreak if self.ebreak_halts => {
                    now -= 1;
                    pause = Some(Pause::Halted);
                    break;
                }
                Code::Ebreak => trap!(cause::BREAKPOINT, 0),
                Code::Mret => {
                    self.csrs.interrupts_on = self.csrs.interrupts_were_on;
                    self.csrs.interrupts_were_on = true;
                    self.in_trap = false;
                    pc = self.csrs.epc;
                    break;
                }
                Code::Nop => {}
                Code::Illegal => trap!(cause::ILLEGAL, 0),
            }
            pc = pc.wrapping_add(4);
        }
        self.pc = pc & PC_MASK;
        system.now = now;
        self.waiting = pause == Some(Pause::Waiting);
        pause
    }
}

/// `bytes` is a power of two.
#[inline(always)]
fn is_misaligned(address: u32, bytes: u32) -> bool {
    address & (bytes - 1) != 0
}

const _: () = assert!((NOWHERE as usize) < 64);
