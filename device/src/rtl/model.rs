// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The C interface of rtl/driver.cpp: one simulated card.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use libloading::Library;

use super::pace::Pace;
use super::wave::Wave;
use crate::hop::{self, Place};
use crate::traffic::Maker;

/// `struct Frame` of rtl/driver.cpp: a frame to send.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Frame {
    pub earliest: u64,
    pub offset: u64,
    pub length: u32,
    pub stream: u8,
    pub damaged: u8,
    pub reserved: u16,
}

/// `struct Entry` of rtl/driver.cpp: a frame that entered.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Entry {
    pub cycle: u64,
    pub stream: u32,
    pub reserved: u32,
}

/// [`Exit::source`] of a frame of unknown source.
pub(crate) const UNKNOWN: u8 = 0x3F;

/// `struct Exit` of rtl/driver.cpp: a frame that left.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Exit {
    pub first: u64,
    pub last: u64,
    pub offset: u64,
    pub length: u32,
    pub timestamp: u32,
    pub stream: u8,
    pub source: u8,
    pub reserved: u16,
    pub mark: u32,
}

impl Exit {
    /// Cycle in which the frame entered the card, or in which its maker began it.
    pub fn entered(&self) -> u64 {
        self.last - u64::from((self.last as u32).wrapping_sub(self.timestamp))
    }

    /// The maker of the frame; None if it entered the card.
    pub fn made_by(&self) -> Option<Maker> {
        Maker::of_source(self.source)
    }

    /// It is a frame that entered, or that a block made.
    pub fn is_of_traffic(&self) -> bool {
        self.source != UNKNOWN && !self.is_generated()
    }

    /// A unit's program made it.
    pub fn is_generated(&self) -> bool {
        matches!(self.made_by(), Some(Maker::Unit(_)))
    }
}

/// `struct Hop` of rtl/driver.cpp: a frame's first beat at a place between the blocks of the card.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Hop {
    pub cycle: u64,
    pub timestamp: u32,
    pub place: u8,
    pub index: u8,
    pub source: u8,
    pub unit: u8,
    pub slot: u8,
    reserved: [u8; 7],
}

impl From<&Hop> for hop::Hop {
    fn from(hop: &Hop) -> Self {
        let place = match hop.place {
            0 => Place::Ingress,
            1 => Place::Dispatched,
            2 => Place::UnitIn,
            3 => Place::UnitOut,
            4 => Place::Exit,
            5 => Place::SlotFree,
            6 => Place::Chain,
            7 => Place::StepIn,
            _ => Place::StepOut,
        };
        Self {
            cycle: hop.cycle,
            place: place(hop.index),
            source: hop.source,
            entered: hop.cycle - u64::from((hop.cycle as u32).wrapping_sub(hop.timestamp)),
            unit: hop.unit,
            slot: hop.slot,
        }
    }
}

/// Why [`Model::step`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The cycles are over.
    OutOfCycles,
    /// All is sent and nothing has moved for the idle time.
    Idle,
    /// The model found a fault in itself.
    Failed,
}

type Card = NonNull<c_void>;

/// The functions of rtl/driver.cpp.
struct Functions {
    open: unsafe extern "C" fn() -> Option<Card>,
    close: unsafe extern "C" fn(Card),
    cycle: unsafe extern "C" fn(Card) -> u64,
    failure: unsafe extern "C" fn(Card) -> *const c_char,
    threads: unsafe extern "C" fn(Card, u32),
    pace: unsafe extern "C" fn(Card, u32, *const Pace, *const Pace),
    keep_bytes: unsafe extern "C" fn(Card, u32),
    queue: unsafe extern "C" fn(Card, *const Frame, usize, *const u8, usize),
    add: unsafe extern "C" fn(Card, *const Frame, usize, *const u8, usize),
    step: unsafe extern "C" fn(Card, u64, u64) -> u32,
    write: unsafe extern "C" fn(Card, u32, u32) -> u32,
    read: unsafe extern "C" fn(Card, u32, *mut u32) -> u32,
    host_read: unsafe extern "C" fn(Card, u64, *mut u8, usize) -> u32,
    host_write: unsafe extern "C" fn(Card, u64, *const u8, usize) -> u32,
    entries: unsafe extern "C" fn(Card, *mut *const Entry) -> usize,
    exits: unsafe extern "C" fn(Card, *mut *const Exit, *mut *const u8, *mut usize) -> usize,
    keep_hops: unsafe extern "C" fn(Card, u32),
    hops: unsafe extern "C" fn(Card, *mut *const Hop) -> usize,
    clear: unsafe extern "C" fn(Card),
    wave: Option<unsafe extern "C" fn(Card, *const c_char, u64, u64)>,
}

/// A simulated card. It stays on the thread that opened it.
pub struct Model {
    /// Its Ethernet ports.
    pub ports: u32,
    /// The cycles to record of the next run.
    pub recording: Option<Wave>,
    card: Card,
    functions: Functions,
    /// Keeps the code mapped while `functions` point into it.
    _library: Library,
}

impl Model {
    /// Loads a built model and takes it through reset.
    pub fn open(path: &Path, ports: u32) -> Result<Self, libloading::Error> {
        // SAFETY: the library was built from rtl/driver.cpp; loading it runs no code beside C++ static initialisers.
        let library = unsafe { Library::new(path)? };
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the types of `Functions` are those of the exported functions of rtl/driver.cpp.
                unsafe { *library.get(concat!("penstock_", $name).as_bytes())? }
            };
        }
        let functions = Functions {
            open: symbol!("open"),
            close: symbol!("close"),
            cycle: symbol!("cycle"),
            failure: symbol!("failure"),
            threads: symbol!("threads"),
            pace: symbol!("pace"),
            keep_bytes: symbol!("keep_bytes"),
            queue: symbol!("queue"),
            add: symbol!("add"),
            step: symbol!("step"),
            write: symbol!("write"),
            read: symbol!("read"),
            host_read: symbol!("host_read"),
            host_write: symbol!("host_write"),
            entries: symbol!("entries"),
            exits: symbol!("exits"),
            keep_hops: symbol!("keep_hops"),
            hops: symbol!("hops"),
            clear: symbol!("clear"),
            // SAFETY: as above; only models built to record waves have it.
            wave: unsafe { library.get(b"penstock_wave").ok().map(|symbol| *symbol) },
        };
        // SAFETY: takes nothing; the driver answers with a card of its own.
        let card = unsafe { (functions.open)() }.ok_or(libloading::Error::DlSymUnknown)?;
        Ok(Self { ports, recording: None, card, functions, _library: library })
    }

    /// Cycles since reset.
    pub fn cycle(&self) -> u64 {
        // SAFETY: `card` lives as long as `self`. The same holds for all calls below.
        unsafe { (self.functions.cycle)(self.card) }
    }

    /// The fault that the model found in itself, if any.
    pub fn failure(&self) -> Option<String> {
        // SAFETY: the string lives until the next call; it is copied here.
        let text = unsafe { CStr::from_ptr((self.functions.failure)(self.card)) }.to_string_lossy();
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// Shares the work among this many threads, one of which is the caller's.
    pub fn use_threads(&mut self, threads: u32) {
        // SAFETY: plain value. The threads end with the card, or with the next call.
        unsafe { (self.functions.threads)(self.card, threads) }
    }

    /// Sets how fast a stream receives and transmits.
    pub fn pace(&mut self, stream: u32, receive: Pace, transmit: Pace) {
        // SAFETY: both are copied before the call returns.
        unsafe { (self.functions.pace)(self.card, stream, &receive, &transmit) }
    }

    /// Whether the bytes of frames that leave are kept, or only their records.
    pub fn keep_bytes(&mut self, keep: bool) {
        // SAFETY: plain value.
        unsafe { (self.functions.keep_bytes)(self.card, keep.into()) }
    }

    /// Replaces the queue. `bytes` must hold every frame's range.
    pub fn queue(&mut self, frames: &[Frame], bytes: &[u8]) {
        assert!(frames.iter().all(|f| f.length > 0 && f.offset + u64::from(f.length) <= bytes.len() as u64));
        // SAFETY: the ranges were checked; the driver copies both slices before it returns.
        unsafe { (self.functions.queue)(self.card, frames.as_ptr(), frames.len(), bytes.as_ptr(), bytes.len()) }
    }

    /// Adds frames to the queue. `bytes` must hold every frame's range.
    pub fn add(&mut self, frames: &[Frame], bytes: &[u8]) {
        assert!(frames.iter().all(|f| f.length > 0 && f.offset + u64::from(f.length) <= bytes.len() as u64));
        // SAFETY: as in `queue`.
        unsafe { (self.functions.add)(self.card, frames.as_ptr(), frames.len(), bytes.as_ptr(), bytes.len()) }
    }

    /// Runs for at most `cycles`; ends early when all is sent and no beat has moved for `idle` cycles.
    pub fn step(&mut self, cycles: u64, idle: u64) -> Step {
        // SAFETY: plain values.
        match unsafe { (self.functions.step)(self.card, cycles, idle) } {
            0 => Step::OutOfCycles,
            1 => Step::Idle,
            _ => Step::Failed,
        }
    }

    /// Writes a register; returns the AXI response, or 4 if there was none.
    pub fn write(&mut self, address: u32, value: u32) -> u32 {
        // SAFETY: plain values.
        unsafe { (self.functions.write)(self.card, address, value) }
    }

    /// Reads a register; returns the AXI response, or 4 if there was none, and the value.
    pub fn read(&mut self, address: u32) -> (u32, u32) {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        let response = unsafe { (self.functions.read)(self.card, address, &mut value) };
        (response, value)
    }

    /// Reads the host's memory; false when it ends before.
    pub fn host_read(&self, address: u64, bytes: &mut [u8]) -> bool {
        // SAFETY: the driver fills the slice and keeps nothing of it.
        unsafe { (self.functions.host_read)(self.card, address, bytes.as_mut_ptr(), bytes.len()) != 0 }
    }

    /// Writes the host's memory; false when it ends before.
    pub fn host_write(&mut self, address: u64, bytes: &[u8]) -> bool {
        // SAFETY: the driver copies the slice before it returns.
        unsafe { (self.functions.host_write)(self.card, address, bytes.as_ptr(), bytes.len()) != 0 }
    }

    /// Frames that entered since the last [`Model::clear`], in time order.
    pub fn entries(&self) -> &[Entry] {
        let mut first = std::ptr::null();
        // SAFETY: the driver returns its buffer, which does not change until a call that takes `&mut self`.
        unsafe {
            let count = (self.functions.entries)(self.card, &mut first);
            slice(first, count)
        }
    }

    /// Frames that left since the last [`Model::clear`], in time order, and the buffer that holds their bytes if they
    /// are kept.
    pub fn exits(&self) -> (&[Exit], &[u8]) {
        let (mut first, mut bytes, mut size) = (std::ptr::null(), std::ptr::null(), 0);
        // SAFETY: as in `entries`.
        unsafe {
            let count = (self.functions.exits)(self.card, &mut first, &mut bytes, &mut size);
            (slice(first, count), slice(bytes, size))
        }
    }

    /// Whether frames that pass between the blocks are recorded.
    pub fn keep_hops(&mut self, keep: bool) {
        // SAFETY: plain value.
        unsafe { (self.functions.keep_hops)(self.card, keep.into()) }
    }

    /// The hops recorded since the last [`Model::clear`], in time order.
    pub fn hops(&self) -> &[Hop] {
        let mut first = std::ptr::null();
        // SAFETY: as in `entries`.
        unsafe {
            let count = (self.functions.hops)(self.card, &mut first);
            slice(first, count)
        }
    }

    /// Forgets entries, exits and hops.
    pub fn clear(&mut self) {
        // SAFETY: no slice of `entries` or `exits` lives on, because this takes `&mut self`.
        unsafe { (self.functions.clear)(self.card) }
    }

    /// Records `cycles` cycles, `from` ones from now on, into an FST file, if the model was built to.
    pub fn wave(&mut self, path: &Path, from: u64, cycles: u64) -> bool {
        let Some(wave) = self.functions.wave else { return false };
        let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else { return false };
        // SAFETY: the driver copies the path.
        unsafe { wave(self.card, path.as_ptr(), from, cycles) }
        true
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: nothing uses the card after this.
        unsafe { (self.functions.close)(self.card) }
    }
}

/// A slice, empty when the driver has no buffer yet.
///
/// # Safety
/// `first` is null or points at `count` values that live and stay for `'a`.
unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}
