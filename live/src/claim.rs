// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An interface belongs to one card: two would take each frame twice.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The right to be the card of an interface, for as long as it lives.
///
/// It is a socket with an abstract name. Linux keeps such names for each network namespace apart, as it does the
/// numbers of interfaces, and forgets the name with the process, however that ends.
pub(crate) struct Claim {
    index: i32,
    _socket: UnixDatagram,
}

impl Claim {
    /// Claims the interface of this number.
    ///
    /// # Errors `AddrInUse` if it is another card's.
    pub(crate) fn of(index: i32) -> io::Result<Self> {
        let name = SocketAddr::from_abstract_name(format!("penstock/interface/{index}"))?;
        Ok(Self { index, _socket: UnixDatagram::bind_addr(&name)? })
    }

    /// The name that the interface has now, if it is still there.
    pub(crate) fn name(&self) -> Option<String> {
        let socket = UnixDatagram::unbound().ok()?;
        rustix::net::netdevice::index_to_name(socket, u32::try_from(self.index).ok()?).ok()
    }

    /// Number of the interface.
    pub(crate) fn index(&self) -> i32 {
        self.index
    }
}
