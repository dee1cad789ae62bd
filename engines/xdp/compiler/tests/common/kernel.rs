// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Linux as a second opinion: loads programs through bpf(), where that is allowed.

use std::ffi::CString;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use penstock_xdp_compiler::insn::{Imm64, Insn};
use penstock_xdp_compiler::maps::{Contents, Map, MapShape};
use penstock_xdp_compiler::object::{Attach, Object, Program};

const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP: libc::c_long = 1;
const MAP_UPDATE: libc::c_long = 2;
const MAP_NEXT_KEY: libc::c_long = 4;
const PROG_LOAD: libc::c_long = 5;
const PROG_RUN: libc::c_long = 10;
const MAP_FREEZE: libc::c_long = 22;
const TYPE_XDP: u32 = 6;

/// The kernel's union of arguments: words at byte offsets.
#[repr(align(8))]
struct Attr([u8; 144]);

impl Attr {
    fn get(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().unwrap())
    }
}

impl Attr {
    fn new() -> Attr {
        Attr([0; 144])
    }

    fn word(mut self, at: usize, value: u32) -> Attr {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn pointer<T>(mut self, at: usize, value: *const T) -> Attr {
        self.0[at..at + 8].copy_from_slice(&(value as u64).to_ne_bytes());
        self
    }

    fn call(mut self, command: libc::c_long) -> Result<i32, Error> {
        self.answer(command)
    }

    /// The same, where the kernel writes into the attribute.
    fn answer(&mut self, command: libc::c_long) -> Result<i32, Error> {
        // SAFETY: the attribute has the size that is said, and the pointers in it are to memory that outlives the call.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), self.0.len()) };
        i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(Error::last_os_error)
    }

    fn open(self, command: libc::c_long) -> Result<OwnedFd, Error> {
        // SAFETY: a new descriptor that nothing else owns.
        self.call(command).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

fn create(shape: &MapShape, inner: Option<&OwnedFd>) -> Result<OwnedFd, Error> {
    let entries = if shape.number == 4 && shape.max_entries == 0 { 1 } else { shape.max_entries };
    let attr = Attr::new()
        .word(0, shape.number)
        .word(4, shape.key_bytes)
        .word(8, shape.value_bytes)
        .word(12, entries)
        .word(16, shape.flags)
        .word(20, inner.map_or(0, |fd| fd.as_raw_fd().cast_unsigned()));
    attr.open(MAP_CREATE)
}

/// Keeps this thread on the processor where it is.
fn stay() -> Result<(), Error> {
    // SAFETY: a set of processors, all zeros, is valid, and lives through the call.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set)
    };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// The maps of an object, in the kernel.
pub(crate) struct Maps(Vec<OwnedFd>);

impl Maps {
    /// Makes them, with their contents. This thread stays on its processor from here on: a program that finds other
    /// values of per-CPU maps from one run to the next does something else.
    pub(crate) fn new(object: &Object) -> Result<Maps, Error> {
        stay()?;
        object.maps.iter().map(Maps::one).collect::<Result<_, _>>().map(Maps)
    }

    /// The descriptor of a map; -1 for a missing one.
    fn fd(&self, map: u32) -> i32 {
        self.0.get(map as usize).map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Puts an entry into a map that is not per CPU.
    pub(crate) fn set(&self, map: u32, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let attr =
            Attr::new().word(0, self.fd(map).cast_unsigned()).pointer(8, key.as_ptr()).pointer(16, value.as_ptr());
        attr.call(MAP_UPDATE).map(drop)
    }

    /// The value of a key in a map; for a per-CPU map, the sum of the values' 64-bit words over all processors.
    pub(crate) fn get(&self, map: u32, shape: &MapShape, key: &[u8]) -> Option<Vec<u8>> {
        let per_cpu = shape.kind().is_ok_and(|kind| kind.per_cpu());
        let stride = shape.value_bytes.next_multiple_of(8) as usize;
        let mut values = vec![0u8; stride * if per_cpu { 4096 } else { 1 }];
        let attr =
            Attr::new().word(0, self.fd(map).cast_unsigned()).pointer(8, key.as_ptr()).pointer(16, values.as_mut_ptr());
        attr.call(MAP_LOOKUP).ok()?;
        let mut words = vec![0u64; stride / 8];
        for value in values.chunks(stride) {
            for (sum, word) in words.iter_mut().zip(value.as_chunks::<8>().0) {
                *sum = sum.wrapping_add(u64::from_le_bytes(*word));
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(bytes[..shape.value_bytes as usize].to_vec())
    }

    /// The keys of a map.
    pub(crate) fn keys(&self, map: u32, shape: &MapShape) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0u8; shape.key_bytes as usize];
            let before = keys.last().map_or(std::ptr::null(), Vec::as_ptr);
            let attr = Attr::new().word(0, self.fd(map).cast_unsigned()).pointer(8, before);
            if attr.pointer(16, next.as_mut_ptr()).call(MAP_NEXT_KEY).is_err() {
                return keys;
            }
            keys.push(next);
        }
    }

    fn one(map: &Map) -> Result<OwnedFd, Error> {
        let inner = map.inner.as_ref().map(|inner| create(inner, None)).transpose()?;
        let fd = create(&map.shape, inner.as_ref())?;
        if let Contents::Data { bytes, read_only } = &map.contents {
            let word = fd.as_raw_fd().cast_unsigned();
            Attr::new().word(0, word).pointer(8, &raw const ZERO).pointer(16, bytes.as_ptr()).call(MAP_UPDATE)?;
            if *read_only {
                Attr::new().word(0, word).call(MAP_FREEZE)?;
            }
        }
        Ok(fd)
    }
}

static ZERO: u32 = 0;

/// Whether programs can be loaded here; else the test, which has nothing to compare with, is reported as skipped.
pub(crate) fn allowed() -> bool {
    let shape = MapShape { number: 2, key_bytes: 4, value_bytes: 4, max_entries: 1, flags: 0 };
    create(&shape, None)
        .inspect_err(|error| penstock_testing::skipped(format!("bpf() is not allowed here: {error}")))
        .is_ok()
}

/// Loads a program.
pub(crate) fn load(object: &Object, maps: &Maps, program: &Program) -> Result<(), Error> {
    loaded(object, maps, program).map(drop)
}

/// Loads a program that will run.
pub(crate) fn loaded(object: &Object, maps: &Maps, program: &Program) -> Result<OwnedFd, Error> {
    let code = encoded(maps, program);
    Load { code: &code, license: object.license.as_deref().unwrap_or(""), attach: program.attach }.load(None)
}

/// Runs a program on a packet, of at least 14 bytes, from the interface 1: its verdict, and the packet afterwards.
pub(crate) fn run(program: &OwnedFd, packet: &[u8]) -> Result<(u32, Vec<u8>), Error> {
    let mut out = vec![0u8; 8192];
    let mut attr = Attr::new()
        .word(0, program.as_raw_fd().cast_unsigned())
        .word(8, packet.len() as u32)
        .word(12, out.len() as u32)
        .pointer(16, packet.as_ptr())
        .pointer(24, out.as_mut_ptr())
        .word(32, 1);
    attr.answer(PROG_RUN)?;
    out.truncate(attr.get(12) as usize);
    Ok((attr.get(4), out))
}

/// The verifier's last words on a program that does not load.
pub(crate) fn reason(object: &Object, maps: &Maps, program: &Program) -> String {
    let code = encoded(maps, program);
    let load = Load { code: &code, license: object.license.as_deref().unwrap_or(""), attach: program.attach };
    let mut log = vec![0u8; 1 << 22];
    let Err(error) = load.load(Some(&mut log)) else { return String::new() };
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]).into_owned();
    let last: Vec<_> = text.lines().rev().filter(|line| !line.starts_with("processed")).take(3).collect();
    format!("{error}: {}", last.into_iter().rev().collect::<Vec<_>>().join(" / "))
}

/// The instructions with the kernel's maps in them. The kernel reads whole instructions from aligned memory.
fn encoded(maps: &Maps, program: &Program) -> Vec<u64> {
    let mut bytes = Vec::new();
    for (_, insn) in program.code.iter() {
        let insn = match insn {
            Insn::LoadImm64 { dst, imm: Imm64::Map(map) } => Insn::LoadImm64 { dst, imm: Imm64::MapFd(maps.fd(map)) },
            Insn::LoadImm64 { dst, imm: Imm64::MapValue { map, offset } } => {
                Insn::LoadImm64 { dst, imm: Imm64::MapFdValue { fd: maps.fd(map), offset } }
            }
            insn => insn,
        };
        let (first, second) = insn.encode();
        bytes.extend(first);
        bytes.extend(second.into_iter().flatten());
    }
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// What is loaded.
struct Load<'a> {
    code: &'a [u64],
    license: &'a str,
    attach: Attach,
}

impl Load<'_> {
    fn load(&self, log: Option<&mut [u8]>) -> Result<OwnedFd, Error> {
        let license = CString::new(self.license).unwrap();
        let attach = match self.attach {
            Attach::Xdp => 0,
            Attach::Devmap => 33,
            Attach::Cpumap => 35,
        };
        let mut attr = Attr::new()
            .word(0, TYPE_XDP)
            .word(4, self.code.len() as u32)
            .pointer(8, self.code.as_ptr())
            .pointer(16, license.as_ptr())
            .word(68, attach);
        if let Some(log) = log {
            attr = attr.word(24, 1).word(28, log.len() as u32).pointer(32, log.as_mut_ptr());
        }
        attr.open(PROG_LOAD)
    }
}
