// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Makes whole frames of what Linux hands around between interfaces of one machine: it leaves checksums to be computed
//! and TCP and UDP to be cut into segments by hardware that a veth pair does not have, and keeps a VLAN tag beside the
//! frame.
//!
//! The header that comes with such a frame is `struct virtio_net_hdr` (virtio 1.3, section 5.1.6; linux/virtio_net.h).

/// Bytes of the header.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
/// gso_type, without the bit for ECN.
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP: u8 = 5;
const GSO_ECN: u8 = 0x80;

const ETHERTYPE_AT: usize = 12;
const IPV4_BYTES: usize = 20;
pub(crate) const IPV6_BYTES: usize = 40;
const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
pub(crate) const PROTOCOL_TCP: u8 = 6;
pub(crate) const PROTOCOL_UDP: u8 = 17;
/// TCP flags that only the first segment keeps, and those that only the last one does.
/// Smallest part of a TCP segment: the smallest MSS of Linux (48, tcp_min_snd_mss) without options (40).
const TCP_PART_BYTES: usize = 8;
/// Most parts of a UDP datagram: UDP_MAX_SEGMENTS of Linux.
const UDP_PARTS: usize = 128;
const TCP_CWR: u8 = 0x80;
const TCP_FIN_PSH: u8 = 0x09;

/// The work that is left for a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    needs_checksum: bool,
    gso_type: u8,
    gso_size: usize,
    checksum_start: usize,
    checksum_offset: usize,
    /// VLAN tag that belongs after the addresses: protocol and control information.
    vlan: Option<[u8; 4]>,
}

/// A frame with an impossible header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {bytes} bytes came unfinished in a way that is not known here (gso type {gso_type})")]
pub struct Unfinished {
    bytes: usize,
    gso_type: u8,
}

impl Left {
    /// Reads the header, which is in the machine's byte order, and takes the tag along.
    pub fn new(header: [u8; HEADER_BYTES], vlan: Option<[u8; 4]>) -> Self {
        let half = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        Self {
            needs_checksum: header[0] & NEEDS_CHECKSUM != 0,
            gso_type: header[1] & !GSO_ECN,
            gso_size: half(4),
            checksum_start: half(6),
            checksum_offset: half(8),
            vlan,
        }
    }

    /// A checksum over all bytes from `start` on, to be written `offset` bytes after that.
    pub fn checksum(start: usize, offset: usize) -> Self {
        Self { needs_checksum: true, checksum_start: start, checksum_offset: offset, ..Self::default() }
    }

    /// There is nothing to do.
    pub fn is_nothing(&self) -> bool {
        !self.needs_checksum && self.gso_type == GSO_NONE && self.vlan.is_none()
    }

    /// Gives the frame, or all frames that it stands for, as they would be on a wire. `scratch` is memory to work in.
    pub fn finish(&self, frame: &[u8], scratch: &mut Vec<u8>, emit: &mut impl FnMut(&[u8])) -> Result<(), Unfinished> {
        let unfinished = Unfinished { bytes: frame.len(), gso_type: self.gso_type };
        let done = match self.gso_type {
            _ if frame.len() < ETHERTYPE_AT + 2 => None,
            GSO_NONE => {
                scratch.clear();
                scratch.extend_from_slice(frame);
                let summed = if self.needs_checksum { self.complete(scratch) } else { Some(()) };
                summed.map(|()| emit(self.tagged(scratch)))
            }
            GSO_TCPV4 | GSO_TCPV6 | GSO_UDP => self.cut(frame, scratch, emit),
            _ => None,
        };
        done.ok_or(unfinished)
    }

    /// Computes the checksum over all bytes from its start on, with the sum of the pseudo header in its place.
    fn complete(&self, frame: &mut [u8]) -> Option<()> {
        let sum = add(0, frame.get(self.checksum_start..)?);
        let place = self.checksum_start + self.checksum_offset;
        frame.get_mut(place..place + 2)?.copy_from_slice(&not_zero(fold(sum)).to_be_bytes());
        Some(())
    }

    /// Cuts the payload of TCP or UDP into frames of gso_size bytes of it, each with its own headers.
    fn cut(&self, frame: &[u8], scratch: &mut Vec<u8>, emit: &mut impl FnMut(&[u8])) -> Option<()> {
        let network = network_header(frame)?;
        let transport = self.checksum_start;
        let is_tcp = self.gso_type != GSO_UDP;
        let version = frame.get(network)? >> 4;
        // With a tunnel around it, the checksum would start after other headers than these.
        let protocol = match version {
            4 if transport == network + 4 * usize::from(frame[network] & 0xF) => *frame.get(network + 9)?,
            6 if transport == network + IPV6_BYTES => *frame.get(network + 6)?,
            _ => return None,
        };
        if transport < network + IPV4_BYTES || protocol != if is_tcp { PROTOCOL_TCP } else { PROTOCOL_UDP } {
            return None;
        }
        let payload = if is_tcp {
            let words = usize::from(frame.get(transport + 12)? >> 4);
            (4 * words >= TCP_BYTES).then_some(transport + 4 * words)?
        } else {
            transport + UDP_BYTES
        };
        if self.gso_size == 0 || payload > frame.len() {
            return None;
        }
        let (headers, data) = frame.split_at(payload);
        let count = data.len().div_ceil(self.gso_size);
        // Linux makes no smaller parts; another sender of such a frame wants one frame to become thousands.
        if if is_tcp { self.gso_size < TCP_PART_BYTES } else { count > UDP_PARTS } {
            return None;
        }
        for (index, part) in data.chunks(self.gso_size).enumerate() {
            scratch.clear();
            scratch.extend_from_slice(headers);
            scratch.extend_from_slice(part);
            let bytes = scratch.len();
            if version == 4 {
                let id = u16::from_be_bytes([headers[network + 4], headers[network + 5]]).wrapping_add(index as u16);
                put(scratch, network + 2, (bytes - network) as u16);
                put(scratch, network + 4, id);
                put(scratch, network + 10, 0);
                let sum = fold(add(0, &scratch[network..transport]));
                put(scratch, network + 10, sum);
            } else {
                put(scratch, network + 4, (bytes - network - IPV6_BYTES) as u16);
            }
            let checksum = if is_tcp {
                let at = transport + 4;
                let first = u32::from_be_bytes([headers[at], headers[at + 1], headers[at + 2], headers[at + 3]]);
                let sequence = first.wrapping_add((index * self.gso_size) as u32);
                scratch[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
                let is_last = index + 1 == count;
                let off = if index > 0 { TCP_CWR } else { 0 } | if is_last { 0 } else { TCP_FIN_PSH };
                scratch[transport + 13] &= !off;
                transport + 16
            } else {
                put(scratch, transport + 4, (bytes - transport) as u16);
                transport + 6
            };
            put(scratch, checksum, 0);
            let addresses = if version == 4 { network + 12..network + 20 } else { network + 8..network + 40 };
            let pseudo = add(0, &scratch[addresses]) + u64::from(protocol) + (bytes - transport) as u64;
            let sum = fold(add(pseudo, &scratch[transport..]));
            put(scratch, checksum, not_zero(sum));
            emit(self.tagged(scratch));
        }
        Some(())
    }

    /// Puts the tag where it belongs.
    fn tagged<'a>(&self, frame: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(tag) = self.vlan {
            frame.splice(ETHERTYPE_AT..ETHERTYPE_AT, tag);
        }
        frame
    }
}

/// The start of the network header, after tags that are in the frame.
pub(crate) fn network_header(frame: &[u8]) -> Option<usize> {
    let mut at = ETHERTYPE_AT;
    loop {
        match frame.get(at..at + 2)? {
            [0x81, 0x00] | [0x88, 0xA8] => at += 4,
            _ => return Some(at + 2),
        }
    }
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Adds bytes to an Internet checksum (RFC 1071).
pub(crate) fn add(sum: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    words.fold(sum + odd, |sum, word| sum + u64::from(u16::from_be_bytes([word[0], word[1]])))
}

pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// A computed checksum is never written as 0, which in UDP means no checksum.
fn not_zero(sum: u16) -> u16 {
    if sum == 0 { 0xFFFF } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An Ethernet header, IPv4 or IPv6 with TCP (flags CWR, ACK, PSH, FIN) or UDP, and a payload that counts.
    fn packet(version: u8, protocol: u8, tags: &[u8], payload: usize) -> (Vec<u8>, usize) {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        frame.extend_from_slice(tags);
        let transport_bytes = if protocol == PROTOCOL_TCP { TCP_BYTES + 12 } else { UDP_BYTES };
        let length = ((transport_bytes + payload) as u16).to_be_bytes();
        if version == 4 {
            let total = ((IPV4_BYTES + transport_bytes + payload) as u16).to_be_bytes();
            frame.extend_from_slice(&[8, 0, 0x45, 0, total[0], total[1], 0xFF, 0xFE, 0x40, 0, 64, protocol, 0, 0]);
            frame.extend_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        } else {
            frame.extend_from_slice(&[0x86, 0xDD, 0x60, 0, 0, 0, length[0], length[1], protocol, 64]);
            frame.extend((0..32).map(|n| 0x20 + n));
        }
        let transport = frame.len();
        if protocol == PROTOCOL_TCP {
            frame.extend_from_slice(&[
                0x30, 0x39, 0, 80, 0xFF, 0xFF, 0xFF, 0x00, 0, 0, 0, 9, 0x80, 0x99, 1, 0, 0, 0, 0, 0,
            ]);
            frame.extend_from_slice(&[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        } else {
            frame.extend_from_slice(&[0x30, 0x39, 0, 53, length[0], length[1], 0, 0]);
        }
        frame.extend((0..payload).map(|n| (n * 7 + n / 256) as u8));
        (frame, transport)
    }

    fn left(gso_type: u8, gso_size: u16, start: usize, offset: u16, vlan: Option<[u8; 4]>) -> Left {
        let mut header = [0; HEADER_BYTES];
        header[0] = NEEDS_CHECKSUM;
        header[1] = gso_type;
        for (at, value) in [(4, gso_size), (6, start as u16), (8, offset)] {
            header[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        }
        Left::new(header, vlan)
    }

    fn frames(left: Left, frame: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        left.finish(frame, &mut Vec::new(), &mut |bytes| out.push(bytes.to_vec())).unwrap();
        out
    }

    /// The sum over the transport header, its data and the pseudo header, added bytewise: 0xFFFF when the checksum is
    /// right.
    fn transport_sum(frame: &[u8], network: usize, transport: usize) -> u32 {
        let addresses = if frame[network] >> 4 == 4 { 12..20 } else { 8..40 };
        let protocol = if frame[network] >> 4 == 4 { frame[network + 9] } else { frame[network + 6] };
        let tail = &frame[transport..];
        let mut bytes = frame[network..][addresses].to_vec();
        bytes.extend_from_slice(&[0, protocol]);
        bytes.extend_from_slice(&(tail.len() as u16).to_be_bytes());
        bytes.extend_from_slice(tail);
        ones_sum(&bytes)
    }

    fn ones_sum(bytes: &[u8]) -> u32 {
        let sum: u32 = bytes.iter().enumerate().map(|(n, b)| u32::from(*b) << if n % 2 == 0 { 8 } else { 0 }).sum();
        let sum = (sum & 0xFFFF) + (sum >> 16);
        (sum & 0xFFFF) + (sum >> 16)
    }

    #[test]
    fn a_whole_frame_stays() {
        let (frame, _) = packet(4, PROTOCOL_UDP, &[], 20);
        let left = Left::new([0; HEADER_BYTES], None);
        assert!(left.is_nothing());
        assert_eq!(frames(left, &frame), [frame]);
    }

    #[test]
    fn a_tag_comes_back() {
        let (frame, _) = packet(4, PROTOCOL_UDP, &[], 20);
        let tag = [0x81, 0x00, 0x20, 0x2A];
        let out = frames(Left::new([0; HEADER_BYTES], Some(tag)), &frame);
        assert_eq!(out, [[&frame[..12], &tag, &frame[12..]].concat()]);
    }

    #[test]
    fn a_checksum_is_completed_behind_the_pseudo_header() {
        for (version, network, payload) in [(4, 14, 100), (4, 14, 101), (6, 14, 33)] {
            let (mut frame, transport) = packet(version, PROTOCOL_UDP, &[], payload);
            let addresses = if version == 4 { network + 12..network + 20 } else { network + 8..network + 40 };
            let pseudo = [&frame[addresses], &[0, PROTOCOL_UDP], &frame[transport + 4..transport + 6]].concat();
            frame[transport + 6..transport + 8].copy_from_slice(&(ones_sum(&pseudo) as u16).to_be_bytes());
            let out = frames(left(GSO_NONE, 0, transport, 6, None), &frame);
            assert_eq!(transport_sum(&out[0], network, transport), 0xFFFF);
            assert_eq!(
                (&out[0][..transport + 6], &out[0][transport + 8..]),
                (&frame[..transport + 6], &frame[transport + 8..])
            );
        }
        // 0x0001 + 0xFFFE: the sum is 0, which is written as 0xFFFF.
        let mut zero = vec![0; 14];
        zero.extend_from_slice(&[0, 1, 0xFF, 0xFE, 0, 0]);
        assert_eq!(frames(left(GSO_NONE, 0, 14, 4, None), &zero)[0][18..], [0xFF, 0xFF]);
    }

    #[test]
    fn one_frame_becomes_no_thousands() {
        let emitted = |protocol, gso, size, payload| {
            let (frame, transport) = packet(4, protocol, &[], payload);
            let mut count = 0;
            let cut = left(gso, size, transport, 16, None).finish(&frame, &mut Vec::new(), &mut |_| count += 1);
            (cut.is_ok(), count)
        };
        assert_eq!(emitted(PROTOCOL_TCP, GSO_TCPV4, 8, 80), (true, 10));
        assert_eq!(emitted(PROTOCOL_TCP, GSO_TCPV4, 7, 70), (false, 0));
        assert_eq!(emitted(PROTOCOL_UDP, GSO_UDP, 1, 128), (true, 128));
        assert_eq!(emitted(PROTOCOL_UDP, GSO_UDP, 1, 129), (false, 0));
    }

    #[test]
    fn segments_are_frames_of_their_own() {
        let tagged = [0x81, 0x00, 0x00, 0x07];
        for (version, protocol, gso, tags) in [
            (4, PROTOCOL_TCP, GSO_TCPV4, &[][..]),
            (4, PROTOCOL_TCP, GSO_TCPV4 | GSO_ECN, &tagged),
            (6, PROTOCOL_TCP, GSO_TCPV6, &[]),
            (4, PROTOCOL_UDP, GSO_UDP, &[]),
            (6, PROTOCOL_UDP, GSO_UDP, &tagged),
        ] {
            for (payload, size) in [(3000, 1000), (3001, 1000), (999, 1000), (65_000, 1448)] {
                let (frame, transport) = packet(version, protocol, tags, payload);
                let network = 14 + tags.len();
                let out = frames(left(gso, size, transport, 16, None), &frame);
                let size = usize::from(size);
                let headers = frame.len() - payload;
                assert_eq!(out.len(), payload.div_ceil(size));
                let data: Vec<u8> = out.iter().flat_map(|segment| segment[headers..].to_vec()).collect();
                assert!(data == frame[headers..]);
                for (index, segment) in out.iter().enumerate() {
                    let be16 = |at: usize| usize::from(u16::from_be_bytes([segment[at], segment[at + 1]]));
                    assert_eq!(transport_sum(segment, network, transport), 0xFFFF, "{version} {protocol} {index}");
                    if version == 4 {
                        assert_eq!(ones_sum(&segment[network..transport]), 0xFFFF);
                        assert_eq!(be16(network + 2), segment.len() - network);
                        assert_eq!(be16(network + 4), (0xFFFE + index) & 0xFFFF);
                    } else {
                        assert_eq!(be16(network + 4), segment.len() - network - IPV6_BYTES);
                    }
                    if protocol == PROTOCOL_UDP {
                        assert_eq!(be16(transport + 4), segment.len() - transport);
                        continue;
                    }
                    let sequence = 0xFFFF_FF00_u32.wrapping_add((index * size) as u32);
                    assert_eq!(segment[transport + 4..transport + 8], sequence.to_be_bytes());
                    let (is_first, is_last) = (index == 0, index + 1 == out.len());
                    let flags = 0x10 | if is_first { 0x80 } else { 0 } | if is_last { 0x09 } else { 0 };
                    assert_eq!(segment[transport + 13], flags, "segment {index} of {}", out.len());
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (mut frame, transport) = packet(4, PROTOCOL_TCP, &[], 3000);
        // The length that a TCP header in a tunnel would have.
        frame[transport + 28 + 12] = 0x50;
        for (left, length) in [
            // In a tunnel; UDP said to be TCP; no size; cut fragments (UFO); cut headers; a checksum beyond the end.
            (left(GSO_TCPV4, 1000, transport + 28, 16, None), frame.len()),
            (left(GSO_UDP, 1000, transport, 6, None), frame.len()),
            (left(GSO_TCPV4, 0, transport, 16, None), frame.len()),
            (left(3, 1000, transport, 6, None), frame.len()),
            (left(GSO_TCPV4, 1000, transport, 16, None), transport + 10),
            (left(GSO_TCPV4, 1000, transport, 16, None), 20),
            (left(GSO_NONE, 0, frame.len() - 1, 0, None), frame.len()),
            (left(GSO_NONE, 0, 0xFFFF, 0xFFFF, None), frame.len()),
            (left(GSO_NONE, 0, 0, 0, None), 13),
        ] {
            let refused = left.finish(&frame[..length], &mut Vec::new(), &mut |_| panic!("gave a frame"));
            assert!(refused.is_err(), "{left:?}");
        }
    }
}
