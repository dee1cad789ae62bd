// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bare programs on the xdp core's RTL (penstock_xdp_compiler::bare): many runs in one simulation, each with a memory
//! of its own in the unit's maps, which the frame that starts it names.

mod exec;

use std::ops::Range;
use std::sync::Arc;

use penstock_xdp_compiler::bare::{self, ENDED, RECORD_BYTES, STOPPED};
use penstock_xdp_compiler::card::UNIT;
use penstock_xdp_compiler::insn::{Callee, Code, Insn};

use penstock_device::rtl::RtlDevice;
use penstock_device::{
    Design, DesignError, Device, DeviceError, Image, PartId, PartImage, Port, Progress, Rate, Root, Traffic, regs,
};
use penstock_engine::window::{UNIT_WINDOW, word_of};
use penstock_xdp_host::rows::RowImage;
use penstock_xdp_host::window::UNIT_MAPS;
use penstock_xdp_host::{Lanes, XDP, XdpImage};

pub use exec::EXEC;

/// Bytes of the unit's maps.
const MAP_BYTES: usize = 1 << 16;
/// The longest memory: data for the program is handed over in front of it.
pub const MAX_BYTES: usize = MAP_BYTES - RECORD_BYTES as usize;
/// Bytes of a frame that starts a run.
const FRAME_BYTES: usize = 60;
/// Cycles between two checks whether all have ended; after the same time a program counts as endless.
const LOOK: u64 = 400;
const LIMIT: u64 = 500_000;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BareError {
    #[error(transparent)]
    Program(#[from] bare::BareError),
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("the memory has {bytes} bytes; on rtl it has {MAX_BYTES} at most")]
    Length { bytes: usize },
    #[error("instruction {slot} (`{insn}`) reaches outside of the memory and the stack")]
    Outside { slot: usize, insn: Insn },
    #[error("instruction {slot} (`{insn}`) calls deeper than eight functions")]
    Depth { slot: usize, insn: Insn },
    #[error("the program has run for {LIMIT} cycles and is taken to have no end")]
    Endless,
}

/// A program for cores of some number of lanes.
#[derive(Debug, Clone)]
pub struct BareProgram {
    code: Code,
    rows: Vec<Vec<u32>>,
}

impl BareProgram {
    /// Makes rows of instructions.
    ///
    /// # Errors
    /// There are none.
    pub fn compile(program: &[u8], lanes: Lanes) -> Result<Self, BareError> {
        let rows = bare::compile(program, lanes)?.words;
        let code = Code::decode(program).map_err(bare::BareError::from)?;
        Ok(Self { code, rows })
    }
}

/// A simulated core with a program.
pub struct Bare {
    device: RtlDevice,
    code: Code,
}

impl Bare {
    /// Builds or finds the model of a core with this many lanes, and loads a program for them.
    ///
    /// # Errors
    /// The model cannot be built.
    pub fn open(
        root: &Root,
        lanes: Lanes,
        program: BareProgram,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, BareError> {
        let text = format!(
            "[card]\nname = \"bare\"\nports = 2\n[dispatch]\npolicy = \"round-robin\"\n[[units]]\nengine = \"xdp\"\ncount = 1\nxdp.lanes = {}\n\
             program = \"drop.c\"\n",
            lanes.count()
        );
        let design = Design::parse(&root.join("engines/xdp/programs/bare.toml"), &text)?;
        let device = RtlDevice::open(root, &design, None, progress)?;
        let mut bare = Self { device, code: Code::default() };
        bare.load(program)?;
        Ok(bare)
    }

    /// Gives it another program, for as many lanes.
    ///
    /// # Errors
    /// The card does not start.
    pub fn load(&mut self, program: BareProgram) -> Result<(), BareError> {
        self.code = program.code;
        let image = XdpImage::of_rows(RowImage { rows: program.rows, ..RowImage::default() });
        let group = PartImage { part: PartId::Units(0), units: 0..1, engine: &XDP, image: Arc::new(image) };
        Ok(self.device.load(&Image { groups: vec![group], inline: vec![] })?)
    }

    /// Runs the program once.
    ///
    /// # Errors
    /// It was stopped, or the memory is too long.
    pub fn run_one(&mut self, memory: Vec<u8>) -> Result<u64, BareError> {
        self.run(&mut [memory])?.pop().unwrap_or(Err(BareError::Endless))
    }

    /// Runs the program once on each memory, which it may change; gives its r0 for each.
    ///
    /// # Errors
    /// If a memory is too long, or the program has no end; then it must be loaded again.
    pub fn run(&mut self, memories: &mut [Vec<u8>]) -> Result<Vec<Result<u64, BareError>>, BareError> {
        let mut results = Vec::with_capacity(memories.len());
        let mut rest = memories;
        while !rest.is_empty() {
            let mut places: Vec<Range<usize>> = Vec::new();
            let mut end = 0;
            for memory in rest.iter() {
                let start = end + RECORD_BYTES as usize;
                end = (start + memory.len()).next_multiple_of(8);
                if end > MAP_BYTES {
                    break;
                }
                places.push(start..start + memory.len());
            }
            if places.is_empty() {
                return Err(BareError::Length { bytes: rest[0].len() });
            }
            let (now, later) = rest.split_at_mut(places.len());
            self.batch(now, &places)?;
            for (memory, place) in now.iter_mut().zip(&places) {
                results.push(self.result(memory, place)?);
            }
            rest = later;
        }
        Ok(results)
    }

    /// Runs the program on memories at places in the unit's maps, until all have ended.
    fn batch(&mut self, memories: &[Vec<u8>], places: &[Range<usize>]) -> Result<(), BareError> {
        let mut traffic = Traffic::default();
        for (memory, place) in memories.iter().zip(places) {
            self.write(place.start - 8, &[0; 8])?;
            self.write(place.start, memory)?;
            let mut frame = [0; FRAME_BYTES];
            frame[..4].copy_from_slice(&(UNIT + place.start as u32).to_le_bytes());
            frame[4..8].copy_from_slice(&(place.len() as u32).to_le_bytes());
            traffic.push(Port::Ethernet(0), &frame, 0);
        }
        let before = self.counter(regs::UNIT_BLOCKED)?;
        self.device.send(&traffic, Rate::Lossless)?;
        let start = self.device.cycle();
        while self.counter(regs::UNIT_BLOCKED)?.wrapping_sub(before) < places.len() as u32 {
            if self.device.cycle() - start > LIMIT {
                return Err(BareError::Endless);
            }
            self.device.advance(LOOK)?;
        }
        // All frames have left; the device only has to notice it.
        self.device.run(&mut |_| {})?;
        Ok(())
    }

    /// The end of a run, and its memory.
    fn result(&mut self, memory: &mut [u8], place: &Range<usize>) -> Result<Result<u64, BareError>, BareError> {
        let mut record = [0; RECORD_BYTES as usize];
        self.read(place.start - record.len(), &mut record)?;
        self.read(place.start, memory)?;
        let word = |at: usize| record[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let how = word(8);
        if how <= ENDED {
            return Ok(if how == ENDED { Ok(word(0)) } else { Err(BareError::Endless) });
        }
        let slot = (how - STOPPED) as usize;
        let insn = self.code.get(slot).unwrap_or(Insn::Exit);
        Ok(Err(match insn {
            Insn::Call(Callee::Local(_)) => BareError::Depth { slot, insn },
            _ => BareError::Outside { slot, insn },
        }))
    }

    fn counter(&mut self, register: u32) -> Result<u32, DeviceError> {
        self.device.read_unit(0, register)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        for (offset, chunk) in (at as u32..).step_by(4).zip(bytes.chunks(4)) {
            self.device.write(UNIT_WINDOW + UNIT_MAPS + offset, word_of(chunk))?;
        }
        Ok(())
    }

    fn read(&mut self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        for (offset, chunk) in (at as u32..).step_by(4).zip(bytes.chunks_mut(4)) {
            let word = self.device.read(UNIT_WINDOW + UNIT_MAPS + offset)?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}
