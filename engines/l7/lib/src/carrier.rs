// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What carries datagrams.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Bytes of the longest UDP datagram.
pub const LONGEST: usize = 65_507;

/// Something that sends and receives datagrams: a UDP socket, or a queue of a card.
pub trait Carrier {
    /// Sends a datagram.
    ///
    /// # Errors
    /// It could not be sent.
    fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;

    /// Receives the next datagram into `buffer`; returns its length and its source.
    ///
    /// # Errors
    /// If none arrived within the carrier's time, or it failed.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
}

impl Carrier for UdpSocket {
    fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.send_to(datagram, to).map(|_| ())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.recv_from(buffer)
    }
}
