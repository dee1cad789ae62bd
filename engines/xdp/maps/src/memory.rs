// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The memory of programs: 4 GiB of addresses, of which only used pages take memory.
//!
//! Native code masks each address to 32 bits. All of the 4 GiB can be read and written, and the guard after it catches
//! the part of an access at the last address that reaches beyond. No program, right or wrong, can therefore touch other
//! memory of the process or stop it.

use std::ptr::NonNull;

use crate::Errno;

/// Bytes that programs can name.
const BYTES: usize = 1 << 32;
/// Behind them, for accesses that begin at the last of them.
const GUARD: usize = 1 << 16;

/// Why there is no memory.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum MemoryError {
    #[error("4 GiB of addresses could not be reserved ({0}); raise `ulimit -v`, or set vm.overcommit_memory to 0 or 1")]
    Reserve(std::io::Error),
    #[error("maps need {bytes} bytes more than their 2 GiB of addresses have; give them fewer entries")]
    Full { bytes: u64 },
}

/// The memory of programs. Addresses are those that eBPF programs compute with.
#[derive(Debug)]
pub struct Memory {
    base: NonNull<u8>,
}

// SAFETY: it owns its pages, and hands out references only by borrowing itself.
unsafe impl Send for Memory {}

impl Memory {
    /// The beginning of a unit's own memory: stack, packet buffer and context are below.
    pub const UNIT_MAPS: u32 = 0x4000_0000;
    /// The beginning of the card's maps.
    pub const CARD_MAPS: u32 = 0x8000_0000;

    /// Reserves the addresses. All bytes are 0.
    pub fn new() -> Result<Memory, MemoryError> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: new pages, anywhere.
        let pages = unsafe { libc::mmap(std::ptr::null_mut(), BYTES + GUARD, protection, flags, -1, 0) };
        let base = NonNull::new(pages.cast()).filter(|_| pages != libc::MAP_FAILED);
        base.map(|base| Memory { base }).ok_or_else(|| MemoryError::Reserve(std::io::Error::last_os_error()))
    }

    /// The place of address 0, for native code.
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Bytes from an address on; only its lower 32 bits count, as in native code.
    ///
    /// # Errors
    /// EFAULT if they would end after the last address.
    pub fn bytes(&self, address: u64, len: usize) -> Result<&[u8], Errno> {
        let start = inside(address, len)?;
        // SAFETY: the range is inside of the pages, which are borrowed.
        Ok(unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(start), len) })
    }

    /// The same, to be written.
    ///
    /// # Errors
    /// As [`Memory::bytes`].
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], Errno> {
        let start = inside(address, len)?;
        // SAFETY: the range is inside of the pages, which are borrowed alone.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(start), len) })
    }

    /// Copies bytes, which may overlap.
    ///
    /// # Errors
    /// As [`Memory::bytes`].
    pub fn copy(&mut self, from: u64, to: u64, len: usize) -> Result<(), Errno> {
        let (from, to) = (inside(from, len)?, inside(to, len)?);
        // SAFETY: both ranges are inside of the pages, which are borrowed alone.
        unsafe { std::ptr::copy(self.base.as_ptr().add(from), self.base.as_ptr().add(to), len) };
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the pages of `new`, which nothing borrows any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), BYTES + GUARD) };
    }
}

fn inside(address: u64, len: usize) -> Result<usize, Errno> {
    let start = (address & 0xFFFF_FFFF) as usize;
    if len <= BYTES - start { Ok(start) } else { Err(Errno::Fault) }
}
