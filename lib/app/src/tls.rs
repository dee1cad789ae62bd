// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What TLS says before encryption begins: hellos and certificates (RFC 5246, RFC 8446).

use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;

use crate::der;
use crate::field::{Field, Protocol};
use crate::reader::{Reader, hex};
use crate::side::{Emit, Event, Exchange, LAST, Limits, Message};

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const CERTIFICATE: u8 = 11;
const CLIENT_KEY: u8 = 16;
/// Longest record: 2^14 bytes and what encryption may add.
const RECORD: usize = (1 << 14) + 2048;
/// Certificates of a chain that are looked at, and protocols of ALPN.
const MOST: usize = 16;

/// Values that stand in hellos to keep servers tolerant (RFC 8701).
fn is_grease(word: u16) -> bool {
    word & 0x0F0F == 0x0A0A && word >> 8 == word & 0xFF
}

/// Numbers in decimal with `-` between them, without GREASE.
fn joined(words: &[u16]) -> String {
    let words: Vec<String> = words.iter().filter(|word| !is_grease(**word)).map(u16::to_string).collect();
    words.join("-")
}

/// A version as rules name it.
fn version(word: u16) -> Vec<u8> {
    match word {
        0x0300 => b"SSLv3".to_vec(),
        0x0301..=0x0304 => format!("1.{}", word - 0x0301).into_bytes(),
        other => format!("0x{other:04x}").into_bytes(),
    }
}

/// The first 12 digits of the SHA-256 of a text, or zeros for an empty text.
fn short_hash(text: &str) -> String {
    if text.is_empty() {
        return "0".repeat(12);
    }
    String::from_utf8_lossy(&hex(&Sha256::digest(text)[..6], "")).into_owned()
}

/// The JA4 of a client over TCP: its version and offers, and hashes of ciphers and extensions in order of their
/// numbers.
fn ja4(version: u16, ciphers: &[u16], kinds: &[u16], algorithms: &[u16], alpn: Option<&[u8]>) -> String {
    let real = |words: &[u16]| words.iter().copied().filter(|word| !is_grease(*word)).collect::<Vec<_>>();
    let list = |words: &[u16]| words.iter().map(|word| format!("{word:04x}")).collect::<Vec<_>>().join(",");
    let (mut ciphers, kinds) = (real(ciphers), real(kinds));
    let version = match version {
        0x0304 => "13",
        0x0303 => "12",
        0x0302 => "11",
        0x0301 => "10",
        0x0300 => "s3",
        0x0002 => "s2",
        _ => "00",
    };
    let alpn = match alpn {
        Some(name @ ([first, .., last] | [first @ last])) => {
            if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() {
                format!("{}{}", char::from(*first), char::from(*last))
            } else {
                let digits = hex(name, "");
                let ends = [digits[0], digits[digits.len() - 1]];
                String::from_utf8_lossy(&ends).into_owned()
            }
        }
        _ => "00".to_owned(),
    };
    let name = if kinds.contains(&0) { 'd' } else { 'i' };
    let counts = [ciphers.len().min(99), kinds.len().min(99)];
    ciphers.sort_unstable();
    // The server name and ALPN are in the first part.
    let mut others: Vec<u16> = kinds.into_iter().filter(|kind| !matches!(kind, 0 | 16)).collect();
    others.sort_unstable();
    let algorithms = list(&real(algorithms));
    let others = list(&others);
    let extensions = if algorithms.is_empty() || others.is_empty() { others } else { format!("{others}_{algorithms}") };
    let [first, second] = counts;
    let (ciphers, extensions) = (short_hash(&list(&ciphers)), short_hash(&extensions));
    format!("t{version}{name}{first:02}{second:02}{alpn}_{ciphers}_{extensions}")
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
                (CERTIFICATE, _) => self.certificates(body).is_some(),
                _ => true,
            };
            exchange.counters.malformed += u64::from(!read);
            match kind {
                CLIENT_HELLO | SERVER_HELLO if !self.hello => {
                    self.hello = true;
                    exchange.counters.tls[usize::from(!self.to_server)] += 1;
                    self.tell(0, false, emit);
                    if self.to_server && !limits.client_certificates {
                        self.finish(emit);
                    }
                }
                CERTIFICATE | CLIENT_KEY => self.finish(emit),
                _ => {}
            }
        }
    }

    fn random(&mut self, random: &[u8]) {
        let (time, bytes) = random.split_at(random.len().min(4));
        self.put(Field::RandomTime, time.to_vec());
        self.put(Field::RandomBytes, bytes.to_vec());
        self.put(Field::Random, random.to_vec());
    }

    fn put(&mut self, field: Field, bytes: Vec<u8>) {
        self.message.fields.push((field, bytes));
    }

    fn client_hello(&mut self, mut body: Reader<'_>, exchange: &mut Exchange) -> Option<()> {
        let legacy = body.number(2)? as u16;
        let random = body.take(32)?;
        body.vector(1)?;
        let ciphers = body.vector(2)?.words();
        body.vector(1)?;
        let (mut kinds, mut curves, mut points, mut newest) = (Vec::new(), Vec::new(), Vec::new(), legacy);
        let mut algorithms = Vec::new();
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
                13 => algorithms = data.vector(2).map(Reader::words).unwrap_or_default(),
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
        let ja4 = ja4(newest, &ciphers, &kinds, &algorithms, self.message.field(Field::Alpn));
        self.put(Field::Ja4, ja4.into_bytes());
        self.random(random);
        exchange.client_hello.clone_from(&self.message.fields);
        Some(())
    }

    fn server_hello(&mut self, mut body: Reader<'_>, exchange: &mut Exchange) -> Option<()> {
        let legacy = body.number(2)? as u16;
        let random = body.take(32)?;
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
        self.random(random);
        self.message.client_hello.clone_from(&exchange.client_hello);
        Some(())
    }

    fn certificates(&mut self, mut body: Reader<'_>) -> Option<()> {
        let mut chain = body.vector(3)?;
        let (mut read, mut length) = (Some(()), 0_u32);
        while let Some(certificate) = chain.vector(3) {
            let number = length as usize;
            length += 1;
            if number >= MOST {
                continue;
            }
            if number == 0 {
                match der::certificate(certificate.0) {
                    Some(parts) => {
                        self.put(Field::Subject, parts.subject);
                        self.put(Field::Issuer, parts.issuer);
                        self.put(Field::Serial, parts.serial.into_bytes());
                        for name in parts.names {
                            self.put(Field::AlternativeName, name);
                        }
                        if let Some([begin, end]) = parts.valid {
                            self.put(Field::NotBefore, begin.to_be_bytes().to_vec());
                            self.put(Field::NotAfter, end.to_be_bytes().to_vec());
                        }
                    }
                    None => read = None,
                }
                self.put(Field::Fingerprint, hex(&Sha1::digest(certificate.0), ":"));
            }
            self.put(Field::Certificate, certificate.0.to_vec());
        }
        self.put(Field::ChainLength, length.to_be_bytes().to_vec());
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
