// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What TLS says before encryption begins: hellos and certificates (RFC 5246, RFC 8446).

use std::fmt::Write;

use md5::{Digest, Md5};
use sha1::Sha1;

use crate::der;
use crate::field::{Field, Protocol};
use crate::side::{Emit, Event, Exchange, LAST, Limits, Message};

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const CERTIFICATE: u8 = 11;
/// Longest record: 2^14 bytes and what encryption may add.
const RECORD: usize = (1 << 14) + 2048;
/// Certificates of a chain that are looked at, and protocols of ALPN.
const MOST: usize = 16;

/// A reader of bytes whose lengths are not trusted.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of this many bytes.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// A vector whose length has this many bytes.
    fn vector(&mut self, bytes: usize) -> Option<Reader<'a>> {
        let length = self.number(bytes)?;
        self.take(length).map(Reader)
    }

    /// All numbers of two bytes.
    fn words(mut self) -> Vec<u16> {
        let mut all = Vec::new();
        while let Some(word) = self.number(2) {
            all.push(word as u16);
        }
        all
    }
}

/// Values that stand in hellos to keep servers tolerant (RFC 8701).
fn is_grease(word: u16) -> bool {
    word & 0x0F0F == 0x0A0A && word >> 8 == word & 0xFF
}

/// Numbers in decimal with `-` between them, without GREASE.
fn joined(words: &[u16]) -> String {
    let words: Vec<String> = words.iter().filter(|word| !is_grease(**word)).map(u16::to_string).collect();
    words.join("-")
}

fn hex(bytes: &[u8], between: &str) -> Vec<u8> {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{byte:02x}", if at > 0 { between } else { "" });
    }
    text.into_bytes()
}

/// A version as rules name it.
fn version(word: u16) -> Vec<u8> {
    match word {
        0x0300 => b"SSLv3".to_vec(),
        0x0301..=0x0304 => format!("1.{}", word - 0x0301).into_bytes(),
        other => format!("0x{other:04x}").into_bytes(),
    }
}

/// The handshake of one direction.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    to_server: bool,
    /// Header of the record that is read.
    header: Vec<u8>,
    /// Bytes of the record that are missing.
    left: usize,
    /// Messages of the handshake that are not complete.
    handshake: Vec<u8>,
    message: Message,
    told: usize,
    hello: bool,
    over: bool,
}

impl Tls {
    pub(crate) fn new(to_server: bool) -> Self {
        Self {
            to_server,
            header: Vec::new(),
            left: 0,
            handshake: Vec::new(),
            message: Message::new(Protocol::Tls, to_server),
            told: 0,
            hello: false,
            over: false,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn memory(&self) -> usize {
        let fields: usize = self.message.fields.iter().map(|(_, bytes)| bytes.capacity() + 32).sum();
        self.handshake.capacity() + fields
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        while !bytes.is_empty() && !self.over {
            if self.header.len() < 5 {
                let (taken, rest) = bytes.split_at(bytes.len().min(5 - self.header.len()));
                self.header.extend_from_slice(taken);
                bytes = rest;
                if let [kind, major, minor, high, low] = self.header[..] {
                    self.left = usize::from(u16::from_be_bytes([high, low]));
                    if kind != HANDSHAKE {
                        // Alerts, and what is encrypted.
                        self.finish(emit);
                    } else if major != 3 || minor > 4 || self.left > RECORD {
                        exchange.counters.malformed += 1;
                        self.finish(emit);
                    } else if self.left == 0 {
                        self.header.clear();
                    }
                }
                continue;
            }
            let (taken, rest) = bytes.split_at(bytes.len().min(self.left));
            self.handshake.extend_from_slice(taken);
            bytes = rest;
            self.left -= taken.len();
            if self.left == 0 {
                self.header.clear();
            }
            self.messages(limits, exchange, emit);
        }
    }

    /// Takes the messages that are complete.
    fn messages(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        while let ([kind, a, b, c, ..], false) = (&self.handshake[..], self.over) {
            let (kind, length) = (*kind, usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c));
            if length > limits.handshake {
                exchange.counters.too_long += 1;
                self.finish(emit);
                return;
            }
            if self.handshake.len() < 4 + length {
                return;
            }
            let rest = self.handshake.split_off(4 + length);
            let message = std::mem::replace(&mut self.handshake, rest);
            let body = Reader(&message[4..]);
            let read = match (kind, self.to_server) {
                (CLIENT_HELLO, true) => self.client_hello(body, exchange).is_some(),
                (SERVER_HELLO, false) => self.server_hello(body, exchange).is_some(),
                (CERTIFICATE, false) => self.certificates(body).is_some(),
                _ => true,
            };
            exchange.counters.malformed += u64::from(!read);
            match kind {
                CLIENT_HELLO | SERVER_HELLO if !self.hello => {
                    self.hello = true;
                    exchange.counters.tls[usize::from(!self.to_server)] += 1;
                    self.tell(0, false, emit);
                    if self.to_server {
                        self.finish(emit);
                    }
                }
                CERTIFICATE => self.finish(emit),
                _ => {}
            }
        }
    }

    fn put(&mut self, field: Field, bytes: Vec<u8>) {
        self.message.fields.push((field, bytes));
    }

    fn client_hello(&mut self, mut body: Reader<'_>, exchange: &mut Exchange) -> Option<()> {
        let legacy = body.number(2)? as u16;
        body.take(32)?;
        body.vector(1)?;
        let ciphers = body.vector(2)?.words();
        body.vector(1)?;
        let (mut kinds, mut curves, mut points, mut newest) = (Vec::new(), Vec::new(), Vec::new(), legacy);
        let mut extensions = body.vector(2).unwrap_or(Reader(&[]));
        while let Some(kind) = extensions.number(2) {
            kinds.push(kind as u16);
            let Some(mut data) = extensions.vector(2) else { break };
            match kind {
                0 => {
                    let mut names = data.vector(2);
                    while let Some(names) = &mut names
                        && let Some(kind) = names.number(1)
                        && let Some(name) = names.vector(2)
                    {
                        if kind == 0 && self.message.field(Field::ServerName).is_none() {
                            self.put(Field::ServerName, name.0.to_vec());
                        }
                    }
                }
                10 => curves = data.vector(2).map(Reader::words).unwrap_or_default(),
                11 => points = data.vector(1).map(|points| points.0.to_vec()).unwrap_or_default(),
                16 => {
                    let mut names = data.vector(2);
                    let mut count = 0;
                    while let Some(names) = &mut names
                        && let Some(name) = names.vector(1)
                        && count < MOST
                    {
                        self.put(Field::Alpn, name.0.to_vec());
                        count += 1;
                    }
                }
                43 => {
                    let versions = data.vector(1).map(Reader::words).unwrap_or_default();
                    newest = versions.into_iter().filter(|word| !is_grease(*word)).max().unwrap_or(legacy);
                }
                _ => {}
            }
        }
        let points: Vec<String> = points.iter().map(u8::to_string).collect();
        let text = format!("{legacy},{},{},{},{}", joined(&ciphers), joined(&kinds), joined(&curves), points.join("-"));
        self.put(Field::TlsVersion, version(newest));
        self.put(Field::Ja3Hash, hex(&Md5::digest(&text), ""));
        self.put(Field::Ja3String, text.into_bytes());
        exchange.client_hello.clone_from(&self.message.fields);
        Some(())
    }

    fn server_hello(&mut self, mut body: Reader<'_>, exchange: &mut Exchange) -> Option<()> {
        let legacy = body.number(2)? as u16;
        body.take(32)?;
        body.vector(1)?;
        let cipher = body.number(2)?;
        body.take(1)?;
        let (mut kinds, mut chosen) = (Vec::new(), legacy);
        let mut extensions = body.vector(2).unwrap_or(Reader(&[]));
        while let Some(kind) = extensions.number(2) {
            kinds.push(kind as u16);
            let Some(mut data) = extensions.vector(2) else { break };
            match kind {
                16 => {
                    if let Some(name) = data.vector(2).and_then(|mut names| names.vector(1)) {
                        self.put(Field::Alpn, name.0.to_vec());
                    }
                }
                43 => chosen = data.number(2).map_or(legacy, |word| word as u16),
                _ => {}
            }
        }
        let text = format!("{legacy},{cipher},{}", joined(&kinds));
        self.put(Field::TlsVersion, version(chosen));
        self.put(Field::Ja3sHash, hex(&Md5::digest(&text), ""));
        self.put(Field::Ja3sString, text.into_bytes());
        self.message.client_hello.clone_from(&exchange.client_hello);
        Some(())
    }

    fn certificates(&mut self, mut body: Reader<'_>) -> Option<()> {
        let mut chain = body.vector(3)?;
        let mut read = Some(());
        for number in 0..MOST {
            let Some(certificate) = chain.vector(3) else { break };
            if number == 0 {
                match der::certificate(certificate.0) {
                    Some(parts) => {
                        self.put(Field::Subject, parts.subject);
                        self.put(Field::Issuer, parts.issuer);
                        self.put(Field::Serial, parts.serial.into_bytes());
                    }
                    None => read = None,
                }
                self.put(Field::Fingerprint, hex(&Sha1::digest(certificate.0), ":"));
            }
            self.put(Field::Certificate, certificate.0.to_vec());
        }
        read
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
        if self.hello {
            self.tell(LAST, true, emit);
        }
        self.handshake = Vec::new();
        self.message.fields = Vec::new();
    }
}
