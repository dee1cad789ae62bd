// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Packets from their fragments (RFC 791, RFC 8200). Fragments may overlap; [`Policy`] chooses.

use std::net::IpAddr;

use lru::LruCache;

use crate::checksum;
use crate::decode::{FRAGMENT, MAX_TAGS, Packet, Undecoded, ip};
use crate::overlap::{OVERHEAD, Pieces, Policy};

/// Largest IP packet, of IPv6 without its header.
const LARGEST: usize = 65_535;

/// Bounds of the fragments that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefragLimits {
    /// Memory of all fragments. The packet that waits longest for one is given up if they need more.
    pub memory: usize,
    /// Packets that wait for fragments.
    pub packets: usize,
    /// Time in ns after its last fragment for which a packet waits.
    pub timeout: u64,
}

impl Default for DefragLimits {
    fn default() -> Self {
        Self { memory: 32 << 20, packets: 65_535, timeout: 60_000_000_000 }
    }
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefragCounters {
    /// Packets that are whole.
    pub reassembled: u64,
    /// Fragments that had bytes of earlier ones.
    pub overlaps: u64,
    /// Packets that waited too long.
    pub timeouts: u64,
    /// Packets that made room for others.
    pub evicted: u64,
    /// Fragments that end behind the largest packet, or have a length that theirs may not have.
    pub too_large: u64,
}

/// The fields that all fragments of a packet share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    source: IpAddr,
    destination: IpAddr,
    id: u32,
    /// Of IPv4 alone: an IPv6 fragment other than the first may name another protocol.
    protocol: u8,
    vlans: [u16; MAX_TAGS],
    level: u8,
    tenant: u8,
}

/// A packet that is not whole.
#[derive(Debug, Default)]
struct Waiting {
    pieces: Pieces,
    /// Headers of the first fragment, with the place of the number in them that names the fragment header, and the
    /// protocol behind that.
    head: Option<(Vec<u8>, usize, u8)>,
    /// Bytes behind the headers, once the last fragment is there.
    total: Option<usize>,
    /// When the last fragment came. None: none has come.
    last: Option<u64>,
}

/// A packet that was put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    bytes: Vec<u8>,
    is_v6: bool,
    vlans: [u16; MAX_TAGS],
    level: u8,
}

impl Assembled {
    /// The IP packet.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Decodes it.
    ///
    /// # Errors
    /// Its headers are wrong, or it is a fragment again.
    pub fn packet(&self) -> Result<Packet<'_>, Undecoded> {
        let packet = ip(&self.bytes, 0, self.is_v6, self.vlans, self.level)?;
        if packet.fragment.is_some() {
            return Err(Undecoded::Malformed);
        }
        Ok(Packet { rebuilt: true, ..packet })
    }
}

/// Packets that wait for fragments.
#[derive(Debug)]
pub struct Defrag {
    table: LruCache<Key, Waiting>,
    limits: DefragLimits,
    memory: usize,
    counters: DefragCounters,
}

impl Defrag {
    /// An empty set with these bounds.
    #[must_use]
    pub fn new(limits: DefragLimits) -> Self {
        Self { table: LruCache::unbounded(), limits, memory: 0, counters: DefragCounters::default() }
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> DefragCounters {
        self.counters
    }

    /// Takes a fragment that came at a time in ns; the packet that is whole with it, if there is one.
    pub fn push(&mut self, packet: &Packet<'_>, tenant: u8, now: u64, policy: Policy) -> Option<Assembled> {
        let fragment = packet.fragment?;
        self.age(now);
        let (begin, end) = (usize::from(fragment.offset), usize::from(fragment.offset) + packet.body.len());
        let is_v6 = packet.source.is_ipv6();
        // Fragments of IPv6 but the last one have a multiple of 8 bytes (RFC 8200, section 4.5), and those of both
        // versions have some.
        let uneven = is_v6 && !packet.body.len().is_multiple_of(8) || packet.body.is_empty();
        if end + packet.ip.len() > LARGEST || fragment.more && uneven {
            self.counters.too_large += 1;
            return None;
        }
        let key = Key {
            source: packet.source,
            destination: packet.destination,
            id: fragment.id,
            protocol: if is_v6 { 0 } else { packet.protocol },
            vlans: packet.vlans,
            level: packet.level,
            tenant,
        };
        let waiting = self.table.get_or_insert_mut(key.clone(), Waiting::default);
        // A packet that is new has cost nothing yet.
        self.memory -= if waiting.last.is_some() { waiting.memory() } else { 0 };
        waiting.last = waiting.last.max(Some(now));
        if begin == 0 && waiting.head.is_none() {
            waiting.head = Some((packet.ip.to_vec(), fragment.named_at, packet.protocol));
        }
        if !fragment.more {
            waiting.total.get_or_insert(end);
        }
        let overlaps = waiting.pieces.insert(begin as i64, begin as i64, packet.body, policy);
        self.counters.overlaps += u64::from(overlaps);
        self.memory += waiting.memory();
        if let Some(bytes) = waiting.whole(is_v6) {
            self.memory -= waiting.memory();
            self.table.pop(&key);
            self.counters.reassembled += 1;
            return Some(Assembled { bytes, is_v6, vlans: packet.vlans, level: packet.level });
        }
        while self.memory > self.limits.memory || self.table.len() > self.limits.packets {
            let Some((_, oldest)) = self.table.pop_lru() else { break };
            self.memory -= oldest.memory();
            self.counters.evicted += 1;
        }
        None
    }

    /// Gives up packets that have waited too long.
    fn age(&mut self, now: u64) {
        while let Some((_, oldest)) = self.table.peek_lru()
            && oldest.last.is_some_and(|last| now.saturating_sub(last) > self.limits.timeout)
        {
            self.memory -= oldest.memory();
            self.table.pop_lru();
            self.counters.timeouts += 1;
        }
    }
}

impl Waiting {
    /// Memory that it takes.
    fn memory(&self) -> usize {
        OVERHEAD + self.head.as_ref().map_or(0, |(head, ..)| head.len()) + self.pieces.memory()
    }

    /// The packet, if all of it is there.
    fn whole(&self, is_v6: bool) -> Option<Vec<u8>> {
        let (total, (head, named_at, protocol)) = (self.total?, self.head.as_ref()?);
        if self.pieces.bytes() < total {
            return None;
        }
        let mut data = Vec::with_capacity(total);
        for piece in self.pieces.iter() {
            if piece.at > data.len() as i64 {
                return None;
            }
            data.extend_from_slice(&piece.bytes);
        }
        data.truncate(total);
        let mut bytes = head.clone();
        if is_v6 {
            bytes.truncate(head.len() - FRAGMENT);
            *bytes.get_mut(*named_at)? = *protocol;
            let length = u16::try_from(bytes.len().checked_sub(40)? + total).ok()?;
            bytes.get_mut(4..6)?.copy_from_slice(&length.to_be_bytes());
        } else {
            let length = u16::try_from(bytes.len() + total).ok()?;
            bytes.get_mut(2..4)?.copy_from_slice(&length.to_be_bytes());
            // It is no fragment, and may still say that it must not become one.
            let flags = bytes.get_mut(6..8)?;
            flags.copy_from_slice(&[flags[0] & 0x40, 0]);
            // The checksum is that of the new header: rules may ask for a wrong one.
            bytes.get_mut(10..12)?.fill(0);
            let checksum = checksum::of(&bytes);
            bytes.get_mut(10..12)?.copy_from_slice(&checksum.to_be_bytes());
        }
        bytes.extend_from_slice(&data);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    const SECOND: u64 = 1_000_000_000;

    /// A fragment of a UDP datagram.
    fn frame(is_v6: bool, id: u8, offset: u16, more: bool, data: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        if is_v6 {
            let length = (data.len() + 8) as u8;
            frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, length, 44, 64]);
            frame.extend([0xFD; 32]);
            let place = (offset | u16::from(more)).to_be_bytes();
            frame.extend([17, 0, place[0], place[1], 0, 0, 0, id]);
        } else {
            let place = ((offset / 8) | (u16::from(more) << 13)).to_be_bytes();
            frame.extend([8, 0, 0x45, 0, 0, (20 + data.len()) as u8, 0, id, place[0], place[1], 64, 17, 0, 0]);
            frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        }
        frame.extend(data);
        frame
    }

    /// A datagram of 24 bytes.
    fn datagram() -> Vec<u8> {
        [&[0, 53, 0, 54, 0, 24, 0, 0][..], b"0123456789abcdef"].concat()
    }

    fn push(defrag: &mut Defrag, frame: &[u8], now: u64) -> Option<Vec<u8>> {
        let whole = defrag.push(&decode(frame).unwrap(), 0, now, Policy::Bsd)?;
        let packet = whole.packet().unwrap();
        assert!(packet.rebuilt && packet.protocol == 17 && packet.ports == [53, 54]);
        assert_eq!(packet.has_right_ip_checksum(), packet.source.is_ipv4().then_some(true));
        Some(packet.payload.to_vec())
    }

    #[test]
    fn fragments_make_a_packet_in_any_order() {
        let data = datagram();
        for is_v6 in [false, true] {
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
                let mut defrag = Defrag::new(DefragLimits::default());
                let mut last = None;
                for (at, part) in order.into_iter().enumerate() {
                    let piece = &data[8 * part..8 * part + 8];
                    last = push(&mut defrag, &frame(is_v6, 1, 8 * part as u16, part < 2, piece), 0);
                    assert_eq!(last.is_some(), at == 2, "{order:?}");
                }
                assert_eq!(last.unwrap(), b"0123456789abcdef");
                assert_eq!((defrag.memory, defrag.table.len()), (0, 0));
            }
        }
    }

    #[test]
    fn memory_and_time_are_bounded() {
        let data = datagram();
        let (first, second) = (&data[..16], &data[16..]);
        let mut defrag = Defrag::new(DefragLimits { packets: 2, ..DefragLimits::default() });
        for id in 1..=3 {
            push(&mut defrag, &frame(false, id, 0, true, first), 0);
        }
        assert_eq!(push(&mut defrag, &frame(false, 1, 16, false, second), 0), None);
        assert!(push(&mut defrag, &frame(false, 3, 16, false, second), 60 * SECOND).is_some());
        assert_eq!(defrag.counters().evicted, 2);
        push(&mut defrag, &frame(false, 4, 0, true, first), 61 * SECOND);
        assert_eq!(push(&mut defrag, &frame(false, 4, 16, false, second), 122 * SECOND), None);
        assert!(defrag.counters().timeouts >= 1);
        // The packet, its header, a piece, and its bytes.
        let most = OVERHEAD + 20 + OVERHEAD + 16;
        let mut small = Defrag::new(DefragLimits { memory: most, ..DefragLimits::default() });
        push(&mut small, &frame(false, 1, 0, true, first), 0);
        assert_eq!((small.memory, small.counters().evicted), (most, 0));
        push(&mut small, &frame(false, 2, 0, true, first), 0);
        assert_eq!((small.memory, small.counters().evicted), (most, 1));
    }

    #[test]
    fn no_length_is_trusted() {
        let mut defrag = Defrag::new(DefragLimits::default());
        // The end of a packet behind the largest one, and an uneven fragment of IPv6.
        assert_eq!(push(&mut defrag, &frame(false, 1, 65_528, false, b"12345678"), 0), None);
        assert_eq!(push(&mut defrag, &frame(true, 1, 0, true, b"123"), 0), None);
        assert_eq!((defrag.counters().too_large, defrag.memory), (2, 0));
        // A fragment without bytes that is not the last one; the last one may be empty.
        assert_eq!(push(&mut defrag, &frame(false, 9, 0, true, b""), 0), None);
        assert_eq!(push(&mut defrag, &frame(true, 9, 8, true, b""), 0), None);
        assert_eq!((defrag.counters().too_large, defrag.memory), (4, 0));
        push(&mut defrag, &frame(false, 9, 0, true, &datagram()), 0);
        assert!(push(&mut defrag, &frame(false, 9, 24, false, b""), 0).is_some());
        assert_eq!((defrag.memory, defrag.table.len()), (0, 0));
        // An end that is before other bytes: they are cut off.
        let data = datagram();
        push(&mut defrag, &frame(false, 1, 24, true, b"too much"), 0);
        push(&mut defrag, &frame(false, 1, 16, false, &data[16..]), 0);
        assert_eq!(push(&mut defrag, &frame(false, 1, 0, true, &data[..16]), 0).unwrap(), b"0123456789abcdef");
        // As many bytes as the packet has, and a hole.
        push(&mut defrag, &frame(false, 2, 24, true, b"too much"), 0);
        push(&mut defrag, &frame(false, 2, 16, false, &data[16..]), 0);
        assert_eq!(push(&mut defrag, &frame(false, 2, 0, true, &data[..8]), 0), None);
        assert!(push(&mut defrag, &frame(false, 2, 8, true, &data[8..16]), 0).is_some());
        // A fragment header behind a fragment header.
        let inner = [17, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut nested = frame(true, 5, 0, true, &inner);
        nested[54] = 44;
        assert_eq!(defrag.push(&decode(&nested).unwrap(), 0, 0, Policy::Bsd), None);
        let whole = defrag.push(&decode(&frame(true, 5, 16, false, b"x")).unwrap(), 0, 0, Policy::Bsd).unwrap();
        assert_eq!(whole.packet(), Err(Undecoded::Malformed));
    }
}
