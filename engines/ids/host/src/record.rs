// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records of a card's log (engines/ids/machine.md, section 4).

/// Bits of the reasons.
const STRING: u8 = 1 << 0;
const FOLLOWED: u8 = 1 << 6;
/// Number of the reasons.
pub(crate) const REASONS: usize = 8;

/// A frame in the log of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Position of the record.
    pub place: u32,
    /// Position of the frame's first row.
    pub first: u32,
    /// Port and position of the record before it in its direction.
    pub before: Option<(u8, u32)>,
    /// Time in ns.
    pub time: u64,
    /// Bytes of the frame.
    pub length: u16,
    /// Bytes of its payload.
    pub payload: u16,
    /// Port at which it entered.
    pub port: u8,
    /// Direction of its flow line.
    pub direction: bool,
    /// It has a flow line.
    pub has_line: bool,
    /// The card holds it for a verdict.
    pub held: bool,
    /// Bank of the exact table in which it was searched.
    pub bank: bool,
    /// Number of its flow line.
    pub line: u32,
    /// Generation of the line.
    pub generation: u8,
    /// Number of the held frame.
    pub ticket: u16,
    /// Why it was told, bits.
    pub reasons: u8,
    /// Tenant of the frame; the record does not have it yet.
    pub tenant: u8,
}

impl Record {
    /// Whether the card follows its direction, from this frame on or from an earlier one.
    #[must_use]
    pub(crate) fn is_followed(&self) -> bool {
        self.has_line && self.reasons & (STRING | FOLLOWED) != 0
    }

    /// Reads a record.
    #[must_use]
    pub(crate) fn read(row: &[u8; 64]) -> Self {
        let long = |at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
        let word = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        let flag = |bit: u8| row[31] >> bit & 1 == 1;
        Self {
            place: long(0),
            first: long(4),
            before: flag(0).then(|| (row[49] >> 6, long(8))),
            time: u64::from(long(20)) << 32 | u64::from(long(16)),
            length: word(24),
            payload: word(28),
            port: row[30] & 7,
            direction: flag(1),
            has_line: flag(2),
            held: flag(3),
            bank: flag(5),
            line: u32::from(word(36)) | u32::from(row[30] >> 3) << 16,
            generation: row[47] >> 3,
            ticket: word(38),
            reasons: row[48],
            tenant: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let mut row = [0; 64];
        for (at, byte) in (1..).zip(&mut row) {
            *byte = at;
        }
        let record = Record::read(&row);
        assert_eq!((record.place, record.first, record.time), (0x0403_0201, 0x0807_0605, 0x1817_1615_1413_1211));
        assert_eq!((record.length, record.payload, record.port), (0x1A19, 0x1E1D, 7));
        // Flags 0x20: nothing but the bank.
        assert_eq!((record.before, record.direction, record.has_line), (None, false, false));
        assert!(record.bank && !record.held);
        assert_eq!((record.line, record.ticket, record.generation), (0x3_2625, 0x2827, 6));
        (row[31], row[48], row[49]) = (0x0F, FOLLOWED, 0x40);
        let record = Record::read(&row);
        assert_eq!(record.before, Some((1, 0x0C0B_0A09)));
        assert!(record.direction && record.has_line && record.held && record.is_followed());
        assert_eq!(record.reasons, FOLLOWED);
        assert!(
            [(0, false), (STRING, true), (!STRING & !FOLLOWED, false)]
                .into_iter()
                .all(|(reasons, followed)| { Record { reasons, ..record }.is_followed() == followed })
        );
    }
}
