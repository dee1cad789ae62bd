// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What SSH says before encryption begins (RFC 4253): the identification, and the algorithms of a key exchange with
//! their fingerprint (HASSH).

use md5::{Digest, Md5};

use crate::field::{Field, Protocol};
use crate::lines::Lines;
use crate::reader::{Reader, hex};
use crate::side::{Emit, Event, Exchange, LAST, Limits, Message};

/// Bytes of an identification that are looked at. RFC 4253 allows 255.
const LINE: usize = 1024;
/// The message that begins a key exchange.
const KEX_INIT: usize = 20;
/// Messages that may come at any time: ignore, unimplemented and debug (RFC 4253, section 11).
const ANY_TIME: [u8; 3] = [2, 3, 4];
/// Messages of these kinds that are skipped.
const SKIPS: u8 = 16;

/// The first messages of one direction.
#[derive(Debug, Clone)]
pub(crate) struct Ssh {
    lines: Lines,
    /// Bytes behind the identification.
    packet: Vec<u8>,
    identified: bool,
    /// Messages that were skipped.
    skipped: u8,
    over: bool,
    message: Message,
    told: usize,
}

impl Ssh {
    pub(crate) fn new(to_server: bool) -> Self {
        Self {
            lines: Lines::default(),
            packet: Vec::new(),
            identified: false,
            skipped: 0,
            over: false,
            message: Message::new(Protocol::Ssh, to_server),
            told: 0,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn memory(&self) -> usize {
        let fields: usize = self.message.fields.iter().map(|(_, bytes)| bytes.capacity() + 32).sum();
        self.lines.memory() + self.packet.capacity() + fields
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        if !self.identified {
            let (taken, line) = self.lines.take(bytes, LINE);
            let Some(line) = line else { return };
            bytes = &bytes[taken..];
            self.identify(&line, exchange, emit);
        }
        if self.over {
            return;
        }
        self.packet.extend_from_slice(bytes);
        while let Some(length) = Reader(&self.packet).number(4) {
            if length > limits.handshake {
                exchange.counters.too_long += 1;
                self.finish(emit);
                return;
            }
            let Some(packet) = self.packet.get(4..4 + length) else { return };
            if self.skipped < SKIPS && packet.get(1).is_some_and(|kind| ANY_TIME.contains(kind)) {
                self.skipped += 1;
                self.packet.drain(..4 + length);
                continue;
            }
            let packet = std::mem::take(&mut self.packet);
            exchange.counters.malformed += u64::from(self.exchange(&packet[4..4 + length]).is_none());
            self.finish(emit);
            return;
        }
    }

    /// Takes the identification: `SSH-PROTOCOL-SOFTWARE COMMENTS`.
    fn identify(&mut self, line: &[u8], exchange: &mut Exchange, emit: &mut Emit<'_>) {
        self.identified = true;
        let mut parts = line.splitn(3, |byte| *byte == b'-').skip(1);
        let (proto, software) = (parts.next().unwrap_or_default(), parts.next());
        self.message.fields.push((Field::SshProto, proto.to_vec()));
        match software {
            Some(software) => {
                let end = software.iter().position(|byte| *byte == b' ').unwrap_or(software.len());
                self.message.fields.push((Field::SshSoftware, software[..end].to_vec()));
            }
            None => exchange.counters.malformed += 1,
        }
        exchange.counters.ssh[usize::from(!self.message.to_server)] += 1;
        self.tell(0, false, emit);
    }

    /// Takes the packet that begins a key exchange, without its length.
    fn exchange(&mut self, packet: &[u8]) -> Option<()> {
        let mut reader = Reader(packet);
        reader.take(1)?;
        if reader.number(1)? != KEX_INIT {
            return None;
        }
        reader.take(16)?;
        let mut lists = Vec::new();
        for _ in 0..8 {
            lists.push(reader.vector(4)?.0);
        }
        // Key exchange, and of this direction: encryption, authentication, compression.
        let own = usize::from(!self.message.to_server);
        let text = [lists[0], lists[2 + own], lists[4 + own], lists[6 + own]].join(&b';');
        let (hash, string) = if self.message.to_server {
            (Field::Hassh, Field::HasshString)
        } else {
            (Field::HasshServer, Field::HasshServerString)
        };
        self.message.fields.push((hash, hex(&Md5::digest(&text), "")));
        self.message.fields.push((string, text));
        Some(())
    }

    fn tell(&mut self, stage: u8, last: bool, emit: &mut Emit<'_>) {
        emit(&Event { message: &self.message, stage, from: self.told, last });
        self.told = self.message.fields.len();
    }

    /// Ends the message. Nothing more is looked at.
    pub(crate) fn finish(&mut self, emit: &mut Emit<'_>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        if self.identified {
            self.tell(LAST, true, emit);
        }
        self.packet = Vec::new();
        self.lines.rest();
        self.message.fields = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of this kind.
    fn packet(kind: u8, rest: &[u8]) -> Vec<u8> {
        let length = (2 + rest.len()) as u32;
        [&length.to_be_bytes()[..], &[0, kind], rest].concat()
    }

    /// Fields of a client that sends this behind its identification, in pieces.
    fn fields(bytes: &[u8], size: usize) -> (Vec<Field>, u64) {
        let (mut ssh, mut exchange, mut fields) = (Ssh::new(true), Exchange::default(), Vec::new());
        for piece in [b"SSH-2.0-x\r\n", bytes].concat().chunks(size) {
            ssh.push(piece, &Limits::default(), &mut exchange, &mut |event| {
                fields.extend(event.new_fields().map(|(field, _)| *field));
            });
        }
        (fields, exchange.counters.malformed)
    }

    #[test]
    fn messages_before_a_key_exchange_are_skipped() {
        let lists = [0, 0, 0, 1, b'a'].repeat(8);
        let begin = packet(KEX_INIT as u8, &[&[0; 16][..], &lists, &[0; 5]].concat());
        let before = [packet(2, b"ignored"), packet(3, &[0; 4]), packet(4, b"debug")].concat();
        let all = [Field::SshProto, Field::SshSoftware, Field::Hassh, Field::HasshString];
        for size in [1, 7, 1000] {
            assert_eq!(fields(&[&before[..], &begin].concat(), size), (all.to_vec(), 0));
            // Others do not come before it, and not all of them are skipped.
            assert_eq!(fields(&[&packet(5, b"")[..], &begin].concat(), size), (all[..2].to_vec(), 1));
            let many = packet(2, b"").repeat(usize::from(SKIPS) + 1);
            assert_eq!(fields(&[&many[..], &begin].concat(), size), (all[..2].to_vec(), 1));
        }
    }
}
