// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Linux' own maps, through bpf().
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use penstock_xdp_compiler::maps::MapShape;

const CREATE: libc::c_long = 0;
const LOOKUP: libc::c_long = 1;
const UPDATE: libc::c_long = 2;
const DELETE: libc::c_long = 3;
const NEXT_KEY: libc::c_long = 4;
const FREEZE: libc::c_long = 22;

/// The kernel's union of arguments: words at byte offsets.
#[repr(align(8))]
pub(crate) struct Attr([u8; 144]);

impl Attr {
    pub(crate) fn new() -> Attr {
        Attr([0; 144])
    }

    pub(crate) fn word(mut self, at: usize, value: u32) -> Attr {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn fd(self, at: usize, fd: &OwnedFd) -> Attr {
        self.word(at, fd.as_raw_fd().cast_unsigned())
    }

    pub(crate) fn long(mut self, at: usize, value: u64) -> Attr {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn bytes(self, at: usize, bytes: &[u8]) -> Attr {
        self.long(at, bytes.as_ptr() as u64)
    }

    /// The bytes that the kernel has written.
    pub(crate) fn written(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    /// Calls the kernel; the result or the error's number.
    pub(crate) fn call(&mut self, command: libc::c_long) -> Result<i32, i32> {
        // SAFETY: the attribute has the size that is said, and the pointers in it are to memory that outlives the call.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), self.0.len()) };
        i32::try_from(result)
            .ok()
            .filter(|result| *result >= 0)
            .ok_or_else(|| Error::last_os_error().raw_os_error().unwrap())
    }

    pub(crate) fn open(&mut self, command: libc::c_long) -> Result<OwnedFd, i32> {
        // SAFETY: a new descriptor that nobody else has.
        self.call(command).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// A map of the kernel.
pub(crate) struct KernelMap {
    pub fd: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
}

impl KernelMap {
    pub(crate) fn new(shape: &MapShape, inner: Option<&KernelMap>) -> Result<KernelMap, i32> {
        let entries = if shape.number == 4 && shape.max_entries == 0 { processors() } else { shape.max_entries };
        let mut attr = Attr::new()
            .word(0, shape.number)
            .word(4, shape.key_bytes)
            .word(8, shape.value_bytes)
            .word(12, entries)
            .word(16, shape.flags);
        if let Some(inner) = inner {
            attr = attr.fd(20, &inner.fd);
        }
        let fd = attr.open(CREATE)?;
        let value_bytes = if shape.kind().is_ok_and(|kind| kind.per_cpu()) {
            shape.value_bytes.next_multiple_of(8) * processors()
        } else {
            shape.value_bytes
        };
        Ok(KernelMap { fd, key_bytes: shape.key_bytes as usize, value_bytes: value_bytes as usize })
    }

    pub(crate) fn set(&self, key: &[u8], value: &[u8], flags: u64) -> Result<(), i32> {
        assert_eq!((key.len(), value.len()), (self.key_bytes, self.value_bytes));
        Attr::new().fd(0, &self.fd).bytes(8, key).bytes(16, value).long(24, flags).call(UPDATE).map(drop)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Vec<u8>, i32> {
        let mut value = vec![0; self.value_bytes];
        let at = value.as_mut_ptr() as u64;
        Attr::new().fd(0, &self.fd).bytes(8, key).long(16, at).call(LOOKUP).map(|_| value)
    }

    pub(crate) fn delete(&self, key: &[u8]) -> Result<(), i32> {
        Attr::new().fd(0, &self.fd).bytes(8, key).call(DELETE).map(drop)
    }

    pub(crate) fn freeze(&self) -> Result<(), i32> {
        Attr::new().fd(0, &self.fd).call(FREEZE).map(drop)
    }

    /// All keys, in the kernel's order.
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0; self.key_bytes];
            let before = keys.last().map_or(0, |key| key.as_ptr() as u64);
            let at = next.as_mut_ptr() as u64;
            match Attr::new().fd(0, &self.fd).long(8, before).long(16, at).call(NEXT_KEY) {
                Ok(_) => keys.push(next),
                Err(_) => return keys,
            }
        }
    }
}

/// How many processors there may be here.
pub(crate) fn processors() -> u32 {
    let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap();
    possible.trim().rsplit(['-', ',']).next().unwrap().parse::<u32>().unwrap() + 1
}

/// Whether the kernel lets us; else the test, which has nothing to compare with, is reported as skipped.
pub(crate) fn allowed() -> bool {
    let shape = MapShape { number: 2, key_bytes: 4, value_bytes: 4, max_entries: 1, flags: 0 };
    KernelMap::new(&shape, None)
        .inspect_err(|error| penstock_testing::skipped(format!("bpf() is not allowed here: {error}")))
        .is_ok()
}
