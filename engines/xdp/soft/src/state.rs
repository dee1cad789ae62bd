// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The state that native code and helpers share while a program runs.

use std::mem::offset_of;

use penstock_xdp_maps::{Errno, Maps};

use crate::ProgramId;
use crate::frame::{Frame, Input, Target};
use crate::native::Entry;
use crate::routes::Routes;
use penstock_unit::Log;

/// The place of the frame's buffer.
pub(crate) const BUFFER: u32 = 0x0001_0000;
/// The place of a frame's first byte when its program begins.
pub(crate) const HEADROOM: u32 = 256;
/// Up to here the buffer holds a frame; after it Linux keeps its own data.
pub(crate) const BUFFER_END: u32 = 3776;
/// The first bytes of the buffer, which Linux keeps for itself.
pub(crate) const BUFFER_START: u32 = 40;
/// Behind the stack of the first function. Deeper frames are below it.
pub(crate) const STACK_END: u32 = 0x0002_0200;
/// Bytes of the stack that all functions of a program share.
const STACK_BYTES: u32 = 512;
/// The place of `struct xdp_md`. Its fields have 32 bits, and so do our addresses.
pub(crate) const CONTEXT: u32 = 0x0000_1000;
/// Jumps back and calls that a program may take for a frame.
pub(crate) const FUEL: i64 = 1 << 24;

/// Offsets from the buffer's beginning.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Packet {
    pub meta: u32,
    pub data: u32,
    pub end: u32,
}

/// The state of an engine.
#[repr(C)]
pub(crate) struct State {
    /// The rest of [`FUEL`]; negative: the program was stopped.
    pub fuel: i64,
    pub cpu: u64,
    /// The time, in ns since the start.
    pub time: u64,
    /// If a bare program was stopped: the slot and the reason.
    pub fault: [u64; 2],
    pub maps: Maps,
    pub packet: Packet,
    pub input: Input,
    pub target: Option<Target>,
    pub tail_calls: u32,
    /// Native code by program.
    pub entries: Vec<Entry>,
    pub random: u64,
    pub routes: Routes,
    pub log: Log,
}

/// Places in [`State`] that native code uses.
pub(crate) const FUEL_AT: i32 = offset_of!(State, fuel) as i32;
pub(crate) const CPU_AT: i32 = offset_of!(State, cpu) as i32;
pub(crate) const TIME_AT: i32 = offset_of!(State, time) as i32;
pub(crate) const FAULT_AT: i32 = offset_of!(State, fault) as i32;

impl State {
    /// With all at its beginning.
    pub(crate) fn new(maps: Maps) -> State {
        State {
            fuel: 0,
            cpu: 0,
            time: 0,
            fault: [0; 2],
            maps,
            packet: Packet::default(),
            input: Input::default(),
            target: None,
            tail_calls: 0,
            entries: Vec::new(),
            random: 0x9E37_79B9_7F4A_7C15,
            routes: Routes::default(),
            log: Log::default(),
        }
    }

    /// Puts a frame into the buffer, and clears the room before it and the stack: a program sees no bytes of earlier
    /// frames, even if it makes room or if a helper fails that was to fill the stack.
    ///
    /// # Errors
    /// EINVAL: it is too long, or its metadata.
    pub(crate) fn begin(&mut self, frame: &Frame, input: &Input) -> Result<(), Errno> {
        let (data, meta) = (frame.data.len(), frame.meta.len());
        if data > (BUFFER_END - HEADROOM) as usize || meta > (HEADROOM - BUFFER_START) as usize {
            return Err(Errno::Invalid);
        }
        self.packet = Packet { meta: HEADROOM - meta as u32, data: HEADROOM, end: HEADROOM + data as u32 };
        let room = (self.packet.meta - BUFFER_START) as usize;
        let buffer = self.maps.memory.bytes_mut((BUFFER + BUFFER_START).into(), room + meta + data)?;
        let (room, rest) = buffer.split_at_mut(room);
        room.fill(0);
        rest[..meta].copy_from_slice(&frame.meta);
        rest[meta..].copy_from_slice(&frame.data);
        self.maps.memory.bytes_mut((STACK_END - STACK_BYTES).into(), STACK_BYTES as usize)?.fill(0);
        self.input = *input;
        self.cpu = input.cpu.into();
        self.fuel = FUEL;
        self.target = None;
        self.tail_calls = 0;
        self.publish()
    }

    /// Takes the frame out of the buffer.
    ///
    /// # Errors
    /// None: it is always there.
    pub(crate) fn finish(&mut self, frame: &mut Frame) -> Result<(), Errno> {
        let Packet { meta, data, end } = self.packet;
        let bytes = self.maps.memory.bytes((BUFFER + meta).into(), (end - meta) as usize)?;
        let (before, packet) = bytes.split_at((data - meta) as usize);
        frame.meta.clear();
        frame.meta.extend_from_slice(before);
        frame.data.clear();
        frame.data.extend_from_slice(packet);
        Ok(())
    }

    /// Writes down for the program where the frame is.
    pub(crate) fn publish(&mut self) -> Result<(), Errno> {
        let Packet { meta, data, end } = self.packet;
        let Input { ifindex, queue, egress, .. } = self.input;
        let fields = [BUFFER + data, BUFFER + end, BUFFER + meta, ifindex, queue, egress];
        let context = self.maps.memory.bytes_mut(CONTEXT.into(), size_of_val(&fields))?;
        for (to, field) in context.as_chunks_mut::<4>().0.iter_mut().zip(fields) {
            *to = field.to_ne_bytes();
        }
        Ok(())
    }

    /// The next random number (xorshift).
    pub(crate) fn random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) as u32
    }

    /// The program that a map's entry names.
    pub(crate) fn program(&self, handle: u32) -> Option<ProgramId> {
        let number = handle.checked_sub(1)?;
        ((number as usize) < self.entries.len()).then_some(ProgramId(number))
    }
}
