// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One direction of a TCP connection, put in order.
//!
//! Bytes leave as soon as they are in order, so bytes that have left are never replaced. Segments after a hole wait.
//! Where waiting segments overlap, a [`Policy`] chooses between their bytes.

use crate::overlap::{Piece, Pieces, Policy};

/// Bounds of the memory that waiting segments take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory of what waits in one direction: the bytes, and a fixed amount for each piece of them. If a segment would
    /// exceed it, the hole is given up.
    pub direction: usize,
    /// The same of all directions together. If a segment would exceed it, the hole of its direction is given up.
    pub all: usize,
    /// Bytes ahead of the next expected byte at which a segment may begin. Segments further ahead belong to no window
    /// and are dropped.
    pub ahead: u32,
    /// The choice between bytes of waiting segments that overlap.
    pub policy: Policy,
}

impl Default for Limits {
    fn default() -> Self {
        Self { direction: 1 << 20, all: 64 << 20, ahead: 16 << 20, policy: Policy::default() }
    }
}

/// What directions counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamCounters {
    /// Segments with payload.
    pub segments: u64,
    /// Segments of which every byte had left before.
    pub retransmitted: u64,
    /// Segments that waited after a hole.
    pub out_of_order: u64,
    /// Segments that shared bytes with a waiting one.
    pub overlaps: u64,
    /// Segments too far ahead, dropped.
    pub far: u64,
    /// Holes that were given up.
    pub gaps: u64,
    /// Bytes in these holes, which were never inspected.
    pub gap_bytes: u64,
}

/// The bytes and segments that wait in all directions of a set of flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes that wait now.
    pub bytes: usize,
    /// Memory that they take.
    memory: usize,
    /// The sum of the counters of all directions.
    pub counters: StreamCounters,
}

impl Held {
    /// Counts what waits in a direction.
    fn charge(&mut self, waiting: &Pieces) {
        self.bytes += waiting.bytes();
        self.memory += waiting.memory();
    }

    /// Counts it no more.
    fn give_back(&mut self, waiting: &Pieces) {
        self.bytes -= waiting.bytes();
        self.memory -= waiting.memory();
    }
}

/// Bytes of a stream in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Position of the first byte in the stream, from 0; bytes of gaps count.
    pub at: u64,
    /// Bytes before this chunk that were given up.
    pub gap: u32,
    /// The bytes.
    pub bytes: &'a [u8],
    /// The bytes are payload of the segment that was pushed, and did not wait.
    pub direct: bool,
}

/// One direction of a connection.
#[derive(Debug, Clone, Default)]
pub struct Direction {
    /// Sequence number of the next byte in order. None: nothing of this direction was seen.
    next: Option<u32>,
    /// Bytes before `next`.
    position: u64,
    /// Bytes that wait, by their position.
    waiting: Pieces,
}

/// The distance of `to` after `from`, in sequence space.
fn ahead(from: u32, to: u32) -> i64 {
    i64::from(to.wrapping_sub(from).cast_signed())
}

impl Direction {
    /// Sequence number of the next byte in order, if anything was seen.
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        self.next
    }

    /// Sequence number of the first byte, if anything was seen.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.next.map(|next| next.wrapping_sub(self.position as u32))
    }

    /// Bytes that have left, and those that were given up.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether segments wait after a hole.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Begins the stream: its first byte has this number. If something was seen before, nothing changes.
    pub fn open(&mut self, first: u32) {
        self.next.get_or_insert(first);
    }

    /// Takes the payload of a segment and passes on the bytes that are in order. A stream that was not opened begins
    /// here.
    pub fn push(
        &mut self,
        sequence: u32,
        payload: &[u8],
        limits: &Limits,
        held: &mut Held,
        emit: &mut dyn FnMut(Chunk<'_>),
    ) {
        if payload.is_empty() {
            return;
        }
        held.counters.segments += 1;
        let next = *self.next.get_or_insert(sequence);
        let distance = ahead(next, sequence);
        if distance <= 0 {
            let known = usize::try_from(-distance).unwrap_or(usize::MAX);
            match payload.get(known..).filter(|new| !new.is_empty()) {
                None => held.counters.retransmitted += 1,
                Some(new) => {
                    let (at, begin) = (self.at(), self.at() + distance);
                    if self.waiting.has_before(at + new.len() as i64) {
                        self.wait(begin, at, new, limits, held);
                    } else {
                        self.leave(new, 0, true, emit);
                    }
                    self.drain(held, emit);
                }
            }
            return;
        }
        if distance > i64::from(limits.ahead) {
            held.counters.far += 1;
            return;
        }
        held.counters.out_of_order += 1;
        let at = self.at() + distance;
        self.wait(at, at, payload, limits, held);
        while self.waits() && (self.waiting.memory() > limits.direction || held.memory > limits.all) {
            self.skip(held, emit);
        }
    }

    /// Like [`Direction::push`], but the bytes between the last one seen and this segment will never arrive: they are
    /// given up.
    pub fn resume(
        &mut self,
        sequence: u32,
        payload: &[u8],
        limits: &Limits,
        held: &mut Held,
        emit: &mut dyn FnMut(Chunk<'_>),
    ) {
        self.flush(held, emit);
        let gap = self.next.map_or(0, |next| ahead(next, sequence));
        if gap <= 0 || payload.is_empty() {
            self.push(sequence, payload, limits, held, emit);
            return;
        }
        let gap = u32::try_from(gap).unwrap_or_default();
        held.counters.segments += 1;
        held.counters.gaps += 1;
        held.counters.gap_bytes += u64::from(gap);
        self.leave(payload, gap, true, emit);
    }

    /// Gives up all holes: nothing waits afterwards.
    pub fn flush(&mut self, held: &mut Held, emit: &mut dyn FnMut(Chunk<'_>)) {
        while self.waits() {
            self.skip(held, emit);
        }
    }

    /// Position of the next byte.
    fn at(&self) -> i64 {
        self.position.cast_signed()
    }

    /// Bytes in order leave, after a gap.
    fn leave(&mut self, bytes: &[u8], gap: u32, direct: bool, emit: &mut dyn FnMut(Chunk<'_>)) {
        let next = self.next.unwrap_or_default();
        self.position += u64::from(gap);
        emit(Chunk { at: self.position, gap, bytes, direct });
        self.position += bytes.len() as u64;
        self.next = Some(next.wrapping_add(gap).wrapping_add(bytes.len() as u32));
    }

    /// Puts bytes from a position on, of a segment that began at `begin`, among the waiting ones.
    fn wait(&mut self, begin: i64, at: i64, bytes: &[u8], limits: &Limits, held: &mut Held) {
        held.give_back(&self.waiting);
        let overlaps = self.waiting.insert(begin, at, bytes, limits.policy);
        held.counters.overlaps += u64::from(overlaps);
        held.charge(&self.waiting);
    }

    /// Takes the first piece that waits.
    fn pop(&mut self, held: &mut Held) -> Option<Piece> {
        held.give_back(&self.waiting);
        let piece = self.waiting.pop();
        held.charge(&self.waiting);
        piece
    }

    /// Waiting bytes that the stream has reached leave.
    fn drain(&mut self, held: &mut Held, emit: &mut dyn FnMut(Chunk<'_>)) {
        while self.waiting.has_before(self.at() + 1)
            && let Some(piece) = self.pop(held)
        {
            self.leave(&piece.bytes, 0, false, emit);
        }
    }

    /// Gives up the first hole.
    fn skip(&mut self, held: &mut Held, emit: &mut dyn FnMut(Chunk<'_>)) {
        let Some(piece) = self.pop(held) else { return };
        let gap = u32::try_from(piece.at - self.at()).unwrap_or_default();
        held.counters.gaps += 1;
        held.counters.gap_bytes += u64::from(gap);
        self.leave(&piece.bytes, gap, false, emit);
        self.drain(held, emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::OVERHEAD;

    /// A stream, and its output: bytes and gaps.
    #[derive(Default)]
    struct Case {
        stream: Direction,
        held: Held,
        limits: Limits,
        text: String,
    }

    impl Case {
        fn at(first: u32) -> Self {
            let mut case = Self::default();
            case.stream.open(first);
            case
        }

        fn push(&mut self, sequence: u32, text: &str) -> &str {
            let Self { stream, held, limits, text: out } = self;
            let mut emit = |chunk: Chunk<'_>| {
                if chunk.gap > 0 {
                    out.push_str(&format!("<{}>", chunk.gap));
                }
                out.push_str(str::from_utf8(chunk.bytes).unwrap());
            };
            match text {
                "" => stream.flush(held, &mut emit),
                text => stream.push(sequence, text.as_bytes(), limits, held, &mut emit),
            }
            &self.text
        }
    }

    #[test]
    fn numbers_wrap() {
        let mut case = Case::at(u32::MAX - 1);
        case.push(1, "d");
        case.push(u32::MAX, "bc");
        assert_eq!(case.push(u32::MAX - 1, "a"), "abcd");
        assert_eq!((case.stream.next(), case.stream.position(), case.held.bytes), (Some(2), 4, 0));
        // A segment from before the wrap is a retransmission, not one that is far ahead.
        assert_eq!(case.push(u32::MAX, "XYZ"), "abcd");
        assert_eq!(case.push(u32::MAX, "XYZe"), "abcde");
        assert_eq!(case.held.counters.retransmitted, 1);
    }

    #[test]
    fn overlaps_follow_a_policy() {
        // A segment that begins before a waiting one wins, and one that begins after it loses.
        let mut case = Case::at(0);
        case.limits.policy = Policy::Linux;
        case.push(4, "4444");
        case.push(2, "2222");
        case.push(6, "6666");
        assert_eq!(case.push(0, "00"), "0022224466");
        // If segments begin together, the longer one wins; if they are equally long, the first.
        let mut case = Case::at(0);
        case.limits.policy = Policy::Linux;
        case.push(2, "aa");
        case.push(2, "bb");
        case.push(5, "cc");
        case.push(5, "ddd");
        case.push(4, "x");
        assert_eq!(case.push(0, "00"), "00aaxddd");
        // Bytes that have left stay.
        assert_eq!(case.push(6, "??!e"), "00aaxddd!e");
        assert_eq!(case.held.bytes, 0);
        // A segment that fills the hole and more: its bytes or the older ones behind the hole.
        for (policy, text) in [(Policy::Bsd, "000xx"), (Policy::First, "00aax"), (Policy::Solaris, "000xx")] {
            let mut case = Case::at(0);
            case.limits.policy = policy;
            case.push(2, "aa");
            assert_eq!(case.push(0, "000xx"), text);
            assert_eq!(case.held.bytes, 0);
        }
    }

    #[test]
    fn a_hole_is_given_up_when_memory_ends() {
        let mut case = Case::at(0);
        case.limits.direction = 2 * OVERHEAD + 8;
        case.push(10, "aaaa");
        case.push(20, "bbbb");
        assert_eq!(case.push(30, "c"), "<10>aaaa");
        assert_eq!(case.push(0, "late"), "<10>aaaa");
        assert_eq!(case.push(0, ""), "<10>aaaa<6>bbbb<6>c");
        assert_eq!((case.held.bytes, case.held.counters.gaps, case.held.counters.gap_bytes), (0, 3, 22));
        assert_eq!(case.held.memory, 0);
        let mut case = Case::at(0);
        case.limits.all = OVERHEAD + 3;
        assert_eq!(case.push(1, "aaaa"), "<1>aaaa");
    }

    /// Many small pieces take more memory than their bytes.
    #[test]
    fn pieces_are_bounded() {
        let mut case = Case::at(0);
        let most = case.limits.direction / OVERHEAD;
        for at in 0..1_000_000 {
            case.push(2 * at + 1, "x");
            assert!(case.stream.waiting.memory() <= case.limits.direction && case.held.bytes <= most);
        }
        assert!(case.held.counters.gaps > 900_000);
        case.push(0, "");
        assert_eq!((case.held.bytes, case.held.memory), (0, 0));
    }

    #[test]
    fn a_stream_resumes_behind_bytes_that_nobody_has() {
        let mut case = Case::at(0);
        case.push(0, "ab");
        case.push(4, "ef");
        let Case { stream, held, limits, text } = &mut case;
        let mut emit = |chunk: Chunk<'_>| text.push_str(&format!("<{}>{}", chunk.gap, chunk.bytes.len()));
        stream.resume(9, b"xyz", limits, held, &mut emit);
        stream.resume(12, b"!", limits, held, &mut emit);
        stream.resume(11, b"?", limits, held, &mut emit);
        assert_eq!((case.text.as_str(), case.held.bytes), ("ab<2>2<3>3<0>1", 0));
    }

    #[test]
    fn segments_beyond_every_window_are_dropped() {
        let mut case = Case::at(0);
        case.push(case.limits.ahead + 1, "far");
        case.push(0x8000_0000, "opposite");
        assert_eq!((case.held.bytes, case.push(0, "a")), (0, "a"));
        assert_eq!(case.held.counters.far, 1);
    }

    /// Random cuts, orders, retransmissions and overlaps with the same bytes give the stream.
    #[test]
    fn any_order_gives_the_stream() {
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for round in 0..300 {
            let text: String = (0..1 + random(200)).map(|_| char::from(b'a' + random(26) as u8)).collect();
            let first = u32::MAX - random(200) as u32;
            let mut case = Case::at(first);
            let mut segments = Vec::new();
            let mut at = 0;
            while at < text.len() {
                let length = 1 + random(20.min(text.len() - at));
                for _ in 0..1 + random(2) {
                    let from = at - random(1 + at.min(5));
                    segments.push((from, (at + length + random(5)).min(text.len())));
                }
                at += length;
            }
            for at in (1..segments.len()).rev() {
                segments.swap(at, random(at + 1));
            }
            for (from, to) in segments {
                case.push(first.wrapping_add(from as u32), &text[from..to]);
            }
            assert_eq!((&case.text, case.held.bytes), (&text, 0), "round {round}");
        }
    }
}
