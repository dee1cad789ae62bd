// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages: fields, their bytes, and the packets that carry them.

use crate::error::Error;
use crate::header::Header;

/// Bytes of a field's value in one piece. A value of 255 bytes or more is a row of pieces of the same number; all but
/// the last have 255 bytes.
const PIECE: usize = 255;
/// Bytes of fields that a card sees.
const SEEN: usize = 256;
/// Bytes of the fields of the longest message.
pub(crate) const LONGEST: usize = 16_256;
/// Bytes of payload of a packet: IPv4 with 1,500 bytes holds them after the headers.
const PACKET: usize = 1_450;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// Number of the application.
    pub application: u8,
    /// Type of the message.
    pub of_type: u8,
    /// Fields by number: first those by which cards dispatch.
    fields: Vec<(u8, Vec<u8>)>,
    /// How many of them are for dispatch.
    dispatch: usize,
}

impl Message {
    /// A message without fields.
    #[must_use]
    pub fn new(application: u8, of_type: u8) -> Self {
        Self { application, of_type, ..Self::default() }
    }

    /// The message with another field by which cards dispatch, after its present ones.
    #[must_use]
    pub fn dispatch(mut self, number: u8, value: impl Into<Vec<u8>>) -> Self {
        self.fields.insert(self.dispatch, (number, value.into()));
        self.dispatch += 1;
        self
    }

    /// The message with another field, after its present ones.
    #[must_use]
    pub fn field(mut self, number: u8, value: impl Into<Vec<u8>>) -> Self {
        self.fields.push((number, value.into()));
        self
    }

    /// The value of the first field with this number.
    #[must_use]
    pub fn get(&self, number: u8) -> Option<&[u8]> {
        self.fields.iter().find(|(other, _)| *other == number).map(|(_, value)| value.as_slice())
    }

    /// The first field with this number, as a `string`.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub fn text(&self, number: u8) -> Result<Option<String>, Error> {
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).map_err(|_| Error::Value(number));
        self.get(number).map(text).transpose()
    }

    /// The first field with this number, as a `uint32`.
    ///
    /// # Errors
    /// It has not 4 bytes.
    pub fn uint32(&self, number: u8) -> Result<Option<u32>, Error> {
        let read = |value: &[u8]| value.try_into().map(u32::from_be_bytes).map_err(|_| Error::Value(number));
        self.get(number).map(read).transpose()
    }

    /// The first field with this number, as a `uint64`.
    ///
    /// # Errors
    /// It has not 8 bytes.
    pub fn uint64(&self, number: u8) -> Result<Option<u64>, Error> {
        let read = |value: &[u8]| value.try_into().map(u64::from_be_bytes).map_err(|_| Error::Value(number));
        self.get(number).map(read).transpose()
    }

    /// Checks the type.
    ///
    /// # Errors
    /// The message is of another type.
    pub fn expect_type(&self, of_type: u8) -> Result<(), Error> {
        if self.of_type == of_type { Ok(()) } else { Err(Error::Type(self.of_type, of_type)) }
    }

    /// All fields: numbers and values, in their order.
    pub fn fields(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.fields.iter().map(|(number, value)| (*number, value.as_slice()))
    }

    /// The bytes of its fields, and how many of them are for dispatch.
    fn payload(&self) -> Result<(Vec<u8>, usize), Error> {
        let mut payload = Vec::new();
        let mut dispatch = 0;
        for (at, (number, value)) in self.fields.iter().enumerate() {
            let pieces = value.chunks_exact(PIECE);
            let rest = pieces.remainder();
            for piece in pieces.chain([rest]) {
                payload.extend([*number, piece.len() as u8]);
                payload.extend_from_slice(piece);
            }
            if at < self.dispatch {
                dispatch = payload.len();
                if dispatch > SEEN {
                    return Err(Error::Dispatch { number: *number, bytes: value.len() });
                }
            }
        }
        if payload.len() > LONGEST {
            return Err(Error::Long(payload.len()));
        }
        Ok((payload, dispatch))
    }

    /// The datagrams of the message, as number `id`; `acked` is the number of the message that it answers.
    ///
    /// # Errors
    /// The fields are too long.
    pub fn datagrams(&self, id: u32, acked: u32) -> Result<Vec<Vec<u8>>, Error> {
        self.packets(Header { id, acked, ..Header::default() })
    }

    /// The datagrams of the message, with what this header has beside the message's own fields.
    pub(crate) fn packets(&self, header: Header) -> Result<Vec<Vec<u8>>, Error> {
        let (mut payload, dispatch) = self.payload()?;
        if payload.is_empty() {
            // A packet has at least one byte of payload; this one is not a whole field.
            payload.push(0);
        }
        let parts: Vec<&[u8]> = payload.chunks(PACKET).collect();
        // At most 16,256 bytes are at most 12 parts, and 256 bytes at most 4 segments.
        let (count, segments) = (parts.len() as u8, dispatch.div_ceil(64) as u8);
        let header = Header { application: self.application, of_type: self.of_type, count, segments, ..header };
        let datagram =
            |(number, part): (usize, &&[u8])| [&Header { number: number as u8, ..header }.encode(), *part].concat();
        Ok(parts.iter().enumerate().map(datagram).collect())
    }

    /// Whether [`Message::decode`] can read the fields.
    pub(crate) fn is_readable(payload: &[u8]) -> bool {
        let mut rest = payload;
        while let [_, length, behind @ ..] = rest {
            let Some(behind) = behind.get(usize::from(*length)..) else { return false };
            rest = behind;
        }
        true
    }

    /// Reads the fields of a message. Which of them are for dispatch is not on the wire.
    ///
    /// # Errors
    /// A field ends after the message.
    pub fn decode(application: u8, of_type: u8, payload: &[u8]) -> Result<Self, Error> {
        let mut message = Self::new(application, of_type);
        let mut rest = payload;
        let mut open = None;
        while let [number, length, behind @ ..] = rest {
            let (piece, behind) = behind.split_at_checked(usize::from(*length)).ok_or(Error::Field(*number))?;
            match message.fields.last_mut().filter(|(last, _)| open == Some(*last) && last == number) {
                Some((_, value)) => value.extend_from_slice(piece),
                None => message.fields.push((*number, piece.to_vec())),
            }
            open = (piece.len() == PIECE).then_some(*number);
            rest = behind;
        }
        Ok(message)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_pieces() {
        for length in [0, 1, 254, 255, 256, 510, 3000] {
            let message = Message::new(1, 2).dispatch(9, "first").field(4, vec![7; length]).field(4, "again");
            let (payload, dispatch) = message.payload().unwrap();
            assert_eq!((&payload[..7], dispatch), (&b"\x09\x05first"[..], 7));
            let read = Message::decode(1, 2, &payload).unwrap();
            assert_eq!(read.fields, message.fields, "{length}");
        }
        assert!(Message::is_readable(b"\x01\x03abc\x02") && !Message::is_readable(b"\x01\x03abc\x02\x01"));
        assert!(Message::decode(1, 1, b"\x01\x05abc").unwrap_err().to_string().contains("field 1 ends behind"));
    }

    #[test]
    fn fields_have_their_kinds() {
        let message = Message::new(1, 2).field(1, "text").field(2, 5_u32.to_be_bytes()).field(3, 6_u64.to_be_bytes());
        assert_eq!(message.text(1).unwrap().as_deref(), Some("text"));
        assert_eq!((message.uint32(2).unwrap(), message.uint64(3).unwrap()), (Some(5), Some(6)));
        assert_eq!(
            (message.text(4).unwrap(), message.uint32(4).unwrap(), message.uint64(4).unwrap()),
            (None, None, None)
        );
        assert!(message.uint32(3).is_err() && message.uint64(2).is_err());
        assert!(Message::new(1, 2).field(7, [0xFF]).text(7).unwrap_err().to_string().contains("field 7"));
        message.expect_type(2).unwrap();
        assert!(message.expect_type(3).unwrap_err().to_string().contains("of type 2, not 3"));
    }

    #[test]
    fn packets_have_their_numbers() {
        let message = Message::new(1, 1).dispatch(1, vec![b'a'; 100]).field(3, vec![b'z'; 3200]);
        let datagrams = message.datagrams(5, 4).unwrap();
        let headers: Vec<Header> = datagrams.iter().map(|one| Header::decode(one).unwrap().0).collect();
        assert_eq!(
            headers.iter().map(|one| (one.id, one.acked, one.count, one.number, one.segments)).collect::<Vec<_>>(),
            [(5, 4, 3, 0, 2), (5, 4, 3, 1, 2), (5, 4, 3, 2, 2)]
        );
        assert!(
            Message::new(1, 1).dispatch(1, vec![0; 255]).datagrams(0, 0).unwrap_err().to_string().contains("255 bytes")
        );
        let two = Message::new(1, 1).dispatch(1, vec![0; 200]).dispatch(2, vec![0; 60]);
        assert!(two.datagrams(0, 0).unwrap_err().to_string().starts_with("dispatch field 2"));
        assert!(
            Message::new(1, 1)
                .field(1, vec![0; 16_256])
                .datagrams(0, 0)
                .unwrap_err()
                .to_string()
                .contains("at most 16,256")
        );
        // 16,128 bytes in 64 pieces with 2 bytes in front of each
        assert_eq!(Message::new(1, 1).field(1, vec![0; 16_128]).datagrams(0, 0).unwrap().len(), 12);
        assert!(Message::new(1, 1).field(1, vec![0; 16_129]).datagrams(0, 0).is_err());
        assert_eq!(Message::new(1, 1).datagrams(0, 0).unwrap()[0].len(), 23);
    }
}
