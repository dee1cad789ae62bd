// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Linux as a second opinion: loads programs through bpf(), where that is allowed.

use std::ffi::CString;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use penstock_xdp_compiler::insn::{Imm64, Insn};
use penstock_xdp_compiler::maps::{Contents, Map, MapShape};
use penstock_xdp_compiler::object::{Attach, Object, Program};

const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const MAP_FREEZE: libc::c_long = 22;
const TYPE_XDP: u32 = 6;

/// The kernel's union of arguments: words at byte offsets.
#[repr(align(8))]
struct Attr([u8; 144]);

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

    fn call(&self, command: libc::c_long) -> Result<i32, Error> {
        // SAFETY: the attribute has the size that is said, and the pointers in it are to memory that outlives the call.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_ptr(), self.0.len()) };
        i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(Error::last_os_error)
    }

    fn open(&self, command: libc::c_long) -> Result<OwnedFd, Error> {
        // SAFETY: a new descriptor that nobody else has.
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

/// The maps of an object, in the kernel.
pub struct Maps(Vec<OwnedFd>);

impl Maps {
    /// Makes them, with their contents.
    pub fn new(object: &Object) -> Result<Maps, Error> {
        object.maps.iter().map(Maps::one).collect::<Result<_, _>>().map(Maps)
    }

    /// The descriptor of a map; -1 of one that is not there.
    fn fd(&self, map: u32) -> i32 {
        self.0.get(map as usize).map_or(-1, AsRawFd::as_raw_fd)
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

/// Whether programs can be loaded here; else why not.
pub fn allowed() -> Result<(), String> {
    let shape = MapShape { number: 2, key_bytes: 4, value_bytes: 4, max_entries: 1, flags: 0 };
    create(&shape, None).map(drop).map_err(|error| format!("bpf() is not allowed here: {error}"))
}

/// Loads a program.
pub fn load(object: &Object, maps: &Maps, program: &Program) -> Result<(), Error> {
    let code = encoded(maps, program);
    Load { code: &code, license: object.license.as_deref().unwrap_or(""), attach: program.attach }.load(None)
}

/// The verifier's last words on a program that does not load.
pub fn reason(object: &Object, maps: &Maps, program: &Program) -> String {
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
    fn load(&self, log: Option<&mut [u8]>) -> Result<(), Error> {
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
        attr.open(PROG_LOAD).map(drop)
    }
}
