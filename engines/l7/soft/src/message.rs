// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The frame in which a message is delivered.

use crate::packet::{Packet, QNP};

/// Makes one frame of a message: `frame` is its first packet, which begins with `packet`, and `rest` are the payloads
/// of the others in order. A message of one packet does not change; bytes after the UDP datagram are removed.
pub fn deliver<'a>(frame: &mut Vec<u8>, packet: &Packet, rest: impl IntoIterator<Item = &'a [u8]>) {
    frame.truncate(packet.end);
    rest.into_iter().for_each(|payload| frame.extend_from_slice(payload));
    if packet.count == 1 {
        return;
    }
    let length = (frame.len() - packet.udp) as u16;
    let word = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let mut put = |at: usize, value: u16| frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
    put(packet.udp + 4, length);
    put(packet.udp + 6, 0);
    let qnp = packet.payload - QNP;
    if packet.udp - packet.ip == 20 {
        let (at, sum) = (packet.ip + 2, packet.ip + 10);
        let total = length + 20;
        let old = word(frame, at);
        // RFC 1624: HC' = ~(~HC + ~m + m').
        let changed = u32::from(!word(frame, sum)) + u32::from(!old) + u32::from(total);
        let folded = (changed & 0xFFFF) + (changed >> 16);
        let folded = (folded & 0xFFFF) + (folded >> 16);
        frame[at..at + 2].copy_from_slice(&total.to_be_bytes());
        frame[sum..sum + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    } else {
        frame[packet.ip + 4..packet.ip + 6].copy_from_slice(&length.to_be_bytes());
    }
    frame[qnp + 10] = 1;
}
