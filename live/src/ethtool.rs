// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Interface settings by ioctl: reads its state and its kind, and lets it leave frames as they were on the wire while
//! the card is up.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;

const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// linux/ethtool.h
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GFLAGS: u32 = 0x25;
const ETHTOOL_SFLAGS: u32 = 0x26;
const ETHTOOL_GGRO: u32 = 0x2B;
const ETHTOOL_SGRO: u32 = 0x2C;
const ETHTOOL_GCHANNELS: u32 = 0x3C;
const FLAG_RXVLAN: u32 = 1 << 8;
const FLAG_LRO: u32 = 1 << 15;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    versions: [u8; 64],
    bus: [u8; 32],
    rest: [u8; 64],
}

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    send: u32,
    other: u32,
    combined: u32,
}

/// The features that were switched off on an interface, to be restored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Merging {
    gro: bool,
    lro: bool,
}

impl Merging {
    /// Stops an interface from merging received frames into longer ones (GRO, LRO). Skips features that the interface
    /// lacks.
    pub(crate) fn switch_off(socket: BorrowedFd<'_>, interface: &str) -> Self {
        let ask = |command| exchange(socket, interface, command, 0);
        let gro = ask(ETHTOOL_GGRO).is_ok_and(|on| on != 0) && exchange(socket, interface, ETHTOOL_SGRO, 0).is_ok();
        let flags = ask(ETHTOOL_GFLAGS).unwrap_or(0);
        let lro = flags & FLAG_LRO != 0 && exchange(socket, interface, ETHTOOL_SFLAGS, flags & !FLAG_LRO).is_ok();
        Self { gro, lro }
    }

    /// Restores the old settings.
    pub(crate) fn restore(&self, socket: BorrowedFd<'_>, interface: &str) -> io::Result<()> {
        if self.gro {
            exchange(socket, interface, ETHTOOL_SGRO, 1)?;
        }
        if self.lro {
            let flags = exchange(socket, interface, ETHTOOL_GFLAGS, 0)?;
            exchange(socket, interface, ETHTOOL_SFLAGS, flags | FLAG_LRO)?;
        }
        Ok(())
    }

    /// The features that were switched off, in words; None if there were none to switch off.
    pub(crate) fn words(&self) -> Option<&'static str> {
        match (self.gro, self.lro) {
            (false, false) => None,
            (true, false) => Some("GRO"),
            (false, true) => Some("LRO"),
            (true, true) => Some("GRO and LRO"),
        }
    }
}

/// VLAN tags stay in the frames that an interface receives, as long as this lives.
pub(crate) struct TagsKept {
    /// Any socket, to ask the interface through.
    ask: UnixDatagram,
    interface: String,
    was_off: bool,
}

impl TagsKept {
    /// Stops an interface from taking tags out.
    pub(crate) fn keep(interface: &str) -> io::Result<Self> {
        let ask = UnixDatagram::unbound()?;
        let flags = exchange(ask.as_fd(), interface, ETHTOOL_GFLAGS, 0).unwrap_or(0);
        let was_off = flags & FLAG_RXVLAN == 0;
        if !was_off {
            exchange(ask.as_fd(), interface, ETHTOOL_SFLAGS, flags & !FLAG_RXVLAN)?;
        }
        Ok(Self { ask, interface: interface.to_string(), was_off })
    }

    /// The features that were switched off, in words; None if there were none to switch off.
    pub(crate) fn words(&self) -> Option<&'static str> {
        (!self.was_off).then_some("the taking out of VLAN tags")
    }
}

impl Drop for TagsKept {
    fn drop(&mut self) {
        if !self.was_off {
            let (ask, name) = (self.ask.as_fd(), &self.interface);
            // An interface that is gone has no settings to restore.
            let _ = exchange(ask, name, ETHTOOL_GFLAGS, 0)
                .and_then(|flags| exchange(ask, name, ETHTOOL_SFLAGS, flags | FLAG_RXVLAN));
        }
    }
}

/// The kind of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Name of its driver, `veth` or `ice`; empty if it has no driver.
    pub driver: String,
    /// The address of the device, `0000:01:00.0`; for an interface without hardware its driver chooses the text.
    pub bus: String,
}

/// Reads the kind of an interface.
pub(crate) fn kind(socket: BorrowedFd<'_>, interface: &str) -> Kind {
    let mut info =
        DriverInfo { command: ETHTOOL_GDRVINFO, driver: [0; 32], versions: [0; 64], bus: [0; 32], rest: [0; 64] };
    if ethtool(socket, interface, &mut info).is_err() {
        return Kind::default();
    }
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    Kind { driver: text(&info.driver), bus: text(&info.bus) }
}

/// Receive queues of an interface; None if its driver does not report them.
pub(crate) fn queues(socket: BorrowedFd<'_>, interface: &str) -> Option<u32> {
    let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
    ethtool(socket, interface, &mut channels).ok()?;
    channels.receive.checked_add(channels.combined).filter(|count| *count > 0)
}

/// Bytes that a frame carries at most, its header not counted.
pub(crate) fn mtu(socket: BorrowedFd<'_>, interface: &str) -> io::Result<usize> {
    let mut request = request_for(interface);
    // SAFETY: the request lives until the call returns.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has written the MTU.
    Ok(usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

/// Whether an interface is up.
pub(crate) fn is_up(socket: BorrowedFd<'_>, interface: &str) -> io::Result<bool> {
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

/// Sends a request to the kernel; returns its answer.
fn exchange(socket: BorrowedFd<'_>, interface: &str, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    ethtool(socket, interface, &mut value)?;
    Ok(value.data)
}

/// Passes a value that begins with a command, and has the type that the command reads and writes.
fn ethtool<T>(socket: BorrowedFd<'_>, interface: &str, value: &mut T) -> io::Result<()> {
    let mut request = request_for(interface);
    request.ifr_ifru.ifru_data = (&raw mut *value).cast();
    // SAFETY: the request and its value live until the call returns; each of the types above has the layout that its
    // commands read and write, and may have any bits.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
