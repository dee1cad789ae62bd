// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What an interface is asked and told by ioctl: whether it is up, and not to merge the frames that it receives while the card is up.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// linux/ethtool.h
const ETHTOOL_GFLAGS: u32 = 0x25;
const ETHTOOL_SFLAGS: u32 = 0x26;
const ETHTOOL_GGRO: u32 = 0x2B;
const ETHTOOL_SGRO: u32 = 0x2C;
const FLAG_LRO: u32 = 1 << 15;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// What was switched off on an interface, and is to be switched on again.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merging {
    gro: bool,
    lro: bool,
}

impl Merging {
    /// Stops an interface from merging frames that it receives into longer ones (GRO, LRO). What it does not know it does not do.
    pub fn switch_off(socket: BorrowedFd<'_>, interface: &str) -> Self {
        let ask = |command| exchange(socket, interface, command, 0);
        let gro = ask(ETHTOOL_GGRO).is_ok_and(|on| on != 0) && exchange(socket, interface, ETHTOOL_SGRO, 0).is_ok();
        let flags = ask(ETHTOOL_GFLAGS).unwrap_or(0);
        let lro = flags & FLAG_LRO != 0 && exchange(socket, interface, ETHTOOL_SFLAGS, flags & !FLAG_LRO).is_ok();
        Self { gro, lro }
    }

    /// Restores what was.
    pub fn restore(&self, socket: BorrowedFd<'_>, interface: &str) -> io::Result<()> {
        if self.gro {
            exchange(socket, interface, ETHTOOL_SGRO, 1)?;
        }
        if self.lro {
            let flags = exchange(socket, interface, ETHTOOL_GFLAGS, 0)?;
            exchange(socket, interface, ETHTOOL_SFLAGS, flags | FLAG_LRO)?;
        }
        Ok(())
    }

    /// What was switched off, in words; None when there was nothing.
    pub fn words(&self) -> Option<&'static str> {
        match (self.gro, self.lro) {
            (false, false) => None,
            (true, false) => Some("GRO"),
            (false, true) => Some("LRO"),
            (true, true) => Some("GRO and LRO"),
        }
    }
}

/// Whether an interface is up.
pub fn is_up(socket: BorrowedFd<'_>, interface: &str) -> io::Result<bool> {
    let mut request = request_for(interface);
    // SAFETY: the request lives until the call returns.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has written the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    Ok(libc::c_int::from(flags) & libc::IFF_UP != 0)
}

fn request_for(interface: &str) -> libc::ifreq {
    // SAFETY: all of ifreq may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// Asks the kernel, or tells it; gives what it says.
fn exchange(socket: BorrowedFd<'_>, interface: &str, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    let mut request = request_for(interface);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value behind it live until the call returns, and the commands above read and write an ethtool_value.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(value.data) }
}
