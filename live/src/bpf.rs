// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The XDP program that hands an interface's frames to the sockets of its queues (bpf(2);
//! Documentation/bpf/map_xskmap.rst in Linux). It is attached by a link, which the kernel takes away when the process
//! ends, however it does.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// linux/bpf.h
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE_ELEM: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
const REDIRECT_MAP: i32 = 51;
const XDP_PASS: i32 = 2;
/// Offset of rx_queue_index in `struct xdp_md`.
const RX_QUEUE_INDEX: i16 = 16;
/// linux/if_link.h
const XDP_FLAGS_SKB_MODE: u32 = 1 << 1;
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;

/// Queues that the program can serve.
pub(crate) const MAX_QUEUES: u32 = 64;

/// The place at which a program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In the driver.
    Native,
    /// Behind the driver, for drivers without support.
    Generic,
}

/// Why a program is not attached.
#[derive(Debug)]
pub(crate) enum AttachError {
    /// This user may not.
    Forbidden,
    /// Another one is.
    Taken,
    /// Neither mode does.
    Refused {
        /// The system's error for the driver's own mode.
        native: io::Error,
        /// The system's error for the generic mode.
        generic: io::Error,
    },
    /// It could not even be loaded.
    Load(io::Error),
}

/// A program at an interface, for the lifetime of this value. Frames at a queue without a socket go on to the kernel.
pub(crate) struct Redirect {
    // Closed first: no frame goes to a map that is not there.
    _link: OwnedFd,
    _program: OwnedFd,
    sockets: OwnedFd,
    mode: Mode,
}

impl Redirect {
    /// Attaches it to the interface with this number. Another program there stays.
    pub(crate) fn attach(index: i32) -> Result<Self, AttachError> {
        let load = |error: io::Error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => AttachError::Forbidden,
            _ => AttachError::Load(error),
        };
        let sockets = create_map().map_err(load)?;
        let program = load_program(&sockets).map_err(load)?;
        let (link, mode) = match create_link(&program, index, XDP_FLAGS_DRV_MODE) {
            Ok(link) => (link, Mode::Native),
            Err(native) => match native.raw_os_error() {
                Some(libc::EPERM) => return Err(AttachError::Forbidden),
                // EEXIST: one in the other mode.
                Some(libc::EBUSY | libc::EEXIST) => return Err(AttachError::Taken),
                _ => match create_link(&program, index, XDP_FLAGS_SKB_MODE) {
                    Ok(link) => (link, Mode::Generic),
                    Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {
                        return Err(AttachError::Taken);
                    }
                    Err(generic) => return Err(AttachError::Refused { native, generic }),
                },
            },
        };
        Ok(Self { _link: link, _program: program, sockets, mode })
    }

    /// Gives the frames of a queue to a socket.
    pub(crate) fn serve(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let value = socket.as_raw_fd();
        let change = MapChange {
            map: self.sockets.as_raw_fd(),
            reserved: 0,
            key: (&raw const queue) as u64,
            value: (&raw const value) as u64,
            flags: 0,
        };
        // SAFETY: key and value live until the call returns, and have the sizes with which the map was made.
        unsafe { bpf(MAP_UPDATE_ELEM, &change) }.map(|_| ())
    }

    /// Its place.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }
}

/// Members of `union bpf_attr` for each of the commands, as far as they are used.
#[repr(C)]
struct Map {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
}

#[repr(C, align(8))]
struct MapChange {
    map: i32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C, align(8))]
struct Program {
    kind: u32,
    instructions: u32,
    first_instruction: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

#[repr(C)]
struct Link {
    program: i32,
    interface: i32,
    attach_type: u32,
    flags: u32,
}

/// `struct bpf_insn`.
#[repr(C)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

fn create_map() -> io::Result<OwnedFd> {
    let size = size_of::<u32>() as u32;
    // SAFETY: no pointer is passed.
    unsafe {
        bpf(MAP_CREATE, &Map { kind: MAP_TYPE_XSKMAP, key_size: size, value_size: size, max_entries: MAX_QUEUES })
    }
    .map(owned)
}

/// `return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS);`
fn load_program(sockets: &OwnedFd) -> io::Result<OwnedFd> {
    let instruction = |code, registers, offset, immediate| Instruction { code, registers, offset, immediate };
    let program = [
        // r2 = *(u32 *)(r1 + RX_QUEUE_INDEX)
        instruction(0x61, 0x12, RX_QUEUE_INDEX, 0),
        // r1 = the map, a constant of 64 bits in two instructions (BPF_PSEUDO_MAP_FD)
        instruction(0x18, 0x11, 0, sockets.as_raw_fd()),
        instruction(0x00, 0x00, 0, 0),
        // r3 = the action without a socket
        instruction(0xB7, 0x03, 0, XDP_PASS),
        instruction(0x85, 0x00, 0, REDIRECT_MAP),
        instruction(0x95, 0x00, 0, 0),
    ];
    let program = Program {
        kind: PROG_TYPE_XDP,
        instructions: program.len() as u32,
        first_instruction: program.as_ptr() as u64,
        license: c"Apache-2.0".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
        name: *b"penstock\0\0\0\0\0\0\0\0",
        interface: 0,
        attach_type: ATTACH_TYPE_XDP,
    };
    // SAFETY: instructions and license live until the call returns; the kernel checks the program.
    unsafe { bpf(PROG_LOAD, &program) }.map(owned)
}

fn create_link(program: &OwnedFd, interface: i32, flags: u32) -> io::Result<OwnedFd> {
    let link = Link { program: program.as_raw_fd(), interface, attach_type: ATTACH_TYPE_XDP, flags };
    // SAFETY: no pointer is passed.
    unsafe { bpf(LINK_CREATE, &link) }.map(owned)
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: bpf() has just made the descriptor, and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// # Safety
/// The attribute must have the command's type, and pointers in it must point to the given data.
unsafe fn bpf<T>(command: libc::c_long, attribute: &T) -> io::Result<i32> {
    // SAFETY: the attribute lives until the call returns, and has the given length; unused parts of the union are zero.
    let status = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *attribute, size_of::<T>()) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(status as i32) }
}
