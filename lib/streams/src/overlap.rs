// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bytes that wait for others, and the choice between two versions of a byte. Systems choose differently (Novak and
//! Sturges, Target-Based TCP Stream Reassembly, 2007), so the receiver's system decides what an application reads.

use std::collections::BTreeMap;

/// Memory that a piece takes beside its bytes: its entry in the map, and the block of its bytes.
pub(crate) const OVERHEAD: usize = 128;

/// How a system chooses between the bytes of two segments, or fragments, that overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The older bytes stay, unless the new segment begins before the old one.
    #[default]
    Bsd,
    /// As BSD; a new segment that begins with the old one and ends behind it also wins.
    Linux,
    /// As BSD; a new segment that begins with the old one and does not end before it also wins.
    OldLinux,
    /// The new bytes win if the new segment ends behind the old one, or ends with it and does not begin behind it.
    Solaris,
    /// The older bytes always stay.
    First,
    /// The newer bytes always win.
    Last,
}

/// Names of systems, and their policies.
const SYSTEMS: [(&str, Policy); 15] = [
    ("bsd", Policy::Bsd),
    ("bsd-right", Policy::Bsd),
    ("windows", Policy::Bsd),
    ("windows2k3", Policy::Bsd),
    ("macos", Policy::Bsd),
    ("irix", Policy::Bsd),
    ("hpux10", Policy::Bsd),
    ("linux", Policy::Linux),
    ("old-linux", Policy::OldLinux),
    ("solaris", Policy::Solaris),
    ("hpux11", Policy::Solaris),
    ("old-solaris", Policy::First),
    ("vista", Policy::First),
    ("first", Policy::First),
    ("last", Policy::Last),
];

impl Policy {
    /// The policy of a system, by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SYSTEMS.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }

    /// Names of all systems.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SYSTEMS.iter().map(|(name, _)| *name)
    }

    /// Whether bytes of a new segment replace those of an old one. Both are given by begin and end.
    fn prefers_new(self, old: (i64, i64), new: (i64, i64)) -> bool {
        match self {
            Self::First => false,
            Self::Last => true,
            Self::Bsd => new.0 < old.0,
            Self::Linux => new.0 < old.0 || new.0 == old.0 && new.1 > old.1,
            Self::OldLinux => new.0 < old.0 || new.0 == old.0 && new.1 >= old.1,
            Self::Solaris => new.1 > old.1 || new.1 == old.1 && new.0 <= old.0,
        }
    }
}

/// Bytes of a segment, or those of them that no other segment replaced.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Position of the first byte.
    pub(crate) at: i64,
    pub(crate) bytes: Vec<u8>,
    /// Begin and end of the whole segment.
    of: (i64, i64),
}

impl Piece {
    pub(crate) fn end(&self) -> i64 {
        self.at + self.bytes.len() as i64
    }

    /// The bytes between two positions of this piece, if there are any.
    fn part(&self, from: i64, to: i64) -> Option<Self> {
        let index = |position: i64| usize::try_from(position - self.at).ok();
        let bytes = self.bytes.get(index(from)?..index(to)?).filter(|bytes| !bytes.is_empty())?;
        Some(Self { at: from, bytes: bytes.to_vec(), of: self.of })
    }
}

/// Pieces that do not overlap, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pieces {
    /// By the position of the first byte. None is empty.
    by_position: BTreeMap<i64, Piece>,
    bytes: usize,
}

impl Pieces {
    /// Bytes of all pieces.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory of all pieces. A sender chooses how many bytes a piece has, so each piece counts as well.
    pub(crate) fn memory(&self) -> usize {
        self.bytes + OVERHEAD * self.by_position.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_position.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.by_position.values()
    }

    /// Whether a piece begins before this position.
    pub(crate) fn has_before(&self, position: i64) -> bool {
        self.by_position.first_key_value().is_some_and(|(at, _)| *at < position)
    }

    /// Takes the first piece.
    pub(crate) fn pop(&mut self) -> Option<Piece> {
        let (_, first) = self.by_position.pop_first()?;
        self.bytes -= first.bytes.len();
        Some(first)
    }

    /// Adds a piece that overlaps no other.
    fn add(&mut self, piece: Piece) {
        self.bytes += piece.bytes.len();
        self.by_position.insert(piece.at, piece);
    }

    /// Takes the pieces that have bytes between two positions, in order.
    fn take(&mut self, from: i64, to: i64) -> Vec<Piece> {
        let before = self.by_position.range(..from).next_back().filter(|(_, piece)| piece.end() > from);
        let first = before.map_or(from, |(at, _)| *at);
        let found: Vec<i64> = self.by_position.range(first..to).map(|(at, _)| *at).collect();
        let taken: Vec<Piece> = found.iter().filter_map(|at| self.by_position.remove(at)).collect();
        self.bytes -= taken.iter().map(|piece| piece.bytes.len()).sum::<usize>();
        taken
    }

    /// Adds the bytes of a segment from a position on; the segment began at `begin`. Returns whether other pieces have
    /// some of its bytes.
    pub(crate) fn insert(&mut self, begin: i64, at: i64, bytes: &[u8], policy: Policy) -> bool {
        if bytes.is_empty() {
            return false;
        }
        let end = at + bytes.len() as i64;
        let new = Piece { at, bytes: bytes.to_vec(), of: (begin, end) };
        let shared = self.take(at, end);
        if shared.is_empty() {
            self.add(new);
            return false;
        }
        let (mut from, mut pieces) = (at, Vec::new());
        for old in shared {
            if policy.prefers_new(old.of, new.of) {
                pieces.extend(old.part(old.at, at.max(old.at)));
                pieces.extend(old.part(end.min(old.end()), old.end()));
            } else {
                pieces.extend(new.part(from, old.at.max(from)));
                from = old.end();
                pieces.push(old);
            }
        }
        pieces.extend(new.part(from, end.max(from)));
        for piece in pieces {
            self.add(piece);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of segments that arrive in this order, each with its letter; a dot for a missing byte.
    fn text(policy: Policy, segments: &[(i64, i64)]) -> String {
        let mut pieces = Pieces::default();
        for (letter, (from, to)) in (b'a'..).zip(segments) {
            pieces.insert(*from, *from, &vec![letter; (to - from) as usize], policy);
        }
        let end = pieces.iter().last().unwrap().end();
        let mut text = vec![b'.'; end as usize];
        for piece in pieces.iter() {
            text[piece.at as usize..piece.end() as usize].copy_from_slice(&piece.bytes);
        }
        assert_eq!(pieces.bytes(), text.iter().filter(|byte| **byte != b'.').count());
        assert_eq!(pieces.memory(), pieces.bytes() + OVERHEAD * pieces.iter().count());
        String::from_utf8(text).unwrap()
    }

    /// A new segment that begins before, with and behind an old one, and ends before, with and behind it.
    #[test]
    fn systems_choose() {
        let old = (3, 6);
        let new = [(1, 4), (1, 6), (1, 8), (3, 5), (3, 6), (3, 8), (4, 5), (4, 6), (4, 8)];
        for (name, wins) in [
            ("bsd", "yyynnnnnn"),
            ("windows", "yyynnnnnn"),
            ("linux", "yyynnynnn"),
            ("old-linux", "yyynyynnn"),
            ("solaris", "nyynyynny"),
            ("hpux11", "nyynyynny"),
            ("vista", "nnnnnnnnn"),
            ("last", "yyyyyyyyy"),
        ] {
            let policy = Policy::named(name).unwrap();
            let all: String = new
                .iter()
                .map(|new| {
                    let text = text(policy, &[old, *new]);
                    // Where both have a byte.
                    let shared = &text[new.0.max(3) as usize..new.1.min(6) as usize];
                    assert!(shared.bytes().all(|byte| byte == shared.as_bytes()[0]), "{text}");
                    if shared.starts_with('b') { 'y' } else { 'n' }
                })
                .collect();
            assert_eq!(all, wins, "{name}");
        }
        assert_eq!(Policy::named("plan9"), None);
    }

    #[test]
    fn segments_fill_what_is_free() {
        assert_eq!(text(Policy::First, &[(2, 4), (6, 8), (0, 10)]), "ccaaccbbcc");
        assert_eq!(text(Policy::Last, &[(0, 10), (2, 4), (3, 7)]), "aabccccaaa");
        assert_eq!(text(Policy::Bsd, &[(4, 6), (1, 5), (8, 9), (5, 12)]), ".bbbbadddddd");
        // A segment without bytes is no piece.
        let mut pieces = Pieces::default();
        assert!(!pieces.insert(3, 3, b"", Policy::Last) && pieces.is_empty());
        pieces.insert(2, 2, b"ab", Policy::Last);
        assert!(!pieces.insert(3, 3, b"", Policy::Last) && pieces.iter().count() == 1);
    }

    /// A sender that leaves out a byte and sends those behind it one by one: each costs about the same, also when they
    /// come again and when they leave.
    #[test]
    fn a_million_pieces_are_no_work() {
        let begin = std::time::Instant::now();
        let mut pieces = Pieces::default();
        for _ in 0..2 {
            for at in 1..=1_000_000 {
                pieces.insert(at, at, b"x", Policy::Last);
            }
        }
        assert_eq!((pieces.bytes(), pieces.memory()), (1_000_000, 1_000_000 * (1 + OVERHEAD)));
        assert_eq!(std::iter::from_fn(|| pieces.pop()).count(), 1_000_000);
        assert_eq!((pieces.bytes(), pieces.memory()), (0, 0));
        // With steps that grow with the pieces this would take hours.
        assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    }
}
