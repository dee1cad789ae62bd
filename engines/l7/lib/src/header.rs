// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The header of each packet.

use crate::error::Error;

/// The kind of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flag {
    /// A part of a message.
    #[default]
    Data,
    /// An acknowledgement alone.
    Ack,
}

/// The header, of 22 bytes. Numbers are in network byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Number of the application.
    pub application: u8,
    /// Type of the message.
    pub of_type: u8,
    /// Number of the message; a sender gives each message another one.
    pub id: u32,
    /// Number of the message that this one acknowledges.
    pub acked: u32,
    /// Packets of the message, 1 to 32.
    pub count: u8,
    /// Which of them this one is, from 0.
    pub number: u8,
    /// The kind of the packet.
    pub flag: Flag,
    /// Segments of 64 bytes at the begin of the first packet's payload that hold the dispatch fields; 0: all.
    pub segments: u8,
    /// In an acknowledgement: packets of the message that have arrived, bit i for packet i; 0: the whole message.
    pub arrived: u32,
    /// In a packet with data: its receiver need not acknowledge it.
    pub quiet: bool,
}

impl Header {
    /// Bytes of a header, with its padding.
    pub const BYTES: usize = 22;
    /// Most packets of a message.
    pub const PACKETS: usize = 32;

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        (bytes[0], bytes[1]) = (self.application, self.of_type);
        bytes[2..6].copy_from_slice(&self.id.to_be_bytes());
        bytes[6..10].copy_from_slice(&self.acked.to_be_bytes());
        bytes[10..14].copy_from_slice(&[self.count, self.number, u8::from(self.flag == Flag::Ack), self.segments]);
        bytes[14..18].copy_from_slice(&self.arrived.to_be_bytes());
        bytes[18] = u8::from(self.quiet);
        bytes
    }

    /// Reads the header of a datagram; gives it and the payload.
    ///
    /// # Errors
    /// The datagram is none of QNP.
    pub fn decode(datagram: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (bytes, payload) = datagram.split_first_chunk::<{ Self::BYTES }>().ok_or(Error::Short(datagram.len()))?;
        let [
            application,
            of_type,
            i0,
            i1,
            i2,
            i3,
            a0,
            a1,
            a2,
            a3,
            count,
            number,
            flag,
            segments,
            r0,
            r1,
            r2,
            r3,
            quiet,
            ..,
        ] = *bytes;
        let flag = match flag {
            0 => Flag::Data,
            1 => Flag::Ack,
            flag => return Err(Error::Flag(flag)),
        };
        if count == 0 || usize::from(count) > Self::PACKETS || number >= count {
            return Err(Error::Count { count, number });
        }
        if flag == Flag::Data && payload.is_empty() {
            return Err(Error::Short(datagram.len()));
        }
        let (id, acked) = (u32::from_be_bytes([i0, i1, i2, i3]), u32::from_be_bytes([a0, a1, a2, a3]));
        // In a packet with data these bytes are padding.
        let arrived = if flag == Flag::Ack { u32::from_be_bytes([r0, r1, r2, r3]) } else { 0 };
        Ok((
            Self { application, of_type, id, acked, count, number, flag, segments, arrived, quiet: quiet == 1 },
            payload,
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_their_bytes() {
        let header = Header {
            application: 7,
            of_type: 2,
            id: 0x0102_0304,
            acked: 0xA0B0_C0D0,
            count: 3,
            number: 2,
            segments: 1,
            ..Header::default()
        };
        let bytes = header.encode();
        assert_eq!(bytes[..14], [7, 2, 1, 2, 3, 4, 0xA0, 0xB0, 0xC0, 0xD0, 3, 2, 0, 1]);
        let datagram = [&bytes[..], b"x"].concat();
        assert_eq!(Header::decode(&datagram).unwrap(), (header, &b"x"[..]));
        let wrong = |at: usize, value: u8| {
            let mut datagram = datagram.clone();
            datagram[at] = value;
            Header::decode(&datagram).unwrap_err().to_string()
        };
        assert!(
            wrong(10, 0).contains("packet 2 of a message of 0")
                && wrong(10, 33).contains("of 33")
                && wrong(11, 3).contains("packet 3 of a message of 3")
        );
        assert!(wrong(12, 2).contains("the flag is 2"));
        let last = [&Header { count: 32, number: 31, ..header }.encode()[..], b"x"].concat();
        assert_eq!(Header::decode(&last).unwrap().0.number, 31);
        let mut padded = datagram.clone();
        padded[17] = 9;
        assert_eq!(Header::decode(&padded).unwrap().0.arrived, 0);
        padded[12] = 1;
        assert_eq!(Header::decode(&padded).unwrap().0.arrived, 9);
        let ack = Header { flag: Flag::Ack, count: 1, arrived: 0x8000_0001, ..Header::default() };
        assert_eq!(Header::decode(&ack.encode()).unwrap().0, ack);
        let quiet = Header { quiet: true, ..header };
        let packet = [&quiet.encode()[..], b"x"].concat();
        assert_eq!((packet[18], Header::decode(&packet).unwrap().0), (1, quiet));
        assert!(Header::decode(&datagram[..22]).unwrap_err().to_string().ends_with("has 22"));
    }
}
