// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What carries datagrams.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of the longest UDP datagram.
pub(crate) const LONGEST: usize = 65_507;

/// Something that sends and receives datagrams: a UDP socket, or a queue of a card. Several threads use it at once, but
/// only one of them receives.
pub trait Carrier: Send + Sync {
    /// Sends a datagram. Other threads of the endpoint wait meanwhile.
    ///
    /// # Errors
    /// It could not be sent.
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;

    /// Receives the next datagram into `buffer`; returns its length and its source, or nothing if none arrives in time.
    /// Without time it returns a datagram that has arrived.
    ///
    /// # Errors
    /// The carrier failed.
    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>>;
}

/// A socket that blocks. The endpoint sets its read timeout.
impl Carrier for UdpSocket {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.send_to(datagram, to).map(|_| ())
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        let received = if within.is_zero() {
            // The shortest timeout of a socket is a tick of the kernel's clock, some ms.
            self.set_nonblocking(true)?;
            let received = self.recv_from(buffer);
            self.set_nonblocking(false)?;
            received
        } else {
            self.set_read_timeout(Some(within.max(Duration::from_micros(1))))?;
            self.recv_from(buffer)
        };
        match received {
            Ok(received) => Ok(Some(received)),
            Err(error) if error.kind() == ErrorKind::WouldBlock || passes(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<C: Carrier + ?Sized> Carrier for Arc<C> {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        (**self).send(to, datagram)
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        (**self).receive(buffer, within)
    }
}

/// Whether a carrier with this error may work at the next call: the error is about one datagram, as a host that is not
/// there reports it, or about a queue that is full.
pub(crate) fn passes(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Interrupted
            | ErrorKind::TimedOut
            | ErrorKind::WouldBlock
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::OutOfMemory
    )
}

/// Whether the error is about the destination of a datagram, or passes: the carrier works for others.
pub(crate) fn is_about_destination(error: &io::Error) -> bool {
    passes(error)
        || matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied | ErrorKind::AddrNotAvailable)
}
