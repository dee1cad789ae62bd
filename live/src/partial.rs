// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Recognises by its bytes a frame whose checksum was left to hardware, for drivers that do not report it.
//!
//! Linux leaves the sum over the pseudo header in the checksum's place, and hardware adds the rest. A frame that has
//! this sum there, and is wrong so, is taken for such a one: of those that were damaged on their way, it is one in
//! 65,536. A frame whose checksum is right is never taken for one. SCTP, fragments and what is inside tunnels are not
//! looked at.

use crate::offload::{IPV6_BYTES, Left, PROTOCOL_TCP, PROTOCOL_UDP, add, fold, network_header};

/// The work that is left for a TCP or UDP frame, by its bytes.
pub fn left_of(frame: &[u8]) -> Left {
    unfinished(frame).map_or_else(Left::default, |(start, offset)| Left::checksum(start, offset))
}

/// The start of the transport header, and of the checksum in it, if that is unfinished.
fn unfinished(frame: &[u8]) -> Option<(usize, usize)> {
    let network = network_header(frame)?;
    let packet = frame.get(network..)?;
    let half = |at: usize| Some(usize::from(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?])));
    let (addresses, protocol, transport, end) = match (frame.get(network - 2..network)?, packet.first()? >> 4) {
        // No fragments: MF and offset are 0.
        ([0x08, 0x00], 4) if half(6)? & 0x3FFF == 0 => {
            (packet.get(12..20)?, packet[9], 4 * usize::from(packet[0] & 0xF), half(2)?)
        }
        ([0x86, 0xDD], 6) => (packet.get(8..IPV6_BYTES)?, packet[6], IPV6_BYTES, IPV6_BYTES + half(4)?),
        _ => return None,
    };
    let offset = match protocol {
        PROTOCOL_TCP => 16,
        PROTOCOL_UDP => 6,
        _ => return None,
    };
    // Without the padding of a short frame.
    let segment = packet.get(transport..end)?;
    let place = segment.get(offset..offset + 2)?;
    let pseudo = add(0, addresses) + u64::from(protocol) + segment.len() as u64;
    let is_pseudo = u16::from_be_bytes([place[0], place[1]]) == !fold(pseudo);
    (is_pseudo && fold(add(pseudo, segment)) != 0).then_some((network + transport, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UDP in IPv4 or IPv6, its checksum 0.
    fn datagram(version: u8, tags: &[u8], payload: &[u8]) -> (Vec<u8>, usize) {
        let mut frame = vec![2; 12];
        frame.extend_from_slice(tags);
        let length = (8 + payload.len()) as u16;
        if version == 4 {
            let total = (28 + payload.len()) as u16;
            frame.extend_from_slice(&[8, 0, 0x45, 0]);
            frame.extend_from_slice(&total.to_be_bytes());
            frame.extend_from_slice(&[0, 1, 0x40, 0, 64, PROTOCOL_UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        } else {
            frame.extend_from_slice(&[0x86, 0xDD, 0x60, 0, 0, 0]);
            frame.extend_from_slice(&length.to_be_bytes());
            frame.extend_from_slice(&[PROTOCOL_UDP, 64]);
            frame.extend(1..=32);
        }
        let transport = frame.len();
        frame.extend_from_slice(&[0x30, 0x39, 0, 53]);
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&[0, 0]);
        frame.extend_from_slice(payload);
        (frame, transport)
    }

    fn pseudo(frame: &[u8], transport: usize) -> u64 {
        let network = network_header(frame).unwrap();
        let addresses = if frame[network] >> 4 == 4 { network + 12..network + 20 } else { network + 8..network + 40 };
        let length = u16::from_be_bytes([frame[transport + 4], frame[transport + 5]]);
        add(0, &frame[addresses]) + u64::from(PROTOCOL_UDP) + u64::from(length)
    }

    fn finished(frame: &[u8]) -> Vec<u8> {
        let left = left_of(frame);
        let mut out = Vec::new();
        left.finish(frame, &mut Vec::new(), &mut |bytes| out.extend_from_slice(bytes)).unwrap();
        out
    }

    #[test]
    fn an_unfinished_one_is_finished_and_a_right_or_wrong_one_stays() {
        for (version, tags) in [(4, &[][..]), (4, &[0x81, 0, 0, 5, 0x88, 0xA8, 0, 6]), (6, &[])] {
            let (mut frame, transport) = datagram(version, tags, b"thirteen byte");
            let at = transport + 6;
            // No checksum at all.
            assert!(left_of(&frame).is_nothing());
            let pseudo = pseudo(&frame, transport);
            let right = fold(add(pseudo, &frame[transport..]));
            let mut whole = frame.clone();
            whole[at..at + 2].copy_from_slice(&right.to_be_bytes());
            assert!(left_of(&whole).is_nothing());
            frame[at..at + 2].copy_from_slice(&(!fold(pseudo)).to_be_bytes());
            assert_eq!(finished(&frame), whole);
            let padded = [&frame[..], &[0; 5]].concat();
            assert_eq!(finished(&padded)[..frame.len()], whole);
            for wrong in [0x1234_u16, !right, !fold(pseudo) ^ 1] {
                whole[at..at + 2].copy_from_slice(&wrong.to_be_bytes());
                assert!(left_of(&whole).is_nothing(), "{wrong:x}");
            }
        }
    }

    /// A payload can be such that the right checksum is the sum of the pseudo header.
    #[test]
    fn a_right_one_that_looks_unfinished_stays() {
        let (mut frame, transport) = datagram(4, &[], &[0, 0]);
        let pseudo = pseudo(&frame, transport);
        let sum = !fold(pseudo);
        frame[transport + 6..transport + 8].copy_from_slice(&sum.to_be_bytes());
        let missing = fold(add(pseudo, &frame[transport..]));
        frame[transport + 8..transport + 10].copy_from_slice(&missing.to_be_bytes());
        assert_eq!(fold(add(pseudo, &frame[transport..])), 0);
        assert!(left_of(&frame).is_nothing());
    }

    #[test]
    fn cut_off_and_foreign_frames_stay() {
        let (mut frame, transport) = datagram(4, &[], b"thirteen byte");
        let sum = !fold(pseudo(&frame, transport));
        frame[transport + 6..transport + 8].copy_from_slice(&sum.to_be_bytes());
        assert!(!left_of(&frame).is_nothing());
        for length in 0..frame.len() {
            assert!(left_of(&frame[..length]).is_nothing(), "{length}");
        }
        for (at, value) in [(20, 0x20), (21, 1), (23, 132), (14, 0x55), (14, 0x4F), (13, 6)] {
            let mut other = frame.clone();
            other[at] = value;
            assert!(left_of(&other).is_nothing(), "{at}");
        }
    }
}
